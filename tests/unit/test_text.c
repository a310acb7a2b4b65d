/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_text.c - ages, names cut to a width, sentences folded to one. */
#include "cli/text.h"
#include "lib/base/buf.h"
#include "tests/unit/test.h"

static void ages(void **state)
{
	static const struct {
		int64_t ms;
		const char *text;
	} all[] = {
	    {-5, "0 s"},
	    {0, "0 s"},
	    {119999, "119 s"},
	    {120000, "2 min"},
	    {7199999, "119 min"},
	    {7200000, "2 h 00 min"},
	    {7500000, "2 h 05 min"},
	    {172799999, "47 h 59 min"},
	    {172800000, "2 d 0 h"},
	    {INT64_MAX, "106751991167 d 7 h"},
	};
	char out[TEXT_AGE];

	(void)state;
	for (size_t i = 0; i < COUNT(all); i++)
		assert_string_equal(text_age(all[i].ms, out), all[i].text);
}

static void names(void **state)
{
	static const struct {
		const char *name;
		size_t width;
		const char *text;
	} all[] = {
	    {"", 5, ""},	 {"queue1", 6, "queue1"}, {"queue1", 5, "qu..1"},	  {"queue12", 6, "qu..12"},
	    {"queue", 3, "que"}, {"queue", 4, "q..e"},	  {"abcdefghij", 9, "abcd..hij"},
	};
	char out[32];

	(void)state;
	for (size_t i = 0; i < COUNT(all); i++)
		assert_string_equal(text_short(all[i].name, all[i].width, out), all[i].text);
}

#define X70 "0123456789012345678901234567890123456789012345678901234567890123456789"

static void folds(void **state)
{
	static const struct {
		const char *sentence;
		size_t at, indent, lines;
		const char *text;
	} all[] = {
	    {"", 0, 2, 0, "\n"},
	    {"short", 0, 2, 0, "short\n"},
	    {"a line\nof others\x1b[1m", 0, 2, 0, "a line of others [1m\n"},
	    {X70 " 123456789", 0, 2, 0, X70 " 123456789\n"},
	    {X70 " 1234567890", 0, 2, 0, X70 "\n  1234567890\n"},
	    {X70 " a b", 8, 4, 0, X70 " a\n    b\n"},
	    {"n-[" X70 ",71,72,73,74]", 0, 2, 0, "n-[" X70 ",71,72,\n  73,74]\n"},
	    {X70 X70, 0, 2, 0, X70 "0123456789\n  012345678901234567890123456789012345678901234567890123456789\n"},
	    {X70, 20, 4, 0, "\n    " X70 "\n"},
	    {X70 " " X70 " " X70, 0, 2, 2, X70 "\n  " X70 " ...\n"},
	    {"queue-dy-[" X70 ",1] and more", 0, 2, 1,
	     "queue-dy-[012345678901234567890123456789012345678901234567890123456789012345 ...\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(all); i++) {
		struct buf b = {0};

		text_fold(&b, all[i].sentence, all[i].at, all[i].indent, all[i].lines);
		assert_string_equal(buf_text(&b), all[i].text);
		buf_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(ages), cmocka_unit_test(names), cmocka_unit_test(folds)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
