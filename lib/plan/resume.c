/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume.c - a resume plan from the outside: the request taken in, calls handed out, answers taken, the result. lib/apply
 * makes the calls. Who gets what is decided in resume_serve.c. */
#include "lib/plan/resume_state.h"

#include "lib/base/err.h"
#include "lib/node/name.h"
#include "lib/plan/capacity.h"

#include <stdlib.h>
#include <string.h>

/* --- create: names to wants, jobs in order */

/* The want of a node, made at first sight; NONE on no memory. */
static size_t want_of(struct resume_plan *p, const struct nodeset *live, const char *name)
{
	int added = nodeset_add(p->names, name);
	size_t i = added < 0 ? NONE : nodeset_index(p->names, name);
	struct node_name at;
	struct want *w;

	if (added <= 0)
		return i;
	if (mem_grow(&p->want, &p->cap_want, i + 1, sizeof(*p->want)))
		return NONE;
	w = &p->want[i];
	*w = (struct want){ .resource = NONE, .hint = NONE, .machine = NONE, .step = NONE };
	if (nodeset_has(live, name)) {
		w->state = NODE_KEPT;
	} else if (node_name_resolve(p->in->gen, name, &at)) {
		w->state = NODE_DEAD;
		w->code = str_dup(CODE_INVALID_NAME);
		return w->code ? i : NONE;
	} else {
		w->resource = at.resource;
	}
	return i;
}

/* A name twice in one job counts once: each job is a round of its own here. */
static void add_wants(struct resume_plan *p, struct job *j, const struct nodeset *live, const struct strs *names)
{
	p->round++;
	for (size_t i = 0; i < names->n && !p->nomem; i++) {
		size_t w = want_of(p, live, names->v[i]);

		if (w == NONE) {
			p->nomem = true;
		} else if (p->want[w].round != p->round) {
			p->want[w].round = p->round;
			resume_push(p, &j->want, &j->n, &j->cap, w);
		}
	}
}

static int by_priority(const void *a, const void *b)
{
	const struct job *x = a, *y = b;

	if (x->src->priority != y->src->priority)
		return x->src->priority > y->src->priority ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void add_jobs(struct resume_plan *p, const struct nodeset *live)
{
	const struct resume_request *r = p->in->request;

	p->n_jobs = r->n_jobs;
	for (size_t i = 0; i < r->n_jobs; i++)
		p->jobs[i] = (struct job){ .src = &r->jobs[i], .order = i };
	qsort(p->jobs, p->n_jobs, sizeof(*p->jobs), by_priority);
	for (size_t i = 0; i < p->n_jobs; i++)
		add_wants(p, &p->jobs[i], live, &p->jobs[i].src->nodes);
	for (size_t i = 0; i < r->nodes.n && !p->nomem; i++)
		if (!nodeset_has(p->names, r->nodes.v[i]))
			resume_push(p, &p->rest.want, &p->rest.n, &p->rest.cap, want_of(p, live, r->nodes.v[i]));
}

static struct nodeset *live_set(const struct strs *live)
{
	struct nodeset *s = nodeset_create();

	for (size_t i = 0; s && live && i < live->n; i++)
		if (nodeset_add(s, live->v[i]) < 0) {
			nodeset_destroy(s);
			return NULL;
		}
	return s;
}

static int make_tables(struct resume_plan *p)
{
	size_t n = p->in->gen->n_resources;

	p->names = nodeset_create();
	p->pool = calloc(n + 1, sizeof(*p->pool));
	p->touched = calloc(n + 1, sizeof(*p->touched));
	p->jobs = calloc(p->in->request->n_jobs + 1, sizeof(*p->jobs));
	if (!p->names || !p->pool || !p->touched || !p->jobs)
		return -1;
	for (size_t i = 0; i < n; i++)
		p->pool[i].refused = NONE;
	return 0;
}

struct resume_plan *resume_plan_create(const struct resume_input *in, struct err *e)
{
	struct resume_plan *p = calloc(1, sizeof(*p));
	struct nodeset *live = live_set(in->live);

	if (p)
		p->in = in;
	if (p && live && !make_tables(p))
		add_jobs(p, live);
	if (!p || !live || !p->pool || !p->jobs || !p->touched || !p->names || p->nomem) {
		resume_plan_destroy(p);
		p = NULL;
		err_nomem(e);
	}
	nodeset_destroy(live);
	return p;
}

void resume_plan_destroy(struct resume_plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; p->names && i < nodeset_count(p->names) && i < p->cap_want; i++)
		free(p->want[i].code);
	for (size_t i = 0; i < p->n_machine; i++) {
		free(p->machine[i].id);
		free(p->machine[i].ip);
	}
	for (size_t i = 0; i < p->n_steps; i++)
		resume_step_destroy(p->steps[i]);
	for (size_t i = 0; i < p->n_jobs; i++)
		free(p->jobs[i].want);
	for (size_t i = 0; p->pool && i < p->in->gen->n_resources; i++) {
		free(p->pool[i].machine);
		free(p->pool[i].list);
	}
	nodeset_destroy(p->names);
	free(p->want);
	free(p->machine);
	free(p->pool);
	free(p->touched);
	free(p->listed);
	free(p->jobs);
	free(p->rest.want);
	free(p->steps);
	free(p->bind);
	free(p->fail);
	free(p->surplus);
	free(p);
}

size_t resume_plan_next(struct resume_plan *p, int64_t now_ms, struct resume_step *steps, size_t max, int64_t *wake_ms)
{
	size_t n = 0;

	(void)now_ms;
	*wake_ms = 0;

	if (!p->waiting)
		resume_advance(p);
	while (!p->nomem && n < max && p->sent < p->n_steps)
		steps[n++] = p->steps[p->sent++]->pub;
	p->waiting += n;
	return n;
}

/* --- answers */

static int add_machine(struct resume_plan *p, const struct step *s, const struct instance *i)
{
	struct pool *r = &p->pool[s->pub.resource];
	struct machine *m;

	if (mem_grow(&p->machine, &p->cap_machine, p->n_machine + 1, sizeof(*p->machine)) ||
	    mem_grow(&r->machine, &r->cap, r->n + 1, sizeof(*r->machine)))
		return -1;
	m = &p->machine[p->n_machine];
	*m = (struct machine){ .id = str_dup(i->id), .ip = str_dup(i->private_ip), .step = s->pub.id };
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

/* Machines since `first` to the open nodes of the call in order; the number of open nodes goes to *open, of those with a
 * machine to *served. */
static void hint(struct resume_plan *p, struct step *s, size_t first, size_t *open, size_t *served)
{
	size_t m = first;

	*open = *served = 0;
	for (size_t i = 0; i < s->nodes.n; i++) {
		struct want *w = &p->want[s->want[i]];

		if (w->state != NODE_OPEN)
			continue;
		++*open;
		while (m < p->n_machine && p->machine[m].state != MACHINE_SPARE)
			m++;
		w->hint = m < p->n_machine ? m++ : NONE;
		*served += w->hint != NONE;
	}
}

/* Fewer came than asked. */
static int note_short(struct resume_plan *p, struct step *s, size_t open, size_t served, const char *code)
{
	struct pool *r = &p->pool[s->pub.resource];
	size_t refused = !served && (size_t)s->pub.min_count >= open ? open : 1;

	s->code = str_dup(code);
	if (code && !s->code)
		return -1;
	if (!code || capacity_code_depends_on_size(code)) {
		r->refused = refused < r->refused ? refused : r->refused;
		return 0;
	}
	for (size_t i = 0; i < s->nodes.n; i++) {
		struct want *w = &p->want[s->want[i]];

		if (w->state != NODE_OPEN || w->hint != NONE)
			continue;
		w->state = NODE_DEAD;
		free(w->code);
		w->code = str_dup(code);
		if (!w->code)
			return -1;
	}
	return 0;
}

static struct step *open_step(struct resume_plan *p, size_t step)
{
	struct step *s = step < p->sent ? p->steps[step] : NULL;

	if (!s || s->answered)
		return NULL;
	s->answered = true;
	p->waiting--;
	return s;
}

void resume_plan_hurry(struct resume_plan *p)
{
	(void)p;
}

const struct shortages *resume_plan_shortages(const struct resume_plan *p, size_t *changed)
{
	static const struct shortages none;

	(void)p;
	*changed = 0;
	return &none;
}

int resume_plan_answer(struct resume_plan *p, size_t step, const struct resume_answer *a, int64_t now_ms)
{
	const struct instances *got = a->got;
	const char *code = a->code;
	struct step *s = open_step(p, step);
	size_t first = p->n_machine, open, served;

	(void)now_ms;
	if (!s)
		return -1;
	for (size_t i = 0; got && i < got->n && !p->nomem; i++)
		p->nomem = add_machine(p, s, &got->v[i]);
	hint(p, s, first, &open, &served);
	if (served < open && note_short(p, s, open, served, code))
		p->nomem = true;
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
	return 0;
}

void resume_plan_taken(struct resume_plan *p, const char *node)
{
	size_t w = nodeset_index(p->names, node);

	if (w != NONE && p->want[w].state == NODE_OPEN)
		p->want[w].state = NODE_KEPT;
}

/* --- result */

const struct resume_result *resume_plan_result(struct resume_plan *p, struct err *e)
{
	size_t n = nodeset_count(p->names);
	struct resume_result *r = &p->result;

	p->bind = calloc(n + 1, sizeof(*p->bind));
	p->fail = calloc(n + 1, sizeof(*p->fail));
	p->surplus = calloc(p->n_machine + 1, sizeof(*p->surplus));
	if (p->nomem || !p->bind || !p->fail || !p->surplus) {
		err_nomem(e);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		const struct want *w = &p->want[i];
		const char *name = nodeset_get(p->names, i);

		if (w->state == NODE_BOUND)
			p->bind[r->n_bind++] = (struct resume_bind){ .node = name,
								     .instance = p->machine[w->machine].id,
								     .ip = p->machine[w->machine].ip,
								     .step = p->machine[w->machine].step };
		else if (w->state != NODE_KEPT && w->code)
			p->fail[r->n_fail++] = (struct resume_fail){ .node = name, .code = w->code };
	}
	for (size_t i = 0; i < p->n_machine; i++)
		if (p->machine[i].state != MACHINE_USED)
			p->surplus[r->n_surplus++] = p->machine[i].id;
	r->bind = p->bind;
	r->fail = p->fail;
	r->surplus = p->surplus;
	return r;
}
