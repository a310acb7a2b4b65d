/* protect.h - compute resources whose machines never come up: nothing more is launched for them, pure.
 *
 * Each machine that never served is a row (lib/node/failure.h). A resource is protected while it has `count` rows in the window
 * and none of its nodes runs a job; a machine of it that comes up, and `slurm-ec2 fleet start`, clear its rows. Its powered-down
 * nodes go DOWN with REASON_PROTECTED (rows of reconcile's table) and come back when it is over; the queue's other
 * resources go on. A single node whose machines are launched and ended again and again is stopped likewise.
 */
#ifndef SE_PLAN_PROTECT_H
#define SE_PLAN_PROTECT_H

#include "lib/node/binding.h"
#include "lib/node/failure.h"
#include "lib/node/node.h"
#include "lib/plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct generation;
struct nodeset;

/* Follows "(Code:BootFailures)" in Reason. */
#define REASON_PROTECTED "Machines of this compute resource do not come up"

struct protect_rule {
	int64_t count;      /* 0 = never */
	int64_t window_ms;
};

struct protect_input {
	const struct generation *gen;
	const struct nodes *nodes;        /* NULL = slurmctld was not read: what was protected stays */
	const struct bindings *bindings;
	const struct failures *failures;  /* oldest first; NULL = not read */
	struct protect_rule rule;
	int64_t now_ms;
};

struct protection {
	bool on;
	int64_t count;        /* failures in the window */
	int64_t until_ms;     /* when the window alone would end it */
	const char *code;     /* of the newest failure, borrowed from the input */
};

/* One a compute resource, into out[gen->n_resources]. *cycling (may be NULL) gets nodes that are launched and ended in a
 * circle. */
int protect_judge(const struct protect_input *in, struct protection *out, struct nodeset *cycling, struct err *e);
/* ACT_FAILURES_CLEAR for resources of which a machine came up after its last failure. */
int protect_plan(const struct protect_input *in, struct plan *out, struct err *e);

#endif
