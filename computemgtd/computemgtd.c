/* SPDX-License-Identifier: GPL-2.0-or-later */
/* computemgtd.c - program of a compute node. Run by the boot script to find the node's name; touches nothing. */
#include "computemgtd/identify.h"

#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/num.h"
#include "lib/base/options.h"
#include "lib/base/proc.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define TIMEOUT_S 120
#define INDEX_MAX 100000

static const char usage[] = "usage: computemgtd --identify --conf FILE --address IP --launch ID [OPTION]...\n"
			    "Print the name of the Slurm node that this machine is, as slurmctld knows it.\n"
			    "\n"
			    "  --identify      ask until the name is known, print it, and end\n"
			    "  --conf FILE     slurm.conf; ClusterName and SlurmctldHost (an IP) are enough\n"
			    "  --address IP    address of this machine\n"
			    "  --launch ID     the launch that made it, as written into the node's extra\n"
			    "  --nodes LIST    nodes of that launch, in its order\n"
			    "  --index N       place of this machine in LIST, from 0 (ami-launch-index)\n"
			    "  --timeout S     seconds until giving up (120)\n"
			    "  --help, --version\n"
			    "\n"
			    "Exit status: 0 the name was printed, 1 not found, 2 wrong command line.\n";

enum { OPT_IDENTIFY = 256, OPT_CONF, OPT_ADDRESS, OPT_LAUNCH, OPT_NODES, OPT_INDEX, OPT_TIMEOUT, OPT_HELP, OPT_VERSION };

static const struct option long_options[] = {
    {"identify", 0, NULL, OPT_IDENTIFY}, {"conf", 1, NULL, OPT_CONF},
    {"address", 1, NULL, OPT_ADDRESS},	 {"launch", 1, NULL, OPT_LAUNCH},
    {"nodes", 1, NULL, OPT_NODES},	 {"index", 1, NULL, OPT_INDEX},
    {"timeout", 1, NULL, OPT_TIMEOUT},	 {"help", 0, NULL, OPT_HELP},
    {"version", 0, NULL, OPT_VERSION},	 {NULL, 0, NULL, 0},
};

static int take_index(struct identify_spec *s, const char *text, struct err *e)
{
	int64_t n;

	if (num_i64(text, 0, INDEX_MAX, &n, e) < 0)
		return err_prefix(e, "--index");
	s->index = (size_t)n;
	return 0;
}

static int take_option(struct identify_spec *s, bool *wanted, int opt, const char *arg, struct err *e)
{
	switch (opt) {
	case OPT_IDENTIFY:
		*wanted = true;
		return 0;
	case OPT_CONF:
		s->conf = arg;
		return 0;
	case OPT_ADDRESS:
		s->self.address = arg;
		return 0;
	case OPT_LAUNCH:
		s->self.launch = arg;
		return 0;
	case OPT_NODES:
		s->nodes = arg;
		return 0;
	case OPT_INDEX:
		return take_index(s, arg, e);
	case OPT_TIMEOUT:
		return num_i64(arg, 1, 86400, &s->timeout_s, e) < 0 ? err_prefix(e, "--timeout") : 0;
	case OPT_HELP:
		fputs(usage, stdout);
		exit(0);
	case OPT_VERSION:
		exit(options_version("computemgtd"));
	default:
		return -1;
	}
}

/* 0, or the exit status of a wrong command line. */
static int parse(struct identify_spec *s, int argc, char **argv)
{
	struct err e = {""};
	bool wanted = false;
	int opt;

	while ((opt = options_next("computemgtd", argc, argv, ":", long_options)) != -1)
		if (opt == '?')
			return OPTIONS_WRONG;
		else if (take_option(s, &wanted, opt, optarg, &e) < 0)
			return options_refuse("computemgtd", "%s", e.text);
	if (optind < argc)
		return options_end("computemgtd", argc, argv);
	if (!wanted)
		return options_refuse("computemgtd", "nothing to do without --identify");
	if (!s->conf || !s->self.address || !s->self.launch)
		return options_refuse("computemgtd", "--identify needs --conf, --address and --launch");
	return 0;
}

int main(int argc, char **argv)
{
	struct identify_spec s = {.timeout_s = TIMEOUT_S};
	struct err e = {""};
	char *name;
	int wrong;

	proc_sane();
	log_open("computemgtd", NULL, LOG_INFO_LEVEL, NULL);
	wrong = parse(&s, argc, argv);
	if (wrong)
		return wrong;
	name = identify(&s, &e);
	if (!name) {
		log_error("%s", e.text);
		return 1;
	}
	puts(name);
	free(name);
	return 0;
}
