/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reconcile_nodes.c - for each node the facts, the row of the table that owns them (node_rules.c), and what that row does. One
 * node has one row a loop.
 *
 * A running machine is IMPAIRED or has an EVENT only as far as EC2 says so. That its node is DOWN, or silent, is Slurm's to say.
 */
#include "lib/plan/reconcile_view.h"

#include "lib/base/err.h"
#include "lib/base/num.h"
#include "lib/plan/capacity.h"
#include "lib/plan/node_rules.h"
#include "lib/plan/protect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A node set DOWN is not powered down before this: slurmctld requeues its jobs first. */
#define REQUEUE_MS 20000
#define WATCH_IMPAIRED "impaired" /* of a machine, in seen: EC2 does not tell since when */

/* ---- facts: the machine */

/* The brake: a node that slurmctld hears from has a machine, whatever a list says. A list may be short (new account, removed
 * tag, wrong endpoint), and a short list must not end a cluster's jobs. Only EC2's own word "terminated" is believed then. */
static bool is_heard(const struct node *n)
{
	return node_state_is(n->state, BASE_UP, 0, NS_NO_RESPOND | NS_POWERING_UP | OFF);
}

static const char *seen_text(const struct view *v, const char *key)
{
	size_t i = map_get(&v->seen, key);

	return i == NONE ? NULL : v->watch->val.v[i];
}

/* "code since_ms" of reconcile_watch. */
static bool seen_since(const char *seen, const char *code, int64_t *since)
{
	size_t n = strlen(code);

	return seen && str_prefix(seen, code) && seen[n] == ' ' && !num_i64(seen + n + 1, 0, INT64_MAX, since, NULL);
}

static const struct health *health_of(const struct view *v, const char *instance)
{
	size_t i = map_get(&v->health, instance);

	return i == NONE ? NULL : &v->in->healths->v[i];
}

/* EC2 may not tell since when: then our own clock counts, from the first sight. */
static int64_t impaired_since(const struct view *v, const struct health *h)
{
	int64_t since = v->in->now_ms;

	if (h->impaired_since_ms)
		return h->impaired_since_ms;
	seen_since(seen_text(v, h->instance), WATCH_IMPAIRED, &since);
	return since;
}

static bool event_due(const struct view *v, const struct health *h)
{
	return h->event && (!h->event_ms || h->event_ms - v->in->now_ms <= v->in->event_lead_ms);
}

/* EC2's checks lag: a slurmd that started after they began to fail shows that the machine was only rebooted. */
static bool is_impaired(const struct view *v, const struct health *h, const struct node *n)
{
	int64_t since;

	if (!h->instance_impaired && !h->system_impaired)
		return false;
	since = impaired_since(v, h);
	return n->slurmd_start_s * 1000 <= since && view_older(v, since, v->in->health_grace_ms);
}

static enum machine_fact on_fact(const struct view *v, const struct instance *i, const struct node *n)
{
	const struct health *h = health_of(v, i->id);

	if (h && is_impaired(v, h, n))
		return MACHINE_IMPAIRED;
	if (h && event_due(v, h))
		return MACHINE_EVENT;
	return i->state == INSTANCE_PENDING ? MACHINE_PENDING : MACHINE_RUNNING;
}

static enum machine_fact instance_fact(const struct view *v, const struct instance *i, const struct node *n)
{
	switch (i->state) {
	case INSTANCE_PENDING:
	case INSTANCE_RUNNING:
		return on_fact(v, i, n);
	case INSTANCE_STOPPING:
		return MACHINE_STOPPING;
	case INSTANCE_STOPPED:
		return MACHINE_STOPPED;
	case INSTANCE_SHUTTING_DOWN:
		return MACHINE_SHUTTING;
	case INSTANCE_TERMINATED:
		return MACHINE_TERMINATED;
	case INSTANCE_UNKNOWN:
		break;
	}
	return MACHINE_UNSURE;
}

static enum machine_fact machine_of(const struct view *v, const struct binding *b, const struct node *n, size_t resource)
{
	const struct instance *i;

	if (!b || b->state == BINDING_FREE)
		return MACHINE_NONE;
	if (b->state == BINDING_LAUNCHING)
		return MACHINE_CLAIMED;
	if (!view_machines_read(v, resource))
		return MACHINE_UNSURE;
	i = view_instance(v, b->instance);
	if (i)
		return instance_fact(v, i, n);
	return view_older(v, b->since_ms, v->in->orphan_grace_ms) && !is_heard(n) ? MACHINE_UNLISTED : MACHINE_UNSURE;
}

/* ---- facts: all else */

static bool is_block_held(const struct view *v, const char *node)
{
	return v->in->held && nodeset_has(v->in->held, node);
}

/* Static nodes are those that MinCount keeps up and that can have a machine. */
static enum node_kind kind_of(const struct view *v, const struct node *n, const struct node_name *name)
{
	if (!name->is_static)
		return KIND_DYNAMIC;
	if (name->n > v->in->gen->resources[name->resource].min_count || is_block_held(v, n->name))
		return KIND_SPARE;
	return KIND_STATIC;
}

static bool backs_off(const struct view *v, const char *node)
{
	size_t i = map_get(&v->backoff, node);
	int64_t ms;

	return i != NONE && !num_i64(v->in->static_backoff->val.v[i], INT64_MIN, INT64_MAX, &ms, NULL) && v->in->now_ms < ms;
}

static bool is_protected(const struct view *v, const char *node, size_t resource)
{
	return (v->in->protection && v->in->protection[resource].on) || (v->in->cycling && nodeset_has(v->in->cycling, node));
}

static unsigned resource_when(const struct view *v, const struct node *n, size_t resource)
{
	unsigned w = 0;

	if (view_machines_read(v, resource))
		w |= WHEN_EC2_READ;
	if (v->pool[resource].state == POOL_OPEN)
		w |= WHEN_OPEN;
	if (v->pool[resource].state == POOL_CLOSED)
		w |= WHEN_CLOSED;
	if (is_protected(v, n->name, resource))
		w |= WHEN_PROTECTED;
	return w;
}

static bool is_checked(const struct view *v, const struct binding *b)
{
	const struct health *h = b ? health_of(v, b->instance) : NULL;

	return v->in->healths && (!h || (!h->instance_impaired && !h->system_impaired && !event_due(v, h)));
}

static bool sets_up(const struct view *v, const struct node *n, const struct binding *b)
{
	return b && b->state == BINDING_BOUND && b->since_ms > n->reason_time_s * 1000 &&
	       !view_older(v, b->since_ms, v->in->gen->resume_timeout_s * 1000);
}

static unsigned when_of(const struct view *v, const struct node *n, const struct binding *b, const struct node_name *name)
{
	int64_t reason_ms = n->reason_time_s * 1000;
	unsigned w = resource_when(v, n, name->resource);

	if (fleet_serves(v->in->fleet))
		w |= WHEN_SERVES;
	if (name->is_static && backs_off(v, n->name))
		w |= WHEN_BACKOFF;
	if (v->old_slurm)
		w |= WHEN_OLD_SLURM;
	if (sets_up(v, n, b))
		w |= WHEN_SETTING_UP;
	if (view_older(v, reason_ms, REQUEUE_MS))
		w |= WHEN_REQUEUED;
	if (reason_ms && view_older(v, reason_ms, v->in->orphan_grace_ms))
		w |= WHEN_DOWN_LONG;
	if (is_checked(v, b))
		w |= WHEN_CHECKED;
	if (is_block_held(v, n->name))
		w |= WHEN_BLOCK;
	return w;
}

/* What of the node was seen by which row, and for how long. `code` is the caller's. */
static void fill_seen(const struct view *v, const char *node, char *code, size_t size, struct node_facts *f)
{
	const char *text = seen_text(v, node);
	const char *end = text ? strchr(text, ' ') : NULL;
	int64_t since, grace = v->in->orphan_grace_ms;

	if (!end || (size_t)(end - text) >= size)
		return;
	memcpy(code, text, (size_t)(end - text));
	code[end - text] = '\0';
	if (!seen_since(text, code, &since))
		return;
	f->seen = code;
	f->seen_grace = view_older(v, since, grace);
	f->seen_timeout = view_older(v, since, grace + v->in->gen->resume_timeout_s * 1000);
}

struct verdict {
	const struct node_rule *rule;   /* NULL = none */
	const struct node_never *never; /* set: Slurm shows what it cannot */
	struct node_name name;
	enum machine_fact machine;
	enum node_why why;
};

/* Without `aged` a row that watches counts as soon as all else fits. */
static struct verdict find_rule(const struct view *v, const struct node *n, bool aged)
{
	const struct binding *b = view_row(v, n->name);
	struct node_facts f = { .state = n->state };
	struct verdict d = { .rule = NULL };
	char code[32];

	if ((b && view_too_new(v, b->since_ms)) || nodeset_has(v->judged, n->name) ||
	    node_name_resolve_any(v->in->gen, n->name, &d.name))
		return d;
	d.never = node_never_find(n->state);
	if (d.never)
		return d;
	d.machine = f.machine = machine_of(v, b, n, d.name.resource);
	d.why = f.why = node_why(n->reason);
	f.kind = kind_of(v, n, &d.name);
	f.when = when_of(v, n, b, &d.name);
	fill_seen(v, n->name, code, sizeof(code), &f);
	d.rule = node_rule_find(&f, aged);
	return d;
}

/* ---- words */

/* "2026-12-01 10:00 UTC"; from the days since 1970 by the civil calendar, for this room has no clock. Caller frees. */
static char *date_text(int64_t ms)
{
	int64_t minutes = ms / 60000, days = minutes / 1440 + 719468, era = days / 146097, of_era = days % 146097;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;

	return str_fmt("%04d-%02d-%02d %02d:%02d UTC", (int)(era * 400 + year + (month >= 10)),
		       (int)(month < 10 ? month + 3 : month - 9), (int)(of_year - (153 * month + 2) / 5 + 1),
		       (int)(minutes / 60 % 24), (int)(minutes % 60));
}

/* EC2's word for how the machine went. */
static const char *spot_text(const char *why)
{
	return why && str_prefix(why, "Server.Spot") ? ", EC2 took the spot machine back" : "";
}

static char *gone_reason(const struct node_rule *r, const struct instance *i, const char *old)
{
	const char *why = i ? i->state_reason : NULL;
	char *text = str_fmt("%s%s%s%s", r->says, why ? ": " : "", why ? why : "", spot_text(why));
	char *both = text ? node_reason_replace(text, old) : NULL;

	free(text);
	return both;
}

static char *impaired_reason(const struct view *v, const struct node_rule *r, const struct health *h)
{
	char *date = date_text(impaired_since(v, h));
	char *text = !date ? NULL
			   : str_fmt("%sEC2's %s status check fails since %s", r->says,
				     h->system_impaired ? "system" : "instance", date);

	free(date);
	return text;
}

static char *event_reason(const struct node_rule *r, const struct health *h)
{
	char *date = date_text(h->event_ms);
	char *text = !date ? NULL
			   : str_fmt("%sEC2 announces %s %s%s%s%s", r->says, h->event, h->event_ms ? "at " : "soon",
				     h->event_ms ? date : "", h->event_text ? ": " : "", h->event_text ? h->event_text : "");

	free(date);
	return text;
}

static char *health_reason(const struct view *v, const struct verdict *d, const struct instance *i)
{
	const struct health *h = i ? health_of(v, i->id) : NULL;

	if (!h)
		return NULL;
	return d->machine == MACHINE_IMPAIRED ? impaired_reason(v, d->rule, h) : event_reason(d->rule, h);
}

/* One text for all nodes of a resource, so that they get one update. */
static char *short_reason(const struct view *v, const struct verdict *d)
{
	const struct pool *p = &v->pool[d->name.resource];
	int64_t minute = p->until_ms / 60000 + (p->until_ms % 60000 > 0);

	return str_fmt("(Code:%s)%s until %02d:%02d UTC", p->code ? p->code : CODE_INSUFFICIENT, d->rule->says,
		       (int)(minute / 60 % 24), (int)(minute % 60));
}

/* The same, with what a person can do. */
static char *protected_reason(const struct view *v, const struct verdict *d, const struct node *n)
{
	const struct protection *p = v->in->protection ? &v->in->protection[d->name.resource] : NULL;
	const struct gen_resource *r = &v->in->gen->resources[d->name.resource];

	if (p && p->on)
		return str_fmt("(Code:%s)%s: see slurm-ec2 explain node %s-%s-%s-1, then slurm-ec2 fleet start", CODE_PROTECTED,
			       d->rule->says, r->queue, d->name.is_static ? "st" : "dy", r->name);
	return str_fmt("(Code:%s)%s: see slurm-ec2 explain node %s, then slurm-ec2 fleet start", CODE_PROTECTED, REASON_CYCLING,
		       n->name);
}

/* Nodes that fall together get one update: no id of theirs in it. NULL on no memory. */
static char *reason_of(const struct view *v, const struct verdict *d, const struct node *n, const struct instance *i)
{
	const struct node_rule *r = d->rule;

	if (r->when & WHEN_PROTECTED)
		return protected_reason(v, d, n);
	if (r->when & WHEN_CLOSED)
		return short_reason(v, d);
	if (d->machine & (MACHINE_IMPAIRED | MACHINE_EVENT) && r->says[strlen(r->says) - 1] == ')')
		return health_reason(v, d, i);
	return d->machine & (MACHINE_GONE | MACHINE_HALTED) ? gone_reason(r, i, n->reason) : node_reason_replace(r->says, n->reason);
}

/* ---- what a row does */

/* A machine that came up once, that EC2 took back or that a person ended says nothing against its resource. */
static bool never_served(const struct verdict *d, const struct node *n, const struct instance *i)
{
	const char *why = i ? i->state_reason : NULL;

	if (why && (str_prefix(why, "Server.Spot") || str_prefix(why, "Server.Insufficient") ||
		    str_eq(why, "Client.UserInitiatedShutdown")))
		return false;
	return n->state & (NS_POWERING_UP | NS_INVALID_REG) ||
	       (d->why == WHY_TIMEOUT && node_state_is(n->state, BASE(NS_DOWN), NS_POWERED_DOWN, 0));
}

static void act_count(struct view *v, const struct verdict *d, const struct node *n, const char *instance)
{
	const struct gen_resource *r = &v->in->gen->resources[d->name.resource];
	struct action *a = view_act(v, ACT_BOOT_FAILED, d->rule->code, n->name, instance, NULL, "%s", d->rule->because);

	if (!a)
		return;
	a->resource = str_fmt("%s/%s", r->queue, r->name);
	if (!a->resource)
		v->nomem = true;
}

/* What EC2 lists as over needs no end. */
static bool ends_machine(const struct verdict *d)
{
	return d->rule->acts & DO_TERMINATE && !(d->machine & (MACHINE_SHUTTING | MACHINE_TERMINATED));
}

static void act_state(struct view *v, const struct verdict *d, const struct node *n, const char *instance, const char *reason)
{
	unsigned acts = d->rule->acts;

	if (acts & DO_DOWN && (n->state & NS_BASE) != NS_DOWN)
		view_act(v, ACT_NODE_DOWN, d->rule->code, n->name, instance, NULL, "%s", reason);
	if (acts & DO_DRAIN)
		view_act(v, ACT_NODE_DRAIN, d->rule->code, n->name, instance, NULL, "%s", reason);
	if (acts & DO_RESUME)
		view_act(v, ACT_NODE_RESUME, d->rule->code, n->name, instance, NULL, "%s", d->rule->says);
}

/* A failed boot is counted, and its console saved, before the machine goes; jobs are requeued before, too. */
static void act_machine(struct view *v, const struct verdict *d, const struct node *n)
{
	const struct node_rule *r = d->rule;
	const struct binding *b = view_row(v, n->name);
	const char *instance = d->machine & MACHINE_BOUND ? b->instance : NULL;
	const struct instance *i = view_instance(v, instance);
	char *reason = r->acts ? reason_of(v, d, n, i) : NULL;

	if (r->acts && !reason)
		v->nomem = true;
	if (!reason)
		return;
	if (instance && r->acts & DO_COUNT && never_served(d, n, i))
		act_count(v, d, n, instance);
	act_state(v, d, n, instance, reason);
	if (instance && ends_machine(d))
		view_terminate(v, r->code, n->name, instance, NULL, r->says);
	if (instance && r->acts & DO_UNBIND)
		view_act(v, ACT_UNBIND, r->code, n->name, instance, NULL, "%s", r->says);
	free(reason);
}

static void act_power(struct view *v, const struct verdict *d, const struct node *n)
{
	char *reason;

	if (!(d->rule->acts & (DO_POWER_DOWN | DO_POWER_UP)))
		return;
	reason = node_reason_replace(d->rule->says, n->reason);
	if (!reason)
		v->nomem = true;
	else if (d->rule->acts & DO_POWER_DOWN)
		view_act(v, ACT_NODE_POWER_DOWN, d->rule->code, n->name, NULL, NULL, "%s", reason);
	else
		view_act(v, ACT_NODE_POWER_UP, d->rule->code, n->name, NULL, NULL, "%s", d->rule->says);
	free(reason);
}

static void note_never(struct view *v, const struct node *n, const struct node_never *never)
{
	char *state = node_state_text(n->state);

	if (!state)
		v->nomem = true;
	else
		view_act(v, ACT_NOTE, "impossible-state", n->name, NULL, NULL, "slurmctld shows it as %s, but %s; it is left alone",
			 state, never->because);
	free(state);
}

/* Every DOWN of the plan comes before its first power down: jobs are requeued by DOWN. */
static void judge_nodes(struct view *v, struct verdict *found)
{
	const struct nodes *l = v->in->nodes;

	for (size_t i = 0; i < l->n && !v->nomem; i++) {
		found[i] = find_rule(v, &l->v[i], true);
		if (found[i].never)
			note_never(v, &l->v[i], found[i].never);
		if (found[i].rule)
			act_machine(v, &found[i], &l->v[i]);
	}
	for (size_t i = 0; i < l->n && !v->nomem; i++)
		if (found[i].rule)
			act_power(v, &found[i], &l->v[i]);
}

void reconcile_nodes(struct view *v)
{
	struct verdict *found;

	if (!v->in->nodes || !v->in->bindings || v->nomem)
		return;
	found = calloc(v->in->nodes->n + 1, sizeof(*found));
	if (found)
		judge_nodes(v, found);
	else
		v->nomem = true;
	free(found);
}

/* ---- watching */

static int watch_add(struct kvs *now, const char *key, const char *code, int64_t since)
{
	char *val = str_fmt("%s %" PRId64, code, since);
	int rc = val ? kvs_add(now, key, val) : -1;

	free(val);
	return rc;
}

static int watch_node(const struct view *v, const struct node *n, struct kvs *now)
{
	const struct node_rule *r;
	int64_t since = v->in->now_ms;

	if (!node_rule_watches(n->state))
		return 0;
	r = find_rule(v, n, false).rule;
	if (!r || r->watch == WATCH_NOT)
		return 0;
	seen_since(seen_text(v, n->name), r->code, &since);
	return watch_add(now, n->name, r->code, since);
}

/* Machines of which EC2 does not tell since when. While their health is not read their time goes on. */
static int watch_machines(const struct view *v, struct kvs *now)
{
	const struct healths *l = v->in->healths;

	for (size_t i = 0; l && i < l->n; i++)
		if ((l->v[i].instance_impaired || l->v[i].system_impaired) && !l->v[i].impaired_since_ms &&
		    watch_add(now, l->v[i].instance, WATCH_IMPAIRED, impaired_since(v, &l->v[i])))
			return -1;
	for (size_t i = 0; !l && i < v->watch->key.n; i++)
		if (str_prefix(v->watch->val.v[i], WATCH_IMPAIRED " ") &&
		    kvs_add(now, v->watch->key.v[i], v->watch->val.v[i]))
			return -1;
	return 0;
}

int reconcile_watch(const struct reconcile_input *in, struct kvs *seen, struct err *e)
{
	struct plan scrap = { 0 };
	struct kvs now = { 0 };
	struct view v;
	int rc;

	if (!in->nodes || !in->bindings)
		return 0;
	if (view_create(&v, in, seen, &scrap))
		return err_nomem(e);
	reconcile_launches(&v);
	reconcile_adopt(&v);
	rc = v.nomem ? -1 : 0;
	for (size_t i = 0; !rc && i < in->nodes->n; i++)
		rc = watch_node(&v, &in->nodes->v[i], &now);
	if (!rc)
		rc = watch_machines(&v, &now);
	view_destroy(&v);
	plan_clear(&scrap);
	if (rc) {
		kvs_clear(&now);
		return err_nomem(e);
	}
	kvs_clear(seen);
	*seen = now;
	return 0;
}
