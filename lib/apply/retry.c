/* SPDX-License-Identifier: GPL-2.0-or-later */
/* retry.c - finish launches that were left open: by a killed resume, by throttling, by a lost answer.
 *
 * The same request with the same ClientToken gives the machines of the first time if there was one, and launches them now if
 * not. Machines go to the nodes that still wait for this launch, in order; the rest is returned. Nodes that got nothing go
 * through a plan of their own from the row's stage on, their claims moving from row to row.
 */
#include "lib/apply/retry.h"

#include "lib/apply/apply.h"
#include "lib/apply/bind.h"
#include "lib/apply/run.h"
#include "lib/apply/settle.h"
#include "lib/aws/ec2.h"
#include "lib/base/log.h"
#include "lib/base/num.h"
#include "lib/cluster/generation.h"
#include "lib/node/map.h"
#include "lib/plan/capacity.h"
#include "lib/state/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct retry {
	struct run run; /* its launches are the rows */
	struct resume_request request; /* nodes that got nothing */
	struct bindings rows;
	struct map nodes;    /* names to rows */
	struct map machines; /* instance ids of BOUND rows */
	struct binds binds;
	struct strs surplus;
	size_t *owner; /* of each node of the request: its launching */
	size_t cap_owner;
};

/* Nodes of the launch that still wait for it, in its order. */
static int waiting_nodes(const struct retry *r, const struct launch *l, struct strs *out)
{
	for (size_t i = 0; i < l->nodes.n; i++) {
		size_t at = map_get(&r->nodes, l->nodes.v[i]);
		const struct binding *b = at < SIZE_MAX ? &r->rows.v[at] : NULL;

		if (b && b->state == BINDING_LAUNCHING && str_eq(b->launch, l->id) && strs_add(out, b->node) < 0)
			return -1;
	}
	return 0;
}

static int read_rows(struct retry *r, struct err *e)
{
	if (store_bindings(r->run.w->store, &r->rows, e) < 0)
		return -1;
	for (size_t i = 0; i < r->rows.n; i++) {
		const struct binding *b = &r->rows.v[i];

		if (map_put(&r->nodes, b->node, i) < 0 ||
		    (b->state == BINDING_BOUND && map_put(&r->machines, b->instance, i) < 0))
			return err_nomem(e);
	}
	return 0;
}

/* Move the row's members into a launching. A row whose call cannot be built stays open; it is only logged, so that it does not
 * stop the others. */
static int take_row(struct retry *r, struct launch *row, struct err *e)
{
	struct world *w = r->run.w;
	const struct gen_resource *res;
	struct launching *l;
	struct err why = {""};
	int rc, taken = store_launch_take(w->store, row->id, row->pid, getpid(), e);

	if (taken <= 0)
		return taken;
	l = run_add(&r->run);
	if (!l)
		return err_nomem(e);
	l->row = *row;
	memset(row, 0, sizeof *row);
	l->outcome = LAUNCHING_OPEN;
	res = launching_resource(w, &l->row);
	l->cloud = res ? (size_t)res->cloud : 0;
	rc = l->row.request ? launching_prepare_again(l, &why) : launching_prepare(w, l, NULL, 0, &why);
	if (rc < 0 && say_again(why.text))
		log_error("launch %s: %s", l->row.id, why.text);
	return 0;
}

static int take_rows(struct retry *r, const struct strs *ids, struct err *e)
{
	struct launches open = {0};
	int rc = store_launches_open(r->run.w->store, &open, e);

	for (size_t i = 0; i < open.n && rc == 0; i++) {
		if (strs_has(ids, open.v[i].id))
			rc = take_row(r, &open.v[i], e);
	}
	launches_clear(&open);
	return rc;
}

/* Nobody waits any more: no call that could launch. What the first try may have launched carries our tag and is an orphan. */
static void drop_unwanted(struct retry *r)
{
	for (size_t i = 0; i < r->run.n_launch; i++) {
		struct launching *l = &r->run.launch[i];
		struct strs wait = {0};

		if (waiting_nodes(r, &l->row, &wait) == 0 && wait.n == 0) {
			log_info("launch %s: none of its nodes waits any more; closed", l->row.id);
			ec2_call_destroy(l->call);
			l->call = NULL;
			l->outcome = LAUNCHING_REFUSED;
		}
		strs_clear(&wait);
	}
}

static void record(struct retry *r)
{
	struct err e = {""};
	int rc = store_batch_begin(r->run.w->store, &e);

	if (rc == 0) {
		for (size_t i = 0; i < r->run.n_launch; i++) {
			if (r->run.launch[i].call)
				launching_record(r->run.w, &r->run.launch[i]);
		}
		rc = store_batch_end(r->run.w->store, 0, &e);
	}
	if (rc < 0)
		log_error("launch rows: %s", e.text);
}

/* Pair machines that nobody has with nodes that wait; machines left over are surplus. *served: how many nodes got one. */
static int pair(struct retry *r, struct launching *l, const struct strs *wait, size_t *served)
{
	size_t next = 0;

	for (size_t i = 0; i < l->got.n; i++) {
		const struct instance *in = &l->got.v[i];

		if (map_get(&r->machines, in->id) < SIZE_MAX || (in->state != INSTANCE_UNKNOWN && !instance_alive(in->state)))
			continue;
		if (next == wait->n ? strs_add(&r->surplus, in->id) < 0
				    : binds_add(&r->binds, wait->v[next++], in->id, in->private_ip, l->row.id, l->row.id) < 0)
			return -1;
	}
	*served = next;
	return 0;
}

/* ---- nodes that got nothing */

static int add_unserved(struct retry *r, size_t launching, const struct strs *wait, size_t from)
{
	char stage[16];

	snprintf(stage, sizeof stage, "%d", r->run.launch[launching].row.stage);
	for (size_t i = from; i < wait->n; i++) {
		if (mem_grow(&r->owner, &r->cap_owner, r->request.nodes.n + 1, sizeof *r->owner) < 0)
			return -1;
		r->owner[r->request.nodes.n] = launching;
		if (strs_add(&r->request.nodes, wait->v[i]) < 0 || kvs_add(&r->run.first_stage, wait->v[i], stage) < 0)
			return -1;
	}
	return 0;
}

/* All or nothing among the nodes that are left, if that was asked; under which job they stand is only for the log. */
static int add_job(struct retry *r, const struct launch *row, const struct strs *wait, size_t from)
{
	struct resume_job *j = resume_request_add_job(&r->request);

	if (!j)
		return -1;
	j->priority = -1;
	j->id = 0;
	if (row->jobs.n > 0)
		num_i64(row->jobs.v[0], 0, INT64_MAX, &j->id, NULL);
	for (size_t i = from; i < wait->n; i++) {
		if (strs_add(&j->nodes, wait->v[i]) < 0)
			return -1;
	}
	return 0;
}

static int go_on(struct retry *r, size_t launching, const struct strs *wait, size_t from, struct err *e)
{
	struct launching *l = &r->run.launch[launching];
	const struct gen_resource *res = launching_resource(r->run.w, &l->row);
	const char *code = l->code ? l->code : CODE_LIMITED;
	struct resume_refusal all = {.code = l->code ? l->code : CODE_INSUFFICIENT, .message = l->message};

	if (l->why == SHORT_FATAL || !res) {
		settle_failed(r->run.w, (const char *const *)wait->v + from, wait->n - from, &l->row.jobs, code, NULL,
			      r->run.deadline + AFTER_LIMIT_MS);
		return 0;
	}
	if (l->why == SHORT_CAPACITY &&
	    memory_refuse(r->run.w, &r->run.memory, res, (size_t)l->row.stage, l->n_refused ? l->refused : &all,
			  l->n_refused ? l->n_refused : 1, e) < 0)
		return -1;
	if (l->code && l->message && kvs_add(&r->run.words, l->code, l->message) < 0)
		return err_nomem(e);
	if (l->why == SHORT_LATER && l->code)
		r->run.hurried = true; /* throttled: the next loop is soon enough to ask again */
	if (add_job(r, &l->row, wait, from) < 0 || add_unserved(r, launching, wait, from) < 0)
		return err_nomem(e);
	return 0;
}

static int share_out(struct retry *r, size_t launching, struct err *e)
{
	struct launching *l = &r->run.launch[launching];
	struct strs wait = {0};
	size_t served = 0;
	int rc = waiting_nodes(r, &l->row, &wait) < 0 || pair(r, l, &wait, &served) < 0 ? err_nomem(e) : 0;

	if (rc == 0 && served < wait.n)
		rc = go_on(r, launching, &wait, served, e);
	strs_clear(&wait);
	return rc;
}

/* The claims of the rows stand until the plan's own launches take them over. */
static int plan_rest(struct retry *r, struct err *e)
{
	if (run_open(&r->run, e) < 0)
		return -1;
	for (size_t i = 0; i < r->request.nodes.n; i++) {
		size_t at = nodeset_index(r->run.asked, r->request.nodes.v[i]);

		if (at < SIZE_MAX)
			r->run.owner[at] = r->owner[i];
	}
	return run_plan(&r->run, e);
}

static int finish(struct retry *r, struct err *e)
{
	struct run *run = &r->run;
	int rc = 0;

	for (size_t i = 0; i < run->n_launch && rc == 0; i++) {
		if (run->launch[i].call && run->launch[i].outcome != LAUNCHING_OPEN)
			rc = share_out(r, i, e);
	}
	if (rc == 0)
		rc = settle(run->w, run->launch, run->n_launch, &r->binds, &r->surplus, run->deadline, e);
	if (rc < 0)
		return -1;
	if (r->request.nodes.n > 0)
		return plan_rest(r, e);
	settle_close(run->w, run->launch, run->n_launch);
	return 0;
}

static void retry_close(struct retry *r)
{
	run_close(&r->run);
	resume_request_clear(&r->request);
	bindings_clear(&r->rows);
	binds_clear(&r->binds);
	strs_clear(&r->surplus);
	map_clear(&r->machines);
	map_clear(&r->nodes);
	free(r->owner);
}

int retry_launches(struct world *w, const struct strs *ids, int64_t deadline, struct err *e)
{
	struct retry r = {.run = {.w = w, .deadline = deadline, .daemon = true}};
	int rc;

	r.run.request = &r.request;
	rc = take_rows(&r, ids, e);
	if (read_rows(&r, rc < 0 ? NULL : e) < 0 || memory_read(w, &r.run.memory, rc < 0 ? NULL : e) < 0) {
		rc = -1;
	} else {
		r.run.memory_read = true;
		drop_unwanted(&r);
		if (run_perform(&r.run, 0) < 0)
			rc = err_nomem(e);
		record(&r);
		if (finish(&r, rc < 0 ? NULL : e) < 0)
			rc = -1;
	}
	retry_close(&r);
	return rc;
}
