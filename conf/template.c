/* SPDX-License-Identifier: GPL-2.0-or-later */
/* template.c - compute resource to launch template.
 *
 * Called by apply, once a resource. Takes decided values only (image, groups, group name); looks nothing up and sends nothing.
 */
#include "build_config.h"

#include "conf/template.h"

#include "conf/bootstrap.h"
#include "conf/hardware.h"
#include "conf/interfaces.h"
#include "lib/base/err.h"

#include <stdlib.h>
#include <string.h>

char *template_name(const char *cluster, const char *queue, const char *resource)
{
	return str_fmt("%s/%s/%s", cluster, queue, resource);
}

char *placement_name(const char *uuid, const char *cluster, const char *queue, const char *resource)
{
	return str_fmt("%s_%s_%s_%.8s", cluster, queue, resource, uuid);
}

/* FNV-1a, 64 bits: it tells "changed" from "the same", nothing hangs on its strength. The token's pair is stepped over. */
void template_hash(const char *body, char out[17])
{
	static const char token[] = "ClientToken=";
	static const char hex[] = "0123456789abcdef";
	uint64_t h = 0xcbf29ce484222325u;

	for (const char *s = body; *s;) {
		size_t n = strcspn(s, "&");

		if (strncmp(s, token, sizeof(token) - 1) != 0) {
			for (size_t i = 0; i <= n && s[i]; i++)
				h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
		}
		s += n + (s[n] == '&');
	}
	for (int i = 15; i >= 0; i--, h >>= 4)
		out[i] = hex[h & 15];
	out[16] = 0;
}

static int tag_set(struct kvs *l, const char *key, const char *val)
{
	for (size_t i = 0; i < l->key.n; i++) {
		char *copy;

		if (strcmp(l->key.v[i], key) != 0)
			continue;
		copy = str_dup(val);
		if (!copy)
			return -1;
		free(l->val.v[i]);
		l->val.v[i] = copy;
		return 0;
	}
	return kvs_add(l, key, val);
}

static int tags_set(struct kvs *l, const struct kvs *more)
{
	for (size_t i = 0; i < more->key.n; i++) {
		if (tag_set(l, more->key.v[i], more->val.v[i]))
			return -1;
	}
	return 0;
}

/* The user's tags from the wide to the narrow, ours last: nobody may take a machine out of our sight by a tag of his own. */
static int build_tags(const struct template_input *in, struct template *out)
{
	return tag_set(&out->tags, "Name", "Compute") || tags_set(&out->tags, &in->cluster->tags) ||
	       tags_set(&out->tags, &in->queue->tags) || tags_set(&out->tags, &in->resource->tags) ||
	       tag_set(&out->tags, TAG_PC_CLUSTER, in->gen->cluster_name) || tag_set(&out->tags, TAG_PC_NODE_TYPE, "Compute") ||
	       tag_set(&out->tags, TAG_PC_QUEUE, in->queue->name) || tag_set(&out->tags, TAG_PC_RESOURCE, in->resource->name) ||
	       tag_set(&out->tags, TAG_CLUSTER, in->gen->uuid) || tag_set(&out->own_tags, TAG_CLUSTER, in->gen->uuid) ||
	       tag_set(&out->own_tags, TAG_PC_CLUSTER, in->gen->cluster_name);
}

/* For dashboards, and for ParallelCluster's own tools, which read the operating system from it. */
static int build_instance_tags(const struct template_input *in, const struct hardware *h, struct template *out)
{
	const char *arch = in->resource->instance_types.n == 1 && h->arch ? h->arch : "NONE";
	const char *os = in->cluster->os ? in->cluster->os : "NONE";
	char *attributes = str_fmt("%s, slurm, %s, %s", os, PACKAGE_VERSION, arch);
	int rc = attributes ? 0 : -1;

	if (rc == 0 && !kvs_get(&out->tags, TAG_PC_ATTRIBUTES))
		rc = kvs_add(&out->instance_tags, TAG_PC_ATTRIBUTES, attributes);
	if (rc == 0 && !kvs_get(&out->tags, TAG_PC_NETWORKING))
		rc = kvs_add(&out->instance_tags, TAG_PC_NETWORKING, in->resource->efa ? "EFA=true" : "EFA=NONE");
	free(attributes);
	return rc;
}

/* EC2 refuses a launch with tags in the metadata if a key could not stand in a path. */
static int check_tag_keys(const struct kvs *tags, struct err *e)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-=.,_:@";

	for (size_t i = 0; i < tags->key.n; i++) {
		const char *key = tags->key.v[i];

		if (key[strspn(key, allowed)] || str_eq(key, ".") || str_eq(key, "..") || str_eq(key, "_index"))
			return err_set(e, "tag \"%s\": with several instance types or subnets the keys of Tags may hold only letters, "
					  "digits and + - = . , _ : @, for the machines read their tags from the instance metadata", key);
	}
	return 0;
}

static int build_interfaces(const struct template_input *in, const struct hardware *h, struct template *out, struct err *e)
{
	struct interfaces l = { 0 };

	if (interfaces_layout(h->fewest_cards, interfaces_mode(h->fewest_cards, in->resource->efa, in->queue->assign_public_ip),
			      in->queue->assign_public_ip, &l))
		return err_nomem(e);
	if (l.n > 1 && in->queue->assign_public_ip == TRI_TRUE) {
		interfaces_clear(&l);
		return err_set(
			e,
			"AssignPublicIp cannot be true: its %s has several network interfaces, and EC2 gives a public address to a "
			"machine with one only",
			h->fewest_cards->name);
	}
	out->interfaces = calloc(l.n, sizeof(*out->interfaces));
	if (!out->interfaces) {
		interfaces_clear(&l);
		return err_nomem(e);
	}
	for (size_t i = 0; i < l.n; i++) {
		out->interfaces[i] = (struct ec2_interface){
			.card = l.v[i].card, .device = l.v[i].device, .type = l.v[i].type, .public_ip = l.v[i].public_ip
		};
	}
	out->ec2.n_interfaces = l.n;
	out->ec2.interfaces = out->interfaces;
	interfaces_clear(&l);
	return 0;
}

static int check_hardware(const struct template_input *in, const struct hardware *h, struct err *e)
{
	if (in->resource->efa && !h->efa_ok)
		return err_set(e, "Efa is enabled, but not every instance type of it has EFA");
	if (in->placement_group && !h->cluster_placement_ok)
		return err_set(e, "a placement group is asked for, but not every instance type of it can be in one");
	return 0;
}

static const char *market_of(enum capacity_type c)
{
	switch (c) {
	case CAPACITY_SPOT:
		return "spot";
	case CAPACITY_BLOCK:
		return "capacity-block";
	case CAPACITY_ONDEMAND:
		break;
	}
	return NULL;
}

static void fill_volume(const struct template_input *in, struct ec2_template *t)
{
	const struct root_volume *v = &in->queue->root_volume;

	if (!in->root_device)
		return;
	t->root_device = in->root_device;
	t->root_size_gib = v->size_gib;
	t->root_iops = v->iops;
	t->root_throughput = v->throughput;
	t->root_type = v->type;
	t->root_encrypted = v->encrypted;
}

static void fill(const struct template_input *in, const struct hardware *h, struct template *out)
{
	struct ec2_template *t = &out->ec2;

	t->name = out->name;
	t->image_id = in->image_id;
	if (in->single) {
		t->instance_type = in->resource->instance_types.v[0];
		t->subnet_id = in->queue->subnet_ids.v[0];
		t->market = market_of(in->queue->capacity);
		t->spot_price = in->queue->capacity == CAPACITY_SPOT ? in->resource->spot_price : 0;
	}
	t->imds_tags = !in->single;
	t->groups = in->groups;
	t->placement_group = in->placement_group;
	t->instance_profile = in->queue->instance_profile;
	t->imds_v2_only = in->cluster->imds_v2_only;
	t->detailed_monitoring = in->cluster->detailed_monitoring;
	t->ebs_optimized = h->ebs_optimized;
	t->cores = h->cores;
	t->threads_per_core = h->cores > 0 ? 1 : 0;
	t->user_data = out->user_data;
	t->tags = &out->tags;
	t->instance_tags = &out->instance_tags;
	t->own_tags = &out->own_tags;
	fill_volume(in, t);
	t->capacity_reservation_id = cluster_reservation_id(in->queue, in->resource);
	t->capacity_reservation_group = cluster_reservation_group(in->queue, in->resource);
}

int template_build(const struct template_input *in, struct template *out, struct err *e)
{
	struct hardware h;

	memset(out, 0, sizeof(*out));
	if (hardware_resolve(in->resource, in->types, &h, e) || check_hardware(in, &h, e))
		return -1;
	out->name = template_name(in->gen->cluster_name, in->queue->name, in->resource->name);
	if (!out->name || build_tags(in, out) || build_instance_tags(in, &h, out)) {
		err_nomem(e);
		goto error;
	}
	if ((!in->single && check_tag_keys(&out->tags, e)) || build_interfaces(in, &h, out, e))
		goto error;
	out->user_data = bootstrap_resource(in->gen->bootstrap, h.cores == 0 && in->resource->disable_smt, e);
	if (!out->user_data)
		goto error;
	fill(in, &h, out);
	return 0;
error:
	template_clear(out);
	return -1;
}

void template_clear(struct template *t)
{
	free(t->name);
	free(t->interfaces);
	free(t->user_data);
	kvs_clear(&t->tags);
	kvs_clear(&t->instance_tags);
	kvs_clear(&t->own_tags);
	memset(t, 0, sizeof(*t));
}
