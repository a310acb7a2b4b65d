/* SPDX-License-Identifier: GPL-2.0-or-later */
/* binding.c - lists of binding and launch rows as values. lib/state fills them from the store. */
#include "lib/node/binding.h"

#include <stdlib.h>
#include <string.h>

struct binding *bindings_add(struct bindings *l)
{
	if (mem_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v)))
		return NULL;
	memset(&l->v[l->n], 0, sizeof(*l->v));
	return &l->v[l->n++];
}

void bindings_clear(struct bindings *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].node);
		free(l->v[i].launch);
		free(l->v[i].instance);
		free(l->v[i].ip);
	}
	free(l->v);
	*l = (struct bindings){ 0 };
}

const struct binding *bindings_find(const struct bindings *l, const char *node)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->v[i].node, node))
			return &l->v[i];
	return NULL;
}

struct launch *launches_add(struct launches *l)
{
	if (mem_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v)))
		return NULL;
	memset(&l->v[l->n], 0, sizeof(*l->v));
	return &l->v[l->n++];
}

void launches_clear(struct launches *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].id);
		free(l->v[i].queue);
		free(l->v[i].resource);
		strs_clear(&l->v[i].nodes);
		free(l->v[i].error);
		strs_clear(&l->v[i].jobs);
		free(l->v[i].request);
	}
	free(l->v);
	*l = (struct launches){ 0 };
}
