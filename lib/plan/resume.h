/* resume.h - what to launch for a resume request, as a pure state machine: no I/O, no clock, no log.
 *
 *   p = resume_plan_create(...)
 *   while ((n = resume_plan_next(p, steps, max)) > 0)      every launch that can go now, side by side
 *           for each answer: resume_plan_answer(p, step, instances, code)
 *   resume_plan_result(p)                                  binds, failed nodes, instances to return
 *
 * Invariants (property-tested): instances answered = bound + returned; no node bound twice; no node both bound and failed;
 * under all-or-nothing no job has some nodes bound and some failed unless a node is shared with a served job.
 */
#ifndef SE_PLAN_RESUME_H
#define SE_PLAN_RESUME_H

#include "lib/cluster/generation.h"
#include "lib/node/instance.h"
#include "lib/node/job.h"

#include <stddef.h>

struct err;

struct resume_input {
	const struct generation *gen;
	const struct resume_request *request;
	const struct strs *live;     /* nodes that already have a live machine or a launch under way: left alone */
	enum scaling_strategy strategy;
	size_t batch_max;            /* nodes a call, settings LaunchBatch */
};

struct resume_step {
	size_t id;                   /* give back to resume_plan_answer */
	size_t resource;             /* index into gen->resources */
	const struct strs *nodes;    /* nodes this call is for, in order; borrowed until the plan is destroyed */
	int min_count;               /* all-or-nothing: = nodes->n (1 if every job in it needs one node); best-effort: 1 */
	const struct strs *jobs;     /* job ids, for the row and the log */
};

struct resume_bind {
	const char *node;
	const char *instance;        /* id */
	const char *ip;              /* NULL = not known yet */
	size_t step;                 /* the launch it came from; the node may be of another step (its claim moves) */
};

struct resume_fail {
	const char *node;
	const char *code;            /* InsufficientInstanceCapacity, LimitedInstanceCapacity, InvalidNodenameError, ... */
};

struct resume_result {
	const struct resume_bind *bind;
	size_t n_bind;
	const struct resume_fail *fail;
	size_t n_fail;
	const char *const *surplus;  /* instance ids to terminate */
	size_t n_surplus;
};

struct resume_plan;

struct resume_plan *resume_plan_create(const struct resume_input *in, struct err *e); /* in must outlive the plan */
void resume_plan_destroy(struct resume_plan *p); /* takes NULL */
/* Launches that can go now, at most max. 0 = nothing more to launch (all answered) or waiting for answers. */
size_t resume_plan_next(struct resume_plan *p, struct resume_step *steps, size_t max);
/* The answer to one step: instances (copied), and the EC2 code when fewer than asked came. -1 on no memory. */
int resume_plan_answer(struct resume_plan *p, size_t step, const struct instances *got, const char *code);
/* The step could not be tried (time limit, slurmctld gone): its nodes stay with the committed row and are neither bound
 * nor failed. */
int resume_plan_leave(struct resume_plan *p, size_t step);
/* Someone else turned out to have a machine or a launch for this node (its claim was refused): it counts as served and is
 * left alone. Before the answer to its step; if no node of a step is left, answer it with no instances and no code. */
void resume_plan_taken(struct resume_plan *p, const char *node);
/* After the last answer; borrowed until destroy. NULL with e on no memory. May be asked once. */
const struct resume_result *resume_plan_result(struct resume_plan *p, struct err *e);

#endif
