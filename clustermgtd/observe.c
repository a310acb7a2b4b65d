/* SPDX-License-Identifier: GPL-2.0-or-later */
/* observe.c - read the sources, each on its own: what one of them cannot tell stops only the decisions that need it. */
#include "clustermgtd/observe.h"

#include "clustermgtd/clouds.h"
#include "clustermgtd/rows.h"
#include "lib/apply/apply.h"
#include "lib/aws/ec2.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/node/nodeset.h"
#include "lib/plan/capacity.h"
#include "lib/plan/reconcile.h"
#include "lib/slurmctl/slurmctl.h"
#include "lib/state/store.h"

#include <stdlib.h>
#include <string.h>

#define HEALTH_MS 60000 /* what is not well is asked for so often; loops between, that a program asked for, use what was told */

/* The clock may have been set since the daemon before us. */
static bool stamped_ahead(struct world *w, int64_t now)
{
	int64_t ok = 0, failed = 0;

	return w->store && store_source(w->store, "loop", &ok, &failed, NULL, NULL) == 0 && ok > now + CLOCK_AHEAD_MS;
}

static void look_at_clock(struct world *w, struct kept *k, bool quiet)
{
	int64_t now = clock_wall_ms(), by;

	if (k->clock.wall_ms == 0 && stamped_ahead(w, now))
		k->clock.set_ms = now;
	by = clock_watch_look(&k->clock, now, clock_mono_ms());
	if (by == 0)
		return;
	if (!quiet)
		log_warn("the clock was set by %lld s; ages count from now on", (long long)by / 1000);
	k->blocks.read_ms = 0;
	brake_clear(&k->brake);
}

static void read_slurm(struct observed *o)
{
	o->slurm = slurmctl_ping(&o->slurm_why) == 0 && slurmctl_nodes(&o->nodes, &o->slurm_why) == 0;
	if (o->slurm)
		o->partitions_read = slurmctl_partitions(&o->partitions, &o->slurm_why) == 0;
}

static void read_holds(struct world *w, struct observed *o, const struct kept *k, bool quiet)
{
	struct err e = {""};

	if (!o->slurm || !block_watch_compares(w, &k->blocks))
		return;
	o->holds_read = slurmctl_reservations(&o->holds, &e) == 0;
	if (!o->holds_read && !quiet && say_again(e.text))
		log_error("reservations: %s", e.text);
}

static bool health_is_due(const struct world *w, const struct kept *k)
{
	int64_t period = w->settings->loop_s * 1000 - 1000;

	return !k->healths_read || k->healths_partial || clock_mono_ms() - k->healths_mono_ms >= (period < HEALTH_MS ? period : HEALTH_MS);
}

/* True if EC2 was asked. */
static bool read_health(struct world *w, struct observed *o, struct kept *k, int64_t deadline)
{
	bool due = o->instances && health_is_due(w, k);

	if (due) {
		k->healths_read = clouds_read_health(w, o, &k->healths, deadline);
		k->healths_partial = !o->ec2;
		k->healths_mono_ms = clock_mono_ms();
	}
	o->healths = o->instances && k->healths_read ? &k->healths : NULL;
	return due;
}

/* resume launches only while somebody reads EC2: one cloud that is away must not stop the others. */
static void report_clouds(struct world *w, const struct observed *o)
{
	struct err e = {""};
	int rc = 0;

	if (w->gen->n_clouds == 0 || !w->store || o->n_calls == 0 || store_batch_begin(w->store, NULL) < 0)
		return;
	for (size_t i = 0; i < o->n_calls && rc == 0; i++)
		rc = source_write_cloud(w, i, o->cloud_unread[i] ? &o->ec2_why : NULL, &e);
	store_batch_end(w->store, rc, &e); /* trouble of the file is told by the other sources */
}

static void report(struct world *w, const struct observed *o, struct kept *k, bool health_asked)
{
	bool slurm = o->slurm && o->partitions_read;

	source_report(&k->sources, SOURCE_SLURM, slurm ? NULL : &o->slurm_why);
	source_report(&k->sources, SOURCE_EC2, o->instances ? NULL : &o->ec2_why);
	if (o->instances && !o->ec2 && say_again(o->ec2_why.text))
		log_error("%s: %s", source_name(SOURCE_EC2), o->ec2_why.text);
	if (health_asked)
		source_report(&k->sources, SOURCE_HEALTH, k->healths_read ? NULL : &o->health_why);
	report_clouds(w, o);
	sources_write(w, &k->sources);
	if (!o->rows || !o->failures_read)
		source_report(&k->sources, SOURCE_STATE, &o->rows_why);
}

void observe(struct world *w, struct observed *o, struct kept *k, int64_t deadline, bool quiet)
{
	bool health_asked;

	memset(o, 0, sizeof *o);
	look_at_clock(w, k, quiet);
	o->at_ms = clock_wall_ms();
	o->clock_set_ms = k->clock.set_ms;
	rows_read(w, o); /* first: what changes after it is not judged by this loop */
	k->clock.set_ms = o->clock_set_ms;
	clouds_read(w, o, deadline);
	health_asked = read_health(w, o, k, deadline);
	block_watch_read(w, &k->blocks, deadline, quiet);
	read_slurm(o); /* last: EC2 may take its minute, and a node that came back meanwhile has a job by now */
	read_holds(w, o, k, quiet);
	if (!quiet)
		report(w, o, k, health_asked);
}

static void print_unread(FILE *out, const char *name, bool was_read, const struct err *why)
{
	if (!was_read)
		fprintf(out, "%s was not read: %s; nothing that needs it was decided\n", name, why->text);
}

void observed_print_unread(const struct observed *o, FILE *out)
{
	print_unread(out, "Slurm", o->slurm, &o->slurm_why);
	print_unread(out, "EC2", o->ec2, &o->ec2_why);
	print_unread(out, "who is unwell in EC2", o->healths || !o->instances, &o->health_why);
	print_unread(out, "the state file", o->rows, &o->rows_why);
}

void observed_clear(struct observed *o)
{
	nodes_clear(&o->nodes);
	slurmctl_reservations_clear(&o->holds);
	for (size_t i = 0; i < o->n_calls; i++)
		ec2_call_destroy(o->call[i]);
	free(o->call);
	free(o->cloud_unread);
	free(o->merged.v);
	bindings_clear(&o->bindings);
	launches_clear(&o->launches);
	strs_clear(&o->dead);
	kvs_clear(&o->backoff);
	kvs_clear(&o->closed);
	shortages_clear(&o->shortages);
	failures_clear(&o->failures);
	partitions_clear(&o->partitions);
	free(o->protection);
	nodeset_destroy(o->cycling);
	violations_clear(&o->violations);
}

void kept_clear(struct kept *k)
{
	kvs_clear(&k->seen);
	block_watch_clear(&k->blocks);
	brake_clear(&k->brake);
	concerns_clear(&k->concerns);
	healths_clear(&k->healths);
	notes_clear(&k->notes);
	metrics_clear(&k->metrics);
}

void observed_forget(struct world *w, const struct observed *o)
{
	struct capacity_rule rule = capacity_rule_of(w->settings);
	int64_t now = clock_wall_ms();
	struct err e = {""};

	for (size_t i = 0; i < o->shortages.n; i++) {
		struct shortage over = o->shortages.v[i];

		if (!capacity_stale(&over, &rule, now) ||
		    (over.failed_ms <= now && now < over.failed_ms + RECONCILE_REQUEUE_MS))
			continue;
		over.failures = 0;
		if (store_shortage_put(w->store, &over, &e) < 0 && say_again(e.text))
			log_warn("capacity memory: %s", e.text);
	}
}

static bool lacks_address(const struct bindings *l)
{
	for (size_t i = 0; i < l->n; i++) {
		if (l->v[i].state == BINDING_BOUND && !l->v[i].ip)
			return true;
	}
	return false;
}

bool observed_unfinished(const struct observed *o)
{
	return o->launches.n > 0 || !o->slurm || !o->ec2 || lacks_address(&o->bindings);
}

/* Which comes first: ms, or another time if that is still to come. */
static int64_t sooner(int64_t ms, int64_t other, int64_t now)
{
	return other > now && other < ms ? other : ms;
}

int64_t observed_wake_ms(const struct observed *o, const struct kept *k, int64_t ms)
{
	int64_t now = clock_wall_ms();

	for (size_t i = 0; i < o->shortages.n; i++) {
		ms = sooner(ms, o->shortages.v[i].until_ms, now);
		ms = sooner(ms, o->shortages.v[i].failed_ms + RECONCILE_REQUEUE_MS, now);
	}
	for (size_t i = 0; i < k->blocks.blocks.n; i++)
		ms = sooner(ms, k->blocks.blocks.v[i].start_ms, now);
	if (k->brake.held > 0)
		ms = sooner(ms, k->brake.since_ms + BRAKE_LOOK_MS, now);
	return sooner(ms, o->frozen_until_ms, now);
}
