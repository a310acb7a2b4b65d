/* SPDX-License-Identifier: GPL-2.0-or-later */
/* custom.c - judges CustomSlurmSettings pair by pair. Pure; called by the reader with each pair's place. */
#include "lib/cluster/custom.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define OURS "is written by slurm-ec2 itself; remove it"

static const char *const cluster_denied[] = {
	"Epilog",	"GresTypes",	   "LaunchParameters",	"Prolog",	   "ReconfigFlags",	  "ResumeFailProgram",
	"ResumeProgram", "ResumeTimeout",  "SlurmctldHost",	"SlurmctldLogFile", "SlurmctldParameters", "SlurmdLogFile",
	"SlurmUser",	"SuspendExcNodes", "SuspendProgram",	"SuspendTime",	   "TaskPlugin",	  "TreeWidth", NULL};
static const char *const queue_denied[] = {"Nodes", "PartitionName", "ResumeTimeout", "State", "SuspendTime", "OverSubscribe",
					   NULL};
/* A key twice on one NodeName line is an error for slurmctld, hence also those that only we add. */
static const char *const resource_denied[] = {"CPUs",	  "Feature",  "Features",   "Gres",  "NodeAddr", "NodeHostname",
					      "NodeName", "State",    "Weight",	    NULL};

static bool listed(const char *const *list, const char *key)
{
	for (; *list; list++)
		if (strcasecmp(*list, key) == 0)
			return true;
	return false;
}

/* Would it stay one pair on one line of slurm.conf? */
static const char *shape_problem(const char *key, const char *val)
{
	size_t n = strlen(val);
	bool quoted = n >= 2 && val[0] == '"' && val[n - 1] == '"' && !memchr(val + 1, '"', n - 2);

	if (!*key || strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != strlen(key))
		return "is no key of slurm.conf: letters, digits and underscores only";
	if (n == 0)
		return "has an empty value";
	for (const char *c = val; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f || *c == '#' || *c == '\\')
			return "has a value that does not fit one line of slurm.conf (line breaks, control characters, # and \\ "
			       "are refused)";
	if (!quoted && (strchr(val, ' ') || strchr(val, '"')))
		return "has a value with a blank or a quote: put the whole value in double quotes ('\"a b\"')";
	return NULL;
}

static bool cloud_node_name(const char *key, const char *val)
{
	return strcasecmp(key, "NodeName") == 0 && (strstr(val, "-st-") || strstr(val, "-dy-"));
}

/* A line of several pairs is a node or partition of the site's own: its keys are not ours, only its name may be. */
const char *custom_cluster_problem(const char *key, const char *val, size_t pairs)
{
	const char *shape = shape_problem(key, val);

	if (shape)
		return shape;
	if (cloud_node_name(key, val))
		return "has a name with -st- or -dy-, which are kept for cloud nodes";
	return pairs == 1 && listed(cluster_denied, key) ? OURS : NULL;
}

const char *custom_queue_problem(const char *key, const char *val, size_t pairs)
{
	const char *shape = shape_problem(key, val);

	(void)pairs;
	if (shape)
		return shape;
	return listed(queue_denied, key) ? OURS : NULL;
}

const char *custom_resource_problem(const char *key, const char *val, size_t pairs)
{
	const char *shape = shape_problem(key, val);

	(void)pairs;
	if (shape)
		return shape;
	if (strcasecmp(key, "RealMemory") == 0)
		return "is written by slurm-ec2 itself; use SchedulableMemory";
	return listed(resource_denied, key) ? OURS : NULL;
}
