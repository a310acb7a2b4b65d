/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply_files.c - apply's Slurm files: rendered, merged into the site's, compared with what is installed; and which nodes would
 * go, and which jobs a restart would hurt.
 *
 * Writes nothing.
 */
#include "build_config.h"

#include "cli/apply_job.h"
#include "cli/session.h"
#include "conf/hardware.h"
#include "conf/slurm_conf.h"
#include "conf/slurm_files.h"
#include "lib/apply/wish.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/user.h"
#include "lib/node/name.h"
#include "lib/node/node.h"
#include "lib/node/nodeset.h"
#include "lib/slurmctl/slurmctl.h"
#include "lib/state/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define N_INSTALL 4 /* slurm-ec2.conf, slurm-ec2-gres.conf, gres.conf, slurm.conf: included files first */
#define FORGETS_BELOW 2311 /* slurmctld does not save the addresses of a job's cloud nodes */
#define JOBS_SHOWN 10

/* --- what goes where */

static int prepare(struct apply_job *j, size_t at, const char *name, struct err *e)
{
	struct apply_file *f = &j->install[at];
	struct stat st;

	f->path = strchr(name, '/') ? str_dup(name) : apply_beside(j->slurm_conf, name);
	f->mode = 0644;
	if (!f->path)
		return err_nomem(e);
	if (stat(f->path, &st) == 0) {
		f->mode = st.st_mode & 07777;
		f->uid = st.st_uid;
		f->gid = st.st_gid;
	} else if (errno != ENOENT) {
		return err_errno(e, errno, "%s", f->path);
	}
	return apply_read(f->path, &f->old_text, e);
}

static const char *rendered(const struct apply_job *j, const char *name)
{
	for (size_t i = 0; i < j->n_files; i++) {
		if (str_eq(strrchr(j->files[i].path, '/') + 1, name))
			return j->files[i].text;
	}
	return NULL;
}

/* gres.conf is touched only if we have GPUs, or had. */
static int new_gres(struct apply_job *j, struct apply_file *f, bool gpus, struct err *e)
{
	size_t errors = problems_count(&j->problems, PROBLEM_ERROR);

	if (!gpus && !f->old_text)
		return 0;
	if (f->old_text)
		slurmconf_check_marks(f->path, f->old_text, &j->problems);
	if (problems_count(&j->problems, PROBLEM_ERROR) > errors)
		return err_set(e, "%s cannot take our lines", f->path);
	f->new_text = gpus ? gres_conf_merge(f->old_text) : slurmconf_unmerge(f->old_text);
	if (!f->new_text)
		return err_nomem(e);
	if (!f->new_text[0] && !gpus && f->old_text[0]) {
		free(f->new_text);
		f->new_text = NULL;
	}
	return 0;
}

static int plan_install(struct apply_job *j, const struct kvs *merged, struct err *e)
{
	bool gpus = rendered(j, SITE_GRES_INCLUDE) != NULL;
	struct apply_file *f = j->install = calloc(N_INSTALL, sizeof(*j->install));

	if (!f)
		return err_nomem(e);
	j->n_install = N_INSTALL;
	if (prepare(j, 0, SITE_INCLUDE, e) || prepare(j, 1, SITE_GRES_INCLUDE, e) || prepare(j, 2, "gres.conf", e) ||
	    prepare(j, 3, j->slurm_conf, e))
		return -1;
	f[0].new_text = str_dup(rendered(j, SITE_INCLUDE));
	f[1].new_text = str_dup(rendered(j, SITE_GRES_INCLUDE));
	if (!f[0].new_text || (gpus && !f[1].new_text))
		return err_nomem(e);
	if (new_gres(j, &f[2], gpus, e))
		return -1;
	f[3].new_text = slurmconf_merge(&j->site, merged, &j->problems);
	if (!f[3].new_text)
		return err_set(e, "%s cannot take our lines", j->slurm_conf);
	return 0;
}

/* --- restart or reconfigure */

/* Keys at the start of a line that `scontrol reconfigure` takes in. All else asks for a restart. */
static bool line_is_soft(const char *line)
{
	static const char *const soft[] = { "PartitionName=", "SuspendExcNodes=", "SuspendTime=",	"ResumeRate=",
					    "SuspendRate=",   "ReturnToService=", "BatchStartTimeout=", "#" };

	for (size_t i = 0; i < sizeof(soft) / sizeof(soft[0]); i++) {
		if (str_prefix(line, soft[i]))
			return true;
	}
	return line[0] == '\n' || !line[0];
}

static const char *next_line(const char *s)
{
	const char *end = strchr(s, '\n');

	return end ? end + 1 : s + strlen(s);
}

static const char *skip_soft(const char *s)
{
	while (*s && line_is_soft(s))
		s = next_line(s);
	return s;
}

static bool same_hard_lines(const char *a, const char *b)
{
	for (;;) {
		size_t n;

		a = skip_soft(a);
		b = skip_soft(b);
		if (!*a || !*b)
			return !*a && !*b;
		n = strcspn(a, "\n");
		if (n != strcspn(b, "\n") || strncmp(a, b, n) != 0)
			return false;
		a = next_line(a);
		b = next_line(b);
	}
}

static void judge_change(struct apply_job *j)
{
	for (size_t i = 0; i < j->n_install; i++) {
		const struct apply_file *f = &j->install[i];

		if (str_eq(f->old_text, f->new_text))
			continue;
		j->changed = true;
		if (i != 0 || !f->old_text || !same_hard_lines(f->old_text, f->new_text))
			j->restart = true;
	}
	if (!j->slurm_up)
		j->restart = true;
}

static void fill_hardware(struct apply_job *j)
{
	for (size_t i = 0; i < j->cluster->n_queues; i++) {
		for (size_t k = 0; k < j->cluster->queues[i].n_resources; k++) {
			struct gen_resource *g = apply_resource(j, i, k);
			struct hardware h;

			if (hardware_resolve(&j->cluster->queues[i].resources[k], &j->types, &h, NULL))
				continue;
			g->cpus = h.cpus;
			g->real_memory_mib = h.real_memory_mib;
		}
	}
}

int apply_step_render(struct apply_job *j, struct buf *note, struct err *e)
{
	struct slurm_render in = {
		.cluster = j->cluster,
		.types = &j->types,
		.site = &j->site,
		.version = j->version,
		.resume_program = RESUME_PROGRAM,
		.suspend_program = SUSPEND_PROGRAM,
		.suspend_timeout_s = j->set->suspend_timeout_s,
	};
	struct kvs merged = { 0 };
	int rc = -1;

	if (slurmfiles_render(&in, &j->files, &j->n_files, &merged, &j->problems)) {
		err_set(e, "%s and %s do not go together", j->file, j->slurm_conf);
		goto out;
	}
	rc = plan_install(j, &merged, e);
	if (rc)
		goto out;
	fill_hardware(j);
	judge_change(j);
	for (size_t i = 0; i < merged.key.n && rc == 0; i++)
		rc = kvs_add(&j->gen->slurm_merged, merged.key.v[i], merged.val.v[i]) ? err_nomem(e) : 0;
	buf_str(note, !j->changed  ? "no change"
		      : j->restart ? "changed; slurmctld will be restarted"
				   : "changed; slurmctld will reconfigure");
out:
	kvs_clear(&merged);
	return rc;
}

void apply_files_show(const struct apply_job *j)
{
	for (size_t i = 0; i < j->n_install; i++) {
		const struct apply_file *f = &j->install[i];

		if (!str_eq(f->old_text, f->new_text))
			printf("  %-7s %s\n", !f->new_text ? "remove" : f->old_text ? "change" : "create", f->path);
	}
	if (!j->changed && j->slurm_up)
		puts("  nothing in Slurm's folder");
	else
		printf("  %s slurmctld\n", j->restart ? "restart" : "reconfigure");
}

/* --- nodes that would go while they are in use */

static bool goes(const struct apply_job *j, const char *node)
{
	struct node_name n;

	return node_name_resolve(j->old, node, &n) == 0 && node_name_resolve(j->gen, node, &n) != 0;
}

static bool at_rest(const struct node *n)
{
	return node_state_is(n->state, 1u << NS_IDLE | 1u << NS_DOWN | 1u << NS_UNKNOWN, NS_POWERED_DOWN,
			     NS_POWERING_UP | NS_COMPLETING);
}

static int in_use_slurm(const struct apply_job *j, struct nodeset *out, struct err *e)
{
	struct nodes l = { 0 };
	int rc = slurmctl_nodes(&l, e);

	for (size_t i = 0; rc == 0 && i < l.n; i++) {
		if (goes(j, l.v[i].name) && !at_rest(&l.v[i]) && nodeset_add(out, l.v[i].name) < 0)
			rc = err_nomem(e);
	}
	nodes_clear(&l);
	return rc;
}

/* As SlurmUser, whose folder it is. Without a state file nothing is known to be bound, which is no error. */
static int read_bindings(const struct apply_job *j, struct bindings *l, struct err *e)
{
	struct store *s;
	int rc;

	if (user_become(j->gen->slurm_user, e))
		return -1;
	s = store_open_readonly(STORE_PATH, NULL);
	rc = s ? store_bindings(s, l, e) : 0;
	store_close(s);
	user_restore();
	return rc;
}

static int in_use_bindings(const struct apply_job *j, struct nodeset *out, struct err *e)
{
	struct bindings l = { 0 };
	int rc = read_bindings(j, &l, e);

	for (size_t i = 0; rc == 0 && i < l.n; i++) {
		if (l.v[i].state != BINDING_FREE && goes(j, l.v[i].node) && nodeset_add(out, l.v[i].node) < 0)
			rc = err_nomem(e);
	}
	bindings_clear(&l);
	return rc;
}

static int by_number(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* "queue1-dy-r-[2,7-10]"; caller frees, NULL on no memory. */
static char *sorted_text(const struct nodeset *s)
{
	size_t n = nodeset_count(s);
	const char **names = calloc(n + 1, sizeof(*names));
	char *text;

	if (!names)
		return NULL;
	for (size_t i = 0; i < n; i++)
		names[i] = nodeset_get(s, i);
	qsort(names, n, sizeof(*names), by_number);
	text = nodeset_text_of(names, n);
	free(names);
	return text;
}

static bool any_static(const struct apply_job *j, const struct nodeset *used)
{
	struct node_name n;

	for (size_t i = 0; i < nodeset_count(used); i++) {
		if (node_name_resolve(j->old, nodeset_get(used, i), &n) == 0 && n.is_static)
			return true;
	}
	return false;
}

static void refuse_shrink(struct apply_job *j, const struct nodeset *used)
{
	bool one = nodeset_count(used) == 1, fixed = any_static(j, used);
	char *text = sorted_text(used);

	if (!text) {
		j->problems.nomem = true;
		return;
	}
	APPLY_PROBLEM(
		j,
		"%zu node%s would vanish while in use: %s. Keep %s count%s in %s, or free %s first (%sscontrol update nodename=%s "
		"state=power_down_asap reason=shrink) and apply when sinfo shows %s as idle~%s",
		nodeset_count(used), one ? "" : "s", text, one ? "its" : "their", one ? "" : "s", j->file, one ? "it" : "them",
		fixed ? "systemctl stop slurm-ec2-clustermgtd, which would start static nodes again; then " : "", text,
		one ? "it" : "them", fixed ? "; then start slurm-ec2-clustermgtd again" : "");
	free(text);
}

/* No reason to refuse: apply is a person's own wish. */
static int warn_if_still(struct apply_job *j, struct err *e)
{
	struct wish wish = { .frozen_until_ms = 0 };
	struct err unread = { 0 };
	struct store *s;
	char clock[CLOCK_MINUTE];

	if (user_become(j->gen->slurm_user, e))
		return -1;
	s = store_open_readonly(STORE_PATH, NULL);
	if (s && wish_read(s, clock_wall_ms(), &wish, &unread))
		APPLY_WARN(j, "is the fleet stopped, or frozen? %s", unread.text);
	store_close(s);
	user_restore();
	wish_clock(wish.frozen_until_ms, clock);
	if (wish.frozen_until_ms)
		APPLY_WARN(j, "everything is frozen until %s (slurm-ec2 freeze): apply works all the same, nodes follow after it", clock);
	if (!fleet_serves(wish.fleet.status))
		APPLY_WARN(j, "the fleet is stopped, and stays so until slurm-ec2 fleet start");
	return 0;
}

int apply_step_shrink(struct apply_job *j, struct buf *note, struct err *e)
{
	struct nodeset *used;
	int rc = -1;

	if (!j->old) {
		buf_str(note, "there were none");
		return 0;
	}
	used = nodeset_create();
	if (!used)
		return err_nomem(e);
	if (generation_index(j->gen)) {
		err_nomem(e);
		goto out;
	}
	if ((j->slurm_up && in_use_slurm(j, used, e)) || in_use_bindings(j, used, e) || warn_if_still(j, e))
		goto out;
	if (nodeset_count(used))
		refuse_shrink(j, used);
	buf_str(note, nodeset_count(used) ? "some are in use" : "none is in use");
	rc = 0;
out:
	nodeset_destroy(used);
	return rc;
}

/* --- jobs that a restart of slurmctld hurts */

static bool has_our_node(const struct generation *g, const char *hostlist)
{
	struct nodeset *s = nodeset_create();
	struct node_name n;
	bool found = false;

	if (s && nodeset_parse(s, hostlist, NULL) == 0) {
		for (size_t i = 0; i < nodeset_count(s) && !found; i++)
			found = node_name_resolve(g, nodeset_get(s, i), &n) == 0;
	}
	nodeset_destroy(s);
	return found;
}

static void warn_outside(struct apply_job *j, const struct kvs *jobs, struct buf *note)
{
	struct buf ids = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < jobs->key.n; i++) {
		if (has_our_node(j->old, jobs->val.v[i]) && n++ < JOBS_SHOWN)
			buf_fmt(&ids, "%s%s", ids.n ? ", " : "", jobs->key.v[i]);
	}
	if (n)
		APPLY_WARN(j,
			   "%zu job%s of salloc or srun with several nodes (%s%s): slurmctld will be restarted, and then a new srun in "
			   "such a job does not find its nodes; those of sbatch do",
			   n, n == 1 ? "" : "s", buf_text(&ids), n > JOBS_SHOWN ? ", ..." : "");
	buf_str(note, n ? "some are hurt by the restart" : "none is hurt by the restart");
	buf_free(&ids);
}

int apply_step_jobs(struct apply_job *j, struct buf *note, struct err *e)
{
	struct kvs jobs = { 0 };
	int rc;

	if (!j->old || !j->slurm_up || !j->changed || !j->restart || j->version >= FORGETS_BELOW) {
		buf_str(note, "none is hurt");
		return 0;
	}
	rc = slurmctl_outside_jobs(&jobs, e);
	if (rc == 0)
		warn_outside(j, &jobs, note);
	kvs_clear(&jobs);
	return rc;
}
