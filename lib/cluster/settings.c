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

#include <inttypes.h>
#include <stdlib.h>

#define IN(field) .offset = offsetof(struct settings, field)
#define CLOUD(field) .offset = offsetof(struct queue_cloud, field)
#define STAGE(field) .offset = offsetof(struct fallback_stage, field)
#define FALL(field) .offset = offsetof(struct fallback, field)
#define AT(type, field) (1 + offsetof(type, field))
#define MAX_WAIT_S 300 /* as ResumeTimeLimit: one run of the resume program waits no longer */

/* Queues[] */
static const struct key cloud_keys[] = {
	{"Name", KEY_TEXT, STORE_TEXT, KEY_REQUIRED, CLOUD(queue), .at = AT(struct queue_cloud, at), .rule = &rule_name},
	{"Region", KEY_TEXT, STORE_TEXT, CLOUD(region), .rule = &rule_region},
	{"Profile", KEY_TEXT, STORE_TEXT, CLOUD(profile), .rule = &rule_one_line},
	{"Ec2Endpoint", KEY_TEXT, STORE_TEXT, CLOUD(endpoint), .rule = &rule_url},
};
static const struct section cloud_section = {cloud_keys, sizeof(cloud_keys) / sizeof(cloud_keys[0]),
					     AT(struct queue_cloud, at)};

static void *cloud_open(void *base)
{
	struct settings *s = base;

	if (mem_grow(&s->clouds, &s->cap_clouds, s->n_clouds + 1, sizeof(*s->clouds)) < 0)
		return NULL;
	s->clouds[s->n_clouds] = (struct queue_cloud){0};
	return &s->clouds[s->n_clouds++];
}

/* Fallback[] */
static const struct key stage_keys[] = {
	{"CapacityType", KEY_TEXT, STORE_CHOICE, STAGE(capacity), .at = AT(struct fallback_stage, capacity_at),
	 .choices = "ONDEMAND|SPOT"},
	{"InstanceTypes", KEY_LIST, STORE_STRS, KEY_UNIQUE, STAGE(instance_types), .min = 1, .rule = &rule_itype},
	{"SubnetIds", KEY_LIST, STORE_STRS, KEY_UNIQUE, STAGE(subnet_ids), .min = 1, .rule = &rule_subnet},
	{"SpotPrice", KEY_FLOAT, STORE_DOUBLE, STAGE(spot_price), .at = AT(struct fallback_stage, spot_price_at)},
	{"TimeLimit", KEY_DURATION, STORE_INT64, STAGE(time_limit_s), .min = 0, .max = MAX_WAIT_S},
};
static const struct section stage_section = {stage_keys, sizeof(stage_keys) / sizeof(stage_keys[0]),
					     AT(struct fallback_stage, at)};

static void *stage_open(void *base)
{
	struct fallback *f = base;

	if (mem_grow(&f->stages, &f->cap_stages, f->n_stages + 1, sizeof(*f->stages)) < 0)
		return NULL;
	f->stages[f->n_stages] = (struct fallback_stage){0};
	return &f->stages[f->n_stages++];
}

static int stage_close(void *base, void *entry)
{
	struct fallback_stage *st = entry;

	(void)base;
	st->has_capacity = st->capacity_at.line > 0;
	return 0;
}

static const struct key fallback_keys[] = {
	{"Queue", KEY_TEXT, STORE_TEXT, KEY_REQUIRED, FALL(queue), .rule = &rule_name},
	{"ComputeResource", KEY_TEXT, STORE_TEXT, KEY_REQUIRED, FALL(resource), .rule = &rule_name},
	{"TimeLimit", KEY_DURATION, STORE_INT64, FALL(time_limit_s), .min = 0, .max = MAX_WAIT_S},
	{"Then", KEY_MAPS, .flags = KEY_REQUIRED, .min = 1, .section = &stage_section, .open = stage_open,
	 .close = stage_close},
};
static const struct section fallback_section = {fallback_keys, sizeof(fallback_keys) / sizeof(fallback_keys[0]),
						AT(struct fallback, at)};

static void *fallback_open(void *base)
{
	struct settings *s = base;

	if (mem_grow(&s->fallbacks, &s->cap_fallbacks, s->n_fallbacks + 1, sizeof(*s->fallbacks)) < 0)
		return NULL;
	s->fallbacks[s->n_fallbacks] = (struct fallback){0};
	return &s->fallbacks[s->n_fallbacks++];
}

#define RATE(name, field, doc_) {name, KEY_TEXT, STORE_TEXT, IN(field), .rule = &rule_rate, .doc = (doc_)}

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
	{"StsEndpoint", KEY_TEXT, STORE_TEXT, IN(sts_endpoint), .rule = &rule_url,
	 .doc = "Address of STS, for profiles with role_arn; without it, the one of the region, or Ec2Endpoint if that is not AWS's."},
	{"Profile", KEY_TEXT, STORE_TEXT, IN(profile), .rule = &rule_one_line,
	 .doc = "Profile in CredentialsFile and ConfigFile; without it, \"default\"."},
	{"CredentialsFile", KEY_TEXT, STORE_TEXT, IN(credentials_file), .rule = &rule_path,
	 .doc = "File with AWS keys, readable by SlurmUser only; without it, the head node's instance profile is used."},
	{"ConfigFile", KEY_TEXT, STORE_TEXT, IN(config_file), .rule = &rule_path,
	 .doc = "AWS configuration file: profiles with role_arn, credential_process or web_identity_token_file."},
	{"ImdsEndpoint", KEY_TEXT, STORE_TEXT, IN(imds_endpoint), .rule = &rule_url, .def = "http://169.254.169.254",
	 .doc = "Address of the instance metadata service."},
	{"Proxy", KEY_TEXT, STORE_TEXT, IN(proxy), .rule = &rule_url,
	 .doc = "Proxy for calls to the EC2 API; never used for the metadata service."},
	{"NoProxy", KEY_TEXT, STORE_TEXT, IN(no_proxy), .rule = &rule_one_line,
	 .doc = "Hosts that are reached without Proxy, separated by commas: names, .domains, addresses, networks, or *."},
	{"CaBundle", KEY_TEXT, STORE_TEXT, IN(ca_bundle), .rule = &rule_path,
	 .doc = "File of CA certificates for the EC2 API; without it, the system's."},
	{"Queues", KEY_MAPS, .flags = KEY_UNIQUE, .section = &cloud_section, .open = cloud_open,
	 .doc = "Queues whose nodes run in another region, or under another profile, than the cluster's."},
	{"ComputeSecurityGroupIds", KEY_LIST, STORE_STRS, KEY_UNIQUE, IN(security_group_ids), .min = 1, .rule = &rule_group,
	 .doc = "Security groups of nodes whose queue names none; they must let Slurm's ports through between head node and "
		"nodes."},
	{"ImageId", KEY_TEXT, STORE_TEXT, IN(image_id), .rule = &rule_image,
	 .doc = "Image of nodes for which cluster.yaml has no CustomAmi."},
	{"AcceptUntaggedImage", KEY_BOOL, STORE_BOOL, IN(accept_untagged_image), .def = "false",
	 .doc = "Launch an image even if no tag says which Slurm it holds."},
	{"ResumeTimeLimit", KEY_DURATION, STORE_INT64, IN(resume_limit_s), .at = AT(struct settings, resume_limit_at),
	 .min = 5, .max = 300, .def = "30",
	 .doc = "Seconds one run of the resume program may take; clustermgtd goes on with what is left."},
	{"LoopTime", KEY_DURATION, STORE_INT64, IN(loop_s), .min = 5, .max = 3600, .def = "60",
	 .doc = "Seconds from one look of clustermgtd at the cluster to the next."},
	{"OrphanGrace", KEY_DURATION, STORE_INT64, IN(orphan_grace_s), .min = 30, .max = 86400, .def = "120",
	 .doc = "Seconds during which a new instance without a node is left alone."},
	{"HeartbeatLimit", KEY_DURATION, STORE_INT64, IN(heartbeat_limit_s), .min = 30, .max = 86400, .def = "300",
	 .doc = "When clustermgtd has not finished a look, or could not read EC2 or Slurm, for this many seconds, no node is launched."},
	{"HealthCheckGrace", KEY_DURATION, STORE_INT64, IN(health_grace_s), .min = 0, .max = 86400, .def = "180",
	 .doc = "Seconds for which EC2 must find a machine impaired before its node is drained or replaced."},
	{"ScheduledEventLead", KEY_DURATION, STORE_INT64, IN(event_lead_s), .min = 0, .max = 2592000, .def = "86400",
	 .doc = "Seconds before an event that EC2 has scheduled for a machine (reboot, retirement) at which its node is drained."},
	{"ProtectedFailureCount", KEY_INT, STORE_INT64, IN(protected_count), .min = 0, .max = 100000, .def = "10",
	 .doc = "When so many machines of a compute resource never came up, no more are launched for it; 0 = go on for ever."},
	{"ProtectedFailureWindow", KEY_DURATION, STORE_INT64, IN(protected_window_s), .min = 60, .max = 604800, .def = "3600",
	 .doc = "Seconds after which such a failure is forgotten."},
	{"TerminateShare", KEY_INT, STORE_INT64, IN(terminate_share), .min = 1, .max = 100, .def = "10",
	 .doc = "Per cent of the machines in use that one look of clustermgtd may end (at least 10) without a second look."},
	{"MetricsPort", KEY_INT, STORE_INT64, IN(metrics_port), .min = 0, .max = 65535, .def = "9839",
	 .doc = "Port on 127.0.0.1 where clustermgtd tells its metrics to Prometheus; 0 = none."},
	{"SuspendTimeout", KEY_DURATION, STORE_INT64, IN(suspend_timeout_s), .min = 5, .max = 3600, .def = "30",
	 .doc = "Seconds from the end of a node until Slurm may use it again; written to slurm.conf."},
	{"LaunchBatch", KEY_INT, STORE_INT64, IN(launch_batch), .min = 1, .max = 1000, .def = "500",
	 .doc = "Most nodes that one EC2 call launches."},
	{"CapacityRetry", KEY_DURATION, STORE_INT64, IN(capacity_retry_s), .at = AT(struct settings, capacity_retry_at),
	 .min = 5, .max = 86400, .def = "60",
	 .doc = "Seconds (half to all of them, at random) for which an instance type that EC2 is short of is not asked for again; "
		"each refusal in a row doubles them."},
	{"CapacityRetryLimit", KEY_DURATION, STORE_INT64, IN(capacity_retry_limit_s),
	 .at = AT(struct settings, capacity_retry_limit_at), .min = 5, .max = 604800, .def = "1800",
	 .doc = "Seconds that this doubling does not exceed."},
	{"Fallback", KEY_MAPS, .section = &fallback_section, .open = fallback_open,
	 .doc = "What is launched for a compute resource when EC2 is short of what cluster.yaml asks for."},
	RATE("LaunchRate", launch_rate,
	     "Launch requests to EC2, as SIZE/PER_SECOND (at once, then so many a second), or none; without it, EC2's usual "
	     "limits."),
	RATE("LaunchInstancesRate", launch_instances_rate, "Instances launched, likewise."),
	RATE("TerminateRate", terminate_rate, "Terminate requests, likewise."),
	RATE("TerminateInstancesRate", terminate_instances_rate, "Instances terminated, likewise."),
	RATE("ReadRate", read_rate, "Requests that only read, likewise."),
	RATE("ChangeRate", change_rate, "Other requests that change something, likewise."),
	{"RunInstancesOverrides", KEY_TEXT, STORE_TEXT, IN(run_instances_overrides), .rule = &rule_path,
	 .doc = "JSON file of members that replace ours in RunInstances: queue, compute resource, request member."},
	{"CreateFleetOverrides", KEY_TEXT, STORE_TEXT, IN(create_fleet_overrides), .rule = &rule_path,
	 .doc = "The same for CreateFleet."},
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
	/* these places are not of the file */
	s->resume_limit_at = s->capacity_retry_at = s->capacity_retry_limit_at = (struct place){0};
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

static void judge_retry(const struct settings *s, const char *path, struct problems *p)
{
	struct place at = s->capacity_retry_limit_at.line ? s->capacity_retry_limit_at : s->capacity_retry_at;

	if (place_refused(s->capacity_retry_at) || place_refused(s->capacity_retry_limit_at) ||
	    s->capacity_retry_limit_s >= s->capacity_retry_s)
		return;
	problems_add(p, PROBLEM_ERROR, path, at.line, at.column,
		     s->capacity_retry_limit_at.line ? "CapacityRetryLimit" : "CapacityRetry",
		     "CapacityRetryLimit (%" PRId64 " s) is less than CapacityRetry (%" PRId64 " s)", s->capacity_retry_limit_s,
		     s->capacity_retry_s);
}

/* All that is waited in one fallback happens in one run of the resume program. */
static void judge_waits(const struct settings *s, const struct fallback *f, const char *path, struct problems *p)
{
	int64_t sum = f->time_limit_s;

	for (size_t i = 0; i < f->n_stages; i++)
		sum += f->stages[i].time_limit_s;
	if (place_refused(s->resume_limit_at) || sum <= s->resume_limit_s)
		return;
	problems_add(p, PROBLEM_ERROR, path, f->at.line, f->at.column, "Fallback",
		     "the TimeLimits of queue %s, compute resource %s add up to %" PRId64 " s, but ResumeTimeLimit is %" PRId64
		     " s: shorten them, or raise it",
		     f->queue ? f->queue : "?", f->resource ? f->resource : "?", sum, s->resume_limit_s);
}

static void judge_stages(const struct fallback *f, const char *path, struct problems *p)
{
	for (size_t i = 0; i < f->n_stages; i++) {
		const struct fallback_stage *st = &f->stages[i];

		if (st->has_capacity && st->capacity == CAPACITY_ONDEMAND && st->spot_price > 0)
			problems_add(p, PROBLEM_ERROR, path, st->spot_price_at.line, st->spot_price_at.column, "Fallback",
				     "SpotPrice goes only with CapacityType: SPOT");
		if (!st->capacity_at.line && !st->instance_types.n && !st->subnet_ids.n && !st->spot_price_at.line)
			problems_add(p, PROBLEM_ERROR, path, st->at.line, st->at.column, "Fallback",
				     "nothing differs here from what was tried before: give CapacityType, InstanceTypes, SubnetIds "
				     "or SpotPrice");
	}
}

static void judge_fallbacks(const struct settings *s, const char *path, struct problems *p)
{
	for (size_t i = 0; i < s->n_fallbacks; i++) {
		const struct fallback *f = &s->fallbacks[i];

		judge_waits(s, f, path, p);
		judge_stages(f, path, p);
		for (size_t k = 0; k < i && f->queue && f->resource; k++) {
			if (!str_eq(f->queue, s->fallbacks[k].queue) || !str_eq(f->resource, s->fallbacks[k].resource))
				continue;
			problems_add(p, PROBLEM_ERROR, path, f->at.line, f->at.column, "Fallback",
				     "queue %s, compute resource %s stand in line %d already; each pair may appear once", f->queue,
				     f->resource, s->fallbacks[k].at.line);
			break;
		}
	}
}

static void judge_clouds(const struct settings *s, const char *path, struct problems *p)
{
	for (size_t i = 0; i < s->n_clouds; i++) {
		const struct queue_cloud *c = &s->clouds[i];

		if (!c->region && !c->profile && !c->endpoint)
			problems_add(p, PROBLEM_ERROR, path, c->at.line, c->at.column, "Queues",
				     "queue %s: give Region, Profile or Ec2Endpoint", c->queue ? c->queue : "?");
	}
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
	judge_retry(s, path, p);
	judge_fallbacks(s, path, p);
	judge_clouds(s, path, p);
	if (s->slurmctld_restart.n)
		strs_clear(&restart);
	else
		s->slurmctld_restart = restart;
	if (problems_count(p, PROBLEM_ERROR) == errors)
		return s;
	settings_destroy(s);
	return NULL;
}

static void clouds_clear(struct settings *s)
{
	for (size_t i = 0; i < s->n_clouds; i++) {
		free(s->clouds[i].queue);
		free(s->clouds[i].region);
		free(s->clouds[i].profile);
		free(s->clouds[i].endpoint);
	}
	free(s->clouds);
}

static void fallbacks_clear(struct settings *s)
{
	for (size_t i = 0; i < s->n_fallbacks; i++) {
		struct fallback *f = &s->fallbacks[i];

		for (size_t k = 0; k < f->n_stages; k++) {
			strs_clear(&f->stages[k].instance_types);
			strs_clear(&f->stages[k].subnet_ids);
		}
		free(f->stages);
		free(f->queue);
		free(f->resource);
	}
	free(s->fallbacks);
}

void settings_destroy(struct settings *s)
{
	if (!s)
		return;
	clouds_clear(s);
	fallbacks_clear(s);
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
