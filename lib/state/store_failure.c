/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store_failure.c - machines that were launched and never served. What follows from them is decided in lib/plan/protect.c. */
#include "lib/state/store.h"

#include "lib/base/err.h"
#include "lib/state/sql.h"

int store_failure_add(struct store *s, const struct failure *f, struct err *e)
{
	static const char sql[] = "INSERT INTO failure(time_ms, queue, resource, node, instance, code)"
				  " SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE ?5 IS NULL OR NOT EXISTS"
				  " (SELECT 1 FROM failure WHERE instance = ?5)";

	return sql_change(s, e, sql, "ittttt", f->time_ms, f->queue, f->resource, f->node, f->instance, f->code);
}

static int read_failure(sqlite3_stmt *q, void *out, struct err *e)
{
	struct failure *f = failures_add(out);

	if (!f)
		return err_nomem(e);
	f->time_ms = sqlite3_column_int64(q, 0);
	f->over = sqlite3_column_int64(q, 6) != 0;
	return sql_text(q, 1, &f->queue, e) || sql_text(q, 2, &f->resource, e) || sql_text(q, 3, &f->node, e) ||
			       sql_text(q, 4, &f->instance, e) || sql_text(q, 5, &f->code, e)
		       ? -1
		       : 0;
}

int store_failures(struct store *s, int64_t since_ms, struct failures *out, struct err *e)
{
	static const char sql[] = "SELECT time_ms, queue, resource, node, instance, code, over FROM failure"
				  " WHERE time_ms >= ?"
				  " ORDER BY time_ms, id";
	size_t before = out->n;

	if (sql_rows(s, sql_query(s, e, sql, "i", since_ms), read_failure, out, e) == 0)
		return 0;
	while (out->n > before)
		failure_clear(&out->v[--out->n]);
	return -1;
}

int store_failures_over(struct store *s, const char *queue, const char *resource, int64_t until_ms, struct err *e)
{
	static const char sql[] = "UPDATE failure SET over = 1 WHERE time_ms <= ? AND queue = ? AND resource = ?";

	return sql_change(s, e, sql, "itt", until_ms, queue, resource) < 0 ? -1 : 0;
}

int store_failures_forget(struct store *s, const char *node, int64_t until_ms, struct err *e)
{
	return sql_change(s, e, "DELETE FROM failure WHERE time_ms <= ? AND node = ?", "it", until_ms, node) < 0 ? -1 : 0;
}

int store_failures_clear(struct store *s, const char *queue, const char *resource, int64_t until_ms, struct err *e)
{
	static const char all[] = "DELETE FROM failure WHERE time_ms <= ?";
	static const char one[] = "DELETE FROM failure WHERE time_ms <= ? AND queue = ? AND resource = ?";
	int rc = queue ? sql_change(s, e, one, "itt", until_ms, queue, resource) : sql_change(s, e, all, "i", until_ms);

	return rc < 0 ? -1 : 0;
}
