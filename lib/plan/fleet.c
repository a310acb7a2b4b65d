/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet.c - from what a person asked of the fleet to partitions and nodes. */
#include "lib/plan/fleet.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/cluster/generation.h"
#include "lib/node/map.h"
#include "lib/node/name.h"
#include "lib/node/nodeset.h"
#include "lib/plan/node_rules.h"

#include <stdlib.h>
#include <string.h>

#define CODE_STOP "fleet-stop"
#define CODE_START "fleet-start"
#define OURS "slurm-ec2: "
#define STOPPED_TEXT "the fleet is stopped"

static const char *const status_text[] = { "RUNNING", "STOP_REQUESTED", "STOPPING", "STOPPED", "START_REQUESTED", "STARTING" };

const char *fleet_status_text(enum fleet_status s)
{
	return status_text[s];
}

int fleet_parse(const char *word, struct fleet *out)
{
	const char *end = word ? strchr(word, ' ') : NULL;
	size_t n = end ? (size_t)(end - word) : word ? strlen(word) : 0;

	*out = (struct fleet){ .status = FLEET_RUNNING };
	if (!word)
		return 0;
	for (size_t i = 0; i < sizeof(status_text) / sizeof(status_text[0]); i++) {
		if (strlen(status_text[i]) == n && !strncmp(word, status_text[i], n)) {
			out->status = (enum fleet_status)i;
			out->now = end && str_eq(end + 1, "now");
			return 0;
		}
	}
	return -1;
}

char *fleet_word(enum fleet_status s, bool now)
{
	return str_fmt("%s%s", status_text[s], now ? " now" : "");
}

bool fleet_serves(enum fleet_status s)
{
	return s == FLEET_RUNNING || s == FLEET_START_REQUESTED || s == FLEET_STARTING;
}

bool fleet_refused(const char *reason)
{
	return reason && str_prefix(reason, "(Code:" CODE_FLEET_STOPPED ")");
}

/* --- which partitions we closed */

static int closed_add(struct kvs *out, char *part)
{
	char *eq = strchr(part, '=');

	if (!eq)
		return 0;
	*eq = 0;
	return kvs_add(out, part, eq + 1);
}

int fleet_closed_parse(const char *word, struct kvs *out)
{
	struct strs parts = { 0 };
	int rc = word ? strs_split(&parts, word, ' ') : 0;

	for (size_t i = 0; !rc && i < parts.n; i++)
		rc = closed_add(out, parts.v[i]);
	strs_clear(&parts);
	return rc;
}

char *fleet_closed_text(const struct kvs *closed)
{
	struct buf b = { 0 };

	buf_str(&b, "");
	for (size_t i = 0; i < closed->key.n; i++)
		buf_fmt(&b, "%s%s=%s", i ? " " : "", closed->key.v[i], closed->val.v[i]);
	return buf_take(&b);
}

/* --- partitions */

static bool is_queue(const struct generation *g, const char *name)
{
	for (size_t i = 0; i < g->n_resources; i++)
		if (str_eq(g->resources[i].queue, name))
			return true;
	return false;
}

static const struct partition *find_partition(const struct partitions *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->v[i].name, name))
			return &l->v[i];
	return NULL;
}

static int act_partition(struct plan *out, const char *code, const char *name, const char *word, const char *was,
			 const char *reason)
{
	struct action *a = plan_add(out, ACT_PARTITION, code);

	if (!a)
		return -1;
	a->partition = str_dup(name);
	a->word = str_dup(word);
	a->was = str_dup(was);
	a->reason = str_dup(reason);
	return a->partition && a->reason && (a->word || !word) && (a->was || !was) ? 0 : -1;
}

/* DOWN and INACTIVE start no job; who set them does not want ours. */
static bool starts_jobs(const struct partition *p)
{
	return p->state == PART_UP || p->state == PART_DRAIN;
}

/* *n: how many still start jobs. */
static int close_partitions(const struct fleet_input *in, struct plan *out, size_t *n)
{
	for (size_t i = 0; i < in->partitions->n; i++) {
		const struct partition *p = &in->partitions->v[i];
		bool again = in->closed && kvs_get(in->closed, p->name);

		if (!starts_jobs(p) || !is_queue(in->gen, p->name))
			continue;
		(*n)++;
		if (act_partition(out, CODE_STOP, p->name, partition_state_text(PART_DOWN), partition_state_text(p->state),
				  again ? STOPPED_TEXT ", but somebody opened this partition" : STOPPED_TEXT))
			return -1;
	}
	return 0;
}

/* Only those that we closed, and that are still as we left them. */
static int open_partitions(const struct fleet_input *in, struct plan *out)
{
	for (size_t i = 0; in->closed && i < in->closed->key.n; i++) {
		const char *name = in->closed->key.v[i];
		const struct partition *p = find_partition(in->partitions, name);
		bool ours = p && p->state == PART_DOWN && is_queue(in->gen, name);

		if (act_partition(out, CODE_START, name, ours ? in->closed->val.v[i] : NULL,
				  p ? partition_state_text(p->state) : NULL,
				  ours ? "the fleet is started" : "somebody changed this partition while the fleet was stopped"))
			return -1;
	}
	return 0;
}

/* --- nodes */

enum duty { DUTY_OFF, DUTY_GOING, DUTY_BUSY, DUTY_RESERVED, DUTY_IDLE, DUTY_WAKING, DUTY_END };

static bool has_job(const struct node *n)
{
	return node_state_is(n->state, 1u << NS_ALLOCATED | 1u << NS_MIXED, 0, 0) || n->state & NS_COMPLETING;
}

/* What a stop has to do with a node. */
static enum duty duty_of(const struct fleet_input *in, const struct node *n, const struct binding *row)
{
	uint32_t base = n->state & NS_BASE;

	if (n->state & NS_POWERED_DOWN && !(n->state & NS_POWERING_UP))
		return DUTY_OFF;
	if (n->state & NS_POWERING_DOWN)
		return DUTY_GOING;
	if (base == NS_FUTURE)
		return DUTY_OFF;
	if (base == NS_DOWN && (!row || row->state == BINDING_FREE))
		return DUTY_OFF;
	if (has_job(n))
		return in->fleet.now ? DUTY_END : DUTY_BUSY;
	if (n->state & NS_POWER_DOWN)
		return DUTY_GOING;
	if (n->state & NS_MAINT && !in->fleet.now && !(in->held && nodeset_has(in->held, n->name)))
		return DUTY_RESERVED;
	if (base != NS_IDLE && base != NS_DOWN)
		return DUTY_GOING; /* slurmctld does not know yet */
	return base == NS_IDLE && n->state & NS_POWERING_UP ? DUTY_WAKING : DUTY_IDLE;
}

static char *reason_of(const struct node *n, enum action_kind kind)
{
	return node_reason_replace(kind == ACT_NODE_DOWN ? "(Code:" CODE_FLEET_STOPPED ")The fleet is stopped" : OURS STOPPED_TEXT,
				   n->reason);
}

static int act_node(struct plan *out, enum action_kind kind, const struct node *n, const struct binding *row, const char *word)
{
	struct action *a = plan_add(out, kind, CODE_STOP);

	if (!a)
		return -1;
	a->node = str_dup(n->name);
	a->word = str_dup(word);
	a->generation = row ? row->generation : -1;
	a->reason = reason_of(n, kind);
	return a->node && a->reason && (a->word || !word) ? 0 : -1;
}

struct rows {
	const struct bindings *l;
	struct map of; /* node -> row */
};

static int rows_open(struct rows *r, const struct bindings *l)
{
	*r = (struct rows){ .l = l };
	for (size_t i = 0; i < l->n; i++)
		if (map_put(&r->of, l->v[i].node, i))
			return -1;
	return 0;
}

static const struct binding *row_of(const struct rows *r, const char *node)
{
	size_t i = map_get(&r->of, node);

	return i == SIZE_MAX ? NULL : &r->l->v[i];
}

static void count(struct fleet_rest *rest, enum duty d)
{
	if (d == DUTY_OFF)
		rest->off++;
	else if (d == DUTY_BUSY || d == DUTY_END)
		rest->busy++;
	else if (d == DUTY_RESERVED)
		rest->reserved++;
	else
		rest->going++;
}

/* All DOWNs first: they requeue the jobs. out NULL = only count. */
static int judge_nodes(const struct fleet_input *in, const struct rows *rows, struct plan *out, struct fleet_rest *rest)
{
	static const char *const word[] = { [DUTY_IDLE] = POWER_DOWN_IDLE, [DUTY_WAKING] = NULL, [DUTY_END] = NULL };
	struct node_name name;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < in->nodes->n; i++) {
			const struct node *n = &in->nodes->v[i];
			const struct binding *row = row_of(rows, n->name);
			enum duty d;

			if (node_name_resolve_any(in->gen, n->name, &name))
				continue;
			d = duty_of(in, n, row);
			if (pass == 0)
				count(rest, d);
			if (out && pass == 0 && d == DUTY_END && act_node(out, ACT_NODE_DOWN, n, row, NULL))
				return -1;
			if (out && pass == 1 && d >= DUTY_IDLE && act_node(out, ACT_NODE_POWER_DOWN, n, row, word[d]))
				return -1;
		}
	}
	return 0;
}

/* --- machines */

/* Is there nothing left that could bill, or come? */
static bool is_empty(const struct fleet_input *in)
{
	if (!in->instances || !in->launches || in->launches->n > 0)
		return false;
	for (size_t i = 0; i < in->bindings->n; i++)
		if (in->bindings->v[i].state != BINDING_FREE)
			return false;
	for (size_t i = 0; i < in->instances->n; i++)
		if (instance_alive(in->instances->v[i].state))
			return false;
	return true;
}

/* --- status */

static int move_on(const struct fleet_input *in, enum fleet_status to, const char *reason, struct plan *out)
{
	struct action *a;

	if (to == in->fleet.status)
		return 0;
	a = plan_add(out, ACT_FLEET, fleet_serves(to) ? CODE_START : CODE_STOP);
	if (!a)
		return -1;
	a->was = fleet_word(in->fleet.status, in->fleet.now);
	a->word = fleet_word(to, in->fleet.now);
	a->reason = str_dup(reason);
	return a->was && a->word && a->reason ? 0 : -1;
}

static int stop(const struct fleet_input *in, struct plan *out)
{
	struct fleet_rest rest = { 0 };
	struct rows rows;
	size_t open = 0;
	int rc = close_partitions(in, out, &open);

	if (rc == 0 && in->nodes && in->bindings) {
		rc = rows_open(&rows, in->bindings);
		if (rc == 0)
			rc = judge_nodes(in, &rows, out, &rest);
		map_clear(&rows.of);
		if (rc == 0 && !open && !rest.busy && !rest.reserved && !rest.going && is_empty(in))
			return move_on(in, FLEET_STOPPED, "every node is powered down and no machine is left", out);
	}
	if (rc == 0 && in->fleet.status == FLEET_STOP_REQUESTED)
		rc = move_on(in, FLEET_STOPPING, "partitions are closed, nodes power down as they become free", out);
	return rc;
}

static int start(const struct fleet_input *in, struct plan *out)
{
	size_t before = out->n;

	if (open_partitions(in, out))
		return -1;
	if (in->fleet.status == FLEET_START_REQUESTED)
		return move_on(in, FLEET_STARTING, "partitions are opened", out);
	if (in->fleet.status == FLEET_STARTING && out->n == before)
		return move_on(in, FLEET_RUNNING, "partitions are open", out);
	return 0;
}

int fleet_plan(const struct fleet_input *in, struct plan *out, struct err *e)
{
	int rc;

	if (!in->partitions)
		return 0;
	rc = fleet_serves(in->fleet.status) ? start(in, out) : stop(in, out);
	return rc ? err_nomem(e) : 0;
}

int fleet_rest(const struct fleet_input *in, struct fleet_rest *out, struct err *e)
{
	struct rows rows;
	int rc;

	*out = (struct fleet_rest){ 0 };
	rc = rows_open(&rows, in->bindings);
	if (rc == 0)
		rc = judge_nodes(in, &rows, NULL, out);
	map_clear(&rows.of);
	return rc ? err_nomem(e) : 0;
}
