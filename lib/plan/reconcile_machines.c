/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reconcile_machines.c - machines of ours that no row ties to a node: taken in again where slurmctld knows them, else
 * ended.
 *
 * Only machines with this cluster's UUID are looked at. A machine of a launch that is still open belongs to that launch,
 * not here.
 */
#include "lib/plan/reconcile_view.h"

#include "lib/node/extra.h"

#include <stdlib.h>
#include <string.h>

static bool is_loose(const struct view *v, const struct instance *i)
{
	return instance_alive(i->state) && str_eq(i->cluster, v->in->gen->uuid) && map_get(&v->row_of, i->id) == NONE &&
	       !view_launch(v, i->launch) && !nodeset_has(v->handled, i->id);
}

static bool all_read(const struct view *v)
{
	return v->in->nodes && v->in->instances && v->in->bindings && v->in->launches;
}

/* A job, or its epilog, runs on the node's machine. */
static bool has_job(const struct node *n)
{
	unsigned with_job = 1u << NS_ALLOCATED | 1u << NS_MIXED;
	uint32_t off = NS_POWERING_UP | NS_POWERED_DOWN | NS_POWERING_DOWN;

	return node_state_is(n->state, with_job, 0, off) || node_state_is(n->state, 0, NS_COMPLETING, off);
}

/* Does the node say by its extra, or by a job it runs, that the machine at its address is its own? */
static bool is_its_machine(const struct node *n, const struct instance *i)
{
	char *launch;
	bool same;

	if (!i->launch || !node_state_is(n->state, 0, 0, NS_POWERED_DOWN | NS_POWERING_DOWN))
		return false;
	if (has_job(n))
		return true;
	launch = extra_launch(n->extra);
	same = str_eq(launch, i->launch);
	free(launch);
	return same;
}

static void adopt(struct view *v, const struct instance *i)
{
	size_t at = map_get(&v->node_at, i->private_ip);
	const struct node *n = at == NONE ? NULL : &v->in->nodes->v[at];
	const struct binding *b = n ? view_row(v, n->name) : NULL;
	struct node_name name;

	if (!n || (b && (b->state != BINDING_FREE || view_too_new(v, b->since_ms))) || nodeset_has(v->judged, n->name))
		return;
	if (node_name_resolve_any(v->in->gen, n->name, &name) || !is_its_machine(n, i))
		return;
	view_act(v, ACT_BIND, "adopt", n->name, i->id, i->launch, "the node runs on this machine, our row was lost");
	if (nodeset_add(v->judged, n->name) < 0 || nodeset_add(v->handled, i->id) < 0)
		v->nomem = true;
}

void reconcile_adopt(struct view *v)
{
	if (!all_read(v))
		return;
	for (size_t i = 0; i < v->in->instances->n && !v->nomem; i++)
		if (is_loose(v, &v->in->instances->v[i]))
			adopt(v, &v->in->instances->v[i]);
}

/* The brake: a job runs at the machine's address. Whatever our rows say, it is not ended under that job. */
static bool job_runs_there(const struct view *v, const struct instance *i)
{
	size_t at = map_get(&v->node_at, i->private_ip);
	const struct node *n = at == NONE ? NULL : &v->in->nodes->v[at];
	struct node_name name;

	return n && !node_name_resolve_any(v->in->gen, n->name, &name) && has_job(n);
}

static bool resource_known(const struct view *v, const struct instance *i)
{
	if (!i->queue || !i->resource)
		return true;
	return generation_find_resource(v->in->gen, i->queue, strlen(i->queue), i->resource, strlen(i->resource)) != SIZE_MAX;
}

static void judge_loose(struct view *v, const struct instance *i)
{
	/* EC2 tells the launch in whole seconds, rounded down */
	if (i->launch_time_ms <= 0 || view_too_new(v, i->launch_time_ms + 1000) ||
	    !view_older(v, i->launch_time_ms, v->in->orphan_grace_ms))
		return;
	/* its address is not told yet and a running node of its launch has no machine: it may be that node's */
	if (!i->private_ip && i->launch && nodeset_has(v->waiting, i->launch))
		return;
	if (job_runs_there(v, i))
		return;
	if (resource_known(v, i))
		view_terminate(v, "orphan", NULL, i->id, i->launch, "no node has this machine");
	else
		view_terminate(v, "unknown-resource", NULL, i->id, i->launch,
			       "its queue or compute resource is not in the applied cluster");
}

/* A row for a node that neither the applied cluster nor slurmctld knows. */
static void judge_row(struct view *v, const struct binding *b)
{
	const struct instance *i = view_instance(v, b->instance);
	struct node_name name;

	if (b->state != BINDING_BOUND || view_too_new(v, b->since_ms) || view_node(v, b->node) ||
	    !node_name_resolve(v->in->gen, b->node, &name))
		return;
	if (!i && !view_machines_read(v, SIZE_MAX))
		return;
	if (i && instance_alive(i->state))
		view_terminate(v, "unknown-node", b->node, b->instance, NULL,
			       "its node is not in the applied cluster any more");
	view_act(v, ACT_FORGET, "unknown-node", b->node, b->instance, NULL, "the node is not in the applied cluster any more");
}

void reconcile_machines(struct view *v)
{
	if (!all_read(v))
		return;
	for (size_t i = 0; i < v->in->bindings->n && !v->nomem; i++)
		judge_row(v, &v->in->bindings->v[i]);
	for (size_t i = 0; i < v->in->instances->n && !v->nomem; i++)
		if (is_loose(v, &v->in->instances->v[i]))
			judge_loose(v, &v->in->instances->v[i]);
}
