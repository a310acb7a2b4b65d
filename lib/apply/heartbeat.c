/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heartbeat.c - is clustermgtd at work? Machines that nobody watches cost money for ever, so resume asks before it launches.
 *
 * What counts is the last finished loop, and that the loop could see EC2 and Slurm: without the machines it cannot end one, and
 * without the nodes it must not. A living process beside a hung loop is not health; but a living process whose loop is not yet due
 * (it has just started, the state file is new, or what was away has just come back) is given a moment. What else may be degraded
 * does not leave a machine unwatched: status checks only tell of machines that are watched, and a state file that cannot be
 * written stops a launch by itself, before anything is sent.
 */
#include "lib/apply/heartbeat.h"

#include "lib/apply/apply.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/state/store.h"

#include <stdlib.h>
#include <string.h>

#define GRACE_MS 5000 /* for a daemon that has just started to finish its first loop */
#define LOOK_MS 100
#define AHEAD_MS 5000 /* a stamp further in the future says that the clock was set back, not that the daemon is well */

#define REMEDY "start it: systemctl enable --now slurm-ec2-clustermgtd"

enum { LOOP, EC2, SLURM, N_NEEDED };

static const struct {
	const char *source, *name;
} needed[N_NEEDED] = {{"loop", NULL}, {"ec2", "EC2"}, {"slurm", "Slurm"}};

struct beat {
	int64_t ok_ms[N_NEEDED]; /* last finished loop, last time that it could read; 0 = never */
	char *error[N_NEEDED];
};

static void beat_clear(struct beat *b)
{
	for (size_t i = 0; i < N_NEEDED; i++)
		free(b->error[i]);
	*b = (struct beat){0};
}

static int read_beat(struct world *w, struct beat *b, struct err *e)
{
	int64_t failed_ms;

	beat_clear(b);
	for (size_t i = 0; i < N_NEEDED; i++) {
		if (store_source(w->store, needed[i].source, &b->ok_ms[i], &failed_ms, &b->error[i], e) < 0)
			return -1;
	}
	return 0;
}

static bool fresh(const struct world *w, int64_t ok_ms)
{
	int64_t age = clock_wall_ms() - ok_ms;

	return ok_ms > 0 && age >= -AHEAD_MS && age <= w->settings->heartbeat_limit_s * 1000;
}

static bool well(const struct world *w, const struct beat *b)
{
	for (size_t i = 0; i < N_NEEDED; i++) {
		if (!fresh(w, b->ok_ms[i]))
			return false;
	}
	return true;
}

static long long age_s(int64_t ok_ms)
{
	return (long long)(clock_wall_ms() - ok_ms) / 1000;
}

static int tell_loop(const struct beat *b, struct err *e)
{
	long long age = age_s(b->ok_ms[LOOP]);

	if (b->ok_ms[LOOP] == 0)
		return err_set(e, "clustermgtd never ran here, so nobody would end a machine that goes wrong; " REMEDY);
	if (age < 0)
		return err_set(e, "clustermgtd's last loop lies %lld s in the future: was the clock set back?", -age);
	if (lock_holder(CLUSTERMGTD_LOCK) != 0)
		return err_set(e, "clustermgtd has finished no loop for %lld s: something does not answer it, see its log", age);
	return err_set(e, "clustermgtd has finished no loop for %lld s, so nobody would end a machine that goes wrong; " REMEDY, age);
}

static int tell(const struct world *w, const struct beat *b, struct err *e)
{
	if (!fresh(w, b->ok_ms[LOOP]))
		return tell_loop(b, e);
	for (size_t i = EC2; i < N_NEEDED; i++) {
		const char *why = b->error[i] ? b->error[i] : "see its log";

		if (b->ok_ms[i] == 0)
			return err_set(e, "clustermgtd could never read %s: %s", needed[i].name, why);
		if (!fresh(w, b->ok_ms[i]))
			return err_set(e, "clustermgtd could not read %s for %lld s: %s", needed[i].name, age_s(b->ok_ms[i]), why);
	}
	return 0;
}

/* A daemon that has just started, whose state file is new, or that may read again what was away, has its next loop soon. */
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

	if (rc == 0 && !well(w, &b))
		wait_for_loop(w, &b, deadline);
	if (rc == 0 && !well(w, &b))
		rc = tell(w, &b, e);
	beat_clear(&b);
	return rc;
}

int heartbeat_look(struct world *w, struct err *e)
{
	struct beat b = {0};
	int rc = read_beat(w, &b, e);

	if (rc == 0 && !well(w, &b))
		rc = tell(w, &b, e);
	beat_clear(&b);
	return rc;
}

char *heartbeat_cloud_name(const struct world *w, size_t cloud)
{
	const struct gen_cloud *c = cloud > 0 ? &w->gen->clouds[cloud - 1] : NULL;

	if (!c)
		return str_fmt("ec2/%s", w->gen->region);
	return str_fmt("ec2/%s%s%s", c->region, c->profile ? "/" : "", c->profile ? c->profile : "");
}

int heartbeat_check_cloud(struct world *w, size_t cloud, struct err *e)
{
	char *name = heartbeat_cloud_name(w, cloud), *why = NULL;
	int64_t ok_ms = 0, failed_ms = 0;
	int rc = name ? store_source(w->store, name, &ok_ms, &failed_ms, &why, e) : err_nomem(e);

	if (rc == 0 && (ok_ms || failed_ms) && !fresh(w, ok_ms))
		rc = err_set(e, "clustermgtd cannot read EC2 in %s: %s", name + strlen("ec2/"), why ? why : "see its log");
	free(why);
	free(name);
	return rc;
}
