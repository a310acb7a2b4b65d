/* credentials.h - where the keys come from: environment (a person's command only), profiles in the shared files with their
 * roles and processes, the container, the instance's role. */
#ifndef SE_AWS_CREDENTIALS_H
#define SE_AWS_CREDENTIALS_H

#include "lib/aws/endpoint.h"
#include "lib/aws/http.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct imds;

struct credentials {
	char *access_key;
	char *secret;
	char *token;	    /* NULL = long-lived keys */
	int64_t expires_ms; /* clock_wall_ms; 0 = never */
};

#define CREDENTIALS_TRY_MS (15 * 60 * 1000)  /* before they expire, new ones are tried for */
#define CREDENTIALS_MUST_MS (10 * 60 * 1000) /* closer to their end, keys are no longer handed to another program */

struct credential_source {
	char *profile;		/* NULL = the one called default, which may be missing */
	char *credentials_file; /* NULL = none */
	char *config_file;
	char *share_dir;  /* NULL = temporary keys are not shared between programs */
	bool environment; /* AWS_ACCESS_KEY_ID and its companions count, before the files */
	bool no_imds;
	/* how to reach STS */
	char *sts_endpoint;	 /* URL, NULL = the region's */
	const char *region;	 /* borrowed */
	struct http_route route; /* borrowed texts */
};

/* First that has keys: environment, the profile (a role, web identity, credentials file, credential_process, config file), the
 * container, the role of this instance. A named profile that is missing, or a file that was named and cannot be read, is an
 * error and not the next source. refused = keys that AWS refuses: no copy of them is taken from share_dir; NULL = none. */
int credentials_load(const struct credential_source *s, struct imds *imds, const struct credentials *refused,
		     struct credentials *out, struct err *e);
bool credentials_equal(const struct credentials *a, const struct credentials *b);
int credentials_copy(struct credentials *to, const struct credentials *from); /* -1 on no memory */
void credentials_clear(struct credentials *c);				      /* wipes the secrets */

/* The files' part, exact: 1 found, 0 none there, -1 error. */
int credentials_from_files(const struct credential_source *s, struct credentials *out, struct err *e);
/* The profile's region in the config file: 1, 0 or -1. *out: caller frees. */
int credentials_region(const struct credential_source *s, char **out, struct err *e);
/* The endpoint URL that the profile's configuration has for a service ("ec2", "sts", "service_quotas"): 1, 0 or -1. *out:
 * caller frees. */
int credentials_endpoint(const struct credential_source *s, const char *service, char **out, struct err *e);
void credential_source_clear(struct credential_source *s);

#endif
