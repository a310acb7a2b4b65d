/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_str.c - strings, lists, pairs, "did you mean". */
#include "tests/unit/test.h"

#include "lib/base/str.h"

static void single(void **state)
{
	char low[] = "AbZ-09_\xc4";
	char *s;

	(void)state;
	assert_null(str_dup(NULL));
	s = str_dup("x");
	assert_string_equal(s, "x");
	free(s);
	s = str_fmt("%s-%d", "a", 5);
	assert_string_equal(s, "a-5");
	free(s);
	assert_true(str_eq(NULL, NULL));
	assert_false(str_eq(NULL, ""));
	assert_false(str_eq("", NULL));
	assert_true(str_eq("a", "a"));
	assert_false(str_eq("a", "A"));
	assert_true(str_prefix("abc", "ab"));
	assert_true(str_prefix("abc", ""));
	assert_false(str_prefix("ab", "abc"));
	assert_false(str_prefix(NULL, "a"));
	assert_string_equal(str_lower(low), "abz-09_\xc4");
}

static void distance(void **state)
{
	static const struct {
		const char *a, *b;
		size_t limit, d;
	} row[] = {
		{"", "", 4, 0},
		{"a", "", 4, 1},
		{"", "abc", 4, 3},
		{"abc", "ABC", 4, 0},
		{"kitten", "sitting", 4, 3},
		{"ab", "ba", 4, 1},
		{"ca", "abc", 4, 3},
		{"MinCuont", "MinCount", 4, 1},
		{"SlurmQueue", "SlurmQueues", 4, 1},
		{"abcdef", "uvwxyz", 4, 5}, /* over the limit: limit + 1 */
		{"a", "aaaaaaaaaa", 4, 5},
		{"xab", "xba", 1, 1},
		{"1234567890", "2143658709", 5, 5},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		size_t d = str_distance(row[i].a, row[i].b, row[i].limit),
		       back = str_distance(row[i].b, row[i].a, row[i].limit);

		if (d != row[i].d || back != d)
			fail_msg("%s, %s: %zu and %zu, not %zu", row[i].a, row[i].b, d, back, row[i].d);
	}
}

static void nearest(void **state)
{
	static const char *const keys[] = {"Name", "MinCount", "MaxCount", "InstanceType", "Instances", "Efa"};
	static const struct {
		const char *word, *best;
	} row[] = {
		{"MinCuont", "MinCount"},
		{"mincount", "MinCount"},
		{"MxCount", "MaxCount"},
		{"InstanceTyp", "InstanceType"},
		{"Instance", "Instances"},
		{"Nmae", "Name"},
		{"Efaa", "Efa"},
		{"ef", "Efa"},
		{"Completely", NULL},
		{"X", NULL},
		{"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		const char *best = str_nearest(row[i].word, keys, COUNT(keys));

		if (!str_eq(best, row[i].best))
			fail_msg("%s: %s", row[i].word, best ? best : "(none)");
	}
	assert_null(str_nearest("Name", keys, 0));
}

static void split(void **state)
{
	static const struct {
		const char *text;
		char sep;
		const char *joined;
	} row[] = {
		{"", ',', ""},
		{"a", ',', "a"},
		{"a,b", ',', "a|b"},
		{" a , b c ,", ',', "a|b c"},
		{",,", ',', ""},
		{",a,,b,", ',', "a|b"},
		{"a\tb", '\t', "a|b"},
		{" \t\r\n", ',', ""},
		{"a b", ' ', "a|b"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct strs l = {0};
		char *joined;

		assert_int_equal(strs_split(&l, row[i].text, row[i].sep), 0);
		joined = strs_join(&l, "|");
		assert_string_equal(joined, row[i].joined);
		free(joined);
		strs_clear(&l);
	}
}

static void lists(void **state)
{
	struct strs l = {0}, copy = {0};

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(strs_addf(&l, "n-%d", i), 0);
	assert_int_equal(l.n, 1000);
	assert_string_equal(l.v[999], "n-999");
	assert_true(strs_has(&l, "n-500"));
	assert_false(strs_has(&l, "n-1000"));
	assert_int_equal(strs_take(&l, NULL), -1); /* a failed allocation of the caller */
	assert_int_equal(l.n, 1000);
	assert_int_equal(strs_add(&copy, "old"), 0);
	assert_int_equal(strs_copy(&copy, &l), 0);
	assert_int_equal(copy.n, 1000);
	assert_string_equal(copy.v[0], "n-0");
	assert_ptr_not_equal(copy.v[0], l.v[0]);
	strs_clear(&l);
	strs_clear(&copy);
	assert_int_equal(l.n, 0);
	assert_null(l.v);
}

static void pairs(void **state)
{
	struct kvs l = {0};

	(void)state;
	assert_null(kvs_get(&l, "a"));
	assert_int_equal(kvs_add(&l, "a", "1"), 0);
	assert_int_equal(kvs_add(&l, "b", "2"), 0);
	assert_int_equal(kvs_add(&l, "a", "3"), 0);
	assert_string_equal(kvs_get(&l, "a"), "1");
	assert_string_equal(kvs_get(&l, "b"), "2");
	assert_null(kvs_get(&l, "A"));
	assert_int_equal(kvs_add(&l, "c", NULL), -1);
	assert_int_equal(l.key.n, 3);
	assert_int_equal(l.val.n, 3);
	kvs_clear(&l);
}

static void growth(void **state)
{
	struct {
		int64_t a, b;
	} *v = NULL;
	size_t cap = 0, before;

	(void)state;
	assert_int_equal(mem_grow(&v, &cap, 1, sizeof *v), 0);
	assert_true(cap >= 1);
	v[0].a = 7;
	before = cap;
	assert_int_equal(mem_grow(&v, &cap, 10 * before, sizeof *v), 0);
	assert_true(cap >= 10 * before);
	assert_int_equal(v[0].a, 7);
	for (size_t i = before; i < cap; i++)
		assert_true(v[i].a == 0 && v[i].b == 0);
	before = cap;
	assert_int_equal(mem_grow(&v, &cap, SIZE_MAX / 2, sizeof *v), -1);
	assert_int_equal(mem_grow(&v, &cap, SIZE_MAX, sizeof *v), -1);
	assert_int_equal(cap, before);
	assert_int_equal(v[0].a, 7);
	free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single), cmocka_unit_test(distance), cmocka_unit_test(nearest), cmocka_unit_test(split),
		cmocka_unit_test(lists),  cmocka_unit_test(pairs),	  cmocka_unit_test(growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
