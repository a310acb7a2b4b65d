/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_report.c - the figures of one loop in the event log: which plan and which nodes give which, and what is told at debug level
 * only. */
#include "clustermgtd/report.h"

#include "clustermgtd/observe.h"
#include "lib/apply/event.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/jview.h"
#include "lib/base/str.h"
#include "lib/plan/plan.h"
#include "tests/unit/fake_world.h"
#include "tests/unit/test.h"

static struct world w;
static struct observed seen;
static struct kept kept;
static struct plan plan;
static char *folder, *path;

static void open_log(enum event_level most)
{
	event_log_close(w.events);
	unlink(path);
	w.events = event_log_open(path, "clustermgtd", most, NULL);
}

static int set_up(void **state)
{
	(void)state;
	fake_open(&w, false);
	memset(&seen, 0, sizeof seen);
	memset(&kept, 0, sizeof kept);
	memset(&plan, 0, sizeof plan);
	seen.slurm = true;
	folder = test_folder();
	path = file_join(folder, "events");
	open_log(EVENT_INFO);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	event_log_close(w.events);
	w.events = NULL;
	plan_clear(&plan);
	observed_clear(&seen);
	kept_clear(&kept);
	fake_close(&w);
	file_remove_tree(folder, NULL);
	free(path);
	free(folder);
	return 0;
}

/* "TYPE LEVEL detail" of each line but the heartbeat's, joined; caller frees. */
static char *report(void)
{
	struct strs lines = {0}, said = {0};
	struct buf b = {0};
	char *text;

	report_loop(&w, &seen, &kept, &plan, 0, 1000);
	assert_int_equal(file_read(path, 1 << 20, &b, NULL), 0);
	assert_int_equal(strs_split(&lines, buf_text(&b), '\n'), 0);
	for (size_t i = 0; i < lines.n; i++) {
		struct json_object *o = jview_parse(lines.v[i], strlen(lines.v[i]), "line", NULL), *detail = NULL;
		const char *type, *level;

		assert_non_null(o);
		assert_int_equal(jview_str(o, "event-type", &type, NULL) || jview_str(o, "level", &level, NULL) ||
				     jview_member(o, "detail", &detail, NULL), 0);
		if (!str_eq(type, "heartbeat"))
			strs_addf(&said, "%s %s %s", type, level, json_object_to_json_string_ext(detail, JSON_C_TO_STRING_PLAIN));
		json_object_put(o);
	}
	text = strs_join(&said, "\n");
	strs_clear(&lines);
	strs_clear(&said);
	buf_free(&b);
	return text;
}

static void expect_report(const char *want)
{
	char *got = report();

	assert_string_equal(got, want);
	free(got);
}

static void act(enum action_kind kind, const char *code, const char *node)
{
	struct action *a = plan_add(&plan, kind, code);

	a->node = str_dup(node);
}

static struct node *put_node(const char *name, uint32_t is, const char *reason)
{
	struct node *n = nodes_add(&seen.nodes);

	n->name = str_dup(name);
	n->state = is;
	n->reason = str_dup(reason);
	return n;
}

static void nothing_is_quiet(void **state)
{
	(void)state;
	put_node("q-dy-a-1", NS_IDLE | NS_CLOUD | NS_POWERED_DOWN, NULL);
	expect_report("");
}

static void plans(void **state)
{
	static const struct {
		enum action_kind kind;
		const char *code, *node, *want;
	} c[] = {
	    {ACT_NODE_DOWN, "machine-gone", "q-dy-a-1", "invalid-backing-instance-count WARNING {\"count\":1,\"nodes\":\"q-dy-a-1\"}"},
	    {ACT_NODE_DOWN, "machine-stopped", "q-dy-a-1", "invalid-backing-instance-count WARNING {\"count\":1,\"nodes\":\"q-dy-a-1\"}"},
	    {ACT_NODE_DRAIN, "impaired", "q-dy-a-2",
	     "nodes-failing-health-check-count WARNING {\"failure-type\":\"ec2_health_check\",\"count\":1,\"nodes\":\"q-dy-a-2\"}"},
	    {ACT_NODE_DRAIN, "event", "q-dy-a-2",
	     "nodes-failing-health-check-count WARNING {\"failure-type\":\"scheduled_events_check\",\"count\":1,\"nodes\":\"q-dy-a-2\"}"},
	    {ACT_BOOT_FAILED, "resume-timeout", "q-dy-a-2",
	     "protected-mode-error-count WARNING {\"failure-type\":\"dynamic-resume-timeout-error\",\"count\":1,\"nodes\":\"q-dy-a-2\"}"},
	    {ACT_BOOT_FAILED, "resume-timeout", "q-st-a-1",
	     "protected-mode-error-count WARNING {\"failure-type\":\"static-replacement-timeout-error\",\"count\":1,\"nodes\":\"q-st-a-1\"}"},
	    {ACT_BOOT_FAILED, "boot-failed", "q-dy-a-2",
	     "protected-mode-error-count WARNING {\"failure-type\":\"other-bootstrap-error\",\"count\":1,\"nodes\":\"q-dy-a-2\"}"},
	    {ACT_TERMINATE, "powered-down", "q-dy-a-2", ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(c); i++) {
		act(c[i].kind, c[i].code, c[i].node);
		expect_report(c[i].want);
		plan_clear(&plan);
		open_log(EVENT_INFO);
	}
}

/* A node with several actions is one node; a list is a hostlist. */
static void a_node_counts_once(void **state)
{
	(void)state;
	act(ACT_TERMINATE, "machine-gone", "q-dy-a-1");
	act(ACT_UNBIND, "machine-gone", "q-dy-a-1");
	act(ACT_NODE_DOWN, "machine-gone", "q-dy-a-2");
	act(ACT_NODE_DOWN, "machine-gone", "q-dy-a-3");
	expect_report("invalid-backing-instance-count WARNING {\"count\":3,\"nodes\":\"q-dy-a-[1-3]\"}");
}

static void silent_nodes(void **state)
{
	(void)state;
	put_node("q-dy-a-1", NS_DOWN | NS_CLOUD | NS_NO_RESPOND, "Not responding [slurm@2026-01-01T00:00:00]");
	put_node("q-dy-a-2", NS_DOWN | NS_CLOUD | NS_NO_RESPOND, "by hand");
	put_node("q-dy-a-3", NS_IDLE | NS_CLOUD | NS_NO_RESPOND, "Not responding");
	put_node("other1", NS_DOWN | NS_NO_RESPOND, "Not responding");
	expect_report("node-not-responding-down-count WARNING {\"count\":1,\"nodes\":\"q-dy-a-1\"}");
}

static void idle_nodes(void **state)
{
	static const char *const names[] = {"q-dy-a-1", "q-dy-a-2"};
	int64_t now = clock_wall_ms() / 1000;
	char *got;

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		struct node *n = put_node(names[i], NS_IDLE | NS_CLOUD, NULL);

		n->addr = str_dup("10.0.0.1");
		n->last_busy_s = now - 100 * (int64_t)(i + 1);
	}
	got = report();
	assert_true(str_prefix(got, "compute-node-idle-time INFO {\"node-type\":\"dynamic\",\"count\":2,\"longest-idle-time\":20"));
	assert_non_null(strstr(got, "\"longest-idle-node\":\"q-dy-a-2\"}"));
	assert_null(strchr(got, '\n')); /* no static ones */
	free(got);
}

static void at_debug_level(void **state)
{
	static const char *const parts[] = {
	    "invalid-backing-instance-count DEBUG {\"count\":0,\"nodes\":\"\"}",
	    "unhealthy-node DEBUG {\"count\":1,\"nodes\":\"q-dy-a-4\"}",
	    "static-nodes-in-replacement-count DEBUG {\"count\":1,\"nodes\":\"q-st-a-1\"}",
	    "compute-node-state-count DEBUG {\"node-states\":{\"off\":0,\"powering-up\":1,",
	    "cluster-instance-count DEBUG {\"count\":0}",
	};
	char *got;

	(void)state;
	open_log(EVENT_DEBUG);
	seen.instances = &seen.merged;
	put_node("q-st-a-1", NS_ALLOCATED | NS_CLOUD | NS_POWERING_UP, NULL);
	act(ACT_TERMINATE, "powered-down", "q-dy-a-4");
	got = report();
	for (size_t i = 0; i < COUNT(parts); i++) {
		if (!strstr(got, parts[i]))
			fail_msg("no \"%s\" in:\n%s", parts[i], got);
	}
	free(got);
}

/* A source that is away is in each heartbeat, with its beginning. */
static void heartbeats(void **state)
{
	struct buf b = {0};
	char *want;
	char when[25];

	(void)state;
	source_report(&kept.sources, SOURCE_EC2, &(struct err){"no"});
	clock_iso(metrics_degraded_since(&kept, SOURCE_EC2), when);
	report_loop(&w, &seen, &kept, &plan, 2, 1500000);
	assert_int_equal(file_read(path, 1 << 20, &b, NULL), 0);
	want = str_fmt("\"event-type\":\"heartbeat\",\"message\":\"RUNNING, 0 nodes, ec2 degraded since %.5s UTC\","
		       "\"detail\":{\"fleet\":\"RUNNING\",\"loop-ms\":1500,\"actions\":0,\"failed-actions\":2,\"violations\":0,"
		       "\"degraded\":[{\"source\":\"ec2\",\"since\":\"%.17s", when + 11, when);
	if (!strstr(buf_text(&b), want))
		fail_msg("no %s in %s", want, buf_text(&b));
	free(want);
	buf_free(&b);
}

#define EACH(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(nothing_is_quiet), EACH(plans), EACH(a_node_counts_once), EACH(silent_nodes),
	    EACH(idle_nodes),	    EACH(at_debug_level), EACH(heartbeats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
