/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_apply_partitions.c - a stopped and a frozen fleet: what Slurm is told and in which order, what our rows remember of it, and
 * that resume and suspend keep to it. */
#include "lib/apply/wish.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/node/job.h"
#include "lib/plan/fleet.h"
#include "lib/plan/plan.h"
#include "lib/state/store.h"
#include "tests/unit/fake_world.h"
#include "tests/unit/test.h"

static struct world w;

static void put_word(const char *name, const char *value)
{
	assert_int_equal(store_word_put(w.store, name, value, clock_wall_ms(), NULL), 0);
}

/* "" = unset; static text. */
static const char *word(const char *name)
{
	static char text[200];
	char *value;

	assert_int_equal(store_word(w.store, name, &value, NULL, NULL), 0);
	snprintf(text, sizeof text, "%s", value ? value : "");
	free(value);
	return text;
}

static void add_partition(struct plan *p, const char *name, const char *to, const char *was)
{
	struct action *a = plan_add(p, ACT_PARTITION, "fleet-x");

	a->partition = str_dup(name);
	a->word = str_dup(to);
	a->was = str_dup(was);
	a->reason = str_dup("test");
}

static size_t carry(struct plan *p)
{
	size_t n = apply_plan(&w, p, NULL, clock_mono_ms() + 100);

	plan_clear(p);
	return n;
}

static size_t count_events(const char *type)
{
	struct event_query q = {.type = type};
	struct events l = {0};
	size_t n;

	assert_int_equal(store_events(w.store, &q, &l, NULL), 0);
	n = l.n;
	events_clear(&l);
	return n;
}

static void remembers_what_it_closed(void **state)
{
	struct plan p = {0};

	(void)state;
	fake_open(&w, true);
	add_partition(&p, "q", "DOWN", "UP");
	add_partition(&p, "r", "DOWN", "DRAIN");
	assert_int_equal(carry(&p), 0);
	EXPECT_TRACE("slurm partition q DOWN", "slurm partition r DOWN");
	assert_string_equal(word(FLEET_CLOSED_WORD), "q=UP r=DRAIN");
	assert_int_equal(count_events("fleet-x"), 2);
	/* somebody opened one; the newest wish is what the start gives back */
	add_partition(&p, "r", "DOWN", "UP");
	assert_int_equal(carry(&p), 0);
	EXPECT_TRACE("slurm partition r DOWN");
	assert_string_equal(word(FLEET_CLOSED_WORD), "r=UP q=UP");
	/* the start */
	add_partition(&p, "q", "UP", "DOWN");
	assert_int_equal(carry(&p), 0);
	EXPECT_TRACE("slurm partition q UP");
	assert_string_equal(word(FLEET_CLOSED_WORD), "r=UP");
	add_partition(&p, "r", NULL, "INACTIVE"); /* a person changed it */
	assert_int_equal(carry(&p), 0);
	fake_expect_nothing();
	assert_string_equal(word(FLEET_CLOSED_WORD), "");
	fake_close(&w);
}

/* It is in our rows before, and stays there until it is open again. */
static void slurmctld_is_away(void **state)
{
	struct plan p = {0};

	(void)state;
	fake_open(&w, true);
	fake.slurm_away = true;
	add_partition(&p, "q", "DOWN", "UP");
	assert_int_equal(carry(&p), 1);
	assert_string_equal(word(FLEET_CLOSED_WORD), "q=UP");
	add_partition(&p, "q", "UP", "DOWN");
	assert_int_equal(carry(&p), 1);
	assert_string_equal(word(FLEET_CLOSED_WORD), "q=UP");
	fake_expect_nothing();
	assert_int_equal(count_events("fleet-x"), 0);
	/* many: it is noticed once, not for each */
	fake.vain = 0;
	add_partition(&p, "q", "DOWN", "UP");
	add_partition(&p, "r", "DOWN", "UP");
	add_partition(&p, "s", "DOWN", "UP");
	assert_int_equal(carry(&p), 3);
	assert_int_equal(fake.vain, 1);
	fake_close(&w);
}

static void add_status(struct plan *p, const char *was, const char *to)
{
	struct action *a = plan_add(p, ACT_FLEET, "fleet-x");

	a->was = str_dup(was);
	a->word = str_dup(to);
	a->reason = str_dup("test");
}

/* A person's new word is not overwritten by what a loop decided about the old one. */
static void moves_the_status(void **state)
{
	struct plan p = {0};

	(void)state;
	fake_open(&w, true);
	put_word(FLEET_WORD, "STOP_REQUESTED now");
	add_status(&p, "STOP_REQUESTED now", "STOPPING now");
	assert_int_equal(carry(&p), 0);
	assert_string_equal(word(FLEET_WORD), "STOPPING now");
	assert_int_equal(count_events("fleet"), 1);
	put_word(FLEET_WORD, "START_REQUESTED");
	add_status(&p, "STOPPING now", "STOPPED now");
	assert_int_equal(carry(&p), 0);
	assert_string_equal(word(FLEET_WORD), "START_REQUESTED");
	assert_int_equal(count_events("fleet"), 1);
	fake_close(&w);
}

static void add_node(struct plan *p, enum action_kind kind, const char *node, const char *how)
{
	struct action *a = plan_add(p, kind, "fleet-stop");

	a->node = str_dup(node);
	a->word = str_dup(how);
	a->reason = str_dup("slurm-ec2: stop");
}

/* POWER_DOWN ends no job, POWER_DOWN_FORCE does. */
static void powers_down(void **state)
{
	struct plan p = {0};

	(void)state;
	fake_open(&w, true);
	add_node(&p, ACT_NODE_POWER_DOWN, "q-dy-a-1", POWER_DOWN_IDLE);
	add_node(&p, ACT_NODE_POWER_DOWN, "q-dy-a-2", NULL);
	add_node(&p, ACT_NODE_POWER_DOWN, "q-dy-a-3", POWER_DOWN_IDLE);
	assert_int_equal(carry(&p), 0);
	EXPECT_TRACE("slurm q-dy-a-1 q-dy-a-3 state=800000 slurm-ec2: stop", "slurm q-dy-a-2 state=801000 slurm-ec2: stop");
	fake_close(&w);
}

static int resume(const char *node)
{
	struct resume_request q = {0};
	struct err e = {""};
	int rc;

	assert_int_equal(strs_add(&q.nodes, node), 0);
	rc = apply_resume(&w, &q, clock_mono_ms() + 1000, &e);
	resume_request_clear(&q);
	return rc;
}

static void test_B78_resume_refuses(void **state)
{
	static const char *const serving[] = {"RUNNING", "START_REQUESTED", "STARTING", "a word of a newer release"};
	static const char *const stopped[] = {"STOP_REQUESTED", "STOPPING now", "STOPPED"};

	(void)state;
	for (size_t i = 0; i < COUNT(stopped); i++) {
		fake_open(&w, true);
		put_word(FLEET_WORD, stopped[i]);
		assert_int_equal(resume("q-dy-a-1"), -1);
		EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=",
			     "slurm q-dy-a-1 state=1 (Code:FleetStopped)The fleet is stopped, slurm-ec2 fleet start opens it");
		assert_int_equal(count_events("resume-refused"), 1);
		assert_string_equal(fake_row(&w, "q-dy-a-1"), "");
		fake_close(&w);
	}
	for (size_t i = 0; i < COUNT(serving); i++) {
		fake_open(&w, true);
		put_word(FLEET_WORD, serving[i]);
		assert_int_equal(resume("q-dy-a-1"), 0);
		EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=", "ec2 run min 1 max 1", "slurm q-dy-a-1=10.0.0.1 extra=*");
		fake_close(&w);
	}
}

static void freeze_for(int64_t ms)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)(clock_wall_ms() + ms));
	put_word(FREEZE_WORD, text);
}

static void keeps_still_while_frozen(void **state)
{
	const char *node = "q-dy-a-1";

	(void)state;
	fake_open(&w, true);
	freeze_for(60000);
	assert_int_equal(resume(node), -1);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=", "slurm q-dy-a-1 state=1 (Code:Frozen)Nothing is launched until *");
	assert_int_equal(store_adopt(w.store, node, "l-1", "i-1", "10.0.0.1", NULL), 1);
	fake_instance("i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING);
	assert_int_equal(apply_suspend(&w, &node, 1, clock_mono_ms() + 100, NULL), 0);
	fake_expect_nothing();
	assert_string_equal(fake_row(&w, node), "BOUND i-1");
	/* it ends by itself */
	freeze_for(-1);
	assert_int_equal(apply_suspend(&w, &node, 1, clock_mono_ms() + 100, NULL), 0);
	EXPECT_TRACE("ec2 terminate i-1", "slurm q-dy-a-1=203.0.113.1 extra=");
	assert_int_equal(resume(node), 0);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=", "ec2 run min 1 max 1", "slurm q-dy-a-1=10.0.0.2 extra=*");
	fake_close(&w);
}

static void reads_wishes(void **state)
{
	static const struct {
		const char *fleet, *until;
		enum fleet_status status;
		int64_t frozen;
	} c[] = {
	    {NULL, NULL, FLEET_RUNNING, 0},	 {"STOPPED", "5000", FLEET_STOPPED, 5000},
	    {"x", "4999", FLEET_RUNNING, 0},	 {"STARTING", "soon", FLEET_STARTING, 0},
	    {"RUNNING", "-1", FLEET_RUNNING, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(c); i++) {
		struct wish wish;

		fake_open(&w, true);
		put_word(FLEET_WORD, c[i].fleet);
		put_word(FREEZE_WORD, c[i].until);
		assert_int_equal(wish_read(w.store, 4999, &wish, NULL), 0);
		assert_int_equal(wish.fleet.status, c[i].status);
		assert_int_equal(wish.frozen_until_ms, c[i].frozen);
		fake_close(&w);
	}
}

/* Nobody is to come back too early. */
static void the_end_of_a_freeze_is_rounded_up(void **state)
{
	int64_t minute = clock_wall_ms() / 60000 * 60000 + 7 * INT64_C(86400000);
	char want[CLOCK_MINUTE], text[CLOCK_MINUTE];

	(void)state;
	clock_minute(minute, 0, want);
	wish_clock(minute, text);
	assert_string_equal(text, want);
	wish_clock(minute - 59999, text);
	assert_string_equal(text, want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(remembers_what_it_closed), cmocka_unit_test(slurmctld_is_away),
	    cmocka_unit_test(moves_the_status),		cmocka_unit_test(powers_down),
	    cmocka_unit_test(test_B78_resume_refuses),	cmocka_unit_test(keeps_still_while_frozen),
	    cmocka_unit_test(reads_wishes),		cmocka_unit_test(the_end_of_a_freeze_is_rounded_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
