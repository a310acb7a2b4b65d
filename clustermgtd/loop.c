/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loop.c - one loop of clustermgtd. Called by its main and by bench/loop; everything that lasts longer is in `kept`.
 */
#include "clustermgtd/loop.h"

#include "clustermgtd/notify.h"
#include "clustermgtd/observe.h"
#include "clustermgtd/report.h"
#include "clustermgtd/stamp.h"
#include "lib/apply/apply.h"
#include "lib/apply/note.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/cluster/settings.h"
#include "lib/plan/plan.h"
#include "lib/state/store.h"

#include <time.h>

#define LOOP_LIMIT_MS 60000 /* for the EC2 calls of one loop */

static int64_t now_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

static void beat(struct world *w)
{
	struct err e = {""};

	if (store_source_ok(w->store, "loop", clock_wall_ms(), &e) < 0 && say_again(e.text))
		log_warn("%s", e.text);
}

/* How many actions failed. A plan that is not carried out is no unfinished work. */
static size_t act(struct world *w, struct kept *k, const struct observed *o, struct plan *p, int64_t deadline)
{
	concerns_tell(w, &k->concerns, o, &k->brake, w->settings->terminate_share);
	if (!concerns_frozen(w, &k->concerns, o, p))
		return apply_plan(w, p, o->instances, deadline);
	plan_clear(p);
	return 0;
}

/* Notes are for a person: they do not make the next loop come sooner. */
static bool acts(const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->v[i].kind != ACT_NOTE)
			return true;
	}
	return false;
}

bool loop(struct world *w, struct kept *k, int64_t *wake_ms, struct loop_times *times)
{
	int64_t start = now_us(CLOCK_MONOTONIC), observed, decided, busy;
	int64_t deadline = clock_mono_ms() + LOOP_LIMIT_MS;
	struct observed o;
	struct plan p = {0};
	size_t failures = 0;
	bool open;

	observe(w, &o, k, deadline, false);
	observed = now_us(CLOCK_MONOTONIC);
	notify("WATCHDOG=1"); /* EC2 may have taken its minute, and slurmctld some */
	busy = now_us(CLOCK_THREAD_CPUTIME_ID);
	failures = observed_plan(w, &o, k, &p) < 0;
	busy = now_us(CLOCK_THREAD_CPUTIME_ID) - busy;
	decided = now_us(CLOCK_MONOTONIC);
	notes_say(w, &k->notes, &p);
	if (!failures)
		failures = act(w, k, &o, &p, deadline);
	if (o.slurm)
		stamp(w, &o.nodes);
	beat(w);
	observed_forget(w, &o);
	*wake_ms = observed_wake_ms(&o, k, *wake_ms);
	report_loop(w, &o, k, &p, failures, now_us(CLOCK_MONOTONIC) - start);
	metrics_loop(w, &o, k, &p, failures, now_us(CLOCK_MONOTONIC) - start);
	if (times)
		*times = (struct loop_times){observed - start, now_us(CLOCK_MONOTONIC) - decided, busy, p.n};
	open = failures > 0 || acts(&p) || observed_unfinished(&o);
	plan_clear(&p);
	observed_clear(&o);
	return open;
}
