/* SPDX-License-Identifier: GPL-2.0-or-later */
/* carry.c - clustermgtd's plan to effects. Actions are grouped by kind, so that a thousand of them are a few calls; every group
 * is tried.
 *
 * Each action is compared with the rows before anything is done and again just before its effect, for EC2 may have taken a
 * minute: a node whose binding changed since the plan was made is left alone.
 */
#include "lib/apply/apply.h"

#include "lib/apply/bind.h"
#include "lib/apply/event.h"
#include "lib/apply/failed_boot.h"
#include "lib/apply/launch.h"
#include "lib/apply/partitions.h"
#include "lib/apply/retry.h"
#include "lib/apply/settle.h"
#include "lib/apply/tell.h"
#include "lib/aws/ec2.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/cluster/generation.h"
#include "lib/node/binding.h"
#include "lib/node/instance.h"
#include "lib/node/map.h"
#include "lib/node/name.h"
#include "lib/node/nodeset.h"
#include "lib/slurmctl/slurmctl.h"
#include "lib/state/store.h"

#include <stdlib.h>
#include <string.h>

#define MACHINES_A_LINE 200 /* of the log: about 10 KB */

enum fate { FATE_GO, FATE_STALE, FATE_FAILED };

struct carry {
	struct world *w;
	const struct plan *plan;
	const struct instances *seen;
	int64_t deadline;
	struct map ids;       /* of seen */
	enum fate *fate;      /* one an action */
	struct nodeset *kept; /* nodes whose machine could not be ended: their row stays */
	struct failed_boot *boots;
	size_t n_boots;
};

static void failed(struct carry *c, size_t i, const struct err *e)
{
	const struct action *a = &c->plan->v[i];

	c->fate[i] = FATE_FAILED;
	if (say_again(e->text))
		log_error("%s %s: %s", action_kind_text(a->kind),
			  a->node ? a->node : a->launch ? a->launch : a->reservation ? a->reservation : a->resource ? a->resource : "",
			  e->text);
}

/* Whom the action is about, other than by node alone: "NODE INSTANCE", "NODES LAUNCH". NULL = by node, or no memory. */
static char *subject(const struct action *a)
{
	char *nodes = a->nodes.n ? nodeset_text_of((const char *const *)a->nodes.v, a->nodes.n) : NULL;
	const char *what = a->instance	  ? a->instance
			   : a->node	  ? NULL
			   : a->launch	  ? a->launch
			   : a->resource  ? a->resource
					  : a->reservation;
	const char *who = a->node ? a->node : nodes;
	char *text = what ? str_fmt("%s%s%s", who ? who : "", who ? " " : "", what) : NULL;

	free(nodes);
	return text;
}

/* One line, with everybody of at[] for whom the sentence is that of at[first]. */
static void announce_group(const struct carry *c, const size_t *at, size_t n, size_t first, bool *told)
{
	const struct action *f = &c->plan->v[at[first]];
	struct strs names = {0}, others = {0};
	char *by_name, *by_other;

	for (size_t i = first; i < n && others.n < MACHINES_A_LINE; i++) {
		const struct action *a = &c->plan->v[at[i]];
		char *text;

		if (told[i] || !str_eq(a->reason, f->reason) || !str_eq(a->code, f->code))
			continue;
		told[i] = true;
		text = subject(a);
		if (text ? strs_take(&others, text) < 0 : a->node && strs_add(&names, a->node) < 0)
			break;
	}
	by_name = nodeset_text_of((const char *const *)names.v, names.n);
	by_other = strs_join(&others, ", ");
	log_info("%s %s%s%s: %s (%s)", action_kind_text(f->kind), by_name ? by_name : "", names.n && others.n ? ", " : "",
		 by_other ? by_other : "", f->reason ? f->reason : "", f->code ? f->code : "");
	free(by_name);
	free(by_other);
	strs_clear(&names);
	strs_clear(&others);
}

/* Every action, each time: who looks for a node that comes and goes must find it. at[]: actions of one kind. */
static void announce(const struct carry *c, const size_t *at, size_t n)
{
	bool *told = calloc(n ? n : 1, sizeof *told);

	for (size_t i = 0; told && i < n; i++) {
		if (!told[i])
			announce_group(c, at, n, i, told);
	}
	free(told);
}

/* ---- is it still true? */

/* free_is_fine: after our own unbinding a free row is what is expected. A machine without a node may have one by now. */
static bool still_true(struct carry *c, const struct action *a, bool free_is_fine)
{
	struct bindings b = {0};
	bool same;

	if (!a->node)
		return a->kind != ACT_TERMINATE || store_machine_wanted(c->w->store, a->instance, a->launch, NULL) == 0;
	if (store_binding(c->w->store, a->node, &b, NULL) < 0)
		same = false;
	else if (b.n == 0)
		same = a->generation == -1;
	else
		same = b.v[0].generation == a->generation || (free_is_fine && b.v[0].state == BINDING_FREE);
	bindings_clear(&b);
	return same;
}

static bool go(struct carry *c, size_t i, bool free_is_fine)
{
	const struct action *a = &c->plan->v[i];

	if (c->fate[i] != FATE_GO)
		return false;
	if (still_true(c, a, free_is_fine))
		return true;
	log_info("%s %s: it changed meanwhile, left alone", action_kind_text(a->kind), a->node ? a->node : a->instance);
	c->fate[i] = FATE_STALE;
	return false;
}

static void sort_stale(struct carry *c)
{
	for (size_t i = 0; i < c->plan->n; i++)
		go(c, i, false);
}

/* ---- machines that never served */

/* Before they are ended: a crash in between must not lose them. */
static void count_boots(struct carry *c)
{
	c->boots = calloc(c->plan->n ? c->plan->n : 1, sizeof *c->boots);
	for (size_t i = 0; c->boots && i < c->plan->n; i++) {
		const struct action *a = &c->plan->v[i];

		if (a->kind == ACT_BOOT_FAILED && c->fate[i] == FATE_GO)
			c->boots[c->n_boots++] = (struct failed_boot){.node = a->node, .instance = a->instance, .code = a->code,
								      .reason = a->reason};
	}
	failed_boots_count(c->w, c->boots, c->n_boots);
}

static void forget_failures(struct carry *c)
{
	struct err e = {""};

	for (size_t i = 0; i < c->plan->n; i++) {
		if (c->plan->v[i].kind != ACT_FAILURES_CLEAR || c->fate[i] != FATE_GO)
			continue;
		announce(c, &i, 1);
		if (failed_boots_forget(c->w, &c->plan->v[i], &e) < 0)
			failed(c, i, &e);
	}
}

/* ---- machines */

/* The rule and its words. */
static char *note_text(const struct action *a)
{
	return a->code && a->reason ? str_fmt("%s: %s", a->code, a->reason) : str_dup(a->code ? a->code : a->reason);
}

/* One transaction for all. An event never decides anything, so a failure is only logged. */
static void note_terminations(struct carry *c)
{
	struct err e = {""};
	int64_t n = 0;

	if (store_batch_begin(c->w->store, &e) < 0) {
		log_warn("events: %s", e.text);
		return;
	}
	for (size_t i = 0; i < c->plan->n; i++) {
		const struct action *a = &c->plan->v[i];
		char *detail;

		if (a->kind != ACT_TERMINATE || c->fate[i] != FATE_GO)
			continue;
		detail = note_text(a);
		apply_event(c->w, "terminate", a->node, a->instance, detail);
		free(detail);
		n++;
	}
	apply_total(c->w, "terminated", n);
	if (store_batch_end(c->w->store, 0, &e) < 0)
		log_warn("events: %s", e.text);
}

static const struct instance *seen_instance(const struct carry *c, const char *id)
{
	size_t k = map_get(&c->ids, id);

	return k == SIZE_MAX ? NULL : &c->seen->v[k];
}

/* Where a machine is: where it was seen, else where its node's machines are. */
static size_t cloud_of(const struct carry *c, const struct action *a)
{
	const struct instance *i = seen_instance(c, a->instance);
	struct node_name name;

	if (i)
		return i->cloud;
	if (a->node && node_name_resolve_any(c->w->gen, a->node, &name) == 0)
		return (size_t)c->w->gen->resources[name.resource].cloud;
	return 0;
}

static void terminate_in(struct carry *c, size_t cloud, const char **ids, size_t *at)
{
	struct err e = {""};
	size_t n = 0;

	for (size_t i = 0; i < c->plan->n; i++) {
		const struct action *a = &c->plan->v[i];

		if (a->kind != ACT_TERMINATE || c->fate[i] != FATE_GO || cloud_of(c, a) != cloud)
			continue;
		ids[n] = a->instance;
		at[n++] = i;
	}
	announce(c, at, n);
	if (n == 0 || ec2_terminate_all(world_cloud_at(c->w, cloud), ids, n, c->deadline, &e) == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		const char *node = c->plan->v[at[i]].node;

		failed(c, at[i], &e);
		if (node)
			nodeset_add(c->kept, node);
	}
}

static void terminate(struct carry *c)
{
	const char **ids = calloc(c->plan->n ? c->plan->n : 1, sizeof *ids);
	size_t *at = calloc(c->plan->n ? c->plan->n : 1, sizeof *at), n = 0;

	for (size_t i = 0; i < c->plan->n; i++)
		n += c->plan->v[i].kind == ACT_TERMINATE && c->fate[i] == FATE_GO;
	if (n > 0)
		note_terminations(c);
	for (size_t i = 0; n > 0 && ids && at && i <= c->w->gen->n_clouds; i++)
		terminate_in(c, i, ids, at);
	free(at);
	free(ids);
}

static void all_failed(struct carry *c, const size_t *at, size_t n, const struct err *e)
{
	for (size_t i = 0; i < n; i++)
		failed(c, at[i], e);
}

/* How slurmctld is told of the actions at[], and what follows when it took it. */
struct telling {
	int (*tell)(struct carry *c, const struct action *first, const char *const *names, size_t n, struct err *e);
	void (*took)(struct carry *c, const size_t *at, size_t n);
};

/* A node that slurmctld refuses must not keep the others from theirs: what is refused is tried in halves, down to that node. */
static void tell_all(struct carry *c, const struct telling *t, const char *const *names, const size_t *at, size_t n)
{
	struct err e = {""};

	if (n == 0)
		return;
	if (t->tell(c, &c->plan->v[at[0]], names, n, &e) == 0) {
		t->took(c, at, n);
	} else if (n == 1 || clock_mono_ms() >= c->deadline || slurmctl_ping(NULL) < 0) {
		all_failed(c, at, n, &e);
	} else {
		tell_all(c, t, names, at, n / 2);
		tell_all(c, t, names + n / 2, at + n / 2, n - n / 2);
	}
}

/* Rows of the actions at[] to free: one transaction, all or none. */
static void free_rows(struct carry *c, const size_t *at, size_t n)
{
	struct err e = {""};
	int rc = store_batch_begin(c->w->store, &e);

	if (rc == 0) {
		for (size_t i = 0; i < n && rc >= 0; i++)
			rc = store_free(c->w->store, c->plan->v[at[i]].node, c->plan->v[at[i]].generation, NULL, &e);
		rc = store_batch_end(c->w->store, rc, &e);
	}
	if (rc < 0)
		all_failed(c, at, n, &e);
}

/* Actions of a kind whose row is still what it was: ending the machines may have taken a minute. */
static size_t collect(struct carry *c, enum action_kind kind, size_t *at)
{
	size_t n = 0;

	for (size_t i = 0; i < c->plan->n; i++) {
		const struct action *a = &c->plan->v[i];

		if (a->kind != kind || nodeset_has(c->kept, a->node) || !go(c, i, false))
			continue;
		at[n++] = i;
	}
	announce(c, at, n);
	return n;
}

static int tell_unbound(struct carry *c, const struct action *first, const char *const *names, size_t n, struct err *e)
{
	(void)first;
	return tell_no_machine(names, n, c->deadline, e);
}

/* Slurm first, then the rows: if it is away they stay, and the next loop tries again. */
static void unbind(struct carry *c)
{
	static const struct telling unbound = {tell_unbound, free_rows};
	size_t *at = calloc(c->plan->n ? c->plan->n : 1, sizeof *at), n;
	const char **names = calloc(c->plan->n ? c->plan->n : 1, sizeof *names);

	if (at && names) {
		n = collect(c, ACT_UNBIND, at);
		for (size_t i = 0; i < n; i++)
			names[i] = c->plan->v[at[i]].node;
		tell_all(c, &unbound, names, at, n);
		/* apart from the others: one name that slurmctld does not know spoils an update */
		n = collect(c, ACT_FORGET, at);
		if (n > 0)
			free_rows(c, at, n);
	}
	free(names);
	free(at);
}

/* ---- bindings */

static int bind_row(struct carry *c, const struct action *a, const char *ip, struct err *e)
{
	int rc = store_bind(c->w->store, a->node, a->launch, a->instance, ip, e);

	return rc ? rc : store_adopt(c->w->store, a->node, a->launch, a->instance, ip, e);
}

/* Write the row; what slurmctld is to be told goes to *b. */
static int bind_one(struct carry *c, const struct action *a, const char *ip, struct binds *b, struct err *e)
{
	int rc = bind_row(c, a, ip, e);

	if (rc == 1 && binds_add(b, a->node, a->instance, ip, a->launch, a->launch) < 0)
		rc = err_nomem(e);
	return rc;
}

/* One transaction, so that no row changes between the look and the write. */
static int bind_rows(struct carry *c, const size_t *at, size_t n, struct binds *b, struct err *e)
{
	int rc = store_batch_begin(c->w->store, e);

	if (rc == 0) {
		for (size_t i = 0; i < n && rc >= 0; i++) {
			const struct action *a = &c->plan->v[at[i]];
			const struct instance *m = seen_instance(c, a->instance);

			if (go(c, at[i], false))
				rc = bind_one(c, a, m ? m->private_ip : NULL, b, e);
		}
		rc = store_batch_end(c->w->store, rc, e);
	}
	return rc;
}

static void bind_all(struct carry *c)
{
	size_t *at = calloc(c->plan->n ? c->plan->n : 1, sizeof *at);
	size_t n = at ? collect(c, ACT_BIND, at) : 0;
	struct binds b = {0};
	struct err e = {""};

	if (n > 0 && bind_rows(c, at, n, &b, &e) < 0)
		all_failed(c, at, n, &e);
	else
		binds_tell(c->w, &b, c->deadline);
	binds_clear(&b);
	free(at);
}

/* ---- node states: one update for each kind and reason */

static uint32_t state_of(const struct action *a)
{
	switch (a->kind) {
	case ACT_NODE_DOWN:
		return slurmctl_state_down;
	case ACT_NODE_POWER_DOWN:
		return a->word ? slurmctl_state_power_down : slurmctl_state_power_down_force;
	case ACT_NODE_POWER_UP:
		/* slurmctld runs ResumeProgram for it, so that its own clocks are right */
		return slurmctl_state_power_up;
	case ACT_NODE_DRAIN:
		return slurmctl_state_drain;
	case ACT_NODE_RESUME:
		return slurmctl_state_resume;
	default:
		return 0;
	}
}

static const char *state_event(enum action_kind k)
{
	switch (k) {
	case ACT_NODE_DOWN:
		return "node-down";
	case ACT_NODE_DRAIN:
		return "node-drain";
	case ACT_NODE_RESUME:
		return "node-resume";
	default:
		return NULL;
	}
}

/* What a person looks for later: why nodes were not used for a while, or went DOWN. */
static void note_state(struct carry *c, const size_t *at, size_t n)
{
	const struct action *a = &c->plan->v[at[0]];
	bool capacity = a->code && str_prefix(a->code, "capacity-");
	const char *type = capacity ? a->code : state_event(a->kind);
	const char **names = type ? calloc(n, sizeof *names) : NULL;
	char *text, *detail;

	if (!names)
		return;
	for (size_t i = 0; i < n; i++)
		names[i] = c->plan->v[at[i]].node;
	text = nodeset_text_of(names, n);
	detail = capacity ? str_dup(a->reason) : note_text(a);
	apply_event(c->w, type, text, NULL, detail);
	free(detail);
	free(text);
	free(names);
}

/* a node in service has no Reason */
static int tell_group(struct carry *c, const struct action *f, const char *const *names, size_t n, struct err *e)
{
	return tell_state(names, n, state_of(f), f->kind == ACT_NODE_RESUME ? NULL : f->reason, c->deadline, e);
}

static void state_group(struct carry *c, size_t first, bool *done, size_t *at)
{
	const struct action *f = &c->plan->v[first];
	static const struct telling group = {tell_group, note_state};
	struct strs names = {0};

	for (size_t i = first; i < c->plan->n; i++) {
		const struct action *a = &c->plan->v[i];

		if (done[i] || state_of(a) != state_of(f) || !str_eq(a->reason, f->reason) || !go(c, i, true))
			continue;
		done[i] = true;
		if (strs_add(&names, a->node) < 0)
			break;
		at[names.n - 1] = i;
	}
	announce(c, at, names.n);
	tell_all(c, &group, (const char *const *)names.v, at, names.n);
	strs_clear(&names);
}

static void states(struct carry *c)
{
	bool *done = calloc(c->plan->n ? c->plan->n : 1, sizeof *done);
	size_t *at = calloc(c->plan->n ? c->plan->n : 1, sizeof *at);

	for (size_t i = 0; done && at && i < c->plan->n; i++) {
		if (!done[i] && c->fate[i] == FATE_GO && state_of(&c->plan->v[i]))
			state_group(c, i, done, at);
	}
	free(at);
	free(done);
}

/* ---- reservations in Slurm */

static int reservation(const struct action *a, struct err *e)
{
	if (a->kind == ACT_RESERVE)
		return slurmctl_reservation_hold(a->reservation, (const char *const *)a->nodes.v, a->nodes.n, 0, e);
	return slurmctl_reservation_delete(a->reservation, e);
}

static void note_reservation(struct carry *c, const struct action *a)
{
	char *nodes = a->nodes.n ? nodeset_text_of((const char *const *)a->nodes.v, a->nodes.n) : NULL;
	char *detail = str_fmt("reservation %s: %s", a->reservation, a->reason ? a->reason : "-");

	apply_event(c->w, action_kind_text(a->kind), nodes, NULL, detail);
	free(detail);
	free(nodes);
}

static void reservations(struct carry *c)
{
	struct err e = {""};

	for (size_t i = 0; i < c->plan->n; i++) {
		const struct action *a = &c->plan->v[i];

		if (a->kind != ACT_RESERVE && a->kind != ACT_UNRESERVE)
			continue;
		announce(c, &i, 1);
		if (reservation(a, &e) < 0)
			failed(c, i, &e);
		else
			note_reservation(c, a);
	}
}

/* ---- launches */

static void launches(struct carry *c)
{
	struct strs retry = {0};
	struct err e = {""};

	for (size_t i = 0; i < c->plan->n; i++) {
		const struct action *a = &c->plan->v[i];

		if (a->kind != ACT_LAUNCH_RETRY && a->kind != ACT_LAUNCH_CLOSE)
			continue;
		announce(c, &i, 1);
		if (a->kind == ACT_LAUNCH_RETRY && strs_add(&retry, a->launch) < 0)
			break;
		if (a->kind == ACT_LAUNCH_CLOSE && store_launch_done(c->w->store, a->launch, &e) < 0)
			failed(c, i, &e);
	}
	if (retry.n > 0 && retry_launches(c->w, &retry, c->deadline, &e) < 0 && say_again(e.text))
		log_error("launches: %s", e.text);
	strs_clear(&retry);
}

/* ---- the fleet */

static void fleet(struct carry *c, void (*carry)(struct world *w, const struct plan *p, bool *failed))
{
	bool *not_done = calloc(c->plan->n ? c->plan->n : 1, sizeof *not_done);

	if (not_done)
		carry(c->w, c->plan, not_done);
	for (size_t i = 0; not_done && i < c->plan->n; i++) {
		if (not_done[i])
			c->fate[i] = FATE_FAILED;
	}
	free(not_done);
}

size_t apply_plan(struct world *w, const struct plan *p, const struct instances *seen, int64_t deadline)
{
	struct carry c = {.w = w, .plan = p, .seen = seen, .deadline = deadline};
	size_t n = 0;

	c.fate = calloc(p->n ? p->n : 1, sizeof *c.fate);
	c.kept = nodeset_create();
	if (c.fate && c.kept && (!seen || map_instances(&c.ids, seen) == 0)) {
		reservations(&c); /* first: no job is to be given to nodes that cannot have a machine */
		fleet(&c, partitions_carry);
		sort_stale(&c);
		count_boots(&c);
		forget_failures(&c);
		terminate(&c);
		unbind(&c);
		bind_all(&c);
		states(&c);
		launches(&c);
		fleet(&c, partitions_carry_fleet);
		failed_boots_save(w, c.boots, c.n_boots, deadline); /* last: nothing waits for it */
	}
	map_clear(&c.ids);
	for (size_t i = 0; i < p->n; i++)
		n += !c.fate || c.fate[i] == FATE_FAILED;
	nodeset_destroy(c.kept);
	free(c.boots);
	free(c.fate);
	return n;
}
