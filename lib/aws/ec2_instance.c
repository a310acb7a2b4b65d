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

static int take_tag(void *item, const char *key, const char *value)
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
		if (!strcmp(ours[i].key, key))
			return reply_text((char **)(void *)((char *)item + ours[i].offset), value);
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

/* --- health */
struct health_page {
	struct healths list;
	struct scheduled {
		char *code, *text;
		int64_t at_ms;
	} event; /* the one being read */
};

PAGE_CREATE(health, struct health_page)
PAGE_CURRENT(health, struct health_page)

static void scheduled_clear(struct scheduled *s)
{
	free(s->code);
	free(s->text);
	*s = (struct scheduled){0};
}

static void health_destroy(void *page)
{
	struct health_page *p = page;

	if (!p)
		return;
	healths_clear(&p->list);
	scheduled_clear(&p->event);
	free(p);
}

static int health_open(void *page)
{
	return healths_add(&((struct health_page *)page)->list) ? 0 : -1;
}

/* What was listed for an event that is over, or for nothing we look at, is well. */
static int health_close(void *page, const char *text)
{
	const struct health *h = health_current(page);

	(void)text;
	if (!h->instance || (!h->instance_impaired && !h->system_impaired && !h->event))
		healths_drop_last(&((struct health_page *)page)->list);
	return 0;
}

static int set_instance_check(void *page, const char *text)
{
	struct health *h = health_current(page);

	h->instance_impaired = str_eq(text, "impaired");
	return 0;
}

static int set_system_check(void *page, const char *text)
{
	struct health *h = health_current(page);

	h->system_impaired = str_eq(text, "impaired");
	return 0;
}

static int set_impaired_since(void *page, const char *text)
{
	struct health *h = health_current(page);
	int64_t ms;

	if (!clock_iso_parse(text, &ms) && (!h->impaired_since_ms || ms < h->impaired_since_ms))
		h->impaired_since_ms = ms;
	return 0;
}

static int event_open(void *page)
{
	scheduled_clear(&((struct health_page *)page)->event);
	return 0;
}

static int event_code(void *page, const char *text)
{
	return reply_text(&((struct health_page *)page)->event.code, text);
}

static int event_text(void *page, const char *text)
{
	return reply_text(&((struct health_page *)page)->event.text, text);
}

static int event_time(void *page, const char *text)
{
	struct scheduled *s = &((struct health_page *)page)->event;

	if (clock_iso_parse(text, &s->at_ms))
		s->at_ms = 0;
	return 0;
}

/* EC2 goes on listing an event for days after it is over. */
static bool is_over(const struct scheduled *s)
{
	return s->text && (str_prefix(s->text, "[Completed]") || str_prefix(s->text, "[Canceled]"));
}

/* The first one to come is kept; one without a time comes after those with one. */
static int event_close(void *page, const char *text)
{
	struct scheduled *s = &((struct health_page *)page)->event;
	struct health *h = health_current(page);

	(void)text;
	if (!s->code || is_over(s) || (h->event && (!s->at_ms || (h->event_ms && h->event_ms <= s->at_ms))))
		return 0;
	free(h->event);
	free(h->event_text);
	h->event = s->code;
	h->event_text = s->text;
	h->event_ms = s->at_ms;
	*s = (struct scheduled){0};
	return 0;
}

/* One machine may be found by each of the three questions. */
static int health_merge(void *into, void *from)
{
	return healths_merge(&((struct health_page *)into)->list, &((struct health_page *)from)->list);
}

static const struct reply_rule health_rules[] = {
	REPLY_RULE_CALL("", health_open, health_close),
	REPLY_RULE_TEXT("instanceId", struct health, instance),
	REPLY_RULE_CALL("instanceStatus/status", NULL, set_instance_check),
	REPLY_RULE_CALL("instanceStatus/details/item/impairedSince", NULL, set_impaired_since),
	REPLY_RULE_CALL("systemStatus/status", NULL, set_system_check),
	REPLY_RULE_CALL("systemStatus/details/item/impairedSince", NULL, set_impaired_since),
	REPLY_RULE_CALL("eventsSet/item", event_open, event_close),
	REPLY_RULE_CALL("eventsSet/item/code", NULL, event_code),
	REPLY_RULE_CALL("eventsSet/item/description", NULL, event_text),
	REPLY_RULE_CALL("eventsSet/item/notBefore", NULL, event_time),
};

static const struct reply_reader health_reader = PAGE_READER(health, "instanceStatusSet/item", health_rules);

/* Asked by filter: by id it would be a request for each 100 machines, and one that has vanished meanwhile would spoil it. */
struct ec2_call *ec2_describe_unwell(void)
{
	static const char *const impaired[] = {"impaired"};
	static const char *const events[] = {"instance-reboot", "system-reboot", "system-maintenance", "instance-retirement",
					     "instance-stop"};
	static const struct {
		const char *name;
		const char *const *values;
		size_t n;
	} asked[] = {
		{"instance-status.status", impaired, 1},
		{"system-status.status", impaired, 1},
		{"event.code", events, sizeof events / sizeof *events},
	};
	struct ec2_call *c = NULL;

	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
		struct buf b = {0};

		query_start(&b, "DescribeInstanceStatus");
		query_i64(&b, PAGE_SIZE, "MaxResults");
		query_filter(&b, 1, asked[i].name, asked[i].values, asked[i].n);
		c = i ? call_add_part(c, &b) : call_create("DescribeInstanceStatus", &b, &health_reader);
		if (!c)
			return NULL;
	}
	return c;
}

const struct healths *ec2_describe_unwell_reply(const struct ec2_call *c)
{
	return &((const struct health_page *)c->reply)->list;
}
