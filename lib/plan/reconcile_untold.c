/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reconcile_untold.c - bound nodes of which slurmctld does not know the machine: resume's time was over, slurmctld was
 * away, EC2 told the address late, or somebody changed it. Address and launch id are written again. */
#include "lib/plan/reconcile_view.h"

#include "lib/node/extra.h"

#include <stdlib.h>

/* resume tells slurmctld right after it writes the row; a row this young may just be between the two. */
#define TELLING_MS 3000

/* Of a node that has registered slurmctld knows better than EC2 which of a machine's addresses answers. */
static bool knows(const struct node *n, const struct binding *b, const char *ip)
{
	bool up = !(n->state & NS_POWERING_UP) && node_has_addr(n);
	char *launch = extra_launch(n->extra);
	bool same = str_eq(launch, b->launch) && (up || str_eq(n->addr, ip));

	free(launch);
	return same;
}

/* The process that launches tells too. */
static bool at_work(const struct view *v, const char *launch)
{
	return view_launch(v, launch) && !nodeset_has(v->dead, launch);
}

static void judge(struct view *v, const struct binding *b)
{
	const struct node *n = view_node(v, b->node);
	const struct instance *i = view_instance(v, b->instance);
	struct node_name name;

	if (b->state != BINDING_BOUND || !n || !i || !b->launch || !i->private_ip || nodeset_has(v->judged, b->node))
		return;
	if ((i->state != INSTANCE_PENDING && i->state != INSTANCE_RUNNING) || at_work(v, b->launch))
		return;
	if (!view_older(v, b->since_ms, TELLING_MS) || view_too_new(v, b->since_ms) ||
	    node_name_resolve_any(v->in->gen, b->node, &name))
		return;
	/* a node that goes down, or is DOWN, has rules of its own and no use for an address */
	if (!node_state_is(n->state, ~(1u << NS_DOWN), 0, NS_POWERED_DOWN | NS_POWERING_DOWN) || knows(n, b, i->private_ip))
		return;
	view_act(v, ACT_BIND, "untold", b->node, b->instance, b->launch, "slurmctld does not know the machine of this node");
	if (nodeset_add(v->judged, b->node) < 0)
		v->nomem = true;
}

void reconcile_untold(struct view *v)
{
	if (!v->in->nodes || !v->in->instances || !v->in->bindings)
		return;
	for (size_t i = 0; i < v->in->bindings->n && !v->nomem; i++)
		judge(v, &v->in->bindings->v[i]);
}
