/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_freeze.c - `slurm-ec2 freeze`: for a while nothing of ours changes anything in EC2 or Slurm; clustermgtd goes on looking. */
#include "build_config.h"

#include "cli/command.h"
#include "cli/fleet_view.h"
#include "lib/apply/apply.h"
#include "lib/apply/wish.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/num.h"
#include "lib/state/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define FOR_MAX_S (7 * 24 * 3600) /* a forgotten freeze is found when jobs wait */

struct options {
	int64_t for_s; /* 0 = not given */
	bool end;
};

static int show(struct fleet_view *v, struct err *e)
{
	char clock[CLOCK_MINUTE];

	if (fleet_view_words(v, e))
		return -1;
	if (!v->frozen_until_ms) {
		puts("not frozen");
		return 0;
	}
	wish_clock(v->frozen_until_ms, clock);
	printf("frozen until %s (for %" PRId64 " s more)\n", clock, (v->frozen_until_ms - clock_wall_ms() + 999) / 1000);
	return 0;
}

static int put(struct fleet_view *v, const char *word, const char *detail, struct err *e)
{
	int64_t now = clock_wall_ms();

	if (store_word_put(v->store, FREEZE_WORD, word, now, e) || store_event(v->store, now, "freeze", NULL, NULL, detail, e))
		return -1;
	apply_poke();
	return show(v, e);
}

static int freeze(struct fleet_view *v, const struct options *o, struct err *e)
{
	char *word;
	int rc;

	if (o->end)
		return put(v, NULL, "ended by a person", e);
	if (!o->for_s)
		return show(v, e);
	word = str_fmt("%" PRId64, clock_wall_ms() + o->for_s * 1000);
	rc = word ? put(v, word, "asked for by a person", e) : err_nomem(e);
	free(word);
	if (rc == 0)
		puts("clustermgtd only watches and logs what it would do; nodes that jobs ask for go DOWN (Frozen) and come back after it;\n"
		     "machines of nodes that power down live on until then");
	return rc;
}

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option options[] = { { "for", required_argument, NULL, 'f' },
						 { "end", no_argument, NULL, 'e' },
						 { NULL, 0, NULL, 0 } };
	int c;

	while ((c = command_option(&cmd_freeze, argc, argv, ":", options)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		if (c == 'f' && (num_duration_s(optarg, &o->for_s, NULL) || o->for_s <= 0 || o->for_s > FOR_MAX_S))
			return command_usage_error(&cmd_freeze, "--for %s: a time such as 30m or 2h is expected, 7d at most", optarg);
		o->end = o->end || c == 'e';
	}
	if (optind < argc)
		return command_usage_error(&cmd_freeze, "\"%s\": no argument is expected", argv[optind]);
	if (o->end && o->for_s)
		return command_usage_error(&cmd_freeze, "--for and --end exclude each other");
	return EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct options o = { 0, false };
	struct fleet_view v;
	struct err e = { "" };
	int rc = parse(argc, argv, &o);

	if (rc != EXIT_OK)
		return rc;
	rc = fleet_view_open(&v, &e) || freeze(&v, &o, &e) ? EXIT_PROBLEM : EXIT_OK;
	fflush(stdout);
	if (rc)
		fprintf(stderr, "slurm-ec2 freeze: %s\n", e.text);
	fleet_view_close(&v);
	return rc;
}

const struct command cmd_freeze = {
	.name = "freeze",
	.help = "for a while change nothing in EC2 and Slurm, only watch",
	.usage = "usage: slurm-ec2 freeze [--for TIME | --end]\n"
		 "Without an option: is everything frozen, and until when? While it is, clustermgtd reads and logs what it would do, and does\n"
		 "nothing; resume refuses nodes, suspend leaves their machines. It ends by itself.\n\n"
		 "  --for TIME  from now on, such as 30m or 2h; 7d at most\n"
		 "  --end       end it now\n\n"
		 "Root or SlurmUser runs it.\n",
	.run = run,
};
