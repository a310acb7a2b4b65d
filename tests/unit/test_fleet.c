/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_fleet.c - stopping and starting the fleet: which partitions are closed and opened, which nodes powered down, and when it is
 * said to be done. */
#include "tests/unit/cmocka_all.h"

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/node/node.h"
#include "lib/node/nodeset.h"
#include "lib/node/partition.h"
#include "lib/plan/fleet.h"
#include "lib/plan/plan.h"
#include "lib/plan/reconcile.h"

#include <stdlib.h>
#include <string.h>

/* q/a: 1 static, 3 dynamic nodes; q1/a: 2 dynamic ones */
static struct generation *make(void)
{
	struct generation *g = calloc(1, sizeof(*g));
	struct gen_resource *r;

	assert_non_null(g);
	r = generation_add_resource(g);
	r->queue = str_dup("q");
	r->name = str_dup("a");
	r->min_count = 1;
	r->max_count = 4;
	r = generation_add_resource(g);
	r->queue = str_dup("q1");
	r->name = str_dup("a");
	r->max_count = 2;
	return g;
}

#define OFF (NS_IDLE | NS_CLOUD | NS_POWERED_DOWN)
#define UP (NS_IDLE | NS_CLOUD)
#define WORKS (NS_ALLOCATED | NS_CLOUD)

struct a_node {
	const char *name;
	uint32_t state;
	const char *reason;
	const char *row; /* "bound", "launching", "free"; NULL = none */
};

struct one {
	const char *why;
	const char *word;           /* FLEET_WORD */
	const char *partitions[4];  /* "name STATE" */
	const char *closed;         /* FLEET_CLOSED_WORD */
	struct a_node node[4];
	const char *held;           /* in a reservation of ours */
	const char *machine;        /* state of an instance of ours */
	bool launch;                /* one is open */
	bool no_nodes, no_rows, no_ec2;
	const char *want;
};

#define CLOSE(p) "partition     fleet-stop           partition=" p " to=DOWN (the fleet is stopped)\n"
#define CLOSE_AGAIN(p)                                                                                                         \
	"partition     fleet-stop           partition=" p " to=DOWN (the fleet is stopped, but somebody opened this partition)\n"
#define OPEN(p, word) "partition     fleet-start          partition=" p " to=" word " (the fleet is started)\n"
#define FORGET(p)                                                                                                              \
	"partition     fleet-start          partition=" p " (somebody changed this partition while the fleet was stopped)\n"
#define SLEEP(n) "power-down    fleet-stop           to=when-idle node=" n " (slurm-ec2: the fleet is stopped)\n"
#define FORCE(n) "power-down    fleet-stop           node=" n " (slurm-ec2: the fleet is stopped)\n"
#define DOWN(n) "down          fleet-stop           node=" n " ((Code:FleetStopped)The fleet is stopped)\n"
#define STOPPING(now)                                                                                                          \
	"fleet         fleet-stop           to=STOPPING" now                                                                   \
	" (partitions are closed, nodes power down as they become free)\n"
#define STOPPED(now)                                                                                                           \
	"fleet         fleet-stop           to=STOPPED" now " (every node is powered down and no machine is left)\n"
#define STARTING "fleet         fleet-start          to=STARTING (partitions are opened)\n"
#define RUNNING "fleet         fleet-start          to=RUNNING (partitions are open)\n"

#define Q_UP "q UP", "q1 UP"
#define Q_DOWN "q DOWN", "q1 DOWN"
#define ALL_CLOSED "q=UP q1=UP"

static const struct one ones[] = {
	{ .why = "running: nothing to do", .partitions = { Q_UP }, .node = { { "q-dy-a-1", UP, NULL, "bound" } }, .want = "" },
	{ .why = "an unknown word is RUNNING", .word = "DREAMING now", .partitions = { Q_UP },
	  .node = { { "q-dy-a-1", WORKS, NULL, "bound" } }, .want = "" },
	{ .why = "a stop: partitions first, free nodes, a job goes on", .word = "STOP_REQUESTED", .partitions = { Q_UP },
	  .node = { { "q-st-a-1", UP, NULL, "bound" }, { "q-dy-a-1", WORKS, NULL, "bound" }, { "q-dy-a-2", OFF, NULL, NULL } },
	  .want = CLOSE("q") CLOSE("q1") SLEEP("q-st-a-1") STOPPING("") },
	{ .why = "B52, W10: the site's partitions, with our nodes and names like ours, and its nodes", .word = "STOPPING now",
	  .partitions = { "q10 UP", "big UP", "admin UP", "q-test UP" },
	  .node = { { "head01", UP, NULL, NULL }, { "q10-dy-a-1", WORKS, NULL, NULL }, { "q-dy-b-1", UP, NULL, NULL } },
	  .machine = "running", .want = "" },
	{ .why = "B52: a partition that a person made INACTIVE or DOWN is left", .word = "STOPPING",
	  .partitions = { "q INACTIVE", "q1 DOWN" }, .node = { { "q-dy-a-1", WORKS, NULL, "bound" } }, .want = "" },
	{ .why = "DRAIN still starts jobs", .word = "STOPPING", .partitions = { "q DRAIN", "q1 DOWN" },
	  .node = { { "q-dy-a-1", WORKS, NULL, "bound" } }, .want = CLOSE("q") },
	{ .why = "somebody opens one while it is stopped", .word = "STOPPED", .closed = ALL_CLOSED,
	  .partitions = { "q UP", "q1 DOWN" }, .node = { { "q-dy-a-1", OFF, NULL, NULL } }, .want = CLOSE_AGAIN("q") },
	{ .why = "a node that was powered up by hand", .word = "STOPPED", .closed = ALL_CLOSED, .partitions = { Q_DOWN },
	  .node = { { "q-dy-a-1", UP, NULL, "bound" } }, .want = SLEEP("q-dy-a-1") },
	{ .why = "B07: now ends a job that waits for its node, DOWN before power down", .word = "STOPPING now", .closed = ALL_CLOSED,
	  .partitions = { Q_DOWN },
	  .node = { { "q-dy-a-1", WORKS | NS_POWERING_UP | NS_NO_RESPOND, NULL, "bound" },
		    { "q-dy-a-2", WORKS | NS_POWER_DOWN, NULL, "bound" },
		    { "q-dy-a-3", NS_IDLE | NS_CLOUD | NS_COMPLETING, NULL, "bound" } },
	  .want = DOWN("q-dy-a-1") DOWN("q-dy-a-2") DOWN("q-dy-a-3") FORCE("q-dy-a-1") FORCE("q-dy-a-2") FORCE("q-dy-a-3") },
	{ .why = "B07: without now it waits for it", .word = "STOPPING", .closed = ALL_CLOSED, .partitions = { Q_DOWN },
	  .node = { { "q-dy-a-1", WORKS | NS_POWERING_UP | NS_NO_RESPOND, NULL, "bound" },
		    { "q-dy-a-2", NS_MIXED | NS_CLOUD, NULL, "bound" }, { "q-dy-a-3", UP | NS_COMPLETING, NULL, "bound" } },
	  .want = "" },
	{ .why = "a free node that comes up is not waited for", .word = "STOPPING", .closed = ALL_CLOSED, .partitions = { Q_DOWN },
	  .node = { { "q-dy-a-1", UP | NS_POWERING_UP | NS_NO_RESPOND, NULL, "launching" },
		    { "q-dy-a-2", NS_DOWN | NS_CLOUD | NS_POWERING_UP, "Not responding", "bound" } },
	  .want = FORCE("q-dy-a-1")
		  "power-down    fleet-stop           to=when-idle node=q-dy-a-2 (slurm-ec2: the fleet is stopped (was: Not responding))\n" },
	{ .why = "what is on its way, and what nobody has to end", .word = "STOPPING", .closed = ALL_CLOSED, .partitions = { Q_DOWN },
	  .node = { { "q-dy-a-1", UP | NS_POWERING_DOWN, NULL, "bound" }, { "q-dy-a-2", UP | NS_POWER_DOWN, NULL, "bound" },
		    { "q-dy-a-3", NS_UNKNOWN | NS_CLOUD, NULL, "bound" },
		    { "q1-dy-a-1", NS_DOWN | NS_CLOUD, "(Code:FleetStopped)x", "free" } },
	  .want = "" },
	{ .why = "a person's drain is kept in the reason", .word = "STOPPING", .closed = ALL_CLOSED, .partitions = { Q_DOWN },
	  .node = { { "q-dy-a-1", UP | NS_DRAIN, "bad disk", "bound" } },
	  .want = "power-down    fleet-stop           to=when-idle node=q-dy-a-1 (slurm-ec2: the fleet is stopped (was: bad disk))\n" },
	{ .why = "also one that words of ours stand before", .word = "STOPPING", .closed = ALL_CLOSED, .partitions = { Q_DOWN },
	  .node = { { "q-dy-a-1", UP | NS_DRAIN, "(Code:MachineStopped)stopped (was: bad disk)", "bound" } },
	  .want = "power-down    fleet-stop           to=when-idle node=q-dy-a-1 (slurm-ec2: the fleet is stopped (was: bad disk))\n" },
	{ .why = "a person's maintenance reservation is respected, ours is not one", .word = "STOPPING", .closed = ALL_CLOSED,
	  .partitions = { Q_DOWN }, .held = "q-dy-a-2",
	  .node = { { "q-dy-a-1", UP | NS_MAINT | NS_RES, NULL, "bound" }, { "q-dy-a-2", UP | NS_MAINT | NS_RES, NULL, "bound" },
		    { "q-dy-a-3", UP | NS_RES, NULL, "bound" } },
	  .want = SLEEP("q-dy-a-2") SLEEP("q-dy-a-3") },
	{ .why = "with now it is not", .word = "STOPPING now", .closed = ALL_CLOSED, .partitions = { Q_DOWN },
	  .node = { { "q-dy-a-1", UP | NS_MAINT | NS_RES, NULL, "bound" } }, .want = SLEEP("q-dy-a-1") },

	{ .why = "done", .word = "STOPPING", .closed = ALL_CLOSED, .partitions = { Q_DOWN },
	  .node = { { "q-st-a-1", OFF, NULL, "free" }, { "q-dy-a-1", NS_DOWN | NS_CLOUD | NS_POWERED_DOWN, "(Code:X)y", NULL } },
	  .machine = "terminated", .want = STOPPED("") },
	{ .why = "done with now", .word = "STOP_REQUESTED now", .closed = ALL_CLOSED, .partitions = { Q_DOWN },
	  .node = { { "q-st-a-1", OFF, NULL, NULL } }, .want = STOPPED(" now") },
	{ .why = "a machine is left", .word = "STOPPING", .closed = ALL_CLOSED, .partitions = { Q_DOWN },
	  .node = { { "q-st-a-1", OFF, NULL, NULL } }, .machine = "stopped", .want = "" },
	{ .why = "a row is left", .word = "STOPPING", .closed = ALL_CLOSED, .partitions = { Q_DOWN },
	  .node = { { "q-st-a-1", OFF, NULL, "bound" } }, .want = "" },
	{ .why = "a launch is in the air", .word = "STOPPING", .closed = ALL_CLOSED, .partitions = { Q_DOWN },
	  .node = { { "q-st-a-1", OFF, NULL, NULL } }, .launch = true, .want = "" },
	{ .why = "EC2 was not read", .word = "STOPPING", .closed = ALL_CLOSED, .partitions = { Q_DOWN },
	  .node = { { "q-st-a-1", OFF, NULL, NULL } }, .no_ec2 = true, .want = "" },
	{ .why = "nodes were not read", .word = "STOPPING", .closed = ALL_CLOSED, .partitions = { Q_DOWN }, .no_nodes = true,
	  .want = "" },
	{ .why = "rows were not read: partitions only", .word = "STOP_REQUESTED", .partitions = { Q_UP }, .no_rows = true,
	  .node = { { "q-st-a-1", UP, NULL, NULL } }, .want = CLOSE("q") CLOSE("q1") STOPPING("") },
	{ .why = "partitions were not read: nothing", .word = "STOP_REQUESTED now", .node = { { "q-st-a-1", UP, NULL, "bound" } },
	  .want = "" },
	{ .why = "a partition is to be closed, so it is not done", .word = "STOPPING", .partitions = { "q UP", "q1 DOWN" },
	  .node = { { "q-st-a-1", OFF, NULL, NULL } }, .want = CLOSE("q") },

	{ .why = "a start opens what the stop closed, as it was", .word = "START_REQUESTED", .closed = "q=UP q1=DRAIN",
	  .partitions = { Q_DOWN }, .node = { { "q-st-a-1", OFF, NULL, NULL } },
	  .want = OPEN("q", "UP") OPEN("q1", "DRAIN") STARTING },
	{ .why = "what a person had closed before stays closed", .word = "START_REQUESTED", .closed = "q=UP",
	  .partitions = { Q_DOWN }, .want = OPEN("q", "UP") STARTING },
	{ .why = "what a person changed meanwhile is left", .word = "STARTING", .closed = "q=UP q1=UP gone=UP",
	  .partitions = { "q INACTIVE", "q1 UP" }, .want = FORGET("q") FORGET("q1") FORGET("gone") },
	{ .why = "all are open", .word = "STARTING", .partitions = { Q_UP }, .want = RUNNING },
	{ .why = "a start while jobs still run", .word = "START_REQUESTED now", .closed = "q=UP", .partitions = { "q DOWN", "q1 UP" },
	  .node = { { "q-dy-a-1", WORKS, NULL, "bound" } },
	  .want = OPEN("q", "UP") "fleet         fleet-start          to=STARTING now (partitions are opened)\n" },
	{ .why = "a queue that the cluster has no longer is not opened", .word = "START_REQUESTED", .closed = "old=UP",
	  .partitions = { "old DOWN" }, .want = FORGET("old") STARTING },
};

static void add_partition(struct partitions *l, const char *text)
{
	const char *blank = strchr(text, ' ');
	struct partition *p = partitions_add(l);

	p->name = strndup(text, (size_t)(blank - text));
	p->state = partition_state_parse(blank + 1);
	assert_true(p->state < PART_OTHER);
}

static void add_node(const struct a_node *a, struct nodes *nodes, struct bindings *rows)
{
	struct node *n = nodes_add(nodes);
	struct binding *b;

	n->name = str_dup(a->name);
	n->state = a->state;
	n->reason = str_dup(a->reason);
	if (!a->row)
		return;
	b = bindings_add(rows);
	b->node = str_dup(a->name);
	b->generation = 7;
	b->state = str_eq(a->row, "bound") ? BINDING_BOUND : str_eq(a->row, "free") ? BINDING_FREE : BINDING_LAUNCHING;
}

static char *run_one(const struct one *c)
{
	struct generation *g = make();
	struct nodes nodes = { 0 };
	struct bindings rows = { 0 };
	struct partitions parts = { 0 };
	struct launches launches = { 0 };
	struct instances machines = { 0 };
	struct kvs closed = { 0 };
	struct nodeset *held = nodeset_create();
	struct plan p = { 0 };
	struct fleet_input in = { .gen = g,
				  .nodes = c->no_nodes ? NULL : &nodes,
				  .partitions = c->partitions[0] ? &parts : NULL,
				  .bindings = c->no_rows ? NULL : &rows,
				  .launches = c->no_rows ? NULL : &launches,
				  .instances = c->no_ec2 ? NULL : &machines,
				  .closed = &closed,
				  .held = held };
	char *text;

	for (size_t i = 0; i < 4 && c->partitions[i]; i++)
		add_partition(&parts, c->partitions[i]);
	for (size_t i = 0; i < 4 && c->node[i].name; i++)
		add_node(&c->node[i], &nodes, &rows);
	if (c->machine)
		instances_add(&machines)->state = instance_state_parse(c->machine);
	if (c->launch)
		launches_add(&launches)->id = str_dup("l-1");
	assert_int_equal(nodeset_parse(held, c->held ? c->held : "", NULL), 0);
	assert_int_equal(fleet_closed_parse(c->closed, &closed), 0);
	fleet_parse(c->word, &in.fleet);
	assert_int_equal(fleet_plan(&in, &p, NULL), 0);
	for (size_t i = 0; i < p.n; i++)
		assert_true(!p.v[i].node || p.v[i].generation == 7 || p.v[i].generation == -1);
	text = plan_text(&p);
	plan_clear(&p);
	nodes_clear(&nodes);
	bindings_clear(&rows);
	partitions_clear(&parts);
	launches_clear(&launches);
	instances_clear(&machines);
	kvs_clear(&closed);
	nodeset_destroy(held);
	generation_destroy(g);
	return text;
}

static void test_B07_B52_fleet(void **state)
{
	size_t bad = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(ones) / sizeof(ones[0]); i++) {
		char *text = run_one(&ones[i]);

		if (strcmp(text, ones[i].want)) {
			print_error("%s:\n--- is\n%s--- not\n%s", ones[i].why, text, ones[i].want);
			bad++;
		}
		free(text);
	}
	assert_int_equal(bad, 0);
}

/* The generation of a row goes with each action about its node. */
static void test_generation(void **state)
{
	struct a_node a = { "q-dy-a-1", WORKS, NULL, "bound" }, none = { "q-dy-a-2", NS_IDLE | NS_CLOUD | NS_POWERING_UP, NULL, NULL };
	struct partition up = { .name = (char *)"q", .state = PART_DOWN };
	struct partitions parts = { .v = &up, .n = 1 };
	struct nodes nodes = { 0 };
	struct bindings rows = { 0 };
	struct plan p = { 0 };
	struct fleet_input in = { .gen = make(), .nodes = &nodes, .partitions = &parts, .bindings = &rows,
				  .fleet = { FLEET_STOPPING, true } };

	(void)state;
	add_node(&a, &nodes, &rows);
	add_node(&none, &nodes, &rows);
	assert_int_equal(fleet_plan(&in, &p, NULL), 0);
	assert_int_equal(p.n, 3);
	assert_int_equal(p.v[0].generation, 7);
	assert_int_equal(p.v[1].generation, 7);
	assert_int_equal(p.v[2].generation, -1);
	plan_clear(&p);
	nodes_clear(&nodes);
	bindings_clear(&rows);
	generation_destroy((struct generation *)in.gen);
}

/* What is DOWN without a machine comes back with the fleet, not before. */
static void test_down_while_stopped(void **state)
{
	static const struct {
		enum fleet_status status;
		size_t actions;
	} c[] = { { FLEET_STOPPING, 0 }, { FLEET_STOPPED, 0 }, { FLEET_START_REQUESTED, 1 }, { FLEET_RUNNING, 1 } };
	struct a_node a = { "q-dy-a-1", NS_DOWN | NS_CLOUD | NS_POWERING_UP | NS_NO_RESPOND,
			    "(Code:FleetStopped)The fleet is stopped", NULL };
	struct nodes nodes = { 0 };
	struct bindings rows = { 0 };
	struct launches launches = { 0 };
	struct shortages shortages = { 0 };
	struct instances machines = { 0 };
	struct strs dead = { 0 };
	struct reconcile_input in = { .gen = make(), .nodes = &nodes, .bindings = &rows, .launches = &launches,
				      .shortages = &shortages, .instances = &machines, .dead_pids = &dead,
				      .now_ms = 1000000000, .observed_ms = 1000000000, .orphan_grace_ms = 120000 };

	(void)state;
	add_node(&a, &nodes, &rows);
	nodes.v[0].reason_time_s = 900000;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct plan p = { 0 };

		in.fleet = c[i].status;
		assert_int_equal(reconcile_plan(&in, &p, NULL), 0);
		assert_int_equal(p.n, c[i].actions);
		assert_true(p.n == 0 || p.v[0].kind == ACT_NODE_POWER_DOWN);
		plan_clear(&p);
	}
	nodes_clear(&nodes);
	generation_destroy((struct generation *)in.gen);
}

/* A node about which the fleet's plan has decided has no other decision in the same loop. */
static void test_decided_once(void **state)
{
	struct a_node a = { "q-dy-a-1", UP, NULL, "bound" };
	struct nodes nodes = { 0 };
	struct bindings rows = { 0 };
	struct launches launches = { 0 };
	struct shortages shortages = { 0 };
	struct instances machines = { 0 };
	struct strs dead = { 0 };
	struct plan p = { 0 };
	struct reconcile_input in = { .gen = make(), .nodes = &nodes, .bindings = &rows, .launches = &launches,
				      .shortages = &shortages, .instances = &machines, .dead_pids = &dead,
				      .fleet = FLEET_STOPPING, .now_ms = 1000000000, .observed_ms = 1000000000,
				      .orphan_grace_ms = 120000 };

	(void)state;
	add_node(&a, &nodes, &rows);
	rows.v[0].instance = str_dup("i-1");
	instances_add(&machines)->id = str_dup("i-1");
	machines.v[0].state = INSTANCE_TERMINATED;
	assert_int_equal(reconcile_plan(&in, &p, NULL), 0);
	assert_true(p.n > 1);
	plan_clear(&p);
	plan_add(&p, ACT_NODE_POWER_DOWN, "fleet-stop")->node = str_dup("q-dy-a-1");
	assert_int_equal(reconcile_plan(&in, &p, NULL), 0);
	assert_int_equal(p.n, 1);
	plan_clear(&p);
	plan_add(&p, ACT_FAILURES_CLEAR, "machine-came-up")->node = str_dup("q-dy-a-1"); /* is none */
	assert_int_equal(reconcile_plan(&in, &p, NULL), 0);
	assert_true(p.n > 2);
	plan_clear(&p);
	nodes_clear(&nodes);
	bindings_clear(&rows);
	instances_clear(&machines);
	generation_destroy((struct generation *)in.gen);
}

static void test_rest(void **state)
{
	static const struct a_node all[] = { { "q-dy-a-1", WORKS, NULL, "bound" },	  { "q-dy-a-2", UP | NS_MAINT, NULL, "bound" },
					     { "q-dy-a-3", UP | NS_POWERING_DOWN, NULL, "bound" }, { "q1-dy-a-1", OFF, NULL, NULL },
					     { "q1-dy-a-2", UP, NULL, "bound" },	  { "head01", WORKS, NULL, NULL } };
	struct nodes nodes = { 0 };
	struct bindings rows = { 0 };
	struct fleet_rest r;
	struct fleet_input in = { .gen = make(), .nodes = &nodes, .bindings = &rows, .fleet = { FLEET_STOPPING, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		add_node(&all[i], &nodes, &rows);
	assert_int_equal(fleet_rest(&in, &r, NULL), 0);
	assert_int_equal(r.busy, 1);
	assert_int_equal(r.reserved, 1);
	assert_int_equal(r.going, 2);
	assert_int_equal(r.off, 1);
	nodes_clear(&nodes);
	bindings_clear(&rows);
	generation_destroy((struct generation *)in.gen);
}

static void test_words(void **state)
{
	static const struct {
		const char *word;
		int rc;
		enum fleet_status status;
		bool now;
	} c[] = { { NULL, 0, FLEET_RUNNING, false },
		  { "RUNNING", 0, FLEET_RUNNING, false },
		  { "STOP_REQUESTED", 0, FLEET_STOP_REQUESTED, false },
		  { "STOPPING now", 0, FLEET_STOPPING, true },
		  { "STOPPED", 0, FLEET_STOPPED, false },
		  { "START_REQUESTED", 0, FLEET_START_REQUESTED, false },
		  { "STARTING", 0, FLEET_STARTING, false },
		  { "STOPPING later", 0, FLEET_STOPPING, false },
		  { "STOP", -1, FLEET_RUNNING, false },
		  { "STOPPEDX", -1, FLEET_RUNNING, false },
		  { "", -1, FLEET_RUNNING, false },
		  { "NEVER now", -1, FLEET_RUNNING, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct fleet f;
		char *again;

		assert_int_equal(fleet_parse(c[i].word, &f), c[i].rc);
		assert_int_equal(f.status, c[i].status);
		assert_int_equal(f.now, c[i].now);
		again = fleet_word(f.status, f.now);
		if (c[i].rc == 0 && c[i].word && !strstr(c[i].word, "later"))
			assert_string_equal(again, c[i].word);
		free(again);
	}
	assert_true(fleet_serves(FLEET_RUNNING) && fleet_serves(FLEET_START_REQUESTED) && fleet_serves(FLEET_STARTING));
	assert_false(fleet_serves(FLEET_STOP_REQUESTED) || fleet_serves(FLEET_STOPPING) || fleet_serves(FLEET_STOPPED));
	assert_true(fleet_refused("(Code:FleetStopped)The fleet is stopped"));
	assert_false(fleet_refused("(Code:FleetStoppedX)") || fleet_refused("FleetStopped") || fleet_refused(NULL));
}

static void test_closed(void **state)
{
	struct kvs l = { 0 };
	char *text;

	(void)state;
	assert_int_equal(fleet_closed_parse("q=UP junk  q1=DRAIN", &l), 0);
	assert_int_equal(l.key.n, 2);
	assert_string_equal(kvs_get(&l, "q1"), "DRAIN");
	text = fleet_closed_text(&l);
	assert_string_equal(text, "q=UP q1=DRAIN");
	free(text);
	kvs_clear(&l);
	assert_int_equal(fleet_closed_parse(NULL, &l), 0);
	text = fleet_closed_text(&l);
	assert_string_equal(text, "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_B07_B52_fleet), cmocka_unit_test(test_generation), cmocka_unit_test(test_rest),
		cmocka_unit_test(test_down_while_stopped), cmocka_unit_test(test_decided_once),
		cmocka_unit_test(test_words),	      cmocka_unit_test(test_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
