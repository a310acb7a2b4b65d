/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_num.c - text to numbers: tables of good and bad. */
#include "tests/unit/test.h"

#include "lib/base/err.h"
#include "lib/base/num.h"

#include <float.h>
#include <locale.h>
#include <math.h>

static const char *shown(const char *text)
{
	return text ? text : "(null)";
}

static void i64_table(void **state)
{
	static const struct {
		const char *text;
		int64_t min, max;
		int rc;
		int64_t value;
		const char *says;
	} row[] = {
		{"0", 0, 10, 0, 0, NULL},
		{"10", 0, 10, 0, 10, NULL},
		{"-10", -10, 10, 0, -10, NULL},
		{"9223372036854775807", INT64_MIN, INT64_MAX, 0, INT64_MAX, NULL},
		{"-9223372036854775808", INT64_MIN, INT64_MAX, 0, INT64_MIN, NULL},
		{"9223372036854775808", INT64_MIN, INT64_MAX, -1, 0, "above the greatest value 9223372036854775807"},
		{"-9223372036854775809", INT64_MIN, INT64_MAX, -1, 0, "below the least value -9223372036854775808"},
		{"19140298416324608000000000", 0, 100, -1, 0, "above the greatest value 100"},
		{"-19140298416324608000000000", 0, 100, -1, 0, "below the least value 0"},
		{"0", 1, 10, -1, 0, "0 is below the least value 1"},
		{"11", 1, 10, -1, 0, "11 is above the greatest value 10"},
		{"", 0, 10, -1, 0, "\"\" is not a whole number"},
		{NULL, 0, 10, -1, 0, "missing"},
		{"-", -9, 9, -1, 0, "not a whole number"},
		{"+1", -9, 9, -1, 0, "not a whole number"},
		{" 1", -9, 9, -1, 0, "not a whole number"},
		{"1 ", -9, 9, -1, 0, "not a whole number"},
		{"1\n", -9, 9, -1, 0, "not a whole number"},
		{"01", -9, 9, -1, 0, "not a whole number"},
		{"00", -9, 9, -1, 0, "not a whole number"},
		{"-0", -9, 9, -1, 0, "not a whole number"},
		{"-01", -9, 9, -1, 0, "not a whole number"},
		{"--1", -9, 9, -1, 0, "not a whole number"},
		{"10x", 0, 99, -1, 0, "\"10x\" is not a whole number"},
		{"1.0", 0, 99, -1, 0, "not a whole number"},
		{"1e3", 0, 9999, -1, 0, "not a whole number"},
		{"0x10", 0, 99, -1, 0, "not a whole number"},
		{"\xd9\xa1", 0, 99, -1, 0, "not a whole number"}, /* an Arabic digit */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		int64_t got = 4711;
		struct err e = {""};

		if (num_i64(row[i].text, row[i].min, row[i].max, &got, &e) != row[i].rc)
			fail_msg("\"%s\": the wrong outcome", shown(row[i].text));
		assert_int_equal(got, row[i].rc ? 4711 : row[i].value);
		if (row[i].says && !strstr(e.text, row[i].says))
			fail_msg("\"%s\": says \"%s\", not \"%s\"", shown(row[i].text), e.text, row[i].says);
		assert_int_equal(num_i64(row[i].text, row[i].min, row[i].max, &got, NULL), row[i].rc);
	}
}

static void double_table(void **state)
{
	static const struct {
		const char *text;
		double min, max;
		int rc;
		double value;
	} row[] = {
		{"0", 0, 1, 0, 0},
		{"0.05", 0, 1, 0, 0.05},
		{"1", 0, 1, 0, 1},
		{"-0.5", -1, 1, 0, -0.5},
		{"12.3400", 0, 100, 0, 12.34},
		{"1.01", 0, 1, -1, 0},
		{"-0.01", 0, 1, -1, 0},
		{"", 0, 1, -1, 0},
		{NULL, 0, 1, -1, 0},
		{".5", 0, 1, -1, 0},
		{"5.", 0, 9, -1, 0},
		{"0,5", 0, 1, -1, 0},
		{"1e3", 0, 9999, -1, 0},
		{"inf", 0, DBL_MAX, -1, 0},
		{"nan", 0, DBL_MAX, -1, 0},
		{"0x1", 0, 9, -1, 0},
		{"01.5", 0, 9, -1, 0},
		{" 1", 0, 9, -1, 0},
		{"1 ", 0, 9, -1, 0},
		{"1.2.3", 0, 9, -1, 0},
		{"+1", 0, 9, -1, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		double got = 4711;
		struct err e;

		if (num_double(row[i].text, row[i].min, row[i].max, &got, &e) != row[i].rc)
			fail_msg("\"%s\": the wrong outcome", shown(row[i].text));
		if (got != (row[i].rc ? 4711 : row[i].value))
			fail_msg("\"%s\": gives %g", shown(row[i].text), got);
	}
}

/* 400 digits overflow a double: never infinity, whatever the limit. */
static void double_overflow(void **state)
{
	char text[401];
	double got = 4711;

	(void)state;
	memset(text, '9', 400);
	text[400] = '\0';
	assert_int_equal(num_double(text, 0, (double)INFINITY, &got, NULL), -1);
	assert_true(got == 4711);
}

/* A user's decimal comma changes nothing; the test means something only where such a locale is installed. */
static void double_locale(void **state)
{
	static const char *const name[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8"};
	double got = 0;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(name) && !setlocale(LC_ALL, name[i]); i++)
		;
	assert_int_equal(num_double("0.25", 0, 1, &got, NULL), 0);
	assert_true(got == 0.25);
	setlocale(LC_ALL, "C");
	if (i == COUNT(name))
		skip();
}

static void bool_table(void **state)
{
	static const struct {
		const char *text;
		int rc, value;
	} row[] = {
		{"true", 0, 1},  {"True", 0, 1},   {"TRUE", 0, 1},	 {"yes", 0, 1},	  {"Yes", 0, 1},
		{"on", 0, 1},    {"t", 0, 1},      {"Y", 0, 1},	 {"1", 0, 1},	  {"false", 0, 0},
		{"False", 0, 0}, {"no", 0, 0},     {"NO", 0, 0},	 {"off", 0, 0},	  {"F", 0, 0},
		{"n", 0, 0},     {"0", 0, 0},      {"", -1, 0},	 {NULL, -1, 0},	  {"2", -1, 0},
		{"tru", -1, 0},  {"truee", -1, 0}, {" true", -1, 0}, {"null", -1, 0}, {"falsefalse", -1, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		int got = 4711;

		if (num_bool(row[i].text, &got, NULL) != row[i].rc)
			fail_msg("\"%s\": the wrong outcome", shown(row[i].text));
		assert_int_equal(got, row[i].rc ? 4711 : row[i].value);
	}
}

static void duration_table(void **state)
{
	static const struct {
		const char *text;
		int rc;
		int64_t value;
	} row[] = {
		{"0", 0, 0},
		{"90", 0, 90},
		{"90s", 0, 90},
		{"2m", 0, 120},
		{"1h", 0, 3600},
		{"1d", 0, 86400},
		{"9223372036854775807", 0, INT64_MAX},
		{"", -1, 0},
		{NULL, -1, 0},
		{"s", -1, 0},
		{"m", -1, 0},
		{"-1", -1, 0},
		{"01", -1, 0},
		{"1.5h", -1, 0},
		{"1ms", -1, 0},
		{"1 h", -1, 0},
		{"1H", -1, 0},
		{"1h30m", -1, 0},
		{"9223372036854775807m", -1, 0},
		{"9223372036854775808", -1, 0},
		{"999999999999999999999999999999999999d", -1, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		int64_t got = 4711;

		if (num_duration_s(row[i].text, &got, NULL) != row[i].rc)
			fail_msg("\"%s\": the wrong outcome", shown(row[i].text));
		assert_int_equal(got, row[i].rc ? 4711 : row[i].value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(i64_table),     cmocka_unit_test(double_table), cmocka_unit_test(double_overflow),
		cmocka_unit_test(double_locale), cmocka_unit_test(bool_table),   cmocka_unit_test(duration_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
