/* SPDX-License-Identifier: GPL-2.0-or-later */
/* status_json.c - status as one JSON object, with everything that was read. What could not be asked is absent. Times are wall
 * clock milliseconds.
 */
#include "build_config.h"

#include "cli/status.h"
#include "lib/base/jview.h"
#include "lib/plan/capacity.h"

#include <string.h>

/* A fresh list or object under `key`, borrowed; NULL on no memory. */
static struct json_object *put_new(struct json_object *o, const char *key, struct json_object *child)
{
	return child && jview_put_obj(o, key, child) == 0 ? child : NULL;
}

static struct json_object *put_list(struct json_object *o, const char *key)
{
	return put_new(o, key, json_object_new_array());
}

static struct json_object *put_object(struct json_object *o, const char *key)
{
	return put_new(o, key, json_object_new_object());
}

/* 0 means that it is not known: left out. */
static int put_ms(struct json_object *o, const char *key, int64_t ms)
{
	return ms ? jview_put_i64(o, key, ms) : 0;
}

/* --- compute resources */

static int put_counts(struct json_object *o, const struct look *l, const struct status_counts *c)
{
	if (!l->slurm_away &&
	    (jview_put_i64(o, "off", c->off) || jview_put_i64(o, "waking", c->waking) || jview_put_i64(o, "idle", c->idle) ||
	     jview_put_i64(o, "busy", c->busy) || jview_put_i64(o, "down", c->down) || jview_put_i64(o, "going", c->going) ||
	     jview_put_i64(o, "disabled", c->disabled)))
		return -1;
	if (!l->ec2_away && jview_put_i64(o, "machines", c->machines))
		return -1;
	return !l->state_away && jview_put_i64(o, "launching", c->launching) ? -1 : 0;
}

static int put_protection(struct json_object *o, const struct look *l, size_t i)
{
	const struct protection *p = &l->protection[i];

	if (l->state_away)
		return 0;
	return jview_put_bool(o, "protected", p->on) || jview_put_i64(o, "failures", p->count) ||
		       put_ms(o, "protected_until_ms", p->on ? p->until_ms : 0)
		   ? -1
		   : 0;
}

static int put_resource(struct json_object *list, const struct status *s, size_t i)
{
	const struct gen_resource *r = &s->look.gen->resources[i];
	struct json_object *o = jview_add_object(list);

	if (!o)
		return -1;
	return jview_put_str(o, "queue", r->queue) || jview_put_str(o, "resource", r->name) ||
		       jview_put_strs(o, "instance_types", &r->instance_types) || jview_put_i64(o, "min", r->min_count) ||
		       jview_put_i64(o, "max", r->max_count) || put_counts(o, &s->look, &s->counts[i]) ||
		       put_protection(o, &s->look, i)
		   ? -1
		   : 0;
}

/* --- what is under way */

static int put_waking(struct json_object *list, const struct status *s, const struct status_waking *w)
{
	struct json_object *o = jview_add_object(list);

	if (!o)
		return -1;
	return jview_put_str(o, "node", w->node->name) || put_ms(o, "since_ms", w->since_ms) ||
		       (w->since_ms && jview_put_i64(o, "age_s", (s->look.now_ms - w->since_ms) / 1000)) ||
		       jview_put_str(o, "waits_for", w->stage) || jview_put_bool(o, "late", w->late)
		   ? -1
		   : 0;
}

static int put_launch(struct json_object *list, const struct launch *l)
{
	struct json_object *o = jview_add_object(list);

	if (!o)
		return -1;
	return jview_put_str(o, "id", l->id) || jview_put_str(o, "queue", l->queue) ||
		       jview_put_str(o, "resource", l->resource) || jview_put_strs(o, "nodes", &l->nodes) ||
		       jview_put_str(o, "state", status_launch_text(l->state)) ||
		       jview_put_i64(o, "created_ms", l->created_ms) || jview_put_str(o, "error", l->error)
		   ? -1
		   : 0;
}

static int put_shortage(struct json_object *list, const struct status *s, const struct shortage *f)
{
	struct json_object *o = jview_add_object(list);
	int64_t allowed = capacity_allowed(f, s->look.now_ms);

	if (!o)
		return -1;
	return jview_put_str(o, "type", f->of.type) || jview_put_str(o, "zone", f->of.zone) ||
		       jview_put_str(o, "market", f->of.market) || jview_put_str(o, "code", f->code) ||
		       jview_put_str(o, "message", f->message) || jview_put_i64(o, "refusals", f->failures) ||
		       jview_put_i64(o, "refused_ms", f->failed_ms) || jview_put_i64(o, "until_ms", f->until_ms) ||
		       jview_put_str(o, "state",
				     allowed == 0  ? "closed"
				     : allowed < 0 ? "probe"
						   : "limited") ||
		       jview_put_i64(o, "budget", f->budget) ||
		       (!s->look.slurm_away && jview_put_i64(o, "disabled", status_disabled(s, &f->of)))
		   ? -1
		   : 0;
}

static int put_failure(struct json_object *list, const struct failure *f)
{
	struct json_object *o = jview_add_object(list);

	if (!o)
		return -1;
	return jview_put_str(o, "queue", f->queue) || jview_put_str(o, "resource", f->resource) ||
		       jview_put_str(o, "node", f->node) || jview_put_str(o, "instance", f->instance) ||
		       jview_put_str(o, "code", f->code) || jview_put_i64(o, "time_ms", f->time_ms)
		   ? -1
		   : 0;
}

/* --- machines */

static int put_health(struct json_object *o, const struct health *h)
{
	struct json_object *to = h ? put_object(o, "health") : NULL;

	if (!h)
		return 0;
	return !to || jview_put_bool(to, "instance_impaired", h->instance_impaired) ||
		       jview_put_bool(to, "system_impaired", h->system_impaired) ||
		       put_ms(to, "impaired_since_ms", h->impaired_since_ms) || jview_put_str(to, "event", h->event) ||
		       put_ms(to, "event_ms", h->event_ms) || jview_put_str(to, "event_text", h->event_text)
		   ? -1
		   : 0;
}

static int put_machine(struct json_object *list, const struct look *l, const struct instance *m)
{
	struct json_object *o = jview_add_object(list);
	const struct binding *b = look_row_of(l, m->id);

	if (!o)
		return -1;
	return jview_put_str(o, "id", m->id) || jview_put_str(o, "state", instance_state_text(m->state)) ||
		       jview_put_str(o, "type", m->type) || jview_put_str(o, "private_ip", m->private_ip) ||
		       jview_put_str(o, "zone", m->zone) || jview_put_str(o, "queue", m->queue) ||
		       jview_put_str(o, "resource", m->resource) || put_ms(o, "launched_ms", m->launch_time_ms) ||
		       jview_put_str(o, "node", b ? b->node : NULL) || put_health(o, look_health(l, m->id))
		   ? -1
		   : 0;
}

static int put_orphan(struct json_object *list, const struct status_orphan *from)
{
	struct json_object *o = jview_add_object(list);

	if (!o)
		return -1;
	return jview_put_str(o, "id", from->machine->id) || jview_put_str(o, "next", from->code) ||
		       jview_put_str(o, "next_text", from->next) || put_ms(o, "launched_ms", from->machine->launch_time_ms)
		   ? -1
		   : 0;
}

static int put_violation(struct json_object *list, const struct violation *v)
{
	struct json_object *o = jview_add_object(list);

	if (!o)
		return -1;
	return jview_put_str(o, "code", v->code) || jview_put_str(o, "node", v->node) ||
		       jview_put_str(o, "instance", v->instance) || jview_put_str(o, "text", v->text)
		   ? -1
		   : 0;
}

static int put_stuck_job(struct json_object *list, const struct slurmctl_job_info *j)
{
	struct json_object *o = jview_add_object(list);

	if (!o)
		return -1;
	return jview_put_i64(o, "id", j->id) || jview_put_str(o, "partition", j->partition) ||
		       jview_put_str(o, "reason", j->reason) || jview_put_i64(o, "restarts", j->restarts)
		   ? -1
		   : 0;
}

/* --- the whole */

static int put_source(struct json_object *all, const char *name, const struct source_row *from)
{
	struct json_object *o = put_object(all, name);

	return !o || jview_put_i64(o, "ok_ms", from ? from->ok_ms : 0) ||
		       jview_put_i64(o, "failed_ms", from ? from->failed_ms : 0) ||
		       put_ms(o, "failing_since_ms", from ? from->since_ms : 0) ||
		       jview_put_str(o, "error", from ? from->error : NULL)
		   ? -1
		   : 0;
}

/* Those that every loop has are there from the start. */
static int put_sources(struct json_object *o, const struct look *l)
{
	static const char *const always[] = {"loop", "slurm", "ec2"};
	struct json_object *sources = put_object(o, "sources");
	int rc = sources ? 0 : -1;

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]) && !l->state_away && !rc; i++)
		rc = put_source(sources, always[i], look_source(l, always[i]));
	for (size_t i = 0; i < l->sources.n && !rc; i++)
		if (!json_object_object_get_ex(sources, l->sources.v[i].name, NULL))
			rc = put_source(sources, l->sources.v[i].name, &l->sources.v[i]);
	return rc;
}

static int put_fleet(struct json_object *o, const struct look *l)
{
	struct json_object *fleet = put_object(o, "fleet"), *daemon = put_object(o, "clustermgtd"),
			   *brake = put_object(o, "brake");

	if (!fleet || !daemon || !brake)
		return -1;
	if (!l->state_away &&
	    (jview_put_str(fleet, "status", status_fleet(l)) || jview_put_bool(fleet, "now", l->fleet.now) ||
	     put_ms(fleet, "set_ms", l->fleet_set_ms) || put_ms(fleet, "frozen_until_ms", l->frozen_until_ms) ||
	     jview_put_bool(daemon, "late", status_loop_stale(l))))
		return -1;
	if (l->has_daemon && (jview_put_bool(daemon, "runs", l->daemon > 0) || put_ms(daemon, "pid", l->daemon)))
		return -1;
	return jview_put_i64(brake, "held", (int64_t)l->held) || jview_put_i64(brake, "in_use", (int64_t)l->in_use) ? -1 : 0;
}

static int put_read(struct json_object *o, const struct status *s)
{
	const struct look *l = &s->look;
	struct json_object *resources = put_list(o, "resources"), *machines = put_list(o, "machines");
	struct json_object *launches = put_list(o, "launches"), *shortages = put_list(o, "shortages");
	struct json_object *failures = put_list(o, "failures");
	int rc = !resources || !machines || !launches || !shortages || !failures;

	for (size_t i = 0; !rc && i < l->gen->n_resources; i++)
		rc = put_resource(resources, s, i);
	for (size_t i = 0; !rc && !l->ec2_away && i < l->instances.n; i++)
		rc = instance_alive(l->instances.v[i].state) && put_machine(machines, l, &l->instances.v[i]);
	for (size_t i = 0; !rc && i < l->launches.n; i++)
		rc = put_launch(launches, &l->launches.v[i]);
	for (size_t i = 0; !rc && i < l->shortages.n; i++)
		rc = put_shortage(shortages, s, &l->shortages.v[i]);
	for (size_t i = 0; !rc && i < l->failures.n; i++)
		rc = put_failure(failures, &l->failures.v[i]);
	return rc;
}

static int put_judged(struct json_object *o, const struct status *s)
{
	struct json_object *waking = put_list(o, "powering_up"), *orphans = put_list(o, "orphans");
	struct json_object *violations = put_list(o, "violations"), *jobs = put_list(o, "stuck_jobs");
	const struct look *l = &s->look;
	int rc = !waking || !orphans || !violations || !jobs;

	for (size_t i = 0; !rc && i < s->n_waking; i++)
		rc = put_waking(waking, s, &s->waking[i]);
	for (size_t i = 0; !rc && i < s->n_orphans; i++)
		rc = put_orphan(orphans, &s->orphans[i]);
	for (size_t i = 0; !rc && i < l->violations.n; i++)
		rc = put_violation(violations, &l->violations.v[i]);
	for (size_t i = 0; !rc && i < l->jobs.n; i++)
		rc = status_job_stuck(&l->jobs.v[i]) && put_stuck_job(jobs, &l->jobs.v[i]);
	return rc;
}

struct json_object *status_json(const struct status *s)
{
	const struct look *l = &s->look;
	struct json_object *o = json_object_new_object();

	if (o && (jview_put_str(o, "cluster_name", l->gen->cluster_name) || jview_put_str(o, "uuid", l->gen->uuid) ||
		  jview_put_i64(o, "generation", l->gen->number) || jview_put_str(o, "slurm_version", l->gen->slurm_version) ||
		  jview_put_str(o, "region", l->gen->region) || jview_put_i64(o, "now_ms", l->now_ms) ||
		  jview_put_str(o, "slurm_away", l->slurm_away) || jview_put_str(o, "ec2_away", l->ec2_away) ||
		  jview_put_str(o, "state_away", l->state_away) || jview_put_bool(o, "disk_full", l->disk_full) || put_fleet(o, l) || put_read(o, s) || put_judged(o, s) ||
		  put_sources(o, l))) {
		json_object_put(o);
		return NULL;
	}
	return o;
}
