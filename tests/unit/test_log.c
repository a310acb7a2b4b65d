/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_log.c - one line a message, whatever is in it. */
#include "tests/unit/test.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/log.h"

#include <sys/stat.h>
#include <unistd.h>

static char *folder, *path;

static int set_up(void **state)
{
	(void)state;
	folder = test_folder();
	path = file_join(folder, "log");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	log_close();
	file_remove_tree(folder, NULL);
	free(path);
	free(folder);
	return 0;
}

static void lines(void **state)
{
	struct buf b = {0};
	struct stat st;
	char expect[64];
	const char *p;

	(void)state;
	assert_int_equal(log_open("unit", path, LOG_INFO_LEVEL, NULL), 0);
	log_debug("not shown");
	log_info("two\nlines\x1b[0m \xc3\xa4 %d", 5);
	log_warn("w");
	assert_int_equal(log_open("other", path, LOG_ERROR_LEVEL, NULL), 0); /* again: appends */
	log_warn("not shown");
	log_error("e");
	log_close();
	assert_int_equal(file_read(path, 10000, &b, NULL), 0);
	p = buf_text(&b);
	snprintf(expect, sizeof expect, "Z unit[%ld]: info: two\\x0alines\\x1b[0m \xc3\xa4 5\n", (long)getpid());
	assert_int_equal(strncmp(p + 23, expect, strlen(expect)), 0);
	p = strchr(p, '\n') + 1;
	assert_non_null(strstr(p, "]: warning: w\n"));
	p = strchr(p, '\n') + 1;
	assert_non_null(strstr(p, "Z other["));
	assert_non_null(strstr(p, "]: error: e\n"));
	assert_string_equal(strchr(p, '\n'), "\n");
	assert_null(strstr(buf_text(&b), "not shown"));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777 & ~0640, 0);
	buf_free(&b);
}

/* Whoever starts a program that gives up sees why, also when the log is a file; never twice. */
static void fatal_is_on_stderr_too(void **state)
{
	char *err_path = file_join(folder, "stderr");
	int kept = dup(STDERR_FILENO);
	struct buf b = {0};

	(void)state;
	assert_non_null(freopen(err_path, "w", stderr));
	assert_int_equal(log_open("unit", path, LOG_INFO_LEVEL, NULL), 0);
	log_error("not for stderr");
	log_fatal("no %s", "way");
	log_open("unit", NULL, LOG_INFO_LEVEL, NULL);
	log_fatal("once");
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
	assert_int_equal(file_read(err_path, 10000, &b, NULL), 0);
	assert_int_equal(strncmp(buf_text(&b), "unit: no way\n2", 14), 0);
	assert_non_null(strstr(buf_text(&b), "]: error: once\n"));
	assert_string_equal(strchr(strchr(buf_text(&b), '\n') + 1, '\n'), "\n");
	buf_reset(&b);
	assert_int_equal(file_read(path, 10000, &b, NULL), 0);
	assert_non_null(strstr(buf_text(&b), "]: error: no way\n"));
	buf_free(&b);
	free(err_path);
}

static void unopenable(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(log_open("unit", folder, LOG_ERROR_LEVEL, &e), -1);
	assert_non_null(strstr(e.text, folder));
}

static void levels(void **state)
{
	enum log_level level = LOG_INFO_LEVEL;

	(void)state;
	assert_int_equal(log_level_parse("error", &level), 0);
	assert_int_equal(level, LOG_ERROR_LEVEL);
	assert_int_equal(log_level_parse("warning", &level), 0);
	assert_int_equal(level, LOG_WARN_LEVEL);
	assert_int_equal(log_level_parse("debug", &level), 0);
	assert_int_equal(level, LOG_DEBUG_LEVEL);
	assert_int_equal(log_level_parse("Info", &level), -1);
	assert_int_equal(log_level_parse("", &level), -1);
	assert_int_equal(log_level_parse(NULL, &level), -1);
	assert_int_equal(level, LOG_DEBUG_LEVEL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines),
	    cmocka_unit_test(fatal_is_on_stderr_too),
	    cmocka_unit_test(unopenable),
	    cmocka_unit_test(levels),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
