/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume_source.c - what a stage of a compute resource may be asked at a given time: which of its choices are open, and for how
 * many nodes.
 *
 * Two things close a choice. The capacity memory as it was read when the run began: closed, one probe, a budget. And what EC2
 * refused in this run, which closes only calls as large as the refused one, so that smaller jobs still get their try. Within
 * the time limit of a stage the latter is only a reason to pause.
 */
#include "lib/plan/resume_state.h"

#include "lib/plan/capacity.h"

#include <stdlib.h>

/* Pauses of a stage with a time limit. */
#define SHORT_FIRST_MS 2000
#define SHORT_LIMIT_MS 15000

/* --- open and close */

/* Subnets of one zone are one offering, and so are all zones for a quota: what is met of one holds for the other. */
static void share_met(struct source *s, size_t choice, size_t k)
{
	struct choice *c = &s->choice[choice];

	c->met[k] = 2 * choice + k;
	for (size_t i = 0; i < choice; i++)
		if (s->choice[i].row[k] == c->row[k])
			c->met[k] = s->choice[i].met[k];
	s->met[2 * choice + k] = (struct met){.refused = NONE};
}

static int choice_open(struct resume_plan *p, const struct gen_resource *r, struct source *s, size_t choice)
{
	const struct gen_stage *g = s->gen;
	struct choice *c = &s->choice[choice];
	const char *type = g->instance_types.v[c->at.type], *market = capacity_market(r, g);
	const char *zones[] = {c->at.subnet < g->zones.n ? g->zones.v[c->at.subnet] : "", ZONE_ANY};

	for (size_t k = 0; k < 2; k++) {
		size_t i = resume_gate(p, type, zones[k], market);

		if (i == NONE)
			return -1;
		c->row[k] = i;
		c->memory[k] = p->gate[i].shortage == NONE || capacity_holds(&p->known.v[p->gate[i].shortage], g);
		c->n_row++;
		share_met(s, choice, k);
	}
	return 0;
}

/* A stage without types is not an offering, yet it has sizes that were refused. */
static int nameless_open(struct resume_plan *p, const struct gen_resource *r, struct source *s)
{
	s->choice->row[0] = resume_gate(p, "", r->queue, r->name);
	s->choice->n_row = 1;
	s->choice->memory[0] = true;
	share_met(s, 0, 0);
	return s->choice->row[0] == NONE ? -1 : 0;
}

static int stage_open(struct resume_plan *p, const struct gen_resource *r, struct source *s)
{
	size_t types = s->gen->instance_types.n, subnets = s->gen->subnet_ids.n;
	bool named = types && subnets;

	s->n_choice = named ? types * subnets : 1;
	s->choice = calloc(s->n_choice, sizeof(*s->choice));
	s->met = calloc(2 * s->n_choice, sizeof(*s->met));
	if (!s->choice || !s->met)
		return -1;
	if (!named)
		return nameless_open(p, r, s);
	for (size_t i = 0; i < s->n_choice; i++) {
		s->choice[i].at = (struct resume_choice){.type = i / subnets, .subnet = i % subnets};
		if (choice_open(p, r, s, i))
			return -1;
	}
	return 0;
}

int resume_source_open(struct resume_plan *p, size_t resource)
{
	static const struct gen_stage unnamed;
	const struct gen_resource *res = &p->in->gen->resources[resource];
	struct pool *r = &p->pool[resource];
	size_t n = res->n_stages ? res->n_stages : 1;

	if (r->source)
		return 0;
	r->source = calloc(n, sizeof(*r->source));
	if (!r->source)
		return -1;
	r->n_source = n;
	p->active[p->n_active++] = resource;
	for (size_t i = 0; i < n; i++) {
		r->source[i].gen = res->n_stages ? &res->stages[i] : &unnamed;
		r->source[i].last = i + 1 == n;
		if (stage_open(p, res, &r->source[i]))
			return -1;
	}
	return 0;
}

void resume_source_close(struct pool *r)
{
	for (size_t i = 0; i < r->n_source; i++) {
		free(r->source[i].choice);
		free(r->source[i].met);
		free(r->source[i].list);
	}
	free(r->source);
}

/* --- an offering, a choice */

static struct room less(struct room a, struct room b)
{
	if (a.give != b.give)
		return a.give < b.give ? a : b;
	return a.n < b.n ? a : b;
}

static struct room memory_room(const struct resume_plan *p, const struct gate *g, int64_t now_ms)
{
	const struct shortage *s = &p->known.v[g->shortage];
	int64_t n;

	if (p->in->rule.limit_ms > 0 && capacity_stale(s, &p->in->rule, now_ms))
		return (struct room){.give = GIVE_ALL};
	n = capacity_allowed(s, now_ms);
	if (n == CAPACITY_UNLIMITED)
		return (struct room){.give = GIVE_ALL};
	if (n < 0)
		return (struct room){.give = GIVE_PROBE};
	return (struct room){.give = n ? GIVE_SOME : GIVE_NOTHING, .n = n};
}

static struct room gate_room(const struct resume_plan *p, const struct gate *g, int64_t now_ms)
{
	int64_t budget;

	switch (g->state) {
	case GATE_MEMORY:
		return memory_room(p, g, now_ms);
	case GATE_OPEN:
		return (struct room){.give = GIVE_ALL};
	case GATE_PROBED:
		return (struct room){.give = GIVE_WAIT};
	case GATE_SHUT:
		return (struct room){.give = GIVE_NOTHING};
	case GATE_BUDGET:
		break;
	}
	budget = p->known.v[g->shortage].budget;
	if (!g->in_flight)
		return (struct room){.give = GIVE_SOME, .n = budget};
	return (struct room){.give = budget > g->in_flight ? GIVE_SOME : GIVE_WAIT, .n = budget - g->in_flight, .firm = true};
}

/* A stage that may still be asked again for what it refused. */
static bool in_window(const struct resume_plan *p, const struct source *s, int64_t now_ms)
{
	return s->gen->time_limit_s > 0 && !s->last && !p->hurry &&
	       (!s->first_ms || now_ms < s->first_ms + s->gen->time_limit_s * 1000);
}

/* What is left for a call of n after the refusals of this run. */
static struct room met_room(const struct resume_plan *p, const struct source *s, const struct met *m, size_t n, int64_t now_ms)
{
	if (n < m->refused)
		return (struct room){.give = GIVE_ALL};
	if (!m->refused || !in_window(p, s, now_ms))
		return (struct room){.give = GIVE_NOTHING};
	return (struct room){.give = m->at_ms < s->wake_ms ? GIVE_ALL : GIVE_WAIT};
}

static struct room choice_room(const struct resume_plan *p, const struct source *s, const struct choice *c, size_t n,
			       int64_t now_ms)
{
	struct room room = {.give = GIVE_ALL};

	for (size_t k = 0; k < c->n_row; k++) {
		room = less(room, met_room(p, s, &s->met[c->met[k]], n, now_ms));
		if (c->memory[k])
			room = less(room, gate_room(p, &p->gate[c->row[k]], now_ms));
	}
	return room;
}

/* --- a stage */

/* Its pause, and its best choice. */
static struct room stage_room(const struct resume_plan *p, const struct source *s, size_t n, int64_t now_ms)
{
	struct room best = {.give = GIVE_NOTHING};

	if (!p->hurry && now_ms < s->wake_ms)
		return (struct room){.give = GIVE_WAIT};
	for (size_t i = 0; i < s->n_choice && best.give != GIVE_ALL; i++) {
		struct room r = choice_room(p, s, &s->choice[i], n, now_ms);

		if (r.give > best.give || (r.give == best.give && (r.n > best.n || (r.n == best.n && best.firm && !r.firm))))
			best = r;
	}
	return best;
}

/* Choices as good as the stage's best; where that is open, also one whose budget has room for all n. What is left of a budget
 * beside a call in the air does not stretch for a whole job, as an untouched budget does. */
static void mark_choices(const struct resume_plan *p, struct source *s, struct room best, size_t n, int64_t now_ms)
{
	for (size_t i = 0; i < s->n_choice; i++) {
		struct room r = choice_room(p, s, &s->choice[i], n, now_ms);

		s->choice[i].use = r.give == best.give && r.n >= best.n && (!r.firm || best.firm || (size_t)r.n >= n);
		if (best.give == GIVE_ALL && r.give == GIVE_SOME && (size_t)r.n >= n)
			s->choice[i].use = true;
	}
}

/* EC2 knows a least number only for one type or one zone. */
static bool has_minimum(const struct source *s)
{
	const struct choice *one = NULL;
	bool types = false, subnets = false;

	for (size_t i = 0; i < s->n_choice; i++) {
		const struct choice *c = &s->choice[i];

		if (!c->use)
			continue;
		types = types || (one && c->at.type != one->at.type);
		subnets = subnets || (one && c->at.subnet != one->at.subnet);
		one = one ? one : c;
	}
	return !types || !subnets;
}

static bool later_gives(const struct resume_plan *p, const struct pool *r, size_t stage, int64_t now_ms)
{
	for (size_t i = stage + 1; i < r->n_source; i++)
		if (stage_room(p, &r->source[i], 1, now_ms).give != GIVE_NOTHING)
			return true;
	return false;
}

/* It waits for a probe, or it is short within its time limit and has no pause yet. */
static void begin_pause(struct resume_plan *p, struct source *s, int64_t now_ms)
{
	int64_t end;

	for (size_t i = 0; i < s->n_choice; i++)
		for (size_t k = 0; k < s->choice[i].n_row; k++)
			if (p->gate[s->choice[i].row[k]].in_flight)
				return;
	if (!in_window(p, s, now_ms))
		return;
	if (!s->first_ms)
		s->first_ms = now_ms;
	end = s->first_ms + s->gen->time_limit_s * 1000;
	s->wake_ms = now_ms + resume_pause(p, SHORT_FIRST_MS, SHORT_LIMIT_MS, ++s->shorts);
	s->wake_ms = s->wake_ms < end ? s->wake_ms : end;
}

struct room resume_source_room(struct resume_plan *p, struct pool *r, size_t stage, size_t n, int64_t now_ms)
{
	struct source *s = &r->source[stage];
	struct room best = stage_room(p, s, n, now_ms);

	if (best.give == GIVE_WAIT && now_ms >= s->wake_ms)
		begin_pause(p, s, now_ms);
	if (best.give <= GIVE_WAIT)
		return best;
	mark_choices(p, s, best, n, now_ms);
	s->whole = p->in->strategy == SCALING_ALL_OR_NOTHING && has_minimum(s) && !later_gives(p, r, stage, now_ms);
	return best;
}

size_t resume_source_most(const struct resume_plan *p, const struct source *s, size_t n, int64_t now_ms)
{
	size_t best = 1;

	if (in_window(p, s, now_ms))
		return n; /* all are tried again */
	for (size_t i = 0; i < s->n_choice; i++) {
		const struct choice *c = &s->choice[i];
		size_t most = n;

		if (choice_room(p, s, c, 1, now_ms).give == GIVE_NOTHING)
			continue;
		for (size_t k = 0; k < c->n_row; k++)
			most = s->met[c->met[k]].refused <= most ? s->met[c->met[k]].refused - 1 : most;
		best = most > best ? most : best;
	}
	return best;
}

bool resume_source_any(struct resume_plan *p, struct pool *r, size_t n, int64_t now_ms)
{
	for (size_t i = 0; i < r->n_source; i++)
		if (stage_room(p, &r->source[i], n, now_ms).give != GIVE_NOTHING)
			return true;
	return false;
}

const char *resume_source_code(struct resume_plan *p, const struct source *s)
{
	const char *code = s->code;

	for (size_t i = 0; i < s->n_choice; i++) {
		for (size_t k = 0; k < s->choice[i].n_row; k++) {
			size_t row = p->gate[s->choice[i].row[k]].shortage;

			if (row != NONE && p->known.v[row].failures && s->choice[i].memory[k])
				code = capacity_code_worse(code, resume_code(p, p->known.v[row].code));
		}
	}
	return code;
}

const char *resume_source_word(struct resume_plan *p, const struct pool *r)
{
	const char *code = NULL;

	for (size_t i = 0; i < r->n_source; i++)
		code = capacity_code_worse(code, resume_source_code(p, &r->source[i]));
	return code;
}

/* --- calls under way */

static void use_row(struct resume_plan *p, struct step *step, size_t row, int64_t now_ms)
{
	struct gate *g = &p->gate[row];

	for (size_t i = 0; i < step->n_row; i++)
		if (step->row[i] == row)
			return;
	step->row[step->n_row++] = row;
	if (g->state == GATE_MEMORY && !step->pub.probe)
		g->state = memory_room(p, g, now_ms).give == GIVE_SOME ? GATE_BUDGET : GATE_OPEN;
	else if (g->state == GATE_MEMORY || (g->state == GATE_BUDGET && step->pub.probe))
		g->state = GATE_PROBED;
	g->in_flight += (int64_t)step->nodes.n;
}

int resume_source_use(struct resume_plan *p, const struct source *s, struct step *step, int64_t now_ms)
{
	size_t n = 0;

	step->choice = calloc(s->n_choice, sizeof(*step->choice));
	step->row = calloc(2 * s->n_choice, sizeof(*step->row));
	if (!step->choice || !step->row)
		return -1;
	for (size_t i = 0; i < s->n_choice; i++) {
		const struct choice *c = &s->choice[i];

		if (!c->use)
			continue;
		step->choice[n++] = c->at;
		for (size_t k = 0; k < c->n_row; k++)
			if (c->memory[k])
				use_row(p, step, c->row[k], now_ms);
	}
	step->pub.choices = step->choice;
	step->pub.n_choices = n;
	return 0;
}

void resume_source_release(struct resume_plan *p, const struct step *step, enum probe_end end)
{
	for (size_t i = 0; i < step->n_row; i++) {
		struct gate *g = &p->gate[step->row[i]];

		g->in_flight -= (int64_t)step->nodes.n;
		if (!step->pub.probe || g->shortage == NONE || g->state == GATE_OPEN)
			continue;
		if (end == PROBE_REFUSED)
			g->state = GATE_SHUT;
		else if (g->state == GATE_PROBED)
			g->state = GATE_MEMORY;
	}
}
