/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_check.c - `slurm-ec2 check FILE`: every problem of a cluster.yaml in one run, and of settings.yaml where there is one.
 * Reads the files, touches nothing else.
 */
#include "build_config.h"

#include "cli/command.h"
#include "cli/overrides.h"
#include "lib/base/jview.h"
#include "lib/base/problem.h"
#include "lib/base/str.h"
#include "lib/cluster/cluster.h"
#include "lib/cluster/fallback.h"
#include "lib/cluster/load.h"
#include "lib/cluster/settings.h"

#include <stdio.h>
#include <unistd.h>

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

struct counts {
	size_t queues, resources;
	long long nodes;
};

static struct counts count(const struct cluster *c)
{
	struct counts n = {.queues = c->n_queues};

	for (size_t q = 0; q < c->n_queues; q++) {
		n.resources += c->queues[q].n_resources;
		for (size_t r = 0; r < c->queues[q].n_resources; r++)
			n.nodes += c->queues[q].resources[r].max_count;
	}
	return n;
}

/* Does a problem lie in another file than the one that was named? */
static bool elsewhere(const struct problems *p, const char *file)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].file && !str_eq(p->v[i].file, file))
			return true;
	return false;
}

static void print_text(const char *file, const struct cluster *c, const struct problems *p)
{
	size_t errors = problems_count(p, PROBLEM_ERROR), warnings = problems_count(p, PROBLEM_WARNING);
	struct counts n;

	problems_print(p, stdout);
	if (!c) {
		printf("%s%s: %zu error%s, %zu warning%s\n", file, elsewhere(p, file) ? " and " SETTINGS_PATH : "", errors,
		       plural(errors), warnings, plural(warnings));
		return;
	}
	n = count(c);
	printf("%s: ok, %zu queue%s, %zu compute resource%s, %lld node%s", file, n.queues, plural(n.queues), n.resources,
	       plural(n.resources), n.nodes, plural((size_t)n.nodes));
	if (warnings)
		printf(", %zu warning%s", warnings, plural(warnings));
	putchar('\n');
}

static int put_counts(struct json_object *o, const struct cluster *c)
{
	struct counts n = count(c);

	return jview_put_i64(o, "queues", (int64_t)n.queues) || jview_put_i64(o, "compute_resources", (int64_t)n.resources) ||
	       jview_put_i64(o, "nodes", n.nodes);
}

static int print_json(const char *file, const struct cluster *c, const struct problems *p)
{
	struct json_object *o = json_object_new_object();
	struct json_object *list = problems_json(p);
	int failed = !o || jview_put_str(o, "file", file) || jview_put_bool(o, "ok", c != NULL) || (c && put_counts(o, c)) ||
		     !list;

	if (!failed) {
		failed = jview_put_obj(o, "problems", list);
		list = NULL;
	}
	if (failed)
		fputs("slurm-ec2 check: out of memory\n", stderr);
	else
		puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(list);
	json_object_put(o);
	return failed ? -1 : 0;
}

/* --- the files of launch overrides */

struct overrides {
	const struct cluster *c; /* NULL = it has errors: its queues are not compared */
	const char *path, *action;
	struct problems *p;
};

static bool has_resource(const struct cluster *c, const char *queue, const char *resource)
{
	for (size_t q = 0; q < c->n_queues; q++)
		for (size_t r = 0; str_eq(c->queues[q].name, queue) && r < c->queues[q].n_resources; r++)
			if (str_eq(c->queues[q].resources[r].name, resource))
				return true;
	return false;
}

static void check_members(void *arg, const char *queue, const char *resource, struct json_object *members)
{
	const struct overrides *o = arg;
	struct kvs scrap = {0};

	if (o->c && !has_resource(o->c, queue, resource))
		problems_add(o->p, PROBLEM_WARNING, o->path, 0, 0, NULL, "%s.%s: %s has no such queue and compute resource", queue,
			     resource, o->c->file);
	overrides_take(o->path, o->action, queue, resource, members, &scrap, o->p);
	kvs_clear(&scrap);
}

static void check_overrides(const struct cluster *c, const struct settings *s, struct problems *p)
{
	struct overrides run = {c, s->run_instances_overrides, "RunInstances", p};
	struct overrides fleet = {c, s->create_fleet_overrides, "CreateFleet", p};

	if (run.path)
		overrides_read(run.path, "RunInstancesOverrides", p, check_members, &run);
	if (fleet.path)
		overrides_read(fleet.path, "CreateFleetOverrides", p, check_members, &fleet);
}

/* settings.yaml's own faults, and what of it does not go with the cluster. A machine that has none is not the head node. -1: it
 * cannot be used. */
static int check_settings(const struct cluster *c, struct problems *p)
{
	size_t errors = problems_count(p, PROBLEM_ERROR);
	struct settings *s = access(SETTINGS_PATH, R_OK) == 0 ? settings_load(SETTINGS_PATH, p) : NULL;

	if (s && c)
		fallback_check(c, s, SETTINGS_PATH, p);
	if (s)
		check_overrides(c, s, p);
	settings_destroy(s);
	return problems_count(p, PROBLEM_ERROR) > errors ? -1 : 0;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {NULL, 0, NULL, 0}};
	struct problems p = {0};
	struct cluster *cluster;
	int json = 0, status, c;

	while ((c = command_option(&cmd_check, argc, argv, ":", options)) != -1) {
		if (c != 'j')
			return EXIT_USAGE;
		json = 1;
	}
	if (argc - optind != 1)
		return command_usage_error(&cmd_check, "give one FILE");

	cluster = cluster_load(argv[optind], cluster_getenv_process, NULL, &p);
	if (check_settings(cluster, &p)) {
		cluster_destroy(cluster);
		cluster = NULL;
	}
	problems_sort(&p);
	status = cluster ? EXIT_OK : EXIT_PROBLEM;
	if (json) {
		if (print_json(argv[optind], cluster, &p) < 0)
			status = EXIT_PROBLEM;
	} else {
		print_text(argv[optind], cluster, &p);
	}
	cluster_destroy(cluster);
	problems_clear(&p);
	return status;
}

const struct command cmd_check = {
	.name = "check",
	.help = "show every problem of a cluster.yaml",
	.usage = "usage: slurm-ec2 check FILE [--json]\n"
		 "Read a cluster.yaml and print every problem with its line and column; also of this machine's settings.yaml and\n"
		 "the files of overrides it names, if it has one. Nothing is changed, EC2 is not asked.\n"
		 "$NAME and ${NAME} in values are filled from the environment.\n\n"
		 "  --json  one JSON object: file, ok, queues, compute_resources, nodes, problems\n\n"
		 "Exit status: 0 no errors (warnings may be shown), 1 errors, 2 wrong usage.\n",
	.run = run,
};
