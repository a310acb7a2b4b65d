/* SPDX-License-Identifier: GPL-2.0-or-later */
/* credentials_role.c - the keys of a profile: as they stand, from a process, or of a role that another profile's keys may take
 * on. Called by credentials.c.
 *
 * A profile that asks for what we do not have (single sign-on, a second factor) is refused by name: silently taking the next
 * source would act under the wrong account.
 */
#include "lib/aws/credentials_chain.h"

#include "lib/aws/aws.h"
#include "lib/base/err.h"
#include "lib/base/num.h"
#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>

#define SESSION_NAME "slurm-ec2"

/* One role being taken on. */
struct role {
	const struct chain *c;
	const char *name; /* the profile */
	const struct profile *p;
	struct strs *visited;
};

static int from_profile(const struct chain *c, const char *name, struct strs *visited, struct credentials *out, struct err *e);

/* --- static keys */
static bool has_keys(const struct profile *p)
{
	return p->in_credentials.access_key || p->in_credentials.secret || p->in_config.access_key || p->in_config.secret;
}

/* 1, 0 or -1. */
static int take_keys(struct credentials *k, const char *path, const char *profile, struct credentials *out, struct err *e)
{
	if (!k->access_key && !k->secret)
		return 0;
	if (!k->access_key || !k->secret)
		return err_set(e, "profile %s in %s has only one of aws_access_key_id and aws_secret_access_key", profile,
			       path);
	*out = *k;
	*k = (struct credentials){0};
	return 1;
}

/* --- roles */
static int base_of_source(const struct role *r, const struct chain *c, struct credentials *out, struct err *e)
{
	const char *source = r->p->credential_source;
	int rc;

	if (!strcmp(source, "Ec2InstanceMetadata"))
		return keys_from_imds(c, out, e);
	if (strcmp(source, "Environment") && strcmp(source, "EcsContainer"))
		return err_set(e, "credential_source %s is not one of Environment, EcsContainer and Ec2InstanceMetadata",
			       source);
	rc = strcmp(source, "Environment") ? keys_from_container(c, out, e) : keys_from_environment(c, out, e);
	if (rc)
		return rc < 0 ? -1 : 0;
	return err_set(e, "credential_source %s: the environment holds no keys%s", source,
		       c->s->environment ? "" : ", and a daemon's environment does not count");
}

static int base_of_profile(const struct role *r, const struct chain *c, struct credentials *out, struct err *e)
{
	const char *source = r->p->source_profile;
	int rc;

	/* A profile may be its own source, for the keys that stand in it. */
	if (strs_has(r->visited, source) && (strcmp(source, r->name) || !has_keys(r->p)))
		return err_set(e, "source_profile %s leads back to itself", source);
	if (strs_add(r->visited, source))
		return err_nomem(e);
	rc = from_profile(c, source, r->visited, out, e);
	if (!rc)
		return err_set(e, "source_profile %s has no keys, or is in neither of the shared files", source);
	return rc < 0 ? -1 : 0;
}

/* The keys that may take the role on. refused: STS did not take these. */
static int base_keys(const struct role *r, const struct credentials *refused, struct credentials *out, struct err *e)
{
	struct chain c = *r->c;
	size_t visited = r->visited->n;
	int rc;

	c.refused = refused;
	rc = r->p->source_profile ? base_of_profile(r, &c, out, e) : base_of_source(r, &c, out, e);
	while (r->visited->n > visited) /* a second look visits the same ones */
		free(r->visited->v[--r->visited->n]);
	return rc;
}

static int fetch_role(void *arg, struct credentials *out, struct err *e)
{
	const struct role *r = arg;
	const struct profile *p = r->p;
	struct role_wish w = {p->role_arn, p->role_session_name ? p->role_session_name : SESSION_NAME, p->external_id,
			      p->duration_seconds};
	struct credentials base = {0}, other = {0};
	struct aws_error error = {0};
	int rc = base_keys(r, NULL, &base, e);

	if (!rc)
		rc = keys_assume_role(r->c, &base, &w, out, &error, e);
	if (rc && error.class == AWS_CREDENTIALS && !base_keys(r, &base, &other, NULL) && !credentials_equal(&base, &other))
		rc = keys_assume_role(r->c, &other, &w, out, &error, e);
	credentials_clear(&base);
	credentials_clear(&other);
	return rc ? err_prefix(e, "profile %s, role %s", r->name, p->role_arn) : 0;
}

static int check_role(const struct role *r, struct err *e)
{
	const struct profile *p = r->p;
	int64_t duration_s;

	if (p->mfa_serial)
		return err_set(e, "profile %s has mfa_serial: nobody is there to type a code; use a role that does without",
			       r->name);
	if (p->source_profile && p->credential_source)
		return err_set(e, "profile %s has both source_profile and credential_source; give one", r->name);
	if (!p->source_profile && !p->credential_source)
		return err_set(e, "profile %s has role_arn, but neither source_profile nor credential_source", r->name);
	if (p->duration_seconds && num_i64(p->duration_seconds, 900, 43200, &duration_s, e))
		return err_prefix(e, "profile %s: duration_seconds", r->name);
	return 0;
}

static int assume(struct role *r, struct credentials *out, struct err *e)
{
	const struct credential_source *s = r->c->s;
	const struct profile *p = r->p;
	const char *const parts[] = {s->credentials_file, s->config_file,	r->name,
				     p->role_arn,	  p->source_profile,	p->credential_source,
				     p->external_id,	  p->role_session_name, p->duration_seconds,
				     s->region,		  s->sts_endpoint};

	if (check_role(r, e))
		return -1;
	return keys_shared(r->c, "role", parts, sizeof parts / sizeof *parts, fetch_role, r, out, e) ? -1 : 1;
}

/* 1, 0 if neither profile nor environment asks for it, -1. */
static int web_identity(const struct chain *c, const struct profile *p, bool first, struct credentials *out, struct err *e)
{
	const char *file = first ? chain_environment(c, "AWS_WEB_IDENTITY_TOKEN_FILE") : NULL;
	const char *name = file ? chain_environment(c, "AWS_ROLE_SESSION_NAME") : p->role_session_name;
	struct role_wish w = {.arn = file ? chain_environment(c, "AWS_ROLE_ARN") : p->role_arn,
			      .session_name = name ? name : SESSION_NAME};

	if (!file)
		file = p->web_identity_token_file;
	if (!file)
		return 0;
	if (!w.arn)
		return err_set(e, "there is a web identity token file, but no role_arn (or AWS_ROLE_ARN) to use it for");
	return keys_from_web_identity(c, file, &w, out, e) ? -1 : 1;
}

/* --- one profile */
static int by_order(const struct chain *c, const char *name, struct profile *p, struct strs *visited, struct credentials *out,
		    struct err *e)
{
	struct role r = {c, name, p, visited};
	bool first = visited->n == 1;
	int rc;

	if (p->role_arn && !p->web_identity_token_file && (first || !has_keys(p)))
		return assume(&r, out, e);
	rc = web_identity(c, p, first, out, e);
	if (!rc && p->sso)
		rc = err_set(
		    e,
		    "profile %s uses single sign-on (%s), which is not supported; give it keys, a role or credential_process",
		    name, p->sso);
	if (!rc)
		rc = take_keys(&p->in_credentials, c->s->credentials_file, name, out, e);
	if (!rc && p->credential_process)
		rc = keys_from_process(c, name, p->credential_process, out, e) ? -1 : 1;
	if (!rc)
		rc = take_keys(&p->in_config, c->s->config_file, name, out, e);
	return rc;
}

static int from_profile(const struct chain *c, const char *name, struct strs *visited, struct credentials *out, struct err *e)
{
	struct profile p = {0};
	int rc;

	if (profile_read(c->s, name, &p, e))
		return -1;
	rc = by_order(c, name, &p, visited, out, e);
	if (!rc && visited->n == 1 && c->s->profile)
		rc = p.exists ? err_set(e, "profile %s has no keys", name)
			      : err_set(e, "profile %s is neither in the credentials file %s nor in the config file %s", name,
					c->s->credentials_file ? c->s->credentials_file : "(none given)",
					c->s->config_file ? c->s->config_file : "(none given)");
	profile_clear(&p);
	return rc;
}

int keys_from_profile(const struct chain *c, struct credentials *out, struct err *e)
{
	const char *name = c->s->profile ? c->s->profile : "default";
	struct strs visited = {0};
	int rc = strs_add(&visited, name) ? err_nomem(e) : from_profile(c, name, &visited, out, e);

	strs_clear(&visited);
	return rc;
}
