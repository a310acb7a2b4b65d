/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm.c - slurmctld 22.05 as far as it moves nodes: power_save.c's scan, updates of nodes, registrations, pings, and a
 * scheduler that gives whole nodes to jobs. Configured as `slurm-ec2 apply` does: idle_on_node_suspend, ReturnToService=2. */
#include "tests/sim/sim.h"

#include <stdio.h>
#include <string.h>

#define POWER_MS 5000 /* power_save_interval */
#define SCHED_MS 3000
#define PING_MS 100000 /* SlurmdTimeout / 3 */
#define REQUEUE_REST_MS 120000
#define START_MS 30000 /* job_time_limit() starts batch jobs so often */

bool slurm_says(const struct snode *n, unsigned bases, uint32_t required, uint32_t forbidden)
{
	return node_state_is(n->state, bases, required, forbidden);
}

static void set_base(struct snode *n, uint32_t base)
{
	n->state = (n->state & ~NS_BASE) | base;
}

static uint32_t base_of(const struct snode *n)
{
	return n->state & NS_BASE;
}

static void set_reason(struct world *w, struct snode *n, const char *reason)
{
	snprintf(n->reason, sizeof(n->reason), "%s", reason);
	n->reason_ms = w->now;
}

/* set_node_reboot_reason() */
static void add_reason(struct world *w, struct snode *n, const char *more)
{
	size_t at = strlen(n->reason);

	if (!strstr(n->reason, more))
		snprintf(n->reason + at, sizeof(n->reason) - at, "%s%s", at ? " : " : "", more);
	n->reason_ms = w->now;
}

/* clusteracct_storage_g_node_up() does it */
static void no_reason(struct snode *n)
{
	n->reason[0] = 0;
	n->reason_ms = 0;
}

bool slurm_runs_job(const struct world *w, const struct snode *n)
{
	return n->job != NONE_OF && w->job[n->job].state == JOB_RUNS;
}

/* --- jobs */

static void leave_node(struct world *w, struct snode *n)
{
	n->job = NONE_OF;
	if (base_of(n) == NS_DOWN)
		return;
	if (!(n->state & (NS_POWERING_UP | NS_POWERED_DOWN))) {
		n->state |= NS_COMPLETING;
		n->completing_ms = w->now + between(&w->timing, 0, 12) * 1000;
	}
	set_base(n, NS_IDLE);
	n->busy_ms = w->now;
}

static void end_job(struct world *w, struct sjob *j, bool again)
{
	for (int i = 0; i < j->n; i++)
		leave_node(w, &w->node[j->node[i]]);
	j->n = 0;
	j->to_resume = false;
	j->state = again ? JOB_WAITS : JOB_DONE;
	j->eligible_ms = again ? w->now + REQUEUE_REST_MS : 0;
	j->requeued += again;
	w->requeues += again;
}

static void kill_jobs(struct world *w, struct snode *n, enum who who, const char *how)
{
	struct sjob *j = n->job == NONE_OF ? NULL : &w->job[n->job];

	if (!j)
		return;
	if (j->state == JOB_RUNS)
		judge_kill(w, n, who, how);
	tell(w, "job %d is queued again: %s of %s by %s", n->job, how, n->name, who_text[who]);
	end_job(w, j, true);
}

static bool may_have_job(const struct world *w, const struct snode *n)
{
	uint32_t never = NS_DRAIN | NS_FAIL | NS_POWER_DOWN | NS_POWERING_DOWN | NS_COMPLETING | NS_MAINT |
			 NS_REBOOT_REQUESTED | NS_REBOOT_ISSUED | NS_INVALID_REG;

	(void)w;
	if (n->job != NONE_OF || !slurm_says(n, 1u << NS_IDLE, 0, never))
		return false;
	return !(n->state & NS_NO_RESPOND) || (n->state & NS_POWERING_UP && n->booting);
}

/* Nodes that are up come first. */
static int pick_nodes(const struct world *w, const struct sjob *j, int *out)
{
	int n = 0;

	for (int off = 0; off < 2; off++) {
		for (int i = 0; i < w->n_node && n < j->want; i++) {
			const struct snode *x = &w->node[i];

			if ((x->state & NS_POWERED_DOWN) == (off ? NS_POWERED_DOWN : 0) && may_have_job(w, x) &&
			    (j->res == NONE_OF || x->res == j->res))
				out[n++] = i;
		}
	}
	return n;
}

static void give_nodes(struct world *w, int job, const int *nodes, int n)
{
	struct sjob *j = &w->job[job];

	j->n = n;
	j->state = JOB_CONFIGURES;
	for (int i = 0; i < n; i++) {
		struct snode *x = &w->node[nodes[i]];

		j->node[i] = nodes[i];
		x->job = job;
		set_base(x, NS_ALLOCATED);
		no_reason(x);
		j->to_resume = j->to_resume || x->asleep;
		tell(w, "job %d gets %s", job, x->name);
	}
}

static bool are_ready(const struct world *w, const struct sjob *j)
{
	for (int i = 0; i < j->n; i++)
		if (w->node[j->node[i]].asleep ||
		    w->node[j->node[i]].state & (NS_POWERING_UP | NS_POWERED_DOWN | NS_NO_RESPOND))
			return false;
	return true;
}

/* A job's end comes from its machines. */
static bool machines_work(const struct world *w, const struct sjob *j)
{
	for (int i = 0; i < j->n; i++) {
		const struct snode *n = &w->node[j->node[i]];
		const struct smachine *m = n->ip == NONE_OF ? NULL : &w->machine[n->ip];

		if (!m || m->state != INSTANCE_RUNNING || m->hung || m->node != j->node[i])
			return false;
	}
	return true;
}

static void move_job(struct world *w, int job)
{
	struct sjob *j = &w->job[job];
	int nodes[N_NODE];

	if (j->state == JOB_WAITS && w->now >= j->submit_ms && w->now >= j->eligible_ms && w->part_up &&
	    pick_nodes(w, j, nodes) == j->want) {
		give_nodes(w, job, nodes, j->want);
	} else if (j->state == JOB_CONFIGURES && are_ready(w, j)) {
		j->state = JOB_RUNS;
		j->to_resume = false;
		j->start_ms = w->now;
		j->end_ms = w->now + j->long_ms + between(&w->timing, 0, (int)START_MS / 1000) * 1000;
		tell(w, "job %d runs", job);
	} else if (j->state == JOB_RUNS && w->now >= j->end_ms && machines_work(w, j)) {
		tell(w, "job %d is done", job);
		end_job(w, j, false);
	}
}

/* --- power saving */

static void wake(struct world *w, struct snode *n)
{
	if (!(n->state & NS_POWERING_UP))
		n->waking_ms = w->now;
	n->state &= ~(NS_POWER_UP | NS_POWERED_DOWN);
	n->state |= NS_POWERING_UP | NS_NO_RESPOND;
	n->boot_req_ms = w->now;
	n->booting = true;
	n->asleep = false;
	no_reason(n);
}

static void put_to_sleep(struct world *w, struct snode *n)
{
	if (n->state & NS_POWER_DOWN)
		n->state &= ~NS_DRAIN;
	n->state |= NS_POWERING_DOWN;
	n->state &= ~(NS_POWER_DOWN | NS_NO_RESPOND | NS_DRAIN | NS_FAIL);
	n->down_req_ms = w->now;
	n->asleep = true;
	set_base(n, NS_IDLE);
}

static bool may_sleep(const struct world *w, const struct snode *n)
{
	uint32_t never =
	    NS_POWERED_DOWN | NS_COMPLETING | NS_POWERING_UP | NS_POWERING_DOWN | NS_REBOOT_ISSUED | NS_REBOOT_REQUESTED;

	if (!slurm_says(n, 1u << NS_IDLE | 1u << NS_DOWN, 0, never))
		return false;
	/* static nodes stand in SuspendExcNodes */
	return n->state & NS_POWER_DOWN || (!n->is_static && n->busy_ms && n->busy_ms < w->now - w->suspend_ms);
}

static void give_up_boot(struct world *w, struct snode *n)
{
	n->state &= ~(NS_DRAIN | NS_POWER_DOWN | NS_POWERING_UP);
	n->state |= NS_POWERED_DOWN;
	set_reason(w, n, "ResumeTimeout reached");
	set_base(n, NS_DOWN);
	kill_jobs(w, n, WHO_SLURM, "ResumeTimeout");
	n->booting = false;
	n->asleep = true;
	n->busy_ms = n->boot_req_ms = 0;
	tell(w, "%s: ResumeTimeout reached", n->name);
}

struct lists {
	int up[N_NODE], down[N_NODE], failed[N_NODE], n_up, n_down, n_failed;
};

static bool job_wakes(const struct world *w, const struct snode *n)
{
	return n->job != NONE_OF && w->job[n->job].to_resume && n->asleep;
}

static void scan_node(struct world *w, int i, struct lists *l)
{
	struct snode *n = &w->node[i];
	bool off = n->state & NS_POWERED_DOWN;

	if (job_wakes(w, n) || (off && n->state & NS_POWER_UP && !(n->state & NS_POWERING_DOWN))) {
		wake(w, n);
		l->up[l->n_up++] = i;
	}
	if (!off && may_sleep(w, n)) {
		put_to_sleep(w, n);
		l->down[l->n_down++] = i;
	}
	if (n->state & NS_POWERING_DOWN && n->down_req_ms + w->suspend_timeout_ms < w->now) {
		n->state &= ~(NS_INVALID_REG | NS_POWERING_DOWN);
		n->state |= NS_POWERED_DOWN;
		n->busy_ms = n->down_req_ms = 0;
		tell(w, "%s is powered down", n->name);
	}
	if (n->booting && w->now > n->boot_req_ms + w->gen->resume_timeout_s * 1000 && n->state & NS_POWERING_UP &&
	    n->state & NS_NO_RESPOND) {
		give_up_boot(w, n);
		l->failed[l->n_failed++] = i;
	}
}

static void scan_power(struct world *w)
{
	struct lists l = {.n_up = 0};

	for (int i = 0; i < w->n_node; i++)
		scan_node(w, i, &l);
	if (l.n_down)
		proc_start(w, PROC_SUSPEND, l.down, l.n_down);
	if (l.n_up)
		proc_start(w, PROC_RESUME, l.up, l.n_up);
	if (l.n_failed)
		proc_start(w, PROC_SUSPEND, l.failed, l.n_failed);
}

/* --- updates */

static void require(struct world *w, struct snode *n)
{
	n->state |= NS_NO_RESPOND; /* until it registers */
	n->heard_ms = w->now;
}

static void update_down(struct world *w, struct snode *n, enum who who)
{
	set_base(n, NS_DOWN);
	kill_jobs(w, n, who, "DOWN");
}

static void update_resume(struct world *w, struct snode *n)
{
	bool held = n->state & (NS_DRAIN | NS_FAIL);

	if (!(n->state & NS_POWERING_DOWN) && (n->state & NS_INVALID_REG || (base_of(n) != NS_DOWN && !held)))
		return; /* refused */
	n->state &= ~(NS_DRAIN | NS_FAIL | NS_REBOOT_REQUESTED | NS_REBOOT_ISSUED);
	if (n->state & NS_POWERING_DOWN) {
		n->state &= ~(NS_INVALID_REG | NS_POWERING_DOWN);
		n->state |= NS_POWERED_DOWN;
	}
	if (base_of(n) == NS_DOWN) {
		set_base(n, NS_IDLE);
		n->busy_ms = n->state & NS_POWERED_DOWN ? 0 : w->now;
		if (!(n->state & NS_POWERED_DOWN))
			require(w, n);
	}
	no_reason(n);
}

static void update_power_down(struct world *w, struct snode *n, uint32_t state, enum who who)
{
	if (n->state & NS_REBOOT_ISSUED && base_of(n) == NS_DOWN)
		set_base(n, NS_IDLE);
	n->state &= ~(NS_REBOOT_REQUESTED | NS_REBOOT_ISSUED);
	if (n->state & NS_POWERING_DOWN)
		return;
	if (state & NS_POWERED_DOWN) {
		kill_jobs(w, n, who, "power down");
		n->state &= ~NS_POWERING_UP;
	}
	if (base_of(n) == NS_DOWN)
		n->state &= ~NS_POWERING_UP;
	n->state &= ~NS_POWERED_DOWN;
	n->state |= NS_POWER_DOWN;
}

static void update_drain(struct world *w, struct snode *n, enum who who)
{
	if (n->job != NONE_OF && n->state & (NS_POWERED_DOWN | NS_POWERING_UP))
		kill_jobs(w, n, who, "drain while it comes up");
	n->state |= NS_DRAIN;
}

void slurm_update(struct world *w, struct snode *n, uint32_t state, const char *reason, enum who who)
{
	if (reason && *reason && !(state == NS_RESUME && who == WHO_LOOP))
		set_reason(w, n, reason);
	tell(w, "%s: %s sets %s%s%s%s", n->name, who_text[who],
	     state == NS_DOWN	      ? "DOWN"
	     : state == NS_DRAIN      ? "DRAIN"
	     : state == NS_RESUME     ? "RESUME"
	     : state == NS_POWER_UP   ? "POWER_UP"
	     : state == NS_POWER_DOWN ? "POWER_DOWN"
				      : "POWER_DOWN_FORCE",
	     reason ? " \"" : "", reason ? reason : "", reason ? "\"" : "");
	if (who == WHO_LOOP)
		judge_update(w, n, state, reason);
	if (who == WHO_PERSON && !judge_held(n))
		n->held_ms = w->now;
	n->downed = n->downed || (state == NS_DOWN && who == WHO_PERSON);
	n->drained = n->drained || (state == NS_DRAIN && who == WHO_PERSON);
	if (state == NS_DOWN)
		update_down(w, n, who);
	else if (state == NS_DRAIN)
		update_drain(w, n, who);
	else if (state == NS_RESUME)
		update_resume(w, n);
	else if (state & NS_POWER_DOWN)
		update_power_down(w, n, state, who);
	else if (state == NS_POWER_UP && n->state & NS_POWERED_DOWN)
		n->state |= NS_POWER_UP;
	else if (state == NS_POWER_UP && n->state & NS_POWERING_UP)
		n->state |= NS_POWERED_DOWN | NS_POWER_UP;
}

/* --- what slurmctld hears */

static bool waits_for_boot(const struct snode *n, int64_t boot_ms)
{
	return n->state & (NS_POWERING_UP | NS_REBOOT_ISSUED) && boot_ms / 1000 < n->boot_req_ms / 1000;
}

static bool waits_for_end(const struct world *w, const struct snode *n, int64_t boot_ms)
{
	return n->state & NS_POWERING_DOWN && n->down_req_ms && boot_ms < n->down_req_ms + w->suspend_timeout_ms;
}

static void back_in_service(struct world *w, struct snode *n)
{
	set_base(n, n->job != NONE_OF ? NS_ALLOCATED : NS_IDLE);
	if (n->job == NONE_OF)
		n->busy_ms = w->now;
	if (!(n->state & (NS_DRAIN | NS_FAIL)))
		no_reason(n);
}

static void registers(struct world *w, struct smachine *m)
{
	struct snode *n = &w->node[m->node];

	n->boot_ms = m->boot_ms;
	n->slurmd_ms = m->slurmd_ms;
	if (waits_for_boot(n, m->boot_ms) || waits_for_end(w, n, m->boot_ms))
		return;
	m->registered = true;
	n->heard_ms = w->now;
	if (n->state & (NS_NO_RESPOND | NS_POWERING_UP | NS_POWERING_DOWN | NS_POWERED_DOWN)) {
		tell(w, "%s registers: machine %d", n->name, (int)(m - w->machine));
		if (n->state & (NS_POWERING_UP | NS_POWERED_DOWN))
			n->busy_ms = w->now;
		if (n->state & NS_POWERED_DOWN)
			no_reason(n);
		n->state &= ~(NS_NO_RESPOND | NS_POWERING_UP | NS_POWERING_DOWN | NS_POWERED_DOWN);
		n->booting = n->asleep = false;
	}
	if (base_of(n) == NS_DOWN || base_of(n) == NS_UNKNOWN) {
		n->state &= ~NS_REBOOT_ISSUED;
		back_in_service(w, n);
	}
}

static void answers(struct world *w, struct snode *n, const struct smachine *m)
{
	if (waits_for_boot(n, m->boot_ms))
		return;
	n->heard_ms = w->now;
	n->state &= ~(NS_NO_RESPOND | NS_POWERING_UP);
	if (base_of(n) == NS_UNKNOWN || base_of(n) == NS_DOWN)
		back_in_service(w, n);
}

/* slurmctld reaches whoever has the address, and that one answers if it is the node. */
static bool reaches(const struct world *w, int node)
{
	const struct snode *n = &w->node[node];
	const struct smachine *m = n->ip == NONE_OF ? NULL : &w->machine[n->ip];

	return m && m->state == INSTANCE_RUNNING && !m->hung && m->node == node && m->registered && m->rebooting_ms <= w->now;
}

static void ping(struct world *w, int node)
{
	struct snode *n = &w->node[node];

	if (n->state & (NS_POWERED_DOWN | NS_POWERING_DOWN | NS_POWERING_UP | NS_INVALID_REG | NS_REBOOT_ISSUED))
		return;
	if (n->heard_ms && n->heard_ms <= w->now - w->slurmd_timeout_ms && base_of(n) != NS_DOWN) {
		if (!n->reason[0])
			set_reason(w, n, "Not responding");
		set_base(n, NS_DOWN);
		kill_jobs(w, n, WHO_SLURM, "not responding");
		tell(w, "%s: Not responding", n->name);
		return;
	}
	if (n->state & NS_NO_RESPOND && base_of(n) == NS_DOWN)
		return;
	if (reaches(w, node))
		answers(w, n, &w->machine[n->ip]);
	else
		n->state |= NS_NO_RESPOND;
}

/* --- a machine asks for its name: computemgtd's rule */

bool slurm_machine_asks(struct world *w, struct smachine *m)
{
	for (int i = 0; w->ctld && i < w->n_node; i++) {
		const struct snode *n = &w->node[i];

		if (n->ip == (int)(m - w->machine) && n->launch == m->launch &&
		    slurm_says(n, 0, NS_POWERING_UP, NS_POWERED_DOWN | NS_POWERING_DOWN | NS_POWER_DOWN)) {
			m->node = i;
			return true;
		}
	}
	return false;
}

/* --- reboots */

void slurm_ask_reboot(struct world *w, struct snode *n)
{
	n->state |= NS_REBOOT_REQUESTED;
	if (!n->reason[0])
		set_reason(w, n, "reboot requested");
	tell(w, "a person wants %s rebooted", n->name);
}

static bool may_reboot(const struct snode *n)
{
	uint32_t away = NS_NO_RESPOND | NS_POWERING_UP | NS_POWERED_DOWN;

	if (!(n->state & NS_REBOOT_REQUESTED) || n->state & NS_COMPLETING)
		return false;
	return base_of(n) == NS_DOWN || slurm_says(n, 1u << NS_IDLE, 0, away);
}

static void reboot_machine(struct world *w, struct smachine *m)
{
	if (m->state != INSTANCE_RUNNING || m->hung)
		return;
	m->rebooting_ms = w->now + between(&w->timing, 20, 90) * 1000;
	m->registered = false;
	m->boot_ms = w->now + 2000;
}

static void reboot(struct world *w, struct snode *n)
{
	if (may_reboot(n)) {
		n->state &= ~NS_REBOOT_REQUESTED;
		n->state |= NS_REBOOT_ISSUED;
		set_base(n, NS_DOWN);
		add_reason(w, n, "reboot issued");
		n->boot_req_ms = w->now;
		if (n->ip != NONE_OF)
			reboot_machine(w, &w->machine[n->ip]);
		tell(w, "%s reboots", n->name);
	} else if (n->state & NS_REBOOT_ISSUED && w->now > n->boot_req_ms + w->gen->resume_timeout_s * 1000) {
		add_reason(w, n, "reboot timed out");
		n->state &= ~(NS_REBOOT_ISSUED | NS_POWERING_UP | NS_DRAIN);
		n->boot_req_ms = 0;
		set_base(n, NS_DOWN);
		kill_jobs(w, n, WHO_SLURM, "reboot");
		tell(w, "%s: reboot timed out", n->name);
	}
}

/* --- time */

void slurm_starts(struct world *w)
{
	w->ctld = true;
	w->ping_ms = w->now + 10000;
	for (int i = 0; i < w->n_node; i++) {
		/* what it saved of a CLOUD node it takes as it was */
		if (w->node[i].heard_ms)
			w->node[i].heard_ms = w->now;
	}
	tell(w, "slurmctld is there again");
}

static void hear_machines(struct world *w)
{
	for (int i = 0; i < w->n_machine; i++) {
		struct smachine *m = &w->machine[i];

		if (m->node != NONE_OF && !m->registered && m->state == INSTANCE_RUNNING && !m->hung &&
		    m->rebooting_ms <= w->now)
			registers(w, m);
	}
}

static void complete(struct world *w)
{
	for (int i = 0; i < w->n_node; i++) {
		struct snode *n = &w->node[i];

		if (n->state & NS_COMPLETING && w->now >= n->completing_ms && (reaches(w, i) || base_of(n) == NS_DOWN)) {
			n->state &= ~NS_COMPLETING;
			n->busy_ms = w->now;
		}
		reboot(w, n);
	}
}

static bool due(const struct world *w, int64_t *at, int64_t period)
{
	if (w->now < *at)
		return false;
	*at = w->now + period;
	return true;
}

/* A hold is over when its state is. */
static void forget_holds(struct snode *n)
{
	n->drained = n->drained && n->state & (NS_DRAIN | NS_FAIL);
	n->downed = n->downed && base_of(n) == NS_DOWN;
}

void slurm_tick(struct world *w)
{
	if (!w->ctld)
		return;
	for (int i = 0; i < w->n_node; i++)
		forget_holds(&w->node[i]);
	hear_machines(w);
	complete(w);
	if (due(w, &w->sched_ms, SCHED_MS))
		for (int i = 0; i < w->n_job; i++)
			move_job(w, i);
	if (due(w, &w->power_ms, POWER_MS))
		scan_power(w);
	if (due(w, &w->ping_ms, PING_MS))
		for (int i = 0; i < w->n_node; i++)
			ping(w, i);
}
