/* http.h - a received HTTP request and its answer, between the server and those who answer (api, control, imds). */
#ifndef EC2LOCAL_HTTP_H
#define EC2LOCAL_HTTP_H

#include "lib/base/buf.h"
#include "lib/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct cloud;

struct http_request {
	const char *method;
	char *path;  /* as received, not decoded, without the query */
	char *query; /* as received; "" if none */
	struct kvs headers;
	struct buf body;
	uint32_t client; /* IPv4 address, host order */
	bool too_long;	 /* the body went over the limit and was dropped */
};

/* Zero-initialised; the answerer fills it. */
struct http_answer {
	int status;
	const char *type; /* Content-Type */
	struct buf body;
	struct kvs headers; /* further ones */
	int64_t delay_ms;   /* hold it back */
	bool drop;	    /* close the connection instead */
};

typedef void http_answerer(struct cloud *cloud, const struct http_request *rq, struct http_answer *a);

http_answerer api_answer;     /* POST / and, for the loopback, /_control */
http_answerer control_answer; /* /_control... */
http_answerer imds_answer;    /* the metadata service */

/* Value of a header, any case; NULL if absent. */
const char *http_header(const struct http_request *rq, const char *name);
/* Is the client on this machine's loopback? */
bool http_local(const struct http_request *rq);

#endif
