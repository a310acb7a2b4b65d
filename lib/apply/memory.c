/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory.c - several processes share one memory of shortages: each plans with what it read, asks the store before a probe, and
 * writes what its own answers changed. */
#include "lib/apply/memory.h"

#include "lib/apply/apply.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/plan/capacity.h"
#include "lib/state/store.h"

#include <stdlib.h>

int memory_read(struct world *w, struct memory *m, struct err *e)
{
	shortages_clear(&m->known);
	return store_shortages(w->store, &m->known, e);
}

void memory_clear(struct memory *m)
{
	shortages_clear(&m->known);
	shortages_clear(&m->fresh);
	shortages_clear(&m->kept);
	shortages_clear(&m->held);
	*m = (struct memory){.denied_ms = 0};
}

/* ---- probes */

/* One of the at most two rows that speak of a choice: its zone's, and its type's quota. */
struct look {
	const struct memory *m;
	int64_t now;
	bool later;
	const struct shortage *closed; /* the last one seen */
	const struct shortage *claim[2];
	size_t n_claim;
};

static bool holds(const struct memory *m, const struct offering *o, int64_t now)
{
	const struct shortage *s = shortages_find(&m->held, o->type, o->zone, o->market);

	return s && s->probe_until_ms > now;
}

static void look_at(struct look *l, const struct gen_stage *g, const struct shortage *s)
{
	int64_t allowed;

	if (!s || holds(l->m, &s->of, l->now) || !capacity_holds(s, g))
		return;
	if (s->probe_until_ms > l->now) {
		l->later = true;
		return;
	}
	allowed = capacity_allowed(s, l->now);
	if (allowed == 0)
		l->closed = s;
	if (allowed < 0)
		l->claim[l->n_claim++] = s;
}

static int hold(struct memory *m, const struct offering *o, int64_t until)
{
	struct shortage *s = shortages_find(&m->held, o->type, o->zone, o->market);

	if (!s)
		s = shortages_add(&m->held, o->type, o->zone, o->market);
	if (!s)
		return -1;
	s->probe_until_ms = until;
	return 0;
}

/* 1 ours, 0 another process was faster. */
static int claim(struct world *w, struct memory *m, const struct look *l, struct err *e)
{
	for (size_t i = 0; i < l->n_claim; i++) {
		const struct offering *o = &l->claim[i]->of;
		int rc = store_shortage_probe(w->store, o, l->now, l->now + PROBE_MS, e);

		if (rc <= 0)
			return rc;
		if (hold(m, o, l->now + PROBE_MS) < 0)
			return err_nomem(e);
	}
	return 1;
}

static struct look look(const struct memory *m, const struct shortages *fresh, const struct gen_resource *r,
			const struct gen_stage *g, const struct resume_choice *c, int64_t now)
{
	const char *type = g->instance_types.v[c->type], *market = capacity_market(r, g);
	struct look l = {.m = m, .now = now};

	look_at(&l, g, shortages_find(fresh, type, c->subnet < g->zones.n ? g->zones.v[c->subnet] : "", market));
	look_at(&l, g, shortages_find(fresh, type, ZONE_ANY, market));
	return l;
}

static int add_closed(struct resume_refusal **v, size_t *n, const struct resume_refusal *r)
{
	struct resume_refusal *more = realloc(*v, (*n + 1) * sizeof *more);

	if (!more)
		return -1;
	*v = more;
	more[(*n)++] = *r;
	return 0;
}

/* Everything in one transaction: when one probe is another's, ours are given back. */
static int gate(struct world *w, struct memory *m, const struct resume_step *s, struct resume_refusal **closed, size_t *n,
		struct err *e)
{
	const struct gen_resource *r = &w->gen->resources[s->resource];
	const struct gen_stage *g = &r->stages[s->stage];
	int64_t now = clock_wall_ms();
	bool later = false;

	shortages_clear(&m->fresh);
	if (store_shortages(w->store, &m->fresh, e) < 0)
		return -1;
	for (size_t i = 0; i < s->n_choices; i++) {
		const struct resume_choice *c = &s->choices[i];
		struct look l = look(m, &m->fresh, r, g, c, now);
		int rc = l.later || l.closed ? 1 : claim(w, m, &l, e);

		if (rc < 0)
			return -1;
		later = later || l.later || rc == 0;
		if (l.closed && add_closed(closed, n, &(struct resume_refusal){
							  .type = g->instance_types.v[c->type],
							  .subnet_id = g->subnet_ids.v[c->subnet],
							  .code = l.closed->code,
							  .message = l.closed->message}) < 0)
			return err_nomem(e);
	}
	return later ? GATE_LATER : *n ? GATE_CLOSED : GATE_GO;
}

/* Every choice of the step counts as closed. */
static int close_all(struct world *w, const struct resume_step *s, struct resume_refusal **closed, size_t *n, struct err *e)
{
	const struct gen_stage *g = &w->gen->resources[s->resource].stages[s->stage];

	for (size_t i = 0; i < s->n_choices; i++) {
		if (add_closed(closed, n, &(struct resume_refusal){.type = g->instance_types.v[s->choices[i].type],
								   .subnet_id = g->subnet_ids.v[s->choices[i].subnet],
								   .code = CODE_INSUFFICIENT}) < 0)
			return err_nomem(e);
	}
	return GATE_CLOSED;
}

int memory_gate(struct world *w, struct memory *m, const struct resume_step *s, struct resume_refusal **closed, size_t *n,
		struct err *e)
{
	size_t held = m->held.n;
	int rc, end;

	*closed = NULL;
	*n = 0;
	if (store_batch_begin(w->store, e) < 0)
		return -1;
	rc = gate(w, m, s, closed, n, e);
	while (rc != GATE_GO && m->held.n > held) /* undone below */
		shortage_clear(&m->held.v[--m->held.n]);
	end = store_batch_end(w->store, rc == GATE_GO ? 0 : -1, rc < 0 ? e : NULL);
	if (rc < 0 || (rc == GATE_GO && end < 0))
		return -1;
	if (rc != GATE_LATER)
		return rc;
	if (m->denied_ms == 0)
		m->denied_ms = clock_wall_ms();
	return clock_wall_ms() - m->denied_ms < PROBE_WAIT_MS ? GATE_LATER : close_all(w, s, closed, n, e);
}

void memory_release(struct world *w, struct memory *m)
{
	for (size_t i = 0; i < m->held.n; i++) {
		const struct shortage *s = &m->held.v[i];

		/* a kept row is past its probe already */
		if (!shortages_find(&m->kept, s->of.type, s->of.zone, s->of.market))
			store_shortage_probe(w->store, &s->of, s->probe_until_ms, 0, NULL);
	}
	shortages_clear(&m->held);
}

/* ---- refusals */

int memory_refuse(struct world *w, struct memory *m, const struct gen_resource *r, size_t stage,
		  const struct resume_refusal *refused, size_t n, struct err *e)
{
	const struct gen_stage *g = stage < r->n_stages ? &r->stages[stage] : NULL;
	struct capacity_rule rule = capacity_rule_of(w->settings);
	int64_t now = clock_wall_ms();
	int rc = 0;

	for (size_t i = 0; g && i < n; i++) {
		if (capacity_refused_stage(&m->known, r, g, &refused[i], &rule, now, rand_unit()) < 0)
			return err_nomem(e);
	}
	if (store_batch_begin(w->store, e) < 0)
		return -1;
	for (size_t i = 0; i < m->known.n && rc == 0; i++) {
		if (m->known.v[i].failed_ms == now)
			rc = store_shortage_put(w->store, &m->known.v[i], e);
	}
	return store_batch_end(w->store, rc, e);
}

/* ---- what a plan learned */

static bool same(const struct shortage *a, const struct shortage *b)
{
	return a && a->failures == b->failures && a->failed_ms == b->failed_ms && a->until_ms == b->until_ms &&
	       a->budget == b->budget && a->probe_until_ms == b->probe_until_ms;
}

/* 1 written. A row another process changed meanwhile is not overwritten with what we wrote before. */
static int keep_one(struct world *w, struct memory *m, const struct shortage *s, struct err *e)
{
	struct shortage *was = shortages_find(&m->kept, s->of.type, s->of.zone, s->of.market);

	if (same(was, s))
		return 0;
	if (!was)
		was = shortages_add(&m->kept, s->of.type, s->of.zone, s->of.market);
	if (!was)
		return err_nomem(e);
	was->failures = s->failures;
	was->failed_ms = s->failed_ms;
	was->until_ms = s->until_ms;
	was->budget = s->budget;
	was->probe_until_ms = s->probe_until_ms;
	return store_shortage_put(w->store, s, e) < 0 ? -1 : 1;
}

int memory_keep(struct world *w, struct memory *m, const struct shortages *all, size_t changed, struct err *e)
{
	int n = 0;

	for (size_t i = 0; i < changed; i++) {
		int rc = keep_one(w, m, &all->v[i], e);

		if (rc < 0)
			return -1;
		n += rc;
	}
	return n;
}
