/* connection.h - what struct aws holds, and making it ready for a request. For lib/aws only. */
#ifndef SE_AWS_CONNECTION_H
#define SE_AWS_CONNECTION_H

#include "lib/aws/aws.h"
#include "lib/aws/bucket_share.h"
#include "lib/aws/credentials.h"
#include "lib/aws/endpoint.h"
#include "lib/base/str.h"

struct http;
struct imds;

enum aws_service { SERVICE_EC2, SERVICE_STS, SERVICE_QUOTAS, SERVICES };

struct aws {
	char *region;              /* NULL until found */
	char *endpoint_given[SERVICES]; /* by settings or environment; NULL = not */
	bool ignore_files;         /* a person wants no endpoint from the config file */
	struct endpoint_variant variant;
	char *proxy, *no_proxy, *ca_bundle;
	bool person;
	const volatile sig_atomic_t *stop;
	struct credential_source source;
	struct credentials keys;
	int64_t refresh_at_ms;     /* clock_wall_ms; 0 = no keys yet */
	struct endpoint endpoint;  /* url NULL until first needed */
	struct http *http;
	struct imds *imds;
	struct bucket_share *buckets;
	unsigned keys_serial;      /* counts the keys had so far */
	unsigned refused_serial;   /* that EC2 refuses, and there are no other ones; 0 = none */
	int64_t skew_ms;           /* AWS's clock minus ours, as far as it ever mattered */
	uint64_t calls;
};

/* Region, endpoint, transport and unexpired keys: all a request needs. */
int connection_ready(struct aws *a, struct err *e);
/* EC2 refused the keys of that serial: fetch them again, once for all requests that carried them. true = there are other ones,
 * so a new try makes sense. */
bool connection_renew(struct aws *a, unsigned serial);
/* Where a service answers. The caller clears it. */
int connection_endpoint(struct aws *a, enum aws_service service, struct endpoint *out, struct err *e);
/* How it is reached; the texts are borrowed. */
void connection_route(const struct aws *a, bool tls, struct http_route *route);
/* The headers of one signed POST to EC2, and nothing unsigned ever: -1 on no memory. */
int connection_sign(struct aws *a, const char *body, size_t body_n, struct strs *headers);
/* Put *** in the place of our keys, should a message repeat them. */
void connection_redact(const struct aws *a, char *text);

#endif
