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

/* Slurm's own words for why a job waits or failed; they are in no public function of every release. */
static const char *reason_text(uint32_t reason)
{
	static const struct {
		uint32_t reason;
		const char *text;
	} all[] = {
	    {WAIT_NO_REASON, "None"},
	    {WAIT_PRIORITY, "Priority"},
	    {WAIT_DEPENDENCY, "Dependency"},
	    {WAIT_RESOURCES, "Resources"},
	    {WAIT_PART_NODE_LIMIT, "PartitionNodeLimit"},
	    {WAIT_PART_TIME_LIMIT, "PartitionTimeLimit"},
	    {WAIT_PART_DOWN, "PartitionDown"},
	    {WAIT_PART_INACTIVE, "PartitionInactive"},
	    {WAIT_HELD, "JobHeldAdmin"},
	    {WAIT_TIME, "BeginTime"},
	    {WAIT_LICENSES, "Licenses"},
	    {WAIT_RESERVATION, "Reservation"},
	    {WAIT_NODE_NOT_AVAIL, "ReqNodeNotAvail"},
	    {WAIT_HELD_USER, "JobHeldUser"},
	    {FAIL_DOWN_PARTITION, "PartitionDown"},
	    {FAIL_DOWN_NODE, "NodeDown"},
	    {FAIL_BAD_CONSTRAINTS, SLURMCTL_BAD_CONSTRAINTS},
	    {FAIL_SYSTEM, "SystemFailure"},
	    {FAIL_LAUNCH, "JobLaunchFailure"},
	    {FAIL_EXIT_CODE, "NonZeroExitCode"},
	    {FAIL_TIMEOUT, "TimeLimit"},
	    {FAIL_ACCOUNT, "InvalidAccount"},
	    {FAIL_QOS, "InvalidQOS"},
	    {WAIT_CLEANING, "Cleaning"},
	    {WAIT_PROLOG, "Prolog"},
	    {WAIT_QOS, "QOSNotAllowed"},
	    {WAIT_ACCOUNT, "AccountNotAllowed"},
	    {WAIT_DEP_INVALID, "DependencyNeverSatisfied"},
	    {WAIT_MAX_REQUEUE, "JobHoldMaxRequeue"},
	    {WAIT_ARRAY_TASK_LIMIT, "JobArrayTaskLimit"},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].reason == reason)
			return all[i].text;
	return "a limit or rule of the site";
}

static int fill(struct slurmctl_job_info *out, const slurm_job_info_t *j)
{
	uint32_t base = j->job_state & JOB_STATE_BASE;

	out->id = j->job_id;
	out->priority = j->priority;
	out->configuring = j->job_state & JOB_CONFIGURING;
	out->completing = j->job_state & JOB_COMPLETING;
	out->ended = base > JOB_SUSPENDED;
	out->batch = j->batch_flag;
	out->array_id = j->array_job_id;
	out->array_task = j->array_task_id == NO_VAL || !j->array_job_id ? -1 : (int64_t)j->array_task_id;
	out->restarts = j->restart_cnt;
	out->start_s = j->start_time;
	out->eligible_s = j->eligible_time;
	out->state = str_dup(state_text(j->job_state));
	out->reason = str_dup(reason_text(j->state_reason));
	out->reason_text = str_dup(j->state_desc);
	out->nodes = str_dup(j->nodes);
	out->partition = str_dup(j->partition);
	out->required_nodes = str_dup(j->req_nodes);
	out->admin_comment = str_dup(j->admin_comment);
	return out->state && out->reason && (out->reason_text || !j->state_desc) && (out->nodes || !j->nodes) &&
			       (out->partition || !j->partition) && (out->required_nodes || !j->req_nodes) &&
			       (out->admin_comment || !j->admin_comment)
		   ? 0
		   : -1;
}

int slurmctl_job(int64_t id, struct slurmctl_job_info *out, struct err *e)
{
	job_info_msg_t *m = NULL;
	int rc;

	memset(out, 0, sizeof *out);
	slurmctl_asked("job");
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
	free(j->reason);
	free(j->reason_text);
	free(j->partition);
	free(j->required_nodes);
	free(j->admin_comment);
	memset(j, 0, sizeof *j);
}

/* The record is filled before it is asked whether it is wanted: one that is not is emptied again. */
static int add_job(struct slurmctl_jobs *l, const slurm_job_info_t *j, slurmctl_job_fn wanted, const void *of)
{
	struct slurmctl_job_info *new;

	if (mem_grow(&l->v, &l->cap, l->n + 1, sizeof *l->v) < 0)
		return -1;
	new = &l->v[l->n];
	if (fill(new, j) < 0) {
		slurmctl_job_clear(new);
		return -1;
	}
	if (wanted(new, of))
		l->n++;
	else
		slurmctl_job_clear(new);
	return 0;
}

int slurmctl_jobs(slurmctl_job_fn wanted, const void *of, struct slurmctl_jobs *out, struct err *e)
{
	job_info_msg_t *m = NULL;
	int rc = 0;

	slurmctl_asked("jobs");
	if (slurm_load_jobs((time_t)0, &m, SHOW_ALL) != 0)
		return slurmctl_fail(e, "cannot read the jobs from slurmctld");
	for (uint32_t i = 0; i < m->record_count && rc == 0; i++)
		rc = add_job(out, &m->job_array[i], wanted, of);
	slurm_free_job_info_msg(m);
	return rc < 0 ? err_nomem(e) : 0;
}

void slurmctl_jobs_clear(struct slurmctl_jobs *l)
{
	for (size_t i = 0; i < l->n; i++)
		slurmctl_job_clear(&l->v[i]);
	free(l->v);
	memset(l, 0, sizeof *l);
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

	slurmctl_asked("jobs");
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
	slurmctl_asked("update job");
	rc = slurm_update_job(&d) == 0 ? 0 : slurmctl_fail(e, "cannot put a comment on the job");
	free(copy);
	return rc;
}
