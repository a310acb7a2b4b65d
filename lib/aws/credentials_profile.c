/* SPDX-License-Identifier: GPL-2.0-or-later */
/* credentials_profile.c - what the shared files say of one profile. Called by credentials_role.c, and by connection.c for
 * region and endpoints. As the AWS tools have it, the credentials file's word counts where both files say something. */
#include "lib/aws/credentials_chain.h"

#include "lib/aws/ini.h"
#include "lib/aws/secret.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/str.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE (1024 * 1024)

struct text_key {
	const char *name;
	size_t offset;
};

#define TEXT(member)                                                                                                           \
	{                                                                                                                      \
#member, offsetof(struct profile, member)                                                                      \
	}
static const struct text_key text_keys[] = {
    TEXT(region),
    TEXT(role_arn),
    TEXT(source_profile),
    TEXT(credential_source),
    TEXT(external_id),
    TEXT(role_session_name),
    TEXT(duration_seconds),
    TEXT(mfa_serial),
    TEXT(credential_process),
    TEXT(web_identity_token_file),
    TEXT(endpoint_url),
    TEXT(services),
};
#define N_TEXT_KEYS (sizeof text_keys / sizeof *text_keys)

static char **field_of(struct profile *p, const struct text_key *k)
{
	return (char **)(void *)((char *)p + k->offset);
}

void profile_clear(struct profile *p)
{
	for (size_t i = 0; i < N_TEXT_KEYS; i++)
		secret_free(field_of(p, &text_keys[i])); /* a process may have a secret among its arguments */
	credentials_clear(&p->in_credentials);
	credentials_clear(&p->in_config);
	free(p->sso);
	*p = (struct profile){0};
}

static void set(struct profile *p, char **field, const char *value)
{
	if (!*value)
		return;
	secret_free(field);
	*field = str_dup(value);
	p->nomem |= !*field;
}

struct reading {
	struct profile *p;
	struct credentials *keys; /* of the file being read */
};

static void take_key(void *arg, const char *key, const char *value)
{
	struct reading *r = arg;

	if (!strcmp(key, "aws_access_key_id"))
		set(r->p, &r->keys->access_key, value);
	else if (!strcmp(key, "aws_secret_access_key"))
		set(r->p, &r->keys->secret, value);
	else if (!strcmp(key, "aws_session_token"))
		set(r->p, &r->keys->token, value);
	else if (!strcmp(key, "sso_session") || !strcmp(key, "sso_start_url") || !strcmp(key, "sso_account_id"))
		set(r->p, &r->p->sso, key);
	for (size_t i = 0; i < N_TEXT_KEYS; i++)
		if (!strcmp(key, text_keys[i].name))
			set(r->p, field_of(r->p, &text_keys[i]), value);
}

static bool is_profile(const char *name, const void *arg)
{
	return !strcmp(name, arg);
}

/* "[<word> name]" or "[<word> "name"]". */
static bool is_named(const char *name, const char *word, const char *want)
{
	size_t n = strlen(want), w = strlen(word);

	if (!str_prefix(name, word) || !name[w] || !strchr(" \t", name[w]))
		return false;
	name += w;
	name += strspn(name, " \t");
	if (*name == '"' || *name == '\'')
		return !strncmp(name + 1, want, n) && name[n + 1] == *name && !name[n + 2];
	return !strcmp(name, want);
}

/* The config file writes "[profile name]", but "[default]" without the word. */
static bool is_config_profile(const char *name, const void *arg)
{
	return (!strcmp(arg, "default") && !strcmp(name, arg)) || is_named(name, "profile", arg);
}

static bool is_services(const char *name, const void *arg)
{
	return is_named(name, "services", arg);
}

/* 1 the section is there, 0 not (nor perhaps the file), -1 the file cannot be read. */
static int read_section(const char *path, bool (*is_section)(const char *, const void *), const char *name,
			void (*on_key)(void *, const char *, const char *), void *arg, struct err *e)
{
	struct buf b = {0};
	int rc = -1;

	if (!path || !file_exists(path))
		return 0;
	secret_reserve(&b);
	if (!file_read(path, MAX_FILE, &b, e))
		rc = ini_read(buf_text(&b), is_section, name, on_key, arg);
	secret_buf_free(&b);
	return rc;
}

int profile_read(const struct credential_source *s, const char *name, struct profile *p, struct err *e)
{
	struct reading config = {p, &p->in_config}, credentials = {p, &p->in_credentials};
	int a = read_section(s->config_file, is_config_profile, name, take_key, &config, e), b = 0;

	if (a >= 0)
		b = read_section(s->credentials_file, is_profile, name, take_key, &credentials, e);
	p->exists = a > 0 || b > 0;
	if (a >= 0 && b >= 0 && !p->nomem)
		return 0;
	if (p->nomem)
		err_nomem(e);
	profile_clear(p);
	return -1;
}

static const char *profile_name(const struct credential_source *s)
{
	return s->profile ? s->profile : "default";
}

int credentials_region(const struct credential_source *s, char **out, struct err *e)
{
	struct profile p = {0};
	int rc;

	if (profile_read(s, profile_name(s), &p, e))
		return -1;
	*out = p.region;
	rc = p.region != NULL;
	p.region = NULL;
	profile_clear(&p);
	return rc;
}

/* --- endpoints */
struct wanted_url {
	char *key; /* "ec2.endpoint_url" */
	char *url;
};

static void take_url(void *arg, const char *key, const char *value)
{
	struct wanted_url *w = arg;

	if (strcmp(key, w->key) || !*value)
		return;
	free(w->url);
	w->url = str_dup(value);
}

/* The profile's own URL for all services, or the one of its services section. */
static int find_url(const struct credential_source *s, struct profile *p, const char *service, char **out, struct err *e)
{
	struct wanted_url w = {str_fmt("%s.endpoint_url", service), NULL};
	int rc = w.key ? 0 : err_nomem(e);

	if (!rc && p->services)
		rc = read_section(s->config_file, is_services, p->services, take_url, &w, e);
	if (rc >= 0) {
		*out = w.url ? w.url : p->endpoint_url;
		rc = *out != NULL;
		if (!w.url)
			p->endpoint_url = NULL;
		w.url = NULL;
	}
	free(w.url);
	free(w.key);
	return rc;
}

int credentials_endpoint(const struct credential_source *s, const char *service, char **out, struct err *e)
{
	struct profile p = {0};
	int rc;

	if (profile_read(s, profile_name(s), &p, e))
		return -1;
	rc = find_url(s, &p, service, out, e);
	profile_clear(&p);
	return rc;
}
