/* bucket.h - EC2's rate limits, kept on our side so that we are seldom refused. Pure values: they can be stored and taken
 * up again. */
#ifndef SE_AWS_BUCKET_H
#define SE_AWS_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct bucket {
	double tokens; /* below 0 after a cost larger than the capacity */
	double capacity; /* below 0 = no limit */
	double per_second;
	int64_t at_ms; /* when `tokens` was true */
};

void bucket_init(struct bucket *b, double capacity, double per_second, int64_t now_ms); /* full */
/* Milliseconds until `cost` can be taken; 0 = now. A cost above the capacity waits for a full bucket. */
int64_t bucket_wait_ms(const struct bucket *b, double cost, int64_t now_ms);
void bucket_take(struct bucket *b, double cost, int64_t now_ms);
/* EC2 said we are too fast: someone else takes from the same bucket, so it is empty. */
void bucket_empty(struct bucket *b, int64_t now_ms);

/* EC2's buckets by kind of call, per account and region. */
enum bucket_kind {
	BUCKET_READ,
	BUCKET_MUTATE,
	BUCKET_TAG,
	BUCKET_RUN,
	BUCKET_RUN_INSTANCES,       /* counts instances, not requests */
	BUCKET_TERMINATE,
	BUCKET_TERMINATE_INSTANCES,
	BUCKET_KINDS
};

/* All kinds, full. */
void bucket_init_all(struct bucket b[BUCKET_KINDS], int64_t now_ms);

#endif
