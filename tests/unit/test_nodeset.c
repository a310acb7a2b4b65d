/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_nodeset.c - host list text both ways, order, duplicates, refusals; and the map made of it. */
#include "tests/unit/cmocka_all.h"

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/node/instance.h"
#include "lib/node/map.h"
#include "lib/node/nodeset.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text;
	const char *names;   /* with commas; NULL = refused */
	const char *back;    /* text of the set, NULL = as given */
} cases[] = {
	{ "", "", NULL },
	{ "a", "a", NULL },
	{ "a-1", "a-1", NULL },
	{ "a-[1-3]", "a-1,a-2,a-3", NULL },
	{ "q-st-c-[1,3,4-6],q-dy-d-20", "q-st-c-1,q-st-c-3,q-st-c-4,q-st-c-5,q-st-c-6,q-dy-d-20", "q-st-c-[1,3-6],q-dy-d-20" },
	{ "a-[3,1]", "a-3,a-1", "a-3,a-1" },
	{ "a-[1,1]", "a-1", "a-1" },
	{ "b,a,b", "b,a", "b,a" },
	{ "a-[01-03]", "a-01,a-02,a-03", NULL },
	{ "a-[08-10]", "a-08,a-09,a-10", NULL },
	{ "a-[098-101]", "a-098,a-099,a-100,a-101", NULL },
	{ "a-[8-10]", "a-8,a-9,a-10", NULL },
	{ "a-[8,09-10]", "a-8,a-09,a-10", NULL },
	{ "a-[1-1]", "a-1", "a-1" },
	{ "[1-3]", "1,2,3", NULL },
	{ "rack[1-2]n1", "rack1n1,rack2n1", "rack1n1,rack2n1" },
	{ "a-1,a-2,b-3", "a-1,a-2,b-3", "a-[1-2],b-3" },
	{ "a-[0-1]", "a-0,a-1", NULL },
	{ "a-123456789012345678901", "a-123456789012345678901", NULL },
	/* refused as a whole */
	{ "a-[1-3", NULL, NULL },
	{ "a-1-3]", NULL, NULL },
	{ "a-]1[", NULL, NULL },
	{ "a-[[1]]", NULL, NULL },
	{ "a-[1][2]", NULL, NULL },
	{ "c[1-2]-[1-3]", NULL, NULL },
	{ "a-[3-1]", NULL, NULL },
	{ "a-[1-2-3]", NULL, NULL },
	{ "a-[-3]", NULL, NULL },
	{ "a-[3-]", NULL, NULL },
	{ "a-[1+2]", NULL, NULL },
	{ "a-[]", NULL, NULL },
	{ "a-[1,]", NULL, NULL },
	{ "a-[,1]", NULL, NULL },
	{ "a-[x]", NULL, NULL },
	{ "a-[1-9999999999999999999]", NULL, NULL },
	{ "a,,b", NULL, NULL },
	{ "a,", NULL, NULL },
	{ ",a", NULL, NULL },
	{ ",", NULL, NULL },
	{ "a, b", NULL, NULL },
	{ " a", NULL, NULL },
	{ "a\n", NULL, NULL },
	{ "a-[1-65537]", NULL, NULL },
	{ "ok-1,a-[3-1]", NULL, NULL },
};

static char *names_of(const struct nodeset *s)
{
	struct strs l = { 0 };
	char *text;

	for (size_t i = 0; i < nodeset_count(s); i++)
		assert_int_equal(strs_add(&l, nodeset_get(s, i)), 0);
	text = l.n ? strs_join(&l, ",") : str_dup("");
	strs_clear(&l);
	return text;
}

static void check_case(size_t i)
{
	struct nodeset *s = nodeset_create();
	struct err e = { "" };
	char *names, *back;
	int rc = nodeset_parse(s, cases[i].text, &e);

	names = names_of(s);
	if (!cases[i].names) {
		if (!rc || *names || !e.text[0])
			fail_msg("\"%s\" was not refused whole: \"%s\", \"%s\"", cases[i].text, names, e.text);
	} else {
		back = nodeset_text(s);
		if (rc || strcmp(names, cases[i].names))
			fail_msg("\"%s\" gave %d \"%s\" %s", cases[i].text, rc, names, e.text);
		if (strcmp(back, cases[i].back ? cases[i].back : cases[i].text))
			fail_msg("\"%s\" is written as \"%s\"", cases[i].text, back);
		free(back);
	}
	free(names);
	nodeset_destroy(s);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_case(i);
}

static void test_set(void **state)
{
	struct nodeset *s = nodeset_create();

	(void)state;
	assert_int_equal(nodeset_add(s, "b"), 1);
	assert_int_equal(nodeset_add(s, "a"), 1);
	assert_int_equal(nodeset_add(s, "b"), 0);
	assert_int_equal(nodeset_count(s), 2);
	assert_true(nodeset_has(s, "a"));
	assert_false(nodeset_has(s, "ab"));
	assert_int_equal(nodeset_index(s, "a"), 1);
	assert_int_equal(nodeset_index(s, "c"), SIZE_MAX);
	assert_null(nodeset_get(s, 2));
	nodeset_destroy(s);
	nodeset_destroy(NULL);
}

/* A refused text takes back only its own names. */
static void test_refused_keeps_old(void **state)
{
	struct nodeset *s = nodeset_create();

	(void)state;
	assert_int_equal(nodeset_parse(s, "x-[1-2]", NULL), 0);
	assert_int_equal(nodeset_parse(s, "x-2,y-[1-200],z-[2-1]", NULL), -1);
	assert_int_equal(nodeset_count(s), 2);
	assert_true(nodeset_has(s, "x-2"));
	assert_false(nodeset_has(s, "y-1"));
	assert_int_equal(nodeset_add(s, "y-1"), 1);
	nodeset_destroy(s);
}

/* 65536 in one range is the limit, and text longer than that is cut into ranges that can be read back. */
static void test_large(void **state)
{
	struct nodeset *s = nodeset_create(), *t = nodeset_create();
	char *text, *again;

	(void)state;
	assert_int_equal(nodeset_parse(s, "n-[0-65535]", NULL), 0);
	assert_int_equal(nodeset_count(s), 65536);
	assert_int_equal(nodeset_parse(s, "n-[65536-70000]", NULL), 0);
	text = nodeset_text(s);
	assert_string_equal(text, "n-[0-65535,65536-70000]");
	assert_int_equal(nodeset_parse(t, text, NULL), 0);
	again = nodeset_text(t);
	assert_string_equal(again, text);
	free(text);
	free(again);
	nodeset_destroy(s);
	nodeset_destroy(t);
}

/* Random lists: the text is read back as the same names in the same order. */
static void test_random_round_trip(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct nodeset *s = nodeset_create(), *t = nodeset_create();
		int n = rand_r(&seed) % 12;
		char *text, *a, *b;

		for (int i = 0; i < n; i++) {
			static const char *const prefixes[] = { "a-", "b-", "", "a1-", "q-dy-c-" };
			static const int widths[] = { 1, 1, 1, 2, 3 };
			char *name = str_fmt("%s%0*d", prefixes[rand_r(&seed) % 5], widths[rand_r(&seed) % 5],
					     rand_r(&seed) % 14);

			assert_true(nodeset_add(s, name) >= 0);
			free(name);
		}
		text = nodeset_text(s);
		assert_int_equal(nodeset_parse(t, text, NULL), 0);
		a = names_of(s);
		b = names_of(t);
		if (strcmp(a, b))
			fail_msg("\"%s\" became \"%s\" by \"%s\"", a, b, text);
		free(text);
		free(a);
		free(b);
		nodeset_destroy(s);
		nodeset_destroy(t);
	}
}

/* A map is a set with a number beside each name. */
static void test_map(void **state)
{
	struct instances l = { 0 };
	struct map m = { 0 };

	(void)state;
	assert_true(map_get(&m, "a") == SIZE_MAX);
	assert_int_equal(map_put(&m, "a", 7), 0);
	assert_int_equal(map_put(&m, "a", 8), 0); /* the first stays */
	assert_int_equal(map_put(&m, NULL, 9), 0);
	assert_int_equal(map_put(&m, "", 9), 0);
	assert_int_equal(map_put(&m, "b", 0), 0);
	assert_int_equal(map_get(&m, "a"), 7);
	assert_int_equal(map_get(&m, "b"), 0);
	assert_true(map_get(&m, "c") == SIZE_MAX && map_get(&m, NULL) == SIZE_MAX && map_get(&m, "") == SIZE_MAX);
	map_clear(&m);
	assert_true(map_get(&m, "a") == SIZE_MAX);
	for (int i = 0; i < 500; i++)
		instances_add(&l)->id = i == 3 ? NULL : str_fmt("i-%d", i);
	assert_int_equal(map_instances(&m, &l), 0);
	assert_int_equal(map_get(&m, "i-499"), 499);
	assert_int_equal(map_get(&m, "i-4"), 4);
	map_clear(&m);
	instances_clear(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cases),
	    cmocka_unit_test(test_set),
	    cmocka_unit_test(test_refused_keeps_old),
	    cmocka_unit_test(test_large),
	    cmocka_unit_test(test_random_round_trip),
	    cmocka_unit_test(test_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
