/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run.c - a resume plan's rounds: rows in one transaction, calls side by side, answers to the plan, until nothing is left to
 * launch; then bind, return, fail.
 *
 * Money is spent only behind a committed row; what the time limit, a signal or a lost answer leaves undone stays as rows for
 * clustermgtd. A node is told DOWN only when EC2 gave a definite no.
 */
#include "lib/apply/run.h"

#include "lib/apply/apply.h"
#include "lib/apply/bind.h"
#include "lib/apply/cloud.h"
#include "lib/apply/fail.h"
#include "lib/apply/settle.h"
#include "lib/aws/ec2.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/node/map.h"
#include "lib/state/store.h"

#include <stdlib.h>
#include <unistd.h>

#define STEPS_MAX 64 /* launches of one round; aws keeps 8 in the air */
#define SLICE_MS 100 /* of a pause: a signal is noticed so soon */
#define NO_OWNER SIZE_MAX

/* ---- claims and rows */

static int release_all(struct run *r, const struct strs *nodes, struct err *e)
{
	for (size_t i = 0; i < nodes->n; i++) {
		size_t at = nodeset_index(r->asked, nodes->v[i]);
		const struct launching *l = at == SIZE_MAX || r->owner[at] == NO_OWNER ? NULL : &r->launch[r->owner[at]];

		if (!l)
			continue;
		r->owner[at] = NO_OWNER;
		if ((l->outcome == LAUNCHING_CAME || l->outcome == LAUNCHING_REFUSED) &&
		    store_launch_release(r->w->store, l->row.id, nodes->v[i], e) < 0)
			return -1;
	}
	return 0;
}

static int fill_row(struct run *r, struct launch *row, const struct resume_step *s)
{
	const struct gen_resource *res = &r->w->gen->resources[s->resource];
	char id[21];

	launching_new_id(id);
	row->id = str_dup(id);
	row->queue = str_dup(res->queue);
	row->resource = str_dup(res->name);
	row->min_count = s->min_count;
	row->stage = (int)s->stage;
	row->created_ms = clock_wall_ms();
	row->pid = getpid();
	if (!row->id || !row->queue || !row->resource || strs_copy(&row->nodes, s->nodes) < 0)
		return -1;
	return s->jobs ? strs_copy(&row->jobs, s->jobs) : 0;
}

static void own(struct run *r, const struct strs *nodes, size_t launching)
{
	for (size_t i = 0; i < nodes->n; i++) {
		size_t at = nodeset_index(r->asked, nodes->v[i]);

		if (at != SIZE_MAX)
			r->owner[at] = launching;
	}
}

/* A node of an earlier try goes to this one: the old claim is given back and the new one taken in one transaction. Nodes that
 * another process took between our look and our claim are left to it. */
static int claim(struct run *r, struct launching *l, struct err *e)
{
	struct strs taken = {0};
	int rc = release_all(r, &l->row.nodes, e);

	if (rc == 0)
		rc = store_launch_claim(r->w->store, &l->row, &taken, e);
	for (size_t i = 0; i < taken.n && rc >= 0; i++) {
		log_info("%s: another process launches for it", taken.v[i]);
		resume_plan_taken(r->plan, taken.v[i]);
		rc = strs_add(&r->live, taken.v[i]) < 0 ? err_nomem(e) : 0;
	}
	if (l->row.min_count > (int)l->row.nodes.n)
		l->row.min_count = (int)l->row.nodes.n;
	strs_clear(&taken);
	return rc;
}

/* Row and call of one step. 1 = no node of it is left. */
static int prepare(struct run *r, struct launching *l, const struct resume_step *s, struct err *e)
{
	l->step = s->id;
	l->cloud = (size_t)r->w->gen->resources[s->resource].cloud;
	if (fill_row(r, &l->row, s) < 0)
		return err_nomem(e);
	if (claim(r, l, e) < 0)
		return -1;
	if (l->row.nodes.n == 0)
		return 1;
	own(r, &l->row.nodes, (size_t)(l - r->launch));
	if (launching_prepare(r->w, l, s->choices, s->n_choices, e) == 0)
		return 0;
	store_launch_done(r->w->store, l->row.id, NULL); /* never sent */
	return -1;
}

/* Never sent, so it is as good as a no: the nodes fail, rather than wait for nothing. */
static int not_prepared(struct run *r, struct launching *l, const struct resume_step *s)
{
	const struct gen_resource *res = &r->w->gen->resources[s->resource];
	struct resume_answer a = {.why = SHORT_FATAL, .code = CODE_FAILED};

	log_error("launch for %zu nodes of %s/%s: %s", s->nodes->n, res->queue, res->name, r->why.text);
	ec2_call_destroy(l->call);
	l->call = NULL;
	return resume_plan_answer(r->plan, s->id, &a, clock_wall_ms());
}

struct launching *run_add(struct run *r)
{
	struct launching *l;

	if (mem_grow(&r->launch, &r->cap_launch, r->n_launch + 1, sizeof *r->launch) < 0)
		return NULL;
	l = &r->launch[r->n_launch++];
	*l = (struct launching){.step = RUN_STEP_NONE};
	return l;
}

/* One transaction for the rows of all steps. rcs: prepare()'s, of each. */
static int prepare_all(struct run *r, const struct resume_step *steps, size_t n, int *rcs)
{
	size_t first = r->n_launch;
	struct err e = {""};
	int rc = store_batch_begin(r->w->store, &r->why);

	for (size_t i = 0; i < n; i++) {
		struct launching *l = run_add(r);

		if (!l)
			return rc < 0 ? -1 : store_batch_end(r->w->store, -1, &e);
		rcs[i] = rc < 0 ? -1 : prepare(r, l, &steps[i], &r->why);
	}
	if (rc == 0 && store_batch_end(r->w->store, 0, &e) < 0) {
		r->why = e;
		for (size_t i = 0; i < n; i++)
			rcs[i] = -1;
	}
	for (size_t i = 0; i < n; i++) {
		if ((rcs[i] < 0 && not_prepared(r, &r->launch[first + i], &steps[i]) < 0) ||
		    (rcs[i] > 0 && resume_plan_answer(r->plan, steps[i].id, &(struct resume_answer){0}, clock_wall_ms()) < 0))
			return -1;
	}
	return 0;
}

/* ---- calls */

static void perform_cloud(struct run *r, size_t cloud, size_t first, struct ec2_call **calls)
{
	size_t n = 0;

	for (size_t i = first; i < r->n_launch; i++) {
		if (r->launch[i].call && r->launch[i].cloud == cloud)
			calls[n++] = r->launch[i].call;
	}
	if (n > 0)
		ec2_perform(world_cloud_at(r->w, cloud), calls, n, apply_stop || r->hurried ? 0 : r->deadline, NULL, NULL);
}

int run_perform(struct run *r, size_t first)
{
	struct ec2_call **calls = calloc(r->n_launch - first + 1, sizeof *calls);

	if (!calls)
		return -1;
	for (size_t i = 0; i < cloud_count(r->w); i++)
		perform_cloud(r, i, first, calls);
	for (size_t i = first; i < r->n_launch; i++) {
		if (r->launch[i].call)
			launching_read(r->w, &r->launch[i], r->deadline);
	}
	free(calls);
	return 0;
}

static int answer(struct run *r, const struct launching *l)
{
	struct resume_answer a = {
	    .got = &l->got,
	    .why = l->why,
	    .code = l->code,
	    .refused = l->refused,
	    .n_refused = l->n_refused,
	};

	if (l->outcome == LAUNCHING_OPEN) {
		r->left++;
		return resume_plan_leave(r->plan, l->step);
	}
	if (l->code && l->message && !kvs_get(&r->words, l->code) && kvs_add(&r->words, l->code, l->message) < 0)
		return -1;
	return resume_plan_answer(r->plan, l->step, &a, clock_wall_ms());
}

/* Rows, events and shortages of a round: one transaction. What cannot be written does not stop the machines that came. */
static void record(struct run *r, size_t first)
{
	struct err e = {""};
	size_t changed;
	const struct shortages *all = resume_plan_shortages(r->plan, &changed);
	int rc = store_batch_begin(r->w->store, &e), kept = 0;

	if (rc == 0) {
		for (size_t i = first; i < r->n_launch; i++) {
			if (r->launch[i].call)
				launching_record(r->w, &r->launch[i]);
		}
		kept = memory_keep(r->w, &r->memory, all, changed, &e);
		rc = store_batch_end(r->w->store, kept, &e);
	}
	if (rc < 0)
		log_error("launch rows: %s; clustermgtd goes on with them", e.text);
	if (kept > 0 && !r->poked && !r->daemon)
		apply_poke(); /* it keeps jobs away from what is short */
	r->poked = r->poked || kept > 0;
}

/* ---- probes */

/* May the step go now? If not, the plan has its answer. 1 go, 0 not, -1. */
static int pass_gate(struct run *r, const struct resume_step *s)
{
	struct resume_refusal *closed = NULL;
	struct resume_answer a = {.why = SHORT_LATER};
	struct err e = {""};
	int gate, rc;

	if (!s->probe || r->hurried)
		return 1;
	gate = memory_gate(r->w, &r->memory, s, &closed, &a.n_refused, &e);
	if (gate < 0) {
		log_error("probe of a shortage: %s", e.text);
		gate = GATE_GO; /* if the store is away, so is the launch's row: that ends it */
	} else if (gate == GATE_CLOSED) {
		a.why = SHORT_CAPACITY;
		a.code = closed[0].code;
	}
	a.refused = closed;
	rc = gate == GATE_GO ? 1 : resume_plan_answer(r->plan, s->id, &a, clock_wall_ms());
	free(closed);
	return rc;
}

static int launch_round(struct run *r, struct resume_step *steps, size_t n)
{
	int rcs[STEPS_MAX];
	size_t first = r->n_launch, kept = 0;
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		int go = pass_gate(r, &steps[i]);

		if (go < 0)
			return -1;
		if (go)
			steps[kept++] = steps[i];
	}
	if (kept == 0)
		return 0;
	if (prepare_all(r, steps, kept, rcs) < 0 || run_perform(r, first) < 0)
		return -1;
	for (size_t i = first; i < r->n_launch && rc == 0; i++) {
		if (r->launch[i].call)
			rc = answer(r, &r->launch[i]);
	}
	record(r, first);
	return rc;
}

/* ---- pauses */

static bool out_of_time(const struct run *r, int64_t wake)
{
	return r->daemon || apply_stop || clock_mono_ms() + (wake - clock_wall_ms()) >= r->deadline;
}

static void wait_until(const struct run *r, int64_t wake)
{
	int64_t left;

	while (!apply_stop && (left = wake - clock_wall_ms()) > 0 && clock_mono_ms() < r->deadline)
		clock_sleep_ms(left < SLICE_MS ? left : SLICE_MS);
}

static int launch_all(struct run *r, struct err *e)
{
	struct resume_step steps[STEPS_MAX];
	int64_t wake = 0;
	size_t n;

	for (;;) {
		n = resume_plan_next(r->plan, clock_wall_ms(), steps, STEPS_MAX, &wake);
		if (n > 0 && launch_round(r, steps, n) < 0)
			return err_nomem(e);
		if (n > 0)
			continue;
		if (wake <= 0 || r->hurried)
			return 0;
		if (out_of_time(r, wake)) {
			log_info("no time is left to wait for capacity: clustermgtd goes on");
			r->hurried = true;
			resume_plan_hurry(r->plan);
		} else {
			wait_until(r, wake);
		}
	}
}

/* ---- after the last answer */

static const struct launching *launching_of_step(const struct run *r, size_t step)
{
	for (size_t i = r->n_launch; i-- > 0;) {
		if (r->launch[i].step == step)
			return &r->launch[i];
	}
	return NULL;
}

static const char *claim_of(const struct run *r, const char *node)
{
	size_t at = nodeset_index(r->asked, node);
	const struct launching *l = at == SIZE_MAX || r->owner[at] == NO_OWNER ? NULL : &r->launch[r->owner[at]];

	return l && (l->outcome == LAUNCHING_CAME || l->outcome == LAUNCHING_REFUSED) ? l->row.id : NULL;
}

static int gather_binds(const struct run *r, const struct resume_result *res, const struct map *ids,
			const struct instance *const *machine, struct binds *out)
{
	const struct launching *l = NULL;

	for (size_t i = 0; i < res->n_bind; i++) {
		const struct resume_bind *b = &res->bind[i];
		size_t at = map_get(ids, b->instance);

		if (!l || l->step != b->step)
			l = launching_of_step(r, b->step);
		if (!l)
			continue;
		if (binds_add(out, b->node, b->instance, b->ip, l->row.id, claim_of(r, b->node)) < 0)
			return -1;
		if (at < SIZE_MAX && machine[at]->type)
			out->v[out->n - 1].what = str_fmt("%s %s", machine[at]->type, machine[at]->zone ? machine[at]->zone : "");
	}
	return 0;
}

/* All machines that came, by id. Caller frees the array and clears ids. */
static const struct instance **all_machines(const struct run *r, struct map *ids)
{
	const struct instance **v;
	size_t n = 0;

	for (size_t i = 0; i < r->n_launch; i++)
		n += r->launch[i].got.n;
	v = calloc(n + 1, sizeof *v);
	n = 0;
	for (size_t i = 0; v && i < r->n_launch; i++) {
		for (size_t k = 0; k < r->launch[i].got.n; k++) {
			v[n] = &r->launch[i].got.v[k];
			if (map_put(ids, v[n]->id, n) < 0) {
				free(v);
				return NULL;
			}
			n++;
		}
	}
	return v;
}

static int bind_all(struct run *r, const struct resume_result *res, struct err *e)
{
	struct binds b = {0};
	struct strs surplus = {0};
	struct map ids = {0};
	const struct instance **machine = all_machines(r, &ids);
	int rc = machine ? gather_binds(r, res, &ids, machine, &b) : -1;

	for (size_t i = 0; i < res->n_surplus && rc == 0; i++)
		rc = strs_add(&surplus, res->surplus[i]);
	rc = rc < 0 ? err_nomem(e) : settle(r->w, r->launch, r->n_launch, &b, &surplus, r->deadline, e);
	if (rc == 0)
		settle_close(r->w, r->launch, r->n_launch);
	map_clear(&ids);
	free(machine);
	strs_clear(&surplus);
	binds_clear(&b);
	return rc;
}

static int finish(struct run *r, struct err *e)
{
	const struct resume_result *res = resume_plan_result(r->plan, e);
	int rc;

	if (!res)
		return -1;
	rc = bind_all(r, res, e);
	if (res->n_fail > 0)
		fail_nodes(r, res);
	log_info("%zu nodes asked: %zu bound, %zu failed, %zu machines returned, %zu launches left open, %zu were live",
		 r->request->nodes.n, res->n_bind, res->n_fail, res->n_surplus, r->left, r->live.n);
	return rc;
}

/* ---- the whole */

int run_open(struct run *r, struct err *e)
{
	size_t n = r->request->nodes.n;

	r->asked = nodeset_create();
	r->owner = calloc(n ? n : 1, sizeof *r->owner);
	if (!r->asked || !r->owner)
		return err_nomem(e);
	for (size_t i = 0; i < n; i++) {
		if (nodeset_add(r->asked, r->request->nodes.v[i]) < 0)
			return err_nomem(e);
		r->owner[i] = NO_OWNER;
	}
	return 0;
}

int run_plan(struct run *r, struct err *e)
{
	int rc;

	if (!r->memory_read && memory_read(r->w, &r->memory, e) < 0)
		return -1;
	r->memory_read = true;
	r->in = (struct resume_input){
	    .gen = r->w->gen,
	    .request = r->request,
	    .live = &r->live,
	    .barred = r->barred,
	    .strategy = r->w->gen->scaling,
	    .batch_max = (size_t)r->w->settings->launch_batch,
	    .shortages = &r->memory.known,
	    .rule = capacity_rule_of(r->w->settings),
	    .seed = (uint64_t)(rand_unit() * 9007199254740992.0),
	    .first_stage = &r->first_stage,
	};
	r->plan = resume_plan_create(&r->in, e);
	if (r->plan && r->hurried)
		resume_plan_hurry(r->plan);
	rc = r->plan ? launch_all(r, e) : -1;
	if (r->left == 0)
		memory_release(r->w, &r->memory);
	return rc < 0 ? -1 : finish(r, e);
}

void run_close(struct run *r)
{
	resume_plan_destroy(r->plan);
	for (size_t i = 0; i < r->n_launch; i++)
		launching_clear(&r->launch[i]);
	free(r->launch);
	free(r->owner);
	nodeset_destroy(r->asked);
	memory_clear(&r->memory);
	kvs_clear(&r->words);
	kvs_clear(&r->first_stage);
	strs_clear(&r->live);
	nodeset_destroy(r->barred);
}
