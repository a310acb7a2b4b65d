/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_render.c - `slurm-ec2 render FILE --out DIR`: the Slurm files that apply would install, to look at.
 *
 * A function of the file, Fallback of settings.yaml, the instance facts, the Slurm version and (if given) a slurm.conf. Writes
 * into DIR only.
 */
#include "cli/command.h"
#include "cli/session.h"
#include "conf/facts.h"
#include "conf/slurm_conf.h"
#include "conf/slurm_files.h"
#include "lib/aws/aws.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/problem.h"
#include "lib/cluster/fallback.h"
#include "lib/cluster/load.h"
#include "lib/cluster/settings.h"
#include "lib/slurmctl/slurmctl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FACTS_LIMIT_MS 30000

struct render_args {
	const char *file, *out, *version, *types, *slurm_conf;
};

static int parse_args(int argc, char **argv, struct render_args *a)
{
	static const struct option options[] = { { "out", required_argument, NULL, 'o' },
						 { "slurm-version", required_argument, NULL, 'v' },
						 { "instance-types", required_argument, NULL, 't' },
						 { "slurm-conf", required_argument, NULL, 'c' },
						 { NULL, 0, NULL, 0 } };
	int c;

	while ((c = command_option(&cmd_render, argc, argv, ":o:", options)) != -1) {
		switch (c) {
		case 'o':
			a->out = optarg;
			break;
		case 'v':
			a->version = optarg;
			break;
		case 't':
			a->types = optarg;
			break;
		case 'c':
			a->slurm_conf = optarg;
			break;
		default:
			return EXIT_USAGE;
		}
	}
	if (argc - optind != 1)
		return command_usage_error(&cmd_render, "give one FILE");
	if (!a->out)
		return command_usage_error(&cmd_render, "give --out DIR");
	a->file = argv[optind];
	return EXIT_OK;
}

static bool lacks_type(const struct cluster *c)
{
	for (size_t i = 0; i < c->n_queues; i++) {
		for (size_t k = 0; k < c->queues[i].n_resources; k++) {
			if (c->queues[i].resources[k].instance_types.n == 0)
				return true;
		}
	}
	return false;
}

static int ask_facts(struct aws *aws, const struct cluster *c, struct itypes *types, struct err *e)
{
	struct strs names = { 0 };
	int rc = facts_types(c, &names) ? err_nomem(e) : facts_fetch(aws, &names, clock_mono_ms() + FACTS_LIMIT_MS, types, e);

	strs_clear(&names);
	return rc;
}

/* Types of capacity reservations and, if no file has them, facts. */
static int ask_ec2(const struct cluster *c, struct itypes *types, bool facts, struct problems *p, struct err *e)
{
	struct aws *aws = session_aws(c->region, e);
	int rc = aws ? 0 : -1;

	for (size_t i = 0; i < c->n_queues && rc == 0; i++)
		rc = facts_reserved(aws, c, &c->queues[i], clock_mono_ms() + FACTS_LIMIT_MS, p, e);
	if (rc == 0 && facts)
		rc = ask_facts(aws, c, types, e);
	aws_destroy(aws);
	if (rc && facts)
		return err_prefix(e, "instance facts (or give --instance-types FILE)");
	return rc ? err_prefix(e, "types of capacity reservations (or give InstanceType)") : 0;
}

static int get_facts(const struct render_args *a, const struct cluster *c, struct itypes *types, struct problems *p,
		     struct err *e)
{
	struct strs names = { 0 };
	int rc = a->types ? facts_read(a->types, types, e) : 0;

	if (rc == 0 && (!a->types || lacks_type(c)))
		rc = ask_ec2(c, types, !a->types, p, e);
	if (rc == 0)
		rc = facts_types(c, &names) ? err_nomem(e) : facts_complete(&names, types, e);
	strs_clear(&names);
	return rc;
}

/* What Fallback of settings.yaml adds. */
static int note_fallback(struct cluster *c, struct problems *p, struct err *e)
{
	struct settings *s = session_settings(e);
	int rc = -1;

	if (s) {
		fallback_check(c, s, SETTINGS_PATH, p);
		rc = fallback_note_types(c, s) ? err_nomem(e) : 0;
	}
	settings_destroy(s);
	return rc;
}

static int write_one(const char *dir, const char *name, const char *text, struct err *e)
{
	char *path = file_join(dir, name);
	int rc = path ? file_replace(path, 0644, text, strlen(text), e) : err_nomem(e);

	if (rc == 0)
		printf("%s\n", path);
	free(path);
	return rc;
}

static int write_files(const struct render_args *a, const struct site *site, const struct gen_file *files, size_t n,
		       const struct kvs *merged, struct problems *p, struct err *e)
{
	char *text;
	int rc = file_mkdirs(a->out, 0755, e);

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = write_one(a->out, strrchr(files[i].path, '/') + 1, files[i].text, e);
	if (rc || !site)
		return rc;
	text = slurmconf_merge(site, merged, p);
	rc = text ? write_one(a->out, "slurm.conf", text, e) : err_set(e, "%s cannot be merged", a->slurm_conf);
	free(text);
	return rc;
}

static int render(const struct render_args *a, const struct cluster *c, const struct itypes *types, struct problems *p,
		  struct err *e)
{
	struct site site = { 0 };
	struct gen_file *files = NULL;
	struct kvs merged = { 0 };
	size_t n = 0;
	struct slurm_render in = {
		.cluster = c,
		.types = types,
		.version = slurmfiles_version_number(a->version ? a->version : slurmctl_library_version()),
		.resume_program = RESUME_PROGRAM,
		.suspend_program = SUSPEND_PROGRAM,
		.suspend_timeout_s = session_suspend_timeout(),
	};
	int rc = -1;

	if (in.version < 2205) {
		err_set(e, "Slurm version \"%s\": 22.05 or newer is needed, as in 22.05.8", a->version ? a->version : "");
		goto out;
	}
	if (a->slurm_conf) {
		if (site_load(&site, a->slurm_conf, e))
			goto out;
		in.site = &site;
	}
	if (slurmfiles_render(&in, &files, &n, &merged, p))
		err_set(e, "%s: nothing was written", a->file);
	else
		rc = write_files(a, in.site, files, n, &merged, p, e);
out:
	gen_files_free(files, n);
	kvs_clear(&merged);
	site_clear(&site);
	return rc;
}

static int run(int argc, char **argv)
{
	struct render_args a = { 0 };
	struct problems p = { 0 };
	struct itypes types = { 0 };
	struct cluster *c;
	struct err e = { 0 };
	int status = parse_args(argc, argv, &a);

	if (status != EXIT_OK)
		return status;
	c = cluster_load(a.file, cluster_getenv_process, NULL, &p);
	if (!c)
		err_set(&e, "%s: nothing was written", a.file);
	if (!c || note_fallback(c, &p, &e) || get_facts(&a, c, &types, &p, &e) || render(&a, c, &types, &p, &e))
		status = EXIT_PROBLEM;
	problems_sort(&p);
	problems_print(&p, stderr);
	if (status != EXIT_OK)
		fprintf(stderr, "slurm-ec2 render: %s\n", e.text);
	problems_clear(&p);
	itypes_clear(&types);
	cluster_destroy(c);
	return status;
}

const struct command cmd_render = {
	.name = "render",
	.help = "write the Slurm files of a cluster.yaml into a folder",
	.usage = "usage: slurm-ec2 render FILE --out DIR [--instance-types FILE] [--slurm-version V] [--slurm-conf FILE]\n"
		 "Write the Slurm files that apply would install into DIR, and print their names. Nothing else is changed.\n\n"
		 "  --out DIR              the folder; made if absent\n"
		 "  --instance-types FILE  output of `aws ec2 describe-instance-types`; without it EC2 is asked,\n"
		 "                         as it is for the type of a capacity reservation\n"
		 "  --slurm-version V      such as 22.05.8 (default: this machine's libslurm)\n"
		 "  --slurm-conf FILE      the site's slurm.conf: respected, and written merged into DIR\n\n"
		 "Exit status: 0 written, 1 problems, 2 wrong usage.\n",
	.run = run,
};
