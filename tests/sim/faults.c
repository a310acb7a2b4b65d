/* SPDX-License-Identifier: GPL-2.0-or-later */
/* faults.c - the trouble of a world: each kind by its own stream of chance, and the end of all of it. What happens inside a
 * call (lost, late, throttled ...) is asked for where it happens, by fault_now. */
#include "tests/sim/sim.h"

#include <string.h>

#define PERSON "admin: "

static struct smachine *some_machine(struct world *w, enum fault f)
{
	int alive[N_MACHINE], n = 0;

	for (int i = 0; i < w->n_machine; i++)
		if (w->machine[i].state == INSTANCE_RUNNING || w->machine[i].state == INSTANCE_PENDING)
			alive[n++] = i;
	return n ? &w->machine[alive[draw(&w->fault[f], (unsigned)n)]] : NULL;
}

static struct snode *some_node(struct world *w, enum fault f)
{
	return &w->node[draw(&w->fault[f], (unsigned)w->n_node)];
}

static void break_machine(struct world *w, enum fault f)
{
	struct smachine *m = some_machine(w, f);
	int i = m ? (int)(m - w->machine) : 0;

	if (!m)
		return;
	tell(w, "fault %s: machine %d", fault_text[f], i);
	if (f == F_DIE || f == F_TERMINATE) {
		ec2_end(w, i, f == F_DIE ? WHO_EC2 : WHO_PERSON);
	} else if (f == F_STOP && m->state == INSTANCE_RUNNING) {
		m->state = INSTANCE_STOPPING;
		m->ended_by = WHO_EC2;
		m->end_ms = w->now + 20000;
	} else if (f == F_HANG && m->state == INSTANCE_RUNNING) {
		m->hung = true;
		m->impaired_ms = w->now + 60000;
	} else if (f == F_IMPAIRED && m->state == INSTANCE_RUNNING) {
		m->impaired_ms = w->now;
	} else if (f == F_EVENT) {
		m->event_ms = w->now + between(&w->fault[f], 600, 7200) * 1000;
	}
}

/* Only what a person would do to a node in that state. */
static void person(struct world *w, enum fault f)
{
	struct snode *n = some_node(w, f);
	bool off = n->state & (NS_POWERED_DOWN | NS_POWERING_DOWN);

	if (!w->ctld)
		return;
	if (f == F_DRAIN || f == F_DOWN)
		slurm_update(w, n, f == F_DRAIN ? NS_DRAIN : NS_DOWN, PERSON "looking at it", WHO_PERSON);
	else if (f == F_POWER_DOWN)
		slurm_update(w, n, NS_POWER_DOWN | (one_in(&w->fault[f], 2) ? NS_POWERED_DOWN : 0), NULL, WHO_PERSON);
	else if (f == F_POWER_UP)
		slurm_update(w, n, NS_POWER_UP, NULL, WHO_PERSON);
	else if (f == F_REBOOT && !off && !(n->state & (NS_POWERING_UP | NS_POWER_DOWN | NS_REBOOT_ISSUED)))
		slurm_ask_reboot(w, n);
	else if (f == F_MAINT)
		n->maint = !n->maint;
}

static void undo_person(struct world *w, struct snode *n)
{
	n->maint = false;
	if (judge_held(n))
		slurm_update(w, n, NS_RESUME, NULL, WHO_PERSON);
}

static int64_t for_s(struct world *w, enum fault f, int low, int high)
{
	int64_t until = w->now + between(&w->fault[f], low, high) * 1000;

	tell(w, "fault %s for %lld s", fault_text[f], (long long)(until - w->now) / 1000);
	return until;
}

static void fleet(struct world *w)
{
	struct store *s = w->store;

	if (fleet_serves(s->fleet)) {
		s->fleet = FLEET_STOP_REQUESTED;
		s->fleet_now = one_in(&w->fault[F_FLEET], 2);
		tell(w, "a person stops the fleet%s", s->fleet_now ? ", now" : "");
	} else {
		if (s->fleet_now)
			w->stop_over_ms = w->now;
		w->started_ms = w->now;
		s->fleet = FLEET_START_REQUESTED;
		s->fleet_now = false;
		s->n_failure = 0;
		memset(s->backoff_ms, 0, sizeof(s->backoff_ms));
		tell(w, "a person starts the fleet");
	}
}

static void lose_state(struct world *w)
{
	struct store *old = w->store;

	if (w->n_store == N_STORE)
		return;
	tell(w, "the state file is lost");
	w->store = store_new(w);
	/* who stopped the fleet will start it again, and has to say so to the new file */
	w->store->fleet = old->fleet;
	w->store->fleet_now = old->fleet_now;
	w->store->closed = old->closed;
}

static void happen(struct world *w, enum fault f)
{
	switch (f) {
	case F_SHORT:
		w->short_ms[draw(&w->fault[f], (unsigned)w->gen->n_resources)] = for_s(w, f, 30, 600);
		break;
	case F_UNREACH:
		w->unreach_ms = for_s(w, f, 20, 400);
		break;
	case F_SHORTLIST:
		w->shortlist_ms = for_s(w, f, 60, 500);
		w->missing = (int)draw(&w->fault[f], 3);
		break;
	case F_CTLD:
		w->ctld_back_ms = for_s(w, f, 2, 200);
		w->ctld = false;
		break;
	case F_STATE:
		lose_state(w);
		break;
	case F_FLEET:
		fleet(w);
		break;
	case F_FREEZE:
		w->store->frozen_ms = for_s(w, f, 30, 400);
		break;
	default:
		if (f >= F_DIE && f <= F_EVENT)
			break_machine(w, f);
		else if (f == F_TERMINATE)
			break_machine(w, f);
		else if (f >= F_DRAIN && f <= F_MAINT)
			person(w, f);
		break;
	}
}

void faults_tick(struct world *w)
{
	if (!w->ctld && w->now >= w->ctld_back_ms)
		slurm_starts(w);
	for (int f = 0; f < N_FAULT; f++) {
		if (w->now < w->next_ms[f])
			continue;
		w->next_ms[f] = w->now + between(&w->fault[f], 20, f == F_STATE ? 1200 : 500) * 1000;
		if (w->on[f])
			happen(w, (enum fault)f);
		if (f >= F_DRAIN && f <= F_MAINT && one_in(&w->fault[f], 3))
			undo_person(w, some_node(w, (enum fault)f));
	}
}

static void mend_machine(struct world *w, struct smachine *m)
{
	bool whole = one_in(&w->shape, 2);

	if (m->hung && whole)
		m->hung = false;
	if (whole || !m->hung)
		m->impaired_ms = m->hung ? m->impaired_ms : 0;
	if (m->event_ms)
		m->event_ms = whole ? 0 : w->now + 60000;
}

/* Everything works again, and people take back what they did; most of them. */
void faults_over(struct world *w)
{
	if (!w->ctld)
		slurm_starts(w);
	for (int i = 0; i < w->n_machine; i++)
		mend_machine(w, &w->machine[i]);
	for (int i = 0; i < w->n_node; i++) {
		w->node[i].maint = false;
		if (!one_in(&w->shape, 5))
			undo_person(w, &w->node[i]);
	}
	if (!fleet_serves(w->store->fleet))
		fleet(w);
	/* with the state file went the memory of who closed it: a person opens it */
	w->part_up = w->part_up || !w->store->closed;
	w->store->frozen_ms = 0;
}
