/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind.c - rows first, then Slurm. A machine whose node is not told is still known by its row, so clustermgtd tells it later.
 */
#include "lib/apply/bind.h"

#include "lib/apply/apply.h"
#include "lib/apply/cloud.h"
#include "lib/apply/launch.h"
#include "lib/apply/tell.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/node/map.h"
#include "lib/slurmctl/slurmctl.h"
#include "lib/state/store.h"

#include <stdlib.h>
#include <string.h>

#define LEARN_FIRST_MS 200 /* after the first look: EC2 needs some hundred milliseconds to show a new instance everywhere */
#define LEARN_MAX_MS 2000

int binds_add(struct binds *l, const char *node, const char *instance, const char *ip, const char *launch, const char *claim)
{
	struct bind *b;

	if (mem_grow(&l->v, &l->cap, l->n + 1, sizeof *l->v) < 0)
		return -1;
	b = &l->v[l->n++];
	*b = (struct bind){
	    .node = str_dup(node),
	    .instance = str_dup(instance),
	    .ip = str_dup(ip),
	    .launch = str_dup(launch),
	    .claim = str_dup(claim),
	};
	return b->node && b->instance && b->launch && (b->ip || !ip) && (b->claim || !claim) ? 0 : -1;
}

static void bind_free(struct bind *b)
{
	free(b->node);
	free(b->instance);
	free(b->ip);
	free(b->launch);
	free(b->claim);
	free(b->what);
}

void binds_clear(struct binds *l)
{
	for (size_t i = 0; i < l->n; i++)
		bind_free(&l->v[i]);
	free(l->v);
	*l = (struct binds){0};
}

/* A machine of a shared pool may go to a node that another launch had claimed. */
static int commit_one(struct world *w, const struct bind *b, struct err *e)
{
	if (str_eq(b->claim, b->launch))
		return store_bind(w->store, b->node, b->launch, b->instance, b->ip, e);
	if (b->claim) {
		int released = store_launch_release(w->store, b->claim, b->node, e);

		if (released <= 0)
			return released; /* suspended meanwhile */
	}
	return store_adopt(w->store, b->node, b->launch, b->instance, b->ip, e);
}

/* Whose launch claimed the node: jobs are those of the last one asked for, for binds of a launch stand together. */
struct claimed {
	const char *launch;
	struct strs jobs;
};

static void learn_jobs(struct world *w, const struct bind *b, struct claimed *c)
{
	const char *launch = b->claim ? b->claim : b->launch;

	if (str_eq(launch, c->launch))
		return;
	strs_clear(&c->jobs);
	c->launch = launch;
	store_launch_jobs(w->store, launch, &c->jobs, NULL);
}

static void note_bound(struct world *w, const struct bind *b, struct claimed *c)
{
	char *detail = str_fmt("launch %s%s%s%s%s", b->launch, b->what ? ", " : "", b->what ? b->what : "", b->ip ? ", " : "",
			       b->ip ? b->ip : "");

	learn_jobs(w, b, c);
	apply_event_jobs(w, "bind", b->node, b->instance, &c->jobs, detail);
	free(detail);
}

/* One transaction, one fsync. outcome[i]: 1 bound, 0 no longer wanted. */
static int commit_rows(struct world *w, const struct binds *l, int *outcome, struct err *e)
{
	struct claimed claimed = {.launch = NULL};
	int64_t bound = 0;
	int rc = 0;

	if (store_batch_begin(w->store, e) < 0)
		return -1;
	for (size_t i = 0; i < l->n && rc == 0; i++) {
		outcome[i] = commit_one(w, &l->v[i], e);
		rc = outcome[i] < 0 ? -1 : 0;
		if (outcome[i] != 1)
			continue;
		note_bound(w, &l->v[i], &claimed);
		bound++;
	}
	apply_total(w, "bound", bound);
	strs_clear(&claimed.jobs);
	return store_batch_end(w->store, rc, e);
}

int binds_commit(struct world *w, struct binds *l, struct strs *unwanted, struct err *e)
{
	int *outcome = calloc(l->n ? l->n : 1, sizeof *outcome);
	size_t kept = 0;
	int rc = outcome ? commit_rows(w, l, outcome, e) : err_nomem(e);

	for (size_t i = 0; i < l->n && rc == 0; i++) {
		struct bind *b = &l->v[i];

		if (outcome[i] == 1) {
			struct bind keep = *b;

			*b = (struct bind){0};
			l->v[kept++] = keep;
			continue;
		}
		log_info("%s is no longer wanted by %s", b->instance, b->node);
		if (strs_add(unwanted, b->instance) < 0)
			log_error("out of memory: clustermgtd ends %s", b->instance);
		bind_free(b);
		*b = (struct bind){0};
	}
	if (rc == 0)
		l->n = kept;
	free(outcome);
	return rc;
}

static size_t missing_ids(const struct world *w, const struct binds *l, size_t cloud, const char **ids)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (!l->v[i].ip && (cloud == SIZE_MAX || cloud_of_node(w, l->v[i].node) == cloud))
			ids[n++] = l->v[i].instance;
	}
	return n;
}

static int learn_rows(struct world *w, struct binds *l, const struct instances *got, const struct map *ids, struct err *e)
{
	for (size_t i = 0; i < l->n; i++) {
		struct bind *b = &l->v[i];
		size_t k = b->ip ? SIZE_MAX : map_get(ids, b->instance);

		if (k == SIZE_MAX || !got->v[k].private_ip || !(b->ip = str_dup(got->v[k].private_ip)))
			continue;
		if (store_bind(w->store, b->node, b->launch, b->instance, b->ip, e) < 0)
			return -1;
	}
	return 0;
}

/* One transaction. Rows that could not be written only lack the address, which clustermgtd learns again. */
static void learn(struct world *w, struct binds *l, const struct instances *got)
{
	struct map ids = {0};
	struct err e = {""};
	int rc = map_instances(&ids, got) < 0 ? err_nomem(&e) : store_batch_begin(w->store, &e);

	if (rc == 0)
		rc = store_batch_end(w->store, learn_rows(w, l, got, &ids, &e), &e);
	if (rc < 0)
		log_warn("addresses of new machines: %s", e.text);
	map_clear(&ids);
}

/* Of one cloud; true if EC2 answered. By filter, not by id list: an id that EC2 does not show yet must not spoil the others. */
static bool ask_cloud(struct world *w, struct binds *l, size_t cloud, const char **ids, int64_t deadline)
{
	size_t n = missing_ids(w, l, cloud, ids);
	struct instances got = {0};
	struct err e = {""};
	bool ok = true;

	if (n > 0 && cloud_describe(w, cloud, "instance-id", ids, n, deadline, &got, &e) == 0) {
		learn(w, l, &got);
	} else if (n > 0) {
		log_warn("addresses of %zu new machines: %s", n, e.text);
		ok = false;
	}
	instances_clear(&got);
	return ok;
}

static bool ask(struct world *w, struct binds *l, const char **ids, int64_t deadline)
{
	bool ok = true;

	for (size_t i = 0; i < cloud_count(w); i++)
		ok = ask_cloud(w, l, i, ids, deadline) && ok;
	return ok;
}

void binds_learn_addresses(struct world *w, struct binds *l, int64_t deadline, int64_t tell_deadline)
{
	const char **ids = calloc(l->n ? l->n : 1, sizeof *ids);
	int64_t pause = LEARN_FIRST_MS;

	while (ids && missing_ids(w, l, SIZE_MAX, ids) > 0) {
		if (apply_stop || clock_mono_ms() >= deadline || !ask(w, l, ids, deadline))
			break;
		binds_tell(w, l, tell_deadline); /* those with an address need not wait for the others */
		if (missing_ids(w, l, SIZE_MAX, ids) == 0 || clock_mono_ms() + pause >= deadline)
			break;
		clock_sleep_ms(pause);
		pause = pause * 2 < LEARN_MAX_MS ? pause * 2 : LEARN_MAX_MS;
	}
	free(ids);
}

/* Tell all untold binds of the launch of binds[first] in one update. */
static int tell_launch(struct binds *l, size_t first, const char **names, bool *there, int64_t deadline, struct err *e)
{
	const char **addrs = names + l->n, **instances = addrs + l->n;
	const char *launch = l->v[first].launch;
	size_t n = 0;
	int rc;

	for (size_t i = first; i < l->n; i++) {
		if (l->v[i].ip && !l->v[i].told && str_eq(l->v[i].launch, launch)) {
			names[n] = l->v[i].node;
			instances[n] = l->v[i].instance;
			addrs[n++] = l->v[i].ip;
			l->v[i].told = true;
		}
	}
	rc = tell_machines(names, addrs, instances, n, launch, there, deadline, e);
	for (size_t i = first; rc < 0 && i < l->n; i++) {
		if (str_eq(l->v[i].launch, launch))
			l->v[i].told = false;
	}
	return rc;
}

size_t binds_tell(struct world *w, struct binds *l, int64_t deadline)
{
	const char **names = calloc(3 * l->n + 1, sizeof *names); /* and their addresses, and their machines */
	struct err e = {""};
	const char *refused = NULL;
	size_t untold = 0;
	bool there = false;

	(void)w;
	for (size_t i = 0; names && i < l->n; i++) {
		if (l->v[i].told || !l->v[i].ip || str_eq(l->v[i].launch, refused) || tell_launch(l, i, names, &there, deadline, &e) == 0)
			continue;
		refused = l->v[i].launch;
		log_error("launch %s: %s", refused, e.text);
		if (apply_stop || clock_mono_ms() >= deadline || slurmctl_ping(NULL) < 0)
			break; /* clustermgtd goes on */
	}
	for (size_t i = 0; i < l->n; i++)
		untold += !l->v[i].told;
	free(names);
	return untold;
}
