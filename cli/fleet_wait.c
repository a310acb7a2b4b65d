/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet_wait.c - look once a second and say what changed; whatever only a person can mend ends the waiting. */
#include "cli/fleet_wait.h"

#include "cli/fleet_view.h"
#include "cli/interrupt.h"
#include "lib/apply/wish.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/cluster/generation.h"
#include "lib/node/name.h"
#include "lib/plan/node_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 1000
#define AWAY_LOOKS 30 /* slurmctld may restart meanwhile, and a clustermgtd that has just started may end its first loop */

static bool is_done(const struct fleet_view *v, enum fleet_status goal)
{
	return v->fleet.status == goal && (goal == FLEET_STOPPED || v->static_up == v->static_all);
}

static int hindered_stop(const struct fleet_view *v, struct err *e)
{
	const struct fleet_rest *r = &v->rest;

	if (fleet_serves(v->fleet.status))
		return err_set(e, "somebody started the fleet meanwhile");
	if (v->fleet.status == FLEET_STOPPING && r->reserved && !r->busy && !r->going)
		return err_set(e, "%zu node%s in a maintenance reservation of a person, so %s machine%s left; when it ends the stop goes on, "
				  "slurm-ec2 fleet stop --now ends %s too",
			       r->reserved, r->reserved == 1 ? " is" : "s are", r->reserved == 1 ? "its" : "their",
			       r->reserved == 1 ? " is" : "s are", r->reserved == 1 ? "it" : "them");
	return 0;
}

/* A static node whose launch failed since; a Reason from before may only not be taken back yet. */
static const struct node *failed_static(const struct fleet_view *v, int64_t since_ms)
{
	struct node_name name;

	for (size_t i = 0; i < v->nodes.n; i++) {
		const struct node *n = &v->nodes.v[i];

		if ((n->state & NS_BASE) == NS_DOWN && node_why(n->reason) & (WHY_NO_LAUNCH | WHY_DISABLED) &&
		    n->reason_time_s * 1000 >= since_ms && !node_name_resolve(v->gen, n->name, &name) && name.is_static)
			return n;
	}
	return NULL;
}

static int hindered_start(const struct fleet_view *v, int64_t since_ms, struct err *e)
{
	const struct node *n = failed_static(v, since_ms);

	if (!fleet_serves(v->fleet.status))
		return err_set(e, "somebody stopped the fleet meanwhile");
	for (size_t i = 0; i < v->gen->n_resources; i++)
		if (v->protection[i].on)
			return err_set(e,
				       "PROTECTED: machines of %s/%s do not come up (%lld failed, the last with %s); slurm-ec2 events "
				       "and the console output tell why, slurm-ec2 fleet start tries again",
				       v->gen->resources[i].queue, v->gen->resources[i].name, (long long)v->protection[i].count,
				       v->protection[i].code ? v->protection[i].code : "no code");
	if (n)
		return err_set(e, "%s got no machine: %s; clustermgtd tries again by itself", n->name, n->reason);
	return 0;
}

/* -1 if it cannot come to the goal by itself. hung: so many looks in a row found clustermgtd hung. */
static int hindered(const struct fleet_view *v, enum fleet_status goal, int64_t since_ms, int hung, struct err *e)
{
	char clock[CLOCK_MINUTE], text[FLEET_DAEMON];

	if ((!v->watched || hung >= AWAY_LOOKS) && fleet_view_daemon(v, clock_wall_ms(), text))
		return err_set(e, "%s", text);
	if (v->frozen_until_ms) {
		wish_clock(v->frozen_until_ms, clock);
		return err_set(e, "everything is frozen until %s; slurm-ec2 freeze --end ends that", clock);
	}
	return goal == FLEET_STOPPED ? hindered_stop(v, e) : hindered_start(v, since_ms, e);
}

static char *progress(const struct fleet_view *v, enum fleet_status goal)
{
	const char *status = fleet_status_text(v->fleet.status);

	if (goal == FLEET_STOPPED)
		return str_fmt("%s: %zu nodes with jobs, %zu reserved, %zu on their way down, %zu off", status, v->rest.busy,
			       v->rest.reserved, v->rest.going, v->rest.off);
	return str_fmt("%s: %zu of %zu static nodes are up", status, v->static_up, v->static_all);
}

static void show(const struct fleet_view *v, enum fleet_status goal, char **last)
{
	char *text = progress(v, goal);

	if (text && !str_eq(text, *last)) {
		puts(text);
		fflush(stdout);
	}
	free(*last);
	*last = text;
}

int fleet_wait(struct fleet_view *v, enum fleet_status goal, struct err *e)
{
	int64_t since_ms = clock_wall_ms() / 1000 * 1000;
	char *last = NULL;
	int away = 0, hung = 0, rc = 0;

	fflush(stdout);
	interrupt_ends("slurm-ec2 fleet: not waited for any longer; what was asked for goes on");
	for (;; clock_sleep_ms(LOOK_MS)) {
		if (fleet_view_look(v, e)) {
			if (++away < AWAY_LOOKS)
				continue;
			rc = -1;
			break;
		}
		away = 0;
		show(v, goal, &last);
		if (is_done(v, goal))
			break;
		hung = v->hung ? hung + 1 : 0;
		rc = hindered(v, goal, since_ms, hung, e);
		if (rc)
			break;
	}
	free(last);
	return rc;
}
