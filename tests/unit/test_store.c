/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_store.c - the questions of the store, one connection or two. */
#include "tests/unit/test_store.h"

#include <sys/stat.h>
#include <unistd.h>

static void claims(void **state)
{
	struct store *a = open_store(), *b = open_store();
	struct launches open = {0};
	struct launch again;
	struct err e = {""};

	(void)state;
	claim(a, "L1", "n-1,n-2,n-2", "n-1,n-2", "n-2");
	claim(b, "L2", "n-2,n-3,n-1", "n-3", "n-2,n-1");
	claim(b, "L3", "n-1", "", "n-1"); /* nothing left: no row */
	row_is(b, "n-1", "L L1 - -");
	row_is(a, "n-3", "L L2 - -");
	row_is(a, "n-9", "");
	assert_int_equal(store_launches_open(b, &open, NULL), 0);
	assert_int_equal(open.n, 2);
	assert_string_equal(open.v[0].id, "L1");
	assert_int_equal(open.v[0].nodes.n, 2);
	assert_int_equal(open.v[0].state, LAUNCH_INTENT);
	assert_int_equal(open.v[0].pid, 77);
	assert_int_equal(open.v[1].nodes.n, 1);
	/* an id is used once: refused as a whole */
	again = make_launch("L1", "n-8");
	assert_int_equal(store_launch_claim(a, &again, NULL, &e), -1);
	assert_non_null(strstr(e.text, "L1"));
	assert_int_equal(again.nodes.n, 1);
	row_is(a, "n-8", "");
	launch_clear(&again);
	launches_clear(&open);
	store_close(a);
	store_close(b);
}

static void binds(void **state)
{
	struct store *s = open_store();
	struct bindings was = {0};
	struct err e = {""};

	(void)state;
	claim(s, "L1", "n-1,n-2,n-3", "n-1,n-2,n-3", "");
	assert_int_equal(store_bind(s, "n-1", "L1", "i-1", NULL, NULL), 1);
	row_is(s, "n-1", "B L1 i-1 -");
	assert_int_equal(store_bind(s, "n-1", "L1", "i-1", "10.0.0.1", NULL), 1); /* the address comes later */
	assert_int_equal(store_bind(s, "n-1", "L1", "i-1", NULL, NULL), 1);	  /* and is not forgotten */
	row_is(s, "n-1", "B L1 i-1 10.0.0.1");
	assert_int_equal(store_bind(s, "n-1", "L1", "i-2", NULL, NULL), 0); /* has another machine */
	assert_int_equal(store_bind(s, "n-2", "L9", "i-2", NULL, NULL), 0); /* another launch */
	assert_int_equal(store_bind(s, "n-9", "L1", "i-2", NULL, NULL), 0); /* no such node */
	assert_int_equal(store_bind(s, "n-2", "L1", "i-1", NULL, &e), -1);  /* a machine is one node */
	row_is(s, "n-2", "L L1 - -");
	/* suspended meanwhile: the machine that comes is returned */
	assert_int_equal(store_free(s, "n-3", -1, NULL, NULL), 1);
	assert_int_equal(store_bind(s, "n-3", "L1", "i-3", NULL, NULL), 0);
	row_is(s, "n-3", "F - - -");
	assert_int_equal(store_free(s, "n-1", -1, &was, NULL), 1);
	assert_int_equal(was.n, 1);
	assert_string_equal(was.v[0].instance, "i-1");
	assert_string_equal(was.v[0].ip, "10.0.0.1");
	assert_string_equal(was.v[0].launch, "L1");
	row_is(s, "n-1", "F - - -");
	assert_int_equal(store_free(s, "n-1", -1, &was, NULL), 0); /* it is free */
	assert_int_equal(store_free(s, "n-9", -1, &was, NULL), 0);
	assert_int_equal(was.n, 1);
	bindings_clear(&was);
	store_close(s);
}

static void generations(void **state)
{
	struct store *s = open_store();
	int64_t before, now;

	(void)state;
	claim(s, "L1", "n-1,n-2", "n-1,n-2", "");
	assert_int_not_equal(generation_of(s, "n-1"), generation_of(s, "n-2"));
	before = generation_of(s, "n-1");
	assert_int_equal(store_bind(s, "n-1", "L1", "i-1", NULL, NULL), 1);
	now = generation_of(s, "n-1");
	assert_true(now > before);
	assert_int_equal(store_free(s, "n-1", before, NULL, NULL), 0); /* based on what is no longer true */
	row_is(s, "n-1", "B L1 i-1 -");
	assert_int_equal(store_free(s, "n-1", now, NULL, NULL), 1);
	before = now;
	now = generation_of(s, "n-1");
	assert_true(now > before);
	claim(s, "L2", "n-1", "n-1", "");
	assert_true(generation_of(s, "n-1") > now);
	store_close(s);
}

static void adoption(void **state)
{
	struct store *s = open_store();

	(void)state;
	assert_int_equal(store_adopt(s, "n-1", "L0", "i-1", "10.0.0.1", NULL), 1);
	row_is(s, "n-1", "B L0 i-1 10.0.0.1");
	assert_int_equal(store_adopt(s, "n-1", "L0", "i-2", "10.0.0.2", NULL), 0);
	row_is(s, "n-1", "B L0 i-1 10.0.0.1");
	claim(s, "L1", "n-1,n-2", "n-2", "n-1");
	assert_int_equal(store_adopt(s, "n-2", "L0", "i-2", NULL, NULL), 0); /* a launch has it */
	assert_int_equal(store_free(s, "n-2", -1, NULL, NULL), 1);
	assert_int_equal(store_adopt(s, "n-2", NULL, "i-2", NULL, NULL), 1);
	row_is(s, "n-2", "B - i-2 -");
	store_close(s);
}

static const struct launch *only_open(struct store *s, struct launches *l)
{
	launches_clear(l);
	assert_int_equal(store_launches_open(s, l, NULL), 0);
	assert_int_equal(l->n, 1);
	return &l->v[0];
}

static void launch_life(void **state)
{
	struct store *s = open_store();
	struct launch l = make_launch("L1", "n-1,n-2,n-3,n-4");
	struct launches open = {0};
	struct err e = {""};

	(void)state;
	assert_int_equal(strs_split(&l.jobs, "12,13", ','), 0);
	l.created_ms = INT64_C(1796057427023);
	assert_int_equal(store_launch_claim(s, &l, NULL, NULL), 0);
	assert_null(only_open(s, &open)->request);
	assert_int_equal(only_open(s, &open)->created_ms, l.created_ms);
	assert_int_equal(only_open(s, &open)->jobs.n, 2);
	assert_string_equal(only_open(s, &open)->jobs.v[1], "13");
	assert_int_equal(store_launch_request(s, "L1", "Action=RunInstances", NULL), 0);
	assert_string_equal(only_open(s, &open)->request, "Action=RunInstances");
	assert_int_equal(store_launch_answered(s, "L1", "InsufficientInstanceCapacity", NULL), 0);
	assert_int_equal(only_open(s, &open)->state, LAUNCH_ANSWERED);
	assert_string_equal(only_open(s, &open)->error, "InsufficientInstanceCapacity");
	assert_int_equal(store_launch_request(s, "L1", "x", &e), -1); /* it was sent */
	/* a worker that died is replaced once */
	assert_int_equal(store_launch_take(s, "L1", 77, 88, NULL), 1);
	assert_int_equal(store_launch_take(s, "L1", 77, 99, NULL), 0);
	assert_int_equal(only_open(s, &open)->pid, 88);
	assert_int_equal(store_bind(s, "n-1", "L1", "i-1", NULL, NULL), 1);
	assert_int_equal(store_launch_release(s, "L1", "n-2", NULL), 1);
	row_is(s, "n-2", "F - - -");
	assert_int_equal(store_launch_release(s, "L1", "n-1", NULL), 0); /* bound: stays */
	row_is(s, "n-1", "B L1 i-1 -");
	claim(s, "L2", "n-2", "n-2", "");
	assert_int_equal(store_launch_release(s, "L1", "n-2", NULL), 0); /* another's by now */
	assert_int_equal(store_launch_done(s, "L1", NULL), 0);
	assert_int_equal(store_launch_done(s, "L1", NULL), 0);
	row_is(s, "n-1", "B L1 i-1 -");
	row_is(s, "n-2", "L L2 - -");
	row_is(s, "n-3", "F - - -");
	row_is(s, "n-4", "F - - -");
	assert_string_equal(only_open(s, &open)->id, "L2");
	assert_int_equal(store_launch_take(s, "L1", 88, 99, NULL), 0); /* done */
	assert_int_equal(store_launch_answered(s, "L9", NULL, &e), -1);
	assert_non_null(strstr(e.text, "L9"));
	assert_int_equal(store_launch_done(s, "L9", &e), -1);
	launches_clear(&open);
	launch_clear(&l);
	store_close(s);
}

static void batch(void **state)
{
	struct store *s = open_store(), *other = open_store();
	struct err e = {""};

	(void)state;
	assert_int_equal(store_batch_begin(s, NULL), 0);
	claim(s, "L1", "n-1", "n-1", "");
	assert_int_equal(store_bind(s, "n-1", "L1", "i-1", NULL, NULL), 1);
	row_is(other, "n-1", ""); /* not before the end */
	assert_int_equal(store_batch_end(s, 5, NULL), 5);
	row_is(other, "n-1", "B L1 i-1 -");
	/* the caller's outcome undoes it */
	assert_int_equal(store_batch_begin(s, NULL), 0);
	claim(s, "L2", "n-2", "n-2", "");
	assert_int_equal(store_batch_end(s, -1, NULL), -1);
	row_is(other, "n-2", "");
	/* so does a failure in between that the caller did not heed */
	assert_int_equal(store_batch_begin(s, NULL), 0);
	claim(s, "L3", "n-3", "n-3", "");
	assert_int_equal(store_launch_done(s, "L9", NULL), -1);
	assert_int_equal(store_batch_end(s, 0, &e), -1);
	row_is(other, "n-3", "");
	claim(s, "L4", "n-4", "n-4", "");
	row_is(other, "n-4", "L L4 - -");
	store_close(other);
	store_close(s);
}

static void expect_since(struct store *s, int64_t ec2, int64_t slurm)
{
	struct source_rows l = {0};

	assert_int_equal(store_sources(s, &l, NULL), 0);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.v[0].name, "ec2");
	assert_int_equal(l.v[0].since_ms, ec2);
	assert_string_equal(l.v[1].name, "slurm");
	assert_int_equal(l.v[1].since_ms, slurm);
	assert_null(l.v[1].error);
	source_rows_clear(&l);
}

static void trouble_has_a_beginning(struct store *s)
{
	expect_since(s, 2000, 9000);
	assert_int_equal(store_source_failed(s, "ec2", 3000, "no answer still", NULL), 0);
	expect_since(s, 2000, 9000);
	assert_int_equal(store_source_failed(s, "slurm", 500, NULL, NULL), 0); /* the clock was set back */
	expect_since(s, 2000, 500);
	assert_int_equal(store_source_ok(s, "ec2", 4000, NULL), 0);
	expect_since(s, 0, 500);
	assert_int_equal(store_source_failed(s, "ec2", 5000, "again", NULL), 0);
	expect_since(s, 5000, 500);
}

static void sources_and_counters(void **state)
{
	struct store *s = open_store();
	int64_t ok = -1, failed = -1, n = -1;
	struct kvs list = {0};
	char *error = NULL;

	(void)state;
	assert_int_equal(store_source(s, "ec2", &ok, &failed, &error, NULL), 0);
	assert_true(ok == 0 && failed == 0 && !error);
	assert_int_equal(store_source_ok(s, "ec2", 5000, NULL), 0);
	assert_int_equal(store_source_ok(s, "ec2", 1000, NULL), 0); /* the clock was set back: the last word counts */
	assert_int_equal(store_source_failed(s, "ec2", 2000, "no answer", NULL), 0);
	assert_int_equal(store_source_failed(s, "slurm", 9000, NULL, NULL), 0);
	assert_int_equal(store_source(s, "ec2", &ok, &failed, &error, NULL), 0);
	assert_int_equal(ok, 1000);
	assert_int_equal(failed, 2000);
	assert_string_equal(error, "no answer");
	free(error);
	trouble_has_a_beginning(s);
	assert_int_equal(store_counter_add(s, "boot:q/r", 2, &n, NULL), 0);
	assert_int_equal(store_counter_add(s, "boot:q/r", -5, &n, NULL), 0);
	assert_int_equal(n, -3);
	assert_int_equal(store_counter_set(s, "boot:a", 7, NULL), 0);
	assert_int_equal(store_counter_set(s, "boot:a", 8, NULL), 0);
	assert_int_equal(store_counter_set(s, "Boot:b", 9, NULL), 0);
	assert_int_equal(store_counter_add(s, "x%", 1, NULL, NULL), 0);
	assert_int_equal(store_counters(s, "boot:", &list, NULL), 0);
	assert_int_equal(list.key.n, 2);
	assert_string_equal(kvs_get(&list, "boot:a"), "8");
	assert_string_equal(kvs_get(&list, "boot:q/r"), "-3");
	assert_int_equal(store_counters(s, "%", &list, NULL), 0); /* no wildcard */
	assert_int_equal(list.key.n, 2);
	assert_int_equal(store_counters(s, "", &list, NULL), 0);
	assert_int_equal(list.key.n, 6);
	kvs_clear(&list);
	store_close(s);
}

static void events_are_bounded(void **state)
{
	struct store *s = open_store();

	(void)state;
	assert_int_equal(store_event(s, 1, "first", NULL, NULL, NULL, NULL), 0);
	assert_int_equal(store_event(s, 2, "second", "n-1", "i-1", "d", NULL), 0);
	raw_sql("INSERT INTO event VALUES(100001, 3, 'late', NULL, NULL, NULL, NULL)");
	assert_int_equal(store_event(s, 4, "last", NULL, NULL, NULL, NULL), 0);
	store_close(s);
	/* 1 and 2 are gone, two are left: a wrong count breaks the constraint */
	raw_sql("CREATE TEMP TABLE t(n CHECK(n = 2)); INSERT INTO t SELECT count(*) FROM event");
}

static const struct event_query all_events;

/* "type type ..." of what a query finds. */
static void events_are(struct store *s, const struct event_query *q, const char *expect)
{
	struct events l = {0};
	struct strs types = {0};
	char *text;

	assert_int_equal(store_events(s, q, &l, NULL), 0);
	for (size_t i = 0; i < l.n; i++)
		assert_int_equal(strs_add(&types, l.v[i].type), 0);
	text = strs_join(&types, " ");
	assert_string_equal(text, expect);
	free(text);
	strs_clear(&types);
	events_clear(&l);
}

static void put_event(struct store *s, int64_t ms, const char *type, const char *jobs)
{
	const struct event v = {.time_ms = ms, .type = (char *)type, .jobs = (char *)jobs};

	assert_int_equal(store_event_put(s, &v, NULL), 0);
}

static void events_of_a_job(void **state)
{
	static const struct {
		const char *job, *found;
	} c[] = {{"7", "one some"}, {"8", "some"}, {"71", "other"}, {"1", ""}, {"", ""}};
	struct store *s = open_store();
	struct events l = {0};

	(void)state;
	put_event(s, 1, "one", "7");
	put_event(s, 2, "some", "8,7");
	put_event(s, 3, "other", "71");
	assert_int_equal(store_event(s, 4, "none", "n-7", "i-7", "7", NULL), 0);
	for (size_t i = 0; i < COUNT(c); i++)
		events_are(s, &(struct event_query){.job = c[i].job}, c[i].found);
	assert_int_equal(store_events(s, &(struct event_query){.job = "8"}, &l, NULL), 0);
	assert_string_equal(l.v[0].jobs, "8,7");
	events_clear(&l);
	store_close(s);
}

static void reading_events(void **state)
{
	struct store *s = open_store();
	struct events l = {0};

	(void)state;
	assert_int_equal(store_event(s, 1, "a", "n-1", "i-1", "d", NULL), 0);
	assert_int_equal(store_event(s, 2, "b", "n-[2-3],m-1", NULL, NULL, NULL), 0);
	assert_int_equal(store_event(s, 3, "c", NULL, "i-1,i-22", NULL, NULL), 0);
	assert_int_equal(store_event(s, 4, "b", NULL, NULL, NULL, NULL), 0);
	events_are(s, &all_events, "a b c b");
	events_are(s, &(struct event_query){.last = 2}, "c b");
	events_are(s, &(struct event_query){.last = 9}, "a b c b");
	events_are(s, &(struct event_query){.since_ms = 3}, "c b");
	events_are(s, &(struct event_query){.type = "b"}, "b b");
	events_are(s, &(struct event_query){.type = "b", .last = 1, .node = "m-1"}, "b");
	events_are(s, &(struct event_query){.node = "n-1"}, "a");
	events_are(s, &(struct event_query){.node = "n-3"}, "b");
	events_are(s, &(struct event_query){.node = "n-"}, "");
	events_are(s, &(struct event_query){.instance = "i-1"}, "a c");
	events_are(s, &(struct event_query){.instance = "i-22"}, "c");
	events_are(s, &(struct event_query){.instance = "i-2"}, "");
	events_are(s, &(struct event_query){.after_id = 2}, "c b");
	events_are(s, &(struct event_query){.after_id = 4}, "");
	events_are(s, &(struct event_query){.job = "7"}, "");
	assert_int_equal(store_events(s, &(struct event_query){.last = 1}, &l, NULL), 0); /* appends */
	assert_int_equal(store_events(s, &(struct event_query){.last = 3, .node = "n-1"}, &l, NULL), 0);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.v[1].id, 1);
	assert_int_equal(l.v[1].time_ms, 1);
	assert_string_equal(l.v[1].node, "n-1");
	assert_string_equal(l.v[1].instance, "i-1");
	assert_string_equal(l.v[1].detail, "d");
	events_clear(&l);
	store_close(s);
}

static void shortages_are_kept(void **state)
{
	struct store *s = open_store();
	struct shortages in = {0}, out = {0};
	struct shortage *one = shortages_add(&in, "c5.large", "us-east-1a", "spot");
	const struct shortage *got;

	(void)state;
	*one = (struct shortage){.of = one->of, .failures = 2, .failed_ms = 10, .until_ms = 20, .budget = 7, .probe_until_ms = 5};
	one->code = str_dup("InsufficientInstanceCapacity");
	one->message = str_dup("none left");
	assert_int_equal(store_shortage_put(s, one, NULL), 0);
	one = shortages_add(&in, "c5.large", "us-east-1b", "spot");
	one->failures = 1;
	assert_int_equal(store_shortage_put(s, one, NULL), 0);
	one->failures = 3;
	assert_int_equal(store_shortage_put(s, one, NULL), 0);
	assert_int_equal(store_shortages(s, &out, NULL), 0);
	assert_int_equal(out.n, 2);
	got = shortages_find(&out, "c5.large", "us-east-1a", "spot");
	assert_string_equal(got->code, "InsufficientInstanceCapacity");
	assert_string_equal(got->message, "none left");
	assert_int_equal(got->failures, 2);
	assert_int_equal(got->failed_ms, 10);
	assert_int_equal(got->until_ms, 20);
	assert_int_equal(got->budget, 7);
	assert_int_equal(got->probe_until_ms, 5);
	assert_int_equal(shortages_find(&out, "c5.large", "us-east-1b", "spot")->failures, 3);
	one->failures = 0;
	assert_int_equal(store_shortage_put(s, one, NULL), 0);
	shortages_clear(&out);
	assert_int_equal(store_shortages(s, &out, NULL), 0);
	assert_int_equal(out.n, 1);
	shortages_clear(&out);
	shortages_clear(&in);
	store_close(s);
}

static void one_probe_at_a_time(void **state)
{
	struct store *s = open_store(), *other = open_store();
	struct shortages l = {0};
	struct shortage *one = shortages_add(&l, "c5.large", "z", "spot");
	char type[] = "c5.large", zone[] = "y", market[] = "spot";
	const struct offering none = {type, zone, market};

	(void)state;
	one->failures = 1;
	assert_int_equal(store_shortage_put(s, one, NULL), 0);
	assert_int_equal(store_shortage_probe(s, &one->of, 100, 200, NULL), 1);
	assert_int_equal(store_shortage_probe(other, &one->of, 150, 300, NULL), 0);
	assert_int_equal(store_shortage_probe(other, &one->of, 200, 300, NULL), 1); /* its process has ended */
	assert_int_equal(store_shortage_probe(s, &one->of, 250, 400, NULL), 0);
	assert_int_equal(store_shortage_probe(s, &none, 100, 200, NULL), 0); /* no such shortage: somebody healed it */
	shortages_clear(&l);
	store_close(other);
	store_close(s);
}

/* A file of the first release keeps its rows. */
static void older_version(void **state)
{
	struct launches l = {0};
	struct launch row;
	struct store *s = open_store();

	(void)state;
	claim(s, "L1", "n-1", "n-1", "");
	store_close(s);
	raw_sql("ALTER TABLE launch DROP COLUMN stage; DROP TABLE shortage; DROP TABLE word; DROP TABLE failure;"
		" ALTER TABLE source DROP COLUMN since_ms; ALTER TABLE event DROP COLUMN jobs; PRAGMA user_version = 1");
	s = open_store();
	row_is(s, "n-1", "L L1 - -");
	row = make_launch("L2", "n-2");
	row.stage = 3;
	assert_int_equal(store_launch_claim(s, &row, NULL, NULL), 0);
	launch_clear(&row);
	assert_int_equal(store_launches_open(s, &l, NULL), 0);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.v[0].stage + l.v[1].stage, 3);
	launches_clear(&l);
	store_close(s);
}

static void modes(void **state)
{
	static const char *const tail[] = {"", "-wal", "-shm", ".lock"};
	mode_t old = umask(0);
	struct store *s = open_store();
	struct stat st;

	(void)state;
	claim(s, "L1", "n-1", "n-1", "");
	for (size_t i = 0; i < COUNT(tail); i++) {
		char *file = str_fmt("%s%s", path, tail[i]);

		assert_int_equal(stat(file, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0640);
		free(file);
	}
	umask(old);
	store_close(s);
}

static void reading_only(void **state)
{
	struct store *s, *r;
	struct err e = {""};

	(void)state;
	assert_null(store_open_readonly(path, &e));
	assert_non_null(strstr(e.text, "there is no state file"));
	assert_false(file_exists(path));
	s = open_store();
	claim(s, "L1", "n-1", "n-1", "");
	store_close(s);
	r = store_open_readonly(path, &e); /* no writer has it open */
	assert_non_null(r);
	row_is(r, "n-1", "L L1 - -");
	assert_int_equal(store_free(r, "n-1", -1, NULL, &e), -1);
	assert_non_null(strstr(e.text, "for reading only"));
	s = open_store();
	assert_int_equal(store_free(s, "n-1", -1, NULL, NULL), 1);
	row_is(r, "n-1", "F - - -");
	store_close(s);
	store_close(r);
	assert_int_equal(file_replace(path, 0640, "", 0, NULL), 0);
	assert_null(store_open_readonly(path, &e));
	store_close(NULL);
}

static void newer_version(void **state)
{
	struct err note, e = {""};

	(void)state;
	store_close(open_store());
	raw_sql("PRAGMA user_version = 99");
	assert_null(store_open(path, &note, &e));
	assert_non_null(strstr(e.text, "newer slurm-ec2"));
	assert_null(store_open_readonly(path, &e));
	raw_sql("PRAGMA user_version = 6"); /* it was left alone */
	store_close(open_store());
}

static void unusable_place(void **state)
{
	struct err note, e = {""};
	char *under = str_fmt("%s/none/state.db", folder);

	(void)state;
	assert_null(store_open(under, &note, &e));
	assert_non_null(strstr(e.text, under));
	free(under);
	assert_int_equal(file_mkdirs(path, 0755, NULL), 0); /* a folder in its place */
	assert_null(store_open(path, &note, &e));
	assert_non_null(strstr(e.text, path));
}

/* "node instance code time[ over]" of each, "," between them. */
static void failures_are(struct store *s, int64_t since, const char *want)
{
	struct failures l = {0};
	struct strs words = {0};
	char *text;

	assert_int_equal(store_failures(s, since, &l, NULL), 0);
	for (size_t i = 0; i < l.n; i++)
		assert_int_equal(strs_addf(&words, "%s/%s %s %s %s %d%s", l.v[i].queue, l.v[i].resource, l.v[i].node,
					   l.v[i].instance ? l.v[i].instance : "-", l.v[i].code, (int)l.v[i].time_ms,
					   l.v[i].over ? " over" : ""), 0);
	text = strs_join(&words, ",");
	assert_string_equal(text, want);
	free(text);
	strs_clear(&words);
	failures_clear(&l);
}

static int fail_boot(struct store *s, const char *resource, const char *node, const char *instance, int64_t time_ms)
{
	struct failure f = {.queue = (char *)"q", .resource = (char *)resource, .node = (char *)node, .instance = (char *)instance,
			    .code = (char *)"c", .time_ms = time_ms};

	return store_failure_add(s, &f, NULL);
}

static void failed_boots_are_kept(void **state)
{
	struct store *s = open_store();

	(void)state;
	assert_int_equal(fail_boot(s, "a", "n-2", "i-2", 20), 1);
	assert_int_equal(fail_boot(s, "a", "n-1", "i-1", 10), 1);
	assert_int_equal(fail_boot(s, "a", "n-1", "i-1", 11), 0); /* a machine fails once */
	assert_int_equal(fail_boot(s, "b", "n-3", NULL, 30), 1);
	failures_are(s, 0, "q/a n-1 i-1 c 10,q/a n-2 i-2 c 20,q/b n-3 - c 30");
	failures_are(s, 20, "q/a n-2 i-2 c 20,q/b n-3 - c 30");
	assert_int_equal(store_failures_over(s, "q", "a", 15, NULL), 0);
	failures_are(s, 0, "q/a n-1 i-1 c 10 over,q/a n-2 i-2 c 20,q/b n-3 - c 30");
	assert_int_equal(store_failures_over(s, "q", "a", 99, NULL), 0);
	assert_int_equal(store_failures_forget(s, "n-2", 19, NULL), 0);
	assert_int_equal(store_failures_forget(s, "n-1", 19, NULL), 0);
	failures_are(s, 0, "q/a n-2 i-2 c 20 over,q/b n-3 - c 30");
	assert_int_equal(store_failures_clear(s, "q", "b", 29, NULL), 0);
	assert_int_equal(store_failures_clear(s, "q", "a", 29, NULL), 0);
	failures_are(s, 0, "q/b n-3 - c 30");
	assert_int_equal(store_failures_clear(s, NULL, NULL, 30, NULL), 0);
	failures_are(s, 0, "");
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(claims),      EACH(binds),	   EACH(generations),	       EACH(adoption),
		EACH(launch_life), EACH(batch),	   EACH(sources_and_counters), EACH(events_are_bounded),
		EACH(modes),       EACH(reading_only), EACH(newer_version),	       EACH(unusable_place),
		EACH(reading_events), EACH(events_of_a_job), EACH(shortages_are_kept), EACH(one_probe_at_a_time), EACH(older_version),
		EACH(failed_boots_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
