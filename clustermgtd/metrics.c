/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics.c - Prometheus' text format, version 0.0.4: each family with HELP and TYPE, also while it has no sample. */
#include "build_config.h"

#include "clustermgtd/metrics.h"

#include "clustermgtd/observe.h"
#include "lib/apply/apply.h"
#include "lib/apply/event.h"
#include "lib/aws/aws.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/num.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/node/name.h"
#include "lib/node/nodeset.h"
#include "lib/state/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "slurm_ec2_"

/* ---- totals */

static void count_violations(struct metrics *m, const struct violations *l)
{
	for (size_t c = 0; invariant_codes[c] && c < METRICS_VIOLATIONS; c++) {
		for (size_t i = 0; i < l->n; i++) {
			if (!str_eq(l->v[i].code, invariant_codes[c]))
				continue;
			m->violations[c]++;
			break;
		}
	}
}

static void date_sources(struct metrics *m, const struct kept *k, int64_t now)
{
	for (int i = 0; i < N_SOURCES; i++) {
		if (k->sources.v[i].ok)
			m->source_ok_ms[i] = now;
	}
	if (k->healths_read && k->sources.v[SOURCE_HEALTH].ok) /* it is not asked in each loop */
		m->source_ok_ms[SOURCE_HEALTH] = now - (clock_mono_ms() - k->healths_mono_ms);
}

void metrics_loop(struct world *w, const struct observed *o, struct kept *k, const struct plan *p, size_t failed,
		  int64_t loop_us)
{
	struct metrics *m = &k->metrics;

	m->loops++;
	m->loop_us = loop_us;
	m->loops_us += loop_us;
	m->ended_ms = clock_wall_ms();
	m->failed += failed;
	for (size_t i = 0; i < p->n; i++) {
		if (p->v[i].kind < METRICS_ACTIONS)
			m->actions[p->v[i].kind]++;
	}
	count_violations(m, &o->violations);
	date_sources(m, k, m->ended_ms);
	if (!m->wanted)
		return;
	free(m->text);
	free(m->status);
	m->text = metrics_text(w, o, k);
	m->status = metrics_status(w, o, k);
}

void metrics_clear(struct metrics *m)
{
	free(m->text);
	free(m->status);
	*m = (struct metrics){0};
}

int64_t metrics_degraded_since(const struct kept *k, enum source_id id)
{
	const struct source *s = &k->sources.v[id];

	return s->failing ? clock_wall_ms() - (clock_mono_ms() - s->since_mono_ms) : 0;
}

/* ---- words */

enum node_word node_word_of(uint32_t state)
{
	uint32_t base = state & NS_BASE;
	bool jobs = base == NS_ALLOCATED || base == NS_MIXED || state & NS_COMPLETING;

	if (state & NS_POWERING_DOWN)
		return WORD_POWERING_DOWN;
	if (base == NS_DOWN || base == NS_ERROR || state & NS_FAIL)
		return WORD_DOWN;
	if (state & NS_POWERED_DOWN)
		return WORD_OFF;
	if (state & NS_POWERING_UP)
		return WORD_POWERING_UP;
	if (state & NS_DRAIN)
		return jobs ? WORD_DRAINING : WORD_DRAINED;
	if (base == NS_MIXED)
		return WORD_MIXED;
	if (jobs)
		return WORD_ALLOCATED;
	return base == NS_IDLE ? WORD_IDLE : WORD_OTHER;
}

const char *node_word_text(enum node_word w)
{
	static const char *const text[N_WORDS] = {"off",     "powering-up", "idle", "allocated",     "mixed",
						  "draining", "drained",     "down", "powering-down", "other"};

	return text[w];
}

/* ---- the format */

struct out {
	struct buf b;
	const char *name; /* of the family */
};

static void family(struct out *o, const char *name, const char *type, const char *help)
{
	o->name = name;
	buf_fmt(&o->b, "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", name, help, name, type);
}

static void add_value(struct buf *b, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			buf_char(b, '\\');
		if (*text == '\n')
			buf_str(b, "\\n");
		else
			buf_char(b, *text);
	}
}

static void add_labels(struct buf *b, va_list ap)
{
	const char *key;
	char before = '{';

	while ((key = va_arg(ap, const char *))) {
		const char *value = va_arg(ap, const char *);

		buf_fmt(b, "%c%s=\"", before, key);
		add_value(b, value ? value : "");
		buf_char(b, '"');
		before = ',';
	}
	if (before == ',')
		buf_char(b, '}');
}

/* Label names and values in turn, then NULL. */
static void row(struct out *o, int64_t value, ...) __attribute__((sentinel));
static void row(struct out *o, int64_t value, ...)
{
	va_list ap;

	buf_fmt(&o->b, PREFIX "%s", o->name);
	va_start(ap, value);
	add_labels(&o->b, ap);
	va_end(ap);
	buf_fmt(&o->b, " %lld\n", (long long)value);
}

/* A value in millionths, told in whole ones. */
static void row_micro(struct out *o, int64_t micro, ...) __attribute__((sentinel));
static void row_micro(struct out *o, int64_t micro, ...)
{
	va_list ap;

	buf_fmt(&o->b, PREFIX "%s", o->name);
	va_start(ap, micro);
	add_labels(&o->b, ap);
	va_end(ap);
	buf_fmt(&o->b, " %lld.%06lld\n", (long long)(micro / 1000000), (long long)(micro % 1000000));
}

static void one(struct out *o, const char *name, const char *type, const char *help, int64_t value)
{
	family(o, name, type, help);
	row(o, value, NULL);
}

/* ---- the cluster */

static void tell_nodes(struct out *o, const struct generation *g, const struct observed *seen)
{
	size_t *count = calloc(g->n_resources + 1, N_WORDS * sizeof *count);

	family(o, "nodes", "gauge", "Nodes in Slurm by state; none while slurmctld cannot be read.");
	for (size_t i = 0; count && seen->slurm && i < seen->nodes.n; i++) {
		struct node_name at;

		if (node_name_resolve_any(g, seen->nodes.v[i].name, &at) == 0)
			count[at.resource * N_WORDS + node_word_of(seen->nodes.v[i].state)]++;
	}
	for (size_t r = 0; count && seen->slurm && r < g->n_resources; r++) {
		const struct gen_resource *of = &g->resources[r];

		for (size_t s = 0; s < N_WORDS; s++)
			row(o, (int64_t)count[r * N_WORDS + s], "queue", of->queue, "resource", of->name, "state",
			    node_word_text((enum node_word)s), NULL);
	}
	free(count);
}

static size_t resource_of(const struct generation *g, const struct instance *i)
{
	size_t at = i->queue && i->resource
			? generation_find_resource(g, i->queue, strlen(i->queue), i->resource, strlen(i->resource))
			: SIZE_MAX;

	return at < g->n_resources ? at : g->n_resources;
}

/* A machine of a resource that is gone has empty labels. */
static void tell_machines(struct out *o, const struct generation *g, const struct instances *l)
{
	const size_t n_states = INSTANCE_TERMINATED; /* those before it */
	size_t *count = calloc(g->n_resources + 1, n_states * sizeof *count);

	family(o, "machines", "gauge", "Machines in EC2 that are not terminated, by state; none while EC2 cannot be read.");
	for (size_t i = 0; count && l && i < l->n; i++) {
		if (l->v[i].state < INSTANCE_TERMINATED)
			count[resource_of(g, &l->v[i]) * n_states + l->v[i].state]++;
	}
	for (size_t r = 0; count && l && r <= g->n_resources; r++) {
		const struct gen_resource *of = r < g->n_resources ? &g->resources[r] : NULL;

		for (size_t s = 0; s < n_states; s++) {
			if (of || count[r * n_states + s])
				row(o, (int64_t)count[r * n_states + s], "queue", of ? of->queue : "", "resource",
				    of ? of->name : "", "state", instance_state_text((enum instance_state)s), NULL);
		}
	}
	free(count);
}

/* Machines that may bill and that no row gives to a node. */
static void tell_loose(struct out *o, const struct observed *seen)
{
	struct nodeset *bound = nodeset_create();
	int64_t n = 0;

	family(o, "machines_without_node", "gauge", "Machines that no node has; a launch under way has some for seconds.");
	for (size_t i = 0; bound && seen->rows && i < seen->bindings.n; i++) {
		if (seen->bindings.v[i].state == BINDING_BOUND && seen->bindings.v[i].instance)
			nodeset_add(bound, seen->bindings.v[i].instance);
	}
	for (size_t i = 0; bound && seen->instances && i < seen->instances->n; i++) {
		const struct instance *m = &seen->instances->v[i];

		n += instance_alive(m->state) && !nodeset_has(bound, m->id);
	}
	if (bound && seen->rows && seen->instances)
		row(o, n, NULL);
	nodeset_destroy(bound);
}

static void tell_bindings(struct out *o, const struct observed *seen)
{
	int64_t n[2] = {0, 0};

	family(o, "nodes_with_row", "gauge", "Nodes that a launch works for, and nodes that have a machine, in our rows.");
	for (size_t i = 0; i < seen->bindings.n; i++) {
		if (seen->bindings.v[i].state != BINDING_FREE)
			n[seen->bindings.v[i].state == BINDING_BOUND]++;
	}
	if (!seen->rows)
		return;
	row(o, n[0], "state", "launching", NULL);
	row(o, n[1], "state", "bound", NULL);
}

static void tell_cluster(struct out *o, const struct generation *g, const struct observed *seen)
{
	tell_nodes(o, g, seen);
	tell_machines(o, g, seen->instances);
	tell_loose(o, seen);
	tell_bindings(o, seen);
	family(o, "launches_open", "gauge", "Launches that are not finished.");
	if (seen->rows)
		row(o, (int64_t)seen->launches.n, NULL);
}

/* ---- what went wrong */

static void offering_row(struct out *o, int64_t value, const struct offering *of)
{
	row(o, value, "type", of->type, "zone", of->zone, "market", of->market, NULL);
}

static void tell_capacity(struct out *o, const struct shortages *l)
{
	int64_t now = clock_wall_ms();

	family(o, "capacity_closed", "gauge", "1 while EC2 is not asked for this type, zone and market, after a refusal.");
	for (size_t i = 0; i < l->n; i++)
		offering_row(o, l->v[i].until_ms > now, &l->v[i].of);
	family(o, "capacity_refusals", "gauge", "Refusals in a row for want of capacity or quota; forgotten after a success.");
	for (size_t i = 0; i < l->n; i++)
		offering_row(o, l->v[i].failures, &l->v[i].of);
}

static void tell_protection(struct out *o, const struct generation *g, const struct protection *p)
{
	family(o, "boot_failures", "gauge", "Machines that never served, within ProtectedFailureWindow.");
	for (size_t i = 0; p && i < g->n_resources; i++)
		row(o, p[i].count, "queue", g->resources[i].queue, "resource", g->resources[i].name, NULL);
	family(o, "protected", "gauge", "1 while nothing is launched for a resource whose machines never come up.");
	for (size_t i = 0; p && i < g->n_resources; i++)
		row(o, p[i].on, "queue", g->resources[i].queue, "resource", g->resources[i].name, NULL);
}

static int64_t violations_of(const struct observed *seen, const char *code)
{
	int64_t n = 0;

	for (size_t i = 0; i < seen->violations.n; i++)
		n += str_eq(seen->violations.v[i].code, code);
	return n;
}

static void tell_violations(struct out *o, const struct metrics *m, const struct observed *seen)
{
	family(o, "invariant_violations", "gauge", "What must hold and does not, as the last loop saw it.");
	for (size_t i = 0; invariant_codes[i]; i++)
		row(o, violations_of(seen, invariant_codes[i]), "code", invariant_codes[i], NULL);
	family(o, "invariant_violated_loops_total", "counter", "Loops that saw a violation.");
	for (size_t i = 0; invariant_codes[i] && i < METRICS_VIOLATIONS; i++)
		row(o, (int64_t)m->violations[i], "code", invariant_codes[i], NULL);
}

static void tell_trouble(struct out *o, const struct metrics *m, const struct world *w, const struct observed *seen,
			 const struct kept *k)
{
	tell_capacity(o, &seen->shortages);
	tell_protection(o, w->gen, seen->protection);
	tell_violations(o, m, seen);
	one(o, "brake_held_machines", "gauge", "Machines in use that are not ended until a second look or a person confirms.",
	    (int64_t)k->brake.held);
	one(o, "frozen", "gauge", "1 while slurm-ec2 freeze holds all actions.", seen->frozen_until_ms > clock_wall_ms());
}

/* ---- the daemon */

static void tell_fleet(struct out *o, const struct fleet *f)
{
	family(o, "fleet_status", "gauge", "1 for the status that the fleet has.");
	for (int s = FLEET_RUNNING; s <= FLEET_STARTING; s++)
		row(o, s == (int)f->status, "status", fleet_status_text((enum fleet_status)s), NULL);
}

static void tell_sources(struct out *o, const struct metrics *m, const struct kept *k)
{
	family(o, "source_last_success_timestamp_seconds", "gauge", "When a source could be read last.");
	for (int i = 0; i < N_SOURCES; i++) {
		if (m->source_ok_ms[i])
			row_micro(o, m->source_ok_ms[i] * 1000, "source", source_name((enum source_id)i), NULL);
	}
	family(o, "source_degraded", "gauge", "1 while a source cannot be read.");
	for (int i = 0; i < N_SOURCES; i++)
		row(o, k->sources.v[i].failing, "source", source_name((enum source_id)i), NULL);
}

static void tell_loops(struct out *o, const struct metrics *m)
{
	one(o, "loops_total", "counter", "Loops that ended.", (int64_t)m->loops);
	family(o, "loop_last_end_timestamp_seconds", "gauge", "When the last loop ended.");
	row_micro(o, m->ended_ms * 1000, NULL);
	family(o, "loop_duration_seconds", "gauge", "How long the last loop took.");
	row_micro(o, m->loop_us, NULL);
	family(o, "loop_seconds_total", "counter", "Time spent in loops.");
	row_micro(o, m->loops_us, NULL);
	family(o, "actions_total", "counter", "Actions that loops decided on, by kind.");
	for (int i = 0; i < METRICS_ACTIONS; i++)
		row(o, (int64_t)m->actions[i], "kind", action_kind_text((enum action_kind)i), NULL);
	one(o, "actions_failed_total", "counter", "Actions that could not be carried out.", (int64_t)m->failed);
}

static void tell_requests(struct out *o)
{
	size_t n, n_slurm;
	const struct aws_count *c = aws_counts(&n);
	const struct slurmctl_count *s = slurmctl_counts(&n_slurm);

	family(o, "ec2_requests_total", "counter",
	       "Requests of this process to EC2 by action and how they ended: ok, or a class of error.");
	for (size_t i = 0; i < n; i++)
		row(o, (int64_t)c[i].n, "action", c[i].action, "result", aws_class_text(c[i].class), NULL);
	family(o, "slurm_requests_total", "counter", "Requests of this process to slurmctld by kind.");
	for (size_t i = 0; i < n_slurm; i++)
		row(o, (int64_t)s[i].n, "request", s[i].request, NULL);
}

/* Of all programs, from the state file, so they also go on after a restart. */
static void tell_totals(struct out *o, struct store *s)
{
	static const struct {
		const char *key, *name, *help;
	} total[] = {
	    {"launched", "machines_launched_total", "Machines that EC2 gave us."},
	    {"bound", "machines_bound_total", "Machines that went to a node."},
	    {"returned", "machines_returned_total", "Machines that were ended at once, since no node needed them any more."},
	    {"terminated", "machines_terminated_total", "Machines that were ended later."},
	};
	struct kvs known = {0};
	bool read = s && store_counters(s, EVENT_TOTAL_PREFIX, &known, NULL) == 0;

	for (size_t i = 0; i < sizeof total / sizeof *total; i++) {
		char key[64];
		const char *text;
		int64_t n = 0;

		snprintf(key, sizeof key, EVENT_TOTAL_PREFIX "%s", total[i].key);
		text = kvs_get(&known, key);
		family(o, total[i].name, "counter", total[i].help);
		if (text)
			num_i64(text, 0, INT64_MAX, &n, NULL);
		if (read)
			row(o, n, NULL);
	}
	kvs_clear(&known);
}

char *metrics_text(struct world *w, const struct observed *seen, const struct kept *k)
{
	const struct metrics *m = &k->metrics;
	struct out o = {.name = NULL};

	family(&o, "info", "gauge", "Version and cluster; the value is 1.");
	row(&o, 1, "version", PACKAGE_VERSION, "cluster", w->gen->cluster_name, NULL);
	one(&o, "generation", "gauge", "Number of the applied generation.", w->gen->number);
	tell_cluster(&o, w->gen, seen);
	tell_totals(&o, w->store);
	tell_trouble(&o, m, w, seen, k);
	tell_fleet(&o, &seen->fleet);
	tell_sources(&o, m, k);
	tell_loops(&o, m);
	tell_requests(&o);
	return buf_take(&o.b);
}

/* ---- one line */

static size_t count_ours(const struct generation *g, const struct nodes *l)
{
	struct node_name at;
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += node_name_resolve_any(g, l->v[i].name, &at) == 0;
	return n;
}

static size_t count_alive(const struct instances *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += instance_alive(l->v[i].state) != 0;
	return n;
}

static void add_clock(struct buf *b, int64_t ms)
{
	char when[CLOCK_MINUTE];

	clock_minute(ms, clock_wall_ms(), when);
	buf_str(b, when);
}

char *metrics_status(const struct world *w, const struct observed *o, const struct kept *k)
{
	struct buf b = {0};

	buf_str(&b, fleet_status_text(o->fleet.status));
	if (o->slurm)
		buf_fmt(&b, ", %zu nodes", count_ours(w->gen, &o->nodes));
	if (o->instances)
		buf_fmt(&b, ", %zu machines", count_alive(o->instances));
	for (int i = 0; i < N_SOURCES; i++) {
		int64_t since = metrics_degraded_since(k, (enum source_id)i);

		if (!since)
			continue;
		buf_fmt(&b, ", %s degraded since ", source_name((enum source_id)i));
		add_clock(&b, since);
	}
	if (o->frozen_until_ms > clock_wall_ms()) {
		buf_str(&b, ", frozen until ");
		add_clock(&b, o->frozen_until_ms);
	}
	if (k->brake.held)
		buf_fmt(&b, ", %zu terminations held back", k->brake.held);
	return buf_take(&b);
}
