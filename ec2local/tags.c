/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tags.c - CreateTags, DeleteTags, DescribeTags. */
#include "ec2local/cloud.h"
#include "ec2local/page.h"
#include "ec2local/xml.h"

#include <stdlib.h>
#include <string.h>

static const char *const change_params[] = {"ResourceId.N", "Tag.N.Key", "Tag.N.Value", NULL};
static const char *const describe_params[] = {"Filter.N.Name", "Filter.N.Value.N", "MaxResults", "NextToken", NULL};

/* One resource of the call. */
struct target {
	const char *id;
	const char *type;
	struct kvs *tags;
};

static int find_target(struct call *c, const char *id, struct target *t)
{
	const struct instance *i = instances_find(&c->cloud->instances, id);

	*t = (struct target){.id = id};
	t->tags = cloud_tags(c->cloud, id, &t->type);
	if (t->tags && !(i && !instance_seen(c->cloud, i, c->now_ms)))
		return 0;
	if (str_prefix(id, "i-"))
		return call_fail(c, 400, "InvalidInstanceID.NotFound", "The instance ID '%.100s' does not exist", id);
	if (str_prefix(id, "lt-"))
		return call_fail(c, 400, "InvalidLaunchTemplateId.NotFound", "The launch template '%.100s' does not exist", id);
	return call_fail(c, 400, "InvalidID", "The ID '%.100s' is not valid", id);
}

/* All resources of the call, permission asked for each; caller frees *out. */
static int targets(struct call *c, const struct strs *ids, const struct kvs *requested, struct target **out)
{
	*out = calloc(ids->n + 1, sizeof(**out));
	if (!*out)
		return call_nomem(c);
	if (!ids->n || ids->n > 1000)
		return call_fail(c, 400, "MissingParameter", "The request must contain 1 to 1000 ResourceId");
	for (size_t i = 0; i < ids->n; i++) {
		struct target *t = &(*out)[i];

		if (find_target(c, ids->v[i], t) < 0 || call_allowed_on(c, t->type, t->id, t->tags, requested) < 0)
			return -1;
	}
	return call_dry_run(c);
}

static size_t find_tag(const struct kvs *tags, const char *key)
{
	size_t k = 0;

	while (k < tags->key.n && !str_eq(tags->key.v[k], key))
		k++;
	return k;
}

static int set_tag(struct kvs *tags, const char *key, const char *val)
{
	size_t k = find_tag(tags, key);
	char *fresh;

	if (k == tags->key.n)
		return kvs_add(tags, key, val);
	fresh = str_dup(val);
	if (!fresh)
		return -1;
	free(tags->val.v[k]);
	tags->val.v[k] = fresh;
	return 0;
}

static void drop(struct strs *l, size_t k)
{
	free(l->v[k]);
	memmove(&l->v[k], &l->v[k + 1], (l->n - k - 1) * sizeof(*l->v));
	l->n--;
}

/* val NULL = whatever its value is. */
static void delete_tag(struct kvs *tags, const char *key, const char *val)
{
	size_t k = find_tag(tags, key);

	if (k == tags->key.n || (val && !str_eq(tags->val.v[k], val)))
		return;
	drop(&tags->key, k);
	drop(&tags->val, k);
}

static int create(struct call *c)
{
	struct target *t = NULL;
	struct strs ids = {0};
	struct kvs tags = {0};
	int rc = -1;

	if (params_list(&c->params, "ResourceId", &ids) < 0 || params_pairs(&c->params, "Tag", &tags) < 0) {
		call_nomem(c);
		goto out;
	}
	if (!tags.key.n) {
		call_fail(c, 400, "MissingParameter", "The request must contain the parameter Tag");
		goto out;
	}
	if (call_check_tags(c, &tags) < 0 || targets(c, &ids, &tags, &t) < 0)
		goto out;
	for (size_t i = 0; i < ids.n; i++) {
		for (size_t k = 0; k < tags.key.n; k++) {
			if (set_tag(t[i].tags, tags.key.v[k], tags.val.v[k]) < 0) {
				call_nomem(c);
				goto out;
			}
		}
	}
	xml_bool(&c->out, "return", true);
	rc = 0;
out:
	free(t);
	strs_clear(&ids);
	kvs_clear(&tags);
	return rc;
}

static void delete_from(struct call *c, struct kvs *tags)
{
	if (!params_has(&c->params, "Tag")) {
		kvs_clear(tags); /* no Tag = all of them */
		return;
	}
	for (int k = 1; params_hasf(&c->params, "Tag.%d", k); k++) {
		const char *key = params_getf(&c->params, "Tag.%d.Key", k);

		if (key)
			delete_tag(tags, key, params_getf(&c->params, "Tag.%d.Value", k));
	}
}

static int delete_some(struct call *c)
{
	struct target *t = NULL;
	struct strs ids = {0};
	struct kvs tags = {0};
	int rc = -1;

	if (params_list(&c->params, "ResourceId", &ids) < 0 || params_pairs(&c->params, "Tag", &tags) < 0) {
		call_nomem(c);
		goto out;
	}
	if (targets(c, &ids, &tags, &t) < 0)
		goto out;
	for (size_t i = 0; i < ids.n; i++)
		delete_from(c, t[i].tags);
	xml_bool(&c->out, "return", true);
	rc = 0;
out:
	free(t);
	strs_clear(&ids);
	kvs_clear(&tags);
	return rc;
}

/* --- DescribeTags */

static bool matches(const struct filters *f, const char *id, const char *type, const char *key, const char *val)
{
	for (size_t i = 0; i < f->n; i++) {
		const char *name = f->v[i].name;

		if (str_prefix(name, "tag:")) {
			if (!str_eq(name + 4, key) || !filter_has(&f->v[i], val))
				return false;
			continue;
		}
		if (!filter_has(&f->v[i], str_eq(name, "resource-id")	  ? id
					  : str_eq(name, "resource-type") ? type
					  : str_eq(name, "value")	  ? val
									  : key))
			return false;
	}
	return true;
}

/* Every tag in the cloud has a number in a fixed order, which the pages count by. */
struct walk {
	struct call *c;
	struct filters f;
	struct page page;
	uint64_t at;
	bool full;
};

static void walk_tags(struct walk *w, const char *id, const char *type, const struct kvs *tags)
{
	for (size_t k = 0; !w->full && k < tags->key.n; k++) {
		const char *key = tags->key.v[k], *val = tags->val.v[k];

		if (++w->at <= w->page.after || !matches(&w->f, id, type, key, val))
			continue;
		if (!page_take(&w->page, w->at)) {
			w->full = true;
			return;
		}
		xml_open(&w->c->out, "item");
		xml_text(&w->c->out, "resourceId", id);
		xml_text(&w->c->out, "resourceType", type);
		xml_text(&w->c->out, "key", key);
		xml_text(&w->c->out, "value", val);
		xml_close(&w->c->out, "item");
	}
}

static void walk_all(struct walk *w)
{
	struct cloud *cloud = w->c->cloud;

	for (size_t i = 0; i < cloud->images.n; i++)
		walk_tags(w, cloud->images.v[i].id, "image", &cloud->images.v[i].tags);
	for (size_t i = 0; i < cloud->templates.n; i++)
		walk_tags(w, cloud->templates.v[i]->id, "launch-template", &cloud->templates.v[i]->tags);
	for (size_t i = 0; i < cloud->placements.n; i++)
		walk_tags(w, cloud->placements.v[i]->id, "placement-group", &cloud->placements.v[i]->tags);
	for (size_t i = 0; i < cloud->instances.n; i++) {
		const struct instance *x = cloud->instances.v[i];

		if (!x->gone && instance_seen(cloud, x, w->c->now_ms))
			walk_tags(w, x->id, "instance", &x->tags);
	}
}

static int describe(struct call *c)
{
	static const char *const known[] = {"resource-id", "resource-type", "key", "value", NULL};
	struct walk w = {.c = c};
	int rc = -1;

	if (page_read(c, &w.page, 5, 1000, NULL) == 0 && filters_read(c, &w.f, known) == 0 && call_dry_run(c) == 0) {
		xml_open(&c->out, "tagSet");
		walk_all(&w);
		xml_close(&c->out, "tagSet");
		page_end(&w.page, &c->out);
		rc = 0;
	}
	filters_free(&w.f);
	return rc;
}

const struct action tags_actions[] = {
    {"CreateTags", create, change_params, true, NULL},
    {"DeleteTags", delete_some, change_params, true, NULL},
    {"DescribeTags", describe, describe_params, false, NULL},
    {NULL, NULL, NULL, false, NULL},
};
