/* SPDX-License-Identifier: GPL-2.0-or-later */
/* computemgtd.c - program of a compute node. Run by the boot script: to find the node's name, and to name its jobs' nodes in
 * /etc/hosts. Touches nothing else. */
#include "computemgtd/identify.h"
#include "computemgtd/peers.h"

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
			    "       computemgtd --hosts --conf FILE --name NODE [OPTION]...\n"
			    "\n"
			    "  --identify      ask which node this machine is until it is known, print its name, and end\n"
			    "  --hosts         go on: after a restart of slurmctld name the nodes of jobs here in /etc/hosts\n"
			    "  --conf FILE     slurm.conf; ClusterName and SlurmctldHost (an IP) are enough\n"
			    "  --address IP    address of this machine\n"
			    "  --launch ID     the launch that made it, as written into the node's extra\n"
			    "  --nodes LIST    nodes of that launch, in its order\n"
			    "  --index N       place of this machine in LIST, from 0 (ami-launch-index)\n"
			    "  --timeout S     seconds until giving up (120); with --hosts Slurm's ResumeTimeout\n"
			    "  --name NODE     this machine's node\n"
			    "  --file FILE     instead of /etc/hosts\n"
			    "  --help, --version\n"
			    "\n"
			    "Exit status: 0 the name was printed, or hosts need no lines, 1 failed, 2 wrong command line.\n";

enum {
	OPT_IDENTIFY = 256,
	OPT_HOSTS,
	OPT_CONF,
	OPT_ADDRESS,
	OPT_LAUNCH,
	OPT_NODES,
	OPT_INDEX,
	OPT_TIMEOUT,
	OPT_NAME,
	OPT_FILE,
	OPT_HELP,
	OPT_VERSION
};

static const struct option long_options[] = {
    {"identify", 0, NULL, OPT_IDENTIFY}, {"conf", 1, NULL, OPT_CONF},
    {"address", 1, NULL, OPT_ADDRESS},	 {"launch", 1, NULL, OPT_LAUNCH},
    {"nodes", 1, NULL, OPT_NODES},	 {"index", 1, NULL, OPT_INDEX},
    {"timeout", 1, NULL, OPT_TIMEOUT},	 {"help", 0, NULL, OPT_HELP},
    {"hosts", 0, NULL, OPT_HOSTS},	 {"name", 1, NULL, OPT_NAME},
    {"file", 1, NULL, OPT_FILE},	 {"version", 0, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

struct options {
	bool identify, hosts;
	struct identify_spec self;
	struct peers_spec peers;
};

static int take_index(struct identify_spec *s, const char *text, struct err *e)
{
	int64_t n;

	if (num_i64(text, 0, INDEX_MAX, &n, e) < 0)
		return err_prefix(e, "--index");
	s->index = (size_t)n;
	return 0;
}

static int take_option(struct options *o, int opt, const char *arg, struct err *e)
{
	switch (opt) {
	case OPT_IDENTIFY:
		o->identify = true;
		return 0;
	case OPT_HOSTS:
		o->hosts = true;
		return 0;
	case OPT_CONF:
		o->self.conf = o->peers.conf = arg;
		return 0;
	case OPT_ADDRESS:
		o->self.self.address = arg;
		return 0;
	case OPT_LAUNCH:
		o->self.self.launch = arg;
		return 0;
	case OPT_NODES:
		o->self.nodes = arg;
		return 0;
	case OPT_INDEX:
		return take_index(&o->self, arg, e);
	case OPT_TIMEOUT:
		if (num_i64(arg, 1, 86400, &o->self.timeout_s, e) < 0)
			return err_prefix(e, "--timeout");
		o->peers.timeout_s = o->self.timeout_s;
		return 0;
	case OPT_NAME:
		o->peers.name = arg;
		return 0;
	case OPT_FILE:
		o->peers.file = arg;
		return 0;
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
static int parse(struct options *o, int argc, char **argv)
{
	struct err e = {""};
	int opt;

	while ((opt = options_next("computemgtd", argc, argv, ":", long_options)) != -1)
		if (opt == '?')
			return OPTIONS_WRONG;
		else if (take_option(o, opt, optarg, &e) < 0)
			return options_refuse("computemgtd", "%s", e.text);
	if (optind < argc)
		return options_end("computemgtd", argc, argv);
	if (o->identify == o->hosts)
		return options_refuse("computemgtd", "one of --identify and --hosts is needed");
	if (o->identify && (!o->self.conf || !o->self.self.address || !o->self.self.launch))
		return options_refuse("computemgtd", "--identify needs --conf, --address and --launch");
	if (o->hosts && (!o->peers.conf || !o->peers.name))
		return options_refuse("computemgtd", "--hosts needs --conf and --name");
	return 0;
}

static int print_name(const struct identify_spec *s, struct err *e)
{
	char *name = identify(s, e);

	if (!name)
		return -1;
	puts(name);
	free(name);
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = {.self = {.timeout_s = TIMEOUT_S}, .peers = {.file = "/etc/hosts", .timeout_s = TIMEOUT_S}};
	struct err e = {""};
	int wrong;

	proc_sane();
	log_open("computemgtd", NULL, LOG_INFO_LEVEL, NULL);
	wrong = parse(&o, argc, argv);
	if (wrong)
		return wrong;
	if ((o.identify ? print_name(&o.self, &e) : peers_keep(&o.peers, &e)) == 0)
		return 0;
	log_error("%s", e.text);
	return 1;
}
