/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_fleet.c - `slurm-ec2 fleet`: ask for a stopped or a running fleet, see how far it is, and let the brake go.
 *
 * It only leaves words in our state and wakes clustermgtd, which does the work. EC2 and cluster.yaml are not needed.
 */
#include "build_config.h"

#include "cli/command.h"
#include "cli/fleet_view.h"
#include "cli/fleet_wait.h"
#include "lib/apply/apply.h"
#include "lib/apply/wish.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/jview.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/plan/brake.h"
#include "lib/state/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	bool now, wait, json;
};

/* --- what is said */

static void say_hindrances(const struct fleet_view *v)
{
	char clock[CLOCK_MINUTE], text[FLEET_DAEMON];

	if (fleet_view_daemon(v, clock_wall_ms(), text))
		puts(text);
	if (!v->frozen_until_ms)
		return;
	wish_clock(v->frozen_until_ms, clock);
	printf("everything is frozen until %s, so nothing happens before (slurm-ec2 freeze --end)\n", clock);
}

static const char *state_note(const struct fleet_view *v, const struct partition *p)
{
	bool serves = fleet_serves(v->fleet.status);

	if (kvs_get(&v->closed, p->name))
		return serves ? "about to be opened" : "closed by us";
	if (p->state == PART_UP)
		return serves ? "" : "about to be closed";
	return "set by somebody, left as it is";
}

static bool is_ours(const struct fleet_view *v, const char *partition)
{
	for (size_t i = 0; i < v->gen->n_resources; i++)
		if (str_eq(v->gen->resources[i].queue, partition))
			return true;
	return false;
}

static void print_partitions(const struct fleet_view *v)
{
	for (size_t i = 0; i < v->partitions.n; i++) {
		const struct partition *p = &v->partitions.v[i];
		const char *note;

		if (!is_ours(v, p->name))
			continue;
		note = state_note(v, p);
		printf("  partition %s: %s%s%s\n", p->name, partition_state_text(p->state), note[0] ? ", " : "", note);
	}
}

static void print_protected(const struct fleet_view *v)
{
	for (size_t i = 0; i < v->gen->n_resources; i++) {
		const struct gen_resource *r = &v->gen->resources[i];
		const struct protection *p = &v->protection[i];

		if (p->on)
			printf("  %s/%s is protected: %lld of its machines never came up (%s); slurm-ec2 fleet start tries again\n",
			       r->queue, r->name, (long long)p->count, p->code ? p->code : "-");
	}
}

static void print_status(const struct fleet_view *v)
{
	bool serves = fleet_serves(v->fleet.status);
	char since[25];

	printf("fleet %s", fleet_view_status(v));
	if (v->word_ms) {
		clock_iso(v->word_ms, since);
		printf(" since %.16sZ", since);
	}
	printf("%s\n", serves ? "" : v->fleet.now ? ", jobs are ended" : ", running jobs go on to their end");
	print_partitions(v);
	if (!serves)
		printf("  nodes: %zu with jobs, %zu in a maintenance reservation, %zu on their way down, %zu off\n", v->rest.busy,
		       v->rest.reserved, v->rest.going, v->rest.off);
	else if (v->static_all)
		printf("  static nodes: %zu of %zu up\n", v->static_up, v->static_all);
	print_protected(v);
	say_hindrances(v);
}

static int put_partition(struct json_object *list, const struct fleet_view *v, const struct partition *p)
{
	struct json_object *o = jview_add_object(list);

	return !o || jview_put_str(o, "name", p->name) || jview_put_str(o, "state", partition_state_text(p->state)) ||
	       jview_put_str(o, "was", kvs_get(&v->closed, p->name));
}

static int put_lists(struct json_object *o, const struct fleet_view *v)
{
	struct json_object *parts = json_object_new_array(), *prot = json_object_new_array();
	int rc = !parts || !prot;

	for (size_t i = 0; i < v->partitions.n && !rc; i++)
		rc = is_ours(v, v->partitions.v[i].name) && put_partition(parts, v, &v->partitions.v[i]);
	for (size_t i = 0; i < v->gen->n_resources && !rc; i++) {
		struct json_object *p = v->protection[i].on ? jview_add_object(prot) : NULL;

		rc = v->protection[i].on &&
		     (!p || jview_put_str(p, "queue", v->gen->resources[i].queue) ||
		      jview_put_str(p, "resource", v->gen->resources[i].name) ||
		      jview_put_i64(p, "failures", v->protection[i].count) || jview_put_str(p, "code", v->protection[i].code));
	}
	if (jview_put_obj(o, "partitions", parts))
		rc = -1;
	return jview_put_obj(o, "protected", prot) || rc ? -1 : 0;
}

static int put_nodes(struct json_object *o, const struct fleet_view *v)
{
	struct json_object *n = json_object_new_object();

	if (!n)
		return -1;
	if (fleet_serves(v->fleet.status)) {
		if (jview_put_i64(n, "static", (int64_t)v->static_all) || jview_put_i64(n, "static_up", (int64_t)v->static_up))
			goto nomem;
	} else if (jview_put_i64(n, "busy", (int64_t)v->rest.busy) || jview_put_i64(n, "reserved", (int64_t)v->rest.reserved) ||
		   jview_put_i64(n, "going", (int64_t)v->rest.going) || jview_put_i64(n, "off", (int64_t)v->rest.off)) {
		goto nomem;
	}
	return jview_put_obj(o, "nodes", n);
nomem:
	json_object_put(n);
	return -1;
}

static int print_json(const struct fleet_view *v, struct err *e)
{
	struct json_object *o = json_object_new_object();
	int rc = !o || jview_put_str(o, "status", fleet_view_status(v)) ||
		 jview_put_str(o, "asked", fleet_status_text(v->fleet.status)) || jview_put_bool(o, "now", v->fleet.now) ||
		 jview_put_i64(o, "since_ms", v->word_ms) || jview_put_i64(o, "frozen_until_ms", v->frozen_until_ms) ||
		 jview_put_bool(o, "clustermgtd", v->watched && !v->hung) || put_nodes(o, v) || put_lists(o, v);

	if (!rc)
		puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
							       JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
	return rc ? err_nomem(e) : 0;
}

/* --- the words */

static int status(struct fleet_view *v, const struct options *opt, struct err *e)
{
	if (fleet_view_look(v, e))
		return -1;
	if (opt->json)
		return print_json(v, e);
	print_status(v);
	return 0;
}

/* Replace what stands there by `to`; a loop that moves the status on at the same moment is met again. */
static int ask(struct fleet_view *v, enum fleet_status to, bool now, struct err *e)
{
	char *word = fleet_word(to, now);
	int rc = word ? 0 : err_nomem(e);

	while (rc == 0) {
		if (fleet_view_words(v, e))
			rc = -1;
		else
			rc = store_word_swap(v->store, FLEET_WORD, v->word, word, clock_wall_ms(), e);
	}
	free(word);
	return rc < 0 || fleet_view_words(v, e) ? -1 : 0;
}

static void note_event(struct fleet_view *v, const char *type, const char *detail)
{
	struct err e = { "" };

	if (store_event(v->store, clock_wall_ms(), type, NULL, NULL, detail, &e))
		fprintf(stderr, "slurm-ec2 fleet: %s\n", e.text);
}

static int stop(struct fleet_view *v, const struct options *opt, struct err *e)
{
	if (fleet_view_words(v, e))
		return -1;
	if (v->fleet.status == FLEET_STOPPED) {
		puts("the fleet is stopped already");
		return 0;
	}
	if (ask(v, FLEET_STOP_REQUESTED, opt->now, e))
		return -1;
	note_event(v, "fleet", opt->now ? "a person asked for a stop, now" : "a person asked for a stop");
	apply_poke();
	puts(opt->now ? "the fleet stops: no job is started, running jobs are ended (and queued again where they allow it), nodes power down"
		      : "the fleet stops: no job is started, running jobs go on to their end, nodes power down as they become free");
	say_hindrances(v);
	return opt->wait ? fleet_wait(v, FLEET_STOPPED, e) : 0;
}

/* Whatever kept machines from being launched is forgotten: a person says that it is mended. */
static int forget_failures(struct fleet_view *v, struct err *e)
{
	struct kvs backoff = { 0 };
	int rc = store_failures_clear(v->store, NULL, NULL, clock_wall_ms(), e);

	if (rc == 0)
		rc = store_counters(v->store, STATIC_BACKOFF_PREFIX, &backoff, e);
	for (size_t i = 0; i < backoff.key.n && rc == 0; i++)
		rc = store_counter_set(v->store, backoff.key.v[i], 0, e);
	kvs_clear(&backoff);
	return rc;
}

static int start(struct fleet_view *v, const struct options *opt, struct err *e)
{
	if (fleet_view_words(v, e) || forget_failures(v, e))
		return -1;
	if (v->fleet.status == FLEET_RUNNING) {
		puts("the fleet runs already; failures of its machines are forgotten, so protected compute resources are tried again");
	} else {
		if (ask(v, FLEET_START_REQUESTED, false, e))
			return -1;
		note_event(v, "fleet", "a person asked for a start");
		puts("the fleet starts: partitions that the stop closed are opened, static nodes are launched");
	}
	apply_poke();
	say_hindrances(v);
	return opt->wait ? fleet_wait(v, FLEET_RUNNING, e) : 0;
}

/* What clustermgtd holds back is in its memory; its last word about it is an event. 1 if it holds anything. */
static int print_brake(struct fleet_view *v, struct err *e)
{
	int64_t now = clock_wall_ms(), limit = BRAKE_LOOK_MS + v->set->heartbeat_limit_s * 1000;
	struct event_query q = { .since_ms = now - limit, .type = "brake", .last = 1 };
	struct events l = { 0 };
	int rc = store_events(v->store, &q, &l, e) < 0 ? -1 : 0;
	const char *held = rc ? NULL : fleet_view_held(&l, now, limit);

	if (held)
		printf("clustermgtd said last: %s\n", held);
	events_clear(&l);
	return rc ? rc : held != NULL;
}

static int confirm(struct fleet_view *v, const struct options *opt, struct err *e)
{
	int held;

	(void)opt;
	if (fleet_view_words(v, e))
		return -1;
	held = print_brake(v, e);
	if (held < 0 || (held && store_word_put(v->store, BRAKE_CONFIRM_WORD, "yes", clock_wall_ms(), e)))
		return -1;
	if (held) {
		note_event(v, "brake", BRAKE_CONFIRMED_TEXT);
		apply_poke();
	}
	puts(held ? "confirmed: what it holds back now is done at its next look" : "nothing is held back");
	say_hindrances(v);
	return 0;
}

/* --- the command */

static const struct verb {
	const char *name;
	bool now, wait, json; /* options it takes */
	int (*run)(struct fleet_view *v, const struct options *opt, struct err *e);
} verbs[] = {
	{ "start", false, true, false, start },
	{ "stop", true, true, false, stop },
	{ "status", false, false, true, status },
	{ "confirm", false, false, false, confirm },
};
#define N_VERBS (sizeof(verbs) / sizeof(verbs[0]))

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < N_VERBS; i++)
		if (str_eq(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static int parse(int argc, char **argv, struct options *o, const struct verb **verb)
{
	static const struct option options[] = { { "now", no_argument, NULL, 'n' },
						 { "wait", no_argument, NULL, 'w' },
						 { "json", no_argument, NULL, 'j' },
						 { NULL, 0, NULL, 0 } };
	int c;

	while ((c = command_option(&cmd_fleet, argc, argv, ":", options)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		o->now = o->now || c == 'n';
		o->wait = o->wait || c == 'w';
		o->json = o->json || c == 'j';
	}
	if (optind == argc)
		return command_usage_error(&cmd_fleet, "start, stop, status or confirm is expected");
	*verb = find_verb(argv[optind]);
	if (!*verb)
		return command_usage_error(&cmd_fleet, "\"%s\": start, stop, status or confirm is expected", argv[optind]);
	if (optind + 1 < argc)
		return command_usage_error(&cmd_fleet, "\"%s\": no further argument is expected", argv[optind + 1]);
	if ((o->now && !(*verb)->now) || (o->wait && !(*verb)->wait) || (o->json && !(*verb)->json))
		return command_usage_error(&cmd_fleet, "%s does not take %s", (*verb)->name,
					   o->now && !(*verb)->now ? "--now" : o->wait && !(*verb)->wait ? "--wait" : "--json");
	return EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct options opt = { false, false, false };
	const struct verb *verb = NULL;
	struct fleet_view v;
	struct err e = { "" };
	int rc = parse(argc, argv, &opt, &verb);

	if (rc != EXIT_OK)
		return rc;
	rc = fleet_view_open(&v, &e) || verb->run(&v, &opt, &e) ? EXIT_PROBLEM : EXIT_OK;
	fflush(stdout);
	if (rc)
		fprintf(stderr, "slurm-ec2 fleet: %s\n", e.text);
	fleet_view_close(&v);
	return rc;
}

const struct command cmd_fleet = {
	.name = "fleet",
	.help = "start or stop all nodes, see how far it is, release the brake",
	.usage = "usage: slurm-ec2 fleet start [--wait]\n"
		 "       slurm-ec2 fleet stop [--now] [--wait]\n"
		 "       slurm-ec2 fleet status [--json]\n"
		 "       slurm-ec2 fleet confirm\n"
		 "Ask clustermgtd to start or stop the whole fleet. A stopped fleet has no machine; jobs may be queued meanwhile.\n\n"
		 "  start    open the partitions that the stop closed, launch static nodes, forget failures of machines\n"
		 "  stop     let no job start, power nodes down as they become free\n"
		 "  status   what was asked for and how far it is\n"
		 "  confirm  let clustermgtd end the machines that its brake holds back\n\n"
		 "  --now    end running jobs too; those that may are queued again\n"
		 "  --wait   show progress until it is done, or until it cannot be; then the cause is told and the exit status is 1\n"
		 "  --json   one object: status, asked, now, since_ms, nodes, partitions, protected, frozen_until_ms, clustermgtd\n\n"
		 "Root or SlurmUser runs it. Partitions and nodes of the site are never touched.\n",
	.run = run,
};
