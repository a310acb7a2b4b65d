/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_events.c - `slurm-ec2 events`: what our programs did and what EC2 said, from the event log in our state. Changes
 * nothing. */
#include "build_config.h"

#include "cli/command.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/jview.h"
#include "lib/base/num.h"
#include "lib/base/str.h"
#include "lib/state/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define LAST_DEFAULT 100
#define LAST_FOLLOWED 10 /* what is shown before --follow waits */
#define LOOK_MS 500	 /* between two looks of --follow */
#define TYPE_WIDTH 16	 /* of --follow, which cannot know what types will come */

struct options {
	struct event_query query;
	bool json, follow;
};

/* "2h" or "90s" before now, "2026-11-30", "2026-11-30T16:50:27Z". */
static int parse_since(const char *text, int64_t *out)
{
	struct tm t = {0};
	const char *end;
	int64_t seconds;

	if (num_duration_s(text, &seconds, NULL) == 0) {
		int64_t now_ms = clock_wall_ms();

		*out = seconds > now_ms / 1000 ? 0 : now_ms - seconds * 1000;
		return 0;
	}
	if (clock_iso_parse(text, out) == 0)
		return 0;
	end = strptime(text, "%Y-%m-%d", &t);
	if (!end || *end)
		return -1;
	*out = (int64_t)timegm(&t) * 1000;
	return 0;
}

static int fill_event(struct json_object *o, const struct event *v)
{
	char when[25];

	clock_iso(v->time_ms, when);
	return jview_put_i64(o, "id", v->id) || jview_put_i64(o, "time_ms", v->time_ms) || jview_put_str(o, "time", when) ||
			       jview_put_str(o, "type", v->type) || jview_put_str(o, "node", v->node) ||
			       jview_put_str(o, "instance", v->instance) || jview_put_str(o, "jobs", v->jobs) ||
			       jview_put_str(o, "detail", v->detail)
		       ? -1
		       : 0;
}

static int no_memory(void)
{
	fputs("slurm-ec2 events: out of memory\n", stderr);
	return -1;
}

static int print_json(const struct events *l)
{
	struct json_object *list = json_object_new_array();
	int rc = list ? 0 : -1;

	for (size_t i = 0; i < l->n && rc == 0; i++) {
		struct json_object *o = jview_add_object(list);

		rc = o ? fill_event(o, &l->v[i]) : -1;
	}
	if (rc)
		no_memory();
	else
		puts(json_object_to_json_string_ext(list, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
								  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(list);
	return rc;
}

/* An object a line. */
static int print_json_line(const struct event *v)
{
	struct json_object *o = json_object_new_object();
	int rc = o ? fill_event(o, v) : -1;

	if (rc)
		no_memory();
	else
		puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
	return rc;
}

static int widest_type(const struct events *l)
{
	size_t n = 4;

	for (size_t i = 0; i < l->n; i++)
		n = strlen(l->v[i].type) > n ? strlen(l->v[i].type) : n;
	return (int)n;
}

/* EC2's words may hold anything: an event stays a line, and says nothing to the terminal. */
static void print_words(const char *text)
{
	for (; *text; text++)
		putchar((unsigned char)*text < ' ' || *text == 127 ? ' ' : *text);
}

static void print_line(const struct event *v, int width)
{
	char when[25];

	clock_iso(v->time_ms, when);
	printf("%.19sZ  %-*s ", when, width, v->type);
	if (v->node)
		printf(" %s", v->node);
	if (v->instance)
		printf(" %s", v->instance);
	if (v->detail) {
		fputs(v->node || v->instance ? ": " : " ", stdout);
		print_words(v->detail);
	}
	putchar('\n');
}

static void print_text(const struct events *l)
{
	int width = widest_type(l);

	for (size_t i = 0; i < l->n; i++)
		print_line(&l->v[i], width);
	if (!l->n)
		puts("no events");
}

static int print_all(struct store *s, const struct options *o, struct err *e)
{
	struct events l = {0};
	int rc = store_events(s, &o->query, &l, e);

	if (rc == 0 && o->json)
		rc = print_json(&l);
	else if (rc == 0)
		print_text(&l);
	events_clear(&l);
	return rc;
}

/* ---- --follow */

/* What came since; the query then asks only for what comes later. */
static int print_news(struct store *s, struct options *o, struct err *e)
{
	struct events l = {0};
	int rc = store_events(s, &o->query, &l, e);

	for (size_t i = 0; i < l.n && rc == 0; i++) {
		if (o->json)
			rc = print_json_line(&l.v[i]);
		else
			print_line(&l.v[i], TYPE_WIDTH);
		o->query.after_id = l.v[i].id;
	}
	o->query.last = 0;
	events_clear(&l);
	/* whoever read it is gone */
	return rc == 0 && (fflush(stdout) || ferror(stdout)) ? err_set(e, "cannot write the events") : rc;
}

struct file_id {
	dev_t dev;
	ino_t ino;
};

/* Is the state file still the one that is open? One that is away for a moment is waited for. */
static bool same_file(struct file_id *open)
{
	struct stat st;
	bool same = stat(STORE_PATH, &st) || (st.st_dev == open->dev && st.st_ino == open->ino);

	if (!same)
		*open = (struct file_id){.dev = st.st_dev, .ino = st.st_ino};
	return same;
}

/* Until Ctrl-C, or nobody reads any more. A state file that was replaced begins again at its first event. */
static int follow(struct store **s, struct options *o, struct err *e)
{
	struct file_id open = {0};

	same_file(&open);
	while (print_news(*s, o, e) == 0) {
		clock_sleep_ms(LOOK_MS);
		if (same_file(&open))
			continue;
		store_close(*s);
		*s = store_open_readonly(STORE_PATH, e);
		if (!*s)
			return -1;
		o->query.after_id = 0;
	}
	return -1;
}

/* 0 or an exit status. */
static int take_option(int c, struct options *o, int64_t *last)
{
	if (c == 'n' && num_i64(optarg, 0, INT32_MAX, last, NULL))
		return command_usage_error(&cmd_events, "--last %s: a whole number is expected, 0 = all", optarg);
	if (c == 's' && parse_since(optarg, &o->query.since_ms))
		return command_usage_error(&cmd_events, "--since %s: 90s, 2h, 2026-11-30 or 2026-11-30T16:50:00Z is expected",
					   optarg);
	if (c == 'b' && num_i64(optarg, 1, INT64_MAX, &(int64_t){0}, NULL))
		return command_usage_error(&cmd_events, "--job %s: a job's number is expected", optarg);
	o->json = o->json || c == 'j';
	o->follow = o->follow || c == 'f';
	o->query.node = c == 'o' ? optarg : o->query.node;
	o->query.type = c == 't' ? optarg : o->query.type;
	o->query.instance = c == 'i' ? optarg : o->query.instance;
	o->query.job = c == 'b' ? optarg : o->query.job;
	return EXIT_OK;
}

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option known[] = {
		{"json", no_argument, NULL, 'j'},	 {"last", required_argument, NULL, 'n'},
		{"since", required_argument, NULL, 's'}, {"node", required_argument, NULL, 'o'},
		{"type", required_argument, NULL, 't'},	 {"instance", required_argument, NULL, 'i'},
		{"job", required_argument, NULL, 'b'},	 {"follow", no_argument, NULL, 'f'},
		{NULL, 0, NULL, 0},
	};
	int64_t last = -1;
	int c, status;

	while ((c = command_option(&cmd_events, argc, argv, ":n:f", known)) != -1) {
		status = c == '?' ? EXIT_USAGE : take_option(c, o, &last);
		if (status != EXIT_OK)
			return status;
	}
	if (argc != optind)
		return command_usage_error(&cmd_events, "\"%s\": no argument is expected", argv[optind]);
	o->query.last = last >= 0 ? (size_t)last : o->follow ? LAST_FOLLOWED : LAST_DEFAULT;
	return EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct options o = {.json = false};
	struct err e = {""};
	int status = parse(argc, argv, &o);
	struct store *s;

	if (status != EXIT_OK)
		return status;
	s = store_open_readonly(STORE_PATH, &e);
	if (!s || (o.follow ? follow(&s, &o, &e) : print_all(s, &o, &e)) < 0)
		status = EXIT_PROBLEM;
	if (e.text[0])
		fprintf(stderr, "slurm-ec2 events: %s\n", e.text);
	store_close(s);
	return status;
}

const struct command cmd_events = {
	.name = "events",
	.help = "what was launched, bound, refused and ended, and EC2's own words",
	.usage = "usage: slurm-ec2 events [--last N] [--since TIME] [--job ID] [--node NODE] [--type TYPE] [--instance ID]\n"
		 "                        [--follow] [--json]\n"
		 "Print the event log, oldest first: launches, refusals with EC2's own words, bindings, terminations.\n\n"
		 "  -n, --last N    only the newest N (100; 0 = all)\n"
		 "  --since TIME    only younger ones: 90s, 2h, 2026-11-30 or 2026-11-30T16:50:00Z (UTC)\n"
		 "  --job ID        only those of this job: launches for it, their machines, nodes it did not get\n"
		 "  --node NODE     only those that name this node\n"
		 "  --type TYPE     only of this type, such as launch, launch-refused, bind, terminate, nodes-failed\n"
		 "  --instance ID   only those that name this instance\n"
		 "  -f, --follow    the newest 10 (see --last), then each as it comes, until Ctrl-C\n"
		 "  --json          a list of objects: id, time_ms, time, type, node, instance, jobs, detail; an object a\n"
		 "                  line with --follow\n\n"
		 "Exit status: 0 shown, also when there are none; 1 the state file cannot be read; 2 wrong usage.\n",
	.run = run,
};
