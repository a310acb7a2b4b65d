/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_event.c - the event log: a line is one JSON object, whatever the words in it; levels, rotation, a torn line; and what resume
 * tells in it. */
#include "lib/apply/event.h"

#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/jview.h"
#include "lib/base/str.h"
#include "lib/node/job.h"
#include "lib/state/store.h"
#include "tests/unit/fake_world.h"
#include "tests/unit/test.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static struct world w;
static char *folder, *path;

static void lines_are_objects(void **state)
{
	static const struct event_head h = {.cluster = "c", .component = "clustermgtd", .instance = ""};
	static const struct {
		const char *message, *line;
	} c[] = {
	    {"plain", "\"message\":\"plain\""},
	    {NULL, "\"message\":\"\""},
	    {"a \"quoted\" \\ one", "\"message\":\"a \\\"quoted\\\" \\\\ one\""},
	    {"two\nlines\x01", "\"message\":\"two\\nlines\\u0001\""},
	    {"gr\xc3\xbc\xc3\x9f", "\"message\":\"gr\xc3\xbc\xc3\x9f\""},
	    {"cut \xe2\x82", "\"message\":\"cut ??\""},
	    {"\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xff", "\"message\":\"?? ??? ???? ?\""},
	    {"\xf0\x9f\x98\x80", "\"message\":\"\xf0\x9f\x98\x80\""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(c); i++) {
		char *got = event_line(&h, 1764517827023, EVENT_WARNING, "x", c[i].message, NULL);
		char *want = str_fmt("{\"datetime\":\"2025-11-30T15:50:27.023Z\",\"version\":0,\"scheduler\":\"slurm\",\"cluster-name\":\"c\","
				     "\"node-role\":\"HeadNode\",\"component\":\"clustermgtd\",\"level\":\"WARNING\",\"instance-id\":\"\","
				     "\"event-type\":\"x\",%s,\"detail\":{}}\n", c[i].line);

		assert_string_equal(got, want);
		free(got);
		free(want);
	}
}

/* ---- the file */

static int set_up(void **state)
{
	(void)state;
	fake_open(&w, true);
	folder = test_folder();
	path = file_join(folder, "events");
	w.events = event_log_open(path, "resume", EVENT_INFO, NULL);
	assert_non_null(w.events);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	event_log_close(w.events);
	w.events = NULL;
	fake_close(&w);
	file_remove_tree(folder, NULL);
	free(path);
	free(folder);
	return 0;
}

static void read_lines(const char *file, struct strs *out)
{
	struct buf b = {0};

	assert_int_equal(file_read(file, 1 << 20, &b, NULL), 0);
	assert_true(b.n == 0 || b.v[b.n - 1] == '\n');
	assert_int_equal(strs_split(out, buf_text(&b), '\n'), 0);
	buf_free(&b);
}

/* "TYPE message" of each line. */
static void expect_lines(const char *file, const char *want)
{
	struct strs lines = {0}, said = {0};
	char *text;

	read_lines(file, &lines);
	for (size_t i = 0; i < lines.n; i++) {
		struct json_object *o = jview_parse(lines.v[i], strlen(lines.v[i]), "line", NULL);
		const char *type, *message, *component;

		assert_non_null(o);
		assert_int_equal(jview_str(o, "event-type", &type, NULL) || jview_str(o, "message", &message, NULL) ||
				     jview_str(o, "component", &component, NULL),
				 0);
		assert_string_equal(component, "slurm-resume");
		strs_addf(&said, "%s %s", type, message);
		json_object_put(o);
	}
	text = strs_join(&said, "|");
	assert_string_equal(text, want);
	free(text);
	strs_clear(&said);
	strs_clear(&lines);
}

static void both_get_it(void **state)
{
	struct strs jobs = {0}, lines = {0};
	struct events rows = {0};

	(void)state;
	strs_add(&jobs, "7");
	strs_add(&jobs, "18");
	apply_event_jobs(&w, "launch", "q-dy-a-[1-2]", "i-1,i-2", &jobs, "two came");
	read_lines(path, &lines);
	assert_int_equal(lines.n, 1);
	assert_non_null(strstr(lines.v[0], "\"level\":\"INFO\""));
	assert_non_null(strstr(lines.v[0], "\"detail\":{\"nodes\":\"q-dy-a-[1-2]\",\"instances\":[\"i-1\",\"i-2\"],\"jobs\":[7,18]}"));
	assert_int_equal(store_events(w.store, &(struct event_query){.job = "18"}, &rows, NULL), 0);
	assert_int_equal(rows.n, 1);
	assert_string_equal(rows.v[0].jobs, "7,18");
	assert_string_equal(rows.v[0].node, "q-dy-a-[1-2]");
	events_clear(&rows);
	strs_clear(&jobs);
	strs_clear(&lines);
}

static void levels_and_rotation(void **state)
{
	char *old = str_fmt("%s.1", path);
	struct stat st;

	(void)state;
	apply_figure(&w, EVENT_DEBUG, "quiet", "x", NULL);
	apply_figure(&w, EVENT_INFO, "heard", "x", NULL);
	assert_false(event_is_logged(&w, EVENT_DEBUG));
	assert_int_equal(rename(path, old), 0);
	apply_event(&w, "bind", "n", NULL, "to the old one");
	assert_int_equal(event_log_reopen(w.events, EVENT_DEBUG, NULL), 0);
	apply_figure(&w, EVENT_DEBUG, "quiet", "x", NULL);
	expect_lines(old, "heard x|bind to the old one");
	expect_lines(path, "quiet x");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777 & ~0640, 0);
	free(old);
}

/* A folder that is away stops nothing, and what comes back is used. */
static void no_file(void **state)
{
	struct err e = {""};

	(void)state;
	file_remove_tree(folder, NULL);
	assert_int_equal(event_log_reopen(w.events, EVENT_INFO, &e), -1);
	assert_non_null(strstr(e.text, path));
	assert_false(event_is_logged(&w, EVENT_ERROR));
	apply_event(&w, "bind", "n", NULL, "a row only");
	assert_int_equal(file_mkdirs(folder, 0700, NULL), 0);
	assert_int_equal(event_log_reopen(w.events, EVENT_INFO, NULL), 0);
	apply_event(&w, "bind", "n", NULL, "again");
	expect_lines(path, "bind again");
}

/* A full disk cuts a line; the next one is whole again, also after the file was opened anew. */
static void a_torn_line(void **state)
{
	struct rlimit old, small = {0};
	struct strs lines = {0};
	struct json_object *o;
	struct stat st;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	apply_figure(&w, EVENT_INFO, "first", "x", NULL);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	for (int again = 0; again < 2; again++) {
		stat(path, &st);
		small = (struct rlimit){.rlim_cur = (rlim_t)st.st_size + 20, .rlim_max = old.rlim_max};
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
		apply_figure(&w, EVENT_INFO, "cut", "x", NULL);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		if (again)
			assert_int_equal(event_log_reopen(w.events, EVENT_INFO, NULL), 0);
		apply_figure(&w, EVENT_INFO, "whole", "x", NULL);
	}
	read_lines(path, &lines);
	assert_int_equal(lines.n, 5);
	for (size_t i = 0; i < lines.n; i++) {
		o = jview_parse(lines.v[i], strlen(lines.v[i]), "line", NULL);
		assert_int_equal(!o, i == 1 || i == 3);
		json_object_put(o);
	}
	strs_clear(&lines);
}

/* ---- what resume tells */

static void resume(const char *list)
{
	struct resume_request q = {0};
	struct resume_job *j = resume_request_add_job(&q);

	j->id = 7;
	j->priority = -1;
	assert_int_equal(strs_split(&j->nodes, list, ','), 0);
	assert_int_equal(strs_copy(&q.nodes, &j->nodes), 0);
	apply_resume(&w, &q, clock_mono_ms() + 2000, NULL);
	resume_request_clear(&q);
}

static int64_t total(const char *name)
{
	char *key = str_fmt(EVENT_TOTAL_PREFIX "%s", name);
	int64_t n = -1;

	store_counter_add(w.store, key, 0, &n, NULL);
	free(key);
	return n;
}

static void a_launch_and_its_job(void **state)
{
	struct events rows = {0};

	(void)state;
	resume("q-dy-a-1,q-dy-a-2");
	assert_int_equal(store_events(w.store, &(struct event_query){.job = "7"}, &rows, NULL), 0);
	assert_int_equal(rows.n, 3); /* one launch, two binds */
	assert_string_equal(rows.v[0].type, "launch");
	assert_string_equal(rows.v[2].type, "bind");
	events_clear(&rows);
	assert_int_equal(total("launched"), 2);
	assert_int_equal(total("bound"), 2);
	assert_int_equal(total("returned"), 0);
}

static void failures_by_type(void **state)
{
	static const struct {
		const char *code, *type;
		enum aws_class class;
	} c[] = {
	    {"InsufficientInstanceCapacity", "ice-failures", AWS_CAPACITY},
	    {"VcpuLimitExceeded", "vcpu-limit-failures", AWS_QUOTA},
	    {"VolumeLimitExceeded", "volume-limit-failures", AWS_QUOTA},
	    {"UnauthorizedOperation", "iam-policy-errors", AWS_OURS},
	    {"InvalidParameterValue", "other-failures", AWS_OURS},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(c); i++) {
		struct strs lines = {0};
		char *want = str_fmt("\"detail\":{\"failure-type\":\"%s\",\"count\":2,\"error-details\":{\"%s\":{\"count\":2,"
				     "\"nodes\":\"q-dy-a-[1-2]\"}}}", c[i].type, c[i].code);
		bool found = false;

		tear_down(NULL);
		set_up(NULL);
		fake.run_class = c[i].class;
		fake.run_code = c[i].code;
		resume("q-dy-a-1,q-dy-a-2");
		read_lines(path, &lines);
		for (size_t k = 0; k < lines.n; k++)
			found |= strstr(lines.v[k], "\"event-type\":\"node-launch-failure-count\"") && strstr(lines.v[k], want);
		if (!found)
			fail_msg("no %s", want);
		strs_clear(&lines);
		free(want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_are_objects),
	    cmocka_unit_test_setup_teardown(both_get_it, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(levels_and_rotation, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(no_file, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_torn_line, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_launch_and_its_job, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(failures_by_type, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
