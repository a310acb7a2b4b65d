/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_apply_suspend.c - the order of suspend's effects, and that nothing is forgotten when a part of the world is away. */
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/state/store.h"
#include "tests/unit/fake_world.h"
#include "tests/unit/test.h"

static struct world w;

static int suspend(const char *list)
{
	struct strs names = {0};
	struct err e = {""};
	int rc;

	assert_int_equal(strs_split(&names, list, ','), 0);
	rc = apply_suspend(&w, (const char *const *)names.v, names.n, clock_mono_ms() + 100, &e);
	strs_clear(&names);
	return rc;
}

static void bind_node(const char *node, const char *instance, const char *ip)
{
	assert_int_equal(store_adopt(w.store, node, "l-1", instance, ip, NULL), 1);
	fake_instance(instance, ip, "l-1", INSTANCE_RUNNING);
}

static void ends_the_machine(void **state)
{
	(void)state;
	fake_open(&w, true);
	bind_node("q-dy-a-1", "i-1", "10.0.0.1");
	bind_node("q-dy-a-2", "i-2", "10.0.0.2");
	assert_int_equal(suspend("q-dy-a-1,q-dy-a-2"), 0);
	EXPECT_TRACE("ec2 terminate i-1", "ec2 terminate i-2", "slurm q-dy-a-1=203.0.113.1 q-dy-a-2=203.0.113.1 extra=");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "FREE");
	/* again: nothing to end, the address is written once more, and the node is asked for a machine without a row */
	assert_int_equal(suspend("q-dy-a-1"), 0);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=");
	fake_close(&w);
}

static void new_life_of_node_1(void)
{
	fake.on_terminate = NULL;
	assert_int_equal(store_free(w.store, "q-dy-a-1", -1, NULL, NULL), 1);
	bind_node("q-dy-a-1", "i-3", "10.0.0.3");
}

/* EC2 took longer than SuspendTimeout, and slurmctld had the node resumed: its new address stays. */
static void leaves_a_new_life_alone(void **state)
{
	(void)state;
	fake_open(&w, true);
	bind_node("q-dy-a-1", "i-1", "10.0.0.1");
	bind_node("q-dy-a-2", "i-2", "10.0.0.2");
	fake.on_terminate = new_life_of_node_1;
	assert_int_equal(suspend("q-dy-a-1,q-dy-a-2"), 0);
	EXPECT_TRACE("ec2 terminate i-1", "ec2 terminate i-2", "slurm q-dy-a-2=203.0.113.1 extra=");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "BOUND i-3");
	assert_string_equal(fake_row(&w, "q-dy-a-2"), "FREE");
	fake_close(&w);
}

static void leaves_an_absent_ec2_to_the_daemon(void **state)
{
	(void)state;
	fake_open(&w, true);
	bind_node("q-dy-a-1", "i-1", "10.0.0.1");
	fake.ec2_away = true;
	assert_int_equal(suspend("q-dy-a-1"), -1);
	EXPECT_TRACE("ec2 terminate i-1", "slurm q-dy-a-1=203.0.113.1 extra=");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "FREE"); /* the next life must not get the old machine */
	fake_close(&w);
}

static void keeps_going_without_slurmctld(void **state)
{
	(void)state;
	fake_open(&w, true);
	bind_node("q-dy-a-1", "i-1", "10.0.0.1");
	fake.slurm_away = true;
	assert_int_equal(suspend("q-dy-a-1"), -1);
	EXPECT_TRACE("ec2 terminate i-1");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "FREE");
	fake_close(&w);
}

/* slurmctld asks for what goes down or is down. What it shows up is another life, or runs a job. */
static void leaves_what_is_up_alone(void **state)
{
	static const struct {
		uint32_t state;
		bool ends;
	} cases[] = {
	    {NS_ALLOCATED, false},
	    {NS_MIXED | NS_DRAIN, false},
	    {NS_IDLE, false},
	    {NS_ALLOCATED | NS_POWERING_UP | NS_NO_RESPOND, false},
	    {NS_IDLE | NS_POWERING_DOWN, true},
	    {NS_MIXED | NS_POWERING_DOWN, true},
	    {NS_IDLE | NS_POWERED_DOWN, true},
	    {NS_MIXED | NS_POWER_DOWN, false}, /* asked for; a job still runs */
	    {NS_DOWN | NS_POWERING_UP, true},
	    {NS_DOWN | NS_POWERED_DOWN, true}, /* ResumeFailProgram */
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		fake_open(&w, true);
		bind_node("q-dy-a-1", "i-1", "10.0.0.1");
		fake_node("q-dy-a-1", cases[i].state, "10.0.0.1", "{\"slurm-ec2\":\"l-1\"}");
		assert_int_equal(suspend("q-dy-a-1"), 0);
		if (str_eq(fake_row(&w, "q-dy-a-1"), "FREE") != cases[i].ends || (fake.trace.n > 0) != cases[i].ends)
			fail_msg("state %x: %s", cases[i].state, fake_row(&w, "q-dy-a-1"));
		fake_close(&w);
	}
}

static void takes_the_claim_from_a_launch(void **state)
{
	struct launch l = {.id = str_dup("l-9"), .queue = str_dup("q"), .resource = str_dup("a"), .min_count = 1};
	struct strs taken = {0};

	(void)state;
	fake_open(&w, true);
	strs_add(&l.nodes, "q-dy-a-1");
	assert_int_equal(store_launch_claim(w.store, &l, &taken, NULL), 0);
	assert_int_equal(suspend("q-dy-a-1"), 0);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=");
	assert_int_equal(store_bind(w.store, "q-dy-a-1", "l-9", "i-1", NULL, NULL), 0); /* the launcher will end it */
	free(l.id);
	free(l.queue);
	free(l.resource);
	strs_clear(&l.nodes);
	strs_clear(&taken);
	fake_close(&w);
}

static void finds_the_machine_without_a_row(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake_node("q-dy-a-1", NS_IDLE | NS_POWERING_DOWN, "10.0.0.1", "{\"slurm-ec2\":\"l-1\"}");
	fake_node("q-dy-a-2", NS_IDLE | NS_POWERING_DOWN, "10.0.0.2", "{\"slurm-ec2\":\"l-other\"}");
	fake_node("q-dy-a-3", NS_IDLE | NS_POWERING_DOWN, "203.0.113.1", NULL);
	fake_instance("i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING);
	fake_instance("i-2", "10.0.0.2", "l-1", INSTANCE_RUNNING); /* same address, another launch: not this node's */
	assert_int_equal(suspend("q-dy-a-1,q-dy-a-2,q-dy-a-3"), 0);
	EXPECT_TRACE("ec2 describe private-ip-address", "ec2 terminate i-1",
		     "slurm q-dy-a-1=203.0.113.1 q-dy-a-2=203.0.113.1 q-dy-a-3=203.0.113.1 extra=");
	fake_close(&w);
}

static void never_ends_a_foreign_machine(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake_node("q-dy-a-1", NS_IDLE | NS_POWERING_DOWN, "10.0.0.1", "{\"slurm-ec2\":\"l-1\"}");
	free(fake_instance("i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING)->cluster);
	fake.cloud.v[0].cluster = str_dup("another uuid");
	assert_int_equal(suspend("q-dy-a-1"), 0);
	EXPECT_TRACE("ec2 describe private-ip-address", "slurm q-dy-a-1=203.0.113.1 extra=");
	fake_close(&w);
}

static void leaves_foreign_nodes_alone(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake_node("physical-1", NS_IDLE | NS_POWERING_DOWN, "10.0.0.1", NULL);
	assert_int_equal(suspend("physical-1,q-dy-b-1"), 0);
	fake_expect_nothing();
	/* a node of an older generation is ours as long as a row says so */
	bind_node("q-dy-b-1", "i-1", "10.0.0.1");
	assert_int_equal(suspend("q-dy-b-1"), 0);
	EXPECT_TRACE("ec2 terminate i-1", "slurm q-dy-b-1=203.0.113.1 extra=");
	fake_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ends_the_machine),
	    cmocka_unit_test(leaves_a_new_life_alone),
	    cmocka_unit_test(leaves_an_absent_ec2_to_the_daemon),
	    cmocka_unit_test(keeps_going_without_slurmctld),
	    cmocka_unit_test(leaves_what_is_up_alone),
	    cmocka_unit_test(takes_the_claim_from_a_launch),
	    cmocka_unit_test(finds_the_machine_without_a_row),
	    cmocka_unit_test(never_ends_a_foreign_machine),
	    cmocka_unit_test(leaves_foreign_nodes_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
