/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ec2_instance.c - RunInstances (and what a fleet shares with it), TerminateInstances, DescribeInstances,
 * DescribeInstanceStatus: bodies and readers. */
#include "lib/aws/call.h"
#include "lib/aws/fleet.h"
#include "lib/aws/override.h"
#include "lib/aws/page.h"
#include "lib/aws/query.h"
#include "lib/aws/reply.h"

#include "lib/base/clock.h"

#include <stddef.h>

#define PAGE_SIZE 1000        /* EC2's largest page */
#define FILTER_VALUES 200     /* EC2's limit for one filter */
#define STATUS_IDS 100        /* EC2's limit for one DescribeInstanceStatus */

/* --- reading an instance */
struct instance_page {
	union {
		struct instances list;
		struct ec2_launch_reply launch; /* of RunInstances: begins with the list */
	};
	struct page_tag tag;
	struct nic {
		int device, card;
		char *ip, *dns, *subnet;
	} nic;               /* the interface being read */
	bool primary_seen;
};

PAGE_CREATE(instance, struct instance_page)
PAGE_CURRENT(instance, struct instance_page)
PAGE_MERGE(instance, struct instance_page)

static void nic_clear(struct nic *n)
{
	free(n->ip);
	free(n->dns);
	free(n->subnet);
	*n = (struct nic){0};
}

static void instance_destroy(void *page)
{
	struct instance_page *p = page;

	if (!p)
		return;
	instances_clear(&p->list);
	nic_clear(&p->nic);
	page_tag_clear(&p->tag);
	free(p);
}

static int instance_open(void *page)
{
	struct instance_page *p = page;

	p->primary_seen = false;
	return instances_add(&p->list) ? 0 : -1;
}

static int set_state(void *page, const char *text)
{
	struct instance *i = instance_current(page);

	i->state = instance_state_parse(text);
	return 0;
}

static int set_launch_time(void *page, const char *text)
{
	struct instance *i = instance_current(page);

	if (clock_iso_parse(text, &i->launch_time_ms))
		i->launch_time_ms = 0;
	return 0;
}

/* The groups of the instance and of all its interfaces, each once. */
static int add_group(void *page, const char *text)
{
	struct instance *i = instance_current(page);
	char **v, *copy;

	for (size_t g = 0; g < i->groups.n; g++)
		if (!strcmp(i->groups.id[g], text))
			return 0;
	v = realloc(i->groups.id, (i->groups.n + 1) * sizeof *v);
	if (!v)
		return -1;
	i->groups.id = v;
	copy = str_dup(text);
	if (!copy)
		return -1;
	v[i->groups.n++] = copy;
	return 0;
}

static int take_tag(void *item, struct page_tag *tag)
{
	static const struct {
		const char *key;
		size_t offset;
	} ours[] = {
		{TAG_CLUSTER, offsetof(struct instance, cluster)},
		{TAG_LAUNCH, offsetof(struct instance, launch)},
		{TAG_PC_CLUSTER, offsetof(struct instance, cluster_name)},
		{TAG_PC_QUEUE, offsetof(struct instance, queue)},
		{TAG_PC_RESOURCE, offsetof(struct instance, resource)},
	};

	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (!strcmp(tag->key, ours[i].key))
			return reply_text((char **)(void *)((char *)item + ours[i].offset), tag->value);
	return 0;
}

PAGE_TAG_CALLS(instance, struct instance_page, take_tag)

static int nic_open(void *page)
{
	nic_clear(&((struct instance_page *)page)->nic);
	return 0;
}

static int nic_ip(void *page, const char *text)
{
	return reply_text(&((struct instance_page *)page)->nic.ip, text);
}

static int nic_dns(void *page, const char *text)
{
	return reply_text(&((struct instance_page *)page)->nic.dns, text);
}

static int nic_subnet(void *page, const char *text)
{
	return reply_text(&((struct instance_page *)page)->nic.subnet, text);
}

/* Small whole numbers of an attachment; anything else is not interface 0. */
static int small_number(const char *text)
{
	return text[0] >= '0' && text[0] <= '9' && !text[1] ? text[0] - '0' : -1;
}

static int nic_device(void *page, const char *text)
{
	((struct instance_page *)page)->nic.device = small_number(text);
	return 0;
}

static int nic_card(void *page, const char *text)
{
	((struct instance_page *)page)->nic.card = small_number(text);
	return 0;
}

/* The instance's own address may be any interface's, so it gives way to the primary one's, wherever in the answer that
 * stands. */
static int top_text(struct instance_page *p, char **field, const char *text)
{
	return p->primary_seen && *field ? 0 : reply_text(field, text);
}

static int top_ip(void *page, const char *text)
{
	struct instance *i = instance_current(page);

	return top_text(page, &i->private_ip, text);
}

static int top_dns(void *page, const char *text)
{
	struct instance *i = instance_current(page);

	return top_text(page, &i->private_dns, text);
}

static int top_subnet(void *page, const char *text)
{
	struct instance *i = instance_current(page);

	return top_text(page, &i->subnet_id, text);
}

static void hand_over(char **field, char **from)
{
	if (!*from)
		return;
	free(*field);
	*field = *from;
	*from = NULL;
}

/* An instance with several interfaces: only device 0 of card 0 is the address Slurm is told. */
static int nic_close(void *page, const char *text)
{
	struct instance_page *p = page;
	struct instance *i = instance_current(page);

	(void)text;
	if (!p->nic.device && !p->nic.card && !p->primary_seen) {
		p->primary_seen = true;
		hand_over(&i->private_ip, &p->nic.ip);
		hand_over(&i->private_dns, &p->nic.dns);
		hand_over(&i->subnet_id, &p->nic.subnet);
	}
	return 0;
}

static const struct reply_rule instance_rules[] = {
	REPLY_RULE_CALL("", instance_open, NULL),
	REPLY_RULE_TEXT("instanceId", struct instance, id),
	REPLY_RULE_TEXT("instanceType", struct instance, type),
	REPLY_RULE_CALL("instanceState/name", NULL, set_state),
	REPLY_RULE_CALL("privateIpAddress", NULL, top_ip),
	REPLY_RULE_CALL("privateDnsName", NULL, top_dns),
	REPLY_RULE_CALL("subnetId", NULL, top_subnet),
	REPLY_RULE_TEXT("placement/availabilityZone", struct instance, zone),
	REPLY_RULE_TEXT("instanceLifecycle", struct instance, lifecycle),
	REPLY_RULE_TEXT("clientToken", struct instance, client_token),
	REPLY_RULE_TEXT("stateReason/code", struct instance, state_reason),
	REPLY_RULE_CALL("launchTime", NULL, set_launch_time),
	REPLY_RULE_INT("amiLaunchIndex", struct instance, launch_index),
	REPLY_RULE_CALL("groupSet/item/groupId", NULL, add_group),
	PAGE_TAG_RULES(instance),
	REPLY_RULE_CALL("networkInterfaceSet/item", nic_open, nic_close),
	REPLY_RULE_CALL("networkInterfaceSet/item/privateIpAddress", NULL, nic_ip),
	REPLY_RULE_CALL("networkInterfaceSet/item/privateDnsName", NULL, nic_dns),
	REPLY_RULE_CALL("networkInterfaceSet/item/subnetId", NULL, nic_subnet),
	REPLY_RULE_CALL("networkInterfaceSet/item/attachment/deviceIndex", NULL, nic_device),
	REPLY_RULE_CALL("networkInterfaceSet/item/attachment/networkCardIndex", NULL, nic_card),
	REPLY_RULE_CALL("networkInterfaceSet/item/groupSet/item/groupId", NULL, add_group),
};

static const struct reply_reader run_reader = PAGE_READER(instance, "instancesSet/item", instance_rules);
static const struct reply_reader describe_reader = PAGE_READER(instance, "reservationSet/item/instancesSet/item", instance_rules);

/* The pages of both kinds of launch begin with their reply. */
const struct ec2_launch_reply *ec2_launch_reply(const struct ec2_call *c)
{
	return c->launches && c->error.class == AWS_OK ? c->reply : NULL;
}

const struct instances *ec2_describe_reply(const struct ec2_call *c)
{
	return &((const struct instance_page *)c->reply)->list;
}

/* --- launching and ending */
struct ec2_call *ec2_run_instances(const struct ec2_run *r)
{
	static const char *const tagged[] = {"instance", "volume"};
	struct buf b = {0};
	struct ec2_call *c;

	query_start(&b, "RunInstances");
	query_str(&b, r->client_token, "ClientToken");
	query_str(&b, r->template_id, "LaunchTemplate.LaunchTemplateId");
	if (r->template_id)
		query_i64(&b, r->template_version, "LaunchTemplate.Version");
	query_i64(&b, r->min_count, "MinCount");
	query_i64(&b, r->max_count, "MaxCount");
	if (r->dry_run)
		query_bool(&b, true, "DryRun");
	query_str(&b, r->subnet_id, "SubnetId");
	query_base64(&b, r->user_data, "UserData");
	override_apply(&b, r->overrides);
	override_tags(&b, r->overrides, r->tags, tagged, sizeof tagged / sizeof *tagged);
	c = call_create("RunInstances", &b, &run_reader);
	if (c)
		c->instances = r->max_count;
	return c;
}

struct ec2_call *ec2_launch_again(const char *body)
{
	bool fleet = str_prefix(body, "Action=CreateFleet&");
	struct buf b = {0};
	struct ec2_call *c;

	if (!fleet && !str_prefix(body, "Action=RunInstances&"))
		return NULL;
	buf_str(&b, body);
	c = fleet ? call_create("CreateFleet", &b, &fleet_reader) : call_create("RunInstances", &b, &run_reader);
	if (c)
		c->instances = (int)query_find_i64(body, fleet ? FLEET_TOTAL : "MaxCount");
	return c;
}

struct ec2_call *ec2_terminate_instances(const char *const *ids, size_t n)
{
	struct buf b = {0};
	struct ec2_call *c;

	query_start(&b, "TerminateInstances");
	query_list(&b, ids, n, "InstanceId");
	c = call_create("TerminateInstances", &b, &reply_nothing);
	if (c)
		c->instances = (int)n;
	return c;
}

/* --- describing */
static void start_describe(struct buf *b)
{
	query_start(b, "DescribeInstances");
	query_i64(b, PAGE_SIZE, "MaxResults");
}

struct ec2_call *ec2_describe_cluster(const char *uuid)
{
	return ec2_describe_by("tag:" TAG_CLUSTER, &uuid, 1);
}

struct ec2_call *ec2_describe_by(const char *filter, const char *const *values, size_t n)
{
	struct ec2_call *c = NULL;

	for (size_t at = 0; at == 0 || at < n; at += FILTER_VALUES) {
		size_t part = n - at < FILTER_VALUES ? n - at : FILTER_VALUES;
		struct buf b = {0};

		start_describe(&b);
		query_filter(&b, 1, filter, values + at, part);
		c = at ? call_add_part(c, &b) : call_create("DescribeInstances", &b, &describe_reader);
		if (!c)
			return NULL;
	}
	c->nothing = !n;
	return c;
}

/* By filter rather than by InstanceId: there one unknown id would spoil the whole answer. */
struct ec2_call *ec2_describe_ids(const char *const *ids, size_t n)
{
	return ec2_describe_by("instance-id", ids, n);
}

/* --- status */
struct status_page {
	struct instance_statuses list;
};

static void statuses_clear(struct instance_statuses *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].id);
		free(l->v[i].instance_status);
		free(l->v[i].system_status);
	}
	free(l->v);
	*l = (struct instance_statuses){0};
}

PAGE_CREATE(status, struct status_page)
PAGE_CURRENT(status, struct status_page)
PAGE_OPEN(status, struct status_page)
PAGE_MERGE(status, struct status_page)
PAGE_DESTROY(status, struct status_page, statuses_clear)

static const struct reply_rule status_rules[] = {
	REPLY_RULE_CALL("", status_open, NULL),
	REPLY_RULE_TEXT("instanceId", struct instance_status, id),
	REPLY_RULE_TEXT("instanceStatus/status", struct instance_status, instance_status),
	REPLY_RULE_TEXT("systemStatus/status", struct instance_status, system_status),
};

static const struct reply_reader status_reader = PAGE_READER(status, "instanceStatusSet/item", status_rules);

/* By id: this verb knows no filter by id. One unknown id spoils the call, so callers give only ids a describe has just
 * shown. */
struct ec2_call *ec2_describe_status(const char *const *ids, size_t n)
{
	struct ec2_call *c = NULL;

	for (size_t at = 0; at == 0 || at < n; at += STATUS_IDS) {
		size_t part = n - at < STATUS_IDS ? n - at : STATUS_IDS;
		struct buf b = {0};

		query_start(&b, "DescribeInstanceStatus");
		query_list(&b, ids + at, part, "InstanceId");
		c = at ? call_add_part(c, &b) : call_create("DescribeInstanceStatus", &b, &status_reader);
		if (!c)
			return NULL;
	}
	c->nothing = !n;
	return c;
}

const struct instance_statuses *ec2_describe_status_reply(const struct ec2_call *c)
{
	return &((const struct status_page *)c->reply)->list;
}
