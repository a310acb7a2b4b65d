/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_uninstall.c - `slurm-ec2 uninstall`: take the cluster back out of Slurm and of EC2.
 *
 * Lists first what carries this cluster's UUID, then removes: our lines from Slurm's files (so that nothing new is launched),
 * machines if asked to, templates, placement groups, the applied generation. Never touches a thing without the UUID; refuses
 * while machines live.
 */
#include "build_config.h"

#include "cli/apply_job.h"
#include "cli/command.h"
#include "cli/session.h"
#include "conf/slurm_conf.h"
#include "lib/apply/apply.h"
#include "lib/aws/aws.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/problem.h"
#include "lib/base/user.h"
#include "lib/node/name.h"
#include "lib/node/nodeset.h"
#include "lib/slurmctl/slurmctl.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_LIMIT_MS 20000 /* for the first answer of EC2: a person waits */
#define GONE_LIMIT_MS 300000
#define POLL_MS 2000
#define ANSWER_LIMIT_MS 90000
#define N_FILES 4

/* What the cluster has in one cloud. */
struct removal_cloud {
	struct aws *aws;
	struct ec2_call *machines, *templates, *placements;
	struct strs alive; /* instance ids */
};

struct removal {
	bool yes, terminate, purge;
	struct settings *set;
	struct generation *gen;
	struct removal_cloud *clouds; /* the cluster's own, then those of gen->clouds */
	size_t n_clouds;
	struct apply_file file[N_FILES];
	char *slurm_conf, *slurm_user;
	int lock_fd;
	bool site_nodes; /* slurm.conf has nodes of its own, so slurmctld can go on */
	bool files_differ;
	bool slurm_open;
	struct kvs jobs; /* that run on our nodes: id -> nodes */
};

/* --- looking */

static int ask_until(struct removal_cloud *r, struct ec2_call **to, struct ec2_call *c, int64_t deadline, struct err *e)
{
	*to = c;
	return c ? ec2_perform_one(r->aws, c, deadline, e) : err_nomem(e);
}

static int ask(struct removal_cloud *r, struct ec2_call **to, struct ec2_call *c, struct err *e)
{
	return ask_until(r, to, c, apply_deadline(), e);
}

static int list_alive(struct removal_cloud *r, struct err *e)
{
	const struct instances *l = ec2_describe_reply(r->machines);

	strs_clear(&r->alive);
	for (size_t i = 0; l && i < l->n; i++) {
		if (instance_alive(l->v[i].state) && strs_add(&r->alive, l->v[i].id))
			return err_nomem(e);
	}
	return 0;
}

static int look_cloud(struct removal *u, struct removal_cloud *r, struct err *e)
{
	if (!r->aws ||
	    ask_until(r, &r->machines, ec2_describe_cluster(u->gen->uuid), clock_mono_ms() + FIRST_LIMIT_MS, e) ||
	    ask(r, &r->templates, ec2_describe_templates(u->gen->uuid), e) ||
	    ask(r, &r->placements, ec2_describe_placement_groups(u->gen->uuid), e))
		return -1;
	return list_alive(r, e);
}

static int look_ec2(struct removal *u, struct err *e)
{
	u->clouds = calloc(1 + u->gen->n_clouds, sizeof(*u->clouds));
	if (!u->clouds)
		return err_nomem(e);
	u->n_clouds = 1 + u->gen->n_clouds;
	for (size_t i = 0; i < u->n_clouds; i++) {
		u->clouds[i].aws = i ? world_cloud_aws(u->set, &u->gen->clouds[i - 1], true, e)
				     : world_aws(u->set, u->gen->region, true, e);
		printf("asking EC2 in %s what this cluster has there\n", i ? u->gen->clouds[i - 1].region : u->gen->region);
		fflush(stdout);
		if (look_cloud(u, &u->clouds[i], e))
			return i ? err_prefix(e, "region %s", u->gen->clouds[i - 1].region) : -1;
	}
	return 0;
}

static size_t count_alive(const struct removal *u)
{
	size_t n = 0;

	for (size_t i = 0; i < u->n_clouds; i++)
		n += u->clouds[i].alive.n;
	return n;
}

/* What stands between marks that are not whole may be the site's. */
static int marks_whole(const struct apply_file *f, struct err *e)
{
	struct problems p = { 0 };
	int rc = 0;

	slurmconf_check_marks(f->path, f->old_text, &p);
	problems_print(&p, stderr);
	if (p.n || p.nomem)
		rc = err_set(e, "nothing was removed: our lines cannot be told from yours in %s", f->path);
	problems_clear(&p);
	return rc;
}

/* File `name` beside slurm.conf (or slurm.conf itself): its text now, and without ours. */
static int look_file(struct apply_file *f, const char *slurm_conf, const char *name, bool whole, struct err *e)
{
	struct stat st;

	f->path = name ? apply_beside(slurm_conf, name) : str_dup(slurm_conf);
	if (!f->path)
		return err_nomem(e);
	if (apply_read(f->path, &f->old_text, e))
		return -1;
	if (!f->old_text)
		return 0;
	if (stat(f->path, &st))
		return err_errno(e, errno, "%s", f->path);
	f->mode = st.st_mode & 07777;
	f->uid = st.st_uid;
	f->gid = st.st_gid;
	if (whole)
		return 0;
	if (marks_whole(f, e))
		return -1;
	f->new_text = slurmconf_unmerge(f->old_text);
	if (!f->new_text)
		return err_nomem(e);
	if (!f->new_text[0]) {
		free(f->new_text); /* it was ours alone */
		f->new_text = NULL;
	}
	return 0;
}

/* In the order of removal: slurm.conf loses its Include first. */
static int look_slurm(struct removal *u, struct err *e)
{
	const struct site_key *user;
	struct site site = { 0 };

	u->slurm_conf = realpath(u->set->slurm_conf, NULL);
	if (!u->slurm_conf)
		return err_errno(e, errno, "%s", u->set->slurm_conf);
	if (look_file(&u->file[0], u->slurm_conf, NULL, false, e) ||
	    look_file(&u->file[1], u->slurm_conf, "gres.conf", false, e) ||
	    look_file(&u->file[2], u->slurm_conf, SITE_INCLUDE, true, e) ||
	    look_file(&u->file[3], u->slurm_conf, SITE_GRES_INCLUDE, true, e) || site_load(&site, u->slurm_conf, e))
		return -1;
	u->site_nodes = site_has_nodes(&site);
	user = site_find(&site, "SlurmUser");
	u->slurm_user = str_dup(user ? user->value : "root");
	site_clear(&site);
	if (!u->slurm_user)
		return err_nomem(e);
	for (size_t i = 0; i < N_FILES; i++)
		u->files_differ = u->files_differ || !str_eq(u->file[i].old_text, u->file[i].new_text);
	return 0;
}

/* Only SlurmUser's rights count in the folder that is his. */
static int look_applied(struct removal *u, struct err *e)
{
	if (user_become(u->slurm_user, e))
		return -1;
	u->gen = generation_load(APPLIED_DIR, e);
	user_restore();
	if (!u->gen)
		return -1;
	u->lock_fd = apply_lock(u->slurm_user, e);
	return u->lock_fd < 0 ? -1 : 0;
}

static bool has_our_node(const struct removal *u, const char *hostlist)
{
	struct nodeset *s = nodeset_create();
	struct node_name n;
	bool found = false;

	if (s && nodeset_parse(s, hostlist, NULL) == 0) {
		for (size_t i = 0; i < nodeset_count(s) && !found; i++)
			found = node_name_resolve(u->gen, nodeset_get(s, i), &n) == 0;
	}
	nodeset_destroy(s);
	return found;
}

static int open_slurm(struct removal *u, struct err *e)
{
	if (u->slurm_open)
		return 0;
	if (session_slurm_open("slurm-ec2 uninstall", u->slurm_conf, e))
		return -1;
	u->slurm_open = true;
	return 0;
}

/* Without slurmctld there is nobody to ask, which is no reason to refuse. */
static int look_jobs(struct removal *u, struct err *e)
{
	struct kvs all = { 0 };
	int rc = 0;

	if (count_alive(u) == 0 || open_slurm(u, e) || slurmctl_ping(e) || slurmctl_running_jobs(&all, e))
		goto out;
	for (size_t i = 0; i < all.key.n && rc == 0; i++) {
		if (has_our_node(u, all.val.v[i]))
			rc = kvs_add(&u->jobs, all.key.v[i], all.val.v[i]) ? err_nomem(e) : 0;
	}
out:
	kvs_clear(&all);
	return rc;
}

static void show_made(const struct removal_cloud *r)
{
	const struct ec2_template_refs *t = ec2_template_reply(r->templates);
	const struct ec2_placements *p = ec2_placement_groups_reply(r->placements);

	for (size_t i = 0; t && i < t->n; i++)
		printf("  launch template %s (%s)\n", t->v[i].name, t->v[i].id);
	for (size_t i = 0; p && i < p->n; i++)
		printf("  placement group %s\n", p->v[i].name);
}

static void show(const struct removal *u)
{
	printf("cluster %s (%s)\n", u->gen->cluster_name, u->gen->uuid);
	for (size_t i = 0; i < N_FILES; i++) {
		if (!str_eq(u->file[i].old_text, u->file[i].new_text))
			printf("  %s %s\n", u->file[i].new_text ? "take our lines out of" : "remove", u->file[i].path);
	}
	for (size_t i = 0; i < u->n_clouds; i++) {
		for (size_t k = 0; k < u->clouds[i].alive.n; k++)
			printf("  machine %s\n", u->clouds[i].alive.v[k]);
	}
	for (size_t i = 0; i < u->jobs.key.n; i++)
		printf("  job %s on %s ends with its machines\n", u->jobs.key.v[i], u->jobs.val.v[i]);
	for (size_t i = 0; i < u->n_clouds; i++)
		show_made(&u->clouds[i]);
	printf("  %s\n",
	       u->purge ? "state in " PKGSTATEDIR : "the applied generation (" PKGSTATEDIR " stays, --purge removes it)");
}

/* --- doing */

static int restart(struct removal *u, struct err *e)
{
	if (open_slurm(u, e))
		return -1;
	return apply_restart(u->set, e) || apply_wait_slurm(ANSWER_LIMIT_MS, e) ? -1 : 0;
}

/* A line of the site that still names our nodes keeps slurmctld from starting: then it gets its files back. */
static int come_back(struct removal *u, struct err *e)
{
	struct err more = { 0 };

	if (apply_install_files(u->file, N_FILES, true, &more))
		return err_prefix(e, "%s; some files still lack our lines (copies end in .slurm-ec2-old); before that", more.text);
	if (u->site_nodes && restart(u, &more))
		return err_prefix(e, "our lines are back in Slurm's files, but slurmctld does not run (%s); before that", more.text);
	return err_prefix(e, "nothing was removed, our lines are back in Slurm's files; slurmctld without them");
}

static int change_slurm(struct removal *u, struct err *e)
{
	if (apply_install_files(u->file, N_FILES, false, e))
		return come_back(u, e);
	if (u->site_nodes)
		return restart(u, e) ? come_back(u, e) : 0;
	puts("slurmctld keeps running as it is: slurm.conf has no node of its own left, so it would not start again. Give slurm.conf\n"
	     "a NodeName and a PartitionName line and restart slurmctld, or stop it, or apply a cluster.yaml again.");
	return 0;
}

/* Files and slurmctld change together: a second run would not find out that they did not. */
static int leave_slurm(struct removal *u, struct err *e)
{
	sigset_t before;
	int rc;

	if (!u->files_differ)
		return 0;
	apply_hold_signals(&before);
	rc = change_slurm(u, e);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* A placement group cannot go before its machines have ended. */
static int end_machines(struct removal *u, struct removal_cloud *r, struct err *e)
{
	int64_t until = clock_mono_ms() + GONE_LIMIT_MS;

	if (r->alive.n == 0)
		return 0;
	if (ec2_terminate_all(r->aws, (const char *const *)r->alive.v, r->alive.n, apply_deadline(), e))
		return -1;
	for (;;) {
		const struct instances *l;
		size_t going = 0;

		ec2_call_destroy(r->machines);
		if (ask(r, &r->machines, ec2_describe_cluster(u->gen->uuid), e))
			return -1;
		l = ec2_describe_reply(r->machines);
		for (size_t i = 0; l && i < l->n; i++)
			going += l->v[i].state != INSTANCE_TERMINATED;
		if (!going)
			return 0;
		if (clock_mono_ms() >= until)
			return err_set(e, "%zu machine%s not ended after %d s", going, going == 1 ? " has" : "s have",
				       GONE_LIMIT_MS / 1000);
		clock_sleep_ms(POLL_MS);
	}
}

static int remove_one(struct removal_cloud *r, struct ec2_call *c, struct err *e)
{
	int rc = c ? ec2_perform_one(r->aws, c, apply_deadline(), e) : err_nomem(e);

	ec2_call_destroy(c);
	return rc;
}

static int remove_made(struct removal_cloud *r, struct err *e)
{
	const struct ec2_template_refs *t = ec2_template_reply(r->templates);
	const struct ec2_placements *p = ec2_placement_groups_reply(r->placements);

	for (size_t i = 0; t && i < t->n; i++) {
		if (remove_one(r, ec2_delete_template(t->v[i].id), e))
			return -1;
	}
	for (size_t i = 0; p && i < p->n; i++) {
		if (str_eq(p->v[i].state, "available") && remove_one(r, ec2_delete_placement_group(p->v[i].name), e))
			return -1;
	}
	return 0;
}

static int leave_ec2(struct removal *u, struct err *e)
{
	for (size_t i = 0; i < u->n_clouds; i++) {
		if (end_machines(u, &u->clouds[i], e) || remove_made(&u->clouds[i], e))
			return -1;
	}
	return 0;
}

static int forget(struct removal *u, struct err *e)
{
	int rc;

	if (u->purge)
		return file_remove_tree(PKGSTATEDIR, e);
	if (user_become(u->slurm_user, e))
		return -1;
	rc = generation_revert(APPLIED_DIR, 0, e);
	user_restore();
	return rc;
}

/* It would start machines again while we end them. */
static int daemon_is_down(const struct removal *u, struct err *e)
{
	pid_t pid;

	if (user_become(u->slurm_user, e))
		return -1;
	pid = lock_holder(CLUSTERMGTD_LOCK);
	user_restore();
	if (pid == 0)
		return 0;
	return err_set(e, "clustermgtd runs (process %ld); stop it first: systemctl stop slurm-ec2-clustermgtd", (long)pid);
}

static int may_go_on(const struct removal *u, struct err *e)
{
	size_t n = count_alive(u);

	if (daemon_is_down(u, e))
		return -1;
	if (n && !u->terminate)
		return err_set(e, "%zu machine%s: drain the queues and wait until %s ended, or give --terminate", n,
			       n == 1 ? " lives" : "s live", n == 1 ? "it has" : "they have");
	if (!u->yes && !session_confirm("Remove all this?"))
		return err_set(e, "not confirmed (give --yes where nobody can answer)");
	return 0;
}

static int uninstall(struct removal *u, struct err *e)
{
	u->set = session_settings(e);
	if (!u->set || look_slurm(u, e) || look_applied(u, e) || look_ec2(u, e) || look_jobs(u, e))
		return -1;
	show(u);
	fflush(stdout);
	if (may_go_on(u, e))
		return err_prefix(e, "nothing was removed");
	if (leave_slurm(u, e) || leave_ec2(u, e) || forget(u, e))
		return -1;
	apply_forget_copies(u->file, N_FILES);
	puts("removed");
	return 0;
}

static void removal_clear(struct removal *u)
{
	for (size_t i = 0; i < N_FILES; i++) {
		free(u->file[i].path);
		free(u->file[i].old_text);
		free(u->file[i].new_text);
	}
	for (size_t i = 0; i < u->n_clouds; i++) {
		ec2_call_destroy(u->clouds[i].machines);
		ec2_call_destroy(u->clouds[i].templates);
		ec2_call_destroy(u->clouds[i].placements);
		strs_clear(&u->clouds[i].alive);
		aws_destroy(u->clouds[i].aws);
	}
	free(u->clouds);
	kvs_clear(&u->jobs);
	if (u->slurm_open)
		slurmctl_close();
	generation_destroy(u->gen);
	settings_destroy(u->set);
	free(u->slurm_conf);
	free(u->slurm_user);
	if (u->lock_fd >= 0)
		close(u->lock_fd);
}

static int run(int argc, char **argv)
{
	static const struct option options[] = { { "yes", no_argument, NULL, 'y' },
						 { "terminate", no_argument, NULL, 't' },
						 { "purge", no_argument, NULL, 'p' },
						 { NULL, 0, NULL, 0 } };
	struct removal u = { .lock_fd = -1 };
	struct err e = { 0 };
	int c, status = EXIT_OK;

	while ((c = command_option(&cmd_uninstall, argc, argv, ":y", options)) != -1) {
		if (c == 'y')
			u.yes = true;
		else if (c == 't')
			u.terminate = true;
		else if (c == 'p')
			u.purge = true;
		else
			return EXIT_USAGE;
	}
	if (argc != optind)
		return command_usage_error(&cmd_uninstall, "\"%s\": no argument is expected", argv[optind]);
	if (geteuid() != 0) {
		fputs("slurm-ec2 uninstall: it writes into Slurm's folder and restarts slurmctld, so root must run it\n",
		      stderr);
		return EXIT_PROBLEM;
	}
	if (uninstall(&u, &e)) {
		fprintf(stderr, "slurm-ec2 uninstall: %s\n", e.text);
		status = EXIT_PROBLEM;
	}
	removal_clear(&u);
	return status;
}

const struct command cmd_uninstall = {
	.name = "uninstall",
	.help = "take the cluster back out of Slurm and EC2",
	.usage =
		"usage: slurm-ec2 uninstall [--yes] [--terminate] [--purge]\n"
		"List what belongs to the applied cluster, ask, then take our lines out of Slurm's files, restart slurmctld, and delete the\n"
		"cluster's launch templates and placement groups. Things without the cluster's UUID are never touched.\n\n"
		"  --yes        do not ask\n"
		"  --terminate  end its machines too; without it, machines that live are a reason to refuse\n"
		"  --purge      remove the state folder too\n\n"
		"Root runs it. It refuses while slurm-ec2's clustermgtd runs. Exit status: 0 removed, 1 refused or failed, 2 wrong usage.\n",
	.run = run,
};
