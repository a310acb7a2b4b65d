/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_bucket_share.c - token buckets that several processes spend together through one file. */
#include "lib/aws/bucket_share.h"

#include "lib/aws/aws.h"
#include "lib/aws/share.h"
#include "lib/base/err.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const struct aws_rates documented;
static const struct bucket_cost one_launch = {.v = {[BUCKET_RUN] = 1, [BUCKET_RUN_INSTANCES] = 100}};
static const struct bucket_cost nothing_but_a_read = {.v = {[BUCKET_READ] = 1}};

static struct bucket_share *open_share(const char *path)
{
	struct bucket_share *s = bucket_share_create(&documented, path, 1000);

	assert_non_null(s);
	return s;
}

static char *fresh_path(char **dir)
{
	char *path;

	*dir = test_folder();
	path = file_join(*dir, "rate");
	assert_non_null(path);
	return path;
}

static void drop(char *dir, char *path)
{
	assert_int_equal(file_remove_tree(dir, NULL), 0);
	free(dir);
	free(path);
}

static void two_spend_one_bucket(void **state)
{
	char *dir, *path = fresh_path(&dir);
	struct bucket_share *a = open_share(path), *b = open_share(path);
	struct stat st;

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_int_equal(bucket_share_take(i % 2 ? a : b, &one_launch, 1000), 0);
	assert_int_equal(bucket_share_take(a, &one_launch, 1000), 500);
	assert_int_equal(bucket_share_take(b, &one_launch, 1250), 250);
	assert_int_equal(bucket_share_take(b, &one_launch, 1500), 0);
	bucket_share_refund(b, &one_launch, 1500);
	assert_int_equal(bucket_share_take(a, &one_launch, 1500), 0);
	assert_int_equal(bucket_share_take(b, &nothing_but_a_read, 1500), 0);
	bucket_share_empty(a, BUCKET_READ, 1500);
	assert_int_equal(bucket_share_take(b, &nothing_but_a_read, 1500), 50);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	bucket_share_destroy(a);
	bucket_share_destroy(b);
	drop(dir, path);
}

/* All or nothing: a bucket that is short takes nothing out of the other. */
static void nothing_is_taken_by_halves(void **state)
{
	static const struct bucket_cost large = {.v = {[BUCKET_RUN] = 1, [BUCKET_RUN_INSTANCES] = 1500}};
	struct bucket_share *s = open_share(NULL);

	(void)state;
	assert_int_equal(bucket_share_take(s, &large, 1000), 0); /* more than the bucket holds can still go */
	for (int i = 0; i < 20; i++)
		assert_true(bucket_share_take(s, &one_launch, 1000) > 250000);
	assert_int_equal(bucket_share_take(s, &(struct bucket_cost){.v = {[BUCKET_RUN] = 4}}, 1000), 0);
	bucket_share_destroy(s);
}

static void no_limit(void **state)
{
	struct aws_rates none = {.launch_requests = {-1, 0}, .launch_instances = {-1, 0}, .reads = {3, 1}};
	struct bucket_share *s = bucket_share_create(&none, NULL, 1000);

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(bucket_share_take(s, &one_launch, 1000), 0);
	bucket_share_empty(s, BUCKET_RUN, 1000);
	assert_int_equal(bucket_share_take(s, &one_launch, 1000), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(bucket_share_take(s, &nothing_but_a_read, 1000), 0);
	assert_int_equal(bucket_share_take(s, &nothing_but_a_read, 1000), 1000);
	bucket_share_destroy(s);
}

/* What the file may be found as; the buckets start full then, and are shared again. */
static void damaged_files(void **state)
{
	static const char *const rows[] = {"", "x", "SEBUCK1", "SEBUCK1\0another boot"};
	char *dir, *path = fresh_path(&dir);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[200] = "";
		struct bucket_share *a, *b;

		memcpy(text, rows[i], i == 3 ? 20 : strlen(rows[i]));
		assert_int_equal(file_replace(path, 0600, text, i == 3 ? sizeof text : strlen(rows[i]), NULL), 0);
		a = open_share(path);
		b = open_share(path);
		for (int k = 0; k < 5; k++)
			assert_int_equal(bucket_share_take(a, &one_launch, 1000), 0);
		assert_int_equal(bucket_share_take(b, &one_launch, 1000), 500);
		bucket_share_destroy(a);
		bucket_share_destroy(b);
	}
	drop(dir, path);
}

/* No folder, a folder or file open to others, a link, a lock that is never given back: each goes on alone. */
static void alone(struct bucket_share *s)
{
	for (int i = 0; i < 5; i++)
		assert_int_equal(bucket_share_take(s, &one_launch, 1000), 0);
	assert_int_equal(bucket_share_take(s, &one_launch, 1000), 500);
	bucket_share_destroy(s);
}

static void without_a_usable_file(void **state)
{
	char *dir, *path = fresh_path(&dir), *deep = file_join(dir, "no/such/rate"), *elsewhere = file_join(dir, "target");
	int fd;

	(void)state;
	alone(open_share(deep));
	assert_int_equal(chmod(dir, 0750), 0);
	alone(open_share(path));
	assert_false(file_exists(path));
	assert_int_equal(chmod(dir, 0700), 0);
	assert_int_equal(symlink(elsewhere, path), 0);
	alone(open_share(path));
	assert_false(file_exists(elsewhere));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(file_replace(path, 0644, "", 0, NULL), 0);
	alone(open_share(path));
	assert_int_equal(unlink(path), 0);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	alone(open_share(path));
	close(fd);
	free(deep);
	free(elsewhere);
	drop(dir, path);
}

static void deleted_file_is_made_again(void **state)
{
	char *dir, *path = fresh_path(&dir);
	struct bucket_share *a = open_share(path), *b;

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_int_equal(bucket_share_take(a, &one_launch, 1000), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(bucket_share_take(a, &one_launch, 1000), 500);
	b = open_share(path);
	assert_int_equal(bucket_share_take(b, &one_launch, 1000), 500);
	bucket_share_destroy(a);
	bucket_share_destroy(b);
	drop(dir, path);
}

/* A time ahead of ours is another machine's or another boot's: it must not stop the refill. */
static void time_of_another_clock(void **state)
{
	char *dir, *path = fresh_path(&dir);
	struct bucket_share *a = bucket_share_create(&documented, path, 5000000), *b;

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_int_equal(bucket_share_take(a, &one_launch, 5000000), 0);
	b = open_share(path);
	assert_int_equal(bucket_share_take(b, &one_launch, 1000), 0);
	bucket_share_destroy(a);
	bucket_share_destroy(b);
	drop(dir, path);
}

/* A limit that is set where there was none begins with a full bucket. */
static void no_limit_before(void **state)
{
	static const struct aws_rates none = {.launch_requests = {-1, 0}};
	char *dir, *path = fresh_path(&dir);
	struct bucket_share *a = bucket_share_create(&none, path, 1000), *b;

	(void)state;
	assert_int_equal(bucket_share_take(a, &one_launch, 1000), 0);
	b = open_share(path);
	for (int i = 0; i < 5; i++)
		assert_int_equal(bucket_share_take(b, &one_launch, 1000), 0);
	assert_int_equal(bucket_share_take(b, &one_launch, 1000), 500);
	bucket_share_destroy(a);
	bucket_share_destroy(b);
	drop(dir, path);
}

/* Nor can a time be before the boot: the refill since then would be more than a number holds. */
static void time_before_the_boot(void **state)
{
	enum { WORDS = 2 * BUCKET_KINDS };
	char *dir, *path = fresh_path(&dir);
	struct bucket_share *a = open_share(path), *b = open_share(path);
	int64_t least[WORDS];
	int fd;

	(void)state;
	for (size_t i = 0; i < WORDS; i++)
		least[i] = INT64_MIN;
	assert_int_equal(bucket_share_take(a, &one_launch, 1000), 0);
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	assert_true(lseek(fd, -(off_t)sizeof least, SEEK_END) > 0);
	assert_int_equal(write(fd, least, sizeof least), sizeof least);
	close(fd);
	assert_int_equal(bucket_share_take(b, &one_launch, 1000), 0);
	bucket_share_destroy(a);
	bucket_share_destroy(b);
	drop(dir, path);
}

static void folder_is_made(void **state)
{
	char *dir = test_folder(), *path = file_join(dir, "aws/rate");
	struct bucket_share *s = open_share(path);
	char *folder = file_join(dir, "aws");
	struct stat st;

	(void)state;
	assert_int_equal(bucket_share_take(s, &one_launch, 1000), 0);
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	bucket_share_destroy(s);
	free(folder);
	drop(dir, path);
}

#define PROCESSES 50
#define TAKES 40

/* Fifty at once at one moment: exactly as many tokens go out as there are. */
static void fifty_processes(void **state)
{
	static const struct aws_rates many_reads = {.reads = {PROCESSES * TAKES / 2, 1}};
	char *dir, *path = fresh_path(&dir);
	int go[2], taken = 0;
	char c;

	(void)state;
	assert_int_equal(pipe(go), 0);
	for (int i = 0; i < PROCESSES; i++) {
		if (fork())
			continue;
		struct bucket_share *s = bucket_share_create(&many_reads, path, 1000);
		int got = 0;

		close(go[1]);
		if (!s || read(go[0], &c, 1) != 0)
			_exit(100);
		for (int k = 0; k < TAKES; k++)
			got += bucket_share_take(s, &nothing_but_a_read, 1000) == 0;
		_exit(got);
	}
	close(go[0]);
	close(go[1]);
	for (int i = 0; i < PROCESSES; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_true(WIFEXITED(status));
		taken += WEXITSTATUS(status);
	}
	assert_int_equal(taken, PROCESSES * TAKES / 2);
	drop(dir, path);
}

static void names(void **state)
{
	static const char *const rows[][2] = {{"a", "b"}, {"ab", ""}, {"ab", NULL}, {"", "ab"}, {NULL, "ab"}, {"a\nb", NULL}};
	char *seen[COUNT(rows)];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		seen[i] = share_path("/d", "keys", rows[i], 2);
		assert_non_null(seen[i]);
		assert_int_equal(strlen(seen[i]), strlen("/d/keys-") + 32);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(seen[i], seen[k]);
	}
	for (size_t i = 0; i < COUNT(rows); i++)
		free(seen[i]);
}

static void rate_texts(void **state)
{
	static const struct {
		const char *text;
		double size, per_second;
	} good[] = {{"5/2", 5, 2},   {"1000/20", 1000, 20}, {"1/0.5", 1, 0.5}, {"0.5/0.001", 0.5, 0.001},
		    {"none", -1, 0}, {NULL, 0, 0}};
	static const char *const bad[] = {"",	  "5",	   "5/",    "/2",   "0/2", "5/0",   "-1/2",
					  "5/-2", "5 / 2", "5/2/1", "None", "x/y", "1e3/2", "100000000000000000000000000000/1"};
	struct aws_rate r;
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		assert_int_equal(aws_rate_parse(good[i].text, &r, NULL), 0);
		assert_true(r.size == good[i].size && r.per_second == good[i].per_second);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		if (!aws_rate_parse(bad[i], &r, &e))
			fail_msg("\"%s\" was taken", bad[i]);
		assert_non_null(strstr(e.text, "5/2"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(two_spend_one_bucket),
	    cmocka_unit_test(nothing_is_taken_by_halves),
	    cmocka_unit_test(no_limit),
	    cmocka_unit_test(damaged_files),
	    cmocka_unit_test(without_a_usable_file),
	    cmocka_unit_test(deleted_file_is_made_again),
	    cmocka_unit_test(time_of_another_clock),
	    cmocka_unit_test(no_limit_before),
	    cmocka_unit_test(time_before_the_boot),
	    cmocka_unit_test(folder_is_made),
	    cmocka_unit_test(fifty_processes),
	    cmocka_unit_test(names),
	    cmocka_unit_test(rate_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
