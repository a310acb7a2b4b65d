/* reply_tree.h - a reader's paths as a tree of element names, so that the parser takes one step per element instead of
 * comparing whole paths; and what no rule can match has no node. For lib/aws/reply.c only. */
#ifndef SE_AWS_REPLY_TREE_H
#define SE_AWS_REPLY_TREE_H

#include "lib/aws/reply.h"

#define REPLY_BUCKETS 16 /* a power of two */

struct reply_tree;

/* Names are borrowed from the reader. */
struct reply_node {
	const char *name;
	size_t len;
	const struct reply_rule *rule; /* NULL = only on the way to others */
	struct reply_node *child, *next;
	struct reply_node *among[REPLY_BUCKETS]; /* children by their first letters, chained by `same` */
	struct reply_node *same;
};

/* NULL on no memory. */
struct reply_tree *reply_tree_create(const struct reply_reader *reader);
void reply_tree_destroy(struct reply_tree *t); /* takes NULL */
/* The node of the answer's root element. */
const struct reply_node *reply_tree_root(const struct reply_tree *t);
/* The element of that name inside `in`; NULL = no rule wants it, nor anything in it. */
const struct reply_node *reply_tree_step(const struct reply_node *in, const char *name);

#endif
