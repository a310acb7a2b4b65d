/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_plan_property.c - random worlds against everything that lib/plan/resume.h promises, and the judge against itself.
 *
 * SE_PROPERTY_WORLDS is the number of worlds, SE_PROPERTY_SEED the first seed. A failure names the seed of the smallest world
 * that shows it; that seed with SE_PROPERTY_WORLDS=1 runs it alone and tells its whole story.
 */
#include "tests/unit/cmocka_all.h"

#include "lib/base/num.h"
#include "tests/unit/property.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define N_WORLDS 10000
#else
#define N_WORLDS 100000
#endif
#define MAX_KINDS 32

static struct world world;
static struct record record;

/* --- random worlds */

struct kind { /* of failure */
	const char *what;
	uint64_t seed; /* of the smallest world that shows it */
	int size;
	int64_t n;
};

static int64_t number_from(const char *name, int64_t fallback)
{
	const char *text = getenv(name);
	int64_t n = fallback;

	if (text && num_i64(text, 0, INT64_MAX, &n, NULL))
		fail_msg("%s is not a number", name);
	return n;
}

static const char *one_world(uint64_t seed)
{
	world_random(&world, seed);
	world_run(&world, &record);
	return judge(&world, &record);
}

static void count_kind(struct kind *kinds, const char *what, uint64_t seed)
{
	int size = record.n_event + world.n_job * 4 + world.n_res * 4;
	struct kind *k = kinds;

	while (k < kinds + MAX_KINDS - 1 && k->what && strcmp(k->what, what))
		k++;
	if (!k->what || size < k->size)
		*k = (struct kind){.what = what, .seed = seed, .size = size, .n = k->n};
	k->n++;
}

static void tell_kind(const struct kind *k)
{
	struct world fresh;
	struct buf text = {0};

	one_world(k->seed);
	world_random(&fresh, k->seed); /* as it was before the cloud gave anything */
	world_dump(&fresh, &record, &text);
	/* print_error() cuts a long text off */
	fprintf(stderr, "%s (%" PRId64 " worlds)\n%sAlone: SE_PROPERTY_SEED=%" PRIu64 " SE_PROPERTY_WORLDS=1\n\n", k->what,
		k->n, buf_text(&text), k->seed);
	buf_free(&text);
}

static void test_random_worlds(void **state)
{
	int64_t n = number_from("SE_PROPERTY_WORLDS", N_WORLDS);
	uint64_t first = (uint64_t)number_from("SE_PROPERTY_SEED", 1);
	struct kind kinds[MAX_KINDS] = {{NULL, 0, 0, 0}};

	(void)state;
	for (int64_t i = 0; i < n; i++) {
		const char *what = one_world(first + (uint64_t)i);

		if (what)
			count_kind(kinds, what, first + (uint64_t)i);
	}
	for (int i = 0; i < MAX_KINDS && kinds[i].what; i++)
		tell_kind(&kinds[i]);
	if (kinds[0].what)
		fail_msg("promises of lib/plan/resume.h are broken");
}

/* --- the judge: stories written by hand, most of them of a fault
 *
 * Words of a story, each ended by ";":
 *   mem TYPE ZONE closed|probe|foreign|budget=N     remembered before (on-demand)
 *   first NODE STAGE                                where clustermgtd lets it begin
 *   ask RESOURCE STAGE MIN NODES CHOICES [JOBS [probe]]   nodes a1,a2; choices 00,01 (type and subnet) or *; jobs 1,2 or -
 *   got CALL N      short CALL N CODE    dead CALL N    later CALL    fatal CALL    leave CALL    take CALL NODE
 *   refuse CALL CODE CHOICES          at MS    hurry    idle MS
 *   bind NODE MACHINE [CALL [ip]]     fail NODE CODE    back MACHINE    learn TYPE ZONE FAILURES MS BUDGET
 * Calls and machines are counted from 0. Codes: ice, vcpu, unsupported, rate, or the text itself.
 */
struct teller {
	int64_t now;
	const char *bad;
};

static int number(const char *s)
{
	int64_t n = -1;

	return s && !num_i64(s, -1000, 1000000, &n, NULL) ? (int)n : -1;
}

static int node_of(const char *s)
{
	if (*s == '?')
		return STRANGER + number(s + 1);
	return (*s - 'a') * PER_RES + number(s + 1);
}

static enum code code_of(const char *s)
{
	static const struct {
		const char *word;
		enum code code;
	} words[] = {
	    {"ice", C_ICE}, {"vcpu", C_VCPU}, {"unsupported", C_UNSUPPORTED}, {"rate", C_RATE}, {"auth", C_AUTH},
	};

	for (size_t i = 0; s && i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(s, words[i].word))
			return words[i].code;
	return C_NONE;
}

static struct event *say(struct teller *t, enum event_kind kind, int step)
{
	struct event *e = &record.event[record.n_event++];

	*e = (struct event){.kind = kind, .now_ms = t->now, .step = step, .first = record.n_instance};
	return e;
}

static void say_choices(struct pstep *s, const char *text)
{
	const struct stage *t = &world.res[s->res].stage[s->stage];

	if (*text == '*') {
		for (int i = 0; i < t->n_type * t->n_net; i++, s->n_choice++) {
			s->type[i] = i / t->n_net;
			s->net[i] = i % t->n_net;
		}
		return;
	}
	for (; text[0] && text[1]; text += text[2] ? 3 : 2) {
		s->type[s->n_choice] = text[0] - '0';
		s->net[s->n_choice++] = text[1] - '0';
	}
}

static void say_ask(struct teller *t, char **v)
{
	struct pstep *s = &record.step[record.n_step];
	char *save = NULL;

	*s = (struct pstep){.id = (size_t)record.n_step + 100,
			    .res = *v[1] - 'a',
			    .stage = number(v[2]),
			    .min = number(v[3]),
			    .probe = v[7] != NULL};
	for (char *n = strtok_r(v[4], ",-", &save); n; n = strtok_r(NULL, ",-", &save))
		s->node[s->n++] = node_of(n);
	if (strcmp(v[5], "-"))
		say_choices(s, v[5]);
	for (char *n = v[6] ? strtok_r(v[6], ",-", &save) : NULL; n; n = strtok_r(NULL, ",-", &save))
		s->job[s->n_job++] = number(n);
	say(t, EV_ASK, record.n_step++);
}

static void say_answer(struct teller *t, char **v)
{
	struct event *e = say(t, EV_ANSWER, number(v[1]));
	const struct pstep *s = &record.step[e->step];
	bool refuse = !strcmp(v[0], "refuse");

	e->n = !refuse && v[2] ? number(v[2]) : 0;
	for (int i = 0; i < e->n; i++)
		record.instance[record.n_instance++] = (struct pinstance){
		    .step = e->step, .type = s->type[0], .net = s->net[0], .alive = strcmp(v[0], "dead") != 0};
	if (!strcmp(v[0], "later")) {
		e->why = SHORT_LATER;
		e->code = C_RATE;
	} else if (!strcmp(v[0], "fatal")) {
		e->why = SHORT_FATAL;
		e->code = C_AUTH;
	} else {
		e->code = code_of(refuse ? v[2] : v[2] ? v[3] : NULL);
	}
	for (const char *c = refuse ? v[3] : ""; c[0] && c[1]; c += c[2] ? 3 : 2)
		e->refused[e->n_refused++] = (struct refusal){c[0] - '0', c[1] - '0', e->code};
}

static void say_bind(char **v)
{
	int m = number(v[2]);

	record.bind[record.n_bind++] = (struct pbind){.node = node_of(v[1]),
						      .instance = m,
						      .ip_ok = !v[3] || !v[4],
						      .step = v[3]    ? (size_t)number(v[3]) + 100
							      : m < 0 ? 0
								      : (size_t)record.instance[m].step + 100};
}

static void say_fail(char **v)
{
	struct pfail *f = &record.fail[record.n_fail++];
	enum code c = code_of(v[2]);

	f->node = node_of(v[1]);
	snprintf(f->code, sizeof(f->code), "%s", c ? code_text[c] : v[2] ? v[2] : "");
}

static int row_of(const char *type, const char *zone)
{
	return row_at(type[1] - '0', zone[0] == '*' ? ZONE_ALL : zone[1] - '0', M_ONDEMAND);
}

static void say_memory(char **v)
{
	struct row *r = &world.row[row_of(v[1], v[2])];

	*r = (struct row){.set = true, .failures = 1, .until_ms = world.start_ms + (strcmp(v[3], "closed") ? -1 : 100000)};
	if (!strcmp(v[3], "foreign"))
		r->probe_until_ms = world.start_ms + 100000;
	if (!strncmp(v[3], "budget=", 7))
		r->budget = number(v[3] + 7);
}

static void say_learned(char **v)
{
	record.shortage[record.n_short++] = (struct pshortage){.row = *v[1] == '?' ? -1 : row_of(v[1], v[2]),
							       .changed = true,
							       .has_code = true,
							       .failures = number(v[3]),
							       .until_ms = world.start_ms + number(v[4]),
							       .budget = number(v[5])};
}

/* The words that only set something. */
static bool say_plain(struct teller *t, char **v)
{
	if (!strcmp(v[0], "at"))
		t->now = world.start_ms + number(v[1]);
	else if (!strcmp(v[0], "hurry"))
		say(t, EV_HURRY, -1);
	else if (!strcmp(v[0], "idle"))
		say(t, EV_IDLE, -1)->wake_ms = world.start_ms + number(v[1]);
	else if (!strcmp(v[0], "back"))
		record.back[record.n_back++] = number(v[1]);
	else if (!strcmp(v[0], "leave"))
		say(t, EV_LEAVE, number(v[1]));
	else if (!strcmp(v[0], "first"))
		world.first_stage[node_of(v[1])] = number(v[2]);
	else if (!strcmp(v[0], "mem"))
		say_memory(v);
	else if (!strcmp(v[0], "bind"))
		say_bind(v);
	else if (!strcmp(v[0], "fail"))
		say_fail(v);
	else if (!strcmp(v[0], "learn"))
		say_learned(v);
	else
		return false;
	return true;
}

static void say_sentence(struct teller *t, char *text)
{
	static const char *const answers[] = {"got", "short", "dead", "later", "fatal", "refuse"};
	char *v[12] = {NULL}, *save = NULL;
	int n = 0;

	for (char *word = strtok_r(text, " ", &save); word && n < 11; word = strtok_r(NULL, " ", &save))
		v[n++] = word;
	if (!n || say_plain(t, v))
		return;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (!strcmp(v[0], answers[i])) {
			say_answer(t, v);
			return;
		}
	if (!strcmp(v[0], "ask")) {
		say_ask(t, v);
	} else if (!strcmp(v[0], "take")) {
		say(t, EV_TAKEN, number(v[1]))->node = node_of(v[2]);
		record.step[number(v[1])].taken++;
	} else {
		t->bad = "a word that no story has";
	}
}

static void tell_story(const char *story)
{
	struct teller t = {.now = world.start_ms};
	char copy[1024], *save = NULL;

	assert_true(strlen(story) < sizeof(copy));
	snprintf(copy, sizeof(copy), "%s", story);
	for (char *s = strtok_r(copy, ";", &save); s; s = strtok_r(NULL, ";", &save))
		say_sentence(&t, s);
	assert_null(t.bad);
}

static void set_stage(struct stage *s, int types, int nets, int first_type, int limit_s)
{
	*s = (struct stage){.market = M_ONDEMAND, .n_type = types, .n_net = nets, .limit_s = limit_s};
	for (int i = 0; i < types; i++)
		s->type[i] = first_type + i;
	for (int i = 0; i < nets; i++)
		s->net[i] = i * 2; /* each in a zone of its own */
}

static void set_job(int k, int priority, const char *nodes)
{
	struct pjob *j = &world.job[k];

	world.n_job = k + 1;
	j->priority = priority;
	for (; nodes[0] && nodes[1]; nodes += nodes[2] ? 3 : 2)
		j->node[j->n++] = node_of((char[]){nodes[0], nodes[1], '\0'});
	for (int i = 0; i < j->n; i++)
		world.asked[j->node[i]] = true;
}

/* Resource a: one type, one subnet. b: two types in two zones, then (limit of the first: 60 s) a third type. c: as a. Jobs
 * "a1,a2" and "a3", then what the story's world adds. */
static void set_world(enum scaling_strategy strategy, int batch)
{
	memset(&world, 0, sizeof(world));
	memset(&record, 0, sizeof(record));
	world.strategy = strategy;
	world.batch = batch;
	world.start_ms = 1000000;
	world.n_res = 3;
	for (int i = 0; i < 3; i++) {
		world.res[i] = (struct resource){.single = i != 1, .max = 8, .n_stage = 1};
		set_stage(&world.res[i].stage[0], 1, 1, i, 0);
	}
	world.res[1].n_stage = 2;
	set_stage(&world.res[1].stage[0], 2, 2, 1, 60);
	set_stage(&world.res[1].stage[1], 1, 1, 3, 0);
}

#define GREEDY SCALING_GREEDY_ALL_OR_NOTHING
#define BEST SCALING_BEST_EFFORT
#define ICE "InsufficientInstanceCapacity"
/* the plain end of the plain world */
#define ALL3 "ask a 0 3 a1,a2,a3 00 1,2; got 0 3; "
#define BOUND3 "bind a1 0; bind a2 1; bind a3 2; "
#define NONE3                                                                                                                  \
	"ask a 0 3 a1,a2,a3 00 1,2; short 0 0 ice; ask a 0 2 a1,a2 00 1; short 1 0 ice; ask a 0 1 a3 00 2; short 2 0 ice; "
#define FAILED3 "fail a1 ice; fail a2 ice; fail a3 ice; "
#define LEARNED "learn t0 z0 1 60000 0; "

static const struct story {
	const char *fault;             /* NULL = none */
	enum scaling_strategy strategy;
	const char *job1, *job2;       /* NULL = "a1,a2" and "a3"; "" = none */
	const char *text;
	int batch;                     /* 0 = 8 */
	const char *live, *rest;       /* one node */
	int priority2;                 /* of job2; job1 has 1 */
} stories[] = {
	{ .text = ALL3 BOUND3 },
	{ .text = NONE3 FAILED3 LEARNED },
	{ .strategy = GREEDY, .text = "ask a 0 1 a1,a2,a3 00 1,2; got 0 2; bind a1 0; bind a2 1; fail a3 ice; " LEARNED },
	{ .job1 = "a1,?1", .job2 = "a3",
	  .text = "ask a 0 1 a3 00 2; got 0 1; bind a3 0; fail ?1 InvalidNodenameError; fail a1 ice" },
	{ .job1 = "b1,b2", .job2 = "",
	  .text = "ask b 0 1 b1,b2 * 1; short 0 1 ice; idle 30000; at 30000; ask b 0 1 b2 * 1; got 1 1; bind b1 0; "
		  "bind b2 1; learn t1 z0 1 60000 0; learn t1 z1 1 60000 0; learn t2 z0 1 60000 0; learn t2 z1 1 60000 0" },
	{ .job1 = "b1,b2", .job2 = "",
	  .text = "ask b 0 1 b1,b2 * 1; refuse 0 ice 00,01,10,11; at 60000; ask b 1 2 b1,b2 00 1; got 1 2; bind b1 0; "
		  "bind b2 1; learn t1 z0 1 60000 0; learn t1 z1 1 60000 0; learn t2 z0 1 60000 0; learn t2 z1 1 60000 0" },
	{ .text = "ask a 0 3 a1,a2,a3 00 1,2; take 0 a3; got 0 2; bind a1 0; bind a2 1" },
	{ .text = "ask a 0 3 a1,a2,a3 00 1,2; leave 0" },
	{ .text = "mem t0 z0 probe; ask a 0 1 a3 00 2 probe; got 0 1; ask a 0 2 a1,a2 00 1; got 1 2; bind a3 0; bind a1 1; "
		  "bind a2 2; learn t0 z0 1 0 4" },
	{ .text = "mem t0 z0 closed; " FAILED3 },
	{ .text = "ask a 0 3 a1,a2,a3 00 1,2; later 0; at 5000; ask a 0 3 a1,a2,a3 00 1,2; got 1 3; " BOUND3 },
	{ .fault = "a call for no nodes", .text = "ask a 0 1 - 00 1" },
	{ .fault = "a call of more nodes than a batch has", .batch = 2, .text = ALL3 },
	{ .fault = "a call without a choice", .text = "ask a 0 1 a3 - 2" },
	{ .fault = "a single resource with several choices", .text = "ask a 0 1 a3 00,00 2" },
	{ .fault = "a choice named twice", .job1 = "b1", .job2 = "", .text = "ask b 0 1 b1 01,10,01 1" },
	{ .fault = "a minimum between one and all", .text = "ask a 0 2 a1,a2,a3 00 1,2" },
	{ .fault = "a call for a node that was not asked for", .text = "ask a 0 1 a5 00 1" },
	{ .fault = "a call for a node that was not asked for", .job1 = "a1,?1", .job2 = "a3", .text = "ask a 0 1 ?1 00 1" },
	{ .fault = "a call for a node of another resource", .text = "ask c 0 1 a3 00 2" },
	{ .fault = "a call for a node that has a machine or a launch", .live = "a2", .text = ALL3 },
	{ .fault = "a call for a node that has a machine or a launch",
	  .text = "ask a 0 1 a3 00 2; leave 0; ask a 0 1 a3 00 2" },
	{ .fault = "a call for a node after a final error", .text = "ask a 0 1 a3 00 2; fatal 0; ask a 0 1 a3 00 2" },
	{ .fault = "a node in two calls at once", .text = "ask a 0 1 a3 00 2; ask a 0 1 a3 00 2" },
	{ .fault = "a stage that an earlier run was through with", .job1 = "b1", .job2 = "",
	  .text = "first b1 1; ask b 0 1 b1 * 1" },
	{ .job1 = "b1", .job2 = "", .text = "first b1 1; ask b 1 1 b1 00 1; got 0 1; bind b1 0" },
	{ .fault = "a node twice in a call", .text = "ask a 0 1 a3,a3 00 2" },
	{ .fault = "a call for a job that does not exist", .text = "ask a 0 1 a3 00 7" },
	{ .fault = "a call for a job without nodes in it", .text = "ask a 0 1 a3 00 1" },
	{ .fault = "all or nothing asked of EC2 under another strategy", .strategy = GREEDY, .text = ALL3 },
	{ .fault = "a minimum for several types in several zones", .job1 = "b1,b2", .job2 = "",
	  .text = "ask b 0 2 b1,b2 * 1" },
	{ .fault = "a minimum for jobs of one node", .job1 = "a1", .job2 = "a3", .text = "ask a 0 2 a1,a3 00 1,2" },
	{ .fault = "a minimum although another stage could fill up", .job1 = "b1,b2", .job2 = "",
	  .text = "ask b 0 2 b1,b2 00,01 1" },
	{ .fault = "no minimum for a job of several nodes", .text = "ask a 0 1 a1,a2 00 1" },
	{ .fault = "a closed offering was asked", .text = "mem t0 z0 closed; " ALL3 BOUND3 },
	{ .fault = "a closed offering was asked", .text = "mem t0 * closed; " ALL3 BOUND3 },
	{ .fault = "a closed offering was asked", .text = "mem t0 z0 foreign; " ALL3 BOUND3 },
	{ .fault = "more nodes asked than the budget allows", .text = "mem t0 z0 budget=2; " ALL3 BOUND3 },
	{ .fault = "more nodes asked than the budget allows",
	  .text = "mem t0 z0 budget=2; ask a 0 2 a1,a2 00 1; ask a 0 1 a3 00 2" },
	{ .fault = "two probes at once", .text = "mem t0 z0 probe; ask a 0 2 a1,a2 00 1 probe; ask a 0 1 a3 00 2 probe" },
	{ .fault = "a probe that is not marked", .text = "mem t0 z0 probe; ask a 0 1 a3 00 2" },
	{ .fault = "a probe where none is due", .text = "ask a 0 1 a3 00 2 probe" },
	{ .fault = "a probe for more than one job", .text = "mem t0 z0 probe; ask a 0 3 a1,a2,a3 00 1,2 probe" },
	{ .fault = "asked again for what was refused",
	  .text = "mem t0 z0 probe; ask a 0 2 a1,a2 00 1 probe; short 0 0 ice; at 29999; ask a 0 1 a3 00 2 probe" },
	{ .fault = "asked again for what was refused", .text = "ask a 0 2 a1,a2 00 1; short 0 0 ice; ask a 0 2 a1,a2 00 1" },
	{ .fault = "asked again for what was refused",
	  .text = "ask a 0 3 a1,a2,a3 00 1,2; short 0 0 unsupported; ask a 0 1 a3 00 2" },
	{ .fault = "asked again for what was refused", .job1 = "a1,a2,a3,a4", .job2 = "a5,a6",
	  .text = "ask a 0 4 a1,a2,a3,a4 00 1; short 0 1 none; ask a 0 2 a5,a6 00 2" },
	{ .fault = "asked again without a pause", .job1 = "b1,b2", .job2 = "",
	  .text = "ask b 0 1 b1,b2 * 1; short 0 1 ice; ask b 0 1 b2 * 1" },
	{ .fault = "asked again although there is no time", .job1 = "b1,b2", .job2 = "",
	  .text = "ask b 0 1 b1,b2 * 1; short 0 1 ice; hurry; at 30000; ask b 0 1 b2 * 1" },
	{ .fault = "asked again after the stage's time limit", .job1 = "b1,b2", .job2 = "",
	  .text = "ask b 0 1 b1,b2 * 1; short 0 1 ice; at 60001; ask b 0 1 b2 * 1" },
	{ .fault = "a stage left out", .job1 = "b1,b2", .job2 = "", .text = "ask b 1 2 b1,b2 00 1" },
	{ .fault = "a stage left out", .job1 = "b1,b2", .job2 = "",
	  .text = "ask b 0 1 b1,b2 00,01 1; short 0 0 ice; at 60000; ask b 1 2 b1,b2 00 1" },
	{ .fault = "a stage left before its time limit", .job1 = "b1,b2", .job2 = "",
	  .text = "ask b 0 1 b1,b2 * 1; short 0 0 ice; at 59999; ask b 1 2 b1,b2 00 1" },
	{ .fault = "more machines asked for than there are nodes", .text = ALL3 "ask a 0 1 a3 00 2; got 1 1" },
	{ .fault = "it waits although there is no time", .text = "hurry; idle 5000" },
	{ .fault = "it ended before all answers had come", .text = "ask a 0 3 a1,a2,a3 00 1,2" },
	{ .fault = "a node bound that was not asked for", .text = ALL3 BOUND3 "bind a4 2" },
	{ .fault = "a machine bound that never came", .text = ALL3 "bind a1 7" },
	{ .fault = "a node bound twice", .text = ALL3 BOUND3 "bind a3 2" },
	{ .fault = "a machine bound twice", .text = ALL3 "bind a1 0; bind a2 0" },
	{ .fault = "a node bound that has a machine or a launch", .live = "a3",
	  .text = "ask a 0 2 a1,a2 00 1; got 0 2; bind a1 0; bind a3 1" },
	{ .fault = "a dead machine bound", .text = "ask a 0 3 a1,a2,a3 00 1,2; dead 0 3; " BOUND3 },
	{ .fault = "a machine of another resource bound", .job1 = "a1", .job2 = "c1",
	  .text = "ask a 0 1 a1 00 1; got 0 1; bind c1 0; fail a1 ice" },
	{ .fault = "a machine bound with another launch than its own", .text = ALL3 "bind a1 0 3" },
	{ .fault = "a machine bound with another address than its own", .text = ALL3 "bind a1 0 0 ip" },
	{ .fault = "a machine returned that never came", .text = ALL3 BOUND3 "back 9" },
	{ .fault = "a machine returned twice", .text = ALL3 "bind a1 0; bind a2 1; back 2; back 2" },
	{ .fault = "a machine both bound and returned", .text = ALL3 BOUND3 "back 1" },
	{ .fault = "a machine lost", .text = ALL3 "bind a1 0; bind a2 1; fail a3 ice" },
	{ .fault = "a node failed without a code", .text = NONE3 "fail a1" },
	{ .fault = "a node of ours called unknown", .text = NONE3 "fail a1 InvalidNodenameError" },
	{ .fault = "an unknown node with another code", .job1 = "a1,?1", .job2 = "", .text = "fail ?1 ice" },
	{ .fault = "a node failed for throttling alone", .job1 = "a1", .job2 = "",
	  .text = "ask a 0 1 a1 00 1; later 0; fail a1 rate" },
	{ .fault = "a code that nobody said", .text = NONE3 "fail a1 auth" },
	{ .fault = "a node failed that was not asked for", .text = ALL3 BOUND3 "fail a4 ice" },
	{ .fault = "a node failed twice", .text = NONE3 "fail a1 ice; fail a1 ice" },
	{ .fault = "a node both bound and failed", .text = ALL3 BOUND3 "fail a1 ice" },
	{ .fault = "a node failed that has a machine or a launch",
	  .text = "ask a 0 3 a1,a2,a3 00 1,2; leave 0; fail a1 ice" },
	{ .fault = "a node forgotten", .text = ALL3 "bind a1 0; bind a2 1; back 2" },
	{ .fault = "a job served in part",
	  .text = "ask a 0 3 a1,a2,a3 00 1,2; short 0 2 ice; bind a1 0; bind a3 1; fail a2 ice; " LEARNED },
	{ .fault = "a job served in part", .strategy = GREEDY,
	  .text = "ask a 0 1 a1,a2,a3 00 1,2; short 0 2 ice; bind a1 0; bind a3 1; fail a2 ice; " LEARNED },
	{ .fault = "a machine returned that a node lacked", .strategy = BEST,
	  .text = "ask a 0 1 a1,a2,a3 00 1,2; short 0 2 ice; bind a1 0; back 1; fail a2 ice; fail a3 ice; " LEARNED },
	{ .fault = "a machine returned that a node lacked", .job1 = "a1,a2", .job2 = "", .rest = "a4",
	  .text = "ask a 0 2 a1,a2 00 1; got 0 2; back 0; back 1; fail a1 ice; fail a2 ice; fail a4 ice" },
	{ .fault = "machines returned that would have served a job",
	  .text = ALL3 "bind a1 0; bind a2 1; back 2; fail a3 ice" },
	{ .fault = "a job starved by one behind it",
	  .text = "ask a 0 1 a3 00 2; got 0 1; ask a 0 2 a1,a2 00 1; short 1 1 none; bind a3 0; back 1; fail a1 ice; "
		  "fail a2 ice; " LEARNED },
	{ .fault = "a job starved by one behind it", .job1 = "a1,a2", .job2 = "a3,a4", .priority2 = 5,
	  .text = "ask a 0 4 a1,a2,a3,a4 00 1,2; short 0 2 none; bind a1 0; bind a2 1; fail a3 ice; fail a4 ice; " LEARNED },
	{ .fault = "a node starved by one behind it", .strategy = BEST,
	  .text = "ask a 0 1 a1,a2,a3 00 1,2; short 0 2 ice; bind a1 0; bind a3 1; fail a2 ice; " LEARNED },
	{ .fault = "a job failed while capacity was never asked for", .text = FAILED3 },
	{ .fault = "a job failed while capacity was never asked for",
	  .text = "ask a 0 3 a1,a2,a3 00 1,2; short 0 0 ice; " FAILED3 LEARNED },
	{ .fault = "a job failed while capacity was never asked for", .text = "mem t0 z0 probe; " FAILED3 },
	{ .fault = "a job failed while capacity was never asked for", .job1 = "b1,b2", .job2 = "",
	  .text = "ask b 0 1 b1,b2 * 1; short 0 0 ice; fail b1 ice; fail b2 ice" },
	{ .fault = "a node failed while capacity was never asked for", .rest = "a4", .text = ALL3 BOUND3 "fail a4 ice" },
	{ .fault = "a refusal was not remembered", .text = NONE3 FAILED3 },
	{ .fault = "a refusal remembered without a code or a time", .text = NONE3 FAILED3 "learn t0 z0 1 0 0" },
	{ .fault = "a shortage that nobody saw", .text = ALL3 BOUND3 "learn t2 z1 1 60000 0" },
	{ .fault = "a shortage made of a success", .text = ALL3 BOUND3 LEARNED },
	{ .fault = "machines came and the shortage stayed as it was", .text = "mem t0 z0 budget=3; " ALL3 BOUND3 },
	{ .fault = "a shortage of what is not offered", .text = ALL3 BOUND3 "learn ? ? 1 60000 0" },
	{ .fault = "a shortage listed twice", .text = NONE3 FAILED3 LEARNED LEARNED },
};

static const char *judge_story(const struct story *s)
{
	set_world(s->strategy, s->batch ? s->batch : 8);
	set_job(0, 1, s->job1 ? s->job1 : "a1,a2");
	if (!s->job2 || *s->job2)
		set_job(1, s->priority2, s->job2 ? s->job2 : "a3");
	if (s->live)
		world.live[node_of(s->live)] = true;
	if (s->rest) {
		world.rest[world.n_rest++] = node_of(s->rest);
		world.asked[node_of(s->rest)] = true;
	}
	tell_story(s->text);
	return judge(&world, &record);
}

/* A judge that cannot say no is no judge. */
static void test_judge(void **state)
{
	int bad = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++) {
		const struct story *s = &stories[i];
		const char *said = judge_story(s);

		if (said == s->fault || (said && s->fault && !strcmp(said, s->fault)))
			continue;
		print_error("%s\n  said: %s\n   not: %s\n", s->text, said ? said : "(nothing)",
			    s->fault ? s->fault : "(nothing)");
		bad++;
	}
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_judge), cmocka_unit_test(test_random_worlds)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
