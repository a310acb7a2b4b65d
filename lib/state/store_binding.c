/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store_binding.c - which machine a node has. Each change re-checks in its own transaction what the caller believed. */
#include "lib/state/store.h"

#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/state/sql.h"

#define COLUMNS "node, generation, state, launch, instance, ip, since_ms"

static int read_binding(sqlite3_stmt *q, void *out, struct err *e)
{
	struct binding *b = bindings_add(out);

	if (!b)
		return err_nomem(e);
	b->generation = sqlite3_column_int64(q, 1);
	b->state = (enum binding_state)sqlite3_column_int(q, 2);
	b->since_ms = sqlite3_column_int64(q, 6);
	return sql_text(q, 0, &b->node, e) || sql_text(q, 3, &b->launch, e) || sql_text(q, 4, &b->instance, e) ||
		       sql_text(q, 5, &b->ip, e)
		   ? -1
		   : 0;
}

/* Move all rows of `from` behind those of `to`. */
static int append(struct bindings *to, struct bindings *from, struct err *e)
{
	if (mem_grow(&to->v, &to->cap, to->n + from->n, sizeof *to->v)) {
		bindings_clear(from);
		return err_nomem(e);
	}
	for (size_t i = 0; i < from->n; i++)
		to->v[to->n++] = from->v[i];
	from->n = 0;
	bindings_clear(from);
	return 0;
}

/* All rows of a query, appended; *out is as before on failure. */
static int read_rows(struct store *s, sqlite3_stmt *q, struct bindings *out, struct err *e)
{
	struct bindings found = {0};

	if (sql_rows(s, q, read_binding, &found, e)) {
		bindings_clear(&found);
		return -1;
	}
	return append(out, &found, e);
}

int store_bindings(struct store *s, struct bindings *out, struct err *e)
{
	return read_rows(s, sql_query(s, e, "SELECT " COLUMNS " FROM binding ORDER BY node", ""), out, e);
}

int store_binding(struct store *s, const char *node, struct bindings *out, struct err *e)
{
	return read_rows(s, sql_query(s, e, "SELECT " COLUMNS " FROM binding WHERE node = ?", "t", node), out, e);
}

int store_machine_wanted(struct store *s, const char *instance, const char *launch, struct err *e)
{
	static const char sql[] = "SELECT EXISTS(SELECT 1 FROM binding WHERE instance = ?)"
				  " OR EXISTS(SELECT 1 FROM launch WHERE id = ? AND state < 2)";
	sqlite3_stmt *q = sql_query(s, e, sql, "tt", instance, launch);
	int rc = q ? sql_step(s, q, e) : -1, wanted;

	if (rc < 0)
		return -1;
	wanted = rc == 1 && sqlite3_column_int(q, 0);
	sql_done(q);
	return wanted;
}

/* The first call gives the machine; a repeated one for the same machine may bring its address. */
static int bind_row(struct store *s, const char *node, const char *launch, const char *instance, const char *ip, struct err *e)
{
	static const char again[] = "UPDATE binding SET ip = coalesce(?, ip)"
					" WHERE node = ? AND launch = ? AND instance = ? AND state = 1";
	static const char first[] = "UPDATE binding SET state = 1, instance = ?, ip = ?, generation = ?, since_ms = ?"
					" WHERE node = ? AND launch = ? AND state = 0";
	int64_t generation;
	int n;

	if (sql_generation(s, 1, &generation, e))
		return -1;
	n = sql_run(s, e, first, "ttiitt", instance, ip, generation, clock_wall_ms(), node, launch);
	return n ? n : sql_run(s, e, again, "tttt", ip, node, launch, instance);
}

int store_bind(struct store *s, const char *node, const char *launch, const char *instance, const char *ip, struct err *e)
{
	int rc;

	if (sql_begin(s, e))
		return -1;
	rc = sql_end(s, bind_row(s, node, launch, instance, ip, e), e);
	return rc < 0 ? err_prefix(e, "cannot bind %s to %s", instance, node) : rc;
}

static int adopt_row(struct store *s, const char *node, const char *launch, const char *instance, const char *ip, struct err *e)
{
	static const char sql[] = "INSERT INTO binding(" COLUMNS ") VALUES(?, ?, 1, ?, ?, ?, ?) ON CONFLICT(node) DO UPDATE"
				  " SET generation = excluded.generation, state = 1, launch = excluded.launch,"
				  " instance = excluded.instance, ip = excluded.ip, since_ms = excluded.since_ms"
				  " WHERE binding.state = 2";
	int64_t generation;

	if (sql_generation(s, 1, &generation, e))
		return -1;
	return sql_run(s, e, sql, "tittti", node, generation, launch, instance, ip, clock_wall_ms());
}

int store_adopt(struct store *s, const char *node, const char *launch, const char *instance, const char *ip, struct err *e)
{
	int rc;

	if (sql_begin(s, e))
		return -1;
	rc = sql_end(s, adopt_row(s, node, launch, instance, ip, e), e);
	return rc < 0 ? err_prefix(e, "cannot adopt %s for %s", instance, node) : rc;
}

static int free_row(struct store *s, const char *node, int64_t generation, struct bindings *was, struct err *e)
{
	static const char sql[] =
		"UPDATE binding SET state = 2, launch = NULL, instance = NULL, ip = NULL, generation = ?, since_ms = ?"
		" WHERE node = ? AND state < 2 AND (? = -1 OR generation = ?)";
	int64_t next;

	if (store_binding(s, node, was, e) || sql_generation(s, 1, &next, e))
		return -1;
	return sql_run(s, e, sql, "iitii", next, clock_wall_ms(), node, generation, generation);
}

int store_free(struct store *s, const char *node, int64_t generation, struct bindings *was, struct err *e)
{
	struct bindings before = {0};
	int rc;

	if (sql_begin(s, e))
		return -1;
	rc = sql_end(s, free_row(s, node, generation, &before, e), e);
	if (rc == 1 && was)
		return append(was, &before, e) ? -1 : 1;
	bindings_clear(&before);
	return rc < 0 ? err_prefix(e, "cannot free %s", node) : rc;
}
