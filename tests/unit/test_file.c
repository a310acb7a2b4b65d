/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_file.c - whole files and folders; a failed replacement leaves the old file and nothing else. */
#include "tests/unit/test.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/str.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *folder;

static int set_up(void **state)
{
	(void)state;
	folder = test_folder();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	file_remove_tree(folder, NULL);
	free(folder);
	return 0;
}

static size_t entries(const char *path)
{
	DIR *d = opendir(path);
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static char *content(const char *path)
{
	struct buf b = {0};
	struct err e = {""};

	if (file_read(path, 1 << 20, &b, &e))
		fail_msg("%s", e.text);
	return buf_take(&b);
}

/* A file of another user is his as soon as it has its name; a link in its place is replaced, its target is left alone. */
static void replace_as(void **state)
{
	char *path = file_join(folder, "f"), *target = file_join(folder, "target");
	struct stat st;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(file_replace(target, 0600, "t", 1, NULL), 0);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(file_replace_as(path, 0640, 65534, 65533, "one", 3, NULL), 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(st.st_uid, 65534);
	assert_int_equal(st.st_gid, 65533);
	assert_int_equal(lstat(target, &st), 0);
	assert_int_equal(st.st_uid, 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(entries(folder), 2);
	free(path);
	free(target);
}

static void replace(void **state)
{
	char *path = file_join(folder, "f"), *text;
	struct stat st;

	(void)state;
	umask(077); /* the mode is the caller's word, not the umask's */
	assert_int_equal(file_replace(path, 0644, "one", 3, NULL), 0);
	umask(022);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(file_replace(path, 0600, "two!", 4, NULL), 0);
	text = content(path);
	assert_string_equal(text, "two!");
	free(text);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(file_replace(path, 0600, "", 0, NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(entries(folder), 1);
	free(path);
}

static void replace_refused(void **state)
{
	char *dir = file_join(folder, "d"), *inside = file_join(dir, "x"), *nowhere = file_join(folder, "none/f");
	struct err e = {""};

	(void)state;
	assert_int_equal(file_mkdirs(dir, 0755, NULL), 0);
	assert_int_equal(file_replace(inside, 0600, "x", 1, NULL), 0);
	assert_int_equal(file_replace(dir, 0600, "x", 1, &e), -1); /* a folder is in the way */
	assert_non_null(strstr(e.text, dir));
	assert_int_equal(entries(folder), 1);
	assert_int_equal(file_replace(nowhere, 0600, "x", 1, &e), -1);
	assert_non_null(strstr(e.text, nowhere));
	assert_int_equal(entries(folder), 1);
	free(nowhere);
	free(inside);
	free(dir);
}

/* The disk is full in the middle: here a limit on the size of files. In a child, for the limit stays. */
static void replace_interrupted(void **state)
{
	char *path = file_join(folder, "f"), *text;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(file_replace(path, 0600, "old", 3, NULL), 0);
	pid = fork();
	if (pid == 0) {
		struct rlimit limit = {4096, 4096};
		char big[8192] = {0};

		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		status = file_replace(path, 0600, big, sizeof big, NULL);
		free(path); /* valgrind looks at the child's end, too */
		_exit(status == -1 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	text = content(path);
	assert_string_equal(text, "old");
	assert_int_equal(entries(folder), 1);
	free(text);
	free(path);
}

static void reading(void **state)
{
	char *path = file_join(folder, "f"), *none = file_join(folder, "none");
	struct buf b = {0};
	struct err e = {""};

	(void)state;
	assert_int_equal(file_replace(path, 0600, "a\0b", 3, NULL), 0);
	buf_str(&b, "before-");
	assert_int_equal(file_read(path, 3, &b, NULL), 0); /* max itself is fine */
	assert_int_equal(b.n, 10);
	assert_memory_equal(b.v, "before-a\0b", 11);
	assert_int_equal(file_read(path, 2, &b, &e), -1);
	assert_non_null(strstr(e.text, "longer than 2 bytes"));
	assert_int_equal(b.n, 10);
	assert_int_equal(file_read(none, 10, &b, &e), -1);
	assert_non_null(strstr(e.text, none));
	assert_int_equal(file_read(folder, 10, &b, &e), -1);
	assert_int_equal(b.n, 10);
	assert_int_equal(file_read("/proc/self/status", 1 << 20, &b, NULL), 0); /* has size 0 and content */
	assert_non_null(strstr(b.v + 11, "SigBlk:"));
	buf_free(&b);
	free(none);
	free(path);
}

static void folders(void **state)
{
	char *deep = file_join(folder, "a//b/c/"), *file = file_join(folder, "file"), *under = file_join(file, "x");
	struct err e = {""};

	(void)state;
	assert_int_equal(file_mkdirs(deep, 0755, NULL), 0);
	assert_int_equal(file_mkdirs(deep, 0755, NULL), 0);
	assert_true(file_exists(deep));
	assert_int_equal(file_replace(file, 0600, "", 0, NULL), 0);
	assert_int_equal(file_mkdirs(file, 0755, &e), -1);
	assert_non_null(strstr(e.text, "is not a folder"));
	assert_int_equal(file_mkdirs(under, 0755, &e), -1);
	assert_false(file_exists(under));
	free(under);
	free(file);
	free(deep);
}

static void removal(void **state)
{
	char *tree = file_join(folder, "tree"), *kept = file_join(folder, "kept"), *inside = file_join(kept, "file");
	char *deep = file_join(tree, "a/b"), *link = file_join(tree, "link"), *dangling = file_join(tree, "dangling");

	(void)state;
	assert_int_equal(file_mkdirs(deep, 0755, NULL), 0);
	assert_int_equal(file_mkdirs(kept, 0755, NULL), 0);
	assert_int_equal(file_replace(inside, 0600, "x", 1, NULL), 0);
	assert_int_equal(symlink(kept, link), 0);
	assert_int_equal(symlink("nowhere", dangling), 0);
	assert_int_equal(file_remove_tree(tree, NULL), 0);
	assert_false(file_exists(tree));
	assert_true(file_exists(inside));
	assert_int_equal(file_remove_tree(tree, NULL), 0); /* absent */
	assert_int_equal(symlink(kept, tree), 0);
	assert_int_equal(file_remove_tree(tree, NULL), 0); /* the link itself, not where it points */
	assert_true(file_exists(inside));
	free(dangling);
	free(link);
	free(deep);
	free(inside);
	free(kept);
	free(tree);
}

static void joining(void **state)
{
	static const struct {
		const char *dir, *name, *path;
	} row[] = {{"/a", "b", "/a/b"}, {"/a/", "b", "/a/b"}, {"/", "b", "/b"}, {"", "b", "/b"}};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		char *path = file_join(row[i].dir, row[i].name);

		assert_string_equal(path, row[i].path);
		free(path);
	}
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {EACH(replace), EACH(replace_as), EACH(replace_refused), EACH(replace_interrupted),
					   EACH(reading), EACH(folders),	 EACH(removal),
					   EACH(joining)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
