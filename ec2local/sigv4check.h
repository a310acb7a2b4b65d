/* sigv4check.h - does a received request carry a valid AWS Signature Version 4? Written apart from the signer of our programs,
 * from the rules alone, so that a mistake there is not repeated here.
 */
#ifndef EC2LOCAL_SIGV4CHECK_H
#define EC2LOCAL_SIGV4CHECK_H

#include "lib/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIGV4_WINDOW_MS (5 * 60 * 1000) /* EC2 answers RequestExpired to a request whose time is further off */

enum sigv4_verdict {
	SIGV4_OK,
	SIGV4_UNSIGNED,	   /* no Authorization header */
	SIGV4_MALFORMED,   /* text in `why` */
	SIGV4_UNKNOWN_KEY, /* secret_of gave NULL */
	SIGV4_EXPIRED,	   /* time outside the window */
	SIGV4_MISMATCH	   /* signature, scope or signed headers wrong; text in `why` */
};

struct sigv4_request {
	const char *method;
	const char *path;	   /* as received */
	const char *query;	   /* as received, without '?'; "" if none */
	const struct kvs *headers; /* as received, any case */
	const void *body;
	size_t body_n;
};

struct sigv4_rules {
	const char *region;
	const char *service;
	int64_t now_ms;
	/* Secret of an access key, NULL if unknown; *token = the session token it must come with, or NULL. */
	const char *(*secret_of)(void *arg, const char *access, const char **token);
	void *arg;
};

/* access: the key's name is written there (at most 128 bytes with NUL) as soon as it is known. why: at most 256 bytes. */
enum sigv4_verdict sigv4_check(const struct sigv4_request *r, const struct sigv4_rules *rules, char access[128], char why[256]);

/* Lower-case hex SHA-256 into out[65]. */
void sigv4_sha256_hex(const void *bytes, size_t n, char out[65]);

#endif
