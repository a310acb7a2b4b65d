/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_plan_reconcile.c - each rule of clustermgtd's loop: a row that shows it acts, and rows where one thing less or more
 * stops it.
 *
 * A case is one node, its row, one machine, one launch; what it leaves out is absent. Larger worlds have a function of
 * their own below.
 */
#include "tests/unit/cmocka_all.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/node/extra.h"
#include "lib/node/nodeset.h"
#include "lib/plan/reconcile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define UUID "uuid-1"
#define NOW INT64_C(1000000000)      /* ms */
#define OBSERVED (NOW - 500)
#define GRACE_S 120
#define RESUME_TIMEOUT_S 600

#define NO_SLURM 1u
#define NO_EC2 2u
#define NO_ROWS 4u
#define NO_LAUNCHES 8u
#define NO_MEMORY 16u
#define NO_CLOUD 32u /* the second cloud, where resource c's machines are */

struct world {
	struct generation *gen;
	struct nodes nodes;
	struct instances instances;
	struct bindings rows;
	struct launches launches;
	struct strs dead;
	struct kvs backoff;
	struct kvs seen;
	struct shortages shortages;
	struct nodeset *held;
	bool cloud_unread[2];
	unsigned unread;
	struct reconcile_input in;
};

static void add_resource(struct world *w, const char *name, int64_t cloud)
{
	struct gen_resource *r = generation_add_resource(w->gen);
	struct gen_stage *st;

	r->queue = str_dup("q");
	r->name = str_dup(name);
	r->min_count = 2;
	r->max_count = 20000;
	r->cloud = cloud;
	st = gen_resource_add_stage(r);
	assert_non_null(st);
	assert_int_equal(strs_addf(&r->instance_types, "%s.large", name), 0);
	assert_int_equal(strs_addf(&st->instance_types, "%s.large", name), 0);
	assert_int_equal(strs_add(&st->subnet_ids, "subnet-1"), 0);
	assert_int_equal(strs_add(&st->zones, "z"), 0);
}

static void world_create(struct world *w)
{
	static const char *const names[] = { "a", "b", "c" };

	*w = (struct world){ .gen = calloc(1, sizeof(*w->gen)) };
	assert_non_null(w->gen);
	w->gen->uuid = str_dup(UUID);
	w->gen->resume_timeout_s = RESUME_TIMEOUT_S;
	assert_non_null(generation_add_cloud(w->gen));
	for (size_t i = 0; i < 3; i++)
		add_resource(w, names[i], i == 2);
	assert_int_equal(generation_index(w->gen), 0);
}

static void world_destroy(struct world *w)
{
	generation_destroy(w->gen);
	nodes_clear(&w->nodes);
	instances_clear(&w->instances);
	bindings_clear(&w->rows);
	launches_clear(&w->launches);
	strs_clear(&w->dead);
	kvs_clear(&w->backoff);
	kvs_clear(&w->seen);
	shortages_clear(&w->shortages);
	nodeset_destroy(w->held);
}

static const struct reconcile_input *input(struct world *w)
{
	w->cloud_unread[1] = w->unread & NO_CLOUD;
	w->in = (struct reconcile_input){
		.gen = w->gen,
		.nodes = w->unread & NO_SLURM ? NULL : &w->nodes,
		.instances = w->unread & NO_EC2 ? NULL : &w->instances,
		.bindings = w->unread & NO_ROWS ? NULL : &w->rows,
		.launches = w->unread & NO_LAUNCHES ? NULL : &w->launches,
		.cloud_unread = w->cloud_unread,
		.shortages = w->unread & NO_MEMORY ? NULL : &w->shortages,
		.held = w->held,
		.dead_pids = &w->dead,
		.now_ms = NOW,
		.orphan_grace_ms = GRACE_S * 1000,
		.observed_ms = OBSERVED,
		.static_backoff = &w->backoff,
		.seen = &w->seen,
	};
	return &w->in;
}

static struct node *add_node(struct world *w, const char *name, uint32_t state, const char *addr, const char *launch)
{
	struct node *n = nodes_add(&w->nodes);

	assert_non_null(n);
	n->name = str_dup(name);
	n->state = state | NS_CLOUD;
	n->addr = str_dup(addr ? addr : NODE_ADDR_PLACEHOLDER);
	n->extra = launch ? extra_format(launch) : NULL;
	return n;
}

static void add_row(struct world *w, const char *name, enum binding_state state, const char *launch, const char *instance,
		    int age_s)
{
	struct binding *b = bindings_add(&w->rows);

	assert_non_null(b);
	b->node = str_dup(name);
	b->generation = 41 + (int64_t)w->rows.n;
	b->state = state;
	b->launch = str_dup(launch);
	b->instance = str_dup(instance);
	b->since_ms = NOW - age_s * 1000;
}

static struct instance *add_instance(struct world *w, const char *id, enum instance_state state, const char *ip,
				     const char *launch, int age_s)
{
	struct instance *i = instances_add(&w->instances);

	assert_non_null(i);
	i->id = str_dup(id);
	i->state = state;
	i->private_ip = str_dup(ip);
	i->launch = str_dup(launch);
	i->cluster = str_dup(UUID);
	i->queue = str_dup("q");
	i->resource = str_dup("a");
	i->launch_time_ms = NOW - age_s * 1000;
	return i;
}

static struct launch *add_launch(struct world *w, const char *id, enum launch_state state, int age_s, bool dead,
				 const char *node)
{
	struct launch *l = launches_add(&w->launches);

	assert_non_null(l);
	l->id = str_dup(id);
	l->state = state;
	l->created_ms = NOW - age_s * 1000;
	l->queue = str_dup("q");
	l->resource = str_dup(node && str_prefix(node, "q-dy-c-") ? "c" : "a");
	if (node)
		assert_int_equal(strs_add(&l->nodes, node), 0);
	if (dead)
		assert_int_equal(strs_add(&w->dead, id), 0);
	return l;
}

/* until: relative to now */
static void add_shortage(struct world *w, const char *type, const char *code, int64_t until_ms)
{
	struct shortage *f = shortages_add(&w->shortages, type, "z", MARKET_ONDEMAND);

	assert_non_null(f);
	f->code = str_dup(code);
	f->failures = 1;
	f->failed_ms = NOW - RECONCILE_REQUEUE_MS;
	f->until_ms = NOW + until_ms;
}

/* "kind:code" of each action, in order. */
static char *plan_words(struct world *w)
{
	struct plan p = { 0 };
	struct buf b = { 0 };
	struct err e = { "" };

	if (reconcile_plan(input(w), &p, &e))
		fail_msg("%s", e.text);
	for (size_t i = 0; i < p.n; i++)
		buf_fmt(&b, "%s%s:%s", i ? " " : "", action_kind_text(p.v[i].kind), p.v[i].code);
	plan_clear(&p);
	return buf_take(&b);
}

/* --- one node, one row, one machine, one launch */

struct one {
	const char *why;
	const char *node;         /* NULL = q-dy-a-1; "" = none */
	uint32_t state;
	const char *addr;         /* NULL = the placeholder */
	const char *extra;        /* launch id */
	const char *reason;
	int reason_age_s;
	char row;                 /* L, B, F, 0 = none */
	const char *row_launch;   /* NULL = L1 */
	const char *row_instance; /* NULL = i-1 */
	int row_age_s;            /* 0 = 1000 */
	enum instance_state machine; /* 0 = none; i-1 of L1 */
	const char *ip;           /* NULL = 10.0.0.1, "" = not told */
	const char *cluster;
	const char *resource;
	const char *state_reason;
	int machine_age_s;        /* 0 = 1000 */
	int launch;               /* 0 = none, else 1 + enum launch_state; L1 of the node */
	int launch_age_s;         /* 0 = 300 */
	bool alive;               /* its worker lives */
	unsigned unread;
	const char *seen;
	int64_t backoff_ms;       /* relative to now */
	int64_t short_ms;         /* a.large is short until then, relative to now; 0 = it is not */
	bool held;                /* its capacity block is not active */
	const char *want;
};

#define ALIVE INSTANCE_RUNNING
#define IDLE NS_IDLE
#define RUN NS_ALLOCATED
#define INTENT (1 + LAUNCH_INTENT)
#define ANSWERED (1 + LAUNCH_ANSWERED)
#define GONE "down:machine-gone unbind:machine-gone power-down:machine-gone"
#define UNLISTED "down:machine-gone terminate:machine-gone unbind:machine-gone power-down:machine-gone"
#define OFF (NS_IDLE | NS_POWERED_DOWN)
#define SHORT 60000
#define STOPPED "down:machine-stopped terminate:machine-stopped unbind:machine-stopped power-down:machine-stopped"
#define BOOT_UNLISTED "boot-failed:machine-gone " UNLISTED
#define NEVER "note:impossible-state"
#define DISABLED "(Code:X)Temporarily disabling node due to insufficient capacity until 10:00 UTC"
#define FAILED "(Code:X)Failure when resuming nodes"

static const struct one ones[] = {
	/* calm */
	{ .why = "idle node", .state = IDLE | NS_POWERED_DOWN, .want = "" },
	{ .why = "running node", .state = RUN, .addr = "10.0.0.1", .extra = "L1", .row = 'B', .machine = ALIVE, .want = "" },
	{ .why = "asked to power down, a job may run", .state = NS_MIXED | NS_DRAIN | NS_POWER_DOWN, .addr = "10.0.0.1",
	  .extra = "L1", .row = 'B',
	  .machine = ALIVE, .want = "" },
	{ .why = "being launched", .state = RUN | NS_POWERING_UP, .row = 'L', .launch = ANSWERED, .alive = true,
	  .machine = ALIVE, .want = "" },
	{ .why = "a node of the site", .node = "head01", .state = NS_DOWN, .want = "" },

	/* machine-gone */
	{ .why = "terminated under a job", .state = RUN, .addr = "10.0.0.1", .row = 'B', .machine = INSTANCE_TERMINATED,
	  .want = GONE },
	{ .why = "shutting down", .state = IDLE, .addr = "10.0.0.1", .row = 'B', .machine = INSTANCE_SHUTTING_DOWN,
	  .want = GONE },
	{ .why = "not listed, silent", .state = RUN | NS_NO_RESPOND, .row = 'B', .want = UNLISTED },
	{ .why = "not listed, but slurmctld hears from it", .state = RUN, .row = 'B', .want = "" },
	{ .why = "the same, idle", .state = IDLE, .row = 'B', .want = "" },
	{ .why = "gone while powering up", .state = RUN | NS_POWERING_UP, .row = 'B', .want = BOOT_UNLISTED },
	{ .why = "gone after POWER_DOWN was asked", .state = NS_MIXED | NS_POWER_DOWN | NS_NO_RESPOND, .row = 'B',
	  .want = UNLISTED },
	{ .why = "POWER_DOWN was asked, not listed, a job runs", .state = NS_MIXED | NS_POWER_DOWN, .row = 'B', .want = "" },
	{ .why = "a flag nobody knows", .state = RUN | 1u << 30 | NS_NO_RESPOND, .row = 'B', .want = UNLISTED },
	{ .why = "not listed, but the row is young", .state = RUN | NS_NO_RESPOND, .row = 'B', .row_age_s = GRACE_S - 1,
	  .want = "" },
	{ .why = "not listed, row exactly as old as the grace", .state = RUN | NS_NO_RESPOND, .row = 'B', .row_age_s = GRACE_S,
	  .want = UNLISTED },
	{ .why = "EC2 not read", .state = RUN | NS_NO_RESPOND, .row = 'B', .unread = NO_EC2, .want = "" },
	{ .why = "slurmctld not read", .state = RUN | NS_NO_RESPOND, .row = 'B', .unread = NO_SLURM, .want = "" },
	{ .why = "rows not read", .state = RUN | NS_NO_RESPOND, .row = 'B', .unread = NO_ROWS, .want = "" },
	{ .why = "row changed after the reads began", .state = RUN, .row = 'B', .row_age_s = -1,
	  .machine = INSTANCE_TERMINATED, .want = "" },
	{ .why = "a state EC2 has no word for", .state = RUN, .row = 'B', .machine = 99, .want = "" },
	{ .why = "stopped runs no job", .state = RUN, .row = 'B', .machine = INSTANCE_STOPPED, .want = STOPPED },
	{ .why = "already down by itself", .state = NS_DOWN | NS_NO_RESPOND, .reason = "Not responding", .row = 'B',
	  .want = "terminate:machine-gone unbind:machine-gone power-down:machine-gone" },
	{ .why = "drained by hand: jobs requeue, the drain stays", .state = NS_MIXED | NS_DRAIN | NS_NO_RESPOND,
	  .reason = "fan", .row = 'B', .want = "down:machine-gone-held terminate:machine-gone-held unbind:machine-gone-held" },
	{ .why = "down by hand", .state = NS_DOWN, .reason = "fan", .row = 'B',
	  .want = "terminate:machine-gone-held unbind:machine-gone-held" },

	/* powering-down, powered-down */
	{ .why = "suspend program did nothing", .state = IDLE | NS_POWERING_DOWN, .row = 'B', .machine = ALIVE,
	  .want = "terminate:powering-down unbind:powering-down" },
	{ .why = "its machine is gone already", .state = IDLE | NS_POWERING_DOWN, .row = 'B', .machine = INSTANCE_TERMINATED,
	  .want = "unbind:powering-down" },
	{ .why = "its machine is not listed, by a tag taken away: nobody else knows its id", .state = IDLE | NS_POWERING_DOWN,
	  .row = 'B', .want = "terminate:powering-down unbind:powering-down" },
	{ .why = "powering down, EC2 not read: ending by id is safe", .state = IDLE | NS_POWERING_DOWN, .row = 'B',
	  .unread = NO_EC2,
	  .want = "terminate:powering-down unbind:powering-down" },
	{ .why = "powering down, no row", .state = IDLE | NS_POWERING_DOWN, .row = 'F', .want = "" },
	{ .why = "powering down, slurmctld not read", .state = IDLE | NS_POWERING_DOWN, .row = 'B', .machine = ALIVE,
	  .unread = NO_SLURM,
	  .want = "" },
	{ .why = "left over", .state = IDLE | NS_POWERED_DOWN, .row = 'B', .machine = ALIVE,
	  .want = "terminate:powered-down unbind:powered-down" },
	{ .why = "left over of an administrator's node", .state = NS_DOWN | NS_POWERED_DOWN, .reason = "fan", .row = 'B',
	  .machine = ALIVE,
	  .want = "terminate:powered-down unbind:powered-down" },
	{ .why = "powering up again", .state = RUN | NS_POWERED_DOWN | NS_POWERING_UP, .row = 'B', .machine = ALIVE,
	  .want = "" },
	{ .why = "bound after the reads began", .state = IDLE | NS_POWERED_DOWN, .row = 'B', .row_age_s = -1,
	  .machine = ALIVE, .want = "" },

	/* resume-timeout */
	{ .why = "ResumeTimeout, machine late", .state = NS_DOWN | NS_POWERED_DOWN | NS_NO_RESPOND,
	  .reason = "ResumeTimeout reached",
	  .reason_age_s = 60, .row = 'B', .machine = INSTANCE_PENDING,
	  .want = "boot-failed:resume-timeout terminate:resume-timeout unbind:resume-timeout power-down:resume-timeout" },
	{ .why = "ResumeTimeout, no machine", .state = NS_DOWN | NS_POWERED_DOWN, .reason = "ResumeTimeout reached",
	  .reason_age_s = 60,
	  .want = "power-down:resume-timeout" },
	{ .why = "our own words", .state = NS_DOWN | NS_POWERED_DOWN, .reason = "slurm-ec2: back to idle after a failed boot",
	  .reason_age_s = 60, .want = "power-down:resume-timeout" },
	{ .why = "POWER_DOWN and POWERED_DOWN together", .state = NS_DOWN | NS_POWERED_DOWN | NS_POWER_DOWN | NS_NO_RESPOND,
	  .reason = "Not responding", .reason_age_s = 60, .want = "power-down:resume-timeout" },
	{ .why = "ResumeTimeout just now: jobs first", .state = NS_DOWN | NS_POWERED_DOWN, .reason = "ResumeTimeout reached",
	  .reason_age_s = 5,
	  .want = "" },
	{ .why = "an administrator's DOWN", .state = NS_DOWN | NS_POWERED_DOWN, .reason = "fan", .reason_age_s = 60,
	  .want = "" },
	{ .why = "an administrator's DRAIN", .state = NS_DOWN | NS_POWERED_DOWN | NS_DRAIN, .reason = "ResumeTimeout reached",
	  .reason_age_s = 60, .want = "" },
	{ .why = "it is on its way", .state = NS_DOWN | NS_POWERED_DOWN | NS_POWERING_DOWN, .reason = "ResumeTimeout reached",
	  .reason_age_s = 60, .want = NEVER },
	{ .why = "idle is not down", .state = IDLE | NS_POWERED_DOWN, .reason = "ResumeTimeout reached", .reason_age_s = 60,
	  .want = "" },

	/* launch-failed, boot-failed, node-down */
	{ .why = "failed launch", .state = NS_DOWN | NS_POWERING_UP,
	  .reason = "(Code:InsufficientInstanceCapacity)Failure when resuming nodes",
	  .reason_age_s = 20, .row = 'F', .want = "power-down:launch-failed" },
	{ .why = "failed launch, jobs first", .state = NS_DOWN | NS_POWERING_UP, .reason = "(Code:X)Failure",
	  .reason_age_s = 19, .row = 'F',
	  .want = "" },
	{ .why = "failed launch with a machine", .state = NS_DOWN, .reason = "(Code:X)Failure", .reason_age_s = 60,
	  .row = 'B', .machine = ALIVE,
	  .want = "terminate:launch-failed unbind:launch-failed power-down:launch-failed" },
	{ .why = "failed launch, EC2 not read", .state = NS_DOWN, .reason = "(Code:X)Failure", .reason_age_s = 60,
	  .unread = NO_EC2,
	  .want = "power-down:launch-failed" },
	{ .why = "power down asked already", .state = NS_DOWN | NS_POWER_DOWN, .reason = "(Code:X)Failure",
	  .reason_age_s = 60, .want = "" },
	{ .why = "drained too", .state = NS_DOWN | NS_DRAIN, .reason = "(Code:X)Failure", .reason_age_s = 60, .want = "" },
	{ .why = "not our reason", .state = NS_DOWN, .reason = "Code:X", .reason_age_s = 999, .want = "" },
	{ .why = "someone launches for it", .state = NS_DOWN, .reason = "(Code:X)Failure", .reason_age_s = 60, .row = 'L',
	  .launch = INTENT,
	  .alive = true, .want = "" },
	{ .why = "died while booting", .state = NS_DOWN | NS_POWERING_UP, .reason = "Not responding", .reason_age_s = 30,
	  .row = 'B',
	  .machine = ALIVE, .want = "boot-failed:boot-failed terminate:boot-failed unbind:boot-failed power-down:boot-failed" },
	{ .why = "set down by hand while booting", .state = NS_DOWN | NS_POWERING_UP, .reason = "fan", .reason_age_s = 30,
	  .row = 'B',
	  .machine = ALIVE, .addr = "10.0.0.1", .extra = "L1", .want = "" },
	{ .why = "slurmd does not come back", .state = NS_DOWN | NS_NO_RESPOND, .reason = "Not responding",
	  .reason_age_s = GRACE_S, .row = 'B',
	  .machine = ALIVE, .want = "terminate:node-down unbind:node-down power-down:node-down" },
	{ .why = "slurmd may come back", .state = NS_DOWN | NS_NO_RESPOND, .reason = "Not responding",
	  .reason_age_s = GRACE_S - 1, .row = 'B',
	  .machine = ALIVE, .want = "" },
	{ .why = "rebooting", .state = NS_DOWN | NS_REBOOT_ISSUED, .reason = "Not responding", .reason_age_s = 999,
	  .row = 'B', .machine = ALIVE,
	  .want = "" },
	{ .why = "epilog runs", .state = NS_DOWN | NS_COMPLETING, .reason = "Not responding", .reason_age_s = 999, .row = 'B',
	  .machine = ALIVE,
	  .want = "" },
	{ .why = "down, EC2 not read", .state = NS_DOWN, .reason = "Not responding", .reason_age_s = 999, .unread = NO_EC2,
	  .want = "" },
	{ .why = "down without a time", .state = NS_DOWN, .row = 'B', .machine = ALIVE, .want = "" },

	/* no-machine, stuck-idle: states that must be seen for a while */
	{ .why = "nobody launched for it", .state = RUN | NS_POWERING_UP, .seen = "no-machine 999880000",
	  .want = "down:no-machine" },
	{ .why = "seen for less", .state = RUN | NS_POWERING_UP, .seen = "no-machine 999880001", .want = "" },
	{ .why = "not seen yet", .state = RUN | NS_POWERING_UP, .want = "" },
	{ .why = "seen by another rule", .state = RUN | NS_POWERING_UP, .seen = "stuck-idle 1", .want = "" },
	{ .why = "seen, but claimed now", .state = RUN | NS_POWERING_UP, .seen = "no-machine 1", .row = 'L', .launch = INTENT,
	  .alive = true,
	  .want = "" },
	{ .why = "seen, EC2 not read", .state = RUN | NS_POWERING_UP, .seen = "no-machine 1", .unread = NO_EC2, .want = "" },
	{ .why = "seen, but powering down", .state = IDLE | NS_POWERING_UP | NS_POWERING_DOWN, .seen = "no-machine 1",
	  .want = NEVER },
	{ .why = "up without a machine of ours is not ours to judge", .state = RUN, .seen = "no-machine 1", .want = "" },
	{ .why = "idle and not responding", .state = IDLE | NS_POWERED_DOWN | NS_NO_RESPOND, .seen = "stuck-idle 1",
	  .want = "power-down:stuck-idle" },
	{ .why = "idle, not responding, drained", .state = IDLE | NS_POWERED_DOWN | NS_NO_RESPOND | NS_DRAIN,
	  .seen = "stuck-idle 1", .want = "" },
	{ .why = "idle and responding", .state = IDLE | NS_POWERED_DOWN, .seen = "stuck-idle 1", .want = "" },

	/* static-down */
	{ .why = "static node off", .node = "q-st-a-1", .state = IDLE | NS_POWERED_DOWN, .want = "power-up:static-down" },
	{ .why = "with reserved and planned flags", .node = "q-st-a-2", .state = IDLE | NS_POWERED_DOWN | NS_RES | NS_PLANNED,
	  .want = "power-up:static-down" },
	{ .why = "static beyond MinCount", .node = "q-st-a-3", .state = IDLE | NS_POWERED_DOWN, .want = "" },
	{ .why = "static, backing off", .node = "q-st-a-1", .state = IDLE | NS_POWERED_DOWN, .backoff_ms = 1, .want = "" },
	{ .why = "static, back-off over", .node = "q-st-a-1", .state = IDLE | NS_POWERED_DOWN, .backoff_ms = -1,
	  .want = "power-up:static-down" },
	{ .why = "static, asked already", .node = "q-st-a-1", .state = IDLE | NS_POWERED_DOWN | NS_POWER_UP, .want = "" },
	{ .why = "static, powering up", .node = "q-st-a-1", .state = IDLE | NS_POWERED_DOWN | NS_POWERING_UP, .want = "" },
	{ .why = "static, powering down", .node = "q-st-a-1", .state = IDLE | NS_POWERED_DOWN | NS_POWERING_DOWN, .want = NEVER },
	{ .why = "static, drained", .node = "q-st-a-1", .state = IDLE | NS_POWERED_DOWN | NS_DRAIN, .want = "" },
	{ .why = "static, down by hand", .node = "q-st-a-1", .state = NS_DOWN | NS_POWERED_DOWN, .reason = "fan", .want = "" },
	{ .why = "static, its old machine first", .node = "q-st-a-1", .state = IDLE | NS_POWERED_DOWN, .row = 'B',
	  .machine = ALIVE,
	  .want = "terminate:powered-down unbind:powered-down" },

	{ .why = "static, its capacity block is not active", .node = "q-st-a-1", .state = OFF, .held = true, .want = "" },

	/* capacity-closed */
	{ .why = "its pools are short", .state = OFF, .short_ms = SHORT, .want = "down:capacity-closed" },
	{ .why = "short, planned by the scheduler", .state = OFF | NS_PLANNED, .short_ms = SHORT,
	  .want = "down:capacity-closed" },
	{ .why = "short, had a machine before", .state = OFF, .row = 'F', .short_ms = SHORT, .want = "down:capacity-closed" },
	{ .why = "short, EC2 not read", .state = OFF, .short_ms = SHORT, .unread = NO_EC2, .want = "down:capacity-closed" },
	{ .why = "short, memory not read", .state = OFF, .short_ms = SHORT, .unread = NO_MEMORY, .want = "" },
	{ .why = "not short any more", .state = OFF, .short_ms = -1, .want = "" },
	{ .why = "another resource is short", .node = "q-dy-b-1", .state = OFF, .short_ms = SHORT, .want = "" },
	{ .why = "short, static", .node = "q-st-a-1", .state = OFF, .short_ms = SHORT, .want = "power-up:static-down" },
	{ .why = "short, static beyond MinCount", .node = "q-st-a-3", .state = OFF, .short_ms = SHORT, .want = "" },
	{ .why = "short, running", .state = RUN, .addr = "10.0.0.1", .extra = "L1", .row = 'B', .machine = ALIVE,
	  .short_ms = SHORT, .want = "" },
	{ .why = "short, idle with its machine", .state = IDLE, .addr = "10.0.0.1", .extra = "L1", .row = 'B', .machine = ALIVE,
	  .short_ms = SHORT, .want = "" },
	{ .why = "short, powering up", .state = RUN | NS_POWERING_UP, .row = 'L', .launch = INTENT, .alive = true,
	  .short_ms = SHORT, .want = "" },
	{ .why = "short, power up asked", .state = OFF | NS_POWER_UP, .short_ms = SHORT, .want = "" },
	{ .why = "short, a launch has claimed it", .state = OFF, .row = 'L', .launch = INTENT, .alive = true, .short_ms = SHORT,
	  .want = "" },
	{ .why = "short, powering down", .state = OFF | NS_POWERING_DOWN, .short_ms = SHORT, .want = NEVER },
	{ .why = "short, drained by hand", .state = OFF | NS_DRAIN, .short_ms = SHORT, .want = "" },
	{ .why = "short, somebody reserved it", .state = OFF | NS_RES, .short_ms = SHORT, .want = "" },
	{ .why = "short, in maintenance", .state = OFF | NS_MAINT, .short_ms = SHORT, .want = "" },
	{ .why = "short, a node of the site", .node = "head01", .state = OFF, .short_ms = SHORT, .want = "" },
	{ .why = "short, row changed after the reads began", .state = OFF, .row = 'F', .row_age_s = -1, .short_ms = SHORT,
	  .want = "" },

	/* capacity-closed-still, capacity-open */
	{ .why = "disabled, still short", .state = NS_DOWN | NS_POWERED_DOWN, .reason = DISABLED, .reason_age_s = 600,
	  .short_ms = SHORT, .want = "" },
	{ .why = "disabled, memory not read", .state = NS_DOWN | NS_POWERED_DOWN, .reason = DISABLED, .reason_age_s = 600,
	  .unread = NO_MEMORY, .want = "" },
	{ .why = "disabled, may be asked again", .state = NS_DOWN | NS_POWERED_DOWN, .reason = DISABLED, .reason_age_s = 1,
	  .short_ms = -1, .want = "power-down:capacity-open" },
	{ .why = "disabled, memory lost", .state = NS_DOWN | NS_POWERED_DOWN, .reason = DISABLED, .reason_age_s = 600,
	  .want = "power-down:capacity-open" },
	{ .why = "disabled by another code", .state = NS_DOWN | NS_POWERED_DOWN, .reason_age_s = 600,
	  .reason = "(Code:Y)Temporarily disabling node due to insufficient capacity", .want = "power-down:capacity-open" },
	{ .why = "disabled and drained by hand", .state = NS_DOWN | NS_POWERED_DOWN | NS_DRAIN, .reason = DISABLED,
	  .reason_age_s = 600, .want = "" },
	{ .why = "a person's DOWN", .state = NS_DOWN | NS_POWERED_DOWN, .reason_age_s = 600,
	  .reason = "Temporarily disabling node due to insufficient capacity", .want = "" },
	{ .why = "disabled, on its way", .state = NS_DOWN | NS_POWERED_DOWN | NS_POWERING_DOWN, .reason = DISABLED,
	  .reason_age_s = 1, .want = NEVER },
	{ .why = "on its way, and still DOWN", .state = NS_DOWN | NS_POWERED_DOWN, .reason_age_s = 60,
	  .reason = "Enabling node since insufficient capacity timeout expired", .want = "power-down:resume-timeout" },

	/* launch-failed-still */
	{ .why = "failed launch, still short", .state = NS_DOWN | NS_POWERING_UP, .reason = FAILED, .reason_age_s = 600,
	  .row = 'F', .short_ms = SHORT, .want = "" },
	{ .why = "the same after ResumeTimeout", .state = NS_DOWN | NS_POWERED_DOWN, .reason = FAILED, .reason_age_s = 600,
	  .row = 'F', .short_ms = SHORT, .want = "" },
	{ .why = "the same, static", .node = "q-st-a-1", .state = NS_DOWN | NS_POWERING_UP, .reason = FAILED,
	  .reason_age_s = 600, .short_ms = SHORT, .want = "" },
	{ .why = "failed launch, not short any more", .state = NS_DOWN | NS_POWERING_UP, .reason = FAILED, .reason_age_s = 600,
	  .row = 'F', .short_ms = -1, .want = "power-down:launch-failed" },
	{ .why = "its machine came all the same", .state = NS_DOWN, .reason = FAILED, .reason_age_s = 60, .row = 'B',
	  .machine = ALIVE, .short_ms = SHORT,
	  .want = "terminate:launch-failed unbind:launch-failed power-down:launch-failed" },
	{ .why = "failed for another reason while short", .state = NS_DOWN | NS_POWERING_UP, .reason = "(Code:NotWatched)x",
	  .reason_age_s = 60, .short_ms = SHORT, .want = "power-down:launch-failed" },

	/* machines in a second cloud */
	{ .why = "not listed, its cloud was read", .node = "q-dy-c-1", .state = RUN | NS_NO_RESPOND, .row = 'B',
	  .want = UNLISTED },
	{ .why = "not listed, its cloud was not read", .node = "q-dy-c-1", .state = RUN | NS_NO_RESPOND, .row = 'B',
	  .unread = NO_CLOUD, .want = "" },
	{ .why = "not listed, another cloud was not read", .state = RUN | NS_NO_RESPOND, .row = 'B', .unread = NO_CLOUD,
	  .want = UNLISTED },
	{ .why = "no machine, its cloud was not read", .node = "q-dy-c-1", .state = RUN | NS_POWERING_UP,
	  .seen = "no-machine 1", .unread = NO_CLOUD, .want = "" },
	{ .why = "answered, its cloud was not read", .node = "q-dy-c-1", .state = RUN | NS_POWERING_UP, .row = 'L',
	  .launch = ANSWERED, .unread = NO_CLOUD, .want = "" },
	{ .why = "orphan in the cloud that was read", .node = "", .machine = ALIVE, .unread = NO_CLOUD,
	  .want = "terminate:orphan" },

	/* untold */
	{ .why = "bound, slurmctld was not told", .state = RUN | NS_POWERING_UP, .row = 'B', .machine = ALIVE,
	  .want = "bind:untold" },
	{ .why = "address told, launch not", .state = RUN | NS_POWERING_UP, .addr = "10.0.0.1", .row = 'B', .machine = ALIVE,
	  .want = "bind:untold" },
	{ .why = "another life's launch", .state = RUN | NS_POWERING_UP, .addr = "10.0.0.1", .extra = "L0", .row = 'B',
	  .machine = ALIVE,
	  .want = "bind:untold" },
	{ .why = "all told", .state = RUN | NS_POWERING_UP, .addr = "10.0.0.1", .extra = "L1", .row = 'B', .machine = ALIVE,
	  .want = "" },
	{ .why = "EC2 has not told us", .state = RUN | NS_POWERING_UP, .row = 'B', .machine = ALIVE, .ip = "", .want = "" },
	{ .why = "its launch is at work", .state = RUN | NS_POWERING_UP, .row = 'B', .machine = ALIVE, .launch = ANSWERED,
	  .alive = true, .want = "" },
	{ .why = "bound this moment, being told", .state = RUN | NS_POWERING_UP, .row = 'B', .row_age_s = 2, .machine = ALIVE,
	  .want = "" },
	{ .why = "registered under another of its addresses", .state = RUN, .addr = "10.9.9.9", .extra = "L1", .row = 'B',
	  .machine = ALIVE,
	  .want = "" },
	{ .why = "registered, launch not told", .state = RUN, .addr = "10.0.0.1", .row = 'B', .machine = ALIVE,
	  .want = "bind:untold" },
	{ .why = "untold, but powering down", .state = IDLE | NS_POWERING_DOWN, .row = 'B', .row_launch = "L0",
	  .machine = ALIVE,
	  .want = "terminate:powering-down unbind:powering-down" },

	/* orphan, unknown-resource, unknown-node */
	{ .why = "orphan", .node = "", .machine = ALIVE, .want = "terminate:orphan" },
	{ .why = "orphan, stopped", .node = "", .machine = INSTANCE_STOPPED, .want = "terminate:orphan" },
	{ .why = "orphan as old as the grace", .node = "", .machine = ALIVE, .machine_age_s = GRACE_S,
	  .want = "terminate:orphan" },
	{ .why = "younger", .node = "", .machine = ALIVE, .machine_age_s = GRACE_S - 1, .want = "" },
	{ .why = "on its way out", .node = "", .machine = INSTANCE_SHUTTING_DOWN, .want = "" },
	{ .why = "state unknown", .node = "", .machine = 99, .want = "" },
	{ .why = "of another cluster of this name", .node = "", .machine = ALIVE, .cluster = "uuid-2", .want = "" },
	{ .why = "its launch is open", .node = "", .machine = ALIVE, .launch = ANSWERED, .alive = true, .want = "" },
	{ .why = "orphan, slurmctld not read", .node = "", .machine = ALIVE, .unread = NO_SLURM, .want = "" },
	{ .why = "orphan, rows not read", .node = "", .machine = ALIVE, .unread = NO_ROWS, .want = "" },
	{ .why = "orphan, launches not read", .node = "", .machine = ALIVE, .unread = NO_LAUNCHES, .want = "" },
	{ .why = "node free, machine runs on", .state = IDLE | NS_POWERED_DOWN, .row = 'F', .machine = ALIVE,
	  .want = "terminate:orphan" },
	{ .why = "second machine of a bound node", .state = RUN, .row = 'B', .row_instance = "i-9", .row_age_s = 5,
	  .addr = "10.0.0.9", .machine = ALIVE, .want = "terminate:orphan" },
	{ .why = "the row names another machine, but the job runs on this one", .state = RUN, .row = 'B', .row_instance = "i-9",
	  .row_age_s = 5, .addr = "10.0.0.1", .machine = ALIVE, .want = "" },
	{ .why = "the same, no job", .state = IDLE, .row = 'B', .row_instance = "i-9", .row_age_s = 5, .addr = "10.0.0.1",
	  .machine = ALIVE, .want = "terminate:orphan" },
	{ .why = "the same, resource removed, epilog runs", .state = IDLE | NS_COMPLETING, .row = 'B', .row_instance = "i-9",
	  .row_age_s = 5, .addr = "10.0.0.1", .machine = ALIVE, .resource = "z", .want = "" },
	{ .why = "resource removed", .node = "", .machine = ALIVE, .resource = "z", .want = "terminate:unknown-resource" },
	{ .why = "resource removed, machine young", .node = "", .machine = ALIVE, .resource = "z", .machine_age_s = 5,
	  .want = "" },
	{ .why = "its address is not told and a running node of its launch has no row", .state = RUN, .addr = "10.0.0.1",
	  .extra = "L1",
	  .machine = ALIVE, .ip = "", .want = "" },
	{ .why = "the same, but that node has its row", .state = RUN, .addr = "10.0.0.9", .extra = "L1", .row = 'B',
	  .row_instance = "i-9",
	  .row_age_s = 5, .machine = ALIVE, .ip = "", .want = "terminate:orphan" },

	/* adopt */
	{ .why = "state file lost under a job", .state = RUN, .addr = "10.0.0.1", .extra = "L1", .machine = ALIVE,
	  .want = "bind:adopt" },
	{ .why = "job runs, extra was cleared", .state = NS_MIXED, .addr = "10.0.0.1", .machine = ALIVE, .want = "bind:adopt" },
	{ .why = "epilog runs", .state = IDLE | NS_COMPLETING, .addr = "10.0.0.1", .machine = ALIVE, .want = "bind:adopt" },
	{ .why = "powering up with its launch", .state = RUN | NS_POWERING_UP, .addr = "10.0.0.1", .extra = "L1",
	  .machine = ALIVE,
	  .want = "bind:adopt" },
	{ .why = "powering up, another launch", .state = RUN | NS_POWERING_UP, .addr = "10.0.0.1", .extra = "L0",
	  .machine = ALIVE,
	  .want = "terminate:orphan" },
	{ .why = "idle with its launch", .state = IDLE, .addr = "10.0.0.1", .extra = "L1", .machine = ALIVE,
	  .want = "bind:adopt" },
	{ .why = "down for long, its launch: taken in first, judged in the next loop", .state = NS_DOWN | NS_NO_RESPOND,
	  .reason = "Not responding", .reason_age_s = GRACE_S, .addr = "10.0.0.1", .extra = "L1", .machine = ALIVE,
	  .want = "bind:adopt" },
	{ .why = "idle without", .state = IDLE, .addr = "10.0.0.1", .machine = ALIVE, .want = "terminate:orphan" },
	{ .why = "powered down", .state = IDLE | NS_POWERED_DOWN, .addr = "10.0.0.1", .extra = "L1", .machine = ALIVE,
	  .want = "terminate:orphan" },
	{ .why = "powering down", .state = RUN | NS_POWERING_DOWN, .addr = "10.0.0.1", .extra = "L1", .machine = ALIVE,
	  .want = "terminate:orphan" },
	{ .why = "another address", .state = RUN, .addr = "10.0.0.2", .extra = "L1", .machine = ALIVE,
	  .want = "terminate:orphan" },
	{ .why = "a dead machine is not adopted", .state = RUN, .addr = "10.0.0.1", .extra = "L1",
	  .machine = INSTANCE_TERMINATED, .want = "" },
	{ .why = "freed after the reads began", .state = RUN, .addr = "10.0.0.1", .extra = "L1", .row = 'F', .row_age_s = -1,
	  .machine = ALIVE,
	  .machine_age_s = 5, .want = "" },
	{ .why = "adopt, launches not read", .state = RUN, .addr = "10.0.0.1", .extra = "L1", .machine = ALIVE,
	  .unread = NO_LAUNCHES, .want = "" },
	{ .why = "a physical node at that address", .node = "head01", .state = RUN, .addr = "10.0.0.1", .extra = "L1",
	  .machine = ALIVE,
	  .want = "terminate:orphan" },

	/* launch rows */
	{ .why = "answer lost, node waits", .state = RUN | NS_POWERING_UP, .row = 'L', .launch = INTENT,
	  .want = "launch-retry:launch-unanswered" },
	{ .why = "the same before EC2 can be read", .state = RUN | NS_POWERING_UP, .row = 'L', .launch = INTENT,
	  .unread = NO_EC2,
	  .want = "launch-retry:launch-unanswered" },
	{ .why = "its worker lives", .state = RUN | NS_POWERING_UP, .row = 'L', .launch = INTENT, .alive = true, .want = "" },
	{ .why = "slurmctld not read", .state = RUN | NS_POWERING_UP, .row = 'L', .launch = INTENT, .unread = NO_SLURM,
	  .want = "" },
	{ .why = "older than ResumeTimeout", .state = RUN | NS_POWERING_UP, .row = 'L', .launch = INTENT,
	  .launch_age_s = RESUME_TIMEOUT_S,
	  .machine = ALIVE, .want = "terminate:launch-surplus launch-close:launch-finished" },
	{ .why = "nobody waits any more", .state = IDLE | NS_POWERED_DOWN, .row = 'L', .launch = INTENT,
	  .want = "launch-close:launch-finished" },
	{ .why = "nobody waits, but EC2 may not list it yet", .state = IDLE | NS_POWERED_DOWN, .row = 'L', .launch = INTENT,
	  .launch_age_s = 30,
	  .want = "" },
	{ .why = "nobody waits, EC2 not read", .state = IDLE | NS_POWERED_DOWN, .row = 'L', .launch = INTENT,
	  .unread = NO_EC2, .want = "" },
	{ .why = "the node is down: it failed", .state = NS_DOWN | NS_POWERING_UP, .reason = "(Code:X)", .reason_age_s = 5,
	  .row = 'L',
	  .launch = INTENT, .machine = ALIVE, .want = "terminate:launch-surplus launch-close:launch-finished" },
	{ .why = "claimed by another launch meanwhile", .state = RUN | NS_POWERING_UP, .row = 'L', .row_launch = "L2",
	  .row_age_s = -1,
	  .launch = INTENT, .want = "launch-close:launch-finished" },
	{ .why = "answered, not bound", .state = RUN | NS_POWERING_UP, .row = 'L', .launch = ANSWERED, .machine = ALIVE,
	  .want = "bind:launch-unbound launch-close:launch-finished" },
	{ .why = "answered and bound", .state = RUN | NS_POWERING_UP, .addr = "10.0.0.1", .extra = "L1", .row = 'B',
	  .launch = ANSWERED,
	  .machine = ALIVE, .want = "launch-close:launch-finished" },
	{ .why = "answered, bound, not told", .state = RUN | NS_POWERING_UP, .row = 'B', .launch = ANSWERED, .machine = ALIVE,
	  .want = "launch-close:launch-finished bind:untold" },
	{ .why = "answered, its machine is not listed yet", .state = RUN | NS_POWERING_UP, .row = 'L', .launch = ANSWERED,
	  .launch_age_s = 30,
	  .want = "" },
	{ .why = "answered, its machine never came", .state = RUN | NS_POWERING_UP, .row = 'L', .launch = ANSWERED,
	  .want = "launch-close:launch-finished" },
	{ .why = "answered, the node was suspended", .state = IDLE | NS_POWERED_DOWN, .row = 'F', .launch = ANSWERED,
	  .machine = ALIVE,
	  .want = "terminate:launch-surplus launch-close:launch-finished" },
	{ .why = "answered, EC2 not read", .state = RUN | NS_POWERING_UP, .row = 'L', .launch = ANSWERED, .unread = NO_EC2,
	  .want = "" },
	{ .why = "claim of a launch that is over", .state = RUN | NS_POWERING_UP, .row = 'L', .want = "unbind:claim-stale" },
	{ .why = "claimed after the reads began", .state = RUN | NS_POWERING_UP, .row = 'L', .row_age_s = -1, .want = "" },
	{ .why = "claim, launches not read", .state = RUN | NS_POWERING_UP, .row = 'L', .unread = NO_LAUNCHES, .want = "" },
};

static void build(struct world *w, const struct one *c)
{
	const char *name = c->node ? c->node : "q-dy-a-1";
	const char *row_launch = c->row_launch ? c->row_launch : "L1";
	int row_age = c->row_age_s ? c->row_age_s : 1000;

	if (*name) {
		struct node *n = add_node(w, name, c->state, c->addr, c->extra);

		n->reason = str_dup(c->reason);
		n->reason_time_s = c->reason_age_s ? NOW / 1000 - c->reason_age_s : 0;
	}
	if (c->row == 'L')
		add_row(w, name, BINDING_LAUNCHING, row_launch, NULL, row_age);
	else if (c->row == 'B')
		add_row(w, name, BINDING_BOUND, row_launch, c->row_instance ? c->row_instance : "i-1", row_age);
	else if (c->row == 'F')
		add_row(w, name, BINDING_FREE, NULL, NULL, row_age);
	if (c->machine) {
		const char *ip = c->ip ? (*c->ip ? c->ip : NULL) : "10.0.0.1";
		struct instance *i = add_instance(w, "i-1", c->machine == 99 ? INSTANCE_UNKNOWN : c->machine, ip, "L1",
						  c->machine_age_s ? c->machine_age_s : 1000);

		if (c->cluster) {
			free(i->cluster);
			i->cluster = str_dup(c->cluster);
		}
		if (c->resource) {
			free(i->resource);
			i->resource = str_dup(c->resource);
		}
	}
	if (c->launch)
		add_launch(w, "L1", (enum launch_state)(c->launch - 1), c->launch_age_s ? c->launch_age_s : 300, !c->alive,
			   *name ? name : "q-dy-a-1");
	if (c->seen)
		assert_int_equal(kvs_add(&w->seen, name, c->seen), 0);
	if (c->backoff_ms) {
		char *ms = str_fmt("%" PRId64, NOW + c->backoff_ms);

		assert_int_equal(kvs_add(&w->backoff, name, ms), 0);
		free(ms);
	}
	if (c->short_ms)
		add_shortage(w, "a.large", "X", c->short_ms);
	if (c->held) {
		w->held = nodeset_create();
		assert_int_equal(nodeset_add(w->held, name), 1);
	}
	w->unread = c->unread;
}

static void test_ones(void **state)
{
	size_t bad = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(ones) / sizeof(ones[0]); i++) {
		struct world w;
		char *words;

		world_create(&w);
		build(&w, &ones[i]);
		words = plan_words(&w);
		if (strcmp(words, ones[i].want)) {
			print_error("%s (%zu):\n   is \"%s\"\n  not \"%s\"\n", ones[i].why, i, words, ones[i].want);
			bad++;
		}
		free(words);
		world_destroy(&w);
	}
	assert_int_equal(bad, 0);
}

/* --- larger worlds */

static char *plan_lines(struct world *w)
{
	struct plan p = { 0 };
	char *text;

	assert_int_equal(reconcile_plan(input(w), &p, NULL), 0);
	text = plan_text(&p);
	plan_clear(&p);
	return text;
}

static void check_lines(struct world *w, const char *const *want, size_t n)
{
	char *text = plan_lines(w);
	struct strs lines = { 0 };

	assert_int_equal(strs_split(&lines, text, '\n'), 0);
	for (size_t i = 0; i < lines.n || i < n; i++)
		if (i >= n || i >= lines.n || !strstr(lines.v[i], want[i]))
			fail_msg("line %zu has no \"%s\" in:\n%s", i, i < n ? want[i] : "(nothing)", text);
	strs_clear(&lines);
	free(text);
}

/* A killed resume: node 1 was bound, nodes 2 and 3 wait, 4 was suspended; machines go to them in launch order, one is too
 * many. */
static void test_answered_launch(void **state)
{
	static const char *const want[] = {
	    "node=q-dy-a-2 instance=i-2 launch=L1",
	    "node=q-dy-a-3 instance=i-3 launch=L1",
	    "terminate     launch-surplus       instance=i-4",
	    "launch-close  launch-finished      launch=L1",
	};
	static const char *const nodes[] = { "q-dy-a-1", "q-dy-a-2", "q-dy-a-3", "q-dy-a-4" };
	static const int order[] = { 3, 1, 0, 2 }; /* EC2 lists them in any order */
	struct world w;
	struct launch *l;

	(void)state;
	world_create(&w);
	l = add_launch(&w, "L1", LAUNCH_ANSWERED, 10, true, NULL);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(strs_add(&l->nodes, nodes[i]), 0);
		add_node(&w, nodes[i], i == 3 ? IDLE | NS_POWERED_DOWN : RUN | NS_POWERING_UP, i ? NULL : "10.0.0.1",
			 i ? NULL : "L1");
		add_row(&w, nodes[i],
			i == 0	 ? BINDING_BOUND
			: i == 3 ? BINDING_FREE
				 : BINDING_LAUNCHING,
			"L1", i ? NULL : "i-1", 10);
	}
	for (size_t i = 0; i < 4; i++) {
		char *id = str_fmt("i-%d", order[i] + 1), *ip = str_fmt("10.0.0.%d", order[i] + 1);

		add_instance(&w, id, INSTANCE_PENDING, ip, "L1", 10)->launch_index = order[i];
		free(id);
		free(ip);
	}
	check_lines(&w, want, 4);
	world_destroy(&w);
}

/* Not all of its machines are listed yet: bind what is there, keep the row open. */
static void test_answered_partly(void **state)
{
	static const char *const want[] = { "bind          launch-unbound       node=q-dy-a-1 instance=i-1" };
	struct world w;
	struct launch *l;

	(void)state;
	world_create(&w);
	l = add_launch(&w, "L1", LAUNCH_ANSWERED, 10, true, "q-dy-a-1");
	assert_int_equal(strs_add(&l->nodes, "q-dy-a-2"), 0);
	for (int i = 1; i <= 2; i++) {
		char *name = str_fmt("q-dy-a-%d", i);

		add_node(&w, name, RUN | NS_POWERING_UP, NULL, NULL);
		add_row(&w, name, BINDING_LAUNCHING, "L1", NULL, 10);
		free(name);
	}
	add_instance(&w, "i-1", INSTANCE_PENDING, NULL, "L1", 10);
	check_lines(&w, want, 1);
	world_destroy(&w);
}

/* The retry names the whole call, node by node. */
static void test_retry_nodes(void **state)
{
	static const char *const want[] = { "nodes=q-dy-a-[1-2] launch=L1" };
	struct world w;
	struct launch *l;

	(void)state;
	world_create(&w);
	l = add_launch(&w, "L1", LAUNCH_INTENT, 10, true, "q-dy-a-1");
	assert_int_equal(strs_add(&l->nodes, "q-dy-a-2"), 0);
	add_node(&w, "q-dy-a-1", RUN | NS_POWERING_UP, NULL, NULL);
	add_row(&w, "q-dy-a-1", BINDING_LAUNCHING, "L1", NULL, 10);
	check_lines(&w, want, 1);
	world_destroy(&w);
}

/* A bound node whose name is in no list any more: its machine and its row go. While slurmctld still lists it, it stays. */
static void test_unknown_node(void **state)
{
	static const char *const want[] = {"terminate     unknown-node         node=q-dy-a-99999 instance=i-1",
					   "forget        unknown-node"};
	struct world w;

	(void)state;
	world_create(&w);
	add_row(&w, "q-dy-a-99999", BINDING_BOUND, "L1", "i-1", 1000);
	add_instance(&w, "i-1", INSTANCE_RUNNING, "10.0.0.1", "L1", 1000);
	check_lines(&w, want, 2);
	add_node(&w, "q-dy-a-99999", RUN, "10.0.0.1", "L1");
	check_lines(&w, NULL, 0);
	world_destroy(&w);
}

/* A row for a node that the generation has and slurmctld does not show (PrivateData hides it) is left alone. */
static void test_hidden_node(void **state)
{
	struct world w;

	(void)state;
	world_create(&w);
	add_row(&w, "q-dy-a-7", BINDING_BOUND, "L1", "i-1", 1000);
	add_instance(&w, "i-1", INSTANCE_RUNNING, "10.0.0.1", "L1", 1000);
	check_lines(&w, NULL, 0);
	world_destroy(&w);
}

/* Every action carries the generation of the row it was decided on. */
static void test_generation_kept(void **state)
{
	struct plan p = { 0 };
	struct world w;

	(void)state;
	world_create(&w);
	add_node(&w, "q-dy-a-1", RUN | NS_NO_RESPOND, NULL, NULL);
	add_row(&w, "q-dy-a-1", BINDING_BOUND, "L1", "i-1", 1000);
	add_node(&w, "q-st-a-1", IDLE | NS_POWERED_DOWN, NULL, NULL);
	assert_int_equal(reconcile_plan(input(&w), &p, NULL), 0);
	assert_int_equal(p.n, 5);
	for (size_t i = 0; i < p.n; i++)
		assert_int_equal(p.v[i].generation, str_eq(p.v[i].node, "q-dy-a-1") ? 42 : -1);
	plan_clear(&p);
	world_destroy(&w);
}

/* DOWN for every node comes before any power down, and nodes that fall together have one reason. */
static void test_down_first(void **state)
{
	struct plan p = { 0 };
	struct world w;
	bool power = false;
	const char *reason = NULL;

	(void)state;
	world_create(&w);
	for (int i = 1; i <= 3; i++) {
		char *name = str_fmt("q-dy-a-%d", i), *id = str_fmt("i-%d", i);
		struct instance *one = add_instance(&w, id, INSTANCE_TERMINATED, NULL, "L1", 1000);

		one->state_reason = str_dup("Server.SpotInstanceTermination");
		add_node(&w, name, i == 1 ? NS_DOWN : RUN, NULL, NULL);
		add_row(&w, name, BINDING_BOUND, "L1", id, 1000);
		free(name);
		free(id);
	}
	assert_int_equal(reconcile_plan(input(&w), &p, NULL), 0);
	for (size_t i = 0; i < p.n; i++) {
		power = power || p.v[i].kind == ACT_NODE_POWER_DOWN;
		if (p.v[i].kind != ACT_NODE_DOWN)
			continue;
		assert_false(power);
		assert_non_null(strstr(p.v[i].reason, "(Code:MachineGone)"));
		assert_non_null(strstr(p.v[i].reason, "SpotInstanceTermination"));
		if (reason)
			assert_string_equal(p.v[i].reason, reason);
		reason = p.v[i].reason;
	}
	assert_non_null(reason);
	plan_clear(&p);
	world_destroy(&w);
}

/* Watching: the clock starts at first sight, goes on while the state stays, and starts again after an interruption. */
static void test_watch(void **state)
{
	struct world w;
	struct kvs seen = { 0 };
	char *first;

	(void)state;
	world_create(&w);
	add_node(&w, "q-dy-a-1", RUN | NS_POWERING_UP, NULL, NULL);
	add_node(&w, "q-dy-a-2", IDLE | NS_POWERED_DOWN, NULL, NULL);
	input(&w);
	assert_int_equal(reconcile_watch(&w.in, &seen, NULL), 0);
	assert_int_equal(seen.key.n, 1);
	first = str_dup(kvs_get(&seen, "q-dy-a-1"));
	assert_string_equal(first, "no-machine 1000000000");
	w.in.now_ms += 60000;
	assert_int_equal(reconcile_watch(&w.in, &seen, NULL), 0);
	assert_string_equal(kvs_get(&seen, "q-dy-a-1"), first);
	w.in.instances = NULL; /* not read: the rule does not fit, its time starts again */
	assert_int_equal(reconcile_watch(&w.in, &seen, NULL), 0);
	assert_null(kvs_get(&seen, "q-dy-a-1"));
	w.in.instances = &w.instances;
	assert_int_equal(reconcile_watch(&w.in, &seen, NULL), 0);
	assert_string_equal(kvs_get(&seen, "q-dy-a-1"), "no-machine 1000060000");
	w.in.nodes = NULL; /* slurmctld not read: nothing is known, nothing forgotten */
	assert_int_equal(reconcile_watch(&w.in, &seen, NULL), 0);
	assert_int_equal(seen.key.n, 1);
	free(first);
	kvs_clear(&seen);
	world_destroy(&w);
}

/* 10 000 nodes with their machines, and 10 000 orphans: each found once. Quadratic code would show in the time of this file. */
static void test_large(void **state)
{
	struct plan p = { 0 };
	struct world w;

	(void)state;
	world_create(&w);
	for (int i = 1; i <= 10000; i++) {
		char *name = str_fmt("q-dy-a-%d", i), *id = str_fmt("i-%d", i), *ip = str_fmt("10.1.%d.%d", i / 256, i % 256);
		char *other = str_fmt("x-%d", i);

		add_node(&w, name, RUN, ip, "L1");
		add_row(&w, name, BINDING_BOUND, "L1", id, 1000);
		add_instance(&w, id, INSTANCE_RUNNING, ip, "L1", 1000);
		add_instance(&w, other, INSTANCE_RUNNING, NULL, "L0", 1000);
		free(name);
		free(id);
		free(ip);
		free(other);
	}
	assert_int_equal(reconcile_plan(input(&w), &p, NULL), 0);
	assert_int_equal(p.n, 10000);
	for (size_t i = 0; i < p.n; i++)
		assert_true(p.v[i].kind == ACT_TERMINATE && p.v[i].instance[0] == 'x');
	plan_clear(&p);
	world_destroy(&w);
}

/* --- what people reported of such systems */

/* One shortage: the powered-down dynamic nodes of that resource go DOWN together, with one text; nothing else is touched. */
static void test_B17_whole_resource_is_disabled(void **state)
{
	struct plan p = { 0 };
	struct world w;

	(void)state;
	world_create(&w);
	add_shortage(&w, "a.large", "InsufficientInstanceCapacity", 600 * 1000);
	for (int i = 1; i <= 30; i++) {
		char *a = str_fmt("q-dy-a-%d", i), *b = str_fmt("q-dy-b-%d", i);

		add_node(&w, a, i == 1 ? RUN | NS_POWERING_UP : i == 2 ? RUN : OFF, i == 2 ? "10.0.0.2" : NULL,
			 i == 2 ? "L2" : NULL);
		add_node(&w, b, OFF, NULL, NULL);
		free(a);
		free(b);
	}
	add_node(&w, "q-st-a-1", IDLE, "10.0.0.9", "L9");
	add_row(&w, "q-dy-a-1", BINDING_LAUNCHING, "L1", NULL, 5);
	add_launch(&w, "L1", LAUNCH_INTENT, 5, false, "q-dy-a-1");
	add_row(&w, "q-dy-a-2", BINDING_BOUND, "L2", "i-2", 1000);
	add_instance(&w, "i-2", INSTANCE_RUNNING, "10.0.0.2", "L2", 1000);
	add_row(&w, "q-st-a-1", BINDING_BOUND, "L9", "i-9", 1000);
	add_instance(&w, "i-9", INSTANCE_RUNNING, "10.0.0.9", "L9", 1000);
	assert_int_equal(reconcile_plan(input(&w), &p, NULL), 0);
	assert_int_equal(p.n, 28);
	for (size_t i = 0; i < p.n; i++) {
		assert_int_equal(p.v[i].kind, ACT_NODE_DOWN);
		assert_true(str_prefix(p.v[i].node, "q-dy-a-"));
		assert_string_equal(p.v[i].reason, "(Code:InsufficientInstanceCapacity)Temporarily disabling node due to "
						   "insufficient capacity until 13:57 UTC");
	}
	plan_clear(&p);
	world_destroy(&w);
}

/* The node that failed stays DOWN beside its siblings: in idle~ the same job would take it again. */
static void test_B18_failed_node_does_not_bounce(void **state)
{
	struct world w;
	struct node *n;

	(void)state;
	world_create(&w);
	n = add_node(&w, "q-dy-a-1", NS_DOWN | NS_POWERING_UP, NULL, NULL);
	n->reason = str_dup("(Code:InsufficientInstanceCapacity)Failure when resuming nodes");
	n->reason_time_s = NOW / 1000 - 3000;
	add_shortage(&w, "a.large", "InsufficientInstanceCapacity", 1);
	check_lines(&w, NULL, 0);
	w.shortages.v[0].until_ms = NOW;
	check_lines(&w, (const char *const[]){ "power-down    launch-failed        node=q-dy-a-1" }, 1);
	world_destroy(&w);
}

/* slurmctld lets the job rest for two minutes: the resource stays out for longer than its cool-down, if there is another. */
static void test_B18_second_try_lands_elsewhere(void **state)
{
	struct world w;

	(void)state;
	world_create(&w);
	add_node(&w, "q-dy-a-1", NS_DOWN | NS_POWERED_DOWN, NULL, NULL)->reason = str_dup(DISABLED);
	add_node(&w, "q-dy-a-2", OFF, NULL, NULL);
	add_shortage(&w, "a.large", "X", -120000);
	w.shortages.v[0].failed_ms = NOW - RECONCILE_REQUEUE_MS + 1;
	check_lines(&w, (const char *const[]){ "down          capacity-closed      node=q-dy-a-2" }, 1);
	w.shortages.v[0].budget = 2; /* machines came since */
	check_lines(&w, (const char *const[]){ "power-down    capacity-open        node=q-dy-a-1" }, 1);
	w.shortages.v[0].budget = 0;
	add_shortage(&w, "b.large", "X", SHORT); /* no other is left: this one is to be asked as soon as it may */
	add_shortage(&w, "c.large", "X", SHORT);
	check_lines(&w, (const char *const[]){ "power-down    capacity-open        node=q-dy-a-1" }, 1);
	w.shortages.v[1].until_ms = NOW;
	w.shortages.v[0].failed_ms = NOW - RECONCILE_REQUEUE_MS;
	check_lines(&w, (const char *const[]){ "power-down    capacity-open        node=q-dy-a-1" }, 1);
	world_destroy(&w);
}

/* DOWN first, and then back by itself: nobody has to resume it. */
static void test_B23_failed_node_comes_back(void **state)
{
	struct world w;
	struct node *n;

	(void)state;
	world_create(&w);
	n = add_node(&w, "q-dy-a-1", NS_DOWN | NS_POWERING_UP, NULL, NULL);
	n->reason = str_dup("(Code:InsufficientInstanceCapacity)Failure when resuming nodes");
	n->reason_time_s = NOW / 1000 - 5;
	check_lines(&w, NULL, 0);
	n->reason_time_s = NOW / 1000 - 20;
	check_lines(&w, (const char *const[]){ "power-down    launch-failed        node=q-dy-a-1" }, 1);
	world_destroy(&w);
}

/* While somebody probes the pool the nodes that have just come back stay. */
static void test_probe_disables_nothing(void **state)
{
	struct world w;

	(void)state;
	world_create(&w);
	add_node(&w, "q-dy-a-1", OFF, NULL, NULL);
	add_shortage(&w, "a.large", "X", -1);
	w.shortages.v[0].probe_until_ms = NOW + 30000;
	check_lines(&w, NULL, 0);
	world_destroy(&w);
}

/* A machine runs, its node is powered down and our ResumeFailProgram crashed: with its row or without, it is ended. */
static void test_B25_machine_of_a_powered_down_node(void **state)
{
	static const char *const bound[] = { "boot-failed   resume-timeout       resource=q/a node=q-dy-a-1 instance=i-1",
					     "terminate     resume-timeout       node=q-dy-a-1 instance=i-1", "unbind", "power-down" };
	static const char *const loose[] = { "power-down", "terminate     orphan               instance=i-1" };

	(void)state;
	for (int row = 0; row <= 1; row++) {
		struct world w;
		struct node *n;

		world_create(&w);
		n = add_node(&w, "q-dy-a-1", NS_DOWN | NS_POWERED_DOWN | NS_NO_RESPOND, "10.0.99.7", "L1");
		n->reason = str_dup("ResumeTimeout reached");
		n->reason_time_s = NOW / 1000 - 600;
		add_instance(&w, "i-1", INSTANCE_RUNNING, "10.0.99.7", "L1", 1000);
		if (row)
			add_row(&w, "q-dy-a-1", BINDING_BOUND, "L1", "i-1", 1000);
		check_lines(&w, row ? bound : loose, row ? 4 : 2);
		world_destroy(&w);
	}
}

/* 500 machines, of 7 EC2 tells no address for many loops: all are kept, also when they are past the grace. */
static void test_B35_machines_without_an_address_are_kept(void **state)
{
	struct world w;

	(void)state;
	world_create(&w);
	for (int i = 1; i <= 500; i++) {
		char *name = str_fmt("q-dy-a-%d", i), *id = str_fmt("i-%d", i), *ip = str_fmt("10.1.%d.%d", i / 250, i % 250);
		bool told = i % 71;

		add_node(&w, name, RUN | NS_POWERING_UP, told ? ip : NULL, told ? "L1" : NULL);
		add_row(&w, name, BINDING_BOUND, "L1", id, 10);
		add_instance(&w, id, INSTANCE_PENDING, told ? ip : NULL, "L1", 10);
		free(name);
		free(id);
		free(ip);
	}
	for (int age = 10; age <= 3000; age += 60) {
		for (size_t i = 0; i < w.instances.n; i++) {
			w.instances.v[i].launch_time_ms = NOW - age * 1000;
			w.rows.v[i].since_ms = NOW - age * 1000;
		}
		check_lines(&w, NULL, 0);
	}
	/* once it is told, it goes to slurmctld */
	w.instances.v[70].private_ip = str_dup("10.1.0.71");
	check_lines(&w, (const char *const[]){ "bind          untold               node=q-dy-a-71 instance=i-71" }, 1);
	world_destroy(&w);
}

/* Of an id that EC2 gave and then never listed nothing is known: ended by its id, and the job goes elsewhere. */
static void test_B34_machine_that_is_never_listed(void **state)
{
	static const char *const want[] = { "boot-failed   machine-gone         resource=q/a node=q-dy-a-1 instance=i-1",
					    "down          machine-gone         node=q-dy-a-1",
					    "terminate     machine-gone         node=q-dy-a-1 instance=i-1", "unbind",
					    "power-down" };
	struct world w;

	(void)state;
	world_create(&w);
	add_node(&w, "q-dy-a-1", RUN | NS_POWERING_UP, NULL, NULL);
	add_row(&w, "q-dy-a-1", BINDING_BOUND, "L1", "i-1", GRACE_S - 1);
	check_lines(&w, NULL, 0);
	w.rows.v[0].since_ms -= 1000;
	check_lines(&w, want, 5);
	world_destroy(&w);
}

/* EC2 shows a machine of 20 s ago; Slurm was asked 30 s ago, when its node was powered down. */
static void test_B39_young_machine_and_an_old_look_at_slurm(void **state)
{
	struct world w;

	(void)state;
	world_create(&w);
	add_node(&w, "q-dy-a-1", OFF, NULL, NULL);
	add_instance(&w, "i-1", INSTANCE_RUNNING, "10.0.0.1", "L1", 20);
	input(&w);
	w.in.observed_ms = NOW - 30000;
	for (int row = 0; row <= 1; row++) {
		struct plan p = { 0 };

		assert_int_equal(reconcile_plan(&w.in, &p, NULL), 0);
		assert_int_equal(p.n, 0);
		plan_clear(&p);
		add_row(&w, "q-dy-a-1", BINDING_BOUND, "L1", "i-1", 20);
	}
	world_destroy(&w);
}

/* All nodes are powered down and SuspendProgram was never heard of: one loop ends every machine. */
static void test_B45_forty_orphans_in_one_loop(void **state)
{
	struct plan p = { 0 };
	struct world w;

	(void)state;
	world_create(&w);
	for (int i = 1; i <= 40; i++) {
		char *name = str_fmt("q-dy-a-%d", i), *id = str_fmt("i-%d", i), *ip = str_fmt("10.0.0.%d", i);

		add_node(&w, name, OFF, NULL, NULL);
		add_instance(&w, id, INSTANCE_RUNNING, ip, "L1", 3600);
		free(name);
		free(id);
		free(ip);
	}
	assert_int_equal(reconcile_plan(input(&w), &p, NULL), 0);
	assert_int_equal(p.n, 40);
	for (size_t i = 0; i < p.n; i++)
		assert_int_equal(p.v[i].kind, ACT_TERMINATE);
	plan_clear(&p);
	world_destroy(&w);
}

/* ResumeTimeout was reached while EC2 still makes the machine, and there is no ResumeFailProgram. */
static void test_B46_no_resume_fail_program(void **state)
{
	static const char *const want[] = { "boot-failed   resume-timeout       resource=q/a node=q-dy-a-1 instance=i-1",
					    "terminate     resume-timeout       node=q-dy-a-1 instance=i-1", "unbind", "power-down" };
	struct world w;
	struct node *n;

	(void)state;
	world_create(&w);
	n = add_node(&w, "q-dy-a-1", NS_DOWN | NS_POWERED_DOWN, NULL, NULL);
	n->reason = str_dup("ResumeTimeout reached");
	n->reason_time_s = NOW / 1000 - 30;
	add_row(&w, "q-dy-a-1", BINDING_BOUND, "L1", "i-1", 700);
	add_instance(&w, "i-1", INSTANCE_PENDING, NULL, "L1", 700);
	check_lines(&w, want, 4);
	world_destroy(&w);
}

/* Ten thousand nodes go and come back: linear, and one text. */
static void test_large_shortage(void **state)
{
	struct world w;

	(void)state;
	world_create(&w);
	for (int i = 1; i <= 10000; i++) {
		char *name = str_fmt("q-dy-a-%d", i);

		add_node(&w, name, OFF, NULL, NULL);
		free(name);
	}
	add_shortage(&w, "a.large", "X", SHORT);
	for (int back = 0; back <= 1; back++) {
		struct plan p = { 0 };

		assert_int_equal(reconcile_plan(input(&w), &p, NULL), 0);
		assert_int_equal(p.n, 10000);
		for (size_t i = 0; i < p.n; i++) {
			assert_int_equal(p.v[i].kind, back ? ACT_NODE_POWER_DOWN : ACT_NODE_DOWN);
			assert_string_equal(p.v[i].reason, p.v[0].reason);
			w.nodes.v[i].state = NS_DOWN | NS_POWERED_DOWN | NS_CLOUD;
			free(w.nodes.v[i].reason);
			w.nodes.v[i].reason = str_dup(p.v[i].reason);
		}
		plan_clear(&p);
		w.shortages.v[0].until_ms = NOW;
	}
	world_destroy(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ones),
	    cmocka_unit_test(test_answered_launch),
	    cmocka_unit_test(test_answered_partly),
	    cmocka_unit_test(test_retry_nodes),
	    cmocka_unit_test(test_unknown_node),
	    cmocka_unit_test(test_hidden_node),
	    cmocka_unit_test(test_generation_kept),
	    cmocka_unit_test(test_down_first),
	    cmocka_unit_test(test_watch),
	    cmocka_unit_test(test_large),
	    cmocka_unit_test(test_B17_whole_resource_is_disabled),
	    cmocka_unit_test(test_B18_failed_node_does_not_bounce),
	    cmocka_unit_test(test_B18_second_try_lands_elsewhere),
	    cmocka_unit_test(test_B23_failed_node_comes_back),
	    cmocka_unit_test(test_probe_disables_nothing),
	    cmocka_unit_test(test_B25_machine_of_a_powered_down_node),
	    cmocka_unit_test(test_B34_machine_that_is_never_listed),
	    cmocka_unit_test(test_B35_machines_without_an_address_are_kept),
	    cmocka_unit_test(test_B39_young_machine_and_an_old_look_at_slurm),
	    cmocka_unit_test(test_B45_forty_orphans_in_one_loop),
	    cmocka_unit_test(test_B46_no_resume_fail_program),
	    cmocka_unit_test(test_large_shortage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
