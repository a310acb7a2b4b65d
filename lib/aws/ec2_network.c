/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ec2_network.c - subnets and security groups: bodies and readers. Called by apply and the preflight of conf/facts. */
#include "lib/aws/call.h"
#include "lib/aws/page.h"
#include "lib/aws/query.h"

#include "lib/base/num.h"

#include <stddef.h>

/* --- subnets */
struct subnet_page {
	struct ec2_subnets list;
};

static void subnets_clear(struct ec2_subnets *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].id);
		free(l->v[i].vpc);
		free(l->v[i].zone);
		free(l->v[i].cidr);
	}
	free(l->v);
	*l = (struct ec2_subnets){0};
}

PAGE_CREATE(subnet, struct subnet_page)
PAGE_CURRENT(subnet, struct subnet_page)
PAGE_OPEN(subnet, struct subnet_page)
PAGE_MERGE(subnet, struct subnet_page)
PAGE_DESTROY(subnet, struct subnet_page, subnets_clear)

static const struct reply_rule subnet_rules[] = {
	REPLY_RULE_CALL("", subnet_open, NULL),
	REPLY_RULE_TEXT("subnetId", struct ec2_subnet, id),
	REPLY_RULE_TEXT("vpcId", struct ec2_subnet, vpc),
	REPLY_RULE_TEXT("availabilityZone", struct ec2_subnet, zone),
	REPLY_RULE_TEXT("cidrBlock", struct ec2_subnet, cidr),
	REPLY_RULE_BOOL("mapPublicIpOnLaunch", struct ec2_subnet, public_ip),
	REPLY_RULE_INT("availableIpAddressCount", struct ec2_subnet, free_addresses),
};

static const struct reply_reader subnet_reader = PAGE_READER(subnet, "subnetSet/item", subnet_rules);

struct ec2_call *ec2_describe_subnets(const char *const *ids, size_t n)
{
	struct buf b = {0};
	struct ec2_call *c;

	query_start(&b, "DescribeSubnets");
	query_list(&b, ids, n, "SubnetId");
	c = call_create("DescribeSubnets", &b, &subnet_reader);
	if (c)
		c->nothing = !n;
	return c;
}

const struct ec2_subnets *ec2_describe_subnets_reply(const struct ec2_call *c)
{
	return &((const struct subnet_page *)c->reply)->list;
}

/* --- security groups */
struct group_page {
	struct ec2_groups list;
	struct ec2_rule *rule; /* being read; valid until the next is added */
};

static void rules_free(struct ec2_rule *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].protocol);
		strs_clear(&v[i].groups);
		strs_clear(&v[i].cidrs);
	}
	free(v);
}

static void groups_clear(struct ec2_groups *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].id);
		free(l->v[i].name);
		free(l->v[i].vpc);
		rules_free(l->v[i].in, l->v[i].n_in);
		rules_free(l->v[i].out, l->v[i].n_out);
	}
	free(l->v);
	*l = (struct ec2_groups){0};
}

PAGE_CREATE(group, struct group_page)
PAGE_CURRENT(group, struct group_page)
PAGE_OPEN(group, struct group_page)
PAGE_MERGE(group, struct group_page)
PAGE_DESTROY(group, struct group_page, groups_clear)

static int rule_add(struct group_page *p, struct ec2_rule **v, size_t *n)
{
	struct ec2_rule *more = realloc(*v, (*n + 1) * sizeof *more);

	if (!more)
		return -1;
	*v = more;
	p->rule = &more[(*n)++];
	*p->rule = (struct ec2_rule){.from_port = -1, .to_port = -1};
	return 0;
}

static int in_open(void *page)
{
	struct ec2_group *g = group_current(page);

	return rule_add(page, &g->in, &g->n_in);
}

static int out_open(void *page)
{
	struct ec2_group *g = group_current(page);

	return rule_add(page, &g->out, &g->n_out);
}

static int rule_protocol(void *page, const char *text)
{
	struct ec2_rule *r = ((struct group_page *)page)->rule;

	free(r->protocol);
	r->protocol = str_dup(text);
	return r->protocol ? 0 : -1;
}

static int port(const char *text, int *out)
{
	int64_t value;

	if (!num_i64(text, -1, 65535, &value, NULL))
		*out = (int)value;
	return 0;
}

static int rule_from(void *page, const char *text)
{
	return port(text, &((struct group_page *)page)->rule->from_port);
}

static int rule_to(void *page, const char *text)
{
	return port(text, &((struct group_page *)page)->rule->to_port);
}

static int rule_group(void *page, const char *text)
{
	return strs_add(&((struct group_page *)page)->rule->groups, text);
}

static int rule_cidr(void *page, const char *text)
{
	return strs_add(&((struct group_page *)page)->rule->cidrs, text);
}

#define PERMISSION_RULES(name, open)                                                                                               \
	REPLY_RULE_CALL(name "/item", open, NULL), REPLY_RULE_CALL(name "/item/ipProtocol", NULL, rule_protocol),                  \
		REPLY_RULE_CALL(name "/item/fromPort", NULL, rule_from), REPLY_RULE_CALL(name "/item/toPort", NULL, rule_to),      \
		REPLY_RULE_CALL(name "/item/groups/item/groupId", NULL, rule_group),                                               \
		REPLY_RULE_CALL(name "/item/ipRanges/item/cidrIp", NULL, rule_cidr),                                               \
		REPLY_RULE_CALL(name "/item/ipv6Ranges/item/cidrIpv6", NULL, rule_cidr)

static const struct reply_rule group_rules[] = {
	REPLY_RULE_CALL("", group_open, NULL),
	REPLY_RULE_TEXT("groupId", struct ec2_group, id),
	REPLY_RULE_TEXT("groupName", struct ec2_group, name),
	REPLY_RULE_TEXT("vpcId", struct ec2_group, vpc),
	PERMISSION_RULES("ipPermissions", in_open),
	PERMISSION_RULES("ipPermissionsEgress", out_open),
};

static const struct reply_reader group_reader = PAGE_READER(group, "securityGroupInfo/item", group_rules);

struct ec2_call *ec2_describe_groups(const char *const *ids, size_t n)
{
	struct buf b = {0};
	struct ec2_call *c;

	query_start(&b, "DescribeSecurityGroups");
	query_list(&b, ids, n, "GroupId");
	c = call_create("DescribeSecurityGroups", &b, &group_reader);
	if (c)
		c->nothing = !n;
	return c;
}

struct ec2_call *ec2_describe_default_group(const char *vpc)
{
	const char *name = "default";
	struct buf b = {0};

	query_start(&b, "DescribeSecurityGroups");
	query_filter(&b, 1, "vpc-id", &vpc, 1);
	query_filter(&b, 2, "group-name", &name, 1);
	return call_create("DescribeSecurityGroups", &b, &group_reader);
}

const struct ec2_groups *ec2_describe_groups_reply(const struct ec2_call *c)
{
	return &((const struct group_page *)c->reply)->list;
}
