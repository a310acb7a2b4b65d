/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_node.c - state bits, addresses, and the plain lists of nodes, instances, jobs and rows. */
#include "tests/unit/cmocka_all.h"

#include "lib/base/str.h"
#include "lib/node/binding.h"
#include "lib/node/instance.h"
#include "lib/node/job.h"
#include "lib/node/node.h"

#include <stdlib.h>

static void test_state_is(void **state)
{
	uint32_t idle_off = NS_IDLE | NS_CLOUD | NS_POWERED_DOWN;

	(void)state;
	assert_true(node_state_is(idle_off, 1u << NS_IDLE, NS_POWERED_DOWN, NS_POWERING_UP));
	assert_true(node_state_is(idle_off, 0, 0, 0));
	assert_true(node_state_is(idle_off, 1u << NS_DOWN | 1u << NS_IDLE, 0, 0));
	assert_false(node_state_is(idle_off, 1u << NS_DOWN, NS_POWERED_DOWN, 0));
	assert_false(node_state_is(idle_off, 0, NS_POWERED_DOWN | NS_DRAIN, 0));
	assert_false(node_state_is(idle_off | NS_DRAIN, 0, NS_POWERED_DOWN, NS_DRAIN));
	/* a flag nobody knows yet changes nothing */
	assert_true(node_state_is(idle_off | 1u << 30, 1u << NS_IDLE, NS_POWERED_DOWN, NS_POWERING_UP));
}

static const struct {
	uint32_t state;
	const char *text;
} texts[] = {
	{ NS_IDLE | NS_CLOUD | NS_POWERED_DOWN, "IDLE+CLOUD+POWERED_DOWN" },
	{ NS_DOWN, "DOWN" },
	{ NS_ALLOCATED | NS_CLOUD | NS_NO_RESPOND | NS_POWERING_UP, "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP" },
	{ NS_MIXED | NS_DRAIN | NS_POWER_DOWN, "MIXED+DRAIN+POWER_DOWN" },
	{ NS_IDLE | 1u << 30 | 1u << 4, "IDLE+0x40000010" },
	{ 0xfu, "BASE_15" },
	{ 0, "UNKNOWN" },
};

static void test_state_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *s = node_state_text(texts[i].state);

		assert_string_equal(s, texts[i].text);
		free(s);
	}
}

static void test_addr(void **state)
{
	char name[] = "q-dy-c-1", ip[] = "10.0.0.5", placeholder[] = NODE_ADDR_PLACEHOLDER, empty[] = "";
	struct node n = { .name = name };

	(void)state;
	assert_false(node_has_addr(&n));
	n.addr = empty;
	assert_false(node_has_addr(&n));
	n.addr = name;
	assert_false(node_has_addr(&n));
	n.addr = placeholder;
	assert_false(node_has_addr(&n));
	n.addr = ip;
	assert_true(node_has_addr(&n));
}

static void test_instance_state(void **state)
{
	(void)state;
	for (int s = INSTANCE_PENDING; s <= INSTANCE_TERMINATED; s++)
		assert_int_equal(instance_state_parse(instance_state_text((enum instance_state)s)), s);
	assert_int_equal(instance_state_parse("Running"), INSTANCE_UNKNOWN);
	assert_int_equal(instance_state_parse(NULL), INSTANCE_UNKNOWN);
	assert_true(instance_alive(INSTANCE_PENDING) && instance_alive(INSTANCE_STOPPED) && instance_alive(INSTANCE_STOPPING));
	assert_false(instance_alive(INSTANCE_UNKNOWN) || instance_alive(INSTANCE_SHUTTING_DOWN) ||
		     instance_alive(INSTANCE_TERMINATED));
}

/* Lists grow, find, and free everything (the sanitizer build watches). */
static void test_lists(void **state)
{
	struct nodes nodes = { 0 };
	struct instances instances = { 0 };
	struct bindings bindings = { 0 };
	struct launches launches = { 0 };
	struct resume_request r = { 0 };

	(void)state;
	for (int i = 0; i < 100; i++) {
		nodes_add(&nodes)->name = str_fmt("n%d", i);
		instances_add(&instances)->id = str_fmt("i-%d", i);
		bindings_add(&bindings)->node = str_fmt("n%d", i);
		launches_add(&launches)->id = str_fmt("l%d", i);
		assert_int_equal(resume_request_add_job(&r)->priority, -1);
	}
	nodes.v[3].reason = str_dup("why");
	instances.v[3].groups.id = calloc(1, sizeof(char *));
	instances.v[3].groups.id[0] = str_dup("sg-1");
	instances.v[3].groups.n = 1;
	assert_int_equal(strs_add(&r.jobs[4].nodes, "n1"), 0);
	assert_ptr_equal(nodes_find(&nodes, "n99"), &nodes.v[99]);
	assert_null(nodes_find(&nodes, "n100"));
	assert_ptr_equal(instances_find(&instances, "i-5"), &instances.v[5]);
	assert_null(instances_find(&instances, "i-"));
	assert_ptr_equal(bindings_find(&bindings, "n5"), &bindings.v[5]);
	assert_null(bindings_find(&bindings, ""));
	nodes_clear(&nodes);
	instances_clear(&instances);
	bindings_clear(&bindings);
	launches_clear(&launches);
	resume_request_clear(&r);
	assert_int_equal(nodes.n + instances.n + bindings.n + launches.n + r.n_jobs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_state_is),       cmocka_unit_test(test_state_text), cmocka_unit_test(test_addr),
		cmocka_unit_test(test_instance_state), cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
