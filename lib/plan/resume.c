/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume.c - a resume plan from the outside: the request taken in, calls handed out, the result. lib/apply makes the calls. Who
 * gets what is decided in resume_serve.c. */
#include "lib/plan/resume_state.h"

#include "lib/base/err.h"
#include "lib/base/num.h"
#include "lib/node/name.h"
#include "lib/plan/capacity.h"
#include "lib/plan/protect.h"

#include <stdlib.h>

void resume_push(struct resume_plan *p, size_t **v, size_t *n, size_t *cap, size_t value)
{
	if (mem_grow(v, cap, *n + 1, sizeof(**v))) {
		p->nomem = true;
		return;
	}
	(*v)[(*n)++] = value;
}

const char *resume_code(struct resume_plan *p, const char *code)
{
	for (size_t i = 0; code && i < p->codes.n; i++)
		if (str_eq(p->codes.v[i], code))
			return p->codes.v[i];
	if (!code)
		return NULL;
	if (strs_add(&p->codes, code)) {
		p->nomem = true;
		return NULL;
	}
	return p->codes.v[p->codes.n - 1];
}

double resume_chance(struct resume_plan *p) /* splitmix64 */
{
	uint64_t z = p->chance += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0; /* 2^53 */
}

int64_t resume_pause(struct resume_plan *p, int64_t first_ms, int64_t limit_ms, int n)
{
	int64_t d = first_ms;

	for (int i = 1; i < n && d < limit_ms; i++)
		d *= 2;
	d = d < limit_ms ? d : limit_ms;
	return d / 2 + (int64_t)((double)(d - d / 2) * resume_chance(p));
}

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
	*w = (struct want){.resource = NONE, .hint = NONE, .machine = NONE};
	if (nodeset_has(live, name)) {
		w->state = NODE_KEPT;
	} else if (node_name_resolve(p->in->gen, name, &at)) {
		w->state = NODE_DEAD;
		w->code = CODE_INVALID_NAME;
	} else if (p->in->barred && nodeset_has(p->in->barred, name)) {
		w->state = NODE_DEAD;
		w->code = CODE_PROTECTED;
	} else {
		w->resource = at.resource;
		if (resume_source_open(p, at.resource))
			return NONE;
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

/* Nodes without a job: a job of their own for each resource, and one for what is of no resource. */
static void add_rest(struct resume_plan *p, const struct nodeset *live)
{
	const struct strs *names = &p->in->request->nodes;
	size_t n_res = p->in->gen->n_resources;

	for (size_t i = 0; i < names->n && !p->nomem; i++) {
		size_t w, *at;
		struct job *j;

		if (nodeset_has(p->names, names->v[i]))
			continue;
		w = want_of(p, live, names->v[i]);
		if (w == NONE) {
			p->nomem = true;
			return;
		}
		at = &p->pool[p->want[w].resource == NONE ? n_res : p->want[w].resource].rest;
		if (!*at)
			*at = ++p->n_jobs;
		j = &p->jobs[*at - 1];
		resume_push(p, &j->want, &j->n, &j->cap, w);
	}
}

static void add_jobs(struct resume_plan *p, const struct nodeset *live)
{
	const struct resume_request *r = p->in->request;

	p->n_jobs = r->n_jobs;
	for (size_t i = 0; i < r->n_jobs; i++)
		p->jobs[i] = (struct job){.src = &r->jobs[i], .order = i};
	qsort(p->jobs, p->n_jobs, sizeof(*p->jobs), by_priority);
	for (size_t i = 0; i < p->n_jobs; i++)
		add_wants(p, &p->jobs[i], live, &p->jobs[i].src->nodes);
	add_rest(p, live);
}

/* Where an earlier run was with a node. */
static void set_first_stages(struct resume_plan *p)
{
	const struct kvs *l = p->in->first_stage;

	for (size_t i = 0; l && i < l->key.n; i++) {
		size_t w = nodeset_index(p->names, l->key.v[i]), last;
		int64_t stage;

		if (w == NONE || p->want[w].resource == NONE || num_i64(l->val.v[i], 0, INT32_MAX, &stage, NULL))
			continue;
		last = p->pool[p->want[w].resource].n_source - 1;
		p->want[w].first = (size_t)stage < last ? (size_t)stage : last;
	}
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

	p->chance = p->in->seed;
	p->names = nodeset_create();
	p->pool = calloc(n + 1, sizeof(*p->pool));
	p->active = calloc(n + 1, sizeof(*p->active));
	p->touched = calloc(n + 1, sizeof(*p->touched));
	p->jobs = calloc(p->in->request->n_jobs + n + 1, sizeof(*p->jobs));
	p->told = calloc(1, sizeof(*p->told));
	return p->names && p->pool && p->active && p->touched && p->jobs && p->told && !resume_memory_open(p) ? 0 : -1;
}

struct resume_plan *resume_plan_create(const struct resume_input *in, struct err *e)
{
	struct resume_plan *p = calloc(1, sizeof(*p));
	struct nodeset *live = live_set(in->live);
	bool ok = p && live;

	if (p)
		p->in = in;
	ok = ok && !make_tables(p);
	if (ok) {
		add_jobs(p, live);
		if (!p->nomem)
			set_first_stages(p);
		p->stale = true;
	}
	nodeset_destroy(live);
	if (ok && !p->nomem)
		return p;
	resume_plan_destroy(p);
	err_nomem(e);
	return NULL;
}

static void pool_clear(struct pool *r)
{
	resume_source_close(r);
	free(r->machine);
	free(r->pending);
}

void resume_plan_destroy(struct resume_plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_machine; i++) {
		free(p->machine[i].id);
		free(p->machine[i].ip);
	}
	for (size_t i = 0; i < p->n_steps; i++)
		resume_step_destroy(p->steps[i]);
	for (size_t i = 0; i < p->n_jobs; i++)
		free(p->jobs[i].want);
	for (size_t i = 0; p->pool && i < p->in->gen->n_resources; i++)
		pool_clear(&p->pool[i]);
	nodeset_destroy(p->names);
	shortages_clear(&p->known);
	strs_clear(&p->codes);
	if (p->told)
		free(p->told->v);
	free(p->told);
	nodeset_destroy(p->offerings);
	free(p->gate);
	free(p->gate_of);
	free(p->want);
	free(p->machine);
	free(p->pool);
	free(p->active);
	free(p->touched);
	free(p->jobs);
	free(p->steps);
	free(p->bind);
	free(p->fail);
	free(p->surplus);
	free(p);
}

/* --- calls handed out */

size_t resume_plan_next(struct resume_plan *p, int64_t now_ms, struct resume_step *steps, size_t max, int64_t *wake_ms)
{
	size_t n = 0;

	if (p->stale || (p->wake_ms && now_ms >= p->wake_ms)) {
		resume_ask_withdraw(p);
		resume_advance(p, now_ms);
	}
	while (!p->nomem && n < max && p->sent < p->n_steps)
		steps[n++] = p->steps[p->sent++]->pub;
	p->waiting += n;
	*wake_ms = n || p->nomem ? 0 : p->wake_ms;
	return n;
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
