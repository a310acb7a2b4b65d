/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_files.c - the writer of slurm-ec2.conf and slurm-ec2-gres.conf.
 *
 * Called by render and apply. Values in, text out: no file is opened here. Physical nodes are never touched by power saving,
 * since SuspendTime stands at our partitions only. What the site says stays the site's: a key it has is left out here, and if
 * its value cannot work with ours the place is named.
 */
#include "build_config.h"

#include "conf/slurm_files.h"

#include "conf/hardware.h"
#include "conf/slurm_conf.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/num.h"
#include "lib/base/problem.h"
#include "lib/node/nodeset.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Seconds that stand for "never" (ScaledownIdletime -1). INFINITE would switch the wake-up off as well. */
#define NEVER_S 315360000
/* slurmd may need this long to answer after the node has booted, before its batch job is given up. */
#define BATCH_START_TIMEOUT_S 180

enum rule {
	MUST,  /* another value at the site cannot work */
	SHOULD /* another value at the site stands, with a warning */
};

static int version_part(const char *s, size_t n, int64_t max, int64_t *out)
{
	char text[8];

	if (n == 0 || n >= sizeof(text))
		return -1;
	while (n > 1 && *s == '0') {
		s++;
		n--;
	}
	memcpy(text, s, n);
	text[n] = 0;
	return num_i64(text, 0, max, out, NULL);
}

int slurmfiles_version_number(const char *text)
{
	const char *dot = text ? strchr(text, '.') : NULL;
	int64_t major, minor;
	size_t n;

	if (!dot)
		return -1;
	n = strcspn(dot + 1, ".-~+ \n");
	if (version_part(text, (size_t)(dot - text), 99, &major) || version_part(dot + 1, n, 99, &minor))
		return -1;
	return (int)(major * 100 + minor);
}

/* Always with brackets, as ParallelCluster writes it. NULL on no memory. Caller frees. */
static char *range_text(const struct queue *q, const struct compute_resource *r, bool is_static, int count)
{
	return str_fmt("%s-%s-%s-[1-%d]", q->name, is_static ? "st" : "dy", r->name, count);
}

/* --- plain keys */

static bool same_value(const char *a, const char *b)
{
	bool never_a = !strcasecmp(a, "INFINITE") || !strcmp(a, "-1"), never_b = !strcasecmp(b, "INFINITE") || !strcmp(b, "-1");

	return !strcasecmp(a, b) || (never_a && never_b);
}

static void put_key(const struct slurm_render *in, struct buf *b, enum rule rule, const char *key, const char *value,
		    struct problems *p)
{
	const struct site_key *k = site_find(in->site, key);

	if (!k) {
		buf_fmt(b, "%s=%s\n", key, value);
		return;
	}
	if (same_value(k->value, value))
		return;
	if (rule == MUST)
		problems_add(p, PROBLEM_ERROR, site_path(in->site, k), k->line, 0, k->name,
			     "it is %s, but elastic nodes need %s=%s: change this line, or take it out", k->value, key, value);
	else
		problems_add(p, PROBLEM_WARNING, site_path(in->site, k), k->line, 0, k->name,
			     "it is %s; for elastic nodes %s=%s is advised", k->value, key, value);
}

/* A comma list: in slurm-ec2.conf if the site has none, else into its own line. */
static void put_list(const struct slurm_render *in, struct buf *b, const char *key, const char *value, struct kvs *merged,
		     struct problems *p)
{
	if (!site_find(in->site, key))
		buf_fmt(b, "%s=%s\n", key, value);
	else if (kvs_add(merged, key, value))
		p->nomem = true;
}

/* A change of SelectType loses a site's jobs, so it is ours to choose only where there is no node yet. */
static void put_select(const struct slurm_render *in, struct buf *b, bool gpus, struct problems *p)
{
	const struct site_key *k = site_find(in->site, "SelectType");
	bool memory = in->cluster->memory_scheduling;

	if (!k && !site_has_nodes(in->site))
		buf_str(b, "SelectType=select/cons_tres\n");
	if (k && !strcasecmp(k->value, "select/linear"))
		problems_add(p, gpus || memory ? PROBLEM_ERROR : PROBLEM_WARNING, site_path(in->site, k), k->line, 0, k->name,
			     "select/linear gives whole nodes to jobs%s: select/cons_tres is needed for more",
			     gpus ? " and does not follow GPUs" : "");
	k = site_find(in->site, "SelectTypeParameters");
	if (!k && !site_has_nodes(in->site))
		buf_fmt(b, "SelectTypeParameters=%s\n", memory ? "CR_CPU_Memory" : "CR_CPU");
	else if (k && memory && !strcasestr(k->value, "Memory"))
		problems_add(p, PROBLEM_ERROR, site_path(in->site, k), k->line, 0, k->name,
			     "EnableMemoryBasedScheduling needs a value with memory, such as CR_CPU_Memory");
}

static char *static_nodes(const struct cluster *c)
{
	struct strs l = { 0 };
	char *text = NULL, *range;

	for (size_t i = 0; i < c->n_queues; i++) {
		for (size_t j = 0; j < c->queues[i].n_resources; j++) {
			const struct compute_resource *r = &c->queues[i].resources[j];

			if (r->min_count <= 0)
				continue;
			range = range_text(&c->queues[i], r, true, r->min_count);
			if (!range || strs_take(&l, range))
				goto out;
		}
	}
	text = l.n ? strs_join(&l, ",") : str_dup("");
out:
	strs_clear(&l);
	return text;
}

static void put_lists(const struct slurm_render *in, struct buf *b, bool gpus, struct kvs *merged, struct problems *p)
{
	const struct site_key *k = site_find(in->site, "SlurmctldParameters");
	char *fixed = static_nodes(in->cluster);

	if (k && strcasestr(k->value, "cloud_dns"))
		problems_add(p, PROBLEM_ERROR, site_path(in->site, k), k->line, 0, k->name,
			     "cloud_dns makes nodes find each other by DNS only, where ours are not: take it out");
	put_list(
		in, b, "SlurmctldParameters",
		"enable_configless,idle_on_node_suspend,node_reg_mem_percent=75,power_save_interval=5,power_save_min_interval=1",
		merged, p);
	put_list(in, b, "LaunchParameters", "enable_nss_slurm", merged, p);
	if (in->version < 2302)
		put_list(in, b, "PrivateData", "cloud", merged, p);
	if (in->version < 2311)
		put_list(in, b, "CommunicationParameters", "NoAddrCache", merged, p);
	/* idle_on_node_suspend would end a drain together with the idle node: that one waits for a person. */
	if (in->version >= 2302)
		put_list(in, b, "SuspendExcStates", "DRAIN", merged, p);
	if (gpus)
		put_list(in, b, "GresTypes", "gpu", merged, p);
	if (!fixed)
		p->nomem = true;
	else if (fixed[0])
		put_list(in, b, "SuspendExcNodes", fixed, merged, p);
	free(fixed);
}

static void put_globals(const struct slurm_render *in, struct buf *b, bool gpus, struct kvs *merged, struct problems *p)
{
	char text[32];

	put_key(in, b, MUST, "ResumeProgram", in->resume_program, p);
	put_key(in, b, MUST, "SuspendProgram", in->suspend_program, p);
	put_key(in, b, MUST, "ResumeFailProgram", in->suspend_program, p);
	buf_str(b, "# Power saving stands at our partitions only: other nodes are never suspended.\n");
	put_key(in, b, MUST, "SuspendTime", "INFINITE", p);
	put_key(in, b, SHOULD, "ResumeRate", "0", p);
	put_key(in, b, SHOULD, "SuspendRate", "0", p);
	put_key(in, b, SHOULD, "ReturnToService", "2", p);
	snprintf(text, sizeof(text), "%d", BATCH_START_TIMEOUT_S);
	put_key(in, b, SHOULD, "BatchStartTimeout", text, p);
	if (in->version < 2311)
		put_key(in, b, SHOULD, "TreeWidth", "65533", p);
	put_select(in, b, gpus, p);
	put_lists(in, b, gpus, merged, p);
}

/* --- nodes and partitions */

static void put_value(struct buf *b, const char *v)
{
	bool quote = v[0] != '"' && v[strcspn(v, " \t")] != 0;

	buf_fmt(b, quote ? "\"%s\"" : "%s", v);
}

/* Slurm cuts a line at # and joins it to the next after a backslash, in quotes too. Quotes may stand around the whole only. */
static bool one_line(const char *s)
{
	size_t n = strlen(s);
	bool quoted = n >= 2 && s[0] == '"' && s[n - 1] == '"';

	for (size_t i = quoted; i < n - quoted; i++) {
		if (iscntrl((unsigned char)s[i]) || strchr("\"#\\", s[i]))
			return false;
	}
	return true;
}

/* Custom pairs after ours. A key of ours again would be an error of slurmctld, so it is one here, with its place. */
static void put_custom(const struct slurm_render *in, struct buf *b, const struct kvs *custom, const char *const *ours,
		       size_t n_ours, const struct place *at, const char *what, struct problems *p)
{
	for (size_t i = 0; i < custom->key.n; i++) {
		const char *key = custom->key.v[i], *val = custom->val.v[i];
		bool bad = !one_line(key) || !one_line(val) || key[strcspn(key, " =#")] != 0;

		for (size_t j = 0; j < n_ours && !bad; j++)
			bad = strcasecmp(key, ours[j]) == 0;
		if (bad) {
			problems_add(p, PROBLEM_ERROR, in->cluster->file, at->line, at->column, NULL,
				     "CustomSlurmSettings of %s: %s is written by slurm-ec2 itself, or does not fit one line (no \\ # or line break, and "
				     "quotes around the whole value only)", what,
				     key);
			continue;
		}
		buf_fmt(b, " %s=", key);
		put_value(b, val);
	}
}

static void put_features(struct buf *b, const struct compute_resource *r, const struct hardware *h, bool is_static)
{
	buf_fmt(b, " Feature=%s", is_static ? "static" : "dynamic");
	if (r->instance_types.n == 1 && r->more_types.n == 0)
		buf_fmt(b, ",%s", r->instance_types.v[0]);
	buf_fmt(b, ",%s", r->name);
	if (r->efa)
		buf_str(b, ",efa");
	if (h->gpu_count > 0)
		buf_str(b, ",gpu");
}

static void put_group(const struct slurm_render *in, struct buf *b, const struct queue *q, const struct compute_resource *r,
		      const struct hardware *h, bool is_static, struct strs *groups, struct problems *p)
{
	static const char *const ours[] = { "NodeName", "NodeAddr", "NodeHostname", "CPUs",   "RealMemory",
					    "State",	"Feature",  "Features",	    "Weight", "Gres" };
	int count = is_static ? r->min_count : r->max_count - r->min_count;
	char *range;

	if (count <= 0)
		return;
	range = range_text(q, r, is_static, count);
	if (!range || strs_add(groups, range)) {
		free(range);
		p->nomem = true;
		return;
	}
	buf_fmt(b, "NodeName=%s CPUs=%d RealMemory=%" PRId64 " State=CLOUD", range, h->cpus, h->real_memory_mib);
	put_features(b, r, h, is_static);
	buf_fmt(b, " Weight=%" PRId64, is_static ? r->static_priority : r->dynamic_priority);
	if (h->gpu_count > 0 && h->gpu_type[0])
		buf_fmt(b, " Gres=gpu:%s:%d", h->gpu_type, h->gpu_count);
	else if (h->gpu_count > 0)
		buf_fmt(b, " Gres=gpu:%d", h->gpu_count);
	put_custom(in, b, &r->custom_slurm, ours, sizeof(ours) / sizeof(ours[0]), &r->at, r->name, p);
	buf_char(b, '\n');
	free(range);
}

static void put_gres(struct buf *b, const char *range, const struct hardware *h)
{
	buf_fmt(b, "NodeName=%s Name=gpu", range);
	if (h->gpu_type[0])
		buf_fmt(b, " Type=%s", h->gpu_type);
	if (h->gpu_count == 1)
		buf_str(b, " File=/dev/nvidia0\n");
	else
		buf_fmt(b, " File=/dev/nvidia[0-%d]\n", h->gpu_count - 1);
}

static bool site_has_default_partition(const struct site *s)
{
	for (size_t i = 0; s && i < s->n_keys; i++) {
		const struct site_key *k = &s->key[i], *d;

		if (!k->first || strcasecmp(k->name, "PartitionName") != 0)
			continue;
		d = site_in_record(s, k, "Default");
		if (d && strcasecmp(d->value, "YES") == 0)
			return true;
	}
	return false;
}

static void put_partition(const struct slurm_render *in, struct buf *b, const struct queue *q, bool is_default,
			  struct problems *p)
{
	static const char *const ours[] = { "PartitionName", "Nodes",	      "State",	       "OverSubscribe",
					    "SuspendTime",   "ResumeTimeout", "SuspendTimeout" };
	const struct cluster *c = in->cluster;
	int64_t idle = c->scaledown_idletime_min < 0 ? NEVER_S : c->scaledown_idletime_min * 60;

	/* Custom pairs come last and Slurm takes each key once, so ours give way to a custom MaxTime or Default. */
	buf_fmt(b, "PartitionName=%s Nodes=%s_nodes", q->name, q->name);
	if (!kvs_get(&q->custom_slurm, "MaxTime"))
		buf_str(b, " MaxTime=INFINITE");
	buf_str(b, " State=UP");
	if (is_default && !kvs_get(&q->custom_slurm, "Default"))
		buf_str(b, " Default=YES");
	if (q->job_exclusive)
		buf_str(b, " OverSubscribe=EXCLUSIVE");
	buf_fmt(b, " SuspendTime=%" PRId64 " ResumeTimeout=%" PRId64 " SuspendTimeout=%" PRId64, idle, c->resume_timeout_s,
		in->suspend_timeout_s);
	put_custom(in, b, &q->custom_slurm, ours, sizeof(ours) / sizeof(ours[0]), &q->at, q->name, p);
	buf_char(b, '\n');
}

static void put_resource(const struct slurm_render *in, struct buf *b, struct buf *gres, const struct queue *q,
			 const struct compute_resource *r, struct strs *groups, struct problems *p)
{
	struct hardware h;
	struct err e;
	size_t first = groups->n;

	if (hardware_resolve(r, in->types, &h, &e)) {
		problems_add(p, PROBLEM_ERROR, in->cluster->file, r->at.line, r->at.column, NULL, "compute resource %s: %s",
			     r->name, e.text);
		return;
	}
	put_group(in, b, q, r, &h, true, groups, p);
	put_group(in, b, q, r, &h, false, groups, p);
	for (size_t i = first; h.gpu_count > 0 && i < groups->n; i++)
		put_gres(gres, groups->v[i], &h);
}

static void put_queue(const struct slurm_render *in, struct buf *b, struct buf *gres, const struct queue *q, bool is_default,
		      struct problems *p)
{
	struct strs groups = { 0 };
	char *nodes;

	buf_char(b, '\n');
	for (size_t i = 0; i < q->n_resources; i++)
		put_resource(in, b, gres, q, &q->resources[i], &groups, p);
	nodes = strs_join(&groups, ",");
	if (!nodes)
		p->nomem = true;
	else
		buf_fmt(b, "NodeSet=%s_nodes Nodes=%s\n", q->name, nodes);
	put_partition(in, b, q, is_default, p);
	free(nodes);
	strs_clear(&groups);
}

/* --- collisions with the site's own names */

static struct nodeset *our_nodes(const struct cluster *c)
{
	struct nodeset *s = nodeset_create();
	char *text = NULL;

	for (size_t i = 0; s && i < c->n_queues; i++) {
		for (size_t j = 0; j < c->queues[i].n_resources; j++) {
			const struct compute_resource *r = &c->queues[i].resources[j];

			for (int st = 0; st < 2; st++) {
				int count = st ? r->min_count : r->max_count - r->min_count;

				if (count <= 0)
					continue;
				text = range_text(&c->queues[i], r, st, count);
				if (!text || nodeset_parse(s, text, NULL))
					goto fail;
				free(text);
			}
		}
	}
	return s;
fail:
	free(text);
	nodeset_destroy(s);
	return NULL;
}

static void check_nodes(const struct slurm_render *in, const struct site_key *k, const struct nodeset *ours, struct problems *p)
{
	struct nodeset *theirs = nodeset_create();

	if (!theirs) {
		p->nomem = true;
		return;
	}
	if (nodeset_parse(theirs, k->value, NULL) == 0) {
		for (size_t i = 0; i < nodeset_count(theirs); i++) {
			if (!nodeset_has(ours, nodeset_get(theirs, i)))
				continue;
			problems_add(p, PROBLEM_ERROR, site_path(in->site, k), k->line, 0, k->name,
				     "node %s is also made from %s: rename the queue there, or this node",
				     nodeset_get(theirs, i), in->cluster->file);
			break;
		}
	}
	nodeset_destroy(theirs);
}

static void check_partition(const struct slurm_render *in, const struct site_key *k, struct problems *p)
{
	bool set = strcasecmp(k->name, "NodeSet") == 0;

	for (size_t i = 0; i < in->cluster->n_queues; i++) {
		const char *name = in->cluster->queues[i].name;
		size_t n = strlen(name);

		if (strncmp(k->value, name, n) == 0 && strcmp(k->value + n, set ? "_nodes" : "") == 0)
			problems_add(p, PROBLEM_ERROR, site_path(in->site, k), k->line, 0, k->name,
				     "%s is also made from queue %s of %s: rename one of the two", k->value, name,
				     in->cluster->file);
	}
}

static void check_collisions(const struct slurm_render *in, struct problems *p)
{
	struct nodeset *ours = our_nodes(in->cluster);

	if (!ours) {
		p->nomem = true;
		return;
	}
	for (size_t i = 0; in->site && i < in->site->n_keys; i++) {
		const struct site_key *k = &in->site->key[i];

		if (!site_opens_record(k) || strcasecmp(k->value, "DEFAULT") == 0)
			continue;
		if (strcasecmp(k->name, "NodeName") == 0)
			check_nodes(in, k, ours, p);
		else if (strcasecmp(k->name, "PartitionName") == 0 || strcasecmp(k->name, "NodeSet") == 0)
			check_partition(in, k, p);
	}
	nodeset_destroy(ours);
}

/* --- the files */

static bool any_gpu(const struct slurm_render *in)
{
	for (size_t i = 0; i < in->cluster->n_queues; i++) {
		for (size_t j = 0; j < in->cluster->queues[i].n_resources; j++) {
			struct hardware h;

			if (hardware_resolve(&in->cluster->queues[i].resources[j], in->types, &h, NULL) == 0 && h.gpu_count > 0)
				return true;
		}
	}
	return false;
}

static bool opens_line(const char *key)
{
	return !strcasecmp(key, "NodeName") || !strcasecmp(key, "PartitionName") || !strcasecmp(key, "NodeSet") ||
	       !strcasecmp(key, "DownNodes");
}

static void put_pair(struct buf *b, bool *first, const char *key, const char *val)
{
	buf_fmt(b, "%s%s=", *first ? "" : " ", key);
	put_value(b, val);
	*first = false;
}

/* CustomSlurmSettings of the cluster: one line an item, with the word that opens a record in front. */
static void put_custom_lines(const struct cluster *c, struct buf *b, struct problems *p)
{
	for (size_t i = 0; i < c->n_custom_slurm; i++) {
		const struct kvs *l = &c->custom_slurm[i];
		bool first = true;

		for (int opening = 1; opening >= 0; opening--) {
			for (size_t j = 0; j < l->key.n; j++) {
				if (opens_line(l->key.v[j]) != (bool)opening)
					continue;
				if (!one_line(l->key.v[j]) || !one_line(l->val.v[j]))
					problems_add(p, PROBLEM_ERROR, c->file, 0, 0,
						     "Scheduling.SlurmSettings.CustomSlurmSettings",
						     "%s: a value must fit one line (no \\ # or line break, and quotes around the whole only)", l->key.v[j]);
				else
					put_pair(b, &first, l->key.v[j], l->val.v[j]);
			}
		}
		if (!first)
			buf_char(b, '\n');
	}
}

static int add_file(struct gen_file **files, size_t *n, const char *path, struct buf *b)
{
	struct gen_file *grown = realloc(*files, (*n + 1) * sizeof(*grown));
	struct gen_file f = { 0 };

	if (!grown)
		return -1;
	*files = grown;
	f.path = str_dup(path);
	f.text = buf_take(b);
	if (!f.path || !f.text) {
		free(f.path);
		free(f.text);
		return -1;
	}
	grown[(*n)++] = f;
	return 0;
}

static const char head_line[] =
	"# Written by slurm-ec2 from cluster.yaml. Do not edit: the next `slurm-ec2 apply` replaces this file.\n";

int slurmfiles_render(const struct slurm_render *in, struct gen_file **files, size_t *n, struct kvs *merged, struct problems *p)
{
	struct buf b = { 0 }, gres = { 0 };
	bool gpus = any_gpu(in), default_taken = site_has_default_partition(in->site);
	size_t errors = problems_count(p, PROBLEM_ERROR);
	int rc = -1;

	buf_str(&b, head_line);
	buf_str(&gres, head_line);
	check_collisions(in, p);
	put_globals(in, &b, gpus, merged, p);
	put_custom_lines(in->cluster, &b, p);
	for (size_t i = 0; i < in->cluster->n_queues; i++)
		put_queue(in, &b, &gres, &in->cluster->queues[i], i == 0 && !default_taken, p);
	if (p->nomem || problems_count(p, PROBLEM_ERROR) > errors)
		goto out;
	if (add_file(files, n, "slurm/" SITE_INCLUDE, &b) || (gpus && add_file(files, n, "slurm/" SITE_GRES_INCLUDE, &gres)))
		p->nomem = true;
	else
		rc = 0;
out:
	buf_free(&b);
	buf_free(&gres);
	return rc;
}

void gen_files_free(struct gen_file *files, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(files[i].path);
		free(files[i].text);
	}
	free(files);
}
