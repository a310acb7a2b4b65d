/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_plan_stages.c - compute resources with several types, zones and stages, and the capacity memory: a table of small worlds
 * with every call written down, then cases from the field by their numbers.
 *
 * The cloud here counts machines by offering. A call takes from its choices in order; what is short is named in the answer.
 */
#include "tests/unit/cmocka_all.h"
#include "tests/unit/resume_text.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/num.h"
#include "lib/base/str.h"
#include "lib/node/nodeset.h"
#include "lib/plan/capacity.h"
#include "lib/plan/resume.h"

#include <stdlib.h>
#include <string.h>

#define START INT64_C(1760000000000)
#define MAX_RES 2
#define MAX_JOBS 6
#define ICE "InsufficientInstanceCapacity"
#define LIM "LimitedInstanceCapacity"
#define VCPU "VcpuLimitExceeded"
#define AON SCALING_ALL_OR_NOTHING
#define GREEDY SCALING_GREEDY_ALL_OR_NOTHING
#define BEST SCALING_BEST_EFFORT

struct world {
	const char *name;
	enum scaling_strategy strategy;
	const char *stages[MAX_RES]; /* of resources a, b: "spot t1,t2 z1,z2 30s; on-demand t1 z1" */
	const char *jobs[MAX_JOBS];
	const char *rest;            /* nodes without a job */
	const char *begin;           /* "NODE=STAGE ...": where an earlier run was */
	size_t batch;                /* 0 = 500 */
	const char *left;            /* "spot/t1/z1=3 on-demand/t1/z1!CODE": machines, or the code of every call; else none */
	const char *memory;          /* ":closed", ":price", ":probe", ":4" = a budget, ":old" */
	int throttled;               /* so many answers come to nothing but throttling */
	int hurry;                   /* pauses after which there is no time left; 0 = never */
	const char *calls;           /* "STAGE/CHOICES(min,n)=got"; ? = a probe, ~ = a pause */
	const char *bound, *failed;
	size_t surplus;
	const char *learned;         /* changed shortages: "spot/t1/z1" closed, ":4" a budget, "-" over; NULL = any */
};

/* --- from text */

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

static void make_stage(struct gen_resource *r, const char *text)
{
	struct gen_stage *g = gen_resource_add_stage(r);
	struct strs words = { 0 };

	assert_non_null(g);
	assert_int_equal(strs_split(&words, text, ' '), 0);
	g->capacity = str_eq(words.v[0], "spot") ? CAPACITY_SPOT : CAPACITY_ONDEMAND;
	if (str_prefix(words.v[0], MARKET_RESERVED))
		r->reserved = str_dup(words.v[0]);
	strs_split(&g->instance_types, words.v[1], ',');
	strs_split(&g->zones, words.v[2], ',');
	for (size_t i = 0; i < g->zones.n; i++)
		strs_addf(&g->subnet_ids, "subnet-%s", g->zones.v[i]);
	for (size_t i = 3; i < words.n; i++) {
		if (str_eq(words.v[i], "price"))
			g->max_price = 0.5;
		else
			assert_int_equal(num_duration_s(words.v[i], &g->time_limit_s, NULL), 0);
	}
	strs_clear(&words);
}

static struct generation *make_gen(const struct world *w)
{
	struct generation *g = calloc(1, sizeof(*g));

	for (size_t i = 0; i < MAX_RES && w->stages[i]; i++) {
		struct gen_resource *r = generation_add_resource(g);
		struct strs stages = { 0 };

		r->queue = str_dup("q");
		r->name = str_fmt("%c", (char)('a' + i));
		r->max_count = 10000;
		strs_split(&stages, w->stages[i], ';');
		for (size_t k = 0; k < stages.n; k++)
			make_stage(r, stages.v[k]);
		strs_clear(&stages);
	}
	assert_int_equal(generation_index(g), 0);
	return g;
}

/* "spot/t1/z1:closed" to a row. */
static void add_shortage(struct shortages *l, const char *text)
{
	const char *how = strrchr(text, ':') + 1;
	struct strs of = { 0 };
	struct shortage *s;
	int64_t budget = 0;

	strs_split(&of, text, '/');
	of.v[2][strcspn(of.v[2], ":")] = '\0';
	s = shortages_add(l, of.v[1], of.v[2], of.v[0]);
	s->code = str_dup(str_eq(of.v[2], ZONE_ANY) ? VCPU : ICE);
	s->failures = 2;
	s->until_ms = START + (str_eq(how, "closed") || str_eq(how, "price") ? 90000 : -1000);
	if (str_eq(how, "price")) {
		free(s->code);
		s->code = str_dup("SpotMaxPriceTooLow");
	}
	if (str_eq(how, "old"))
		s->until_ms = START - INT64_C(1000000000);
	if (num_i64(how, 1, 100000, &budget, NULL) == 0)
		s->budget = budget;
	strs_clear(&of);
}

static void make_memory(struct shortages *l, const char *text)
{
	struct strs words = { 0 };

	strs_split(&words, text ? text : "", ' ');
	for (size_t i = 0; i < words.n; i++)
		add_shortage(l, words.v[i]);
	strs_clear(&words);
}

static void make_begin(struct kvs *l, const char *text)
{
	struct strs words = { 0 };

	strs_split(&words, text ? text : "", ' ');
	for (size_t i = 0; i < words.n; i++) {
		char *at = strchr(words.v[i], '=');

		*at = '\0';
		assert_int_equal(kvs_add(l, words.v[i], at + 1), 0);
	}
	strs_clear(&words);
}

/* --- the cloud */

struct cloud {
	struct strs offering;  /* "spot/t1/z1" */
	int64_t left[16];
	const char *code[16];  /* of every call; borrowed from words */
	struct strs words;
	int throttled;
	int made;
	struct buf log;
};

static void make_cloud(struct cloud *c, const struct world *w)
{
	c->throttled = w->throttled;
	strs_split(&c->words, w->left ? w->left : "", ' ');
	for (size_t i = 0; i < c->words.n; i++) {
		char *at = strpbrk(c->words.v[i], "=!");

		if (*at == '!')
			c->code[i] = at + 1;
		else
			assert_int_equal(num_i64(at + 1, 0, 100000, &c->left[i], NULL), 0);
		*at = '\0';
		strs_add(&c->offering, c->words.v[i]);
	}
}

static void clear_cloud(struct cloud *c)
{
	strs_clear(&c->offering);
	strs_clear(&c->words);
	buf_free(&c->log);
}

static size_t find_offering(const struct cloud *c, const char *name)
{
	for (size_t i = 0; i < c->offering.n; i++)
		if (str_eq(c->offering.v[i], name))
			return i;
	return SIZE_MAX;
}

struct call {
	const struct resume_step *step;
	const struct gen_stage *stage;
	size_t at[16];         /* of each choice, SIZE_MAX = the cloud has nothing of it */
	struct instances got;
	struct resume_refusal refused[16];
	size_t n_refused;
};

static void take(struct cloud *c, struct call *k, size_t choice, size_t n)
{
	const struct resume_choice *at = &k->step->choices[choice];

	if (n == 0)
		return; /* the cloud may have no place for the choice */
	for (size_t i = 0; i < n; i++) {
		struct instance *one = instances_add(&k->got);

		one->id = str_fmt("i-%d", c->made++);
		one->state = INSTANCE_PENDING;
		one->type = str_dup(k->stage->instance_types.v[at->type]);
		one->subnet_id = str_dup(k->stage->subnet_ids.v[at->subnet]);
	}
	c->left[k->at[choice]] -= (int64_t)n;
}

static void refuse(const struct cloud *c, struct call *k, size_t choice)
{
	const struct resume_choice *at = &k->step->choices[choice];
	const char *code = k->at[choice] == SIZE_MAX ? NULL : c->code[k->at[choice]];

	k->refused[k->n_refused++] = (struct resume_refusal){ .type = k->stage->instance_types.v[at->type],
							      .subnet_id = k->stage->subnet_ids.v[at->subnet],
							      .code = code ? code : ICE };
}

/* All that is asked, or what there is if that reaches the minimum. */
static void give(struct cloud *c, struct call *k)
{
	size_t n = k->step->nodes->n, there = 0;

	for (size_t i = 0; i < k->step->n_choices; i++)
		there += k->at[i] == SIZE_MAX ? 0 : (size_t)c->left[k->at[i]];
	for (size_t i = 0; i < k->step->n_choices && there >= (size_t)k->step->min_count; i++) {
		size_t here = k->at[i] == SIZE_MAX ? 0 : (size_t)c->left[k->at[i]];

		take(c, k, i, here < n - k->got.n ? here : n - k->got.n);
	}
	for (size_t i = 0; i < k->step->n_choices && k->got.n < n; i++)
		refuse(c, k, i);
}

static void answer(struct cloud *c, struct resume_plan *p, const struct generation *g, const struct resume_step *s, int64_t now)
{
	const struct gen_resource *r = &g->resources[s->resource];
	struct call k = { .step = s, .stage = &r->stages[s->stage] };
	struct resume_answer a = { .got = &k.got, .refused = k.refused };

	buf_fmt(&c->log, "%s%s%zu/", s->probe ? "?" : "", s->resource ? "b" : "", s->stage);
	for (size_t i = 0; i < s->n_choices; i++) {
		const char *type = k.stage->instance_types.v[s->choices[i].type];
		const char *zone = k.stage->zones.v[s->choices[i].subnet];
		char *name = str_fmt("%s/%s/%s", capacity_market(r, k.stage), type, zone);

		k.at[i] = find_offering(c, name);
		buf_fmt(&c->log, "%s%s%s", i ? "+" : "", type, zone);
		free(name);
	}
	if (c->throttled > 0) {
		c->throttled--;
		a.why = SHORT_LATER;
		a.code = "RequestLimitExceeded";
	} else {
		give(c, &k);
		a.n_refused = k.n_refused;
		a.code = k.got.n ? NULL : k.n_refused ? k.refused[0].code : NULL;
	}
	buf_fmt(&c->log, "(%d,%zu)%s%zu ", s->min_count, s->nodes->n, a.why == SHORT_LATER ? "T" : "=", k.got.n);
	assert_int_equal(resume_plan_answer(p, s->id, &a, now), 0);
	instances_clear(&k.got);
}

/* --- a run */

static void run(struct resume_plan *p, const struct generation *g, struct cloud *c, int hurry)
{
	struct resume_step steps[16];
	int64_t now = START, wake = 0;
	size_t n;
	int pauses = 0;

	while ((n = resume_plan_next(p, now, steps, 16, &wake)) > 0 || wake > 0) {
		for (size_t i = 0; i < n; i++)
			answer(c, p, g, &steps[i], now);
		if (n > 0)
			continue;
		assert_true(wake > now && wake - now <= 20000 && pauses < 1000);
		now = wake;
		buf_str(&c->log, "~ ");
		if (++pauses == hurry)
			resume_plan_hurry(p);
	}
}

static char *learned_text(const struct resume_plan *p)
{
	struct buf b = { 0 };
	size_t changed;
	const struct shortages *l = resume_plan_shortages(p, &changed);

	for (size_t i = 0; i < changed; i++) {
		const struct shortage *s = &l->v[i];

		buf_fmt(&b, "%s%s/%s/%s", i ? " " : "", s->of.market, s->of.type, s->of.zone);
		if (!s->failures)
			buf_str(&b, "-");
		else if (s->budget)
			buf_fmt(&b, ":%d", (int)s->budget);
	}
	return buf_take(&b);
}

static bool same(const char *what, const char *world, char *got, const char *want)
{
	bool ok = !want || str_eq(got ? got : "", want);

	if (!ok)
		print_error("%s: %s\n   is \"%s\"\n  not \"%s\"\n", world, what, got, want);
	free(got);
	return ok;
}

static void make_request(struct resume_request *q, const struct world *w)
{
	for (size_t i = 0; i < MAX_JOBS && w->jobs[i]; i++) {
		struct resume_job *j = resume_request_add_job(q);

		j->id = (int64_t)i + 1;
		j->priority = -1;
		add_names(&j->nodes, w->jobs[i]);
		add_names(&q->nodes, w->jobs[i]);
	}
	if (w->rest)
		add_names(&q->nodes, w->rest);
}

/* Everything a world needs, made and cleared together. */
struct stage_set {
	struct generation *gen;
	struct resume_request request;
	struct shortages memory;
	struct kvs begin;
	struct resume_input in;
	struct cloud cloud;
	struct resume_plan *plan;
};

static void set_open(struct stage_set *s, const struct world *w)
{
	*s = (struct stage_set){ .gen = make_gen(w) };
	make_request(&s->request, w);
	make_memory(&s->memory, w->memory);
	make_begin(&s->begin, w->begin);
	make_cloud(&s->cloud, w);
	s->in = (struct resume_input){ .gen = s->gen, .request = &s->request, .strategy = w->strategy,
				       .batch_max = w->batch ? w->batch : 500, .shortages = &s->memory,
				       .rule = { .first_ms = 60000, .limit_ms = 1800000 }, .seed = 7,
				  .first_stage = &s->begin };
	s->plan = resume_plan_create(&s->in, NULL);
	assert_non_null(s->plan);
}

static void set_close(struct stage_set *s)
{
	resume_plan_destroy(s->plan);
	clear_cloud(&s->cloud);
	kvs_clear(&s->begin);
	shortages_clear(&s->memory);
	resume_request_clear(&s->request);
	generation_destroy(s->gen);
}

static bool check_world(const struct world *w)
{
	const struct resume_result *r;
	struct stage_set s;
	bool ok = true;

	set_open(&s, w);
	run(s.plan, s.gen, &s.cloud, w->hurry);
	r = resume_plan_result(s.plan, NULL);
	assert_non_null(r);
	ok &= same("calls", w->name, str_dup(buf_text(&s.cloud.log)), w->calls);
	ok &= same("bound", w->name, binds_text(r), w->bound);
	ok &= same("failed", w->name, fails_text(r), w->failed);
	ok &= same("learned", w->name, learned_text(s.plan), w->learned);
	if (r->n_surplus != w->surplus) {
		print_error("%s: %zu surplus, not %zu\n", w->name, r->n_surplus, w->surplus);
		ok = false;
	}
	set_close(&s);
	return ok;
}

static void check_worlds(const struct world *w, size_t n)
{
	size_t bad = 0;

	for (size_t i = 0; i < n; i++)
		bad += !check_world(&w[i]);
	assert_int_equal(bad, 0);
}

#define WORLDS(table) check_worlds(table, sizeof(table) / sizeof((table)[0]))
/* --- stages and choices */

static const struct world stage_worlds[] = {
	{ .name = "one stage, two types, one zone: EC2 decides alone", .strategy = AON, .stages = { "spot t1,t2 z1" },
	  .jobs = { "q-dy-a-[1-3]" }, .left = "spot/t1/z1=1 spot/t2/z1=2",
	  .calls = "0/t1z1+t2z1(3,3)=3 ", .bound = "q-dy-a-[1-3]", .failed = "", .learned = "" },
	{ .name = "what one stage does not give is asked of the next", .strategy = AON,
	  .stages = { "spot t1 z1; on-demand t1 z1" }, .jobs = { "q-dy-a-[1-3]", "q-dy-a-[4-5]" },
	  .left = "spot/t1/z1=2 on-demand/t1/z1=9",
	  .calls = "0/t1z1(1,5)=2 1/t1z1(3,3)=3 ", .bound = "q-dy-a-[1-5]", .failed = "", .learned = "spot/t1/z1" },
	{ .name = "the last stage cannot give all: the first job takes what the others gave", .strategy = AON,
	  .stages = { "spot t1 z1; on-demand t1 z1" }, .jobs = { "q-dy-a-[1-3]", "q-dy-a-[4-5]" },
	  .left = "spot/t1/z1=2 on-demand/t1/z1=2",
	  .calls = "0/t1z1(1,5)=2 1/t1z1(3,3)=0 1/t1z1(1,1)=1 1/t1z1(2,2)=0 ", .bound = "q-dy-a-[1-3]",
	  .failed = ICE ":q-dy-a-[4-5]" },
	{ .name = "jobs of one node have no minimum", .strategy = AON, .stages = { "on-demand t1 z1,z2" },
	  .jobs = { "q-dy-a-1", "q-dy-a-2", "q-dy-a-3" }, .left = "on-demand/t1/z1=1 on-demand/t1/z2=1",
	  .calls = "0/t1z1+t1z2(1,3)=2 ", .bound = "q-dy-a-[1-2]", .failed = ICE ":q-dy-a-3" },
	{ .name = "best-effort over stages", .strategy = BEST, .stages = { "spot t1 z1; on-demand t1 z1" },
	  .jobs = { "q-dy-a-[1-5]" }, .left = "spot/t1/z1=2 on-demand/t1/z1=2",
	  .calls = "0/t1z1(1,5)=2 1/t1z1(1,3)=2 ", .bound = "q-dy-a-[1-4]", .failed = ICE ":q-dy-a-5" },
	{ .name = "greedy over stages", .strategy = GREEDY, .stages = { "spot t1 z1; on-demand t1 z1" },
	  .jobs = { "q-dy-a-[1-3]", "q-dy-a-[4-5]" }, .left = "spot/t1/z1=2 on-demand/t1/z1=2",
	  .calls = "0/t1z1(1,5)=2 1/t1z1(1,3)=2 ", .bound = "q-dy-a-[1-3]", .failed = LIM ":q-dy-a-4 " ICE ":q-dy-a-5",
	  .surplus = 1 },
	{ .name = "a type that the zone has not got: the next stage at once, whatever the limit", .strategy = AON,
	  .stages = { "spot t1 z1 30s; on-demand t1 z1" }, .jobs = { "q-dy-a-[1-2]" },
	  .left = "spot/t1/z1!Unsupported on-demand/t1/z1=2",
	  .calls = "0/t1z1(1,2)=0 1/t1z1(2,2)=2 ", .bound = "q-dy-a-[1-2]", .failed = "" },
	{ .name = "a price too low says nothing of a stage without one", .strategy = AON,
	  .stages = { "spot t1 z1 price; spot t1 z1" }, .jobs = { "q-dy-a-[1-2]" }, .left = "spot/t1/z1!SpotMaxPriceTooLow",
	  .calls = "0/t1z1(1,2)=0 1/t1z1(2,2)=0 ", .bound = "", .failed = "SpotMaxPriceTooLow:q-dy-a-[1-2]" },
	{ .name = "an error of ours fails at once, in all stages", .strategy = AON,
	  .stages = { "spot t1 z1; on-demand t1 z1" }, .jobs = { "q-dy-a-[1-2]" },
	  .left = "spot/t1/z1!UnauthorizedOperation on-demand/t1/z1=9",
	  .calls = "0/t1z1(1,2)=0 ", .bound = "", .failed = "UnauthorizedOperation:q-dy-a-[1-2]", .learned = "" },
	{ .name = "the worst word counts: a quota before capacity", .strategy = AON,
	  .stages = { "spot t1 z1; on-demand t1 z1; spot t2 z1" }, .jobs = { "q-dy-a-[1-2]" },
	  .left = "on-demand/t1/z1!" VCPU,
	  .calls = "0/t1z1(1,2)=0 1/t1z1(1,2)=0 2/t2z1(2,2)=0 ", .bound = "", .failed = VCPU ":q-dy-a-[1-2]",
	  .learned = "spot/t1/z1 on-demand/t1/* spot/t2/z1" },
	{ .name = "clustermgtd goes on at the stage that is left", .strategy = BEST,
	  .stages = { "spot t1 z1; on-demand t1 z1" }, .rest = "q-dy-a-[1-3]", .begin = "q-dy-a-2=1 q-dy-a-3=7 other=1",
	  .left = "spot/t1/z1=9 on-demand/t1/z1=9",
	  .calls = "0/t1z1(1,1)=1 1/t1z1(1,2)=2 ", .bound = "q-dy-a-[1-3]", .failed = "" },
	{ .name = "a targeted reservation is a market of its own", .strategy = AON,
	  .stages = { "reserved:cr-1 t1 z1; spot t1 z1" }, .jobs = { "q-dy-a-[1-2]" },
	  .left = "reserved:cr-1/t1/z1!ReservationCapacityExceeded spot/t1/z1=2",
	  .calls = "0/t1z1(1,2)=0 1/t1z1(2,2)=2 ", .bound = "q-dy-a-[1-2]", .failed = "",
	  .learned = "reserved:cr-1/t1/z1" },
	{ .name = "more nodes than a call takes", .strategy = AON, .stages = { "spot t1 z1; on-demand t1 z1" },
	  .jobs = { "q-dy-a-[1-5]" }, .batch = 2, .left = "spot/t1/z1=3 on-demand/t1/z1=9",
	  .calls = "0/t1z1(1,2)=2 0/t1z1(1,2)=1 0/t1z1(1,1)=0 1/t1z1(2,2)=2 ", .bound = "q-dy-a-[1-5]", .failed = "" },
	{ .name = "two resources with their own stages", .strategy = AON,
	  .stages = { "spot t1 z1; on-demand t1 z1", "spot t2 z1" }, .jobs = { "q-dy-a-1,q-dy-b-1", "q-dy-b-2" },
	  .left = "on-demand/t1/z1=1 spot/t2/z1=1",
	  .calls = "0/t1z1(1,1)=0 b0/t2z1(2,2)=0 1/t1z1(1,1)=1 b0/t2z1(1,1)=1 b0/t2z1(1,1)=0 ", .bound = "q-dy-a-1,q-dy-b-1",
	  .failed = ICE ":q-dy-b-2" },
};

static void test_stages(void **state)
{
	(void)state;
	WORLDS(stage_worlds);
}

/* E23: EC2 knows no minimum for several types in several zones: whole jobs all the same, what is too much goes back. */
static const struct world fleet_worlds[] = {
	{ .name = "several types, several zones, one of them empty", .strategy = AON, .stages = { "spot t1,t2 z1,z2" },
	  .jobs = { "q-dy-a-[1-3]" }, .left = "spot/t1/z2=1 spot/t2/z1=1 spot/t2/z2=1",
	  .calls = "0/t1z1+t1z2+t2z1+t2z2(1,3)=3 ", .bound = "q-dy-a-[1-3]", .failed = "" },
	{ .name = "3+2+2 of 4 over types and zones", .strategy = AON, .stages = { "spot t1,t2 z1,z2" },
	  .jobs = { "q-dy-a-[1-3]", "q-dy-a-[4-5]", "q-dy-a-[6-7]" }, .left = "spot/t1/z2=2 spot/t2/z1=2",
	  .calls = "0/t1z1+t1z2+t2z1+t2z2(1,7)=4 ", .bound = "q-dy-a-[1-3]", .failed = LIM ":q-dy-a-4 " ICE ":q-dy-a-[5-7]",
	  .surplus = 1 },
	{ .name = "a smaller job gets what is too little for the first", .strategy = AON, .stages = { "spot t1,t2 z1,z2" },
	  .jobs = { "q-dy-a-[1-4]", "q-dy-a-[5-6]" }, .left = "spot/t1/z2=2",
	  .calls = "0/t1z1+t1z2+t2z1+t2z2(1,6)=2 ", .bound = "q-dy-a-[5-6]",
	  .failed = LIM ":q-dy-a-[1-2] " ICE ":q-dy-a-[3-4]" },
	{ .name = "closed choices leave one type: there is a minimum again", .strategy = AON, .stages = { "spot t1,t2 z1,z2" },
	  .jobs = { "q-dy-a-[1-2]" }, .memory = "spot/t2/z1:closed spot/t2/z2:closed", .left = "spot/t1/z1=9",
	  .calls = "0/t1z1+t1z2(2,2)=2 ", .bound = "q-dy-a-[1-2]", .failed = "" },
};

static void test_E23_fleet(void **state)
{
	(void)state;
	WORLDS(fleet_worlds);
}

/* --- what was remembered */

static const struct world memory_worlds[] = {
	{ .name = "a closed stage is passed without a call", .strategy = AON, .stages = { "spot t1 z1; on-demand t1 z1" },
	  .jobs = { "q-dy-a-[1-2]" }, .memory = "spot/t1/z1:closed", .left = "spot/t1/z1=9 on-demand/t1/z1=9",
	  .calls = "1/t1z1(2,2)=2 ", .bound = "q-dy-a-[1-2]", .failed = "", .learned = "" },
	{ .name = "all closed: no call, the remembered code", .strategy = AON, .stages = { "spot t1 z1; on-demand t1 z1" },
	  .jobs = { "q-dy-a-[1-2]" }, .rest = "q-dy-a-3", .memory = "spot/t1/z1:closed on-demand/t1/*:closed",
	  .left = "spot/t1/z1=9 on-demand/t1/z1=9",
	  .calls = "", .bound = "", .failed = VCPU ":q-dy-a-[1-3]", .learned = "" },
	{ .name = "a closed choice is not named", .strategy = AON, .stages = { "on-demand t1 z1,z2,z3" },
	  .jobs = { "q-dy-a-[1-2]" }, .memory = "on-demand/t1/z1:closed", .left = "on-demand/t1/z1=9 on-demand/t1/z3=9",
	  .calls = "0/t1z2+t1z3(2,2)=2 ", .bound = "q-dy-a-[1-2]", .failed = "" },
	{ .name = "a quota closes all zones, of its market only", .strategy = AON,
	  .stages = { "on-demand t1 z1,z2; spot t1 z1" }, .jobs = { "q-dy-a-1" }, .memory = "on-demand/t1/*:closed",
	  .left = "on-demand/t1/z1=9 spot/t1/z1=9", .calls = "1/t1z1(1,1)=1 ", .bound = "q-dy-a-1", .failed = "" },
	{ .name = "a probe for the smallest job, then all", .strategy = AON, .stages = { "on-demand t1 z1" },
	  .jobs = { "q-dy-a-[1-4]", "q-dy-a-[5-6]", "q-dy-a-[7-9]" }, .memory = "on-demand/t1/z1:probe",
	  .left = "on-demand/t1/z1=99",
	  .calls = "?0/t1z1(2,2)=2 0/t1z1(3,3)=3 0/t1z1(4,4)=4 ", .bound = "q-dy-a-[1-9]", .failed = "",
	  .learned = "on-demand/t1/z1:16" },
	{ .name = "a probe that fails ends it for all", .strategy = AON, .stages = { "on-demand t1 z1" },
	  .jobs = { "q-dy-a-[1-4]", "q-dy-a-5", "q-dy-a-[7-9]" }, .rest = "q-dy-a-[10-12]", .memory = "on-demand/t1/z1:probe",
	  .calls = "?0/t1z1(1,1)=0 ", .bound = "", .failed = ICE ":q-dy-a-[1-5,7-12]", .learned = "on-demand/t1/z1" },
	{ .name = "the budget doubles until the shortage is forgotten", .strategy = BEST, .stages = { "on-demand t1 z1" },
	  .rest = "q-dy-a-[1-4000]", .memory = "on-demand/t1/z1:probe", .left = "on-demand/t1/z1=5000",
	  .calls = "?0/t1z1(1,1)=1 0/t1z1(1,2)=2 0/t1z1(1,4)=4 0/t1z1(1,8)=8 0/t1z1(1,16)=16 0/t1z1(1,32)=32 0/t1z1(1,64)=64 "
		   "0/t1z1(1,128)=128 0/t1z1(1,256)=256 0/t1z1(1,500)=500 0/t1z1(1,12)=12 0/t1z1(1,500)=500 0/t1z1(1,500)=500 "
		   "0/t1z1(1,500)=500 0/t1z1(1,500)=500 0/t1z1(1,500)=500 0/t1z1(1,477)=477 ",
	  .bound = "q-dy-a-[1-4000]", .failed = "", .learned = "on-demand/t1/z1-" },
	{ .name = "jobs within the budget go together, smallest first", .strategy = AON, .stages = { "on-demand t1 z1" },
	  .jobs = { "q-dy-a-[1-9]", "q-dy-a-[11-12]", "q-dy-a-[21-23]" }, .memory = "on-demand/t1/z1:5",
	  .left = "on-demand/t1/z1=99",
	  .calls = "0/t1z1(5,5)=5 0/t1z1(9,9)=9 ", .bound = "q-dy-a-[1-9,11-12,21-23]", .failed = "" },
	{ .name = "a budget is not more than a whole job", .strategy = AON, .stages = { "on-demand t1 z1" },
	  .jobs = { "q-dy-a-[1-9]" }, .memory = "on-demand/t1/z1:2", .left = "on-demand/t1/z1=99",
	  .calls = "0/t1z1(9,9)=9 ", .bound = "q-dy-a-[1-9]", .failed = "" },
	{ .name = "where another choice is open nobody waits for a probe", .strategy = AON, .stages = { "on-demand t1 z1,z2" },
	  .jobs = { "q-dy-a-[1-2]", "q-dy-a-3" }, .memory = "on-demand/t1/z1:probe",
	  .left = "on-demand/t1/z1=99 on-demand/t1/z2=9",
	  .calls = "0/t1z2(3,3)=3 ", .bound = "q-dy-a-[1-3]", .failed = "", .learned = "" },
	{ .name = "the open choice was short: then the probe", .strategy = BEST, .stages = { "on-demand t1 z1,z2" },
	  .jobs = { "q-dy-a-[1-4]" }, .memory = "on-demand/t1/z1:probe", .left = "on-demand/t1/z1=99 on-demand/t1/z2=1",
	  .calls = "0/t1z2(1,4)=1 ?0/t1z1(1,3)=3 ", .bound = "q-dy-a-[1-4]", .failed = "" },
	{ .name = "a price that was too low closes stages with a price only", .strategy = AON,
	  .stages = { "spot t1 z1 price; spot t1 z1" }, .jobs = { "q-dy-a-1" }, .memory = "spot/t1/z1:price",
	  .left = "spot/t1/z1=9", .calls = "1/t1z1(1,1)=1 ", .bound = "q-dy-a-1", .failed = "" },
	{ .name = "beside an open choice one with a budget goes, for as many", .strategy = AON,
	  .stages = { "on-demand t1 z1,z2" }, .jobs = { "q-dy-a-[1-2]" }, .memory = "on-demand/t1/z1:2",
	  .left = "on-demand/t1/z1=9", .calls = "0/t1z1+t1z2(2,2)=2 ", .bound = "q-dy-a-[1-2]", .failed = "",
	  .learned = "on-demand/t1/z1:4" },
	{ .name = "... and not for more", .strategy = AON, .stages = { "on-demand t1 z1,z2" }, .jobs = { "q-dy-a-[1-3]" },
	  .memory = "on-demand/t1/z1:2", .left = "on-demand/t1/z2=9", .calls = "0/t1z2(3,3)=3 ", .bound = "q-dy-a-[1-3]",
	  .failed = "", .learned = "" },
	{ .name = "a shortage of long ago says nothing", .strategy = AON, .stages = { "on-demand t1 z1" },
	  .jobs = { "q-dy-a-[1-2]", "q-dy-a-3" }, .memory = "on-demand/t1/z1:old", .left = "on-demand/t1/z1=9",
	  .calls = "0/t1z1(3,3)=3 ", .bound = "q-dy-a-[1-3]", .failed = "" },
	{ .name = "two resources of one offering: one probe", .strategy = BEST,
	  .stages = { "on-demand t1 z1", "on-demand t1 z1" }, .rest = "q-dy-a-[1-2],q-dy-b-[1-2]",
	  .memory = "on-demand/t1/z1:probe", .calls = "?0/t1z1(1,1)=0 ", .bound = "",
	  .failed = ICE ":q-dy-a-[1-2],q-dy-b-[1-2]" },
	{ .name = "two resources of one offering: one budget", .strategy = BEST,
	  .stages = { "on-demand t1 z1", "on-demand t1 z1" }, .rest = "q-dy-a-[1-2],q-dy-b-[1-2]", .left = "on-demand/t1/z1=9",
	  .memory = "on-demand/t1/z1:3", .calls = "0/t1z1(1,2)=2 b0/t1z1(1,1)=1 b0/t1z1(1,1)=1 ",
	  .bound = "q-dy-a-[1-2],q-dy-b-[1-2]", .failed = "" },
	{ .name = "what is left of a budget in the air is not stretched beside an untouched one", .strategy = AON,
	  .stages = { "on-demand t1 z1", "on-demand t1 z1,z2" }, .jobs = { "q-dy-a-[1-2]", "q-dy-b-[1-3]" },
	  .left = "on-demand/t1/z1=9 on-demand/t1/z2=9", .memory = "on-demand/t1/z1:4 on-demand/t1/z2:2",
	  .calls = "0/t1z1(2,2)=2 b0/t1z2(3,3)=3 ", .bound = "q-dy-a-[1-2],q-dy-b-[1-3]", .failed = "" },
	{ .name = "two resources of one offering: a job that does not fit waits for the other's answer", .strategy = AON,
	  .stages = { "on-demand t1 z1", "on-demand t1 z1" }, .jobs = { "q-dy-a-[1-2]", "q-dy-b-[1-2]" },
	  .left = "on-demand/t1/z1=9", .memory = "on-demand/t1/z1:3", .calls = "0/t1z1(2,2)=2 b0/t1z1(2,2)=2 ",
	  .bound = "q-dy-a-[1-2],q-dy-b-[1-2]", .failed = "" },
	{ .name = "a quota met on the way closes the type's zones for the next run", .strategy = BEST,
	  .stages = { "on-demand t1 z1,z2" }, .rest = "q-dy-a-[1-2]", .left = "on-demand/t1/z1!" VCPU " on-demand/t1/z2!" VCPU,
	  .calls = "0/t1z1+t1z2(1,2)=0 ", .bound = "", .failed = VCPU ":q-dy-a-[1-2]", .learned = "on-demand/t1/*" },
};

static void test_memory(void **state)
{
	(void)state;
	WORLDS(memory_worlds);
}

/* --- pauses */

static const struct world pause_worlds[] = {
	{ .name = "no time is left: the next stage at once", .strategy = AON, .stages = { "spot t1 z1 600s; on-demand t1 z1" },
	  .jobs = { "q-dy-a-1" }, .left = "on-demand/t1/z1=9", .hurry = 1,
	  .calls = "0/t1z1(1,1)=0 ~ 1/t1z1(1,1)=1 ", .bound = "q-dy-a-1", .failed = "" },
	{ .name = "asked again within the limit, then the next stage", .strategy = AON,
	  .stages = { "spot t1 z1 5s; on-demand t1 z1" }, .jobs = { "q-dy-a-[1-2]" }, .left = "on-demand/t1/z1=9",
	  .calls = "0/t1z1(1,2)=0 ~ 0/t1z1(1,2)=0 ~ 0/t1z1(1,2)=0 ~ 1/t1z1(2,2)=2 ", .bound = "q-dy-a-[1-2]", .failed = "",
	  .learned = "spot/t1/z1" },
	{ .name = "a limit of the last stage is none", .strategy = AON, .stages = { "spot t1 z1 5s" }, .jobs = { "q-dy-a-1" },
	  .calls = "0/t1z1(1,1)=0 ", .bound = "", .failed = ICE ":q-dy-a-1" },
	{ .name = "throttled: the same again after a pause, in any stage", .strategy = AON, .stages = { "on-demand t1 z1" },
	  .jobs = { "q-dy-a-[1-3]" }, .throttled = 3, .left = "on-demand/t1/z1=3",
	  .calls = "0/t1z1(3,3)T0 ~ 0/t1z1(3,3)T0 ~ 0/t1z1(3,3)T0 ~ 0/t1z1(3,3)=3 ", .bound = "q-dy-a-[1-3]", .failed = "",
	  .learned = "" },
	{ .name = "one resource pauses, the other goes on", .strategy = AON,
	  .stages = { "on-demand t1 z1", "on-demand t2 z1; spot t2 z1" }, .jobs = { "q-dy-a-1", "q-dy-b-1" }, .throttled = 1,
	  .left = "on-demand/t1/z1=3 spot/t2/z1=1",
	  .calls = "0/t1z1(1,1)T0 b0/t2z1(1,1)=0 b1/t2z1(1,1)=1 ~ 0/t1z1(1,1)=1 ", .bound = "q-dy-a-1,q-dy-b-1", .failed = "" },
	{ .name = "a throttled probe is tried again", .strategy = AON, .stages = { "on-demand t1 z1" },
	  .jobs = { "q-dy-a-[1-3]", "q-dy-a-4" }, .memory = "on-demand/t1/z1:probe", .throttled = 1,
	  .left = "on-demand/t1/z1=9",
	  .calls = "?0/t1z1(1,1)T0 ~ ?0/t1z1(1,1)=1 0/t1z1(3,3)=3 ", .bound = "q-dy-a-[1-4]", .failed = "" },
};

static void test_pauses(void **state)
{
	(void)state;
	WORLDS(pause_worlds);
}

/* Throttled again and again: pauses of 1, 2, 4 ... 20 seconds, each between half and whole. Once it goes, it begins anew. */
static void test_pauses_grow(void **state)
{
	static const struct world w = { .name = "pauses grow", .strategy = BEST, .stages = { "spot t1 z1" },
	  .rest = "q-dy-a-1" };
	static const int64_t longest[] = { 1000, 2000, 4000, 8000, 16000, 20000, 20000 };
	const struct resume_answer a = { .why = SHORT_LATER };
	int64_t now = START, wake;
	struct resume_step step;
	struct stage_set s;

	(void)state;
	set_open(&s, &w);
	for (size_t i = 0; i < sizeof(longest) / sizeof(longest[0]); i++) {
		assert_int_equal(resume_plan_next(s.plan, now, &step, 1, &wake), 1);
		assert_int_equal(resume_plan_answer(s.plan, step.id, &a, now), 0);
		assert_int_equal(resume_plan_next(s.plan, now, &step, 1, &wake), 0);
		assert_true(wake >= now + longest[i] / 2 && wake <= now + longest[i]);
		assert_int_equal(resume_plan_next(s.plan, wake - 1, &step, 1, &now), 0);
		now = wake;
	}
	set_close(&s);
}

/* --- cases from the field */

/* A type that is empty is not asked node by node: what one run met closes the resource for the next. */
static void test_B17_dead_type(void **state)
{
	static const struct world first = { .name = "B17", .strategy = AON, .stages = { "on-demand t1 z1" },
					    .jobs = { "q-dy-a-1" }, .calls = "0/t1z1(1,1)=0 ", .bound = "",
					  .failed = ICE ":q-dy-a-1",
					    .learned = "on-demand/t1/z1" };
	static const struct world then = { .name = "B17, then", .strategy = AON, .stages = { "on-demand t1 z1" },
					   .jobs = { "q-dy-a-[2-30]" }, .memory = "on-demand/t1/z1:closed",
					   .left = "on-demand/t1/z1=99", .calls = "", .bound = "",
					  .failed = ICE ":q-dy-a-[2-30]",
					   .learned = "" };
	struct stage_set s;
	const char *code;
	int64_t until;
	size_t changed;

	(void)state;
	assert_true(check_world(&first));
	assert_true(check_world(&then));
	set_open(&s, &first);
	run(s.plan, s.gen, &s.cloud, 0);
	assert_true(capacity_all_closed(&s.gen->resources[0], resume_plan_shortages(s.plan, &changed),
	  START + 1, &code, &until));
	assert_string_equal(code, ICE);
	assert_true(until >= START + 30000 && until <= START + 60000);
	set_close(&s);
}

/* The first resource of the queue is empty: the second try lands on the second one, without a call for the first. */
static void test_B18_second_resource(void **state)
{
	static const struct world tries[] = {
		{ .name = "B18, first try", .strategy = AON, .stages = { "spot t1 z1", "spot t2 z1" }, .jobs = { "q-dy-a-1" },
		  .left = "spot/t2/z1=9", .calls = "0/t1z1(1,1)=0 ", .bound = "", .failed = ICE ":q-dy-a-1",
		  .learned = "spot/t1/z1" },
		{ .name = "B18, second try", .strategy = AON, .stages = { "spot t1 z1", "spot t2 z1" },
		  .jobs = { "q-dy-b-1", "q-dy-a-2" }, .memory = "spot/t1/z1:closed", .left = "spot/t2/z1=9",
		  .calls = "b0/t2z1(1,1)=1 ", .bound = "q-dy-b-1", .failed = ICE ":q-dy-a-2", .learned = "" },
	};

	(void)state;
	WORLDS(tries);
}

/* A fleet that was only throttled is no shortage: what came is kept, the rest is asked again, nothing is remembered. */
static void test_B19_throttled_fleet(void **state)
{
	static const struct world w[] = {
		{ .name = "B19", .strategy = AON, .stages = { "on-demand t1,t2 z1" }, .jobs = { "q-dy-a-[1-1500]" },
		  .throttled = 2, .left = "on-demand/t1/z1=3000",
		  .calls = "0/t1z1+t2z1(500,500)T0 0/t1z1+t2z1(500,500)T0 0/t1z1+t2z1(500,500)=500 ~ "
			   "0/t1z1+t2z1(500,500)=500 0/t1z1+t2z1(500,500)=500 ",
		  .bound = "q-dy-a-[1-1500]", .failed = "", .learned = "" },
	};

	(void)state;
	WORLDS(w);
}

/* No machines and no word why: a failure with a code, and a shortage. */
static void test_B21_silent_fleet(void **state)
{
	static const struct world w = { .name = "B21", .strategy = AON, .stages = { "on-demand t1,t2 z1" },
					.jobs = { "q-dy-a-[1-2]" } };
	const struct resume_result *r;
	struct resume_step step;
	struct stage_set s;
	int64_t wake;

	(void)state;
	set_open(&s, &w);
	assert_int_equal(resume_plan_next(s.plan, START, &step, 1, &wake), 1);
	assert_int_equal(resume_plan_answer(s.plan, step.id, &(struct resume_answer){ 0 }, START), 0);
	assert_int_equal(resume_plan_next(s.plan, START, &step, 1, &wake), 0);
	assert_int_equal(wake, 0);
	r = resume_plan_result(s.plan, NULL);
	assert_true(same("failed", "B21", fails_text(r), ICE ":q-dy-a-[1-2]"));
	assert_true(same("learned", "B21", learned_text(s.plan), "on-demand/t1/z1 on-demand/t2/z1"));
	set_close(&s);
}

/* Seven of type A, none of B; two jobs that want both, one that wants A. */
static const struct world partial_worlds[] = {
	{ .name = "B22, all-or-nothing: only the job of A keeps its nodes", .strategy = AON,
	  .stages = { "on-demand t1 z1", "on-demand t2 z1" },
	  .jobs = { "q-dy-a-[1-3],q-dy-b-1", "q-dy-a-[4-6],q-dy-b-2", "q-dy-a-[7-9]" }, .left = "on-demand/t1/z1=7",
	  .calls = "0/t1z1(9,9)=0 b0/t2z1(2,2)=0 0/t1z1(3,3)=3 b0/t2z1(1,1)=0 ", .bound = "q-dy-a-[7-9]",
	  .failed = LIM ":q-dy-a-[1-6] " ICE ":q-dy-b-[1-2]" },
	{ .name = "B22, greedy: what is not used goes back", .strategy = GREEDY,
	  .stages = { "on-demand t1 z1", "on-demand t2 z1" },
	  .jobs = { "q-dy-a-[1-3],q-dy-b-1", "q-dy-a-[4-6],q-dy-b-2", "q-dy-a-[7-9]" }, .left = "on-demand/t1/z1=7",
	  .calls = "0/t1z1(1,9)=7 b0/t2z1(1,2)=0 ", .bound = "q-dy-a-[7-9]", .failed = LIM ":q-dy-a-[1-6] " ICE ":q-dy-b-[1-2]",
	  .surplus = 4 },
	{ .name = "B22, best-effort: no second call for a job", .strategy = BEST,
	  .stages = { "on-demand t1 z1", "on-demand t2 z1" },
	  .jobs = { "q-dy-a-[1-3],q-dy-b-1", "q-dy-a-[4-6],q-dy-b-2", "q-dy-a-[7-9]" }, .left = "on-demand/t1/z1=7",
	  .calls = "0/t1z1(1,9)=7 b0/t2z1(1,2)=0 ", .bound = "q-dy-a-[1-7]", .failed = ICE ":q-dy-b-[1-2],q-dy-a-[8-9]" },
	{ .name = "B22, a node that failed in one job and was served in another did not fail", .strategy = AON,
	  .stages = { "on-demand t1 z1" }, .jobs = { "q-dy-a-[1-4]", "q-dy-a-[4-5]" }, .left = "on-demand/t1/z1=2",
	  .calls = "0/t1z1(5,5)=0 0/t1z1(4,4)=0 0/t1z1(2,2)=2 ", .bound = "q-dy-a-[4-5]", .failed = ICE ":q-dy-a-[1-3]" },
};

static void test_B22_partial(void **state)
{
	(void)state;
	WORLDS(partial_worlds);
}

/* A bid below the floor is a shortage of that price: the next stage at once, remembered. */
static void test_B26_price(void **state)
{
	static const struct world w[] = {
		{ .name = "B26", .strategy = AON, .stages = { "spot t1 z1 price; on-demand t1 z1" }, .jobs = { "q-dy-a-1" },
		  .left = "spot/t1/z1!SpotMaxPriceTooLow on-demand/t1/z1=1", .calls = "0/t1z1(1,1)=0 1/t1z1(1,1)=1 ",
		  .bound = "q-dy-a-1", .failed = "", .learned = "spot/t1/z1" },
	};

	(void)state;
	WORLDS(w);
}

/* The account's quota is below the job: all-or-nothing gives back, best-effort fails the rest with the quota's code. */
static const struct world quota_worlds[] = {
	{ .name = "B27, all-or-nothing", .strategy = AON, .stages = { "spot t1,t2 z1,z2" }, .jobs = { "q-dy-a-[1-256]" },
	  .left = "spot/t1/z1=96 spot/t1/z2!" VCPU " spot/t2/z1!" VCPU " spot/t2/z2!" VCPU, .calls = NULL, .bound = "",
	  .failed = LIM ":q-dy-a-[1-96] " VCPU ":q-dy-a-[97-256]", .surplus = 96 },
	{ .name = "B27, best-effort", .strategy = BEST, .stages = { "spot t1,t2 z1,z2" }, .jobs = { "q-dy-a-[1-256]" },
	  .left = "spot/t1/z1=96 spot/t1/z2!" VCPU " spot/t2/z1!" VCPU " spot/t2/z2!" VCPU, .calls = NULL,
	  .bound = "q-dy-a-[1-96]", .failed = VCPU ":q-dy-a-[97-256]" },
};

static void test_B27_quota(void **state)
{
	(void)state;
	WORLDS(quota_worlds);
}

/* Rules that a new implementation gets wrong. */
static const struct world rule_worlds[] = {
	{ .name = "E3: one-node jobs in one call of any size, each fails alone", .strategy = AON, .stages = { "spot t1 z1" },
	  .jobs = { "q-dy-a-1", "q-dy-a-2", "q-dy-a-3" }, .left = "spot/t1/z1=1", .calls = "0/t1z1(1,3)=1 ",
	  .bound = "q-dy-a-1",
	  .failed = ICE ":q-dy-a-[2-3]" },
	{ .name = "E4: a node that an earlier job has counts as served", .strategy = AON, .stages = { "spot t1 z1" },
	  .jobs = { "q-dy-a-[1-2]", "q-dy-a-[2-3]" }, .left = "spot/t1/z1=3", .calls = "0/t1z1(3,3)=3 ",
	  .bound = "q-dy-a-[1-3]",
	  .failed = "" },
	{ .name = "E6: the second call of a large job is short: its machines serve the next", .strategy = AON,
	  .stages = { "spot t1 z1" }, .jobs = { "q-dy-a-[1-5]", "q-dy-a-[6-8]" }, .batch = 3, .left = "spot/t1/z1=4",
	  .calls = "0/t1z1(3,3)=3 0/t1z1(3,3)=0 0/t1z1(2,2)=0 ", .bound = "q-dy-a-[6-8]",
	  .failed = LIM ":q-dy-a-[1-3] " ICE ":q-dy-a-[4-5]" },
	{ .name = "E7: short together, served alone: not failed", .strategy = AON, .stages = { "spot t1 z1" },
	  .jobs = { "q-dy-a-[1-2]", "q-dy-a-[3-9]" }, .left = "spot/t1/z1=2",
	  .calls = "0/t1z1(9,9)=0 0/t1z1(2,2)=2 0/t1z1(7,7)=0 ",
	  .bound = "q-dy-a-[1-2]", .failed = ICE ":q-dy-a-[3-9]" },
	{ .name = "E8: the code of EC2 stays", .strategy = AON, .stages = { "spot t1 z1", "spot t2 z1" },
	  .jobs = { "q-dy-a-1,q-dy-b-1", "q-dy-a-1,q-dy-b-2" }, .left = "spot/t1/z1!" VCPU " spot/t2/z1=9",
	  .calls = "0/t1z1(1,1)=0 b0/t2z1(2,2)=2 ", .bound = "", .failed = VCPU ":q-dy-a-1 " LIM ":q-dy-b-[1-2]",
	  .surplus = 2 },
};

static void test_E_rules(void **state)
{
	(void)state;
	WORLDS(rule_worlds);
}

/* --- what a row cannot say */

/* Machines of a probe that was left for later say nothing: the others fail with what is remembered. */
static void test_left_probe(void **state)
{
	static const struct world w = { .name = "left probe", .strategy = AON, .stages = { "on-demand t1 z1" },
					.jobs = { "q-dy-a-1", "q-dy-a-[2-3]" }, .memory = "on-demand/t1/z1:probe" };
	const struct resume_result *r;
	struct resume_step step[2];
	struct stage_set s;
	int64_t wake;

	(void)state;
	set_open(&s, &w);
	assert_int_equal(resume_plan_next(s.plan, START, step, 2, &wake), 1);
	assert_true(step[0].probe);
	assert_int_equal(resume_plan_next(s.plan, START, step + 1, 1, &wake), 0); /* the others wait for it */
	assert_int_equal(wake, 0);
	assert_int_equal(resume_plan_leave(s.plan, step[0].id), 0);
	assert_int_equal(resume_plan_next(s.plan, START, step, 2, &wake), 0);
	r = resume_plan_result(s.plan, NULL);
	assert_int_equal(r->n_bind, 0);
	assert_true(same("failed", w.name, fails_text(r), ICE ":q-dy-a-[2-3]"));
	assert_true(same("learned", w.name, learned_text(s.plan), ""));
	set_close(&s);
}

/* What is in the air counts against a budget, whichever resource asked for it. */
static void test_budget_in_the_air(void **state)
{
	static const struct world w = { .name = "budget", .strategy = AON, .stages = { "on-demand t1 z1", "on-demand t1 z1" },
					.jobs = { "q-dy-a-[1-2]", "q-dy-b-1" }, .memory = "on-demand/t1/z1:2",
					.left = "on-demand/t1/z1=9" };
	struct resume_step step[4];
	struct stage_set s;
	int64_t wake;

	(void)state;
	set_open(&s, &w);
	assert_int_equal(resume_plan_next(s.plan, START, step, 4, &wake), 1);
	answer(&s.cloud, s.plan, s.gen, &step[0], START);
	assert_int_equal(resume_plan_next(s.plan, START, step, 4, &wake), 1);
	assert_int_equal(step[0].resource, 1);
	set_close(&s);
}

/* A throttled answer that names a short choice: the rest is asked of the other choice, and nothing fails. */
static void test_throttled_and_short(void **state)
{
	static const struct world w = { .name = "throttled and short", .strategy = BEST, .stages = { "spot t1,t2 z1" },
					.rest = "q-dy-a-[1-2]" };
	const struct resume_refusal refused[] = { { .type = "t1", .code = ICE }, { .type = "t2",
	  .code = "RequestLimitExceeded" } };
	const struct resume_answer a = { .why = SHORT_LATER, .code = "RequestLimitExceeded", .refused = refused,
	  .n_refused = 2 };
	struct resume_step step;
	struct stage_set s;
	int64_t wake;

	(void)state;
	set_open(&s, &w);
	assert_int_equal(resume_plan_next(s.plan, START, &step, 1, &wake), 1);
	assert_int_equal(step.n_choices, 2);
	assert_int_equal(resume_plan_answer(s.plan, step.id, &a, START), 0);
	assert_int_equal(resume_plan_next(s.plan, START, &step, 1, &wake), 0);
	assert_true(wake >= START + 500 && wake <= START + 1000);
	assert_int_equal(resume_plan_next(s.plan, wake, &step, 1, &wake), 1);
	assert_int_equal(step.n_choices, 1);
	assert_int_equal(step.choices[0].type, 1);
	assert_int_equal(step.nodes->n, 2);
	assert_true(same("learned", w.name, learned_text(s.plan), "spot/t1/z1"));
	set_close(&s);
}

/* Many refusals of one run are one in a row for the memory, however many calls there were. */
static void test_one_run_counts_once(void **state)
{
	static const struct world w = { .name = "counts once", .strategy = AON, .stages = { "on-demand t1 z1" },
					.jobs = { "q-dy-a-[1-9]", "q-dy-a-[11-14]", "q-dy-a-[15-16]", "q-dy-a-17" } };
	const struct shortages *l;
	struct stage_set s;
	size_t changed;

	(void)state;
	set_open(&s, &w);
	run(s.plan, s.gen, &s.cloud, 0);
	l = resume_plan_shortages(s.plan, &changed);
	assert_int_equal(changed, 1);
	assert_int_equal(l->v[0].failures, 1);
	assert_true(l->v[0].until_ms >= START + 30000 && l->v[0].until_ms <= START + 60000);
	set_close(&s);
}

/* Five hundred resources of twenty nodes, each with twelve choices in two stages, most of them short, and a thousand remembered
 * shortages: nothing grows with the square of anything. */
static void test_large(void **state)
{
	struct generation *g = calloc(1, sizeof(*g));
	struct resume_request q = { 0 };
	struct shortages memory = { 0 };
	struct resume_input in = { .gen = g, .request = &q, .strategy = BEST, .batch_max = 500, .shortages = &memory,
				   .rule = { .first_ms = 60000, .limit_ms = 1800000 } };
	struct cloud c = { 0 };
	struct resume_plan *p;

	(void)state;
	for (int i = 0; i < 500; i++) {
		struct gen_resource *r = generation_add_resource(g);

		r->queue = str_fmt("q%d", i);
		r->name = str_dup("a");
		r->max_count = 20;
		make_stage(r, "spot t1,t2,t3,t4 z1,z2,z3");
		make_stage(r, "on-demand t1,t2,t3,t4 z1,z2,z3");
		for (int k = 1; k <= 20; k++)
			assert_int_equal(strs_addf(&q.nodes, "q%d-dy-a-%d", i, k), 0);
	}
	for (int i = 0; i < 1000; i++) {
		char *type = str_fmt("x%d", i);

		shortages_add(&memory, type, "z1", MARKET_SPOT)->failures = 1;
		free(type);
	}
	assert_int_equal(generation_index(g), 0);
	make_cloud(&c, &(struct world){ .left = "on-demand/t1/z1=5000" });
	p = resume_plan_create(&in, NULL);
	assert_non_null(p);
	run(p, g, &c, 0);
	assert_int_equal(c.made, 5000);
	assert_int_equal(resume_plan_result(p, NULL)->n_bind, 5000);
	resume_plan_destroy(p);
	clear_cloud(&c);
	shortages_clear(&memory);
	resume_request_clear(&q);
	generation_destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stages),
		cmocka_unit_test(test_E23_fleet),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_pauses_grow),
		cmocka_unit_test(test_B17_dead_type),
		cmocka_unit_test(test_B18_second_resource),
		cmocka_unit_test(test_B19_throttled_fleet),
		cmocka_unit_test(test_B21_silent_fleet),
		cmocka_unit_test(test_B22_partial),
		cmocka_unit_test(test_B26_price),
		cmocka_unit_test(test_B27_quota),
		cmocka_unit_test(test_E_rules),
		cmocka_unit_test(test_left_probe),
		cmocka_unit_test(test_budget_in_the_air),
		cmocka_unit_test(test_throttled_and_short),
		cmocka_unit_test(test_one_run_counts_once),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
