/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.c - what every command line has in common. Called by main() and the commands of slurm-ec2. */
#include "build_config.h"

#include "lib/base/options.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int options_refuse(const char *program, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "; see %s --help\n", program);
	return OPTIONS_WRONG;
}

/* The argument names a known option that takes no value, and gives it one. */
static bool has_vain_value(const char *arg, const struct option *known)
{
	size_t n = strcspn(arg, "=");

	if (strncmp(arg, "--", 2) != 0 || arg[n] != '=')
		return false;
	for (; known->name; known++) {
		if (known->has_arg == no_argument && strncmp(known->name, arg + 2, n - 2) == 0)
			return true;
	}
	return false;
}

static void refuse(const char *program, const char *arg, bool lacks_value, const struct option *known)
{
	int n = (int)strcspn(arg, "=");

	/* optopt is the letter of a short option, the id of a known long one, else 0 */
	if (lacks_value && strncmp(arg, "--", 2) != 0)
		options_refuse(program, "option -%c needs a value", optopt);
	else if (lacks_value)
		options_refuse(program, "option %s needs a value", arg);
	else if (has_vain_value(arg, known))
		options_refuse(program, "option %.*s takes no value", n, arg);
	else if (optopt)
		options_refuse(program, "unknown option -%c", optopt);
	else
		options_refuse(program, "unknown option %.*s", n, arg);
}

int options_next(const char *program, int argc, char **argv, const char *shorts, const struct option *known)
{
	int c;

	opterr = 0;
	c = getopt_long(argc, argv, shorts, known, NULL);
	if (c != '?' && c != ':')
		return c;
	refuse(program, argv[optind - 1], c == ':', known);
	return '?';
}

int options_end(const char *program, int argc, char **argv)
{
	return optind < argc ? options_refuse(program, "\"%s\": no argument is expected", argv[optind]) : 0;
}

int options_only_help(const char *program, int argc, char **argv, const char *usage, const char *missing, int *status)
{
	const char *word = argc < 2 ? "" : argv[1];

	if (argc < 2 || !*word)
		*status = options_refuse(program, "%s is missing", missing);
	else if (*word != '-')
		return 0;
	else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		*status = fputs(usage, stdout) < 0;
	else if (strcmp(word, "--version") == 0)
		*status = options_version(program);
	else
		*status = options_refuse(program, "unknown option %s", word);
	return 1;
}

int options_version(const char *program)
{
	return printf("%s (slurm-ec2) %s\n", program, PACKAGE_VERSION) < 0;
}
