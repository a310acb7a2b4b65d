/* SPDX-License-Identifier: GPL-2.0-or-later */
/* templates.c - CreateLaunchTemplate, CreateLaunchTemplateVersion, DescribeLaunchTemplates, DescribeLaunchTemplateVersions,
 * DeleteLaunchTemplate. What the data means is launch.c's.
 */
#include "ec2local/templates.h"
#include "ec2local/cloud.h"
#include "ec2local/launch.h"
#include "ec2local/page.h"
#include "ec2local/sigv4check.h"
#include "ec2local/xml.h"
#include "lib/base/num.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What a client token made. */
struct template_token {
	char *key; /* action and token */
	char hash[65];
	char id[24];
	int64_t version;
};

static const char *const create_params[] = {"ClientToken",
					    "LaunchTemplateName",
					    "VersionDescription",
					    "TagSpecification.N.ResourceType",
					    "TagSpecification.N.Tag.N.Key",
					    "TagSpecification.N.Tag.N.Value",
					    NULL};
static const char *const version_params[] = {"ClientToken",   "LaunchTemplateId",   "LaunchTemplateName",
					     "SourceVersion", "VersionDescription", NULL};
static const char *const describe_params[] = {
    "LaunchTemplateId.N", "LaunchTemplateName.N", "Filter.N.Name", "Filter.N.Value.N", "MaxResults", "NextToken", NULL};
static const char *const describe_version_params[] = {"LaunchTemplateId",
						      "LaunchTemplateName",
						      "LaunchTemplateVersion.N",
						      "MinVersion",
						      "MaxVersion",
						      "MaxResults",
						      "NextToken",
						      NULL};
static const char *const delete_params[] = {"LaunchTemplateId", "LaunchTemplateName", NULL};

static void template_destroy(struct template *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++) {
		params_clear(&t->v[i].data);
		free(t->v[i].description);
	}
	free(t->v);
	free(t->name);
	kvs_clear(&t->tags);
	free(t);
}

void templates_free(struct templates *t)
{
	for (size_t i = 0; i < t->n; i++)
		template_destroy(t->v[i]);
	for (size_t i = 0; i < t->by_token.cap; i++) {
		struct template_token *k = t->by_token.v[i].val;

		if (k)
			free(k->key);
		free(k);
	}
	free(t->v);
	index_free(&t->by_id);
	index_free(&t->by_name);
	index_free(&t->by_token);
	*t = (struct templates){0};
}

struct template *templates_find(const struct templates *t, const char *id)
{
	return index_get(&t->by_id, id);
}

static int not_found(struct call *c, const char *id, const char *name)
{
	if (id && !str_prefix(id, "lt-"))
		return call_fail(c, 400, "InvalidLaunchTemplateId.Malformed", "Launch template id '%.100s' is malformed", id);
	if (id)
		return call_fail(c, 400, "InvalidLaunchTemplateId.NotFound",
				 "The specified launch template, with template ID %.100s, does not exist.", id);
	return call_fail(c, 400, "InvalidLaunchTemplateName.NotFoundException",
			 "The specified launch template, with template name %.128s, does not exist.", name);
}

/* By LaunchTemplateId or LaunchTemplateName below prefix; NULL = error written. */
static struct template *named(struct call *c, const char *prefix)
{
	const char *id = params_getf(&c->params, "%sLaunchTemplateId", prefix);
	const char *name = params_getf(&c->params, "%sLaunchTemplateName", prefix);
	struct template *t;

	if (!id == !name) {
		call_fail(c, 400, id ? "InvalidParameterCombination" : "MissingParameter",
			  "Exactly one of LaunchTemplateId and LaunchTemplateName must be given");
		return NULL;
	}
	t = id ? index_get(&c->cloud->templates.by_id, id) : index_get(&c->cloud->templates.by_name, name);
	if (!t)
		not_found(c, id, name);
	return t;
}

/* "3", "$Latest" or "$Default"; NULL = error written. */
static const struct template_version *version_of(struct call *c, const struct template *t, const char *text)
{
	int64_t want = t->default_version;

	if (str_eq(text, "$Latest"))
		return &t->v[t->n - 1];
	if (text && !str_eq(text, "$Default") && num_i64(text, 1, INT64_MAX, &want, NULL) < 0) {
		call_bad_value(c, "launchTemplateVersion", text);
		return NULL;
	}
	for (size_t i = 0; i < t->n; i++) {
		if (t->v[i].number == want)
			return &t->v[i];
	}
	call_fail(c, 400, "InvalidLaunchTemplateId.VersionNotFound", "Could not find the launch template version %lld of %s",
		  (long long)want, t->id);
	return NULL;
}

const struct template_version *templates_resolve(struct call *c, const char *prefix, const struct template **which)
{
	*which = named(c, prefix);
	return *which ? version_of(c, *which, params_getf(&c->params, "%sVersion", prefix)) : NULL;
}

static int check_name(struct call *c, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++) {
		if (!isalnum((unsigned char)name[i]) && !strchr("()./_-", name[i]))
			n = 0;
	}
	if (n < 3 || n > 128)
		return call_fail(c, 400, "InvalidLaunchTemplateName.MalformedException",
				 "A launch template name has 3 to 128 characters of a-z A-Z 0-9 ( ) . / _ -, not '%.200s'",
				 name);
	if (index_get(&c->cloud->templates.by_name, name))
		return call_fail(c, 400, "InvalidLaunchTemplateName.AlreadyExistsException",
				 "Launch template name already in use: %.128s", name);
	return 0;
}

/* Add a version with the call's LaunchTemplateData (on top of `source`'s, if given). -1 = error written. */
static int add_version(struct call *c, struct template *t, const struct template_version *source)
{
	struct template_version v = {.number = t->n ? t->v[t->n - 1].number + 1 : 1, .created_ms = c->now_ms};
	const char *text = params_get(&c->params, "VersionDescription");

	if (params_below(&v.data, &c->params, "LaunchTemplateData") < 0)
		goto nomem;
	if (!v.data.n)
		return call_fail(c, 400, "MissingParameter", "The request must contain the parameter LaunchTemplateData");
	if (launch_check_data(c, &v.data) < 0)
		goto error;
	if (source && launch_merge(&v.data, &source->data) < 0)
		goto nomem;
	v.description = str_dup(text);
	if ((text && !v.description) || mem_grow(&t->v, &t->cap, t->n + 1, sizeof(*t->v)) < 0)
		goto nomem;
	t->v[t->n++] = v;
	return 0;
nomem:
	call_nomem(c);
error:
	free(v.description);
	params_clear(&v.data);
	return -1;
}

/* Make the template of a checked call; NULL = error written. */
static struct template *make(struct call *c, const char *name, struct kvs *tags)
{
	struct templates *l = &c->cloud->templates;
	struct template *t = calloc(1, sizeof(*t));

	if (!t) {
		call_nomem(c);
		return NULL;
	}
	t->created_ms = c->now_ms;
	t->default_version = 1;
	t->name = str_dup(name);
	cloud_new_id(t->id, "lt-");
	if (add_version(c, t, NULL) < 0)
		goto error;
	if (!t->name || mem_grow(&l->v, &l->cap, l->n + 1, sizeof(struct template *)) < 0 ||
	    index_put(&l->by_id, t->id, t) < 0) {
		call_nomem(c);
		goto error;
	}
	if (index_put(&l->by_name, t->name, t) < 0) {
		index_del(&l->by_id, t->id);
		call_nomem(c);
		goto error;
	}
	t->seq = ++l->last_seq;
	t->tags = *tags;
	*tags = (struct kvs){0};
	return l->v[l->n++] = t;
error:
	template_destroy(t);
	return NULL;
}

/* The record of the call's client token: *seen = it was used before with the same parameters. -1 = error written. */
static int look_up_token(struct call *c, struct template_token **seen)
{
	const char *token = params_get(&c->params, "ClientToken");
	char *key = token ? str_fmt("%s %s", c->action->name, token) : NULL;
	char hash[65];

	*seen = key ? index_get(&c->cloud->templates.by_token, key) : NULL;
	free(key);
	if (!*seen)
		return 0;
	call_hash(c, hash);
	if (strcmp((*seen)->hash, hash))
		return call_fail(c, 400, "IdempotentParameterMismatch",
				 "The client token %.128s was used before with other parameters", token);
	return 0;
}

/* Note what the call's token made; a token whose template was deleted since then is used anew. */
static int keep_token(struct call *c, struct template_token *seen, const char *id, int64_t version)
{
	const char *token = params_get(&c->params, "ClientToken");
	struct template_token *k = seen ? seen : token ? calloc(1, sizeof(*k)) : NULL;

	if (!token)
		return 0;
	if (!k)
		return call_nomem(c);
	strcpy(k->id, id);
	k->version = version;
	call_hash(c, k->hash);
	if (seen)
		return 0;
	k->key = str_fmt("%s %s", c->action->name, token);
	if (k->key && index_put(&c->cloud->templates.by_token, k->key, k) == 0)
		return 0;
	free(k->key);
	free(k);
	return call_nomem(c);
}

static void template_element(struct buf *b, const char *element, const struct template *t)
{
	xml_open(b, element);
	xml_text(b, "launchTemplateId", t->id);
	xml_text(b, "launchTemplateName", t->name);
	xml_time(b, "createTime", t->created_ms);
	xml_text(b, "createdBy", "arn:aws:iam::" CLOUD_ACCOUNT ":root");
	xml_int(b, "defaultVersionNumber", t->default_version);
	xml_int(b, "latestVersionNumber", t->v[t->n - 1].number);
	xml_tags(b, &t->tags);
	xml_close(b, element);
}

static void version_element(struct buf *b, const char *element, const struct template *t, const struct template_version *v)
{
	xml_open(b, element);
	xml_text(b, "launchTemplateId", t->id);
	xml_text(b, "launchTemplateName", t->name);
	xml_int(b, "versionNumber", v->number);
	xml_text(b, "versionDescription", v->description);
	xml_time(b, "createTime", v->created_ms);
	xml_text(b, "createdBy", "arn:aws:iam::" CLOUD_ACCOUNT ":root");
	xml_bool(b, "defaultVersion", v->number == t->default_version);
	xml_open(b, "launchTemplateData");
	xml_params(b, &v->data);
	xml_close(b, "launchTemplateData");
	xml_close(b, element);
}

static int create(struct call *c)
{
	const char *name = call_need(c, "LaunchTemplateName");
	struct template_token *seen;
	struct template *t;
	struct kvs tags = {0};
	int rc = -1;

	if (!name || call_tags(c, &c->params, "launch-template", &tags) < 0 ||
	    call_allowed_on(c, "launch-template", "*", NULL, &tags) < 0 || call_may_tag(c, "launch-template", "*", &tags) < 0 ||
	    look_up_token(c, &seen) < 0)
		goto out;
	t = seen ? templates_find(&c->cloud->templates, seen->id) : NULL;
	if (!t) {
		if (check_name(c, name) < 0 || call_dry_run(c) < 0)
			goto out;
		t = make(c, name, &tags);
		if (!t || keep_token(c, seen, t->id, 1) < 0)
			goto out;
	}
	template_element(&c->out, "launchTemplate", t);
	rc = 0;
out:
	kvs_clear(&tags);
	return rc;
}

static int create_version(struct call *c)
{
	struct template *t = named(c, "");
	const char *source_text = params_get(&c->params, "SourceVersion");
	const struct template_version *source = NULL, *v;
	struct template_token *seen;
	char *number = NULL;

	if (!t || call_allowed_on(c, "launch-template", t->id, &t->tags, NULL) < 0 || look_up_token(c, &seen) < 0)
		return -1;
	if (seen) {
		number = str_fmt("%lld", (long long)seen->version);
		v = number ? version_of(c, t, number) : NULL;
		free(number);
		if (!v)
			return -1;
	} else {
		source = source_text ? version_of(c, t, source_text) : NULL;
		if ((source_text && !source) || call_dry_run(c) < 0 || add_version(c, t, source) < 0)
			return -1;
		v = &t->v[t->n - 1];
		if (keep_token(c, NULL, t->id, v->number) < 0)
			return -1;
	}
	version_element(&c->out, "launchTemplateVersion", t, v);
	return 0;
}

static bool matches(const struct filters *f, const struct template *t)
{
	for (size_t i = 0; i < f->n; i++) {
		bool decided, yes = filter_tags(&f->v[i], &t->tags, &decided);

		if (!(decided ? yes : filter_has(&f->v[i], t->name)))
			return false;
	}
	return true;
}

static int check_known(struct call *c, const struct strs *ids, const struct strs *names)
{
	for (size_t i = 0; i < ids->n; i++) {
		if (!templates_find(&c->cloud->templates, ids->v[i]))
			return not_found(c, ids->v[i], NULL);
	}
	for (size_t i = 0; i < names->n; i++) {
		if (!index_get(&c->cloud->templates.by_name, names->v[i]))
			return not_found(c, NULL, names->v[i]);
	}
	return 0;
}

static int describe(struct call *c)
{
	static const char *const known[] = {"launch-template-name", NULL};
	const struct templates *l = &c->cloud->templates;
	struct strs ids = {0}, names = {0};
	struct filters f = {0};
	struct page page;
	int rc = -1;

	if (page_read(c, &page, 1, 200, NULL) < 0 || filters_read(c, &f, known) < 0 ||
	    params_list(&c->params, "LaunchTemplateId", &ids) < 0 ||
	    params_list(&c->params, "LaunchTemplateName", &names) < 0 || check_known(c, &ids, &names) < 0 ||
	    call_dry_run(c) < 0)
		goto out;
	xml_open(&c->out, "launchTemplates");
	for (size_t i = 0; i < l->n; i++) {
		const struct template *t = l->v[i];

		if (t->seq <= page.after || (ids.n && !strs_has(&ids, t->id)) || (names.n && !strs_has(&names, t->name)) ||
		    !matches(&f, t))
			continue;
		if (!page_take(&page, t->seq))
			break;
		template_element(&c->out, "item", t);
	}
	xml_close(&c->out, "launchTemplates");
	page_end(&page, &c->out);
	rc = 0;
out:
	filters_free(&f);
	strs_clear(&ids);
	strs_clear(&names);
	return rc;
}

/* Is the version asked for, by its number or by $Latest or $Default? */
static bool version_wanted(const struct strs *want, const struct template *t, const struct template_version *v)
{
	char *number = str_fmt("%lld", (long long)v->number);
	bool yes = !want->n || (number && strs_has(want, number)) || (strs_has(want, "$Latest") && v == &t->v[t->n - 1]) ||
		   (strs_has(want, "$Default") && v->number == t->default_version);

	free(number);
	return yes;
}

static int describe_versions(struct call *c)
{
	const struct template *t = named(c, "");
	int64_t min = 1, max = INT64_MAX;
	struct strs want = {0};
	struct page page;
	int rc = -1;

	if (!t || page_read(c, &page, 1, 200, NULL) < 0 || call_int(c, "MinVersion", 1, INT64_MAX, &min) < 0 ||
	    call_int(c, "MaxVersion", 1, INT64_MAX, &max) < 0 || params_list(&c->params, "LaunchTemplateVersion", &want) < 0 ||
	    call_dry_run(c) < 0)
		goto out;
	for (size_t i = 0; i < want.n; i++) {
		if (!version_of(c, t, want.v[i]))
			goto out;
	}
	xml_open(&c->out, "launchTemplateVersionSet");
	for (size_t i = 0; i < t->n; i++) {
		const struct template_version *v = &t->v[i];

		if ((uint64_t)v->number <= page.after || v->number < min || v->number > max || !version_wanted(&want, t, v))
			continue;
		if (!page_take(&page, (uint64_t)v->number))
			break;
		version_element(&c->out, "item", t, v);
	}
	xml_close(&c->out, "launchTemplateVersionSet");
	page_end(&page, &c->out);
	rc = 0;
out:
	strs_clear(&want);
	return rc;
}

static int delete_one(struct call *c)
{
	struct templates *l = &c->cloud->templates;
	struct template *t = named(c, "");
	size_t i = 0;

	if (!t || call_allowed_on(c, "launch-template", t->id, &t->tags, NULL) < 0 || call_dry_run(c) < 0)
		return -1;
	template_element(&c->out, "launchTemplate", t);
	while (l->v[i] != t)
		i++;
	memmove(&l->v[i], &l->v[i + 1], (l->n - i - 1) * sizeof(struct template *));
	l->n--;
	index_del(&l->by_id, t->id);
	index_del(&l->by_name, t->name);
	template_destroy(t);
	return 0;
}

const struct action templates_actions[] = {
    {"CreateLaunchTemplate", create, create_params, true, "LaunchTemplateData."},
    {"CreateLaunchTemplateVersion", create_version, version_params, true, "LaunchTemplateData."},
    {"DescribeLaunchTemplates", describe, describe_params, false, NULL},
    {"DescribeLaunchTemplateVersions", describe_versions, describe_version_params, false, NULL},
    {"DeleteLaunchTemplate", delete_one, delete_params, true, NULL},
    {NULL, NULL, NULL, false, NULL},
};
