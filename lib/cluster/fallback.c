/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fallback.c - stages of a compute resource from cluster.yaml and from Fallback in settings.yaml, and the rules across both.
 *
 * Called by check, render and apply. Pure: opens no file, asks nobody.
 */
#include "build_config.h"

#include "lib/cluster/fallback.h"

#include "lib/base/problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const struct fallback *fallback_find(const struct settings *s, const char *queue, const char *resource)
{
	for (size_t i = 0; i < s->n_fallbacks; i++) {
		if (str_eq(s->fallbacks[i].queue, queue) && str_eq(s->fallbacks[i].resource, resource))
			return &s->fallbacks[i];
	}
	return NULL;
}

size_t fallback_stages(const struct fallback *f)
{
	return 1 + (f ? f->n_stages : 0);
}

void fallback_stage(const struct queue *q, const struct compute_resource *r, const struct fallback *f, size_t i,
		    struct stage *out)
{
	const struct fallback_stage *st = i > 0 ? &f->stages[i - 1] : NULL;

	*out = (struct stage){
		.capacity = st && st->has_capacity ? st->capacity : q->capacity,
		.instance_types = st && st->instance_types.n ? &st->instance_types : &r->instance_types,
		.subnet_ids = st && st->subnet_ids.n ? &st->subnet_ids : &q->subnet_ids,
		.time_limit_s = st ? st->time_limit_s : f ? f->time_limit_s : 0,
	};
	if (out->capacity == CAPACITY_SPOT)
		out->spot_price = st && st->spot_price_at.line ? st->spot_price : r->spot_price;
}

static int note_types(struct compute_resource *r, const struct fallback *f)
{
	for (size_t i = 0; f && i < f->n_stages; i++) {
		const struct strs *t = &f->stages[i].instance_types;

		for (size_t k = 0; k < t->n; k++) {
			if (!strs_has(&r->instance_types, t->v[k]) && !strs_has(&r->more_types, t->v[k]) &&
			    strs_add(&r->more_types, t->v[k]))
				return -1;
		}
	}
	return 0;
}

int fallback_note_types(struct cluster *c, const struct settings *s)
{
	for (size_t i = 0; i < c->n_queues; i++) {
		struct queue *q = &c->queues[i];

		for (size_t k = 0; k < q->n_resources; k++) {
			if (note_types(&q->resources[k], fallback_find(s, q->name, q->resources[k].name)))
				return -1;
		}
	}
	return 0;
}

/* --- rules */

/* What a rule looks at. */
struct sight {
	const struct queue *q;
	const struct compute_resource *r;
	const struct fallback *f;
	const char *path;
	struct problems *p;
};

static void say(const struct sight *s, enum problem_level level, struct place at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static void say(const struct sight *s, enum problem_level level, struct place at, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		problems_add(s->p, level, s->path, at.line, at.column, "Fallback", "queue %s, compute resource %s: %s", s->q->name,
			     s->r->name, text);
	else
		s->p->nomem = true;
	free(text);
}

static const struct queue *find_queue(const struct cluster *c, const char *name)
{
	for (size_t i = 0; i < c->n_queues; i++) {
		if (str_eq(c->queues[i].name, name))
			return &c->queues[i];
	}
	return NULL;
}

static const struct compute_resource *find_resource(const struct queue *q, const char *name)
{
	for (size_t i = 0; i < q->n_resources; i++) {
		if (str_eq(q->resources[i].name, name))
			return &q->resources[i];
	}
	return NULL;
}

static void check_whole(const struct sight *s)
{
	if (s->q->capacity == CAPACITY_BLOCK)
		say(s, PROBLEM_ERROR, s->f->at, "it is a capacity block, whose machines come from nowhere else: remove this entry");
	else if (cluster_reservation_id(s->q, s->r) || cluster_reservation_group(s->q, s->r))
		say(s, PROBLEM_ERROR, s->f->at,
		    "its machines come from a capacity reservation only: remove this entry, or CapacityReservationTarget");
}

/* Machines of one placement group, and of one EFA network, are in one zone. */
static void check_near(const struct sight *s, const struct fallback_stage *st)
{
	const struct placement_group *g = cluster_placement(s->q, s->r);
	bool group = g->enabled != TRI_FALSE && (g->enabled == TRI_TRUE || g->name);

	if (!st->subnet_ids.n || (!group && !s->r->efa))
		return;
	for (size_t i = 0; i < st->subnet_ids.n; i++) {
		if (strs_has(&s->q->subnet_ids, st->subnet_ids.v[i]))
			continue;
		say(s, PROBLEM_ERROR, st->at, "%s needs one subnet: remove SubnetIds here", group ? "a placement group" : "EFA");
		return;
	}
}

static bool same_list(const struct strs *a, const struct strs *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		if (!str_eq(a->v[i], b->v[i]))
			return false;
	}
	return true;
}

static void check_stage(const struct sight *s, size_t i)
{
	const struct fallback_stage *st = &s->f->stages[i - 1];
	struct stage was, now;

	fallback_stage(s->q, s->r, s->f, i - 1, &was);
	fallback_stage(s->q, s->r, s->f, i, &now);
	if (st->spot_price_at.line && now.capacity != CAPACITY_SPOT)
		say(s, PROBLEM_ERROR, st->spot_price_at, "SpotPrice goes only with CapacityType: SPOT, this is %s",
		    capacity_type_text(now.capacity));
	else if (was.capacity == now.capacity && was.spot_price == now.spot_price &&
		 same_list(was.instance_types, now.instance_types) && same_list(was.subnet_ids, now.subnet_ids))
		say(s, PROBLEM_WARNING, st->at, "this is the same as what was tried before it");
	check_near(s, st);
}

void fallback_check(const struct cluster *c, const struct settings *set, const char *path, struct problems *p)
{
	for (size_t i = 0; i < set->n_fallbacks; i++) {
		struct sight s = {.f = &set->fallbacks[i], .path = path, .p = p};

		s.q = find_queue(c, s.f->queue);
		if (!s.q) {
			problems_add(p, PROBLEM_ERROR, path, s.f->at.line, s.f->at.column, "Fallback", "%s has no queue %s", c->file,
				     s.f->queue);
			continue;
		}
		s.r = find_resource(s.q, s.f->resource);
		if (!s.r) {
			problems_add(p, PROBLEM_ERROR, path, s.f->at.line, s.f->at.column, "Fallback",
				     "queue %s of %s has no compute resource %s", s.q->name, c->file, s.f->resource);
			continue;
		}
		check_whole(&s);
		for (size_t k = 1; k <= s.f->n_stages; k++)
			check_stage(&s, k);
	}
	for (size_t i = 0; i < set->n_clouds; i++) {
		if (!find_queue(c, set->clouds[i].queue))
			problems_add(p, PROBLEM_ERROR, path, set->clouds[i].at.line, set->clouds[i].at.column, "Queues",
				     "%s has no queue %s", c->file, set->clouds[i].queue);
	}
}
