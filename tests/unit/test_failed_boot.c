/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_failed_boot.c - machines that never served: counted once, their console kept in a bounded number of files, whoever sees it
 * first; and what is barred from being launched for it. */
#include "lib/apply/console.h"
#include "lib/apply/failed_boot.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/node/job.h"
#include "lib/plan/protect.h"
#include "lib/state/store.h"
#include "tests/unit/fake_world.h"
#include "tests/unit/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct world w;
static struct plan p;

static struct action *add(enum action_kind k, const char *node, const char *instance)
{
	struct action *a = plan_add(&p, k, "test");

	a->node = str_dup(node);
	a->instance = str_dup(instance);
	a->generation = -1;
	a->reason = str_dup("why");
	return a;
}

/* As the plan has it: counted, then ended. */
static void add_failed(const char *node, const char *instance)
{
	add(ACT_BOOT_FAILED, node, instance);
	add(ACT_TERMINATE, node, instance);
}

static size_t carry(void)
{
	size_t n = apply_plan(&w, &p, &fake.cloud, clock_mono_ms() + 2000);

	plan_clear(&p);
	return n;
}

static char *console_path(const char *name)
{
	return str_fmt("%s/console/%s", fake_folder(), name);
}

static void file_holds(const char *name, const char *text)
{
	char *path = console_path(name);
	struct buf b = {0};
	struct stat st;

	if (file_read(path, 1 << 20, &b, NULL) < 0)
		fail_msg("%s is not there", name);
	if (!strstr(buf_text(&b), text))
		fail_msg("%s holds %s", name, buf_text(&b));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	buf_free(&b);
	free(path);
}

static size_t files(void)
{
	char *path = console_path("");
	DIR *d = opendir(path);
	size_t n = 0;

	for (struct dirent *x; d && (x = readdir(d));)
		n += x->d_name[0] != '.';
	if (d)
		closedir(d);
	free(path);
	return n;
}

/* The details of the events of a type, one a line. */
static void events_are(const char *type, const char *want)
{
	struct event_query q = {.type = type};
	struct events l = {0};
	struct buf b = {0};

	assert_int_equal(store_events(w.store, &q, &l, NULL), 0);
	for (size_t i = 0; i < l.n; i++) {
		const char *detail = strstr(l.v[i].detail, "/console/");

		buf_fmt(&b, "%s %s %s\n", l.v[i].node, l.v[i].instance, detail ? detail : l.v[i].detail);
	}
	assert_string_equal(buf_text(&b), want);
	buf_free(&b);
	events_clear(&l);
}

static void counts_ends_and_keeps_the_console(void **state)
{
	(void)state;
	fake_open(&w, true);
	kvs_add(&fake.consoles, "i-1", "[ 0.1] Linux\r\nbootstrap: FAILED: no \x1b[31mname\r\nbye\r\n\r\n");
	add_failed("q-dy-a-1", "i-1");
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("ec2 terminate i-1", "ec2 console i-1"); /* ending it waits for nothing */
	assert_string_equal(fake_failures(&w), "q-dy-a-1 i-1 test");
	file_holds("q-dy-a-1.i-1.log", "console of i-1, node q-dy-a-1\n[ 0.1] Linux\r\nbootstrap: FAILED: no \x1b[31mname\r\nbye\r\n");
	events_are("boot-failed", "q-dy-a-1 i-1 test: why\n");
	events_are("boot-console", "q-dy-a-1 i-1 /console/q-dy-a-1.i-1.log: bootstrap: FAILED: no  [31mname\n");
	fake_close(&w);
}

/* The loop sees it again while EC2 cannot end it. */
static void counts_a_machine_once(void **state)
{
	(void)state;
	fake_open(&w, true);
	kvs_add(&fake.consoles, "i-1", "x");
	for (int i = 0; i < 3; i++) {
		add_failed("q-dy-a-1", "i-1");
		assert_int_equal(carry(), 0);
	}
	EXPECT_TRACE("ec2 terminate i-1", "ec2 console i-1", "ec2 terminate i-1", "ec2 terminate i-1");
	assert_string_equal(fake_failures(&w), "q-dy-a-1 i-1 test");
	events_are("boot-failed", "q-dy-a-1 i-1 test: why\n");
	fake_close(&w);
}

static void asks_for_one_a_resource(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake_second_cloud(&w);
	add(ACT_BOOT_FAILED, "q-dy-a-1", "i-1");
	add(ACT_BOOT_FAILED, "q-dy-a-2", "i-2");
	add(ACT_BOOT_FAILED, "far-dy-b-1", "i-3");
	add(ACT_BOOT_FAILED, "q-dy-f-1", "i-4");
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("ec2 console i-1", "ec2 console i-4", "ec2 second console i-3");
	assert_int_equal(files(), 0); /* EC2 had nothing of them */
	assert_string_equal(fake_failures(&w), "q-dy-a-1 i-1 test,q-dy-a-2 i-2 test,far-dy-b-1 i-3 test,q-dy-f-1 i-4 test");
	fake_close(&w);
}

static void trouble_hinders_nothing(void **state)
{
	(void)state;
	fake_open(&w, true);
	kvs_add(&fake.consoles, "i-1", "!");
	add_failed("q-dy-a-1", "i-1");
	add(ACT_BOOT_FAILED, "q-dy-a-2", NULL);     /* nothing was launched */
	add(ACT_BOOT_FAILED, "other-dy-a-1", "i-9"); /* not ours */
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("ec2 terminate i-1", "ec2 console i-1");
	assert_string_equal(fake_failures(&w), "q-dy-a-1 i-1 test");
	assert_int_equal(files(), 0);
	fake_close(&w);
}

/* One log for all was opened for truncation: each loop emptied it. */
static void test_B57_console_output_is_not_emptied(void **state)
{
	struct err e = {""};
	char *told;

	(void)state;
	fake_open(&w, true);
	kvs_add(&fake.consoles, "i-1", "first");
	kvs_add(&fake.consoles, "i-2", "second");
	add_failed("q-dy-a-1", "i-1");
	carry();
	add_failed("q-dy-a-2", "i-2");
	carry();
	file_holds("q-dy-a-1.i-1.log", "first\n");
	file_holds("q-dy-a-2.i-2.log", "second\n");
	assert_int_equal(console_keep(w.log_folder, "q-dy-a-1", "i-1", "more", 4, &told, &e), 0);
	free(told);
	file_holds("q-dy-a-1.i-1.log", "first\n");
	file_holds("q-dy-a-1.i-1.log", "more\n");
	fake_close(&w);
}

static void names_make_no_paths(void **state)
{
	static const struct {
		const char *node, *instance;
	} bad[] = {{"..", "i-1"}, {"../q", "i-1"}, {"q-dy-a-1", "../../x"}, {"q-dy-a-1", "i-1/x"}, {"", "i-1"},
		   {"q-dy-a-1", ""}, {"q-dy-a-1", "i-1.log"}, {"-q", "i-1"}, {"q\n", "i-1"}};

	(void)state;
	fake_open(&w, true);
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct err e = {""};
		char *told = NULL;

		assert_int_equal(console_keep(w.log_folder, bad[i].node, bad[i].instance, "x", 1, &told, &e), -1);
		assert_true(e.text[0]);
	}
	assert_int_equal(files(), 0);
	fake_close(&w);
}

static void keep_numbered(int i)
{
	char *name = str_fmt("i-%d", i), *file = str_fmt("q-dy-a-1.i-%d.log", i), *path = console_path(file), *told;
	struct timespec t[2] = {{.tv_sec = i}, {.tv_sec = i}};

	assert_int_equal(console_keep(w.log_folder, "q-dy-a-1", name, "x", 1, &told, NULL), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0); /* older than what follows, newer than what was */
	free(told);
	free(path);
	free(file);
	free(name);
}

static void keeps_the_newest_hundred(void **state)
{
	char *path, *told;

	(void)state;
	fake_open(&w, true);
	for (int i = 1; i <= FAILED_BOOT_FILES + 5; i++)
		keep_numbered(i);
	path = console_path("a person's notes");
	assert_int_equal(file_replace(path, 0600, "x", 1, NULL), 0);
	free(path);
	assert_int_equal(console_keep(w.log_folder, "q-dy-a-1", "i-999", "x", 1, &told, NULL), 0);
	free(told);
	assert_int_equal(files(), FAILED_BOOT_FILES + 1);
	path = console_path("q-dy-a-1.i-6.log");
	assert_false(file_exists(path));
	free(path);
	file_holds("q-dy-a-1.i-7.log", "x\n");
	file_holds("q-dy-a-1.i-999.log", "x\n");
	fake_close(&w);
}

static void tells_the_line_that_matters(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"a\nb: failed to mount\nc\n", "b: failed to mount"},
		{"a\n  b  \r\n\r\n   \n", "b  "},
		{"error: one\nerror: two\nlast", "error: two"},
		{"\n\n", ""},
		{"only\0zero", "only zero"},
	};

	(void)state;
	fake_open(&w, true);
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t n = i == COUNT(rows) - 1 ? 9 : strlen(rows[i].text);
		char *told, *line;

		assert_int_equal(console_keep(w.log_folder, "q-dy-a-1", "i-1", rows[i].text, n, &told, NULL), 0);
		line = strstr(told, ".log: ");
		assert_non_null(line);
		line += strlen(".log: ");
		if (strncmp(line, rows[i].want, strlen(line)) || strlen(line) > strlen(rows[i].want))
			fail_msg("\"%s\" became \"%s\"", rows[i].text, line);
		free(told);
	}
	fake_close(&w);
}

/* ---- slurmctld gives a node up, and its ResumeFailProgram is the first to hear of it */

static void suspend(const char *node)
{
	const char *const names[] = {node};

	assert_int_equal(apply_suspend(&w, names, 1, clock_mono_ms() + 2000, NULL), 0);
}

static void asks_to_end(const char *reason, uint32_t node_state, const char *instance)
{
	fake_open(&w, true);
	if (instance) {
		assert_int_equal(store_adopt(w.store, "q-dy-a-1", "l-1", instance, "10.0.0.1", NULL), 1);
		fake_instance(instance, "10.0.0.1", "l-1", INSTANCE_RUNNING);
	}
	fake_node("q-dy-a-1", node_state, "10.0.0.1", "{\"slurm-ec2\":\"l-1\"}")->reason = str_dup(reason);
	kvs_add(&fake.consoles, "i-1", "hangs");
	suspend("q-dy-a-1");
}

static void test_B71_resume_timeout_is_a_failed_boot(void **state)
{
	(void)state;
	asks_to_end("ResumeTimeout reached [slurm@2026-12-01T00:00:00]", NS_DOWN | NS_CLOUD | NS_POWERED_DOWN, "i-1");
	EXPECT_TRACE("ec2 terminate i-1", "slurm q-dy-a-1=203.0.113.1 extra=", "ec2 console i-1");
	assert_string_equal(fake_failures(&w), "q-dy-a-1 i-1 resume-timeout");
	file_holds("q-dy-a-1.i-1.log", "hangs\n");
	/* clustermgtd sees it too */
	add(ACT_BOOT_FAILED, "q-dy-a-1", "i-1")->generation = 2;
	carry();
	assert_string_equal(fake_failures(&w), "q-dy-a-1 i-1 resume-timeout");
	fake_close(&w);
}

/* As libslurm shows it while the job still holds a part of the node. */
static void test_B71_with_its_job_still_there(void **state)
{
	(void)state;
	asks_to_end("ResumeTimeout reached", NS_MIXED | NS_CLOUD | NS_POWERED_DOWN | NS_NO_RESPOND, "i-1");
	assert_string_equal(fake_failures(&w), "q-dy-a-1 i-1 resume-timeout");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "FREE");
	fake_close(&w);
}

static void counts_no_other_end(void **state)
{
	(void)state;
	asks_to_end("ResumeTimeout reached", NS_IDLE | NS_POWERING_DOWN, "i-1");
	assert_string_equal(fake_failures(&w), "");
	fake_close(&w);
	asks_to_end("ResumeTimeout reached", NS_IDLE | NS_POWERED_DOWN, "i-1");
	assert_string_equal(fake_failures(&w), "");
	fake_close(&w);
	asks_to_end("by hand", NS_DOWN | NS_POWERED_DOWN, "i-1");
	assert_string_equal(fake_failures(&w), "");
	fake_close(&w);
	asks_to_end(NULL, NS_DOWN | NS_POWERED_DOWN, "i-1");
	assert_string_equal(fake_failures(&w), "");
	fake_close(&w);
}

/* Nothing was launched, so nothing failed to boot. */
static void test_B73_no_machine_is_no_failed_boot(void **state)
{
	(void)state;
	asks_to_end("ResumeTimeout reached", NS_DOWN | NS_CLOUD | NS_POWERED_DOWN, NULL);
	assert_string_equal(fake_failures(&w), "");
	fake_close(&w);
}

/* ---- what follows */

static void fail_boots(const char *resource, int n)
{
	for (int i = 1; i <= n; i++) {
		char *node = str_fmt("q-dy-%s-%d", resource, i), *instance = str_fmt("i-%s%d", resource, i);
		struct failure f = {.queue = (char *)"q", .resource = (char *)resource, .node = node, .instance = instance,
				    .code = (char *)"test", .time_ms = clock_wall_ms() - 1000 + i};

		assert_int_equal(store_failure_add(w.store, &f, NULL), 1);
		free(node);
		free(instance);
	}
}

static void carries_the_clearing_out(void **state)
{
	struct action *a;

	(void)state;
	fake_open(&w, true);
	fail_boots("a", 2);
	fail_boots("f", 1);
	a = add(ACT_FAILURES_CLEAR, NULL, NULL);
	a->resource = str_dup("q/a");
	a->word = str_fmt("%lld", (long long)clock_wall_ms());
	a = add(ACT_FAILURES_CLEAR, "q-dy-a-2", NULL);
	a->resource = str_dup("q/a");
	a->word = str_fmt("%lld", (long long)clock_wall_ms());
	assert_int_equal(carry(), 0);
	assert_string_equal(fake_failures(&w), "q-dy-a-1 i-a1 test over,q-dy-f-1 i-f1 test");
	add(ACT_FAILURES_CLEAR, NULL, NULL); /* without its resource */
	assert_int_equal(carry(), 1);
	fake_close(&w);
}

/* list: the nodes of one job, 7. */
static void resume(const char *list)
{
	struct resume_request q = {0};
	struct resume_job *j = resume_request_add_job(&q);

	j->id = 7;
	j->priority = -1;
	assert_int_equal(strs_split(&j->nodes, list, ','), 0);
	assert_int_equal(strs_copy(&q.nodes, &j->nodes), 0);
	assert_int_equal(apply_resume(&w, &q, clock_mono_ms() + 2000, NULL), 0);
	resume_request_clear(&q);
}

static void protected_world(int failures)
{
	fake_open(&w, true);
	w.settings->protected_count = 3;
	fail_boots("a", failures);
}

static void launches_nothing_that_is_protected(void **state)
{
	(void)state;
	protected_world(3);
	resume("q-dy-a-1,q-dy-f-1");
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 q-dy-f-1=203.0.113.1 extra=",
		     "slurm q-dy-a-1 state=1 (Code:BootFailures)Failure when resuming nodes: " REASON_PROTECTED,
		     "slurm q-dy-f-1 state=1 (Code:LimitedInstanceCapacity)Failure when resuming nodes", "comment 7 slurm-ec2: BootFailures: *");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "");
	fake_close(&w);
}

static void launches_what_is_not(void **state)
{
	(void)state;
	protected_world(2);
	resume("q-dy-a-1");
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=", "ec2 run min 1 max 1", "slurm q-dy-a-1=10.0.0.1 *");
	fake_close(&w);

	protected_world(3);
	fake_node("q-dy-a-9", NS_ALLOCATED, "10.0.0.9", NULL); /* a job runs */
	resume("q-dy-a-1");
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=", "ec2 run min 1 max 1", "slurm q-dy-a-1=10.0.0.1 *");
	fake_close(&w);

	protected_world(3);
	w.settings->protected_count = 0;
	resume("q-dy-a-1");
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=", "ec2 run min 1 max 1", "slurm q-dy-a-1=10.0.0.1 *");
	fake_close(&w);

	protected_world(3);
	fake.slurm_away = true; /* perhaps a job runs: it is not known */
	resume("q-dy-a-1");
	EXPECT_TRACE("ec2 run min 1 max 1");
	fake_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_ends_and_keeps_the_console),
	    cmocka_unit_test(counts_a_machine_once),
	    cmocka_unit_test(asks_for_one_a_resource),
	    cmocka_unit_test(trouble_hinders_nothing),
	    cmocka_unit_test(test_B57_console_output_is_not_emptied),
	    cmocka_unit_test(names_make_no_paths),
	    cmocka_unit_test(keeps_the_newest_hundred),
	    cmocka_unit_test(tells_the_line_that_matters),
	    cmocka_unit_test(test_B71_resume_timeout_is_a_failed_boot),
	    cmocka_unit_test(test_B71_with_its_job_still_there),
	    cmocka_unit_test(counts_no_other_end),
	    cmocka_unit_test(test_B73_no_machine_is_no_failed_boot),
	    cmocka_unit_test(carries_the_clearing_out),
	    cmocka_unit_test(launches_nothing_that_is_protected),
	    cmocka_unit_test(launches_what_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
