/* SPDX-License-Identifier: GPL-2.0-or-later */
/* credentials.c - finds the keys. Called by connection.c at the first request, before they expire, and once when EC2
 * refuses them. The order of the sources is here; each source is a file of its own.
 *
 * No key, token or secret is ever put into an error.
 */
#include "lib/aws/credentials_chain.h"

#include "lib/aws/secret.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/jview.h"
#include "lib/base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void credentials_clear(struct credentials *c)
{
	free(c->access_key);
	c->access_key = NULL;
	secret_free(&c->secret);
	secret_free(&c->token);
	c->expires_ms = 0;
}

int credentials_copy(struct credentials *to, const struct credentials *from)
{
	struct credentials c = {str_dup(from->access_key), str_dup(from->secret), str_dup(from->token), from->expires_ms};

	if ((from->access_key && !c.access_key) || (from->secret && !c.secret) || (from->token && !c.token)) {
		credentials_clear(&c);
		return -1;
	}
	*to = c;
	return 0;
}

void credential_source_clear(struct credential_source *s)
{
	free(s->profile);
	free(s->credentials_file);
	free(s->config_file);
	free(s->share_dir);
	free(s->sts_endpoint);
	*s = (struct credential_source){0};
}

bool credentials_equal(const struct credentials *a, const struct credentials *b)
{
	return str_eq(a->access_key, b->access_key) && str_eq(a->secret, b->secret) && str_eq(a->token, b->token);
}

const char *chain_environment(const struct chain *c, const char *name)
{
	const char *v = c->s->environment ? getenv(name) : NULL;

	return v && *v ? v : NULL;
}

/* --- keys in JSON */
int keys_time(const char *text, int64_t *wall_ms)
{
	size_t n = strlen(text);
	char *zulu;
	int rc;

	if (n < 6 || (strcmp(text + n - 6, "+00:00") && strcmp(text + n - 6, "-00:00")))
		return clock_iso_parse(text, wall_ms);
	zulu = str_fmt("%.*sZ", (int)(n - 6), text);
	rc = zulu ? clock_iso_parse(zulu, wall_ms) : -1;
	free(zulu);
	return rc;
}

static void wipe_member(struct json_object *o, const char *key)
{
	struct json_object *m;
	const char *text = json_object_object_get_ex(o, key, &m) && json_object_is_type(m, json_type_string)
			       ? json_object_get_string(m)
			       : NULL;

	if (text)
		secret_wipe((char *)(void *)text, strlen(text)); /* json-c would leave it in freed memory */
}

struct json_keys {
	const char *code, *message, *key, *secret, *token, *until;
	int64_t version;
};

static int read_members(struct json_object *o, const struct key_words *w, struct json_keys *k, struct err *e)
{
	if (!json_object_is_type(o, json_type_object))
		return err_set(e, "is no object");
	return jview_str(o, "Code", &k->code, e) || jview_str(o, "Message", &k->message, e) ||
		       jview_str(o, "AccessKeyId", &k->key, e) || jview_str(o, "SecretAccessKey", &k->secret, e) ||
		       jview_str(o, w->token, &k->token, e) || jview_str(o, "Expiration", &k->until, e) ||
		       jview_i64(o, "Version", &k->version, e)
		   ? -1
		   : 0;
}

static int take_members(const struct json_keys *k, const struct key_words *w, struct credentials *out, struct err *e)
{
	struct credentials c = {0};

	if (w->version && k->version != w->version)
		return err_set(e, "has no \"Version\": %d", w->version);
	if (k->code && strcmp(k->code, "Success"))
		return err_set(e, "has no keys but the code %.80s", k->code);
	if (!k->key || !k->secret || !*k->key || !*k->secret)
		return err_set(e, "has no AccessKeyId or no SecretAccessKey");
	if (k->until && keys_time(k->until, &c.expires_ms))
		return err_set(e, "has an Expiration that is not a time such as 2030-01-31T12:00:00Z");
	c.access_key = (char *)(void *)k->key;
	c.secret = (char *)(void *)k->secret;
	c.token = k->token && *k->token ? (char *)(void *)k->token : NULL;
	return credentials_copy(out, &c) ? err_nomem(e) : 0;
}

int keys_from_json(const char *text, size_t n, const struct key_words *w, struct credentials *out, struct err *e)
{
	struct json_object *o = jview_parse(text, n, w->what, e);
	struct json_keys k = {0};
	int rc;

	if (!o)
		return -1;
	rc = read_members(o, w, &k, e) || take_members(&k, w, out, e) ? err_prefix(e, "%s", w->what) : 0;
	wipe_member(o, "SecretAccessKey");
	wipe_member(o, w->token);
	json_object_put(o);
	return rc;
}

/* --- the order */
int keys_from_environment(const struct chain *c, struct credentials *out, struct err *e)
{
	const char *key = chain_environment(c, "AWS_ACCESS_KEY_ID"), *secret = chain_environment(c, "AWS_SECRET_ACCESS_KEY");
	const char *token = chain_environment(c, "AWS_SESSION_TOKEN"),
		   *until = chain_environment(c, "AWS_CREDENTIAL_EXPIRATION");
	struct credentials k = {(char *)(void *)key, (char *)(void *)secret, (char *)(void *)token, 0};

	if (!key)
		return 0;
	if (!secret)
		return err_set(e, "AWS_ACCESS_KEY_ID is set but AWS_SECRET_ACCESS_KEY is not; set both or neither");
	if (until && keys_time(until, &k.expires_ms))
		return err_set(e, "AWS_CREDENTIAL_EXPIRATION is not a time such as 2030-01-31T12:00:00Z");
	return credentials_copy(out, &k) ? err_nomem(e) : 1;
}

static int check_named_file(const char *path, const char *what, struct err *e)
{
	return !path || file_exists(path) ? 0 : err_errno(e, ENOENT, "%s %s", what, path);
}

int credentials_from_files(const struct credential_source *s, struct credentials *out, struct err *e)
{
	struct chain c = {.s = s};

	return keys_from_profile(&c, out, e);
}

int credentials_load(const struct credential_source *s, struct imds *imds, const struct credentials *refused,
		     struct credentials *out, struct err *e)
{
	struct chain chain = {s, imds, refused};
	struct credentials c = {0};
	int rc = keys_from_environment(&chain, &c, e);

	if (!rc && !s->environment)
		rc = check_named_file(s->credentials_file, "credentials file", e);
	if (!rc)
		rc = keys_from_profile(&chain, &c, e);
	if (!rc)
		rc = keys_from_container(&chain, &c, e);
	if (!rc && s->no_imds)
		rc = err_set(e, "no AWS credentials: none in the environment or the shared files");
	if (!rc)
		rc = keys_from_imds(&chain, &c, e)
			 ? err_prefix(e, "no AWS credentials in the shared files, and none from the instance")
			 : 1;
	if (rc < 0)
		return -1;
	*out = c;
	return 0;
}
