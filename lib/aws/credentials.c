/* SPDX-License-Identifier: GPL-2.0-or-later */
/* credentials.c - finds the keys. Called by connection.c at the first request, before they expire, and once when EC2
 * refuses them.
 *
 * A profile that needs role_arn, credential_process, SSO or web identity is refused by name: silently taking the next
 * source would act under the wrong account. No key, token or secret is ever put into an error.
 */
#include "lib/aws/credentials.h"

#include "lib/aws/imds.h"
#include "lib/aws/ini.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/jview.h"
#include "lib/base/str.h"

#include <openssl/crypto.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE (1024 * 1024)
#define ROLE_PATH "meta-data/iam/security-credentials/"

static void wipe(char **s)
{
	if (*s)
		OPENSSL_cleanse(*s, strlen(*s));
	free(*s);
	*s = NULL;
}

void credentials_clear(struct credentials *c)
{
	free(c->access_key);
	c->access_key = NULL;
	wipe(&c->secret);
	wipe(&c->token);
	c->expires_ms = 0;
}

void credential_source_clear(struct credential_source *s)
{
	free(s->profile);
	free(s->credentials_file);
	free(s->config_file);
	*s = (struct credential_source){0};
}

bool credentials_equal(const struct credentials *a, const struct credentials *b)
{
	return str_eq(a->access_key, b->access_key) && str_eq(a->secret, b->secret) && str_eq(a->token, b->token);
}

static void wipe_buf(struct buf *b)
{
	if (b->v)
		OPENSSL_cleanse(b->v, b->n);
	buf_free(b);
}

static const char *environment(const char *name)
{
	const char *v = getenv(name);

	return v && *v ? v : NULL;
}

/* 1 found, 0 none, -1 error. */
static int from_environment(struct credentials *out, struct err *e)
{
	const char *key = environment("AWS_ACCESS_KEY_ID"), *secret = environment("AWS_SECRET_ACCESS_KEY");
	const char *token = environment("AWS_SESSION_TOKEN");

	if (!key)
		return 0;
	if (!secret)
		return err_set(e, "AWS_ACCESS_KEY_ID is set but AWS_SECRET_ACCESS_KEY is not; set both or neither");
	out->access_key = str_dup(key);
	out->secret = str_dup(secret);
	out->token = str_dup(token);
	if (!out->access_key || !out->secret || (token && !out->token)) {
		credentials_clear(out);
		return err_nomem(e);
	}
	return 1;
}

/* What a profile's section says. */
struct section {
	struct credentials keys;
	char *region;
	char other[24]; /* a key that asks for a source we do not have */
	bool nomem;
};

static void section_clear(struct section *s)
{
	credentials_clear(&s->keys);
	free(s->region);
	s->region = NULL;
}

static void set(struct section *s, char **field, const char *value)
{
	if (!*value)
		return;
	wipe(field);
	*field = str_dup(value);
	s->nomem |= !*field;
}

static void take_key(void *arg, const char *key, const char *value)
{
	static const char *const unsupported[] = {"role_arn", "credential_process", "sso_session", "sso_start_url",
						  "web_identity_token_file"};
	struct section *s = arg;

	if (!strcmp(key, "aws_access_key_id"))
		set(s, &s->keys.access_key, value);
	else if (!strcmp(key, "aws_secret_access_key"))
		set(s, &s->keys.secret, value);
	else if (!strcmp(key, "aws_session_token"))
		set(s, &s->keys.token, value);
	else if (!strcmp(key, "region"))
		set(s, &s->region, value);
	for (size_t i = 0; i < sizeof unsupported / sizeof *unsupported; i++)
		if (!strcmp(key, unsupported[i]))
			memcpy(s->other, key, strlen(key) + 1);
}

static bool is_profile(const char *name, const void *arg)
{
	return !strcmp(name, arg);
}

/* The config file writes "[profile name]" or "[profile "name"]", but "[default]" without the word. */
static bool is_config_profile(const char *name, const void *arg)
{
	const char *want = arg;
	size_t n = strlen(want);

	if (!strcmp(want, "default") && !strcmp(name, want))
		return true;
	if (!str_prefix(name, "profile") || !strchr(" \t", name[7]))
		return false;
	name += 7;
	name += strspn(name, " \t");
	if (*name == '"' || *name == '\'')
		return !strncmp(name + 1, want, n) && name[n + 1] == *name && !name[n + 2];
	return !strcmp(name, want);
}

/* Read the profile of one file into s. 1 the section is there, 0 not (nor perhaps the file), -1 the file cannot be read. */
static int read_profile(const char *path, bool config, const char *profile, struct section *s, struct err *e)
{
	struct buf b = {0};
	int rc = -1;

	if (!path || !file_exists(path))
		return 0;
	if (!file_read(path, MAX_FILE, &b, e))
		rc = ini_read(buf_text(&b), config ? is_config_profile : is_profile, profile, take_key, s);
	wipe_buf(&b);
	if (s->nomem)
		return err_nomem(e);
	return rc;
}

/* Keys of a section into out: 1, 0 or -1. */
static int take_section(struct section *s, const char *path, const char *profile, struct credentials *out, struct err *e)
{
	if (s->keys.access_key && s->keys.secret) {
		*out = s->keys;
		s->keys = (struct credentials){0};
		return 1;
	}
	if (s->keys.access_key || s->keys.secret)
		return err_set(e, "profile %s in %s has only one of aws_access_key_id and aws_secret_access_key", profile, path);
	if (s->other[0])
		return err_set(e, "profile %s in %s uses %s, which is not supported; give it keys, or use the role of this instance",
			       profile, path, s->other);
	return 0;
}

int credentials_from_files(const struct credential_source *s, struct credentials *out, struct err *e)
{
	const char *profile = s->profile ? s->profile : "default";
	const char *paths[] = {s->credentials_file, s->config_file};
	bool seen = false;

	for (int i = 0; i < 2; i++) {
		struct section section = {0};
		int rc = read_profile(paths[i], i == 1, profile, &section, e);

		if (rc > 0) {
			seen = true;
			rc = take_section(&section, paths[i], profile, out, e);
		}
		section_clear(&section);
		if (rc)
			return rc;
	}
	if (s->profile && !seen)
		return err_set(e, "profile %s is neither in the credentials file %s nor in the config file %s", profile,
			       s->credentials_file ? s->credentials_file : "(none given)",
			       s->config_file ? s->config_file : "(none given)");
	if (s->profile)
		return err_set(e, "profile %s has no keys", profile);
	return 0;
}

int credentials_region(const struct credential_source *s, char **out, struct err *e)
{
	struct section section = {0};
	int rc = read_profile(s->config_file, true, s->profile ? s->profile : "default", &section, e);

	if (rc > 0) {
		*out = section.region;
		rc = section.region ? 1 : 0;
		section.region = NULL;
	}
	section_clear(&section);
	return rc;
}

/* The keys in IMDS's JSON. */
static int parse_role(const struct buf *b, struct credentials *out, struct err *e)
{
	struct json_object *o = jview_parse(buf_text(b), b->n, "the instance's role credentials", e);
	const char *code = NULL, *key = NULL, *secret = NULL, *token = NULL, *until = NULL;
	int rc = -1;

	if (!o)
		return -1;
	if (jview_str(o, "Code", &code, e) || jview_str(o, "AccessKeyId", &key, e) || jview_str(o, "SecretAccessKey", &secret, e) ||
	    jview_str(o, "Token", &token, e) || jview_str(o, "Expiration", &until, e))
		goto out;
	if (!key || !secret || (code && strcmp(code, "Success"))) {
		err_set(e, "the instance's role has no keys (%s); look at its instance profile", code ? code : "no Code");
		goto out;
	}
	out->access_key = str_dup(key);
	out->secret = str_dup(secret);
	out->token = str_dup(token);
	if (until && clock_iso_parse(until, &out->expires_ms))
		out->expires_ms = 0;
	rc = out->access_key && out->secret && (out->token || !token) ? 0 : err_nomem(e);
out:
	json_object_put(o);
	return rc;
}

static int from_role(struct imds *imds, struct credentials *out, struct err *e)
{
	struct buf role = {0}, json = {0};
	char *path = NULL;
	int rc = imds_get(imds, ROLE_PATH, &role, e);

	if (rc > 0) {
		path = str_fmt(ROLE_PATH "%.*s", (int)strcspn(buf_text(&role), "\r\n"), buf_text(&role));
		rc = path ? imds_get(imds, path, &json, e) : err_nomem(e);
	}
	if (rc == 0)
		rc = err_set(e, "this instance has no role (instance profile)");
	else if (rc > 0)
		rc = parse_role(&json, out, e);
	if (rc)
		credentials_clear(out);
	free(path);
	buf_free(&role);
	wipe_buf(&json);
	return rc;
}

static int check_named_file(const char *path, const char *what, struct err *e)
{
	return !path || file_exists(path) ? 0 : err_errno(e, ENOENT, "%s %s", what, path);
}

int credentials_load(const struct credential_source *s, struct imds *imds, struct credentials *out, struct err *e)
{
	struct credentials c = {0};
	int rc = s->environment ? from_environment(&c, e) : 0;

	if (!rc && !s->environment)
		rc = check_named_file(s->credentials_file, "credentials file", e);
	if (!rc)
		rc = credentials_from_files(s, &c, e);
	if (!rc && s->no_imds)
		rc = err_set(e, "no AWS credentials: none in the environment or the shared files");
	if (!rc)
		rc = from_role(imds, &c, e) ? err_prefix(e, "no AWS credentials in the shared files, and none from the instance") : 1;
	if (rc < 0)
		return -1;
	*out = c;
	return 0;
}
