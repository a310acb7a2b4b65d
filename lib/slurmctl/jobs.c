/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jobs.c - jobs of slurmctld as plain values, and a note that an administrator or user sees on one. */
#include "lib/slurmctl/slurmctl.h"

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/slurmctl/slurm_compat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* slurm_job_state_string() is exported but in no public header. */
static const char *state_text(uint32_t state)
{
	static const char *const text[] = {"PENDING", "RUNNING",   "SUSPENDED", "COMPLETED", "CANCELLED", "FAILED",
					   "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE",  "OUT_OF_MEMORY"};
	uint32_t base = state & JOB_STATE_BASE;

	return base < sizeof text / sizeof text[0] ? text[base] : "UNKNOWN";
}

static int fill(struct slurmctl_job_info *out, const slurm_job_info_t *j)
{
	out->id = j->job_id;
	out->priority = j->priority;
	out->configuring = j->job_state & JOB_CONFIGURING;
	out->state = str_dup(state_text(j->job_state));
	out->nodes = str_dup(j->nodes);
	return out->state && (out->nodes || !j->nodes) ? 0 : -1;
}

int slurmctl_job(int64_t id, struct slurmctl_job_info *out, struct err *e)
{
	job_info_msg_t *m = NULL;
	int rc;

	memset(out, 0, sizeof *out);
	if (slurm_load_job(&m, (uint32_t)id, SHOW_ALL) != 0)
		return slurmctl_fail(e, "cannot read the job from slurmctld");
	if (m->record_count == 0)
		rc = err_set(e, "slurmctld does not know job %lld", (long long)id);
	else
		rc = fill(out, &m->job_array[0]) < 0 ? err_nomem(e) : 0;
	slurm_free_job_info_msg(m);
	if (rc < 0)
		slurmctl_job_clear(out);
	return rc;
}

void slurmctl_job_clear(struct slurmctl_job_info *j)
{
	free(j->nodes);
	free(j->state);
	memset(j, 0, sizeof *j);
}

static bool holds_nodes(const slurm_job_info_t *j)
{
	uint32_t base = j->job_state & JOB_STATE_BASE;

	return j->nodes && *j->nodes && (base == JOB_RUNNING || base == JOB_SUSPENDED || (j->job_state & JOB_COMPLETING));
}

static bool is_outside(const slurm_job_info_t *j)
{
	return holds_nodes(j) && !j->batch_flag && j->num_nodes > 1;
}

static int collect(struct kvs *out, bool (*wanted)(const slurm_job_info_t *), struct err *e)
{
	job_info_msg_t *m = NULL;
	char id[24];
	int rc = 0;

	if (slurm_load_jobs((time_t)0, &m, SHOW_ALL) != 0)
		return slurmctl_fail(e, "cannot read the jobs from slurmctld");
	for (uint32_t i = 0; i < m->record_count && rc == 0; i++) {
		const slurm_job_info_t *j = &m->job_array[i];

		if (!wanted(j))
			continue;
		snprintf(id, sizeof id, "%lu", (unsigned long)j->job_id);
		rc = kvs_add(out, id, j->nodes);
	}
	slurm_free_job_info_msg(m);
	return rc < 0 ? err_nomem(e) : 0;
}

int slurmctl_running_jobs(struct kvs *out, struct err *e)
{
	return collect(out, holds_nodes, e);
}

int slurmctl_outside_jobs(struct kvs *out, struct err *e)
{
	return collect(out, is_outside, e);
}

/* By number, not by text: the number of the job that an array began with would mean the whole array as text. */
int slurmctl_job_comment(int64_t id, const char *text, struct err *e)
{
	job_desc_msg_t d;
	char *copy = str_dup(text);
	int rc;

	if (!copy)
		return err_nomem(e);
	slurm_init_job_desc_msg(&d);
	d.job_id = (uint32_t)id;
	d.admin_comment = copy;
	rc = slurm_update_job(&d) == 0 ? 0 : slurmctl_fail(e, "cannot put a comment on the job");
	free(copy);
	return rc;
}
