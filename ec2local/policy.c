/* SPDX-License-Identifier: GPL-2.0-or-later */
/* policy.c - IAM statements over EC2 requests. The JSON document itself is kept and walked: policies are small and asked
 * rarely. */
#include "ec2local/policy.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/jview.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define POLICY_BYTES_MAX (256 * 1024) /* AWS's own limit is 10 KiB */

struct policy {
	struct json_object *doc;
};

bool policy_glob(const char *pattern, const char *text)
{
	const char *star = NULL, *mark = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			mark = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++mark;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* A value that may be one string or a list of them: call f until it says true. */
static bool any_string(struct json_object *v, bool (*f)(const char *, const void *), const void *arg)
{
	if (json_object_is_type(v, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(v); i++) {
			if (f(json_object_get_string(json_object_array_get_idx(v, i)), arg))
				return true;
		}
		return false;
	}
	return v && f(json_object_get_string(v), arg);
}

static bool glob_matches(const char *pattern, const void *text)
{
	return policy_glob(pattern, text);
}

/* Action names ignore case. */
static bool action_matches(const char *pattern, const void *action)
{
	char *a = str_dup(pattern), *b = str_dup(action);
	bool ok = a && b && policy_glob(str_lower(a), str_lower(b));

	free(a);
	free(b);
	return ok;
}

static bool text_equals(const char *want, const void *have)
{
	return str_eq(want, have);
}

static bool text_equals_nocase(const char *want, const void *have)
{
	return !strcasecmp(want, have);
}

static bool text_differs_all(struct json_object *want, const char *have)
{
	return !have || !any_string(want, text_equals, have);
}

/* Value of a single-valued condition key, or NULL. */
static const char *key_value(const struct policy_question *q, const char *key)
{
	static const char *const of_resource[] = {"ec2:ResourceTag/", "aws:ResourceTag/"};

	for (size_t i = 0; i < 2; i++) {
		if (!strncasecmp(key, of_resource[i], strlen(of_resource[i])))
			return q->tags ? kvs_get(q->tags, key + strlen(of_resource[i])) : NULL;
	}
	if (!strncasecmp(key, "aws:RequestTag/", 15))
		return q->requested ? kvs_get(q->requested, key + 15) : NULL;
	return q->context ? kvs_get(q->context, key) : NULL;
}

static bool tag_keys_within(const struct policy_question *q, struct json_object *want)
{
	for (size_t i = 0; q->requested && i < q->requested->key.n; i++) {
		if (!any_string(want, glob_matches, q->requested->key.v[i]))
			return false;
	}
	return true;
}

static bool null_holds(const struct policy_question *q, const char *key, struct json_object *want)
{
	bool absent = !strcasecmp(key, "aws:TagKeys") ? !q->requested || !q->requested->key.n : !key_value(q, key);

	return absent == !strcasecmp(json_object_get_string(want), "true");
}

static bool holds(const struct policy_question *q, const char *op, const char *key, struct json_object *want)
{
	const char *have = key_value(q, key);

	if (str_eq(op, "Null"))
		return null_holds(q, key, want);
	if (str_prefix(op, "ForAllValues:"))
		return tag_keys_within(q, want);
	if (str_eq(op, "StringNotEquals"))
		return text_differs_all(want, have);
	if (!have)
		return strstr(op, "IfExists") != NULL;
	if (str_prefix(op, "StringEqualsIgnoreCase"))
		return any_string(want, text_equals_nocase, have);
	if (str_prefix(op, "StringEquals") || str_prefix(op, "Bool"))
		return any_string(want, text_equals, have);
	return any_string(want, glob_matches, have); /* StringLike, ArnLike, ArnEquals */
}

static bool conditions_hold(struct json_object *conditions, const struct policy_question *q)
{
	if (!conditions)
		return true;
	json_object_object_foreach(conditions, op, keys)
	{
		json_object_object_foreach(keys, key, want)
		{
			if (!holds(q, op, key, want))
				return false;
		}
	}
	return true;
}

static struct json_object *member(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	return json_object_object_get_ex(o, key, &v) ? v : NULL;
}

static bool applies(struct json_object *s, const struct policy_question *q)
{
	struct json_object *action = member(s, "Action"), *not_action = member(s, "NotAction");

	if (action ? !any_string(action, action_matches, q->action) : any_string(not_action, action_matches, q->action))
		return false;
	return any_string(member(s, "Resource"), glob_matches, q->arn) && conditions_hold(member(s, "Condition"), q);
}

bool policy_allows(const struct policy *p, const struct policy_question *q)
{
	struct json_object *all = member(p->doc, "Statement");
	bool allowed = false;

	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *s = json_object_array_get_idx(all, i);

		if (!applies(s, q))
			continue;
		if (str_eq(json_object_get_string(member(s, "Effect")), "Deny"))
			return false;
		allowed = true;
	}
	return allowed;
}

static int check_strings(struct json_object *v, const char *where, struct err *e)
{
	if (json_object_is_type(v, json_type_string))
		return 0;
	if (!json_object_is_type(v, json_type_array) || !json_object_array_length(v))
		return err_set(e, "%s must be a text or a list of texts", where);
	for (size_t i = 0; i < json_object_array_length(v); i++) {
		if (!json_object_is_type(json_object_array_get_idx(v, i), json_type_string))
			return err_set(e, "%s must hold texts only", where);
	}
	return 0;
}

static int check_condition(struct json_object *v, struct err *e)
{
	static const char *const known[] = {
	    "StringEquals",
	    "StringNotEquals",
	    "StringLike",
	    "StringEqualsIfExists",
	    "StringLikeIfExists",
	    "StringEqualsIgnoreCase",
	    "ArnLike",
	    "ArnEquals",
	    "Bool",
	    "Null",
	    "ForAllValues:StringEquals",
	    "ForAllValues:StringLike",
	};

	if (!json_object_is_type(v, json_type_object))
		return err_set(e, "Condition must be an object");
	json_object_object_foreach(v, op, keys)
	{
		bool ok = false;

		for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
			ok = ok || str_eq(op, known[i]);
		if (!ok || !json_object_is_type(keys, json_type_object))
			return err_set(e, "condition operator %s is not known here", op);
		json_object_object_foreach(keys, key, want)
		{
			if (str_prefix(op, "ForAllValues:") && strcasecmp(key, "aws:TagKeys"))
				return err_set(e, "%s is known for aws:TagKeys only, not for %s", op, key);
			if (check_strings(want, key, e) < 0)
				return -1;
		}
	}
	return 0;
}

static int check_statement(struct json_object *s, struct err *e)
{
	const char *effect = json_object_get_string(member(s, "Effect"));

	if (!json_object_is_type(s, json_type_object))
		return err_set(e, "must be an object");
	json_object_object_foreach(s, key, val)
	{
		bool list = str_eq(key, "Action") || str_eq(key, "NotAction") || str_eq(key, "Resource");

		if (list && check_strings(val, key, e) < 0)
			return -1;
		if (str_eq(key, "Condition") && check_condition(val, e) < 0)
			return -1;
		if (!list && !str_eq(key, "Condition") && !str_eq(key, "Sid") && !str_eq(key, "Effect"))
			return err_set(e, "key %s is not known here", key);
	}
	if (!str_eq(effect, "Allow") && !str_eq(effect, "Deny"))
		return err_set(e, "Effect must be Allow or Deny");
	if (!member(s, "Action") == !member(s, "NotAction") || !member(s, "Resource"))
		return err_set(e, "needs Action (or NotAction) and Resource");
	return 0;
}

static int check_document(struct json_object *doc, struct err *e)
{
	struct json_object *all = NULL;

	if (!json_object_is_type(doc, json_type_object) || jview_array(doc, "Statement", &all, e) < 0)
		return err_set(e, "a policy is an object with a list Statement");
	if (!all)
		return err_set(e, "Statement is missing");
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		if (check_statement(json_object_array_get_idx(all, i), e) < 0)
			return err_prefix(e, "Statement %zu", i + 1);
	}
	return 0;
}

struct policy *policy_parse(const char *text, size_t n, const char *what, struct err *e)
{
	struct policy *p = calloc(1, sizeof(*p));

	if (!p) {
		err_nomem(e);
		return NULL;
	}
	p->doc = jview_parse(text, n, what, e);
	if (!p->doc)
		goto error;
	if (check_document(p->doc, e) < 0) {
		err_prefix(e, "%s", what);
		goto error;
	}
	return p;
error:
	policy_destroy(p);
	return NULL;
}

struct policy *policy_load(const char *path, struct err *e)
{
	struct buf text = {0};
	struct policy *p = NULL;

	if (file_read(path, POLICY_BYTES_MAX, &text, e) == 0)
		p = policy_parse(buf_text(&text), text.n, path, e);
	buf_free(&text);
	return p;
}

void policy_destroy(struct policy *p)
{
	if (!p)
		return;
	json_object_put(p->doc);
	free(p);
}
