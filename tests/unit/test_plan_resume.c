/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_plan_resume.c - who gets the machines: a table of small worlds with every call written down. Random worlds are
 * judged by test_plan_property.
 *
 * The cloud here is a counter for each resource: a call gets all it asks for, or what is left if that reaches its minimum,
 * or nothing and a code.
 */
#include "tests/unit/cmocka_all.h"
#include "tests/unit/resume_text.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/node/nodeset.h"
#include "lib/plan/resume.h"

#include <stdlib.h>
#include <string.h>

#define N_RES 3       /* resources a, b, c of queue q */
#define MAX_JOBS 8

struct cloud {
	size_t left[N_RES];
	const char *code;          /* of a shortage; NULL = EC2 says nothing */
	const char *broken[N_RES]; /* this code for every call of the resource */
	int made;                  /* machines made, for their ids */
	struct buf log;            /* "a(3,7)=4 " a call, in the order they were asked */
};

static struct generation *make_gen(int max)
{
	static const char *const names[N_RES] = { "a", "b", "c" };
	struct generation *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	for (size_t i = 0; i < N_RES; i++) {
		struct gen_resource *r = generation_add_resource(g);

		r->queue = str_dup("q");
		r->name = str_dup(names[i]);
		r->max_count = max;
	}
	assert_int_equal(generation_index(g), 0);
	return g;
}

static void add_names(struct strs *out, const char *hostlist)
{
	struct nodeset *s = nodeset_create();
	struct err e;

	if (nodeset_parse(s, hostlist, &e))
		fail_msg("%s", e.text);
	for (size_t i = 0; i < nodeset_count(s); i++)
		assert_int_equal(strs_add(out, nodeset_get(s, i)), 0);
	nodeset_destroy(s);
}

static int answer(struct resume_plan *p, size_t step, const struct instances *got, const char *code)
{
	return resume_plan_answer(p, step, &(struct resume_answer){ .got = got, .code = code }, 1000);
}

static size_t next(struct resume_plan *p, struct resume_step *steps, size_t max)
{
	int64_t wake;

	return resume_plan_next(p, 1000, steps, max, &wake);
}

/* What EC2 would give. */
static size_t cloud_give(struct cloud *c, const struct resume_step *s, size_t n, const char **code)
{
	size_t *left = &c->left[s->resource], got = n;
	size_t min = (size_t)s->min_count < n ? (size_t)s->min_count : n;

	*code = NULL;
	if (c->broken[s->resource]) {
		*code = c->broken[s->resource];
		return 0;
	}
	if (got > *left) {
		got = *left >= min && *left ? *left : 0;
		*code = got ? NULL : c->code;
	}
	*left -= got;
	return got;
}

static void cloud_answer(struct cloud *c, struct resume_plan *p, const struct resume_step *s)
{
	struct instances l = { 0 };
	const char *code;
	size_t got = cloud_give(c, s, s->nodes->n, &code);

	buf_fmt(&c->log, "%c(%d,%zu)%c%zu ", (char)('a' + s->resource), s->min_count, s->nodes->n, got ? '=' : 'x', got);
	for (size_t i = 0; i < got; i++) {
		struct instance *one = instances_add(&l);

		one->id = str_fmt("i-%d", c->made++);
		one->state = INSTANCE_PENDING;
		one->private_ip = i % 2 ? str_dup("10.0.0.1") : NULL;
	}
	assert_int_equal(answer(p, s->id, &l, code), 0);
	instances_clear(&l);
}

static const struct resume_result *run(struct resume_plan *p, struct cloud *c)
{
	struct resume_step steps[4]; /* fewer than some rounds have, on purpose */
	const struct resume_result *r;
	struct err e = { "" };
	size_t n;

	while ((n = next(p, steps, 4)) > 0)
		for (size_t i = n; i-- > 0;) /* answers come in any order */
			cloud_answer(c, p, &steps[i]);
	r = resume_plan_result(p, &e);
	if (!r)
		fail_msg("%s", e.text);
	return r;
}

#define ICE "InsufficientInstanceCapacity"
#define LIM "LimitedInstanceCapacity"
#define AON SCALING_ALL_OR_NOTHING
#define GREEDY SCALING_GREEDY_ALL_OR_NOTHING
#define BEST SCALING_BEST_EFFORT

static const struct world {
	const char *name;
	enum scaling_strategy strategy;
	struct { int64_t priority; const char *nodes; } jobs[MAX_JOBS];
	const char *rest;   /* nodes without a job */
	const char *live;
	const char *barred;
	size_t batch;       /* 0 = 500 */
	size_t left[N_RES];
	const char *code;
	const char *broken[N_RES];
	const char *calls, *bound, *failed;
	size_t surplus;
} worlds[] = {
	{ .name = "one node", .strategy = AON, .jobs = { { -1, "q-dy-a-1" } }, .left = { 9 },
	  .calls = "a(1,1)=1 ", .bound = "q-dy-a-1", .failed = "" },
	{ .name = "nothing asked", .strategy = AON, .calls = "", .bound = "", .failed = "" },
	{ .name = "one job, all come", .strategy = AON, .jobs = { { -1, "q-dy-a-[1-4]" } }, .left = { 4 },
	  .calls = "a(4,4)=4 ", .bound = "q-dy-a-[1-4]", .failed = "" },
	{ .name = "one job, one short: asked once only", .strategy = AON, .jobs = { { -1, "q-dy-a-[1-4]" } }, .left = { 3 },
	  .code = ICE,
	  .calls = "a(4,4)x0 ", .bound = "", .failed = ICE ":q-dy-a-[1-4]" },
	{ .name = "EC2's own code is kept", .strategy = AON, .jobs = { { -1, "q-dy-a-[1-4]" } }, .left = { 3 },
	  .code = "VcpuLimitExceeded",
	  .calls = "a(4,4)x0 ", .bound = "", .failed = "VcpuLimitExceeded:q-dy-a-[1-4]" },
	{ .name = "no code at all", .strategy = AON, .jobs = { { -1, "q-dy-a-[1-4]" } }, .left = { 3 },
	  .calls = "a(4,4)x0 ", .bound = "", .failed = ICE ":q-dy-a-[1-4]" },
	/* jobs of 3 + 2 + 2 nodes, capacity 4 */
	{ .name = "3+2+2 of 4, all-or-nothing", .strategy = AON,
	  .jobs = { { -1, "q-dy-a-[1-3]" }, { -1, "q-dy-a-[4-5]" }, { -1, "q-dy-a-[6-7]" } }, .left = { 4 }, .code = ICE,
	  .calls = "a(7,7)x0 a(3,3)=3 a(2,2)x0 ", .bound = "q-dy-a-[1-3]", .failed = ICE ":q-dy-a-[4-7]" },
	{ .name = "3+2+2 of 4, greedy", .strategy = GREEDY,
	  .jobs = { { -1, "q-dy-a-[1-3]" }, { -1, "q-dy-a-[4-5]" }, { -1, "q-dy-a-[6-7]" } }, .left = { 4 }, .code = ICE,
	  .calls = "a(1,7)=4 ", .bound = "q-dy-a-[1-3]", .failed = LIM ":q-dy-a-[4-7]", .surplus = 1 },
	{ .name = "3+2+2 of 4, best-effort", .strategy = BEST,
	  .jobs = { { -1, "q-dy-a-[1-3]" }, { -1, "q-dy-a-[4-5]" }, { -1, "q-dy-a-[6-7]" } }, .left = { 4 }, .code = ICE,
	  .calls = "a(1,7)=4 ", .bound = "q-dy-a-[1-4]", .failed = LIM ":q-dy-a-5 " ICE ":q-dy-a-[6-7]" },
	{ .name = "a smaller job fits after a larger one did not", .strategy = AON,
	  .jobs = { { -1, "q-dy-a-[1-4]" }, { -1, "q-dy-a-[5-6]" } }, .left = { 3 }, .code = ICE,
	  .calls = "a(6,6)x0 a(4,4)x0 a(2,2)=2 ", .bound = "q-dy-a-[5-6]", .failed = ICE ":q-dy-a-[1-4]" },
	{ .name = "priority goes before file order", .strategy = AON,
	  .jobs = { { 10, "q-dy-a-[1-3]" }, { 90, "q-dy-a-[4-6]" }, { -1, "q-dy-a-[7-9]" } }, .left = { 6 }, .code = ICE,
	  .calls = "a(9,9)x0 a(3,3)=3 a(3,3)=3 a(3,3)x0 ", .bound = "q-dy-a-[4-6],q-dy-a-[1-3]",
	  .failed = ICE ":q-dy-a-[7-9]" },
	{ .name = "best-effort serves by priority", .strategy = BEST,
	  .jobs = { { 1, "q-dy-a-[1-3]" }, { 2, "q-dy-a-[4-6]" } }, .left = { 4 },
	  .calls = "a(1,6)=4 ", .bound = "q-dy-a-[4-6],q-dy-a-1", .failed = LIM ":q-dy-a-[2-3]" },
	{ .name = "one-node jobs share one call of any size", .strategy = AON,
	  .jobs = { { -1, "q-dy-a-1" }, { -1, "q-dy-a-2" }, { -1, "q-dy-a-3" } }, .left = { 2 }, .code = ICE,
	  .calls = "a(1,3)=2 ", .bound = "q-dy-a-[1-2]", .failed = ICE ":q-dy-a-3" },
	{ .name = "one-node jobs around a large one", .strategy = AON,
	  .jobs = { { -1, "q-dy-a-1" }, { -1, "q-dy-a-2" }, { -1, "q-dy-a-[3-9]" }, { -1, "q-dy-a-10" } }, .left = { 3 },
	  .code = ICE,
	  .calls = "a(10,10)x0 a(1,2)=2 a(7,7)x0 a(1,1)=1 ", .bound = "q-dy-a-[1-2,10]", .failed = ICE ":q-dy-a-[3-9]" },
	{ .name = "job over two resources, the second is empty: what came goes to the next job", .strategy = AON,
	  .jobs = { { -1, "q-dy-a-[1-2],q-dy-b-1" }, { -1, "q-dy-a-[3-4]" } }, .left = { 2, 0 }, .code = ICE,
	  .calls = "b(1,1)x0 a(4,4)x0 a(2,2)=2 ", .bound = "q-dy-a-[3-4]", .failed = ICE ":q-dy-a-[1-2],q-dy-b-1" },
	{ .name = "surplus of a failed job serves another without a call", .strategy = AON,
	  .jobs = { { -1, "q-dy-a-[1-2],q-dy-b-[1-2]" }, { -1, "q-dy-a-[3-4],q-dy-c-1" } }, .batch = 2, .left = { 2, 1, 5 },
	  .code = ICE,
	  .calls = "c(1,1)=1 b(2,2)x0 a(2,2)=2 a(2,2)x0 ", .bound = "q-dy-a-[3-4],q-dy-c-1",
	  .failed = LIM ":q-dy-a-[1-2] " ICE ":q-dy-b-[1-2]" },
	{ .name = "batches: the second is short, both are given back", .strategy = AON,
	  .jobs = { { -1, "q-dy-a-[1-5]" } }, .batch = 3, .left = { 4 }, .code = ICE,
	  .calls = "a(2,2)=2 a(3,3)x0 ", .bound = "", .failed = ICE ":q-dy-a-[1-3] " LIM ":q-dy-a-[4-5]", .surplus = 2 },
	{ .name = "batches of the union, the first job takes from all", .strategy = AON,
	  .jobs = { { -1, "q-dy-a-[1-3]" }, { -1, "q-dy-a-[4-6]" } }, .batch = 3, .left = { 3 }, .code = ICE,
	  .calls = "a(3,3)=3 a(3,3)x0 ", .bound = "q-dy-a-[1-3]", .failed = ICE ":q-dy-a-[4-6]" },
	{ .name = "shared nodes are launched once", .strategy = AON,
	  .jobs = { { -1, "q-dy-a-[1-2]" }, { -1, "q-dy-a-[2-3]" }, { -1, "q-dy-a-1" } }, .left = { 3 },
	  .calls = "a(3,3)=3 ", .bound = "q-dy-a-[1-3]", .failed = "" },
	{ .name = "a shared node of a failed job is not failed when a later job gets it", .strategy = AON,
	  .jobs = { { -1, "q-dy-a-[1-4]" }, { -1, "q-dy-a-[4-5]" } }, .left = { 2 }, .code = ICE,
	  .calls = "a(5,5)x0 a(4,4)x0 a(2,2)=2 ", .bound = "q-dy-a-[4-5]", .failed = ICE ":q-dy-a-[1-3]" },
	{ .name = "nodes without a job come last, as many as there are", .strategy = AON, .jobs = { { -1, "q-dy-a-[1-2]" } },
	  .rest = "q-dy-a-[1-6]", .left = { 4 }, .code = ICE,
	  .calls = "a(2,2)=2 a(1,4)=2 ", .bound = "q-dy-a-[1-4]", .failed = LIM ":q-dy-a-[5-6]" },
	{ .name = "by hand only", .strategy = AON, .rest = "q-dy-a-[1-2],q-dy-b-1", .left = { 2, 1 },
	  .calls = "b(1,1)=1 a(1,2)=2 ", .bound = "q-dy-a-[1-2],q-dy-b-1", .failed = "" },
	{ .name = "nodes without a job get what a failed job leaves", .strategy = GREEDY, .jobs = { { -1, "q-dy-a-[1-3]" } },
	  .rest = "q-dy-a-9", .left = { 2 }, .code = ICE,
	  .calls = "a(1,4)=2 ", .bound = "q-dy-a-9", .failed = LIM ":q-dy-a-[1-3]", .surplus = 1 },
	{ .name = "live nodes are left alone and count", .strategy = AON, .jobs = { { -1, "q-dy-a-[1-4]" } },
	  .live = "q-dy-a-[1-2]",
	  .left = { 2 }, .calls = "a(2,2)=2 ", .bound = "q-dy-a-[3-4]", .failed = "" },
	{ .name = "all live: no call", .strategy = AON, .jobs = { { -1, "q-dy-a-[1-2]" } }, .live = "q-dy-a-[1-2]",
	  .calls = "", .bound = "", .failed = "" },
	{ .name = "a name that is not ours fails its job", .strategy = AON,
	  .jobs = { { -1, "q-dy-a-1,other7" }, { -1, "q-dy-a-2" } },
	  .left = { 9 }, .calls = "a(1,1)=1 ", .bound = "q-dy-a-2",
	  .failed = LIM ":q-dy-a-1 InvalidNodenameError:other7" },
	{ .name = "a name that is not ours, best-effort", .strategy = BEST, .jobs = { { -1, "q-dy-a-1,other7" } },
	  .rest = "x,q-dy-a-9999",
	  .left = { 9 }, .calls = "a(1,1)=1 ", .bound = "q-dy-a-1", .failed = "InvalidNodenameError:other7,x,q-dy-a-9999" },
	{ .name = "barred nodes fail with their job, all-or-nothing", .strategy = AON,
	  .jobs = { { -1, "q-dy-a-1,q-dy-b-1" }, { -1, "q-dy-b-2" } }, .barred = "q-dy-a-[1-3]",
	  .left = { 9, 9 }, .calls = "b(1,1)=1 ", .bound = "q-dy-b-2", .failed = "BootFailures:q-dy-a-1 " LIM ":q-dy-b-1" },
	{ .name = "barred nodes, best-effort", .strategy = BEST, .jobs = { { -1, "q-dy-a-1,q-dy-b-1" } }, .rest = "q-dy-a-2",
	  .barred = "q-dy-a-[1-3]", .left = { 9, 9 }, .calls = "b(1,1)=1 ", .bound = "q-dy-b-1",
	  .failed = "BootFailures:q-dy-a-[1-2]" },
	{ .name = "a barred node that has its machine", .strategy = AON, .jobs = { { -1, "q-dy-a-[1-2]" } }, .live = "q-dy-a-[1-2]",
	  .barred = "q-dy-a-[1-3]", .calls = "", .bound = "", .failed = "" },
	{ .name = "an error that is not capacity fails its nodes, once", .strategy = AON,
	  .jobs = { { -1, "q-dy-a-[1-2]" }, { -1, "q-dy-a-3,q-dy-b-1" }, { -1, "q-dy-b-[2-3]" } }, .left = { 9, 9 },
	  .broken = { "UnauthorizedOperation" }, .calls = "b(3,3)=3 a(3,3)x0 ", .bound = "q-dy-b-[2-3]",
	  .failed = "UnauthorizedOperation:q-dy-a-[1-3] " LIM ":q-dy-b-1", .surplus = 1 },
	{ .name = "an unsupported type is not asked for again", .strategy = AON,
	  .jobs = { { -1, "q-dy-a-[1-2]" }, { -1, "q-dy-a-[3-4]" } },
	  .left = { 9 }, .broken = { "Unsupported" }, .calls = "a(4,4)x0 ", .bound = "", .failed = "Unsupported:q-dy-a-[1-4]" },
	{ .name = "best-effort, error in one resource", .strategy = BEST, .jobs = { { -1, "q-dy-a-1,q-dy-b-1" } },
	  .left = { 9, 9 },
	  .broken = { NULL, "UnauthorizedOperation" }, .calls = "b(1,1)x0 a(1,1)=1 ", .bound = "q-dy-a-1",
	  .failed = "UnauthorizedOperation:q-dy-b-1" },
	{ .name = "a name twice in a job", .strategy = AON, .jobs = { { -1, "q-dy-a-[1-2]" } }, .rest = "q-dy-a-[1-2]",
	  .left = { 2 },
	  .calls = "a(2,2)=2 ", .bound = "q-dy-a-[1-2]", .failed = "" },
	{ .name = "jobs on other resources do not wait", .strategy = AON,
	  .jobs = { { -1, "q-dy-a-[1-2]" }, { -1, "q-dy-b-[1-2]" }, { -1, "q-dy-a-[3-5]" }, { -1, "q-dy-b-[3-5]" } },
	  .left = { 2, 2 },
	  .code = ICE, .calls = "b(5,5)x0 a(5,5)x0 b(2,2)=2 a(2,2)=2 b(3,3)x0 a(3,3)x0 ", .bound = "q-dy-a-[1-2],q-dy-b-[1-2]",
	  .failed = ICE ":q-dy-a-[3-5],q-dy-b-[3-5]" },
};

static void make_request(struct resume_request *r, const struct world *w)
{
	for (size_t i = 0; i < MAX_JOBS && w->jobs[i].nodes; i++) {
		struct resume_job *j = resume_request_add_job(r);

		j->id = (int64_t)i + 1;
		j->priority = w->jobs[i].priority;
		add_names(&j->nodes, w->jobs[i].nodes);
		add_names(&r->nodes, w->jobs[i].nodes);
	}
	if (w->rest)
		add_names(&r->nodes, w->rest);
}

static bool same(const char *what, const char *world, const char *got, const char *want)
{
	if (!strcmp(got, want))
		return true;
	print_error("%s: %s\n   is \"%s\"\n  not \"%s\"\n", world, what, got, want);
	return false;
}

static bool check_world(const struct world *w)
{
	struct generation *g = make_gen(2000);
	struct resume_request request = { 0 };
	struct strs live = { 0 };
	struct resume_input in = { .gen = g, .request = &request, .live = &live, .strategy = w->strategy,
				   .batch_max = w->batch ? w->batch : 500 };
	struct nodeset *barred = nodeset_create();
	struct cloud c = { .code = w->code };
	const struct resume_result *r;
	struct resume_plan *p;
	char *bound, *failed;
	bool ok = true;

	memcpy(c.left, w->left, sizeof(c.left));
	memcpy(c.broken, w->broken, sizeof(c.broken));
	make_request(&request, w);
	if (w->live)
		add_names(&live, w->live);
	in.barred = barred;
	if (w->barred && nodeset_parse(barred, w->barred, NULL))
		fail_msg("%s", w->barred);
	p = resume_plan_create(&in, NULL);
	assert_non_null(p);
	r = run(p, &c);
	bound = binds_text(r);
	failed = fails_text(r);
	ok &= same("calls", w->name, buf_text(&c.log), w->calls);
	ok &= same("bound", w->name, bound, w->bound);
	ok &= same("failed", w->name, failed, w->failed);
	if (r->n_surplus != w->surplus) {
		print_error("%s: %zu surplus, not %zu\n", w->name, r->n_surplus, w->surplus);
		ok = false;
	}
	free(bound);
	free(failed);
	resume_plan_destroy(p);
	buf_free(&c.log);
	strs_clear(&live);
	nodeset_destroy(barred);
	resume_request_clear(&request);
	generation_destroy(g);
	return ok;
}

static void test_worlds(void **state)
{
	size_t bad = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++)
		bad += !check_world(&worlds[i]);
	assert_int_equal(bad, 0);
}

/* --- answers that are not plain */

static struct resume_plan *plan_of(struct generation *g, struct resume_request *r, struct resume_input *in, const char *job1,
				   const char *job2)
{
	const char *jobs[] = { job1, job2 };
	struct resume_plan *p;

	for (size_t i = 0; i < 2; i++) {
		if (!jobs[i])
			continue;
		struct resume_job *j = resume_request_add_job(r);

		j->id = (int64_t)i + 1;
		add_names(&j->nodes, jobs[i]);
		add_names(&r->nodes, jobs[i]);
	}
	*in = (struct resume_input){ .gen = g, .request = r, .batch_max = 500 };
	p = resume_plan_create(in, NULL);
	assert_non_null(p);
	return p;
}

static void answer_n(struct resume_plan *p, size_t step, int n, enum instance_state state, const char *code)
{
	struct instances l = { 0 };

	for (int i = 0; i < n; i++) {
		struct instance *one = instances_add(&l);

		one->id = str_fmt("i-%zu-%d", step, i);
		one->state = state;
	}
	assert_int_equal(answer(p, step, &l, code), 0);
	instances_clear(&l);
}

/* A call that could not be tried keeps its row: its nodes are neither bound nor failed, and the job's others are bound. */
static void test_leave(void **state)
{
	struct generation *g = make_gen(100);
	struct resume_request r = { 0 };
	struct resume_input in;
	struct resume_plan *p = plan_of(g, &r, &in, "q-dy-a-[1-2],q-dy-b-[1-2]", NULL);
	const struct resume_result *out;
	struct resume_step s[4];

	(void)state;
	assert_int_equal(next(p, s, 4), 2);
	assert_int_equal(next(p, s + 2, 2), 0); /* waits */
	answer_n(p, s[0].id, 2, INSTANCE_PENDING, NULL);
	assert_int_equal(resume_plan_leave(p, s[1].id), 0);
	assert_int_equal(resume_plan_leave(p, s[1].id), -1); /* answered already */
	assert_int_equal(answer(p, 77, NULL, NULL), -1);
	assert_int_equal(next(p, s, 4), 0);
	out = resume_plan_result(p, NULL);
	assert_int_equal(out->n_bind, 2);
	assert_int_equal(out->n_fail, 0);
	assert_int_equal(out->n_surplus, 0);
	resume_plan_destroy(p);
	resume_request_clear(&r);
	generation_destroy(g);
}

/* EC2 may give more than was asked: a job that had failed before is served by what came for a later one. */
static void test_more_than_asked(void **state)
{
	struct generation *g = make_gen(100);
	struct resume_request r = { 0 };
	struct resume_input in;
	struct resume_plan *p = plan_of(g, &r, &in, "q-dy-a-[1-2]", "q-dy-a-3");
	const struct resume_result *out;
	struct resume_step s[4];

	(void)state;
	assert_int_equal(next(p, s, 4), 1); /* both jobs */
	answer_n(p, s[0].id, 0, INSTANCE_PENDING, ICE);
	assert_int_equal(next(p, s, 4), 1);
	assert_int_equal(s[0].nodes->n, 2);
	answer_n(p, s[0].id, 0, INSTANCE_PENDING, ICE);
	assert_int_equal(next(p, s, 4), 1);
	assert_int_equal(s[0].nodes->n, 1);
	answer_n(p, s[0].id, 3, INSTANCE_PENDING, NULL);
	assert_int_equal(next(p, s, 4), 0);
	out = resume_plan_result(p, NULL);
	assert_int_equal(out->n_bind, 3);
	assert_int_equal(out->n_fail, 0);
	assert_int_equal(out->n_surplus, 0);
	resume_plan_destroy(p);
	resume_request_clear(&r);
	generation_destroy(g);
}

/* Nodes that another process claimed meanwhile count as served. */
static void test_taken(void **state)
{
	struct generation *g = make_gen(100);
	struct resume_request r = { 0 };
	struct resume_input in;
	struct resume_plan *p = plan_of(g, &r, &in, "q-dy-a-[1-3]", NULL);
	const struct resume_result *out;
	struct resume_step s[4];

	(void)state;
	assert_int_equal(next(p, s, 4), 1);
	resume_plan_taken(p, "q-dy-a-2");
	resume_plan_taken(p, "never-heard-of");
	answer_n(p, s[0].id, 2, INSTANCE_RUNNING, NULL);
	assert_int_equal(next(p, s, 4), 0);
	out = resume_plan_result(p, NULL);
	assert_int_equal(out->n_bind, 2);
	assert_string_equal(out->bind[0].node, "q-dy-a-1");
	assert_string_equal(out->bind[1].node, "q-dy-a-3");
	assert_string_equal(out->bind[1].instance, "i-0-1");
	assert_int_equal(out->n_fail + out->n_surplus, 0);
	resume_plan_destroy(p);
	resume_request_clear(&r);
	generation_destroy(g);
}

/* More than asked is given back; a machine that is dead on arrival is never bound. */
static void test_odd_answers(void **state)
{
	struct generation *g = make_gen(100);
	struct resume_request r = { 0 };
	struct resume_input in;
	struct resume_plan *p = plan_of(g, &r, &in, "q-dy-a-1", "q-dy-b-1");
	const struct resume_result *out;
	struct resume_step s[4];

	(void)state;
	assert_int_equal(next(p, s, 4), 2);
	assert_int_equal(s[0].jobs->n, 1);
	assert_string_equal(s[1].jobs->v[0], "2");
	answer_n(p, s[0].id, 3, INSTANCE_PENDING, "SomeWarning"); /* nothing is short: the code is of no use */
	answer_n(p, s[1].id, 1, INSTANCE_SHUTTING_DOWN, NULL);
	assert_int_equal(next(p, s, 4), 0);
	out = resume_plan_result(p, NULL);
	assert_int_equal(out->n_bind, 1);
	assert_int_equal(out->n_fail, 1);
	assert_string_equal(out->fail[0].node, "q-dy-b-1");
	assert_int_equal(out->n_surplus, 3);
	resume_plan_destroy(p);
	resume_request_clear(&r);
	generation_destroy(g);
}

/* 10 000 nodes in 1000 jobs, where EC2 gives nothing: the number of calls stays small, whatever the number of jobs. */
static void test_large(void **state)
{
	struct generation *g = make_gen(10000);
	struct resume_request request = { 0 };
	struct resume_input in = { .gen = g, .request = &request, .strategy = AON, .batch_max = 500 };
	struct cloud c = { .code = ICE };
	const struct resume_result *r;
	struct resume_plan *p;
	int calls = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct resume_job *j = resume_request_add_job(&request);

		j->id = i;
		for (int k = 1; k <= 10; k++) {
			assert_int_equal(strs_addf(&j->nodes, "q-dy-a-%d", i * 10 + k), 0);
			assert_int_equal(strs_addf(&request.nodes, "q-dy-a-%d", i * 10 + k), 0);
		}
	}
	p = resume_plan_create(&in, NULL);
	r = run(p, &c);
	assert_int_equal(r->n_fail, 10000);
	for (const char *s = buf_text(&c.log); *s; s++)
		calls += *s == ' ';
	assert_int_equal(calls, 4 + 1); /* the batches of all that went before the first answer, then one job alone */
	resume_plan_destroy(p);
	buf_free(&c.log);
	resume_request_clear(&request);
	generation_destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worlds), cmocka_unit_test(test_leave),  cmocka_unit_test(test_more_than_asked),
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_odd_answers), cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
