/* SPDX-License-Identifier: GPL-2.0-or-later */
/* placement.c - CreatePlacementGroup, DescribePlacementGroups, DeletePlacementGroup. */
#include "ec2local/placement.h"
#include "ec2local/cloud.h"
#include "ec2local/page.h"
#include "ec2local/xml.h"

#include <stdlib.h>
#include <string.h>

static const char *const create_params[] = {"GroupName",
					    "Strategy",
					    "PartitionCount",
					    "SpreadLevel",
					    "TagSpecification.N.ResourceType",
					    "TagSpecification.N.Tag.N.Key",
					    "TagSpecification.N.Tag.N.Value",
					    NULL};
static const char *const describe_params[] = {"GroupName.N", "GroupId.N", "Filter.N.Name", "Filter.N.Value.N", NULL};
static const char *const delete_params[] = {"GroupName", NULL};

struct placement *placements_find(const struct placements *l, const char *name_or_id)
{
	for (size_t i = 0; i < l->n; i++) {
		if (str_eq(l->v[i]->name, name_or_id) || str_eq(l->v[i]->id, name_or_id))
			return l->v[i];
	}
	return NULL;
}

static void destroy(struct placement *p)
{
	if (!p)
		return;
	free(p->name);
	free(p->strategy);
	kvs_clear(&p->tags);
	free(p);
}

void placements_free(struct placements *l)
{
	for (size_t i = 0; i < l->n; i++)
		destroy(l->v[i]);
	free(l->v);
	*l = (struct placements){0};
}

static void item(struct buf *b, const char *element, const struct placement *p)
{
	xml_open(b, element);
	xml_text(b, "groupName", p->name);
	xml_text(b, "state", "available");
	xml_text(b, "strategy", p->strategy);
	xml_text(b, "groupId", p->id);
	xml_tags(b, &p->tags);
	xml_close(b, element);
}

static int check_new(struct call *c, const char *name, const char *strategy)
{
	if (!str_eq(strategy, "cluster") && !str_eq(strategy, "spread") && !str_eq(strategy, "partition"))
		return call_bad_value(c, "strategy", strategy);
	if (!*name || strlen(name) > 255)
		return call_bad_value(c, "groupName", name);
	if (placements_find(&c->cloud->placements, name))
		return call_fail(c, 400, "InvalidPlacementGroup.Duplicate", "The placement group '%.255s' already exists",
				 name);
	return 0;
}

static struct placement *make(struct placements *l, const char *name, const char *strategy, struct kvs *tags)
{
	struct placement *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->name = str_dup(name);
	p->strategy = str_dup(strategy);
	cloud_new_id(p->id, "pg-");
	if (!p->name || !p->strategy || mem_grow(&l->v, &l->cap, l->n + 1, sizeof(struct placement *)) < 0) {
		destroy(p);
		return NULL;
	}
	p->tags = *tags;
	*tags = (struct kvs){0};
	return l->v[l->n++] = p;
}

static int create(struct call *c)
{
	const char *name = call_need(c, "GroupName"), *strategy = params_get(&c->params, "Strategy");
	const struct placement *p;
	struct kvs tags = {0};
	int rc = -1;

	strategy = strategy ? strategy : "cluster";
	if (!name || call_tags(c, &c->params, "placement-group", &tags) < 0 ||
	    call_allowed_on(c, "placement-group", name, NULL, &tags) < 0 ||
	    call_may_tag(c, "placement-group", name, &tags) < 0 || check_new(c, name, strategy) < 0 || call_dry_run(c) < 0)
		goto out;
	p = make(&c->cloud->placements, name, strategy, &tags);
	if (!p) {
		call_nomem(c);
		goto out;
	}
	xml_bool(&c->out, "return", true);
	item(&c->out, "placementGroup", p);
	rc = 0;
out:
	kvs_clear(&tags);
	return rc;
}

static bool matches(const struct filters *f, const struct placement *p)
{
	for (size_t i = 0; i < f->n; i++) {
		bool decided, yes = filter_tags(&f->v[i], &p->tags, &decided);
		const char *name = f->v[i].name;

		if (!decided)
			yes = filter_has(&f->v[i], str_eq(name, "group-name") ? p->name
						   : str_eq(name, "strategy") ? p->strategy
									      : "available");
		if (!yes)
			return false;
	}
	return true;
}

static int check_known(struct call *c, const struct strs *names)
{
	for (size_t i = 0; i < names->n; i++) {
		if (!placements_find(&c->cloud->placements, names->v[i]))
			return call_fail(c, 400, "InvalidPlacementGroup.Unknown", "The Placement Group '%.255s' is unknown.",
					 names->v[i]);
	}
	return 0;
}

static int describe(struct call *c)
{
	static const char *const known[] = {"group-name", "strategy", "state", NULL};
	const struct placements *l = &c->cloud->placements;
	struct filters f = {0};
	struct strs names = {0};
	int rc = -1;

	if (filters_read(c, &f, known) < 0 || params_list(&c->params, "GroupName", &names) < 0 ||
	    params_list(&c->params, "GroupId", &names) < 0 || check_known(c, &names) < 0 || call_dry_run(c) < 0)
		goto out;
	xml_open(&c->out, "placementGroupSet");
	for (size_t i = 0; i < l->n; i++) {
		if ((!names.n || strs_has(&names, l->v[i]->name) || strs_has(&names, l->v[i]->id)) && matches(&f, l->v[i]))
			item(&c->out, "item", l->v[i]);
	}
	xml_close(&c->out, "placementGroupSet");
	rc = 0;
out:
	filters_free(&f);
	strs_clear(&names);
	return rc;
}

static int delete_one(struct call *c)
{
	struct placements *l = &c->cloud->placements;
	const char *name = call_need(c, "GroupName");
	struct placement *p = name ? placements_find(l, name) : NULL;
	size_t i = 0;

	if (!name)
		return -1;
	if (!p)
		return call_fail(c, 400, "InvalidPlacementGroup.Unknown", "The Placement Group '%.255s' is unknown.", name);
	if (call_allowed_on(c, "placement-group", name, &p->tags, NULL) < 0 || call_dry_run(c) < 0)
		return -1;
	if (p->in_use)
		return call_fail(c, 400, "InvalidPlacementGroup.InUse",
				 "The placement group '%.255s' is in use and may not be deleted.", name);
	while (l->v[i] != p)
		i++;
	memmove(&l->v[i], &l->v[i + 1], (l->n - i - 1) * sizeof(struct placement *));
	l->n--;
	destroy(p);
	xml_bool(&c->out, "return", true);
	return 0;
}

const struct action placement_actions[] = {
    {"CreatePlacementGroup", create, create_params, true, NULL},
    {"DescribePlacementGroups", describe, describe_params, false, NULL},
    {"DeletePlacementGroup", delete_one, delete_params, true, NULL},
    {NULL, NULL, NULL, false, NULL},
};
