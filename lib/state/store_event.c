/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store_event.c - the event log: what was launched, bound, refused and ended. An event never decides anything. */
#include "lib/state/store.h"

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/node/nodeset.h"
#include "lib/state/sql.h"

#include <stdlib.h>
#include <string.h>

#define EVENTS_KEPT INT64_C(100000) /* some 15 MB; older ones go */
#define PRUNE_EACH 256

static int add_event(struct store *s, const struct event *v, struct err *e)
{
	static const char sql[] = "INSERT INTO event(time_ms, type, node, instance, jobs, detail) VALUES(?, ?, ?, ?, ?, ?)";
	int64_t id;

	if (sql_run(s, e, sql, "ittttt", v->time_ms, v->type, v->node, v->instance, v->jobs, v->detail) < 0)
		return -1;
	id = sqlite3_last_insert_rowid(s->db);
	if (s->depth > 1 && id % PRUNE_EACH)
		return 0; /* one of many */
	return sql_run(s, e, "DELETE FROM event WHERE id <= ?", "i", id - EVENTS_KEPT);
}

int store_event_put(struct store *s, const struct event *v, struct err *e)
{
	if (sql_begin(s, e))
		return -1;
	return sql_end(s, add_event(s, v, e), e) < 0 ? -1 : 0;
}

int store_event(struct store *s, int64_t now_ms, const char *type, const char *node, const char *instance, const char *detail,
		struct err *e)
{
	/* only read, so the texts may be the caller's */
	const struct event v = {.time_ms = now_ms, .type = (char *)type, .node = (char *)node, .instance = (char *)instance,
				.detail = (char *)detail};

	return store_event_put(s, &v, e);
}

/* An event of many nodes holds their hostlist. */
static bool names_node(const char *text, const char *node)
{
	struct nodeset *all;
	bool found;

	if (str_eq(text, node))
		return true;
	if (!text || !strpbrk(text, ",["))
		return false;
	all = nodeset_create();
	found = all && nodeset_parse(all, text, NULL) == 0 && nodeset_has(all, node);
	nodeset_destroy(all);
	return found;
}

/* An event of many machines or jobs holds a comma list. */
static bool names_one(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = text; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, word, n) && (at[n] == ',' || !at[n]))
			return true;
	}
	return false;
}

static bool wanted(sqlite3_stmt *q, const struct event_query *w)
{
	return (!w->node || names_node((const char *)sqlite3_column_text(q, 3), w->node)) &&
	       (!w->instance || names_one((const char *)sqlite3_column_text(q, 4), w->instance)) &&
	       (!w->job || names_one((const char *)sqlite3_column_text(q, 5), w->job));
}

static void event_clear(struct event *v)
{
	free(v->type);
	free(v->node);
	free(v->instance);
	free(v->jobs);
	free(v->detail);
	*v = (struct event){0};
}

static int keep(sqlite3_stmt *q, struct events *out, struct err *e)
{
	struct event *v;

	if (mem_grow(&out->v, &out->cap, out->n + 1, sizeof *out->v))
		return err_nomem(e);
	v = &out->v[out->n++];
	*v = (struct event){.id = sqlite3_column_int64(q, 0), .time_ms = sqlite3_column_int64(q, 1)};
	return sql_text(q, 2, &v->type, e) || sql_text(q, 3, &v->node, e) || sql_text(q, 4, &v->instance, e) ||
		       sql_text(q, 5, &v->jobs, e) || sql_text(q, 6, &v->detail, e)
		   ? -1
		   : 0;
}

/* Newest first. */
static int read_events(struct store *s, sqlite3_stmt *q, const struct event_query *w, struct events *out, struct err *e)
{
	size_t before = out->n;
	int rc = -1;

	while (q && (rc = sql_step(s, q, e)) == 1) {
		if (!wanted(q, w))
			continue;
		rc = keep(q, out, e);
		if (rc < 0 || (w->last && out->n - before == w->last)) {
			sql_done(q);
			return rc;
		}
	}
	if (rc == 0)
		sql_done(q);
	return rc;
}

static void reverse(struct event *v, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct event x = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = x;
	}
}

int store_events(struct store *s, const struct event_query *w, struct events *out, struct err *e)
{
	static const char sql[] = "SELECT id, time_ms, type, node, instance, jobs, detail FROM event"
				  " WHERE id > ?3 AND time_ms >= ?1 AND (?2 IS NULL OR type = ?2) ORDER BY id DESC";
	size_t before = out->n;

	if (read_events(s, sql_query(s, e, sql, "iti", w->since_ms, w->type, w->after_id), w, out, e) == 0) {
		reverse(out->v + before, out->n - before);
		return 0;
	}
	while (out->n > before)
		event_clear(&out->v[--out->n]);
	return -1;
}

void events_clear(struct events *l)
{
	for (size_t i = 0; i < l->n; i++)
		event_clear(&l->v[i]);
	free(l->v);
	*l = (struct events){0};
}
