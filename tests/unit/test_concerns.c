/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_concerns.c - looks of clustermgtd at a fleet that is stopped, frozen, braked or broken: what is planned, and that a person is
 * told once, not each time. */
#include "clustermgtd/concerns.h"
#include "clustermgtd/observe.h"
#include "lib/base/clock.h"
#include "lib/cluster/settings.h"
#include "lib/plan/plan.h"
#include "lib/state/store.h"
#include "tests/unit/fake_world.h"
#include "tests/unit/test.h"

static struct world w;

/* One look, told like a loop's. *frozen may be NULL. Caller frees. */
static char *look(struct kept *k, bool *frozen)
{
	struct observed o;
	struct plan p = {0};
	bool still;
	char *text;

	observe(&w, &o, k, 0, false);
	assert_int_equal(observed_plan(&w, &o, k, &p), 0);
	concerns_tell(&w, &k->concerns, &o, &k->brake, w.settings->terminate_share);
	still = concerns_frozen(&w, &k->concerns, &o, &p);
	if (frozen)
		*frozen = still;
	text = plan_text(&p);
	plan_clear(&p);
	observed_clear(&o);
	return text;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
		n++;
	return n;
}

/* How often `what` stands in the plan of a look. */
static size_t looks(struct kept *k, const char *what)
{
	char *text = look(k, NULL);
	size_t n = count(text, what);

	free(text);
	return n;
}

/* Details of the events of a type, a line each; static text. */
static const char *events(const char *type)
{
	static char text[2000];
	struct event_query q = {.type = type};
	struct events l = {0};

	assert_int_equal(store_events(w.store, &q, &l, NULL), 0);
	text[0] = 0;
	for (size_t i = 0; i < l.n; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", l.v[i].detail);
	events_clear(&l);
	return text;
}

static void put_word(const char *name, const char *value)
{
	assert_int_equal(store_word_put(w.store, name, value, clock_wall_ms(), NULL), 0);
}

/* Old bound nodes that come up; EC2 lists no machine of them. */
static void add_lost_nodes(size_t n)
{
	for (size_t i = 1; i <= n; i++) {
		char node[40], instance[40], ip[40];

		snprintf(node, sizeof node, "q-dy-f-%zu", i);
		snprintf(instance, sizeof instance, "i-%zu", i);
		snprintf(ip, sizeof ip, "10.0.1.%zu", i);
		fake_node(node, NS_ALLOCATED | NS_CLOUD | NS_POWERING_UP | NS_NO_RESPOND, ip, NULL);
		assert_int_equal(store_adopt(w.store, node, "l-1", instance, ip, NULL), 1);
		fake_age(node, 3600000);
	}
}

static void the_brake_holds(void **state)
{
	struct kept k = {0};

	(void)state;
	fake_open(&w, true);
	add_lost_nodes(20);
	assert_int_equal(looks(&k, "node=q-dy-f-"), 0);
	assert_int_equal(looks(&k, "node=q-dy-f-"), 0);
	assert_int_equal(k.brake.held, 20);
	assert_string_equal(events("brake"),
			    "20 of 20 machines in use would be ended, more than 10 %: held back until a look after 50 s asks for the same; "
			    "slurm-ec2 fleet confirm lets it happen now\n");
	put_word(BRAKE_CONFIRM_WORD, "yes");
	k.brake.since_ms -= 1000; /* the first look was a while ago */
	assert_int_equal(looks(&k, "terminate "), 20);
	assert_int_equal(k.brake.held, 0);
	assert_int_equal(count(events("brake"), "would be ended"), 1);
	assert_int_equal(count(events("brake"), BRAKE_OFF_TEXT), 1);
	kept_clear(&k);
	fake_close(&w);
}

static void the_brake_wakes_the_loop(void **state)
{
	struct kept k = {0};
	struct observed o = {.frozen_until_ms = 0};
	int64_t now = clock_wall_ms();

	(void)state;
	k.brake = (struct brake){.since_ms = now, .held = 11};
	assert_int_equal(observed_wake_ms(&o, &k, INT64_MAX), now + BRAKE_LOOK_MS);
	k.brake.held = 0;
	assert_true(observed_wake_ms(&o, &k, INT64_MAX) == INT64_MAX);
	o.frozen_until_ms = now + 70000;
	assert_int_equal(observed_wake_ms(&o, &k, INT64_MAX), now + 70000);
}

static void fewer_are_not_held(void **state)
{
	struct kept k = {0};

	(void)state;
	fake_open(&w, true);
	add_lost_nodes(10);
	assert_int_equal(looks(&k, "terminate "), 10);
	assert_string_equal(events("brake"), "");
	kept_clear(&k);
	fake_close(&w);
}

static void tells_violations_once(void **state)
{
	struct kept k = {0};

	(void)state;
	fake_open(&w, true);
	fake_instance("i-9", "10.0.0.9", "l-9", INSTANCE_RUNNING)->launch_time_ms = 1000;
	looks(&k, "terminate ");
	looks(&k, "terminate ");
	assert_int_equal(count(events("invariant"), "machine-without-row: machine i-9 "), 1);
	/* it is over, and comes again */
	fake.cloud.v[0].state = INSTANCE_TERMINATED;
	looks(&k, "terminate ");
	fake.cloud.v[0].state = INSTANCE_RUNNING;
	looks(&k, "terminate ");
	assert_int_equal(count(events("invariant"), "machine-without-row"), 2);
	kept_clear(&k);
	fake_close(&w);
}

static void a_freeze_begins_and_ends(void **state)
{
	struct kept k = {0};
	char until[24], *text;
	bool frozen;

	(void)state;
	fake_open(&w, true);
	fake_instance("i-9", "10.0.0.9", "l-9", INSTANCE_RUNNING)->launch_time_ms = 1000;
	snprintf(until, sizeof until, "%lld", (long long)clock_wall_ms() + 3600000);
	put_word(FREEZE_WORD, until);
	for (int i = 0; i < 3; i++) {
		text = look(&k, &frozen);
		assert_true(frozen);
		assert_int_equal(count(text, "terminate "), 1); /* what it would do */
		free(text);
	}
	assert_int_equal(count(events("freeze"), "frozen until "), 1);
	assert_string_equal(k.concerns.plan, "terminate     orphan               instance=i-9 launch=l-9 (no node has this machine)\n");
	put_word(FREEZE_WORD, NULL);
	free(look(&k, &frozen));
	assert_false(frozen);
	assert_int_equal(count(events("freeze"), "the freeze is over"), 1);
	kept_clear(&k);
	fake_close(&w);
}

static void a_stop_is_planned(void **state)
{
	struct kept k = {0};
	char *text;

	(void)state;
	fake_open(&w, true);
	assert_int_equal(kvs_add(&fake.partitions, "q", "UP"), 0);
	assert_int_equal(kvs_add(&fake.partitions, "site", "UP"), 0);
	fake_node("q-dy-a-1", NS_IDLE | NS_CLOUD, "10.0.0.1", NULL);
	fake_instance("i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING);
	assert_int_equal(store_adopt(w.store, "q-dy-a-1", "l-1", "i-1", "10.0.0.1", NULL), 1);
	fake_age("q-dy-a-1", 3600000);
	put_word(FLEET_WORD, "STOP_REQUESTED");
	text = look(&k, NULL);
	assert_string_equal(text,
			    "partition     fleet-stop           partition=q to=DOWN (the fleet is stopped)\n"
			    "power-down    fleet-stop           to=when-idle node=q-dy-a-1 (slurm-ec2: the fleet is stopped)\n"
			    "fleet         fleet-stop           to=STOPPING (partitions are closed, nodes power down as they become free)\n");
	free(text);
	/* and the start, by what the rows remember */
	free(fake.partitions.val.v[0]);
	fake.partitions.val.v[0] = str_dup("DOWN");
	put_word(FLEET_WORD, "START_REQUESTED");
	put_word(FLEET_CLOSED_WORD, "q=UP");
	assert_int_equal(looks(&k, "partition=q to=UP"), 1);
	kept_clear(&k);
	fake_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_brake_holds),	      cmocka_unit_test(the_brake_wakes_the_loop), cmocka_unit_test(fewer_are_not_held),
	    cmocka_unit_test(tells_violations_once),  cmocka_unit_test(a_freeze_begins_and_ends), cmocka_unit_test(a_stop_is_planned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
