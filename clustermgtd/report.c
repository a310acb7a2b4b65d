/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.c - figures that are nothing are told at debug level only, as ParallelCluster does. */
#include "clustermgtd/report.h"

#include "clustermgtd/metrics.h"
#include "clustermgtd/observe.h"
#include "lib/apply/apply.h"
#include "lib/apply/event.h"
#include "lib/base/clock.h"
#include "lib/base/jview.h"
#include "lib/base/str.h"
#include "lib/node/name.h"
#include "lib/node/nodeset.h"
#include "lib/plan/plan.h"

#include <stdlib.h>

/* ---- one figure of nodes */

/* failure: NULL = none. names may hold a node twice. */
static void tell_nodes(struct world *w, enum event_level level, const char *type, const char *failure, const char *message,
		       const struct strs *names)
{
	enum event_level at = names->n ? level : EVENT_DEBUG;
	struct json_object *o = event_is_logged(w, at) ? json_object_new_object() : NULL;
	char *text = o ? nodeset_text_of((const char *const *)names->v, names->n) : NULL;

	if (o && jview_put_str(o, "failure-type", failure) == 0 && jview_put_i64(o, "count", (int64_t)names->n) == 0 &&
	    jview_put_str(o, "nodes", text ? text : "") == 0)
		apply_figure(w, at, type, message, o);
	else
		json_object_put(o);
	free(text);
}

/* ---- of the plan */

struct figure {
	const char *type, *failure, *message;
	const char *codes[6]; /* of actions, NULL at the end */
};

static const struct figure planned[] = {
    {"invalid-backing-instance-count", NULL, "nodes in use whose machine is gone or was stopped",
     {"machine-gone", "machine-gone-held", "machine-stopped", "machine-stopped-held", "drained-gone"}},
    {"nodes-failing-health-check-count", "ec2_health_check", "nodes whose machine EC2 holds for impaired",
     {"impaired", "impaired-boot"}},
    {"nodes-failing-health-check-count", "scheduled_events_check", "nodes whose machine EC2 has an event for", {"event"}},
};

static bool has_code(const struct figure *f, const char *code)
{
	for (size_t i = 0; i < sizeof f->codes / sizeof *f->codes && f->codes[i]; i++) {
		if (str_eq(code, f->codes[i]))
			return true;
	}
	return false;
}

/* A node has several actions of one code; it is told once. */
static void tell_planned(struct world *w, const struct figure *f, const struct plan *p)
{
	struct nodeset *once = nodeset_create();
	struct strs names = {0};

	for (size_t i = 0; once && i < p->n; i++) {
		const struct action *a = &p->v[i];

		if (a->node && has_code(f, a->code) && nodeset_add(once, a->node) == 1)
			strs_add(&names, a->node);
	}
	tell_nodes(w, EVENT_WARNING, f->type, f->failure, f->message, &names);
	strs_clear(&names);
	nodeset_destroy(once);
}

static const char *bootstrap_failure(const struct world *w, const struct action *a)
{
	struct node_name at;

	if (node_name_resolve_any(w->gen, a->node, &at) == 0 && at.is_static)
		return "static-replacement-timeout-error";
	if (str_eq(a->code, "resume-timeout") || str_eq(a->code, "boot-timeout"))
		return "dynamic-resume-timeout-error";
	return "other-bootstrap-error";
}

static void tell_failed_boots(struct world *w, const struct plan *p)
{
	static const char *const types[] = {"static-replacement-timeout-error", "dynamic-resume-timeout-error",
					    "other-bootstrap-error"};

	for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
		struct strs names = {0};

		for (size_t i = 0; i < p->n; i++) {
			const struct action *a = &p->v[i];

			if (a->kind == ACT_BOOT_FAILED && a->node && str_eq(bootstrap_failure(w, a), types[t]))
				strs_add(&names, a->node);
		}
		tell_nodes(w, EVENT_WARNING, "protected-mode-error-count", types[t], "nodes whose machine never served",
			   &names);
		strs_clear(&names);
	}
}

static void tell_unhealthy(struct world *w, const struct plan *p)
{
	struct strs names = {0};

	for (size_t i = 0; i < p->n; i++) {
		if (p->v[i].kind == ACT_TERMINATE && p->v[i].node)
			strs_add(&names, p->v[i].node);
	}
	tell_nodes(w, EVENT_DEBUG, "unhealthy-node", NULL, "nodes whose machine is ended", &names);
	strs_clear(&names);
}

/* ---- of Slurm's nodes */

static bool is_silent(const struct node *n)
{
	return node_state_is(n->state, 1u << NS_DOWN, NS_NO_RESPOND, 0) && n->reason && str_prefix(n->reason, "Not responding");
}

static void tell_silent(struct world *w, const struct nodes *l)
{
	struct strs names = {0};

	for (size_t i = 0; i < l->n; i++) {
		struct node_name at;

		if (is_silent(&l->v[i]) && node_name_resolve_any(w->gen, l->v[i].name, &at) == 0)
			strs_add(&names, l->v[i].name);
	}
	tell_nodes(w, EVENT_WARNING, "node-not-responding-down-count", NULL,
		   "nodes that slurmctld set DOWN, for they do not answer", &names);
	strs_clear(&names);
}

static void tell_replaced(struct world *w, const struct nodes *l)
{
	struct strs names = {0};

	for (size_t i = 0; i < l->n; i++) {
		struct node_name at;

		if (node_word_of(l->v[i].state) == WORD_POWERING_UP && node_name_resolve(w->gen, l->v[i].name, &at) == 0 &&
		    at.is_static)
			strs_add(&names, l->v[i].name);
	}
	tell_nodes(w, EVENT_DEBUG, "static-nodes-in-replacement-count", NULL, "static nodes that are coming up", &names);
	strs_clear(&names);
}

/* Nodes with a machine and nothing to do. */
static void tell_idle(struct world *w, const struct nodes *l, bool is_static)
{
	const struct node *longest = NULL;
	struct json_object *o;
	int64_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct node *x = &l->v[i];
		struct node_name at;

		if (node_word_of(x->state) != WORD_IDLE || x->last_busy_s <= 0 || !node_has_addr(x) ||
		    node_name_resolve_any(w->gen, x->name, &at) < 0 || at.is_static != is_static)
			continue;
		n++;
		if (!longest || x->last_busy_s < longest->last_busy_s)
			longest = x;
	}
	o = event_is_logged(w, n ? EVENT_INFO : EVENT_DEBUG) ? json_object_new_object() : NULL;
	if (o && jview_put_str(o, "node-type", is_static ? "static" : "dynamic") == 0 && jview_put_i64(o, "count", n) == 0 &&
	    jview_put_i64(o, "longest-idle-time", longest ? clock_wall_ms() / 1000 - longest->last_busy_s : 0) == 0 &&
	    jview_put_str(o, "longest-idle-node", longest ? longest->name : NULL) == 0)
		apply_figure(w, n ? EVENT_INFO : EVENT_DEBUG, "compute-node-idle-time", "idle nodes that have a machine", o);
	else
		json_object_put(o);
}

static void tell_states(struct world *w, const struct nodes *l)
{
	int64_t count[N_WORDS] = {0};
	struct json_object *o = json_object_new_object(), *states = json_object_new_object();
	struct node_name at;
	int bad = !o || !states;

	for (size_t i = 0; i < l->n; i++) {
		if (node_name_resolve_any(w->gen, l->v[i].name, &at) == 0)
			count[node_word_of(l->v[i].state)]++;
	}
	for (int i = 0; i < N_WORDS && !bad; i++)
		bad = jview_put_i64(states, node_word_text((enum node_word)i), count[i]);
	if (bad || jview_put_obj(o, "node-states", states) < 0)
		json_object_put(o);
	else
		apply_figure(w, EVENT_DEBUG, "compute-node-state-count", "nodes by state", o);
	if (bad)
		json_object_put(states);
}

/* ---- of EC2 */

static void tell_machines(struct world *w, const struct instances *l)
{
	struct json_object *o = json_object_new_object();
	int64_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += instance_alive(l->v[i].state) != 0;
	if (o && jview_put_i64(o, "count", n) == 0)
		apply_figure(w, EVENT_DEBUG, "cluster-instance-count", "machines that are not terminated", o);
	else
		json_object_put(o);
}

/* ---- heartbeat */

static int put_degraded(struct json_object *o, const struct kept *k)
{
	struct json_object *list = json_object_new_array();

	for (int i = 0; list && i < N_SOURCES; i++) {
		int64_t since = metrics_degraded_since(k, (enum source_id)i);
		struct json_object *s = since ? jview_add_object(list) : NULL;
		char when[25];

		clock_iso(since, when);
		if (s && (jview_put_str(s, "source", source_name((enum source_id)i)) || jview_put_str(s, "since", when))) {
			json_object_put(list);
			return -1;
		}
	}
	return jview_put_obj(o, "degraded", list);
}

static void beat(struct world *w, const struct observed *o, const struct kept *k, const struct plan *p, size_t failed,
		 int64_t loop_us)
{
	struct json_object *d = json_object_new_object();
	char *status = metrics_status(w, o, k);

	if (d && jview_put_str(d, "fleet", fleet_status_text(o->fleet.status)) == 0 &&
	    jview_put_i64(d, "loop-ms", loop_us / 1000) == 0 && jview_put_i64(d, "actions", (int64_t)p->n) == 0 &&
	    jview_put_i64(d, "failed-actions", (int64_t)failed) == 0 &&
	    jview_put_i64(d, "violations", (int64_t)o->violations.n) == 0 && put_degraded(d, k) == 0)
		apply_figure(w, EVENT_INFO, "heartbeat", status, d);
	else
		json_object_put(d);
	free(status);
}

void report_loop(struct world *w, const struct observed *o, const struct kept *k, const struct plan *p, size_t failed,
		 int64_t loop_us)
{
	if (!event_is_logged(w, EVENT_ERROR))
		return;
	for (size_t i = 0; i < sizeof planned / sizeof *planned; i++)
		tell_planned(w, &planned[i], p);
	tell_failed_boots(w, p);
	tell_unhealthy(w, p);
	if (o->slurm) {
		tell_silent(w, &o->nodes);
		tell_replaced(w, &o->nodes);
		tell_idle(w, &o->nodes, true);
		tell_idle(w, &o->nodes, false);
		if (event_is_logged(w, EVENT_DEBUG))
			tell_states(w, &o->nodes);
	}
	if (o->instances && event_is_logged(w, EVENT_DEBUG))
		tell_machines(w, o->instances);
	if (event_is_logged(w, EVENT_INFO))
		beat(w, o, k, p, failed, loop_us);
}
