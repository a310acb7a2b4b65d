/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_explain.c - what `slurm-ec2 explain` says of nodes and jobs. The texts are in tests/data/cli. */
#include "cli/explain.h"
#include "tests/unit/look_world.h"
#include "tests/unit/test.h"

#include <json-c/json.h>

#define NODE "queue1-dy-t2micro-3"

struct story {
	struct look look;
	struct explain_more more;
	struct explain x;
};

static void begin(struct story *s)
{
	*s = (struct story){0};
	world_create(&s->look);
	world_resource(&s->look, "queue1", "t2micro", "t2.micro", 10);
}

static void end(struct story *s)
{
	explain_more_clear(&s->more);
	explain_clear(&s->x);
	world_clear(&s->look);
}

static void expect(struct story *s, const char *title, const char *name)
{
	char *text = explain_text(&s->x, title);

	expect_text(text, name);
	free(text);
	end(s);
}

static void expect_node(struct story *s, const char *name)
{
	world_done(&s->look);
	explain_node(&s->x, &s->look, &s->more, NODE);
	expect(s, "node " NODE, name);
}

static void expect_job(struct story *s, struct slurmctl_job_info *j, const char *worst, bool ours, const char *name)
{
	const char *got;

	world_done(&s->look);
	got = explain_worst(&s->look, j);
	assert_true(worst ? got && !strcmp(got, worst) : !got);
	explain_job(&s->x, &s->look, &s->more, j, got);
	assert_int_equal(s->x.ours, ours);
	expect(s, "job 17", name);
}

static struct event *event(struct story *s, const char *type, const char *instance, const char *detail)
{
	struct event *v;

	assert_int_equal(mem_grow(&s->more.events.v, &s->more.events.cap, s->more.events.n + 1, sizeof(*v)), 0);
	v = &s->more.events.v[s->more.events.n++];
	*v = (struct event){.time_ms = NOW_MS - 2 * MINUTE_MS, .type = strdup(type), .detail = strdup(detail)};
	v->instance = instance ? strdup(instance) : NULL;
	return v;
}

static struct slurmctl_job_info *waiting_job(struct story *s, const char *nodes)
{
	struct slurmctl_job_info *j = world_job(&s->look, 17, "RUNNING", "None", "queue1");

	j->configuring = true;
	j->nodes = strdup(nodes);
	j->start_s = (NOW_MS - 31 * MINUTE_MS) / 1000;
	return j;
}

/* --- nodes */

static void powered_down(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	expect_node(&s, "explain-off.txt");
}

static void boots_for_long(void **state)
{
	struct story s;
	struct health *h;

	(void)state;
	begin(&s);
	waiting_job(&s, NODE);
	world_node(&s.look, NODE, WAKING | NS_NO_RESPOND, NULL);
	world_machine(&s.look, "i-0123456789abcdef0", "queue1", "t2micro", NODE, 31 * MINUTE_MS);
	h = healths_add(&s.look.healths);
	assert_non_null(h);
	h->instance = strdup("i-0123456789abcdef0");
	h->instance_impaired = true;
	event(&s, "bind", "i-0123456789abcdef0", "launch l-0123456789abcdef01, t2.micro ap-northeast-1a, 10.77.0.9");
	expect_node(&s, "explain-late.txt");
}

static void asks_ec2(void **state)
{
	static const char *const nodes[] = {NODE};
	struct story s;

	(void)state;
	begin(&s);
	assert_int_equal(strs_add(&s.look.gen->resources[0].stages[0].zones, "ap-northeast-1c") |
			     strs_add(&s.look.gen->resources[0].stages[0].subnet_ids, "subnet-0aaaaaaaaaaaaaaa1"),
			 0);
	world_node(&s.look, NODE, WAKING, NULL);
	world_launch(&s.look, "l-0123456789abcdef02", "queue1", "t2micro", 34000, nodes, 1);
	s.look.launches.v[0].error = strdup("RequestLimitExceeded");
	world_shortage(&s.look, "t2.micro", "ap-northeast-1c", 40000, 80000);
	expect_node(&s, "explain-asks.txt");
}

static void out_of_use(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	world_node(
	    &s.look, NODE, NS_DOWN | NS_CLOUD | NS_POWERED_DOWN,
	    "(Code:InsufficientInstanceCapacity)Temporarily disabling node due to insufficient capacity until 03:02 UTC");
	world_shortage(&s.look, "t2.micro", "ap-northeast-1a", 40000, 80000);
	expect_node(&s, "explain-short.txt");
}

/* What a machine's console says is shown as words, whatever is in it. */
static void never_came_up(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	for (int i = 3; i > 0; i--)
		world_failure(&s.look, "queue1", "t2micro", NODE, "i-0badbadbadbadbad0", i * MINUTE_MS);
	world_node(&s.look, NODE, NS_DOWN | NS_CLOUD | NS_POWERED_DOWN, "(Code:BootFailures)" REASON_PROTECTED);
	s.look.protection = calloc(2, sizeof(*s.look.protection));
	assert_non_null(s.look.protection);
	s.look.protection[0] =
	    (struct protection){.on = true, .count = 11, .until_ms = NOW_MS + 42 * MINUTE_MS, .code = "boot-failed"};
	s.more.console = strdup("/var/log/slurm-ec2/console/" NODE ".i-0badbadbadbadbad0.log");
	s.more.console_end = strdup(
	    "[   12.3] systemd: up\n\x1b]0;evil\x07slurm-ec2-bootstrap: FAILED: no node name: uid 999 in this image, 64030 on "
	    "the head node\n");
	event(&s, "boot-failed", "i-0badbadbadbadbad0", "machine-gone: Client.InstanceInitiatedShutdown");
	expect_node(&s, "explain-failed.txt");
}

#define REFUSED_LAUNCH NS_DOWN | NS_CLOUD | NS_POWERING_UP | NS_NO_RESPOND

/* It is DOWN already: ResumeTimeout is not what comes. */
static void launch_was_refused(void **state)
{
	static const struct {
		bool closed, frozen;
		const char *name;
	} vectors[] = {
	    {true, false, "explain-refused.txt"},
	    {false, false, "explain-refused-open.txt"},
	    {false, true, "explain-refused-frozen.txt"},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		begin(&s);
		world_node(&s.look, NODE, REFUSED_LAUNCH, "(Code:InsufficientInstanceCapacity)Failure when resuming nodes");
		if (vectors[i].closed)
			world_shortage(&s.look, "t2.micro", "ap-northeast-1a", 40000, 80000);
		if (vectors[i].frozen)
			s.look.frozen_until_ms = NOW_MS + 15 * MINUTE_MS;
		expect_node(&s, vectors[i].name);
	}
}

/* slurmd is lost, and nobody of us has done anything yet. */
static void slurm_lost_it(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	world_node(&s.look, NODE, NS_DOWN | NS_CLOUD | NS_NO_RESPOND, "Not responding");
	world_machine(&s.look, "i-0123456789abcdef0", "queue1", "t2micro", NODE, 31 * MINUTE_MS);
	expect_node(&s, "explain-lost.txt");
}

/* What holds it is not ours: no row takes it back. */
static void a_person_holds_it(void **state)
{
	static const struct {
		uint32_t state;
		bool machine;
		enum instance_state is;
		const char *reason, *version, *name;
	} vectors[] = {
	    {NS_DOWN | NS_CLOUD | NS_DRAIN, false, 0, "(Code:MachineGone)The machine of this node is gone (was: look at me)",
	     "22.05.8", "explain-held-gone.txt"},
	    {NS_DOWN | NS_CLOUD | NS_FAIL, false, 0, "look at me", "22.05.8", "explain-held-fail.txt"},
	    {NS_IDLE | NS_CLOUD | NS_DRAIN, true, INSTANCE_STOPPED, "look at me", "23.02.1", "explain-held-stopped.txt"},
	    {NS_IDLE | NS_CLOUD | NS_DRAIN, true, INSTANCE_RUNNING, "look at me", "22.05.8", "explain-held-old.txt"},
	    {NS_IDLE | NS_CLOUD | NS_DRAIN, true, INSTANCE_RUNNING, "look at me", "23.02.1", "explain-held.txt"},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		begin(&s);
		free(s.look.gen->slurm_version);
		s.look.gen->slurm_version = strdup(vectors[i].version);
		world_node(&s.look, NODE, vectors[i].state, vectors[i].reason);
		if (vectors[i].machine)
			world_machine(&s.look, "i-0123456789abcdef0", "queue1", "t2micro", NODE, 31 * MINUTE_MS)->state = vectors[i].is;
		expect_node(&s, vectors[i].name);
	}
}

static void its_hold_stays(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	world_node(&s.look, NODE, NS_ALLOCATED | NS_CLOUD | NS_DRAIN, "look at me");
	world_machine(&s.look, "i-0123456789abcdef0", "queue1", "t2micro", NODE, 31 * MINUTE_MS)->state = INSTANCE_TERMINATED;
	world_action(&s.look, ACT_NODE_DOWN, "machine-gone-held", NODE,
		     "(Code:MachineGone)The machine of this node is gone (was: look at me)");
	world_action(&s.look, ACT_UNBIND, "machine-gone-held", NODE, "(Code:MachineGone)The machine of this node is gone");
	expect_node(&s, "explain-held-acts.txt");
}

static void acts_next(void **state)
{
	struct story s;
	struct instance *i;

	(void)state;
	begin(&s);
	world_node(&s.look, NODE, NS_ALLOCATED | NS_CLOUD | NS_NO_RESPOND, NULL);
	i = world_machine(&s.look, "i-0123456789abcdef0", "queue1", "t2micro", NODE, 31 * MINUTE_MS);
	i->state = INSTANCE_TERMINATED;
	i->state_reason = strdup("Server.SpotInstanceTermination");
	world_action(&s.look, ACT_NODE_DOWN, "machine-gone", NODE, "(Code:MachineGone)The machine of this node is gone");
	world_action(&s.look, ACT_UNBIND, "machine-gone", NODE, "The machine of this node is gone");
	world_action(&s.look, ACT_NODE_POWER_DOWN, "machine-gone", NODE, NULL);
	world_action(&s.look, ACT_NODE_POWER_DOWN, "another", "queue1-dy-t2micro-4", NULL);
	expect_node(&s, "explain-acts.txt");
}

static void fleet_is_stopped(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	s.look.fleet.status = FLEET_STOPPED;
	s.look.fleet_set_ms = NOW_MS - 20 * MINUTE_MS;
	s.look.frozen_until_ms = NOW_MS + 15 * 60 * MINUTE_MS;
	expect_node(&s, "explain-stopped.txt");
}

static void ordinary_user(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	world_node(&s.look, NODE, NS_IDLE | NS_CLOUD | NS_DRAIN, "the fan is loud");
	s.look.has_daemon = false;
	s.look.ec2_away = strdup("this part needs root or SlurmUser (slurm)");
	s.look.state_away = strdup("you may not read the state file");
	s.more.events_away = strdup("you may not read the state file");
	s.more.console_away = strdup("/var/log/slurm-ec2/console: Permission denied");
	expect_node(&s, "explain-user.txt");
}

static void nobody_watches(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	world_node(&s.look, NODE, WAKING, NULL);
	s.look.daemon = 0;
	assert_int_equal(kvs_add(&s.look.waits, NODE, "no-machine 1796093990000"), 0);
	expect_node(&s, "explain-unwatched.txt");
}

/* --- jobs */

static void waits_for_capacity(void **state)
{
	struct story s;
	struct slurmctl_job_info *j;
	char node[64];

	(void)state;
	begin(&s);
	for (int i = 3; i <= 10; i++) {
		snprintf(node, sizeof(node), "queue1-dy-t2micro-%d", i);
		world_node(&s.look, node, NS_DOWN | NS_CLOUD | NS_POWERED_DOWN,
			   "(Code:InsufficientInstanceCapacity)Temporarily disabling node due to insufficient capacity until "
			   "03:02 UTC");
	}
	world_node(&s.look, "queue1-dy-t2micro-1", NS_MIXED | NS_CLOUD, NULL);
	world_node(&s.look, "queue1-dy-t2micro-2", NS_DOWN | NS_CLOUD | NS_POWERED_DOWN, "mine");
	world_shortage(&s.look, "t2.micro", "ap-northeast-1a", 40000, 80000);
	j = world_job(&s.look, 17, "PENDING", "BeginTime", "queue0,queue1");
	j->restarts = 1;
	j->eligible_s = (NOW_MS + 100000) / 1000;
	j->admin_comment = strdup("slurm-ec2: InsufficientInstanceCapacity: We do not have what you want.");
	event(&s, "launch-refused", NULL, "launch l-0123456789abcdef02, stage 0, jobs 17: 2 machines for queue1/t2micro: no");
	expect_job(&s, j, NULL, true, "explain-job-capacity.txt");
}

static void waits_for_nodes(void **state)
{
	static const char *const nodes[] = {NODE};
	struct story s;
	struct slurmctl_job_info *j;

	(void)state;
	begin(&s);
	world_node(&s.look, "queue1-dy-t2micro-1", NS_ALLOCATED | NS_CLOUD, NULL);
	world_node(&s.look, "queue1-dy-t2micro-2", WAKING, NULL);
	world_node(&s.look, NODE, WAKING, NULL);
	world_machine(&s.look, "i-0123456789abcdef0", "queue1", "t2micro", "queue1-dy-t2micro-1", 3 * MINUTE_MS);
	world_machine(&s.look, "i-0123456789abcdef1", "queue1", "t2micro", "queue1-dy-t2micro-2", 3 * MINUTE_MS);
	world_launch(&s.look, "l-0123456789abcdef02", "queue1", "t2micro", 34000, nodes, 1);
	assert_int_equal(strs_add(&s.look.dead, "l-0123456789abcdef02"), 0);
	j = waiting_job(&s, "queue1-dy-t2micro-[1-3]");
	j->start_s = (NOW_MS - 3 * MINUTE_MS) / 1000;
	expect_job(&s, j, NODE, true, "explain-job-nodes.txt");
}

static void is_not_ours(void **state)
{
	struct story s;
	struct slurmctl_job_info *j;

	(void)state;
	begin(&s);
	j = world_job(&s.look, 17, "PENDING", "Priority", "queue1");
	expect_job(&s, j, NULL, false, "explain-job-priority.txt");
}

static void stopped_partition(void **state)
{
	struct story s;
	struct partition *p;
	struct slurmctl_job_info *j;

	(void)state;
	begin(&s);
	s.look.fleet.status = FLEET_STOPPED;
	s.look.fleet_set_ms = NOW_MS - 20 * MINUTE_MS;
	p = partitions_add(&s.look.partitions);
	assert_non_null(p);
	p->name = strdup("queue1");
	p->state = PART_DOWN;
	j = world_job(&s.look, 17, "PENDING", "PartitionDown", "queue1");
	expect_job(&s, j, NULL, true, "explain-job-stopped.txt");
}

static void b86_bad_constraints(void **state)
{
	struct story s;
	struct slurmctl_job_info *j;

	(void)state;
	begin(&s);
	j = world_job(&s.look, 17, "PENDING", SLURMCTL_BAD_CONSTRAINTS, "queue1");
	j->restarts = 2;
	expect_job(&s, j, NULL, false, "explain-job-b86.txt");
}

static void ended(void **state)
{
	struct story s;
	struct slurmctl_job_info *j;

	(void)state;
	begin(&s);
	j = world_job(&s.look, 17, "FAILED", "NonZeroExitCode", "queue1");
	j->ended = true;
	j->nodes = strdup(NODE);
	expect_job(&s, j, NULL, false, "explain-job-ended.txt");
}

/* The one that is furthest behind. */
static void worst_of(void **state)
{
	static const char *const asked[] = {"queue1-dy-t2micro-4"};
	struct story s;
	struct slurmctl_job_info *j;

	(void)state;
	begin(&s);
	j = waiting_job(&s, "site-1,queue1-dy-t2micro-[1-5]");
	world_node(&s.look, "site-1", NS_DOWN, "not ours");
	world_node(&s.look, "queue1-dy-t2micro-1", NS_ALLOCATED | NS_CLOUD, NULL);
	world_node(&s.look, "queue1-dy-t2micro-2", NS_ALLOCATED | NS_CLOUD | NS_NO_RESPOND, NULL);
	world_node(&s.look, "queue1-dy-t2micro-3", WAKING, NULL);
	world_node(&s.look, "queue1-dy-t2micro-4", WAKING, NULL);
	world_node(&s.look, "queue1-dy-t2micro-5", NS_ALLOCATED | NS_CLOUD, NULL);
	world_machine(&s.look, "i-0123456789abcdef0", "queue1", "t2micro", "queue1-dy-t2micro-3", MINUTE_MS);
	world_done(&s.look);
	assert_string_equal(explain_worst(&s.look, j), "queue1-dy-t2micro-4"); /* has no machine */
	world_launch(&s.look, "l-1", "queue1", "t2micro", 1000, asked, 1);
	map_clear(&s.look.node), map_clear(&s.look.row), map_clear(&s.look.row_of), map_clear(&s.look.instance);
	world_done(&s.look);
	assert_string_equal(explain_worst(&s.look, j), "queue1-dy-t2micro-4"); /* one that boots is nearer */
	world_node(&s.look, "queue1-dy-t2micro-4", NS_ALLOCATED | NS_CLOUD, NULL);
	assert_string_equal(explain_worst(&s.look, j), "queue1-dy-t2micro-3");
	world_node(&s.look, "queue1-dy-t2micro-3", NS_ALLOCATED | NS_CLOUD, NULL);
	assert_string_equal(explain_worst(&s.look, j), "queue1-dy-t2micro-2");
	world_node(&s.look, "queue1-dy-t2micro-2", NS_ALLOCATED | NS_CLOUD, NULL);
	assert_null(explain_worst(&s.look, j));
	end(&s);
}

static void as_json(void **state)
{
	struct story s;
	struct json_object *o, *lines, *line;

	(void)state;
	begin(&s);
	world_done(&s.look);
	explain_node(&s.x, &s.look, &s.more, NODE);
	o = explain_json(&s.x, "node", NODE);
	assert_non_null(o);
	assert_string_equal(json_object_get_string(json_object_object_get(o, "name")), NODE);
	lines = json_object_object_get(o, "lines");
	assert_int_equal(json_object_array_length(lines), s.x.n);
	line = json_object_array_get_idx(lines, 0);
	assert_string_equal(json_object_get_string(json_object_object_get(line, "source")), SAY_SLURM);
	json_object_put(o);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(powered_down),
	    cmocka_unit_test(boots_for_long),
	    cmocka_unit_test(asks_ec2),
	    cmocka_unit_test(out_of_use),
	    cmocka_unit_test(never_came_up),
	    cmocka_unit_test(launch_was_refused),
	    cmocka_unit_test(slurm_lost_it),
	    cmocka_unit_test(a_person_holds_it),
	    cmocka_unit_test(its_hold_stays),
	    cmocka_unit_test(acts_next),
	    cmocka_unit_test(fleet_is_stopped),
	    cmocka_unit_test(ordinary_user),
	    cmocka_unit_test(nobody_watches),
	    cmocka_unit_test(waits_for_capacity),
	    cmocka_unit_test(waits_for_nodes),
	    cmocka_unit_test(is_not_ours),
	    cmocka_unit_test(stopped_partition),
	    cmocka_unit_test(b86_bad_constraints),
	    cmocka_unit_test(ended),
	    cmocka_unit_test(worst_of),
	    cmocka_unit_test(as_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
