/* SPDX-License-Identifier: GPL-2.0-or-later */
/* look_judge.c - what was read, joined by name and id, and what the rules of clustermgtd make of it. The order of the rules is
 * that of its loop; here nothing is carried out, and what needs several looks is told as waiting.
 */
#include "build_config.h"

#include "cli/look.h"
#include "lib/base/err.h"
#include "lib/node/nodeset.h"
#include "lib/plan/brake.h"
#include "lib/plan/capacity.h"
#include "lib/plan/reconcile.h"

#include <stdlib.h>
#include <string.h>

int look_join(struct look *l)
{
	for (size_t i = 0; i < l->nodes.n; i++)
		if (map_put(&l->node, l->nodes.v[i].name, i))
			return -1;
	for (size_t i = 0; i < l->bindings.n; i++) {
		const struct binding *b = &l->bindings.v[i];

		if ((b->state != BINDING_FREE && map_put(&l->row, b->node, i)) ||
		    (b->state == BINDING_BOUND && map_put(&l->row_of, b->instance, i)))
			return -1;
	}
	return map_instances(&l->instance, &l->instances);
}

static int judge_fleet(struct look *l, struct err *e)
{
	struct fleet_input in = {
	    .gen = l->gen,
	    .nodes = l->slurm_away ? NULL : &l->nodes,
	    .partitions = l->slurm_away ? NULL : &l->partitions,
	    .bindings = &l->bindings,
	    .launches = &l->launches,
	    .instances = l->ec2_away ? NULL : &l->instances,
	    .closed = &l->closed,
	    .fleet = l->fleet,
	};

	return l->state_away ? 0 : fleet_plan(&in, &l->plan, e);
}

static int judge_protection(struct look *l, struct err *e)
{
	struct protect_input in = {
	    .gen = l->gen,
	    .nodes = l->slurm_away ? NULL : &l->nodes,
	    .bindings = l->state_away ? NULL : &l->bindings,
	    .failures = l->state_away ? NULL : &l->failures,
	    .rule = l->rules.protect,
	    .now_ms = l->now_ms,
	};

	l->protection = calloc(l->gen->n_resources + 1, sizeof(*l->protection));
	l->cycling = nodeset_create();
	if (!l->protection || !l->cycling)
		return err_nomem(e);
	return protect_judge(&in, l->protection, l->cycling, e) < 0 ? -1 : protect_plan(&in, &l->plan, e);
}

static int judge_brake(struct look *l, struct err *e)
{
	struct brake brake = {0};
	struct brake_input in = {
	    .nodes = l->slurm_away ? NULL : &l->nodes,
	    .instances = l->cloud_unread ? &l->instances : NULL,
	    .share_percent = l->rules.terminate_share,
	    .now_ms = l->now_ms,
	    .confirmed_ms = l->confirmed_ms,
	};
	int n = brake_apply(&in, &l->plan, &brake, e);

	l->held = brake.held;
	l->in_use = brake.in_use;
	brake_clear(&brake);
	return n < 0 ? -1 : 0;
}

int look_judge(struct look *l, struct err *e)
{
	struct reconcile_input in = {
	    .gen = l->gen,
	    .nodes = l->slurm_away ? NULL : &l->nodes,
	    .instances = l->cloud_unread ? &l->instances : NULL,
	    .cloud_unread = l->cloud_unread,
	    .bindings = l->state_away ? NULL : &l->bindings,
	    .launches = l->state_away ? NULL : &l->launches,
	    .shortages = l->state_away ? NULL : &l->shortages,
	    .healths = l->has_healths ? &l->healths : NULL,
	    .fleet = l->fleet.status,
	    .health_grace_ms = l->rules.health_grace_ms,
	    .event_lead_ms = l->rules.event_lead_ms,
	    .dead_pids = &l->dead,
	    .now_ms = l->now_ms,
	    .orphan_grace_ms = l->rules.orphan_grace_ms,
	    .observed_ms = l->now_ms,
	    .static_backoff = &l->backoff,
	    .seen = &l->waits,
	};

	if (look_join(l))
		return err_nomem(e);
	if (judge_fleet(l, e) || judge_protection(l, e))
		return -1;
	in.protection = l->protection;
	in.cycling = l->cycling;
	if (invariants_check(&in, &l->violations, e) < 0 || reconcile_watch(&in, &l->waits, e) < 0 ||
	    reconcile_plan(&in, &l->plan, e) < 0)
		return -1;
	return judge_brake(l, e);
}

const struct node *look_node(const struct look *l, const char *name)
{
	size_t i = map_get(&l->node, name);

	return i == SIZE_MAX ? NULL : &l->nodes.v[i];
}

const struct binding *look_row(const struct look *l, const char *node)
{
	size_t i = map_get(&l->row, node);

	return i == SIZE_MAX ? NULL : &l->bindings.v[i];
}

const struct binding *look_row_of(const struct look *l, const char *instance)
{
	size_t i = map_get(&l->row_of, instance);

	return i == SIZE_MAX ? NULL : &l->bindings.v[i];
}

const struct instance *look_instance(const struct look *l, const char *id)
{
	size_t i = map_get(&l->instance, id);

	return i == SIZE_MAX ? NULL : &l->instances.v[i];
}

const struct launch *look_launch(const struct look *l, const char *id)
{
	for (size_t i = 0; id && i < l->launches.n; i++)
		if (str_eq(l->launches.v[i].id, id))
			return &l->launches.v[i];
	return NULL;
}

static void sooner(int64_t *since, int64_t ms)
{
	if (ms > 0 && (!*since || ms < *since))
		*since = ms;
}

int64_t look_waking_since(const struct look *l, const struct node *n, const struct slurmctl_job_info *j)
{
	const struct binding *b = look_row(l, n->name);
	const struct instance *i = b ? look_instance(l, b->instance) : NULL;
	const struct launch *launch = b ? look_launch(l, b->launch) : NULL;
	int64_t since = 0;

	sooner(&since, b ? b->since_ms : 0);
	sooner(&since, launch ? launch->created_ms : 0);
	sooner(&since, i ? i->launch_time_ms : 0);
	sooner(&since, j && j->configuring ? j->start_s * 1000 : 0);
	if (!since && node_state_is(n->state, 1u << NS_DOWN, 0, 0))
		since = n->reason_time_s * 1000; /* nothing else tells of one that failed */
	return since;
}

const struct health *look_health(const struct look *l, const char *instance)
{
	for (size_t i = 0; instance && i < l->healths.n; i++)
		if (str_eq(l->healths.v[i].instance, instance))
			return &l->healths.v[i];
	return NULL;
}

const struct source_row *look_source(const struct look *l, const char *name)
{
	for (size_t i = 0; i < l->sources.n; i++)
		if (str_eq(l->sources.v[i].name, name))
			return &l->sources.v[i];
	return NULL;
}

size_t look_resource(const struct look *l, const char *queue, const char *resource)
{
	if (!queue || !resource)
		return SIZE_MAX;
	return generation_find_resource(l->gen, queue, strlen(queue), resource, strlen(resource));
}

enum look_state look_state(uint32_t state)
{
	if (state & NS_POWERING_UP)
		return LOOK_WAKING;
	if (state & (NS_POWERING_DOWN | NS_POWER_DOWN))
		return LOOK_GOING;
	if (node_state_is(state, 1u << NS_DOWN | 1u << NS_ERROR, 0, 0))
		return LOOK_DOWN;
	if (state & (NS_DRAIN | NS_FAIL)) /* while its jobs go on it is busy */
		return node_state_is(state, 1u << NS_ALLOCATED | 1u << NS_MIXED, 0, 0) ? LOOK_BUSY : LOOK_DRAINED;
	if (state & NS_POWERED_DOWN)
		return LOOK_OFF;
	return node_state_is(state, 1u << NS_IDLE, 0, NS_COMPLETING) ? LOOK_IDLE : LOOK_BUSY;
}

bool look_console_of(const char *file, const char *node)
{
	size_t n = strlen(node);

	return !strncmp(file, node, n) && file[n] == '.';
}

bool look_offers(const struct gen_resource *r, const struct offering *o)
{
	for (size_t i = 0; i < r->n_stages; i++) {
		const struct gen_stage *st = &r->stages[i];

		if (str_eq(capacity_market(r, st), o->market) && strs_has(&st->instance_types, o->type) &&
		    (str_eq(o->zone, ZONE_ANY) || !st->zones.n || strs_has(&st->zones, o->zone)))
			return true;
	}
	return false;
}
