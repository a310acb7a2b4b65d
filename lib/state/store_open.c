/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store_open.c - open, make, upgrade and set aside the state file. Refuses a file made by a newer version; never deletes one.
 *
 * A lock file beside it (flock) keeps those who make, upgrade or set aside apart from those who open. It is held only while
 * opening.
 */
#include "lib/state/store.h"

#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/state/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BUSY_AGAIN_MS 500 /* it hung the last time: a loop has a dozen writes, and other things to do */
#define OPEN_TRIES 4	  /* shared, exclusive, after setting aside, and one in reserve */

/* Each entry takes the schema one version up; the last one's index + 1 is PRAGMA user_version. Never edit one that was
 * released. */
static const char *const migrations[] = {
	"CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE launch(id TEXT PRIMARY KEY, queue TEXT NOT NULL, resource TEXT NOT NULL, nodes TEXT NOT NULL,"
	" min_count INTEGER NOT NULL, state INTEGER NOT NULL, error TEXT, created_ms INTEGER NOT NULL, pid INTEGER NOT NULL,"
	" jobs TEXT NOT NULL, request TEXT);"
	"CREATE INDEX launch_state ON launch(state, created_ms);"
	"CREATE TABLE binding(node TEXT PRIMARY KEY, generation INTEGER NOT NULL, state INTEGER NOT NULL, launch TEXT,"
	" instance TEXT, ip TEXT, since_ms INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE INDEX binding_launch ON binding(launch);"
	"CREATE UNIQUE INDEX binding_instance ON binding(instance) WHERE instance IS NOT NULL;"
	"CREATE TABLE source(name TEXT PRIMARY KEY, ok_ms INTEGER NOT NULL, failed_ms INTEGER NOT NULL, error TEXT)"
	" WITHOUT ROWID;"
	"CREATE TABLE counter(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE event(id INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, type TEXT NOT NULL, node TEXT, instance TEXT,"
	" detail TEXT);",
	"ALTER TABLE launch ADD COLUMN stage INTEGER NOT NULL DEFAULT 0;"
	"CREATE TABLE shortage(type TEXT NOT NULL, zone TEXT NOT NULL, market TEXT NOT NULL, code TEXT, message TEXT,"
	" failures INTEGER NOT NULL, failed_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL, budget INTEGER NOT NULL,"
	" probe_until_ms INTEGER NOT NULL, PRIMARY KEY(type, zone, market)) WITHOUT ROWID;",
	"CREATE TABLE word(name TEXT PRIMARY KEY, value TEXT NOT NULL, set_ms INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE failure(id INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, queue TEXT NOT NULL, resource TEXT NOT NULL,"
	" node TEXT NOT NULL, instance TEXT, code TEXT NOT NULL, over INTEGER NOT NULL DEFAULT 0);"
	"CREATE INDEX failure_resource ON failure(queue, resource);",
	"ALTER TABLE source ADD COLUMN since_ms INTEGER NOT NULL DEFAULT 0;",
	"ALTER TABLE event ADD COLUMN jobs TEXT;",
	/* is this machine counted already: asked for each of thousands when a cluster's image is broken */
	"CREATE INDEX failure_instance ON failure(instance) WHERE instance IS NOT NULL;",
};
#define VERSION ((int)(sizeof migrations / sizeof *migrations))

/* The cache holds a transaction of 10 000 nodes: with SQLite's usual 2 MB its pages would be written and read many times. */
#define WRITER_PRAGMAS "PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON; PRAGMA cache_size = -8192"

enum verdict { USABLE, NEEDS_SETUP, DAMAGED, REFUSED };

/* Waits of random length: with fixed steps many writers starve one another. */
static int wait_busy(void *arg, int count)
{
	static _Thread_local int64_t since;
	struct timespec t = {.tv_nsec = (long)((0.5 + 3.0 * rand_unit()) * 1e6)};
	struct store *s = arg;

	if (count == 0)
		since = clock_mono_ms();
	if (clock_mono_ms() - since > s->busy_ms) {
		s->busy_ms = BUSY_AGAIN_MS;
		return 0;
	}
	nanosleep(&t, NULL);
	return 1;
}

static void disconnect(struct store *s)
{
	sql_forget(s);
	sqlite3_close(s->db);
	s->db = NULL;
}

static bool is_damage(sqlite3 *db)
{
	int code = sqlite3_errcode(db) & 0xff;

	return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

/* What went wrong with the file just opened: damage, or something a person must mend. */
static enum verdict judge_failure(struct store *s, struct err *e)
{
	enum verdict v = DAMAGED;

	if (is_damage(s->db)) {
		err_set(e, "%s", sqlite3_errmsg(s->db));
	} else {
		sql_failed(s, e);
		v = REFUSED;
	}
	disconnect(s);
	return v;
}

static int read_version(struct store *s, int *out)
{
	sqlite3_stmt *q = NULL;
	int rc = sqlite3_prepare_v2(s->db, "PRAGMA user_version", -1, &q, NULL);

	if (rc == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW)
		*out = sqlite3_column_int(q, 0);
	else
		rc = -1;
	return sqlite3_finalize(q) || rc ? -1 : 0;
}

/* The file gets its mode from us, not from the umask. O_EXCL: closing a second descriptor of a file that this process has open
 * through SQLite would drop SQLite's locks. */
static void create_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);

	if (fd >= 0)
		close(fd);
}

static int remember_file(struct store *s)
{
	struct stat st;

	if (stat(s->path, &st))
		return -1;
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	return 0;
}

static enum verdict connect_file(struct store *s, struct err *e)
{
	int version = 0;

	if (!s->readonly)
		create_file(s->path);
	if (sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE, NULL)) {
		sql_failed(s, e);
		disconnect(s);
		return REFUSED;
	}
	if (remember_file(s)) {
		err_errno(e, errno, "cannot use the state file %s", s->path);
		disconnect(s);
		return REFUSED;
	}
	sqlite3_extended_result_codes(s->db, 1);
	sqlite3_busy_handler(s->db, wait_busy, s);
	if (sqlite3_exec(s->db, s->readonly ? "PRAGMA query_only = ON" : WRITER_PRAGMAS, NULL, NULL, NULL) ||
		read_version(s, &version) || sqlite3_exec(s->db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL))
		return judge_failure(s, e);
	if (version > VERSION) {
		err_set(e, "the state file %s was made by a newer slurm-ec2 (schema %d, this one knows %d): run that version",
			s->path, version, VERSION);
		disconnect(s);
		return REFUSED;
	}
	return version == VERSION ? USABLE : NEEDS_SETUP;
}

/* Numbers of a new file begin at the wall clock, so that a rebuilt file never gives out those of the lost one again. */
static int seed_generation(struct store *s)
{
	char *sql = sqlite3_mprintf("INSERT OR IGNORE INTO meta VALUES('generation', %lld)", (long long)clock_wall_ms());
	int rc = sql ? sqlite3_exec(s->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return rc;
}

static int migrate(struct store *s)
{
	int version;
	char pragma[48];

	if (read_version(s, &version))
		return -1;
	for (; version < VERSION; version++) {
		if (sqlite3_exec(s->db, migrations[version], NULL, NULL, NULL))
			return -1;
	}
	snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d", VERSION);
	return sqlite3_exec(s->db, pragma, NULL, NULL, NULL) || seed_generation(s);
}

static enum verdict set_up(struct store *s, struct err *e)
{
	if (sqlite3_exec(s->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) ||
		sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL))
		return judge_failure(s, e);
	if (migrate(s) || sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL))
		return judge_failure(s, e); /* closing rolls back */
	return USABLE;
}

/* The lock's descriptor, or -1 with e. */
static int lock(const struct store *s, int how, struct err *e)
{
	char *path = str_fmt("%s.lock", s->path);
	int fd;

	if (!path)
		return err_nomem(e);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (fd < 0)
		err_errno(e, errno, "cannot open %s", path);
	while (fd >= 0 && flock(fd, how)) {
		if (errno == EINTR)
			continue;
		err_errno(e, errno, "cannot lock %s", path);
		close(fd);
		fd = -1;
	}
	free(path);
	return fd;
}

/* Move the file and what belongs to it; the main file last, so that none is ever without its log under the real name. */
static int move_aside(const struct store *s, const char *why, struct err *what)
{
	static const char *const tail[] = {"-wal", "-shm", ""};
	char now[25];
	int rc = 0;

	clock_iso(clock_wall_ms(), now);
	for (size_t i = 0; i < sizeof tail / sizeof *tail && rc == 0; i++) {
		char *from = str_fmt("%s%s", s->path, tail[i]), *to = str_fmt("%s.damaged-%s%s", s->path, now, tail[i]);

		if (!from || !to)
			rc = err_nomem(what);
		else if (rename(from, to) && errno != ENOENT)
			rc = err_errno(what, errno, "cannot move the damaged state file %s aside", from);
		free(from);
		free(to);
	}
	if (rc == 0)
		err_set(what, "the state file %s was damaged (%s) and is kept as %s.damaged-%s", s->path, why, s->path, now);
	return rc;
}

int store_set_aside(struct store *s, const char *why, struct err *e)
{
	struct stat st;
	int fd;

	disconnect(s);
	if (s->readonly)
		return err_set(e, "the state file %s is damaged (%s)", s->path, why);
	fd = lock(s, LOCK_EX, e);
	if (fd < 0)
		return -1;
	if (stat(s->path, &st) == 0 && st.st_dev == s->dev && st.st_ino == s->ino)
		move_aside(s, why, e);
	else
		err_set(e, "the state file %s was damaged (%s) and has been replaced", s->path, why);
	close(fd);
	return -1;
}

/* Once: open under the lock and, if it is exclusive, mend what must be. */
static enum verdict attempt(struct store *s, int how, struct err *note, struct err *e)
{
	int fd = lock(s, how, e);
	enum verdict v;

	if (fd < 0)
		return REFUSED;
	v = connect_file(s, e);
	if (how == LOCK_EX && v == NEEDS_SETUP)
		v = set_up(s, e);
	if (how == LOCK_EX && v == DAMAGED) {
		struct err what;

		if (move_aside(s, e->text, &what)) {
			*e = what;
			v = REFUSED;
		} else if (note) {
			*note = what;
		}
	}
	if (v != USABLE && s->db)
		disconnect(s);
	close(fd);
	return v;
}

static int connect_store(struct store *s, struct err *note, struct err *e)
{
	struct err why = {0}; /* filled by attempts that are repaired, too */
	enum verdict v = NEEDS_SETUP;

	for (int i = 0; i < OPEN_TRIES; i++) {
		v = attempt(s, i == 0 ? LOCK_SH : LOCK_EX, note, &why);
		if (v == USABLE)
			return 0;
		if (v == REFUSED)
			return err_set(e, "%s", why.text);
	}
	return err_set(e, "the state file %s cannot be made usable: %s", s->path, why.text);
}

int store_refresh(struct store *s, struct err *e)
{
	struct stat st;

	if (s->readonly)
		return s->db ? 0 : err_set(e, "the state file %s is not open", s->path);
	if (s->db && stat(s->path, &st) == 0 && st.st_dev == s->dev && st.st_ino == s->ino)
		return 0;
	disconnect(s);
	return connect_store(s, NULL, e);
}

static struct store *create(const char *path, bool readonly, struct err *e)
{
	struct store *s = calloc(1, sizeof *s);

	if (s)
		s->path = str_dup(path);
	if (!s || !s->path) {
		free(s);
		err_nomem(e);
		return NULL;
	}
	s->readonly = readonly;
	s->busy_ms = BUSY_MAX_MS;
	return s;
}

struct store *store_open(const char *path, struct err *note, struct err *e)
{
	struct store *s = create(path, false, e);

	if (note)
		note->text[0] = '\0';
	if (s && connect_store(s, note, e)) {
		store_close(s);
		return NULL;
	}
	return s;
}

struct store *store_open_readonly(const char *path, struct err *e)
{
	struct store *s;
	enum verdict v;

	if (access(path, F_OK) && errno == ENOENT) {
		err_set(e, "there is no state file %s yet: clustermgtd and resume make it", path);
		return NULL;
	}
	if (access(path, R_OK) && errno == EACCES) {
		err_set(e, "you may not read the state file %s: run this as root or as SlurmUser (" SLURM_USER ")", path);
		return NULL;
	}
	s = create(path, true, e);
	if (!s)
		return NULL;
	v = connect_file(s, e);
	if (v == USABLE)
		return s;
	if (v == DAMAGED)
		err_prefix(e, "the state file %s is damaged", path);
	if (v == NEEDS_SETUP)
		err_set(e, "the state file %s is empty or of an older version: the next run of clustermgtd upgrades it", path);
	store_close(s);
	return NULL;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	disconnect(s);
	free(s->path);
	free(s);
}
