/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cloud.c - make and free the whole, and the lookups that cross its parts. */
#include "ec2local/cloud.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"

#include <ctype.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROLE_SESSION_S (6 * 3600) /* as instance profiles have it */

int cloud_init(struct cloud *c, const char *region, const char *cidr, struct err *e)
{
	*c = (struct cloud){0};
	c->region = str_dup(region);
	faults_reset(&c->faults);
	return c->region ? network_init(&c->network, cidr, region, e) : err_nomem(e);
}

static void wipe(char *text)
{
	if (text)
		OPENSSL_cleanse(text, strlen(text));
	free(text);
}

static void key_destroy(struct key *k)
{
	if (!k)
		return;
	free(k->access);
	wipe(k->secret);
	wipe(k->token);
	free(k->arn);
	free(k->expired_code);
	free(k);
}

void cloud_free(struct cloud *c)
{
	instances_free(&c->instances); /* first: they point into all the others */
	templates_free(&c->templates);
	placements_free(&c->placements);
	reservations_free(&c->reservations);
	fleets_free(&c->fleets);
	types_free(&c->types);
	images_free(&c->images);
	network_free(&c->network);
	faults_free(&c->faults);
	for (size_t i = 0; i < c->n_keys; i++)
		key_destroy(c->keys[i]);
	for (size_t i = 0; i < c->n_policies; i++)
		policy_destroy(c->policies[i]);
	for (size_t i = 0; i < c->n_assumables; i++)
		free(c->assumables[i].arn);
	free(c->keys);
	free(c->policies);
	free(c->assumables);
	free(c->role);
	free(c->region);
	if (c->request_log)
		fclose(c->request_log);
	if (c->state_log)
		fclose(c->state_log);
	*c = (struct cloud){0};
}

/* Owns the key, also on failure. */
static int keep_key(struct cloud *c, struct key *k)
{
	if (k && k->access && k->secret && mem_grow(&c->keys, &c->cap_keys, c->n_keys + 1, sizeof(struct key *)) == 0) {
		c->keys[c->n_keys++] = k;
		return 0;
	}
	key_destroy(k);
	return -1;
}

int cloud_add_key(struct cloud *c, const char *spec, struct err *e)
{
	const char *colon = strchr(spec, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
	struct key *k;

	if (!colon || colon == spec || !colon[1] || second == colon + 1)
		return err_set(e, "a key is ACCESS:SECRET or ACCESS:SECRET:TOKEN");
	k = calloc(1, sizeof(*k));
	if (!k)
		return err_nomem(e);
	k->access = str_fmt("%.*s", (int)(colon - spec), spec);
	k->secret = second ? str_fmt("%.*s", (int)(second - colon - 1), colon + 1) : str_dup(colon + 1);
	k->token = second ? str_dup(second + 1) : NULL;
	if (k->access && cloud_key(c, k->access)) {
		err_set(e, "key %s is given twice", k->access);
		key_destroy(k);
		return -1;
	}
	if (second && !k->token) {
		key_destroy(k);
		return err_nomem(e);
	}
	return keep_key(c, k) < 0 ? err_nomem(e) : 0;
}

const struct key *cloud_key(const struct cloud *c, const char *access)
{
	for (size_t i = c->n_keys; i-- > 0;) { /* the newest sessions are the busiest */
		if (str_eq(c->keys[i]->access, access))
			return c->keys[i];
	}
	return NULL;
}

const struct key *cloud_new_session(struct cloud *c, const struct policy *policy, const char *arn, int64_t expires_ms)
{
	struct key *k = calloc(1, sizeof(*k));
	char access[17], secret[41], token[201];

	if (!k)
		return NULL;
	rand_hex(access, 16);
	rand_hex(secret, 40);
	rand_hex(token, 200);
	for (char *p = access; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	k->access = str_fmt("ASIA%s", access);
	k->secret = str_dup(secret);
	k->token = str_dup(token);
	k->arn = str_dup(arn);
	k->policy = policy;
	k->expires_ms = expires_ms;
	OPENSSL_cleanse(secret, sizeof(secret));
	if (!k->token) {
		key_destroy(k);
		return NULL;
	}
	return keep_key(c, k) < 0 ? NULL : k;
}

static struct policy *keep_policy(struct cloud *c, struct policy *p, struct err *e)
{
	if (!p)
		return NULL;
	if (mem_grow(&c->policies, &c->cap_policies, c->n_policies + 1, sizeof(struct policy *)) < 0) {
		policy_destroy(p);
		err_nomem(e);
		return NULL;
	}
	return c->policies[c->n_policies++] = p;
}

/* "NAME=REST" with NAME as *name (caller frees), REST returned; NULL on error. */
static const char *split(const char *spec, char **name, struct err *e)
{
	const char *eq = strchr(spec, '=');

	*name = eq ? str_fmt("%.*s", (int)(eq - spec), spec) : NULL;
	if (*name && eq[1])
		return eq + 1;
	err_set(e, "\"%s\" is not NAME=VALUE", spec);
	return NULL;
}

int cloud_set_policy(struct cloud *c, const char *spec, struct err *e)
{
	char *access = NULL;
	const char *path = split(spec, &access, e);
	struct key *k = path ? (struct key *)cloud_key(c, access) : NULL;
	struct policy *p = k ? keep_policy(c, policy_load(path, e), e) : NULL;

	if (path && !k)
		err_set(e, "policy for key %s, which no --key before it defines", access);
	free(access);
	if (!p)
		return -1;
	k->policy = p;
	return 0;
}

int cloud_set_role(struct cloud *c, const char *spec, struct err *e)
{
	char *name = NULL;
	const char *access = split(spec, &name, e);
	const struct key *k = access ? cloud_key(c, access) : NULL;

	if (access && !k)
		err_set(e, "role %s has key %s, which no --key before it defines", name, access);
	if (!k) {
		free(name);
		return -1;
	}
	free(c->role);
	c->role = name;
	c->role_key = k;
	return 0;
}

int cloud_add_assumable(struct cloud *c, const char *spec, struct err *e)
{
	const char *eq = strchr(spec, '=');
	struct assumable a = {0};

	if (!str_prefix(spec, "arn:"))
		return err_set(e, "\"%s\" is not ARN or ARN=FILE", spec);
	if (eq && !(a.policy = keep_policy(c, policy_load(eq + 1, e), e)))
		return -1;
	a.arn = eq ? str_fmt("%.*s", (int)(eq - spec), spec) : str_dup(spec);
	if (!a.arn || mem_grow(&c->assumables, &c->cap_assumables, c->n_assumables + 1, sizeof(a)) < 0) {
		free(a.arn);
		return err_nomem(e);
	}
	c->assumables[c->n_assumables++] = a;
	return 0;
}

const struct assumable *cloud_assumable(const struct cloud *c, const char *arn)
{
	for (size_t i = 0; i < c->n_assumables; i++) {
		if (str_eq(c->assumables[i].arn, arn))
			return &c->assumables[i];
	}
	return NULL;
}

/* --- the role of the metadata service */

static int renew_role(struct cloud *c, int64_t now_ms)
{
	int64_t live_s = c->session_s > 0 ? c->session_s : ROLE_SESSION_S;
	char *arn = str_fmt("arn:aws:sts::" CLOUD_ACCOUNT ":assumed-role/%s/ec2local", c->role);
	const struct key *k = arn ? cloud_new_session(c, c->role_key->policy, arn, now_ms + live_s * 1000) : NULL;

	free(arn);
	if (k)
		c->role_key = k;
	return k ? 0 : -1;
}

const struct key *cloud_role_key(struct cloud *c, int64_t now_ms)
{
	const struct key *k = c->role_key;
	bool soon = k && k->expires_ms && k->expires_ms - now_ms < c->session_s * 1000 / 2;

	/* A key given by hand never expires: sessions take its place only when somebody asked for short ones. */
	if (k && ((c->session_s > 0 && !k->expires_ms) || soon) && renew_role(c, now_ms) < 0)
		return NULL;
	return c->role_key;
}

int cloud_expire_key(struct cloud *c, const char *access, const char *code, int64_t now_ms, struct err *e)
{
	struct key *k = (struct key *)cloud_key(c, access);
	char *copy = str_dup(code);

	if (!k || !copy) {
		free(copy);
		return k ? err_nomem(e) : err_set(e, "there is no key %s", access);
	}
	free(k->expired_code);
	k->expired_code = copy;
	return k == c->role_key && renew_role(c, now_ms) < 0 ? err_nomem(e) : 0;
}

void cloud_new_id(char out[24], const char *prefix)
{
	char hex[19];

	rand_hex(hex, 18);
	snprintf(out, 24, "%s%.17s", prefix, hex);
}

struct kvs *cloud_tags(struct cloud *c, const char *id, const char **type)
{
	struct instance *i = instances_find(&c->instances, id);
	struct template *t = templates_find(&c->templates, id);
	struct image *image = images_find(&c->images, id);
	struct placement *p = str_prefix(id, "pg-") ? placements_find(&c->placements, id) : NULL;

	*type = i ? "instance" : t ? "launch-template" : image ? "image" : p ? "placement-group" : "subnet";
	if (str_prefix(id, "sg-"))
		*type = "security-group";
	return i ? &i->tags : t ? &t->tags : image ? &image->tags : p ? &p->tags : network_tags(&c->network, id);
}
