/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply_resources.c - the resources of the generation to be: clouds, stages, launch overrides. Called by apply's steps.
 *
 * From values that were read before; opens only the two files of overrides. What is wrong becomes problems with places.
 */
#include "cli/apply_job.h"
#include "cli/overrides.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/cluster/fallback.h"
#include "lib/node/offering.h"

#include <json-c/json.h>

#include <stdlib.h>
#include <string.h>


/* --- clouds */

static const struct queue_cloud *cloud_wanted(const struct settings *s, const char *queue)
{
	for (size_t i = 0; i < s->n_clouds; i++) {
		if (str_eq(s->clouds[i].queue, queue))
			return &s->clouds[i];
	}
	return NULL;
}

bool apply_same_cloud(const struct gen_cloud *a, const struct gen_cloud *b)
{
	return str_eq(a->region, b->region) && str_eq(a->profile, b->profile) && str_eq(a->endpoint, b->endpoint);
}

static int add_cloud(struct generation *g, const struct gen_cloud *want)
{
	struct gen_cloud *c = generation_add_cloud(g);

	if (!c)
		return -1;
	c->region = str_dup(want->region);
	c->profile = str_dup(want->profile);
	c->endpoint = str_dup(want->endpoint);
	return !c->region || (want->profile && !c->profile) || (want->endpoint && !c->endpoint) ? -1 : 0;
}

/* Number of the queue's cloud in the generation: 0 = the cluster's; a new one is added. -1 on no memory. */
static int64_t cloud_of(struct apply_job *j, const struct queue *q)
{
	const struct settings *s = j->set;
	const struct queue_cloud *c = cloud_wanted(s, q->name);
	const struct gen_cloud own = { .region = j->gen->region, .endpoint = s->endpoint };
	struct gen_cloud want;

	if (!c)
		return 0;
	want.region = c->region ? c->region : own.region;
	want.profile = c->profile && !str_eq(c->profile, s->profile) ? c->profile : NULL;
	/* the endpoint of the cluster's region is of no use in another */
	want.endpoint = c->endpoint ? c->endpoint : str_eq(want.region, own.region) ? own.endpoint : NULL;
	if (apply_same_cloud(&want, &own))
		return 0;
	for (size_t i = 0; i < j->gen->n_clouds; i++) {
		if (apply_same_cloud(&want, &j->gen->clouds[i]))
			return (int64_t)i + 1;
	}
	return add_cloud(j->gen, &want) ? -1 : (int64_t)j->gen->n_clouds;
}

const char *apply_region(const struct apply_job *j, size_t queue)
{
	int64_t cloud = j->queues[queue].cloud;

	return cloud > 0 ? j->gen->clouds[cloud - 1].region : j->gen->region;
}

/* --- what cluster.yaml and settings.yaml say alone */

static int fill_resource(const struct queue *q, const struct compute_resource *r, struct gen_resource *g)
{
	const struct placement_group *pg = cluster_placement(q, r);
	const char *id = cluster_reservation_id(q, r), *arn = cluster_reservation_group(q, r);

	g->queue = str_dup(q->name);
	g->name = str_dup(r->name);
	g->min_count = r->min_count;
	g->max_count = r->max_count;
	g->capacity = q->capacity;
	g->placement_managed = cluster_placement_managed(q, r);
	g->placement_group = g->placement_managed || pg->enabled == TRI_FALSE ? NULL : str_dup(pg->name);
	g->reservation_id = str_dup(id);
	if (q->capacity == CAPACITY_ONDEMAND && (id || arn)) {
		g->reserved = str_fmt(MARKET_RESERVED "%s", id ? id : arn);
		if (!g->reserved)
			return -1;
	}
	return !g->queue || !g->name || (id && !g->reservation_id) || strs_copy(&g->subnet_ids, &q->subnet_ids) ? -1 : 0;
}

int apply_fill_resources(struct apply_job *j, struct err *e)
{
	j->queues = calloc(j->cluster->n_queues + 1, sizeof(*j->queues));
	if (!j->queues)
		return err_nomem(e);
	for (size_t i = 0; i < j->cluster->n_queues; i++) {
		const struct queue *q = &j->cluster->queues[i];

		j->queues[i].cloud = cloud_of(j, q);
		for (size_t k = 0; k < q->n_resources; k++) {
			struct gen_resource *g = generation_add_resource(j->gen);

			if (j->queues[i].cloud < 0 || !g || fill_resource(q, &q->resources[k], g))
				return err_nomem(e);
			g->cloud = j->queues[i].cloud;
		}
	}
	return 0;
}

/* --- stages; the types are known now, those of reservations too */

static int fill_stage(const struct stage *from, struct gen_resource *g)
{
	struct gen_stage *to = gen_resource_add_stage(g);

	if (!to)
		return -1;
	to->capacity = from->capacity;
	to->max_price = from->spot_price;
	to->time_limit_s = from->time_limit_s;
	return strs_copy(&to->instance_types, from->instance_types) || strs_copy(&to->subnet_ids, from->subnet_ids) ? -1 : 0;
}

static int fill_stages(const struct queue *q, const struct compute_resource *r, const struct fallback *f,
		       struct gen_resource *g)
{
	struct stage st;

	if (strs_copy(&g->instance_types, &r->instance_types))
		return -1;
	for (size_t i = 0; i < fallback_stages(f); i++) {
		fallback_stage(q, r, f, i, &st);
		if (fill_stage(&st, g))
			return -1;
	}
	g->single = g->n_stages == 1 && g->instance_types.n == 1 && g->subnet_ids.n == 1;
	/* ParallelCluster's words are EC2's */
	if (!g->single && q->capacity != CAPACITY_BLOCK) {
		g->allocation_strategy = str_dup(q->allocation_strategy ? q->allocation_strategy : "lowest-price");
		if (!g->allocation_strategy)
			return -1;
	}
	return 0;
}

int apply_fill_stages(struct apply_job *j, struct err *e)
{
	for (size_t i = 0; i < j->cluster->n_queues; i++) {
		const struct queue *q = &j->cluster->queues[i];

		for (size_t k = 0; k < q->n_resources; k++) {
			const struct fallback *f = fallback_find(j->set, q->name, q->resources[k].name);

			if (fill_stages(q, &q->resources[k], f, apply_resource(j, i, k)))
				return err_nomem(e);
		}
	}
	return 0;
}

/* --- launch overrides */

/* One of the two files, and whether that is how single resources are launched. */
struct overrides {
	struct apply_job *j;
	const char *path, *action, *key;
	bool single;
};

static void take_overrides(void *arg, const char *queue, const char *name, struct json_object *members)
{
	const struct overrides *o = arg;
	struct apply_job *j = o->j;
	size_t at = generation_find_resource(j->gen, queue, strlen(queue), name, strlen(name));
	struct gen_resource *g;

	if (at == SIZE_MAX) {
		problems_add(&j->problems, PROBLEM_WARNING, o->path, 0, 0, NULL, "%s.%s: %s has no such queue and compute resource",
			     queue, name, j->file);
		return;
	}
	g = &j->gen->resources[at];
	if (g->single != o->single)
		problems_add(&j->problems, PROBLEM_WARNING, o->path, 0, 0, NULL,
			     "%s.%s: has no effect, it is launched by %s (%s of settings.yaml counts)", queue, name,
			     g->single ? "RunInstances" : "CreateFleet",
			     g->single ? "RunInstancesOverrides" : "CreateFleetOverrides");
	else
		overrides_take(o->path, o->action, queue, name, members, &g->overrides, &j->problems);
}

void apply_fill_overrides(struct apply_job *j)
{
	struct overrides files[] = {
		{ j, j->set->run_instances_overrides, "RunInstances", "RunInstancesOverrides", true },
		{ j, j->set->create_fleet_overrides, "CreateFleet", "CreateFleetOverrides", false },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (files[i].path)
			overrides_read(files[i].path, files[i].key, &j->problems, take_overrides, &files[i]);
	}
}
