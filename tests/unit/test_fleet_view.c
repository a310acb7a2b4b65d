/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_fleet_view.c - what the fleet commands say of a clustermgtd that is not at work. */
#include "cli/fleet_view.h"
#include "lib/plan/brake.h"
#include "lib/state/store.h"
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

/* The newest word about the brake decides, and an old one does not. */
static void brake_that_holds(void **state)
{
	static const struct {
		const char *detail; /* NULL = nothing was said */
		int64_t age_ms;
		bool held;
	} vectors[] = {
		{ NULL, 0, false },
		{ "20 of 20 machines in use would be ended", 10000, true },
		{ "20 of 20 machines in use would be ended", 400000, false },
		{ BRAKE_OFF_TEXT, 10000, false },
		{ BRAKE_CONFIRMED_TEXT, 10000, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		struct event v = { .time_ms = NOW_MS - vectors[i].age_ms, .detail = (char *)vectors[i].detail };
		struct events l = { .v = &v, .n = vectors[i].detail ? 1 : 0 };
		const char *held = fleet_view_held(&l, NOW_MS, 350000);

		assert_int_equal(held != NULL, vectors[i].held);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(daemon_at_work),
		cmocka_unit_test(brake_that_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
