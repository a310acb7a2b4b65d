/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partition.c - lists of partitions and the words for their states. */
#include "lib/node/partition.h"

#include "lib/base/str.h"

#include <stdlib.h>

struct partition *partitions_add(struct partitions *l)
{
	if (mem_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v)))
		return NULL;
	l->v[l->n] = (struct partition){ 0 };
	return &l->v[l->n++];
}

void partitions_clear(struct partitions *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].name);
		free(l->v[i].nodes);
	}
	free(l->v);
	*l = (struct partitions){ 0 };
}

static const char *const state_text[] = { "UP", "DOWN", "DRAIN", "INACTIVE" };

const char *partition_state_text(enum partition_state s)
{
	return s < PART_OTHER ? state_text[s] : "unknown";
}

enum partition_state partition_state_parse(const char *text)
{
	for (int i = 0; i < PART_OTHER; i++)
		if (str_eq(text, state_text[i]))
			return (enum partition_state)i;
	return PART_OTHER;
}
