/* bucket_share.h - the token buckets of one account and region, shared by all programs of this machine through one file.
 *
 * Without a folder, or when the file cannot be used, the buckets are this process's own.
 */
#ifndef SE_AWS_BUCKET_SHARE_H
#define SE_AWS_BUCKET_SHARE_H

#include "lib/aws/bucket.h"

#include <stdint.h>

struct aws_rates;
struct bucket_share;

/* What a request takes of each bucket; 0 = nothing. */
struct bucket_cost {
	double v[BUCKET_KINDS];
};

/* path NULL = nothing is shared; times are clock_mono_ms. NULL on no memory. */
struct bucket_share *bucket_share_create(const struct aws_rates *rates, const char *path, int64_t now_ms);
void bucket_share_destroy(struct bucket_share *s); /* takes NULL */
/* All of the cost or nothing: 0 = taken, else the milliseconds to wait before asking again. */
int64_t bucket_share_take(struct bucket_share *s, const struct bucket_cost *cost, int64_t now_ms);
/* What was taken was not used. */
void bucket_share_refund(struct bucket_share *s, const struct bucket_cost *cost, int64_t now_ms);
/* EC2 said we are too fast. */
void bucket_share_empty(struct bucket_share *s, enum bucket_kind kind, int64_t now_ms);

#endif
