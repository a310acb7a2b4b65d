/* SPDX-License-Identifier: GPL-2.0-or-later */
/* decide.c - one look at the world through every pure rule, in the order in which one may overrule another. Nothing is read or
 * changed here. */
#include "clustermgtd/observe.h"

#include "lib/apply/apply.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/node/nodeset.h"
#include "lib/plan/blocks.h"
#include "lib/plan/reconcile.h"

#include <stdlib.h>

static int plan_blocks(struct world *w, const struct observed *o, struct kept *k, struct plan *out, struct nodeset *held,
		       struct err *e)
{
	struct block_hold *holds = calloc(o->holds.n + 1, sizeof *holds);
	struct blocks_input in = {
	    .gen = w->gen,
	    .blocks = &k->blocks.blocks,
	    .holds = o->holds_read ? holds : NULL,
	    .n_holds = o->holds.n,
	    .now_ms = clock_wall_ms(),
	};
	size_t before = out->n;
	int rc;

	if (!holds)
		return err_nomem(e);
	for (size_t i = 0; i < o->holds.n; i++)
		holds[i] = (struct block_hold){.name = o->holds.v[i].name, .nodes = o->holds.v[i].nodes};
	rc = blocks_plan(&in, out, held, e);
	if (rc == 0 && o->holds_read && out->n == before)
		k->blocks.swept = w->gen->number;
	free(holds);
	return rc;
}

static int plan_fleet(struct world *w, const struct observed *o, const struct nodeset *held, struct plan *out, struct err *e)
{
	struct fleet_input in = {
	    .gen = w->gen,
	    .nodes = o->slurm ? &o->nodes : NULL,
	    .partitions = o->partitions_read ? &o->partitions : NULL,
	    .bindings = &o->bindings,
	    .launches = &o->launches,
	    .instances = o->ec2 ? o->instances : NULL,
	    .closed = &o->closed,
	    .held = held,
	    .fleet = o->fleet,
	};

	return o->rows ? fleet_plan(&in, out, e) : 0;
}

static int plan_protection(struct world *w, struct observed *o, struct plan *out, struct err *e)
{
	struct protect_input in = {
	    .gen = w->gen,
	    .nodes = o->slurm ? &o->nodes : NULL,
	    .bindings = o->rows ? &o->bindings : NULL,
	    .failures = o->failures_read ? &o->failures : NULL,
	    .rule = {.count = w->settings->protected_count, .window_ms = w->settings->protected_window_s * 1000},
	    .now_ms = clock_wall_ms(),
	};

	free(o->protection);
	nodeset_destroy(o->cycling);
	o->protection = calloc(w->gen->n_resources + 1, sizeof *o->protection);
	o->cycling = nodeset_create();
	if (!o->protection || !o->cycling)
		return err_nomem(e);
	return protect_judge(&in, o->protection, o->cycling, e) < 0 ? -1 : protect_plan(&in, out, e);
}

static int hold_back(struct world *w, const struct observed *o, struct kept *k, struct plan *p, struct err *e)
{
	struct brake_input in = {
	    .nodes = o->slurm ? &o->nodes : NULL,
	    .instances = o->instances,
	    .share_percent = w->settings->terminate_share,
	    .now_ms = clock_wall_ms(),
	    .confirmed_ms = o->confirmed_ms,
	};

	return brake_apply(&in, p, &k->brake, e) < 0 ? -1 : 0;
}

static int plan_all(struct world *w, struct observed *o, struct kept *k, struct nodeset *held, struct plan *out, struct err *e)
{
	struct reconcile_input in = {
	    .gen = w->gen,
	    .nodes = o->slurm ? &o->nodes : NULL,
	    .instances = o->instances,
	    .cloud_unread = o->cloud_unread,
	    .bindings = o->rows ? &o->bindings : NULL,
	    .launches = o->rows ? &o->launches : NULL,
	    .shortages = o->rows ? &o->shortages : NULL,
	    .healths = o->healths,
	    .fleet = o->fleet.status,
	    .health_grace_ms = w->settings->health_grace_s * 1000,
	    .event_lead_ms = w->settings->event_lead_s * 1000,
	    .held = held,
	    .dead_pids = &o->dead,
	    .now_ms = clock_wall_ms(),
	    .orphan_grace_ms = w->settings->orphan_grace_s * 1000,
	    .observed_ms = o->at_ms,
	    .clock_set_ms = o->clock_set_ms,
	    .static_backoff = &o->backoff,
	    .seen = &k->seen,
	};

	if (plan_blocks(w, o, k, out, held, e) < 0 || plan_fleet(w, o, held, out, e) < 0 || plan_protection(w, o, out, e) < 0)
		return -1;
	in.protection = o->protection;
	in.cycling = o->cycling;
	if (invariants_check(&in, &o->violations, e) < 0 || reconcile_watch(&in, &k->seen, e) < 0 ||
	    reconcile_plan(&in, out, e) < 0)
		return -1;
	return hold_back(w, o, k, out, e);
}

int observed_plan(struct world *w, struct observed *o, struct kept *k, struct plan *out)
{
	struct nodeset *held = nodeset_create();
	struct err e = {""};
	int rc = held ? plan_all(w, o, k, held, out, &e) : err_nomem(&e);

	if (rc < 0)
		log_error("%s", e.text);
	nodeset_destroy(held);
	return rc;
}
