/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_apply_resume.c - the order of resume's effects: address first, row before money, bind before telling, and what each kind
 * of no does. */
#include "lib/apply/bind.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/cluster/generation.h"
#include "lib/node/job.h"
#include "lib/state/store.h"
#include "tests/unit/fake_world.h"
#include "tests/unit/test.h"

static struct world w;

/* list: the nodes of one job, 7. */
static int resume_within(const char *list, int64_t ms)
{
	struct resume_request q = {0};
	struct resume_job *j = resume_request_add_job(&q);
	struct err e = {""};
	int rc;

	j->id = 7;
	j->priority = -1;
	assert_int_equal(strs_split(&j->nodes, list, ','), 0);
	assert_int_equal(strs_copy(&q.nodes, &j->nodes), 0);
	rc = apply_resume(&w, &q, clock_mono_ms() + ms, &e);
	resume_request_clear(&q);
	return rc;
}

static int resume(const char *list)
{
	return resume_within(list, 2000);
}

static void launches_and_binds(void **state)
{
	(void)state;
	fake_open(&w, true);
	assert_int_equal(resume("q-dy-a-1,q-dy-a-2"), 0);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 q-dy-a-2=203.0.113.1 extra=", "ec2 run min 2 max 2",
		     "slurm q-dy-a-1=10.0.0.1 q-dy-a-2=10.0.0.2 extra={\"slurm-ec2\":\"l-*");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "BOUND i-1");
	assert_string_equal(fake_row(&w, "q-dy-a-2"), "BOUND i-2");
	assert_int_equal(fake_open_launches(&w), 0);
	fake_close(&w);
}

static void test_B67_refuses_when_nobody_watches(void **state)
{
	(void)state;
	fake_open(&w, false);
	assert_int_equal(resume("q-dy-a-1"), -1);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=",
		     "slurm q-dy-a-1 state=1 (Code:NotWatched)clustermgtd never ran here*");
	/* too old, and then: it runs but cannot see EC2 */
	assert_int_equal(store_source_ok(w.store, "loop", clock_wall_ms() - 301000, NULL), 0);
	assert_int_equal(resume("q-dy-a-1"), -1);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=",
		     "slurm q-dy-a-1 state=1 (Code:NotWatched)clustermgtd has finished no loop for 301 s*");
	assert_int_equal(store_source_ok(w.store, "loop", clock_wall_ms() + 3600000, NULL), 0);
	assert_int_equal(resume("q-dy-a-1"), -1);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=",
		     "slurm q-dy-a-1 state=1 (Code:NotWatched)clustermgtd's last loop lies 3*");
	assert_int_equal(store_source_ok(w.store, "loop", clock_wall_ms(), NULL), 0);
	assert_int_equal(store_source_failed(w.store, "ec2", clock_wall_ms(), "no credentials", NULL), 0);
	assert_int_equal(resume("q-dy-a-1"), -1);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=",
		     "slurm q-dy-a-1 state=1 (Code:NotWatched)clustermgtd could never read EC2: no credentials");
	assert_int_equal(store_source_ok(w.store, "ec2", clock_wall_ms() - 3000, NULL), 0);
	assert_int_equal(store_source_ok(w.store, "slurm", clock_wall_ms() - 301000, NULL), 0);
	assert_int_equal(store_source_failed(w.store, "slurm", clock_wall_ms(), "refused", NULL), 0);
	assert_int_equal(resume("q-dy-a-1"), -1);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=",
		     "slurm q-dy-a-1 state=1 (Code:NotWatched)clustermgtd could not read Slurm for 301 s: refused");
	assert_int_equal(store_source_ok(w.store, "slurm", clock_wall_ms() - 299000, NULL), 0);
	assert_int_equal(store_source_failed(w.store, "health", clock_wall_ms(), "denied", NULL), 0); /* leaves no machine unwatched */
	assert_int_equal(resume("q-dy-a-1"), 0);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=", "ec2 run min 1 max 1", "slurm q-dy-a-1=10.0.0.1 extra=*");
	fake_close(&w);
}

static void fails_without_capacity(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake.capacity = 1;
	assert_int_equal(resume("q-dy-a-1,q-dy-a-2"), 0);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 q-dy-a-2=203.0.113.1 extra=", "ec2 run min 2 max 2",
		     "slurm q-dy-a-1 q-dy-a-2 state=1 (Code:InsufficientInstanceCapacity)Failure when resuming nodes",
		     "comment 7 slurm-ec2: InsufficientInstanceCapacity: no more of these");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "FREE");
	assert_int_equal(fake_open_launches(&w), 0);
	fake_close(&w);
}

/* Perhaps it happened: nothing is failed, the row waits with its request. */
static void leaves_an_unknown_answer_open(void **state)
{
	struct launches l = {0};

	(void)state;
	fake_open(&w, true);
	fake.run_class = AWS_TRANSIENT;
	assert_int_equal(resume("q-dy-a-1"), 0);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=", "ec2 run min 1 max 1");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "LAUNCHING");
	assert_int_equal(store_launches_open(w.store, &l, NULL), 0);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.v[0].state, LAUNCH_INTENT);
	assert_non_null(strstr(l.v[0].request, l.v[0].id));
	launches_clear(&l);
	/* a second run for the node leaves it alone */
	assert_int_equal(resume("q-dy-a-1"), 0);
	fake_expect_nothing();
	fake_close(&w);
}

/* A refusal that somebody can mend: EC2's code on the node, the remedy on the job and in the log. */
static void passes_on_our_own_fault(void **state)
{
	static const struct {
		const char *code, *comment;
	} c[] = {
	    {"UnauthorizedOperation", ": `slurm-ec2 policy` prints what the credentials must be allowed"},
	    {"InvalidLaunchTemplateId.NotFound", ": the launch template was deleted, run slurm-ec2 apply to make it again"},
	    {"InvalidLaunchTemplateId.VersionNotFound", ": the launch template was changed, run slurm-ec2 apply to make it again"},
	    {"InvalidParameterValue", ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(c); i++) {
		char *reason = str_fmt("slurm q-dy-a-1 state=1 (Code:%s)Failure when resuming nodes", c[i].code);
		char *comment = str_fmt("comment 7 slurm-ec2: %s%s", c[i].code, c[i].comment);

		fake_open(&w, true);
		fake.run_class = AWS_OURS;
		fake.run_code = c[i].code;
		assert_int_equal(resume("q-dy-a-1"), 0);
		EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=", "ec2 run min 1 max 1", reason, comment);
		fake_close(&w);
		free(comment);
		free(reason);
	}
}

static void free_node_1(void)
{
	assert_int_equal(store_free(w.store, "q-dy-a-1", -1, NULL, NULL), 1);
}

static void returns_what_was_suspended_meanwhile(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake.on_run = free_node_1;
	assert_int_equal(resume("q-dy-a-1,q-dy-a-2"), 0);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 q-dy-a-2=203.0.113.1 extra=", "ec2 run min 2 max 2",
		     "slurm q-dy-a-2=10.0.0.2 extra=*", "ec2 terminate i-1");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "FREE");
	assert_string_equal(fake_row(&w, "q-dy-a-2"), "BOUND i-2");
	fake_close(&w);
}

static void other_binds_i_1(void)
{
	free_node_1();
	assert_int_equal(store_adopt(w.store, "q-dy-a-3", "l-other", "i-1", "10.0.0.1", NULL), 1);
}

/* Another process worked on the same launch and gave the machine to another node. */
static void returns_no_machine_that_a_node_has(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake.on_run = other_binds_i_1;
	assert_int_equal(resume("q-dy-a-1,q-dy-a-2"), 0);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 q-dy-a-2=203.0.113.1 extra=", "ec2 run min 2 max 2",
		     "slurm q-dy-a-2=10.0.0.2 extra=*");
	assert_string_equal(fake_row(&w, "q-dy-a-3"), "BOUND i-1");
	fake_close(&w);
}

static void claim_node(const char *node, const char *id)
{
	struct launch l = {.id = str_dup(id), .queue = str_dup("q"), .resource = str_dup("a"), .min_count = 1};
	struct strs taken = {0};

	strs_add(&l.nodes, node);
	assert_int_equal(store_launch_claim(w.store, &l, &taken, NULL), 0);
	free(l.id);
	free(l.queue);
	free(l.resource);
	strs_clear(&l.nodes);
	strs_clear(&taken);
}

/* A machine of one launch goes to a node that another of ours had claimed, unless that node was suspended meanwhile. */
static void moves_a_claim_only_while_it_stands(void **state)
{
	struct strs unwanted = {0};
	struct binds b = {0};

	(void)state;
	fake_open(&w, true);
	claim_node("q-dy-a-1", "l-1");
	claim_node("q-dy-a-2", "l-2");
	free_node_1();
	assert_int_equal(binds_add(&b, "q-dy-a-1", "i-1", "10.0.0.1", "l-9", "l-1"), 0);
	assert_int_equal(binds_add(&b, "q-dy-a-2", "i-2", "10.0.0.2", "l-9", "l-2"), 0);
	assert_int_equal(binds_commit(&w, &b, &unwanted, NULL), 0);
	assert_int_equal(b.n, 1);
	assert_int_equal(unwanted.n, 1);
	assert_string_equal(unwanted.v[0], "i-1");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "FREE");
	assert_string_equal(fake_row(&w, "q-dy-a-2"), "BOUND i-2");
	strs_clear(&unwanted);
	binds_clear(&b);
	fake_close(&w);
}

static void other_claims_node_1(void)
{
	claim_node("q-dy-a-1", "l-other");
}

/* Between our look and our claim: that node is the other's, ours goes on. */
static void goes_on_beside_another_resume(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake.on_update = other_claims_node_1;
	assert_int_equal(resume("q-dy-a-1,q-dy-a-2"), 0);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 q-dy-a-2=203.0.113.1 extra=", "ec2 run min 1 max 1",
		     "slurm q-dy-a-2=10.0.0.1 extra=*");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "LAUNCHING");
	assert_int_equal(fake_open_launches(&w), 1);
	fake_close(&w);
}

static void fails_what_cannot_be_asked(void **state)
{
	(void)state;
	fake_open(&w, true);
	free(w.gen->bootstrap);
	w.gen->bootstrap = str_dup("no place for the launch");
	assert_int_equal(resume("q-dy-a-1"), 0);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=",
		     "slurm q-dy-a-1 state=1 (Code:ResumeFailed)Failure when resuming nodes: the applied boot script has no place *",
		     "comment 7 slurm-ec2: ResumeFailed: the applied boot script has no place *");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "FREE");
	assert_int_equal(fake_open_launches(&w), 0);
	fake_close(&w);
}

static void waits_for_addresses(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake.hide_ip = 2;
	assert_int_equal(resume("q-dy-a-1"), 0);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=", "ec2 run min 1 max 1", "ec2 describe instance-id",
		     "ec2 describe instance-id", "slurm q-dy-a-1=10.0.0.1 extra=*");
	assert_int_equal(fake_open_launches(&w), 0);
	fake_close(&w);
}

/* The time is over before EC2 tells: bound without an address, the row stays for clustermgtd. */
static void keeps_the_row_without_an_address(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake.hide_ip = 100;
	assert_int_equal(resume("q-dy-a-1"), 0);
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "BOUND i-1");
	assert_int_equal(fake_open_launches(&w), 1);
	fake_close(&w);
}

/* store_adopt stamps the row with now; a row that young is not doubted. */
static void does_not_doubt_a_young_binding(void **state)
{
	(void)state;
	fake_open(&w, true);
	assert_int_equal(store_adopt(w.store, "q-dy-a-1", "l-1", "i-1", "10.0.0.1", NULL), 1);
	assert_int_equal(resume("q-dy-a-1"), 0);
	fake_expect_nothing();
	fake_close(&w);
}

/* Resumed again, as after a crash of slurmctld: a second machine is launched only where the first is certainly gone. */
static void judges_an_older_binding(void **state)
{
	static const struct {
		const char *why;
		int64_t age_ms;
		int machine; /* 0 = EC2 does not list it, 99 = in a state we have no word for */
		bool away, gone;
	} cases[] = {
	    {"it boots", 10000, INSTANCE_PENDING, false, false},
	    {"it runs", 10000, INSTANCE_RUNNING, false, false},
	    {"not listed yet", 60000, 0, false, false},
	    {"not listed any more", 600000, 0, false, true},
	    {"terminated", 10000, INSTANCE_TERMINATED, false, true},
	    {"stopped", 10000, INSTANCE_STOPPED, false, true},
	    {"a state of next year", 10000, 99, false, false},
	    {"EC2 is away", 600000, INSTANCE_TERMINATED, true, false},
	    {"bound a moment ago", 1000, INSTANCE_TERMINATED, false, false},
	    {"bound before the clock was set back", -7200000, INSTANCE_TERMINATED, false, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		fake_open(&w, true);
		assert_int_equal(store_adopt(w.store, "q-dy-a-1", "l-1", "i-old", "10.0.0.9", NULL), 1);
		fake_age("q-dy-a-1", cases[i].age_ms);
		if (cases[i].machine)
			fake_instance("i-old", "10.0.0.9", "l-1",
				      cases[i].machine == 99 ? INSTANCE_UNKNOWN : (enum instance_state)cases[i].machine);
		fake.ec2_away = cases[i].away;
		assert_int_equal(resume("q-dy-a-1"), 0);
		if (str_eq(fake_row(&w, "q-dy-a-1"), "BOUND i-old") == cases[i].gone)
			fail_msg("%s: %s", cases[i].why, fake_row(&w, "q-dy-a-1"));
		fake_close(&w);
	}
}

/* suspend could not end it, and clustermgtd did not come to it: slurmctld takes no machine that booted before the power-up. */
static void ends_a_machine_older_than_the_power_up(void **state)
{
	static const struct {
		const char *why;
		uint32_t node;
		int64_t age_ms;
		bool away, ended;
	} cases[] = {
	    {"a leftover", NS_IDLE | NS_CLOUD | NS_POWERING_UP, 601000, false, true},
	    {"it may be of this power-up", NS_IDLE | NS_CLOUD | NS_POWERING_UP, 590000, false, false},
	    {"it serves (B42)", NS_ALLOCATED | NS_CLOUD, 7200000, false, false},
	    {"nobody knows", NS_IDLE | NS_CLOUD | NS_POWERING_UP, 7200000, true, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		fake_open(&w, true);
		assert_int_equal(store_adopt(w.store, "q-dy-a-1", "l-1", "i-old", "10.0.0.9", NULL), 1);
		fake_age("q-dy-a-1", cases[i].age_ms);
		fake_instance("i-old", "10.0.0.9", "l-1", INSTANCE_RUNNING);
		fake_node("q-dy-a-1", cases[i].node, "10.0.0.9", NULL);
		fake.slurm_away = cases[i].away;
		assert_int_equal(resume("q-dy-a-1"), 0);
		if (str_eq(fake_row(&w, "q-dy-a-1"), "BOUND i-old") == cases[i].ended ||
		    (instances_find(&fake.cloud, "i-old")->state == INSTANCE_RUNNING) == cases[i].ended)
			fail_msg("%s: %s", cases[i].why, fake_row(&w, "q-dy-a-1"));
		fake_close(&w);
	}
}

/* A loop saw the machine as a leftover of a powered-down node, and slurmctld wakes the node before the loop acts. */
static void keeps_its_machine_from_an_older_plan(void **state)
{
	struct bindings b = {0};
	struct plan p = {0};
	struct action *a;

	(void)state;
	fake_open(&w, true);
	assert_int_equal(store_adopt(w.store, "q-dy-a-1", "l-1", "i-old", "10.0.0.9", NULL), 1);
	fake_age("q-dy-a-1", 600000);
	fake_instance("i-old", "10.0.0.9", "l-1", INSTANCE_RUNNING);
	assert_int_equal(store_binding(w.store, "q-dy-a-1", &b, NULL), 0);
	a = plan_add(&p, ACT_TERMINATE, "powered-down");
	a->node = str_dup("q-dy-a-1");
	a->instance = str_dup("i-old");
	a->generation = b.v[0].generation;
	assert_int_equal(resume("q-dy-a-1"), 0);
	EXPECT_TRACE("ec2 describe *", "slurm q-dy-a-1=10.0.0.9 extra=*");
	assert_int_equal(apply_plan(&w, &p, NULL, clock_mono_ms() + 100), 0);
	fake_expect_nothing();
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "BOUND i-old");
	bindings_clear(&b);
	plan_clear(&p);
	fake_close(&w);
}

static void foreign_names_get_no_address(void **state)
{
	(void)state;
	fake_open(&w, true);
	assert_int_equal(resume("q-dy-a-1,q-dy-b-1"), 0);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=", "*", "*", "*");
	fake_close(&w);
}

static void goes_on_without_slurmctld(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake.slurm_away = true;
	assert_int_equal(resume("q-dy-a-1"), 0);
	assert_int_equal(fake.vain, 0);
	EXPECT_TRACE("ec2 run min 1 max 1");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "BOUND i-1");
	assert_int_equal(fake_open_launches(&w), 1);
	fake_close(&w);
}

/* The comment on the job is a courtesy. */
static void waits_for_no_comment(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake.slurm_away = true;
	fake.capacity = 0;
	assert_int_equal(resume_within("q-dy-a-1", -4900), 0); /* 100 ms are left for Slurm */
	EXPECT_TRACE("ec2 run min 1 max 1");
	assert_int_equal(fake.vain, 0);
	fake_close(&w);
}

/* The row is there, so clustermgtd goes on with it. */
static void a_signal_launches_nothing_more(void **state)
{
	(void)state;
	fake_open(&w, true);
	apply_stop = 1;
	assert_int_equal(resume("q-dy-a-1"), 0);
	EXPECT_TRACE("slurm q-dy-a-1=203.0.113.1 extra=");
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "LAUNCHING");
	assert_int_equal(fake_open_launches(&w), 1);
	fake_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(launches_and_binds),
	    cmocka_unit_test(test_B67_refuses_when_nobody_watches),
	    cmocka_unit_test(fails_without_capacity),
	    cmocka_unit_test(leaves_an_unknown_answer_open),
	    cmocka_unit_test(passes_on_our_own_fault),
	    cmocka_unit_test(returns_what_was_suspended_meanwhile),
	    cmocka_unit_test(returns_no_machine_that_a_node_has),
	    cmocka_unit_test(moves_a_claim_only_while_it_stands),
	    cmocka_unit_test(goes_on_beside_another_resume),
	    cmocka_unit_test(fails_what_cannot_be_asked),
	    cmocka_unit_test(waits_for_addresses),
	    cmocka_unit_test(keeps_the_row_without_an_address),
	    cmocka_unit_test(does_not_doubt_a_young_binding),
	    cmocka_unit_test(judges_an_older_binding), cmocka_unit_test(keeps_its_machine_from_an_older_plan),
	    cmocka_unit_test(ends_a_machine_older_than_the_power_up),
	    cmocka_unit_test(foreign_names_get_no_address),
	    cmocka_unit_test(goes_on_without_slurmctld),
	    cmocka_unit_test(waits_for_no_comment),
	    cmocka_unit_test(a_signal_launches_nothing_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
