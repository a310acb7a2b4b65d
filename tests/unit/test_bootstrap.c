/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_bootstrap.c - the boot script: what gets in, what is refused, and that a shell and shellcheck accept the result. */
#include "conf/bootstrap.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/proc.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/node/nodeset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char uuid[] = "0f0e0d0c-1111-4222-8333-444455556666", name[] = "demo", head[] = "10.77.0.1", sock[] = "/run/munge/s";

static struct generation good(void)
{
	return (struct generation){.uuid = uuid,
				   .cluster_name = name,
				   .head_address = head,
				   .slurmctld_port = 6817,
				   .munge_socket = sock,
				   .resume_timeout_s = 600};
}

static void test_render(void **state)
{
	(void)state;
	struct generation g = good();
	struct err e;
	char *s = bootstrap_render(&g, &e);

	assert_non_null(s);
	assert_non_null(strstr(s, "\nHEAD='10.77.0.1'\n"));
	assert_non_null(strstr(s, "\nPORT='6817'\n"));
	assert_non_null(strstr(s, "\nCLUSTER='demo'\n"));
	assert_non_null(strstr(s, "\nCLUSTER_ID='0f0e0d0c-1111-4222-8333-444455556666'\n"));
	assert_non_null(strstr(s, "\nMUNGE_SOCKET='/run/munge/s'\n"));
	assert_non_null(strstr(s, "\nTIMEOUT='600'\n"));
	assert_non_null(strstr(s, "\n#@LAUNCH@\n"));
	assert_null(strstr(s, "='@"));
	assert_true(str_prefix(s, "#!/bin/sh\n"));
	assert_true(strlen(s) < 10240);
	free(s);

	g.munge_socket = NULL;
	s = bootstrap_render(&g, &e);
	assert_non_null(s);
	assert_non_null(strstr(s, "\nMUNGE_SOCKET=''\n"));
	free(s);
}

static void test_render_refuses(void **state)
{
	(void)state;
	static char bad[][8] = {"a'b",
				"a b",
				"a\nb",
				"a$b",
				"a`b",
				"a\\b",
				"a\"b",
				"a;b",
				"a\x7f"
				"b",
				"\xc3\xa9",
				"[1-2]"};
	struct err e;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct generation g = good();
		g.head_address = bad[i];
		assert_null(bootstrap_render(&g, &e));
		g = good();
		g.cluster_name = bad[i];
		assert_null(bootstrap_render(&g, &e));
		assert_non_null(strstr(e.text, "the cluster's name"));
		g = good();
		g.munge_socket = bad[i];
		assert_null(bootstrap_render(&g, &e));
	}
	struct generation g = good();
	g.head_address = NULL;
	assert_null(bootstrap_render(&g, &e));
	assert_non_null(strstr(e.text, "the head node's address"));
	char empty[] = "";
	g.head_address = empty;
	assert_null(bootstrap_render(&g, &e));
}

static void test_launch(void **state)
{
	(void)state;
	static const char *const nodes[] = {"q1-dy-a-3", "q1-dy-a-4", "q1-dy-a-1"};
	static const char *const strange[] = {"q1-dy-a-3'; reboot '"};
	struct generation g = good();
	struct err e;
	char *base = bootstrap_render(&g, &e);
	char *s = bootstrap_launch(base, "l-0123456789abcdef", nodes, 3, &e);

	assert_non_null(s);
	char *list = nodeset_text_of(nodes, 3);
	char *lines = str_fmt("\nLAUNCH='l-0123456789abcdef'\nNODES='%s'\n", list);
	assert_non_null(strstr(s, lines));
	free(list);
	free(lines);
	assert_null(strstr(s, "@LAUNCH@"));
	/* the launch's lines come after the empty ones */
	assert_true(strstr(s, "\nLAUNCH='l-0") > strstr(s, "\nLAUNCH=''\n"));
	free(s);

	assert_null(bootstrap_launch(base, "l-0'x", nodes, 3, &e));
	assert_null(bootstrap_launch(base, "", nodes, 3, &e));
	assert_null(bootstrap_launch(base, "l-0", strange, 1, &e));
	assert_null(bootstrap_launch("#!/bin/sh\n", "l-0", nodes, 3, &e));
	assert_non_null(strstr(e.text, "slurm-ec2 apply"));
	free(base);
}

/* Nodes whose numbers have gaps: the list cannot be folded. */
static void test_launch_too_large(void **state)
{
	(void)state;
	enum { COUNT = 3000 };
	struct generation g = good();
	struct strs nodes = {0};
	struct err e;
	char *base = bootstrap_render(&g, &e);

	for (int i = 0; i < COUNT; i++)
		assert_int_equal(strs_addf(&nodes, "q1-dy-a-%d", 2 * i + 1), 0);
	assert_null(bootstrap_launch(base, "l-0", (const char *const *)nodes.v, nodes.n, &e));
	assert_non_null(strstr(e.text, "16384"));
	char *s = bootstrap_launch(base, "l-0", (const char *const *)nodes.v, 500, &e);
	assert_non_null(s);
	free(s);
	free(base);
	strs_clear(&nodes);
}

/* Run a checker over the script; skipped where it is not installed. */
static int check_with(const char *const *argv, const char *script)
{
	char path[] = "/tmp/test_bootstrap.XXXXXX";
	const char *full[8];
	struct buf out = {0};
	struct proc_result r;
	struct err e;
	size_t n = 0;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, script, strlen(script)), strlen(script));
	close(fd);
	for (; argv[n]; n++)
		full[n] = argv[n];
	full[n++] = path;
	full[n] = NULL;
	int rc = proc_run(full, NULL, 60000, &out, &r, &e) < 0 ? -1 : r.exit_code;
	unlink(path);
	if (rc > 0)
		fprintf(stderr, "%s\n", buf_text(&out));
	buf_free(&out);
	return rc;
}

static void test_shell_accepts(void **state)
{
	(void)state;
	static const char *const sh[] = {"sh", "-n", NULL}, *const lint[] = {"shellcheck", NULL};
	static const char *const nodes[] = {"q1-dy-a-1"};
	struct generation g = good();
	struct err e;
	char *base = bootstrap_render(&g, &e);
	char *s = bootstrap_launch(base, "l-0", nodes, 1, &e);

	assert_non_null(s);
	assert_int_equal(check_with(sh, s), 0);
	if (file_exists("/usr/bin/shellcheck"))
		assert_int_equal(check_with(lint, s), 0);
	assert_int_equal(check_with(sh, "if true; then\n"), 2);
	free(s);
	free(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_render),	     cmocka_unit_test(test_render_refuses), cmocka_unit_test(test_launch),
	    cmocka_unit_test(test_launch_too_large), cmocka_unit_test(test_shell_accepts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
