/* SPDX-License-Identifier: GPL-2.0-or-later */
/* status_judge.c - a look at the cluster, counted: nodes of each resource by state, how long each node has been powering up,
 * machines that no node has and what becomes of them.
 */
#include "build_config.h"

#include "cli/status.h"
#include "cli/text.h"
#include "lib/base/num.h"
#include "lib/node/name.h"
#include "lib/node/nodeset.h"
#include "lib/plan/reconcile.h"

#include <stdlib.h>
#include <string.h>

/* --- jobs */

bool status_job_stuck(const struct slurmctl_job_info *j)
{
	return j->restarts > 0 && str_eq(j->state, "PENDING") && str_eq(j->reason, SLURMCTL_BAD_CONSTRAINTS);
}

bool status_wants_job(const struct slurmctl_job_info *j, const void *of)
{
	(void)of;
	return status_job_stuck(j) || (j->configuring && j->nodes && !j->ended);
}

/* --- counts */

static void count_node(struct status_counts *c, uint32_t state)
{
	int *const of[] = {[LOOK_OFF] = &c->off,   [LOOK_WAKING] = &c->waking, [LOOK_IDLE] = &c->idle,	[LOOK_BUSY] = &c->busy,
			   [LOOK_DOWN] = &c->down, [LOOK_DRAINED] = &c->down,  [LOOK_GOING] = &c->going};

	(*of[look_state(state)])++;
}

static void count_machines(struct status *s)
{
	const struct instances *l = &s->look.instances;

	for (size_t i = 0; i < l->n; i++) {
		size_t r = look_resource(&s->look, l->v[i].queue, l->v[i].resource);

		if (instance_alive(l->v[i].state) && r != SIZE_MAX)
			s->counts[r].machines++;
	}
}

static void count_launches(struct status *s)
{
	for (size_t i = 0; i < s->look.launches.n; i++) {
		const struct launch *l = &s->look.launches.v[i];
		size_t r = look_resource(&s->look, l->queue, l->resource);

		if (r != SIZE_MAX)
			s->counts[r].launching += (int)l->nodes.n;
	}
}

int status_disabled(const struct status *s, const struct offering *o)
{
	int n = 0;

	for (size_t i = 0; i < s->look.gen->n_resources; i++)
		n += look_offers(&s->look.gen->resources[i], o) ? s->counts[i].disabled : 0;
	return n;
}

/* --- powering up */

static const char *stage_of(const struct look *l, const struct node *n, const struct binding *b, const struct instance *i)
{
	if (node_state_is(n->state, 1u << NS_DOWN, 0, 0))
		return "DOWN, is put back";
	if (l->state_away)
		return "?";
	if (!b)
		return "no machine";
	if (b->state == BINDING_LAUNCHING)
		return "asking EC2";
	if (i && !instance_alive(i->state))
		return "machine is gone";
	return "machine boots";
}

static int add_waking(struct status *s, const struct node *n, const struct map *job)
{
	const struct look *l = &s->look;
	const struct binding *b = look_row(l, n->name);
	const struct instance *i = b ? look_instance(l, b->instance) : NULL;
	size_t j = map_get(job, n->name);
	struct status_waking *w;

	if (mem_grow(&s->waking, &s->cap_waking, s->n_waking + 1, sizeof(*s->waking)))
		return -1;
	w = &s->waking[s->n_waking++];
	*w = (struct status_waking){.node = n, .stage = stage_of(l, n, b, i)};
	w->since_ms = look_waking_since(l, n, j == SIZE_MAX ? NULL : &l->jobs.v[j]);
	w->late = w->since_ms && l->now_ms - w->since_ms > l->gen->resume_timeout_s * 1000;
	return 0;
}

/* The look's own names, since the map borrows them. */
static int map_job(struct map *m, const struct look *l, const struct nodeset *set, size_t job)
{
	for (size_t k = 0; k < nodeset_count(set); k++) {
		const struct node *n = look_node(l, nodeset_get(set, k));

		if (n && map_put(m, n->name, job))
			return -1;
	}
	return 0;
}

static int map_jobs(struct map *m, const struct look *l)
{
	for (size_t i = 0; i < l->jobs.n; i++) {
		const struct slurmctl_job_info *j = &l->jobs.v[i];
		struct nodeset *set = j->configuring && j->nodes ? nodeset_create() : NULL;
		int rc = 0;

		if (set && nodeset_parse(set, j->nodes, NULL) == 0)
			rc = map_job(m, l, set, i);
		nodeset_destroy(set);
		if (rc)
			return -1;
	}
	return 0;
}

static int by_age(const void *a, const void *b)
{
	const struct status_waking *x = a, *y = b;

	if (x->since_ms != y->since_ms)
		return !x->since_ms ? 1 : !y->since_ms ? -1 : x->since_ms < y->since_ms ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node; /* the order that Slurm has them in */
}

static int count_nodes(struct status *s)
{
	const struct nodes *l = &s->look.nodes;
	struct map job = {0};
	struct node_name name;
	int rc = map_jobs(&job, &s->look);

	for (size_t i = 0; i < l->n && !rc; i++) {
		const struct node *n = &l->v[i];

		if (node_name_resolve(s->look.gen, n->name, &name))
			continue;
		count_node(&s->counts[name.resource], n->state);
		s->counts[name.resource].disabled +=
		    node_state_is(n->state, 1u << NS_DOWN, 0, 0) && reconcile_disabled(n->reason);
		if (n->state & NS_POWERING_UP)
			rc = add_waking(s, n, &job);
	}
	map_clear(&job);
	if (s->n_waking)
		qsort(s->waking, s->n_waking, sizeof(*s->waking), by_age);
	return rc;
}

/* --- machines without a node */

static const struct action *action_on(const struct look *l, const char *instance)
{
	for (size_t i = 0; i < l->plan.n; i++) {
		const struct action *a = &l->plan.v[i];

		if ((a->kind == ACT_TERMINATE || a->kind == ACT_BIND) && str_eq(a->instance, instance))
			return a;
	}
	return NULL;
}

static char *orphan_next(const struct look *l, struct status_orphan *o)
{
	const struct action *a = action_on(l, o->machine->id);
	int64_t left = o->machine->launch_time_ms + l->rules.orphan_grace_ms - l->now_ms;
	char age[TEXT_AGE];

	if (a && a->kind == ACT_BIND) {
		o->code = "taken-in";
		return str_fmt("the next loop gives it back to %s", a->node ? a->node : "its node");
	}
	o->code = a ? "ended" : left > 0 ? "young" : "kept";
	if (a)
		return str_dup("ended by the next loop");
	if (left > 0)
		return str_fmt("ended in %s unless a node takes it", text_age(left, age));
	if (l->slurm_away || l->ec2_away)
		return str_dup("kept until every source can be read");
	return str_dup("kept, a node or job may use it");
}

static int find_orphans(struct status *s)
{
	const struct look *l = &s->look;

	if (l->state_away)
		return 0;
	for (size_t i = 0; i < l->instances.n; i++) {
		const struct instance *m = &l->instances.v[i];
		struct status_orphan *o;

		if (!instance_alive(m->state) || look_row_of(l, m->id) || look_launch(l, m->launch))
			continue;
		if (mem_grow(&s->orphans, &s->cap_orphans, s->n_orphans + 1, sizeof(*s->orphans)))
			return -1;
		o = &s->orphans[s->n_orphans++];
		*o = (struct status_orphan){.machine = m};
		o->next = orphan_next(l, o);
		if (!o->next)
			return -1;
	}
	return 0;
}

int status_judge(struct status *s)
{
	s->counts = calloc(s->look.gen->n_resources + 1, sizeof(*s->counts));
	if (!s->counts)
		return -1;
	count_machines(s);
	count_launches(s);
	return count_nodes(s) || find_orphans(s) ? -1 : 0;
}

void status_clear(struct status *s)
{
	for (size_t i = 0; i < s->n_orphans; i++)
		free(s->orphans[i].next);
	free(s->orphans);
	free(s->waking);
	free(s->counts);
	look_clear(&s->look);
	*s = (struct status){0};
}

/* --- words of both forms */

const char *status_launch_text(enum launch_state st)
{
	return st == LAUNCH_INTENT ? "asked" : st == LAUNCH_ANSWERED ? "answered" : "done";
}

bool status_loop_stale(const struct look *l)
{
	const struct source_row *loop = look_source(l, "loop");

	return !loop || !loop->ok_ms || l->now_ms - loop->ok_ms > l->rules.heartbeat_limit_ms;
}

const char *status_fleet(const struct look *l)
{
	if (l->fleet.status != FLEET_RUNNING)
		return fleet_status_text(l->fleet.status);
	for (size_t i = 0; l->protection && i < l->gen->n_resources; i++)
		if (l->protection[i].on)
			return "PROTECTED";
	return "RUNNING";
}
