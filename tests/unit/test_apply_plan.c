/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_apply_plan.c - clustermgtd's actions carried out: stale ones left alone, failures kept for the next loop, launches
 * retried; and the lock. */
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/state/store.h"
#include "tests/unit/fake_world.h"
#include "tests/unit/test.h"

#include <sys/wait.h>
#include <unistd.h>

static struct world w;
static struct plan p;

static struct action *add(enum action_kind k, const char *node, const char *instance, const char *launch, int64_t generation)
{
	struct action *a = plan_add(&p, k, "test");

	a->node = str_dup(node);
	a->instance = str_dup(instance);
	a->launch = str_dup(launch);
	a->generation = generation;
	a->reason = str_dup("why");
	return a;
}

static size_t carry(void)
{
	size_t n = apply_plan(&w, &p, &fake.cloud, clock_mono_ms() + 300);

	plan_clear(&p);
	return n;
}

static int64_t bind_node(const char *node, const char *instance, const char *ip)
{
	struct bindings b = {0};
	int64_t g;

	assert_int_equal(store_adopt(w.store, node, "l-1", instance, ip, NULL), 1);
	assert_int_equal(store_binding(w.store, node, &b, NULL), 0);
	g = b.v[0].generation;
	bindings_clear(&b);
	return g;
}

static void groups_what_belongs_together(void **state)
{
	int64_t a, b;

	(void)state;
	fake_open(&w, true);
	a = bind_node("q-dy-a-1", "i-1", "10.0.0.1");
	b = bind_node("q-dy-a-2", "i-2", "10.0.0.2");
	add(ACT_NODE_DOWN, "q-dy-a-1", NULL, NULL, a);
	add(ACT_TERMINATE, "q-dy-a-1", "i-1", NULL, a);
	add(ACT_UNBIND, "q-dy-a-1", NULL, NULL, a);
	add(ACT_NODE_POWER_DOWN, "q-dy-a-1", NULL, NULL, a);
	add(ACT_NODE_DOWN, "q-dy-a-2", NULL, NULL, b);
	add(ACT_UNBIND, "q-dy-a-2", NULL, NULL, b);
	add(ACT_NODE_POWER_DOWN, "q-dy-a-2", NULL, NULL, b);
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("ec2 terminate i-1",
		     "slurm q-dy-a-1=203.0.113.1 q-dy-a-2=203.0.113.1 extra=", "slurm q-dy-a-1 q-dy-a-2 state=1 why",
		     "slurm q-dy-a-1 q-dy-a-2 state=801000 why");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "FREE");
	fake_close(&w);
}

/* Each machine is ended where it is: where it was seen, or where its node's machines are. */
static void ends_machines_in_their_cloud(void **state)
{
	struct instance *i;

	(void)state;
	fake_open(&w, true);
	fake_second_cloud(&w);
	fake_instance("i-1", NULL, NULL, INSTANCE_RUNNING);
	i = fake_instance("i-2", NULL, NULL, INSTANCE_RUNNING);
	i->cloud = 1;
	add(ACT_TERMINATE, NULL, "i-2", NULL, -1);
	add(ACT_TERMINATE, NULL, "i-1", NULL, -1);
	add(ACT_TERMINATE, "far-dy-b-1", "i-3", NULL, -1);
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("ec2 terminate i-1", "ec2 second terminate i-2", "ec2 second terminate i-3");
	fake.second_away = true;
	add(ACT_TERMINATE, NULL, "i-2", NULL, -1);
	add(ACT_TERMINATE, NULL, "i-1", NULL, -1);
	assert_int_equal(carry(), 1);
	EXPECT_TRACE("ec2 terminate i-1", "ec2 second terminate i-2");
	fake_close(&w);
}

static void add_hold(enum action_kind kind, const char *name, const char *node)
{
	struct action *a = add(kind, NULL, NULL, NULL, -1);

	a->reservation = str_dup(name);
	if (node)
		assert_int_equal(strs_add(&a->nodes, node), 0);
}

/* Before anything else; what slurmctld refuses is tried again. */
static void holds_nodes_of_a_block(void **state)
{
	(void)state;
	fake_open(&w, true);
	add(ACT_NODE_POWER_UP, "q-st-a-1", NULL, NULL, -1);
	add_hold(ACT_RESERVE, "slurm-ec2-cr-1", "q-dy-a-1");
	add_hold(ACT_UNRESERVE, "slurm-ec2-cr-2", NULL);
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("hold slurm-ec2-cr-1 q-dy-a-1", "delete slurm-ec2-cr-2", "slurm q-st-a-1 state=1000000 why");
	fake.slurm_refuses = true;
	add_hold(ACT_RESERVE, "slurm-ec2-cr-1", "q-dy-a-1");
	add_hold(ACT_UNRESERVE, "slurm-ec2-cr-2", NULL);
	assert_int_equal(carry(), 2);
	fake_close(&w);
}

/* Nodes that go out of use, and back, for want of capacity: one update each, and an event to find. */
static void notes_disabled_nodes(void **state)
{
	struct events l = {0};

	(void)state;
	fake_open(&w, true);
	for (int i = 1; i <= 3; i++) {
		char *name = str_fmt("q-dy-a-%d", i);
		struct action *a = add(ACT_NODE_DOWN, name, NULL, NULL, -1);

		free(a->code);
		a->code = str_dup("capacity-closed");
		free(name);
	}
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("slurm q-dy-a-1 q-dy-a-2 q-dy-a-3 state=1 why");
	assert_int_equal(store_events(w.store, &(struct event_query){.type = "capacity-closed"}, &l, NULL), 0);
	assert_int_equal(l.n, 1);
	assert_string_equal(l.v[0].node, "q-dy-a-[1-3]");
	assert_string_equal(l.v[0].detail, "why");
	events_clear(&l);
	fake_close(&w);
}

static void leaves_a_changed_node_alone(void **state)
{
	int64_t a;

	(void)state;
	fake_open(&w, true);
	a = bind_node("q-dy-a-1", "i-1", "10.0.0.1");
	assert_int_equal(store_free(w.store, "q-dy-a-1", -1, NULL, NULL), 1);
	bind_node("q-dy-a-1", "i-2", "10.0.0.2"); /* a new life */
	add(ACT_TERMINATE, "q-dy-a-1", "i-1", NULL, a);
	add(ACT_UNBIND, "q-dy-a-1", NULL, NULL, a);
	add(ACT_NODE_DOWN, "q-dy-a-1", NULL, NULL, a);
	add(ACT_NODE_DOWN, "q-dy-a-3", NULL, NULL, 5); /* had a row when it was decided */
	assert_int_equal(carry(), 0);
	fake_expect_nothing();
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "BOUND i-2");
	fake_close(&w);
}

static void new_life_of_node_1(void)
{
	assert_int_equal(store_free(w.store, "q-dy-a-1", -1, NULL, NULL), 1);
	bind_node("q-dy-a-1", "i-2", "10.0.0.2");
}

/* EC2 took its time to end the machine; meanwhile the node was suspended and resumed. */
static void looks_again_before_each_effect(void **state)
{
	int64_t a;

	(void)state;
	fake_open(&w, true);
	a = bind_node("q-dy-a-1", "i-1", "10.0.0.1");
	fake.on_terminate = new_life_of_node_1;
	add(ACT_TERMINATE, "q-dy-a-1", "i-1", NULL, a);
	add(ACT_UNBIND, "q-dy-a-1", NULL, NULL, a);
	add(ACT_NODE_POWER_DOWN, "q-dy-a-1", NULL, NULL, a);
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("ec2 terminate i-1");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "BOUND i-2");
	fake_close(&w);
}

static void suspend_node_1(void)
{
	assert_int_equal(store_free(w.store, "q-dy-a-1", -1, NULL, NULL), 1);
}

/* The node that was to get the machine was suspended meanwhile. */
static void binds_only_what_still_waits(void **state)
{
	int64_t a;

	(void)state;
	fake_open(&w, true);
	a = bind_node("q-dy-a-1", "i-1", "10.0.0.1");
	fake.on_terminate = suspend_node_1;
	add(ACT_TERMINATE, NULL, "i-9", NULL, -1);
	add(ACT_BIND, "q-dy-a-1", "i-1", "l-1", a);
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("ec2 terminate i-9");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "FREE");
	fake_close(&w);
}

/* slurmctld refuses an update as a whole for one unknown name; the other nodes of the loop must not suffer. */
static void forgets_a_node_slurmctld_does_not_know(void **state)
{
	int64_t a, b;

	(void)state;
	fake_open(&w, true);
	a = bind_node("q-dy-a-1", "i-1", "10.0.0.1");
	b = bind_node("q-dy-a-99", "i-2", "10.0.0.2");
	fake.unknown = "q-dy-a-99";
	add(ACT_UNBIND, "q-dy-a-1", NULL, NULL, a);
	add(ACT_FORGET, "q-dy-a-99", NULL, NULL, b);
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "FREE");
	assert_string_equal(fake_row(&w, "q-dy-a-99"), "FREE");
	fake_close(&w);
}

/* One node that slurmctld refuses, one machine that EC2 does not end: everybody else gets what is due. */
static void test_B60_one_failure_stops_nobody(void **state)
{
	static const char *const nodes[] = {"q-dy-a-1", "q-dy-a-2", "q-dy-a-3", "q-dy-a-4", "q-dy-a-5"};
	int64_t g[COUNT(nodes)];

	(void)state;
	fake_open(&w, true);
	for (size_t i = 0; i < COUNT(nodes); i++) {
		char id[16];

		snprintf(id, sizeof id, "i-%zu", i + 1);
		g[i] = bind_node(nodes[i], id, "10.0.0.1");
	}
	fake.unknown = "q-dy-a-2";
	for (size_t i = 0; i < 4; i++)
		add(ACT_UNBIND, nodes[i], NULL, NULL, g[i]);
	for (size_t i = 0; i < 4; i++)
		add(ACT_NODE_DOWN, nodes[i], NULL, NULL, g[i]);
	add(ACT_BIND, "q-dy-a-6", "i-6", "l-6", -1);
	fake_instance("i-6", "10.0.0.6", "l-6", INSTANCE_RUNNING);
	assert_int_equal(carry(), 2);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=", "slurm q-dy-a-3=203.0.113.1 q-dy-a-4=203.0.113.1 extra=",
		     "slurm q-dy-a-6=10.0.0.6 extra=*", "slurm q-dy-a-1 state=1 why", "slurm q-dy-a-3 q-dy-a-4 state=1 why");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "FREE");
	assert_string_equal(fake_row(&w, "q-dy-a-2"), "BOUND i-2");
	assert_string_equal(fake_row(&w, "q-dy-a-4"), "FREE");
	assert_string_equal(fake_row(&w, "q-dy-a-6"), "BOUND i-6");
	fake_close(&w);
}

static void keeps_the_row_of_a_machine_it_cannot_end(void **state)
{
	int64_t a;

	(void)state;
	fake_open(&w, true);
	a = bind_node("q-dy-a-1", "i-1", "10.0.0.1");
	fake.ec2_away = true;
	add(ACT_TERMINATE, "q-dy-a-1", "i-1", NULL, a);
	add(ACT_UNBIND, "q-dy-a-1", NULL, NULL, a);
	assert_int_equal(carry(), 1);
	EXPECT_TRACE("ec2 terminate i-1");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "BOUND i-1");
	fake_close(&w);
}

static void keeps_the_row_while_slurmctld_is_away(void **state)
{
	int64_t a;

	(void)state;
	fake_open(&w, true);
	a = bind_node("q-dy-a-1", "i-1", "10.0.0.1");
	fake.slurm_away = true;
	add(ACT_UNBIND, "q-dy-a-1", NULL, NULL, a);
	assert_int_equal(carry(), 1);
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "BOUND i-1");
	fake_close(&w);
}

static void adopts(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake_instance("i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING);
	add(ACT_BIND, "q-dy-a-1", "i-1", "l-1", -1);
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("slurm q-dy-a-1=10.0.0.1 extra={\"slurm-ec2\":\"l-1\"}");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "BOUND i-1");
	fake_close(&w);
}

static void powers_up_static_nodes(void **state)
{
	(void)state;
	fake_open(&w, true);
	add(ACT_NODE_POWER_UP, "q-st-a-1", NULL, NULL, -1);
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("slurm q-st-a-1 state=1000000 why");
	fake_close(&w);
}

/* A drain has its reason; what is taken back has none any more. Both are events to find. */
static void drains_and_resumes(void **state)
{
	struct events l = {0};

	(void)state;
	fake_open(&w, true);
	add(ACT_NODE_DRAIN, "q-dy-a-1", NULL, NULL, -1);
	add(ACT_NODE_RESUME, "q-dy-a-2", NULL, NULL, -1);
	add(ACT_NODE_DRAIN, "q-dy-a-3", NULL, NULL, -1);
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("slurm q-dy-a-1 q-dy-a-3 state=200 why", "slurm q-dy-a-2 state=100 ");
	assert_int_equal(store_events(w.store, &(struct event_query){.type = "node-drain"}, &l, NULL), 0);
	assert_int_equal(l.n, 1);
	assert_string_equal(l.v[0].node, "q-dy-a-[1,3]");
	assert_int_equal(store_events(w.store, &(struct event_query){.type = "node-resume"}, &l, NULL), 0);
	assert_int_equal(l.n, 2);
	events_clear(&l);
	fake_close(&w);
}

/* A launch that a killed resume left; its worker's pid is 77. */
static void open_launch_of(const char *resource, const char *id, const char *nodes, const char *request)
{
	struct launch l = {.id = str_dup(id), .queue = str_dup("q"), .resource = str_dup(resource), .min_count = 1, .pid = 77};
	struct strs taken = {0};

	strs_split(&l.nodes, nodes, ',');
	l.created_ms = clock_wall_ms();
	assert_int_equal(store_launch_claim(w.store, &l, &taken, NULL), 0);
	if (request)
		assert_int_equal(store_launch_request(w.store, id, request, NULL), 0);
	free(l.id);
	free(l.queue);
	free(l.resource);
	strs_clear(&l.nodes);
	strs_clear(&taken);
}

static void open_launch(const char *id, const char *nodes, const char *request)
{
	open_launch_of("a", id, nodes, request);
}

/* A machine that looked like nobody's: by now a node has it, or its launch is under way after all. */
static void leaves_a_machine_that_is_wanted_alone(void **state)
{
	(void)state;
	fake_open(&w, true);
	bind_node("q-dy-a-1", "i-1", "10.0.0.1");
	open_launch("l-2", "q-dy-a-2", "l-2 1 1");
	add(ACT_TERMINATE, NULL, "i-1", "l-1", -1);
	add(ACT_TERMINATE, NULL, "i-2", "l-2", -1);
	add(ACT_TERMINATE, NULL, "i-3", "l-3", -1);
	add(ACT_TERMINATE, NULL, "i-4", NULL, -1);
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("ec2 terminate i-3", "ec2 terminate i-4");
	fake_close(&w);
}

/* The first try launched, its answer was lost: the same request finds its machines, and no more come. */
static void retry_finds_the_machines(void **state)
{
	(void)state;
	fake_open(&w, true);
	open_launch("l-1", "q-dy-a-1,q-dy-a-2", "l-1 2 2");
	fake_instance("i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING);
	fake_instance("i-2", "10.0.0.2", "l-1", INSTANCE_RUNNING);
	add(ACT_LAUNCH_RETRY, NULL, NULL, "l-1", -1);
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("ec2 run min 2 max 2", "slurm q-dy-a-1=10.0.0.1 q-dy-a-2=10.0.0.2 extra={\"slurm-ec2\":\"l-1\"}");
	assert_int_equal(fake.cloud.n, 2);
	assert_int_equal(fake_open_launches(&w), 0);
	fake_close(&w);
}

/* As the machines were told it: the first guess of each is then right. */
static void retry_keeps_the_order(void **state)
{
	(void)state;
	fake_open(&w, true);
	open_launch("l-1", "q-dy-a-2,q-dy-a-10", "l-1 2 2");
	add(ACT_LAUNCH_RETRY, NULL, NULL, "l-1", -1);
	assert_int_equal(carry(), 0);
	assert_string_equal(fake_row(&w, "q-dy-a-2"), "BOUND i-1");
	assert_string_equal(fake_row(&w, "q-dy-a-10"), "BOUND i-2");
	fake_close(&w);
}

/* It was killed before it could even keep the request. */
static void retry_makes_the_request(void **state)
{
	(void)state;
	fake_open(&w, true);
	open_launch("l-1", "q-dy-a-1", NULL);
	add(ACT_LAUNCH_RETRY, NULL, NULL, "l-1", -1);
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("ec2 run min 1 max 1", "slurm q-dy-a-1=10.0.0.1 extra={\"slurm-ec2\":\"l-1\"}");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "BOUND i-1");
	fake_close(&w);
}

/* The first was killed before its request was kept, and its resource is gone since: that must not hold up the second. */
static void retries_beside_one_that_cannot_be(void **state)
{
	(void)state;
	fake_open(&w, true);
	open_launch_of("removed", "l-1", "q-dy-a-2", NULL);
	open_launch("l-2", "q-dy-a-1", "l-2 1 1");
	add(ACT_LAUNCH_RETRY, NULL, NULL, "l-1", -1);
	add(ACT_LAUNCH_RETRY, NULL, NULL, "l-2", -1);
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("ec2 run min 1 max 1", "slurm q-dy-a-1=10.0.0.1 extra={\"slurm-ec2\":\"l-2\"}");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "BOUND i-1");
	assert_int_equal(fake_open_launches(&w), 1);
	fake_close(&w);
}

static void retry_returns_what_nobody_wants(void **state)
{
	(void)state;
	fake_open(&w, true);
	open_launch("l-1", "q-dy-a-1,q-dy-a-2", "l-1 1 2");
	fake_instance("i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING);
	fake_instance("i-2", "10.0.0.2", "l-1", INSTANCE_RUNNING);
	assert_int_equal(store_bind(w.store, "q-dy-a-1", "l-1", "i-1", "10.0.0.1", NULL), 1); /* done before the kill */
	assert_int_equal(store_free(w.store, "q-dy-a-2", -1, NULL, NULL), 1);		      /* suspended since */
	open_launch("l-2", "q-dy-a-3", "l-2 1 1");
	assert_int_equal(store_free(w.store, "q-dy-a-3", -1, NULL, NULL), 1);
	add(ACT_LAUNCH_RETRY, NULL, NULL, "l-1", -1);
	add(ACT_LAUNCH_RETRY, NULL, NULL, "l-2", -1);
	assert_int_equal(carry(), 0);
	fake_expect_nothing(); /* none of their nodes waits: no call that could launch; i-2 is an orphan by its tag */
	assert_int_equal(fake_open_launches(&w), 0);
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "BOUND i-1");
	fake_close(&w);
}

static void retry_fails_the_nodes_for_good(void **state)
{
	(void)state;
	fake_open(&w, true);
	open_launch("l-1", "q-st-a-1", "l-1 1 1");
	fake.capacity = 0;
	add(ACT_LAUNCH_RETRY, NULL, NULL, "l-1", -1);
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("ec2 run min 1 max 1",
		     "slurm q-st-a-1 state=1 (Code:InsufficientInstanceCapacity)Failure when resuming nodes");
	assert_int_equal(fake_open_launches(&w), 0);
	{
		struct kvs k = {{0}, {0}}; /* a static node is not asked for again at once */

		assert_int_equal(store_counters(w.store, STATIC_BACKOFF_PREFIX "q-st-a-1", &k, NULL), 0);
		assert_int_equal(k.key.n, 1);
		kvs_clear(&k);
	}
	fake_close(&w);
}

static void retry_stays_open_while_unknown(void **state)
{
	(void)state;
	fake_open(&w, true);
	open_launch("l-1", "q-dy-a-1", "l-1 1 1");
	fake.run_class = AWS_THROTTLE;
	add(ACT_LAUNCH_RETRY, NULL, NULL, "l-1", -1);
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("ec2 run min 1 max 1");
	assert_int_equal(fake_open_launches(&w), 1);
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "LAUNCHING");
	/* no keys: whether the first try launched is as unknown as before */
	fake.run_class = AWS_CREDENTIALS;
	add(ACT_LAUNCH_RETRY, NULL, NULL, "l-1", -1);
	assert_int_equal(carry(), 0);
	EXPECT_TRACE("ec2 run min 1 max 1");
	assert_int_equal(fake_open_launches(&w), 1);
	fake_close(&w);
}

static void one_lock(void **state)
{
	char *dir = test_folder(), *path = file_join(dir, "lock");
	struct err e = {""};
	char pid[24];
	int fd, status;
	pid_t child;

	(void)state;
	assert_int_equal(lock_holder(path), 0);
	assert_int_equal(lock_take(path, &fd, &e), 0);
	snprintf(pid, sizeof pid, "process %ld ", (long)getpid());
	child = fork();
	if (child == 0) {
		int other;
		bool right = lock_holder(path) == getppid() && lock_take(path, &other, &e) < 0 && strstr(e.text, pid);

		free(path);
		free(dir);
		_exit(right ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(fd);
	assert_int_equal(lock_take(path, &fd, &e), 0);
	close(fd);
	file_remove_tree(dir, NULL);
	free(path);
	free(dir);
}

/* Lines of the log at path that end in `end`. */
static int lines_ending(const char *path, const char *end)
{
	struct buf b = {0};
	struct strs lines = {0};
	int n = 0;

	assert_int_equal(file_read(path, 65536, &b, NULL), 0);
	assert_int_equal(strs_split(&lines, buf_text(&b), '\n'), 0);
	for (size_t i = 0; i < lines.n; i++) {
		size_t len = strlen(lines.v[i]);

		n += len >= strlen(end) && str_eq(lines.v[i] + len - strlen(end), end);
	}
	strs_clear(&lines);
	buf_free(&b);
	return n;
}

/* A node that loses its machine every few minutes is in the log each time; nodes of one sentence share a line. */
static void logs_every_action(void **state)
{
	char *dir = test_folder(), *path = file_join(dir, "log");

	(void)state;
	fake_open(&w, true);
	assert_int_equal(log_open("test", path, LOG_INFO_LEVEL, NULL), 0);
	for (int i = 0; i < 2; i++) {
		add(ACT_NODE_DOWN, "q-dy-a-1", NULL, NULL, -1);
		add(ACT_NODE_DOWN, "q-dy-a-2", NULL, NULL, -1);
		add(ACT_TERMINATE, NULL, "i-1", NULL, -1);
		add(ACT_TERMINATE, "q-dy-a-3", "i-3", NULL, -1);
		add(ACT_NODE_POWER_UP, "q-dy-a-4", NULL, NULL, -1);
		assert_int_equal(carry(), 0);
	}
	log_open("test", NULL, LOG_INFO_LEVEL, NULL);
	assert_int_equal(lines_ending(path, ": down q-dy-a-[1-2]: why (test)"), 2);
	assert_int_equal(lines_ending(path, ": terminate i-1, q-dy-a-3 i-3: why (test)"), 2);
	assert_int_equal(lines_ending(path, ": power-up q-dy-a-4: why (test)"), 2);
	fake_close(&w);
	file_remove_tree(dir, NULL);
	free(path);
	free(dir);
}

static void says_it_once(void **state)
{
	(void)state;
	assert_true(say_again("the disk is full"));
	assert_false(say_again("the disk is full"));
	assert_true(say_again("the disk is fuller"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ends_machines_in_their_cloud),
	    cmocka_unit_test(holds_nodes_of_a_block),
	    cmocka_unit_test(notes_disabled_nodes),
	    cmocka_unit_test(groups_what_belongs_together),
	    cmocka_unit_test(leaves_a_changed_node_alone),
	    cmocka_unit_test(looks_again_before_each_effect),
	    cmocka_unit_test(binds_only_what_still_waits),
	    cmocka_unit_test(forgets_a_node_slurmctld_does_not_know),
	    cmocka_unit_test(test_B60_one_failure_stops_nobody),
	    cmocka_unit_test(keeps_the_row_of_a_machine_it_cannot_end),
	    cmocka_unit_test(keeps_the_row_while_slurmctld_is_away),
	    cmocka_unit_test(adopts),
	    cmocka_unit_test(powers_up_static_nodes), cmocka_unit_test(drains_and_resumes),
	    cmocka_unit_test(leaves_a_machine_that_is_wanted_alone),
	    cmocka_unit_test(retry_finds_the_machines),
	    cmocka_unit_test(retry_keeps_the_order),
	    cmocka_unit_test(retry_makes_the_request),
	    cmocka_unit_test(retries_beside_one_that_cannot_be),
	    cmocka_unit_test(retry_returns_what_nobody_wants),
	    cmocka_unit_test(retry_fails_the_nodes_for_good),
	    cmocka_unit_test(retry_stays_open_while_unknown),
	    cmocka_unit_test(one_lock),
	    cmocka_unit_test(logs_every_action),
	    cmocka_unit_test(says_it_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
