/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match.c - the rule that ties a machine to a node, apart from the asking. Called by identify.c. */
#include "computemgtd/match.h"

#include "lib/base/str.h"
#include "lib/node/extra.h"
#include "lib/node/node.h"

#include <stdlib.h>

bool match_node(const struct node *n, const struct self *self)
{
	char *launch;
	bool same;

	if (!node_state_is(n->state, 0, NS_POWERING_UP, NS_POWERED_DOWN | NS_POWERING_DOWN | NS_POWER_DOWN))
		return false;
	if (!n->addr || !str_eq(n->addr, self->address))
		return false;
	launch = extra_launch(n->extra);
	same = launch && str_eq(launch, self->launch);
	free(launch);
	return same;
}

#define TABLE_ROW_NS 2100 /* slurmctld's time for a row of its node table; measured */
#define SPREAD_MAX_MS 30000

int64_t match_spread_ms(const struct nodes *l)
{
	int64_t asking = 0, ms;

	for (size_t i = 0; i < l->n; i++)
		asking += node_state_is(l->v[i].state, 0, NS_POWERING_UP, NS_POWERED_DOWN | NS_POWERING_DOWN);
	ms = asking * (int64_t)l->n * TABLE_ROW_NS * 2 / 1000000;
	return ms < SPREAD_MAX_MS ? ms : SPREAD_MAX_MS;
}

int match_nodes(const struct nodes *l, const struct self *self, const struct node **found)
{
	int count = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (!match_node(&l->v[i], self))
			continue;
		*found = &l->v[i];
		count++;
	}
	return count;
}
