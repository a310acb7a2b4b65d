/* sigv4.h - AWS Signature Version 4 of one HTTP request, as an Authorization header. Pure: time is an argument. */
#ifndef SE_AWS_SIGV4_H
#define SE_AWS_SIGV4_H

#include <stddef.h>
#include <stdint.h>

struct buf;

struct sigv4_header {
	const char *name;
	const char *value;
};

/* What is signed. Every header of the list is signed; it must hold Host and X-Amz-Date, and X-Amz-Security-Token where
 * there is one. */
struct sigv4_request {
	const char *method;
	const char *path;  /* as sent, already percent-encoded once; NULL or "" = "/" */
	const char *query; /* as sent, without '?'; NULL = none */
	const struct sigv4_header *headers;
	size_t n_headers;
	const void *body;
	size_t body_n;
};

struct sigv4_key {
	const char *access_key;
	const char *secret;
	const char *region;
	const char *service;
};

/* "20150830T123600Z", the value of X-Amz-Date. */
void sigv4_date(int64_t wall_ms, char out[17]);
/* The canonical request, what the signature is made of. -1 on no memory. */
int sigv4_canonical(const struct sigv4_request *r, struct buf *out);
/* The Authorization header's value, appended to out. wall_ms is the time of the X-Amz-Date header. -1 on no memory. */
int sigv4_authorize(const struct sigv4_request *r, const struct sigv4_key *k, int64_t wall_ms, struct buf *out);

#endif
