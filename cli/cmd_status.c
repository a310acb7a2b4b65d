/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_status.c - `slurm-ec2 status`: how the cluster is, from slurmctld, EC2 and our state. Each may be away; then the others
 * are shown, and it says which is not there. Changes nothing.
 */
#include "build_config.h"

#include "cli/command.h"
#include "cli/status.h"
#include "lib/base/err.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

static int print_json(const struct status *s)
{
	struct json_object *o = status_json(s);

	if (o)
		puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
							   JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
	return o ? 0 : -1;
}

static int print_text(const struct status *s, const struct status_show *show)
{
	char *text = status_text(s, show);

	if (text)
		fputs(text, stdout);
	free(text);
	return text ? 0 : -1;
}

static int show(const struct status_show *how, int json, struct err *e)
{
	struct status s = {0};
	int rc = look_read(&s.look, "slurm-ec2 status", status_wants_job, NULL, e);

	if (rc == 0)
		rc = look_judge(&s.look, e);
	if (rc == 0 && (status_judge(&s) || (json ? print_json(&s) : print_text(&s, how))))
		rc = err_nomem(e);
	if (rc == 0 && (s.look.slurm_away || s.look.ec2_away))
		rc = 1;
	status_clear(&s);
	return rc;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
						{"all", no_argument, NULL, 'a'},
						{"machines", no_argument, NULL, 'm'},
						{NULL, 0, NULL, 0}};
	struct status_show how = {0};
	struct err e = {0};
	int c, json = 0, rc;

	while ((c = command_option(&cmd_status, argc, argv, ":", options)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		json = json || c == 'j';
		how.all = how.all || c == 'a';
		how.machines = how.machines || c == 'm';
	}
	if (argc != optind)
		return command_usage_error(&cmd_status, "\"%s\": no argument is expected", argv[optind]);
	rc = show(&how, json, &e);
	if (rc < 0)
		fprintf(stderr, "slurm-ec2 status: %s\n", e.text);
	return rc ? EXIT_PROBLEM : EXIT_OK;
}

const struct command cmd_status = {
    .name = "status",
    .help = "show how the cluster is: fleet, nodes, machines, what is under way or wrong",
    .usage =
	"usage: slurm-ec2 status [--machines] [--all] [--json]\n"
	"Show the fleet's status, whether clustermgtd looks round, and each compute resource of the applied cluster: its\n"
	"nodes in Slurm, its machines in EC2, nodes for which EC2 is being asked. Then, if there are any: nodes powering up by\n"
	"their age, launches under way, what EC2 is short of and when it is asked again, machines that did not come up, machines\n"
	"without a node, machines that are not well, jobs that Slurm put aside. What cannot be asked (slurmctld, EC2, our\n"
	"state) is said and shown as \"?\". Of more than 20 compute resources those with nothing but off nodes are one line.\n\n"
	"  --machines  also list each machine with its node\n"
	"  --all       fold and cut nothing, list machines too\n"
	"  --json      one object with everything\n\n"
	"Exit status: 0 all sources answered, 1 slurmctld or EC2 did not, or nothing is applied, 2 wrong usage.\n",
    .run = run,
};
