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
	struct instance *i = fake_instance(id, NULL, NULL, INSTANCE_RUNNING);

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
	EXPECT_LOOK(&w, &k, "terminate     orphan               instance=i-1 (no node has this machine)\n"
			    "terminate     orphan               instance=i-2 (no node has this machine)\n");
	observe(&w, &o, &k, 0, false);
	assert_int_equal(o.instances->n, 2);
	assert_int_equal(instances_find(o.instances, "i-1")->cloud, 0);
	assert_int_equal(instances_find(o.instances, "i-2")->cloud, 1);
	observed_clear(&o);
	fake.second_away = true;
	EXPECT_LOOK(&w, &k, "terminate     orphan               instance=i-1 (no node has this machine)\n");
	observe(&w, &o, &k, 0, false);
	assert_false(o.ec2);
	assert_string_equal(o.ec2_why.text, "far: EC2 says no");
	observed_clear(&o);
	assert_int_equal(store_source(w.store, "ec2", &ok, &failed, &error, NULL), 0);
	assert_true(ok > 0 && failed == 0);
	free(error);
	fake.ec2_away = true;
	EXPECT_LOOK(&w, &k, "");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_what_was_not_read),	     cmocka_unit_test(reads_every_cloud),
	    cmocka_unit_test(follows_a_block),		     cmocka_unit_test(sweeps_left_over_reservations),
	    cmocka_unit_test(keeps_the_capacity_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
