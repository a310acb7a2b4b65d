/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reconcile.c - the inputs of clustermgtd's loop joined, and the order in which the rules see them.
 *
 * Joining is hashed: 10 000 nodes and machines are one pass. Nothing is read, written or timed here.
 */
#include "lib/plan/reconcile_view.h"

#include "lib/base/err.h"
#include "lib/base/num.h"
#include "lib/node/extra.h"
#include "lib/plan/capacity.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD_MS 5000 /* between the clocks of two hosts that agree */

/* --- the joined picture */

/* Two nodes with one address are a mistake, or are in two clouds: each leads to the next. */
static int join_address(struct view *v, size_t i)
{
	const struct node *n = &v->in->nodes->v[i];
	size_t first;

	v->same_addr[i] = NONE;
	if (!node_has_addr(n))
		return 0;
	first = map_get(&v->node_at, n->addr);
	if (first == NONE)
		return map_put(&v->node_at, n->addr, i);
	v->same_addr[i] = v->same_addr[first];
	v->same_addr[first] = i;
	return 0;
}

static int join_nodes(struct view *v)
{
	size_t n = v->in->nodes ? v->in->nodes->n : 0;

	v->same_addr = calloc(n + 1, sizeof(*v->same_addr));
	if (!v->same_addr)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (map_put(&v->node, v->in->nodes->v[i].name, i) || map_put(&v->node_of, v->in->nodes->v[i].instance, i) ||
		    join_address(v, i))
			return -1;
	return 0;
}

static int join_rows(struct view *v)
{
	for (size_t i = 0; v->in->bindings && i < v->in->bindings->n; i++) {
		const struct binding *b = &v->in->bindings->v[i];

		if (map_put(&v->row, b->node, i) || (b->state == BINDING_BOUND && map_put(&v->row_of, b->instance, i)))
			return -1;
	}
	for (size_t i = 0; v->in->launches && i < v->in->launches->n; i++)
		if (map_put(&v->launch, v->in->launches->v[i].id, i))
			return -1;
	for (size_t i = 0; v->in->dead_pids && i < v->in->dead_pids->n; i++)
		if (nodeset_add(v->dead, v->in->dead_pids->v[i]) < 0)
			return -1;
	return 0;
}

/* Nodes that run without a row (the state file was lost) wait for their machine to be found by its address. */
static int join_waiting(struct view *v)
{
	for (size_t i = 0; v->in->nodes && i < v->in->nodes->n; i++) {
		const struct node *n = &v->in->nodes->v[i];
		const struct binding *b = view_row(v, n->name);
		char *launch;
		int rc;

		if (!n->extra || (b && b->state != BINDING_FREE) ||
		    !node_state_is(n->state, 0, 0, NS_POWERED_DOWN | NS_POWERING_DOWN))
			continue;
		launch = extra_launch(n->extra);
		rc = launch ? nodeset_add(v->waiting, launch) : 0;
		if (launch && rc >= 0 && !node_has_addr(n))
			rc = nodeset_add(v->lost, launch);
		free(launch);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* A probe that is under way does not count: it is over in a second, and ten thousand nodes need not go and come back for it. */
static int copy_memory(struct view *v)
{
	if (shortages_copy(&v->closing, v->in->shortages) || shortages_copy(&v->resting, v->in->shortages))
		return -1;
	for (size_t i = 0; i < v->closing.n; i++) {
		struct shortage *r = &v->resting.v[i];

		v->closing.v[i].probe_until_ms = 0;
		r->probe_until_ms = 0;
		if (!r->budget && r->until_ms < r->failed_ms + RECONCILE_REQUEUE_MS)
			r->until_ms = r->failed_ms + RECONCILE_REQUEUE_MS;
	}
	return 0;
}

static enum pool_state pool_of(const struct view *v, size_t resource, const struct shortages *l, struct pool *p)
{
	bool closed = capacity_all_closed(&v->in->gen->resources[resource], l, v->in->now_ms, &p->code, &p->until_ms);

	return closed ? POOL_CLOSED : POOL_OPEN;
}

/* Has the queue another resource that may be asked? */
static bool has_another(const struct view *v, size_t resource)
{
	const struct generation *g = v->in->gen;

	for (size_t i = 0; i < g->n_resources; i++)
		if (i != resource && v->pool[i].state == POOL_OPEN && str_eq(g->resources[i].queue, g->resources[resource].queue))
			return true;
	return false;
}

static int join_pools(struct view *v)
{
	const struct generation *g = v->in->gen;

	v->pool = calloc(g->n_resources + 1, sizeof(*v->pool));
	if (!v->pool || (v->in->shortages && copy_memory(v)))
		return -1;
	for (size_t i = 0; i < g->n_resources; i++)
		v->pool[i].state = v->in->shortages ? pool_of(v, i, &v->closing, &v->pool[i]) : POOL_UNREAD;
	for (size_t i = 0; i < g->n_resources && v->resting.n; i++) {
		struct pool rest;

		if (pool_of(v, i, &v->resting, &rest) == POOL_CLOSED && has_another(v, i)) {
			v->pool[i] = rest;
			v->pool[i].state = POOL_CLOSED;
		}
	}
	return 0;
}

/* What an earlier function of the loop decided about a node stands. That its failures are forgotten is no decision. */
static int join_decided(struct view *v)
{
	for (size_t i = 0; i < v->out->n; i++) {
		const struct action *a = &v->out->v[i];

		if (a->node && a->kind != ACT_FAILURES_CLEAR && nodeset_add(v->judged, a->node) < 0)
			return -1;
	}
	return 0;
}

/* kvs by key, hashed; the value of the first. */
static int kvs_map(struct map *m, const struct kvs *l)
{
	for (size_t i = 0; l && i < l->key.n; i++)
		if (map_put(m, l->key.v[i], i))
			return -1;
	return 0;
}

static int join_memory(struct view *v)
{
	for (size_t i = 0; v->in->healths && i < v->in->healths->n; i++)
		if (map_put(&v->health, v->in->healths->v[i].instance, i))
			return -1;
	return kvs_map(&v->seen, v->watch) || kvs_map(&v->backoff, v->in->static_backoff) ? -1 : 0;
}

/* "22.05.5" is, "22.05.6" and words that we cannot read are not. */
static bool before_22_05_6(const char *version)
{
	static const int64_t fixed[] = { 22, 5, 6 };
	struct strs part = { 0 };
	bool older = false;
	int64_t n;

	if (!version || strs_split(&part, version, '.'))
		return false;
	for (size_t i = 0; i < 3 && i < part.n; i++) {
		const char *digits = part.v[i];

		digits += digits[0] == '0' && digits[1];
		if (num_i64(digits, 0, INT64_MAX, &n, NULL))
			break;
		older = n < fixed[i];
		if (n != fixed[i])
			break;
	}
	strs_clear(&part);
	return older;
}

int view_create(struct view *v, const struct reconcile_input *in, const struct kvs *watch, struct plan *out)
{
	*v = (struct view){ .in = in, .watch = watch, .out = out, .old_slurm = before_22_05_6(in->gen->slurm_version) };
	v->dead = nodeset_create();
	v->waiting = nodeset_create();
	v->lost = nodeset_create();
	v->judged = nodeset_create();
	v->handled = nodeset_create();
	if (!v->dead || !v->waiting || !v->lost || !v->judged || !v->handled || join_nodes(v) || join_rows(v) ||
	    (in->instances && map_instances(&v->instance, in->instances)) || join_waiting(v) || join_pools(v) ||
	    join_decided(v) || join_memory(v)) {
		view_destroy(v);
		return -1;
	}
	return 0;
}

void view_destroy(struct view *v)
{
	map_clear(&v->node);
	map_clear(&v->node_at);
	map_clear(&v->node_of);
	free(v->same_addr);
	map_clear(&v->row);
	map_clear(&v->row_of);
	map_clear(&v->instance);
	map_clear(&v->launch);
	map_clear(&v->health);
	map_clear(&v->seen);
	map_clear(&v->backoff);
	nodeset_destroy(v->dead);
	nodeset_destroy(v->waiting);
	nodeset_destroy(v->lost);
	nodeset_destroy(v->judged);
	nodeset_destroy(v->handled);
	free(v->pool);
	shortages_clear(&v->closing);
	shortages_clear(&v->resting);
}

const struct binding *view_row(const struct view *v, const char *node)
{
	size_t i = map_get(&v->row, node);

	return i == NONE ? NULL : &v->in->bindings->v[i];
}

const struct node *view_node(const struct view *v, const char *name)
{
	size_t i = map_get(&v->node, name);

	return i == NONE ? NULL : &v->in->nodes->v[i];
}

const struct instance *view_instance(const struct view *v, const char *id)
{
	size_t i = map_get(&v->instance, id);

	return i == NONE ? NULL : &v->in->instances->v[i];
}

const struct launch *view_launch(const struct view *v, const char *id)
{
	size_t i = map_get(&v->launch, id);

	return i == NONE ? NULL : &v->in->launches->v[i];
}

bool view_machines_read(const struct view *v, size_t resource)
{
	const struct generation *g = v->in->gen;

	if (!v->in->instances || !v->in->cloud_unread)
		return v->in->instances;
	if (resource < g->n_resources)
		return !v->in->cloud_unread[g->resources[resource].cloud];
	for (size_t i = 0; i <= g->n_clouds; i++)
		if (v->in->cloud_unread[i])
			return false;
	return true;
}

/* What was stamped before the clock was set does not tell its age: that counts from then on. */
static int64_t told_time(const struct view *v, int64_t ms)
{
	int64_t set = v->in->clock_set_ms;

	return set && (ms < set || ms > v->in->now_ms + AHEAD_MS) ? set : ms;
}

bool view_too_new(const struct view *v, int64_t ms)
{
	return told_time(v, ms) > v->in->observed_ms;
}

bool view_older(const struct view *v, int64_t ms, int64_t age_ms)
{
	return v->in->now_ms - told_time(v, ms) >= age_ms;
}

/* --- actions */

struct action *view_act(struct view *v, enum action_kind kind, const char *code, const char *node, const char *instance,
			const char *launch, const char *reason, ...)
{
	struct action *a = v->nomem ? NULL : plan_add(v->out, kind, code);
	const struct binding *row = node ? view_row(v, node) : NULL;
	va_list ap;

	if (!a) {
		v->nomem = true;
		return NULL;
	}
	a->node = str_dup(node);
	a->instance = str_dup(instance);
	a->launch = str_dup(launch);
	a->generation = row ? row->generation : -1;
	if (reason) {
		va_start(ap, reason);
		a->reason = str_vfmt(reason, ap);
		va_end(ap);
	}
	if ((node && !a->node) || (instance && !a->instance) || (launch && !a->launch) || (reason && !a->reason))
		v->nomem = true;
	return a;
}

void view_terminate(struct view *v, const char *code, const char *node, const char *instance, const char *launch,
		    const char *reason)
{
	int added = nodeset_add(v->handled, instance);

	if (added < 0)
		v->nomem = true;
	else if (added)
		view_act(v, ACT_TERMINATE, code, node, instance, launch, "%s", reason);
}

int reconcile_plan(const struct reconcile_input *in, struct plan *out, struct err *e)
{
	struct view v;

	if (view_create(&v, in, in->seen, out))
		return err_nomem(e);
	reconcile_launches(&v);
	reconcile_adopt(&v);
	reconcile_untold(&v);
	reconcile_nodes(&v);
	reconcile_machines(&v);
	view_destroy(&v);
	return v.nomem ? err_nomem(e) : 0;
}
