/* SPDX-License-Identifier: GPL-2.0-or-later */
/* note.c - the same trouble is found by every loop; its reader wants it once. Called by clustermgtd's loop; decides nothing. */
#include "lib/apply/note.h"

#include "lib/apply/apply.h"
#include "lib/apply/event.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/node/nodeset.h"
#include "lib/plan/plan.h"
#include "lib/state/store.h"

#include <stdlib.h>
#include <string.h>

#define OVER_MS (INT64_C(60) * 60 * 1000)
#define REMEMBER_MS (INT64_C(24) * 60 * 60 * 1000)
#define NOTE_EVENT "note"

static char *key_of(const char *code, size_t code_n, const char *node, const char *instance)
{
	return str_fmt("%.*s %s %s", (int)code_n, code ? code : "", node ? node : "-", instance ? instance : "-");
}

/* 1 new, 0 known, -1 no memory. */
static int set_seen(struct notes *l, const char *key, int64_t now)
{
	int added;

	if (!l->said && !(l->said = nodeset_create()))
		return -1;
	if (mem_grow(&l->seen_ms, &l->cap, nodeset_count(l->said) + 1, sizeof *l->seen_ms) < 0)
		return -1;
	added = nodeset_add(l->said, key);
	if (added >= 0)
		l->seen_ms[nodeset_index(l->said, key)] = now;
	return added;
}

/* The event's text is "CODE: REASON". */
static int remember(struct world *w, struct notes *l, struct err *e)
{
	struct event_query q = {.since_ms = clock_wall_ms() - REMEMBER_MS, .type = NOTE_EVENT};
	struct events old = {0};
	int rc = w->store ? store_events(w->store, &q, &old, e) : 0;

	for (size_t i = 0; i < old.n && rc == 0; i++) {
		const struct event *v = &old.v[i];
		const char *end = v->detail ? strstr(v->detail, ": ") : NULL;
		char *key = end ? key_of(v->detail, (size_t)(end - v->detail), v->node, v->instance) : NULL;

		if (key && set_seen(l, key, clock_mono_ms()) < 0)
			rc = err_nomem(e);
		free(key);
	}
	events_clear(&old);
	return rc;
}

static void say(struct world *w, const struct action *a)
{
	char *text = str_fmt("%s: %s", a->code ? a->code : "-", a->reason ? a->reason : "-");

	log_warn("%s%s%s: %s", a->node ? a->node : "", a->node && a->instance ? " " : "", a->instance ? a->instance : "",
		 text ? text : "out of memory");
	apply_event(w, NOTE_EVENT, a->node, a->instance, text);
	free(text);
}

static int forget_old(struct notes *l, int64_t now)
{
	struct notes keep = {.remembered = l->remembered};
	size_t n = l->said ? nodeset_count(l->said) : 0, old = 0;

	for (size_t i = 0; i < n; i++)
		old += now - l->seen_ms[i] >= OVER_MS;
	if (old == 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (now - l->seen_ms[i] < OVER_MS && set_seen(&keep, nodeset_get(l->said, i), l->seen_ms[i]) < 0) {
			notes_clear(&keep);
			return -1;
		}
	}
	notes_clear(l);
	*l = keep;
	return 0;
}

/* One transaction: there may be thousands of them. */
static void say_new(struct world *w, struct notes *l, const struct plan *p, int64_t now)
{
	bool batch = false;

	for (size_t i = 0; i < p->n; i++) {
		const struct action *a = &p->v[i];
		char *key = a->kind == ACT_NOTE ? key_of(a->code, a->code ? strlen(a->code) : 0, a->node, a->instance) : NULL;

		if (key && set_seen(l, key, now) == 1) {
			batch = batch || (w->store && store_batch_begin(w->store, NULL) == 0);
			say(w, a);
		}
		free(key);
	}
	if (batch)
		store_batch_end(w->store, 0, NULL); /* what could not be written was said */
}

void notes_say(struct world *w, struct notes *l, const struct plan *p)
{
	int64_t now = clock_mono_ms();
	struct err e = {""};

	if (!l->remembered && remember(w, l, &e) < 0) {
		if (say_again(e.text))
			log_warn("events: %s", e.text);
		return; /* said by a later loop, rather than twice */
	}
	l->remembered = true;
	say_new(w, l, p, now);
	if (forget_old(l, now) < 0)
		log_warn("out of memory");
}

void notes_clear(struct notes *l)
{
	nodeset_destroy(l->said);
	free(l->seen_ms);
	*l = (struct notes){0};
}
