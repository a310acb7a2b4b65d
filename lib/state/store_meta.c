/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store_meta.c - heartbeat of the sources, named counters, transactions of many calls. */
#include "lib/state/store.h"

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/state/sql.h"

#include <stdlib.h>

int store_batch_begin(struct store *s, struct err *e)
{
	return sql_begin(s, e);
}

int store_batch_end(struct store *s, int rc, struct err *e)
{
	return sql_end(s, rc, e);
}

int store_source_ok(struct store *s, const char *source, int64_t now_ms, struct err *e)
{
	static const char sql[] = "INSERT INTO source(name, ok_ms, failed_ms) VALUES(?, ?, 0)"
				  " ON CONFLICT(name) DO UPDATE SET ok_ms = excluded.ok_ms, since_ms = 0";

	return sql_change(s, e, sql, "ti", source, now_ms) < 0 ? -1 : 0;
}

int store_source_failed(struct store *s, const char *source, int64_t now_ms, const char *error, struct err *e)
{
	static const char sql[] = "INSERT INTO source(name, ok_ms, failed_ms, error, since_ms) VALUES(?1, 0, ?2, ?3, ?2)"
				  " ON CONFLICT(name) DO UPDATE SET failed_ms = excluded.failed_ms, error = excluded.error,"
				  " since_ms = iif(since_ms BETWEEN 1 AND excluded.failed_ms, since_ms, excluded.failed_ms)";

	return sql_change(s, e, sql, "tit", source, now_ms, error) < 0 ? -1 : 0;
}

static int read_source(sqlite3_stmt *q, void *out, struct err *e)
{
	struct source_rows *l = out;
	struct source_row *r;

	if (mem_grow(&l->v, &l->cap, l->n + 1, sizeof *l->v))
		return err_nomem(e);
	r = &l->v[l->n++];
	*r = (struct source_row){
		.ok_ms = sqlite3_column_int64(q, 1),
		.failed_ms = sqlite3_column_int64(q, 2),
		.since_ms = sqlite3_column_int64(q, 3),
	};
	return sql_text(q, 0, &r->name, e) || sql_text(q, 4, &r->error, e) ? -1 : 0;
}

int store_sources(struct store *s, struct source_rows *out, struct err *e)
{
	sqlite3_stmt *q = sql_query(s, e, "SELECT name, ok_ms, failed_ms, since_ms, error FROM source ORDER BY name", "");

	return sql_rows(s, q, read_source, out, e);
}

void source_rows_clear(struct source_rows *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].name);
		free(l->v[i].error);
	}
	free(l->v);
	*l = (struct source_rows){0};
}

int store_source(struct store *s, const char *source, int64_t *ok_ms, int64_t *failed_ms, char **error, struct err *e)
{
	sqlite3_stmt *q = sql_query(s, e, "SELECT ok_ms, failed_ms, error FROM source WHERE name = ?", "t", source);
	int rc = q ? sql_step(s, q, e) : -1;
	char *text = NULL;

	if (rc < 0)
		return -1;
	if (rc == 1 && sql_text(q, 2, &text, e)) {
		sql_done(q);
		return -1;
	}
	*ok_ms = rc ? sqlite3_column_int64(q, 0) : 0;
	*failed_ms = rc ? sqlite3_column_int64(q, 1) : 0;
	sql_done(q);
	if (error)
		*error = text;
	else
		free(text);
	return 0;
}

static int read_counter(struct store *s, const char *name, int64_t *out, struct err *e)
{
	sqlite3_stmt *q = sql_query(s, e, "SELECT value FROM counter WHERE name = ?", "t", name);
	int rc = q ? sql_step(s, q, e) : -1;

	if (rc < 0)
		return -1;
	*out = rc ? sqlite3_column_int64(q, 0) : 0;
	sql_done(q);
	return 0;
}

int store_counter_add(struct store *s, const char *name, int64_t by, int64_t *out, struct err *e)
{
	static const char sql[] = "INSERT INTO counter VALUES(?, ?)"
				  " ON CONFLICT(name) DO UPDATE SET value = value + excluded.value";
	int64_t value = 0;
	int rc;

	if (sql_begin(s, e))
		return -1;
	rc = sql_run(s, e, sql, "ti", name, by);
	if (rc >= 0)
		rc = read_counter(s, name, &value, e);
	if (sql_end(s, rc, e) < 0)
		return -1;
	if (out)
		*out = value;
	return 0;
}

int store_counter_set(struct store *s, const char *name, int64_t value, struct err *e)
{
	static const char sql[] = "INSERT INTO counter VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET value = excluded.value";

	return sql_change(s, e, sql, "ti", name, value) < 0 ? -1 : 0;
}

static int read_pair(sqlite3_stmt *q, void *out, struct err *e)
{
	const char *name = (const char *)sqlite3_column_text(q, 0), *value = (const char *)sqlite3_column_text(q, 1);

	return kvs_add(out, name, value) ? err_nomem(e) : 0;
}

int store_counters(struct store *s, const char *prefix, struct kvs *out, struct err *e)
{
	static const char sql[] = "SELECT name, CAST(value AS TEXT) FROM counter"
				  " WHERE substr(name, 1, length(?1)) = ?1 ORDER BY name";
	sqlite3_stmt *q = sql_query(s, e, sql, "t", prefix);
	size_t before = out->key.n;

	if (sql_rows(s, q, read_pair, out, e) == 0)
		return 0;
	while (out->key.n > before) {
		free(out->key.v[--out->key.n]);
		free(out->val.v[--out->val.n]);
	}
	return -1;
}
