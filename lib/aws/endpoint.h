/* endpoint.h - where a service of a region answers, and the parts of such a URL. Pure. */
#ifndef SE_AWS_ENDPOINT_H
#define SE_AWS_ENDPOINT_H

#include <stdbool.h>

struct err;

struct endpoint {
	char *url;   /* "https://ec2.us-east-1.amazonaws.com/" */
	char *host;  /* the Host header: with the port unless it is the scheme's own */
	bool tls;
};

struct endpoint_variant {
	bool fips, dual_stack;
};

/* A service's endpoint in a region, over https: "ec2", "sts", "servicequotas". */
int endpoint_of(const char *service, const char *region, struct endpoint_variant variant, struct endpoint *out, struct err *e);
/* Is the host AWS's own, in any partition? */
bool endpoint_is_aws(const struct endpoint *ep);
/* An endpoint the site gave: http or https, host, optional port, no path but "/", no user name, no query. */
int endpoint_parse(const char *url, struct endpoint *out, struct err *e);
void endpoint_clear(struct endpoint *ep);

#endif
