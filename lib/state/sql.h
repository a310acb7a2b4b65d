/* sql.h - statements and transactions of the store; inside lib/state only. */
#ifndef SE_STATE_SQL_H
#define SE_STATE_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct strs;

#define BUSY_MAX_MS 10000 /* a writer holds the file for milliseconds; ten seconds mean that one hangs */
#define SQL_CACHE 48 /* more than the statements of this room: each is prepared once a connection */

struct store {
	sqlite3 *db; /* NULL between a lost file and the next use */
	char *path;
	dev_t dev; /* of the file that db has open: somebody may delete or replace it under us */
	ino_t ino;
	bool readonly;
	int64_t busy_ms; /* how long to wait for another program's transaction: shorter after one that did not end */
	int depth;   /* nested transactions */
	bool failed; /* an inner one failed: the outer one must not commit */
	int64_t generation, generations; /* the next number of a block taken by this transaction, and how many are left */
	struct {
		const char *sql;
		sqlite3_stmt *q;
	} cache[SQL_CACHE];
};

/* One transaction, BEGIN IMMEDIATE. Nested ones join the outer. */
int sql_begin(struct store *s, struct err *e);
/* Commit when rc >= 0, else roll back. rc, or -1 with e when the commit failed. */
int sql_end(struct store *s, int rc, struct err *e);

/* A statement with its parameters, copied: one letter each in types, t = text or NULL, i = int64_t. sql must be a literal: its address
 * is the cache's key. Borrowed until sql_done(). NULL with e. */
sqlite3_stmt *sql_query(struct store *s, struct err *e, const char *sql, const char *types, ...);
int sql_step(struct store *s, sqlite3_stmt *q, struct err *e); /* 1 = a row, 0 = no more, -1 */
void sql_done(sqlite3_stmt *q);				       /* takes NULL */
/* Run a statement without rows: how many rows it changed, or -1. */
int sql_run(struct store *s, struct err *e, const char *sql, const char *types, ...);
/* The same as a transaction of its own. */
int sql_change(struct store *s, struct err *e, const char *sql, const char *types, ...);
/* Give every row to read(), which appends it to out and returns 0 or -1; then the statement is done. 0 or -1. */
int sql_rows(struct store *s, sqlite3_stmt *q, int (*read)(sqlite3_stmt *q, void *out, struct err *e), void *out,
	     struct err *e);
/* A copy of a text column, NULL for SQL NULL. -1 on no memory. */
int sql_text(sqlite3_stmt *q, int column, char **out, struct err *e);

/* Append the parts of a text column that holds a comma list. -1 on no memory. */
int sql_list(sqlite3_stmt *q, int column, struct strs *out, struct err *e);

/* The words for what SQLite says; a damaged file is set aside at once and the next use begins a new one. -1. */
int sql_failed(struct store *s, struct err *e);
/* Empty the statement cache, before the connection is closed. */
void sql_forget(struct store *s);

/* Next `n` generation numbers; the first goes to *first. Inside a transaction. */
int sql_generation(struct store *s, int64_t n, int64_t *first, struct err *e);

/* in store_open.c */

/* Open s->path again if the file under it is not the one that is open. */
int store_refresh(struct store *s, struct err *e);
/* Close and move the file aside; e gets what happened. Always -1. */
int store_set_aside(struct store *s, const char *why, struct err *e);

#endif
