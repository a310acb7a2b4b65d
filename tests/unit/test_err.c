/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_err.c - errors as values: text, prefix, truncation, NULL. */
#include "tests/unit/test.h"

#include "lib/base/err.h"

#include <errno.h>

static void texts(void **state)
{
	struct err e;

	(void)state;
	errno = ENOSPC;
	assert_int_equal(err_set(&e, "node %s", "a-1"), -1);
	assert_string_equal(e.text, "node a-1");
	assert_int_equal(err_prefix(&e, "queue %d", 7), -1);
	assert_string_equal(e.text, "queue 7: node a-1");
	assert_int_equal(err_set(&e, "[%s]", e.text), -1); /* its own text as an argument */
	assert_string_equal(e.text, "[queue 7: node a-1]");
	assert_int_equal(err_errno(&e, ENOENT, "cannot open %s", "/x"), -1);
	assert_string_equal(e.text, "cannot open /x: No such file or directory");
	assert_int_equal(err_nomem(&e), -1);
	assert_string_equal(e.text, "out of memory");
	assert_int_equal(errno, ENOSPC);
}

static void null_err(void **state)
{
	(void)state;
	assert_int_equal(err_set(NULL, "x"), -1);
	assert_int_equal(err_prefix(NULL, "x"), -1);
	assert_int_equal(err_errno(NULL, ENOENT, "x"), -1);
	assert_int_equal(err_nomem(NULL), -1);
}

static void truncation(void **state)
{
	static const struct {
		int n;
		size_t len;
		const char *tail;
	} row[] = {
		{ERR_TEXT_MAX - 2, ERR_TEXT_MAX - 2, "xxx"}, {ERR_TEXT_MAX - 1, ERR_TEXT_MAX - 1, "xxx"},
		{ERR_TEXT_MAX, ERR_TEXT_MAX - 1, "..."},	 {ERR_TEXT_MAX + 1, ERR_TEXT_MAX - 1, "..."},
		{9 * ERR_TEXT_MAX, ERR_TEXT_MAX - 1, "..."},
	};
	static char text[9 * ERR_TEXT_MAX + 1];
	struct err e;

	(void)state;
	memset(text, 'x', sizeof text - 1);
	for (size_t i = 0; i < COUNT(row); i++) {
		err_set(&e, "%.*s", row[i].n, text);
		assert_int_equal(strlen(e.text), row[i].len);
		assert_string_equal(e.text + row[i].len - 3, row[i].tail);
		/* a prefix pushes the end out */
		err_prefix(&e, "front");
		assert_int_equal(strncmp(e.text, "front: xxx", 10), 0);
		assert_int_equal(strlen(e.text), ERR_TEXT_MAX - 1);
		assert_string_equal(e.text + ERR_TEXT_MAX - 4, "...");
	}
	err_errno(&e, ENOENT, "%s", text);
	assert_string_equal(e.text + ERR_TEXT_MAX - 4, "...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(null_err), cmocka_unit_test(truncation)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
