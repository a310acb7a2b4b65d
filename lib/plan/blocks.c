/* SPDX-License-Identifier: GPL-2.0-or-later */
/* blocks.c - which reservations there should be, compared with those there are. */
#include "lib/plan/blocks.h"

#include "lib/base/err.h"
#include "lib/node/name.h"
#include "lib/node/nodeset.h"

#include <stdlib.h>
#include <string.h>

struct block *blocks_add(struct blocks *l, const char *id)
{
	struct block *b;

	if (mem_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v)))
		return NULL;
	b = &l->v[l->n];
	*b = (struct block){ .id = str_dup(id) };
	if (!b->id)
		return NULL;
	l->n++;
	return b;
}

struct block *blocks_find(const struct blocks *l, const char *id)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->v[i].id, id))
			return &l->v[i];
	return NULL;
}

void blocks_clear(struct blocks *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].id);
		free(l->v[i].state);
	}
	free(l->v);
	*l = (struct blocks){ 0 };
}

const char *blocks_of(const struct gen_resource *r)
{
	if (!r->reservation_id || r->capacity != CAPACITY_BLOCK)
		return NULL;
	for (size_t i = 0; i < r->n_stages; i++)
		if (r->stages[i].capacity != CAPACITY_BLOCK)
			return NULL;
	return r->reservation_id;
}

bool block_is_active(const struct block *b, int64_t now_ms)
{
	return str_eq(b->state, "active") && (!b->end_ms || b->end_ms - now_ms >= BLOCK_LAST_MS);
}

bool block_is_over(const struct block *b)
{
	static const char *const over[] = { "expired", "cancelled", "failed", "payment-failed", "unsupported", "unavailable",
					    BLOCK_UNKNOWN };

	for (size_t i = 0; i < sizeof(over) / sizeof(over[0]); i++)
		if (str_eq(b->state, over[i]))
			return true;
	return false;
}

static int add_nodes(struct nodeset *to, const struct gen_resource *r)
{
	for (int i = 1; i <= r->max_count; i++) {
		bool is_static = i <= r->min_count;
		char *name = node_name_format(r->queue, r->name, is_static, is_static ? i : i - r->min_count);
		int rc = name ? nodeset_add(to, name) : -1;

		free(name);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* The nodes of every resource on this block. NULL on no memory. */
static struct nodeset *nodes_on(const struct generation *g, const char *id)
{
	struct nodeset *s = nodeset_create();

	for (size_t i = 0; s && i < g->n_resources; i++) {
		if (str_eq(blocks_of(&g->resources[i]), id) && add_nodes(s, &g->resources[i])) {
			nodeset_destroy(s);
			return NULL;
		}
	}
	return s;
}

static bool same_nodes(const struct nodeset *want, const char *text)
{
	struct nodeset *have = nodeset_create();
	bool same = have && !nodeset_parse(have, text ? text : "", NULL) && nodeset_count(have) == nodeset_count(want);

	for (size_t i = 0; same && i < nodeset_count(want); i++)
		same = nodeset_has(have, nodeset_get(want, i));
	nodeset_destroy(have);
	return same;
}

static const struct block_hold *find_hold(const struct blocks_input *in, const char *name)
{
	for (size_t i = 0; i < in->n_holds; i++)
		if (str_eq(in->holds[i].name, name))
			return &in->holds[i];
	return NULL;
}

static int reserve(struct plan *out, const char *name, const struct nodeset *nodes, const struct block *b)
{
	struct action *a = plan_add(out, ACT_RESERVE, "block-not-active");

	if (!a)
		return -1;
	a->reservation = str_dup(name);
	a->reason = str_eq(b->state, "active") ? str_fmt("capacity block %s is about to end", b->id)
					       : str_fmt("capacity block %s is %s", b->id, b->state);
	for (size_t i = 0; i < nodeset_count(nodes); i++)
		if (strs_add(&a->nodes, nodeset_get(nodes, i)))
			return -1;
	return a->reservation && a->reason ? 0 : -1;
}

static int unreserve(struct plan *out, const char *name, const char *code, const char *reason)
{
	struct action *a = plan_add(out, ACT_UNRESERVE, code);

	if (!a)
		return -1;
	a->reservation = str_dup(name);
	a->reason = str_dup(reason);
	return a->reservation && a->reason ? 0 : -1;
}

static int judge(const struct blocks_input *in, const char *id, const struct nodeset *nodes, struct plan *out)
{
	const struct block *b = blocks_find(in->blocks, id);
	char *name = str_fmt("%s%s", BLOCK_HOLD, id);
	const struct block_hold *hold = name ? find_hold(in, name) : NULL;
	int rc = name ? 0 : -1;

	if (name && b && in->holds && block_is_active(b, in->now_ms))
		rc = hold ? unreserve(out, name, "block-active", "the capacity block is active") : 0;
	else if (name && b && in->holds && !(hold && same_nodes(nodes, hold->nodes)))
		rc = reserve(out, name, nodes, b);
	free(name);
	return rc;
}

static int judge_block(const struct blocks_input *in, const char *id, struct plan *out, struct nodeset *held)
{
	const struct block *b = blocks_find(in->blocks, id);
	struct nodeset *nodes = nodes_on(in->gen, id);
	int rc = nodes ? judge(in, id, nodes, out) : -1;

	for (size_t i = 0; !rc && !(b && block_is_active(b, in->now_ms)) && i < nodeset_count(nodes); i++)
		rc = nodeset_add(held, nodeset_get(nodes, i)) < 0 ? -1 : 0;
	nodeset_destroy(nodes);
	return rc;
}

/* Is this the first resource on its block? */
static bool is_first(const struct generation *g, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (str_eq(blocks_of(&g->resources[i]), blocks_of(&g->resources[at])))
			return false;
	return true;
}

static bool is_used(const struct generation *g, const char *id)
{
	for (size_t i = 0; i < g->n_resources; i++)
		if (str_eq(blocks_of(&g->resources[i]), id))
			return true;
	return false;
}

int blocks_plan(const struct blocks_input *in, struct plan *out, struct nodeset *held, struct err *e)
{
	const struct generation *g = in->gen;
	int rc = 0;

	for (size_t i = 0; !rc && i < g->n_resources; i++)
		if (blocks_of(&g->resources[i]) && is_first(g, i))
			rc = judge_block(in, blocks_of(&g->resources[i]), out, held);
	for (size_t i = 0; !rc && in->holds && i < in->n_holds; i++) {
		const char *name = in->holds[i].name;

		if (str_prefix(name, BLOCK_HOLD_OURS) && !is_used(g, name + strlen(BLOCK_HOLD)))
			rc = unreserve(out, name, "block-unused", "no compute resource uses this capacity block any more");
	}
	return rc ? err_nomem(e) : 0;
}
