/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reconcile_machines.c - machines of ours that no row ties to a node: taken in again where slurmctld knows them, else
 * ended.
 *
 * Only machines with this cluster's UUID are looked at. A machine of a launch that is still open belongs to that launch,
 * not here.
 */
#include "lib/plan/reconcile_view.h"

#include "lib/node/extra.h"
#include "lib/plan/node_rules.h"

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

/* Is it a node of ours, in the cloud where the machine is, that may have one? Addresses of two clouds may be the same. */
static bool could_have(const struct view *v, const struct node *n, const struct instance *i)
{
	struct node_name name;

	return node_state_is(n->state, 0, 0, NS_POWERED_DOWN | NS_POWERING_DOWN) &&
	       !node_name_resolve_any(v->in->gen, n->name, &name) && (size_t)v->in->gen->resources[name.resource].cloud == i->cloud;
}

/* How surely does slurmctld say that the machine at a node's address is this node's? By the id it keeps, by the launch in the
 * node's extra, or by a job that runs there; 0 = it does not. Another launch speaks against it; another id does not, for ids are
 * told when there is time. */
enum claim { CLAIM_NONE, CLAIM_JOB, CLAIM_LAUNCH, CLAIM_ID };

static enum claim claim_of(const struct node *n, const struct instance *i)
{
	enum claim c = CLAIM_NONE;
	char *launch;

	if (!i->launch)
		return CLAIM_NONE;
	if (str_eq(n->instance, i->id))
		return CLAIM_ID;
	launch = extra_launch(n->extra);
	if (launch)
		c = str_eq(launch, i->launch) ? CLAIM_LAUNCH : CLAIM_NONE;
	else if (has_job(n))
		c = CLAIM_JOB;
	free(launch);
	return c;
}

/* The node that claims the machine most; the first of several. */
static const struct node *claimer(const struct view *v, const struct instance *i)
{
	size_t by_id = map_get(&v->node_of, i->id);
	const struct node *best = NULL;
	enum claim most = CLAIM_NONE;

	for (size_t at = map_get(&v->node_at, i->private_ip); at != NONE; at = v->same_addr[at]) {
		const struct node *n = &v->in->nodes->v[at];
		enum claim c = could_have(v, n, i) ? claim_of(n, i) : CLAIM_NONE;

		if (c > most) {
			most = c;
			best = n;
		}
	}
	/* the id alone, while one of them has no address */
	if (!best && by_id != NONE && i->launch && could_have(v, &v->in->nodes->v[by_id], i) &&
	    !(i->private_ip && node_has_addr(&v->in->nodes->v[by_id])))
		best = &v->in->nodes->v[by_id];
	return best;
}

static void done_with(struct view *v, const struct node *n, const struct instance *i)
{
	if (nodeset_add(v->judged, n->name) < 0 || nodeset_add(v->handled, i->id) < 0)
		v->nomem = true;
}

/* The row names another machine: the file is an old copy if that one is gone; else two machines stand for one node, and the row
 * counts. */
static void judge_other(struct view *v, const struct node *n, const struct binding *b, const struct instance *i)
{
	const struct instance *other = view_instance(v, b->instance);

	if (b->state != BINDING_BOUND || !view_older(v, b->since_ms, v->in->orphan_grace_ms) || claim_of(n, i) < CLAIM_LAUNCH)
		return;
	if (other && instance_alive(other->state)) {
		view_act(v, ACT_NOTE, "two-machines", n->name, i->id, i->launch,
			 "slurmctld gives the node this machine, our row another one that runs, too: %s; the row counts",
			 b->instance);
		return;
	}
	view_act(v, ACT_FORGET, "row-outdated", n->name, b->instance, NULL,
		 "our row names a machine that is gone, slurmctld one that runs: %s", i->id);
	done_with(v, n, i);
}

static void adopt(struct view *v, const struct instance *i)
{
	const struct node *n = claimer(v, i);
	const struct binding *b = n ? view_row(v, n->name) : NULL;

	if (!n || (b && view_too_new(v, b->since_ms)) || nodeset_has(v->judged, n->name))
		return;
	if (b && b->state != BINDING_FREE) {
		judge_other(v, n, b, i);
		return;
	}
	view_act(v, ACT_BIND, "adopt", n->name, i->id, i->launch, "the node runs on this machine, our row was lost");
	done_with(v, n, i);
}

/* The node has no row, and says that its machine came with another launch. */
static bool lost_its_machine(const struct view *v, const struct node *n, const struct instance *i)
{
	const struct binding *b = view_row(v, n->name);
	char *launch = extra_launch(n->extra);
	bool other = launch && !str_eq(launch, i->launch);

	free(launch);
	return other && (!b || b->state == BINDING_FREE) && !(n->state & NS_POWERING_UP) && !nodeset_has(v->judged, n->name);
}

/* EC2 gives the addresses of machines that are gone to new ones. slurmctld asks only whether somebody answers there: it would hold
 * the node up, and send its jobs to another node's machine, where they never end. */
static void part(struct view *v, const struct node *n, const struct node *its)
{
	static const char code[] = "address-reused";
	bool down = (n->state & NS_BASE) == NS_DOWN;
	bool held = n->state & (NS_DRAIN | NS_FAIL) || (down && node_why(n->reason) == WHY_PERSON);
	char *text = str_fmt("(Code:MachineGone)The machine of this node is gone, its address is now that of %s", its->name);
	char *reason = text ? node_reason_replace(text, n->reason) : NULL;

	if (!reason || nodeset_add(v->judged, n->name) < 0)
		v->nomem = true;
	if (reason && !down)
		view_act(v, ACT_NODE_DOWN, code, n->name, NULL, NULL, "%s", reason);
	if (reason)
		view_act(v, ACT_UNBIND, code, n->name, NULL, NULL, "%s", text);
	if (reason && !held)
		view_act(v, ACT_NODE_POWER_DOWN, code, n->name, NULL, NULL, "%s", reason);
	free(text);
	free(reason);
}

/* Its address was given away, and it is on its way out: the rules about nodes see to it. A DOWN node gets no job to be mislaid. */
static bool is_leaving(const struct view *v, const struct node *n)
{
	const struct binding *b = view_row(v, n->name);
	const struct instance *own = b && b->state == BINDING_BOUND ? view_instance(v, b->instance) : NULL;

	return (n->state & NS_BASE) == NS_DOWN || (own && instance_ended(own->state));
}

/* The other nodes that slurmctld gives the machine's address. One of them has it, by its row or by what slurmctld says. */
static void note_names(struct view *v, const struct instance *i)
{
	size_t row = map_get(&v->row_of, i->id);
	const struct node *its = row != NONE ? view_node(v, v->in->bindings->v[row].node) : claimer(v, i);

	for (size_t at = map_get(&v->node_at, i->private_ip); its && at != NONE; at = v->same_addr[at]) {
		const struct node *n = &v->in->nodes->v[at];

		if (n == its || !could_have(v, n, i))
			continue;
		if (row != NONE && lost_its_machine(v, n, i))
			part(v, n, its);
		else if (!is_leaving(v, n))
			view_act(v, ACT_NOTE, "two-names", n->name, i->id, NULL,
				 "it has the address of the machine of %s, %s; that node counts", its->name, i->private_ip);
	}
}

static bool shares_address(const struct view *v, const struct instance *i)
{
	size_t at = map_get(&v->node_at, i->private_ip);

	return at != NONE && v->same_addr[at] != NONE && instance_alive(i->state);
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
	for (size_t at = map_get(&v->node_at, i->private_ip); at != NONE; at = v->same_addr[at]) {
		const struct node *n = &v->in->nodes->v[at];

		if (has_job(n) && could_have(v, n, i))
			return true;
	}
	return false;
}

/* Its node may be one that runs without a row: EC2 does not tell its address yet, or slurmctld has forgotten the node's. */
static bool may_be_needed(const struct view *v, const struct instance *i)
{
	return i->launch && ((!i->private_ip && nodeset_has(v->waiting, i->launch)) || nodeset_has(v->lost, i->launch));
}

static bool resource_known(const struct view *v, const struct instance *i)
{
	if (!i->queue || !i->resource)
		return true;
	return generation_find_resource(v->in->gen, i->queue, strlen(i->queue), i->resource, strlen(i->resource)) != SIZE_MAX;
}

/* Tags of ours came along when somebody copied a machine of ours. */
static void note_by_hand(struct view *v, const struct instance *i)
{
	view_act(v, ACT_NOTE, "no-launch", NULL, i->id, NULL,
		 "it carries this cluster's tag but no launch of ours, so it is ended; a machine of somebody else must not have tag "
		 TAG_CLUSTER);
}

static void judge_loose(struct view *v, const struct instance *i)
{
	/* EC2 tells the launch in whole seconds, rounded down */
	if (i->launch_time_ms <= 0 || view_too_new(v, i->launch_time_ms + 1000) ||
	    !view_older(v, i->launch_time_ms, v->in->orphan_grace_ms))
		return;
	if (may_be_needed(v, i) || job_runs_there(v, i))
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
	for (size_t i = 0; i < v->in->instances->n && !v->nomem; i++) {
		const struct instance *one = &v->in->instances->v[i];

		if (shares_address(v, one))
			note_names(v, one);
		if (is_loose(v, one) && !one->launch)
			note_by_hand(v, one);
		if (is_loose(v, one))
			judge_loose(v, one);
	}
}
