/* job.h - what slurmctld asks of ResumeProgram, as a plain value: jobs with the nodes to power up for each. */
#ifndef SE_NODE_JOB_H
#define SE_NODE_JOB_H

#include "lib/base/str.h"

#include <stddef.h>
#include <stdint.h>

struct resume_job {
	int64_t id;
	int64_t priority;        /* -1 = not told (before 26.05) */
	struct strs nodes;       /* nodes to power up for this job in this run, in order */
	char *partition;         /* NULL = not told */
	char *features;
	char *extra;
};

struct resume_request {
	struct resume_job *jobs;
	size_t n_jobs;
	size_t cap_jobs;
	struct strs nodes;       /* all nodes of this run, jobs' and others' (power_up by hand) */
};

struct resume_job *resume_request_add_job(struct resume_request *r); /* NULL on no memory */
void resume_request_clear(struct resume_request *r);

#endif
