/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume_answer.c - what an answer means: machines for its nodes, and for a shortage whether to wait, to try elsewhere or to
 * give up. What it says of an offering goes to the capacity memory. */
#include "lib/plan/resume_state.h"

#include "lib/plan/capacity.h"

#include <stdlib.h>

/* Pauses after throttling. */
#define LATER_FIRST_MS 1000
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

static const struct choice *choice_at(const struct taken *t, const struct resume_choice *c)
{
	for (size_t i = 0; i < t->source->n_choice; i++)
		if (t->source->choice[i].at.type == c->type && t->source->choice[i].at.subnet == c->subnet)
			return &t->source->choice[i];
	return NULL;
}

static bool in_subnet(const struct taken *t, const struct instance *i, const struct resume_choice *c)
{
	const struct strs *zones = &t->source->gen->zones;

	if (i->subnet_id)
		return str_eq(i->subnet_id, subnet_of(t, c));
	return c->subnet < zones->n && str_eq(i->zone, zones->v[c->subnet]);
}

/* The choice a machine came from; NULL = cannot be told. */
static const struct choice *choice_of(const struct taken *t, const struct instance *i)
{
	const struct resume_step *s = &t->step->pub;

	if (s->n_choices == 1)
		return choice_at(t, s->choices);
	for (size_t k = 0; k < s->n_choices; k++)
		if (str_eq(i->type, type_of(t, &s->choices[k])) && in_subnet(t, i, &s->choices[k]))
			return choice_at(t, &s->choices[k]);
	return NULL;
}

static void learn_came(struct taken *t)
{
	const struct instances *got = t->answer->got;
	struct resume_plan *p = t->p;

	for (size_t i = 0; got && p->known.n && i < got->n; i++) {
		const struct choice *c = choice_of(t, &got->v[i]);
		bool alive = got->v[i].state == INSTANCE_UNKNOWN || instance_alive(got->v[i].state);

		for (size_t k = 0; c && alive && k < c->n_row; k++)
			p->gate[c->row[k]].came++;
	}
	if (p->known.n)
		resume_memory_came(p, t->now_ms);
	for (size_t i = 0; i < t->source->n_choice; i++)
		for (size_t k = 0; k < t->source->choice[i].n_row; k++)
			p->gate[t->source->choice[i].row[k]].came = 0;
}

static bool names(const struct taken *t, const struct resume_refusal *r, const struct resume_choice *c)
{
	return (!r->type || str_eq(r->type, type_of(t, c))) && (!r->subnet_id || str_eq(r->subnet_id, subnet_of(t, c)));
}

/* In this run the stage does not ask it for n or more. */
static void close_for(struct taken *t, const struct choice *c, size_t k, size_t n)
{
	struct met *m = &t->source->met[c->met[k]];

	m->refused = n < m->refused ? n : m->refused;
	m->at_ms = t->now_ms;
}

/* EC2 refused a choice. */
static void learn_code(struct taken *t, const struct choice *c, const char *code, const char *message, size_t n)
{
	size_t k = capacity_code_is_quota(code) ? c->n_row - 1 : 0;

	if (!capacity_code_remembered(code))
		return;
	close_for(t, c, k, capacity_code_depends_on_size(code) ? n : 0);
	resume_memory_refused(t->p, c->row[k], code, message, t->now_ms);
}

/* What is said of the choices of the call that gave less than n. Those that are not named gave less too, but EC2 did not say
 * that they are short: that is good for this run and not for the memory. */
static void learn_refused(struct taken *t, size_t n)
{
	const struct resume_answer *a = t->answer;
	const struct resume_step *s = &t->step->pub;
	bool missed = t->served < t->open && t->why == SHORT_CAPACITY;
	bool came = a->got && a->got->n >= t->open; /* but not alive */

	for (size_t k = 0; k < s->n_choices; k++) {
		const struct choice *c = choice_at(t, &s->choices[k]);
		bool named = false;

		for (size_t i = 0; i < a->n_refused; i++) {
			const char *code = a->refused[i].code ? a->refused[i].code : CODE_INSUFFICIENT;

			if (!names(t, &a->refused[i], &s->choices[k]))
				continue;
			named = true;
			learn_code(t, c, code, a->refused[i].message, n);
		}
		if (missed && !a->n_refused && !came)
			learn_code(t, c, a->code ? a->code : CODE_INSUFFICIENT, NULL, n);
		if (missed && !named)
			close_for(t, c, 0, n);
	}
}

/* --- fewer came than asked */

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
		s->wake_ms = t->now_ms + resume_pause(t->p, LATER_FIRST_MS, LATER_LIMIT_MS, ++s->laters);
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

/* The least number that was refused. What refused a probe is not tried again in this run. */
static size_t refused_size(const struct taken *t)
{
	bool whole = t->step->pub.min_count > 1 && !t->served && !t->step->pub.probe;

	return whole ? t->open : 1;
}

/* The choices close at this size; resume_ask.c sees what else there is for the nodes. */
static void short_capacity(struct taken *t)
{
	const char *code = said(t);

	t->source->code = capacity_code_worse(t->source->code, code);
	learn_refused(t, refused_size(t));
	for (size_t i = 0; i < t->step->nodes.n; i++) {
		struct want *w = &t->p->want[t->step->want[i]];

		if (w->state == NODE_OPEN && w->hint == NONE)
			resume_say(w, code);
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
		learn_refused(t, 1); /* the others are asked again without it */
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
	learn_refused(t, 1);
	return PROBE_CAME;
}

/* --- from outside */

static struct step *open_step(struct resume_plan *p, size_t step)
{
	struct step *s = step < p->sent ? p->steps[step] : NULL;

	if (!s || s->answered)
		return NULL;
	s->answered = true;
	for (size_t i = 0; i < s->nodes.n; i++)
		p->want[s->want[i]].flying = false;
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
