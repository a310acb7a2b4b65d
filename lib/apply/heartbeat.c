/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heartbeat.c - is clustermgtd at work? Machines that nobody watches cost money for ever, so resume asks before it launches.
 *
 * What counts is the last finished loop, and that the loop could see EC2. A living process beside a hung loop is not health;
 * but a living process whose loop is not yet due (just started, or the state file is new) is given a moment.
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
#define AHEAD_MS 5000 /* a stamp further in the future says that the clock was set back, not that the daemon is well */

#define REMEDY "start it: systemctl enable --now slurm-ec2-clustermgtd"

struct beat {
	int64_t loop_ms; /* last finished loop, 0 = never */
	int64_t ec2_ms;	 /* last time it could read EC2 */
	char *ec2_error;
};

static int read_beat(struct world *w, struct beat *b, struct err *e)
{
	int64_t failed_ms;
	char *text = NULL;

	free(b->ec2_error);
	*b = (struct beat){0};
	if (store_source(w->store, "loop", &b->loop_ms, &failed_ms, &text, e) < 0)
		return -1;
	free(text);
	return store_source(w->store, "ec2", &b->ec2_ms, &failed_ms, &b->ec2_error, e);
}

static bool fresh(const struct world *w, int64_t ok_ms)
{
	int64_t age = clock_wall_ms() - ok_ms;

	return ok_ms > 0 && age >= -AHEAD_MS && age <= w->settings->heartbeat_limit_s * 1000;
}

static bool well(const struct world *w, const struct beat *b)
{
	return fresh(w, b->loop_ms) && fresh(w, b->ec2_ms);
}

static long long age_s(int64_t ok_ms)
{
	return (long long)(clock_wall_ms() - ok_ms) / 1000;
}

static int tell(const struct world *w, const struct beat *b, struct err *e)
{
	if (b->loop_ms == 0)
		return err_set(e, "clustermgtd never ran here, so nobody would end a machine that goes wrong; " REMEDY);
	if (age_s(b->loop_ms) < 0)
		return err_set(e, "clustermgtd's last loop lies %lld s in the future: was the clock set back?",
			       -age_s(b->loop_ms));
	if (!fresh(w, b->loop_ms))
		return err_set(
		    e, "clustermgtd has finished no loop for %lld s, so nobody would end a machine that goes wrong; " REMEDY,
		    age_s(b->loop_ms));
	if (b->ec2_ms == 0)
		return err_set(e, "clustermgtd could never read EC2: %s", b->ec2_error ? b->ec2_error : "see its log");
	return err_set(e, "clustermgtd could not read EC2 for %lld s: %s", age_s(b->ec2_ms),
		       b->ec2_error ? b->ec2_error : "see its log");
}

/* A daemon that has just started, or whose state file is new, has its first loop soon. */
static void wait_for_loop(struct world *w, struct beat *b, int64_t deadline)
{
	int64_t until = clock_mono_ms() + GRACE_MS;

	if (lock_holder(CLUSTERMGTD_LOCK) == 0)
		return;
	log_info("clustermgtd is there but has no recent loop; waiting for one");
	apply_poke();
	while (!apply_stop && clock_mono_ms() < until && clock_mono_ms() < deadline) {
		clock_sleep_ms(LOOK_MS);
		if (read_beat(w, b, NULL) < 0 || well(w, b))
			return;
	}
}

int heartbeat_check(struct world *w, int64_t deadline, struct err *e)
{
	struct beat b = {0};
	int rc = read_beat(w, &b, e);

	if (rc == 0 && !fresh(w, b.loop_ms))
		wait_for_loop(w, &b, deadline);
	if (rc == 0 && !well(w, &b))
		rc = tell(w, &b, e);
	free(b.ec2_error);
	return rc;
}
