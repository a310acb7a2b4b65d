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

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A fresh folder for one test program; the caller removes it (file_remove_tree). */
static inline char *test_folder(void)
{
	const char *base = getenv("TMPDIR");
	char path[4096];

	snprintf(path, sizeof path, "%s/slurm-ec2-test.XXXXXX", base && *base ? base : "/tmp");
	assert_non_null(mkdtemp(path));
	return strdup(path);
}

#endif
