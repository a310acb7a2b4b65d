/* SPDX-License-Identifier: GPL-2.0-or-later */
/* carry.c - clustermgtd's plan to effects. Actions are grouped by kind, so that a thousand of them are a few calls; every group
 * is tried.
 *
 * Before anything is done each action is compared with the rows: a node whose binding changed since the plan was made is left
 * alone.
 */
#include "lib/apply/apply.h"

#include "lib/apply/bind.h"
#include "lib/apply/launch.h"
#include "lib/apply/retry.h"
#include "lib/apply/settle.h"
#include "lib/apply/tell.h"
#include "lib/aws/ec2.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/node/binding.h"
#include "lib/node/instance.h"
#include "lib/node/nodeset.h"
#include "lib/slurmctl/slurmctl.h"
#include "lib/state/store.h"

#include <stdlib.h>
#include <string.h>

enum fate { FATE_GO, FATE_STALE, FATE_FAILED };

struct carry {
	struct world *w;
	const struct plan *plan;
	const struct instances *seen;
	int64_t deadline;
	enum fate *fate;      /* one an action */
	struct nodeset *kept; /* nodes whose machine could not be ended: their row stays */
};

static void failed(struct carry *c, size_t i, const struct err *e)
{
	const struct action *a = &c->plan->v[i];

	c->fate[i] = FATE_FAILED;
	if (say_again(e->text))
		log_error("%s %s: %s", action_kind_text(a->kind), a->node ? a->node : a->launch ? a->launch : "", e->text);
}

static void announce(const struct action *a)
{
	char *nodes = a->nodes.n ? nodeset_text_of((const char *const *)a->nodes.v, a->nodes.n) : NULL;
	struct buf b = {0};

	buf_str(&b, action_kind_text(a->kind));
	if (a->node || nodes)
		buf_fmt(&b, " %s", a->node ? a->node : nodes);
	if (a->instance || a->launch)
		buf_fmt(&b, " %s", a->instance ? a->instance : a->launch);
	buf_fmt(&b, ": %s (%s)", a->reason ? a->reason : "", a->code ? a->code : "");
	if (say_again(buf_text(&b)))
		log_info("%s", buf_text(&b));
	buf_free(&b);
	free(nodes);
}

/* ---- is it still true? */

/* free_is_fine: after our own unbinding a free row is what is expected. */
static bool still_true(struct carry *c, const struct action *a, bool free_is_fine)
{
	struct bindings b = {0};
	bool same;

	if (!a->node)
		return true;
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
	log_info("%s %s: it changed meanwhile, left alone", action_kind_text(a->kind), a->node);
	c->fate[i] = FATE_STALE;
	return false;
}

static void sort_stale(struct carry *c)
{
	for (size_t i = 0; i < c->plan->n; i++)
		go(c, i, false);
}

/* ---- machines */

static void terminate(struct carry *c)
{
	const char **ids = calloc(c->plan->n ? c->plan->n : 1, sizeof *ids);
	struct err e = {""};
	size_t n = 0;

	for (size_t i = 0; ids && i < c->plan->n; i++) {
		const struct action *a = &c->plan->v[i];

		if (a->kind != ACT_TERMINATE || c->fate[i] != FATE_GO)
			continue;
		announce(a);
		apply_event(c->w, "terminate", a->node, a->instance, a->code);
		ids[n++] = a->instance;
	}
	if (n > 0 && ec2_terminate_all(c->w->aws, ids, n, c->deadline, &e) < 0) {
		for (size_t i = 0; i < c->plan->n; i++) {
			if (c->plan->v[i].kind != ACT_TERMINATE || c->fate[i] != FATE_GO)
				continue;
			failed(c, i, &e);
			if (c->plan->v[i].node)
				nodeset_add(c->kept, c->plan->v[i].node);
		}
	}
	free(ids);
}

static void unbind_rows(struct carry *c, const struct strs *names, const size_t *at)
{
	struct err e = {""};

	for (size_t i = 0; i < names->n; i++) {
		const struct action *a = &c->plan->v[at[i]];

		if (store_free(c->w->store, a->node, a->generation, NULL, &e) < 0)
			failed(c, at[i], &e);
	}
}

static void unbind(struct carry *c)
{
	size_t *at = calloc(c->plan->n ? c->plan->n : 1, sizeof *at);
	struct strs names = {0};
	struct err e = {""};

	for (size_t i = 0; at && i < c->plan->n; i++) {
		const struct action *a = &c->plan->v[i];

		if (a->kind != ACT_UNBIND || c->fate[i] != FATE_GO || nodeset_has(c->kept, a->node))
			continue;
		announce(a);
		at[names.n] = i;
		if (strs_add(&names, a->node) < 0)
			break;
	}
	if (names.n > 0 && tell_no_machine((const char *const *)names.v, names.n, c->deadline, &e) < 0) {
		for (size_t i = 0; i < names.n; i++)
			failed(c, at[i], &e); /* rows stay: the next loop tries again */
	} else if (at) {
		unbind_rows(c, &names, at);
	}
	strs_clear(&names);
	free(at);
}

/* ---- bindings */

static int bind_row(struct carry *c, const struct action *a, const char *ip, struct err *e)
{
	int rc = store_bind(c->w->store, a->node, a->launch, a->instance, ip, e);

	return rc ? rc : store_adopt(c->w->store, a->node, a->launch, a->instance, ip, e);
}

static void bind_all(struct carry *c)
{
	struct binds b = {0};
	struct err e = {""};

	for (size_t i = 0; i < c->plan->n; i++) {
		const struct action *a = &c->plan->v[i];
		const struct instance *in = c->seen && a->instance ? instances_find(c->seen, a->instance) : NULL;
		int rc;

		if (a->kind != ACT_BIND || c->fate[i] != FATE_GO || !a->launch || !a->instance)
			continue;
		announce(a);
		rc = bind_row(c, a, in ? in->private_ip : NULL, &e);
		if (rc < 0)
			failed(c, i, &e);
		else if (rc == 1 && binds_add(&b, a->node, a->instance, in ? in->private_ip : NULL, a->launch, a->launch) < 0)
			break;
	}
	binds_tell(c->w, &b, c->deadline);
	binds_clear(&b);
}

/* ---- node states: one update for each kind and reason */

static uint32_t state_of(enum action_kind k)
{
	switch (k) {
	case ACT_NODE_DOWN:
		return slurmctl_state_down;
	case ACT_NODE_POWER_DOWN:
		return slurmctl_state_power_down_force;
	case ACT_NODE_RESUME:
		return slurmctl_state_resume;
	case ACT_NODE_POWER_UP:
	case ACT_LAUNCH: /* slurmctld runs ResumeProgram for it, so that its own clocks are right */
		return slurmctl_state_power_up;
	default:
		return 0;
	}
}

static int add_names(struct strs *names, const struct action *a)
{
	if (a->node)
		return strs_add(names, a->node);
	for (size_t i = 0; i < a->nodes.n; i++) {
		if (strs_add(names, a->nodes.v[i]) < 0)
			return -1;
	}
	return 0;
}

static void state_group(struct carry *c, size_t first, bool *done)
{
	const struct action *f = &c->plan->v[first];
	struct strs names = {0};
	struct err e = {""};

	for (size_t i = first; i < c->plan->n; i++) {
		const struct action *a = &c->plan->v[i];

		if (done[i] || a->kind != f->kind || !str_eq(a->reason, f->reason) || !go(c, i, true))
			continue;
		done[i] = true;
		announce(a);
		if (add_names(&names, a) < 0)
			break;
	}
	if (tell_state((const char *const *)names.v, names.n, state_of(f->kind), f->reason, c->deadline, &e) < 0)
		failed(c, first, &e);
	strs_clear(&names);
}

static void states(struct carry *c)
{
	bool *done = calloc(c->plan->n ? c->plan->n : 1, sizeof *done);

	for (size_t i = 0; done && i < c->plan->n; i++) {
		if (!done[i] && c->fate[i] == FATE_GO && state_of(c->plan->v[i].kind))
			state_group(c, i, done);
	}
	free(done);
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
		announce(a);
		if (a->kind == ACT_LAUNCH_RETRY && strs_add(&retry, a->launch) < 0)
			break;
		if (a->kind == ACT_LAUNCH_CLOSE && store_launch_done(c->w->store, a->launch, &e) < 0)
			failed(c, i, &e);
	}
	if (retry.n > 0 && retry_launches(c->w, &retry, c->deadline, &e) < 0 && say_again(e.text))
		log_error("launches: %s", e.text);
	strs_clear(&retry);
}

size_t apply_plan(struct world *w, const struct plan *p, const struct instances *seen, int64_t deadline)
{
	struct carry c = {.w = w, .plan = p, .seen = seen, .deadline = deadline};
	size_t n = 0;

	c.fate = calloc(p->n ? p->n : 1, sizeof *c.fate);
	c.kept = nodeset_create();
	if (c.fate && c.kept) {
		sort_stale(&c);
		terminate(&c);
		unbind(&c);
		bind_all(&c);
		states(&c);
		launches(&c);
	}
	for (size_t i = 0; i < p->n; i++)
		n += !c.fate || c.fate[i] == FATE_FAILED;
	nodeset_destroy(c.kept);
	free(c.fate);
	return n;
}
