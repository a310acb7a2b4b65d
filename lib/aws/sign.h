/* sign.h - the headers of one POST to an AWS service, signed. For lib/aws only. */
#ifndef SE_AWS_SIGN_H
#define SE_AWS_SIGN_H

#include <stddef.h>
#include <stdint.h>

struct credentials;
struct strs;

#define SIGN_FORM "application/x-www-form-urlencoded; charset=utf-8"
#define SIGN_JSON "application/x-amz-json-1.1"

struct sign_post {
	const char *service, *region, *host;
	const struct credentials *keys;
	const char *content_type;
	const char *target; /* X-Amz-Target, NULL = none */
	const char *body;
	size_t body_n;
	int64_t wall_ms; /* AWS's clock */
};

/* Appends "Name: value" lines; they hold secrets. -1 on no memory or without keys: nothing is ever sent unsigned by mistake. */
int sign_post(const struct sign_post *p, struct strs *headers);

#endif
