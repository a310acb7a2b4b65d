/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_name.c - node names against the pairs of a generation: cuts, anchors, counts, and speed of structure (not of time). */
#include "tests/unit/cmocka_all.h"

#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/node/name.h"

#include <stdlib.h>
#include <string.h>

static struct generation *gen_of(const char *const (*pairs)[2], size_t n, int min, int max)
{
	struct generation *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	for (size_t i = 0; i < n; i++) {
		struct gen_resource *r = generation_add_resource(g);

		assert_non_null(r);
		r->queue = str_dup(pairs[i][0]);
		r->name = str_dup(pairs[i][1]);
		r->min_count = min;
		r->max_count = max;
	}
	return g;
}

static const char *const pairs[][2] = {
	{ "queue1", "c5xlarge" },
	{ "queue-1", "c5-xl-ar-g-e--" },
	{ "queue1-st", "c5xlarge" },
	{ "queue1-dy-dy-dy", "c5xlarge" },
	{ "queue", "st" },
	{ "q", "a-dy" },
	{ "st", "st" },
	{ "-", "a" },
	{ "q", "-" },
	{ "q", "c" },
	{ "q-st-a", "b" },   /* q-st-a-dy-b-N could also be (q, st, a-dy-b), which is not a pair */
	{ "two", "x-dy-y" }, /* two-st-x-dy-y-N: only this one */
};

static const struct {
	const char *name;
	int pair; /* -1 = none of ours */
	bool is_static;
	int n;
} cases[] = {
	{ "queue1-st-c5xlarge-1", 0, true, 1 },
	{ "queue1-dy-c5xlarge-6", 0, false, 6 },
	{ "queue-1-st-c5-xl-ar-g-e---1", 1, true, 1 },
	{ "queue1-st-dy-c5xlarge-1", 2, false, 1 },
	{ "queue1-st-st-c5xlarge-4", 2, true, 4 },
	{ "queue1-dy-dy-dy-dy-c5xlarge-1", 3, false, 1 },
	{ "queue-dy-st-1", 4, false, 1 },
	{ "q-dy-a-dy-1", 5, false, 1 },
	{ "st-st-st-1", 6, true, 1 },
	{ "--st-a-1", 7, true, 1 },
	{ "q-st---1", 8, true, 1 },
	{ "q-st-a-dy-b-2", 10, false, 2 },
	{ "two-st-x-dy-y-2", 11, true, 2 },
	/* not ours */
	{ "-st-a-1", -1, 0, 0 },
	{ "q-st--1", -1, 0, 0 },
	{ "q-st-c-01", -1, 0, 0 },
	{ "q-st-c-0", -1, 0, 0 },
	{ "q-st-c--1", -1, 0, 0 },
	{ "q-st-c-+1", -1, 0, 0 },
	{ "q-st-c-", -1, 0, 0 },
	{ "q-st-c", -1, 0, 0 },
	{ "q-st-c-1\n", -1, 0, 0 },
	{ "q-st-c-1 ", -1, 0, 0 },
	{ " q-st-c-1", -1, 0, 0 },
	{ "q-st-c-\xd9\xa1", -1, 0, 0 }, /* an Arabic digit */
	{ "Q-st-c-1", -1, 0, 0 },
	{ "q-st-C-1", -1, 0, 0 },
	{ "q-st-c-[1-3]", -1, 0, 0 },
	{ "XXq-st-c-1", -1, 0, 0 },
	{ "q-sd-c-1", -1, 0, 0 },
	{ "q-st-c-5", -1, 0, 0 },  /* MinCount is 4 */
	{ "q-dy-c-7", -1, 0, 0 },  /* MaxCount 10 - 4 = 6 */
	{ "q-dy-cc-1", -1, 0, 0 },
	{ "q-dy--1", -1, 0, 0 },
	{ "qq-dy-c-1", -1, 0, 0 },
	{ "q-dy-c-99999999999999999999", -1, 0, 0 },
	{ "q-dy-c-4294967297", -1, 0, 0 },
	{ "head01", -1, 0, 0 },
	{ "-1", -1, 0, 0 },
	{ "", -1, 0, 0 },
	{ "-", -1, 0, 0 },
	{ "-dy-1", -1, 0, 0 },
};

static void check_all(const struct generation *g)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct node_name at = { .resource = 77 };
		int rc = node_name_resolve(g, cases[i].name, &at);

		if (rc != (cases[i].pair < 0 ? -1 : 0))
			fail_msg("\"%s\" gave %d", cases[i].name, rc);
		if (rc)
			continue;
		if (at.resource != (size_t)cases[i].pair || at.is_static != cases[i].is_static || at.n != cases[i].n)
			fail_msg("\"%s\" gave pair %zu, static %d, n %d", cases[i].name, at.resource, at.is_static, at.n);
	}
}

static void test_resolve(void **state)
{
	struct generation *g = gen_of(pairs, sizeof(pairs) / sizeof(pairs[0]), 4, 10);

	(void)state;
	check_all(g); /* without the index */
	assert_int_equal(generation_index(g), 0);
	check_all(g);
	assert_int_equal(node_name_resolve(g, NULL, &(struct node_name){ 0 }), -1);
	generation_destroy(g);
}

static void test_any(void **state)
{
	struct generation *g = gen_of(pairs, sizeof(pairs) / sizeof(pairs[0]), 0, 2);
	struct node_name at;

	(void)state;
	assert_int_equal(node_name_resolve(g, "q-dy-c-3", &at), -1);
	assert_int_equal(node_name_resolve_any(g, "q-dy-c-3", &at), 0);
	assert_int_equal(at.n, 3);
	assert_int_equal(node_name_resolve(g, "q-st-c-1", &at), -1);
	assert_int_equal(node_name_resolve_any(g, "q-st-c-1", &at), 0);
	assert_true(at.is_static);
	assert_int_equal(node_name_resolve_any(g, "q-st-cx-1", &at), -1);
	generation_destroy(g);
}

/* Two pairs give one text; the one whose counts hold the number is meant. */
static void test_counts_decide(void **state)
{
	static const char *const two[][2] = { { "q", "a-dy-b" }, { "q-st-a", "b" } };
	struct generation *g = gen_of(two, 2, 0, 4);
	struct node_name at;

	(void)state;
	g->resources[0].min_count = 2;
	g->resources[1].max_count = 0;
	assert_int_equal(node_name_resolve(g, "q-st-a-dy-b-2", &at), 0);
	assert_int_equal(at.resource, 0);
	assert_true(at.is_static);
	generation_destroy(g);
}

static void test_format(void **state)
{
	char *s;

	(void)state;
	s = node_name_format("queue1", "t2micro", false, 10);
	assert_string_equal(s, "queue1-dy-t2micro-10");
	free(s);
	s = node_name_range("queue1", "t2micro", false, 10);
	assert_string_equal(s, "queue1-dy-t2micro-[1-10]");
	free(s);
	s = node_name_range("queue1", "t2micro", true, 1);
	assert_string_equal(s, "queue1-st-t2micro-1");
	free(s);
	assert_null(node_name_range("q", "r", true, 0));
	assert_null(node_name_range("q", "r", true, -1));
}

/* What is written is read back, for every pair of a site of 500 queues. */
static void test_round_trip(void **state)
{
	struct generation *g = calloc(1, sizeof(*g));
	struct node_name at;

	(void)state;
	assert_non_null(g);
	for (int q = 0; q < 500; q++) {
		for (int r = 0; r < 20; r++) {
			struct gen_resource *x = generation_add_resource(g);

			x->queue = str_fmt("queue-%d", q);
			x->name = str_fmt("cr-%d", r);
			x->min_count = 1;
			x->max_count = 3;
		}
	}
	assert_int_equal(generation_index(g), 0);
	for (size_t i = 0; i < g->n_resources; i++) {
		char *name = node_name_format(g->resources[i].queue, g->resources[i].name, i % 2, 1);

		assert_int_equal(node_name_resolve(g, name, &at), 0);
		assert_int_equal(at.resource, i);
		assert_int_equal(at.is_static, i % 2);
		free(name);
	}
	generation_destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolve), cmocka_unit_test(test_any),	    cmocka_unit_test(test_counts_decide),
		cmocka_unit_test(test_format),	cmocka_unit_test(test_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
