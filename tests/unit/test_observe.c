/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_observe.c - a source that cannot be read is absent, and a person who asks for a dry run is told which, and why. */
#include "clustermgtd/observe.h"
#include "tests/unit/fake_world.h"
#include "tests/unit/test.h"

static void names_what_was_not_read(void **state)
{
	static const struct {
		bool slurm_away, ec2_away;
		const char *text;
	} c[] = {
	    {false, false, ""},
	    {false, true, "EC2 was not read: EC2 says no; nothing that needs it was decided\n"},
	    {true, false, "Slurm was not read: away; nothing that needs it was decided\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(c); i++) {
		struct world w;
		struct observed o;
		struct kept k = {0};
		char text[512] = "";
		FILE *f = fmemopen(text, sizeof text, "w");

		fake_open(&w, true);
		fake.slurm_away = c[i].slurm_away;
		fake.ec2_away = c[i].ec2_away;
		observe(&w, &o, &k, 0, true);
		assert_int_equal(o.slurm, !c[i].slurm_away);
		assert_int_equal(o.ec2, !c[i].ec2_away);
		assert_true(o.rows);
		observed_print_unread(&o, f);
		fclose(f);
		assert_string_equal(text, c[i].text);
		observed_clear(&o);
		kept_clear(&k);
		fake_close(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names_what_was_not_read)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
