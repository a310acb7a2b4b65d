/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rows.c - our own rows, and whether the process that works on a launch is still there. */
#include "clustermgtd/rows.h"

#include "clustermgtd/observe.h"
#include "lib/apply/apply.h"
#include "lib/apply/wish.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/num.h"
#include "lib/cluster/settings.h"
#include "lib/state/store.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PID_SLACK_MS 2000 /* a row is written some time after its process started; clocks tick in 10 ms */

/* Wall time at which a process started, 0 = it is not there. */
static int64_t start_time_ms(int64_t pid)
{
	struct buf b = {0};
	struct strs field = {0};
	char path[64];
	const char *end;
	int64_t ticks = 0, since_boot_ms;
	struct timespec boot;

	snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
	if (file_read(path, 4096, &b, NULL) == 0 && (end = strrchr(buf_text(&b), ')')) &&
	    strs_split(&field, end + 1, ' ') == 0 && field.n > 19)
		num_i64(field.v[19], 0, INT64_MAX, &ticks,
			NULL); /* field 22 of proc(5), the third is the first after the name */
	strs_clear(&field);
	buf_free(&b);
	if (ticks == 0)
		return 0;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	since_boot_ms = boot.tv_sec * INT64_C(1000) + boot.tv_nsec / 1000000;
	return clock_wall_ms() - since_boot_ms + ticks * 1000 / sysconf(_SC_CLK_TCK);
}

/* This process works on no launch between two loops, so a row that names it is as good as one of a dead process. */
static bool worker_gone(const struct launch *l, int64_t clock_set_ms)
{
	int64_t created = l->created_ms > clock_set_ms ? l->created_ms : clock_set_ms;

	if (l->pid <= 0 || l->pid == getpid())
		return true;
	if (kill((pid_t)l->pid, 0) < 0 && errno == ESRCH)
		return true;
	return start_time_ms(l->pid) > created + PID_SLACK_MS; /* another process has the number now */
}

/* A row from later than now is from before the clock was set back, which no daemon saw: ages count from now on. */
static void notice_later_rows(struct observed *o)
{
	int64_t now = clock_wall_ms(), newest = 0;

	for (size_t i = 0; i < o->bindings.n; i++)
		newest = o->bindings.v[i].since_ms > newest ? o->bindings.v[i].since_ms : newest;
	for (size_t i = 0; i < o->launches.n; i++)
		newest = o->launches.v[i].created_ms > newest ? o->launches.v[i].created_ms : newest;
	if (o->clock_set_ms == 0 && newest > now + CLOCK_AHEAD_MS)
		o->clock_set_ms = now;
}

static int find_dead(struct observed *o)
{
	for (size_t i = 0; i < o->launches.n; i++) {
		if (worker_gone(&o->launches.v[i], o->clock_set_ms) && strs_add(&o->dead, o->launches.v[i].id) < 0)
			return -1;
	}
	return 0;
}

static int strip_prefix(struct kvs *l, const char *prefix)
{
	for (size_t i = 0; i < l->key.n; i++) {
		char *rest = str_dup(l->key.v[i] + strlen(prefix));

		if (!rest)
			return -1;
		free(l->key.v[i]);
		l->key.v[i] = rest;
	}
	return 0;
}

/* A time from before the clock was set back would hold a node for as long as that. */
static int drop_absurd(struct observed *o)
{
	int64_t last = clock_wall_ms() + STATIC_BACKOFF_MS + CLOCK_AHEAD_MS, until;
	struct kvs kept = {0};
	int rc = 0;

	for (size_t i = 0; i < o->backoff.key.n && rc == 0; i++) {
		const char *text = o->backoff.val.v[i];

		if (num_i64(text, 0, INT64_MAX, &until, NULL) == 0 && until <= last)
			rc = kvs_add(&kept, o->backoff.key.v[i], text);
	}
	kvs_clear(&o->backoff);
	o->backoff = kept;
	return rc;
}

static void read_rows(struct world *w, struct observed *o)
{
	struct err *e = &o->rows_why;

	if (!w->store) {
		o->rows = o->failures_read = true; /* there is no file: nothing is bound */
		return;
	}
	o->rows = store_bindings(w->store, &o->bindings, e) == 0 && store_launches_open(w->store, &o->launches, e) == 0 &&
		  store_counters(w->store, STATIC_BACKOFF_PREFIX, &o->backoff, e) == 0 &&
		  store_shortages(w->store, &o->shortages, e) == 0;
	if (!o->rows)
		return;
	notice_later_rows(o);
	if (find_dead(o) < 0 || strip_prefix(&o->backoff, STATIC_BACKOFF_PREFIX) < 0 || drop_absurd(o) < 0) {
		err_nomem(e);
		o->rows = false;
	}
}

/* ---- what a person asked for */

static int read_words(struct store *s, struct observed *o, struct err *e)
{
	char *closed = NULL, *confirm = NULL;
	struct wish wish;
	int rc = wish_read(s, o->at_ms, &wish, e);

	o->fleet = wish.fleet;
	o->frozen_until_ms = wish.frozen_until_ms;
	if (rc == 0)
		rc = store_word(s, BRAKE_CONFIRM_WORD, &confirm, &o->confirmed_ms, e);
	if (rc == 0)
		rc = store_word(s, FLEET_CLOSED_WORD, &closed, NULL, e);
	if (rc == 0 && fleet_closed_parse(closed, &o->closed) < 0)
		rc = err_nomem(e);
	free(confirm);
	free(closed);
	return rc;
}

/* A status that was not read is not RUNNING: nothing is decided without it. */
static void read_wishes(struct world *w, struct observed *o)
{
	int64_t since = clock_wall_ms() - w->settings->protected_window_s * 1000;

	o->rows = read_words(w->store, o, &o->rows_why) == 0;
	o->failures_read = store_failures(w->store, since, &o->failures, &o->rows_why) == 0;
}

void rows_read(struct world *w, struct observed *o)
{
	read_rows(w, o);
	if (w->store && o->rows)
		read_wishes(w, o);
}
