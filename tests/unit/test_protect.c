/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_protect.c - which compute resources are protected, until when, which nodes are cycling, and what a machine that comes up
 * clears. Queue q has resources a and b; four failures in an hour protect one, at two it opens again. */
#include "tests/unit/cmocka_all.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/node/nodeset.h"
#include "lib/plan/protect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE INT64_C(60000)
#define NOW (INT64_C(30000) * MINUTE)
#define WINDOW (60 * MINUTE)
#define PROTECTED "(Code:BootFailures)" REASON_PROTECTED " until 12:00 UTC"
#define CYCLING "(Code:BootFailures)" REASON_CYCLING

#define NO_SLURM 1u
#define NO_ROWS 2u
#define NO_FAILURES 4u

/* A node; one that is up booted `up` minutes ago (0 = never) and has a row that is a minute older. */
struct one_node {
	const char *name;
	uint32_t state;
	const char *reason;
	int up;
	int slurmd_later; /* minutes from boot to the start of its slurmd */
	int row_later;    /* minutes from boot to its row, if that is not one before */
	bool no_row;
};

struct one {
	const char *why;
	const char *fails; /* "a1:30 ...": node q-dy-a-1, 30 minutes ago, oldest first; "*" behind it = over */
	struct one_node node[4];
	unsigned unread;
	int64_t count;     /* of the rule, 0 = 4, -1 = off */
	const char *want;  /* "a 4 on 20": four rows, on for 20 minutes; then the cycling nodes, then what is cleared */
};

static struct generation *make_generation(void)
{
	struct generation *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	g->resume_timeout_s = 600;
	for (const char *name = "ab"; *name; name++) {
		struct gen_resource *r = generation_add_resource(g);

		r->queue = str_dup("q");
		r->name = str_fmt("%c", *name);
		r->min_count = 1;
		r->max_count = 50;
	}
	return g;
}

static void add_failures(struct failures *l, const char *text)
{
	struct strs words = { 0 };

	assert_int_equal(strs_split(&words, text, ' '), 0);
	for (size_t i = 0; i < words.n && *words.v[i]; i++) {
		struct failure *f = failures_add(l);
		int n, minutes;
		char resource;

		assert_int_equal(sscanf(words.v[i], "%c%d:%d", &resource, &n, &minutes), 3);
		f->queue = str_dup("q");
		f->resource = str_fmt("%c", resource);
		f->node = str_fmt("q-dy-%c-%d", resource, n);
		f->instance = str_fmt("i-%zu", i);
		f->code = str_dup(i == words.n - 1 ? "newest" : "older");
		f->time_ms = NOW - minutes * MINUTE;
		f->over = str_suffix(words.v[i], "*");
	}
	strs_clear(&words);
}

static void add_node(struct nodes *nodes, struct bindings *rows, const struct one_node *o)
{
	struct node *n = nodes_add(nodes);
	struct binding *b;

	n->name = str_dup(o->name);
	n->state = o->state;
	n->reason = str_dup(o->reason);
	if (o->up) {
		n->boot_time_s = (NOW - o->up * MINUTE) / 1000;
		n->slurmd_start_s = n->boot_time_s + o->slurmd_later * 60;
	}
	if (!o->up || o->no_row)
		return;
	b = bindings_add(rows);
	b->node = str_dup(o->name);
	b->generation = 7;
	b->state = BINDING_BOUND;
	b->instance = str_dup("i-x");
	b->since_ms = NOW - o->up * MINUTE + (o->row_later ? o->row_later : -1) * MINUTE;
}

static void tell_protection(struct buf *b, const struct protection *p)
{
	for (int i = 0; i < 2; i++) {
		if (!p[i].count && !p[i].on)
			continue;
		buf_fmt(b, "%s%c %d%s", b->n ? ", " : "", "ab"[i], (int)p[i].count, p[i].on ? " on" : "");
		if (p[i].until_ms)
			buf_fmt(b, " %d", (int)((p[i].until_ms - NOW) / MINUTE));
		assert_true(p[i].until_ms == 0 || p[i].until_ms > NOW);
	}
}

static void tell_plan(struct buf *b, const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct action *a = &p->v[i];

		assert_int_equal(a->kind, ACT_FAILURES_CLEAR);
		assert_int_equal(a->generation, a->node ? 7 : -1);
		buf_fmt(b, "; clear %s%s%s to %d", a->resource, a->node ? " " : "", a->node ? a->node : "",
			(int)((NOW - atoll(a->word)) / MINUTE));
	}
}

static char *run(const struct one *o)
{
	struct generation *g = make_generation();
	struct failures failures = { 0 };
	struct nodes nodes = { 0 };
	struct bindings rows = { 0 };
	struct nodeset *cycling = nodeset_create();
	struct protection p[2];
	struct plan plan = { 0 };
	struct err e = { "" };
	struct buf b = { 0 };
	struct protect_input in = {
		.gen = g,
		.nodes = o->unread & NO_SLURM ? NULL : &nodes,
		.bindings = o->unread & NO_ROWS ? NULL : &rows,
		.failures = o->unread & NO_FAILURES ? NULL : &failures,
		.rule = { .count = o->count ? o->count : 4, .window_ms = WINDOW },
		.now_ms = NOW,
	};
	char *text;

	add_failures(&failures, o->fails);
	for (size_t i = 0; i < 4 && o->node[i].name; i++)
		add_node(&nodes, &rows, &o->node[i]);
	assert_int_equal(protect_judge(&in, p, cycling, &e), 0);
	assert_int_equal(protect_plan(&in, &plan, &e), 0);
	tell_protection(&b, p);
	text = nodeset_text(cycling);
	buf_fmt(&b, "%s%s", *text ? "; cycling " : "", text);
	free(text);
	tell_plan(&b, &plan);
	plan_clear(&plan);
	nodeset_destroy(cycling);
	nodes_clear(&nodes);
	bindings_clear(&rows);
	failures_clear(&failures);
	generation_destroy(g);
	return buf_take(&b);
}

static void check(const struct one *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *got = run(&v[i]);

		if (strcmp(got ? got : "", v[i].want))
			fail_msg("%s:\n wanted \"%s\"\n    got \"%s\"", v[i].why, v[i].want, got ? got : "");
		free(got);
	}
}

#define CHECK(table) check(table, sizeof(table) / sizeof((table)[0]))
#define OFF_NODE(name) { name, NS_IDLE | NS_CLOUD | NS_POWERED_DOWN, NULL, 0, 0, 0, false }
#define CLOSED(name) { name, NS_DOWN | NS_CLOUD | NS_POWERED_DOWN, PROTECTED, 0, 0, 0, false }

static void counts_in_a_window(void **state)
{
	static const struct one v[] = {
		{ .why = "nothing failed", .fails = "", .want = "" },
		{ .why = "too few", .fails = "a1:3 a2:2 a3:1", .want = "a 3" },
		{ .why = "enough", .fails = "a1:4 a2:3 a3:2 a4:1", .want = "a 4 on 57" },
		{ .why = "the oldest has left the window", .fails = "a1:60 a2:3 a3:2 a4:1", .want = "a 3" },
		{ .why = "it is about to leave", .fails = "a1:59 a2:58 a3:2 a4:1", .want = "a 4 on 2" },
		{ .why = "more than enough: each above half has to leave", .fails = "a1:50 a2:40 a3:30 a4:20 a5:10",
		  .want = "a 5 on 30" },
		{ .why = "each resource for itself", .fails = "a1:9 b1:8 a2:7 b2:6 a3:5 b3:4 a4:3", .want = "a 4 on 53, b 3" },
		{ .why = "a resource that the cluster has no more", .fails = "c1:4 c2:3 c3:2 c4:1", .want = "" },
		{ .why = "a row of the future: the clock went back", .fails = "a1:4 a2:3 a3:2 a4:-5", .want = "a 4 on 57" },
		{ .why = "of a far future", .fails = "a1:4 a2:3 a3:2 a4:-9000", .want = "a 3" },
		{ .why = "rows that are over", .fails = "a1:4* a2:3* a3:2 a4:1", .want = "a 2" },
		{ .why = "one is enough, if so wished", .fails = "a1:10", .count = 1, .want = "a 1 on 50" },
		{ .why = "never, if so wished", .fails = "a1:9 a1:8 a1:7 a1:6 a1:5 a1:4", .count = -1, .want = "" },
	};

	(void)state;
	CHECK(v);
}

/* Nodes that hang in set-up: slurmctld shows them DOWN+CLOUD+POWERED_DOWN, without NO_RESPOND, or back in idle~. */
static void test_B71_hanging_nodes_protect(void **state)
{
	static const struct one v[] = {
		{ .why = "as ResumeTimeout leaves them", .fails = "a1:4 a2:3 a3:2 a1:1",
		  .node = { { "q-dy-a-1", NS_DOWN | NS_CLOUD | NS_POWERED_DOWN, "ResumeTimeout reached", 0, 0, 0, false } },
		  .want = "a 4 on 57" },
		{ .why = "the same node ten times", .fails = "a1:50 a1:45 a1:40 a1:35 a1:30 a1:25 a1:20 a1:15 a1:10 a1:5",
		  .node = { OFF_NODE("q-dy-a-1") }, .want = "a 10 on 45; cycling q-dy-a-1" },
		{ .why = "a newer flag changes nothing", .fails = "a1:4 a2:3 a3:2 a4:1",
		  .node = { { "q-dy-a-1", NS_DOWN | NS_POWERED_DOWN | 1u << 29, "ResumeTimeout reached", 0, 0, 0, false } },
		  .want = "a 4 on 57" },
	};

	(void)state;
	CHECK(v);
}

/* After a start the rows are gone, and the Reason that nodes still have from before protects nothing again. */
static void test_B72_start_is_not_undone(void **state)
{
	static const struct one v[] = {
		{ .why = "no rows, nodes still closed", .fails = "", .node = { CLOSED("q-dy-a-1"), CLOSED("q-dy-a-2") }, .want = "" },
		{ .why = "one more failure does not close it", .fails = "a1:1", .node = { CLOSED("q-dy-a-2") }, .want = "a 1" },
		{ .why = "nor do two", .fails = "a1:2 a2:1", .node = { CLOSED("q-dy-a-2") }, .want = "a 2" },
	};

	(void)state;
	CHECK(v);
}

/* A static node for which EC2 has no capacity: no machine, so no row, whatever its state says. */
static void test_B73_no_capacity_is_no_failure(void **state)
{
	static const struct one v[] = {
		{ .why = "DOWN without a machine", .fails = "",
		  .node = { { "q-st-a-1", NS_DOWN | NS_CLOUD, "(Code:InsufficientInstanceCapacity)Failure when resuming nodes", 0, 0,
			      0, false } },
		  .count = 1, .want = "" },
	};

	(void)state;
	CHECK(v);
}

/* Not entered while a job of that resource runs; one success of it clears. */
static void test_B74_not_under_a_job(void **state)
{
	static const char fails[] = "a1:40 a2:30 a3:20 a4:10";
	static const struct one v[] = {
		{ .why = "a job runs", .fails = fails, .node = { { "q-dy-a-9", NS_ALLOCATED | NS_CLOUD, NULL, 90, 0, 0, false } },
		  .want = "a 4" },
		{ .why = "on a part of a node", .fails = fails, .node = { { "q-dy-a-9", NS_MIXED, NULL, 90, 0, 0, false } },
		  .want = "a 4" },
		{ .why = "and ends", .fails = fails, .node = { { "q-dy-a-9", NS_IDLE | NS_COMPLETING, NULL, 90, 0, 0, false } },
		  .want = "a 4" },
		{ .why = "on a node that will drain, or is not heard", .fails = fails,
		  .node = { { "q-dy-a-9", NS_ALLOCATED | NS_DRAIN | NS_NO_RESPOND, NULL, 90, 0, 0, false } }, .want = "a 4" },
		{ .why = "and the nodes are closed already", .fails = fails,
		  .node = { CLOSED("q-dy-a-1"), { "q-dy-a-9", NS_ALLOCATED, NULL, 90, 0, 0, false } }, .want = "a 4" },
		{ .why = "it waits for its machine", .fails = fails,
		  .node = { { "q-dy-a-9", NS_ALLOCATED | NS_POWERING_UP, NULL, 0, 0, 0, false } }, .want = "a 4 on 30" },
		{ .why = "of the other resource", .fails = fails, .node = { { "q-dy-b-9", NS_ALLOCATED, NULL, 90, 0, 0, false } },
		  .want = "a 4 on 30" },
		{ .why = "it dies with its node", .fails = fails,
		  .node = { { "q-dy-a-9", NS_DOWN | NS_COMPLETING, NULL, 90, 0, 0, false } }, .want = "a 4 on 30" },
		{ .why = "a machine came up since", .fails = fails, .node = { { "q-dy-a-9", NS_IDLE, NULL, 5, 1, 0, false } },
		  .want = "a 4 on 30; clear q/a to 10" },
		{ .why = "and its job runs", .fails = fails, .node = { { "q-dy-a-9", NS_ALLOCATED, NULL, 5, 1, 0, false } },
		  .want = "a 4; clear q/a to 10" },
		{ .why = "of the other resource", .fails = fails, .node = { { "q-dy-b-9", NS_IDLE, NULL, 5, 1, 0, false } },
		  .want = "a 4 on 30" },
	};

	(void)state;
	CHECK(v);
}

static void knows_who_came_up(void **state)
{
	static const char fails[] = "a1:20 a2:10";
	static const struct one v[] = {
		{ .why = "before the last failure", .fails = fails, .node = { { "q-dy-a-9", NS_IDLE, NULL, 12, 1, 0, false } },
		  .want = "a 2" },
		{ .why = "it began before, and came after", .fails = fails,
		  .node = { { "q-dy-a-9", NS_IDLE, NULL, 12, 3, 0, false } }, .want = "a 2; clear q/a to 10" },
		{ .why = "it still boots", .fails = fails,
		  .node = { { "q-dy-a-9", NS_IDLE | NS_POWERING_UP, NULL, 5, 1, 0, false } }, .want = "a 2" },
		{ .why = "it is not heard", .fails = fails,
		  .node = { { "q-dy-a-9", NS_IDLE | NS_NO_RESPOND, NULL, 5, 1, 0, false } }, .want = "a 2" },
		{ .why = "Slurm refuses its hardware", .fails = fails,
		  .node = { { "q-dy-a-9", NS_IDLE | NS_DRAIN | NS_INVALID_REG, NULL, 5, 1, 0, false } }, .want = "a 2" },
		{ .why = "it is DOWN", .fails = fails, .node = { { "q-dy-a-9", NS_DOWN, NULL, 5, 1, 0, false } }, .want = "a 2" },
		{ .why = "it is powered down: the times are of a former life", .fails = fails,
		  .node = { { "q-dy-a-9", NS_IDLE | NS_POWERED_DOWN, NULL, 5, 1, 0, false } }, .want = "a 2" },
		{ .why = "it is no machine of ours", .fails = fails, .node = { { "q-dy-a-9", NS_IDLE, NULL, 5, 1, 0, true } },
		  .want = "a 2" },
		{ .why = "its row is younger", .fails = fails, .node = { { "q-dy-a-9", NS_IDLE, NULL, 5, 1, 2, false } },
		  .want = "a 2" },
		{ .why = "an old machine whose slurmd was restarted", .fails = fails,
		  .node = { { "q-dy-a-9", NS_IDLE, NULL, 90, 85, 0, false } }, .want = "a 2" },
		{ .why = "the node that failed", .fails = fails, .node = { { "q-dy-a-1", NS_IDLE, NULL, 5, 1, 0, false } },
		  .want = "a 2; clear q/a to 10; clear q/a q-dy-a-1 to 20" },
		{ .why = "all are over: nothing to clear but the node's", .fails = "a1:20* a2:10*",
		  .node = { { "q-dy-a-1", NS_IDLE, NULL, 5, 1, 0, false }, { "q-dy-a-9", NS_IDLE, NULL, 5, 1, 0, false } },
		  .want = "; clear q/a q-dy-a-1 to 20" },
		{ .why = "slurmctld was not read", .fails = fails, .node = { { "q-dy-a-9", NS_IDLE, NULL, 5, 1, 0, false } },
		  .unread = NO_SLURM, .want = "a 2" },
		{ .why = "the rows were not read", .fails = fails, .node = { { "q-dy-a-9", NS_IDLE, NULL, 5, 1, 0, false } },
		  .unread = NO_ROWS, .want = "a 2" },
	};

	(void)state;
	CHECK(v);
}

static void opens_with_room(void **state)
{
	static const struct one v[] = {
		{ .why = "three are left: not yet", .fails = "a1:40 a2:30 a3:20", .node = { CLOSED("q-dy-a-1") }, .want = "a 3 on 20" },
		{ .why = "two are left", .fails = "a1:40 a2:30", .node = { CLOSED("q-dy-a-1") }, .want = "a 2" },
		{ .why = "three, and it was never closed", .fails = "a1:40 a2:30 a3:20", .node = { OFF_NODE("q-dy-a-1") },
		  .want = "a 3" },
		{ .why = "a node of the other resource is closed", .fails = "a1:40 a2:30 a3:20", .node = { CLOSED("q-dy-b-1") },
		  .want = "a 3" },
		{ .why = "a node is DOWN for another reason", .fails = "a1:40 a2:30 a3:20",
		  .node = { { "q-dy-a-1", NS_DOWN | NS_POWERED_DOWN, "by hand", 0, 0, 0, false } }, .want = "a 3" },
		{ .why = "the reason is of another life", .fails = "a1:40 a2:30 a3:20",
		  .node = { { "q-dy-a-1", NS_IDLE | NS_POWERED_DOWN, PROTECTED, 0, 0, 0, false } }, .want = "a 3" },
	};

	(void)state;
	CHECK(v);
}

static void stays_when_unread(void **state)
{
	static const char fails[] = "a1:40 a2:30 a3:20 a4:10";
	static const struct one v[] = {
		{ .why = "slurmctld: the rows alone", .fails = fails, .node = { { "q-dy-a-9", NS_ALLOCATED, NULL, 90, 0, 0, false } },
		  .unread = NO_SLURM, .want = "a 4 on 30" },
		{ .why = "the rows: what slurmctld shows", .fails = fails, .node = { CLOSED("q-dy-b-1") }, .unread = NO_FAILURES,
		  .want = "b 0 on" },
		{ .why = "and cycling nodes", .fails = fails,
		  .node = { { "q-dy-a-2", NS_DOWN | NS_POWERED_DOWN, CYCLING, 0, 0, 0, false } }, .unread = NO_FAILURES,
		  .want = "; cycling q-dy-a-2" },
		{ .why = "nothing is known", .fails = fails, .unread = NO_FAILURES | NO_SLURM, .want = "" },
	};

	(void)state;
	CHECK(v);
}

static void finds_cycling_nodes(void **state)
{
	static const struct one v[] = {
		{ .why = "four times", .fails = "a1:40* a1:30* a1:20* a1:10*", .want = "" },
		{ .why = "five times, while others come up", .fails = "a1:50* a1:40* a1:30* a1:20* a1:10*", .want = "; cycling q-dy-a-1" },
		{ .why = "the first is too old", .fails = "a1:61* a1:40* a1:30* a1:20* a1:10*", .want = "" },
		{ .why = "five of two nodes", .fails = "a1:50* a2:40* a1:30* a2:20* a1:10*", .want = "" },
	};

	(void)state;
	CHECK(v);
}

static void knows_its_reasons(void **state)
{
	(void)state;
	assert_true(protect_reason(PROTECTED));
	assert_false(protect_reason(CYCLING));
	assert_false(protect_reason(REASON_PROTECTED));
	assert_false(protect_reason(NULL));
	assert_false(protect_reason("(Code:x"));
	assert_true(protect_cycling_reason(CYCLING));
	assert_false(protect_cycling_reason(PROTECTED));
}

static void tells_the_newest_code(void **state)
{
	struct generation *g = make_generation();
	struct failures l = { 0 };
	struct protect_input in = { .gen = g, .failures = &l, .rule = { 1, WINDOW }, .now_ms = NOW };
	struct protection p[2];
	struct err e = { "" };

	(void)state;
	add_failures(&l, "a1:5 a2:4 a3:3");
	assert_int_equal(protect_judge(&in, p, NULL, &e), 0);
	assert_string_equal(p[0].code, "newest");
	assert_null(p[1].code);
	failures_clear(&l);
	generation_destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_in_a_window),	      cmocka_unit_test(test_B71_hanging_nodes_protect),
		cmocka_unit_test(test_B72_start_is_not_undone), cmocka_unit_test(test_B73_no_capacity_is_no_failure),
		cmocka_unit_test(test_B74_not_under_a_job),   cmocka_unit_test(knows_who_came_up),
		cmocka_unit_test(opens_with_room),	      cmocka_unit_test(stays_when_unread),
		cmocka_unit_test(finds_cycling_nodes),	      cmocka_unit_test(knows_its_reasons),
		cmocka_unit_test(tells_the_newest_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
