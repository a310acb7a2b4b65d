/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings.c - settings.yaml: one table gives each key's name, type, default and sentence. Parser, defaults, example file and
 * the test of the man page are made from it. There are no variables in this file: slurmctld's programs have an empty
 * environment.
 */
#include "lib/cluster/settings.h"

#include "lib/base/buf.h"
#include "lib/base/problem.h"
#include "lib/cluster/reader.h"
#include "lib/cluster/rule.h"
#include "lib/cluster/schema.h"

#include <stdlib.h>

#define IN(field) .offset = offsetof(struct settings, field)

static const struct key settings_keys[] = {
	{"ClusterName", KEY_TEXT, STORE_TEXT, IN(cluster_name), .rule = &rule_cluster_name,
	 .doc = "Name of the cluster in tags and launch templates; without it, ClusterName of slurm.conf."},
	{"SlurmConf", KEY_TEXT, STORE_TEXT, IN(slurm_conf), .rule = &rule_path, .def = "/etc/slurm/slurm.conf",
	 .doc = "The head node's slurm.conf."},
	{"Slurmctld", KEY_TEXT, STORE_TEXT, IN(slurmctld), .rule = &rule_path, .def = "/usr/sbin/slurmctld",
	 .doc = "The slurmctld program, run for a moment to try new files before they are put in place."},
	{"SlurmctldRestart", KEY_LIST, STORE_STRS, IN(slurmctld_restart), .min = 1, .rule = &rule_one_line,
	 .def = "[systemctl, restart, slurmctld]",
	 .doc = "Command that restarts slurmctld, as a list of program and arguments; no shell sees it."},
	{"HeadNodeAddress", KEY_TEXT, STORE_TEXT, IN(head_address), .rule = &rule_address,
	 .doc = "IP address at which nodes reach slurmctld; without it, apply finds one."},
	{"Ec2Endpoint", KEY_TEXT, STORE_TEXT, IN(endpoint), .rule = &rule_url,
	 .doc = "Address of the EC2 API; without it, the one of the region."},
	{"Profile", KEY_TEXT, STORE_TEXT, IN(profile), .rule = &rule_one_line,
	 .doc = "Profile in CredentialsFile; without it, \"default\"."},
	{"CredentialsFile", KEY_TEXT, STORE_TEXT, IN(credentials_file), .rule = &rule_path,
	 .doc = "File with AWS keys, readable by SlurmUser only; without it, the head node's instance profile is used."},
	{"ConfigFile", KEY_TEXT, STORE_TEXT, IN(config_file), .rule = &rule_path,
	 .doc = "AWS configuration file that Profile refers to."},
	{"ImdsEndpoint", KEY_TEXT, STORE_TEXT, IN(imds_endpoint), .rule = &rule_url, .def = "http://169.254.169.254",
	 .doc = "Address of the instance metadata service."},
	{"Proxy", KEY_TEXT, STORE_TEXT, IN(proxy), .rule = &rule_url,
	 .doc = "Proxy for calls to the EC2 API; never used for the metadata service."},
	{"CaBundle", KEY_TEXT, STORE_TEXT, IN(ca_bundle), .rule = &rule_path,
	 .doc = "File of CA certificates for the EC2 API; without it, the system's."},
	{"ComputeSecurityGroupIds", KEY_LIST, STORE_STRS, KEY_UNIQUE, IN(security_group_ids), .min = 1, .rule = &rule_group,
	 .doc = "Security groups of nodes whose queue names none; they must let Slurm's ports through between head node and "
		"nodes."},
	{"ImageId", KEY_TEXT, STORE_TEXT, IN(image_id), .rule = &rule_image,
	 .doc = "Image of nodes for which cluster.yaml has no CustomAmi."},
	{"AcceptUntaggedImage", KEY_BOOL, STORE_BOOL, IN(accept_untagged_image), .def = "false",
	 .doc = "Launch an image even if no tag says which Slurm it holds."},
	{"ResumeTimeLimit", KEY_DURATION, STORE_INT64, IN(resume_limit_s), .min = 5, .max = 300, .def = "30",
	 .doc = "Seconds one run of the resume program may take; clustermgtd goes on with what is left."},
	{"LoopTime", KEY_DURATION, STORE_INT64, IN(loop_s), .min = 5, .max = 3600, .def = "60",
	 .doc = "Seconds from one look of clustermgtd at the cluster to the next."},
	{"OrphanGrace", KEY_DURATION, STORE_INT64, IN(orphan_grace_s), .min = 30, .max = 86400, .def = "120",
	 .doc = "Seconds during which a new instance without a node is left alone."},
	{"HeartbeatLimit", KEY_DURATION, STORE_INT64, IN(heartbeat_limit_s), .min = 30, .max = 86400, .def = "300",
	 .doc = "When clustermgtd has not finished a look for this many seconds, no node is launched."},
	{"SuspendTimeout", KEY_DURATION, STORE_INT64, IN(suspend_timeout_s), .min = 5, .max = 3600, .def = "30",
	 .doc = "Seconds from the end of a node until Slurm may use it again; written to slurm.conf."},
	{"LaunchBatch", KEY_INT, STORE_INT64, IN(launch_batch), .min = 1, .max = 1000, .def = "500",
	 .doc = "Most nodes that one EC2 call launches."},
	{"LogLevel", KEY_TEXT, STORE_TEXT, IN(log_level), .choices = "error|warning|info|debug", .def = "info",
	 .doc = "How much is logged: error, warning, info or debug."},
};
const struct section schema_settings = SECTION(settings_keys);

static int set_defaults(struct settings *s)
{
	struct problems p = {0};
	struct buf text = {0};
	int rc;

	for (size_t i = 0; i < schema_settings.n; i++)
		if (settings_keys[i].def)
			buf_fmt(&text, "%s: %s\n", settings_keys[i].name, settings_keys[i].def);
	if (!buf_failed(&text))
		reader_read("defaults", buf_text(&text), text.n, &schema_settings, s, NULL, NULL, true, &p);
	rc = buf_failed(&text) || problems_count(&p, PROBLEM_ERROR) ? -1 : 0;
	buf_free(&text);
	problems_clear(&p);
	return rc;
}

struct settings *settings_create(void)
{
	struct settings *s = calloc(1, sizeof(*s));

	if (s && set_defaults(s) < 0) {
		settings_destroy(s);
		return NULL;
	}
	return s;
}

struct settings *settings_parse(const char *path, const char *text, size_t n, struct problems *p)
{
	size_t errors = problems_count(p, PROBLEM_ERROR);
	struct settings *s = settings_create();
	struct strs restart;

	if (!s) {
		p->nomem = true;
		return NULL;
	}
	restart = s->slurmctld_restart; /* a list in the file replaces the default, it does not grow it */
	s->slurmctld_restart = (struct strs){0};
	reader_read(path, text, n, &schema_settings, s, NULL, NULL, true, p);
	if (s->slurmctld_restart.n)
		strs_clear(&restart);
	else
		s->slurmctld_restart = restart;
	if (problems_count(p, PROBLEM_ERROR) == errors)
		return s;
	settings_destroy(s);
	return NULL;
}

void settings_destroy(struct settings *s)
{
	if (!s)
		return;
	strs_clear(&s->slurmctld_restart);
	strs_clear(&s->security_group_ids);
	for (size_t i = 0; i < schema_settings.n; i++)
		if (settings_keys[i].store == STORE_TEXT)
			free(*(char **)((char *)s + settings_keys[i].offset));
	free(s);
}

void settings_print_example(FILE *out)
{
	fputs("# settings.yaml - how slurm-ec2 reaches Slurm and EC2 on this head node; see slurm-ec2-settings(5).\n"
	      "# Every key may be left out. A key without a value here has no default.\n",
	      out);
	for (size_t i = 0; i < schema_settings.n; i++) {
		const struct key *k = &settings_keys[i];

		fprintf(out, "\n# %s\n#%s:%s%s\n", k->doc, k->name, k->def ? " " : "", k->def ? k->def : "");
	}
}
