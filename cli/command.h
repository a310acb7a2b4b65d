/* command.h - one command of slurm-ec2: a name, its help, and the function that runs it.
 *
 * A command lives in cli/cmd_<name>.c as `const struct command cmd_<name>` and has one line in the table of
 * cli/slurm-ec2.c. main() answers --help and -h from `usage`, so run() never sees them.
 */
#ifndef SE_CLI_COMMAND_H
#define SE_CLI_COMMAND_H

#include <getopt.h>

/* Exit statuses of every command. */
enum { EXIT_OK = 0, EXIT_PROBLEM = 1, EXIT_USAGE = 2 };

struct command {
	const char *name;
	const char *help;  /* one line, for `slurm-ec2 --help` */
	const char *usage; /* all of `slurm-ec2 NAME --help`, begins with "usage: " */
	/* argv[0] is the command's name; getopt state is fresh. Returns an exit status. */
	int (*run)(int argc, char **argv);
};

extern const struct command cmd_check;
extern const struct command cmd_render;
extern const struct command cmd_apply;
extern const struct command cmd_status;
extern const struct command cmd_events;
extern const struct command cmd_fleet;
extern const struct command cmd_freeze;
extern const struct command cmd_explain;
extern const struct command cmd_limits;
extern const struct command cmd_plan;
extern const struct command cmd_policy;
extern const struct command cmd_uninstall;
extern const struct command cmd_version;

/* The next option, as getopt_long returns it; '?' = refused and told on stderr. shorts begins with ":". */
int command_option(const struct command *c, int argc, char **argv, const char *shorts, const struct option *known);
/* Say on stderr what is wrong with the arguments and where the help is. Returns EXIT_USAGE. */
int command_usage_error(const struct command *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
