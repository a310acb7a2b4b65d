/* SPDX-License-Identifier: GPL-2.0-or-later */
/* index.c - open addressing with linear probes; rebuilt when three quarters full, so a lookup stays a few steps. */
#include "ec2local/index.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash(const char *s)
{
	uint64_t h = 1469598103934665603u; /* FNV-1a */

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	return h;
}

static struct index_slot *slot_of(const struct index *t, const char *key)
{
	size_t i = hash(key) & (t->cap - 1);

	while (t->v[i].key && strcmp(t->v[i].key, key))
		i = (i + 1) & (t->cap - 1);
	return &t->v[i];
}

static int rebuild(struct index *t)
{
	struct index fresh = {.cap = 16};

	while (fresh.cap < 2 * (t->n + 1))
		fresh.cap *= 2;
	fresh.v = calloc(fresh.cap, sizeof(*fresh.v));
	if (!fresh.v)
		return -1;
	for (size_t i = 0; i < t->cap; i++) {
		if (t->v[i].key && t->v[i].val) {
			*slot_of(&fresh, t->v[i].key) = t->v[i];
			fresh.used++;
		}
	}
	fresh.n = fresh.used;
	free(t->v);
	*t = fresh;
	return 0;
}

int index_put(struct index *t, const char *key, void *val)
{
	struct index_slot *s;

	if (4 * (t->used + 1) > 3 * t->cap && rebuild(t) < 0)
		return -1;
	s = slot_of(t, key);
	if (!s->key)
		t->used++;
	if (!s->val)
		t->n++;
	s->key = key;
	s->val = val;
	return 0;
}

void *index_get(const struct index *t, const char *key)
{
	return t->cap && key ? slot_of(t, key)->val : NULL;
}

void index_del(struct index *t, const char *key)
{
	struct index_slot *s = t->cap ? slot_of(t, key) : NULL;

	if (!s || !s->val)
		return;
	/* The key's owner goes away: leave a mark that no later probe reads through a dead pointer. */
	s->key = "";
	s->val = NULL;
	t->n--;
}

void index_free(struct index *t)
{
	free(t->v);
	*t = (struct index){0};
}
