/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call.c - the table of EC2 actions, and the life of an ec2_call. An action that is not in the table cannot be built. */
#include "lib/aws/call.h"

#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>

/* One row for each kind of user: the policy is made of these. */
static const struct ec2_action actions[] = {
	{"RunInstances", "daemons", "launch"},
	{"CreateFleet", "daemons", "launch"},
	{"TerminateInstances", "daemons", "cluster-tag"},
	{"DescribeInstances", "daemons", "any"},
	{"DescribeInstanceStatus", "daemons", "any"},
	{"DescribeCapacityReservations", "daemons", "any"},
	{"GetConsoleOutput", "daemons", "cluster-tag"},
	{"CreateTags", "daemons", "launch"}, /* the tags that RunInstances and CreateFleet give */

	{"DescribeInstances", "apply", "any"},
	{"DescribeInstanceStatus", "apply", "any"},
	{"DescribeInstanceTypes", "apply", "any"},
	{"DescribeImages", "apply", "any"},
	{"DescribeSubnets", "apply", "any"},
	{"DescribeSecurityGroups", "apply", "any"},
	{"DescribeLaunchTemplates", "apply", "any"},
	{"DescribePlacementGroups", "apply", "any"},
	{"DescribeCapacityReservations", "apply", "any"},
	{"CreateLaunchTemplate", "apply", "launch"},
	{"CreateLaunchTemplateVersion", "apply", "cluster-tag"},
	{"DeleteLaunchTemplate", "apply", "cluster-tag"},
	{"CreatePlacementGroup", "apply", "launch"},
	{"DeletePlacementGroup", "apply", "cluster-tag"},
	{"CreateTags", "apply", "launch"},
	{NULL, NULL, NULL},
};

const struct ec2_action *ec2_actions(void)
{
	return actions;
}

static const struct ec2_action *find_action(const char *action)
{
	const struct ec2_action *a = actions;

	while (a->action && strcmp(a->action, action))
		a++;
	return a->action ? a : NULL;
}

static bool reads(const char *action)
{
	return str_prefix(action, "Describe") || str_prefix(action, "Get");
}

enum bucket_kind call_bucket(const char *action)
{
	if (!strcmp(action, "RunInstances"))
		return BUCKET_RUN;
	if (!strcmp(action, "TerminateInstances"))
		return BUCKET_TERMINATE;
	if (!strcmp(action, "CreateTags"))
		return BUCKET_TAG;
	return reads(action) ? BUCKET_READ : BUCKET_MUTATE;
}

static bool launches(const char *action)
{
	return !strcmp(action, "RunInstances") || !strcmp(action, "CreateFleet");
}

enum bucket_kind call_instance_bucket(const char *action)
{
	if (launches(action))
		return BUCKET_RUN_INSTANCES;
	return strcmp(action, "TerminateInstances") ? BUCKET_KINDS : BUCKET_TERMINATE_INSTANCES;
}

struct ec2_call *call_create(const char *action, struct buf *body, const struct reply_reader *reader)
{
	const struct ec2_action *known = find_action(action);
	struct ec2_call *c = known ? calloc(1, sizeof *c) : NULL;

	if (c) {
		c->action = known->action;
		c->body = buf_take(body);
		c->reader = reader;
		c->reply = reader->create();
		c->reply_free = reader->destroy;
		c->mutating = !reads(action);
		c->launches = launches(action);
		c->instances = 1;
	}
	buf_free(body);
	if (c && (!c->body || !c->reply)) {
		ec2_call_destroy(c);
		return NULL;
	}
	return c;
}

struct ec2_call *call_add_part(struct ec2_call *c, struct buf *body)
{
	char *text = buf_take(body);

	buf_free(body);
	if (c && text && !strs_take(&c->parts, text))
		return c;
	if (!c)
		free(text);
	ec2_call_destroy(c);
	return NULL;
}

void ec2_call_destroy(struct ec2_call *c)
{
	if (!c)
		return;
	if (c->reply)
		c->reply_free(c->reply);
	strs_clear(&c->parts);
	free(c->body);
	free(c);
}
