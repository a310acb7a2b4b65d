/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm-ec2.c - the command a person runs: finds the command in the table and hands over. It decides nothing else. */
#include "cli/command.h"
#include "lib/base/options.h"
#include "lib/base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* In the order of a first use; the help shows them so. */
static const struct command *const commands[] = {
	&cmd_check,
	&cmd_render,
	&cmd_apply,
	&cmd_status,
	&cmd_explain,
	&cmd_events,
	&cmd_fleet,
	&cmd_freeze,
	&cmd_plan,
	&cmd_limits,
	&cmd_policy,
	&cmd_uninstall,
	&cmd_version,
};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

int command_option(const struct command *c, int argc, char **argv, const char *shorts, const struct option *known)
{
	char program[64];

	snprintf(program, sizeof program, "slurm-ec2 %s", c->name);
	return options_next(program, argc, argv, shorts, known);
}

int command_usage_error(const struct command *c, const char *fmt, ...)
{
	char program[64], text[512];
	va_list ap;

	snprintf(program, sizeof program, "slurm-ec2 %s", c->name);
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return options_refuse(program, "%s", text);
}

static void print_help(FILE *out)
{
	fputs("usage: slurm-ec2 COMMAND [ARGUMENT...]\n"
	      "Elastic EC2 compute nodes for Slurm.\n\n"
	      "Commands:\n",
	      out);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->help);
	fputs("\n`slurm-ec2 COMMAND --help` tells more. Exit status: 0 done, 1 failed or problems found, 2 wrong usage.\n", out);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static int unknown_command(const char *name)
{
	const char *names[N_COMMANDS];
	const char *near;

	for (size_t i = 0; i < N_COMMANDS; i++)
		names[i] = commands[i]->name;
	near = str_nearest(name, names, N_COMMANDS);
	if (!near)
		return options_refuse("slurm-ec2", "no command \"%s\"", name);
	fprintf(stderr, "slurm-ec2: no command \"%s\"; did you mean \"%s\"?\n", name, near);
	return EXIT_USAGE;
}

/* --help counts wherever it stands, up to "--". */
static int asks_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return 1;
	return 0;
}

/* Output that could not be written (a full disk, a closed pipe) is a failure, not a success. */
static int flush_output(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fputs("slurm-ec2: cannot write the output\n", stderr);
	return status == EXIT_OK ? EXIT_PROBLEM : status;
}

int main(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
		print_help(stdout);
		return flush_output(EXIT_OK);
	}
	if (strcmp(argv[1], "--version") == 0)
		return flush_output(argc > 2 ? options_refuse("slurm-ec2", "\"%s\": no argument is expected", argv[2])
					     : options_version("slurm-ec2"));
	if (argv[1][0] == '-')
		return options_refuse("slurm-ec2", "unknown option %s", argv[1]);
	c = find_command(argv[1]);
	if (!c)
		return unknown_command(argv[1]);
	if (asks_help(argc - 1, argv + 1)) {
		fputs(c->usage, stdout);
		return flush_output(EXIT_OK);
	}
	optind = 1;
	return flush_output(c->run(argc - 1, argv + 1));
}
