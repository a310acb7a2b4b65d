/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peers.c - the loop of computemgtd --hosts. Called by computemgtd's main.
 *
 * Slurm before 23.11 gives a job's steps the addresses of its cloud nodes from a list that slurmctld makes when it allocates
 * the job, and does not save. After a restart of slurmctld the jobs it took over have none, and srun looks the names up. So,
 * and only then, their nodes get lines in /etc/hosts, on the machines of the job, until the job is over.
 *
 * slurmctld is asked little: has it changed (a few bytes), and only after a restart the jobs, once, and this machine's jobs'
 * nodes, until all are up. It never pings: see identify.c. */
#include "computemgtd/peers.h"

#include "computemgtd/hosts.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/node/node.h"
#include "lib/node/nodeset.h"
#include "lib/slurmctl/slurmctl.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROUND_MS 3000
#define JOBS_MS 60000	/* between two looks whether the jobs are over */
#define SINGLES_MAX 100 /* above this many nodes the whole table is the cheaper question */
#define HOSTS_MAX (4u << 20)

struct keeper {
	const struct peers_spec *spec;
	int64_t seen, boot_s; /* slurmctld's last change and start, as it told them */
	bool ask_jobs;	      /* it restarted, and the jobs are not read yet */
	struct kvs jobs;      /* those with more than this node: id -> hostlist */
	struct nodeset *names;
	bool settled;
	int64_t jobs_checked_ms;
};

/* A restart longer ago than ResumeTimeout is of no interest to a machine that was not up then: all nodes of the jobs that were
 * taken over are up since, or never will be. */
static int look_for_restart(struct keeper *k, struct err *e)
{
	int64_t boot_s = 0;
	int rc = slurmctl_boot_time(&k->seen, &boot_s, e);

	if (rc == 1 && boot_s != k->boot_s) {
		k->ask_jobs = k->boot_s || clock_wall_ms() / 1000 - boot_s <= k->spec->timeout_s;
		k->boot_s = boot_s;
	}
	return rc < 0 ? -1 : 0;
}

static int replace_jobs(struct keeper *k, const struct kvs *jobs, struct err *e)
{
	struct kvs kept = {0};
	struct nodeset *names = nodeset_create();

	if (!names || hosts_choose(jobs, k->spec->name, &kept, names) < 0) {
		kvs_clear(&kept);
		nodeset_destroy(names);
		return err_nomem(e);
	}
	kvs_clear(&k->jobs);
	nodeset_destroy(k->names);
	k->jobs = kept;
	k->names = names;
	k->settled = false;
	return 0;
}

static int read_jobs(struct keeper *k, struct err *e)
{
	struct kvs all = {0};
	int rc = slurmctl_running_jobs(&all, e);

	if (rc == 0)
		rc = replace_jobs(k, &all, e);
	kvs_clear(&all);
	k->ask_jobs = rc < 0;
	k->jobs_checked_ms = clock_mono_ms();
	if (rc == 0 && k->jobs.key.n > 0)
		log_info("slurmctld restarted: %zu jobs here, on %zu nodes", k->jobs.key.n, nodeset_count(k->names));
	return rc;
}

static bool is_over(const char *id)
{
	struct slurmctl_job_info j;
	bool over;

	if (slurmctl_job(strtoll(id, NULL, 10), &j, NULL) < 0)
		return false; /* slurmctld is away; one that it has forgotten goes at its next restart, or with this machine */
	over = !str_eq(j.state, "RUNNING") && !str_eq(j.state, "SUSPENDED");
	slurmctl_job_clear(&j);
	return over;
}

/* Drop the jobs that are over. */
static int check_jobs(struct keeper *k, struct err *e)
{
	struct kvs left = {0};
	int rc = 0;

	k->jobs_checked_ms = clock_mono_ms();
	for (size_t i = 0; rc == 0 && i < k->jobs.key.n; i++) {
		if (!is_over(k->jobs.key.v[i]))
			rc = kvs_add(&left, k->jobs.key.v[i], k->jobs.val.v[i]);
	}
	if (rc < 0)
		err_nomem(e);
	else if (left.key.n < k->jobs.key.n)
		rc = replace_jobs(k, &left, e);
	kvs_clear(&left);
	return rc;
}

static int read_nodes(const struct nodeset *names, struct nodes *out, struct err *e)
{
	size_t n = nodeset_count(names);

	if (n > SINGLES_MAX)
		return slurmctl_nodes(out, e);
	for (size_t i = 0; i < n; i++) {
		if (slurmctl_node(nodeset_get(names, i), out, e) < 0)
			return -1;
	}
	return 0;
}

static int write_hosts(const struct keeper *k, const struct nodes *l, struct err *e)
{
	struct buf old = {0};
	char *text = NULL;
	int rc = file_read(k->spec->file, HOSTS_MAX, &old, e);

	if (rc == 0) {
		text = hosts_merge(buf_text(&old), l, k->names, k->spec->name);
		rc = text ? 0 : err_nomem(e);
	}
	if (rc == 0 && !str_eq(text, buf_text(&old)))
		rc = file_replace(k->spec->file, 0644, text, strlen(text), e);
	free(text);
	buf_free(&old);
	return rc;
}

static int name_nodes(struct keeper *k, struct err *e)
{
	struct nodes l = {0};
	int rc = read_nodes(k->names, &l, e);

	if (rc == 0)
		rc = write_hosts(k, &l, e);
	if (rc == 0)
		k->settled = hosts_settled(&l, k->names);
	nodes_clear(&l);
	return rc;
}

static int keep_round(struct keeper *k, struct err *e)
{
	if (look_for_restart(k, e) < 0 || (k->ask_jobs && read_jobs(k, e) < 0))
		return -1;
	if (k->jobs.key.n > 0 && clock_mono_ms() - k->jobs_checked_ms >= JOBS_MS && check_jobs(k, e) < 0)
		return -1;
	return k->settled ? 0 : name_nodes(k, e);
}

int peers_keep(const struct peers_spec *s, struct err *e)
{
	struct keeper k = {.spec = s, .settled = true};
	bool failing = false;

	if (slurmctl_keeps_addresses)
		return 0;
	if (slurmctl_open(s->conf, e) < 0)
		return -1;
	for (;;) {
		int rc = keep_round(&k, e);

		if (rc < 0 && !failing)
			log_warn("%s", e->text);
		failing = rc < 0;
		clock_sleep_ms((int64_t)(ROUND_MS * (0.75 + 0.5 * rand_unit()))); /* a thousand machines, spread */
	}
}
