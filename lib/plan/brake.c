/* SPDX-License-Identifier: GPL-2.0-or-later */
/* brake.c - holding back a plan that would end too many machines. */
#include "lib/plan/brake.h"

#include "lib/base/err.h"
#include "lib/node/map.h"
#include "lib/node/nodeset.h"

#include <stdlib.h>
#include <string.h>

/* Slurm has work on it, or counts on it for work. */
static bool is_in_use(const struct node *n)
{
	bool waking = n->state & NS_POWERING_UP;

	if (!node_state_is(n->state, 1u << NS_IDLE | 1u << NS_ALLOCATED | 1u << NS_MIXED, NS_CLOUD, 0))
		return false;
	if (n->state & (NS_POWERED_DOWN | NS_POWERING_DOWN) && !waking)
		return false;
	return (n->state & NS_BASE) != NS_IDLE || !(n->state & NS_POWER_DOWN) || n->state & NS_COMPLETING;
}

/* What a plan would end of the machines in use. */
struct toll {
	struct strs instances; /* sorted */
	size_t in_use;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool has(const struct strs *sorted, const char *s)
{
	return sorted->n && bsearch(&s, sorted->v, sorted->n, sizeof(*sorted->v), by_text);
}

static int map_in_use(const struct nodes *l, struct map *out, size_t *with_machine)
{
	for (size_t i = 0; i < l->n; i++) {
		if (!is_in_use(&l->v[i]))
			continue;
		*with_machine += node_has_addr(&l->v[i]);
		if (map_put(out, l->v[i].name, i))
			return -1;
	}
	return 0;
}

/* EC2 still lists it as over: there is nothing to end. One that is not listed may live, for a list may be short. */
static bool is_over(const struct brake_input *in, const struct map *ids, const char *id)
{
	size_t i = in->instances ? map_get(ids, id) : SIZE_MAX;

	return i != SIZE_MAX && !instance_alive(in->instances->v[i].state) && in->instances->v[i].state != INSTANCE_UNKNOWN;
}

static int weigh(const struct brake_input *in, const struct plan *p, struct toll *t)
{
	struct map used = { 0 }, ids = { 0 };
	int rc = map_in_use(in->nodes, &used, &t->in_use);

	if (!rc && in->instances)
		rc = map_instances(&ids, in->instances);
	for (size_t i = 0; !rc && i < p->n; i++) {
		const struct action *a = &p->v[i];

		if (a->kind == ACT_TERMINATE && a->node && a->instance && map_get(&used, a->node) != SIZE_MAX &&
		    !is_over(in, &ids, a->instance))
			rc = strs_add(&t->instances, a->instance);
	}
	map_clear(&used);
	map_clear(&ids);
	if (!rc && t->instances.n)
		qsort(t->instances.v, t->instances.n, sizeof(*t->instances.v), by_text);
	return rc;
}

static bool too_many(const struct brake_input *in, size_t n, size_t in_use)
{
	return n > BRAKE_AT_LEAST && (int64_t)n * 100 > in->share_percent * (int64_t)in_use;
}

static int look_anew(const struct brake_input *in, const struct strs *instances, size_t in_use, bool released, struct brake *b)
{
	if (strs_copy(&b->instances, instances))
		return -1;
	b->since_ms = in->now_ms;
	b->in_use = in_use;
	b->released = released;
	return 0;
}

/* How many of t the first look has not asked for. */
static size_t count_new(const struct toll *t, const struct brake *b)
{
	size_t n = 0;

	for (size_t i = 0; i < t->instances.n; i++)
		n += !has(&b->instances, t->instances.v[i]);
	return n;
}

/* Which machines pass. */
struct pass {
	bool known;  /* those that the first look asked for */
	bool others;
};

/* A second look does not vouch for more than the share of others: theirs is a first one. A person vouches for all
 * that this look asks for, not for what a later one will. */
static int judge(const struct brake_input *in, const struct toll *t, struct brake *b, struct pass *pass)
{
	if (!b->instances.n || in->now_ms < b->since_ms)
		return look_anew(in, &t->instances, t->in_use, false, b);
	/* a time that is still to come is from before the clock was set back: nobody vouched for what is asked today */
	if (in->confirmed_ms > b->since_ms && in->confirmed_ms <= in->now_ms) {
		*pass = (struct pass){ true, true };
		return look_anew(in, &t->instances, t->in_use, true, b);
	}
	if (b->released || in->now_ms - b->since_ms >= BRAKE_LOOK_MS) {
		b->released = true;
		*pass = (struct pass){ true, !too_many(in, count_new(t, b), t->in_use) };
	}
	return 0;
}

/* Machines that do not pass, and their nodes. */
static int find_held(const struct plan *p, const struct toll *t, const struct brake *b, const struct pass *pass, struct strs *machines,
		     struct nodeset *nodes)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct action *a = &p->v[i];

		if (a->kind != ACT_TERMINATE || !a->node || !a->instance || !has(&t->instances, a->instance))
			continue;
		if (has(&b->instances, a->instance) ? pass->known : pass->others)
			continue;
		if (strs_add(machines, a->instance) || nodeset_add(nodes, a->node) < 0)
			return -1;
	}
	if (machines->n)
		qsort(machines->v, machines->n, sizeof(*machines->v), by_text);
	return 0;
}

static bool is_held(const struct action *a, const void *nodes)
{
	return a->node && nodeset_has(nodes, a->node);
}

static int hold(const struct brake_input *in, const struct toll *t, const struct pass *pass, struct plan *p, struct brake *b)
{
	struct nodeset *nodes = nodeset_create();
	struct strs machines = { 0 };
	int rc = nodes ? find_held(p, t, b, pass, &machines, nodes) : -1;

	b->held = machines.n;
	if (rc == 0 && machines.n > 0 && pass->known)
		rc = look_anew(in, &machines, t->in_use, false, b);
	if (rc == 0)
		rc = (int)plan_drop(p, is_held, nodes);
	strs_clear(&machines);
	nodeset_destroy(nodes);
	return rc;
}

int brake_apply(const struct brake_input *in, struct plan *p, struct brake *b, struct err *e)
{
	struct pass pass = { false, false };
	struct toll t = { 0 };
	int rc;

	b->held = 0;
	if (!in->nodes)
		return 0;
	rc = weigh(in, p, &t);
	if (rc == 0 && !too_many(in, t.instances.n, t.in_use))
		brake_clear(b);
	else if (rc == 0)
		rc = judge(in, &t, b, &pass) ? -1 : hold(in, &t, &pass, p, b);
	strs_clear(&t.instances);
	return rc < 0 ? err_nomem(e) : rc;
}

void brake_clear(struct brake *b)
{
	strs_clear(&b->instances);
	*b = (struct brake){ 0 };
}
