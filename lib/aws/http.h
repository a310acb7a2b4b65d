/* http.h - transport: one curl multi handle, HTTP/1.1, no redirects. Knows nothing of AWS but its Date and Retry-After
 * headers. */
#ifndef SE_AWS_HTTP_H
#define SE_AWS_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct strs;
struct http;

struct http_route {
	const char *proxy;     /* "" = none, whatever the environment says; NULL = the environment's */
	const char *no_proxy;  /* hosts asked directly; "" = none, NULL = the environment's */
	const char *ca_bundle; /* file, or folder of hashed files; NULL = the system's */
	bool tls;              /* the certificates are looked for only then */
};

struct http_request {
	const char *method;          /* "GET", "POST", "PUT" */
	const char *url;
	const struct strs *headers;  /* "Name: value" */
	const char *body;            /* for POST; must live until the end */
	size_t body_n;
	int64_t connect_ms;          /* time to get a connection */
	int64_t total_ms;
	void (*on_data)(void *arg, const char *bytes, size_t n); /* first with n = 0: the answer begins */
	void *arg;
};

/* How it ended. With a fault there was no whole answer, and status may be 0. */
struct http_answer {
	int status;
	int64_t date_ms;         /* the Date header, 0 = none */
	int64_t retry_after_ms;  /* 0 = not told */
	const char *fault;       /* NULL, "RequestTimeout", "ConnectFailure", "ConnectionLost", "CertificateFailure"; static text */
	char detail[300];        /* curl's words for the fault */
};

#define HTTP_COLLECT_MAX (1024 * 1024)
/* An on_data that keeps the whole answer: arg is a struct buf, which has failed when the answer is longer than that. */
void http_collect(void *arg, const char *bytes, size_t n);

/* The strings of the route are copied. */
struct http *http_create(const struct http_route *route, struct err *e);
void http_destroy(struct http *h); /* takes NULL */
/* Begin one exchange; on_end of http_step gets the tag. */
int http_start(struct http *h, const struct http_request *r, void *tag, struct err *e);
/* Move all exchanges on, waiting at most wait_ms for something to happen. on_end is called for each that ended, and may
 * start others. */
void http_step(struct http *h, int64_t wait_ms, void (*on_end)(void *arg, void *tag, const struct http_answer *a), void *arg);
/* One exchange from start to end. -1 only if it could not be started. */
int http_once(struct http *h, const struct http_request *r, struct http_answer *out, struct err *e);

#endif
