/* SPDX-License-Identifier: GPL-2.0-or-later */
/* retry.c - finish launches that were left open: by a killed resume, by throttling, by a lost answer.
 *
 * The same request with the same ClientToken gives the machines of the first time if there was one, and launches them now if
 * not. Machines go to the nodes that still wait for this launch, in order; the rest is returned.
 */
#include "lib/apply/retry.h"

#include "lib/apply/apply.h"
#include "lib/apply/bind.h"
#include "lib/apply/launch.h"
#include "lib/apply/settle.h"
#include "lib/aws/ec2.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/node/map.h"
#include "lib/plan/capacity.h"
#include "lib/state/store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct retry {
	struct world *w;
	int64_t deadline;
	struct bindings rows;
	struct map nodes;    /* names to rows */
	struct map machines; /* instance ids of BOUND rows */
	struct launching *v;
	size_t n, cap;
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
	if (store_bindings(r->w->store, &r->rows, e) < 0)
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
	struct launching *l;
	struct err why = {""};
	int rc, taken = store_launch_take(r->w->store, row->id, row->pid, getpid(), e);

	if (taken <= 0)
		return taken;
	if (mem_grow(&r->v, &r->cap, r->n + 1, sizeof *r->v) < 0)
		return err_nomem(e);
	l = &r->v[r->n++];
	l->row = *row;
	memset(row, 0, sizeof *row);
	l->outcome = LAUNCHING_OPEN;
	rc = l->row.request ? launching_prepare_again(l, &why) : launching_prepare(r->w, l, &why);
	if (rc < 0 && say_again(why.text))
		log_error("launch %s: %s", l->row.id, why.text);
	return 0;
}

static int take_rows(struct retry *r, const struct strs *ids, struct err *e)
{
	struct launches open = {0};
	int rc = store_launches_open(r->w->store, &open, e);

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
	for (size_t i = 0; i < r->n; i++) {
		struct launching *l = &r->v[i];
		struct strs wait = {0};
		struct err e = {""};

		if (waiting_nodes(r, &l->row, &wait) == 0 && wait.n == 0) {
			log_info("launch %s: none of its nodes waits any more; closed", l->row.id);
			ec2_call_destroy(l->call);
			l->call = NULL;
			l->outcome = LAUNCHING_REFUSED;
			if (store_launch_done(r->w->store, l->row.id, &e) < 0)
				log_warn("launch %s: %s", l->row.id, e.text);
		}
		strs_clear(&wait);
	}
}

static int perform(struct retry *r)
{
	struct ec2_call **calls = calloc(r->n ? r->n : 1, sizeof *calls);
	size_t n = 0;

	if (!calls)
		return -1;
	for (size_t i = 0; i < r->n; i++) {
		if (r->v[i].call)
			calls[n++] = r->v[i].call;
	}
	if (n > 0)
		ec2_perform(r->w->aws, calls, n, r->deadline, NULL, NULL);
	for (size_t i = 0; i < r->n; i++) {
		if (r->v[i].call)
			launching_collect(r->w, &r->v[i]);
	}
	free(calls);
	return 0;
}

/* Pair machines that nobody has with nodes that wait; machines left over are surplus, nodes left over failed. */
static int pair(struct retry *r, struct launching *l, const struct strs *wait, struct binds *b, struct strs *surplus,
		size_t *served)
{
	const struct instances *got = launching_instances(l);
	size_t next = 0;

	for (size_t i = 0; i < got->n; i++) {
		const struct instance *in = &got->v[i];

		if (map_get(&r->machines, in->id) < SIZE_MAX || (in->state != INSTANCE_UNKNOWN && !instance_alive(in->state)))
			continue;
		if (next == wait->n ? strs_add(surplus, in->id) < 0
				    : binds_add(b, wait->v[next++], in->id, in->private_ip, l->row.id, l->row.id) < 0)
			return -1;
	}
	*served = next;
	return 0;
}

static int finish_one(struct retry *r, struct launching *l, struct strs *wait, struct err *e)
{
	const char *code = l->outcome == LAUNCHING_REFUSED ? l->call->error.code : CODE_LIMITED;
	struct binds b = {0};
	struct strs surplus = {0};
	size_t served = 0;
	int rc = pair(r, l, wait, &b, &surplus, &served);

	rc = rc < 0 ? err_nomem(e) : settle(r->w, l, 1, &b, &surplus, r->deadline, e);
	if (rc == 0 && served < wait->n)
		settle_failed(r->w, (const char *const *)wait->v + served, wait->n - served, code, NULL,
			      r->deadline + AFTER_LIMIT_MS);
	binds_clear(&b);
	strs_clear(&surplus);
	return rc;
}

static int finish(struct retry *r, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < r->n; i++) {
		struct launching *l = &r->v[i];
		struct strs wait = {0};

		if (!l->call || l->outcome == LAUNCHING_OPEN)
			continue;
		if (waiting_nodes(r, &l->row, &wait) < 0)
			rc = err_nomem(e);
		else if (finish_one(r, l, &wait, e) < 0)
			rc = -1;
		strs_clear(&wait);
	}
	return rc;
}

int retry_launches(struct world *w, const struct strs *ids, int64_t deadline, struct err *e)
{
	struct retry r = {.w = w, .deadline = deadline};
	int rc = take_rows(&r, ids, e);

	if (read_rows(&r, rc < 0 ? NULL : e) < 0)
		rc = -1;
	else {
		drop_unwanted(&r);
		if (perform(&r) < 0 || finish(&r, e) < 0)
			rc = -1;
	}
	for (size_t i = 0; i < r.n; i++)
		launching_clear(&r.v[i]);
	free(r.v);
	bindings_clear(&r.rows);
	map_clear(&r.machines);
	map_clear(&r.nodes);
	return rc;
}
