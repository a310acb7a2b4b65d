/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_observe.c - a source that cannot be read is absent, and a person who asks for a dry run is told which, and why. */
#include "clustermgtd/observe.h"
#include "lib/base/clock.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/node/offering.h"
#include "lib/plan/plan.h"
#include "lib/state/store.h"
#include "tests/unit/fake_world.h"
#include "tests/unit/test.h"

static void names_what_was_not_read(void **state)
{
	static const struct {
		bool slurm_away, ec2_away;
		const char *text;
	} c[] = {
	    {false, false, ""},
	    {false, true, "EC2 was not read: EC2 says no; nothing that needs it was decided\n"},
	    {true, false, "Slurm was not read: away; nothing that needs it was decided\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(c); i++) {
		struct world w;
		struct observed o;
		struct kept k = {0};
		char text[512] = "";
		FILE *f = fmemopen(text, sizeof text, "w");

		fake_open(&w, true);
		fake.slurm_away = c[i].slurm_away;
		fake.ec2_away = c[i].ec2_away;
		observe(&w, &o, &k, 0, true);
		assert_int_equal(o.slurm, !c[i].slurm_away);
		assert_int_equal(o.ec2, !c[i].ec2_away);
		assert_true(o.rows);
		observed_print_unread(&o, f);
		fclose(f);
		assert_string_equal(text, c[i].text);
		observed_clear(&o);
		kept_clear(&k);
		fake_close(&w);
	}
}

/* Actions of one look, as text. */
static char *look(struct world *w, struct kept *k)
{
	struct observed o;
	struct plan p = {0};
	char *text;

	observe(w, &o, k, 0, false);
	assert_int_equal(observed_plan(w, &o, k, &p), 0);
	text = plan_text(&p);
	plan_clear(&p);
	observed_clear(&o);
	return text;
}

#define EXPECT_LOOK(w, k, want)                                                                                                \
	do {                                                                                                                   \
		char *text = look(w, k);                                                                                       \
		assert_string_equal(text, want);                                                                               \
		free(text);                                                                                                    \
	} while (0)

static void old_machine(const char *id, size_t cloud)
{
	struct instance *i = fake_instance(id, NULL, "l-0", INSTANCE_RUNNING);

	i->cloud = cloud;
	i->launch_time_ms = 1000;
}

/* Machines of both are seen; one that is away stops only what needs it, and resume may go on launching. */
static void reads_every_cloud(void **state)
{
	struct kept k = {0};
	struct world w;
	struct observed o;
	int64_t ok, failed;
	char *error = NULL;

	(void)state;
	fake_open(&w, false);
	fake_second_cloud(&w);
	old_machine("i-1", 0);
	old_machine("i-2", 1);
	EXPECT_LOOK(&w, &k, "terminate     orphan               instance=i-1 launch=l-0 (no node has this machine)\n"
			    "terminate     orphan               instance=i-2 launch=l-0 (no node has this machine)\n");
	observe(&w, &o, &k, 0, false);
	assert_int_equal(o.instances->n, 2);
	assert_int_equal(instances_find(o.instances, "i-1")->cloud, 0);
	assert_int_equal(instances_find(o.instances, "i-2")->cloud, 1);
	observed_clear(&o);
	fake.second_away = true;
	EXPECT_LOOK(&w, &k, "terminate     orphan               instance=i-1 launch=l-0 (no node has this machine)\n");
	observe(&w, &o, &k, 0, false);
	assert_false(o.ec2);
	assert_string_equal(o.ec2_why.text, "far: EC2 says no");
	observed_clear(&o);
	assert_int_equal(store_source(w.store, "ec2", &ok, &failed, &error, NULL), 0);
	assert_true(ok > 0 && failed == 0);
	free(error);
	assert_int_equal(store_source(w.store, "ec2/far", &ok, &failed, &error, NULL), 0); /* each on its own, too */
	assert_true(ok > 0 && failed >= ok);
	assert_string_equal(error, "far: EC2 says no");
	free(error);
	assert_int_equal(store_source(w.store, "ec2/r", &ok, &failed, NULL, NULL), 0);
	assert_true(ok > 0 && failed == 0);
	fake.ec2_away = true;
	EXPECT_LOOK(&w, &k, "");
	kept_clear(&k);
	fake_close(&w);
}

static void comes_back(void)
{
	fake.nodes.v[0].state = NS_ALLOCATED | NS_CLOUD;
	free(fake.nodes.v[0].reason);
	fake.nodes.v[0].reason = NULL;
}

/* EC2 takes its time; a node that answers again meanwhile, and has a job, is not replaced. */
static void sees_slurm_last(void **state)
{
	struct kept k = {0};
	struct world w;
	struct node *n;
	char *text;

	(void)state;
	fake_open(&w, true);
	n = fake_node("q-dy-a-1", NS_DOWN | NS_CLOUD | NS_NO_RESPOND, "10.0.0.1", NULL);
	n->reason = str_dup("Not responding");
	n->reason_time_s = clock_wall_ms() / 1000 - 3600;
	fake_instance("i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING);
	assert_int_equal(store_adopt(w.store, "q-dy-a-1", "l-1", "i-1", "10.0.0.1", NULL), 1);
	fake_age("q-dy-a-1", 3600000);
	text = look(&w, &k);
	assert_non_null(strstr(text, "terminate     node-down "));
	free(text);
	fake.on_describe = comes_back;
	text = look(&w, &k);
	assert_null(strstr(text, "terminate "));
	free(text);
	kept_clear(&k);
	fake_close(&w);
}

#define STATIC_UP                                                                                                              \
	"power-up      static-down          node=block-st-c-1 (static node)\n"                                                 \
	"power-up      static-down          node=block-st-c-2 (static node)\n"

#define HOLD(state)                                                                                                            \
	"reserve       block-not-active     reservation=slurm-ec2-cr-1 nodes=block-st-c-[1-2] " \
	"(capacity block cr-1 is " state ")\n"

static void set_block(const char *text)
{
	kvs_clear(&fake.blocks);
	if (text)
		assert_int_equal(kvs_add(&fake.blocks, "cr-1", text), 0);
}

/* Held while it is scheduled, also when EC2 cannot be asked; launched when it is active; not asked again for a while then. */
static void follows_a_block(void **state)
{
	struct kept k = {0};
	struct world w;

	(void)state;
	fake_open(&w, true);
	fake_block(&w);
	fake_node("block-st-c-1", 2 | NS_CLOUD | NS_POWERED_DOWN, NODE_ADDR_PLACEHOLDER, NULL);
	fake_node("block-st-c-2", 2 | NS_CLOUD | NS_POWERED_DOWN, NODE_ADDR_PLACEHOLDER, NULL);
	fake.ec2_away = true;
	EXPECT_LOOK(&w, &k, "");
	fake.ec2_away = false;
	set_block("scheduled");
	EXPECT_LOOK(&w, &k, HOLD("scheduled"));
	assert_int_equal(kvs_add(&fake.holds, "slurm-ec2-cr-1", "block-st-c-[1-2]"), 0);
	EXPECT_LOOK(&w, &k, "");
	set_block("active");
	strs_clear(&fake.trace);
	EXPECT_LOOK(&w, &k,
		    "unreserve     block-active         reservation=slurm-ec2-cr-1 (the capacity block is active)\n" STATIC_UP);
	EXPECT_TRACE("ec2 describe cluster", "ec2 blocks");
	kvs_clear(&fake.holds);
	EXPECT_LOOK(&w, &k, STATIC_UP);
	EXPECT_TRACE("ec2 describe cluster");
	k.blocks.read_ms -= 600001;
	fake.ec2_away = true;
	for (int i = 0; i < 2; i++) { /* not read: it is as it was told, and asked again each time */
		EXPECT_LOOK(&w, &k, STATIC_UP);
		EXPECT_TRACE("ec2 describe cluster", "ec2 blocks");
	}
	fake.ec2_away = false;
	set_block(NULL);
	EXPECT_LOOK(&w, &k, HOLD("unknown"));
	EXPECT_TRACE("ec2 describe cluster", "ec2 blocks");
	EXPECT_LOOK(&w, &k, HOLD("unknown"));
	EXPECT_TRACE("ec2 describe cluster");
	kept_clear(&k);
	fake_close(&w);
}

/* A cluster without blocks asks slurmctld once, for what an earlier generation may have left. */
static void sweeps_left_over_reservations(void **state)
{
	struct kept k = {0};
	struct world w;

	(void)state;
	fake_open(&w, true);
	assert_int_equal(kvs_add(&fake.holds, "slurm-ec2-cr-9", "n-1"), 0);
	for (int i = 0; i < 2; i++) /* it could not be deleted the first time */
		EXPECT_LOOK(&w, &k,
			    "unreserve     block-unused         reservation=slurm-ec2-cr-9 (no compute resource uses this "
			    "capacity block any more)\n");
	kvs_clear(&fake.holds);
	EXPECT_LOOK(&w, &k, "");
	assert_int_equal(k.blocks.swept, 1);
	assert_false(block_watch_compares(&w, &k.blocks));
	kept_clear(&k);
	fake_close(&w);
}

static void put_shortage(struct world *w, const char *type, int64_t failed_ms, int64_t until_ms)
{
	struct shortages l = {0};
	struct shortage *s = shortages_add(&l, type, "z", MARKET_ONDEMAND);

	s->failures = 1;
	s->failed_ms = failed_ms;
	s->until_ms = until_ms;
	assert_int_equal(store_shortage_put(w->store, s, NULL), 0);
	shortages_clear(&l);
}

/* The loop wakes when the first pool opens; what says nothing any more is deleted. */
static void keeps_the_capacity_memory(void **state)
{
	struct kept k = {0};
	struct shortages left = {0};
	struct world w;
	struct observed o;
	int64_t now = clock_wall_ms();

	(void)state;
	fake_open(&w, true);
	w.settings->capacity_retry_limit_s = 20;
	put_shortage(&w, "old.large", now - 181000, now - 21000);
	put_shortage(&w, "late.large", now - 120000, now - 21000); /* the job that met it is not tried again yet */
	put_shortage(&w, "new.large", now - 181000, now - 1000);
	put_shortage(&w, "shut.large", now - 181000, now + 50000);
	observe(&w, &o, &k, 0, false);
	assert_int_equal(o.shortages.n, 4);
	assert_int_equal(observed_wake_ms(&o, &k, INT64_MAX), now + 50000);
	assert_int_equal(observed_wake_ms(&o, &k, now + 10), now + 10);
	observed_forget(&w, &o);
	observed_clear(&o);
	assert_int_equal(store_shortages(w.store, &left, NULL), 0);
	assert_int_equal(left.n, 3);
	assert_null(shortages_find(&left, "old.large", "z", MARKET_ONDEMAND));
	shortages_clear(&left);
	kept_clear(&k);
	fake_close(&w);
}

/* ---- health */

static void set_unwell(const char *ids)
{
	strs_clear(&fake.unwell);
	assert_int_equal(strs_split(&fake.unwell, ids, ','), 0);
}

/* Ids of the unwell machines of one look, "-" if they were not read. */
static void expect_unwell(struct world *w, struct kept *k, const char *want)
{
	struct observed o;
	struct strs ids = {0};
	char *text;

	observe(w, &o, k, 0, false);
	for (size_t i = 0; o.healths && i < o.healths->n; i++)
		assert_int_equal(strs_add(&ids, o.healths->v[i].instance), 0);
	text = o.healths ? strs_join(&ids, ",") : str_dup("-");
	assert_string_equal(text, want);
	free(text);
	strs_clear(&ids);
	observed_clear(&o);
}

/* Three questions a period, not a loop; others' machines are nobody's business; unread is not well. */
static void reads_who_is_unwell(void **state)
{
	struct kept k = {0};
	struct world w;

	(void)state;
	fake_open(&w, true);
	set_unwell("i-1,i-other");
	expect_unwell(&w, &k, ""); /* no machine, no question */
	fake_instance("i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING);
	k.healths_mono_ms -= 60000;
	strs_clear(&fake.trace);
	expect_unwell(&w, &k, "i-1");
	EXPECT_TRACE("ec2 describe cluster", "ec2 unwell");
	set_unwell("");
	expect_unwell(&w, &k, "i-1"); /* as it was told a moment ago */
	EXPECT_TRACE("ec2 describe cluster");
	k.healths_mono_ms -= 60000;
	fake.health_away = true;
	expect_unwell(&w, &k, "-");
	expect_unwell(&w, &k, "-");
	EXPECT_TRACE("ec2 describe cluster", "ec2 unwell", "ec2 describe cluster", "ec2 unwell"); /* asked again each time */
	fake.health_away = false;
	expect_unwell(&w, &k, "");
	fake.ec2_away = true;
	expect_unwell(&w, &k, "-");
	kept_clear(&k);
	fake_close(&w);
}

/* A cloud that was away is no cloud whose machines are well: a drain of ours would be taken back. */
static void asks_again_for_a_cloud_that_was_away(void **state)
{
	struct kept k = {0};
	struct world w;

	(void)state;
	fake_open(&w, true);
	fake_second_cloud(&w);
	old_machine("i-1", 0);
	old_machine("i-2", 1);
	set_unwell("i-1,i-2");
	expect_unwell(&w, &k, "i-1,i-2");
	k.healths_mono_ms -= 60000;
	fake.second_away = true;
	expect_unwell(&w, &k, "i-1");
	fake.second_away = false;
	expect_unwell(&w, &k, "i-1,i-2");
	kept_clear(&k);
	fake_close(&w);
}

/* ---- trouble of a source */

static size_t count_events(struct world *w, const char *type, const char *text)
{
	struct event_query q = {.type = type};
	struct events l = {0};
	size_t n = 0;

	assert_int_equal(store_events(w->store, &q, &l, NULL), 0);
	for (size_t i = 0; i < l.n; i++)
		n += strstr(l.v[i].detail, text) != NULL;
	events_clear(&l);
	return n;
}

static int64_t since(struct world *w, const char *name)
{
	struct source_rows l = {0};
	int64_t ms = -1;

	assert_int_equal(store_sources(w->store, &l, NULL), 0);
	for (size_t i = 0; i < l.n; i++)
		ms = str_eq(l.v[i].name, name) ? l.v[i].since_ms : ms;
	source_rows_clear(&l);
	return ms;
}

static void look_times(struct world *w, struct kept *k, int n)
{
	while (n-- > 0)
		free(look(w, k));
}

static void tells_trouble_at_both_ends(void **state)
{
	struct kept k = {0};
	struct world w;
	int64_t began;

	(void)state;
	fake_open(&w, true);
	fake.ec2_away = true;
	look_times(&w, &k, 1);
	began = since(&w, "ec2");
	assert_true(began > 0);
	look_times(&w, &k, 3);
	assert_int_equal(since(&w, "ec2"), began);
	assert_int_equal(since(&w, "slurm"), 0);
	assert_int_equal(count_events(&w, "source-failed", "ec2: EC2 says no"), 1);
	fake.ec2_away = false;
	look_times(&w, &k, 3);
	assert_int_equal(since(&w, "ec2"), 0);
	assert_int_equal(count_events(&w, "source-failed", ""), 1);
	assert_int_equal(count_events(&w, "source-recovered", "ec2: well again after 0 s: EC2 says no"), 1);
	kept_clear(&k);
	fake_close(&w);
}

/* Nothing can be written: the loop goes on watching, and what happened meanwhile is written when it can be. */
static void state_file_of_somebody_else(void **state)
{
	struct kept k = {0};
	struct world w;
	struct store *rw;
	struct err e = {""};

	(void)state;
	fake_open(&w, true);
	fake_instance("i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING)->launch_time_ms = 1000;
	rw = w.store;
	w.store = store_open_readonly(fake_store_path(), &e);
	assert_non_null(w.store);
	fake.ec2_away = true;
	look_times(&w, &k, 1);
	assert_true(k.sources.v[SOURCE_STATE].failing);
	fake.ec2_away = false;
	EXPECT_LOOK(&w, &k, "terminate     orphan               instance=i-1 launch=l-1 (no node has this machine)\n");
	store_close(w.store);
	w.store = rw;
	look_times(&w, &k, 1);
	assert_false(k.sources.v[SOURCE_STATE].failing);
	look_times(&w, &k, 1);
	assert_int_equal(count_events(&w, "source-recovered", "state: well again"), 1);
	assert_int_equal(count_events(&w, "source-recovered", "ec2: well again"), 1);
	kept_clear(&k);
	fake_close(&w);
}

/* ---- the clock */

static void sees_that_the_clock_was_set(void **state)
{
	static const struct {
		int64_t wall, mono, by, set;
	} c[] = {
	    {1000000, 500, 0, 0},	/* the first look */
	    {1060000, 60500, 0, 0},	/* a minute on both */
	    {1124999, 120500, 0, 0},	/* hurried a little */
	    {1185000, 180500, 0, 0},	/* again: not summed up */
	    {8445000, 240500, 7200000, 8445000}, /* two hours forward */
	    {8505000, 300500, 0, 8445000},
	    {1365000, 360500, -7200000, 1365000}, /* and back */
	    {1370000, 360500, 5000, 1370000},	  /* exactly enough */
	};
	struct clock_watch w = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(c); i++) {
		assert_int_equal(clock_watch_look(&w, c[i].wall, c[i].mono), c[i].by);
		assert_int_equal(w.set_ms, c[i].set);
	}
}

/* Machines that are hours old by the new clock only are not ended; nor are those that a daemon finds whose last loop was later. */
static void ages_begin_when_the_clock_was_set(void **state)
{
	struct kept k = {0}, fresh = {0};
	struct world w;

	(void)state;
	fake_open(&w, true);
	fake_instance("i-1", "10.0.0.1", "l-1", INSTANCE_RUNNING)->launch_time_ms = clock_wall_ms() - 7200000;
	free(look(&w, &k)); /* would end it */
	k.clock.wall_ms -= 7200000;
	EXPECT_LOOK(&w, &k, "");
	EXPECT_LOOK(&w, &k, "");
	k.clock.set_ms -= 200000;
	EXPECT_LOOK(&w, &k, "terminate     orphan               instance=i-1 launch=l-1 (no node has this machine)\n");
	assert_int_equal(store_source_ok(w.store, "loop", clock_wall_ms() + 7200000, NULL), 0);
	EXPECT_LOOK(&w, &fresh, "");
	kept_clear(&k);
	kept_clear(&fresh);
	fake_close(&w);
}

/* The clock was set back while no daemon ran, and the last loop was before that: what the rows say shows it. */
static void rows_later_than_now_are_judged(void **state)
{
	struct kept k = {0};
	struct world w;
	char *text;

	(void)state;
	fake_open(&w, true);
	fake_node("q-dy-a-1", NS_IDLE | NS_CLOUD, "10.0.0.1", NULL);
	fake_instance("i-1", "10.0.0.1", "l-1", INSTANCE_TERMINATED);
	assert_int_equal(store_adopt(w.store, "q-dy-a-1", "l-1", "i-1", "10.0.0.1", NULL), 1);
	fake_age("q-dy-a-1", -7200000);
	fake_node("q-st-a-1", NS_IDLE | NS_CLOUD | NS_POWERED_DOWN, NODE_ADDR_PLACEHOLDER, NULL);
	assert_int_equal(store_counter_set(w.store, STATIC_BACKOFF_PREFIX "q-st-a-1", clock_wall_ms() + 7200000, NULL), 0);
	free(look(&w, &k)); /* the first sight is too new to be judged */
	text = look(&w, &k);
	assert_non_null(strstr(text, "down          machine-gone         node=q-dy-a-1"));
	assert_non_null(strstr(text, "power-up      static-down          node=q-st-a-1"));
	free(text);
	kept_clear(&k);
	fake_close(&w);
}

/* ---- notes */

static void note(struct plan *p, const char *code, const char *node, const char *instance)
{
	struct action *a = plan_add(p, ACT_NOTE, code);

	a->node = str_dup(node);
	a->instance = str_dup(instance);
	a->reason = str_dup("look at it");
}

/* Once for a code, a node and a machine: not in the next loop, not after a restart; again when it had been over. */
static void notes_are_said_once(void **state)
{
	struct notes l = {0};
	struct plan p = {0}, none = {0};
	struct world w;

	(void)state;
	fake_open(&w, true);
	note(&p, "two-names", "n-1", "i-1");
	note(&p, "two-names", "n-2", "i-1");
	note(&p, "no-launch", NULL, "i-2");
	plan_add(&p, ACT_TERMINATE, "orphan")->instance = str_dup("i-3");
	notes_say(&w, &l, &p);
	notes_say(&w, &l, &none);
	notes_say(&w, &l, &p);
	assert_int_equal(count_events(&w, "note", "two-names: look at it"), 2);
	assert_int_equal(count_events(&w, "note", ""), 3);
	notes_clear(&l);
	note(&p, "two-machines", "n-1", "i-1");
	notes_say(&w, &l, &p);
	assert_int_equal(count_events(&w, "note", ""), 4);
	l.seen_ms[0] -= 3600001;
	notes_say(&w, &l, &none);
	notes_say(&w, &l, &p);
	assert_int_equal(count_events(&w, "note", ""), 5);
	notes_clear(&l);
	plan_clear(&p);
	fake_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_what_was_not_read),	     cmocka_unit_test(reads_every_cloud),
	    cmocka_unit_test(sees_slurm_last),
	    cmocka_unit_test(follows_a_block),		     cmocka_unit_test(sweeps_left_over_reservations),
	    cmocka_unit_test(keeps_the_capacity_memory),
	    cmocka_unit_test(asks_again_for_a_cloud_that_was_away),
	    cmocka_unit_test(reads_who_is_unwell),	     cmocka_unit_test(tells_trouble_at_both_ends),
	    cmocka_unit_test(state_file_of_somebody_else),   cmocka_unit_test(sees_that_the_clock_was_set),
	    cmocka_unit_test(ages_begin_when_the_clock_was_set), cmocka_unit_test(rows_later_than_now_are_judged),
	    cmocka_unit_test(notes_are_said_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
