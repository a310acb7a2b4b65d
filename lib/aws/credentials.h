/* credentials.h - where the keys come from: environment (a person's command only), shared files, the instance's role. */
#ifndef SE_AWS_CREDENTIALS_H
#define SE_AWS_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct imds;

struct credentials {
	char *access_key;
	char *secret;
	char *token;        /* NULL = long-lived keys */
	int64_t expires_ms; /* clock_wall_ms; 0 = never */
};

struct credential_source {
	char *profile;          /* NULL = the one called default, which may be missing */
	char *credentials_file; /* NULL = none */
	char *config_file;
	bool environment;       /* AWS_ACCESS_KEY_ID and its companions count, before the files */
	bool no_imds;
};

/* First that has keys: environment, credentials file, config file, the role of this instance. A named profile that is
 * missing, or a file that was named and cannot be read, is an error and not the next source. */
int credentials_load(const struct credential_source *s, struct imds *imds, struct credentials *out, struct err *e);
bool credentials_equal(const struct credentials *a, const struct credentials *b);
void credentials_clear(struct credentials *c); /* wipes the secrets */

/* The files' part, exact: 1 found, 0 none there, -1 error. */
int credentials_from_files(const struct credential_source *s, struct credentials *out, struct err *e);
/* The profile's region in the config file: 1, 0 or -1. *out: caller frees. */
int credentials_region(const struct credential_source *s, char **out, struct err *e);
void credential_source_clear(struct credential_source *s);

#endif
