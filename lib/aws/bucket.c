/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bucket.c - token buckets of EC2's published shape. Called by perform.c before each request. */
#include "lib/aws/bucket.h"

#define LONGEST_MS 86400000 /* a rate too small to matter must not overflow */

void bucket_init(struct bucket *b, double capacity, double per_second, int64_t now_ms)
{
	*b = (struct bucket){capacity, capacity, per_second, now_ms};
}

static double level(const struct bucket *b, int64_t now_ms)
{
	double passed_s = now_ms > b->at_ms ? (double)(now_ms - b->at_ms) / 1000.0 : 0;
	double tokens = b->tokens + passed_s * b->per_second;

	return tokens < b->capacity ? tokens : b->capacity;
}

int64_t bucket_wait_ms(const struct bucket *b, double cost, int64_t now_ms)
{
	double need = cost < b->capacity ? cost : b->capacity, wait_ms;
	int64_t whole_ms;

	if (b->capacity < 0)
		return 0;
	wait_ms = (need - level(b, now_ms)) / b->per_second * 1000.0;
	if (wait_ms <= 1e-6)
		return 0;
	if (!(wait_ms < LONGEST_MS))
		return LONGEST_MS;
	whole_ms = (int64_t)wait_ms;
	return whole_ms + (wait_ms - (double)whole_ms > 1e-6);
}

static void settle(struct bucket *b, double tokens, int64_t now_ms)
{
	if (b->capacity < 0)
		return;
	tokens = tokens < b->capacity ? tokens : b->capacity;
	b->tokens = tokens;
	if (now_ms > b->at_ms)
		b->at_ms = now_ms;
}

void bucket_take(struct bucket *b, double cost, int64_t now_ms)
{
	settle(b, level(b, now_ms) - cost, now_ms);
}

void bucket_empty(struct bucket *b, int64_t now_ms)
{
	double tokens = level(b, now_ms);

	settle(b, tokens < 0 ? tokens : 0, now_ms);
}

void bucket_init_all(struct bucket b[BUCKET_KINDS], int64_t now_ms)
{
	static const struct {
		double capacity, per_second;
	} shape[BUCKET_KINDS] = {
		[BUCKET_READ] = {100, 20},
		[BUCKET_MUTATE] = {50, 5},
		[BUCKET_TAG] = {100, 10},
		[BUCKET_RUN] = {5, 2},
		[BUCKET_RUN_INSTANCES] = {1000, 2},
		[BUCKET_TERMINATE] = {100, 5},
		[BUCKET_TERMINATE_INSTANCES] = {1000, 20},
	};

	for (int i = 0; i < BUCKET_KINDS; i++)
		bucket_init(&b[i], shape[i].capacity, shape[i].per_second, now_ms);
}
