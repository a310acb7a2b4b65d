/* SPDX-License-Identifier: GPL-2.0-or-later */
/* failure.c - lists of machines that never served. */
#include "lib/node/failure.h"

#include "lib/base/str.h"

#include <stdlib.h>

struct failure *failures_add(struct failures *l)
{
	if (mem_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v)))
		return NULL;
	l->v[l->n] = (struct failure){ 0 };
	return &l->v[l->n++];
}

void failure_clear(struct failure *f)
{
	free(f->queue);
	free(f->resource);
	free(f->node);
	free(f->instance);
	free(f->code);
}

void failures_clear(struct failures *l)
{
	for (size_t i = 0; i < l->n; i++)
		failure_clear(&l->v[i]);
	free(l->v);
	*l = (struct failures){ 0 };
}
