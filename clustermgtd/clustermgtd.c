/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clustermgtd.c - the head node's daemon: options, one loop after the other (loop.c), and the pauses between them. All rules are in
 * lib/plan, all effects in lib/apply.
 */
#include "build_config.h"

#include "clustermgtd/exporter.h"
#include "clustermgtd/loop.h"
#include "clustermgtd/notify.h"
#include "clustermgtd/observe.h"
#include "clustermgtd/wait.h"
#include "lib/apply/apply.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/options.h"
#include "lib/base/proc.h"
#include "lib/base/str.h"
#include "lib/cluster/settings.h"
#include "lib/plan/node_rules.h"
#include "lib/plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DRY_RUN_LIMIT_MS 20000 /* the same while a person waits */
#define HURRY_MS 5000	    /* first pause while something is unfinished */

struct options {
	bool foreground, once, dry_run;
};

static const char usage_text[] = "usage: clustermgtd [--foreground | --once | --dry-run | --explain]\n"
				 "\n"
				 "Watches the cluster's EC2 machines and Slurm nodes and repairs the differences.\n"
				 "  --foreground  log to stderr\n"
				 "  --once        one loop, then exit (log to stderr)\n"
				 "  --dry-run     print what one loop would do; nothing is changed\n"
				 "  --explain     print the table by which it decides about nodes\n"
				 "  --help, --version\n";

/* "man": the part of the manual page that is made of it. */
static int explain(const char *form)
{
	char *text = form && strcmp(form, "man") ? NULL : form ? node_rules_page() : node_rules_text();
	int rc = !text || fputs(text, stdout) < 0;

	if (!text)
		fprintf(stderr, "clustermgtd: %s\n", form ? "--explain takes man, or nothing" : "out of memory");
	free(text);
	return rc;
}

/* -1 = go on, else the exit code. */
static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option known[] = {
	    {"foreground", no_argument, NULL, 'f'}, {"once", no_argument, NULL, 'o'},	 {"dry-run", no_argument, NULL, 'n'},
	    {"explain", optional_argument, NULL, 'x'},
	    {"help", no_argument, NULL, 'h'},	    {"version", no_argument, NULL, 'v'}, {NULL, 0, NULL, 0},
	};
	int c;

	while ((c = options_next("clustermgtd", argc, argv, ":h", known)) != -1) {
		if (c == 'h')
			return fputs(usage_text, stdout) < 0;
		if (c == 'v')
			return options_version("clustermgtd");
		if (c == 'x')
			return explain(optarg);
		if (c == '?')
			return OPTIONS_WRONG;
		o->foreground = true;
		o->once = o->once || c == 'o';
		o->dry_run = o->dry_run || c == 'n';
	}
	return optind == argc ? -1 : options_end("clustermgtd", argc, argv);
}

static int dry_run(struct err *e)
{
	struct world w;
	struct observed o;
	struct plan p = {0};
	struct kept k = {0};
	char *text;
	int rc;

	if (world_open_readonly(&w, e) < 0)
		return -1;
	observe(&w, &o, &k, clock_mono_ms() + DRY_RUN_LIMIT_MS, true);
	observed_print_unread(&o, stdout);
	rc = observed_plan(&w, &o, &k, &p);
	text = rc == 0 ? plan_text(&p) : NULL;
	if (text)
		printf("%s%zu actions\n", text, p.n);
	fflush(stdout); /* before what is said on stderr */
	if (!o.slurm || !o.ec2 || !o.rows)
		rc = err_set(e, "not every source could be read, so this may not be all");
	free(text);
	kept_clear(&k);
	plan_clear(&p);
	observed_clear(&o);
	world_close(&w);
	return rc;
}

static void refresh(struct world *w, struct exporter *x)
{
	struct err e = {""};

	if (world_refresh(w, &e) < 0 && say_again(e.text))
		log_error("%s", e.text);
	if (x && exporter_listen(x, w->settings->metrics_port, &e) < 0 && say_again(e.text))
		log_warn("%s", e.text);
}

static void tell(struct exporter *x, struct metrics *m)
{
	char *status = str_fmt("STATUS=%s", m->status ? m->status : "");

	if (status)
		notify(status);
	free(status);
	if (x) {
		exporter_publish(x, m->text);
		m->text = NULL;
	}
}

/* Unfinished work shortens the pause, ever less while it stays unfinished. */
static void run(struct world *w, struct exporter *x, int fd, bool once)
{
	int64_t pause = HURRY_MS;
	struct kept k = {.metrics.wanted = !once};

	while (!apply_stop) {
		int64_t wake = INT64_MAX, period, ms;
		bool hurry;

		refresh(w, x);
		hurry = loop(w, &k, &wake, NULL);
		notify("WATCHDOG=1");
		if (once)
			break;
		tell(x, &k.metrics);
		period = w->settings->loop_s * 1000;
		ms = hurry && pause < period ? pause : period;
		if (wake - clock_wall_ms() < ms)
			ms = wake - clock_wall_ms();
		if (wait_for_work(fd, ms) || !hurry)
			pause = HURRY_MS;
		else
			pause = pause * 2 < period ? pause * 2 : period;
	}
	kept_clear(&k);
}

static int serve(const struct options *opt, struct err *e)
{
	struct exporter *x = NULL;
	struct world w;
	int lock, fd;

	if (lock_take(CLUSTERMGTD_LOCK, &lock, e) < 0)
		return -1;
	if (world_open(&w, "clustermgtd", opt->foreground, e) < 0) {
		close(lock);
		return -1;
	}
	fd = wait_open(e);
	if (fd >= 0) {
		log_info("clustermgtd %s started (process %ld)", PACKAGE_VERSION, (long)getpid());
		notify("READY=1");
		if (!opt->once)
			x = exporter_create(NULL); /* without memory for it there is none */
		run(&w, x, fd, opt->once);
		exporter_destroy(x);
		notify("STOPPING=1");
		log_info("clustermgtd ended");
	}
	wait_close(fd);
	world_close(&w);
	close(lock);
	return fd < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct options opt = {false, false, false};
	struct err e = {""};
	int rc;

	proc_sane();
	rc = parse_options(argc, argv, &opt);
	if (rc >= 0)
		return rc;
	rc = world_begin("clustermgtd", opt.foreground, &e);
	apply_catch_signals();
	if (rc == 0)
		rc = opt.dry_run ? dry_run(&e) : serve(&opt, &e);
	if (rc < 0)
		log_fatal("%s", e.text);
	log_close();
	return rc < 0;
}
