/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ec2_placement.c - placement groups: bodies and reader. Called by apply. */
#include "lib/aws/call.h"
#include "lib/aws/page.h"
#include "lib/aws/query.h"

#include <stddef.h>

struct placement_page {
	struct ec2_placements list;
	struct page_tag tag;
};

static void placements_clear(struct ec2_placements *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].id);
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
	page_tag_clear(&p->tag);
	free(p);
}

static int take_tag(void *item, const char *key, const char *value)
{
	struct ec2_placement *g = item;

	return strcmp(key, TAG_CLUSTER) ? 0 : page_replace(&g->cluster, value);
}

PAGE_TAG_CALLS(placement, struct placement_page, take_tag)

static const struct reply_rule placement_rules[] = {
	REPLY_RULE_CALL("", placement_open, NULL),
	REPLY_RULE_TEXT("groupId", struct ec2_placement, id),
	REPLY_RULE_TEXT("groupName", struct ec2_placement, name),
	REPLY_RULE_TEXT("state", struct ec2_placement, state),
	PAGE_TAG_RULES(placement),
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

bool ec2_is_placement_id(const char *text)
{
	size_t n = strlen(text);

	return str_prefix(text, "pg-") && n >= 11 && n <= 20 && strspn(text + 3, "0123456789abcdef") == n - 3;
}

/* A name by filter: an unknown GroupName would be an error, and "there is none" is an answer. For ids EC2 has no filter. */
struct ec2_call *ec2_describe_placement_group(const char *name_or_id)
{
	struct buf b = {0};

	if (!ec2_is_placement_id(name_or_id))
		return describe("group-name", name_or_id);
	query_start(&b, "DescribePlacementGroups");
	query_str(&b, name_or_id, "GroupId.1");
	return call_create("DescribePlacementGroups", &b, &placement_reader);
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
