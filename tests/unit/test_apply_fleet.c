/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_apply_fleet.c - resources of several types and subnets: what a fleet is asked, what each kind of answer does, stages,
 * pauses, the capacity memory. */
#include "lib/apply/memory.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/node/job.h"
#include "lib/plan/plan.h"
#include "lib/state/store.h"
#include "tests/unit/fake_world.h"
#include "tests/unit/test.h"

#define SPOT "spot lowest-price m/s-a/0.5 m/s-b/0.5 c/s-a/0.5 c/s-b/0.5"
#define PLACEHOLDER "slurm q-dy-f-*"
#define ICE "InsufficientInstanceCapacity"

static struct world w;

static void add_job(struct resume_request *q, int64_t id, const char *list)
{
	struct resume_job *j = resume_request_add_job(q);

	j->id = id;
	j->priority = -1;
	assert_int_equal(strs_split(&j->nodes, list, ','), 0);
	assert_int_equal(strs_split(&q->nodes, list, ','), 0);
}

static void resume_within(const char *list, int64_t ms)
{
	struct resume_request q = {0};
	struct err e = {""};

	add_job(&q, 7, list);
	if (apply_resume(&w, &q, clock_mono_ms() + ms, &e) < 0)
		fail_msg("%s", e.text);
	resume_request_clear(&q);
}

static void resume(const char *list)
{
	resume_within(list, 5000);
}

static void offer(const char *choice, const char *what)
{
	assert_int_equal(kvs_add(&fake.offers, choice, what), 0);
}

static size_t count_events(const char *type, const char *words)
{
	struct events l = {0};
	size_t n = 0;

	assert_int_equal(store_events(w.store, &(struct event_query){.type = type}, &l, NULL), 0);
	for (size_t i = 0; i < l.n; i++)
		n += l.v[i].detail && strstr(l.v[i].detail, words);
	events_clear(&l);
	return n;
}

/* "TYPE ZONE MARKET FAILURES, ..." of the memory. */
static void memory_is(const char *expect)
{
	struct shortages l = {0};
	struct strs text = {0};
	char *all;

	assert_int_equal(store_shortages(w.store, &l, NULL), 0);
	for (size_t i = 0; i < l.n; i++)
		strs_addf(&text, "%s %s %s %d", l.v[i].of.type, l.v[i].of.zone, l.v[i].of.market, l.v[i].failures);
	all = strs_join(&text, ", ");
	assert_string_equal(all, expect);
	free(all);
	strs_clear(&text);
	shortages_clear(&l);
}

static void put_shortage(const char *type, const char *zone, const char *market, int64_t until_ms, int64_t probe_until_ms)
{
	struct shortages l = {0};
	struct shortage *s = shortages_add(&l, type, zone, market);

	s->code = str_dup(ICE);
	s->failures = 1;
	s->failed_ms = clock_wall_ms() - 1000;
	s->until_ms = until_ms;
	s->probe_until_ms = probe_until_ms;
	assert_int_equal(store_shortage_put(w.store, s, NULL), 0);
	shortages_clear(&l);
}

/* Addresses come from a read, at once, and the machines' types are in the events. */
static void launches_and_learns_addresses(void **state)
{
	(void)state;
	fake_open(&w, true);
	offer("m/s-a", "1");
	resume("q-dy-f-1,q-dy-f-2");
	EXPECT_TRACE(PLACEHOLDER, "ec2 fleet 0 2 " SPOT, "ec2 describe instance-id",
		     "slurm q-dy-f-1=10.0.0.1 q-dy-f-2=10.0.0.2 extra={\"slurm-ec2\":\"l-*");
	assert_string_equal(fake_row(&w, "q-dy-f-2"), "BOUND i-2");
	assert_int_equal(fake_open_launches(&w), 0);
	assert_int_equal(count_events("launch", "stage 0, jobs 7: 2 of 2 machines for q/f: 1 m za, 1 m zb"), 1);
	assert_int_equal(count_events("launch-refused", "m in s-a: " ICE ": no m in s-a"), 1); /* beside machines */
	assert_int_equal(count_events("bind", "m zb"), 1);
	memory_is("m za spot 1");
	fake_close(&w);
}

/* EC2 knows a least number for one type or one zone only. */
static void names_only_what_is_open(void **state)
{
	(void)state;
	fake_open(&w, true);
	put_shortage("m", "za", "spot", clock_wall_ms() + 60000, 0);
	put_shortage("m", "zb", "spot", clock_wall_ms() + 60000, 0);
	w.gen->resources[1].n_stages--; /* no stage follows */
	resume("q-dy-f-1,q-dy-f-2");
	EXPECT_TRACE(PLACEHOLDER, "ec2 fleet 2 2 spot lowest-price c/s-a/0.5 c/s-b/0.5", "ec2 describe instance-id", "slurm *");
	w.gen->resources[1].n_stages++;
	fake_close(&w);
}

static void orders_prioritized_types(void **state)
{
	(void)state;
	fake_open(&w, true);
	free(w.gen->resources[1].allocation_strategy);
	w.gen->resources[1].allocation_strategy = str_dup("capacity-optimized-prioritized");
	offer("m/", ICE);
	offer("c/", ICE);
	resume("q-dy-f-1");
	EXPECT_TRACE(PLACEHOLDER,
		     "ec2 fleet 0 1 spot capacity-optimized-prioritized m/s-a/0.5#0 m/s-b/0.5#0 c/s-a/0.5#1 c/s-b/0.5#1",
		     "ec2 fleet 1 1 on-demand prioritized m/s-b#0", "slurm q-dy-f-1 state=1 (Code:" ICE ")*", "comment 7 *");
	fake_close(&w);
}

static void goes_to_the_next_stage(void **state)
{
	(void)state;
	fake_open(&w, true);
	offer("c/", ICE);
	offer("m/s-a", ICE);
	offer("m/s-b/0.5", "0");
	resume("q-dy-f-1,q-dy-f-2");
	EXPECT_TRACE(PLACEHOLDER, "ec2 fleet 0 2 " SPOT, "ec2 fleet 2 2 on-demand lowest-price m/s-b", "ec2 describe instance-id",
		     "slurm *");
	assert_string_equal(fake_row(&w, "q-dy-f-1"), "BOUND i-1");
	assert_int_equal(fake_open_launches(&w), 0);
	memory_is("c za spot 1, c zb spot 1, m za spot 1, m zb spot 1");
	/* the next run knows */
	resume("q-dy-f-3");
	EXPECT_TRACE(PLACEHOLDER, "ec2 fleet 1 1 on-demand lowest-price m/s-b", "ec2 describe instance-id", "slurm *");
	fake_close(&w);
}

static void test_B21_fleet_without_instances_or_errors(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake.fleet_empty = 2;
	resume("q-dy-f-1,q-dy-f-2");
	EXPECT_TRACE(PLACEHOLDER, "ec2 fleet 0 2 " SPOT, "ec2 fleet 2 2 on-demand *",
		     "slurm q-dy-f-1 q-dy-f-2 state=1 (Code:" ICE ")Failure when resuming nodes", "comment 7 slurm-ec2: " ICE);
	assert_int_equal(fake_open_launches(&w), 0);
	assert_int_equal(count_events("launch-refused", ICE ": EC2 said nothing more"), 2);
	fake_close(&w);
}

/* ---- throttled inside an answered fleet */

static int runs;

static void heal_after_first(void)
{
	if (++runs == 2)
		kvs_clear(&fake.offers);
}

static void test_B19_throttled_fleet_is_asked_again(void **state)
{
	(void)state;
	fake_open(&w, true);
	runs = 0;
	fake.on_run = heal_after_first;
	offer("m/", "RequestLimitExceeded");
	offer("c/", "RequestLimitExceeded");
	resume("q-dy-f-1,q-dy-f-2");
	EXPECT_TRACE(PLACEHOLDER, "ec2 fleet 0 2 " SPOT, "ec2 fleet 0 2 " SPOT, "ec2 describe instance-id", "slurm *");
	assert_string_equal(fake_row(&w, "q-dy-f-1"), "BOUND i-1");
	assert_int_equal(fake_open_launches(&w), 0);
	memory_is("");
	fake_close(&w);
}

/* Only the throttled choice is asked again; the other is short, and remembered. */
static void test_B19_throttled_beside_short(void **state)
{
	(void)state;
	fake_open(&w, true);
	runs = 0;
	fake.on_run = heal_after_first;
	offer("m/", ICE);
	offer("c/s-a", ICE);
	offer("c/s-b", "RequestLimitExceeded");
	resume("q-dy-f-1");
	EXPECT_TRACE(PLACEHOLDER, "ec2 fleet 0 1 " SPOT, "ec2 fleet 1 1 spot lowest-price c/s-b/0.5", "ec2 describe instance-id",
		     "slurm *");
	memory_is("c za spot 1, m za spot 1, m zb spot 1");
	fake_close(&w);
}

/* The time is over first: a row that was never sent is clustermgtd's, and nobody is disabled. */
static void test_B19_throttled_until_the_limit(void **state)
{
	(void)state;
	fake_open(&w, true);
	offer("m/", "RequestLimitExceeded");
	offer("c/", "Throttling");
	resume_within("q-dy-f-1,q-dy-f-2", 300);
	EXPECT_TRACE(PLACEHOLDER, "ec2 fleet 0 2 " SPOT);
	assert_string_equal(fake_row(&w, "q-dy-f-1"), "LAUNCHING");
	assert_int_equal(fake_open_launches(&w), 1);
	memory_is("");
	fake_close(&w);
}

/* A wrong request fails at any size and in each stage. */
static void fails_what_is_not_allowed(void **state)
{
	(void)state;
	fake_open(&w, true);
	offer("m/", "UnauthorizedOperation");
	offer("c/", "UnauthorizedOperation");
	resume("q-dy-f-1");
	EXPECT_TRACE(PLACEHOLDER, "ec2 fleet 0 1 " SPOT, "slurm q-dy-f-1 state=1 (Code:UnauthorizedOperation)*",
		     "comment 7 slurm-ec2: UnauthorizedOperation: no m in s-a: `slurm-ec2 policy` prints *");
	memory_is("");
	fake_close(&w);
}

/* ---- records that come late or never */

static void test_B34_an_instance_that_no_read_shows(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake.unlisted = "i-1";
	resume_within("q-dy-f-1,q-dy-f-2", 700);
	assert_true(fake.trace.n > 4);
	assert_true(str_prefix(fake.trace.v[3], "slurm q-dy-f-2=10.0.0.2 extra=")); /* told at once */
	assert_string_equal(fake.trace.v[fake.trace.n - 1], "ec2 describe instance-id"); /* asked on; nothing terminated */
	assert_string_equal(fake_row(&w, "q-dy-f-1"), "BOUND i-1");
	assert_int_equal(fake_open_launches(&w), 1);
	fake_close(&w);
}

static void test_B35_records_without_an_address_are_kept(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake.hide_ip = 2;
	resume("q-dy-f-1,q-dy-f-2");
	EXPECT_TRACE(PLACEHOLDER, "ec2 fleet 0 2 " SPOT, "ec2 describe instance-id", "ec2 describe instance-id",
		     "ec2 describe instance-id", "slurm q-dy-f-1=10.0.0.1 q-dy-f-2=10.0.0.2 extra=*");
	assert_string_equal(fake_row(&w, "q-dy-f-1"), "BOUND i-1");
	assert_int_equal(fake_open_launches(&w), 0);
	fake_close(&w);
}

static void test_B42_nodes_with_a_machine_are_not_launched_again(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake_instance("i-old1", "10.0.9.1", "l-old", INSTANCE_RUNNING);
	fake_instance("i-old2", "10.0.9.2", "l-old", INSTANCE_RUNNING);
	assert_int_equal(store_adopt(w.store, "q-dy-f-1", "l-old", "i-old1", "10.0.9.1", NULL), 1);
	assert_int_equal(store_adopt(w.store, "q-dy-f-2", "l-old", "i-old2", "10.0.9.2", NULL), 1);
	fake_age("q-dy-f-1", 60000);
	fake_age("q-dy-f-2", 60000);
	resume("q-dy-f-1,q-dy-f-2,q-dy-f-3,q-dy-f-4");
	EXPECT_TRACE("slurm q-dy-f-3=203.0.113.1 q-dy-f-4=203.0.113.1 extra=", "ec2 describe instance-id",
		     "slurm q-dy-f-1=10.0.9.1 q-dy-f-2=10.0.9.2 extra={\"slurm-ec2\":\"l-old*", "ec2 fleet 0 2 " SPOT,
		     "ec2 describe instance-id", "slurm q-dy-f-3=10.0.0.3 q-dy-f-4=10.0.0.4 extra=*");
	assert_string_equal(fake_row(&w, "q-dy-f-1"), "BOUND i-old1");
	assert_string_equal(fake_row(&w, "q-dy-f-3"), "BOUND i-3");
	fake_close(&w);
}

/* ---- lost answers: what a replay does not list is found by its tag */

static void open_fleet(const char *id, const char *nodes, const char *request, int stage)
{
	struct launch l = {.id = str_dup(id), .queue = str_dup("q"), .resource = str_dup("f"), .min_count = 1, .stage = stage,
			   .created_ms = clock_wall_ms(), .pid = 1};

	assert_int_equal(strs_split(&l.nodes, nodes, ','), 0);
	assert_int_equal(strs_add(&l.jobs, "7"), 0);
	assert_int_equal(store_launch_claim(w.store, &l, NULL, NULL), 0);
	assert_int_equal(store_launch_request(w.store, id, request, NULL), 0);
	free(l.id);
	free(l.queue);
	free(l.resource);
	strs_clear(&l.nodes);
	strs_clear(&l.jobs);
}

static void retry(const char *id)
{
	struct plan p = {0};
	struct action *a = plan_add(&p, ACT_LAUNCH_RETRY, "test");

	a->launch = str_dup(id);
	a->reason = str_dup("why");
	a->generation = -1;
	assert_int_equal(apply_plan(&w, &p, NULL, clock_mono_ms() + 5000), 0);
	plan_clear(&p);
}

static void a_lost_answer_is_found_by_tag(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake_instance("i-1", "10.0.0.1", "l-1", INSTANCE_PENDING);
	open_fleet("l-1", "q-dy-f-1,q-dy-f-2", "fleet l-1 0 2 spot - m/s-a m/s-b", 0);
	retry("l-1");
	EXPECT_TRACE("ec2 fleet 0 2 spot - m/s-a m/s-b", "ec2 describe tag:slurm-ec2:launch", "slurm q-dy-f-1=10.0.0.1 extra=*",
		     "ec2 fleet 0 1 " SPOT, "ec2 describe instance-id", "slurm q-dy-f-2=10.0.0.2 extra=*");
	assert_string_equal(fake_row(&w, "q-dy-f-1"), "BOUND i-1");
	assert_string_equal(fake_row(&w, "q-dy-f-2"), "BOUND i-2");
	assert_int_equal(fake_open_launches(&w), 0);
	memory_is("");
	fake_close(&w);
}

static void a_lost_answer_stays_open_while_ec2_is_away(void **state)
{
	(void)state;
	fake_open(&w, true);
	fake.ec2_away = true;
	fake_instance("i-1", "10.0.0.1", "l-1", INSTANCE_PENDING);
	open_fleet("l-1", "q-dy-f-1", "fleet l-1 0 1 spot - m/s-a m/s-b", 0);
	retry("l-1");
	EXPECT_TRACE("ec2 fleet 0 1 *", "ec2 describe tag:slurm-ec2:launch");
	assert_string_equal(fake_row(&w, "q-dy-f-1"), "LAUNCHING");
	assert_int_equal(fake_open_launches(&w), 1);
	fake_close(&w);
}

/* ---- what a retried row did not get goes through a plan from its stage on */

static void a_retry_goes_to_the_next_stage(void **state)
{
	(void)state;
	fake_open(&w, true);
	offer("m/s-a", "1");
	offer("m/s-b/0.5", ICE);
	offer("c/", ICE);
	open_fleet("l-1", "q-dy-f-1,q-dy-f-2", "fleet l-1 0 2 spot - m/s-a/0.5 m/s-b/0.5 c/s-a/0.5 c/s-b/0.5", 0);
	retry("l-1");
	EXPECT_TRACE("ec2 fleet 0 2 *", "ec2 describe tag:slurm-ec2:launch", "ec2 describe instance-id",
		     "slurm q-dy-f-1=10.0.0.1 extra=*", "ec2 fleet 1 1 on-demand *", "ec2 describe instance-id",
		     "slurm q-dy-f-2=10.0.0.2 extra=*");
	assert_int_equal(fake_open_launches(&w), 0);
	memory_is("c za spot 1, c zb spot 1, m za spot 1, m zb spot 1");
	fake_close(&w);
}

static void a_retry_fails_after_the_last_stage(void **state)
{
	(void)state;
	fake_open(&w, true);
	offer("m/", ICE);
	open_fleet("l-1", "q-dy-f-1", "fleet l-1 1 1 on-demand - m/s-b", 1);
	retry("l-1");
	EXPECT_TRACE("ec2 fleet 1 1 on-demand - m/s-b", "ec2 describe tag:slurm-ec2:launch",
		     "slurm q-dy-f-1 state=1 (Code:" ICE ")Failure when resuming nodes", "comment 7 slurm-ec2: " ICE ": no m in s-b");
	assert_int_equal(fake_open_launches(&w), 0);
	assert_string_equal(fake_row(&w, "q-dy-f-1"), "FREE");
	memory_is("m zb on-demand 1");
	fake_close(&w);
}

/* The claim of the throttled row moves to a new one, with a new token; it is sent in the next loop. */
static void a_retry_leaves_throttled_nodes_to_the_next_loop(void **state)
{
	struct launches l = {0};

	(void)state;
	fake_open(&w, true);
	offer("m/", "RequestLimitExceeded");
	open_fleet("l-1", "q-dy-f-1", "fleet l-1 1 1 on-demand - m/s-b", 1);
	retry("l-1");
	EXPECT_TRACE("ec2 fleet 1 1 on-demand - m/s-b", "ec2 describe tag:slurm-ec2:launch");
	assert_string_equal(fake_row(&w, "q-dy-f-1"), "LAUNCHING");
	assert_int_equal(store_launches_open(w.store, &l, NULL), 0);
	assert_int_equal(l.n, 1);
	assert_string_not_equal(l.v[0].id, "l-1");
	assert_int_equal(l.v[0].stage, 1);
	kvs_clear(&fake.offers);
	retry(l.v[0].id);
	EXPECT_TRACE("ec2 fleet 1 1 on-demand *", "ec2 describe *", "ec2 describe *", "slurm q-dy-f-1=10.0.0.1 extra=*");
	assert_int_equal(fake_open_launches(&w), 0);
	launches_clear(&l);
	fake_close(&w);
}

/* ---- probes */

static int64_t probe_seen;

static void see_probe(void)
{
	struct shortages l = {0};

	assert_int_equal(store_shortages(w.store, &l, NULL), 0);
	for (size_t i = 0; i < l.n; i++)
		probe_seen += l.v[i].probe_until_ms > clock_wall_ms();
	shortages_clear(&l);
}

static void close_offerings(int64_t until_ms, int64_t probe_until_ms)
{
	w.gen->resources[1].n_stages = 1;
	put_shortage("m", "za", "spot", until_ms, probe_until_ms);
	put_shortage("m", "zb", "spot", until_ms, probe_until_ms);
	put_shortage("c", "za", "spot", until_ms, probe_until_ms);
	put_shortage("c", "zb", "spot", until_ms, probe_until_ms);
}

static void a_probe_is_claimed_and_comes_to_an_end(void **state)
{
	(void)state;
	fake_open(&w, true);
	close_offerings(clock_wall_ms() - 1, 0);
	probe_seen = 0;
	fake.on_run = see_probe;
	resume("q-dy-f-1");
	EXPECT_TRACE(PLACEHOLDER, "ec2 fleet 0 1 " SPOT, "ec2 describe instance-id", "slurm *");
	assert_int_equal(probe_seen, 4);
	probe_seen = 0;
	see_probe();
	assert_int_equal(probe_seen, 0);
	w.gen->resources[1].n_stages = 2;
	fake_close(&w);
}

static void closed_offerings_are_not_asked(void **state)
{
	(void)state;
	fake_open(&w, true);
	close_offerings(clock_wall_ms() + 60000, 0);
	resume("q-dy-f-1");
	EXPECT_TRACE(PLACEHOLDER, "slurm q-dy-f-1 state=1 (Code:" ICE ")Failure when resuming nodes", "comment 7 slurm-ec2: " ICE);
	w.gen->resources[1].n_stages = 2;
	fake_close(&w);
}

static void gate_is(struct memory *m, enum gate expect, size_t n_closed)
{
	static const struct resume_choice choices[] = {{0, 0}, {1, 0}};
	const struct resume_step s = {.resource = 1, .choices = choices, .n_choices = 2, .probe = true};
	struct resume_refusal *closed;
	size_t n;

	assert_int_equal(memory_gate(&w, m, &s, &closed, &n, NULL), expect);
	assert_int_equal(n, n_closed);
	free(closed);
}

static void one_process_probes(void **state)
{
	struct memory us = {.denied_ms = 0}, other = {.denied_ms = 0};
	int64_t now = clock_wall_ms();

	(void)state;
	fake_open(&w, true);
	gate_is(&us, GATE_GO, 0); /* nothing is short any more */
	put_shortage("m", "za", "spot", now - 1, 0);
	put_shortage("c", "za", "spot", now - 1, 0);
	gate_is(&other, GATE_GO, 0);
	gate_is(&us, GATE_LATER, 0);
	gate_is(&other, GATE_GO, 0); /* a second call of the process that has it */
	assert_int_equal(us.held.n, 0);
	memory_release(&w, &other);
	gate_is(&us, GATE_GO, 0);
	put_shortage("m", "za", "spot", now + 60000, 0); /* it found none */
	gate_is(&other, GATE_LATER, 1); /* c is still with us */
	memory_release(&w, &us);
	gate_is(&other, GATE_CLOSED, 1);
	put_shortage("m", "za", "spot", now - 1, now + 60000);
	other.denied_ms = now - 20000;
	gate_is(&other, GATE_CLOSED, 2); /* waited long enough */
	memory_clear(&us);
	memory_clear(&other);
	fake_close(&w);
}

/* ---- jobs by priority */

static void serves_jobs_by_priority(void **state)
{
	struct resume_request q = {0};

	(void)state;
	fake_open(&w, true);
	fake.capacity = 2;
	assert_int_equal(kvs_add(&fake.priorities, "7", "10"), 0);
	assert_int_equal(kvs_add(&fake.priorities, "8", "1000"), 0);
	add_job(&q, 7, "q-dy-a-1,q-dy-a-2");
	add_job(&q, 8, "q-dy-a-3,q-dy-a-4");
	assert_int_equal(apply_resume(&w, &q, clock_mono_ms() + 2000, NULL), 0);
	assert_string_equal(fake.trace.v[1], "priorities");
	assert_int_equal(strncmp(fake_row(&w, "q-dy-a-3"), "BOUND", 5), 0);
	assert_string_equal(fake_row(&w, "q-dy-a-1"), "FREE");
	resume_request_clear(&q);
	fake_close(&w);
}

/* ---- a queue in another region */

static void launches_and_ends_in_the_queues_cloud(void **state)
{
	static const char *const node[] = {"far-dy-b-1"};

	(void)state;
	fake_open(&w, true);
	fake_second_cloud(&w);
	w.gen->resources[w.gen->n_resources - 1].single = true;
	fake.hide_ip = 1;
	resume("far-dy-b-1");
	EXPECT_TRACE("slurm far-dy-b-1=203.0.113.1 extra=", "ec2 second run min 1 max 1", "ec2 second describe instance-id",
		     "slurm far-dy-b-1=10.0.0.1 extra=*");
	assert_int_equal(apply_suspend(&w, node, 1, clock_mono_ms() + 2000, NULL), 0);
	EXPECT_TRACE("ec2 second terminate i-1", "slurm far-dy-b-1=203.0.113.1 extra=");
	fake_close(&w);
}

/* Nobody watches the second cloud: its nodes are refused, those of the first are served. */
static void refuses_a_cloud_that_nobody_watches(void **state)
{
	int64_t now = clock_wall_ms();

	(void)state;
	fake_open(&w, true);
	fake_second_cloud(&w);
	w.gen->resources[w.gen->n_resources - 1].single = true;
	assert_int_equal(store_source_ok(w.store, "ec2/r", now, NULL), 0);
	assert_int_equal(store_source_ok(w.store, "ec2/far", now - 301000, NULL), 0);
	assert_int_equal(store_source_failed(w.store, "ec2/far", now, "far: no", NULL), 0);
	resume("far-dy-b-1,q-dy-a-1");
	EXPECT_TRACE("slurm far-dy-b-1=203.0.113.1 extra=",
		     "slurm far-dy-b-1 state=1 (Code:NotWatched)clustermgtd cannot read EC2 in far: far: no",
		     "slurm far-dy-b-1=203.0.113.1 q-dy-a-1=203.0.113.1 extra=", "ec2 run min 1 max 1",
		     "slurm q-dy-a-1=10.0.0.1 extra=*");
	assert_string_equal(fake_row(&w, "far-dy-b-1"), "");
	assert_int_equal(store_source_ok(w.store, "ec2/far", now - 299000, NULL), 0);
	resume("far-dy-b-1");
	EXPECT_TRACE("slurm far-dy-b-1=203.0.113.1 extra=", "ec2 second run min 1 max 1", "slurm far-dy-b-1=10.0.0.2 extra=*");
	fake_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(launches_and_learns_addresses),
	    cmocka_unit_test(refuses_a_cloud_that_nobody_watches),
	    cmocka_unit_test(names_only_what_is_open),
	    cmocka_unit_test(orders_prioritized_types),
	    cmocka_unit_test(goes_to_the_next_stage),
	    cmocka_unit_test(test_B21_fleet_without_instances_or_errors),
	    cmocka_unit_test(test_B19_throttled_fleet_is_asked_again),
	    cmocka_unit_test(test_B19_throttled_beside_short),
	    cmocka_unit_test(test_B19_throttled_until_the_limit),
	    cmocka_unit_test(fails_what_is_not_allowed),
	    cmocka_unit_test(test_B34_an_instance_that_no_read_shows),
	    cmocka_unit_test(test_B35_records_without_an_address_are_kept),
	    cmocka_unit_test(test_B42_nodes_with_a_machine_are_not_launched_again),
	    cmocka_unit_test(a_lost_answer_is_found_by_tag),
	    cmocka_unit_test(a_lost_answer_stays_open_while_ec2_is_away),
	    cmocka_unit_test(a_retry_goes_to_the_next_stage),
	    cmocka_unit_test(a_retry_fails_after_the_last_stage),
	    cmocka_unit_test(a_retry_leaves_throttled_nodes_to_the_next_loop),
	    cmocka_unit_test(a_probe_is_claimed_and_comes_to_an_end),
	    cmocka_unit_test(closed_offerings_are_not_asked),
	    cmocka_unit_test(one_process_probes),
	    cmocka_unit_test(serves_jobs_by_priority),
	    cmocka_unit_test(launches_and_ends_in_the_queues_cloud),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
