/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_store_crash.c - the store among many writers, killed writers, damaged, deleted and replaced files. */
#include "tests/unit/test_store.h"

#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/num.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 20
#define ROUNDS 50
#define SHARED_NODES 5

/* Seen by all workers: who holds a node, and how many claims were won. */
struct shared {
	atomic_int holders[SHARED_NODES];
	atomic_long won;
};

static int worker_round(struct store *s, struct shared *m, int id, int round)
{
	int k = (id + round) % SHARED_NODES, rc = 0;
	char *name = str_fmt("L%d-%d", id, round), *node = str_fmt("n-%d", k), *instance = str_fmt("i-%d-%d", id, round);
	struct launch l = make_launch(name, node);

	if (store_launch_claim(s, &l, NULL, NULL)) {
		rc = 1;
	} else if (l.nodes.n) {
		atomic_fetch_add(&m->won, 1);
		if (atomic_fetch_add(&m->holders[k], 1) != 0)
			rc = 2; /* two launches have one node */
		else if (store_bind(s, node, name, instance, NULL, NULL) != 1)
			rc = 3;
		else if (store_counter_add(s, "won", 1, NULL, NULL))
			rc = 4;
		atomic_fetch_sub(&m->holders[k], 1);
		if (!rc && (store_launch_done(s, name, NULL) || store_free(s, node, -1, NULL, NULL) != 1))
			rc = 5;
	}
	launch_clear(&l);
	free(instance);
	free(node);
	free(name);
	return rc;
}

/* Read, then write what was read plus one, as a plain BEGIN could not among many writers. */
static int count_by_hand(struct store *s)
{
	struct kvs found = {0};
	int64_t value = 0;
	int rc = -1;

	if (store_batch_begin(s, NULL))
		return 6;
	if (store_counters(s, "by hand", &found, NULL) == 0 &&
		(found.val.n == 0 || num_i64(found.val.v[0], 0, INT64_MAX, &value, NULL) == 0))
		rc = store_counter_set(s, "by hand", value + 1, NULL);
	kvs_clear(&found);
	return store_batch_end(s, rc, NULL) ? 7 : 0;
}

static int worker(struct shared *m, int id)
{
	struct err note, e;
	struct store *s = store_open(path, &note, &e); /* all at once: one of them makes the file */
	int rc = s ? 0 : 10;

	for (int i = 0; i < ROUNDS && rc == 0; i++)
		rc = worker_round(s, m, id, i);
	for (int i = 0; i < ROUNDS && rc == 0; i++)
		rc = count_by_hand(s);
	store_close(s);
	return rc;
}

static void many_writers(void **state)
{
	struct shared *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct launches open = {0};
	struct store *s;
	int64_t counted = -1;

	(void)state;
	assert_ptr_not_equal(m, MAP_FAILED);
	for (int i = 0; i < WORKERS; i++) {
		if (fork() == 0)
			_exit(worker(m, i));
	}
	for (int i = 0; i < WORKERS; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	s = open_store();
	assert_int_equal(store_counter_add(s, "won", 0, &counted, NULL), 0);
	assert_int_equal(counted, atomic_load(&m->won));
	assert_true(counted >= SHARED_NODES);
	assert_int_equal(store_counter_add(s, "by hand", 0, &counted, NULL), 0);
	assert_int_equal(counted, WORKERS * ROUNDS);
	assert_int_equal(store_launches_open(s, &open, NULL), 0);
	assert_int_equal(open.n, 0);
	store_close(s);
	munmap(m, sizeof *m);
}

/* A writer is killed while its transaction is open: nothing of it is there, the others go on at once. */
static void killed_in_transaction(void **state)
{
	struct store *s = open_store();
	int ready[2];
	char byte;
	pid_t pid;

	(void)state;
	claim(s, "L1", "n-1,n-2", "n-1,n-2", "");
	store_close(s);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		s = open_store();
		if (store_batch_begin(s, NULL) || store_bind(s, "n-1", "L1", "i-1", NULL, NULL) != 1 ||
			store_free(s, "n-2", -1, NULL, NULL) != 1)
			_exit(1);
		(void)!write(ready[1], "x", 1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	s = open_store();
	row_is(s, "n-1", "L L1 - -");
	row_is(s, "n-2", "L L1 - -");
	assert_int_equal(store_bind(s, "n-1", "L1", "i-1", NULL, NULL), 1);
	store_close(s);
}

/* Every launch that is open has all its nodes, every node has its launch. */
static void check_consistent(struct store *s)
{
	struct launches l = {0};
	struct bindings b = {0};
	size_t claimed = 0, waiting = 0;

	assert_int_equal(store_launches_open(s, &l, NULL), 0);
	assert_int_equal(store_bindings(s, &b, NULL), 0);
	for (size_t i = 0; i < l.n; i++) {
		for (size_t j = 0; j < l.v[i].nodes.n; j++, claimed++) {
			const struct binding *one = bindings_find(&b, l.v[i].nodes.v[j]);

			assert_non_null(one);
			assert_string_equal(one->launch, l.v[i].id);
		}
	}
	for (size_t i = 0; i < b.n; i++)
		waiting += b.v[i].state == BINDING_LAUNCHING;
	assert_int_equal(claimed, waiting);
	launches_clear(&l);
	bindings_clear(&b);
}

static void killed_anywhere(void **state)
{
	(void)state;
	store_close(open_store());
	for (int round = 0; round < 10; round++) {
		struct store *s;
		pid_t pid = fork();

		if (pid == 0) {
			s = open_store();
			for (int i = 0;; i++) {
				char *id = str_fmt("L%d-%d", round, i),
				     *nodes = str_fmt("n-%d-%d-1,n-%d-%d-2", round, i, round, i);
				struct launch l = make_launch(id, nodes);

				if (store_launch_claim(s, &l, NULL, NULL) || (i % 2 && store_launch_done(s, id, NULL)))
					_exit(1);
				launch_clear(&l);
				free(id);
				free(nodes);
			}
		}
		clock_sleep_ms(3 + 5 * round); /* some moment, it does not matter which */
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		s = open_store();
		check_consistent(s);
		store_close(s);
	}
}

/* A file of our folder whose name starts so; caller frees. */
static char *file_like(const char *start)
{
	DIR *d = opendir(folder);
	struct dirent *entry;
	char *found = NULL;

	while (!found && (entry = readdir(d)) != NULL)
		if (str_prefix(entry->d_name, start))
			found = file_join(folder, entry->d_name);
	closedir(d);
	return found;
}

static void damaged_at_open(void **state)
{
	static const char junk[] =
		"This is not a database, it is a text that somebody put here by mistake, and it is rather long, so that "
		"SQLite reads a whole header of it.";
	struct err note, e = {""};
	struct store *s;
	struct buf b = {0};
	char *kept;

	(void)state;
	assert_int_equal(file_replace(path, 0640, junk, sizeof junk, NULL), 0);
	assert_null(store_open_readonly(path, &e));
	assert_non_null(strstr(e.text, "damaged"));
	s = store_open(path, &note, &e);
	assert_non_null(s);
	assert_non_null(strstr(note.text, "state.db.damaged-"));
	claim(s, "L1", "n-1", "n-1", "");
	store_close(s);
	kept = file_like("state.db.damaged-");
	assert_non_null(kept);
	assert_int_equal(file_read(kept, 10000, &b, NULL), 0);
	assert_int_equal(b.n, sizeof junk);
	free(kept);
	buf_free(&b);
	s = open_store(); /* said once only */
	row_is(s, "n-1", "L L1 - -");
	store_close(s);
}

static void spoil_pages(void)
{
	char junk[4096];
	struct stat st;
	int fd = open(path, O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	memset(junk, 0x5a, sizeof junk);
	for (off_t at = 4096; at < st.st_size; at += 4096)
		assert_int_equal(pwrite(fd, junk, sizeof junk, at), sizeof junk);
	close(fd);
}

/* The header is good, the tables are not: found when they are read, and then healed by itself. */
static void damaged_inside(void **state)
{
	struct store *s = open_store();
	struct bindings b = {0};
	struct err e = {""};
	char *kept;

	(void)state;
	claim(s, "L1", "n-1,n-2", "n-1,n-2", "");
	store_close(s);
	spoil_pages();
	s = open_store();
	assert_int_equal(store_bindings(s, &b, &e), -1);
	assert_non_null(strstr(e.text, "damaged"));
	assert_int_equal(store_bindings(s, &b, &e), 0);
	assert_int_equal(b.n, 0);
	claim(s, "L2", "n-1", "n-1", "");
	store_close(s);
	kept = file_like("state.db.damaged-");
	assert_non_null(kept);
	free(kept);
	/* the same inside a batch: it fails as a whole, the next one works */
	spoil_pages();
	s = open_store();
	if (store_batch_begin(s, NULL) == 0) {
		(void)!store_free(s, "n-1", -1, NULL, NULL);
		(void)!store_counter_add(s, "x", 1, NULL, NULL);
		assert_int_equal(store_batch_end(s, 0, &e), -1);
	}
	claim(s, "L3", "n-1", "n-1", "");
	row_is(s, "n-1", "L L3 - -");
	store_close(s);
}

/* Somebody deletes the file under a running daemon: daemon and newcomer meet in one new file, with numbers never used before.
 */
static void deleted_while_open(void **state)
{
	static const char *const tail[] = {"", "-wal", "-shm"};
	struct err e = {""};

	(void)state;
	for (size_t n = 1; n <= COUNT(tail); n += 2) { /* only the file; the file and what belongs to it */
		struct store *daemon = open_store(), *newcomer;
		int64_t before;

		claim(daemon, "L1", "n-1", "n-1", "");
		before = generation_of(daemon, "n-1");
		for (size_t i = 0; i < n; i++) {
			char *file = str_fmt("%s%s", path, tail[i]);

			assert_int_equal(file_remove_tree(file, &e), 0);
			free(file);
		}
		newcomer = open_store();
		claim(newcomer, "L2", "n-1,n-2", "n-1,n-2", "");
		claim(daemon, "L3", "n-2,n-3", "n-3", "n-2");
		row_is(newcomer, "n-3", "L L3 - -");
		assert_true(generation_of(daemon, "n-1") > before);
		store_close(daemon);
		row_is(newcomer, "n-1", "L L2 - -");
		store_close(newcomer);
		newcomer = open_store();
		row_is(newcomer, "n-3", "L L3 - -");
		store_close(newcomer);
		assert_int_equal(file_remove_tree(path, &e), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {EACH(many_writers),	  EACH(killed_in_transaction), EACH(killed_anywhere),
					   EACH(damaged_at_open), EACH(damaged_inside),	       EACH(deleted_while_open)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
