/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job.c - a resume request as a value. lib/slurmctl reads it from text, lib/plan decides on it. */
#include "lib/node/job.h"

#include <stdlib.h>
#include <string.h>

struct resume_job *resume_request_add_job(struct resume_request *r)
{
	if (mem_grow(&r->jobs, &r->cap_jobs, r->n_jobs + 1, sizeof(*r->jobs)))
		return NULL;
	memset(&r->jobs[r->n_jobs], 0, sizeof(*r->jobs));
	r->jobs[r->n_jobs].priority = -1;
	return &r->jobs[r->n_jobs++];
}

void resume_request_clear(struct resume_request *r)
{
	for (size_t i = 0; i < r->n_jobs; i++) {
		strs_clear(&r->jobs[i].nodes);
		free(r->jobs[i].partition);
		free(r->jobs[i].features);
		free(r->jobs[i].extra);
	}
	free(r->jobs);
	strs_clear(&r->nodes);
	*r = (struct resume_request){ 0 };
}
