/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts.c - where instance facts come from.
 *
 * Called by render (file) and apply (EC2, file first). Keeps nothing and guesses nothing: a type nobody knows is an error that
 * names it.
 */
#include "conf/facts.h"

#include "lib/aws/ec2.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/problem.h"

#include <stdlib.h>

#define FACTS_FILE_MAX (64u << 20)
#define TYPES_PER_CALL 100 /* EC2's own limit */

static int add_new(struct strs *out, const struct strs *names)
{
	for (size_t i = 0; i < names->n; i++) {
		if (!strs_has(out, names->v[i]) && strs_add(out, names->v[i]))
			return -1;
	}
	return 0;
}

int facts_queue_types(const struct queue *q, struct strs *out)
{
	for (size_t i = 0; i < q->n_resources; i++) {
		if (add_new(out, &q->resources[i].instance_types) || add_new(out, &q->resources[i].more_types))
			return -1;
	}
	return 0;
}

int facts_types(const struct cluster *c, struct strs *out)
{
	for (size_t i = 0; i < c->n_queues; i++) {
		if (facts_queue_types(&c->queues[i], out))
			return -1;
	}
	return 0;
}

/* --- the type of a capacity reservation */

static bool needs_type(const struct queue *q, const struct compute_resource *r)
{
	return r->instance_types.n == 0 && cluster_reservation_id(q, r);
}

static const struct ec2_reservation *reservation_find(const struct ec2_reservations *l, const char *id)
{
	for (size_t i = 0; l && i < l->n; i++) {
		if (str_eq(l->v[i].id, id))
			return &l->v[i];
	}
	return NULL;
}

/* 0, or -1 on no memory; what EC2 does not know is a problem. */
static int fill_types(const struct cluster *c, struct queue *q, const struct ec2_reservations *l, struct problems *p)
{
	for (size_t i = 0; i < q->n_resources; i++) {
		struct compute_resource *r = &q->resources[i];
		const struct ec2_reservation *v;

		if (!needs_type(q, r))
			continue;
		v = reservation_find(l, cluster_reservation_id(q, r));
		if (!v || !v->type)
			problems_add(p, PROBLEM_ERROR, c->file, r->at.line, r->at.column, NULL,
				     "queue %s, compute resource %s: EC2 has no capacity reservation %s", q->name, r->name,
				     cluster_reservation_id(q, r));
		else if (strs_add(&r->instance_types, v->type))
			return -1;
	}
	return 0;
}

int facts_reserved(struct aws *a, const struct cluster *c, struct queue *q, int64_t deadline_mono_ms, struct problems *p,
		   struct err *e)
{
	struct strs ids = { 0 };
	struct ec2_call *call = NULL;
	int rc = 0;

	for (size_t i = 0; i < q->n_resources && rc == 0; i++) {
		const char *id = cluster_reservation_id(q, &q->resources[i]);

		if (needs_type(q, &q->resources[i]) && !strs_has(&ids, id) && strs_add(&ids, id))
			rc = err_nomem(e);
	}
	if (rc == 0 && ids.n > 0) {
		call = ec2_describe_reservations((const char *const *)ids.v, ids.n);
		rc = call ? ec2_perform_one(a, call, deadline_mono_ms, e) : err_nomem(e);
		if (rc == 0 && fill_types(c, q, ec2_describe_reservations_reply(call), p))
			rc = err_nomem(e);
	}
	ec2_call_destroy(call);
	strs_clear(&ids);
	return rc;
}

/* --- facts of types */

int facts_read(const char *path, struct itypes *out, struct err *e)
{
	struct buf b = { 0 };
	int rc = file_read(path, FACTS_FILE_MAX, &b, e);

	if (rc == 0)
		rc = itypes_from_json(out, buf_text(&b), b.n, path, e);
	buf_free(&b);
	return rc;
}

static int parts_copy(const struct itype *from, struct itype *to)
{
	for (size_t i = 0; i < from->n_gpus; i++) {
		struct itype_gpu *g = itype_add_gpu(to);

		if (!g)
			return -1;
		g->name = str_dup(from->gpus[i].name);
		g->manufacturer = str_dup(from->gpus[i].manufacturer);
		g->count = from->gpus[i].count;
		g->memory_mib = from->gpus[i].memory_mib;
	}
	for (size_t i = 0; i < from->n_cards; i++) {
		struct network_card *c = itype_add_card(to);

		if (!c)
			return -1;
		*c = from->cards[i];
	}
	return 0;
}

static int itype_append(struct itypes *l, const struct itype *t)
{
	struct itype *copy = itypes_add(l);

	if (!copy)
		return -1;
	copy->name = str_dup(t->name);
	copy->arch = str_dup(t->arch);
	copy->vcpus = t->vcpus;
	copy->cores = t->cores;
	copy->threads_per_core = t->threads_per_core;
	copy->one_thread_ok = t->one_thread_ok;
	copy->memory_mib = t->memory_mib;
	copy->efa = t->efa;
	copy->max_efa = t->max_efa;
	copy->ebs_optimized_ok = t->ebs_optimized_ok;
	copy->cluster_placement_ok = t->cluster_placement_ok;
	return copy->name ? parts_copy(t, copy) : -1;
}

static int fetch_part(struct aws *a, const char *const *names, size_t n, int64_t deadline, struct itypes *out, struct err *e)
{
	struct ec2_call *c = ec2_describe_instance_types(names, n);
	const struct itypes *got;
	int rc = -1;

	if (!c)
		return err_nomem(e);
	if (ec2_perform_one(a, c, deadline, e))
		goto out;
	got = ec2_describe_instance_types_reply(c);
	for (size_t i = 0; got && i < got->n; i++) {
		if (itype_append(out, &got->v[i])) {
			err_nomem(e);
			goto out;
		}
	}
	rc = 0;
out:
	ec2_call_destroy(c);
	return rc;
}

int facts_fetch(struct aws *a, const struct strs *types, int64_t deadline_mono_ms, struct itypes *out, struct err *e)
{
	const char *part[TYPES_PER_CALL];
	size_t n = 0;

	for (size_t i = 0; i < types->n; i++) {
		if (!itypes_find(out, types->v[i]))
			part[n++] = types->v[i];
		if (n == TYPES_PER_CALL || (n > 0 && i + 1 == types->n)) {
			if (fetch_part(a, part, n, deadline_mono_ms, out, e))
				return -1;
			n = 0;
		}
	}
	return 0;
}

int facts_complete(const struct strs *types, const struct itypes *have, struct err *e)
{
	struct strs missing = { 0 };
	char *text;
	int rc = 0;

	for (size_t i = 0; i < types->n; i++) {
		if (!itypes_find(have, types->v[i]) && strs_add(&missing, types->v[i])) {
			strs_clear(&missing);
			return err_nomem(e);
		}
	}
	if (missing.n > 0) {
		text = strs_join(&missing, ", ");
		rc = err_set(e, "no facts about instance type %s", text ? text : missing.v[0]);
		free(text);
	}
	strs_clear(&missing);
	return rc;
}
