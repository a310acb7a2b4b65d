/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume_source.c - what a stage of a compute resource may be asked for now: which of its choices are open, and how many nodes
 * at a time.
 *
 * Two things close a choice. The capacity memory as it was read when the run began: closed, one probe, a budget. And what EC2
 * refused in this run, which closes only calls as large as the refused one, so that smaller jobs still get their try.
 */
#include "lib/plan/resume_state.h"

#include <stdlib.h>
#include <string.h>

/* --- open and close */

const char *resume_source_zone(const struct gen_stage *g, size_t subnet)
{
	return subnet < g->zones.n ? g->zones.v[subnet] : "";
}

static void choice_open(struct resume_plan *p, const struct gen_resource *r, const struct source *s, struct choice *c)
{
	const char *type = s->gen->instance_types.v[c->at.type], *market = capacity_market(r, s->gen);
	const char *zones[] = {resume_source_zone(s->gen, c->at.subnet), ZONE_ANY};

	for (size_t k = 0; k < 2; k++) {
		c->row[k] = resume_source_row(p, type, zones[k], market, false);
		if (c->row[k] != NONE && !capacity_holds(&p->known.v[c->row[k]], s->gen))
			c->row[k] = NONE;
	}
}

static int stage_open(struct resume_plan *p, const struct gen_resource *r, struct source *s)
{
	size_t types = s->gen->instance_types.n, subnets = s->gen->subnet_ids.n;
	bool named = types && subnets;

	s->refused = NONE;
	s->n_choice = named ? types * subnets : 1;
	s->choice = calloc(s->n_choice, sizeof(*s->choice));
	if (!s->choice)
		return -1;
	for (size_t i = 0; i < s->n_choice; i++) {
		struct choice *c = &s->choice[i];

		*c = (struct choice){.row = {NONE, NONE}};
		if (!named)
			continue;
		c->at = (struct resume_choice){.type = i / subnets, .subnet = i % subnets};
		choice_open(p, r, s, c);
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
		if (stage_open(p, res, &r->source[i]))
			return -1;
	}
	return 0;
}

void resume_source_close(struct pool *r)
{
	for (size_t i = 0; i < r->n_source; i++) {
		free(r->source[i].choice);
		free(r->source[i].list);
	}
	free(r->source);
}

/* --- rows of the memory */

static int row_grow(struct resume_plan *p)
{
	return mem_grow(&p->gate, &p->cap_gate, p->known.n + 1, sizeof(*p->gate)) ||
			       mem_grow(&p->told->v, &p->told->cap, p->known.n + 1, sizeof(*p->told->v))
		       ? -1
		       : 0;
}

size_t resume_source_row(struct resume_plan *p, const char *type, const char *zone, const char *market, bool make)
{
	struct shortage *s = shortages_find(&p->known, type, zone, market);

	if (!s && make) {
		s = row_grow(p) ? NULL : shortages_add(&p->known, type, zone, market);
		if (!s)
			p->nomem = true;
		else
			p->gate[p->known.n - 1] = (struct gate){.state = GATE_OPEN};
	}
	return s ? (size_t)(s - p->known.v) : NONE;
}

static struct room room_of(int64_t allowed)
{
	if (allowed == CAPACITY_UNLIMITED)
		return (struct room){GIVE_ALL, 0};
	if (allowed < 0)
		return (struct room){GIVE_PROBE, 0};
	return (struct room){allowed ? GIVE_SOME : GIVE_NOTHING, allowed};
}

static struct room row_room(const struct resume_plan *p, size_t row, int64_t now_ms)
{
	const struct shortage *s = row == NONE ? NULL : &p->known.v[row];
	const struct gate *g = row == NONE ? NULL : &p->gate[row];

	if (!s || g->state == GATE_OPEN)
		return (struct room){GIVE_ALL, 0};
	if (g->state == GATE_SHUT)
		return (struct room){GIVE_NOTHING, 0};
	if (g->state == GATE_PROBED)
		return (struct room){GIVE_WAIT, 0};
	if (g->state == GATE_BUDGET && !g->in_flight)
		return (struct room){GIVE_SOME, s->budget};
	if (g->state == GATE_BUDGET)
		return (struct room){s->budget > g->in_flight ? GIVE_SOME : GIVE_WAIT, s->budget - g->in_flight};
	if (p->in->rule.limit_ms > 0 && capacity_stale(s, &p->in->rule, now_ms))
		return (struct room){GIVE_ALL, 0};
	return room_of(capacity_allowed(s, now_ms));
}

static struct room choice_room(const struct resume_plan *p, const struct choice *c, int64_t now_ms)
{
	struct room a, b;

	if (c->spent)
		return (struct room){GIVE_NOTHING, 0};
	a = row_room(p, c->row[0], now_ms);
	b = row_room(p, c->row[1], now_ms);
	if (a.give != b.give)
		return a.give < b.give ? a : b;
	return a.n < b.n ? a : b;
}

/* --- a stage */

/* Its pauses, its time limit, and its best choice. */
static struct room stage_room(const struct resume_plan *p, struct source *s, int64_t now_ms)
{
	struct room best = {GIVE_NOTHING, 0};

	if (s->shorts && (p->hurry || now_ms >= s->first_ms + s->gen->time_limit_s * 1000)) {
		s->shorts = 0;
		s->refused = 1;
	}
	if (s->refused <= 1)
		return best;
	if (!p->hurry && now_ms < s->wake_ms)
		return (struct room){GIVE_WAIT, 0};
	for (size_t i = 0; i < s->n_choice && best.give != GIVE_ALL; i++) {
		struct room r = choice_room(p, &s->choice[i], now_ms);

		if (r.give > best.give || (r.give == best.give && r.n > best.n))
			best = r;
	}
	return best;
}

/* Choices as good as the stage's best; where that is open, also one whose budget has room for all n. */
static void mark_choices(const struct resume_plan *p, struct source *s, struct room best, size_t n, int64_t now_ms)
{
	for (size_t i = 0; i < s->n_choice; i++) {
		struct room r = choice_room(p, &s->choice[i], now_ms);

		s->choice[i].use = r.give == best.give && r.n >= best.n;
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

static bool later_gives(const struct resume_plan *p, struct pool *r, size_t stage, int64_t now_ms)
{
	for (size_t i = stage + 1; i < r->n_source; i++)
		if (stage_room(p, &r->source[i], now_ms).give != GIVE_NOTHING)
			return true;
	return false;
}

struct room resume_source_room(struct resume_plan *p, struct pool *r, size_t stage, size_t n, int64_t now_ms)
{
	struct source *s = &r->source[stage];
	struct room best = stage_room(p, s, now_ms);

	if (best.give <= GIVE_WAIT)
		return best;
	mark_choices(p, s, best, n, now_ms);
	s->whole = p->in->strategy == SCALING_ALL_OR_NOTHING && has_minimum(s) && !later_gives(p, r, stage, now_ms);
	if (s->refused <= (s->whole ? n : 1))
		return (struct room){GIVE_NOTHING, 0};
	return best;
}

bool resume_source_any(struct resume_plan *p, struct pool *r, size_t n, int64_t now_ms)
{
	for (size_t i = 0; i < r->n_source; i++)
		if (resume_source_room(p, r, i, n, now_ms).give != GIVE_NOTHING)
			return true;
	return false;
}

const char *resume_source_code(struct resume_plan *p, const struct source *s)
{
	const char *code = s->code;

	for (size_t i = 0; i < s->n_choice; i++) {
		for (size_t k = 0; k < 2; k++) {
			size_t row = s->choice[i].row[k];

			if (row != NONE && p->known.v[row].failures)
				code = capacity_code_worse(code, resume_code(p, p->known.v[row].code));
		}
	}
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
	if (step->pub.probe)
		g->state = GATE_PROBED;
	else if (g->state == GATE_MEMORY)
		g->state = row_room(p, row, now_ms).give == GIVE_SOME ? GATE_BUDGET : GATE_OPEN;
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
		for (size_t k = 0; k < 2; k++)
			if (c->row[k] != NONE)
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
		if (!step->pub.probe)
			continue;
		if (end == PROBE_REFUSED)
			g->state = GATE_SHUT;
		else if (g->state == GATE_PROBED)
			g->state = GATE_MEMORY;
	}
}
