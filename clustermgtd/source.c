/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source.c - the same trouble is a line of the log when it begins, every ten minutes, and when it ends; an event at both ends. */
#include "clustermgtd/source.h"

#include "lib/apply/apply.h"
#include "lib/apply/event.h"
#include "lib/apply/heartbeat.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/state/store.h"

#include <stdlib.h>

static const struct {
	const char *name, *meanwhile;
} known[N_SOURCES] = {
    [SOURCE_SLURM] = {"slurm", "nodes and machines are left as they are"},
    [SOURCE_EC2] = {"ec2", "no machine is held for gone"},
    [SOURCE_HEALTH] = {"health", "no machine is held for unwell"},
    [SOURCE_STATE] = {"state", "nothing can be launched, the loop goes on watching"},
};

const char *source_name(enum source_id id)
{
	return known[id].name;
}

static void begin(struct source *s, enum source_id id, const struct err *why)
{
	if (!s->failing) {
		s->since_mono_ms = clock_mono_ms();
		s->changed = true;
		s->logged = false;
	}
	if (say_again(why->text) || !s->failing)
		log_error("%s: %s; meanwhile %s", known[id].name, why->text, known[id].meanwhile);
	s->failing = true;
	s->why = *why;
}

static void end(struct source *s, enum source_id id)
{
	if (!s->failing)
		return;
	s->failing = false;
	s->changed = true;
	s->logged = false;
	s->failed_ms = clock_mono_ms() - s->since_mono_ms;
	log_info("%s: well again after %lld s", known[id].name, (long long)s->failed_ms / 1000);
}

void source_report(struct sources *l, enum source_id id, const struct err *why)
{
	struct source *s = &l->v[id];

	s->looked = true;
	s->ok = !why;
	if (why)
		begin(s, id, why);
	else
		end(s, id);
}

/* What an event of this change says. Caller frees; NULL on no memory. */
static char *change_text(const struct source *s, enum source_id id)
{
	if (s->failing)
		return str_fmt("%s: %s", known[id].name, s->why.text);
	return str_fmt("%s: well again after %lld s: %s", known[id].name, (long long)s->failed_ms / 1000, s->why.text);
}

static const char *change_type(const struct source *s)
{
	return s->failing ? "source-failed" : "source-recovered";
}

static int write_event(struct world *w, const struct source *s, enum source_id id, struct err *e)
{
	char *text = change_text(s, id);
	int rc = text ? store_event(w->store, clock_wall_ms(), change_type(s), NULL, NULL, text, e) : err_nomem(e);

	free(text);
	return rc;
}

/* The event log hears of it at once, also while the rows cannot be written. */
static void log_changes(struct world *w, struct sources *l)
{
	for (int i = 0; i < N_SOURCES; i++) {
		struct source *s = &l->v[i];
		char *text = s->changed && !s->logged ? change_text(s, (enum source_id)i) : NULL;

		if (text)
			apply_event_line(w, change_type(s), NULL, NULL, NULL, text);
		s->logged = s->changed;
		free(text);
	}
}

static int write_one(struct world *w, const struct source *s, enum source_id id, struct err *e)
{
	int64_t now = clock_wall_ms();

	if (s->changed && write_event(w, s, id, e) < 0)
		return -1;
	if (!s->looked || id == SOURCE_STATE)
		return 0;
	return s->ok ? store_source_ok(w->store, known[id].name, now, e)
		     : store_source_failed(w->store, known[id].name, now, s->why.text, e);
}

static int write_all(struct world *w, const struct sources *l, struct err *e)
{
	int rc = store_batch_begin(w->store, e);

	if (rc < 0)
		return -1;
	for (int i = 0; i < N_SOURCES && rc == 0; i++)
		rc = write_one(w, &l->v[i], (enum source_id)i, e);
	return store_batch_end(w->store, rc, e);
}

void sources_write(struct world *w, struct sources *l)
{
	struct err e = {""};

	log_changes(w, l);
	if (!w->store)
		return;
	if (write_all(w, l, &e) < 0) {
		source_report(l, SOURCE_STATE, &e);
		return; /* what changed is written once it can be */
	}
	for (int i = 0; i < N_SOURCES; i++)
		l->v[i].looked = l->v[i].changed = l->v[i].logged = false;
	source_report(l, SOURCE_STATE, NULL);
}

int source_write_cloud(struct world *w, size_t cloud, const struct err *why, struct err *e)
{
	char *name = heartbeat_cloud_name(w, cloud);
	int64_t now = clock_wall_ms();
	int rc;

	if (!name)
		return err_nomem(e);
	rc = why ? store_source_failed(w->store, name, now, why->text, e) : store_source_ok(w->store, name, now, e);
	free(name);
	return rc;
}
