/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scalar.c - one value from text to its place in a struct. Called by reader.c, which has found the key's row in the schema.
 *
 * The text is taken as written: a bare 123 or OFF is good for a text key, YAML 1.1's guesses at types are not made.
 */
#include "lib/cluster/scalar.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/num.h"
#include "lib/cluster/rule.h"
#include "lib/cluster/variable.h"

#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void nomem(struct scalar_reader *s)
{
	s->doc.p->nomem = true;
}

static int refuse(struct scalar_reader *s, const yaml_node_t *val, const struct path *at, const char *text)
{
	document_problem(&s->doc, PROBLEM_ERROR, document_place(val), at, "%s", text);
	return -1;
}

/* The value with variables filled in. NULL with e. Caller frees. */
static char *filled(struct scalar_reader *s, const yaml_node_t *val, struct err *e)
{
	struct buf b = {0};
	char *text = NULL;

	if (!s->get)
		buf_str(&b, document_text(val));
	else if (variable_fill(document_text(val), s->get, s->arg, &b, e) < 0)
		goto out;
	text = buf_take(&b);
	if (!text)
		err_nomem(e);
out:
	buf_free(&b);
	return text;
}

static char *filled_or_problem(struct scalar_reader *s, const yaml_node_t *val, const struct path *at)
{
	struct err e;
	char *text = filled(s, val, &e);

	if (!text)
		refuse(s, val, at, e.text);
	return text;
}

static int judge_rule(const struct key *k, const char *text, struct err *e)
{
	char shown[SHOWN_MAX];

	if (k->rule && !k->rule->ok(text, k->rule->arg))
		return err_set(e, "%s is not right; give %s", document_show(text, shown), k->rule->says);
	if (!*text && !k->rule && !(k->flags & KEY_EMPTY_OK))
		return err_set(e, "is empty; give a value or leave the key out");
	return 0;
}

/* Number of the choice, or -1 with e. */
static int find_choice(const char *choices, const char *text, struct err *e)
{
	struct strs all = {0};
	char shown[SHOWN_MAX], *listed = NULL;
	const char *near;
	int found = -1;

	if (strs_split(&all, choices, '|') < 0 || !(listed = strs_join(&all, ", "))) {
		err_nomem(e);
		goto out;
	}
	for (size_t i = 0; i < all.n && found < 0; i++)
		if (strcmp(all.v[i], text) == 0)
			found = (int)i;
	if (found >= 0)
		goto out;
	near = str_nearest(text, (const char *const *)all.v, all.n);
	document_show(text, shown);
	if (near)
		err_set(e, "%s is not one of %s; did you mean \"%s\"?", shown, listed, near);
	else
		err_set(e, "%s is not one of %s", shown, listed);
out:
	free(listed);
	strs_clear(&all);
	return found;
}

static int store_text(const struct key *k, void *slot, const char *text, struct err *e)
{
	char *copy;

	if (k->store == STORE_STRS)
		return strs_add(slot, text) < 0 ? err_nomem(e) : 0;
	copy = str_dup(text);
	if (!copy)
		return err_nomem(e);
	free(*(char **)slot);
	*(char **)slot = copy;
	return 0;
}

static int read_text(const struct key *k, const char *text, void *slot, struct err *e)
{
	int choice = 0;

	if (k->choices)
		choice = find_choice(k->choices, text, e);
	if (choice < 0 || (!k->choices && judge_rule(k, text, e) < 0))
		return -1;
	if (!slot || k->store == STORE_NONE)
		return 0;
	if (k->store == STORE_CHOICE)
		*(unsigned *)slot = (unsigned)choice;
	else if (k->store == STORE_BOOL)
		*(bool *)slot = choice == 1;
	else
		return store_text(k, slot, text, e);
	return 0;
}

static int range_error(const struct key *k, const char *what, struct err *e)
{
	char why[160];

	snprintf(why, sizeof(why), "%.150s", e->text);
	if (k->max)
		return err_set(e, "%s; give %s from %" PRId64 " to %" PRId64, why, what, k->min, k->max);
	return err_set(e, "%s; give %s, %" PRId64 " or more", why, what, k->min);
}

static int read_int(const struct key *k, const char *text, void *slot, struct err *e)
{
	int64_t v;

	if (num_i64(text, k->min, k->max ? k->max : INT64_MAX, &v, e) < 0)
		return range_error(k, "a whole number", e);
	if (slot && k->store == STORE_INT)
		*(int *)slot = (int)v;
	else if (slot && k->store == STORE_INT64)
		*(int64_t *)slot = v;
	return 0;
}

static int read_duration(const struct key *k, const char *text, void *slot, struct err *e)
{
	int64_t v;

	if (num_duration_s(text, &v, e) < 0)
		return range_error(k, "seconds", e);
	if (v < k->min || (k->max && v > k->max)) {
		err_set(e, "%" PRId64 " s is out of range", v);
		return range_error(k, "seconds", e);
	}
	if (slot)
		*(int64_t *)slot = v;
	return 0;
}

static int read_float(const struct key *k, const char *text, void *slot, struct err *e)
{
	double v;

	if (num_double(text, (double)k->min, k->max ? (double)k->max : DBL_MAX, &v, e) < 0)
		return range_error(k, "a number", e);
	if (slot && k->store == STORE_DOUBLE)
		*(double *)slot = v;
	return 0;
}

static int read_bool(const struct key *k, const char *text, void *slot, struct err *e)
{
	int v;

	if (num_bool(text, &v, e) < 0) {
		char why[160];

		snprintf(why, sizeof(why), "%.150s", e->text);
		return err_set(e, "%s; give true or false", why);
	}
	if (slot && k->store == STORE_BOOL)
		*(bool *)slot = v != 0;
	else if (slot && k->store == STORE_TRI)
		*(enum tri *)slot = v ? TRI_TRUE : TRI_FALSE;
	return 0;
}

static int read_kind(const struct key *k, const char *text, void *slot, struct err *e)
{
	switch (k->kind) {
	case KEY_INT:
		return read_int(k, text, slot, e);
	case KEY_FLOAT:
		return read_float(k, text, slot, e);
	case KEY_BOOL:
		return read_bool(k, text, slot, e);
	case KEY_DURATION:
		return read_duration(k, text, slot, e);
	default:
		return read_text(k, text, slot, e);
	}
}

int scalar_read(struct scalar_reader *s, const struct key *k, const yaml_node_t *val, const struct path *at, void *base)
{
	char *text = filled_or_problem(s, val, at);
	struct err e;
	int rc;

	if (!text)
		return -1;
	rc = read_kind(k, text, base && k->store != STORE_NONE ? (char *)base + k->offset : NULL, &e);
	if (rc < 0)
		refuse(s, val, at, e.text);
	free(text);
	return rc;
}

bool scalar_tag_ok(struct scalar_reader *s, const yaml_node_t *val, const struct path *at)
{
	const char *tag = (const char *)val->tag;

	if (!tag || str_prefix(tag, "tag:yaml.org,2002:"))
		return true;
	document_problem(&s->doc, PROBLEM_ERROR, document_place(val), at, "the tag %.40s is not supported; give a plain value",
			 tag);
	return false;
}

static bool plain_entry(struct scalar_reader *s, const yaml_node_t *entry, const struct path *at)
{
	if (entry->type == YAML_SCALAR_NODE && !document_is_null(entry))
		return scalar_tag_ok(s, entry, at);
	document_problem(&s->doc, PROBLEM_ERROR, document_place(entry), at, "one value is expected here, this is %s",
			 document_kind(entry));
	return false;
}

void scalar_read_list(struct scalar_reader *s, const struct key *k, const yaml_node_t *list, const struct path *at, void *base)
{
	struct uniques seen = {0};
	const yaml_node_t *entry;

	for (size_t i = 0; (entry = document_item(&s->doc, list, i)) != NULL; i++) {
		struct path here = {.up = at, .index = i};

		if (!plain_entry(s, entry, &here))
			continue;
		if (scalar_read(s, k, entry, &here, base) == 0 && (k->flags & KEY_UNIQUE))
			uniques_add(s, &seen, entry, &here, NULL);
	}
	uniques_judge(s, &seen);
}

void scalar_read_pair(struct scalar_reader *s, const struct key *k, const struct pair *pair, size_t pairs,
		      const struct path *at, struct kvs *out)
{
	const char *name = document_text(pair->key), *problem;
	char shown[SHOWN_MAX], *text;

	if (!plain_entry(s, pair->val, at))
		return;
	text = filled_or_problem(s, pair->val, at);
	if (!text)
		return;
	problem = k->pair_problem ? k->pair_problem(name, text, pairs) : NULL;
	if (problem)
		document_problem(&s->doc, PROBLEM_ERROR, document_place(pair->key), at, "%s %s", document_show(name, shown),
				 problem);
	else if (out && kvs_add(out, name, text) < 0)
		nomem(s);
	free(text);
}

void uniques_add(struct scalar_reader *s, struct uniques *u, const yaml_node_t *val, const struct path *at, const char *name)
{
	struct path here = {.up = at, .name = name};
	struct unique *one;
	struct err e;

	if (mem_grow(&u->v, &u->cap, u->n + 1, sizeof(*u->v)) < 0) {
		nomem(s);
		return;
	}
	one = &u->v[u->n];
	*one = (struct unique){.text = filled(s, val, &e), .at = document_place(val)};
	if (!one->text)
		return; /* said already where the value was read */
	one->path = path_text(name ? &here : at);
	if (!one->path)
		nomem(s);
	u->n++;
}

static int by_text_then_place(const void *x, const void *y)
{
	const struct unique *a = x, *b = y;
	int c = strcmp(a->text, b->text);

	if (c != 0)
		return c;
	if (a->at.line != b->at.line)
		return a->at.line < b->at.line ? -1 : 1;
	return a->at.column < b->at.column ? -1 : a->at.column > b->at.column;
}

static void say_repeated(struct scalar_reader *s, const struct unique *one, const struct unique *first)
{
	char shown[SHOWN_MAX];
	char *text =
	    str_fmt("%s stands in line %d already; each may appear once", document_show(one->text, shown), first->at.line);

	if (text)
		document_report(&s->doc, PROBLEM_ERROR, one->at, one->path, text);
	else
		nomem(s);
	free(text);
}

void uniques_judge(struct scalar_reader *s, struct uniques *u)
{
	size_t first = 0;

	if (u->n > 1)
		qsort(u->v, u->n, sizeof(*u->v), by_text_then_place);
	for (size_t i = 1; i < u->n; i++) {
		if (strcmp(u->v[i].text, u->v[first].text) == 0)
			say_repeated(s, &u->v[i], &u->v[first]);
		else
			first = i;
	}
	for (size_t i = 0; i < u->n; i++) {
		free(u->v[i].text);
		free(u->v[i].path);
	}
	free(u->v);
	*u = (struct uniques){0};
}
