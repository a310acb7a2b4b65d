/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_status.c - what `slurm-ec2 status` says, as text and as JSON. The texts are in tests/data/cli. */
#include "cli/status.h"
#include "lib/base/buf.h"
#include "lib/node/name.h"
#include "tests/unit/look_world.h"
#include "tests/unit/test.h"

#include <json-c/json.h>

/* The longest names that ParallelCluster takes. */
#define LONG_QUEUE "a-queue-with-a-long-name1"
#define LONG_RESOURCE "resource-with-a-long-name"
#define LONG_NODE LONG_QUEUE "-dy-" LONG_RESOURCE "-"

static void expect(struct status *s, const struct status_show *show, const char *name)
{
	char *text;

	world_done(&s->look);
	assert_int_equal(status_judge(s), 0);
	text = status_text(s, show);
	expect_text(text, name);
	free(text);
}

static void finish(struct status *s)
{
	instances_clear(&s->look.instances);
	healths_clear(&s->look.healths);
	status_clear(s);
}

static void quiet(void **state)
{
	struct status s = {0};

	(void)state;
	world_create(&s.look);
	world_resource(&s.look, "queue1", "t2micro", "t2.micro", 10);
	expect(&s, &(struct status_show){0}, "status-quiet.txt");
	finish(&s);
}

static void wake(struct look *l, const char *resource, int first, int last, int64_t age)
{
	for (int i = first; i <= last; i++) {
		char *node = node_name_format(LONG_QUEUE, resource, false, i), id[24];

		snprintf(id, sizeof(id), "i-%017x", (unsigned)(l->instances.n + 1));
		world_node(l, node, WAKING, NULL);
		world_machine(l, id, LONG_QUEUE, resource, node, age);
		free(node);
	}
}

static void busy_queues(struct look *l)
{
	char queue[32], node[96];

	world_resource(l, LONG_QUEUE, LONG_RESOURCE, "t2.micro", 40);
	for (int i = 2; i <= 12; i++) {
		snprintf(queue, sizeof(queue), "queue%d", i);
		world_resource(l, queue, i % 2 ? "gpu" : "spot-of-many-kinds", "p4d.24xlarge", i == 12 ? 2000 : 20);
		snprintf(node, sizeof(node), "%s-dy-%s-1", queue, i % 2 ? "gpu" : "spot-of-many-kinds");
		world_node(l, node, i % 3 ? NS_MIXED | NS_CLOUD : NS_IDLE | NS_CLOUD, NULL);
	}
	world_node(l, "queue2-dy-spot-of-many-kinds-3", NS_DOWN | NS_CLOUD | NS_POWERED_DOWN, "somebody said so");
	world_node(l, "queue2-dy-spot-of-many-kinds-4", NS_IDLE | NS_CLOUD | NS_POWERING_DOWN, NULL);
}

static void busy_boots(struct look *l)
{
	static const char *const asked[] = {LONG_NODE "20", LONG_NODE "21", LONG_NODE "22"};

	wake(l, LONG_RESOURCE, 1, 1, 125 * MINUTE_MS);
	for (int i = 2; i < 18; i += 2) /* a list with holes */
		wake(l, LONG_RESOURCE, i, i, 12 * MINUTE_MS);
	wake(l, LONG_RESOURCE, 25, 30, 30000);
	for (size_t i = 0; i < COUNT(asked); i++)
		world_node(l, asked[i], WAKING, NULL);
	world_launch(l, "l-0123456789abcdef02", LONG_QUEUE, LONG_RESOURCE, 34000, asked, COUNT(asked));
	world_node(l, LONG_NODE "33", WAKING, NULL);
}

static void busy_trouble(struct look *l)
{
	struct health *h = healths_add(&l->healths);
	struct violation *v = calloc(1, sizeof(*v));
	struct slurmctl_job_info *j;

	world_shortage(l, "p4d.24xlarge", "ap-northeast-1a", 40000, 80000);
	world_shortage(l, "t2.micro", ZONE_ANY, 3 * MINUTE_MS, -1000);
	for (int i = 0; i < 11; i++)
		world_failure(l, "queue3", "gpu", i % 2 ? "queue3-dy-gpu-7" : "queue3-dy-gpu-8", "i-0badbadbadbadbad0",
			      (20 - i) * MINUTE_MS);
	/* the newest machine is of gpu-8, and only of gpu-7 it was saved what the console said */
	assert_int_equal(strs_add(&l->consoles, "queue3-dy-gpu-88.i-0badbadbadbadbad0.log") |
			     strs_add(&l->consoles, "queue3-dy-gpu-7.i-0badbadbadbadbad0.log"),
			 0);
	world_machine(l, "i-0aaaaaaaaaaaaaaa1", "queue4", "spot-of-many-kinds", NULL, 5 * MINUTE_MS);
	world_machine(l, "i-0aaaaaaaaaaaaaaa2", "queue4", "spot-of-many-kinds", NULL, MINUTE_MS);
	world_action(l, ACT_TERMINATE, "orphan", NULL, "no node has this machine")->instance = strdup("i-0aaaaaaaaaaaaaaa1");
	assert_true(h && v);
	h->instance = strdup("i-00000000000000001");
	h->system_impaired = true;
	h->impaired_since_ms = NOW_MS - 4 * MINUTE_MS;
	h->event = strdup("instance-retirement");
	h->event_ms = NOW_MS + 50 * 60 * MINUTE_MS;
	h->event_text = strdup("The instance is running on degraded hardware");
	*v = (struct violation){.code = "node-with-two-machines", .text = strdup("queue5-dy-gpu-1 has i-1 and i-2")};
	l->violations = (struct violations){.v = v, .n = 1, .cap = 1};
	l->held = 40;
	l->in_use = 100;
	j = world_job(l, 4711, "PENDING", SLURMCTL_BAD_CONSTRAINTS, "queue2");
	j->restarts = 1;
	world_job(l, 4712, "PENDING", SLURMCTL_BAD_CONSTRAINTS, "queue2");
	world_source(l, "ec2", 4 * MINUTE_MS, 3 * MINUTE_MS, "RequestLimitExceeded: Request limit exceeded.");
}

static void busy(struct status *s)
{
	struct look *l = &s->look;

	world_create(l);
	busy_queues(l);
	busy_boots(l);
	busy_trouble(l);
	l->protection = calloc(l->gen->n_resources + 1, sizeof(*l->protection));
	assert_non_null(l->protection);
	l->protection[2] =
	    (struct protection){.on = true, .count = 11, .until_ms = NOW_MS + 42 * MINUTE_MS, .code = "boot-failed"};
}

static void busy_cluster(void **state)
{
	struct status s = {0};

	(void)state;
	busy(&s);
	expect(&s, &(struct status_show){0}, "status-busy.txt");
	finish(&s);
}

/* With --all too no line is longer. */
static void busy_cluster_all(void **state)
{
	struct status s = {0};

	(void)state;
	busy(&s);
	expect(&s, &(struct status_show){.all = true}, "status-busy-all.txt");
	finish(&s);
}

static void many_queues(void **state)
{
	struct status s = {0};
	char queue[32];

	(void)state;
	world_create(&s.look);
	for (int i = 1; i <= 500; i++) {
		snprintf(queue, sizeof(queue), "queue%d", i);
		world_resource(&s.look, queue, "r", "t2.micro", 2);
	}
	world_node(&s.look, "queue17-dy-r-1", NS_IDLE | NS_CLOUD, NULL);
	world_node(&s.look, "queue480-dy-r-2", NS_ALLOCATED | NS_CLOUD, NULL);
	expect(&s, &(struct status_show){0}, "status-many.txt");
	finish(&s);
}

static void nothing_answers(void **state)
{
	struct status s = {0};
	struct look *l = &s.look;

	(void)state;
	world_create(l);
	world_resource(l, "queue1", "t2micro", "t2.micro", 10);
	nodes_clear(&l->nodes);
	source_rows_clear(&l->sources);
	free(l->cloud_unread);
	l->cloud_unread = NULL;
	l->has_daemon = false;
	l->slurm_away = strdup("cannot contact the controller");
	l->ec2_away = strdup("DescribeInstances: connection refused");
	l->state_away =
	    strdup("you may not read the state file /var/lib/slurm-ec2/state.db: run this as root or as SlurmUser (slurm)");
	expect(&s, &(struct status_show){0}, "status-away.txt");
	finish(&s);
}

static void stopped_and_dead(void **state)
{
	struct status s = {0};

	(void)state;
	world_create(&s.look);
	world_resource(&s.look, "queue1", "t2micro", "t2.micro", 10);
	world_machine(&s.look, "i-0123456789abcdef0", "queue1", "t2micro", "queue1-dy-t2micro-1", MINUTE_MS);
	world_node(&s.look, "queue1-dy-t2micro-1", NS_ALLOCATED | NS_CLOUD, NULL);
	s.look.fleet = (struct fleet){.status = FLEET_STOPPING, .now = true};
	s.look.fleet_set_ms = NOW_MS - MINUTE_MS;
	s.look.frozen_until_ms = NOW_MS + 90 * MINUTE_MS;
	s.look.daemon = 0;
	s.look.has_healths = false;
	expect(&s, &(struct status_show){.machines = true}, "status-stopped.txt");
	finish(&s);
}

static const struct status_waking *waking(const struct status *s, const char *node)
{
	for (size_t i = 0; i < s->n_waking; i++)
		if (!strcmp(s->waking[i].node->name, node))
			return &s->waking[i];
	return NULL;
}

/* The age of each node that powers up; a job that waits for a node without a machine gives it its age. */
static void B13_ages(void **state)
{
	struct status s = {0};
	struct slurmctl_job_info *j;
	struct look *l = &s.look;

	(void)state;
	world_create(l);
	world_resource(l, "queue1", "t2micro", "t2.micro", 10);
	world_node(l, "queue1-dy-t2micro-1", WAKING | NS_NO_RESPOND, NULL);
	world_node(l, "queue1-dy-t2micro-2", WAKING, NULL);
	world_node(l, "queue1-dy-t2micro-3", WAKING, NULL);
	world_machine(l, "i-0123456789abcdef0", "queue1", "t2micro", "queue1-dy-t2micro-2", 29 * MINUTE_MS);
	j = world_job(l, 17, "RUNNING", "None", "queue1");
	j->configuring = true;
	j->nodes = strdup("queue1-dy-t2micro-[1-2]");
	j->start_s = (NOW_MS - 31 * MINUTE_MS) / 1000;
	world_done(l);
	assert_int_equal(status_judge(&s), 0);
	assert_int_equal(s.n_waking, 3);
	assert_true(waking(&s, "queue1-dy-t2micro-1")->late);
	assert_string_equal(waking(&s, "queue1-dy-t2micro-1")->stage, "no machine");
	assert_int_equal(waking(&s, "queue1-dy-t2micro-2")->since_ms, NOW_MS - 31 * MINUTE_MS);
	assert_string_equal(waking(&s, "queue1-dy-t2micro-2")->stage, "machine boots");
	assert_int_equal(waking(&s, "queue1-dy-t2micro-3")->since_ms, 0);
	assert_false(waking(&s, "queue1-dy-t2micro-3")->late);
	assert_ptr_equal(waking(&s, "queue1-dy-t2micro-3"), &s.waking[2]); /* the oldest first, without age last */
	finish(&s);
}

/* Only after a requeue: else the job asks for what no node has, and its owner is told by Slurm. */
static void b86_jobs_put_aside(void **state)
{
	struct slurmctl_job_info j = {.state = (char *)"PENDING", .reason = (char *)SLURMCTL_BAD_CONSTRAINTS, .restarts = 1};

	(void)state;
	assert_true(status_job_stuck(&j));
	assert_true(status_wants_job(&j, NULL));
	j.restarts = 0;
	assert_false(status_job_stuck(&j));
	j.restarts = 1;
	j.reason = (char *)"Resources";
	assert_false(status_job_stuck(&j));
	j.reason = (char *)SLURMCTL_BAD_CONSTRAINTS;
	j.state = (char *)"RUNNING";
	assert_false(status_job_stuck(&j));
}

static int64_t number(struct json_object *o, const char *key)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(o, key, &v));
	return json_object_get_int64(v);
}

static size_t length(struct json_object *o, const char *key)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(o, key, &v));
	return json_object_array_length(v);
}

static void as_json(void **state)
{
	struct status s = {0};
	struct json_object *o, *r, *fleet;

	(void)state;
	busy(&s);
	world_done(&s.look);
	assert_int_equal(status_judge(&s), 0);
	o = status_json(&s);
	assert_non_null(o);
	assert_int_equal(length(o, "resources"), 12);
	assert_int_equal(length(o, "machines"), s.look.instances.n);
	assert_int_equal(length(o, "powering_up"), s.n_waking);
	assert_int_equal(length(o, "orphans"), 2);
	assert_int_equal(length(o, "stuck_jobs"), 1);
	assert_int_equal(length(o, "violations"), 1);
	assert_int_equal(length(o, "failures"), 11);
	assert_true(json_object_object_get_ex(o, "fleet", &fleet));
	assert_string_equal(json_object_get_string(json_object_object_get(fleet, "status")), "PROTECTED");
	r = json_object_array_get_idx(json_object_object_get(o, "resources"), 2);
	assert_int_equal(number(r, "failures"), 11);
	assert_true(json_object_get_boolean(json_object_object_get(r, "protected")));
	r = json_object_array_get_idx(json_object_object_get(o, "resources"), 0);
	assert_int_equal(number(r, "waking"), 19);
	json_object_put(o);
	finish(&s);
}

/* What could not be asked is not zero. */
static void as_json_away(void **state)
{
	struct status s = {0};
	struct json_object *o, *r;

	(void)state;
	world_create(&s.look);
	world_resource(&s.look, "queue1", "t2micro", "t2.micro", 10);
	s.look.slurm_away = strdup("away");
	s.look.ec2_away = strdup("away");
	s.look.state_away = strdup("away");
	world_done(&s.look);
	assert_int_equal(status_judge(&s), 0);
	o = status_json(&s);
	assert_non_null(o);
	r = json_object_array_get_idx(json_object_object_get(o, "resources"), 0);
	assert_false(json_object_object_get_ex(r, "off", NULL));
	assert_false(json_object_object_get_ex(r, "machines", NULL));
	assert_false(json_object_object_get_ex(r, "launching", NULL));
	assert_false(json_object_object_get_ex(r, "protected", NULL));
	assert_false(json_object_object_get_ex(json_object_object_get(o, "fleet"), "status", NULL));
	json_object_put(o);
	finish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(quiet),	    cmocka_unit_test(busy_cluster),	  cmocka_unit_test(busy_cluster_all),
	    cmocka_unit_test(many_queues),  cmocka_unit_test(nothing_answers),	  cmocka_unit_test(stopped_and_dead),
	    cmocka_unit_test(B13_ages),	    cmocka_unit_test(b86_jobs_put_aside), cmocka_unit_test(as_json),
	    cmocka_unit_test(as_json_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
