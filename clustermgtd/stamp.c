/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stamp.c - nodes look only for change, by their own clock, so the value need only be new each time, also after a restart. */
#include "clustermgtd/stamp.h"

#include "lib/apply/apply.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/node/name.h"
#include "lib/node/node.h"
#include "lib/slurmctl/slurmctl.h"

#include <stdlib.h>
#include <stdio.h>

#define PERIOD_MS 60000
#define OURS "slurm-ec2 "

static bool wants(const struct world *w, const struct node *n)
{
	struct node_name at;

	return node_state_is(n->state, 0, 0, NS_POWERED_DOWN | NS_POWERING_DOWN) && node_has_addr(n) &&
	       (!n->comment || str_prefix(n->comment, OURS)) && node_name_resolve_any(w->gen, n->name, &at) == 0;
}

void stamp(struct world *w, const struct nodes *nodes)
{
	static int64_t last_ms = -PERIOD_MS;
	const char **names = calloc(nodes->n ? nodes->n : 1, sizeof *names);
	struct node_update u = {.names = names};
	struct err e = {""};
	char text[40];

	if (!names || clock_mono_ms() - last_ms < PERIOD_MS) {
		free(names);
		return;
	}
	for (size_t i = 0; i < nodes->n; i++) {
		if (wants(w, &nodes->v[i]))
			names[u.n++] = nodes->v[i].name;
	}
	snprintf(text, sizeof text, OURS "%lld", (long long)clock_wall_ms() / 1000);
	u.comment = text;
	if (u.n > 0 && slurmctl_update_nodes(&u, &e) == 0)
		last_ms = clock_mono_ms();
	else if (u.n > 0 && say_again(e.text))
		log_warn("heartbeat on nodes: %s", e.text);
	free(names);
}
