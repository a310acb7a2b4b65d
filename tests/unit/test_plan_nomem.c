/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_plan_nomem.c - the plan of a resume when memory runs out: every allocation of some random worlds fails once. Each time it
 * says so, or needs it not; nothing is lost in silence, and nothing crashes. Under valgrind or sanitizers nothing leaks either.
 */
#include "tests/unit/cmocka_all.h"

#include "tests/unit/property.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define N_WORLDS 150

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static bool inside;
static int64_t made, fails_at; /* 0 = none does */

static bool fails(void)
{
	return inside && ++made == fails_at;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}

static void in_plan(bool in)
{
	inside = in;
}

static struct world world;
static struct record record;

/* What is wrong with the world's run if that allocation fails; NULL = all is right. */
static const char *run(uint64_t seed, int64_t at)
{
	world_random(&world, seed);
	made = 0;
	fails_at = at;
	world_run(&world, &record);
	return record.broken ? record.broken : judge(&world, &record);
}

/* The run that says it has no memory ends there, which world_run() calls broken; that is right here. */
static bool said_so(void)
{
	static const char *const words[] = { "no plan was made", "an answer was not taken", "a step could not be left",
					     "no result, or one of nodes and machines that never were" };

	for (size_t i = 0; record.broken && i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(record.broken, words[i]))
			return true;
	return false;
}

static void test_each_allocation(void **state)
{
	int64_t failed = 0, total = 0;

	(void)state;
	world_in_plan = in_plan;
	for (uint64_t seed = 1; seed <= N_WORLDS; seed++) {
		int64_t n;

		assert_null(run(seed, 0));
		n = made;
		for (int64_t at = 1; at <= n; at++, total++) {
			const char *what = run(seed, at);

			failed += said_so();
			if (what && !said_so())
				fail_msg("world %" PRIu64 ", allocation %" PRId64 ": %s", seed, at, what);
		}
	}
	assert_true(failed > total / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_each_allocation) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
