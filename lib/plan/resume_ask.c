/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume_ask.c - from nodes to calls. The nodes that are asked for wait in the pool of their resource. Each goes from stage to
 * stage until a machine comes for it; what no stage gives leaves the pool, and resume_serve.c sees what can be done without.
 *
 * A stage that is tried again after a shortage gets the smallest job first, then as many nodes as its budget allows, so that
 * thousands never run into the same shortage at once.
 */
#include "lib/plan/resume_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void resume_step_destroy(struct step *s)
{
	if (!s)
		return;
	strs_clear(&s->nodes);
	strs_clear(&s->jobs);
	free(s->want);
	free(s->choice);
	free(s->row);
	free(s);
}

void resume_say(struct want *w, const char *code)
{
	w->said = capacity_code_worse(w->said, code);
}

void resume_ask(struct resume_plan *p, size_t want, size_t job)
{
	struct want *w = &p->want[want];
	struct pool *r = &p->pool[w->resource];

	if (w->round == p->round)
		return;
	w->round = p->round;
	w->job = p->jobs[job].src ? job : NONE;
	w->several = p->jobs[job].src && p->jobs[job].need > 1;
	w->stage = w->first;
	resume_push(p, &r->pending, &r->n_pending, &r->cap_pending, want);
	p->progress = true;
}

/* --- one call */

/* Names of the nodes, and of the jobs they were listed for. */
static int step_fill(struct resume_plan *p, struct step *s, const size_t *want, size_t n)
{
	size_t last = NONE;

	s->want = calloc(n, sizeof(*want));
	if (!s->want)
		return -1;
	memcpy(s->want, want, n * sizeof(*want));
	for (size_t i = 0; i < n; i++) {
		size_t job = p->want[want[i]].job;

		if (strs_add(&s->nodes, nodeset_get(p->names, want[i])))
			return -1;
		if (job != NONE && job != last && strs_addf(&s->jobs, "%" PRId64, p->jobs[job].src->id))
			return -1;
		last = job;
	}
	return 0;
}

/* EC2 gives all of a call or nothing, where it can and a job needs more than one node. */
static int min_count(const struct resume_plan *p, const struct source *s, const size_t *want, size_t n)
{
	for (size_t i = 0; s->whole && i < n; i++)
		if (p->want[want[i]].several)
			return (int)n;
	return 1;
}

static void add_step(struct resume_plan *p, size_t resource, size_t stage, const size_t *want, size_t n, bool probe,
		     int64_t now_ms)
{
	struct pool *r = &p->pool[resource];
	struct source *src = &r->source[stage];
	struct step *s = calloc(1, sizeof(*s));

	if (!s || mem_grow(&p->steps, &p->cap_steps, p->n_steps + 1, sizeof(*p->steps)) || step_fill(p, s, want, n)) {
		resume_step_destroy(s);
		p->nomem = true;
		return;
	}
	s->pub = (struct resume_step){.id = p->n_steps,
				      .resource = resource,
				      .stage = stage,
				      .nodes = &s->nodes,
				      .min_count = min_count(p, src, want, n),
				      .jobs = &s->jobs,
				      .probe = probe};
	p->steps[p->n_steps++] = s;
	if (resume_source_use(p, src, s, now_ms))
		p->nomem = true;
	for (size_t i = 0; i < n; i++)
		p->want[want[i]].flying = p->want[want[i]].called = true;
	r->in_flight++;
	if (!src->first_ms)
		src->first_ms = now_ms;
}

void resume_ask_withdraw(struct resume_plan *p)
{
	while (p->n_steps > p->sent) {
		struct step *s = p->steps[--p->n_steps];

		resume_source_release(p, s, PROBE_AGAIN);
		for (size_t i = 0; i < s->nodes.n; i++)
			p->want[s->want[i]].flying = false;
		p->pool[s->pub.resource].in_flight--;
		resume_step_destroy(s);
	}
}

/* --- the smallest jobs first */

struct group {        /* wants of one job, side by side in the list */
	size_t at;
	size_t n;
};

static int by_size(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

/* The list cut into jobs; a node without a job is one of its own. NULL = no memory. */
static struct group *groups_of(const struct resume_plan *p, const struct source *s, size_t *n)
{
	struct group *g = calloc(s->n_list, sizeof(*g));
	size_t last = NONE;

	*n = 0;
	for (size_t i = 0; g && i < s->n_list; i++) {
		size_t job = p->want[s->list[i]].job;

		if (*n && job != NONE && job == last)
			g[*n - 1].n++;
		else
			g[(*n)++] = (struct group){.at = i, .n = 1};
		last = job;
	}
	return g;
}

/* Keep what may go in this turn: one job, or jobs up to the budget, one at least. Only under best-effort a part of a job. */
static void keep_smallest(struct resume_plan *p, struct source *s, struct room room)
{
	size_t n_group, kept = 0, most = room.give == GIVE_SOME && room.n > 0 ? (size_t)room.n : 1;
	bool partly = p->in->strategy == SCALING_BEST_EFFORT && room.give == GIVE_SOME;
	struct group *g = groups_of(p, s, &n_group);
	size_t *list = calloc(s->n_list, sizeof(*list));

	if (!g || !list) {
		p->nomem = true;
		free(g);
		free(list);
		return;
	}
	qsort(g, n_group, sizeof(*g), by_size);
	for (size_t i = 0; i < n_group; i++) {
		size_t n = partly && kept < most && g[i].n > most - kept ? most - kept : g[i].n;

		if ((kept || room.firm) && kept + n > most)
			break;
		memcpy(list + kept, s->list + g[i].at, n * sizeof(*list));
		kept += n;
	}
	memcpy(s->list, list, kept * sizeof(*list));
	s->n_list = kept;
	free(list);
	free(g);
}

/* --- a pool's turn */

static void cut(struct resume_plan *p, size_t resource, size_t stage, bool probe, int64_t now_ms)
{
	const struct source *s = &p->pool[resource].source[stage];
	size_t batch = p->in->batch_max ? p->in->batch_max : 1, n;

	for (size_t at = 0; at < s->n_list && !p->nomem; at += n) {
		n = s->n_list - at < batch ? s->n_list - at : batch;
		add_step(p, resource, stage, s->list + at, n, probe, now_ms);
		if (probe)
			break; /* of a job larger than a call, the first call */
	}
}

static void pass_on(struct resume_plan *p, const struct source *s)
{
	const char *code = resume_source_code(p, s);

	for (size_t i = 0; i < s->n_list; i++) {
		struct want *w = &p->want[s->list[i]];

		resume_say(w, code);
		w->stage++;
	}
}

static void wake_at(struct resume_plan *p, int64_t ms)
{
	if (!p->wake_ms || ms < p->wake_ms)
		p->wake_ms = ms;
}

/* What waits for the stage; *several: also for jobs that need more than one node. */
static void make_list(struct resume_plan *p, const struct pool *r, size_t stage, bool *several)
{
	struct source *s = &r->source[stage];

	s->n_list = 0;
	*several = false;
	for (size_t i = 0; i < r->n_pending; i++) {
		const struct want *w = &p->want[r->pending[i]];

		if (w->stage != stage || w->flying)
			continue;
		*several = *several || w->several;
		resume_push(p, &s->list, &s->n_list, &s->cap_list, r->pending[i]);
	}
}

static void stage_turn(struct resume_plan *p, size_t resource, size_t stage, int64_t now_ms)
{
	struct pool *r = &p->pool[resource];
	struct source *s = &r->source[stage];
	struct room room;
	bool several;
	size_t n;

	make_list(p, r, stage, &several);
	if (!s->n_list || p->nomem)
		return;
	n = several ? s->n_list : resume_source_most(p, s, s->n_list, now_ms);
	room = resume_source_room(p, r, stage, n, now_ms);
	if (room.give == GIVE_NOTHING) {
		pass_on(p, s);
		return;
	}
	if (room.give == GIVE_WAIT) {
		if (now_ms < s->wake_ms)
			wake_at(p, s->wake_ms);
		return;
	}
	s->n_list = n; /* the others when it was answered */
	if (room.give != GIVE_ALL)
		keep_smallest(p, s, room);
	cut(p, resource, stage, room.give == GIVE_PROBE, now_ms);
}

/* Out of the pool goes what has a machine, or is not to be served, or has been through all stages. */
static void sweep(struct resume_plan *p, struct pool *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->n_pending; i++) {
		const struct want *w = &p->want[r->pending[i]];

		if (w->state == NODE_OPEN && (w->flying || (!resume_spare(p, w->hint) && w->stage < r->n_source)))
			r->pending[kept++] = r->pending[i];
	}
	if (r->n_pending && !kept && !r->in_flight)
		p->progress = true;
	r->n_pending = kept;
}

void resume_ask_turn(struct resume_plan *p, int64_t now_ms)
{
	for (size_t i = 0; i < p->n_active && !p->nomem; i++) {
		struct pool *r = &p->pool[p->active[i]];

		if (!r->n_pending)
			continue;
		sweep(p, r);
		for (size_t s = 0; s < r->n_source; s++)
			stage_turn(p, p->active[i], s, now_ms);
		sweep(p, r);
	}
}
