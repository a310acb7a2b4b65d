/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain_node.c - a node from Slurm's state through our rows and its machine to what its machine said. */
#include "build_config.h"

#include "cli/explain.h"
#include "cli/text.h"
#include "lib/base/clock.h"
#include "lib/node/name.h"
#include "lib/node/nodeset.h"
#include "lib/plan/reconcile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Slurm */

static const char *meaning_of(const struct node *n)
{
	bool down = node_state_is(n->state, 1u << NS_DOWN | 1u << NS_ERROR, 0, 0);

	if (n->state & NS_POWERING_UP)
		return down ? "it failed while it was powered up" : "it is being powered up";
	if (n->state & (NS_POWERING_DOWN | NS_POWER_DOWN))
		return "it is being powered down";
	if (down && reconcile_disabled(n->reason))
		return "out of use while EC2 is short";
	if (down && (protect_reason(n->reason) || protect_cycling_reason(n->reason)))
		return "out of use, for machines do not come up";
	if (down)
		return "out of use";
	if (n->state & (NS_DRAIN | NS_FAIL))
		return "drained, it takes no new job";
	if (n->state & NS_POWERED_DOWN)
		return "powered down, a job wakes it";
	if (node_state_is(n->state, 1u << NS_IDLE, 0, NS_COMPLETING))
		return "up and idle";
	return "it works";
}

static void say_slurm(struct explain *x, const struct look *l, const char *name)
{
	const struct node *n = look_node(l, name);
	const struct slurmctl_job_info *j = n ? explain_job_of(l, name) : NULL;
	char *state = n ? node_state_text(n->state) : NULL, when[EXPLAIN_WHEN];

	if (n && !state)
		x->nomem = true;
	if (!n && !l->slurm_away)
		explain_say(x, SAY_SLURM,
			    "slurmctld does not know this node, though the applied cluster has it: slurm-ec2 apply again.");
	if (state)
		explain_say(x, SAY_SLURM, "State %s: %s.", state, meaning_of(n));
	if (n && n->reason && n->reason_time_s)
		explain_say(x, SAY_SLURM, "Reason, since %s: %s", explain_when(l, n->reason_time_s * 1000, when), n->reason);
	else if (n && n->reason)
		explain_say(x, SAY_SLURM, "Reason: %s", n->reason);
	if (n && n->state & NS_NO_RESPOND && !(n->state & (NS_POWERING_UP | NS_POWERED_DOWN)))
		explain_say(x, SAY_SLURM, "Its slurmd does not answer.");
	if (j)
		explain_say(x, SAY_SLURM, "Job %" PRId64 " has it (%s).", j->id,
			    j->configuring ? "waits for its nodes" : j->state);
	free(state);
}

/* --- our rows */

static void say_launch(struct explain *x, const struct look *l, const struct binding *b)
{
	const struct launch *row = look_launch(l, b->launch);
	char age[TEXT_AGE], worker[48] = "nobody works on it, clustermgtd goes on with it";

	if (!row) {
		explain_say(x, SAY_OURS, "Launch %s was to give it a machine, and is over.", b->launch ? b->launch : "?");
		return;
	}
	if (!strs_has(&l->dead, row->id))
		snprintf(worker, sizeof(worker), "process %" PRId64 " works on it", row->pid);
	explain_say(x, SAY_OURS, "Launch %s (nodes: %zu, stage %d), begun %s ago, %s; %s.", row->id, row->nodes.n,
		    row->stage + 1, text_age(l->now_ms - row->created_ms, age),
		    row->state == LAUNCH_INTENT ? "asks EC2 for its machine" : "gives the machines that came to their nodes",
		    worker);
	if (row->error)
		explain_say(x, SAY_EC2, "It said %s to that launch.", row->error);
}

static void say_row(struct explain *x, const struct look *l, const char *name)
{
	const struct binding *b = look_row(l, name);
	char age[TEXT_AGE];

	if (l->state_away)
		return;
	if (!b)
		explain_say(x, SAY_OURS, "It has no machine, and none is asked for.");
	else if (b->state == BINDING_LAUNCHING)
		say_launch(x, l, b);
	else
		explain_say(x, SAY_OURS, "Its machine is %s since %s (launch %s).", b->instance ? b->instance : "?",
			    text_age(l->now_ms - b->since_ms, age), b->launch ? b->launch : "?");
}

/* --- EC2 */

static void say_health(struct explain *x, const struct look *l, const struct health *h)
{
	char when[EXPLAIN_WHEN];

	if (h->instance_impaired || h->system_impaired) {
		x->ours = true;
		explain_say(x, SAY_EC2, "Its %s status check fails%s%s.",
			    !h->system_impaired	    ? "instance"
			    : !h->instance_impaired ? "system"
						    : "system and instance",
			    h->impaired_since_ms ? " since " : "",
			    h->impaired_since_ms ? explain_when(l, h->impaired_since_ms, when) : "");
	}
	if (h->event)
		explain_say(x, SAY_EC2, "Scheduled event %s%s%s%s%s", h->event, h->event_ms ? ", " : "",
			    h->event_ms ? explain_when(l, h->event_ms, when) : "", h->event_text ? ": " : "",
			    h->event_text ? h->event_text : "");
}

static void say_machine(struct explain *x, const struct look *l, const struct instance *i)
{
	const struct health *h = look_health(l, i->id);
	char when[EXPLAIN_WHEN];

	explain_say(x, SAY_EC2, "%s is %s: %s%s%s%s%s, launched %s.", i->id, instance_state_text(i->state),
		    i->type ? i->type : "?", i->zone ? " in " : "", i->zone ? i->zone : "",
		    i->private_ip ? ", address " : ", no address yet", i->private_ip ? i->private_ip : "",
		    i->launch_time_ms ? explain_when(l, i->launch_time_ms, when) : "?");
	if (i->state_reason)
		explain_say(x, SAY_EC2, "Why it is in that state: %s.", i->state_reason);
	if (h)
		say_health(x, l, h);
}

static void say_ec2(struct explain *x, const struct look *l, const char *name, size_t resource)
{
	const struct binding *b = look_row(l, name);
	const struct instance *i = b ? look_instance(l, b->instance) : NULL;

	if (i)
		say_machine(x, l, i);
	else if (b && b->instance && !l->ec2_away)
		explain_say(x, SAY_EC2, "It does not list %s: gone, or so new that it is not told yet.", b->instance);
	explain_shortages(x, l, resource);
}

/* --- what went wrong before */

static void say_failures(struct explain *x, const struct look *l, const char *name, size_t resource)
{
	const struct failure *last = NULL;
	char when[EXPLAIN_WHEN];
	size_t n = 0;

	for (size_t i = 0; i < l->failures.n; i++) {
		if (str_eq(l->failures.v[i].node, name)) {
			last = &l->failures.v[i];
			n++;
		}
	}
	if (last)
		explain_say(x, SAY_OURS, "%zu machine%s of this node did not come up lately; the last was %s, %s (%s).", n,
			    n == 1 ? "" : "s", last->instance ? last->instance : "?", explain_when(l, last->time_ms, when),
			    last->code ? last->code : "?");
	explain_protection(x, l, resource);
	if (nodeset_has(l->cycling, name)) {
		x->ours = true;
		explain_say(
		    x, SAY_OURS,
		    "Its machines are launched and ended in a circle, so none is launched for it. slurm-ec2 fleet start "
		    "lets it try again.");
	}
}

static void say_event(struct explain *x, const struct event *v)
{
	char iso[25];

	clock_iso(v->time_ms, iso);
	explain_say(x, SAY_OURS, "%.19sZ %s%s%s%s%s", iso, v->type, v->instance ? " " : "", v->instance ? v->instance : "",
		    v->detail ? ": " : "", v->detail ? v->detail : "");
}

void explain_events(struct explain *x, const struct look *l, const struct explain_more *m)
{
	if (m->events_away && !l->state_away)
		explain_say(x, SAY_OURS, "The event log was not to be seen: %s", m->events_away);
	else if (m->events.n)
		explain_say(x, SAY_OURS, "The last events of it:");
	for (size_t i = 0; i < m->events.n; i++)
		say_event(x, &m->events.v[i]);
}

static void say_console(struct explain *x, const struct explain_more *m)
{
	const char *at = m->console_end;

	if (m->console)
		explain_say(x, SAY_BOOT, "%s", m->console);
	if (m->console_away)
		explain_say(x, SAY_BOOT, "It was not to be seen: %s", m->console_away);
	while (at && *at) {
		int n = (int)strcspn(at, "\n");

		explain_say(x, SAY_BOOT, "| %.*s", n, at);
		at += n + (at[n] == '\n');
	}
}

void explain_node(struct explain *x, const struct look *l, const struct explain_more *m, const char *name)
{
	struct node_name at;

	say_slurm(x, l, name);
	explain_fleet(x, l);
	say_row(x, l, name);
	if (node_name_resolve_any(l->gen, name, &at) == 0) {
		say_ec2(x, l, name, at.resource);
		say_failures(x, l, name, at.resource);
	}
	explain_events(x, l, m);
	say_console(x, m);
	explain_next(x, l, name);
}
