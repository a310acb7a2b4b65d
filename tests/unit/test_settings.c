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
	assert_int_equal(s->capacity_retry_s, 60);
	assert_int_equal(s->capacity_retry_limit_s, 1800);
	assert_null(s->launch_rate);
	assert_null(s->run_instances_overrides);
	assert_int_equal(s->n_clouds, 0);
	assert_int_equal(s->n_fallbacks, 0);
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

static void clouds_and_rates(void **state)
{
	struct settings *s = parse("NoProxy: 10.0.0.0/8,.example.test\n"
				   "Queues:\n"
				   "  - Name: far\n"
				   "    Region: eu-west-1\n"
				   "    Profile: away\n"
				   "  - {Name: near, Ec2Endpoint: 'http://127.0.0.1:9'}\n"
				   "LaunchRate: 5/2\n"
				   "LaunchInstancesRate: none\n"
				   "TerminateRate: 0.5/0.25\n"
				   "RunInstancesOverrides: /etc/o.json\n"
				   "CapacityRetry: 2m\n"
				   "CapacityRetryLimit: 1h\n");

	(void)state;
	assert_string_equal(s->no_proxy, "10.0.0.0/8,.example.test");
	assert_int_equal(s->n_clouds, 2);
	assert_string_equal(s->clouds[0].queue, "far");
	assert_string_equal(s->clouds[0].region, "eu-west-1");
	assert_string_equal(s->clouds[0].profile, "away");
	assert_null(s->clouds[0].endpoint);
	assert_int_equal(s->clouds[0].at.line, 3);
	assert_string_equal(s->clouds[1].endpoint, "http://127.0.0.1:9");
	assert_string_equal(s->launch_rate, "5/2");
	assert_string_equal(s->launch_instances_rate, "none");
	assert_string_equal(s->terminate_rate, "0.5/0.25");
	assert_string_equal(s->run_instances_overrides, "/etc/o.json");
	assert_int_equal(s->capacity_retry_s, 120);
	assert_int_equal(s->capacity_retry_limit_s, 3600);
	settings_destroy(s);
}

static void fallbacks(void **state)
{
	struct settings *s = parse("Fallback:\n"
				   "  - Queue: q\n"
				   "    ComputeResource: r\n"
				   "    TimeLimit: 10\n"
				   "    Then:\n"
				   "      - CapacityType: ONDEMAND\n"
				   "        TimeLimit: 20\n"
				   "      - InstanceTypes: [c5.large, c6i.large]\n"
				   "        SubnetIds: [subnet-12345678]\n"
				   "        SpotPrice: 0.5\n"
				   "  - {Queue: q, ComputeResource: s, Then: [{CapacityType: SPOT}]}\n");
	const struct fallback *f = s->fallbacks;

	(void)state;
	assert_int_equal(s->n_fallbacks, 2);
	assert_string_equal(f->queue, "q");
	assert_string_equal(f->resource, "r");
	assert_int_equal(f->time_limit_s, 10);
	assert_int_equal(f->at.line, 2);
	assert_int_equal(f->n_stages, 2);
	assert_true(f->stages[0].has_capacity);
	assert_int_equal(f->stages[0].capacity, CAPACITY_ONDEMAND);
	assert_int_equal(f->stages[0].time_limit_s, 20);
	assert_false(f->stages[1].has_capacity);
	assert_int_equal(f->stages[1].instance_types.n, 2);
	assert_string_equal(f->stages[1].subnet_ids.v[0], "subnet-12345678");
	assert_true(f->stages[1].spot_price > 0.49 && f->stages[1].spot_price < 0.51);
	assert_true(f[1].stages[0].has_capacity);
	assert_int_equal(f[1].stages[0].capacity, CAPACITY_SPOT);
	settings_destroy(s);
}

#define FALLBACK "Fallback:\n  - Queue: q\n    ComputeResource: r\n"
#define RATE_SAYS " is not right; give SIZE/PER_SECOND, two numbers above 0 such as 1000/2, or none\n"

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
		{"CapacityRetry: 2h\n",
		 "s:1:16: error: CapacityRetry: CapacityRetryLimit (1800 s) is less than CapacityRetry (7200 s)\n"},
		{"CapacityRetry: 60\nCapacityRetryLimit: 30\n",
		 "s:2:21: error: CapacityRetryLimit: CapacityRetryLimit (30 s) is less than CapacityRetry (60 s)\n"},
		{"CapacityRetry: soon\nCapacityRetryLimit: 30\n",
		 "s:1:16: error: CapacityRetry: \"soon\" is not a time such as 90, 90s, 2m, 1h or 1d; give seconds from 5 to "
		 "86400\n"},
		{"LaunchRate: 5\n", "s:1:13: error: LaunchRate: \"5\"" RATE_SAYS},
		{"LaunchRate: 5/\n", "s:1:13: error: LaunchRate: \"5/\"" RATE_SAYS},
		{"LaunchRate: 5/2/1\n", "s:1:13: error: LaunchRate: \"5/2/1\"" RATE_SAYS},
		{"LaunchRate: 5/0\n", "s:1:13: error: LaunchRate: \"5/0\"" RATE_SAYS},
		{"LaunchRate: 0.0/1\n", "s:1:13: error: LaunchRate: \"0.0/1\"" RATE_SAYS},
		{"LaunchRate: -5/1\n", "s:1:13: error: LaunchRate: \"-5/1\"" RATE_SAYS},
		{"LaunchRate: 5./1\n", "s:1:13: error: LaunchRate: \"5./1\"" RATE_SAYS},
		{"Queues:\n  - Name: q\n", "s:2:11: error: Queues: queue q: give Region, Profile or Ec2Endpoint\n"},
		{"Queues:\n  - {Name: q, Region: a-1}\n  - {Name: q, Region: b-1}\n",
		 "s:3:12: error: Queues[q].Name: \"q\" stands in line 2 already; each may appear once\n"},
		{"Queues: [{Region: a-1}]\n", "s:1:10: error: Queues[0].Name: is required and missing\n"},
		{FALLBACK, "s:2:5: error: Fallback[0].Then: is required and missing\n"},
		{FALLBACK "    Then: []\n", "s:4:11: error: Fallback[0].Then: the list is too short; at least 1 is needed\n"},
		{FALLBACK "    Then: [{CapacityType: CAPACITY_BLOCK}]\n",
		 "s:4:27: error: Fallback[0].Then[0].CapacityType: \"CAPACITY_BLOCK\" is not one of ONDEMAND, SPOT\n"},
		{FALLBACK "    Then: [{TimeLimit: 5}]\n",
		 "s:4:12: error: Fallback: nothing differs here from what was tried before: give CapacityType, InstanceTypes, "
		 "SubnetIds or SpotPrice\n"},
		{FALLBACK "    Then: [{CapacityType: ONDEMAND, SpotPrice: 1}]\n",
		 "s:4:48: error: Fallback: SpotPrice goes only with CapacityType: SPOT\n"},
		{FALLBACK "    TimeLimit: 20\n    Then: [{CapacityType: ONDEMAND, TimeLimit: 11}]\n",
		 "s:2:5: error: Fallback: the TimeLimits of queue q, compute resource r add up to 31 s, but ResumeTimeLimit is 30 s: "
		 "shorten them, or raise it\n"},
		{FALLBACK "    Then: [{CapacityType: SPOT}]\n  - {Queue: q, ComputeResource: r, Then: [{CapacityType: ONDEMAND}]}\n",
		 "s:5:5: error: Fallback: queue q, compute resource r stand in line 2 already; each pair may appear once\n"},
		{"RunInstancesOverrides: o.json\n",
		 "s:1:24: error: RunInstancesOverrides: \"o.json\" is not right; give an absolute path\n"},
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
		cmocka_unit_test(clouds_and_rates), cmocka_unit_test(fallbacks),
		cmocka_unit_test(unreadable), cmocka_unit_test(example_file), cmocka_unit_test(man_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
