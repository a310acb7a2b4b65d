/* name.h - node names: `<queue>-{st|dy}-<resource>-<n>`, both ways. */
#ifndef SE_NODE_NAME_H
#define SE_NODE_NAME_H

#include <stdbool.h>
#include <stddef.h>

struct generation;

struct node_name {
	size_t resource;  /* index into generation->resources */
	bool is_static;
	int n;            /* from 1 */
};

/* Which node of the generation a name is. Anchored and exact: ASCII only, no leading zero, the pair must be known, n
 * within MinCount (static) or MaxCount - MinCount (dynamic). 0, or -1 if it is not one of ours. */
int node_name_resolve(const struct generation *g, const char *name, struct node_name *out);
/* Known pair, but number beyond the present counts (a node of an older generation). */
int node_name_resolve_any(const struct generation *g, const char *name, struct node_name *out);
/* Caller frees; NULL on no memory. */
char *node_name_format(const char *queue, const char *resource, bool is_static, int n);
/* "queue1-dy-t2micro-[1-10]"; NULL if the count is 0 or no memory. Caller frees. */
char *node_name_range(const char *queue, const char *resource, bool is_static, int count);

#endif
