/* resume.h - what to launch for a resume request, as a pure state machine: no I/O, no clock, no log; time is an argument.
 *
 *   p = resume_plan_create(...)
 *   while ((n = resume_plan_next(p, now, steps, max, &wake)) > 0 || wake)
 *           n > 0: every launch that can go now, side by side; for each answer resume_plan_answer(p, step, ...)
 *           n = 0: nothing to do before `wake` (a short pool is asked again then)
 *   resume_plan_result(p)                                  binds, failed nodes, instances to return
 *
 * A compute resource is filled stage by stage (struct gen_stage): what one stage does not give is asked of the next. Within a
 * stage a call names the choices (type and subnet) that are not short; what was refused is remembered (resume_plan_shortages)
 * and not asked again in this run for that many or more.
 *
 * Invariants (property-tested): instances answered = bound + returned; no node bound twice; no node both bound and failed;
 * under all-or-nothing no job has some nodes bound and some failed unless a node is shared with a served job.
 */
#ifndef SE_PLAN_RESUME_H
#define SE_PLAN_RESUME_H

#include "lib/cluster/generation.h"
#include "lib/node/instance.h"
#include "lib/node/job.h"
#include "lib/node/offering.h"
#include "lib/plan/capacity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct nodeset;

struct resume_input {
	const struct generation *gen;
	const struct resume_request *request;
	const struct strs *live;     /* nodes that already have a live machine or a launch under way: left alone */
	const struct nodeset *barred; /* nodes that must not be launched (protect.h): they fail with CODE_PROTECTED; NULL = none */
	enum scaling_strategy strategy;
	size_t batch_max;            /* nodes a call, settings LaunchBatch */
	const struct shortages *shortages; /* capacity memory as it was read; NULL = none */
	struct capacity_rule rule;
	uint64_t seed;               /* of the jitter */
	const struct kvs *first_stage; /* node -> number of the stage to begin with ("1"): clustermgtd goes on with what an
					* earlier run left; NULL = all at 0 */
};

/* One pair that EC2 may choose from: indices into the stage's instance_types and subnet_ids. */
struct resume_choice {
	size_t type;
	size_t subnet;
};

struct resume_step {
	size_t id;                   /* give back to resume_plan_answer */
	size_t resource;             /* index into gen->resources */
	size_t stage;                /* index into its stages */
	const struct strs *nodes;    /* nodes this call is for, in order; borrowed until the plan is destroyed */
	int min_count;               /* all-or-nothing: = nodes->n (1 if every job in it needs one node, if another stage can
				      * fill up, or if the call has several types and several zones, for which EC2 knows no
				      * minimum); otherwise 1 */
	const struct strs *jobs;     /* job ids, for the row and the log */
	const struct resume_choice *choices;
	size_t n_choices;            /* at least one; exactly one where the resource is `single` */
	bool probe;                  /* the one launch that tries a shortage after its cool-down: claim it before sending */
};

/* Why fewer came than asked. */
enum resume_short {
	SHORT_CAPACITY, /* not here: the next stage at once, a smaller job here */
	SHORT_LATER,    /* throttled inside an answered fleet: the same again after a pause, a new call */
	SHORT_FATAL     /* our request is wrong or not allowed: fails at any size and in each stage */
};

/* A choice that EC2 refused. */
struct resume_refusal {
	const char *type;            /* NULL = all choices of the step */
	const char *subnet_id;       /* NULL = all subnets */
	const char *code;
	const char *message;         /* may be NULL */
};

struct resume_answer {
	const struct instances *got; /* copied; may be NULL */
	enum resume_short why;       /* when fewer came than asked */
	const char *code;            /* EC2's, likewise; NULL = it said nothing (then CODE_INSUFFICIENT) */
	const struct resume_refusal *refused;
	size_t n_refused;            /* none given and fewer came: all choices of the step with `code` */
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
/* Launches that can go now, at most max; what was not handed out is planned anew with the answers that come meanwhile. 0 and
 * *wake_ms 0 = nothing more to launch (all answered) or waiting for answers; 0 and *wake_ms > 0 = ask again at that time (scale
 * of now_ms, wall clock). */
size_t resume_plan_next(struct resume_plan *p, int64_t now_ms, struct resume_step *steps, size_t max, int64_t *wake_ms);
/* No time is left for waiting: a stage's time limit counts as over, and what only waits for a pause is a step now (the caller
 * commits its row and leaves it). */
void resume_plan_hurry(struct resume_plan *p);
/* The answer to one step. -1 on no memory or for a step that is not open. */
int resume_plan_answer(struct resume_plan *p, size_t step, const struct resume_answer *a, int64_t now_ms);
/* The step could not be tried (time limit, slurmctld gone): its nodes stay with the committed row and are neither bound
 * nor failed. */
int resume_plan_leave(struct resume_plan *p, size_t step);
/* Someone else turned out to have a machine or a launch for this node (its claim was refused): it counts as served and is
 * left alone. Before the answer to its step; if no node of a step is left, answer it with no instances and no code. */
void resume_plan_taken(struct resume_plan *p, const char *node);
/* Shortages as this run knows them: those it changed come first, *changed of them. A changed one whose failures are 0 is over:
 * its row can go. Borrowed until the next call. */
const struct shortages *resume_plan_shortages(const struct resume_plan *p, size_t *changed);
/* After the last answer; borrowed until destroy. NULL with e on no memory. May be asked once. */
const struct resume_result *resume_plan_result(struct resume_plan *p, struct err *e);

#endif
