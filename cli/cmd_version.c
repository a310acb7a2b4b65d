/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_version.c - `slurm-ec2 version`: what this build is and which Slurm library it was built against. */
#include "build_config.h"

#include "cli/command.h"
#include "lib/base/jview.h"

#include <stdio.h>

static int print_json(void)
{
	struct json_object *o = json_object_new_object();
	int failed = !o || jview_put_str(o, "version", PACKAGE_VERSION) || jview_put_str(o, "slurm", SE_SLURM_VERSION);

	if (!failed)
		puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	else
		fputs("slurm-ec2 version: out of memory\n", stderr);
	json_object_put(o);
	return failed ? EXIT_PROBLEM : EXIT_OK;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {NULL, 0, NULL, 0}};
	int json = 0;
	int c;

	while ((c = command_option(&cmd_version, argc, argv, ":", options)) != -1) {
		if (c != 'j')
			return EXIT_USAGE;
		json = 1;
	}
	if (optind < argc)
		return command_usage_error(&cmd_version, "\"%s\": no argument is expected", argv[optind]);
	if (json)
		return print_json();
	printf("slurm-ec2 %s, built for Slurm %s\n", PACKAGE_VERSION, SE_SLURM_VERSION);
	return EXIT_OK;
}

const struct command cmd_version = {
	.name = "version",
	.help = "print the version and the Slurm it was built for",
	.usage = "usage: slurm-ec2 version [--json]\n"
		 "Print the version of slurm-ec2 and of the Slurm library it was built against.\n\n"
		 "  --json  one JSON object: version, slurm\n",
	.run = run,
};
