/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_cluster_files.c - whole files against what must be said of them: NAME.yaml and NAME.expect. The example files are among
 * them. */
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/problem.h"
#include "lib/base/str.h"
#include "lib/cluster/cluster.h"
#include "lib/cluster/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *get(void *arg, const char *name)
{
	(void)arg;
	if (strcmp(name, "SUBNET_ID") == 0 || strcmp(name, "head_subnet") == 0)
		return "subnet-0123456789abcdef0";
	if (strcmp(name, "FSX_FS_ID") == 0)
		return "fs-0123456789abcdef0";
	return NULL;
}

static char *read_source(const char *dir, const char *name, const char *end, size_t *n)
{
	const char *src = getenv("srcdir");
	char *path = str_fmt("%s/%s/%s%s", src ? src : ".", dir, name, end);
	struct buf b = {0};
	struct err e;

	if (file_read(path, 1 << 20, &b, &e) < 0)
		fail_msg("%s", e.text);
	free(path);
	*n = b.n;
	return buf_take(&b);
}

static char *judged(const char *file, const char *text, size_t n)
{
	struct problems p = {0};
	struct cluster *c = cluster_parse(file, text, n, get, NULL, &p);
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	problems_sort(&p);
	problems_print(&p, f);
	fprintf(f, "%s\n", c ? "ok" : "refused");
	fclose(f);
	cluster_destroy(c);
	problems_clear(&p);
	return out;
}

static void judge(const char *dir, const char *name)
{
	size_t n, m;
	char *file = str_fmt("%s.yaml", name);
	char *text = read_source(dir, name, ".yaml", &n);
	char *want = read_source("tests/data/cluster", name, ".expect", &m);
	char *got = judged(file, text, n);

	assert_string_equal(got, want);
	free(got);
	free(want);
	free(text);
	free(file);
}

static void data_files(void **state)
{
	static const char *const names[] = {"two-types",  "placeholders", "same-column-lists", "much",	     "reservations",
					    "static-mpi", "template",	  "by-memory",	       "six-faults", "quickstart"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		judge("tests/data/cluster", names[i]);
}

static void examples(void **state)
{
	static const char *const names[] = {"quickstart", "several-types"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n;
		char *text = read_source("examples", names[i], ".yaml", &n);
		char *got = judged(names[i], text, n);

		assert_non_null(strstr(got, "ok\n"));
		assert_null(strstr(got, "error:"));
		free(got);
		free(text);
	}
	judge("examples", "workshop");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(data_files), cmocka_unit_test(examples)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
