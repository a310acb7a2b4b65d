/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume_answer.c - what an answer means: machines for its nodes, and for a shortage whether to wait, to try elsewhere or to
 * give up. What it says of an offering goes to the capacity memory. */
#include "lib/plan/resume_state.h"

#include "lib/plan/capacity.h"

#include <stdlib.h>

/* Pauses before the same stage is asked again. */
#define SHORT_FIRST_MS 2000  /* within a time limit, for want of capacity */
#define SHORT_LIMIT_MS 15000
#define LATER_FIRST_MS 1000  /* throttled */
#define LATER_LIMIT_MS 20000

struct taken {              /* one answer being taken */
	struct resume_plan *p;
	struct step *step;
	struct source *source;
	const struct resume_answer *answer;
	size_t open;        /* nodes of the call still to be served */
	size_t served;      /* of them, with a machine */
	enum resume_short why;
	int64_t now_ms;
};

/* --- machines */

static int add_machine(struct resume_plan *p, const struct step *s, const struct instance *i)
{
	struct pool *r = &p->pool[s->pub.resource];
	struct machine *m;

	if (mem_grow(&p->machine, &p->cap_machine, p->n_machine + 1, sizeof(*p->machine)) ||
	    mem_grow(&r->machine, &r->cap, r->n + 1, sizeof(*r->machine)))
		return -1;
	m = &p->machine[p->n_machine];
	*m = (struct machine){.id = str_dup(i->id), .ip = str_dup(i->private_ip), .step = s->pub.id};
	if (!m->id || (i->private_ip && !m->ip)) {
		free(m->id);
		free(m->ip);
		return -1;
	}
	p->n_machine++;
	if (i->state != INSTANCE_UNKNOWN && !instance_alive(i->state)) {
		m->state = MACHINE_SCRAP;
		return 0;
	}
	r->machine[r->n++] = p->n_machine - 1;
	r->spare++;
	return 0;
}

/* Machines since `first` to the open nodes of the call in order. */
static void hint(struct taken *t, size_t first)
{
	struct resume_plan *p = t->p;
	size_t m = first;

	for (size_t i = 0; i < t->step->nodes.n; i++) {
		struct want *w = &p->want[t->step->want[i]];

		if (w->state != NODE_OPEN)
			continue;
		t->open++;
		while (m < p->n_machine && p->machine[m].state != MACHINE_SPARE)
			m++;
		w->hint = m < p->n_machine ? m++ : NONE;
		t->served += w->hint != NONE;
	}
}

/* --- what is learned of offerings */

static const char *type_of(const struct taken *t, const struct resume_choice *c)
{
	return c->type < t->source->gen->instance_types.n ? t->source->gen->instance_types.v[c->type] : NULL;
}

static const char *subnet_of(const struct taken *t, const struct resume_choice *c)
{
	return c->subnet < t->source->gen->subnet_ids.n ? t->source->gen->subnet_ids.v[c->subnet] : NULL;
}

static const char *market_of(const struct taken *t)
{
	return capacity_market(&t->p->in->gen->resources[t->step->pub.resource], t->source->gen);
}

/* The choice a machine came from; NULL = cannot be told. */
static const struct resume_choice *choice_of(const struct taken *t, const struct instance *i)
{
	const struct resume_step *s = &t->step->pub;

	for (size_t k = 0; k < s->n_choices && s->n_choices > 1; k++) {
		const struct resume_choice *c = &s->choices[k];
		bool here = i->subnet_id ? str_eq(i->subnet_id, subnet_of(t, c))
					 : str_eq(i->zone, resume_source_zone(t->source->gen, c->subnet));

		if (here && str_eq(i->type, type_of(t, c)))
			return c;
	}
	return s->n_choices == 1 ? s->choices : NULL;
}

static void count_came(const struct taken *t, const struct resume_choice *c)
{
	const char *zones[] = {resume_source_zone(t->source->gen, c->subnet), ZONE_ANY};

	for (size_t k = 0; k < 2; k++) {
		size_t row = resume_source_row(t->p, type_of(t, c), zones[k], market_of(t), false);

		if (row != NONE)
			t->p->gate[row].came++;
	}
}

static void learn_came(struct taken *t)
{
	const struct instances *got = t->answer->got;
	struct resume_plan *p = t->p;

	for (size_t i = 0; got && p->known.n && i < got->n; i++) {
		const struct resume_choice *c = choice_of(t, &got->v[i]);

		if (c && (got->v[i].state == INSTANCE_UNKNOWN || instance_alive(got->v[i].state)))
			count_came(t, c);
	}
	for (size_t i = 0; i < p->known.n; i++) {
		struct shortage *s = &p->known.v[i];
		struct gate *g = &p->gate[i];

		if (g->came && s->failures) {
			g->changed = true;
			g->refused = false;
			if (capacity_came(s, g->came, t->now_ms))
				g->state = GATE_OPEN;
			else if (g->state == GATE_PROBED || g->state == GATE_MEMORY)
				g->state = GATE_BUDGET;
		}
		g->came = 0;
	}
}

/* Refusals of one run in a row count once: they were all decided on the same knowledge. */
static void learn_refusal(struct taken *t, const struct resume_choice *c, const char *code, const char *message)
{
	struct resume_plan *p = t->p;
	const char *zone = capacity_code_is_quota(code) ? ZONE_ANY : resume_source_zone(t->source->gen, c->subnet);
	size_t row;
	struct gate *g;

	if (!capacity_code_remembered(code) || !type_of(t, c))
		return;
	row = resume_source_row(p, type_of(t, c), zone, market_of(t), true);
	if (row == NONE)
		return;
	g = &p->gate[row];
	if (g->refused && p->known.v[row].failures > 0)
		p->known.v[row].failures--;
	if (capacity_refused(&p->known.v[row], &p->in->rule, code, message, t->now_ms, resume_chance(p)))
		p->nomem = true;
	g->refused = g->changed = true;
}

static struct choice *choice_at(const struct taken *t, const struct resume_choice *c)
{
	for (size_t i = 0; i < t->source->n_choice; i++)
		if (t->source->choice[i].at.type == c->type && t->source->choice[i].at.subnet == c->subnet)
			return &t->source->choice[i];
	return NULL;
}

/* spent: EC2 gave what it had, so that a smaller call gets no more of it. */
static void learn_named(struct taken *t, const struct resume_refusal *r, bool spent)
{
	const struct resume_step *s = &t->step->pub;
	const char *code = r->code ? r->code : CODE_INSUFFICIENT;

	for (size_t k = 0; k < s->n_choices; k++) {
		const struct resume_choice *c = &s->choices[k];
		struct choice *own = choice_at(t, c);

		if ((r->type && !str_eq(r->type, type_of(t, c))) || (r->subnet_id && !str_eq(r->subnet_id, subnet_of(t, c))))
			continue;
		learn_refusal(t, c, code, r->message);
		if (own && capacity_code_remembered(code) && (spent || !capacity_code_depends_on_size(code)))
			own->spent = true;
	}
}

static void learn_refused(struct taken *t, bool spent)
{
	const struct resume_answer *a = t->answer;
	struct resume_refusal all = {.code = a->code};

	for (size_t i = 0; i < a->n_refused; i++)
		learn_named(t, &a->refused[i], spent);
	if (!a->n_refused && t->served < t->open && (!a->got || a->got->n < t->open))
		learn_named(t, &all, false);
}

/* --- fewer came than asked */

static int64_t pause_ms(struct resume_plan *p, int64_t first, int64_t limit, int n)
{
	int64_t d = first;

	for (int i = 1; i < n && d < limit; i++)
		d *= 2;
	d = d < limit ? d : limit;
	return d / 2 + (int64_t)((double)(d - d / 2) * resume_chance(p));
}

/* The worst that EC2 said; NULL = nothing. */
static const char *said(const struct taken *t)
{
	const char *code = t->answer->code;

	for (size_t i = 0; i < t->answer->n_refused; i++)
		code = capacity_code_worse(code, t->answer->refused[i].code);
	return resume_code(t->p, code);
}

static void short_later(struct taken *t)
{
	struct source *s = t->source;

	if (t->now_ms >= s->wake_ms) /* else another call of this round began the pause */
		s->wake_ms = t->now_ms + pause_ms(t->p, LATER_FIRST_MS, LATER_LIMIT_MS, ++s->laters);
}

static void short_fatal(struct taken *t)
{
	const char *code = resume_code(t->p, t->answer->code ? t->answer->code : CODE_INSUFFICIENT);

	t->source->code = capacity_code_worse(t->source->code, code);
	for (size_t i = 0; i < t->step->nodes.n; i++) {
		struct want *w = &t->p->want[t->step->want[i]];

		if (w->state != NODE_OPEN || w->hint != NONE)
			continue;
		w->state = NODE_DEAD;
		w->code = capacity_code_worse(code, w->code);
	}
}

/* Within the stage's time limit it is asked again, unless no waiting helps. */
static bool try_again(struct taken *t, const char *code)
{
	const struct step *step = t->step;
	struct source *s = t->source;
	int64_t end = s->first_ms + s->gen->time_limit_s * 1000;

	if (t->p->hurry || step->pub.probe || s->gen->time_limit_s <= 0 || t->now_ms >= end ||
	    step->pub.stage + 1 == t->p->pool[step->pub.resource].n_source || (code && !capacity_code_depends_on_size(code)))
		return false;
	if (t->now_ms >= s->wake_ms)
		s->wake_ms = t->now_ms + pause_ms(t->p, SHORT_FIRST_MS, SHORT_LIMIT_MS, ++s->shorts);
	if (s->wake_ms > end)
		s->wake_ms = end;
	return true;
}

static void short_capacity(struct taken *t)
{
	struct source *s = t->source;
	const char *code = said(t);
	size_t refused = !t->served && (size_t)t->step->pub.min_count >= t->open ? t->open : 1;
	bool again = try_again(t, code);

	s->code = capacity_code_worse(s->code, code);
	if (!again) {
		if (!t->answer->n_refused && code && !capacity_code_depends_on_size(code))
			refused = 1;
		s->refused = refused < s->refused ? refused : s->refused;
	}
	learn_refused(t, !again && refused == 1);
	for (size_t i = 0; i < t->step->nodes.n; i++) {
		struct want *w = &t->p->want[t->step->want[i]];

		if (w->state != NODE_OPEN || w->hint != NONE)
			continue;
		resume_say(w, code);
		w->stage += !again;
	}
}

static enum resume_short why(const struct resume_answer *a)
{
	if (a->why == SHORT_CAPACITY && a->code && !capacity_code_remembered(a->code))
		return SHORT_FATAL;
	return a->why;
}

static enum probe_end take_short(struct taken *t)
{
	if (t->why == SHORT_LATER) {
		for (size_t i = 0; i < t->answer->n_refused; i++)
			learn_named(t, &t->answer->refused[i], true); /* the others are asked again without it */
		short_later(t);
		return PROBE_AGAIN;
	}
	t->source->laters = 0;
	if (t->why == SHORT_FATAL)
		short_fatal(t);
	else
		short_capacity(t);
	return PROBE_REFUSED;
}

static enum probe_end take_full(struct taken *t)
{
	t->source->laters = t->source->shorts = 0;
	learn_refused(t, true);
	return PROBE_CAME;
}

/* --- from outside */

static struct step *open_step(struct resume_plan *p, size_t step)
{
	struct step *s = step < p->sent ? p->steps[step] : NULL;

	if (!s || s->answered)
		return NULL;
	s->answered = true;
	p->waiting--;
	p->pool[s->pub.resource].in_flight--;
	p->stale = true;
	return s;
}

int resume_plan_answer(struct resume_plan *p, size_t step, const struct resume_answer *a, int64_t now_ms)
{
	struct step *s = open_step(p, step);
	struct taken t = {.p = p, .step = s, .answer = a, .why = why(a), .now_ms = now_ms};
	size_t first = p->n_machine;
	enum probe_end end;

	if (!s)
		return -1;
	t.source = &p->pool[s->pub.resource].source[s->pub.stage];
	for (size_t i = 0; a->got && i < a->got->n && !p->nomem; i++)
		p->nomem = add_machine(p, s, &a->got->v[i]);
	hint(&t, first);
	learn_came(&t);
	end = t.served < t.open ? take_short(&t) : take_full(&t);
	resume_source_release(p, s, end);
	return p->nomem ? -1 : 0;
}

int resume_plan_leave(struct resume_plan *p, size_t step)
{
	struct step *s = open_step(p, step);

	if (!s)
		return -1;
	for (size_t i = 0; i < s->nodes.n; i++)
		if (p->want[s->want[i]].state == NODE_OPEN)
			p->want[s->want[i]].state = NODE_KEPT;
	resume_source_release(p, s, PROBE_REFUSED);
	return 0;
}

void resume_plan_taken(struct resume_plan *p, const char *node)
{
	size_t w = nodeset_index(p->names, node);

	if (w != NONE && p->want[w].state == NODE_OPEN)
		p->want[w].state = NODE_KEPT;
	p->stale = true;
}

void resume_plan_hurry(struct resume_plan *p)
{
	p->hurry = p->stale = true;
}
