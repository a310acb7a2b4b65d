/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_fleet_view.c - what the fleet commands say of a clustermgtd that is not at work. */
#include "cli/fleet_view.h"
#include "tests/unit/test.h"

#include <string.h>

#define NOW_MS INT64_C(1796094000000)

static void daemon_at_work(void **state)
{
	static const struct {
		bool watched, hung;
		int64_t loop_ms;
		const char *begins; /* NULL = nothing is said */
	} vectors[] = {
		{ true, false, NOW_MS - 5000, NULL },
		{ true, true, NOW_MS - 720000, "clustermgtd runs, but has finished no loop for 12 min, so nothing happens: " },
		{ true, true, 0, "clustermgtd runs, but has finished no loop yet, so nothing happens: " },
		{ false, false, NOW_MS - 5000, "clustermgtd does not run, so nothing happens: systemctl start " },
	};
	char text[FLEET_DAEMON];

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		struct fleet_view v = { .watched = vectors[i].watched, .hung = vectors[i].hung, .loop_ms = vectors[i].loop_ms };
		const char *got = fleet_view_daemon(&v, NOW_MS, text);

		assert_int_equal(!got, !vectors[i].begins);
		if (!got)
			continue;
		assert_memory_equal(got, vectors[i].begins, strlen(vectors[i].begins));
		assert_true(strlen(got) < FLEET_DAEMON - 1); /* whole */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(daemon_at_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
