/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_map.c - text to positions: growth, doubles, what is not there. */
#include "lib/base/str.h"
#include "lib/node/map.h"

#include "tests/unit/cmocka_all.h"

#include <stdlib.h>

#define MANY 20000

static void first_of_a_key_stays(void **state)
{
	struct map m = { 0 };

	(void)state;
	assert_true(map_get(&m, "a") == SIZE_MAX);
	assert_int_equal(map_put(&m, "a", 1), 0);
	assert_int_equal(map_put(&m, "b", 2), 0);
	assert_int_equal(map_put(&m, "a", 3), 0);
	assert_int_equal(map_put(&m, "", 4), 0);
	assert_int_equal(map_put(&m, NULL, 5), 0);
	assert_int_equal(m.n, 2);
	assert_int_equal(map_get(&m, "a"), 1);
	assert_int_equal(map_get(&m, "b"), 2);
	assert_true(map_get(&m, "") == SIZE_MAX);
	assert_true(map_get(&m, NULL) == SIZE_MAX);
	assert_true(map_get(&m, "c") == SIZE_MAX);
	assert_int_equal(map_put(&m, "huge", (size_t)UINT32_MAX), -1);
	map_clear(&m);
	assert_true(map_get(&m, "a") == SIZE_MAX);
}

/* Names of nodes and addresses: long common beginnings, of which only the end differs. */
static void many(void **state)
{
	struct strs names = { 0 };
	struct map m = { 0 };

	(void)state;
	for (int i = 0; i < MANY; i++)
		assert_int_equal(strs_take(&names, str_fmt(i % 2 ? "queue1-dy-t2micro-%d" : "10.77.%d", i)), 0);
	for (size_t i = 0; i < names.n; i++)
		assert_int_equal(map_put(&m, names.v[i], i), 0);
	assert_int_equal(m.n, MANY);
	for (size_t i = 0; i < names.n; i++) {
		char *copy = str_dup(names.v[i]);

		assert_int_equal(map_get(&m, copy), i);
		free(copy);
	}
	assert_true(map_get(&m, "queue1-dy-t2micro-0") == SIZE_MAX);
	map_clear(&m);
	strs_clear(&names);
}

/* Two texts that differ anywhere within the first or the last word of eight bytes. */
static void hashes_differ(void **state)
{
	(void)state;
	assert_true(str_hash("") != str_hash("a"));
	assert_true(str_hash("abcdefgh") != str_hash("abcdefgi"));
	assert_true(str_hash("abcdefgh") != str_hash("abcdefgh1"));
	assert_true(str_hash("abcdefgh1") != str_hash("bbcdefgh1"));
	assert_int_equal(str_hash("abcdefgh12"), str_hash("abcdefgh12"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_of_a_key_stays),
		cmocka_unit_test(many),
		cmocka_unit_test(hashes_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
