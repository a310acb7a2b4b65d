/* SPDX-License-Identifier: GPL-2.0-or-later */
/* name.c - node names both ways, against the pairs of a generation.
 *
 * A queue and a resource may themselves contain "-st-" or "-dy-", so a name can be cut in several places. Every cut is
 * tried against the known pairs, from the last to the first; none is guessed from its pattern. For who calls it with 10
 * 000 names the generation carries an index of its pairs. It never splits a hostlist: nodeset.c does.
 */
#include "lib/node/name.h"

#include "lib/base/num.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#define INFIX_LEN 4 /* "-st-", "-dy-" */

/* -1 not an infix, else 1 for static. */
static int infix_at(const char *s, size_t left)
{
	if (left < INFIX_LEN)
		return -1;
	if (!memcmp(s, "-st-", INFIX_LEN))
		return 1;
	if (!memcmp(s, "-dy-", INFIX_LEN))
		return 0;
	return -1;
}

static int count_of(const struct gen_resource *r, bool is_static)
{
	return is_static ? r->min_count : r->max_count - r->min_count;
}

/* The number after the last dash; *stem is the length of what stands before that dash. */
static int split_number(const char *name, size_t *stem, int *n)
{
	const char *dash = strrchr(name, '-');
	int64_t v;

	if (!dash || num_i64(dash + 1, 1, INT_MAX, &v, NULL))
		return -1;
	*stem = (size_t)(dash - name);
	*n = (int)v;
	return 0;
}

static int resolve(const struct generation *g, const char *name, bool any, struct node_name *out)
{
	size_t stem, i, at;
	int n, kind;

	if (!name || split_number(name, &stem, &n) || stem < INFIX_LEN + 2)
		return -1;
	for (at = stem - INFIX_LEN - 1; at > 0; at--) {
		kind = infix_at(name + at, stem - at);
		if (kind < 0)
			continue;
		i = generation_find_resource(g, name, at, name + at + INFIX_LEN, stem - at - INFIX_LEN);
		if (i == SIZE_MAX || (!any && n > count_of(&g->resources[i], kind)))
			continue;
		*out = (struct node_name){ .resource = i, .is_static = kind, .n = n };
		return 0;
	}
	return -1;
}

int node_name_resolve(const struct generation *g, const char *name, struct node_name *out)
{
	return resolve(g, name, false, out);
}

int node_name_resolve_any(const struct generation *g, const char *name, struct node_name *out)
{
	return resolve(g, name, true, out);
}

static const char *kind_text(bool is_static)
{
	return is_static ? "st" : "dy";
}

char *node_name_format(const char *queue, const char *resource, bool is_static, int n)
{
	return str_fmt("%s-%s-%s-%d", queue, kind_text(is_static), resource, n);
}

char *node_name_range(const char *queue, const char *resource, bool is_static, int count)
{
	if (count <= 0)
		return NULL;
	if (count == 1)
		return node_name_format(queue, resource, is_static, 1);
	return str_fmt("%s-%s-%s-[1-%d]", queue, kind_text(is_static), resource, count);
}
