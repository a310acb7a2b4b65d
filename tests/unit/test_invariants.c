/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_invariants.c - what must hold is seen when it does not, and not said of a world that is only young or half read. */
#include "tests/unit/cmocka_all.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/plan/invariants.h"

#include <stdlib.h>
#include <string.h>

#define NOW INT64_C(1000000000)
#define GRACE (300 * 1000)
#define UP (NS_IDLE | NS_CLOUD)

struct a_row {
	const char *node, *instance, *launch; /* instance NULL = launching */
	int64_t age_s;
};
struct a_machine {
	const char *id, *ip, *launch;
	enum instance_state state;
	int64_t age_s;
	size_t cloud;
};
struct a_node {
	const char *name;
	uint32_t state;
	const char *addr;
};
struct a_launch {
	const char *id;
	int64_t age_s;
};

struct one {
	const char *why;
	struct a_machine machine[3];
	struct a_row row[3];
	struct a_node node[3];
	struct a_launch launch[2];
	bool no_rows, no_ec2, no_slurm;
	const char *want; /* "code node instance" a line */
};

static const struct one ones[] = {
	{ .why = "all is well", .machine = { { "i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING, 900, 0 } },
	  .row = { { "q-dy-a-1", "i-1", "l-1", 900 } }, .node = { { "q-dy-a-1", UP, "10.0.0.1" }, { "q-dy-a-2", UP, "203.0.113.1" } },
	  .want = "" },
	{ .why = "a machine without a row", .machine = { { "i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING, 301, 0 } },
	  .want = "machine-without-row - i-1\n" },
	{ .why = "a stopped one bills too", .machine = { { "i-1", NULL, NULL, INSTANCE_STOPPED, 301, 0 } },
	  .want = "machine-without-row - i-1\n" },
	{ .why = "it is young", .machine = { { "i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING, 299, 0 } }, .want = "" },
	{ .why = "its launch is under way", .machine = { { "i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING, 400, 0 } },
	  .launch = { { "l-1", 400 } }, .want = "" },
	{ .why = "it is over", .machine = { { "i-1", "10.0.0.1", "l-1", INSTANCE_SHUTTING_DOWN, 900, 0 } }, .want = "" },
	{ .why = "rows were not read", .machine = { { "i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING, 900, 0 } }, .no_rows = true,
	  .want = "" },
	{ .why = "EC2 was not read", .row = { { "q-dy-a-1", "i-1", "l-1", 900 }, { "q-dy-a-2", "i-1", "l-1", 900 } }, .no_ec2 = true,
	  .want = "machine-with-two-nodes q-dy-a-2 i-1\n" },

	{ .why = "D: the row says one machine, Slurm another",
	  .machine = { { "i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING, 900, 0 }, { "i-2", "10.0.0.2", "l-2", INSTANCE_RUNNING, 900, 0 } },
	  .row = { { "q-dy-a-1", "i-1", "l-1", 900 }, { "q-dy-a-2", "i-2", "l-2", 900 } },
	  .node = { { "q-dy-a-1", UP, "10.0.0.2" } }, .want = "node-with-two-machines q-dy-a-1 i-2\n" },
	{ .why = "the row is young, Slurm will be told",
	  .machine = { { "i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING, 900, 0 }, { "i-2", "10.0.0.2", "l-2", INSTANCE_RUNNING, 900, 0 } },
	  .row = { { "q-dy-a-1", "i-1", "l-1", 299 }, { "q-dy-a-2", "i-2", "l-2", 900 } },
	  .node = { { "q-dy-a-1", UP, "10.0.0.2" } }, .want = "" },
	{ .why = "the same address in another cloud",
	  .machine = { { "i-2", "10.0.0.1", "l-2", INSTANCE_RUNNING, 900, 1 }, { "i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING, 900, 0 } },
	  .row = { { "q-dy-a-1", "i-1", "l-1", 900 }, { "far-dy-b-1", "i-2", "l-2", 900 } },
	  .node = { { "q-dy-a-1", UP, "10.0.0.1" }, { "far-dy-b-1", UP, "10.0.0.1" } }, .want = "" },
	{ .why = "slurmctld was not read",
	  .machine = { { "i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING, 900, 0 }, { "i-2", "10.0.0.2", "l-2", INSTANCE_RUNNING, 900, 0 } },
	  .row = { { "q-dy-a-1", "i-1", "l-1", 900 }, { "q-dy-a-2", "i-2", "l-2", 900 } },
	  .node = { { "q-dy-a-1", UP, "10.0.0.2" } }, .no_slurm = true, .want = "" },

	{ .why = "one machine, two rows", .machine = { { "i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING, 900, 0 } },
	  .row = { { "q-dy-a-1", "i-1", "l-1", 900 }, { "q-dy-a-2", "i-1", "l-1", 900 } },
	  .want = "machine-with-two-nodes q-dy-a-2 i-1\n" },
	{ .why = "two nodes of one address", .node = { { "q-dy-a-1", UP, "10.0.0.1" }, { "q-dy-a-2", UP, "10.0.0.1" } },
	  .want = "machine-with-two-nodes q-dy-a-2 -\n" },
	{ .why = "one of them is off, or is not ours",
	  .node = { { "q-dy-a-1", UP, "10.0.0.1" },
		    { "q-dy-a-2", UP | NS_POWERED_DOWN, "10.0.0.1" },
		    { "site-1", NS_IDLE, "10.0.0.1" } },
	  .want = "" },
	{ .why = "its own machine has ended, and EC2 gave the address to another node's",
	  .machine = { { "i-1", "10.0.0.1", "l-1", INSTANCE_TERMINATED, 900, 0 }, { "i-2", "10.0.0.1", "l-2", INSTANCE_RUNNING, 60, 0 } },
	  .row = { { "q-dy-a-1", "i-1", "l-1", 900 }, { "q-dy-a-2", "i-2", "l-2", 60 } },
	  .node = { { "q-dy-a-1", UP, "10.0.0.1" }, { "q-dy-a-2", UP, "10.0.0.1" } }, .want = "" },
	{ .why = "it is ending",
	  .machine = { { "i-1", NULL, "l-1", INSTANCE_SHUTTING_DOWN, 900, 0 }, { "i-2", "10.0.0.1", "l-2", INSTANCE_RUNNING, 60, 0 } },
	  .row = { { "q-dy-a-1", "i-2", "l-2", 60 }, { "q-dy-a-2", "i-1", "l-1", 900 } },
	  .node = { { "q-dy-a-1", UP, "10.0.0.1" }, { "q-dy-a-2", UP, "10.0.0.1" } }, .want = "" },
	{ .why = "it only stops: EC2 does not give its address away",
	  .machine = { { "i-1", "10.0.0.1", "l-1", INSTANCE_STOPPED, 900, 0 }, { "i-2", "10.0.0.1", "l-2", INSTANCE_RUNNING, 60, 0 } },
	  .row = { { "q-dy-a-1", "i-1", "l-1", 900 }, { "q-dy-a-2", "i-2", "l-2", 60 } },
	  .node = { { "q-dy-a-1", UP, "10.0.0.1" }, { "q-dy-a-2", UP, "10.0.0.1" } },
	  .want = "machine-with-two-nodes q-dy-a-2 -\n" },
	{ .why = "the others run no job",
	  .node = { { "q-dy-a-1", NS_DOWN | NS_CLOUD, "10.0.0.1" },
		    { "q-dy-a-2", UP, "10.0.0.1" },
		    { "q-dy-a-3", UP | NS_POWERING_DOWN, "10.0.0.1" } },
	  .want = "" },

	{ .why = "a claim whose launch is over", .row = { { "q-dy-a-1", NULL, "l-1", 301 } },
	  .want = "launch-unaccounted q-dy-a-1 -\n" },
	{ .why = "a claim whose launch is open", .row = { { "q-dy-a-1", NULL, "l-1", 301 } }, .launch = { { "l-1", 301 } }, .want = "" },
	{ .why = "a young claim", .row = { { "q-dy-a-1", NULL, "l-1", 299 } }, .want = "" },
	{ .why = "a launch that nobody ends", .launch = { { "l-1", 900 }, { "l-2", 899 } }, .want = "launch-unaccounted - -\n" },
};

static struct generation *make(void)
{
	struct generation *g = calloc(1, sizeof(*g));
	struct gen_resource *r;

	assert_non_null(g);
	g->resume_timeout_s = 600;
	r = generation_add_resource(g);
	r->queue = str_dup("q");
	r->name = str_dup("a");
	r->max_count = 4;
	r = generation_add_resource(g);
	r->queue = str_dup("far");
	r->name = str_dup("b");
	r->max_count = 4;
	r->cloud = 1;
	return g;
}

struct a_world {
	struct instances machines;
	struct bindings rows;
	struct nodes nodes;
	struct launches launches;
};

static void fill(struct a_world *w, const struct one *c)
{
	for (size_t i = 0; i < 3 && c->machine[i].id; i++) {
		struct instance *m = instances_add(&w->machines);

		m->id = str_dup(c->machine[i].id);
		m->private_ip = str_dup(c->machine[i].ip);
		m->launch = str_dup(c->machine[i].launch);
		m->state = c->machine[i].state;
		m->cloud = c->machine[i].cloud;
		m->launch_time_ms = NOW - c->machine[i].age_s * 1000;
	}
	for (size_t i = 0; i < 3 && c->row[i].node; i++) {
		struct binding *b = bindings_add(&w->rows);

		b->node = str_dup(c->row[i].node);
		b->instance = str_dup(c->row[i].instance);
		b->launch = str_dup(c->row[i].launch);
		b->state = b->instance ? BINDING_BOUND : BINDING_LAUNCHING;
		b->since_ms = NOW - c->row[i].age_s * 1000;
	}
	for (size_t i = 0; i < 3 && c->node[i].name; i++) {
		struct node *n = nodes_add(&w->nodes);

		n->name = str_dup(c->node[i].name);
		n->addr = str_dup(c->node[i].addr);
		n->state = c->node[i].state;
	}
	for (size_t i = 0; i < 2 && c->launch[i].id; i++) {
		struct launch *l = launches_add(&w->launches);

		l->id = str_dup(c->launch[i].id);
		l->created_ms = NOW - c->launch[i].age_s * 1000;
	}
}

static char *run_one(const struct one *c)
{
	struct a_world w = { 0 };
	struct generation *g = make();
	struct violations found = { 0 };
	struct reconcile_input in = { .gen = g,
				      .nodes = c->no_slurm ? NULL : &w.nodes,
				      .instances = c->no_ec2 ? NULL : &w.machines,
				      .bindings = c->no_rows ? NULL : &w.rows,
				      .launches = c->no_rows ? NULL : &w.launches,
				      .now_ms = NOW,
				      .observed_ms = NOW,
				      .orphan_grace_ms = GRACE };
	struct buf b = { 0 };

	fill(&w, c);
	assert_int_equal(invariants_check(&in, &found, NULL), 0);
	buf_str(&b, "");
	for (size_t i = 0; i < found.n; i++) {
		const struct violation *v = &found.v[i];

		buf_fmt(&b, "%s %s %s\n", v->code, v->node ? v->node : "-", v->instance ? v->instance : "-");
		assert_true(strlen(v->text) > 20);
	}
	violations_clear(&found);
	instances_clear(&w.machines);
	bindings_clear(&w.rows);
	nodes_clear(&w.nodes);
	launches_clear(&w.launches);
	generation_destroy(g);
	return buf_take(&b);
}

static void test_D_invariants(void **state)
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

/* A metric has each code, so each that is found must be in the list. */
static void test_codes(void **state)
{
	size_t n = 0;

	(void)state;
	while (invariant_codes[n])
		n++;
	assert_int_equal(n, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_D_invariants), cmocka_unit_test(test_codes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
