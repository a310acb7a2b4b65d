/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster.c - the cluster value: defaults, growth, release, and the texts of its enums. Knows nothing of files or YAML. */
#include "lib/cluster/cluster.h"

#include <stdlib.h>
#include <string.h>

/* ParallelCluster 3's defaults. */
enum {
	DEFAULT_MAX_COUNT = 10,
	DEFAULT_STATIC_PRIORITY = 1,
	DEFAULT_DYNAMIC_PRIORITY = 1000,
	DEFAULT_IDLETIME_MIN = 10,
	DEFAULT_RESUME_TIMEOUT_S = 1800,
};
#define DEFAULT_VOLUME_TYPE "gp3"

struct cluster *cluster_create(void)
{
	struct cluster *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->scaling = SCALING_ALL_OR_NOTHING;
	c->scaledown_idletime_min = DEFAULT_IDLETIME_MIN;
	c->resume_timeout_s = DEFAULT_RESUME_TIMEOUT_S;
	c->imds_v2_only = true;
	return c;
}

struct queue *cluster_add_queue(struct cluster *c)
{
	struct queue *q;

	if (mem_grow(&c->queues, &c->cap_queues, c->n_queues + 1, sizeof(*c->queues)) < 0)
		return NULL;
	q = &c->queues[c->n_queues];
	memset(q, 0, sizeof(*q));
	q->capacity = CAPACITY_ONDEMAND;
	q->assign_public_ip = TRI_UNSET;
	q->placement.enabled = TRI_UNSET;
	q->root_volume.encrypted = true;
	q->root_volume.type = str_dup(DEFAULT_VOLUME_TYPE);
	if (!q->root_volume.type)
		return NULL;
	c->n_queues++;
	return q;
}

struct compute_resource *queue_add_resource(struct queue *q)
{
	struct compute_resource *r;

	if (mem_grow(&q->resources, &q->cap_resources, q->n_resources + 1, sizeof(*q->resources)) < 0)
		return NULL;
	r = &q->resources[q->n_resources++];
	memset(r, 0, sizeof(*r));
	r->max_count = DEFAULT_MAX_COUNT;
	r->static_priority = DEFAULT_STATIC_PRIORITY;
	r->dynamic_priority = DEFAULT_DYNAMIC_PRIORITY;
	r->placement.enabled = TRI_UNSET;
	return r;
}

struct kvs *cluster_add_custom_slurm(struct cluster *c)
{
	struct kvs *line;

	if (mem_grow(&c->custom_slurm, &c->cap_custom_slurm, c->n_custom_slurm + 1, sizeof(*c->custom_slurm)) < 0)
		return NULL;
	line = &c->custom_slurm[c->n_custom_slurm++];
	memset(line, 0, sizeof(*line));
	return line;
}

static void resource_clear(struct compute_resource *r)
{
	free(r->name);
	strs_clear(&r->instance_types);
	strs_clear(&r->more_types);
	free(r->placement.name);
	free(r->capacity_reservation_id);
	free(r->capacity_reservation_group);
	kvs_clear(&r->custom_slurm);
	kvs_clear(&r->tags);
}

static void queue_clear(struct queue *q)
{
	for (size_t i = 0; i < q->n_resources; i++)
		resource_clear(&q->resources[i]);
	free(q->resources);
	free(q->name);
	free(q->allocation_strategy);
	free(q->custom_ami);
	strs_clear(&q->subnet_ids);
	strs_clear(&q->security_groups);
	strs_clear(&q->additional_security_groups);
	free(q->placement.name);
	free(q->instance_profile);
	free(q->instance_role);
	free(q->root_volume.type);
	free(q->capacity_reservation_id);
	free(q->capacity_reservation_group);
	kvs_clear(&q->custom_slurm);
	kvs_clear(&q->tags);
}

void cluster_destroy(struct cluster *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_queues; i++)
		queue_clear(&c->queues[i]);
	free(c->queues);
	for (size_t i = 0; i < c->n_custom_slurm; i++)
		kvs_clear(&c->custom_slurm[i]);
	free(c->custom_slurm);
	kvs_clear(&c->tags);
	free(c->file);
	free(c->text);
	free(c->region);
	free(c->os);
	free(c->custom_ami);
	free(c->head_subnet_id);
	free(c->head_instance_type);
	free(c);
}

const struct placement_group *cluster_placement(const struct queue *q, const struct compute_resource *r)
{
	return r->placement.at.line ? &r->placement : &q->placement;
}

bool cluster_placement_managed(const struct queue *q, const struct compute_resource *r)
{
	const struct placement_group *g = cluster_placement(q, r);

	return g->enabled == TRI_TRUE && !g->name;
}

const char *cluster_reservation_id(const struct queue *q, const struct compute_resource *r)
{
	return r->reservation_at.line ? r->capacity_reservation_id : q->capacity_reservation_id;
}

const char *cluster_reservation_group(const struct queue *q, const struct compute_resource *r)
{
	return r->reservation_at.line ? r->capacity_reservation_group : q->capacity_reservation_group;
}

static const char *const scaling_texts[] = {
	[SCALING_ALL_OR_NOTHING] = "all-or-nothing",
	[SCALING_GREEDY_ALL_OR_NOTHING] = "greedy-all-or-nothing",
	[SCALING_BEST_EFFORT] = "best-effort",
};

static const char *const capacity_texts[] = {
	[CAPACITY_ONDEMAND] = "ONDEMAND",
	[CAPACITY_SPOT] = "SPOT",
	[CAPACITY_BLOCK] = "CAPACITY_BLOCK",
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static int find_text(const char *const *texts, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(texts[i], text))
			return (int)i;
	return -1;
}

const char *scaling_strategy_text(enum scaling_strategy s)
{
	return (size_t)s < COUNT(scaling_texts) ? scaling_texts[s] : "unknown";
}

int scaling_strategy_parse(const char *text, enum scaling_strategy *out)
{
	int i = find_text(scaling_texts, COUNT(scaling_texts), text);

	if (i < 0)
		return -1;
	*out = (enum scaling_strategy)i;
	return 0;
}

const char *capacity_type_text(enum capacity_type t)
{
	return (size_t)t < COUNT(capacity_texts) ? capacity_texts[t] : "unknown";
}

int capacity_type_parse(const char *text, enum capacity_type *out)
{
	int i = find_text(capacity_texts, COUNT(capacity_texts), text);

	if (i < 0)
		return -1;
	*out = (enum capacity_type)i;
	return 0;
}
