/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run.h - one resume plan carried out: rounds of launches, pauses, binds, failures. Internal to lib/apply: resume.c runs it for
 * slurmctld's request, retry.c for what an open launch row did not get. */
#ifndef SE_APPLY_RUN_H
#define SE_APPLY_RUN_H

#include "lib/apply/launch.h"
#include "lib/apply/memory.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/node/job.h"
#include "lib/node/nodeset.h"
#include "lib/plan/resume.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct world;

#define RUN_STEP_NONE SIZE_MAX /* a launching that no step of the plan made */

/* Zero-initialised but for the first four. */
struct run {
	struct world *w;
	const struct resume_request *request;
	int64_t deadline;         /* mono ms: nothing is sent after it */
	bool daemon;              /* clustermgtd itself: it waits for no pause and needs no poke */
	struct strs live;         /* nodes that are left alone */
	struct nodeset *barred;   /* nodes that are not launched; NULL = none */
	struct kvs first_stage;   /* see struct resume_input */
	struct memory memory;
	bool memory_read;
	struct nodeset *asked;    /* request->nodes */
	size_t *owner;            /* for each asked node: the launching that claims it, or SIZE_MAX */
	struct launching *launch; /* those before run_plan() are an earlier process's, closed with the rest */
	size_t n_launch, cap_launch;
	size_t left;              /* launches that stay open */
	/* run.c's own */
	struct resume_input in; /* the plan borrows it */
	struct resume_plan *plan;
	bool hurried;       /* nothing more is sent; may be set before the plan */
	bool poked;
	struct kvs words;   /* EC2's own for each code */
	struct err why;     /* of CODE_FAILED */
};

#define CODE_FAILED "ResumeFailed" /* no request could be made; the reason follows */

/* asked and owner, from the request. */
int run_open(struct run *r, struct err *e);
/* From the plan to the end: every node is bound, failed or left to a committed row. -1: rows could not be read or written. */
int run_plan(struct run *r, struct err *e);
/* Send the calls of launch[first..], each to its cloud, and read the answers. */
int run_perform(struct run *r, size_t first);
/* An empty launching at the end of the list, NULL on no memory. */
struct launching *run_add(struct run *r);
void run_close(struct run *r);

#endif
