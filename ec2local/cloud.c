/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cloud.c - make and free the whole, and the lookups that cross its parts. */
#include "ec2local/cloud.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cloud_init(struct cloud *c, const char *region, const char *cidr, struct err *e)
{
	*c = (struct cloud){0};
	c->region = str_dup(region);
	faults_reset(&c->faults);
	return c->region ? network_init(&c->network, cidr, region, e) : err_nomem(e);
}

static void key_clear(struct key *k)
{
	free(k->access);
	if (k->secret)
		OPENSSL_cleanse(k->secret, strlen(k->secret));
	free(k->secret);
	free(k->token);
	policy_destroy(k->policy);
	*k = (struct key){0};
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
		key_clear(&c->keys[i]);
	free(c->keys);
	free(c->role);
	free(c->region);
	if (c->request_log)
		fclose(c->request_log);
	if (c->state_log)
		fclose(c->state_log);
	*c = (struct cloud){0};
}

int cloud_add_key(struct cloud *c, const char *spec, struct err *e)
{
	const char *colon = strchr(spec, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
	struct key k = {0};
	int rc = -1;

	if (!colon || colon == spec || !colon[1] || second == colon + 1)
		return err_set(e, "a key is ACCESS:SECRET or ACCESS:SECRET:TOKEN");
	k.access = str_fmt("%.*s", (int)(colon - spec), spec);
	k.secret = second ? str_fmt("%.*s", (int)(second - colon - 1), colon + 1) : str_dup(colon + 1);
	k.token = second ? str_dup(second + 1) : NULL;
	if (!k.access || !k.secret || (second && !k.token) || mem_grow(&c->keys, &c->cap_keys, c->n_keys + 1, sizeof(k)) < 0)
		err_nomem(e);
	else if (cloud_key(c, k.access))
		err_set(e, "key %s is given twice", k.access);
	else
		rc = 0;
	if (rc == 0)
		c->keys[c->n_keys++] = k;
	else
		key_clear(&k);
	return rc;
}

const struct key *cloud_key(const struct cloud *c, const char *access)
{
	for (size_t i = 0; i < c->n_keys; i++) {
		if (str_eq(c->keys[i].access, access))
			return &c->keys[i];
	}
	return NULL;
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
	struct policy *p = k ? policy_load(path, e) : NULL;

	if (path && !k)
		err_set(e, "policy for key %s, which no --key before it defines", access);
	free(access);
	if (!p)
		return -1;
	policy_destroy(k->policy);
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
	c->role_access = k->access;
	return 0;
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
