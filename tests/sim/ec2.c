/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ec2.c - launches, machines from pending to forgotten, and what runs on them up to slurmd. */
#include "tests/sim/sim.h"

#include <string.h>

#define FORGET_MS (INT64_C(20) * 60000) /* EC2 lists ended machines for about an hour; shorter, so that both are seen */

bool ec2_alive(const struct smachine *m)
{
	return instance_alive(m->state);
}

bool ec2_lists(const struct world *w, const struct smachine *m)
{
	int i = (int)(m - w->machine);

	if (w->now < m->seen_ms || (m->forget_ms && w->now > m->forget_ms))
		return false;
	return w->calm || w->now >= w->shortlist_ms || i % 3 != w->missing;
}

bool ec2_call(struct world *w)
{
	if (!w->calm && w->now < w->unreach_ms)
		return false;
	return !fault_now(w, F_THROTTLE, 4);
}

/* --- launches */

static void add_machine(struct world *w, int res, int launch, int index)
{
	struct smachine *m = &w->machine[w->n_machine];

	*m = (struct smachine){.launch = launch, .index = index, .res = res, .node = NONE_OF, .state = INSTANCE_PENDING};
	m->launch_ms = m->seen_ms = m->address_ms = w->now;
	if (fault_now(w, F_LATE, 2))
		m->seen_ms += between(&w->fault[F_LATE], 1, (int)(w->orphan_ms * 3 / 4000)) * 1000;
	if (fault_now(w, F_NOADDR, 2))
		m->address_ms += between(&w->fault[F_NOADDR], 1, 60) * 1000;
	m->run_ms = w->now + between(&w->timing, 3, 20) * 1000;
	m->boot_ms = m->run_ms + 2000;
	m->ready_ms = m->boot_ms + between(&w->timing, 10, 70) * 1000;
	if (fault_now(w, F_SLOWBOOT, 3))
		m->ready_ms = w->now + (w->gen->resume_timeout_s + between(&w->fault[F_SLOWBOOT], -40, 60)) * 1000;
	if (fault_now(w, F_NOBOOT, 3))
		m->ready_ms = 0;
	m->asks_until_ms = m->boot_ms + w->gen->resume_timeout_s * 1000;
	w->n_machine++;
	w->launched++;
}

/* How many EC2 gives. 0 and *code: refused. */
static int supply(struct world *w, const struct slaunch *l, const char **code)
{
	if (fault_now(w, F_DENIED, 6)) {
		*code = "UnauthorizedOperation";
		return 0;
	}
	*code = CODE_INSUFFICIENT;
	if (!w->calm && w->now < w->short_ms[l->res])
		return 0;
	if (fault_now(w, F_PARTIAL, 3))
		return between(&w->fault[F_PARTIAL], 0, l->n - 1);
	return l->n;
}

static void answer(struct world *w, struct work *k)
{
	int first = w->launch_asked[k->launch] - 1;

	k->came = first >= 0;
	k->n_got = 0;
	for (int i = 0; k->came && i < w->launch_got[k->launch]; i++)
		k->got[k->n_got++] = first + i;
}

/* A token that EC2 has heard gives the same machines again; one that was refused is a new question. */
void ec2_launch(struct world *w, struct work *k, const struct slaunch *l, enum who who)
{
	int n, first = w->n_machine;

	k->asked = true;
	k->code = NULL;
	if (!ec2_call(w)) {
		k->open = true;
		tell(w, "launch %d by %s: no answer", k->launch, who_text[who]);
		return;
	}
	if (w->launch_asked[k->launch] <= 0) {
		n = supply(w, l, &k->code);
		if (w->n_machine + n > N_MACHINE) {
			wrong(w, "more than %d machines were launched", N_MACHINE);
			n = 0;
		}
		for (int i = 0; i < n; i++)
			add_machine(w, l->res, k->launch, i);
		w->launch_asked[k->launch] = n ? first + 1 : -1;
		w->launch_got[k->launch] = n;
	}
	k->open = fault_now(w, F_LOST, 4);
	answer(w, k);
	tell(w, "launch %d by %s: %d of %d machines from %d%s%s%s", k->launch, who_text[who], k->n_got, l->n,
	     w->launch_asked[k->launch] - 1, k->came ? "" : " ", k->came || !k->code ? "" : k->code,
	     k->open ? ", the answer is lost" : "");
}

/* --- ends */

void ec2_end(struct world *w, int machine, enum who who)
{
	struct smachine *m = &w->machine[machine];

	if (!ec2_alive(m))
		return;
	if (who == WHO_LOOP || who == WHO_RESUME || who == WHO_SUSPEND) {
		struct snode *n = m->node == NONE_OF ? NULL : &w->node[m->node];

		if (n && n->ip == machine && slurm_runs_job(w, n))
			judge_kill(w, n, who, "end of its machine");
	}
	judge_waste(w, machine, who);
	tell(w, "machine %d is ended by %s", machine, who_text[who]);
	m->ended_by = who;
	m->state = INSTANCE_SHUTTING_DOWN;
	m->end_ms = w->now + between(&w->timing, 2, 40) * 1000;
	m->forget_ms = w->now + FORGET_MS;
}

static void boot(struct world *w, struct smachine *m)
{
	if (m->node != NONE_OF || !m->ready_ms || w->now < m->ready_ms || m->hung)
		return;
	if (slurm_machine_asks(w, m)) {
		m->slurmd_ms = w->now;
		tell(w, "machine %d is %s", (int)(m - w->machine), w->node[m->node].name);
	} else if (w->now > m->asks_until_ms) {
		ec2_end(w, (int)(m - w->machine), WHO_SELF);
	}
}

static void move(struct world *w, struct smachine *m)
{
	switch (m->state) {
	case INSTANCE_PENDING:
		if (w->now >= m->run_ms) {
			m->state = INSTANCE_RUNNING;
			tell(w, "machine %d runs", (int)(m - w->machine));
		}
		break;
	case INSTANCE_RUNNING:
		boot(w, m);
		break;
	case INSTANCE_STOPPING:
		if (w->now >= m->end_ms)
			m->state = INSTANCE_STOPPED;
		break;
	case INSTANCE_SHUTTING_DOWN:
		if (w->now >= m->end_ms)
			m->state = INSTANCE_TERMINATED;
		break;
	default:
		break;
	}
}

void ec2_tick(struct world *w)
{
	for (int i = 0; i < w->n_machine; i++)
		move(w, &w->machine[i]);
}
