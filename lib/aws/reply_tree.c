/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reply_tree.c - the tree of reply_tree.h, in one piece of memory. Called by reply.c for each answer; it never looks at XML. */
#include "lib/aws/reply_tree.h"

#include <stdlib.h>
#include <string.h>

struct reply_tree {
	size_t n; /* nodes in use */
	struct reply_node v[];
};

static size_t count_steps(const char *path)
{
	size_t n = *path ? 1 : 0;

	for (; *path; path++)
		n += *path == '/';
	return n;
}

static struct reply_node *find(const struct reply_node *in, const char *name, size_t len)
{
	for (struct reply_node *x = in->child; x; x = x->next)
		if (x->len == len && !memcmp(x->name, name, len))
			return x;
	return NULL;
}

/* Names of one answer differ early, or are few. */
static unsigned bucket_of(const char *name)
{
	unsigned a = (unsigned char)name[0], b = a ? (unsigned char)name[1] : 0;

	return (a * 5 + b) & (REPLY_BUCKETS - 1);
}

static void put_among(struct reply_node *in, struct reply_node *x)
{
	struct reply_node **end = &in->among[bucket_of(x->name)];

	while (*end)
		end = &(*end)->same;
	*end = x;
}

/* The node of a path below `in`, made where it is missing. Siblings keep the order of the rules. */
static struct reply_node *walk(struct reply_tree *t, struct reply_node *in, const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");
		struct reply_node *x = find(in, path, len);

		if (!x) {
			struct reply_node **end = &in->child;

			while (*end)
				end = &(*end)->next;
			x = &t->v[t->n++];
			*x = (struct reply_node){.name = path, .len = len};
			*end = x;
			put_among(in, x);
		}
		in = x;
		path += len + (path[len] == '/');
	}
	return in;
}

struct reply_tree *reply_tree_create(const struct reply_reader *reader)
{
	size_t max = 1 + count_steps(reader->item);
	struct reply_tree *t;
	struct reply_node *item;

	for (size_t i = 0; i < reader->n_rules; i++)
		max += count_steps(reader->rules[i].path);
	t = calloc(1, sizeof *t + max * sizeof *t->v);
	if (!t)
		return NULL;
	t->n = 1;
	item = walk(t, &t->v[0], reader->item);
	for (size_t i = 0; i < reader->n_rules; i++)
		walk(t, item, reader->rules[i].path)->rule = &reader->rules[i];
	return t;
}

void reply_tree_destroy(struct reply_tree *t)
{
	free(t);
}

const struct reply_node *reply_tree_root(const struct reply_tree *t)
{
	return &t->v[0];
}

const struct reply_node *reply_tree_step(const struct reply_node *in, const char *name)
{
	const struct reply_node *x = in->among[bucket_of(name)];

	while (x && (strncmp(x->name, name, x->len) || name[x->len]))
		x = x->same;
	return x;
}
