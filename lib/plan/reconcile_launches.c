/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reconcile_launches.c - launch rows that nobody works on any more: finished or undone.
 *
 * A row whose worker lives is never touched. INTENT is asked again with its own token while its nodes still wait for it,
 * for the answer may have been lost; ANSWERED has its machines bound to its nodes. What cannot be used is ended, then the
 * row is closed.
 */
#include "lib/plan/reconcile_view.h"

#include <stdlib.h>
#include <string.h>

/* The machines of one launch that no row has, in launch order. */
struct found {
	const struct instance **v;
	size_t n, cap;
};

struct by_launch { /* every open launch's found machines; position as in in->launches */
	struct found *v;
	size_t n;
};

static int by_index(const void *a, const void *b)
{
	const struct instance *x = *(const struct instance *const *)a, *y = *(const struct instance *const *)b;

	return x->launch_index < y->launch_index ? -1 : x->launch_index > y->launch_index;
}

static void by_launch_free(struct by_launch *l)
{
	for (size_t i = 0; l->v && i < l->n; i++)
		free(l->v[i].v);
	free(l->v);
}

static int by_launch_fill(const struct view *v, struct by_launch *l)
{
	l->n = v->in->launches->n;
	l->v = calloc(l->n + 1, sizeof(*l->v));
	if (!l->v)
		return -1;
	for (size_t i = 0; v->in->instances && i < v->in->instances->n; i++) {
		const struct instance *one = &v->in->instances->v[i];
		size_t at = map_get(&v->launch, one->launch);
		struct found *f = at == NONE ? NULL : &l->v[at];

		if (!f || !instance_alive(one->state) || map_get(&v->row_of, one->id) != NONE)
			continue;
		if (mem_grow(&f->v, &f->cap, f->n + 1, sizeof(*f->v)))
			return -1;
		f->v[f->n++] = one;
	}
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].n)
			qsort(l->v[i].v, l->v[i].n, sizeof(*l->v[i].v), by_index);
	return 0;
}

/* Claimed by this launch, and slurmctld waits for it. */
static bool waits(const struct view *v, const struct launch *l, const char *name)
{
	const struct binding *b = view_row(v, name);
	const struct node *n = view_node(v, name);

	return b && b->state == BINDING_LAUNCHING && str_eq(b->launch, l->id) && n &&
	       node_state_is(n->state, ~(1u << NS_DOWN), NS_POWERING_UP, NS_POWERED_DOWN | NS_POWERING_DOWN | NS_POWER_DOWN);
}

static size_t count_waiting(const struct view *v, const struct launch *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->nodes.n; i++)
		n += waits(v, l, l->nodes.v[i]);
	return n;
}

static void retry(struct view *v, const struct launch *l)
{
	struct action *a = view_act(v, ACT_LAUNCH_RETRY, "launch-unanswered", NULL, NULL, l->id,
				    "the process that asked for it is gone; asking again with the same token");

	if (a && strs_copy(&a->nodes, &l->nodes))
		v->nomem = true;
}

/* Nobody waits for the machines from position `at` on. */
static void end_rest(struct view *v, const struct found *f, size_t at)
{
	for (; at < f->n; at++)
		view_terminate(v, "launch-surplus", NULL, f->v[at]->id, NULL, "no node of its launch waits for it");
}

static void close_row(struct view *v, const struct launch *l)
{
	view_act(v, ACT_LAUNCH_CLOSE, "launch-finished", NULL, NULL, l->id,
		 "its worker is gone and nothing of it is left to do");
}

static void undo(struct view *v, const struct launch *l, const struct found *f)
{
	end_rest(v, f, 0);
	close_row(v, l);
}

static void bind_found(struct view *v, const struct launch *l, const struct found *f, bool young)
{
	size_t used = 0, waiting = 0;

	for (size_t i = 0; i < l->nodes.n; i++) {
		const char *name = l->nodes.v[i];

		if (!waits(v, l, name))
			continue;
		waiting++;
		if (used == f->n)
			continue;
		view_act(v, ACT_BIND, "launch-unbound", name, f->v[used++]->id, l->id, "the process that launched it is gone");
		if (nodeset_add(v->judged, name) < 0)
			v->nomem = true;
	}
	/* EC2 may not list a new machine yet: a young row keeps waiting for it */
	if (waiting > used && young)
		return;
	end_rest(v, f, used);
	close_row(v, l);
}

static bool machines_read(const struct view *v, const struct launch *l)
{
	bool named = l->queue && l->resource;

	return view_machines_read(v, named ? generation_find_resource(v->in->gen, l->queue, strlen(l->queue), l->resource,
								      strlen(l->resource))
					   : SIZE_MAX);
}

static void judge(struct view *v, const struct launch *l, const struct found *f)
{
	const struct reconcile_input *in = v->in;
	bool young = !view_older(v, l->created_ms, in->orphan_grace_ms);

	if (view_too_new(v, l->created_ms) || !nodeset_has(v->dead, l->id))
		return;
	if (l->state == LAUNCH_INTENT && !view_older(v, l->created_ms, in->gen->resume_timeout_s * 1000) && count_waiting(v, l))
		retry(v, l);
	else if (!machines_read(v, l))
		return;
	else if (l->state == LAUNCH_ANSWERED)
		bind_found(v, l, f, young);
	else if (l->state == LAUNCH_INTENT && !young)
		undo(v, l, f);
}

/* A claim whose launch is closed has no one who will fill it. */
static void free_stale_claims(struct view *v)
{
	for (size_t i = 0; i < v->in->bindings->n; i++) {
		const struct binding *b = &v->in->bindings->v[i];

		if (b->state != BINDING_LAUNCHING || view_too_new(v, b->since_ms) || view_launch(v, b->launch))
			continue;
		view_act(v, ACT_UNBIND, "claim-stale", b->node, NULL, b->launch, "the launch that claimed it is over");
		if (nodeset_add(v->judged, b->node) < 0)
			v->nomem = true;
	}
}

void reconcile_launches(struct view *v)
{
	struct by_launch l = { 0 };

	if (!v->in->launches || !v->in->bindings || !v->in->nodes)
		return;
	if (by_launch_fill(v, &l))
		v->nomem = true;
	for (size_t i = 0; i < l.n && !v->nomem; i++)
		judge(v, &v->in->launches->v[i], &l.v[i]);
	by_launch_free(&l);
	free_stale_claims(v);
}
