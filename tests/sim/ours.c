/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ours.c - the state file, and resume and suspend step by step: rows before effects, each change checked against the row as
 * it is then. A program that has opened the file goes on with it after it was deleted. */
#include "tests/sim/sim.h"

#include "lib/base/str.h"
#include "lib/plan/resume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define YOUNG_MS 5000
#define BACKOFF_MS 300000

/* --- the state file */

struct store *store_new(struct world *w)
{
	struct store *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	if (w->n_store == N_STORE)
		abort();
	s->generation = w->store ? w->store->generation + 1000 : 1;
	s->fleet = FLEET_RUNNING;
	w->stores[w->n_store++] = s;
	return s;
}

static void free_row(struct world *w, struct store *s, struct sbinding *b)
{
	b->state = BINDING_FREE;
	b->launch = b->machine = NONE_OF;
	b->generation = ++s->generation;
	b->since_ms = w->now;
}

bool store_free_row(struct world *w, struct store *s, int node, int64_t generation)
{
	struct sbinding *b = &s->row[node];

	if (!b->there || b->state == BINDING_FREE || (generation != -1 && b->generation != generation))
		return false;
	free_row(w, s, b);
	return true;
}

static void release(struct world *w, struct store *s, int node, int launch)
{
	struct sbinding *b = &s->row[node];

	if (b->there && b->state == BINDING_LAUNCHING && b->launch == launch)
		free_row(w, s, b);
}

void store_done(struct world *w, struct store *s, int launch)
{
	struct slaunch *l = &s->launch[launch];

	if (!l->there)
		return;
	l->state = LAUNCH_DONE;
	for (int i = 0; i < l->n; i++)
		release(w, s, l->node[i], launch);
}

bool store_wants(const struct store *s, int machine, int launch)
{
	for (int i = 0; i < N_NODE; i++)
		if (s->row[i].there && s->row[i].state == BINDING_BOUND && s->row[i].machine == machine)
			return true;
	return launch != NONE_OF && s->launch[launch].there && s->launch[launch].state != LAUNCH_DONE;
}

static bool bind_row(struct world *w, struct store *s, int node, int launch, int machine)
{
	struct sbinding *b = &s->row[node];

	if (!b->there || b->launch != launch)
		return false;
	if (b->state == BINDING_BOUND)
		return b->machine == machine;
	if (b->state != BINDING_LAUNCHING)
		return false;
	b->state = BINDING_BOUND;
	b->machine = machine;
	b->generation = ++s->generation;
	b->since_ms = w->now;
	return true;
}

int store_claim(struct world *w, struct proc *p, int res, const int *nodes, int n)
{
	struct store *s = p->store;
	struct slaunch *l;
	int id = w->n_launch;

	if (id == N_LAUNCH) {
		wrong(w, "more than %d launches", N_LAUNCH);
		return NONE_OF;
	}
	l = &s->launch[id];
	*l = (struct slaunch){.state = LAUNCH_INTENT, .res = res, .created_ms = w->now, .pid = p->pid};
	for (int i = 0; i < n; i++) {
		struct sbinding *b = &s->row[nodes[i]];

		if (b->there && b->state != BINDING_FREE)
			continue;
		*b = (struct sbinding){.there = true,
				       .state = BINDING_LAUNCHING,
				       .launch = id,
				       .machine = NONE_OF,
				       .since_ms = w->now,
				       .generation = ++s->generation};
		l->node[l->n++] = nodes[i];
	}
	if (l->n == 0)
		return NONE_OF;
	l->there = true;
	w->n_launch++;
	s->n_launch = w->n_launch;
	return id;
}

void failure_add(struct world *w, struct store *s, int node, int machine, const char *code)
{
	for (int i = 0; i < s->n_failure; i++)
		if (s->failure[i].node == node && s->failure[i].machine == machine)
			return;
	if (s->n_failure == N_FAILURE) {
		memmove(s->failure, s->failure + 1, sizeof(s->failure) - sizeof(*s->failure));
		s->n_failure--;
	}
	s->failure[s->n_failure] = (struct sfailure){.node = node, .machine = machine, .time_ms = w->now};
	snprintf(s->failure[s->n_failure++].code, sizeof(s->failure->code), "%s", code);
	tell(w, "%s machine %d: its boot failed (%s)", w->node[node].name, machine, code);
}

/* --- what is remembered of capacity */

static struct shortage *shortage_of(struct world *w, struct store *s, int res)
{
	const struct gen_resource *r = &w->gen->resources[res];

	return shortages_find(&s->shortages, r->stages[0].instance_types.v[0], "z1", MARKET_ONDEMAND);
}

static void learn_capacity(struct world *w, struct store *s, const struct slaunch *l, const struct work *k)
{
	const struct gen_resource *r = &w->gen->resources[l->res];
	struct resume_refusal f = {.code = k->code ? k->code : CODE_INSUFFICIENT};
	struct shortage *known = shortage_of(w, s, l->res);

	if (k->n_got > 0 && known && capacity_came(known, k->n_got, w->now)) {
		size_t at = (size_t)(known - s->shortages.v);

		shortage_clear(known);
		s->shortages.v[at] = s->shortages.v[--s->shortages.n];
	}
	if (k->n_got < l->n && str_eq(f.code, CODE_INSUFFICIENT) &&
	    capacity_refused_stage(&s->shortages, r, &r->stages[0], &f, &w->rule, w->now, draw(&w->timing, 100) / 100.0))
		abort();
}

static const char *closed_code(struct world *w, struct store *s, int res)
{
	const char *code = NULL;
	int64_t until;

	return capacity_all_closed(&w->gen->resources[res], &s->shortages, w->now, &code, &until)
		   ? code ? code : CODE_INSUFFICIENT
		   : NULL;
}

/* --- telling slurmctld */

void tell_no_machine(struct world *w, int node)
{
	w->node[node].ip = w->node[node].launch = NONE_OF;
}

static enum who who_of(const struct proc *p)
{
	return p->kind == PROC_RESUME ? WHO_RESUME : p->kind == PROC_SUSPEND ? WHO_SUSPEND : WHO_LOOP;
}

static void fail_node(struct world *w, struct proc *p, int node, const char *code, const char *text)
{
	char reason[160];

	if (w->node[node].is_static)
		p->store->backoff_ms[node] = w->now + BACKOFF_MS;
	if (!w->ctld)
		return;
	snprintf(reason, sizeof(reason), "(Code:%s)%s", code, text);
	slurm_update(w, &w->node[node], NS_DOWN, reason, who_of(p));
}

/* --- launches: one step at a time for all that the program works on */

static void work_ask(struct world *w, struct proc *p)
{
	for (int i = 0; i < p->n_work; i++)
		ec2_launch(w, &p->work[i], &p->store->launch[p->work[i].launch], who_of(p));
}

static void work_write(struct world *w, struct proc *p)
{
	for (int i = 0; i < p->n_work; i++) {
		struct work *k = &p->work[i];
		struct slaunch *l = &p->store->launch[k->launch];

		if (k->open)
			continue;
		learn_capacity(w, p->store, l, k);
		if (l->there && l->state == LAUNCH_INTENT)
			l->state = LAUNCH_ANSWERED;
	}
}

static bool is_bound(const struct store *s, int machine)
{
	return store_wants(s, machine, NONE_OF);
}

/* Machines that nobody has, to nodes that wait, in order. */
static void bind_work(struct world *w, struct proc *p, struct work *k)
{
	const struct slaunch *l = &p->store->launch[k->launch];
	int next = 0;

	for (int i = 0; i < k->n_got; i++) {
		int m = k->got[i];

		if (is_bound(p->store, m) || !ec2_alive(&w->machine[m]))
			continue;
		while (next < l->n && !bind_row(w, p->store, l->node[next], k->launch, m))
			next++;
		if (next < l->n) {
			k->bound[k->n_bound++] = l->node[next++];
			tell(w, "%s has machine %d", w->node[l->node[next - 1]].name, m);
		} else if (p->n_end < 200) {
			p->end[p->n_end++] = m;
		}
	}
}

static void work_bind(struct world *w, struct proc *p)
{
	for (int i = 0; i < p->n_work; i++)
		if (!p->work[i].open)
			bind_work(w, p, &p->work[i]);
}

static void tell_work(struct world *w, struct proc *p, struct work *k)
{
	for (int i = 0; i < k->n_bound; i++) {
		const struct sbinding *b = &p->store->row[k->bound[i]];
		struct snode *n = &w->node[k->bound[i]];

		if (b->state != BINDING_BOUND || b->launch != k->launch)
			continue;
		if (!w->ctld || w->machine[b->machine].address_ms > w->now) {
			k->keep = true;
			continue;
		}
		n->ip = b->machine;
		n->launch = k->launch;
	}
}

static void work_tell(struct world *w, struct proc *p)
{
	for (int i = 0; i < p->n_work; i++)
		tell_work(w, p, &p->work[i]);
}

static void work_return(struct world *w, struct proc *p)
{
	for (int i = 0; i < p->n_end; i++)
		if (!is_bound(p->store, p->end[i]) && ec2_call(w))
			ec2_end(w, p->end[i], who_of(p));
	p->n_end = 0;
}

static void work_close(struct world *w, struct proc *p)
{
	for (int i = 0; i < p->n_work; i++) {
		struct work *k = &p->work[i];
		const struct slaunch *l = &p->store->launch[k->launch];

		if (k->open)
			continue;
		/* who still waits has got nothing */
		for (int n = 0; n < l->n; n++) {
			const struct sbinding *b = &p->store->row[l->node[n]];

			if (b->there && b->state == BINDING_LAUNCHING && b->launch == k->launch)
				k->failed[k->n_failed++] = l->node[n];
		}
		if (!k->keep)
			store_done(w, p->store, k->launch);
	}
}

static void work_fail(struct world *w, struct proc *p)
{
	for (int i = 0; i < p->n_work; i++) {
		struct work *k = &p->work[i];

		for (int n = 0; n < k->n_failed; n++)
			fail_node(w, p, k->failed[n], k->code ? k->code : CODE_LIMITED, REASON_LAUNCH_FAILED);
	}
	p->n_work = 0;
}

bool work_step(struct world *w, struct proc *p, int step)
{
	static void (*const steps[])(struct world *, struct proc *) = {work_ask,    work_write, work_bind, work_tell,
								       work_return, work_close, work_fail};
	int n = (int)(sizeof(steps) / sizeof(*steps));

	steps[step](w, p);
	return step + 1 < n && p->n_work > 0;
}

/* --- resume */

/* Why nothing may be launched, or NULL. */
static const char *refusal(const struct world *w, const struct store *s)
{
	if (!fleet_serves(s->fleet))
		return CODE_FLEET_STOPPED;
	if (s->frozen_ms > w->now)
		return CODE_FROZEN;
	if (s->loop_ms < w->now - w->beat_ms || s->ec2_ms < w->now - w->beat_ms || s->slurm_ms < w->now - w->beat_ms)
		return "NotWatched";
	return NULL;
}

static void resume_refuse(struct world *w, struct proc *p)
{
	for (int i = 0; i < p->n && w->ctld; i++) {
		tell_no_machine(w, p->node[i]);
		fail_node(w, p, p->node[i], p->refused, "Nothing is launched");
	}
}

/* A bound node is resumed again: its machine is looked at. */
static bool is_live(struct world *w, struct proc *p, int node, bool read)
{
	struct sbinding *b = &p->store->row[node];
	const struct smachine *m;
	bool gone;

	if (!b->there || b->state == BINDING_FREE)
		return false;
	if (b->state == BINDING_LAUNCHING || w->now - b->since_ms < YOUNG_MS)
		return true;
	m = &w->machine[b->machine];
	gone = ec2_lists(w, m) ? m->state != INSTANCE_PENDING && m->state != INSTANCE_RUNNING
			       : w->now - b->since_ms >= w->orphan_ms;
	if (read && gone) {
		tell(w, "%s: resume finds its machine %d gone", w->node[node].name, b->machine);
		return !store_free_row(w, p->store, node, b->generation);
	}
	if (w->ctld && m->address_ms <= w->now) {
		w->node[node].ip = b->machine;
		w->node[node].launch = b->launch;
	}
	return true;
}

/* What is left of the request are nodes without a machine; they get the placeholder. */
static void resume_look(struct world *w, struct proc *p)
{
	bool read = ec2_call(w);
	int n = 0;

	for (int i = 0; i < p->n; i++) {
		if (is_live(w, p, p->node[i], read)) {
			tell(w, "%s: left alone by resume", w->node[p->node[i]].name);
			continue;
		}
		if (w->ctld)
			tell_no_machine(w, p->node[i]);
		p->node[n++] = p->node[i];
	}
	p->n = n;
}

static void resume_claim(struct world *w, struct proc *p)
{
	for (int res = 0; res < (int)w->gen->n_resources; res++) {
		int nodes[N_NODE], n = 0, id;
		const char *code = closed_code(w, p->store, res);

		for (int i = 0; i < p->n; i++) {
			if (w->node[p->node[i]].res != res)
				continue;
			if (code)
				fail_node(w, p, p->node[i], code, REASON_LAUNCH_FAILED);
			else
				nodes[n++] = p->node[i];
		}
		id = n ? store_claim(w, p, res, nodes, n) : NONE_OF;
		if (id != NONE_OF)
			p->work[p->n_work++] = (struct work){.launch = id};
	}
}

static bool resume_step(struct world *w, struct proc *p)
{
	switch (p->step) {
	case 0:
		p->refused = refusal(w, p->store);
		return true;
	case 1:
		if (p->refused)
			resume_refuse(w, p);
		else
			resume_look(w, p);
		return !p->refused && p->n > 0;
	case 2:
		resume_claim(w, p);
		return p->n_work > 0;
	default:
		return work_step(w, p, p->step - 3);
	}
}

/* --- suspend */

static bool has_life(const struct snode *n)
{
	return slurm_says(n, ~(1u << NS_DOWN), 0, NS_POWERING_DOWN | NS_POWERED_DOWN);
}

static void suspend_look(struct world *w, struct proc *p)
{
	for (int i = 0; i < p->n; i++) {
		const struct snode *n = &w->node[p->node[i]];
		const struct sbinding *b = &p->store->row[p->node[i]];

		p->mine[i] = !(w->ctld && has_life(n));
		p->had_row[i] = p->mine[i] && b->there && b->state != BINDING_FREE;
		p->row_generation[i] = b->generation;
		if (p->had_row[i] && b->state == BINDING_BOUND) {
			p->end[p->n_end++] = b->machine;
			if (slurm_says(n, 1u << NS_DOWN, NS_POWERED_DOWN, 0) && str_prefix(n->reason, "ResumeTimeout reached"))
				failure_add(w, p->store, p->node[i], b->machine, "resume-timeout");
		}
	}
}

static void suspend_free(struct world *w, struct proc *p, enum binding_state state)
{
	for (int i = 0; i < p->n; i++)
		if (p->had_row[i] && p->store->row[p->node[i]].state == state)
			store_free_row(w, p->store, p->node[i], p->row_generation[i]);
}

/* Nodes without a row: what has their address and their launch's tag. */
static void suspend_rowless(struct world *w, struct proc *p)
{
	bool read = ec2_call(w);

	suspend_free(w, p, BINDING_LAUNCHING);
	for (int i = 0; i < p->n; i++) {
		const struct snode *n = &w->node[p->node[i]];

		if (p->mine[i] && !p->had_row[i] && w->ctld && read && n->ip != NONE_OF && ec2_lists(w, &w->machine[n->ip]) &&
		    ec2_alive(&w->machine[n->ip]) && w->machine[n->ip].launch == n->launch)
			p->end[p->n_end++] = n->ip;
	}
}

static void suspend_end(struct world *w, struct proc *p)
{
	bool ok = ec2_call(w);

	for (int i = 0; ok && i < p->n_end; i++)
		ec2_end(w, p->end[i], WHO_SUSPEND);
}

static void suspend_clear(struct world *w, struct proc *p)
{
	for (int i = 0; i < p->n && w->ctld; i++) {
		const struct sbinding *b = &p->store->row[p->node[i]];
		bool new_life =
		    b->there && b->state != BINDING_FREE && (!p->had_row[i] || b->generation != p->row_generation[i]);

		if (p->mine[i] && !new_life)
			tell_no_machine(w, p->node[i]);
	}
}

static bool suspend_step(struct world *w, struct proc *p)
{
	switch (p->step) {
	case 0:
		if (p->store->frozen_ms > w->now)
			return false;
		suspend_look(w, p);
		return true;
	case 1:
		suspend_rowless(w, p);
		return true;
	case 2:
		suspend_end(w, p);
		return true;
	case 3:
		suspend_clear(w, p);
		return true;
	default:
		suspend_free(w, p, BINDING_BOUND);
		return false;
	}
}

/* --- processes */

struct proc *proc_start(struct world *w, enum proc_kind kind, const int *nodes, int n)
{
	struct proc *p = NULL;

	for (int i = 0; i < N_PROC && !p; i++)
		if (!w->proc[i].there)
			p = &w->proc[i];
	if (!p) {
		wrong(w, "more than %d processes", N_PROC);
		return NULL;
	}
	memset(p, 0, sizeof(*p));
	p->there = true;
	p->kind = kind;
	p->pid = w->next_pid++;
	p->store = w->store;
	p->start_ms = w->now;
	p->due_ms = w->now + between(&w->timing, 0, 1) * 1000;
	p->n = n;
	for (int i = 0; i < n; i++) {
		p->node[i] = nodes[i];
		tell(w, "slurmctld runs %s %d for %s", kind == PROC_RESUME ? "resume" : "suspend", p->pid,
		     w->node[nodes[i]].name);
	}
	return p;
}

void proc_end(struct world *w, struct proc *p, bool killed)
{
	looking_end(p->look);
	p->look = NULL;
	p->there = false;
	if (killed) {
		w->kills++;
		tell(w, "%s %d is killed before step %d",
		     p->kind == PROC_LOOP     ? "clustermgtd"
		     : p->kind == PROC_RESUME ? "resume"
					      : "suspend",
		     p->pid, p->step);
	}
	if (p->kind != PROC_LOOP) {
		w->poked = true;
		return;
	}
	if (killed) {
		kvs_clear(&w->seen);
		brake_clear(&w->brake);
	}
	w->loop_due_ms = w->now + (killed ? 5000 : w->loop_ms);
}

/* EC2 may take its time. */
static int pause_ms(struct world *w)
{
	int d = (int)draw(&w->timing, 20);

	return d < 12 ? 0 : d < 19 ? between(&w->timing, 1, 3) * 1000 : between(&w->timing, 3, 25) * 1000;
}

static void run_proc(struct world *w, struct proc *p)
{
	bool more;

	w->now += between(&w->timing, 0, 20);
	if (fault_now(w, F_KILL, 25)) {
		proc_end(w, p, true);
		return;
	}
	w->steps++;
	w->look_ms = p->start_ms;
	if (p->kind == PROC_LOOP) {
		loop_step(w, p);
		more = p->there;
	} else {
		more = p->kind == PROC_RESUME ? resume_step(w, p) : suspend_step(w, p);
		if (!more)
			proc_end(w, p, false);
	}
	p->step++;
	p->due_ms = w->now + (more ? pause_ms(w) : 0);
}

static bool loop_is_there(const struct world *w)
{
	for (int i = 0; i < N_PROC; i++)
		if (w->proc[i].there && w->proc[i].kind == PROC_LOOP)
			return true;
	return false;
}

void procs_tick(struct world *w)
{
	if ((w->now >= w->loop_due_ms || (w->poked && w->now >= w->loop_due_ms - w->loop_ms + 3000)) && !loop_is_there(w)) {
		proc_start(w, PROC_LOOP, NULL, 0);
		w->poked = false;
	}
	for (int round = 0; round < 12; round++)
		for (int i = 0; i < N_PROC; i++)
			while (w->proc[i].there && w->proc[i].due_ms <= w->now && w->now < w->tick + 900 && draw(&w->timing, 3))
				run_proc(w, &w->proc[i]);
}
