/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loop.c - one loop of clustermgtd: read the sources one after the other, decide as clustermgtd/decide.c does, carry out as
 * lib/apply/carry.c does, group by group, each action compared with the rows just before its effect. */
#include "tests/sim/sim.h"

#include "lib/base/err.h"
#include "lib/base/num.h"
#include "lib/base/str.h"
#include "lib/node/extra.h"
#include "lib/node/nodeset.h"
#include "lib/plan/invariants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct looking {
	int64_t at_ms;
	bool slurm, ec2, frozen;
	struct nodes nodes;
	struct partitions partitions;
	struct instances instances;
	struct healths healths;
	struct bindings bindings;
	struct launches launches;
	struct strs dead;
	struct kvs backoff, closed;
	struct failures failures;
	struct protection *protection;
	struct nodeset *cycling;
	struct plan plan;
	bool *stale;
	bool kept[N_NODE]; /* its machine could not be ended: its row stays */
};

void looking_end(struct looking *l)
{
	if (!l)
		return;
	nodes_clear(&l->nodes);
	partitions_clear(&l->partitions);
	instances_clear(&l->instances);
	healths_clear(&l->healths);
	bindings_clear(&l->bindings);
	launches_clear(&l->launches);
	strs_clear(&l->dead);
	kvs_clear(&l->backoff);
	kvs_clear(&l->closed);
	failures_clear(&l->failures);
	free(l->protection);
	nodeset_destroy(l->cycling);
	plan_clear(&l->plan);
	free(l->stale);
	free(l);
}

/* --- reading */

static char *launch_text(int launch)
{
	char id[24];

	launch_id(launch, id);
	return launch == NONE_OF ? NULL : str_dup(id);
}

static char *machine_text(int machine)
{
	char id[24];

	machine_id(machine, id);
	return machine == NONE_OF ? NULL : str_dup(id);
}

static char *ip_text(int machine)
{
	char ip[24];

	machine_ip(machine, ip);
	return str_dup(ip);
}

static bool worker_lives(const struct world *w, const struct proc *self, int pid)
{
	for (int i = 0; i < N_PROC; i++)
		if (w->proc[i].there && w->proc[i].pid == pid && &w->proc[i] != self)
			return true;
	return false;
}

static void read_launch(struct world *w, const struct proc *p, struct looking *l, int id)
{
	const struct slaunch *s = &p->store->launch[id];
	const struct gen_resource *r = &w->gen->resources[s->res];
	struct launch *out;

	if (!s->there || s->state == LAUNCH_DONE)
		return;
	out = launches_add(&l->launches);
	out->id = launch_text(id);
	out->queue = str_dup(r->queue);
	out->resource = str_dup(r->name);
	for (int i = 0; i < s->n; i++)
		strs_add(&out->nodes, w->node[s->node[i]].name);
	out->min_count = 1;
	out->state = s->state;
	out->created_ms = s->created_ms;
	out->pid = s->pid;
	out->request = str_dup("request");
	if (!worker_lives(w, p, s->pid))
		strs_add(&l->dead, out->id);
}

static void read_bindings(struct world *w, const struct store *s, struct looking *l)
{
	char text[32];

	for (int i = 0; i < w->n_node; i++) {
		const struct sbinding *b = &s->row[i];
		struct binding *out;

		if (s->backoff_ms[i]) {
			snprintf(text, sizeof(text), "%lld", (long long)s->backoff_ms[i]);
			kvs_add(&l->backoff, w->node[i].name, text);
		}
		if (!b->there)
			continue;
		out = bindings_add(&l->bindings);
		*out = (struct binding){.generation = b->generation, .state = b->state, .since_ms = b->since_ms};
		out->node = str_dup(w->node[i].name);
		out->launch = launch_text(b->launch);
		out->instance = machine_text(b->machine);
		out->ip = b->machine == NONE_OF ? NULL : ip_text(b->machine);
	}
}

static void read_failures(struct world *w, const struct store *s, struct looking *l)
{
	for (int i = 0; i < s->n_failure; i++) {
		const struct sfailure *f = &s->failure[i];
		const struct gen_resource *r = &w->gen->resources[w->node[f->node].res];
		struct failure *out;

		if (f->time_ms < w->now - w->window_ms)
			continue;
		out = failures_add(&l->failures);
		*out = (struct failure){.queue = str_dup(r->queue),
					.resource = str_dup(r->name),
					.node = str_dup(w->node[f->node].name),
					.instance = machine_text(f->machine),
					.code = str_dup(f->code),
					.time_ms = f->time_ms,
					.over = f->over};
	}
}

static void read_rows(struct world *w, struct proc *p, struct looking *l)
{
	l->at_ms = w->now;
	read_bindings(w, p->store, l);
	for (int i = 0; i < p->store->n_launch; i++)
		read_launch(w, p, l, i);
	read_failures(w, p->store, l);
	l->frozen = p->store->frozen_ms > w->now;
	if (p->store->closed)
		kvs_add(&l->closed, "q", "UP");
}

static void read_node(struct world *w, struct looking *l, const struct snode *n)
{
	struct node *out = nodes_add(&l->nodes);
	char *launch = launch_text(n->launch);

	out->name = str_dup(n->name);
	out->state = n->state | (n->maint ? NS_MAINT | NS_RES : 0);
	out->addr = ip_text(n->ip);
	out->hostname = str_dup(n->name);
	out->reason = n->reason[0] ? str_dup(n->reason) : NULL;
	out->extra = launch ? extra_format(launch) : NULL;
	out->boot_time_s = n->boot_ms / 1000;
	out->slurmd_start_s = n->slurmd_ms / 1000;
	out->last_busy_s = n->busy_ms / 1000;
	out->reason_time_s = n->reason_ms / 1000;
	free(launch);
	(void)w;
}

static void read_slurm(struct world *w, struct looking *l)
{
	struct partition *p;

	l->slurm = w->ctld;
	if (!l->slurm)
		return;
	for (int i = 0; i < w->n_node; i++)
		read_node(w, l, &w->node[i]);
	p = partitions_add(&l->partitions);
	p->name = str_dup("q");
	p->state = w->part_up ? PART_UP : PART_DOWN;
}

static void read_machine(struct world *w, struct looking *l, int i)
{
	const struct smachine *m = &w->machine[i];
	const struct gen_resource *r = &w->gen->resources[m->res];
	struct instance *out = instances_add(&l->instances);

	out->id = machine_text(i);
	out->type = str_dup(r->instance_types.v[0]);
	out->state = m->state;
	out->private_ip = w->now >= m->address_ms && ec2_alive(m) ? ip_text(i) : NULL;
	out->cluster = str_dup(w->gen->uuid);
	out->launch = launch_text(m->launch);
	out->queue = str_dup(r->queue);
	out->resource = str_dup(r->name);
	if (m->ended_by == WHO_EC2 && !ec2_alive(m))
		out->state_reason = str_dup("Server.SpotInstanceTermination");
	out->launch_time_ms = m->launch_ms / 1000 * 1000;
	out->launch_index = m->index;
}

static void read_ec2(struct world *w, struct looking *l)
{
	l->ec2 = ec2_call(w);
	for (int i = 0; l->ec2 && i < w->n_machine; i++)
		if (ec2_lists(w, &w->machine[i]))
			read_machine(w, l, i);
}

static void read_health(struct world *w, struct looking *l)
{
	for (int i = 0; i < w->n_machine; i++) {
		const struct smachine *m = &w->machine[i];
		struct health *out;

		if (m->state != INSTANCE_RUNNING || !ec2_lists(w, m) || (!m->impaired_ms && !m->event_ms))
			continue;
		out = healths_add(&l->healths);
		out->instance = machine_text(i);
		out->instance_impaired = m->impaired_ms > 0;
		out->impaired_since_ms = m->impaired_ms;
		out->event = m->event_ms ? str_dup("instance-retirement") : NULL;
		out->event_ms = m->event_ms;
	}
}

/* --- deciding: the chain of clustermgtd/decide.c */

static int plan_fleet(struct world *w, struct proc *p, struct looking *l)
{
	struct fleet_input in = {
	    .gen = w->gen,
	    .nodes = l->slurm ? &l->nodes : NULL,
	    .partitions = l->slurm ? &l->partitions : NULL,
	    .bindings = &l->bindings,
	    .launches = &l->launches,
	    .instances = l->ec2 ? &l->instances : NULL,
	    .closed = &l->closed,
	    .fleet = {p->store->fleet, p->store->fleet_now},
	};

	return fleet_plan(&in, &l->plan, NULL);
}

static int plan_protection(struct world *w, struct looking *l)
{
	struct protect_input in = {
	    .gen = w->gen,
	    .nodes = l->slurm ? &l->nodes : NULL,
	    .bindings = &l->bindings,
	    .failures = &l->failures,
	    .rule = {.count = w->protect, .window_ms = w->window_ms},
	    .now_ms = w->now,
	};

	l->protection = calloc(w->gen->n_resources + 1, sizeof(*l->protection));
	l->cycling = nodeset_create();
	return protect_judge(&in, l->protection, l->cycling, NULL) ? -1 : protect_plan(&in, &l->plan, NULL);
}

static void keep_violations(struct world *w, struct violations *v, bool all_read)
{
	if (all_read) {
		w->n_violation = (int)v->n;
		snprintf(w->violation, sizeof(w->violation), "%s", v->n ? v->v[0].text : "");
	}
	for (size_t i = 0; i < v->n; i++)
		tell(w, "violation %s: %s", v->v[i].code, v->v[i].text);
	violations_clear(v);
}

static int plan_rest(struct world *w, struct proc *p, struct looking *l)
{
	struct violations v = {0};
	struct reconcile_input in = {
	    .gen = w->gen,
	    .nodes = l->slurm ? &l->nodes : NULL,
	    .instances = l->ec2 ? &l->instances : NULL,
	    .bindings = &l->bindings,
	    .launches = &l->launches,
	    .shortages = &p->store->shortages,
	    .healths = l->ec2 ? &l->healths : NULL,
	    .protection = l->protection,
	    .cycling = l->cycling,
	    .fleet = p->store->fleet,
	    .health_grace_ms = w->health_ms,
	    .event_lead_ms = w->event_ms,
	    .dead_pids = &l->dead,
	    .now_ms = w->now,
	    .orphan_grace_ms = w->orphan_ms,
	    .observed_ms = l->at_ms,
	    .static_backoff = &l->backoff,
	    .seen = &w->seen,
	};
	struct brake_input brake = {.nodes = in.nodes, .instances = in.instances, .share_percent = w->share, .now_ms = w->now};
	int rc = invariants_check(&in, &v, NULL);

	keep_violations(w, &v, l->slurm && l->ec2);
	if (rc || reconcile_watch(&in, &w->seen, NULL) || reconcile_plan(&in, &l->plan, NULL))
		return -1;
	return brake_apply(&brake, &l->plan, &w->brake, NULL) < 0 ? -1 : 0;
}

static void decide(struct world *w, struct proc *p, struct looking *l)
{
	if (plan_fleet(w, p, l) || plan_protection(w, l) || plan_rest(w, p, l))
		wrong(w, "the plan could not be made");
	if (l->frozen)
		plan_clear(&l->plan);
	l->stale = calloc(l->plan.n + 1, sizeof(*l->stale));
	for (size_t i = 0; i < l->plan.n; i++) {
		const struct action *a = &l->plan.v[i];

		tell(w, "plan: %s %s %s %s (%s)", action_kind_text(a->kind), a->node ? a->node : "-",
		     a->instance ? a->instance : "-", a->reason ? a->reason : "", a->code);
	}
}

/* --- carrying out */

/* After our own unbinding a free row is what is expected. */
static bool still_true(struct world *w, const struct proc *p, const struct action *a, bool free_is_fine)
{
	int node = node_of(w, a->node);
	const struct sbinding *b;

	if (!a->node)
		return a->kind != ACT_TERMINATE ||
		       !store_wants(p->store, machine_of(a->instance), a->launch ? atoi(a->launch + 2) : NONE_OF);
	if (node == NONE_OF)
		return false;
	b = &p->store->row[node];
	if (!b->there)
		return a->generation == -1;
	return b->generation == a->generation || (free_is_fine && b->state == BINDING_FREE);
}

static bool go(struct world *w, const struct proc *p, struct looking *l, size_t i, bool free_is_fine)
{
	if (l->stale[i])
		return false;
	if (still_true(w, p, &l->plan.v[i], free_is_fine))
		return true;
	tell(w, "%s %s: it changed meanwhile", action_kind_text(l->plan.v[i].kind), l->plan.v[i].node ? l->plan.v[i].node : "");
	l->stale[i] = true;
	return false;
}

static void carry_partition(struct world *w, struct proc *p, const struct action *a)
{
	bool closes = str_eq(a->word, partition_state_text(PART_DOWN));

	if (closes)
		p->store->closed = true;
	if (a->word && w->ctld)
		w->part_up = !closes;
	if (!closes && w->ctld)
		p->store->closed = false;
}

static void carry_partitions(struct world *w, struct proc *p, struct looking *l)
{
	for (size_t i = 0; i < l->plan.n; i++)
		if (l->plan.v[i].kind == ACT_PARTITION)
			carry_partition(w, p, &l->plan.v[i]);
}

static void clear_failures(struct world *w, struct proc *p, const struct action *a)
{
	int64_t until = 0;
	int n = 0;

	num_i64(a->word, 0, INT64_MAX, &until, NULL);
	for (int i = 0; i < p->store->n_failure; i++) {
		struct sfailure f = p->store->failure[i];
		char resource[24];

		snprintf(resource, sizeof(resource), "q/r%d", w->node[f.node].res);
		if (f.time_ms <= until && a->node && str_eq(a->node, w->node[f.node].name))
			continue;
		if (f.time_ms <= until && !a->node && str_eq(a->resource, resource))
			f.over = true;
		p->store->failure[n++] = f;
	}
	p->store->n_failure = n;
}

static void carry_counts(struct world *w, struct proc *p, struct looking *l)
{
	for (size_t i = 0; i < l->plan.n; i++)
		go(w, p, l, i, false);
	for (size_t i = 0; i < l->plan.n; i++) {
		const struct action *a = &l->plan.v[i];

		if (a->kind == ACT_BOOT_FAILED && !l->stale[i] && a->instance)
			failure_add(w, p->store, node_of(w, a->node), machine_of(a->instance), a->code);
	}
	for (size_t i = 0; i < l->plan.n; i++)
		if (l->plan.v[i].kind == ACT_FAILURES_CLEAR && !l->stale[i])
			clear_failures(w, p, &l->plan.v[i]);
}

static void carry_ends(struct world *w, struct proc *p, struct looking *l)
{
	bool ok = ec2_call(w);

	for (size_t i = 0; i < l->plan.n; i++) {
		const struct action *a = &l->plan.v[i];
		int node = node_of(w, a->node);

		if (a->kind != ACT_TERMINATE || l->stale[i])
			continue;
		if (ok)
			ec2_end(w, machine_of(a->instance), WHO_LOOP);
		else if (node != NONE_OF)
			l->kept[node] = true;
	}
	(void)p;
}

/* Slurm first: if it is away the rows stay. */
static void carry_unbind(struct world *w, struct proc *p, struct looking *l)
{
	for (size_t i = 0; i < l->plan.n; i++) {
		const struct action *a = &l->plan.v[i];
		int node = node_of(w, a->node);

		if ((a->kind != ACT_UNBIND && a->kind != ACT_FORGET) || l->kept[node] || !go(w, p, l, i, false))
			continue;
		if (a->kind == ACT_UNBIND && !w->ctld)
			continue;
		if (a->kind == ACT_UNBIND)
			tell_no_machine(w, node);
		store_free_row(w, p->store, node, a->generation);
	}
}

static bool adopt(struct world *w, struct store *s, int node, int launch, int machine)
{
	struct sbinding *b = &s->row[node];

	if (b->there && b->state == BINDING_BOUND)
		return b->launch == launch && b->machine == machine;
	if (b->there && b->state == BINDING_LAUNCHING && b->launch != launch)
		return false;
	*b = (struct sbinding){.there = true,
			       .state = BINDING_BOUND,
			       .launch = launch,
			       .machine = machine,
			       .since_ms = w->now,
			       .generation = ++s->generation};
	return true;
}

static void carry_binds(struct world *w, struct proc *p, struct looking *l)
{
	for (size_t i = 0; i < l->plan.n; i++) {
		const struct action *a = &l->plan.v[i];
		int node = node_of(w, a->node), machine = machine_of(a->instance), launch;

		if (a->kind != ACT_BIND || l->kept[node] || !go(w, p, l, i, false))
			continue;
		launch = a->launch ? atoi(a->launch + 2) : NONE_OF;
		if (!adopt(w, p->store, node, launch, machine) || !w->ctld || w->machine[machine].address_ms > l->at_ms)
			continue;
		w->node[node].ip = machine;
		w->node[node].launch = launch;
	}
}

static uint32_t state_of(const struct action *a)
{
	switch (a->kind) {
	case ACT_NODE_DOWN:
		return NS_DOWN;
	case ACT_NODE_POWER_DOWN:
		return a->word ? NS_POWER_DOWN : NS_POWER_DOWN | NS_POWERED_DOWN;
	case ACT_NODE_POWER_UP:
		return NS_POWER_UP;
	case ACT_NODE_DRAIN:
		return NS_DRAIN;
	case ACT_NODE_RESUME:
		return NS_RESUME;
	default:
		return 0;
	}
}

static void carry_states(struct world *w, struct proc *p, struct looking *l)
{
	for (size_t i = 0; i < l->plan.n && w->ctld; i++) {
		const struct action *a = &l->plan.v[i];

		if (state_of(a) && go(w, p, l, i, true))
			slurm_update(w, &w->node[node_of(w, a->node)], state_of(a),
				     a->kind == ACT_NODE_RESUME ? NULL : a->reason, WHO_LOOP);
	}
}

/* Does a node still wait for this launch? */
static bool is_waited_for(const struct store *s, int launch)
{
	const struct slaunch *l = &s->launch[launch];

	for (int i = 0; i < l->n; i++) {
		const struct sbinding *b = &s->row[l->node[i]];

		if (b->there && b->state == BINDING_LAUNCHING && b->launch == launch)
			return true;
	}
	return false;
}

static void carry_launches(struct world *w, struct proc *p, struct looking *l)
{
	for (size_t i = 0; i < l->plan.n; i++) {
		const struct action *a = &l->plan.v[i];
		int launch = a->launch ? atoi(a->launch + 2) : NONE_OF;

		if (a->kind == ACT_LAUNCH_CLOSE || (a->kind == ACT_LAUNCH_RETRY && !is_waited_for(p->store, launch))) {
			tell(w, "launch %d is closed", launch);
			store_done(w, p->store, launch);
		} else if (a->kind == ACT_LAUNCH_RETRY && p->n_work < N_NODE) {
			p->store->launch[launch].pid = p->pid;
			p->work[p->n_work++] = (struct work){.launch = launch};
		}
	}
}

static enum fleet_status status_of(const char *word)
{
	struct fleet f;

	fleet_parse(word, &f);
	return f.status;
}

static void carry_fleet(struct world *w, struct proc *p, struct looking *l)
{
	for (size_t i = 0; i < l->plan.n; i++) {
		const struct action *a = &l->plan.v[i];

		if (a->kind != ACT_FLEET || status_of(a->was) != p->store->fleet)
			continue;
		p->store->fleet = status_of(a->word);
		tell(w, "fleet: %s -> %s", a->was, a->word);
	}
}

static void beat(struct world *w, struct proc *p, const struct looking *l)
{
	struct shortages *s = &p->store->shortages;

	p->store->loop_ms = w->now;
	if (l->slurm)
		p->store->slurm_ms = w->now;
	if (l->ec2)
		p->store->ec2_ms = w->now;
	for (size_t i = 0; i < s->n; i++) {
		if (!capacity_stale(&s->v[i], &w->rule, w->now) || w->now < s->v[i].failed_ms + RECONCILE_REQUEUE_MS)
			continue;
		shortage_clear(&s->v[i]);
		s->v[i--] = s->v[--s->n];
	}
	w->loops++;
	proc_end(w, p, false);
}

void loop_step(struct world *w, struct proc *p)
{
	static void (*const reads[])(struct world *, struct looking *) = {read_slurm, read_ec2, read_health};
	static void (*const acts[])(struct world *, struct proc *, struct looking *) = {
	    carry_partitions, carry_counts, carry_ends, carry_unbind, carry_binds, carry_states, carry_launches,
	};
	enum { READ = 1, DECIDE = 4, ACT = 5, WORK = 12, LAST = 20 };

	if (p->step == 0) {
		p->store = w->store;
		p->look = calloc(1, sizeof(*p->look));
		read_rows(w, p, p->look);
	} else if (p->step < DECIDE) {
		reads[p->step - READ](w, p->look);
	} else if (p->step == DECIDE) {
		decide(w, p, p->look);
	} else if (p->step < WORK) {
		acts[p->step - ACT](w, p, p->look);
	} else if (p->step < LAST && p->n_work > 0) {
		work_step(w, p, p->step - WORK);
	} else {
		carry_fleet(w, p, p->look);
		beat(w, p, p->look);
	}
}
