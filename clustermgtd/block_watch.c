/* SPDX-License-Identifier: GPL-2.0-or-later */
/* block_watch.c - the state of capacity blocks, asked seldom. What cannot be read stays as it was told last. */
#include "clustermgtd/block_watch.h"

#include "lib/apply/apply.h"
#include "lib/apply/event.h"
#include "lib/aws/ec2.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"

#include <stdlib.h>

#define PERIOD_MS (INT64_C(10) * 60 * 1000)

static void say_change(struct world *w, const struct block *b, const char *before)
{
	char *text = str_fmt("capacity block %s: %s, before: %s", b->id, b->state, before ? before : "not known");

	log_info("%s", text ? text : b->id);
	apply_event(w, "capacity-block", NULL, NULL, text ? text : b->id);
	free(text);
}

static int learn(struct world *w, struct blocks *l, const char *id, const struct ec2_reservations *told, bool quiet)
{
	struct block *b = blocks_find(l, id);
	const struct ec2_reservation *r = NULL;
	char *before;

	for (size_t i = 0; i < told->n && !r; i++)
		r = str_eq(told->v[i].id, id) ? &told->v[i] : NULL;
	if (!b)
		b = blocks_add(l, id);
	if (!b)
		return -1;
	before = b->state;
	b->state = str_dup(r && r->state ? r->state : BLOCK_UNKNOWN);
	b->start_ms = r ? r->start_ms : 0;
	b->end_ms = r ? r->end_ms : 0;
	if (b->state && !quiet && !str_eq(before, b->state))
		say_change(w, b, before);
	free(before);
	return b->state ? 0 : -1;
}

/* Ids of the blocks in one cloud, each once. */
static int ids_in(const struct generation *g, size_t cloud, struct strs *ids)
{
	for (size_t i = 0; i < g->n_resources; i++) {
		const char *id = blocks_of(&g->resources[i]);

		if (id && (size_t)g->resources[i].cloud == cloud && !strs_has(ids, id) && strs_add(ids, id) < 0)
			return -1;
	}
	return 0;
}

static int ask(struct world *w, struct block_watch *k, size_t cloud, const struct strs *ids, int64_t deadline, bool quiet)
{
	struct ec2_call *c = ec2_describe_reservations((const char *const *)ids->v, ids->n);
	struct err e = {""};
	int rc = c ? ec2_perform_one(world_cloud_at(w, cloud), c, deadline, &e) : err_nomem(&e);

	for (size_t i = 0; i < ids->n && rc == 0; i++)
		rc = learn(w, &k->blocks, ids->v[i], ec2_describe_reservations_reply(c), quiet) < 0 ? err_nomem(&e) : 0;
	if (rc < 0 && !quiet && say_again(e.text))
		log_error("capacity blocks: %s", e.text);
	ec2_call_destroy(c);
	return rc;
}

/* May the state of one that is used change soon, or is it not known at all? */
static bool waits(const struct world *w, const struct block_watch *k, int64_t now)
{
	for (size_t i = 0; i < w->gen->n_resources; i++) {
		const char *id = blocks_of(&w->gen->resources[i]);
		const struct block *b = id ? blocks_find(&k->blocks, id) : NULL;

		if (id && (!b || (!block_is_active(b, now) && !block_is_over(b))))
			return true;
	}
	return false;
}

void block_watch_read(struct world *w, struct block_watch *k, int64_t deadline, bool quiet)
{
	int64_t now = clock_wall_ms();

	if (!k->incomplete && k->read_ms && now - k->read_ms < PERIOD_MS && !waits(w, k, now))
		return;
	k->read_ms = now;
	k->incomplete = false;
	for (size_t i = 0; i <= w->gen->n_clouds; i++) {
		struct strs ids = {0};

		if (ids_in(w->gen, i, &ids) < 0 || (ids.n > 0 && ask(w, k, i, &ids, deadline, quiet) < 0))
			k->incomplete = true;
		strs_clear(&ids);
	}
}

bool block_watch_compares(const struct world *w, const struct block_watch *k)
{
	for (size_t i = 0; i < w->gen->n_resources; i++) {
		if (blocks_of(&w->gen->resources[i]))
			return true;
	}
	return k->swept != w->gen->number;
}

void block_watch_clear(struct block_watch *k)
{
	blocks_clear(&k->blocks);
	*k = (struct block_watch){0};
}
