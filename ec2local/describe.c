/* SPDX-License-Identifier: GPL-2.0-or-later */
/* describe.c - DescribeInstances, GetConsoleOutput; which instances a call is about, for DescribeInstanceStatus too. */
#include "ec2local/describe.h"
#include "ec2local/cloud.h"
#include "ec2local/page.h"
#include "ec2local/xml.h"
#include "lib/base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONSOLE_MAX (64 * 1024) /* EC2 shows the last 64 KB */

static const char *const describe_params[] = {"InstanceId.N", "Filter.N.Name", "Filter.N.Value.N",
					      "MaxResults",   "NextToken",     NULL};
static const char *const console_params[] = {"InstanceId", "Latest", NULL};

/* --- one instance */

static void groups(struct buf *b, const struct cloud *cloud, const struct strs *ids)
{
	xml_open(b, "groupSet");
	for (size_t i = 0; i < ids->n; i++) {
		const struct group *g = network_group(&cloud->network, ids->v[i]);

		xml_open(b, "item");
		xml_text(b, "groupId", ids->v[i]);
		xml_text(b, "groupName", g ? g->name : NULL);
		xml_close(b, "item");
	}
	xml_close(b, "groupSet");
}

static void dns_name(const struct instance *i, char out[64])
{
	char host[32];

	instance_hostname(i, host);
	snprintf(out, 64, "%s.ec2.internal", host);
}

static void interface(struct buf *b, const struct cloud *cloud, const struct instance *i, size_t k, bool hide_ip)
{
	const struct nic *n = &i->launch->nics[k];
	const struct address *a = &i->addresses[k];
	char ip[INET_ADDRSTRLEN];

	network_ip_text(a->ip, ip);
	xml_open(b, "item");
	xml_text(b, "networkInterfaceId", a->eni);
	xml_text(b, "subnetId", n->subnet->id);
	xml_text(b, "vpcId", cloud->network.vpc_id);
	xml_text(b, "ownerId", CLOUD_ACCOUNT);
	xml_text(b, "status", "in-use");
	xml_text(b, "macAddress", a->mac);
	if (a->ip && !hide_ip)
		xml_text(b, "privateIpAddress", ip);
	xml_bool(b, "sourceDestCheck", true);
	groups(b, cloud, &n->groups);
	xml_open(b, "attachment");
	xml_int(b, "deviceIndex", n->device);
	xml_text(b, "status", i->state == PENDING ? "attaching" : "attached");
	xml_bool(b, "deleteOnTermination", true);
	xml_int(b, "networkCardIndex", n->card);
	xml_close(b, "attachment");
	if (a->ip && !hide_ip) {
		xml_open(b, "privateIpAddressesSet");
		xml_open(b, "item");
		xml_text(b, "privateIpAddress", ip);
		xml_bool(b, "primary", true);
		xml_close(b, "item");
		xml_close(b, "privateIpAddressesSet");
	}
	xml_text(b, "interfaceType", n->type);
	xml_close(b, "item");
}

/* What a terminated instance no longer has. */
static void network_part(struct buf *b, const struct cloud *cloud, const struct instance *i, bool hide_ip)
{
	xml_text(b, "subnetId", i->launch->subnet->id);
	xml_text(b, "vpcId", cloud->network.vpc_id);
	if (i->ip && !hide_ip)
		xml_text(b, "privateIpAddress", i->ip_key);
	groups(b, cloud, &i->launch->nics[i->launch->primary].groups);
	xml_open(b, "networkInterfaceSet");
	for (size_t k = 0; k < i->launch->n_nics; k++)
		interface(b, cloud, i, k, hide_ip);
	xml_close(b, "networkInterfaceSet");
}

static void state_part(struct buf *b, const struct instance *i)
{
	xml_open(b, "instanceState");
	xml_int(b, "code", i->state);
	xml_text(b, "name", instance_state_name(i->state));
	xml_close(b, "instanceState");
	if (!i->reason_code)
		return;
	xml_open(b, "stateReason");
	xml_text(b, "code", i->reason_code);
	xml_text(b, "message", i->reason_text);
	xml_close(b, "stateReason");
}

static void names_part(struct buf *b, const struct instance *i, bool hide_ip)
{
	char dns[64] = "";

	if (i->ip && !hide_ip)
		dns_name(i, dns);
	xml_text(b, "privateDnsName", dns);
	xml_text(b, "dnsName", "");
	xml_text(b, "reason", i->state >= SHUTTING_DOWN ? "User initiated" : "");
}

static void placement_part(struct buf *b, const struct launch *l)
{
	xml_open(b, "placement");
	xml_text(b, "availabilityZone", l->subnet->zone);
	xml_text(b, "groupName", l->placement ? l->placement : "");
	xml_text(b, "tenancy", "default");
	xml_close(b, "placement");
}

static void profile_part(struct buf *b, const struct launch *l)
{
	bool arn = l->profile && str_prefix(l->profile, "arn:");
	char *text = l->profile && !arn ? str_fmt("arn:aws:iam::" CLOUD_ACCOUNT ":instance-profile/%s", l->profile) : NULL;

	if (!l->profile)
		return;
	xml_open(b, "iamInstanceProfile");
	xml_text(b, "arn", arn ? l->profile : text);
	xml_text(b, "id", "AIPA0EC2LOCAL00000001");
	xml_close(b, "iamInstanceProfile");
	free(text);
}

static void launch_part(struct buf *b, const struct launch *l)
{
	int threads = l->threads_per_core ? l->threads_per_core : 1;

	xml_text(b, "instanceType", l->type->name);
	placement_part(b, l);
	xml_open(b, "monitoring");
	xml_text(b, "state", l->monitoring ? "enabled" : "disabled");
	xml_close(b, "monitoring");
	xml_text(b, "architecture", l->type->arch);
	xml_text(b, "rootDeviceType", "ebs");
	xml_text(b, "rootDeviceName", "/dev/xvda");
	xml_text(b, "virtualizationType", "hvm");
	xml_text(b, "hypervisor", "xen");
	xml_text(b, "clientToken", l->client_token ? l->client_token : "");
	xml_bool(b, "ebsOptimized", l->ebs_optimized);
	xml_bool(b, "enaSupport", true);
	if (l->market != MARKET_ON_DEMAND)
		xml_text(b, "instanceLifecycle", market_name(l->market));
	xml_text(b, "capacityReservationId", l->from ? l->from->id : NULL);
	profile_part(b, l);
	if (l->cores) {
		xml_open(b, "cpuOptions");
		xml_int(b, "coreCount", l->cores);
		xml_int(b, "threadsPerCore", threads);
		xml_close(b, "cpuOptions");
	}
	xml_open(b, "metadataOptions");
	xml_text(b, "state", "applied");
	xml_text(b, "httpTokens", l->imds_optional ? "optional" : "required");
	xml_text(b, "httpEndpoint", "enabled");
	xml_text(b, "instanceMetadataTags", l->imds_tags ? "enabled" : "disabled");
	xml_close(b, "metadataOptions");
}

void describe_instance(struct buf *b, const struct cloud *cloud, const struct instance *i, int64_t now_ms, bool hide_ip)
{
	const struct launch *l = i->launch;

	hide_ip = hide_ip || (!i->head && now_ms - i->launched_ms < cloud->faults.address_delay_ms);
	xml_open(b, "item");
	xml_text(b, "instanceId", i->id);
	xml_text(b, "imageId", l->image ? l->image->id : NULL);
	state_part(b, i);
	names_part(b, i, hide_ip);
	xml_text(b, "keyName", l->key_name);
	xml_int(b, "amiLaunchIndex", i->index);
	xml_time(b, "launchTime", i->launched_ms);
	launch_part(b, l);
	if (i->state != TERMINATED)
		network_part(b, cloud, i, hide_ip);
	xml_tags(b, &i->tags);
	xml_close(b, "item");
}

/* --- filters */

static const char *const known_filters[] = {"instance-state-name",
					    "instance-state-code",
					    "instance-id",
					    "client-token",
					    "private-ip-address",
					    "private-dns-name",
					    "subnet-id",
					    "vpc-id",
					    "availability-zone",
					    "instance-type",
					    "image-id",
					    "reservation-id",
					    "placement-group-name",
					    "instance-lifecycle",
					    "architecture",
					    "instance.group-id",
					    "network-interface.group-id",
					    NULL};

static bool in_groups(const struct filter *f, const struct launch *l)
{
	for (size_t k = 0; k < l->n_nics; k++) {
		for (size_t j = 0; j < l->nics[k].groups.n; j++) {
			if (filter_has(f, l->nics[k].groups.v[j]))
				return true;
		}
	}
	return false;
}

static const char *launch_text(const struct launch *l, const char *name)
{
	if (str_eq(name, "client-token"))
		return l->client_token;
	if (str_eq(name, "instance-type"))
		return l->type->name;
	if (str_eq(name, "image-id"))
		return l->image ? l->image->id : NULL;
	if (str_eq(name, "reservation-id"))
		return l->reservation;
	if (str_eq(name, "placement-group-name"))
		return l->placement;
	if (str_eq(name, "instance-lifecycle"))
		return l->market == MARKET_ON_DEMAND ? NULL : market_name(l->market);
	if (str_eq(name, "architecture"))
		return l->type->arch;
	return l->subnet->zone; /* availability-zone */
}

static bool one_matches(const struct filter *f, const struct cloud *cloud, const struct instance *i)
{
	bool decided, yes = filter_tags(f, &i->tags, &decided);
	bool on_network = i->state != TERMINATED;
	char text[64];

	if (decided)
		return yes;
	if (str_eq(f->name, "instance-state-name"))
		return filter_has(f, instance_state_name(i->state));
	if (str_eq(f->name, "instance-state-code")) {
		snprintf(text, sizeof(text), "%d", i->state);
		return filter_has(f, text);
	}
	if (str_eq(f->name, "instance-id"))
		return filter_has(f, i->id);
	if (str_eq(f->name, "private-ip-address"))
		return on_network && filter_has(f, i->ip_key);
	if (str_eq(f->name, "private-dns-name")) {
		dns_name(i, text);
		return on_network && filter_has(f, text);
	}
	if (str_eq(f->name, "subnet-id"))
		return on_network && filter_has(f, i->launch->subnet->id);
	if (str_eq(f->name, "vpc-id"))
		return on_network && filter_has(f, cloud->network.vpc_id);
	if (strstr(f->name, "group-id"))
		return on_network && in_groups(f, i->launch);
	return filter_has(f, launch_text(i->launch, f->name));
}

bool describe_matches(const struct filters *f, const struct cloud *cloud, const struct instance *i)
{
	for (size_t k = 0; k < f->n; k++) {
		if (!one_matches(&f->v[k], cloud, i))
			return false;
	}
	return true;
}

/* --- the calls */

static int compare_seq(const void *a, const void *b)
{
	const struct instance *x = *(struct instance *const *)a, *y = *(struct instance *const *)b;

	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* A filter of plain ids names the only ones that can match: ten thousand others need no look. */
static int by_filter(struct call *c, const struct filters *f, const struct page *page, struct instance ***own,
		     struct instance ***v, size_t *n)
{
	const struct filter *ids = NULL;

	for (size_t k = 0; k < f->n; k++) {
		if (str_eq(f->v[k].name, "instance-id") && !f->v[k].pattern)
			ids = &f->v[k];
	}
	if (!ids)
		return 0;
	*own = calloc(ids->values.n + 1, sizeof(struct instance *));
	if (!*own)
		return call_nomem(c);
	*n = 0;
	for (size_t k = 0; k < ids->values.n; k++) {
		struct instance *i = instances_find(&c->cloud->instances, ids->values.v[k]);

		if (i && i->seq > page->after && (!k || !str_eq(ids->values.v[k], ids->values.v[k - 1])))
			(*own)[(*n)++] = i;
	}
	*v = *own;
	qsort(*own, *n, sizeof(struct instance *), compare_seq);
	return 0;
}

int describe_candidates(struct call *c, const struct filters *f, const struct page *page, struct instance ***own,
			struct instance ***v, size_t *n)
{
	struct instances *l = &c->cloud->instances;
	struct strs ids = {0};
	int rc = 0;

	*v = l->v + instances_behind(l, page->after);
	*n = l->n - instances_behind(l, page->after);
	if (!params_has(&c->params, "InstanceId"))
		return by_filter(c, f, page, own, v, n);
	if (params_list(&c->params, "InstanceId", &ids) < 0 || !(*own = calloc(ids.n + 1, sizeof(struct instance *))))
		rc = call_nomem(c);
	else
		rc = instances_named(c, &ids, *own);
	if (rc == 0) {
		qsort(*own, ids.n, sizeof(struct instance *), compare_seq);
		*v = *own;
		*n = 0;
		for (size_t i = 0; i < ids.n; i++) { /* one named twice is shown once */
			if (*n == 0 || (*own)[*n - 1] != (*own)[i])
				(*own)[(*n)++] = (*own)[i];
		}
	}
	strs_clear(&ids);
	return rc;
}

static void open_reservation(struct buf *b, const struct launch *l)
{
	xml_open(b, "item");
	xml_text(b, "reservationId", l->reservation);
	xml_text(b, "ownerId", CLOUD_ACCOUNT);
	buf_str(b, "<groupSet/><instancesSet>");
}

/* One of the youngest call's launches, when this answer is to lack them. */
static const struct launch *hidden_launch(struct cloud *cloud)
{
	if (cloud->faults.hide_launch <= 0 || !cloud->instances.n)
		return NULL;
	cloud->faults.hide_launch--;
	return cloud->instances.v[cloud->instances.n - 1]->launch;
}

static void list(struct call *c, const struct filters *f, struct page *page, struct instance **v, size_t n)
{
	bool hide = c->cloud->faults.hide_ip > 0;
	const struct launch *open = NULL, *hidden = hidden_launch(c->cloud);
	struct buf *b = &c->out;

	xml_open(b, "reservationSet");
	for (size_t k = 0; k < n; k++) {
		const struct instance *i = v[k];

		if (i->gone || (hidden && str_eq(i->launch->request_id, hidden->request_id)) ||
		    !instance_seen(c->cloud, i, c->now_ms) || !describe_matches(f, c->cloud, i))
			continue;
		if (!page_take(page, i->seq))
			break;
		if (open != i->launch) {
			buf_str(b, open ? "</instancesSet></item>" : "");
			open_reservation(b, open = i->launch);
		}
		describe_instance(b, c->cloud, i, c->now_ms, hide);
	}
	buf_str(b, open ? "</instancesSet></item>" : "");
	xml_close(b, "reservationSet");
	if (hide)
		c->cloud->faults.hide_ip--;
	page_end(page, b);
}

static int describe(struct call *c)
{
	struct instance **own = NULL, **v = NULL;
	struct filters f = {0};
	struct page page;
	size_t n = 0;
	int rc = -1;

	if (page_read(c, &page, 5, 1000, "InstanceId") == 0 && filters_read(c, &f, known_filters) == 0 &&
	    describe_candidates(c, &f, &page, &own, &v, &n) == 0 && call_dry_run(c) == 0) {
		list(c, &f, &page, v, n);
		rc = 0;
	}
	filters_free(&f);
	free(own);
	return rc;
}

static int console(struct call *c)
{
	const char *id = call_need(c, "InstanceId");
	struct buf text = {0}, b64 = {0};
	struct instance *i = NULL;
	struct strs ids = {0};
	char *path;
	int rc;

	if (!id)
		return -1;
	rc = strs_add(&ids, id) < 0 ? call_nomem(c) : instances_named(c, &ids, &i);
	strs_clear(&ids);
	if (rc < 0)
		return -1;
	path = instance_console(&c->cloud->instances, i);
	if (path && file_exists(path))
		file_read(path, 16 * 1024 * 1024, &text, NULL);
	else if (!path)
		buf_fmt(&text, "%s is a record: no machine boots\r\n", i->id);
	if (text.n)
		buf_base64(&b64, text.v + (text.n > CONSOLE_MAX ? text.n - CONSOLE_MAX : 0),
			   text.n > CONSOLE_MAX ? CONSOLE_MAX : text.n);
	xml_text(&c->out, "instanceId", i->id);
	xml_time(&c->out, "timestamp", c->now_ms);
	xml_text(&c->out, "output", b64.n ? buf_text(&b64) : NULL);
	buf_free(&text);
	buf_free(&b64);
	free(path);
	return 0;
}

const struct action describe_actions[] = {
    {"DescribeInstances", describe, describe_params, false, NULL},
    {"GetConsoleOutput", console, console_params, false, NULL},
    {NULL, NULL, NULL, false, NULL},
};
