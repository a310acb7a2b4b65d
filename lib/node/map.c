/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map.c - a nodeset with a number beside each name. */
#include "lib/node/map.h"

#include "lib/base/str.h"
#include "lib/node/instance.h"
#include "lib/node/nodeset.h"

#include <stdint.h>
#include <stdlib.h>

int map_put(struct map *m, const char *key, size_t val)
{
	int added;

	if (!key || !*key)
		return 0;
	if (!m->keys && !(m->keys = nodeset_create()))
		return -1;
	if (mem_grow(&m->val, &m->cap, nodeset_count(m->keys) + 1, sizeof(*m->val)))
		return -1;
	added = nodeset_add(m->keys, key);
	if (added > 0)
		m->val[nodeset_count(m->keys) - 1] = val;
	return added < 0 ? -1 : 0;
}

size_t map_get(const struct map *m, const char *key)
{
	size_t i = key && m->keys ? nodeset_index(m->keys, key) : SIZE_MAX;

	return i == SIZE_MAX ? SIZE_MAX : m->val[i];
}

void map_clear(struct map *m)
{
	nodeset_destroy(m->keys);
	free(m->val);
	*m = (struct map){ 0 };
}

int map_instances(struct map *m, const struct instances *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (map_put(m, l->v[i].id, i))
			return -1;
	return 0;
}
