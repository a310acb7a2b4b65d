/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume_memory.c - the capacity memory inside a run: what was read when it began, and what the answers change of it. */
#include "lib/plan/resume_state.h"

#include "lib/plan/capacity.h"

#include <stdlib.h>

size_t resume_gate(struct resume_plan *p, const char *type, const char *zone, const char *market)
{
	char *name = str_fmt("%s\n%s\n%s", type, zone, market);
	int added = name ? nodeset_add(p->offerings, name) : -1;
	size_t i = added < 0 ? NONE : nodeset_index(p->offerings, name);

	free(name);
	if (added <= 0)
		return i;
	if (mem_grow(&p->gate, &p->cap_gate, i + 1, sizeof(*p->gate)))
		return NONE;
	p->gate[i] = (struct gate){.type = type, .zone = zone, .market = market, .state = GATE_OPEN, .shortage = NONE};
	return i;
}

/* Room beside each known shortage for its gate, and in the list that is told. -1 no memory. */
static int reserve(struct resume_plan *p, size_t n)
{
	return mem_grow(&p->told->v, &p->told->cap, n, sizeof(*p->told->v)) ||
			       mem_grow(&p->gate_of, &p->cap_gate_of, n, sizeof(*p->gate_of))
		       ? -1
		       : 0;
}

static void link_shortage(struct resume_plan *p, size_t gate, size_t shortage)
{
	p->gate_of[shortage] = gate;
	p->gate[gate].shortage = shortage;
}

int resume_memory_open(struct resume_plan *p)
{
	p->offerings = nodeset_create();
	if (!p->offerings || (p->in->shortages && shortages_copy(&p->known, p->in->shortages)) || reserve(p, p->known.n))
		return -1;
	for (size_t i = 0; i < p->known.n; i++) {
		const struct offering *o = &p->known.v[i].of;
		size_t gate = resume_gate(p, o->type, o->zone, o->market);

		if (gate == NONE)
			return -1;
		link_shortage(p, gate, i);
		p->gate[gate].state = GATE_MEMORY;
	}
	return 0;
}

static int add_shortage(struct resume_plan *p, size_t gate)
{
	const struct gate *g = &p->gate[gate];

	if (reserve(p, p->known.n + 1) || !shortages_add(&p->known, g->type, g->zone, g->market))
		return -1;
	link_shortage(p, gate, p->known.n - 1);
	return 0;
}

/* Refusals of one run in a row count once: they were all asked for on the same knowledge. */
void resume_memory_refused(struct resume_plan *p, size_t gate, const char *code, const char *message, int64_t now_ms)
{
	struct gate *g = &p->gate[gate];
	struct shortage *s;

	if (!*g->type)
		return;
	if (g->shortage == NONE && add_shortage(p, gate)) {
		p->nomem = true;
		return;
	}
	s = &p->known.v[g->shortage];
	if (g->counted && s->failures > 0)
		s->failures--;
	if (capacity_refused(s, &p->in->rule, code, message, now_ms, resume_chance(p)))
		p->nomem = true;
	g->counted = g->changed = true;
}

void resume_memory_came(struct resume_plan *p, int64_t now_ms)
{
	for (size_t i = 0; i < p->known.n; i++) {
		struct shortage *s = &p->known.v[i];
		struct gate *g = &p->gate[p->gate_of[i]];

		if (!g->came || !s->failures)
			continue;
		g->changed = true;
		g->counted = false;
		if (capacity_came(s, g->came, now_ms))
			g->state = GATE_OPEN;
		else if (g->state == GATE_PROBED || g->state == GATE_MEMORY)
			g->state = GATE_BUDGET;
	}
}

const struct shortages *resume_plan_shortages(const struct resume_plan *p, size_t *changed)
{
	struct shortages *told = p->told;

	told->n = 0;
	for (size_t i = 0; i < p->known.n; i++)
		if (p->gate[p->gate_of[i]].changed)
			told->v[told->n++] = p->known.v[i];
	*changed = told->n;
	for (size_t i = 0; i < p->known.n; i++)
		if (!p->gate[p->gate_of[i]].changed)
			told->v[told->n++] = p->known.v[i];
	return told;
}
