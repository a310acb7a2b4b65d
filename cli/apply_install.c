/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply_install.c - the change itself: generation, Slurm files, slurmctld; undone as a whole if slurmctld does not come back
 * with our nodes.
 */
#include "build_config.h"

#include "cli/apply_job.h"
#include "cli/session.h"
#include "lib/apply/apply.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/proc.h"
#include "lib/base/user.h"
#include "lib/node/name.h"
#include "lib/node/node.h"
#include "lib/node/nodeset.h"
#include "lib/slurmctl/slurmctl.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RESTART_LIMIT_MS 120000
#define ANSWER_LIMIT_MS 90000
#define KNOWN_LIMIT_MS 20000
#define POLL_MS 200

/* --- signals */

void apply_hold_signals(sigset_t *before)
{
	sigset_t hold;

	sigemptyset(&hold);
	sigaddset(&hold, SIGINT);
	sigaddset(&hold, SIGTERM);
	sigaddset(&hold, SIGHUP);
	sigaddset(&hold, SIGQUIT);
	sigaddset(&hold, SIGPIPE);
	sigprocmask(SIG_BLOCK, &hold, before);
}

/* --- files */

static int write_one(const struct apply_file *f, const char *text, struct err *e)
{
	if (!text)
		return unlink(f->path) && errno != ENOENT ? err_errno(e, errno, "%s", f->path) : 0;
	return file_replace_as(f->path, f->mode, f->uid, f->gid, text, strlen(text), e);
}

static char *copy_path(const struct apply_file *f)
{
	return str_fmt("%s.slurm-ec2-old", f->path);
}

/* Files of ours are kept by the generation before; those of the site are not. */
static bool is_ours(const struct apply_file *f)
{
	const char *name = strrchr(f->path, '/') + 1;

	return str_eq(name, SITE_INCLUDE) || str_eq(name, SITE_GRES_INCLUDE);
}

/* The text before, beside the file, for a person. */
static int keep_copy(const struct apply_file *f, struct err *e)
{
	struct apply_file copy = *f;
	int rc;

	if (!f->old_text || is_ours(f))
		return 0;
	copy.path = copy_path(f);
	rc = copy.path ? write_one(&copy, f->old_text, e) : err_nomem(e);
	free(copy.path);
	return rc;
}

void apply_forget_copies(const struct apply_file *f, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *path = copy_path(&f[i]);

		if (path)
			unlink(path);
		free(path);
	}
}

static bool holds(const struct apply_file *f, const char *text)
{
	char *now;
	bool same = apply_read(f->path, &now, NULL) == 0 && str_eq(now, text);

	free(now);
	return same;
}

int apply_install_files(const struct apply_file *f, size_t n, bool back, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		/* Going back, and when files are taken away, slurm.conf must lose its Include before the included file goes. */
		const struct apply_file *one = &f[back ? n - 1 - i : i];

		if (str_eq(one->old_text, one->new_text))
			continue;
		if (back && holds(one, one->old_text))
			continue; /* the write that failed did not reach it */
		if (!back && keep_copy(one, e))
			return -1;
		if (write_one(one, back ? one->old_text : one->new_text, e)) {
			if (!back)
				return -1;
			rc = -1;
		}
	}
	if (back && rc == 0)
		apply_forget_copies(f, n);
	return rc;
}

/* --- slurmctld */

int apply_restart(const struct settings *s, struct err *e)
{
	const char **argv = calloc(s->slurmctld_restart.n + 1, sizeof(*argv));
	struct proc_result r = { 0 };
	struct buf out = { 0 };
	int rc = -1;

	if (!argv)
		return err_nomem(e);
	for (size_t i = 0; i < s->slurmctld_restart.n; i++)
		argv[i] = s->slurmctld_restart.v[i];
	if (!argv[0])
		err_set(e, "SlurmctldRestart in %s is empty", SETTINGS_PATH);
	else if (proc_run(argv, NULL, RESTART_LIMIT_MS, &out, &r, e) == 0) {
		if (r.exit_code == 0)
			rc = 0;
		else
			err_set(e, "SlurmctldRestart (%s ...) failed with status %d%s: %.400s", argv[0], r.exit_code,
				r.timed_out ? " (it took too long)" : "", buf_text(&out));
	}
	buf_free(&out);
	free(argv);
	return rc;
}

int apply_wait_slurm(int64_t limit_ms, struct err *e)
{
	int64_t until = clock_mono_ms() + limit_ms;

	while (slurmctl_ping(e)) {
		if (clock_mono_ms() >= until)
			return -1;
		clock_sleep_ms(POLL_MS);
	}
	return 0;
}

static int add_range(struct nodeset *s, const struct gen_resource *r, bool is_static)
{
	int count = is_static ? r->min_count : r->max_count - r->min_count, rc;
	char *text;

	if (count <= 0)
		return 0;
	text = node_name_range(r->queue, r->name, is_static, count);
	rc = text ? nodeset_parse(s, text, NULL) : -1;
	free(text);
	return rc;
}

/* 0 if slurmctld knows all our nodes. */
static int nodes_known(const struct generation *g, struct err *e)
{
	struct nodeset *ours = nodeset_create(), *theirs = nodeset_create();
	struct nodes l = { 0 };
	int rc = ours && theirs ? slurmctl_nodes(&l, e) : err_nomem(e);

	for (size_t i = 0; rc == 0 && i < g->n_resources; i++)
		rc = add_range(ours, &g->resources[i], true) || add_range(ours, &g->resources[i], false) ? err_nomem(e) : 0;
	for (size_t i = 0; rc == 0 && i < l.n; i++)
		rc = nodeset_add(theirs, l.v[i].name) < 0 ? err_nomem(e) : 0;
	for (size_t i = 0; rc == 0 && i < nodeset_count(ours); i++) {
		if (!nodeset_has(theirs, nodeset_get(ours, i)))
			rc = err_set(e, "slurmctld does not know node %s after the change", nodeset_get(ours, i));
	}
	nodes_clear(&l);
	nodeset_destroy(ours);
	nodeset_destroy(theirs);
	return rc;
}

static int wait_known(const struct generation *g, struct err *e)
{
	int64_t until = clock_mono_ms() + KNOWN_LIMIT_MS;

	while (nodes_known(g, e)) {
		if (clock_mono_ms() >= until)
			return -1;
		clock_sleep_ms(POLL_MS);
	}
	return 0;
}

/* --- the change and its undoing */

static int open_slurm(struct apply_job *j, struct err *e)
{
	if (j->slurm_open)
		return 0;
	if (slurmctl_open(j->slurm_conf, e))
		return -1;
	j->slurm_open = true;
	return 0;
}

/* The Slurm files and, to tell later what was applied, the cluster.yaml with its variables filled in. */
static int store_generation(struct apply_job *j, struct err *e)
{
	struct gen_file *all = calloc(j->n_files + 1, sizeof(*all));
	char path[] = "cluster.yaml";
	int rc = -1;

	if (!all)
		return err_nomem(e);
	if (j->n_files)
		memcpy(all, j->files, j->n_files * sizeof(*all));
	all[j->n_files] = (struct gen_file){ .path = path, .text = j->cluster->text };
	if (user_become(j->gen->slurm_user, e) == 0) {
		rc = generation_store(APPLIED_DIR, j->gen, all, j->n_files + 1, e);
		user_restore();
	}
	free(all);
	j->stored = rc == 0;
	return rc;
}

static int activate(struct apply_job *j, struct err *e)
{
	if (!j->changed && j->slurm_up) {
		if (nodes_known(j->gen, e) == 0)
			return 0;
		j->restart = j->changed = true; /* the files are of an apply that was killed before its restart */
	}
	if (apply_install_files(j->install, j->n_install, false, e))
		return -1;
	if (open_slurm(j, e))
		return -1;
	if (j->restart ? apply_restart(j->set, e) : slurmctl_reconfigure(e))
		return -1;
	if (apply_wait_slurm(ANSWER_LIMIT_MS, e))
		return err_prefix(e, "after the %s", j->restart ? "restart" : "reconfiguration");
	return wait_known(j->gen, e);
}

static void put_back(struct apply_job *j, struct err *e)
{
	struct err more = { 0 };
	const char *end = "the old files are back and slurmctld runs with them";

	if (user_become(j->gen->slurm_user, &more) == 0) {
		j->stored = generation_revert(APPLIED_DIR, j->old ? j->old->number : 0, &more) != 0;
		user_restore();
	}
	if (apply_install_files(j->install, j->n_install, true, &more))
		end = "the old files could not all be brought back (copies end in .slurm-ec2-old)";
	else if (apply_restart(j->set, &more) || (j->slurm_up && apply_wait_slurm(ANSWER_LIMIT_MS, &more)))
		end = j->slurm_up ? "the old files are back, but slurmctld does not run" :
				    "the old files are back and slurmctld is down, as it was";
	else if (!j->slurm_up)
		end = "the old files are back, and slurmctld was restarted with them";
	if (j->stored)
		end = "the old generation could not be brought back";
	err_prefix(e, "%s%s%s%s; what went wrong before", end, more.text[0] ? " (" : "", more.text, more.text[0] ? ")" : "");
}

/* --- or nothing to do */

static bool stored_is(const char *path, const char *text)
{
	char *full = file_join(APPLIED_DIR "/current", path), *now = NULL;
	bool same = full && apply_read(full, &now, NULL) == 0 && str_eq(now, text);

	free(full);
	free(now);
	return same;
}

static bool same_files(const struct apply_job *j)
{
	for (size_t i = 0; i < j->n_files; i++) {
		if (!stored_is(j->files[i].path, j->files[i].text))
			return false;
	}
	return stored_is("cluster.yaml", j->cluster->text);
}

/* Does the generation differ from the applied one in its number only? */
static bool same_generation(struct apply_job *j)
{
	int64_t number = j->gen->number;
	char *was, *now;
	bool same;

	j->gen->number = j->old->number;
	was = generation_to_json(j->old);
	now = generation_to_json(j->gen);
	j->gen->number = number;
	same = was && now && strcmp(was, now) == 0;
	free(was);
	free(now);
	return same;
}

static bool nothing_new(struct apply_job *j)
{
	struct err e;
	bool same;

	if (!j->old || j->changed || !j->slurm_up || !same_generation(j) || user_become(j->gen->slurm_user, &e))
		return false;
	same = same_files(j);
	user_restore();
	return same && nodes_known(j->gen, &e) == 0;
}

int apply_step_install(struct apply_job *j, struct buf *note, struct err *e)
{
	if (nothing_new(j)) {
		buf_fmt(note, "nothing to change, generation %" PRId64 " stays", j->old->number);
		return 0;
	}
	j->tried = true;
	if (store_generation(j, e))
		return -1;
	if (activate(j, e)) {
		put_back(j, e);
		return -1;
	}
	apply_poke();
	buf_str(note, !j->changed && j->slurm_up ? "slurmctld needed no change"
		      : j->restart		 ? "slurmctld restarted and knows the nodes"
						 : "slurmctld reconfigured");
	return 0;
}
