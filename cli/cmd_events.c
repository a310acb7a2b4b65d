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
#include <time.h>

#define LAST_DEFAULT 100

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

static int read_events(const struct event_query *q, struct events *out, struct err *e)
{
	struct store *s = store_open_readonly(STORE_PATH, e);
	int rc = s ? store_events(s, q, out, e) : -1;

	store_close(s);
	return rc;
}

static int put_event(struct json_object *list, const struct event *v)
{
	struct json_object *o = jview_add_object(list);
	char when[25];

	if (!o)
		return -1;
	clock_iso(v->time_ms, when);
	return jview_put_i64(o, "id", v->id) || jview_put_i64(o, "time_ms", v->time_ms) || jview_put_str(o, "time", when) ||
			       jview_put_str(o, "type", v->type) || jview_put_str(o, "node", v->node) ||
			       jview_put_str(o, "instance", v->instance) || jview_put_str(o, "detail", v->detail)
		       ? -1
		       : 0;
}

static int print_json(const struct events *l)
{
	struct json_object *list = json_object_new_array();
	int rc = list ? 0 : -1;

	for (size_t i = 0; i < l->n && rc == 0; i++)
		rc = put_event(list, &l->v[i]);
	if (rc)
		fputs("slurm-ec2 events: out of memory\n", stderr);
	else
		puts(json_object_to_json_string_ext(list, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
								  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(list);
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

static void print_text(const struct events *l)
{
	int width = widest_type(l);

	for (size_t i = 0; i < l->n; i++) {
		const struct event *v = &l->v[i];
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
	if (!l->n)
		puts("no events");
}

static int parse(int argc, char **argv, struct event_query *q, bool *json)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},	{"last", required_argument, NULL, 'n'},
		{"since", required_argument, NULL, 's'}, {"node", required_argument, NULL, 'o'},
		{"type", required_argument, NULL, 't'},	{"instance", required_argument, NULL, 'i'},
		{NULL, 0, NULL, 0},
	};
	int64_t last = LAST_DEFAULT;
	int c;

	while ((c = command_option(&cmd_events, argc, argv, ":n:", options)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		if (c == 'n' && num_i64(optarg, 0, INT32_MAX, &last, NULL))
			return command_usage_error(&cmd_events, "--last %s: a whole number is expected, 0 = all", optarg);
		if (c == 's' && parse_since(optarg, &q->since_ms))
			return command_usage_error(&cmd_events, "--since %s: 90s, 2h, 2026-11-30 or 2026-11-30T16:50:00Z is expected",
						   optarg);
		*json = *json || c == 'j';
		q->node = c == 'o' ? optarg : q->node;
		q->type = c == 't' ? optarg : q->type;
		q->instance = c == 'i' ? optarg : q->instance;
	}
	if (argc != optind)
		return command_usage_error(&cmd_events, "\"%s\": no argument is expected", argv[optind]);
	q->last = (size_t)last;
	return EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct event_query q = {0};
	struct events l = {0};
	struct err e = {""};
	bool json = false;
	int status = parse(argc, argv, &q, &json);

	if (status != EXIT_OK)
		return status;
	if (read_events(&q, &l, &e)) {
		fprintf(stderr, "slurm-ec2 events: %s\n", e.text);
		status = EXIT_PROBLEM;
	} else if (json) {
		status = print_json(&l) ? EXIT_PROBLEM : EXIT_OK;
	} else {
		print_text(&l);
	}
	events_clear(&l);
	return status;
}

const struct command cmd_events = {
	.name = "events",
	.help = "what was launched, bound, refused and ended, and EC2's own words",
	.usage = "usage: slurm-ec2 events [--last N] [--since TIME] [--node NODE] [--type TYPE] [--instance ID] [--json]\n"
		 "Print the event log, oldest first: launches, refusals with EC2's own words, bindings, terminations.\n\n"
		 "  -n, --last N    only the newest N (100; 0 = all)\n"
		 "  --since TIME    only younger ones: 90s, 2h, 2026-11-30 or 2026-11-30T16:50:00Z (UTC)\n"
		 "  --node NODE     only those that name this node\n"
		 "  --type TYPE     only of this type, such as launch, launch-refused, bind, terminate, nodes-failed\n"
		 "  --instance ID   only those that name this instance\n"
		 "  --json          a list of objects: id, time_ms, time, type, node, instance, detail\n",
	.run = run,
};
