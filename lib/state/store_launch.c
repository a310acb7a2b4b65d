/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store_launch.c - rows of launches: intent before effect. Called by apply before and after each EC2 call that makes machines.
 */
#include "lib/state/store.h"

#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/state/sql.h"

#include <stdlib.h>

#define KEEP_DONE_MS (7 * INT64_C(86400000)) /* a week of finished launches for people who look back */

/* The numbers in the file; a changed order of the enums would misread every file. */
_Static_assert(LAUNCH_INTENT == 0 && LAUNCH_ANSWERED == 1 && LAUNCH_DONE == 2, "stored numbers");
_Static_assert(BINDING_LAUNCHING == 0 && BINDING_BOUND == 1 && BINDING_FREE == 2, "stored numbers");

static const char claim_sql[] =
	"INSERT INTO binding(node, generation, state, launch, since_ms) VALUES(?, ?, 0, ?, ?)"
	" ON CONFLICT(node) DO UPDATE SET generation = excluded.generation, state = 0, launch = excluded.launch,"
	" instance = NULL, ip = NULL, since_ms = excluded.since_ms WHERE binding.state = 2";

/* Claim what is free: the rest goes to `lost`. */
static int claim_nodes(struct store *s, const struct launch *l, struct strs *won, struct strs *lost, struct err *e)
{
	int64_t generation, now = clock_wall_ms();

	if (sql_generation(s, (int64_t)l->nodes.n, &generation, e))
		return -1;
	for (size_t i = 0; i < l->nodes.n; i++) {
		int n = sql_run(s, e, claim_sql, "titi", l->nodes.v[i], generation + (int64_t)i, l->id, now);

		if (n < 0)
			return -1;
		if (strs_add(n ? won : lost, l->nodes.v[i]))
			return err_nomem(e);
	}
	return 0;
}

static int insert_row(struct store *s, const struct launch *l, const struct strs *won, struct err *e)
{
	static const char sql[] =
		"INSERT INTO launch(id, queue, resource, nodes, min_count, state, created_ms, pid, jobs, request, stage)"
		" VALUES(?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?)";
	char *nodes = strs_join(won, ","), *jobs = strs_join(&l->jobs, ",");
	int rc = -1;

	if (!nodes || !jobs)
		err_nomem(e);
	else
		rc = sql_run(s, e, sql, "ttttiiitti", l->id, l->queue, l->resource, nodes, (int64_t)l->min_count, l->created_ms,
			     l->pid, jobs, l->request, (int64_t)l->stage);
	free(nodes);
	free(jobs);
	return rc < 0 ? -1 : 0;
}

static int claim(struct store *s, const struct launch *l, struct strs *won, struct strs *lost, struct err *e)
{
	if (sql_run(s, e, "DELETE FROM launch WHERE state = 2 AND created_ms < ?", "i", clock_wall_ms() - KEEP_DONE_MS) < 0 ||
		claim_nodes(s, l, won, lost, e))
		return -1;
	return won->n ? insert_row(s, l, won, e) : 0;
}

static int append(struct strs *to, const struct strs *from, struct err *e)
{
	for (size_t i = 0; i < from->n; i++) {
		if (strs_add(to, from->v[i]))
			return err_nomem(e);
	}
	return 0;
}

int store_launch_claim(struct store *s, struct launch *l, struct strs *taken, struct err *e)
{
	struct strs won = {0}, lost = {0}, both = {0};
	int rc;

	if (sql_begin(s, e))
		return -1;
	rc = claim(s, l, &won, &lost, e);
	if (rc == 0 && taken)
		rc = append(&both, taken, e) || append(&both, &lost, e) ? -1 : 0;
	rc = sql_end(s, rc, e);
	strs_clear(&lost);
	if (rc) {
		strs_clear(&won);
		strs_clear(&both);
		return err_prefix(e, "cannot note the launch %s", l->id);
	}
	strs_clear(&l->nodes);
	l->nodes = won;
	if (taken) {
		strs_clear(taken);
		*taken = both;
	}
	return 0;
}

/* A row that had to be there; it is missing only when the state file was lost meanwhile. */
static int expect_row(int changed, const char *id, struct err *e)
{
	if (changed == 0)
		return err_set(e, "the launch %s is not open in the state file", id);
	return changed < 0 ? -1 : 0;
}

int store_launch_request(struct store *s, const char *id, const char *request, struct err *e)
{
	static const char sql[] = "UPDATE launch SET request = ? WHERE id = ? AND state = 0";

	return expect_row(sql_change(s, e, sql, "tt", request, id), id, e);
}

int store_launch_answered(struct store *s, const char *id, const char *code, struct err *e)
{
	static const char sql[] = "UPDATE launch SET state = 1, error = ? WHERE id = ? AND state < 2";

	return expect_row(sql_change(s, e, sql, "tt", code, id), id, e);
}

/* Free the nodes that still wait for a machine of this launch; node NULL = all of them. How many, or -1. */
static int free_claims(struct store *s, const char *id, const char *node, struct err *e)
{
	static const char all[] = "UPDATE binding SET state = 2, launch = NULL, generation = ?, since_ms = ?"
				  " WHERE launch = ? AND state = 0";
	static const char one[] = "UPDATE binding SET state = 2, launch = NULL, generation = ?, since_ms = ?"
				  " WHERE node = ? AND launch = ? AND state = 0";
	int64_t generation;

	if (sql_generation(s, 1, &generation, e))
		return -1;
	if (!node)
		return sql_run(s, e, all, "iit", generation, clock_wall_ms(), id);
	return sql_run(s, e, one, "iitt", generation, clock_wall_ms(), node, id);
}

int store_launch_done(struct store *s, const char *id, struct err *e)
{
	int rc;

	if (sql_begin(s, e))
		return -1;
	rc = expect_row(sql_run(s, e, "UPDATE launch SET state = 2 WHERE id = ?", "t", id), id, e);
	if (rc == 0 && free_claims(s, id, NULL, e) < 0)
		rc = -1;
	return sql_end(s, rc, e);
}

int store_launch_release(struct store *s, const char *id, const char *node, struct err *e)
{
	if (sql_begin(s, e))
		return -1;
	return sql_end(s, free_claims(s, id, node, e), e);
}

static int read_launch(sqlite3_stmt *q, void *out, struct err *e)
{
	struct launch *l = launches_add(out);

	if (!l)
		return err_nomem(e);
	if (sql_text(q, 0, &l->id, e) || sql_text(q, 1, &l->queue, e) || sql_text(q, 2, &l->resource, e) ||
		sql_text(q, 6, &l->error, e) || sql_text(q, 10, &l->request, e) || sql_list(q, 3, &l->nodes, e) ||
		sql_list(q, 9, &l->jobs, e))
		return -1;
	l->min_count = sqlite3_column_int(q, 4);
	l->state = (enum launch_state)sqlite3_column_int(q, 5);
	l->created_ms = sqlite3_column_int64(q, 7);
	l->pid = sqlite3_column_int64(q, 8);
	l->stage = sqlite3_column_int(q, 11);
	return 0;
}

int store_launches_open(struct store *s, struct launches *out, struct err *e)
{
	static const char sql[] = "SELECT id, queue, resource, nodes, min_count, state, error, created_ms, pid, jobs, request,"
				  " stage FROM launch WHERE state < 2 ORDER BY created_ms, id";
	struct launches found = {0};
	sqlite3_stmt *q = sql_query(s, e, sql, "");

	if (sql_rows(s, q, read_launch, &found, e)) {
		launches_clear(&found);
		return -1;
	}
	if (mem_grow(&out->v, &out->cap, out->n + found.n, sizeof *out->v)) {
		launches_clear(&found);
		return err_nomem(e);
	}
	for (size_t i = 0; i < found.n; i++)
		out->v[out->n++] = found.v[i];
	free(found.v); /* its rows now belong to out */
	return 0;
}

int store_launch_take(struct store *s, const char *id, int64_t old_pid, int64_t pid, struct err *e)
{
	static const char sql[] = "UPDATE launch SET pid = ? WHERE id = ? AND pid = ? AND state < 2";

	return sql_change(s, e, sql, "iti", pid, id, old_pid);
}

int store_launch_jobs(struct store *s, const char *id, struct strs *out, struct err *e)
{
	sqlite3_stmt *q = sql_query(s, e, "SELECT jobs FROM launch WHERE id = ?", "t", id);
	int rc = q ? sql_step(s, q, e) : -1;

	if (rc == 1)
		rc = sql_list(q, 0, out, e);
	sql_done(q);
	return rc;
}
