/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settle.c - rows, then Slurm, then the machines that are over, then the rows' end. */
#include "lib/apply/settle.h"

#include "lib/apply/apply.h"
#include "lib/apply/bind.h"
#include "lib/apply/cloud.h"
#include "lib/apply/launch.h"
#include "lib/apply/tell.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/node/map.h"
#include "lib/node/name.h"
#include "lib/node/nodeset.h"
#include "lib/slurmctl/slurmctl.h"
#include "lib/state/store.h"

#include <stdlib.h>

/* The brake: another process that works on the same launch may have given one of them to a node. */
static void drop_bound(struct world *w, struct strs *ids)
{
	size_t kept = 0;

	for (size_t i = 0; i < ids->n; i++) {
		if (store_machine_wanted(w->store, ids->v[i], NULL, NULL) == 0) {
			char *id = ids->v[i];

			ids->v[i] = ids->v[kept];
			ids->v[kept++] = id;
			continue;
		}
		log_warn("%s is a node's machine by now: it stays", ids->v[i]);
	}
	while (ids->n > kept)
		free(ids->v[--ids->n]);
}

/* The cloud of each, from the launch it came with. */
static int add_clouds(const struct world *w, const struct launching *v, size_t n, const struct strs *ids, struct cloud_ids *out)
{
	struct map at = {0};
	int rc = 0;

	for (size_t i = 0; w->n_clouds > 0 && i < n && rc == 0; i++) {
		for (size_t k = 0; k < v[i].got.n && rc == 0; k++)
			rc = map_put(&at, v[i].got.v[k].id, v[i].cloud);
	}
	for (size_t i = 0; i < ids->n && rc == 0; i++) {
		size_t cloud = map_get(&at, ids->v[i]);

		rc = cloud_ids_add(out, ids->v[i], cloud < SIZE_MAX ? cloud : 0);
	}
	map_clear(&at);
	return rc;
}

static void return_machines(struct world *w, const struct launching *v, size_t n, struct strs *ids, int64_t deadline)
{
	struct cloud_ids all = {.cap = 0};
	struct err e = {""};
	char *text;

	drop_bound(w, ids);
	if (ids->n == 0)
		return;
	text = strs_join(ids, ",");
	log_info("returning %zu machines: %s", ids->n, text ? text : "");
	apply_event(w, "terminate", NULL, text, "surplus");
	apply_total(w, "returned", (int64_t)ids->n);
	free(text);
	if (add_clouds(w, v, n, ids, &all) < 0)
		err_nomem(&e);
	if (e.text[0] || cloud_terminate(w, &all, deadline, &e) < 0)
		log_error("returning %zu machines: %s; clustermgtd ends them", ids->n, e.text);
	cloud_ids_clear(&all);
}

static void tell_binds(struct world *w, struct binds *b, int64_t deadline)
{
	size_t untold;

	if (b->n == 0)
		return;
	binds_tell(w, b, deadline + AFTER_LIMIT_MS);
	binds_learn_addresses(w, b, deadline, deadline + AFTER_LIMIT_MS);
	untold = binds_tell(w, b, deadline + AFTER_LIMIT_MS);
	if (untold > 0)
		log_warn("%zu nodes have a machine but not yet its address in Slurm; clustermgtd writes it", untold);
}

static void keep_untold(struct launching *v, size_t n, const struct binds *b)
{
	for (size_t k = 0; k < b->n; k++) {
		for (size_t i = 0; !b->v[k].told && i < n; i++)
			v[i].keep = v[i].keep || str_eq(b->v[k].launch, v[i].row.id);
	}
}

int settle(struct world *w, struct launching *v, size_t n, struct binds *b, struct strs *surplus, int64_t deadline,
	   struct err *e)
{
	int rc = binds_commit(w, b, surplus, e);

	if (rc == 0) {
		tell_binds(w, b, deadline);
		keep_untold(v, n, b);
	}
	return_machines(w, v, n, surplus, deadline + AFTER_LIMIT_MS);
	return rc;
}

/* Rows whose every machine is bound and told, or returned, are done; the others stay for clustermgtd. */
void settle_close(struct world *w, const struct launching *v, size_t n)
{
	struct err e = {""};
	int rc = store_batch_begin(w->store, &e);

	if (rc == 0) {
		for (size_t i = 0; i < n && rc == 0; i++) {
			if (!v[i].keep && v[i].row.id && (v[i].outcome == LAUNCHING_CAME || v[i].outcome == LAUNCHING_REFUSED))
				rc = store_launch_done(w->store, v[i].row.id, &e);
		}
		rc = store_batch_end(w->store, rc, &e);
	}
	if (rc < 0)
		log_warn("rows of launches: %s", e.text);
}

/* Static nodes are launched by clustermgtd, again and again: not at once after a failure. */
static int back_off_one(struct world *w, const char *name, struct err *e)
{
	struct node_name at;
	char *key;
	int rc;

	if (node_name_resolve(w->gen, name, &at) < 0 || !at.is_static)
		return 0;
	key = str_fmt("%s%s", STATIC_BACKOFF_PREFIX, name);
	rc = key ? store_counter_set(w->store, key, clock_wall_ms() + STATIC_BACKOFF_MS, e) : err_nomem(e);
	free(key);
	return rc;
}

static void back_off(struct world *w, const char *const *names, size_t n)
{
	struct err e = {""};
	int rc = store_batch_begin(w->store, &e);

	if (rc == 0) {
		for (size_t i = 0; i < n && rc == 0; i++)
			rc = back_off_one(w, names[i], &e);
		rc = store_batch_end(w->store, rc, &e);
	}
	if (rc < 0)
		log_warn("back-off of static nodes: %s", e.text);
}

void settle_failed(struct world *w, const char *const *names, size_t n, const struct strs *jobs, const char *code,
		   const char *why, int64_t deadline)
{
	char *reason = str_fmt("(Code:%s)Failure when resuming nodes%s%s", code, why ? ": " : "", why ? why : "");
	char *text = nodeset_text_of(names, n);
	struct err e = {""};

	log_warn("%zu nodes fail with %s: %s", n, code, text ? text : "");
	apply_event_jobs(w, "nodes-failed", text, NULL, jobs, reason);
	if (!reason || tell_state(names, n, slurmctl_state_down, reason, deadline, &e) < 0)
		log_error("nodes that failed with %s: %s", code, reason ? e.text : "out of memory");
	back_off(w, names, n);
	free(text);
	free(reason);
}
