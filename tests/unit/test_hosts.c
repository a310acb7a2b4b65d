/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_hosts.c - whom a machine must be able to name, and the block in /etc/hosts. */
#include "computemgtd/hosts.h"

#include "lib/base/str.h"
#include "lib/node/node.h"
#include "lib/node/nodeset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define BLOCK_BEGIN "# slurm-ec2: nodes of jobs that a restarted slurmctld took over\n"
#define BLOCK_END "# slurm-ec2: end\n"
#define UP (NS_ALLOCATED | NS_CLOUD)

static struct nodeset *set_of(const char *text)
{
	struct nodeset *s = nodeset_create();

	assert_non_null(s);
	assert_int_equal(nodeset_parse(s, text, NULL), 0);
	return s;
}

static const struct {
	const char *what, *hostlist;
	size_t jobs, peers;
} choices[] = {
    {"first of two", "q-dy-a-[1-2]", 1, 2},
    {"in the middle", "p-1,q-dy-a-[0-3]", 1, 5},
    {"alone", "q-dy-a-1", 0, 0},
    {"not here", "q-dy-a-[2-9]", 0, 0},
    {"a name that begins like ours", "q-dy-a-[10-12]", 0, 0},
    {"none", "", 0, 0},
    {"malformed", "q-dy-a-[1-", 0, 0},
};

static void test_choose(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
		struct kvs jobs = {0}, kept = {0};
		struct nodeset *peers = nodeset_create();

		assert_int_equal(kvs_add(&jobs, "7", choices[i].hostlist), 0);
		assert_int_equal(hosts_choose(&jobs, "q-dy-a-1", &kept, peers), 0);
		if (kept.key.n != choices[i].jobs || nodeset_count(peers) != choices[i].peers)
			fail_msg("%s: %zu jobs, %zu peers", choices[i].what, kept.key.n, nodeset_count(peers));
		kvs_clear(&jobs);
		kvs_clear(&kept);
		nodeset_destroy(peers);
	}
}

static void test_settled(void **state)
{
	(void)state;
	char one[] = "n-1", two[] = "n-2", other[] = "m-1", addr[] = "10.0.0.1", none[] = NODE_ADDR_PLACEHOLDER;
	struct node v[] = {{.name = one, .state = UP, .addr = addr},
			   {.name = two, .state = UP, .addr = addr},
			   {.name = other, .state = NS_IDLE | NS_POWERED_DOWN, .addr = none}};
	struct nodes l = {.v = v, .n = 3};
	struct nodeset *names = set_of("n-[1-2]");

	assert_true(hosts_settled(&l, names));
	v[1].state |= NS_POWERING_UP;
	assert_false(hosts_settled(&l, names));
	v[1].state = UP;
	v[1].addr = none;
	assert_false(hosts_settled(&l, names));
	v[1].addr = addr;
	v[1].name = other;
	assert_false(hosts_settled(&l, names));
	nodeset_destroy(names);
}

static void check_merge(const char *text, const struct nodes *l, const char *wanted)
{
	struct nodeset *names = set_of("n-[1-3]");
	char *got = hosts_merge(text, l, names, "n-1");

	assert_string_equal(got, wanted);
	free(got);
	nodeset_destroy(names);
}

static void test_merge(void **state)
{
	(void)state;
	char own[] = "n-1", two[] = "n-2", three[] = "n-3", other[] = "n-4";
	char a1[] = "10.0.0.1", a2[] = "10.0.0.2", a6[] = "fd00::3", none[] = NODE_ADDR_PLACEHOLDER, name[] = "host.example";
	struct node v[] = {{.name = own, .addr = a1},
			   {.name = two, .addr = a2},
			   {.name = three, .addr = a6},
			   {.name = other, .addr = a2}};
	struct nodes l = {.v = v, .n = 4}, empty = {0};

#define BLOCK BLOCK_BEGIN "10.0.0.2 n-2\nfd00::3 n-3\n" BLOCK_END
	check_merge("127.0.0.1 localhost\n", &l, "127.0.0.1 localhost\n" BLOCK);
	check_merge("127.0.0.1 localhost", &l, "127.0.0.1 localhost\n" BLOCK);
	check_merge("", &l, BLOCK);
	check_merge("a\n" BLOCK_BEGIN "1.1.1.1 n-2\n" BLOCK_END "b\n", &l, "a\nb\n" BLOCK);
	check_merge("a\n" BLOCK "b\n", &empty, "a\nb\n");
	check_merge("a\n" BLOCK_BEGIN "b\n", &empty, "a\nb\n"); /* its end was cut off: nothing of others is lost */
	v[1].addr = none;
	v[2].addr = name; /* only an address may stand there */
	check_merge("a\n" BLOCK, &l, "a\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_choose),
	    cmocka_unit_test(test_settled),
	    cmocka_unit_test(test_merge),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
