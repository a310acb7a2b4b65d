/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ec2_placement.c - placement groups: bodies and reader. Called by apply. */
#include "lib/aws/call.h"
#include "lib/aws/page.h"
#include "lib/aws/query.h"

#include <stddef.h>

struct placement_page {
	struct ec2_placements list;
	char *key, *value; /* of the tag being read */
};

static void placements_clear(struct ec2_placements *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].name);
		free(l->v[i].state);
		free(l->v[i].cluster);
	}
	free(l->v);
	*l = (struct ec2_placements){0};
}

PAGE_CREATE(placement, struct placement_page)
PAGE_CURRENT(placement, struct placement_page)
PAGE_OPEN(placement, struct placement_page)
PAGE_MERGE(placement, struct placement_page)

static void placement_destroy(void *page)
{
	struct placement_page *p = page;

	if (!p)
		return;
	placements_clear(&p->list);
	free(p->key);
	free(p->value);
	free(p);
}

static int replace(char **field, const char *text)
{
	free(*field);
	*field = str_dup(text);
	return *field ? 0 : -1;
}

static int tag_key(void *page, const char *text)
{
	return replace(&((struct placement_page *)page)->key, text);
}

static int tag_value(void *page, const char *text)
{
	return replace(&((struct placement_page *)page)->value, text);
}

static int tag_close(void *page, const char *text)
{
	struct placement_page *p = page;
	struct ec2_placement *g = placement_current(page);

	(void)text;
	if (!p->key || !p->value || strcmp(p->key, TAG_CLUSTER))
		return 0;
	return replace(&g->cluster, p->value);
}

static const struct reply_rule placement_rules[] = {
	REPLY_RULE_CALL("", placement_open, NULL),
	REPLY_RULE_TEXT("groupName", struct ec2_placement, name),
	REPLY_RULE_TEXT("state", struct ec2_placement, state),
	REPLY_RULE_CALL("tagSet/item", NULL, tag_close),
	REPLY_RULE_CALL("tagSet/item/key", NULL, tag_key),
	REPLY_RULE_CALL("tagSet/item/value", NULL, tag_value),
};

static const struct reply_reader placement_reader = PAGE_READER(placement, "placementGroupSet/item", placement_rules);

static struct ec2_call *describe(const char *filter, const char *value)
{
	struct buf b = {0};

	query_start(&b, "DescribePlacementGroups");
	query_filter(&b, 1, filter, &value, 1);
	return call_create("DescribePlacementGroups", &b, &placement_reader);
}

struct ec2_call *ec2_create_placement_group(const char *name, const struct kvs *tags)
{
	struct buf b = {0};

	query_start(&b, "CreatePlacementGroup");
	query_str(&b, name, "GroupName");
	query_str(&b, "cluster", "Strategy");
	query_tag_spec(&b, tags, "", 1, "placement-group");
	return call_create("CreatePlacementGroup", &b, &reply_nothing);
}

struct ec2_call *ec2_describe_placement_groups(const char *uuid)
{
	return describe("tag:" TAG_CLUSTER, uuid);
}

/* By filter: an unknown GroupName would be an error, and "there is none" is an answer. */
struct ec2_call *ec2_describe_placement_group(const char *name)
{
	return describe("group-name", name);
}

struct ec2_call *ec2_delete_placement_group(const char *name)
{
	struct buf b = {0};

	query_start(&b, "DeletePlacementGroup");
	query_str(&b, name, "GroupName");
	return call_create("DeletePlacementGroup", &b, &reply_nothing);
}

const struct ec2_placements *ec2_placement_groups_reply(const struct ec2_call *c)
{
	return &((const struct placement_page *)c->reply)->list;
}
