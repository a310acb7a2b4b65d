/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reconcile_nodes.c - the table of rules about nodes; the first that fits a node is taken, one node has one rule a loop.
 *
 * State is tested by required and forbidden bits only: a flag that a newer Slurm adds changes nothing. An administrator's
 * DOWN, DRAIN or FAIL is not touched by these rules unless the reason is Slurm's own or ours. Slurm itself is another
 * matter: it powers a drained node down once it is idle for SuspendTime (before 23.02, which has SuspendExcStates), and
 * the drain ends with it.
 */
#include "lib/plan/reconcile_view.h"

#include "lib/base/err.h"
#include "lib/base/num.h"
#include "lib/plan/capacity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A node set DOWN is not powered down before this: slurmctld requeues its jobs first. */
#define REQUEUE_MS 20000

/* What we know of the node's machine. */
enum fact {
	FACT_NONE = 1,     /* no row, or a free one */
	FACT_CLAIMED = 2,  /* a launch is under way */
	FACT_ALIVE = 4,
	FACT_GONE = 8,     /* EC2 says so, or does not list it, the row is past the grace and slurmctld does not hear from it */
	FACT_UNSURE = 16,  /* has a row, but EC2 was not read or may not list it yet */
};
#define FACT_BOUND (FACT_ALIVE | FACT_GONE | FACT_UNSURE)

enum why {
	WHY_ANY,
	WHY_OURS,
	WHY_AUTOMATIC, /* ours, Slurm's own or none */
	WHY_DISABLED,  /* by the rule "capacity-closed" */
	WHY_NO_LAUNCH, /* nothing was launched */
};
enum age { AGE_ANY, AGE_REQUEUED, AGE_REASON_GRACE, AGE_SEEN_GRACE };

#define OURS "slurm-ec2: "
#define DO_DOWN 1u
#define DO_TERMINATE 2u
#define DO_UNBIND 4u
#define DO_POWER_DOWN 8u
#define DO_POWER_UP 16u
#define DO_END_UNLISTED 32u /* also by an id that EC2 does not list: it may not list it yet */
#define DO_CLEAN (DO_TERMINATE | DO_UNBIND)

#define BASE(b) (1u << (b))
#define UP (~BASE(NS_DOWN))
#define HELD (NS_DRAIN | NS_FAIL)
#define OFF (NS_POWERED_DOWN | NS_POWERING_DOWN)
#define MOVING (NS_POWERING_UP | NS_POWER_UP | NS_POWERING_DOWN | NS_POWER_DOWN)
#define REBOOT (NS_REBOOT_REQUESTED | NS_REBOOT_ISSUED)
#define RESERVED (NS_RES | NS_MAINT)

struct rule {
	const char *code;
	unsigned bases;       /* 0 = any */
	uint32_t required, forbidden;
	unsigned facts;
	enum why why;
	enum age age;
	bool only_static, only_dynamic;
	bool needs_ec2;
	unsigned pools;       /* of its resource, 0 = any */
	unsigned acts;        /* 0 = it is left as it is */
	const char *reason;   /* what Slurm gets starts with (Code:...) or OURS, so that it is known again */
};

static const struct rule rules[] = {
	/* No machine can come: another resource is to be picked. Whoever reserved a node wants that one. */
	{ .code = "capacity-closed", .bases = BASE(NS_IDLE), .required = NS_POWERED_DOWN | NS_CLOUD,
	  .forbidden = HELD | MOVING | RESERVED | NS_NO_RESPOND | NS_COMPLETING, .facts = FACT_NONE, .only_dynamic = true,
	  .pools = POOL_CLOSED, .acts = DO_DOWN, .reason = REASON_DISABLED },
	{ .code = "capacity-closed-still", .bases = BASE(NS_DOWN), .required = NS_POWERED_DOWN, .facts = FACT_NONE,
	  .why = WHY_DISABLED, .pools = POOL_CLOSED | POOL_UNREAD },
	{ .code = "capacity-open", .bases = BASE(NS_DOWN), .required = NS_POWERED_DOWN,
	  .forbidden = HELD | NS_POWERING_DOWN | NS_POWER_DOWN, .facts = FACT_NONE, .why = WHY_DISABLED, .pools = POOL_OPEN,
	  .acts = DO_POWER_DOWN, .reason = REASON_ENABLED },
	/* back in idle~ its job would take it at once again */
	{ .code = "launch-failed-still", .bases = BASE(NS_DOWN), .facts = FACT_NONE, .why = WHY_NO_LAUNCH,
	  .pools = POOL_CLOSED },
	{ .code = "machine-gone", .bases = UP, .forbidden = HELD | OFF, .facts = FACT_GONE,
	  .acts = DO_DOWN | DO_CLEAN | DO_END_UNLISTED | DO_POWER_DOWN,
	  .reason = "(Code:MachineGone)The machine of this node is gone" },
	{ .code = "machine-gone", .bases = BASE(NS_DOWN), .forbidden = HELD | OFF, .facts = FACT_GONE, .why = WHY_AUTOMATIC,
	  .acts = DO_CLEAN | DO_END_UNLISTED | DO_POWER_DOWN, .reason = "(Code:MachineGone)The machine of this node is gone" },
	/* an administrator holds it: its jobs are requeued, the hold stays */
	{ .code = "machine-gone-held", .forbidden = OFF, .facts = FACT_GONE, .acts = DO_DOWN | DO_CLEAN | DO_END_UNLISTED,
	  .reason = "(Code:MachineGone)The machine of this node is gone" },
	{ .code = "powering-down", .required = NS_POWERING_DOWN, .forbidden = NS_POWERING_UP, .facts = FACT_BOUND,
	  .acts = DO_CLEAN, .reason = "its node is powering down" },
	{ .code = "resume-timeout", .bases = BASE(NS_DOWN), .required = NS_POWERED_DOWN, .forbidden = HELD | NS_POWERING_DOWN,
	  .facts = FACT_NONE | FACT_BOUND, .why = WHY_AUTOMATIC, .age = AGE_REQUEUED, .acts = DO_CLEAN | DO_POWER_DOWN,
	  .reason = OURS "back to idle after ResumeTimeout" },
	{ .code = "powered-down", .required = NS_POWERED_DOWN, .forbidden = NS_POWERING_UP, .facts = FACT_BOUND,
	  .acts = DO_CLEAN, .reason = "its node is powered down" },
	{ .code = "launch-failed", .bases = BASE(NS_DOWN), .forbidden = HELD | OFF | NS_POWER_DOWN,
	  .facts = FACT_NONE | FACT_BOUND, .why = WHY_OURS, .age = AGE_REQUEUED, .acts = DO_CLEAN | DO_POWER_DOWN,
	  .reason = OURS "back to idle after a failed launch" },
	{ .code = "boot-failed", .bases = BASE(NS_DOWN), .required = NS_POWERING_UP, .forbidden = HELD | OFF | NS_POWER_DOWN,
	  .facts = FACT_NONE | FACT_BOUND, .why = WHY_AUTOMATIC, .age = AGE_REQUEUED, .acts = DO_CLEAN | DO_POWER_DOWN,
	  .reason = OURS "back to idle after a failed boot" },
	{ .code = "node-down", .bases = BASE(NS_DOWN),
	  .forbidden = HELD | OFF | NS_POWER_DOWN | NS_POWERING_UP | NS_COMPLETING | REBOOT,
	  .facts = FACT_NONE | FACT_ALIVE, .why = WHY_AUTOMATIC, .age = AGE_REASON_GRACE, .needs_ec2 = true,
	  .acts = DO_CLEAN | DO_POWER_DOWN, .reason = OURS "back to idle, slurmd does not come back" },
	{ .code = "no-machine", .bases = BASE(NS_IDLE) | BASE(NS_ALLOCATED) | BASE(NS_MIXED), .required = NS_POWERING_UP,
	  .forbidden = OFF | NS_POWER_DOWN, .facts = FACT_NONE, .age = AGE_SEEN_GRACE, .needs_ec2 = true, .acts = DO_DOWN,
	  .reason = "(Code:NoMachine)No machine was launched for this node" },
	{ .code = "stuck-idle", .bases = BASE(NS_IDLE), .required = NS_POWERED_DOWN | NS_NO_RESPOND,
	  .forbidden = HELD | MOVING, .facts = FACT_NONE, .age = AGE_SEEN_GRACE,
	  .acts = DO_POWER_DOWN, .reason = OURS "powered down but marked as not responding" },
	{ .code = "static-down", .bases = BASE(NS_IDLE), .required = NS_POWERED_DOWN,
	  .forbidden = HELD | MOVING, .facts = FACT_NONE, .only_static = true,
	  .acts = DO_POWER_UP, .reason = "static node" },
};

#define N_RULES (sizeof(rules) / sizeof(rules[0]))

/* The brake: a node that slurmctld hears from has a machine, whatever a list says. A list may be short (new account, removed
 * tag, wrong endpoint), and a short list must not end a cluster's jobs. Only EC2's own word "terminated" is believed then. */
static bool is_heard(const struct node *n)
{
	return node_state_is(n->state, UP, 0, NS_NO_RESPOND | NS_POWERING_UP | OFF);
}

static enum fact fact_of(const struct view *v, const struct binding *b, const struct node *n, size_t resource)
{
	const struct instance *i;

	if (!b || b->state == BINDING_FREE)
		return FACT_NONE;
	if (b->state == BINDING_LAUNCHING)
		return FACT_CLAIMED;
	if (!view_machines_read(v, resource))
		return FACT_UNSURE;
	i = view_instance(v, b->instance);
	if (!i)
		return view_older(v, b->since_ms, v->in->orphan_grace_ms) && !is_heard(n) ? FACT_GONE : FACT_UNSURE;
	if (i->state == INSTANCE_UNKNOWN)
		return FACT_UNSURE;
	return instance_alive(i->state) ? FACT_ALIVE : FACT_GONE;
}

/* "(Code:X)TEXT" and what may follow. */
static bool says(const char *reason, const char *text)
{
	const char *end = reason && str_prefix(reason, "(Code:") ? strchr(reason, ')') : NULL;

	return end && str_prefix(end + 1, text);
}

bool reconcile_disabled(const char *reason)
{
	return says(reason, REASON_DISABLED);
}

static bool why_fits(enum why why, const char *reason)
{
	static const char *const automatic[] = { "ResumeTimeout reached", "Not responding", "Node unexpectedly rebooted",
						 REASON_LAUNCH_FAILED, REASON_ENABLED, OURS };

	if (why == WHY_DISABLED)
		return reconcile_disabled(reason);
	if (why == WHY_NO_LAUNCH)
		return says(reason, REASON_LAUNCH_FAILED);
	if (why == WHY_ANY || (reason && str_prefix(reason, "(Code:")))
		return true;
	if (why == WHY_OURS)
		return false;
	for (size_t i = 0; reason && i < sizeof(automatic) / sizeof(automatic[0]); i++)
		if (str_prefix(reason, automatic[i]))
			return true;
	return !reason || !*reason;
}

/* "rule since_ms" of reconcile_watch. */
static bool seen_since(const char *seen, const struct rule *r, int64_t *since)
{
	size_t n = strlen(r->code);

	return seen && str_prefix(seen, r->code) && seen[n] == ' ' && !num_i64(seen + n + 1, 0, INT64_MAX, since, NULL);
}

static bool age_fits(const struct view *v, const struct rule *r, const struct node *n, const char *seen)
{
	int64_t since;

	switch (r->age) {
	case AGE_ANY:
		return true;
	case AGE_REQUEUED:
		return view_older(v, n->reason_time_s * 1000, REQUEUE_MS);
	case AGE_REASON_GRACE:
		return n->reason_time_s && view_older(v, n->reason_time_s * 1000, v->in->orphan_grace_ms);
	case AGE_SEEN_GRACE:
		return seen_since(seen, r, &since) && view_older(v, since, v->in->orphan_grace_ms);
	}
	return false;
}

struct verdict {
	const struct rule *rule; /* NULL = none */
	struct node_name name;
	enum fact fact;
};

/* Is it one of the nodes that MinCount keeps up, and can it have a machine? */
static bool is_static(const struct view *v, const struct node *n, const struct node_name *name)
{
	return name->is_static && name->n <= v->in->gen->resources[name->resource].min_count &&
	       !(v->in->held && nodeset_has(v->in->held, n->name));
}

/* Everything of a rule but its age. */
static bool rule_fits(const struct view *v, const struct rule *r, const struct node *n, const struct verdict *d)
{
	if (!node_state_is(n->state, r->bases, r->required, r->forbidden) || !(r->facts & d->fact))
		return false;
	if (r->needs_ec2 && !view_machines_read(v, d->name.resource))
		return false;
	if (r->pools && !(r->pools & v->pool[d->name.resource].state))
		return false;
	if ((r->only_static && !is_static(v, n, &d->name)) || (r->only_dynamic && d->name.is_static))
		return false;
	return why_fits(r->why, n->reason);
}

/* Without `aged` a rule that must be seen for a while counts as soon as it fits. */
static struct verdict find_rule(const struct view *v, const struct node *n, const char *seen, bool aged)
{
	const struct binding *b = view_row(v, n->name);
	struct verdict d = { .rule = NULL };

	if ((b && view_too_new(v, b->since_ms)) || nodeset_has(v->judged, n->name) ||
	    node_name_resolve_any(v->in->gen, n->name, &d.name))
		return d;
	d.fact = fact_of(v, b, n, d.name.resource);
	for (size_t i = 0; i < N_RULES && !d.rule; i++) {
		const struct rule *r = &rules[i];

		if (rule_fits(v, r, n, &d) && ((!aged && r->age == AGE_SEEN_GRACE) || age_fits(v, r, n, seen)))
			d.rule = r;
	}
	return d;
}

/* One text for all nodes of a resource, so that they get one update. */
static void act_disable(struct view *v, const struct verdict *d, const struct node *n)
{
	const struct pool *p = &v->pool[d->name.resource];
	int64_t minute = p->until_ms / 60000 + (p->until_ms % 60000 > 0);

	view_act(v, ACT_NODE_DOWN, d->rule->code, n->name, NULL, NULL, "(Code:%s)%s until %02d:%02d UTC",
		 p->code ? p->code : CODE_INSUFFICIENT, d->rule->reason, (int)(minute / 60 % 24), (int)(minute % 60));
}

/* DOWN carries why the machine went, if EC2 says; no id: nodes that fall together get one update. */
static void act_down(struct view *v, const struct rule *r, const struct node *n, const char *instance)
{
	const struct instance *i = view_instance(v, instance);
	const char *why = i ? i->state_reason : NULL;

	if ((n->state & NS_BASE) != NS_DOWN)
		view_act(v, ACT_NODE_DOWN, r->code, n->name, instance, NULL, "%s%s%s", r->reason, why ? ": " : "",
			 why ? why : "");
}

static bool ends_machine(const struct view *v, const struct verdict *d, const char *instance)
{
	if (d->fact == FACT_GONE)
		return d->rule->acts & DO_END_UNLISTED && !view_instance(v, instance);
	return d->rule->acts & DO_TERMINATE;
}

static void act_machine(struct view *v, const struct verdict *d, const struct node *n)
{
	const struct rule *r = d->rule;
	const struct binding *b = view_row(v, n->name);
	const char *instance = d->fact & FACT_BOUND ? b->instance : NULL;

	if (r->pools & POOL_CLOSED && r->acts & DO_DOWN)
		act_disable(v, d, n);
	else if (r->acts & DO_DOWN)
		act_down(v, r, n, instance);
	if (!instance)
		return;
	if (ends_machine(v, d, instance))
		view_terminate(v, r->code, n->name, instance, NULL, r->reason);
	if (r->acts & DO_UNBIND)
		view_act(v, ACT_UNBIND, r->code, n->name, instance, NULL, "%s", r->reason);
}

static void act_power(struct view *v, const struct rule *r, const struct node *n)
{
	if (r->acts & DO_POWER_DOWN)
		view_act(v, ACT_NODE_POWER_DOWN, r->code, n->name, NULL, NULL, "%s", r->reason);
	if (r->acts & DO_POWER_UP)
		view_act(v, ACT_NODE_POWER_UP, r->code, n->name, NULL, NULL, "%s", r->reason);
}

/* kvs by key, hashed; the value of the first. */
static int kvs_map(struct map *m, const struct kvs *l)
{
	for (size_t i = 0; l && i < l->key.n; i++)
		if (map_put(m, l->key.v[i], i))
			return -1;
	return 0;
}

static const char *value_of(const struct map *m, const struct kvs *l, const char *key)
{
	size_t i = map_get(m, key);

	return i == NONE ? NULL : l->val.v[i];
}

static bool backs_off(const struct view *v, const struct map *backoff, const char *node)
{
	const char *until = value_of(backoff, v->in->static_backoff, node);
	int64_t ms;

	return until && !num_i64(until, INT64_MIN, INT64_MAX, &ms, NULL) && v->in->now_ms < ms;
}

/* Every DOWN of the plan comes before its first power down: jobs are requeued by DOWN. */
static void judge_nodes(struct view *v, const struct map *seen, const struct map *backoff, const struct rule **found)
{
	const struct nodes *l = v->in->nodes;

	for (size_t i = 0; i < l->n && !v->nomem; i++) {
		struct verdict d = find_rule(v, &l->v[i], value_of(seen, v->in->seen, l->v[i].name), true);

		if (!d.rule || (d.rule->acts & DO_POWER_UP && backs_off(v, backoff, l->v[i].name)))
			continue;
		found[i] = d.rule;
		act_machine(v, &d, &l->v[i]);
	}
	for (size_t i = 0; i < l->n && !v->nomem; i++)
		if (found[i])
			act_power(v, found[i], &l->v[i]);
}

void reconcile_nodes(struct view *v)
{
	struct map seen = { 0 }, backoff = { 0 };
	const struct rule **found;

	if (!v->in->nodes || !v->in->bindings || v->nomem)
		return;
	found = calloc(v->in->nodes->n + 1, sizeof(*found));
	if (!found || kvs_map(&seen, v->in->seen) || kvs_map(&backoff, v->in->static_backoff))
		v->nomem = true;
	else
		judge_nodes(v, &seen, &backoff, found);
	map_clear(&seen);
	map_clear(&backoff);
	free(found);
}

/* --- watching */

static int watch_node(const struct view *v, const struct node *n, const char *old, struct kvs *now)
{
	const struct rule *r = find_rule(v, n, old, false).rule;
	int64_t since = v->in->now_ms;
	char *val;
	int rc;

	if (!r || r->age != AGE_SEEN_GRACE)
		return 0;
	seen_since(old, r, &since);
	val = str_fmt("%s %" PRId64, r->code, since);
	rc = val ? kvs_add(now, n->name, val) : -1;
	free(val);
	return rc;
}

int reconcile_watch(const struct reconcile_input *in, struct kvs *seen, struct err *e)
{
	struct plan scrap = { 0 };
	struct kvs now = { 0 };
	struct map old = { 0 };
	struct view v;
	int rc;

	if (!in->nodes || !in->bindings)
		return 0;
	if (view_create(&v, in, &scrap))
		return err_nomem(e);
	reconcile_launches(&v);
	reconcile_adopt(&v);
	rc = v.nomem ? -1 : kvs_map(&old, seen);
	for (size_t i = 0; !rc && i < in->nodes->n; i++)
		rc = watch_node(&v, &in->nodes->v[i], value_of(&old, seen, in->nodes->v[i].name), &now);
	view_destroy(&v);
	plan_clear(&scrap);
	map_clear(&old);
	if (rc) {
		kvs_clear(&now);
		return err_nomem(e);
	}
	kvs_clear(seen);
	*seen = now;
	return 0;
}
