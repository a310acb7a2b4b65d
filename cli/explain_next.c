/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain_next.c - what happens to a node next, and when: what clustermgtd's rules would do now, else what is waited for. Also
 * what keeps nodes from coming up at all: the fleet's status, a daemon that is away, EC2's shortages, protection.
 */
#include "build_config.h"

#include "cli/explain.h"
#include "cli/text.h"
#include "lib/node/name.h"
#include "lib/node/nodeset.h"
#include "lib/plan/capacity.h"
#include "lib/plan/node_rules.h"
#include "lib/plan/reconcile.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHORTAGES_MAX 5

/* --- the whole fleet */

static void say_daemon(struct explain *x, const struct look *l)
{
	const struct source_row *loop = look_source(l, "loop");
	char age[TEXT_AGE];

	if (l->state_away)
		explain_say(x, SAY_OURS, "Our own state was not to be seen: %s", l->state_away);
	if (l->has_daemon && !l->daemon) {
		x->ours = true;
		explain_say(x, SAY_OURS, "clustermgtd does not run: nothing is repaired, and no node is launched. Start it.");
	} else if (!l->state_away && (!loop || !loop->ok_ms || l->now_ms - loop->ok_ms > l->rules.heartbeat_limit_ms)) {
		x->ours = true;
		explain_say(x, SAY_OURS, "clustermgtd has not ended a loop for %s, so no node is launched.",
			    loop && loop->ok_ms ? text_age(l->now_ms - loop->ok_ms, age) : "ever");
	}
	if (l->disk_full) {
		x->ours = true;
		explain_say(x, SAY_OURS, "No space is left in %s, so no node is launched: make room there.", PKGSTATEDIR);
	}
	for (size_t i = 0; i < l->sources.n; i++) {
		const struct source_row *f = &l->sources.v[i];

		if (f->since_ms)
			explain_say(x, SAY_OURS,
				    "clustermgtd has not been able to read %s for %s, so it decides nothing that needs it: %s.",
				    f->name, text_age(l->now_ms - f->since_ms, age), f->error ? f->error : "no reason known");
	}
}

void explain_fleet(struct explain *x, const struct look *l)
{
	char when[EXPLAIN_WHEN];

	if (l->slurm_away)
		explain_say(x, SAY_SLURM, "slurmctld cannot be asked: %s", l->slurm_away);
	if (l->ec2_away)
		explain_say(x, SAY_EC2, "EC2 cannot be asked: %s", l->ec2_away);
	say_daemon(x, l);
	if (!fleet_serves(l->fleet.status)) {
		x->ours = true;
		explain_say(x, SAY_OURS, "The fleet is %s since %s: no job is started until slurm-ec2 fleet start.",
			    fleet_status_text(l->fleet.status), explain_when(l, l->fleet_set_ms, when));
	}
	if (l->frozen_until_ms > l->now_ms) {
		x->ours = true;
		explain_say(x, SAY_OURS, "slurm-ec2 freeze: clustermgtd only watches until %s.",
			    explain_when(l, l->frozen_until_ms, when));
	}
}

/* --- EC2's shortages and protection */

static void say_shortage(struct explain *x, const struct look *l, const struct shortage *f)
{
	char age[TEXT_AGE], when[EXPLAIN_WHEN];
	int64_t allowed = capacity_allowed(f, l->now_ms);

	explain_say(x, SAY_EC2, "Short of %s in %s, %s, %s ago: %s%s%s", f->of.type,
		    str_eq(f->of.zone, ZONE_ANY) ? "every zone"
		    : *f->of.zone		 ? f->of.zone
						 : "a zone",
		    f->of.market, text_age(l->now_ms - f->failed_ms, age), f->code ? f->code : "refused",
		    f->message ? ": " : "", f->message ? f->message : "");
	if (allowed == 0 && f->until_ms > l->now_ms)
		explain_say(x, SAY_OURS, "It is not asked for that again before %s (refusals in a row: %d).",
			    explain_when(l, f->until_ms, when), f->failures);
	else if (allowed == 0)
		explain_say(x, SAY_OURS, "One launch is trying it now; the others wait for what comes of it.");
	else if (allowed < 0)
		explain_say(x, SAY_OURS, "It may be asked for that again: the smallest job that waits tries it.");
	else
		explain_say(x, SAY_OURS, "It may be asked for %" PRId64 " of them at a time.", allowed);
}

void explain_shortages(struct explain *x, const struct look *l, size_t resource)
{
	const struct gen_resource *r = &l->gen->resources[resource];
	const char *code;
	int64_t until;
	size_t n = 0, closed = 0;

	for (size_t i = 0; i < l->shortages.n; i++) {
		const struct shortage *f = &l->shortages.v[i];

		if (!look_offers(r, &f->of))
			continue;
		closed += capacity_allowed(f, l->now_ms) == 0;
		if (n++ < SHORTAGES_MAX)
			say_shortage(x, l, f);
	}
	if (n > SHORTAGES_MAX)
		explain_say(x, SAY_EC2, "%zu more types or zones of %s/%s are short: slurm-ec2 status --all.",
			    n - SHORTAGES_MAX, r->queue, r->name);
	if (n && capacity_all_closed(r, &l->shortages, l->now_ms, &code, &until))
		x->ours = true;
	else if (closed)
		explain_say(x, SAY_OURS, "%s/%s has others that may be asked.", r->queue, r->name);
}

void explain_protection(struct explain *x, const struct look *l, size_t resource)
{
	const struct gen_resource *r = &l->gen->resources[resource];
	const struct protection *p = &l->protection[resource];
	char when[EXPLAIN_WHEN];

	if (!p->on)
		return;
	x->ours = true;
	explain_say(x, SAY_OURS,
		    "%s/%s is PROTECTED: %" PRId64
		    " of its machines did not come up (%s), so nothing is launched for it. Mend the cause, then "
		    "slurm-ec2 fleet start%s%s.",
		    r->queue, r->name, p->count, p->code ? p->code : "no reason known", p->until_ms ? "; else it ends " : "",
		    p->until_ms ? explain_when(l, p->until_ms, when) : "");
}

/* --- a node */

static const char *verb_of(const struct action *a)
{
	switch (a->kind) {
	case ACT_TERMINATE:
		return "ends its machine";
	case ACT_BIND:
		return "gives it this machine";
	case ACT_UNBIND:
	case ACT_FORGET:
		return "forgets its machine";
	case ACT_NODE_DOWN:
		return "sets it DOWN, so that its jobs are requeued";
	case ACT_NODE_POWER_DOWN:
		return "powers it down: back to idle~";
	case ACT_NODE_POWER_UP:
		return "powers it up";
	case ACT_NODE_DRAIN:
		return "drains it: its jobs end by themselves";
	case ACT_NODE_RESUME:
		return "resumes it";
	case ACT_BOOT_FAILED:
		return "counts its machine as one that did not come up, and saves the console output";
	case ACT_LAUNCH_RETRY:
		return "goes on with its launch";
	case ACT_LAUNCH_CLOSE:
		return "ends its launch";
	case ACT_NOTE:
		return "only notes it for a person";
	default:
		return action_kind_text(a->kind);
	}
}

static bool concerns(const struct look *l, const struct action *a, const char *name)
{
	const struct binding *b = look_row(l, name);

	return str_eq(a->node, name) || strs_has(&a->nodes, name) ||
	       (b &&
		((a->instance && str_eq(a->instance, b->instance)) || (a->launch && !a->node && str_eq(a->launch, b->launch))));
}

/* When a loop begins: at the latest a period after the last one ended. */
static const char *loop_when(const struct look *l, char out[EXPLAIN_WHEN])
{
	const struct source_row *loop = look_source(l, "loop");
	int64_t left = loop && loop->ok_ms ? loop->ok_ms + l->rules.loop_ms - l->now_ms : 0;
	char age[TEXT_AGE];

	if (l->has_daemon && !l->daemon)
		snprintf(out, EXPLAIN_WHEN, "as soon as it runs");
	else if (left > 1000)
		snprintf(out, EXPLAIN_WHEN, "within %s", text_age(left, age));
	else
		snprintf(out, EXPLAIN_WHEN, "at once");
	return out;
}

static bool say_actions(struct explain *x, const struct look *l, const char *name)
{
	char when[EXPLAIN_WHEN];
	bool any = false;

	for (size_t i = 0; i < l->plan.n; i++) {
		const struct action *a = &l->plan.v[i];

		if (!concerns(l, a, name))
			continue;
		if (!any)
			explain_say(x, SAY_NEXT, "clustermgtd acts on it in its next loop, %s:", loop_when(l, when));
		explain_say(x, SAY_NEXT, "- it %s (rule %s%s%s)", verb_of(a), a->code ? a->code : "?", a->reason ? ": " : "",
			    a->reason ? a->reason : "");
		any = true;
	}
	return any;
}

static void say_waking(struct explain *x, const struct look *l, const struct node *n)
{
	int64_t since = look_waking_since(l, n, explain_job_of(l, n->name)), limit = l->gen->resume_timeout_s * 1000;
	char when[EXPLAIN_WHEN], age[TEXT_AGE];

	if (since && since + limit < l->now_ms)
		explain_say(x, SAY_NEXT,
			    "Slurm should have given it up at ResumeTimeout, %s; clustermgtd then puts it back to idle~.",
			    explain_when(l, since + limit, when));
	else if (since)
		explain_say(
		    x, SAY_NEXT,
		    "Slurm waits for its slurmd until about %s (ResumeTimeout %s), then sets it DOWN and requeues its job.",
		    explain_when(l, since + limit, when), text_age(limit, age));
	else
		explain_say(x, SAY_NEXT, "Slurm waits for its slurmd for %s after it asked for the node (ResumeTimeout).",
			    text_age(limit, age));
}

/* The row that watches a node, by the first word of "code since_ms". NULL = none. */
static const struct node_rule *watching(const struct look *l, const char *name)
{
	const char *text = kvs_get(&l->waits, name);
	size_t n = text ? strcspn(text, " ") : 0;

	for (size_t i = 0; n && i < node_rules_n; i++) {
		const struct node_rule *r = &node_rules[i];

		if (r->watch != WATCH_NOT && strlen(r->code) == n && !strncmp(text, r->code, n))
			return r;
	}
	return NULL;
}

/* A row that acts when its node was seen so for a while. */
static bool say_watched(struct explain *x, const struct look *l, const struct node *n)
{
	const struct node_rule *r = watching(l, n->name);
	char age[TEXT_AGE], more[TEXT_AGE];

	if (!r || r->watch == WATCH_WITHIN)
		return false;
	if (r->watch == WATCH_TIMEOUT && n->state & NS_POWERING_UP)
		say_waking(x, l, n);
	text_age(l->gen->resume_timeout_s * 1000, more);
	explain_say(x, SAY_NEXT, "clustermgtd's rule %s acts on it once it has been so for %s%s%s. %s.", r->code,
		    r->watch == WATCH_TIMEOUT ? more : "", r->watch == WATCH_TIMEOUT ? " and " : "",
		    text_age(l->rules.orphan_grace_ms, age), r->because);
	return true;
}

static bool is_down(const struct node *n)
{
	return node_state_is(n->state, 1u << NS_DOWN | 1u << NS_ERROR, 0, 0);
}

/* Set DOWN by us, or by Slurm for its boot: clustermgtd takes it back soon. */
static void say_back(struct explain *x, const struct look *l, const struct node *n)
{
	const char *jobs = n->state & NS_POWERING_UP ? "Its jobs are requeued already. " : "";
	char when[EXPLAIN_WHEN];

	if (l->frozen_until_ms > l->now_ms)
		explain_say(x, SAY_NEXT, "%sclustermgtd puts it back to idle~ when the freeze ends, %s.", jobs,
			    explain_when(l, l->frozen_until_ms, when));
	else if (l->has_daemon && !l->daemon)
		explain_say(x, SAY_NEXT, "%sclustermgtd puts it back to idle~ once it runs.", jobs);
	else
		explain_say(x, SAY_NEXT, "%sclustermgtd puts it back to idle~ by itself, within about 30 s.", jobs);
}

/* DOWN for a reason of Slurm's own, or of nobody's, not while it came up. */
static void say_lost(struct explain *x, const struct look *l)
{
	char age[TEXT_AGE];

	explain_say(x, SAY_NEXT, "If its slurmd does not come back, clustermgtd replaces it once it was DOWN for %s (OrphanGrace).",
		    text_age(l->rules.orphan_grace_ms, age));
}

static void say_down(struct explain *x, const struct look *l, const struct node *n, size_t resource)
{
	enum node_why why = node_why(n->reason);
	char when[EXPLAIN_WHEN];
	const char *code;
	int64_t until;
	bool closed = capacity_all_closed(&l->gen->resources[resource], &l->shortages, l->now_ms, &code, &until);

	if (why == WHY_PROTECTED)
		explain_say(x, SAY_NEXT, "It comes back when that is over, or at once with slurm-ec2 fleet start.");
	else if (why & WHY_AUTOMATIC && !fleet_serves(l->fleet.status) && !l->state_away && !look_row(l, n->name))
		explain_say(x, SAY_NEXT, "It comes back with slurm-ec2 fleet start.");
	else if (why == WHY_DISABLED && closed)
		explain_say(x, SAY_NEXT, "It comes back by itself when EC2 may be asked again, about %s.",
			    explain_when(l, until, when));
	else if (why == WHY_NO_LAUNCH && closed)
		explain_say(x, SAY_NEXT,
			    "Its jobs are requeued already. It stays DOWN (rule launch-failed-still) until EC2 may be asked again, about "
			    "%s: before, a job would only be refused once more. Then clustermgtd puts it back to idle~.",
			    explain_when(l, until, when));
	else if (why & (WHY_CODED | WHY_BACK) || (why & WHY_AUTOMATIC && n->state & (NS_POWERING_UP | NS_POWERED_DOWN)))
		say_back(x, l, n);
	else if (why & WHY_AUTOMATIC && n->reason_time_s)
		say_lost(x, l);
	else
		explain_say(
		    x, SAY_NEXT,
		    "Nobody of ours touches it: a person or Slurm set it so. scontrol update nodename=%s state=resume ends it.",
		    n->name);
}

/* --- a node that a person holds, or Slurm after a failed prolog */

/* Drains of ours, and of Slurm for hardware, end with the machine. */
static bool is_held(const struct node *n)
{
	return n->state & NS_FAIL || (n->state & NS_DRAIN && !(node_why(n->reason) & (WHY_DRAINED | WHY_INVALID)));
}

/* What ends a hold without a machine: a power down takes a drain away, but not FAIL, and one that is off needs none. */
static void say_hold_stays(struct explain *x, const struct node *n)
{
	bool resume = n->state & (NS_FAIL | NS_POWERED_DOWN);

	explain_say(x, SAY_NEXT, "The hold stays, also without a machine. scontrol update nodename=%s state=%s ends it%s.", n->name,
		    resume ? "resume" : "power_down", resume ? "" : ": back to idle~");
}

static bool is_halted(const struct look *l, const char *name)
{
	const struct binding *b = look_row(l, name);
	const struct instance *i = b ? look_instance(l, b->instance) : NULL;

	return i && (i->state == INSTANCE_STOPPING || i->state == INSTANCE_STOPPED);
}

static bool before_23_02(const struct generation *g)
{
	return g->slurm_version && strncmp(g->slurm_version, "23.02", strlen("23.02")) < 0;
}

/* It is powered down when it is idle, for SuspendExcStates is not there yet. */
static void say_keep(struct explain *x, const struct node *n)
{
	explain_say(x, SAY_NEXT,
		    "A drain does not keep its machine in Slurm before 23.02: once it was idle for ScaledownIdletime it is powered "
		    "down, and the drain ends with that. To keep it, name %s in SuspendExcNodes of slurm.conf, then slurm-ec2 "
		    "apply cluster.yaml && scontrol reconfigure.",
		    n->name);
}

static void say_held(struct explain *x, const struct look *l, const struct node *n, const struct node_name *at)
{
	bool ends = n->state & NS_DRAIN && !(n->state & NS_FAIL) && !at->is_static && before_23_02(l->gen);

	if (is_halted(l, n->name))
		explain_say(x, SAY_NEXT,
			    "The machine is left to whoever stopped it, and the hold stays. scontrol update nodename=%s "
			    "state=power_down ends both.",
			    n->name);
	else if (is_down(n) && !l->state_away && !look_row(l, n->name))
		say_hold_stays(x, n);
	else
		explain_say(x, SAY_NEXT, "It takes no new job. scontrol update nodename=%s state=resume ends that.", n->name);
	if (ends && !is_halted(l, n->name) && !is_down(n) && !(n->state & NS_POWERED_DOWN))
		say_keep(x, n);
}

static void say_off(struct explain *x, const struct look *l, size_t resource)
{
	char when[EXPLAIN_WHEN];
	const char *code;
	int64_t until;

	if (!fleet_serves(l->fleet.status))
		explain_say(x, SAY_NEXT, "It stays off until slurm-ec2 fleet start.");
	else if (capacity_all_closed(&l->gen->resources[resource], &l->shortages, l->now_ms, &code, &until))
		explain_say(x, SAY_NEXT, "A job that takes it before %s would not get a machine (%s).",
			    explain_when(l, until, when), code);
	else
		explain_say(x, SAY_NEXT, "Nothing, until a job needs it.");
}

/* What is waited for when no rule has anything to do. */
static void say_waiting(struct explain *x, const struct look *l, const struct node *n, const struct node_name *at)
{
	char age[TEXT_AGE];

	if (n->state & NS_POWERING_UP && !is_down(n))
		say_waking(x, l, n);
	else if (n->state & (NS_POWERING_DOWN | NS_POWER_DOWN))
		explain_say(x, SAY_NEXT, "It is idle~ again %s after its power down began (SuspendTimeout).",
			    text_age(l->gen->suspend_timeout_s * 1000, age));
	else if (is_held(n))
		say_held(x, l, n, at);
	else if (is_down(n))
		say_down(x, l, n, at->resource);
	else if (n->state & NS_DRAIN)
		explain_say(x, SAY_NEXT, "It takes no new job. scontrol update nodename=%s state=resume ends that.", n->name);
	else if (n->state & NS_POWERED_DOWN)
		say_off(x, l, at->resource);
	else if (node_state_is(n->state, 1u << NS_IDLE, 0, 0))
		explain_say(x, SAY_NEXT,
			    "It waits for work; Slurm powers it down when it was idle for SuspendTime, but for static nodes.");
	else
		explain_say(x, SAY_NEXT, "Nothing: it works.");
}

void explain_next(struct explain *x, const struct look *l, const char *name)
{
	const struct node *n = look_node(l, name);
	struct node_name at;
	bool acts = say_actions(x, l, name);

	if (acts && n && n->state & NS_POWERING_UP && !is_down(n))
		say_waking(x, l, n);
	if (acts && n && is_held(n) && !(n->state & (NS_POWERED_DOWN | NS_POWERING_DOWN | NS_POWER_DOWN)))
		say_hold_stays(x, n);
	if (acts || !n || say_watched(x, l, n))
		return;
	if (node_name_resolve_any(l->gen, name, &at) == 0)
		say_waiting(x, l, n, &at);
}

/* --- jobs of a node */

static bool has_node(const char *hostlist, const char *node)
{
	struct nodeset *set = nodeset_create();
	bool has = set && nodeset_parse(set, hostlist, NULL) == 0 && nodeset_has(set, node);

	nodeset_destroy(set);
	return has;
}

const struct slurmctl_job_info *explain_job_of(const struct look *l, const char *node)
{
	for (size_t i = 0; i < l->jobs.n; i++) {
		const struct slurmctl_job_info *j = &l->jobs.v[i];

		if (j->nodes && (!j->ended || j->completing) && has_node(j->nodes, node))
			return j;
	}
	return NULL;
}
