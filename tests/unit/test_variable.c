/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_variable.c - $NAME and ${NAME} in values: vectors of good and bad texts. */
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/cluster/variable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char *get(void *arg, const char *name)
{
	(void)arg;
	if (strcmp(name, "A") == 0)
		return "alpha";
	if (strcmp(name, "_b2") == 0)
		return "$A";
	if (strcmp(name, "EMPTY") == 0)
		return "";
	return NULL;
}

static void good(void **state)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{"", ""},
		{"plain", "plain"},
		{"$A", "alpha"},
		{"${A}", "alpha"},
		{"x$A.y${A}z", "xalpha.yalphaz"},
		{"${A}B", "alphaB"},
		{"$_b2", "$A"}, /* what is filled in is not read again */
		{"[$EMPTY]", "[]"},
		{"$$A", "$A"},
		{"$$$A", "$alpha"},
		{"$$", "$"},
		{"cost $5", "cost $5"},
		{"end$", "end$"},
		{"$ A", "$ A"},
		{"a{A}", "a{A}"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf b = {0};
		struct err e = {{0}};

		assert_int_equal(variable_fill(rows[i].in, get, NULL, &b, &e), 0);
		assert_string_equal(buf_text(&b), rows[i].out);
		buf_free(&b);
	}
}

static void bad(void **state)
{
	static const struct {
		const char *in, *says;
	} rows[] = {
		{"$NONE", "variable NONE is not set"},
		{"$A$a", "variable a is not set"},
		{"${AB}", "variable AB is not set"},
		{"$AB", "variable AB is not set"},
		{"${A", "\"${A\" is no variable"},
		{"${}", "\"${}\" is no variable"},
		{"${A-x}", "\"${A-x}\" is no variable"},
		{"${1}", "\"${1}\" is no variable"},
	};
	char longest[200];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf b = {0};
		struct err e = {{0}};

		assert_int_equal(variable_fill(rows[i].in, get, NULL, &b, &e), -1);
		assert_memory_equal(e.text, rows[i].says, strlen(rows[i].says));
		buf_free(&b);
	}
	memset(longest, 'x', sizeof(longest));
	longest[0] = '$';
	longest[sizeof(longest) - 1] = '\0';
	{
		struct buf b = {0};
		struct err e = {{0}};

		assert_int_equal(variable_fill(longest, get, NULL, &b, &e), -1);
		assert_non_null(strstr(e.text, "too long"));
		buf_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(good), cmocka_unit_test(bad)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
