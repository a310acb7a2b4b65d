/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_explain.c - `slurm-ec2 explain node NAME` and `explain job ID`: why it is as it is, and what happens next and when.
 * Changes nothing.
 */
#include "build_config.h"

#include "cli/command.h"
#include "cli/explain.h"
#include "lib/base/err.h"
#include "lib/base/num.h"
#include "lib/node/name.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was asked: a node (job 0), or a job and maybe a task of its array (-1 = none). */
struct subject {
	const char *kind, *name;
	int64_t job, task;
	bool json;
};

static bool is_job(const struct slurmctl_job_info *j, const struct subject *s)
{
	if (!s->job)
		return false;
	if (s->task < 0)
		return j->id == s->job;
	return j->array_id == s->job && j->array_task == s->task;
}

/* The tasks of an array that wait have one record, of the array's number. */
static const struct slurmctl_job_info *find_job(const struct look *l, const struct subject *s)
{
	const struct slurmctl_job_info *array = NULL;

	for (size_t i = 0; i < l->jobs.n; i++) {
		if (is_job(&l->jobs.v[i], s))
			return &l->jobs.v[i];
		if (l->jobs.v[i].id == s->job && l->jobs.v[i].array_task < 0)
			array = &l->jobs.v[i];
	}
	return array;
}

/* Those that have nodes, since one of them may have the node in question, and the one that was asked for. */
static bool wanted(const struct slurmctl_job_info *j, const void *of)
{
	const struct subject *s = of;

	return (j->nodes && (!j->ended || j->completing)) || is_job(j, s) || (s->job && j->id == s->job);
}

static int print(const struct explain *x, const struct subject *s)
{
	struct json_object *o = s->json ? explain_json(x, s->kind, s->name) : NULL;
	char *title = s->json ? NULL : str_fmt("%s %s", s->kind, s->name), *text = title ? explain_text(x, title) : NULL;
	int rc = o || text ? 0 : -1;

	if (o)
		puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
							   JSON_C_TO_STRING_NOSLASHESCAPE));
	if (text)
		fputs(text, stdout);
	json_object_put(o);
	free(title);
	free(text);
	return rc;
}

static int tell_node(const struct look *l, const struct subject *s, struct explain *x, struct err *e)
{
	struct explain_more more = {0};
	struct node_name name;
	int rc;

	if (node_name_resolve_any(l->gen, s->name, &name)) {
		if (look_node(l, s->name))
			return err_set(e, "node %s is not of cluster %s: slurm-ec2 does nothing to it", s->name,
				       l->gen->cluster_name);
		return err_set(e, "cluster %s has no node %s", l->gen->cluster_name, s->name);
	}
	if (node_name_resolve(l->gen, s->name, &name) && !look_node(l, s->name) && !look_row(l, s->name))
		return err_set(e, "cluster %s has no node %s: MaxCount of %s/%s is %d", l->gen->cluster_name, s->name,
			       l->gen->resources[name.resource].queue, l->gen->resources[name.resource].name,
			       l->gen->resources[name.resource].max_count);
	rc = explain_read(&more, l, s->name, 0);
	if (rc == 0)
		explain_node(x, l, &more, s->name);
	explain_more_clear(&more);
	return rc < 0 ? err_nomem(e) : 0;
}

static int tell_job(const struct look *l, const struct subject *s, struct explain *x, struct err *e)
{
	const struct slurmctl_job_info *j = find_job(l, s);
	struct explain_more more = {0};
	const char *worst;
	int rc;

	if (l->slurm_away)
		return err_set(e, "slurmctld cannot be asked: %s", l->slurm_away);
	if (!j)
		return err_set(
		    e, "slurmctld does not know job %s; one that ended is forgotten after MinJobAge, then see sacct -j %s",
		    s->name, s->name);
	worst = explain_worst(l, j);
	rc = explain_read(&more, l, worst, worst ? 0 : j->id);
	if (rc == 0)
		explain_job(x, l, &more, j, worst);
	explain_more_clear(&more);
	return rc < 0 ? err_nomem(e) : 0;
}

static int tell(const struct subject *s, struct err *e)
{
	struct look l = {0};
	struct explain x = {0};
	int rc = look_read(&l, "slurm-ec2 explain", wanted, s, e);

	if (rc == 0)
		rc = look_judge(&l, e);
	if (rc == 0)
		rc = s->job ? tell_job(&l, s, &x, e) : tell_node(&l, s, &x, e);
	if (rc == 0 && (x.nomem || print(&x, s)))
		rc = err_nomem(e);
	explain_clear(&x);
	look_clear(&l);
	return rc;
}

/* "17" or "17_3". */
static int parse_job(const char *text, struct subject *s)
{
	const char *line = strchr(text, '_');
	char *id = line ? str_fmt("%.*s", (int)(line - text), text) : str_dup(text);
	int rc = id ? num_i64(id, 1, UINT32_MAX, &s->job, NULL) : -1;

	free(id);
	s->task = -1;
	return rc == 0 && line ? num_i64(line + 1, 0, UINT32_MAX, &s->task, NULL) : rc;
}

static int parse(int argc, char **argv, struct subject *s)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {NULL, 0, NULL, 0}};
	int c;

	while ((c = command_option(&cmd_explain, argc, argv, ":", options)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		s->json = true;
	}
	if (argc - optind != 2)
		return command_usage_error(&cmd_explain, "\"node NAME\" or \"job ID\" is expected");
	s->kind = argv[optind];
	s->name = argv[optind + 1];
	if (str_eq(s->kind, "node") && strpbrk(s->name, "[],"))
		return command_usage_error(&cmd_explain, "node %s: give one node, not a list", s->name);
	if (str_eq(s->kind, "node"))
		return EXIT_OK;
	if (!str_eq(s->kind, "job"))
		return command_usage_error(&cmd_explain, "\"%s\": \"node\" or \"job\" is expected", s->kind);
	if (parse_job(s->name, s))
		return command_usage_error(&cmd_explain,
					   "job %s: a number is expected, or that of an array's task such as 17_3", s->name);
	return EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct subject s = {0};
	struct err e = {0};
	int status = parse(argc, argv, &s);

	if (status != EXIT_OK)
		return status;
	if (tell(&s, &e) == 0)
		return EXIT_OK;
	fprintf(stderr, "slurm-ec2 explain: %s\n", e.text);
	return EXIT_PROBLEM;
}

const struct command cmd_explain = {
    .name = "explain",
    .help = "why a node or a job is as it is, and what happens next",
    .usage =
	"usage: slurm-ec2 explain node NAME [--json]\n"
	"       slurm-ec2 explain job ID [--json]\n"
	"Tell from Slurm's state and reason, the launch and the machine, what EC2 said, failures before and the saved boot log "
	"why a\n"
	"node or a job is as it is, and what happens next and when. Each line begins with who says it. For a job that waits "
	"for\n"
	"nodes the node that is furthest behind is explained.\n\n"
	"  --json  one object: kind, name, ours (something of ours or EC2's stands in the way), lines with source and text\n\n"
	"Anybody may ask; what lies in SlurmUser's files is told to root and SlurmUser only, and it says so.\n"
	"Exit status: 0 explained, 1 the node or job is not known or nothing is applied, 2 wrong usage.\n",
    .run = run,
};
