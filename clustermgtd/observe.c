/* SPDX-License-Identifier: GPL-2.0-or-later */
/* observe.c - read the sources, each on its own: what one of them cannot tell stops only the decisions that need it. */
#include "clustermgtd/observe.h"

#include "lib/apply/apply.h"
#include "lib/aws/ec2.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/num.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/node/nodeset.h"
#include "lib/plan/blocks.h"
#include "lib/plan/capacity.h"
#include "lib/plan/reconcile.h"
#include "lib/slurmctl/slurmctl.h"
#include "lib/state/store.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PID_SLACK_MS 2000 /* a row is written some time after its process started; clocks tick in 10 ms */

/* ---- sources */

struct source {
	const char *name;
	bool failing;
};

static struct source slurm_source = {.name = "slurm"}, ec2_source = {.name = "ec2"};

static void source_read(struct world *w, struct source *s, bool ok, const struct err *why, bool quiet)
{
	struct err e = {""};
	const char *name = s->name;

	if (quiet)
		return;
	if (!ok && (say_again(why->text) || !s->failing))
		log_error("%s: %s", name, why->text);
	if (ok && s->failing)
		log_info("%s: can be read again", name);
	s->failing = !ok;
	if (!w->store)
		return;
	if ((ok ? store_source_ok(w->store, name, clock_wall_ms(), &e)
		: store_source_failed(w->store, name, clock_wall_ms(), why->text, &e)) < 0)
		log_warn("%s", e.text);
}

static void read_slurm(struct world *w, struct observed *o, bool quiet)
{
	o->slurm = slurmctl_ping(&o->slurm_why) == 0 && slurmctl_nodes(&o->nodes, &o->slurm_why) == 0;
	source_read(w, &slurm_source, o->slurm, &o->slurm_why, quiet);
}

/* One of the connections; its name stands in front of trouble with it. */
static bool read_cloud(struct world *w, struct observed *o, size_t i, int64_t deadline)
{
	struct err e = {""};

	o->call[i] = ec2_describe_cluster(w->gen->uuid);
	if (!o->call[i])
		err_nomem(&e);
	else if (ec2_perform_one(world_cloud_at(w, i), o->call[i], deadline, &e) == 0)
		return true;
	if (i == 0)
		o->ec2_why = e;
	else
		err_set(&o->ec2_why, "%s: %s", w->gen->clouds[i - 1].region, e.text);
	return false;
}

/* A list of all; the texts stay where they are. */
static int merge(struct observed *o)
{
	for (size_t i = 0; i < o->n_calls; i++) {
		const struct instances *l = o->cloud_unread[i] ? NULL : ec2_describe_reply(o->call[i]);

		for (size_t k = 0; l && k < l->n; k++) {
			struct instance *m = instances_add(&o->merged);

			if (!m)
				return -1;
			*m = l->v[k];
			m->cloud = i;
		}
	}
	o->instances = &o->merged;
	return 0;
}

static void read_clouds(struct world *w, struct observed *o, int64_t deadline)
{
	size_t n = w->gen->n_clouds + 1, unread = 0;

	err_nomem(&o->ec2_why);
	o->call = calloc(n, sizeof *o->call);
	o->cloud_unread = calloc(n, sizeof *o->cloud_unread);
	if (!o->call || !o->cloud_unread)
		return;
	o->n_calls = n;
	for (size_t i = 0; i < n; i++) {
		o->cloud_unread[i] = !read_cloud(w, o, i, deadline);
		unread += o->cloud_unread[i];
	}
	if (unread == n)
		return;
	if (n == 1)
		o->instances = ec2_describe_reply(o->call[0]);
	else if (merge(o) < 0)
		err_nomem(&o->ec2_why);
	o->ec2 = unread == 0 && o->instances;
}

/* resume launches only while somebody reads EC2: one cloud that is away must not stop the others. */
static void read_ec2(struct world *w, struct observed *o, int64_t deadline, bool quiet)
{
	read_clouds(w, o, deadline);
	if (!quiet && o->instances && !o->ec2 && say_again(o->ec2_why.text))
		log_error("%s: %s", ec2_source.name, o->ec2_why.text);
	source_read(w, &ec2_source, o->instances, &o->ec2_why, quiet);
}

static void read_holds(struct world *w, struct observed *o, const struct kept *k, bool quiet)
{
	struct err e = {""};

	if (!o->slurm || !block_watch_compares(w, &k->blocks))
		return;
	o->holds_read = slurmctl_reservations(&o->holds, &e) == 0;
	if (!o->holds_read && !quiet && say_again(e.text))
		log_error("%s: %s", slurm_source.name, e.text);
}

/* ---- rows */

/* Wall time at which a process started, 0 = it is not there. */
static int64_t start_time_ms(int64_t pid)
{
	struct buf b = {0};
	struct strs field = {0};
	char path[64];
	const char *end;
	int64_t ticks = 0, since_boot_ms;
	struct timespec boot;

	snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
	if (file_read(path, 4096, &b, NULL) == 0 && (end = strrchr(buf_text(&b), ')')) &&
	    strs_split(&field, end + 1, ' ') == 0 && field.n > 19)
		num_i64(field.v[19], 0, INT64_MAX, &ticks,
			NULL); /* field 22 of proc(5), the third is the first after the name */
	strs_clear(&field);
	buf_free(&b);
	if (ticks == 0)
		return 0;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	since_boot_ms = boot.tv_sec * INT64_C(1000) + boot.tv_nsec / 1000000;
	return clock_wall_ms() - since_boot_ms + ticks * 1000 / sysconf(_SC_CLK_TCK);
}

/* This process works on no launch between two loops, so a row that names it is as good as one of a dead process. */
static bool worker_gone(const struct launch *l)
{
	if (l->pid <= 0 || l->pid == getpid())
		return true;
	if (kill((pid_t)l->pid, 0) < 0 && errno == ESRCH)
		return true;
	return start_time_ms(l->pid) > l->created_ms + PID_SLACK_MS; /* another process has the number now */
}

static int find_dead(struct observed *o)
{
	for (size_t i = 0; i < o->launches.n; i++) {
		if (worker_gone(&o->launches.v[i]) && strs_add(&o->dead, o->launches.v[i].id) < 0)
			return -1;
	}
	return 0;
}

static int strip_prefix(struct kvs *l, const char *prefix)
{
	for (size_t i = 0; i < l->key.n; i++) {
		char *rest = str_dup(l->key.v[i] + strlen(prefix));

		if (!rest)
			return -1;
		free(l->key.v[i]);
		l->key.v[i] = rest;
	}
	return 0;
}

static void read_rows(struct world *w, struct observed *o, bool quiet)
{
	struct err *e = &o->rows_why;

	if (!w->store) {
		o->rows = o->failures_read = true; /* there is no file: nothing is bound */
		return;
	}
	o->rows = store_bindings(w->store, &o->bindings, e) == 0 && store_launches_open(w->store, &o->launches, e) == 0 &&
		  store_counters(w->store, STATIC_BACKOFF_PREFIX, &o->backoff, e) == 0 && find_dead(o) == 0 &&
		  strip_prefix(&o->backoff, STATIC_BACKOFF_PREFIX) == 0 && store_shortages(w->store, &o->shortages, e) == 0;
	if (!o->rows && !quiet && say_again(e->text))
		log_error("state: %s", e->text);
}

/* ---- what a person asked for */

static int read_ms(struct store *s, const char *name, int64_t *ms, struct err *e)
{
	char *word;
	int rc = store_word(s, name, &word, NULL, e);

	*ms = 0;
	if (rc == 0 && word)
		num_i64(word, 0, INT64_MAX, ms, NULL);
	free(word);
	return rc;
}

static int read_words(struct store *s, struct observed *o, struct err *e)
{
	char *word = NULL, *confirm = NULL;
	int rc = store_word(s, FLEET_WORD, &word, NULL, e);

	if (rc == 0)
		fleet_parse(word, &o->fleet);
	if (rc == 0)
		rc = read_ms(s, FREEZE_WORD, &o->frozen_until_ms, e);
	if (rc == 0)
		rc = store_word(s, BRAKE_CONFIRM_WORD, &confirm, &o->confirmed_ms, e);
	free(confirm);
	free(word);
	return rc;
}

/* The status is RUNNING until told otherwise, so what could not be read is no reason to stop anything. */
static void read_wishes(struct world *w, struct observed *o, bool quiet)
{
	int64_t since = clock_wall_ms() - w->settings->protected_window_s * 1000;
	struct err e = {""};

	if (!w->store || !o->rows)
		return;
	o->failures_read = store_failures(w->store, since, &o->failures, &e) == 0;
	if ((!o->failures_read || read_words(w->store, o, &e) < 0) && !quiet && say_again(e.text))
		log_error("state: %s", e.text);
}

void observe(struct world *w, struct observed *o, struct kept *k, int64_t deadline, bool quiet)
{
	memset(o, 0, sizeof *o);
	o->at_ms = clock_wall_ms();
	read_rows(w, o, quiet); /* first: what changes after it is not judged by this loop */
	read_wishes(w, o, quiet);
	read_slurm(w, o, quiet);
	read_holds(w, o, k, quiet);
	read_ec2(w, o, deadline, quiet);
	block_watch_read(w, &k->blocks, deadline, quiet);
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
	shortages_clear(&o->shortages);
	failures_clear(&o->failures);
	healths_clear(&o->healths);
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
}

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

static int plan_fleet(struct world *w, const struct observed *o, struct plan *out, struct err *e)
{
	struct fleet_input in = {
	    .gen = w->gen,
	    .nodes = o->slurm ? &o->nodes : NULL,
	    .partitions = o->partitions_read ? &o->partitions : NULL,
	    .fleet = o->fleet,
	};

	return fleet_plan(&in, out, e);
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
	    .healths = o->healths_read ? &o->healths : NULL,
	    .fleet = o->fleet.status,
	    .health_grace_ms = w->settings->health_grace_s * 1000,
	    .event_lead_ms = w->settings->event_lead_s * 1000,
	    .held = held,
	    .dead_pids = &o->dead,
	    .now_ms = clock_wall_ms(),
	    .orphan_grace_ms = w->settings->orphan_grace_s * 1000,
	    .observed_ms = o->at_ms,
	    .static_backoff = &o->backoff,
	    .seen = &k->seen,
	};

	if (plan_blocks(w, o, k, out, held, e) < 0 || plan_fleet(w, o, out, e) < 0 || plan_protection(w, o, out, e) < 0)
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

void observed_forget(struct world *w, const struct observed *o)
{
	struct capacity_rule rule = capacity_rule_of(w->settings);
	int64_t now = clock_wall_ms();
	struct err e = {""};

	for (size_t i = 0; i < o->shortages.n; i++) {
		struct shortage over = o->shortages.v[i];

		if (!capacity_stale(&over, &rule, now) || now < over.failed_ms + RECONCILE_REQUEUE_MS)
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
	return ms;
}
