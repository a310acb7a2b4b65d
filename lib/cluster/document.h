/* document.h - one YAML text as nodes with places: size, depth and alias limits, duplicate keys, merge keys. Knows no key by
 * name.
 *
 * Inside lib/cluster only. Every fault becomes a problem with line and column; nothing is printed.
 */
#ifndef SE_CLUSTER_DOCUMENT_H
#define SE_CLUSTER_DOCUMENT_H

#include "lib/base/problem.h"
#include "lib/cluster/cluster.h"

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#define DOCUMENT_MAX_BYTES (8 * 1024 * 1024) /* 500 queues of 20 resources, each with all its keys, are half of it */

struct document {
	yaml_document_t yaml;
	bool loaded;
	const char *file;   /* for messages; borrowed */
	struct problems *p; /* borrowed */
	size_t budget;	    /* nodes that may still be visited: an alias can make few bytes mean many values */
	size_t said;	    /* problems so far */
	bool stopped;	    /* budget or problems are used up and that was said: nothing more is visited or said */
};

/* Where we are, for the dotted key of a message; lives on the callers' stacks. */
struct path {
	const struct path *up; /* NULL: top level */
	const char *name;      /* key, or NULL for a list entry */
	const char *item;      /* list entry: its Name, or NULL: its index */
	size_t index;
};

struct pair {
	const yaml_node_t *key; /* a scalar */
	const yaml_node_t *val;
};
struct pairs {
	struct pair *v;
	size_t n, cap;
};

/* Parse the whole text. -1: problems were added. Call document_close in both cases. */
int document_open(struct document *d, const char *file, const char *text, size_t n, struct problems *p);
void document_close(struct document *d);
/* NULL: the text holds nothing. */
const yaml_node_t *document_root(struct document *d);
/* The i-th entry of a list; counts against the budget. NULL beyond the end or when the budget is used up. */
const yaml_node_t *document_item(struct document *d, const yaml_node_t *list, size_t i);
/* Pairs of a mapping, `<<` merged in; each key once. Duplicate and unfit keys become problems. Caller frees out->v. -1 on no
 * memory. */
int document_pairs(struct document *d, const yaml_node_t *map, const struct path *at, struct pairs *out);
/* The value of one key without any complaint, or NULL. */
const yaml_node_t *document_find(struct document *d, const yaml_node_t *map, const char *key);

struct place document_place(const yaml_node_t *n);
/* What a node is, for "found ...": text, a list, a mapping, no value. */
const char *document_kind(const yaml_node_t *n);
bool document_is_null(const yaml_node_t *n);
const char *document_text(const yaml_node_t *n); /* of a scalar */

/* Add a problem at a place, with the key path -> at [-> name]. */
void document_problem(struct document *d, enum problem_level level, struct place where, const struct path *at, const char *fmt,
		      ...) __attribute__((format(printf, 5, 6)));
/* The same with the key as text, NULL = none. */
void document_report(struct document *d, enum problem_level level, struct place where, const char *key, const char *text);
/* Dotted text of a path; caller frees; NULL on no memory or at the top. */
char *path_text(const struct path *at);

#define SHOWN_MAX 72
/* A value as it may stand in a message: in quotes, control characters escaped, cut when long. Returns out. */
const char *document_show(const char *text, char out[SHOWN_MAX]);

#endif
