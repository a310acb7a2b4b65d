/* index.h - a hash table from text to pointer; it owns neither. */
#ifndef EC2LOCAL_INDEX_H
#define EC2LOCAL_INDEX_H

#include <stddef.h>

struct index_slot {
	const char *key; /* borrowed from the value; must live as long as the entry */
	void *val;	 /* NULL with a key set = removed */
};

/* Zero-initialised = empty. */
struct index {
	struct index_slot *v;
	size_t cap;  /* power of two, or 0 */
	size_t used; /* slots with a key, removed ones included */
	size_t n;    /* live entries */
};

/* Add or replace. -1 on no memory, table unchanged. */
int index_put(struct index *t, const char *key, void *val);
void *index_get(const struct index *t, const char *key); /* NULL if absent */
void index_del(struct index *t, const char *key);
void index_free(struct index *t);

#endif
