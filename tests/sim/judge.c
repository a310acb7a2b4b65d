/* SPDX-License-Identifier: GPL-2.0-or-later */
/* judge.c - what must hold, from what is true in the world, not from what our programs believe. */
#include "tests/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char said[300];

#define no(...) (snprintf(said, sizeof(said), __VA_ARGS__), said)

bool judge_held(const struct snode *n)
{
	bool drain = n->state & NS_DRAIN && strstr(n->reason, "admin: "); /* a person wrote over the words of our drain */

	return n->maint || n->drained || n->downed || drain;
}

/* --- at each moment: no job that runs is ended by us */

/* Truly: EC2's word, or a machine that does not work. */
static bool machine_works(const struct world *w, const struct snode *n)
{
	const struct smachine *m = n->ip == NONE_OF ? NULL : &w->machine[n->ip];

	return m && m->state == INSTANCE_RUNNING && !m->hung;
}

void judge_kill(struct world *w, const struct snode *n, enum who who, const char *how)
{
	const struct sjob *j = &w->job[n->job];
	bool asked = (w->store->fleet_now && !fleet_serves(w->store->fleet)) || w->stop_over_ms >= w->look_ms;

	/* a node that slurmctld had given up and that came to life between our look and our act: no program can see that */
	if ((who != WHO_LOOP && who != WHO_RESUME && who != WHO_SUSPEND) || asked || j->start_ms >= w->look_ms)
		return;
	for (int i = 0; i < j->n; i++)
		if (!machine_works(w, &w->node[j->node[i]]))
			return;
	wrong(w, "%s ended running job %d on %s (%s)", who_text[who], n->job, n->name, how);
}

/* Since the program that acts began to look: what it does was right then. */
static bool changed_meanwhile(const struct world *w)
{
	return w->started_ms >= w->look_ms || w->shortlist_ms >= w->look_ms || (w->calm && w->faults_end_ms >= w->look_ms);
}

/* A machine that comes up well is ended while its node waits for it: nothing is lost but money and time, which may go on for
 * ever. */
void judge_waste(struct world *w, int machine, enum who who)
{
	const struct smachine *m = &w->machine[machine];
	bool works =
	    (m->state == INSTANCE_PENDING || m->state == INSTANCE_RUNNING) && !m->hung && !m->impaired_ms && !m->event_ms;
	bool young = w->now - m->launch_ms < w->gen->resume_timeout_s * 1000;

	if (who != WHO_LOOP || !works || !young || changed_meanwhile(w))
		return;
	for (int i = 0; i < w->n_node; i++) {
		const struct snode *n = &w->node[i];
		const struct sbinding *b = &w->store->row[i];

		if (n->ip == machine && n->launch == m->launch && m->launch_ms >= n->boot_req_ms && b->there &&
		    b->machine == machine && n->job != NONE_OF && fleet_serves(w->store->fleet) &&
		    slurm_says(n, 1u << NS_ALLOCATED, NS_POWERING_UP, NS_POWER_DOWN | NS_POWERED_DOWN))
			wrong(w, "%s ended machine %d for which %s waits", who_text[who], machine, n->name);
	}
}

void judge_update(struct world *w, const struct snode *n, uint32_t state, const char *reason)
{
	bool off = n->state & (NS_POWERED_DOWN | NS_POWERING_DOWN | NS_POWERING_UP | NS_POWER_DOWN);
	bool asked = !fleet_serves(w->store->fleet) || changed_meanwhile(w);

	if ((n->downed || n->drained) && n->held_ms < w->look_ms && !off && !asked && machine_works(w, n))
		wrong(w, "clustermgtd changes %s (%#x), which a person holds", n->name, state);
	if (reason && strstr(reason, "(Code:NoMachine)") && n->waking_ms < w->look_ms && w->now - n->waking_ms < w->orphan_ms)
		wrong(w, "clustermgtd gives up %s as without a machine after %lld ms", n->name,
		      (long long)(w->now - n->waking_ms));
}

/* --- in the end */

static const char *judge_machine(const struct world *w, int i)
{
	const struct smachine *m = &w->machine[i];
	int nodes = 0, rows = 0;

	if (!ec2_alive(m))
		return NULL;
	for (int n = 0; n < w->n_node; n++)
		if (w->node[n].ip == i && judge_held(&w->node[n]))
			return NULL; /* that person's, with all that EC2 may do to it */
	if (m->event_ms)
		return no("machine %d is still to be replaced before its event", i);
	for (int n = 0; n < w->n_node; n++) {
		const struct sbinding *b = &w->store->row[n];

		nodes += w->node[n].ip == i;
		rows += b->there && b->state == BINDING_BOUND && b->machine == i;
	}
	if (nodes != 1 || rows != 1)
		return no("machine %d lives, and %d nodes and %d rows have it", i, nodes, rows);
	return NULL;
}

static bool serves(const struct world *w, int i)
{
	const struct snode *n = &w->node[i];
	const struct smachine *m = n->ip == NONE_OF ? NULL : &w->machine[n->ip];

	return slurm_says(n, 1u << NS_IDLE | 1u << NS_ALLOCATED, 0,
			  NS_POWERED_DOWN | NS_POWERING_DOWN | NS_POWERING_UP | NS_POWER_DOWN | NS_NO_RESPOND | NS_DRAIN |
			      NS_FAIL | NS_COMPLETING) &&
	       m && m->state == INSTANCE_RUNNING && !m->hung && m->node == i;
}

static bool rests(const struct world *w, const struct snode *n)
{
	(void)w;
	return slurm_says(n, 1u << NS_IDLE, NS_POWERED_DOWN,
			  NS_POWERING_DOWN | NS_POWERING_UP | NS_POWER_UP | NS_POWER_DOWN | NS_NO_RESPOND | NS_DRAIN | NS_FAIL |
			      NS_COMPLETING);
}

static const char *judge_node(const struct world *w, int i)
{
	const struct snode *n = &w->node[i];
	const struct sbinding *b = &w->store->row[i];
	char *state;

	if (b->there && b->state == BINDING_LAUNCHING)
		return no("%s is still claimed by launch %d", n->name, b->launch);
	if (judge_held(n) || (n->is_static ? serves(w, i) : rests(w, n)))
		return NULL;
	state = node_state_text(n->state);
	no("%s is %s (%s), its machine %d", n->name, state ? state : "?", n->reason[0] ? n->reason : "-", n->ip);
	free(state);
	return said;
}

/* A job that asks for more nodes than people leave it need not be done. */
static bool can_run(const struct world *w, const struct sjob *j)
{
	int n = 0;

	for (int i = 0; i < w->n_node; i++)
		n += (j->res == NONE_OF || w->node[i].res == j->res) && !judge_held(&w->node[i]);
	return n >= j->want;
}

const char *judge_settled(struct world *w)
{
	const char *why = NULL;

	/* what a program decided while there were faults, it may still do */
	for (int i = 0; i < N_PROC && !why; i++)
		if (w->proc[i].there && w->proc[i].start_ms < w->faults_end_ms)
			why = no("program %d has not ended", w->proc[i].pid);
	for (int i = 0; i < w->n_job && !why; i++)
		if (w->job[i].state != JOB_DONE && can_run(w, &w->job[i]))
			why = no("job %d of %d nodes is not done", i, w->job[i].want);
	for (int i = 0; i < w->n_machine && !why; i++)
		why = judge_machine(w, i);
	for (int i = 0; i < w->n_node && !why; i++)
		why = judge_node(w, i);
	for (int i = 0; i < w->store->n_launch && !why; i++)
		if (w->store->launch[i].there && w->store->launch[i].state != LAUNCH_DONE)
			why = no("launch %d is still open", i);
	if (!why && w->brake.held)
		why = no("the brake holds %zu machines", w->brake.held);
	if (!why && w->n_violation)
		why = no("invariants: %s", w->violation);
	if (!why && w->store->fleet != FLEET_RUNNING)
		why = no("the fleet is %s", fleet_status_text(w->store->fleet));
	return why;
}
