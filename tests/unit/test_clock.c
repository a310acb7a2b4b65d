/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_clock.c - ISO times both ways, random ids. */
#include "tests/unit/test.h"

#include "lib/base/clock.h"

static void iso_text(void **state)
{
	static const struct {
		int64_t ms;
		const char *text;
	} row[] = {
		{0, "1970-01-01T00:00:00.000Z"},
		{-1, "1969-12-31T23:59:59.999Z"},
		{1, "1970-01-01T00:00:00.001Z"},
		{951782400000, "2000-02-29T00:00:00.000Z"},
		{1796057427023, "2026-11-30T16:50:27.023Z"},
		{253402300799999, "9999-12-31T23:59:59.999Z"},
	};
	char out[25];
	int64_t back;

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		clock_iso(row[i].ms, out);
		assert_string_equal(out, row[i].text);
		assert_int_equal(clock_iso_parse(out, &back), 0);
		assert_int_equal(back, row[i].ms);
	}
	clock_iso(INT64_MAX, out); /* no such year: some text, no overflow */
	assert_int_equal(strlen(out), 24);
	clock_iso(INT64_MIN, out);
	assert_int_equal(strlen(out), 24);
}

/* A time of another day is not told as if it were today's. */
static void minutes(void **state)
{
	static const int64_t now = 1796057427023, half_day = INT64_C(43200000);
	static const struct {
		int64_t ms;
		const char *text;
	} row[] = {
		{now, "16:50 UTC"},
		{now + half_day, "04:50 UTC"},
		{now + half_day + 1, "2026-12-01 04:50 UTC"},
		{now - half_day, "04:50 UTC"},
		{now - half_day - 1, "2026-11-30 04:50 UTC"},
		{253402300799999, "9999-12-31 23:59 UTC"},
	};
	char out[CLOCK_MINUTE];

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		clock_minute(row[i].ms, now, out);
		assert_string_equal(out, row[i].text);
	}
}

static void iso_parse(void **state)
{
	static const struct {
		const char *text;
		int rc;
		int64_t ms;
	} row[] = {
		{"2026-11-30T16:50:27Z", 0, 1796057427000},
		{"2026-11-30T16:50:27.5Z", 0, 1796057427500},
		{"2026-11-30T16:50:27.123456789Z", 0, 1796057427123},
		{"2024-02-29T00:00:00Z", 0, 1709164800000},
		{NULL, -1, 0},
		{"", -1, 0},
		{"2026-11-30", -1, 0},
		{"2026-11-30T16:50:27", -1, 0},
		{"2026-11-30 16:50:27Z", -1, 0},
		{"2026-11-30T16:50:27.Z", -1, 0},
		{"2026-11-30T16:50:27Zx", -1, 0},
		{"2026-11-30T16:50:27+01:00", -1, 0},
		{"2025-02-29T00:00:00Z", -1, 0},
		{"2026-13-01T00:00:00Z", -1, 0},
		{"2026-00-01T00:00:00Z", -1, 0},
		{"2026-01-00T00:00:00Z", -1, 0},
		{"2026-01-01T24:00:00Z", -1, 0},
		{"2026-01-01T00:60:00Z", -1, 0},
		{"2026-01-01T00:00:60Z", -1, 0},
		{"26-01-01T00:00:00Z", -1, 0},
		{"2026-1-01T00:00:00Z", -1, 0},
		{"-026-01-01T00:00:00Z", -1, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		int64_t ms = 4711;

		if (clock_iso_parse(row[i].text, &ms) != row[i].rc)
			fail_msg("\"%s\": the wrong outcome", row[i].text ? row[i].text : "(null)");
		assert_int_equal(ms, row[i].rc ? 4711 : row[i].ms);
	}
}

static void random_ids(void **state)
{
	char a[37], b[37], hex[33];

	(void)state;
	for (int i = 0; i < 200; i++) {
		double unit = rand_unit();

		assert_true(unit >= 0 && unit < 1);
		rand_uuid(a);
		rand_uuid(b);
		assert_string_not_equal(a, b);
		assert_int_equal(strlen(a), 36);
		assert_int_equal(strspn(a, "0123456789abcdef-"), 36);
		assert_true(a[8] == '-' && a[13] == '-' && a[14] == '4' && a[18] == '-' && strchr("89ab", a[19]) &&
				a[23] == '-');
		rand_hex(hex, 32);
		assert_int_equal(strlen(hex), 32);
		assert_int_equal(strspn(hex, "0123456789abcdef"), 32);
	}
	rand_hex(hex, 0);
	assert_string_equal(hex, "");
}

static void clocks(void **state)
{
	int64_t before = clock_mono_ms();

	(void)state;
	clock_sleep_ms(-5);
	clock_sleep_ms(5);
	assert_true(clock_mono_ms() >= before + 4);
	assert_true(clock_wall_ms() > INT64_C(1700000000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(iso_text), cmocka_unit_test(minutes), cmocka_unit_test(iso_parse),
					   cmocka_unit_test(random_ids), cmocka_unit_test(clocks)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
