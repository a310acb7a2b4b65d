/* service.h - one call to an AWS service other than EC2: signed or not, retried a little, the clock corrected. For lib/aws
 * only. */
#ifndef SE_AWS_SERVICE_H
#define SE_AWS_SERVICE_H

#include "lib/aws/aws.h"

#include <stddef.h>
#include <stdint.h>

struct buf;
struct credentials;
struct endpoint;
struct http;

struct service_call {
	const char *service; /* name in the signature: "sts" */
	const struct endpoint *at;
	const char *region;
	const struct credentials *keys; /* NULL = the call is one that goes unsigned */
	const char *content_type;
	const char *target; /* X-Amz-Target, NULL = none */
	const char *body;
	/* Reads a whole answer. 0 = good; -1 with the error filled, class included. */
	int (*read)(void *arg, int status, const char *text, size_t n, struct aws_error *error);
	void *arg;
};

/* 0 = read() said so. *skew_ms: AWS's clock minus ours, corrected if need be. */
int service_perform(struct http *h, const struct service_call *c, int64_t deadline_mono_ms, int64_t *skew_ms,
		    struct aws_error *error);

#endif
