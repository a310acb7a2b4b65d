/* SPDX-License-Identifier: GPL-2.0-or-later */
/* health.c - lists of what EC2 says of machines. */
#include "lib/node/health.h"

#include "lib/base/str.h"

#include <stdlib.h>

struct health *healths_add(struct healths *l)
{
	if (mem_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v)))
		return NULL;
	l->v[l->n] = (struct health){ 0 };
	return &l->v[l->n++];
}

void healths_clear(struct healths *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].instance);
		free(l->v[i].event);
		free(l->v[i].event_text);
	}
	free(l->v);
	*l = (struct healths){ 0 };
}
