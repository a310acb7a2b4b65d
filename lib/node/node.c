/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node.c - Slurm nodes as values: the list, and questions about one node's state bits. It never asks slurmctld. */
#include "lib/node/node.h"

#include "lib/base/buf.h"
#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>

struct node *nodes_add(struct nodes *l)
{
	if (mem_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v)))
		return NULL;
	memset(&l->v[l->n], 0, sizeof(*l->v));
	return &l->v[l->n++];
}

void nodes_clear(struct nodes *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].name);
		free(l->v[i].addr);
		free(l->v[i].hostname);
		free(l->v[i].reason);
		free(l->v[i].extra);
		free(l->v[i].comment);
		free(l->v[i].instance);
	}
	free(l->v);
	*l = (struct nodes){ 0 };
}

const struct node *nodes_find(const struct nodes *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].name, name))
			return &l->v[i];
	return NULL;
}

bool node_has_addr(const struct node *n)
{
	return n->addr && *n->addr && strcmp(n->addr, NODE_ADDR_PLACEHOLDER) && !str_eq(n->addr, n->name);
}

bool node_state_is(uint32_t state, unsigned bases, uint32_t required, uint32_t forbidden)
{
	if (bases && !(bases & (1u << (state & NS_BASE))))
		return false;
	return (state & required) == required && !(state & forbidden);
}

static const struct {
	uint32_t bit;
	const char *text;
} flags[] = {
	{ NS_RES, "RESERVED" },
	{ NS_UNDRAIN, "UNDRAIN" },
	{ NS_CLOUD, "CLOUD" },
	{ NS_RESUME, "RESUME" },
	{ NS_DRAIN, "DRAIN" },
	{ NS_COMPLETING, "COMPLETING" },
	{ NS_NO_RESPOND, "NOT_RESPONDING" },
	{ NS_POWERED_DOWN, "POWERED_DOWN" },
	{ NS_FAIL, "FAIL" },
	{ NS_POWERING_UP, "POWERING_UP" },
	{ NS_MAINT, "MAINTENANCE" },
	{ NS_REBOOT_REQUESTED, "REBOOT_REQUESTED" },
	{ NS_POWERING_DOWN, "POWERING_DOWN" },
	{ NS_REBOOT_ISSUED, "REBOOT_ISSUED" },
	{ NS_PLANNED, "PLANNED" },
	{ NS_INVALID_REG, "INVALID_REG" },
	{ NS_POWER_DOWN, "POWER_DOWN" },
	{ NS_POWER_UP, "POWER_UP" },
	{ NS_POWER_DRAIN, "POWER_DRAIN" },
};

const char *node_flag_text(uint32_t flag)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].bit == flag)
			return flags[i].text;
	return NULL;
}

const char *node_base_text(uint32_t base)
{
	static const char *const bases[] = { "UNKNOWN", "DOWN", "IDLE", "ALLOCATED", "ERROR", "MIXED", "FUTURE" };

	return base < sizeof(bases) / sizeof(bases[0]) ? bases[base] : NULL;
}

char *node_state_text(uint32_t state)
{
	uint32_t base = state & NS_BASE, left = state & ~NS_BASE;
	struct buf b = { 0 };

	if (node_base_text(base))
		buf_str(&b, node_base_text(base));
	else
		buf_fmt(&b, "BASE_%u", base);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (!(left & flags[i].bit))
			continue;
		buf_fmt(&b, "+%s", flags[i].text);
		left &= ~flags[i].bit;
	}
	if (left)
		buf_fmt(&b, "+0x%x", left);
	return buf_take(&b);
}
