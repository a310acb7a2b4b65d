/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heartbeat.c - is clustermgtd at work? Machines that nobody watches cost money for ever, so resume asks before it launches.
 *
 * What counts is the last finished loop. A living process beside a hung loop is not health; but a living process whose loop is not yet
 * due (just started, or the state file is new) is given a moment.
 */
#include "lib/apply/heartbeat.h"

#include "lib/apply/apply.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/cluster/settings.h"
#include "lib/state/store.h"

#include <stdlib.h>

#define GRACE_MS 5000 /* for a daemon that has just started to finish its first loop */
#define LOOK_MS 100

#define REMEDY "start it: systemctl enable --now slurm-ec2-clustermgtd"

static int last_loop(struct world *w, int64_t *ok_ms, struct err *e)
{
	int64_t failed_ms;
	char *text = NULL;
	int rc = store_source(w->store, "loop", ok_ms, &failed_ms, &text, e);

	free(text);
	return rc;
}

static bool fresh(const struct world *w, int64_t ok_ms)
{
	return ok_ms > 0 && clock_wall_ms() - ok_ms <= w->settings->heartbeat_limit_s * 1000;
}

static int tell(int64_t ok_ms, struct err *e)
{
	if (ok_ms == 0)
		return err_set(e, "clustermgtd never ran here, so nobody would end a machine that goes wrong; " REMEDY);
	return err_set(e, "clustermgtd has finished no loop for %lld s, so nobody would end a machine that goes wrong; " REMEDY,
		       (long long) (clock_wall_ms() - ok_ms) / 1000);
}

int heartbeat_check(struct world *w, int64_t deadline, struct err *e)
{
	int64_t until = clock_mono_ms() + GRACE_MS;
	int64_t ok_ms = 0;

	if (last_loop(w, &ok_ms, e) < 0)
		return -1;
	if (fresh(w, ok_ms))
		return 0;
	if (lock_holder(CLUSTERMGTD_LOCK) == 0)
		return tell(ok_ms, e);
	log_info("clustermgtd is there but has no recent loop; waiting for one");
	apply_poke();
	while (!apply_stop && clock_mono_ms() < until && clock_mono_ms() < deadline) {
		clock_sleep_ms(LOOK_MS);
		if (last_loop(w, &ok_ms, e) == 0 && fresh(w, ok_ms))
			return 0;
	}
	return tell(ok_ms, e);
}
