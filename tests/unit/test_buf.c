/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_buf.c - the growing buffer, base64 with the vectors of RFC 4648 section 10. */
#include "tests/unit/test.h"

#include "lib/base/buf.h"

static void base64(void **state)
{
	static const struct {
		const char *in;
		size_t n;
		const char *out;
	} row[] = {
		{"", 0, ""},
		{"f", 1, "Zg=="},
		{"fo", 2, "Zm8="},
		{"foo", 3, "Zm9v"},
		{"foob", 4, "Zm9vYg=="},
		{"fooba", 5, "Zm9vYmE="},
		{"foobar", 6, "Zm9vYmFy"},
		{"\0\xff\xfe\xfb\xef", 5, "AP/+++8="},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct buf b = {0};

		buf_base64(&b, row[i].in, row[i].n);
		assert_string_equal(buf_text(&b), row[i].out);
		buf_reset(&b);
		buf_str(&b, "x");
		assert_int_equal(buf_base64_decode(&b, row[i].out), 0);
		assert_int_equal(b.n, row[i].n + 1);
		assert_memory_equal(buf_text(&b) + 1, row[i].in, row[i].n);
		buf_free(&b);
	}
}

static void base64_refused(void **state)
{
	static const char *const bad[] = {"Z", "Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zm9v=", "Zm9v====", "Zg=v", "Zm 9v", "Zm9v-", "Z\xc3\xa9v"};
	struct buf b = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		buf_reset(&b);
		buf_str(&b, "kept");
		if (buf_base64_decode(&b, bad[i]) != -1 || strcmp(buf_text(&b), "kept"))
			fail_msg("%s became %s", bad[i], buf_text(&b));
	}
	buf_reset(&b);
	assert_int_equal(buf_base64_decode(&b, "Zm9v\r\nYm\nFy\n"), 0); /* wrapped, as some tools do */
	assert_string_equal(buf_text(&b), "foobar");
	buf_free(&b);
}

static void adding(void **state)
{
	struct buf b = {0};
	char *taken;

	(void)state;
	assert_string_equal(buf_text(&b), "");
	buf_str(&b, NULL);
	assert_int_equal(b.n, 0);
	buf_str(&b, "ab");
	buf_char(&b, 'c');
	buf_add(&b, "d\0e", 3);
	buf_fmt(&b, "-%s-%d", "x", 42);
	assert_int_equal(b.n, 11);
	assert_memory_equal(buf_text(&b), "abcd\0e-x-42", 12);
	assert_false(buf_failed(&b));
	buf_reset(&b);
	assert_string_equal(buf_text(&b), "");
	assert_int_equal(b.n, 0);
	for (int i = 0; i < 10000; i++)
		buf_fmt(&b, "%04d", i % 10000);
	assert_int_equal(b.n, 40000);
	assert_int_equal(strncmp(buf_text(&b) + 4 * 1234, "12341235", 8), 0);
	taken = buf_take(&b);
	assert_int_equal(strlen(taken), 40000);
	free(taken);
	assert_int_equal(b.n, 0);
	taken = buf_take(&b); /* of an empty one: an empty text, not NULL */
	assert_string_equal(taken, "");
	free(taken);
}

static void failure_sticks(void **state)
{
	struct buf b = {0};

	(void)state;
	buf_str(&b, "kept");
	buf_add(&b, "x", SIZE_MAX - 3); /* cannot be had */
	assert_true(buf_failed(&b));
	buf_str(&b, "y");
	assert_int_equal(b.n, 4);
	assert_null(buf_take(&b));
	assert_false(buf_failed(&b)); /* taken = empty again */
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(base64), cmocka_unit_test(base64_refused), cmocka_unit_test(adding),
					   cmocka_unit_test(failure_sticks)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
