/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map.c - an open-addressed table that borrows its keys: a join of ten thousand is one allocation in sixteen, not ten thousand. */
#include "lib/node/map.h"

#include "lib/base/str.h"
#include "lib/node/instance.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST 16 /* slots, a power of two */

/* The slot of the key, or the empty one where it would go. */
static struct map_slot *slot_of(const struct map *m, const char *key, uint32_t hash)
{
	size_t i = hash & (m->slots - 1);

	while (m->v[i].key && (m->v[i].hash != hash || strcmp(m->v[i].key, key)))
		i = (i + 1) & (m->slots - 1);
	return &m->v[i];
}

/* A quarter stays empty. */
static int grow(struct map *m)
{
	struct map more = { .slots = m->slots ? m->slots * 2 : FIRST, .n = m->n };

	if (m->n + 1 <= m->slots / 4 * 3)
		return 0;
	more.v = calloc(more.slots, sizeof(*more.v));
	if (!more.v)
		return -1;
	for (size_t i = 0; i < m->slots; i++) {
		size_t to = m->v[i].hash & (more.slots - 1);

		if (!m->v[i].key)
			continue;
		while (more.v[to].key)
			to = (to + 1) & (more.slots - 1);
		more.v[to] = m->v[i];
	}
	free(m->v);
	*m = more;
	return 0;
}

int map_put(struct map *m, const char *key, size_t val)
{
	struct map_slot *s;
	uint32_t hash;

	if (!key || !*key)
		return 0;
	if (val >= UINT32_MAX || grow(m))
		return -1;
	hash = str_hash(key);
	s = slot_of(m, key, hash);
	if (s->key)
		return 0;
	*s = (struct map_slot){ key, hash, (uint32_t)val };
	m->n++;
	return 0;
}

size_t map_get(const struct map *m, const char *key)
{
	const struct map_slot *s = key && m->n ? slot_of(m, key, str_hash(key)) : NULL;

	return s && s->key ? s->val : SIZE_MAX;
}

void map_clear(struct map *m)
{
	free(m->v);
	*m = (struct map){ 0 };
}

int map_instances(struct map *m, const struct instances *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (map_put(m, l->v[i].id, i))
			return -1;
	return 0;
}
