/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume_serve.c - which machines to ask for, and which job gets them.
 *
 * First all jobs' nodes are asked for together, resource by resource: in a calm cloud that is all. Then the jobs are served in
 * order of priority from what came. Under all-or-nothing a job that is short may ask once more, for itself; what it does not
 * get whole goes back to the pool of its resource, where the next job finds it. A job waits only for its own resources. A
 * number of machines that EC2 refused is not asked for again in the same run: capacity does not grow while we hold what we
 * have.
 *
 * A machine is launched for the nodes of its call ("hint") and goes to one of them unless an earlier job needs it.
 */
#include "lib/plan/resume_state.h"

#include "lib/plan/capacity.h"

#include <stdlib.h>

bool resume_spare(const struct resume_plan *p, size_t machine)
{
	return machine != NONE && p->machine[machine].state == MACHINE_SPARE;
}

/* --- one job against the pools */

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

/* May EC2 still give all that is missing? Not if the last time there was nothing left to ask. */
static bool may_ask(struct resume_plan *p, const struct job *j, int64_t now_ms)
{
	if (j->asked == p->n_steps)
		return false;
	for (size_t i = 0; i < p->n_touched; i++) {
		struct pool *r = &p->pool[p->touched[i]];

		if (missing(r) && !resume_source_any(p, r, missing(r), now_ms))
			return false;
	}
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

		if (resume_spare(p, m))
			return m;
	}
	return NONE;
}

/* Give the job what there is: first each node its own machine, then others of the pool. */
static void take(struct resume_plan *p, struct job *j)
{
	for (size_t i = 0; i < j->n; i++) {
		struct want *w = &p->want[j->want[i]];

		if (w->state == NODE_OPEN && resume_spare(p, w->hint))
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

/* EC2's word if it refused the node; else whether others of the job were the ones missing. */
static const char *code_for(const struct resume_plan *p, const struct want *w, bool some)
{
	const struct pool *r = &p->pool[w->resource];
	const char *said = w->said || w->called ? w->said : r->word;

	if (!resume_spare(p, w->hint) && said && missing(r))
		return said;
	return some ? CODE_LIMITED : CODE_INSUFFICIENT;
}

/* Say why its open nodes are not served. The first code stays, it is nearest to the cause, unless EC2 said something worse.
 * The nodes stay open: a later job may share them. */
static void refuse(struct resume_plan *p, struct job *j)
{
	bool some;

	look_at(p, j);
	some = j->dead || has_some(p, j);
	for (size_t i = 0; i < p->n_touched; i++)
		if (missing(&p->pool[p->touched[i]]))
			p->pool[p->touched[i]].word = resume_source_word(p, &p->pool[p->touched[i]]);
	for (size_t i = 0; i < j->n; i++) {
		struct want *w = &p->want[j->want[i]];
		const char *code = w->state == NODE_OPEN ? code_for(p, w, some) : NULL;

		if (code && (!w->code || code == w->said))
			w->code = capacity_code_worse(w->code, code);
	}
}

/* Ask for what the job lacks: on each resource the last of its nodes without a machine of their own. */
static void ask_missing(struct resume_plan *p, struct job *j, size_t job)
{
	for (size_t i = 0; i < p->n_touched; i++) {
		struct pool *r = &p->pool[p->touched[i]];

		r->skip = r->spare < r->need ? r->spare : r->need;
	}
	for (size_t i = 0; i < j->n; i++) {
		const struct want *w = &p->want[j->want[i]];

		if (w->state == NODE_OPEN && resume_spare(p, w->hint))
			p->pool[w->resource].skip--;
	}
	for (size_t i = 0; i < j->n; i++) {
		const struct want *w = &p->want[j->want[i]];

		if (w->state != NODE_OPEN || resume_spare(p, w->hint))
			continue;
		if (p->pool[w->resource].skip)
			p->pool[w->resource].skip--;
		else
			resume_ask(p, j->want[i], job);
	}
	j->asked = p->n_steps;
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

static bool busy(const struct pool *r)
{
	return r->in_flight || r->n_pending;
}

static bool must_wait(const struct resume_plan *p)
{
	for (size_t i = 0; i < p->n_touched; i++)
		if (turn_of(p, p->touched[i]) != TURN_FREE || busy(&p->pool[p->touched[i]]))
			return true;
	return false;
}

/* An earlier job waits for a resource of this one, or a call is under way. One-node jobs join the call of this round if it is
 * one of them; else later jobs wait for this one. */
static void wait_or_join(struct resume_plan *p, struct job *j, size_t job, int64_t now_ms)
{
	if (j->need != 1 || j->dead || !j->src || turn_of(p, p->touched[0]) != TURN_SINGLES)
		set_turns(p, TURN_TAKEN);
	else if (may_ask(p, j, now_ms))
		ask_missing(p, j, job);
}

static void serve(struct resume_plan *p, struct job *j, size_t job, int64_t now_ms)
{
	bool partly = p->in->strategy == SCALING_BEST_EFFORT || !j->src;

	if ((!j->dead || partly) && is_short(p) && may_ask(p, j, now_ms)) {
		ask_missing(p, j, job);
		set_turns(p, j->need == 1 && j->src ? TURN_SINGLES : TURN_TAKEN);
		return;
	}
	if (partly || (!j->dead && !is_short(p)))
		take(p, j);
	refuse(p, j);
	j->done = true;
	p->progress = true;
}

/* All that may be wanted, together. Under all-or-nothing nodes without a job come last: they take what is left over. */
static void ask_all(struct resume_plan *p)
{
	bool partly = p->in->strategy == SCALING_BEST_EFFORT, whole = p->in->strategy == SCALING_ALL_OR_NOTHING;

	p->round++;
	for (size_t k = 0; k < p->n_jobs; k++) {
		struct job *j = &p->jobs[k];

		j->asked = NONE;
		look_at(p, j);
		if ((j->src && j->dead && !partly) || (!j->src && whole))
			continue;
		for (size_t i = 0; i < j->n; i++)
			if (p->want[j->want[i]].state == NODE_OPEN)
				resume_ask(p, j->want[i], k);
	}
}

static void serve_all(struct resume_plan *p, int64_t now_ms)
{
	p->round++;
	for (size_t k = 0; k < p->n_jobs && !p->nomem; k++) {
		struct job *j = &p->jobs[k];

		if (j->done)
			continue;
		look_at(p, j);
		if (must_wait(p))
			wait_or_join(p, j, k, now_ms);
		else
			serve(p, j, k, now_ms);
	}
}

/* More may have come than a later job asked for: once every job had its turn, those that failed get another look at what is
 * left. */
static void serve_late(struct resume_plan *p)
{
	for (size_t k = 0; k < p->n_jobs; k++)
		if (!p->jobs[k].done)
			return;
	for (size_t k = 0; k < p->n_jobs; k++) {
		struct job *j = &p->jobs[k];

		look_at(p, j);
		if (j->need && (p->in->strategy == SCALING_BEST_EFFORT || !j->src || (!j->dead && !is_short(p))))
			take(p, j);
	}
}

void resume_advance(struct resume_plan *p, int64_t now_ms)
{
	if (!p->begun)
		ask_all(p);
	p->begun = true;
	p->stale = false;
	do {
		p->progress = false;
		p->wake_ms = 0;
		resume_ask_turn(p, now_ms);
		serve_all(p, now_ms);
	} while (p->progress && !p->nomem);
	serve_late(p);
}
