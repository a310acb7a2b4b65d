/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_extra.c - the launch id in a node's extra. */
#include "tests/unit/cmocka_all.h"

#include "lib/base/str.h"
#include "lib/node/extra.h"

#include <stdlib.h>

static const struct {
	const char *extra;
	const char *launch;
} cases[] = {
	{ "{\"slurm-ec2\":\"abc-1\"}", "abc-1" },
	{ "{ \"other\": 1, \"slurm-ec2\": \"abc\" }", "abc" },
	{ NULL, NULL },
	{ "", NULL },
	{ "abc", NULL },
	{ "{}", NULL },
	{ "{\"slurm-ec2\":7}", NULL },
	{ "{\"slurm-ec2\":null}", NULL },
	{ "{\"slurm-ec2\":\"\"}", NULL },
	{ "{\"slurm-ec2\":\"a\"", NULL },
	{ "{\"slurm-ec2\":\"a\"} x", NULL },
	{ "[\"slurm-ec2\"]", NULL },
};

static void test_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *launch = extra_launch(cases[i].extra);

		if (!str_eq(launch, cases[i].launch))
			fail_msg("%s gave %s", cases[i].extra, launch ? launch : "nothing");
		free(launch);
	}
}

static void test_round_trip(void **state)
{
	char *text = extra_format("6f1c/\"x"), *launch = extra_launch(text);

	(void)state;
	assert_string_equal(launch, "6f1c/\"x");
	free(text);
	free(launch);
	text = extra_format("abc");
	assert_string_equal(text, "{\"slurm-ec2\":\"abc\"}");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_read), cmocka_unit_test(test_round_trip) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
