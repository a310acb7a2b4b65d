/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_bucket.c - token buckets; time is a number. */
#include "lib/aws/bucket.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Five at once, then two a second: EC2's RunInstances. */
static void burst_then_rate(void **state)
{
	struct bucket b;

	(void)state;
	bucket_init(&b, 5, 2, 1000);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(bucket_wait_ms(&b, 1, 1000), 0);
		bucket_take(&b, 1, 1000);
	}
	assert_int_equal(bucket_wait_ms(&b, 1, 1000), 500);
	assert_int_equal(bucket_wait_ms(&b, 1, 1200), 300);
	assert_int_equal(bucket_wait_ms(&b, 1, 1500), 0);
	bucket_take(&b, 1, 1500);
	assert_int_equal(bucket_wait_ms(&b, 1, 1500), 500);
}

static void never_above_capacity(void **state)
{
	struct bucket b;

	(void)state;
	bucket_init(&b, 5, 2, 0);
	bucket_take(&b, 5, 0);
	assert_int_equal(bucket_wait_ms(&b, 5, 1000000), 0);
	bucket_take(&b, 5, 1000000);
	assert_int_equal(bucket_wait_ms(&b, 1, 1000000), 500);
}

/* 1500 instances of a bucket of 1000: waits for a full one, then the debt holds the next back. */
static void larger_than_capacity(void **state)
{
	struct bucket b;

	(void)state;
	bucket_init(&b, 1000, 2, 0);
	assert_int_equal(bucket_wait_ms(&b, 1500, 0), 0);
	bucket_take(&b, 1500, 0);
	assert_int_equal(bucket_wait_ms(&b, 1, 0), 250500);
	assert_int_equal(bucket_wait_ms(&b, 1, 250500), 0);
}

static void emptied_by_a_refusal(void **state)
{
	struct bucket b;

	(void)state;
	bucket_init(&b, 100, 20, 0);
	bucket_empty(&b, 100);
	assert_int_equal(bucket_wait_ms(&b, 1, 100), 50);
	bucket_take(&b, 10, 100); /* debt is not forgiven by a second refusal */
	bucket_empty(&b, 100);
	assert_int_equal(bucket_wait_ms(&b, 1, 100), 550);
}

static void clock_going_back(void **state)
{
	struct bucket b;

	(void)state;
	bucket_init(&b, 5, 2, 5000);
	bucket_take(&b, 5, 5000);
	assert_int_equal(bucket_wait_ms(&b, 1, 1000), 500);
	bucket_take(&b, 0, 1000);
	assert_int_equal(bucket_wait_ms(&b, 1, 5500), 0);
	assert_int_equal(bucket_wait_ms(&b, 2, 5500), 500);
}

static void published_shape(void **state)
{
	struct bucket b[BUCKET_KINDS];

	(void)state;
	bucket_init_all(b, 0);
	for (int i = 0; i < BUCKET_KINDS; i++)
		assert_true(b[i].capacity > 0 && b[i].per_second > 0);
	assert_true(b[BUCKET_RUN].capacity == 5 && b[BUCKET_RUN].per_second == 2);
	assert_true(b[BUCKET_RUN_INSTANCES].capacity == 1000 && b[BUCKET_RUN_INSTANCES].per_second == 2);
	assert_true(b[BUCKET_TERMINATE_INSTANCES].per_second == 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(burst_then_rate),	cmocka_unit_test(never_above_capacity), cmocka_unit_test(larger_than_capacity),
		cmocka_unit_test(emptied_by_a_refusal), cmocka_unit_test(clock_going_back),	cmocka_unit_test(published_shape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
