/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store_shortage.c - the capacity memory as rows. What they mean is decided in lib/plan/capacity.c; only the claim on a probe is
 * judged here, because it must hold between processes.
 */
#include "lib/state/store.h"

#include "lib/base/err.h"
#include "lib/state/sql.h"

static int read_shortage(sqlite3_stmt *q, void *out, struct err *e)
{
	struct shortage *s = shortages_add(out, (const char *)sqlite3_column_text(q, 0), (const char *)sqlite3_column_text(q, 1),
					   (const char *)sqlite3_column_text(q, 2));

	if (!s)
		return err_nomem(e);
	s->failures = sqlite3_column_int(q, 5);
	s->failed_ms = sqlite3_column_int64(q, 6);
	s->until_ms = sqlite3_column_int64(q, 7);
	s->budget = sqlite3_column_int64(q, 8);
	s->probe_until_ms = sqlite3_column_int64(q, 9);
	return sql_text(q, 3, &s->code, e) || sql_text(q, 4, &s->message, e) ? -1 : 0;
}

int store_shortages(struct store *s, struct shortages *out, struct err *e)
{
	static const char sql[] = "SELECT type, zone, market, code, message, failures, failed_ms, until_ms, budget, probe_until_ms"
				  " FROM shortage ORDER BY type, zone, market";
	size_t before = out->n;

	if (sql_rows(s, sql_query(s, e, sql, ""), read_shortage, out, e) == 0)
		return 0;
	while (out->n > before)
		shortage_clear(&out->v[--out->n]);
	return -1;
}

int store_shortage_put(struct store *s, const struct shortage *row, struct err *e)
{
	static const char put[] = "INSERT OR REPLACE INTO shortage(type, zone, market, code, message, failures, failed_ms,"
				  " until_ms, budget, probe_until_ms) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	static const char drop[] = "DELETE FROM shortage WHERE type = ? AND zone = ? AND market = ?";
	const struct offering *o = &row->of;
	int rc;

	if (row->failures == 0)
		rc = sql_change(s, e, drop, "ttt", o->type, o->zone, o->market);
	else
		rc = sql_change(s, e, put, "tttttiiiii", o->type, o->zone, o->market, row->code, row->message,
				(int64_t)row->failures, row->failed_ms, row->until_ms, row->budget, row->probe_until_ms);
	return rc < 0 ? err_prefix(e, "cannot note the shortage of %s in %s", o->type, o->zone) : 0;
}

int store_shortage_probe(struct store *s, const struct offering *of, int64_t now_ms, int64_t until_ms, struct err *e)
{
	static const char sql[] = "UPDATE shortage SET probe_until_ms = ? WHERE type = ? AND zone = ? AND market = ?"
				  " AND probe_until_ms <= ?";

	return sql_change(s, e, sql, "ittti", until_ms, of->type, of->zone, of->market, now_ms);
}
