/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tell.c - node updates as this room needs them. A slurmctld that restarts is away for some seconds; its nodes must still hear
 * of their machines, so an update waits for it as long as the caller has time. */
#include "lib/apply/tell.h"

#include "lib/apply/apply.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/node/extra.h"
#include "lib/node/node.h"
#include "lib/slurmctl/slurmctl.h"

#include <stdlib.h>

#define RETRY_MS 500 /* between two tries while slurmctld is away */

/* One try. 1 taken, 0 slurmctld is away, -1 refused. Asked first, unless *there, because that is told at once: an update that
 * nobody takes waits for MessageTimeout. */
static int try_update(const struct node_update *u, bool *there, struct err *e)
{
	if (!*there && slurmctl_ping(e) < 0)
		return 0;
	*there = slurmctl_update_nodes(u, e) == 0;
	if (*there)
		return 1;
	if (slurmctl_ping(NULL) < 0)
		return 0;
	return slurmctl_update_nodes(u, e) == 0 ? 1 : -1; /* it is there: what it says is final */
}

static int update(const struct node_update *u, bool *there, int64_t deadline, struct err *e)
{
	int rc;

	if (u->n == 0)
		return 0;
	while ((rc = try_update(u, there, e)) == 0) {
		if (apply_stop || clock_mono_ms() + RETRY_MS >= deadline)
			return -1;
		clock_sleep_ms(RETRY_MS);
	}
	return rc < 0 ? -1 : 0;
}

static int send_update(const struct node_update *u, int64_t deadline, struct err *e)
{
	bool there = false;

	return update(u, &there, deadline, e);
}

int tell_no_machine(const char *const *names, size_t n, int64_t deadline, struct err *e)
{
	const char **addrs = calloc(n ? n : 1, sizeof *addrs);
	struct node_update u = {.names = names, .addrs = addrs, .n = n, .extra = ""};
	int rc;

	if (!addrs)
		return err_nomem(e);
	for (size_t i = 0; i < n; i++)
		addrs[i] = NODE_ADDR_PLACEHOLDER;
	rc = send_update(&u, deadline, e);
	free(addrs);
	return rc;
}

int tell_machines(const char *const *names, const char *const *addrs, const char *const *instances, size_t n,
		  const char *launch, bool *there, int64_t deadline, struct err *e)
{
	char *extra = extra_format(launch);
	struct node_update u = {.names = names, .addrs = addrs, .n = n, .extra = extra, .instance_ids = instances};
	int rc;

	if (!extra)
		return err_nomem(e);
	rc = update(&u, there, deadline, e);
	free(extra);
	return rc;
}

int tell_state(const char *const *names, size_t n, uint32_t state, const char *reason, int64_t deadline, struct err *e)
{
	struct node_update u = {.names = names, .n = n, .state = state, .reason = reason};

	return send_update(&u, deadline, e);
}
