/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_plan_bindings.c - which machine is whose, when rows, slurmctld and EC2 do not say the same: after the state file was lost or
 * is an old copy, two names for one machine, two machines for one name, tags of ours on a machine that is not; and what remains of
 * ages after the clock was set.
 */
#include "tests/unit/cmocka_all.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/node/extra.h"
#include "lib/plan/capacity.h"
#include "lib/plan/reconcile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UUID "uuid-1"
#define HOUR INT64_C(3600000)
#define NOW (INT64_C(1000) * HOUR)
#define GRACE_MS 120000
#define RUN NS_ALLOCATED
#define WAKING (NS_ALLOCATED | NS_POWERING_UP)

struct world {
	struct generation *gen;
	struct nodes nodes;
	struct instances instances;
	struct bindings rows;
	struct launches launches;
	int64_t now_ms, clock_set_ms; /* now 0 = NOW */
};

static void add_resource(struct world *w, const char *name, int64_t cloud)
{
	struct gen_resource *r = generation_add_resource(w->gen);

	assert_non_null(r);
	r->queue = str_dup("q");
	r->name = str_dup(name);
	r->min_count = 1;
	r->max_count = 100;
	r->cloud = cloud;
}

static void world_create(struct world *w)
{
	*w = (struct world){ .gen = calloc(1, sizeof(*w->gen)) };
	assert_non_null(w->gen);
	w->gen->uuid = str_dup(UUID);
	w->gen->resume_timeout_s = 600;
	assert_non_null(generation_add_cloud(w->gen));
	add_resource(w, "a", 0);
	add_resource(w, "far", 1);
	assert_int_equal(generation_index(w->gen), 0);
}

static void world_destroy(struct world *w)
{
	generation_destroy(w->gen);
	nodes_clear(&w->nodes);
	instances_clear(&w->instances);
	bindings_clear(&w->rows);
	launches_clear(&w->launches);
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

static void add_row(struct world *w, const char *name, const char *launch, const char *instance, int64_t age_ms)
{
	struct binding *b = bindings_add(&w->rows);

	assert_non_null(b);
	b->node = str_dup(name);
	b->generation = 7;
	b->state = BINDING_BOUND;
	b->launch = str_dup(launch);
	b->instance = str_dup(instance);
	b->since_ms = NOW - age_ms;
}

static struct instance *add_machine(struct world *w, const char *id, const char *ip, const char *launch, size_t cloud)
{
	struct instance *i = instances_add(&w->instances);

	assert_non_null(i);
	i->id = str_dup(id);
	i->state = INSTANCE_RUNNING;
	i->private_ip = str_dup(ip);
	i->launch = str_dup(launch);
	i->cluster = str_dup(UUID);
	i->queue = str_dup("q");
	i->resource = str_dup(cloud ? "far" : "a");
	i->launch_time_ms = NOW - HOUR;
	i->cloud = cloud;
	return i;
}

/* "kind:code node instance" of each action, in order. */
static char first_reason[200]; /* of the last plan */

static void expect(struct world *w, const char *want)
{
	int64_t now = w->now_ms ? w->now_ms : NOW;
	const struct reconcile_input in = {
		.gen = w->gen,
		.nodes = &w->nodes,
		.instances = &w->instances,
		.bindings = &w->rows,
		.launches = &w->launches,
		.now_ms = now,
		.observed_ms = now - 500,
		.clock_set_ms = w->clock_set_ms,
		.orphan_grace_ms = GRACE_MS,
	};
	struct plan p = { 0 };
	struct buf b = { 0 };
	struct err e = { "" };

	if (reconcile_plan(&in, &p, &e))
		fail_msg("%s", e.text);
	snprintf(first_reason, sizeof(first_reason), "%s", p.n && p.v[0].reason ? p.v[0].reason : "");
	for (size_t i = 0; i < p.n; i++)
		buf_fmt(&b, "%s%s:%s %s %s", i ? ", " : "", action_kind_text(p.v[i].kind), p.v[i].code,
			p.v[i].node ? p.v[i].node : "-", p.v[i].instance ? p.v[i].instance : "-");
	assert_string_equal(buf_text(&b), want);
	buf_free(&b);
	plan_clear(&p);
}

/* Everything comes back: jobs, epilogs, nodes that are coming up, static ones, each in its own cloud. */
static void test_lost_rows_come_back(void **state)
{
	struct world w;

	(void)state;
	world_create(&w);
	add_node(&w, "q-st-a-1", NS_IDLE, "10.0.0.1", "L1");
	add_node(&w, "q-dy-a-1", RUN, "10.0.0.2", "L1");
	add_node(&w, "q-dy-a-2", WAKING, "10.0.0.3", "L2");
	add_node(&w, "q-dy-far-1", RUN, "10.0.0.2", "L3"); /* an address that the first cloud has, too */
	add_machine(&w, "i-1", "10.0.0.1", "L1", 0);
	add_machine(&w, "i-2", "10.0.0.2", "L1", 0);
	add_machine(&w, "i-3", "10.0.0.3", "L2", 0);
	add_machine(&w, "i-4", "10.0.0.2", "L3", 1);
	expect(&w, "bind:adopt q-st-a-1 i-1, bind:adopt q-dy-a-1 i-2, bind:adopt q-dy-a-2 i-3, bind:adopt q-dy-far-1 i-4");
	world_destroy(&w);
}

/* A machine whose node had no address yet cannot be told from the others of its launch. It is ended, the node gets another. */
static void test_lost_before_it_had_an_address(void **state)
{
	struct world w;

	(void)state;
	world_create(&w);
	add_node(&w, "q-dy-a-1", WAKING, NULL, NULL);
	add_machine(&w, "i-1", "10.0.0.1", "L1", 0);
	expect(&w, "terminate:orphan - i-1");
	world_destroy(&w);
}

/* slurmctld has just started and does not tell addresses; the rows are lost as well. */
static void test_slurmctld_forgot_addresses(void **state)
{
	struct world w;

	(void)state;
	world_create(&w);
	add_node(&w, "q-dy-a-1", RUN, "q-dy-a-1", "L1");
	add_machine(&w, "i-1", "10.0.0.1", "L1", 0);
	add_machine(&w, "i-2", "10.0.0.2", "L2", 0);
	expect(&w, "terminate:orphan - i-2");
	world_destroy(&w);
}

/* Slurm 23.11 keeps the id: it is enough where an address is not told. */
static void test_by_the_id_that_slurm_keeps(void **state)
{
	struct node *n;
	struct world w;

	(void)state;
	world_create(&w);
	n = add_node(&w, "q-dy-a-1", RUN, "10.0.0.1", "L1");
	n->instance = str_dup("i-1");
	add_machine(&w, "i-1", NULL, "L1", 0);
	add_machine(&w, "i-2", NULL, "L1", 0); /* of another node of that launch, perhaps: nobody says so */
	expect(&w, "bind:adopt q-dy-a-1 i-1");
	/* but an id is told when there is time, so an old one does not stand against address and launch */
	free(n->instance);
	n->instance = str_dup("i-9");
	w.instances.v[0].private_ip = str_dup("10.0.0.1");
	expect(&w, "bind:adopt q-dy-a-1 i-1");
	/* and does not take the machine that is at another address: one id for many nodes was a fault of some releases */
	n->extra[0] = 0;
	n->state = NS_IDLE | NS_CLOUD;
	free(n->instance);
	n->instance = str_dup("i-2");
	w.instances.v[1].private_ip = str_dup("10.0.0.2");
	expect(&w, "terminate:orphan - i-1, terminate:orphan - i-2");
	world_destroy(&w);
}

/* The node that says so by its launch has the machine, the other is only named. */
static void test_two_names_for_a_machine(void **state)
{
	struct world w;

	(void)state;
	world_create(&w);
	add_node(&w, "q-dy-a-1", NS_IDLE, "10.0.0.1", NULL);
	add_node(&w, "q-dy-a-2", NS_IDLE, "10.0.0.1", "L1");
	add_node(&w, "q-dy-a-3", NS_IDLE | NS_POWERED_DOWN, "10.0.0.1", NULL); /* says nothing */
	add_node(&w, "head01", NS_IDLE, "10.0.0.1", NULL);			 /* not ours */
	add_machine(&w, "i-1", "10.0.0.1", "L1", 0);
	expect(&w, "bind:adopt q-dy-a-2 i-1, note:two-names q-dy-a-1 i-1");
	add_row(&w, "q-dy-a-2", "L1", "i-1", HOUR);
	expect(&w, "note:two-names q-dy-a-1 i-1");
	w.instances.v[0].state = INSTANCE_TERMINATED; /* then it is the rules' about nodes */
	expect(&w, "down:machine-gone q-dy-a-2 i-1, unbind:machine-gone q-dy-a-2 i-1, power-down:machine-gone q-dy-a-2 -");
	world_destroy(&w);
}

/* A row was lost, its machine went, and EC2 gave the address to another node's machine, which answers slurmctld's pings. */
static void test_address_reused(void **state)
{
	struct world w;
	struct node *n;

	(void)state;
	world_create(&w);
	n = add_node(&w, "q-dy-a-1", RUN, "10.0.0.1", "L0");
	add_node(&w, "q-dy-a-2", RUN, "10.0.0.1", "L1");
	add_machine(&w, "i-1", "10.0.0.1", "L1", 0);
	add_row(&w, "q-dy-a-2", "L1", "i-1", HOUR);
	expect(&w, "down:address-reused q-dy-a-1 -, unbind:address-reused q-dy-a-1 -, power-down:address-reused q-dy-a-1 -");
	n->reason = str_dup("bad disk");
	n->state = NS_IDLE | NS_CLOUD | NS_DRAIN; /* a person's hold stays, and its words */
	expect(&w, "down:address-reused q-dy-a-1 -, unbind:address-reused q-dy-a-1 -");
	assert_string_equal(first_reason, "(Code:MachineGone)The machine of this node is gone, its address is now that of q-dy-a-2 "
					  "(was: bad disk)");
	n->state = NS_DOWN | NS_CLOUD;
	expect(&w, "unbind:address-reused q-dy-a-1 -");
	free(n->reason);
	n->reason = NULL;
	n->state = RUN | NS_CLOUD | NS_POWERING_UP; /* resume is about to give it another one */
	expect(&w, "note:two-names q-dy-a-1 i-1");
	n->state = RUN | NS_CLOUD; /* its own row knows better */
	add_row(&w, "q-dy-a-1", "L0", "i-0", 0);
	expect(&w, "note:two-names q-dy-a-1 i-1");
	world_destroy(&w);
}

/* In a small subnet an address is given away before the old node's is cleared. A node whose machine has ended, or that runs no job,
 * is on its way out: there is nothing to note. */
static void test_address_given_away(void **state)
{
	struct world w;
	struct instance *old;

	(void)state;
	world_create(&w);
	add_node(&w, "q-dy-a-1", NS_IDLE, "10.0.0.1", "L0");
	add_node(&w, "q-dy-a-2", RUN, "10.0.0.1", "L1");
	add_row(&w, "q-dy-a-1", "L0", "i-0", HOUR);
	add_row(&w, "q-dy-a-2", "L1", "i-1", HOUR);
	add_machine(&w, "i-1", "10.0.0.1", "L1", 0);
	old = add_machine(&w, "i-0", NULL, "L0", 0);
	expect(&w, "note:two-names q-dy-a-1 i-1");
	old->state = INSTANCE_SHUTTING_DOWN;
	expect(&w, "down:machine-gone q-dy-a-1 i-0, unbind:machine-gone q-dy-a-1 i-0, power-down:machine-gone q-dy-a-1 -");
	old->state = INSTANCE_TERMINATED;
	w.nodes.v[0].state = RUN | NS_CLOUD | NS_POWERING_UP;
	expect(&w, "boot-failed:machine-gone q-dy-a-1 i-0, down:machine-gone q-dy-a-1 i-0, unbind:machine-gone q-dy-a-1 i-0, "
		   "power-down:machine-gone q-dy-a-1 -");
	w.rows.v[0].state = BINDING_FREE;
	w.nodes.v[0].state = NS_DOWN | NS_CLOUD | NS_POWERING_UP;
	expect(&w, "power-down:boot-failed q-dy-a-1 -");
	w.nodes.v[0].state = NS_IDLE | NS_CLOUD | NS_POWERING_DOWN;
	expect(&w, "");
	world_destroy(&w);
}

/* The state file is an old copy: slurmctld knows better, unless the old machine still runs. */
static void test_two_machines_for_a_name(void **state)
{
	struct world w;

	(void)state;
	world_create(&w);
	add_node(&w, "q-dy-a-1", RUN, "10.0.0.2", "L2");
	add_row(&w, "q-dy-a-1", "L1", "i-1", HOUR);
	add_machine(&w, "i-1", "10.0.0.1", "L1", 0);
	add_machine(&w, "i-2", "10.0.0.2", "L2", 0);
	expect(&w, "note:two-machines q-dy-a-1 i-2, bind:untold q-dy-a-1 i-1");
	w.instances.v[0].state = INSTANCE_TERMINATED;
	expect(&w, "forget:row-outdated q-dy-a-1 i-1");
	w.rows.v[0].since_ms = NOW - 5000; /* just bound: slurmctld is told in a moment */
	expect(&w, "down:machine-gone q-dy-a-1 i-1, unbind:machine-gone q-dy-a-1 i-1, power-down:machine-gone q-dy-a-1 -");
	world_destroy(&w);
}

/* Ours by UUID, so it is ended, but the one who copied the tag is told; another UUID is not looked at whatever its name. */
static void test_tags_on_a_machine_of_somebody_else(void **state)
{
	struct world w;
	struct instance *other;

	(void)state;
	world_create(&w);
	add_machine(&w, "i-1", "10.0.0.1", NULL, 0);
	add_machine(&w, "i-2", "10.0.0.2", "L-unknown", 0);
	other = add_machine(&w, "i-3", "10.0.0.3", "L1", 0);
	free(other->cluster);
	other->cluster = str_dup("uuid-2");
	other->cluster_name = str_dup("ours");
	expect(&w, "note:no-launch - i-1, terminate:orphan - i-1, terminate:orphan - i-2");
	w.instances.v[0].launch_time_ms = w.instances.v[1].launch_time_ms = NOW - 5000;
	expect(&w, "note:no-launch - i-1");
	world_destroy(&w);
}

/* --- the clock */

/* Set forward by hours: nothing has become old by that. Ages count from there. */
static void test_clock_set_forward(void **state)
{
	struct world w;

	(void)state;
	world_create(&w);
	add_machine(&w, "i-1", "10.0.0.1", "L1", 0);
	add_node(&w, "q-dy-a-1", RUN | NS_NO_RESPOND, "10.0.0.2", "L2");
	add_row(&w, "q-dy-a-1", "L2", "i-2", HOUR); /* EC2 does not list it */
	w.clock_set_ms = NOW - GRACE_MS + 1;
	expect(&w, "");
	w.clock_set_ms = NOW - GRACE_MS;
	expect(&w, "down:machine-gone q-dy-a-1 i-2, terminate:machine-gone q-dy-a-1 i-2, unbind:machine-gone q-dy-a-1 i-2, "
		   "power-down:machine-gone q-dy-a-1 -, terminate:orphan - i-1");
	world_destroy(&w);
}

/* Set back by hours: what was written before then is not "written since we looked" for hours. */
static void test_clock_set_back(void **state)
{
	struct world w;

	(void)state;
	world_create(&w);
	add_machine(&w, "i-1", "10.0.0.1", "L1", 0);
	add_node(&w, "q-dy-a-1", NS_IDLE | NS_POWERED_DOWN, NULL, NULL);
	add_row(&w, "q-dy-a-1", "L2", "i-2", HOUR);
	w.now_ms = NOW - 5 * HOUR;
	expect(&w, ""); /* nobody saw it: then nothing is judged */
	w.clock_set_ms = w.now_ms - GRACE_MS + 1;
	expect(&w, "terminate:powered-down q-dy-a-1 i-2, unbind:powered-down q-dy-a-1 i-2");
	w.clock_set_ms = w.now_ms - GRACE_MS;
	expect(&w, "terminate:powered-down q-dy-a-1 i-2, unbind:powered-down q-dy-a-1 i-2, terminate:orphan - i-1");
	world_destroy(&w);
}

/* A pool that was closed before the clock was set back is not closed for hours. */
static void test_clock_set_back_and_capacity(void **state)
{
	static const struct capacity_rule rule = { .first_ms = 60000, .limit_ms = 600000 };
	struct shortage s = { .failures = 2, .failed_ms = NOW, .until_ms = NOW + 60000 };

	(void)state;
	assert_int_equal(capacity_allowed(&s, NOW - 5000), 0);
	assert_int_equal(capacity_allowed(&s, NOW - 5001), CAPACITY_UNLIMITED);
	assert_false(capacity_stale(&s, &rule, NOW - 5000));
	assert_true(capacity_stale(&s, &rule, NOW - 5 * HOUR));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost_rows_come_back),
		cmocka_unit_test(test_lost_before_it_had_an_address),
		cmocka_unit_test(test_slurmctld_forgot_addresses),
		cmocka_unit_test(test_by_the_id_that_slurm_keeps),
		cmocka_unit_test(test_two_names_for_a_machine),
		cmocka_unit_test(test_address_reused),
		cmocka_unit_test(test_address_given_away),
		cmocka_unit_test(test_two_machines_for_a_name),
		cmocka_unit_test(test_tags_on_a_machine_of_somebody_else),
		cmocka_unit_test(test_clock_set_forward),
		cmocka_unit_test(test_clock_set_back),
		cmocka_unit_test(test_clock_set_back_and_capacity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
