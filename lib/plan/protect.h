/* protect.h - compute resources whose machines never come up: nothing more is launched for them, pure.
 *
 * Each machine that never served is a row (lib/node/failure.h). A resource gets protected when it has `count` rows in the window
 * and none of its nodes runs a job; a machine of it that comes up, and `slurm-ec2 fleet start`, clear its rows. Its powered-down
 * nodes go DOWN with REASON_PROTECTED (rows of reconcile's table) and come back when it is over; the queue's other
 * resources go on. A single node whose machines are launched and ended again and again is stopped likewise (REASON_CYCLING),
 * also while its resource's other machines come up: they make the rows "over" for the resource, not for the node.
 *
 * So that nodes do not go up and down with each row that grows old, a resource whose nodes are DOWN for it stays protected until
 * half of `count` has left the window. What never works thus costs `count` machines at first, then half of it each time, and
 * never more than `count` begun in one window, but for those that were on their way already.
 *
 * A row is made of ACT_BOOT_FAILED, which needs an instance: a launch that EC2 refused is no failed boot, nor is a machine that
 * EC2 took back, that a person ended, or that served before it failed.
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

/* Follow "(Code:BootFailures)" in Reason. */
#define CODE_PROTECTED "BootFailures"
#define REASON_PROTECTED "Machines of this compute resource do not come up"
#define REASON_CYCLING "Machines of this node do not come up"
/* Rows of one node in the window that make it a cycling one. */
#define PROTECT_CYCLE 5

struct protect_rule {
	int64_t count;      /* 0 = never */
	int64_t window_ms;
};

struct protect_input {
	const struct generation *gen;
	const struct nodes *nodes;        /* NULL = slurmctld was not read: then the rows alone count */
	const struct bindings *bindings;
	const struct failures *failures;  /* oldest first; NULL = not read: what the nodes' Reason says stays */
	struct protect_rule rule;
	int64_t now_ms;
};

struct protection {
	bool on;
	int64_t count;        /* failures in the window */
	int64_t until_ms;     /* when the window alone would end it; 0 = not on, or not known */
	const char *code;     /* of the newest failure, borrowed from the input; NULL = none */
};

/* Is this node off because its resource is protected, or because it is a cycling one? */
bool protect_reason(const char *reason);
bool protect_cycling_reason(const char *reason);

/* One a compute resource, into out[gen->n_resources]. *cycling (may be NULL) gets nodes that are launched and ended in a
 * circle; with ProtectedFailureCount 0 none. */
int protect_judge(const struct protect_input *in, struct protection *out, struct nodeset *cycling, struct err *e);
/* ACT_FAILURES_CLEAR for resources and nodes of which a machine came up after the last failure: its node is heard, and the
 * machine's first slurmd is younger than its row and than the failure. */
int protect_plan(const struct protect_input *in, struct plan *out, struct err *e);

#endif
