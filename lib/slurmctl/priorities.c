/* SPDX-License-Identifier: GPL-2.0-or-later */
/* priorities.c - job priorities that slurmctld did not write into the resume file (before 26.05). Called by apply before it plans;
 * nothing depends on them but the order in which jobs are served.
 */
#include "lib/slurmctl/slurmctl.h"

#include "lib/base/err.h"
#include "lib/node/job.h"
#include "lib/slurmctl/slurm_compat.h"

#include <stdlib.h>

#define SINGLE_MAX 8 /* so many jobs are asked for one by one: a site may have a hundred thousand others */

static size_t unknown(const struct resume_request *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_jobs; i++)
		n += r->jobs[i].priority < 0;
	return n;
}

static int by_id(const void *a, const void *b)
{
	const struct resume_job *const *x = a, *const *y = b;

	return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

/* sorted: jobs without a priority, by id. */
static void take(struct resume_job **sorted, size_t n, const job_info_msg_t *m)
{
	for (uint32_t i = 0; i < m->record_count; i++) {
		struct resume_job key = {.id = m->job_array[i].job_id}, *want = &key, **at;

		at = bsearch(&want, sorted, n, sizeof *sorted, by_id);
		if (at)
			(*at)->priority = m->job_array[i].priority;
	}
}

static int ask_each(struct resume_job **sorted, size_t n, struct err *e)
{
	job_info_msg_t *m = NULL;

	for (size_t i = 0; i < n; i++) {
		slurmctl_asked("job");
		if (slurm_load_job(&m, (uint32_t)sorted[i]->id, SHOW_ALL) != 0)
			return slurmctl_fail(e, "cannot read the job from slurmctld");
		take(sorted, n, m); /* all tasks, if the job is an array's first */
		slurm_free_job_info_msg(m);
	}
	return 0;
}

static int ask_all(struct resume_job **sorted, size_t n, struct err *e)
{
	job_info_msg_t *m = NULL;

	slurmctl_asked("jobs");
	if (slurm_load_jobs((time_t)0, &m, SHOW_ALL) != 0)
		return slurmctl_fail(e, "cannot read the jobs from slurmctld");
	take(sorted, n, m);
	slurm_free_job_info_msg(m);
	return 0;
}

int slurmctl_priorities(struct resume_request *r, struct err *e)
{
	size_t n = unknown(r), at = 0;
	struct resume_job **sorted;
	int rc;

	if (r->n_jobs < 2 || n == 0)
		return 0;
	sorted = calloc(n, sizeof *sorted);
	if (!sorted)
		return err_nomem(e);
	for (size_t i = 0; i < r->n_jobs; i++) {
		if (r->jobs[i].priority < 0)
			sorted[at++] = &r->jobs[i];
	}
	qsort(sorted, n, sizeof *sorted, by_id);
	rc = n <= SINGLE_MAX ? ask_each(sorted, n, e) : ask_all(sorted, n, e);
	free(sorted);
	return rc;
}
