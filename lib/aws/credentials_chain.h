/* credentials_chain.h - the links of the chain, one file each. For credentials*.c only. */
#ifndef SE_AWS_CREDENTIALS_CHAIN_H
#define SE_AWS_CREDENTIALS_CHAIN_H

#include "lib/aws/credentials.h"

#include <stddef.h>

struct aws_error;
struct strs;

struct chain {
	const struct credential_source *s;
	struct imds *imds;
	const struct credentials *refused;
};

/* --- credentials_profile.c: what both shared files say of one profile */
struct profile {
	bool exists;
	struct credentials in_credentials, in_config;
	char *region, *role_arn, *source_profile, *credential_source, *external_id, *role_session_name, *duration_seconds,
	    *mfa_serial;
	char *credential_process, *web_identity_token_file, *endpoint_url, *services;
	char *sso; /* the name of a key that asks for single sign-on */
	bool nomem;
};
int profile_read(const struct credential_source *s, const char *name, struct profile *p, struct err *e);
void profile_clear(struct profile *p);

/* --- what a JSON answer of keys may look like */
struct key_words {
	const char *what;  /* "the answer of the container's credential service" */
	const char *token; /* "Token" or "SessionToken" */
	int version;	   /* 1 = "Version": 1 is demanded */
};
/* -1 with e; no part of the text goes into it. */
int keys_from_json(const char *text, size_t n, const struct key_words *w, struct credentials *out, struct err *e);
/* "2026-11-30T16:50:27Z", or with +00:00 in the place of Z. */
int keys_time(const char *text, int64_t *wall_ms);

/* --- credentials_cache.c: keys shared between programs. `fetch` gets them when there are none; of many programs at once one
 * does. kind and parts name the source. Keys that never expire are not kept. */
int keys_shared(const struct chain *c, const char *kind, const char *const *parts, size_t n,
		int (*fetch)(void *arg, struct credentials *out, struct err *e), void *arg, struct credentials *out,
		struct err *e);

/* --- the sources themselves: 0 or -1 */
int keys_from_process(const struct chain *c, const char *profile, const char *command, struct credentials *out, struct err *e);
int keys_from_imds(const struct chain *c, struct credentials *out, struct err *e);
/* 1 found, 0 no container's variables in the environment, -1 error */
int keys_from_container(const struct chain *c, struct credentials *out, struct err *e);
int keys_from_environment(const struct chain *c, struct credentials *out, struct err *e);

/* --- credentials_sts.c */
struct role_wish {
	const char *arn, *session_name, *external_id, *duration_s; /* NULL = none */
};
int keys_assume_role(const struct chain *c, const struct credentials *base, const struct role_wish *w, struct credentials *out,
		     struct aws_error *error, struct err *e);
int keys_from_web_identity(const struct chain *c, const char *token_file, const struct role_wish *w, struct credentials *out,
			   struct err *e);

/* --- credentials_role.c: the keys of a profile, by role or as they stand. 1 found, 0 none, -1 error. */
int keys_from_profile(const struct chain *c, struct credentials *out, struct err *e);

/* An environment variable, NULL when it is empty or a program's environment does not count. */
const char *chain_environment(const struct chain *c, const char *name);

#endif
