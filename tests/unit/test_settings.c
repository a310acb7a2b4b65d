/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_settings.c - settings.yaml: defaults, faults, and that example file and man page say what the table says. */
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/problem.h"
#include "lib/base/str.h"
#include "lib/cluster/load.h"
#include "lib/cluster/schema.h"
#include "lib/cluster/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char *read_source(const char *name)
{
	const char *src = getenv("srcdir");
	char *path = str_fmt("%s/%s", src ? src : ".", name);
	struct buf b = {0};
	struct err e;

	if (file_read(path, 1 << 20, &b, &e) < 0)
		fail_msg("%s", e.text);
	free(path);
	return buf_take(&b);
}

static char *print_to_text(void (*print)(FILE *, const void *), const void *arg)
{
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	print(f, arg);
	fclose(f);
	return out;
}

static void print_example(FILE *f, const void *arg)
{
	(void)arg;
	settings_print_example(f);
}

static void print_problems(FILE *f, const void *arg)
{
	problems_print(arg, f);
}

static void check_defaults(const struct settings *s)
{
	assert_null(s->cluster_name);
	assert_string_equal(s->slurm_conf, "/etc/slurm/slurm.conf");
	assert_string_equal(s->slurmctld, "/usr/sbin/slurmctld");
	assert_int_equal(s->slurmctld_restart.n, 3);
	assert_string_equal(s->slurmctld_restart.v[2], "slurmctld");
	assert_null(s->endpoint);
	assert_string_equal(s->imds_endpoint, "http://169.254.169.254");
	assert_false(s->accept_untagged_image);
	assert_int_equal(s->resume_limit_s, 30);
	assert_int_equal(s->loop_s, 60);
	assert_int_equal(s->orphan_grace_s, 120);
	assert_int_equal(s->heartbeat_limit_s, 300);
	assert_int_equal(s->suspend_timeout_s, 30);
	assert_int_equal(s->launch_batch, 500);
	assert_string_equal(s->log_level, "info");
}

static struct settings *parse(const char *text)
{
	struct problems p = {0};
	struct settings *s = settings_parse("s", text, strlen(text), &p);

	assert_int_equal(p.n, 0);
	assert_non_null(s);
	problems_clear(&p);
	return s;
}

static void defaults(void **state)
{
	struct settings *s = settings_create();
	struct problems p = {0};

	(void)state;
	check_defaults(s);
	settings_destroy(s);
	s = settings_load("/nonexistent/settings.yaml", &p);
	assert_int_equal(p.n, 0);
	check_defaults(s);
	settings_destroy(s);
	s = parse("# only a comment\n");
	check_defaults(s);
	settings_destroy(s);
	settings_destroy(NULL);
}

static void given(void **state)
{
	struct settings *s = parse("ClusterName: tux\n"
				   "SlurmctldRestart: [/bin/restart, now]\n"
				   "Ec2Endpoint: http://127.0.0.1:8000\n"
				   "ComputeSecurityGroupIds: [sg-12345678, sg-87654321]\n"
				   "AcceptUntaggedImage: yes\n"
				   "LoopTime: 2m\n"
				   "HeadNodeAddress: fd00::1\n"
				   "Profile: $HOME\n"
				   "LogLevel: debug\n");

	(void)state;
	assert_string_equal(s->cluster_name, "tux");
	assert_int_equal(s->slurmctld_restart.n, 2);
	assert_string_equal(s->slurmctld_restart.v[0], "/bin/restart");
	assert_string_equal(s->endpoint, "http://127.0.0.1:8000");
	assert_int_equal(s->security_group_ids.n, 2);
	assert_true(s->accept_untagged_image);
	assert_int_equal(s->loop_s, 120);
	assert_string_equal(s->head_address, "fd00::1");
	assert_string_equal(s->profile, "$HOME"); /* no variables here */
	assert_string_equal(s->log_level, "debug");
	settings_destroy(s);
}

static void faults(void **state)
{
	static const struct {
		const char *yaml, *says;
	} rows[] = {
		{"LopTime: 5\n", "s:1:1: error: unknown key \"LopTime\"; did you mean \"LoopTime\"?\n"},
		{"LoopTime: 5\nLoopTime: 6\n", "s:2:1: error: LoopTime: duplicate key; it stands in line 1 already\n"},
		{"LoopTime: soon\n",
		 "s:1:11: error: LoopTime: \"soon\" is not a time such as 90, 90s, 2m, 1h or 1d; give seconds from 5 to 3600\n"},
		{"LoopTime: 2h\n", "s:1:11: error: LoopTime: 7200 s is out of range; give seconds from 5 to 3600\n"},
		{"LaunchBatch: 0\n",
		 "s:1:14: error: LaunchBatch: 0 is below the least value 1; give a whole number from 1 to 1000\n"},
		{"SlurmctldRestart: systemctl restart slurmctld\n",
		 "s:1:19: error: SlurmctldRestart: a list is expected here, this is one value; "
		 "write [A, B] or lines that begin with \"- \"\n"},
		{"SlurmctldRestart: []\n", "s:1:19: error: SlurmctldRestart: the list is too short; at least 1 is needed\n"},
		{"SlurmConf: slurm.conf\n", "s:1:12: error: SlurmConf: \"slurm.conf\" is not right; give an absolute path\n"},
		{"Ec2Endpoint: ec2.example.test\n", "s:1:14: error: Ec2Endpoint: \"ec2.example.test\" is not right; give an address that "
						    "begins with http:// or https://\n"},
		{"HeadNodeAddress: head\n", "s:1:18: error: HeadNodeAddress: \"head\" is not right; give an IPv4 or IPv6 address\n"},
		{"LogLevel: loud\nImageId: 5\n", "s:1:11: error: LogLevel: \"loud\" is not one of error, warning, info, debug\n"
						 "s:2:10: error: ImageId: \"5\" is not right; give ami- and 8 or 17 digits or lower-case "
						 "letters\n"},
		{"ClusterName:\n", "s:1:1: error: ClusterName: has no value; give one or leave the key out\n"},
		{"- a\n", "s:1:1: error: a mapping of keys is expected here, this is a list\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct problems p = {0};
		char *got;

		assert_null(settings_parse("s", rows[i].yaml, strlen(rows[i].yaml), &p));
		problems_sort(&p);
		got = print_to_text(print_problems, &p);
		assert_string_equal(got, rows[i].says);
		free(got);
		problems_clear(&p);
	}
}

/* A file that is there but cannot be read is no absent file. */
static void unreadable(void **state)
{
	struct problems p = {0};

	(void)state;
	assert_null(settings_load("/", &p));
	assert_int_equal(problems_count(&p, PROBLEM_ERROR), 1);
	problems_clear(&p);
}

/* Drops the "#" of the lines that are commented-out keys. */
static char *uncomment(const char *text)
{
	struct buf b = {0};

	while (*text) {
		size_t n = strcspn(text, "\n") + 1;

		if (text[0] == '#' && text[1] >= 'A' && text[1] <= 'Z' && text[n - 2] != ':')
			buf_add(&b, text + 1, n - 1);
		text += n;
	}
	return buf_take(&b);
}

static void example_file(void **state)
{
	char *want = print_to_text(print_example, NULL);
	char *have = read_source("examples/settings.yaml");
	char *plain = uncomment(have);
	struct settings *s = parse(plain);

	(void)state;
	assert_string_equal(have, want);
	assert_non_null(strstr(plain, "LoopTime: 60\n"));
	check_defaults(s);
	settings_destroy(s);
	s = parse(have);
	check_defaults(s);
	settings_destroy(s);
	free(plain);
	free(have);
	free(want);
}

/* The page has an entry for each key and for no other. */
static void man_page(void **state)
{
	char *page = read_source("doc/slurm-ec2-settings.5");
	size_t entries = 0;

	(void)state;
	for (size_t i = 0; i < schema_settings.n; i++) {
		const struct key *k = &schema_settings.keys[i];
		char *entry = k->def ? str_fmt(".TP\n.BR %s \" (default: %s)\"\n%s\n", k->name, k->def, k->doc)
				     : str_fmt(".TP\n.B %s\n%s\n", k->name, k->doc);

		if (!strstr(page, entry))
			fail_msg("the page lacks\n%s", entry);
		free(entry);
	}
	for (const char *p = strstr(page, ".TP\n"); p; p = strstr(p + 1, ".TP\n"))
		entries++;
	assert_int_equal(entries, schema_settings.n);
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),   cmocka_unit_test(given),	      cmocka_unit_test(faults),
		cmocka_unit_test(unreadable), cmocka_unit_test(example_file), cmocka_unit_test(man_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
