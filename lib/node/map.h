/* map.h - text to a position in some list: the hashed answer to "where is it", for joins of thousands. */
#ifndef SE_NODE_MAP_H
#define SE_NODE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct instances;

struct map_slot {
	const char *key; /* NULL = empty */
	uint32_t hash;
	uint32_t val;
};

/* Zero-initialised = empty. */
struct map {
	struct map_slot *v;
	size_t slots;
	size_t n; /* keys */
};

/* The first of several stays; a key that is NULL or "" is not kept. Keys are borrowed until map_clear, which does not look at them.
 * 0, or -1 on no memory. */
int map_put(struct map *m, const char *key, size_t val);
size_t map_get(const struct map *m, const char *key); /* SIZE_MAX if absent or key is NULL */
void map_clear(struct map *m);

/* Ids of instances to their positions. 0, or -1 on no memory. */
int map_instances(struct map *m, const struct instances *l);

#endif
