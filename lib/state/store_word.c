/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store_word.c - named words: what a person asked of the fleet, and how far the loop has come with it. */
#include "lib/state/store.h"

#include "lib/base/err.h"
#include "lib/state/sql.h"

#include <stdlib.h>

static int put_word(struct store *s, const char *name, const char *value, int64_t now_ms, struct err *e)
{
	if (!value)
		return sql_run(s, e, "DELETE FROM word WHERE name = ?", "t", name);
	return sql_run(s, e, "INSERT OR REPLACE INTO word(name, value, set_ms) VALUES(?, ?, ?)", "tti", name, value, now_ms);
}

int store_word_put(struct store *s, const char *name, const char *value, int64_t now_ms, struct err *e)
{
	if (sql_begin(s, e))
		return -1;
	return sql_end(s, put_word(s, name, value, now_ms, e), e) < 0 ? -1 : 0;
}

int store_word(struct store *s, const char *name, char **value, int64_t *set_ms, struct err *e)
{
	sqlite3_stmt *q = sql_query(s, e, "SELECT value, set_ms FROM word WHERE name = ?", "t", name);
	int rc = q ? sql_step(s, q, e) : -1;

	*value = NULL;
	if (set_ms)
		*set_ms = 0;
	if (rc < 0)
		return -1;
	if (rc == 1 && sql_text(q, 0, value, e)) {
		sql_done(q);
		return -1;
	}
	if (rc == 1 && set_ms)
		*set_ms = sqlite3_column_int64(q, 1);
	sql_done(q);
	return 0;
}

int store_word_swap(struct store *s, const char *name, const char *from, const char *to, int64_t now_ms, struct err *e)
{
	char *now = NULL;
	int rc;

	if (sql_begin(s, e))
		return -1;
	rc = store_word(s, name, &now, NULL, e);
	if (rc == 0) {
		rc = str_eq(now, from) ? 1 : 0;
		if (rc && put_word(s, name, to, now_ms, e) < 0)
			rc = -1;
	}
	free(now);
	return sql_end(s, rc, e) < 0 ? -1 : rc;
}
