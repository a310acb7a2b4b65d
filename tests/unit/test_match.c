/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_match.c - which node a machine may take for itself. */
#include "computemgtd/match.h"

#include "lib/node/extra.h"
#include "lib/node/node.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define UP (NS_CLOUD | NS_POWERING_UP | NS_NO_RESPOND)

static char own[] = "10.77.0.5", other[] = "10.77.0.50", placeholder[] = NODE_ADDR_PLACEHOLDER, name[] = "q1-dy-a-1";
static const struct self self = {.address = "10.77.0.5", .launch = "l-1"};

static const struct {
	const char *what;
	uint32_t state;
	char *addr;
	const char *launch; /* NULL = no extra */
	bool ours;
} rows[] = {
    {"the node we were launched for", NS_IDLE | UP, own, "l-1", true},
    {"with a job waiting for it", NS_ALLOCATED | UP, own, "l-1", true},
    {"shared by jobs", NS_MIXED | UP, own, "l-1", true},
    {"set DOWN while coming up", NS_DOWN | UP, own, "l-1", true},
    {"drained while coming up", NS_IDLE | NS_DRAIN | UP, own, "l-1", true},
    {"unknown state bits", NS_IDLE | UP | (1u << 30), own, "l-1", true},
    {"another launch: a left-over address", NS_IDLE | UP, own, "l-0", false},
    {"launch that begins like ours", NS_IDLE | UP, own, "l-11", false},
    {"no launch yet", NS_IDLE | UP, own, NULL, false},
    {"another address", NS_IDLE | UP, other, "l-1", false},
    {"placeholder", NS_IDLE | UP, placeholder, "l-1", false},
    {"no address", NS_IDLE | UP, NULL, "l-1", false},
    {"address is the node's name", NS_IDLE | UP, name, "l-1", false},
    {"powered down", NS_IDLE | NS_CLOUD | NS_POWERED_DOWN, own, "l-1", false},
    {"powering up, powered down", NS_IDLE | UP | NS_POWERED_DOWN, own, "l-1", false},
    {"powering down", NS_IDLE | NS_CLOUD | NS_POWERING_DOWN, own, "l-1", false},
    {"told to power down", NS_IDLE | UP | NS_POWER_DOWN, own, "l-1", false},
    {"up already", NS_IDLE | NS_CLOUD, own, "l-1", false},
    {"ResumeTimeout passed", NS_DOWN | NS_CLOUD | NS_POWERED_DOWN, own, "l-1", false},
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *extra = rows[i].launch ? extra_format(rows[i].launch) : NULL;
		struct node n = {.name = name, .state = rows[i].state, .addr = rows[i].addr, .extra = extra};
		if (match_node(&n, &self) != rows[i].ours)
			fail_msg("%s", rows[i].what);
		free(extra);
	}
}

static void test_foreign_extra(void **state)
{
	(void)state;
	static char text[][40] = {"", "l-1", "{", "{\"other\":\"l-1\"}", "{\"slurm-ec2\":1}"};

	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++) {
		struct node n = {.name = name, .state = NS_IDLE | UP, .addr = own, .extra = text[i]};
		assert_false(match_node(&n, &self));
	}
}

static void test_count(void **state)
{
	(void)state;
	char *extra = extra_format("l-1");
	struct node v[] = {
	    {.name = name, .state = NS_IDLE | UP, .addr = other, .extra = extra},
	    {.name = name, .state = NS_IDLE | UP, .addr = own, .extra = extra},
	    {.name = name, .state = NS_IDLE | UP, .addr = own, .extra = extra},
	};
	struct nodes l = {.v = v, .n = 1};
	const struct node *found = NULL;

	assert_int_equal(match_nodes(&l, &self, &found), 0);
	assert_null(found);
	l.n = 2;
	assert_int_equal(match_nodes(&l, &self, &found), 1);
	assert_ptr_equal(found, &v[1]);
	l.n = 3;
	assert_int_equal(match_nodes(&l, &self, &found), 2);
	free(extra);
}

/* 1000 machines that each read 10 000 rows would cost 21 s; a handful costs nothing worth waiting for. */
static void test_spread(void **state)
{
	static const struct {
		size_t up, all;
		int64_t least, most;
	} worlds[] = {{0, 0, 0, 0},	  {0, 10000, 0, 0},	      {1, 10, 0, 0},
		      {10, 100, 0, 10}, {1000, 1000, 4000, 4400}, {1000, 10000, 30000, 30000}};

	(void)state;
	for (size_t i = 0; i < sizeof(worlds) / sizeof(*worlds); i++) {
		struct node *v = calloc(worlds[i].all + 1, sizeof(*v));
		struct nodes l = {.v = v, .n = worlds[i].all};

		assert_non_null(v);
		for (size_t k = 0; k < worlds[i].all; k++)
			v[k].state = k < worlds[i].up ? NS_IDLE | UP : NS_IDLE | NS_CLOUD | NS_POWERED_DOWN;
		assert_in_range(match_spread_ms(&l), worlds[i].least, worlds[i].most);
		free(v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rows),
	    cmocka_unit_test(test_foreign_extra),
	    cmocka_unit_test(test_count),
	    cmocka_unit_test(test_spread),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
