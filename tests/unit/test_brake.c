/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_brake.c - no loop ends many machines in use without a second look: what counts, what is held back, and what lets it go. */
#include "tests/unit/cmocka_all.h"

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/plan/brake.h"

#include <stdlib.h>
#include <string.h>

#define NOW INT64_C(1000000000)
#define UP (NS_IDLE | NS_CLOUD)

/* A world of n nodes n1.. with machines i-1.. (all listed and running), and a plan that ends some. */
struct a_world {
	struct nodes nodes;
	struct instances machines;
	struct plan plan;
	struct brake brake;
	struct brake_input in;
};

static void set_up(struct a_world *w, size_t n, uint32_t state)
{
	memset(w, 0, sizeof(*w));
	for (size_t i = 1; i <= n; i++) {
		struct node *o = nodes_add(&w->nodes);
		struct instance *m = instances_add(&w->machines);

		o->name = str_fmt("n%zu", i);
		o->addr = str_fmt("10.0.0.%zu", i);
		o->state = state;
		m->id = str_fmt("i-%zu", i);
		m->state = INSTANCE_RUNNING;
	}
	w->in = (struct brake_input){ .nodes = &w->nodes, .instances = &w->machines, .share_percent = 10, .now_ms = NOW };
}

static void tear_down(struct a_world *w)
{
	nodes_clear(&w->nodes);
	instances_clear(&w->machines);
	plan_clear(&w->plan);
	brake_clear(&w->brake);
}

static void act(struct plan *p, enum action_kind kind, size_t node, bool machine)
{
	struct action *a = plan_add(p, kind, "x");

	a->node = node ? str_fmt("n%zu", node) : NULL;
	a->instance = machine ? str_fmt("i-%zu", node ? node : 1) : NULL;
}

/* The group of one node. */
static void end_node(struct plan *p, size_t node)
{
	act(p, ACT_NODE_DOWN, node, false);
	act(p, ACT_TERMINATE, node, true);
	act(p, ACT_UNBIND, node, true);
	act(p, ACT_NODE_POWER_DOWN, node, false);
}

/* A look that wants to end machines from..to: how many actions are left. */
static size_t look(struct a_world *w, int64_t at_ms, size_t from, size_t to)
{
	size_t before, out;

	plan_clear(&w->plan);
	for (size_t i = from; i <= to; i++)
		end_node(&w->plan, i);
	before = w->plan.n;
	w->in.now_ms = at_ms;
	out = (size_t)brake_apply(&w->in, &w->plan, &w->brake, NULL);
	assert_int_equal(before - w->plan.n, out);
	return w->plan.n / 4;
}

/* How many machines of how many nodes pass at once. */
static void test_share(void **state)
{
	static const struct {
		size_t nodes, end;
		int64_t share;
		bool passes;
	} c[] = { { 20, 10, 10, true },	 { 20, 11, 10, false },	  { 10, 10, 0, true },	 { 11, 11, 99, false },
		  { 11, 11, 100, true }, { 200, 20, 10, true },	  { 200, 21, 10, false }, { 110, 11, 10, true },
		  { 109, 11, 10, false }, { 1000, 100, 10, true }, { 1000, 101, 10, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct a_world w;

		set_up(&w, c[i].nodes, UP);
		w.in.share_percent = c[i].share;
		assert_int_equal(look(&w, NOW, 1, c[i].end), c[i].passes ? c[i].end : 0);
		assert_int_equal(w.brake.held, c[i].passes ? 0 : c[i].end);
		assert_int_equal(w.brake.in_use, c[i].passes ? 0 : c[i].nodes);
		tear_down(&w);
	}
}

/* Which nodes count, by their state. */
static void test_state(void **state)
{
	static const struct {
		uint32_t state;
		bool counts;
	} c[] = { { UP, true },
		  { NS_ALLOCATED | NS_CLOUD, true },
		  { NS_MIXED | NS_CLOUD | NS_DRAIN, true },
		  { UP | NS_POWERING_UP | NS_NO_RESPOND, true },
		  { NS_ALLOCATED | NS_CLOUD | NS_POWERING_UP, true },
		  { UP | NS_NO_RESPOND, true },
		  { NS_ALLOCATED | NS_CLOUD | NS_POWER_DOWN, true },
		  { UP | NS_COMPLETING | NS_POWER_DOWN, true },
		  { UP | NS_POWERED_DOWN | NS_POWERING_UP, true },
		  { UP | (1u << 30), true },
		  { UP | NS_POWER_DOWN, false },
		  { UP | NS_POWERED_DOWN, false },
		  { UP | NS_POWERING_DOWN, false },
		  { NS_DOWN | NS_CLOUD, false },
		  { NS_DOWN | NS_CLOUD | NS_POWERING_UP, false },
		  { NS_IDLE, false } /* the site's own node */ };

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct a_world w;

		set_up(&w, 20, c[i].state);
		if (look(&w, NOW, 1, 20) != (c[i].counts ? 0 : 20))
			fail_msg("state %x", c[i].state);
		tear_down(&w);
	}
}

/* A short list is what the brake is for; a machine that EC2 says is over, and one of no node, are no loss. */
static void test_B_lists(void **state)
{
	struct a_world w;

	(void)state;
	set_up(&w, 20, UP);
	instances_clear(&w.machines); /* EC2 lists none of them any more */
	assert_int_equal(look(&w, NOW, 1, 20), 0);
	tear_down(&w);

	set_up(&w, 20, UP);
	for (size_t i = 0; i < 20; i++)
		w.machines.v[i].state = i % 2 ? INSTANCE_TERMINATED : INSTANCE_SHUTTING_DOWN;
	assert_int_equal(look(&w, NOW, 1, 20), 20);
	tear_down(&w);

	set_up(&w, 20, UP);
	for (size_t i = 0; i < 20; i++)
		w.machines.v[i].state = INSTANCE_UNKNOWN;
	assert_int_equal(look(&w, NOW, 1, 20), 0);
	tear_down(&w);

	set_up(&w, 20, UP);
	w.in.instances = NULL; /* not read */
	assert_int_equal(look(&w, NOW, 1, 20), 0);
	tear_down(&w);

	set_up(&w, 20, UP);
	for (size_t i = 0; i < 50; i++)
		act(&w.plan, ACT_TERMINATE, 0, true); /* orphans */
	assert_int_equal(brake_apply(&w.in, &w.plan, &w.brake, NULL), 0);
	assert_int_equal(w.plan.n, 50);
	w.in.nodes = NULL;
	assert_int_equal(brake_apply(&w.in, &w.plan, &w.brake, NULL), 0);
	tear_down(&w);
}

/* The whole group of a node waits; what is about others does not. */
static void test_group(void **state)
{
	struct a_world w;
	char *text;

	(void)state;
	set_up(&w, 20, UP);
	w.nodes.v[19].state = NS_IDLE | NS_CLOUD | NS_POWERED_DOWN; /* a leftover */
	act(&w.plan, ACT_NODE_POWER_UP, 0, false);
	for (size_t i = 1; i <= 20; i++)
		end_node(&w.plan, i);
	act(&w.plan, ACT_LAUNCH_CLOSE, 0, false);
	act(&w.plan, ACT_BOOT_FAILED, 3, true);
	assert_int_equal(brake_apply(&w.in, &w.plan, &w.brake, NULL), 19 * 4 + 1);
	assert_int_equal(w.brake.held, 19);
	assert_int_equal(w.brake.in_use, 19);
	text = plan_text(&w.plan);
	assert_string_equal(text, "power-up      x                   \n"
				  "down          x                    node=n20\n"
				  "terminate     x                    node=n20 instance=i-20\n"
				  "unbind        x                    node=n20 instance=i-20\n"
				  "power-down    x                    node=n20\n"
				  "launch-close  x                   \n");
	free(text);
	tear_down(&w);
}

static void test_second_look(void **state)
{
	struct a_world w;

	(void)state;
	set_up(&w, 40, UP);
	assert_int_equal(look(&w, NOW, 1, 20), 0);
	assert_int_equal(look(&w, NOW + 5000, 1, 20), 0);
	assert_int_equal(look(&w, NOW + BRAKE_LOOK_MS - 1, 1, 20), 0);
	assert_int_equal(w.brake.since_ms, NOW);
	assert_int_equal(look(&w, NOW + BRAKE_LOOK_MS, 2, 20), 19); /* a part of them */
	assert_int_equal(w.brake.held, 0);
	assert_int_equal(look(&w, NOW + BRAKE_LOOK_MS + 1, 2, 20), 19); /* EC2 refused: again */
	assert_int_equal(look(&w, NOW + BRAKE_LOOK_MS + 2, 2, 31), 0 + 19); /* 11 others: theirs is a first look */
	assert_int_equal(w.brake.held, 11);
	tear_down(&w);

	set_up(&w, 40, UP);
	assert_int_equal(look(&w, NOW, 1, 20), 0);
	assert_int_equal(look(&w, NOW + BRAKE_LOOK_MS, 1, 30), 30); /* 10 others: within the share */
	tear_down(&w);

	set_up(&w, 80, UP);
	assert_int_equal(look(&w, NOW, 1, 20), 0);
	assert_int_equal(look(&w, NOW + 10000, 1, 60), 0); /* more come, before its time */
	assert_int_equal(look(&w, NOW + BRAKE_LOOK_MS, 1, 60), 20);
	assert_int_equal(w.brake.held, 40);
	assert_int_equal(look(&w, NOW + BRAKE_LOOK_MS + 1000, 21, 60), 0);
	assert_int_equal(look(&w, NOW + 2 * BRAKE_LOOK_MS, 21, 60), 40);
	tear_down(&w);
}

/* A list that was short for a moment: nothing was ended, and the next time is a first look again. */
static void test_passing_trouble(void **state)
{
	struct a_world w;

	(void)state;
	set_up(&w, 40, UP);
	assert_int_equal(look(&w, NOW, 1, 20), 0);
	assert_int_equal(look(&w, NOW + 10000, 1, 0), 0);
	assert_int_equal(w.brake.instances.n, 0);
	assert_int_equal(look(&w, NOW + BRAKE_LOOK_MS, 1, 20), 0);
	assert_int_equal(w.brake.since_ms, NOW + BRAKE_LOOK_MS);
	/* fewer than the share go at once */
	assert_int_equal(look(&w, NOW + BRAKE_LOOK_MS + 1, 1, 10), 10);
	/* the clock was set back */
	assert_int_equal(look(&w, NOW, 1, 20), 0);
	assert_int_equal(look(&w, NOW - 7200000, 1, 20), 0);
	assert_int_equal(w.brake.since_ms, NOW - 7200000);
	tear_down(&w);
}

static void test_confirm(void **state)
{
	struct a_world w;

	(void)state;
	set_up(&w, 80, UP);
	w.in.confirmed_ms = NOW - 1; /* of last time */
	assert_int_equal(look(&w, NOW, 1, 20), 0);
	assert_int_equal(look(&w, NOW + 1000, 1, 20), 0);
	w.in.confirmed_ms = NOW + 7200000; /* the clock was set back since */
	assert_int_equal(look(&w, NOW + 1200, 1, 20), 0);
	w.in.confirmed_ms = NOW + 1500;
	assert_int_equal(look(&w, NOW + 2000, 1, 40), 40);
	/* it is for those that were asked for, not for what comes later */
	assert_int_equal(look(&w, NOW + 3000, 1, 40), 40);
	assert_int_equal(look(&w, NOW + 4000, 1, 80), 40);
	assert_int_equal(w.brake.held, 40);
	assert_int_equal(look(&w, NOW + 5000, 41, 80), 0);
	tear_down(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share),	    cmocka_unit_test(test_state),	cmocka_unit_test(test_B_lists),
		cmocka_unit_test(test_group),	    cmocka_unit_test(test_second_look), cmocka_unit_test(test_passing_trouble),
		cmocka_unit_test(test_confirm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
