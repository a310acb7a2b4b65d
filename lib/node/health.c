/* SPDX-License-Identifier: GPL-2.0-or-later */
/* health.c - lists of what EC2 says of machines. */
#include "lib/node/health.h"

#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>

struct health *healths_add(struct healths *l)
{
	if (mem_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v)))
		return NULL;
	l->v[l->n] = (struct health){ 0 };
	return &l->v[l->n++];
}

static void health_clear(struct health *h)
{
	free(h->instance);
	free(h->event);
	free(h->event_text);
	*h = (struct health){ 0 };
}

void healths_drop_last(struct healths *l)
{
	if (l->n)
		health_clear(&l->v[--l->n]);
}

static int by_instance(const void *a, const void *b)
{
	return strcmp(((const struct health *)a)->instance, ((const struct health *)b)->instance);
}

static bool listed(const struct healths *l, const struct health *h)
{
	return l->n && bsearch(h, l->v, l->n, sizeof(*l->v), by_instance);
}

int healths_merge(struct healths *into, struct healths *from)
{
	size_t kept = 0;

	if (!from->n)
		return 0;
	if (mem_grow(&into->v, &into->cap, into->n + from->n, sizeof(*into->v)))
		return -1;
	qsort(from->v, from->n, sizeof(*from->v), by_instance);
	for (size_t i = 0; i < into->n; i++) {
		if (listed(from, &into->v[i]))
			health_clear(&into->v[i]);
		else
			into->v[kept++] = into->v[i];
	}
	memcpy(into->v + kept, from->v, from->n * sizeof(*from->v));
	into->n = kept + from->n;
	from->n = 0;
	qsort(into->v, into->n, sizeof(*into->v), by_instance);
	return 0;
}

void healths_clear(struct healths *l)
{
	for (size_t i = 0; i < l->n; i++)
		health_clear(&l->v[i]);
	free(l->v);
	*l = (struct healths){ 0 };
}
