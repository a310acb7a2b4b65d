/* test.h - what each unit test includes: cmocka with what it needs before it, and a scratch folder. */
#ifndef SE_TESTS_UNIT_TEST_H
#define SE_TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka after the four headers above, which it does not include itself */
#include <cmocka.h>

#include "lib/base/file.h"

#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The folders given out: a test that fails leaves by a jump, past its own removal. */
static struct test_kept {
	struct test_kept *next;
	char path[4096];
} *test_kept;
static pid_t test_pid; /* a child that exits takes nothing away */

static inline void test_remove_kept(void)
{
	for (struct test_kept *k = test_kept, *next; k && getpid() == test_pid; k = next) {
		next = k->next;
		file_remove_tree(k->path, NULL);
		free(k);
	}
}

/* A fresh folder for one test; the caller removes it (file_remove_tree). The end of the program takes what failed tests
 * left. */
static inline char *test_folder(void)
{
	const char *base = getenv("TMPDIR");
	struct test_kept *k = calloc(1, sizeof *k);

	assert_non_null(k);
	snprintf(k->path, sizeof k->path, "%s/slurm-ec2-test.XXXXXX", base && *base ? base : "/tmp");
	assert_non_null(mkdtemp(k->path));
	if (!test_kept)
		atexit(test_remove_kept);
	k->next = test_kept;
	test_kept = k;
	test_pid = getpid();
	return strdup(k->path);
}

#endif
