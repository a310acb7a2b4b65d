/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume_serve.c - which machines to ask for, and which job gets them.
 *
 * First one round of calls for the union of all jobs' nodes, resource by resource: in a calm cloud that is all. Then the
 * jobs are served in order of priority from what came. Under all-or-nothing a job that is short may ask once more, for
 * itself; what it does not get whole goes back to the pool of its resource, where the next job finds it. Jobs on different
 * resources do not wait for each other. A number of machines that EC2 refused is not asked for again in the same run:
 * capacity does not grow while we hold what we have.
 *
 * A machine is launched for the nodes of its call ("hint") and goes to one of them unless an earlier job needs it.
 */
#include "lib/plan/resume_state.h"

#include "lib/plan/capacity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void resume_push(struct resume_plan *p, size_t **v, size_t *n, size_t *cap, size_t value)
{
	if (mem_grow(v, cap, *n + 1, sizeof(**v))) {
		p->nomem = true;
		return;
	}
	(*v)[(*n)++] = value;
}

void resume_step_destroy(struct step *s)
{
	if (!s)
		return;
	strs_clear(&s->nodes);
	strs_clear(&s->jobs);
	free(s->want);
	free(s->code);
	free(s);
}

/* --- calls: wants are listed by resource, then cut into batches */

static void list_want(struct resume_plan *p, size_t w, size_t job)
{
	struct pool *r = &p->pool[p->want[w].resource];

	if (p->want[w].round == p->round)
		return;
	p->want[w].round = p->round;
	p->want[w].job = job;
	if (!r->n_list)
		resume_push(p, &p->listed, &p->n_listed, &p->cap_listed, p->want[w].resource);
	resume_push(p, &r->list, &r->n_list, &r->cap_list, w);
}

/* Names of the nodes, and of the jobs they were listed for. */
static int step_fill(struct resume_plan *p, struct step *s, const size_t *want, size_t n)
{
	size_t last = NONE;

	s->want = calloc(n, sizeof(*want));
	if (!s->want)
		return -1;
	memcpy(s->want, want, n * sizeof(*want));
	for (size_t i = 0; i < n; i++) {
		struct want *w = &p->want[want[i]];

		if (strs_add(&s->nodes, nodeset_get(p->names, want[i])))
			return -1;
		if (w->job != NONE && w->job != last && strs_addf(&s->jobs, "%" PRId64, p->jobs[w->job].src->id))
			return -1;
		last = w->job;
		w->step = p->n_steps;
	}
	return 0;
}

static const struct resume_choice only_choice;

static void add_step(struct resume_plan *p, size_t resource, const size_t *want, size_t n, bool whole)
{
	struct step *s = calloc(1, sizeof(*s));

	if (!s || mem_grow(&p->steps, &p->cap_steps, p->n_steps + 1, sizeof(*p->steps)) || step_fill(p, s, want, n)) {
		resume_step_destroy(s);
		p->nomem = true;
		return;
	}
	s->pub = (struct resume_step){ .id = p->n_steps,
				       .resource = resource,
				       .nodes = &s->nodes,
				       .min_count = whole ? (int)n : 1,
				       .jobs = &s->jobs,
				       .choices = &only_choice,
				       .n_choices = 1 };
	p->steps[p->n_steps++] = s;
}

/* The calls of this round. whole: EC2 gives all of a call or nothing, where a job needs more than one node. */
static void make_steps(struct resume_plan *p, bool whole)
{
	size_t batch = p->in->batch_max ? p->in->batch_max : 1, n;

	for (size_t i = 0; i < p->n_listed; i++) {
		struct pool *r = &p->pool[p->listed[i]];

		for (size_t at = 0; at < r->n_list && !p->nomem; at += n) {
			n = r->n_list - at < batch ? r->n_list - at : batch;
			add_step(p, p->listed[i], r->list + at, n, whole && r->multi);
		}
		r->n_list = 0;
		r->multi = false;
	}
	p->n_listed = 0;
}

/* --- one job against the pools */

static bool spare(const struct resume_plan *p, size_t machine)
{
	return machine != NONE && p->machine[machine].state == MACHINE_SPARE;
}

/* Count the job's open nodes by resource into pool[].need; the resources go to touched. */
static void look_at(struct resume_plan *p, struct job *j)
{
	for (size_t i = 0; i < p->n_touched; i++)
		p->pool[p->touched[i]].need = 0;
	p->n_touched = 0;
	j->need = 0;
	j->dead = false;
	for (size_t i = 0; i < j->n; i++) {
		const struct want *w = &p->want[j->want[i]];

		j->dead = j->dead || w->state == NODE_DEAD;
		if (w->state != NODE_OPEN)
			continue;
		j->need++;
		if (!p->pool[w->resource].need++)
			p->touched[p->n_touched++] = w->resource;
	}
}

static size_t missing(const struct pool *r)
{
	return r->need > r->spare ? r->need - r->spare : 0;
}

static bool is_short(const struct resume_plan *p)
{
	for (size_t i = 0; i < p->n_touched; i++)
		if (missing(&p->pool[p->touched[i]]))
			return true;
	return false;
}

/* May EC2 still give all that is missing? */
static bool may_ask(const struct resume_plan *p)
{
	for (size_t i = 0; i < p->n_touched; i++)
		if (missing(&p->pool[p->touched[i]]) >= p->pool[p->touched[i]].refused)
			return false;
	return true;
}

static void use(struct resume_plan *p, struct want *w, size_t machine)
{
	p->machine[machine].state = MACHINE_USED;
	p->pool[w->resource].spare--;
	w->machine = machine;
	w->state = NODE_BOUND;
}

/* The latest spare machine: it was launched for the last job in order. */
static size_t pool_take(struct resume_plan *p, struct pool *r)
{
	while (r->n) {
		size_t m = r->machine[--r->n];

		if (spare(p, m))
			return m;
	}
	return NONE;
}

/* Give the job what there is: first each node its own machine, then others of the pool. */
static void take(struct resume_plan *p, struct job *j)
{
	for (size_t i = 0; i < j->n; i++) {
		struct want *w = &p->want[j->want[i]];

		if (w->state == NODE_OPEN && spare(p, w->hint))
			use(p, w, w->hint);
	}
	for (size_t i = 0; i < j->n; i++) {
		struct want *w = &p->want[j->want[i]];
		size_t m = w->state == NODE_OPEN ? pool_take(p, &p->pool[w->resource]) : NONE;

		if (m != NONE)
			use(p, w, m);
	}
}

/* Did any node of the job have a machine, or could it have had one? */
static bool has_some(const struct resume_plan *p, const struct job *j)
{
	for (size_t i = 0; i < j->n; i++)
		if (p->want[j->want[i]].state == NODE_BOUND || p->want[j->want[i]].state == NODE_KEPT)
			return true;
	for (size_t i = 0; i < p->n_touched; i++)
		if (p->pool[p->touched[i]].spare)
			return true;
	return false;
}

/* EC2's code if the node's own call came short; else whether others of the job were the ones missing. */
static const char *code_for(const struct resume_plan *p, const struct want *w, bool some)
{
	if (!spare(p, w->hint) && w->step != NONE && p->steps[w->step]->code && missing(&p->pool[w->resource]))
		return p->steps[w->step]->code;
	return some ? CODE_LIMITED : CODE_INSUFFICIENT;
}

/* Say why its open nodes are not served. The first code stays, it is nearest to the cause. The nodes stay open: a later
 * job may share them. */
static void refuse(struct resume_plan *p, struct job *j)
{
	bool some;

	look_at(p, j);
	some = j->dead || has_some(p, j);
	for (size_t i = 0; i < j->n; i++) {
		struct want *w = &p->want[j->want[i]];

		if (w->state != NODE_OPEN || w->code)
			continue;
		w->code = str_dup(code_for(p, w, some));
		if (!w->code)
			p->nomem = true;
	}
}

/* List what the job lacks: on each resource the last of its nodes without a machine of their own, unless EC2 refused even
 * one. */
static void list_missing(struct resume_plan *p, struct job *j, size_t job)
{
	for (size_t i = 0; i < p->n_touched; i++) {
		struct pool *r = &p->pool[p->touched[i]];

		r->skip = r->spare < r->need ? r->spare : r->need;
		r->multi = r->multi || (job != NONE && j->need > 1);
	}
	for (size_t i = 0; i < j->n; i++) {
		const struct want *w = &p->want[j->want[i]];

		if (w->state == NODE_OPEN && spare(p, w->hint))
			p->pool[w->resource].skip--;
	}
	for (size_t i = 0; i < j->n; i++) {
		const struct want *w = &p->want[j->want[i]];

		if (w->state != NODE_OPEN || spare(p, w->hint) || p->pool[w->resource].refused <= 1)
			continue;
		if (p->pool[w->resource].skip)
			p->pool[w->resource].skip--;
		else
			list_want(p, j->want[i], job);
	}
}

/* --- rounds */

static enum turn turn_of(const struct resume_plan *p, size_t resource)
{
	return p->pool[resource].turn_of == p->round ? p->pool[resource].turn : TURN_FREE;
}

static void set_turns(struct resume_plan *p, enum turn t)
{
	for (size_t i = 0; i < p->n_touched; i++) {
		p->pool[p->touched[i]].turn = t;
		p->pool[p->touched[i]].turn_of = p->round;
	}
}

static bool must_wait(const struct resume_plan *p)
{
	for (size_t i = 0; i < p->n_touched; i++)
		if (turn_of(p, p->touched[i]) != TURN_FREE)
			return true;
	return false;
}

/* An earlier job waits for a resource of this one. One-node jobs join its call if it is one of them; else later jobs wait
 * for this one. */
static void wait_or_join(struct resume_plan *p, struct job *j, size_t job)
{
	if (j->need != 1 || j->dead || turn_of(p, p->touched[0]) != TURN_SINGLES) {
		set_turns(p, TURN_TAKEN);
	} else if (!j->tried) {
		list_missing(p, j, job);
		j->tried = true;
	}
}

static void serve(struct resume_plan *p, struct job *j, size_t job)
{
	bool partly = p->in->strategy == SCALING_BEST_EFFORT;
	bool ask = p->in->strategy == SCALING_ALL_OR_NOTHING && !j->tried && may_ask(p);

	if (ask && is_short(p) && !j->dead) {
		list_missing(p, j, job);
		set_turns(p, j->need == 1 ? TURN_SINGLES : TURN_TAKEN);
		j->tried = true;
		return;
	}
	if (partly || (!j->dead && !is_short(p)))
		take(p, j);
	refuse(p, j);
	j->done = true;
}

static void union_round(struct resume_plan *p)
{
	bool partly = p->in->strategy == SCALING_BEST_EFFORT, whole = p->in->strategy == SCALING_ALL_OR_NOTHING;

	p->round++;
	for (size_t k = 0; k < p->n_jobs; k++) {
		struct job *j = &p->jobs[k];

		look_at(p, j);
		if (j->dead && !partly)
			continue;
		for (size_t i = 0; i < p->n_touched; i++)
			p->pool[p->touched[i]].multi |= j->need > 1;
		for (size_t i = 0; i < j->n; i++)
			if (p->want[j->want[i]].state == NODE_OPEN)
				list_want(p, j->want[i], k);
	}
	for (size_t i = 0; !whole && i < p->rest.n; i++)
		if (p->want[p->rest.want[i]].state == NODE_OPEN)
			list_want(p, p->rest.want[i], NONE);
	make_steps(p, whole);
}

static void jobs_round(struct resume_plan *p)
{
	p->round++;
	for (size_t k = 0; k < p->n_jobs && !p->nomem; k++) {
		struct job *j = &p->jobs[k];

		if (j->done)
			continue;
		look_at(p, j);
		if (must_wait(p))
			wait_or_join(p, j, k);
		else
			serve(p, j, k);
	}
	make_steps(p, true);
}

/* Nodes without a job take what is left over, then ask for as many as there are. */
static void rest_round(struct resume_plan *p)
{
	p->round++;
	look_at(p, &p->rest);
	if (p->in->strategy == SCALING_ALL_OR_NOTHING && !p->rest.tried) {
		p->rest.tried = true;
		list_missing(p, &p->rest, NONE);
		make_steps(p, false);
		return;
	}
	take(p, &p->rest);
	refuse(p, &p->rest);
	p->rest.done = true;
}

void resume_advance(struct resume_plan *p)
{
	while (p->sent == p->n_steps && !p->nomem && !p->rest.done) {
		if (p->phase == PHASE_UNION) {
			union_round(p);
			p->phase = PHASE_JOBS;
		} else if (p->phase == PHASE_JOBS) {
			jobs_round(p);
			if (p->sent == p->n_steps)
				p->phase = PHASE_REST;
		} else {
			rest_round(p);
		}
	}
}
