/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ec2local.c - EC2 on one machine: options, then the server. See ec2local(8). Root is needed for machines only. */
#include "ec2local/cloud.h"
#include "ec2local/server.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/num.h"
#include "lib/base/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_DELAY_MS 2500 /* slurmctld waits for a boot that is at least 2 s younger than the launch */
#define RECORD_DELAY_MS 100

enum option_id {
	OPT_LISTEN = 256,
	OPT_IMDS,
	OPT_BOOT,
	OPT_NETWORK,
	OPT_BRIDGE,
	OPT_GATEWAY,
	OPT_HEAD,
	OPT_REGION,
	OPT_SUBNET,
	OPT_GROUP,
	OPT_IMAGE,
	OPT_IMAGE_ARG,
	OPT_KEY,
	OPT_POLICY,
	OPT_ROLE,
	OPT_ASSUMABLE,
	OPT_RATES,
	OPT_REQUEST_LOG,
	OPT_STATE_LOG,
	OPT_TYPES,
	OPT_RUN_DIR,
	OPT_DELAY_RUNNING,
	OPT_DELAY_TERMINATED,
	OPT_LOG,
	OPT_VERSION,
};

static const struct option long_options[] = {
    {"listen", required_argument, NULL, OPT_LISTEN},
    {"imds", required_argument, NULL, OPT_IMDS},
    {"boot", required_argument, NULL, OPT_BOOT},
    {"network", required_argument, NULL, OPT_NETWORK},
    {"bridge", required_argument, NULL, OPT_BRIDGE},
    {"gateway", required_argument, NULL, OPT_GATEWAY},
    {"head", required_argument, NULL, OPT_HEAD},
    {"region", required_argument, NULL, OPT_REGION},
    {"subnet", required_argument, NULL, OPT_SUBNET},
    {"group", required_argument, NULL, OPT_GROUP},
    {"image", required_argument, NULL, OPT_IMAGE},
    {"image-arg", required_argument, NULL, OPT_IMAGE_ARG},
    {"key", required_argument, NULL, OPT_KEY},
    {"policy", required_argument, NULL, OPT_POLICY},
    {"role", required_argument, NULL, OPT_ROLE},
    {"assumable", required_argument, NULL, OPT_ASSUMABLE},
    {"rates", required_argument, NULL, OPT_RATES},
    {"request-log", required_argument, NULL, OPT_REQUEST_LOG},
    {"state-log", required_argument, NULL, OPT_STATE_LOG},
    {"instance-types", required_argument, NULL, OPT_TYPES},
    {"run-dir", required_argument, NULL, OPT_RUN_DIR},
    {"delay-running", required_argument, NULL, OPT_DELAY_RUNNING},
    {"delay-terminated", required_argument, NULL, OPT_DELAY_TERMINATED},
    {"log", required_argument, NULL, OPT_LOG},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

/* The command line; strings are borrowed from argv. */
struct options {
	const char *listen, *imds, *network, *bridge, *gateway, *region, *types, *run_dir, *request_log, *state_log,
	    *log;
	bool machines, ec2_rates;
	int64_t delay_running_ms, delay_terminated_ms; /* -1 = by kind */
	struct strs subnets, groups, images, keys, policies, roles, assumables, image_args, heads;
};

static void usage(FILE *out)
{
	fputs("usage: ec2local [--listen ADDRESS:PORT] [--imds ADDRESS:PORT] [--boot=none|machine]\n"
	      "         [--network CIDR] [--bridge NAME] [--gateway ADDRESS] [--run-dir DIR] [--image-arg ARG]...\n"
	      "         [--head ip=ADDRESS,id=ID[,type=TYPE][,subnet=ID][,profile=NAME]]... [--region NAME]\n"
	      "         --subnet ID:ZONE[:CIDR]... [--group ID:NAME:open|closed]... --image ID:SLURM-VERSION[:ARCH]...\n"
	      "         [--key ACCESS:SECRET[:TOKEN]]... [--policy ACCESS=FILE]... [--role NAME=ACCESS]\n"
	      "         [--assumable ARN[=FILE]]... [--rates ec2|none]\n"
	      "         [--instance-types FILE] [--request-log FILE] [--state-log FILE] [--log FILE]\n"
	      "         [--delay-running MS] [--delay-terminated MS]\n"
	      "       ec2local --help | --version\n"
	      "See ec2local(8).\n",
	      out);
}

static int set_boot(struct options *o, const char *text, struct err *e)
{
	if (!str_eq(text, "none") && !str_eq(text, "machine"))
		return err_set(e, "--boot is none or machine, not \"%s\"", text);
	o->machines = str_eq(text, "machine");
	return 0;
}

static int set_rates(struct options *o, const char *text, struct err *e)
{
	if (!str_eq(text, "none") && !str_eq(text, "ec2"))
		return err_set(e, "--rates is ec2 or none, not \"%s\"", text);
	o->ec2_rates = str_eq(text, "ec2");
	return 0;
}

static int set_ms(int64_t *slot, const char *name, const char *text, struct err *e)
{
	return num_i64(text, 0, 3600 * 1000, slot, e) < 0 ? err_prefix(e, "%s", name) : 0;
}

/* Options that are kept as text, by id. */
static const char **text_slot(struct options *o, int id)
{
	switch (id) {
	case OPT_LISTEN:
		return &o->listen;
	case OPT_IMDS:
		return &o->imds;
	case OPT_NETWORK:
		return &o->network;
	case OPT_BRIDGE:
		return &o->bridge;
	case OPT_GATEWAY:
		return &o->gateway;
	case OPT_REGION:
		return &o->region;
	case OPT_REQUEST_LOG:
		return &o->request_log;
	case OPT_STATE_LOG:
		return &o->state_log;
	case OPT_TYPES:
		return &o->types;
	case OPT_RUN_DIR:
		return &o->run_dir;
	case OPT_LOG:
		return &o->log;
	}
	return NULL;
}

static struct strs *list_slot(struct options *o, int id)
{
	switch (id) {
	case OPT_SUBNET:
		return &o->subnets;
	case OPT_GROUP:
		return &o->groups;
	case OPT_IMAGE:
		return &o->images;
	case OPT_IMAGE_ARG:
		return &o->image_args;
	case OPT_KEY:
		return &o->keys;
	case OPT_POLICY:
		return &o->policies;
	case OPT_ROLE:
		return &o->roles;
	case OPT_ASSUMABLE:
		return &o->assumables;
	case OPT_HEAD:
		return &o->heads;
	}
	return NULL;
}

static int set_option(struct options *o, int id, const char *text, struct err *e)
{
	const char **slot = text_slot(o, id);
	struct strs *list = list_slot(o, id);

	if (slot)
		*slot = text;
	else if (list)
		return strs_add(list, text) < 0 ? err_nomem(e) : 0;
	else if (id == OPT_BOOT)
		return set_boot(o, text, e);
	else if (id == OPT_RATES)
		return set_rates(o, text, e);
	else if (id == OPT_DELAY_RUNNING)
		return set_ms(&o->delay_running_ms, "--delay-running", text, e);
	else
		return set_ms(&o->delay_terminated_ms, "--delay-terminated", text, e);
	return 0;
}

static void options_free(struct options *o)
{
	struct strs *all[] = {&o->subnets,  &o->groups,	    &o->images,	    &o->keys, &o->policies,
			      &o->roles, &o->assumables, &o->image_args, &o->heads};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		strs_clear(all[i]);
}

static int each(struct cloud *c, const struct strs *l, const char *name, int (*f)(struct cloud *, const char *, struct err *),
		struct err *e)
{
	for (size_t i = 0; i < l->n; i++) {
		if (f(c, l->v[i], e) < 0)
			return err_prefix(e, "%s", name);
	}
	return 0;
}

static int add_subnet(struct cloud *c, const char *spec, struct err *e)
{
	return network_add_subnet(&c->network, spec, e);
}

static int add_group(struct cloud *c, const char *spec, struct err *e)
{
	return network_add_group(&c->network, spec, e);
}

static int add_image(struct cloud *c, const char *spec, struct err *e)
{
	return images_add(&c->images, spec, e);
}

static int add_head(struct cloud *c, const char *spec, struct err *e)
{
	return instances_add_head(c, spec, clock_wall_ms(), e);
}

static int open_log(FILE **out, const char *path, struct err *e)
{
	*out = path ? fopen(path, "ae") : NULL;
	return path && !*out ? err_errno(e, errno, "%s", path) : 0;
}

static int set_machines(struct cloud *c, const struct options *o, struct err *e)
{
	struct boot *b = &c->instances.boot;
	uint32_t ip;

	c->instances.delay_running_ms = o->delay_running_ms >= 0 ? o->delay_running_ms
					: o->machines		 ? MACHINE_DELAY_MS
								 : RECORD_DELAY_MS;
	c->instances.delay_terminated_ms = o->delay_terminated_ms >= 0 ? o->delay_terminated_ms : RECORD_DELAY_MS;
	if (network_parse_ip(o->gateway, &ip) < 0)
		return err_set(e, "--gateway \"%s\" is not an address", o->gateway);
	network_reserve(&c->network, ip);
	if (!o->machines)
		return 0;
	if (!o->run_dir)
		return err_set(e, "--boot=machine needs --run-dir");
	*b = (struct boot){true, o->bridge, o->gateway, o->run_dir, (const char *const *)o->image_args.v};
	return file_mkdirs(o->run_dir, 0700, e);
}

static int fill_cloud(struct cloud *c, const struct options *o, struct err *e)
{
	c->faults.ec2_by_default = o->ec2_rates;
	faults_reset(&c->faults);
	if (types_load(&c->types, o->types, e) < 0 || each(c, &o->subnets, "--subnet", add_subnet, e) < 0 ||
	    each(c, &o->groups, "--group", add_group, e) < 0 || each(c, &o->images, "--image", add_image, e) < 0 ||
	    each(c, &o->keys, "--key", cloud_add_key, e) < 0 || each(c, &o->policies, "--policy", cloud_set_policy, e) < 0 ||
	    each(c, &o->roles, "--role", cloud_set_role, e) < 0 ||
	    each(c, &o->assumables, "--assumable", cloud_add_assumable, e) < 0 || each(c, &o->heads, "--head", add_head, e) < 0)
		return -1;
	if (open_log(&c->request_log, o->request_log, e) < 0 || open_log(&c->state_log, o->state_log, e) < 0)
		return -1;
	return set_machines(c, o, e);
}

/* One line on stdout tells that we listen, and where: whoever started us waits for it. */
static int serve(struct cloud *c, const struct options *o, struct err *e)
{
	struct server *s = server_create(c, e);
	int port = 0, imds_port = 0, rc = -1;

	if (!s)
		return -1;
	if (server_listen(s, o->listen, api_answer, &port, e) == 0 &&
	    (!o->imds || server_listen(s, o->imds, imds_answer, &imds_port, e) == 0)) {
		printf("ec2local: ready, port %d%s", port, o->imds ? ", metadata port " : "\n");
		if (o->imds)
			printf("%d\n", imds_port);
		fflush(stdout);
		rc = server_run(s, e);
	}
	server_destroy(s);
	return rc;
}

/* 0, or the exit status of a wrong command line. */
static int parse(int argc, char **argv, struct options *o)
{
	struct err e = {""};
	int id;

	while ((id = options_next("ec2local", argc, argv, ":h", long_options)) != -1) {
		if (id == 'h') {
			usage(stdout);
			exit(0);
		}
		if (id == OPT_VERSION)
			exit(options_version("ec2local"));
		if (id == '?')
			return OPTIONS_WRONG;
		if (set_option(o, id, optarg, &e) < 0)
			return options_refuse("ec2local", "%s", e.text);
	}
	/* image_args.v ends in NULL: machine.h promises that. */
	if (mem_grow(&o->image_args.v, &o->image_args.cap, o->image_args.n + 1, sizeof(char *)) < 0)
		return options_refuse("ec2local", "out of memory");
	return options_end("ec2local", argc, argv);
}

int main(int argc, char **argv)
{
	struct options o = {.listen = "127.0.0.1:8000",
			    .network = "10.77.0.0/16",
			    .bridge = "br0",
			    .gateway = "10.77.0.1",
			    .region = "us-east-1",
			    .types = PKGDATADIR "/instance_types.json",
			    .delay_running_ms = -1,
			    .delay_terminated_ms = -1};
	struct cloud cloud = {0};
	struct err e = {""};
	int rc;

	server_block_signals();
	rc = parse(argc, argv, &o);
	if (rc) {
		options_free(&o);
		return rc;
	}
	rc = log_open("ec2local", o.log, LOG_INFO_LEVEL, &e);
	if (rc == 0)
		rc = cloud_init(&cloud, o.region, o.network, &e);
	if (rc == 0)
		rc = fill_cloud(&cloud, &o, &e);
	if (rc == 0)
		rc = serve(&cloud, &o, &e);
	if (rc < 0)
		fprintf(stderr, "ec2local: %s\n", e.text);
	cloud_free(&cloud);
	options_free(&o);
	log_close();
	return rc < 0 ? 1 : 0;
}
