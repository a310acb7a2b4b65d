/* SPDX-License-Identifier: GPL-2.0-or-later */
/* invariants.c - checks on the picture a loop has read. */
#include "lib/plan/invariants.h"

#include "lib/base/err.h"
#include "lib/node/map.h"
#include "lib/node/name.h"
#include "lib/node/nodeset.h"

#include <stdlib.h>

const char *const invariant_codes[] = { "machine-without-row", "node-with-two-machines", "machine-with-two-nodes",
					"launch-unaccounted", NULL };

enum { NO_ROW, TWO_MACHINES, TWO_NODES, UNACCOUNTED };

struct look {
	const struct reconcile_input *in;
	struct violations *out;
	struct map row_of;    /* instance id -> BOUND row */
	struct map instance;  /* id -> instance */
	struct map launch;    /* id -> open launch */
	struct map by_ip;     /* address -> living instance */
	struct map row;       /* node -> row */
	bool nomem;
};

static void add(struct look *l, int code, const char *node, const char *instance, char *text)
{
	struct violations *o = l->out;
	struct violation *v;

	if (!text || mem_grow(&o->v, &o->cap, o->n + 1, sizeof(*o->v))) {
		l->nomem = true;
		free(text);
		return;
	}
	v = &o->v[o->n++];
	*v = (struct violation){ .code = invariant_codes[code], .node = str_dup(node), .instance = str_dup(instance), .text = text };
	l->nomem = l->nomem || (node && !v->node) || (instance && !v->instance);
}

static bool is_old(const struct look *l, int64_t since_ms)
{
	return l->in->now_ms - since_ms >= l->in->orphan_grace_ms;
}

/* Every machine has a row, belongs to a launch that is under way, or is young. */
static void check_machine(struct look *l, const struct instance *m)
{
	if (!instance_alive(m->state) || !is_old(l, m->launch_time_ms) || map_get(&l->row_of, m->id) != SIZE_MAX ||
	    map_get(&l->launch, m->launch) != SIZE_MAX)
		return;
	add(l, NO_ROW, NULL, m->id, str_fmt("machine %s is bound to no node and no launch is under way for it", m->id));
}

/* The row says one machine, slurmctld's address is that of another. */
static void check_node(struct look *l, const struct node *n)
{
	size_t at = map_get(&l->row, n->name), other;
	const struct binding *b = at == SIZE_MAX ? NULL : &l->in->bindings->v[at];
	const struct instance *own, *seen;

	if (!b || b->state != BINDING_BOUND || !is_old(l, b->since_ms) || !node_has_addr(n))
		return;
	at = map_get(&l->instance, b->instance);
	other = map_get(&l->by_ip, n->addr);
	if (at == SIZE_MAX || other == SIZE_MAX)
		return;
	own = &l->in->instances->v[at];
	seen = &l->in->instances->v[other];
	/* an address may be had twice in two clouds */
	if (at == other || !instance_alive(own->state) || seen->cloud != own->cloud || str_eq(own->private_ip, n->addr))
		return;
	add(l, TWO_MACHINES, n->name, seen->id,
	    str_fmt("node %s is bound to machine %s, but has the address of %s", n->name, own->id, seen->id));
}

static void check_shared(struct look *l, const struct binding *b)
{
	size_t first = map_get(&l->row_of, b->instance);

	if (b->state != BINDING_BOUND || first == SIZE_MAX || str_eq(l->in->bindings->v[first].node, b->node))
		return;
	add(l, TWO_NODES, b->node, b->instance,
	    str_fmt("machine %s is bound to node %s and to node %s", b->instance, l->in->bindings->v[first].node, b->node));
}

/* A claim whose launch is over got neither machine nor answer. */
static void check_claim(struct look *l, const struct binding *b)
{
	if (b->state != BINDING_LAUNCHING || !is_old(l, b->since_ms) || map_get(&l->launch, b->launch) != SIZE_MAX)
		return;
	add(l, UNACCOUNTED, b->node, NULL,
	    str_fmt("node %s waits for launch %s, which is over", b->node, b->launch ? b->launch : "without a name"));
}

/* One that nobody finished in all the time a node has to come up. */
static void check_launch(struct look *l, const struct launch *h)
{
	int64_t age = l->in->now_ms - h->created_ms;

	if (age < l->in->orphan_grace_ms + l->in->gen->resume_timeout_s * 1000)
		return;
	add(l, UNACCOUNTED, NULL, NULL,
	    str_fmt("launch %s of %zu nodes is open after ResumeTimeout", h->id, h->nodes.n));
}

static bool is_off(const struct node *n)
{
	return (n->state & NS_BASE) == NS_DOWN || (n->state & (NS_POWERED_DOWN | NS_POWERING_DOWN) && !(n->state & NS_POWERING_UP));
}

/* EC2 gives the address away at once, before slurmctld is told that the node has it no more. */
static bool has_ended(const struct look *l, const struct node *n)
{
	size_t at = map_get(&l->row, n->name);
	const struct binding *b = at == SIZE_MAX ? NULL : &l->in->bindings->v[at];

	at = b && b->state == BINDING_BOUND ? map_get(&l->instance, b->instance) : SIZE_MAX;
	return at != SIZE_MAX && instance_ended(l->in->instances->v[at].state);
}

/* Two nodes of slurmctld with one address: jobs of both would meet on one machine. Only within one cloud. */
static void check_addresses(struct look *l)
{
	const struct nodes *nodes = l->in->nodes;
	struct map at = { 0 };
	struct node_name a, b;

	for (size_t i = 0; i < nodes->n && !l->nomem; i++) {
		const struct node *n = &nodes->v[i], *first;
		size_t k;

		if (is_off(n) || !node_has_addr(n) || has_ended(l, n) || node_name_resolve_any(l->in->gen, n->name, &a))
			continue;
		k = map_get(&at, n->addr);
		if (k == SIZE_MAX) {
			l->nomem = map_put(&at, n->addr, i) != 0;
			continue;
		}
		first = &nodes->v[k];
		if (!node_name_resolve_any(l->in->gen, first->name, &b) &&
		    l->in->gen->resources[a.resource].cloud == l->in->gen->resources[b.resource].cloud)
			add(l, TWO_NODES, n->name, NULL,
			    str_fmt("nodes %s and %s have one address, %s", first->name, n->name, n->addr));
	}
	map_clear(&at);
}

static void index_rows(struct look *l)
{
	const struct reconcile_input *in = l->in;

	for (size_t i = 0; in->bindings && i < in->bindings->n && !l->nomem; i++) {
		const struct binding *b = &in->bindings->v[i];

		l->nomem = map_put(&l->row, b->node, i) || (b->state == BINDING_BOUND && map_put(&l->row_of, b->instance, i));
	}
	for (size_t i = 0; in->launches && i < in->launches->n && !l->nomem; i++)
		l->nomem = map_put(&l->launch, in->launches->v[i].id, i) != 0;
}

static void index_machines(struct look *l)
{
	const struct instances *all = l->in->instances;

	l->nomem = l->nomem || (all && map_instances(&l->instance, all));
	for (size_t i = 0; all && i < all->n && !l->nomem; i++)
		l->nomem = instance_alive(all->v[i].state) && map_put(&l->by_ip, all->v[i].private_ip, i);
}

int invariants_check(const struct reconcile_input *in, struct violations *out, struct err *e)
{
	bool rows = in->bindings && in->launches;
	struct look l = { .in = in, .out = out };

	index_rows(&l);
	index_machines(&l);
	for (size_t i = 0; rows && in->instances && i < in->instances->n && !l.nomem; i++)
		check_machine(&l, &in->instances->v[i]);
	for (size_t i = 0; rows && in->instances && in->nodes && i < in->nodes->n && !l.nomem; i++)
		check_node(&l, &in->nodes->v[i]);
	for (size_t i = 0; rows && i < in->bindings->n && !l.nomem; i++) {
		check_shared(&l, &in->bindings->v[i]);
		check_claim(&l, &in->bindings->v[i]);
	}
	for (size_t i = 0; in->launches && i < in->launches->n && !l.nomem; i++)
		check_launch(&l, &in->launches->v[i]);
	if (in->nodes && !l.nomem)
		check_addresses(&l);
	map_clear(&l.row);
	map_clear(&l.row_of);
	map_clear(&l.launch);
	map_clear(&l.instance);
	map_clear(&l.by_ip);
	return l.nomem ? err_nomem(e) : 0;
}

void violations_clear(struct violations *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].node);
		free(l->v[i].instance);
		free(l->v[i].text);
	}
	free(l->v);
	*l = (struct violations){ 0 };
}
