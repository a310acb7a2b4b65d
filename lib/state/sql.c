/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql.c - statements and transactions of the store. Called by the store's own files only.
 *
 * A plain BEGIN that reads and then writes fails at once when another writer came between, whatever the time-out: every
 * transaction here is BEGIN IMMEDIATE.
 */
#include "lib/state/sql.h"

#include "lib/base/err.h"
#include "lib/base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define GENERATION_BLOCK 64

/* SQLite calls a failed write of its shared memory an I/O error, whatever errno was. */
static bool is_full(const struct store *s, int code)
{
	int num = s->db ? sqlite3_system_errno(s->db) : 0;

	return code == SQLITE_FULL || ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && (num == ENOSPC || num == EDQUOT));
}

int sql_failed(struct store *s, struct err *e)
{
	int code = s->db ? sqlite3_errcode(s->db) & 0xff : SQLITE_ERROR;

	if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) {
		struct err why;

		err_set(&why, "%s", sqlite3_errmsg(s->db));
		return store_set_aside(s, why.text, e);
	}
	if (code == SQLITE_NOMEM)
		return err_nomem(e);
	if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
		return err_set(e, "the state file %s stays busy: another program of slurm-ec2 holds it", s->path);
	if (is_full(s, code))
		return err_set(e, "no space is left for the state file %s: make room in its folder", s->path);
	if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN || code == SQLITE_PERM)
		return err_set(e, "the state file %s cannot be used (%s): run this as its owner", s->path,
			       sqlite3_errmsg(s->db));
	return err_set(e, "state file %s: %s", s->path, s->db ? sqlite3_errmsg(s->db) : "not open");
}

void sql_forget(struct store *s)
{
	for (size_t i = 0; i < SQL_CACHE; i++) {
		sqlite3_finalize(s->cache[i].q);
		s->cache[i].q = NULL;
		s->cache[i].sql = NULL;
	}
}

static sqlite3_stmt *prepared(struct store *s, const char *sql, struct err *e)
{
	for (size_t i = 0; i < SQL_CACHE; i++) {
		if (s->cache[i].sql == sql)
			return s->cache[i].q;
		if (s->cache[i].sql)
			continue;
		if (sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->cache[i].q, NULL)) {
			sql_failed(s, e);
			return NULL;
		}
		s->cache[i].sql = sql;
		return s->cache[i].q;
	}
	err_set(e, "state file %s: the statement cache is full", s->path);
	return NULL;
}

/* how: SQLITE_STATIC where the statement ends before its caller's texts do; a copy of each costs as much as the rest. */
static int bind(sqlite3_stmt *q, const char *types, va_list ap, sqlite3_destructor_type how)
{
	for (int i = 0; types[i]; i++) {
		int rc;

		if (types[i] == 't')
			rc = sqlite3_bind_text(q, i + 1, va_arg(ap, const char *), -1, how);
		else
			rc = sqlite3_bind_int64(q, i + 1, va_arg(ap, int64_t));
		if (rc)
			return rc;
	}
	return 0;
}

static sqlite3_stmt *query(struct store *s, struct err *e, const char *sql, const char *types, va_list ap,
			   sqlite3_destructor_type how)
{
	sqlite3_stmt *q;

	if (s->depth == 0 && store_refresh(s, e))
		return NULL;
	q = prepared(s, sql, e);
	if (!q)
		return NULL;
	sqlite3_reset(q);
	if (bind(q, types, ap, how)) {
		sql_failed(s, e);
		return NULL;
	}
	return q;
}

sqlite3_stmt *sql_query(struct store *s, struct err *e, const char *sql, const char *types, ...)
{
	sqlite3_stmt *q;
	va_list ap;

	va_start(ap, types);
	q = query(s, e, sql, types, ap, SQLITE_TRANSIENT);
	va_end(ap);
	return q;
}

int sql_step(struct store *s, sqlite3_stmt *q, struct err *e)
{
	switch (sqlite3_step(q)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return 0;
	default:
		return sql_failed(s, e);
	}
}

void sql_done(sqlite3_stmt *q)
{
	if (!q)
		return;
	sqlite3_reset(q);
	sqlite3_clear_bindings(q);
}

/* Run a statement that query() made: how many rows it changed, or -1. */
static int run(struct store *s, sqlite3_stmt *q, struct err *e)
{
	int rc = q ? sql_step(s, q, e) : -1;

	if (rc < 0)
		return -1; /* the connection may be gone with its statements */
	sql_done(q);
	return sqlite3_changes(s->db);
}

int sql_run(struct store *s, struct err *e, const char *sql, const char *types, ...)
{
	sqlite3_stmt *q;
	va_list ap;

	va_start(ap, types);
	q = query(s, e, sql, types, ap, SQLITE_STATIC);
	va_end(ap);
	return run(s, q, e);
}

int sql_change(struct store *s, struct err *e, const char *sql, const char *types, ...)
{
	sqlite3_stmt *q;
	va_list ap;

	if (sql_begin(s, e))
		return -1;
	va_start(ap, types);
	q = query(s, e, sql, types, ap, SQLITE_STATIC);
	va_end(ap);
	return sql_end(s, run(s, q, e), e);
}

int sql_rows(struct store *s, sqlite3_stmt *q, int (*read)(sqlite3_stmt *q, void *out, struct err *e), void *out, struct err *e)
{
	int rc;

	if (!q)
		return -1;
	while ((rc = sql_step(s, q, e)) == 1) {
		if (read(q, out, e)) {
			sql_done(q);
			return -1;
		}
	}
	if (rc == 0)
		sql_done(q); /* after a failure the connection may be gone with its statements */
	return rc;
}

int sql_text(sqlite3_stmt *q, int column, char **out, struct err *e)
{
	const char *text = (const char *)sqlite3_column_text(q, column);

	*out = str_dup(text);
	return text && !*out ? err_nomem(e) : 0;
}

int sql_list(sqlite3_stmt *q, int column, struct strs *out, struct err *e)
{
	const char *text = (const char *)sqlite3_column_text(q, column);

	return !text || strs_split(out, text, ',') ? err_nomem(e) : 0;
}

int sql_begin(struct store *s, struct err *e)
{
	if (s->readonly)
		return err_set(e, "the state file %s is open for reading only", s->path);
	if (s->depth == 0) {
		s->failed = false;
		s->generations = 0;
		if (store_refresh(s, e))
			return -1;
		if (sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL))
			return sql_failed(s, e);
		s->busy_ms = BUSY_MAX_MS;
	}
	s->depth++;
	return 0;
}

int sql_end(struct store *s, int rc, struct err *e)
{
	if (rc < 0)
		s->failed = true;
	if (--s->depth > 0)
		return rc;
	if (s->failed) {
		if (s->db)
			sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
		return rc < 0 ? rc : err_set(e, "state file %s: a part of the transaction failed before", s->path);
	}
	if (sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL)) {
		sql_failed(s, e);
		if (s->db)
			sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
		return -1;
	}
	return rc;
}

/* Take n numbers from the file. */
static int reserve(struct store *s, int64_t n, int64_t *first, struct err *e)
{
	sqlite3_stmt *q;
	int rc;

	if (sql_run(s, e, "UPDATE meta SET value = value + ? WHERE name = 'generation'", "i", n) < 0)
		return -1;
	q = sql_query(s, e, "SELECT value FROM meta WHERE name = 'generation'", "");
	rc = q ? sql_step(s, q, e) : -1;
	if (rc < 0)
		return -1;
	*first = sqlite3_column_int64(q, 0) - n + 1;
	sql_done(q);
	return rc == 1 ? 0 : err_set(e, "state file %s: its generation number is missing", s->path);
}

/* Inside a batch in blocks: what is left of one is given up, which only makes a gap. */
int sql_generation(struct store *s, int64_t n, int64_t *first, struct err *e)
{
	if (s->depth < 2)
		return reserve(s, n, first, e);
	if (s->generations < n) {
		int64_t block = n > GENERATION_BLOCK ? n : GENERATION_BLOCK;

		if (reserve(s, block, &s->generation, e))
			return -1;
		s->generations = block;
	}
	*first = s->generation;
	s->generation += n;
	s->generations -= n;
	return 0;
}
