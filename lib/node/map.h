/* map.h - text to a position in some list: the hashed answer to "where is it", for joins of thousands. */
#ifndef SE_NODE_MAP_H
#define SE_NODE_MAP_H

#include <stddef.h>

struct instances;
struct nodeset;

/* Zero-initialised = empty. */
struct map {
	struct nodeset *keys;
	size_t *val;
	size_t cap;
};

/* The first of several stays; a key that is NULL or "" is not kept. 0, or -1 on no memory. */
int map_put(struct map *m, const char *key, size_t val);
size_t map_get(const struct map *m, const char *key); /* SIZE_MAX if absent or key is NULL */
void map_clear(struct map *m);

/* Ids of instances to their positions. 0, or -1 on no memory. */
int map_instances(struct map *m, const struct instances *l);

#endif
