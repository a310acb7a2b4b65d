/* aws.h - one connection to AWS: credentials, region, endpoint, one curl multi handle, retries and token buckets. */
#ifndef SE_AWS_AWS_H
#define SE_AWS_AWS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum aws_class {
	AWS_OK,
	AWS_CAPACITY,    /* next pool at once, never the same again */
	AWS_QUOTA,       /* back off for minutes, tell the user */
	AWS_THROTTLE,    /* later, same token */
	AWS_TRANSIENT,   /* transport fault or 5xx without a definite code: same token; it may have happened */
	AWS_CREDENTIALS, /* refresh once */
	AWS_OURS         /* our request is wrong or not allowed: never retried */
};

struct aws_error {
	enum aws_class class;
	int http_status;      /* 0 = no answer */
	/* EC2's, "InsufficientInstanceCapacity", or our own: RequestTimeout and ConnectionLost (it may have happened),
	 * ConnectFailure, CertificateFailure, NoCredentials, DeadlineReached (never sent), UnexpectedAnswer (a proxy spoke),
	 * UnreadableAnswer, RequestFailure. */
	char code[80];
	char message[600];
	char request_id[80];
};

/* By code first, HTTP status second: ICE arrives as HTTP 500. */
enum aws_class aws_classify(int http_status, const char *code);
const char *aws_class_text(enum aws_class c);

struct aws;

/* A token bucket: size and refill a second. size 0 = EC2's documented one, below 0 = no limit on our side. */
struct aws_rate { double size, per_second; };
/* "5/2" or "none"; NULL = size 0. -1 with e on anything else. */
int aws_rate_parse(const char *text, struct aws_rate *out, struct err *e);
struct aws_rates {
	struct aws_rate launch_requests, launch_instances; /* RunInstances, CreateFleet: 5/2 and 1000/2 */
	struct aws_rate terminate_requests, terminate_instances; /* 100/5 and 1000/20 */
	struct aws_rate reads;                             /* 100/20 */
	struct aws_rate changes;                           /* 50/5 */
};

/* NULL members take the default. Strings are copied. */
struct aws_config {
	const char *region;
	const char *endpoint;         /* EC2's URL; NULL = the region's, over https */
	const char *profile;          /* in the shared files */
	const char *credentials_file; /* shared credentials file */
	const char *config_file;      /* shared config file */
	const char *imds_endpoint;    /* http://169.254.169.254 */
	const char *proxy;            /* for EC2, never for IMDS */
	const char *ca_bundle;
	const char *no_proxy;         /* hosts and domains that are asked directly, as NO_PROXY has them */
	/* Folder for what concurrent programs share: credentials with an end (0600, so that a burst of resumes asks IMDS, STS or a
	 * process once) and the token buckets of this account and region. NULL = nothing is shared. */
	const char *share_dir;
	struct aws_rates rates;       /* zeroed = EC2's documented ones */
	/* Where STS and Service Quotas answer. NULL = the region's; but where `endpoint` is a URL outside of AWS's domains, that
	 * one serves them too. */
	const char *sts_endpoint, *quotas_endpoint;
	/* true = the caller's environment counts too: only in commands a person runs. AWS_ACCESS_KEY_ID ..., AWS_PROFILE,
	 * AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE come before the members above; AWS_REGION, AWS_ENDPOINT_URL[_EC2],
	 * AWS_CA_BUNDLE, HTTPS_PROXY, NO_PROXY and the files in ~/.aws only fill what is NULL. */
	bool person;
	/* Set by a signal handler: nothing more is sent then, what is in the air may end. NULL = none. Must outlive the
	 * connection. */
	const volatile sig_atomic_t *stop;
};

/* Credentials are fetched at the first call. Without credentials nothing is ever sent unsigned. */
struct aws *aws_create(const struct aws_config *c, struct err *e);
void aws_destroy(struct aws *a); /* takes NULL */
/* The region in use, found if none was given (environment, config file, this instance); NULL with e if there is none.
 * Borrowed. */
const char *aws_region(struct aws *a, struct err *e);
/* HTTP requests sent to EC2 so far, for logs and benchmarks. */
uint64_t aws_call_count(const struct aws *a);

/* The same for the whole process, each request by its action and how it ended. Connections come and go with the applied
 * generation, these numbers only grow. Borrowed until the next call. */
struct aws_count {
	const char *action; /* "DescribeInstances" */
	enum aws_class class;
	uint64_t n;
};
const struct aws_count *aws_counts(size_t *n);

#endif
