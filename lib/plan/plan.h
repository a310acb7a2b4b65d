/* plan.h - a plan: an ordered list of effects, each with its reason, made by pure functions and carried out by lib/apply.
 *
 * A plan can be printed (`clustermgtd --dry-run`), compared in a test, and replayed. Each action names the binding
 * generation it was based on; the act re-checks it in the same transaction, so a node that changed while the plan was made
 * is left alone.
 */
#ifndef SE_PLAN_PLAN_H
#define SE_PLAN_PLAN_H

#include "lib/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum action_kind {
	ACT_TERMINATE,      /* instance: TerminateInstances */
	ACT_BIND,           /* node + instance: write address and launch id to Slurm, row to bound */
	ACT_UNBIND,         /* node: forget its binding, placeholder address, clear extra */
	ACT_FORGET,         /* node that slurmctld does not know: only its row goes */
	ACT_NODE_DOWN,      /* node: DOWN with reason (its jobs requeue) */
	ACT_NODE_POWER_DOWN,/* node: POWER_DOWN_FORCE with reason: back to idle~ through SuspendProgram; with word POWER_DOWN_IDLE a
			     * plain POWER_DOWN, which ends no job */
	ACT_NODE_POWER_UP,  /* node: POWER_UP: slurmctld runs ResumeProgram for it */
	ACT_LAUNCH_RETRY,   /* launch row: ask EC2 again with the same token; a row without a request has it built first */
	ACT_LAUNCH_CLOSE,   /* launch row: finished or undone */
	ACT_RESERVE,        /* nodes: a reservation in Slurm holds them, also if it exists with others */
	ACT_UNRESERVE,      /* that reservation goes */
	ACT_NODE_DRAIN,     /* node: DRAIN with reason: its jobs end by themselves */
	ACT_NODE_RESUME,    /* node: RESUME: a drain or DOWN of ours is over */
	ACT_BOOT_FAILED,    /* node, instance, resource: a machine that never served is counted, its console output saved; before any
			     * ACT_TERMINATE */
	ACT_FAILURES_CLEAR, /* resource: its failures up to wall ms `word` count no more, for one of its machines came up; with a
			     * node: that node's are forgotten */
	ACT_PARTITION,      /* partition: set to `word` ("UP", "DOWN", "INACTIVE") */
	ACT_FLEET,          /* the fleet's status becomes `word`, if it still is `was` */
	ACT_NOTE            /* an event and a line in the log, once for the same code, node and instance: for a person to look at */
};

#define POWER_DOWN_IDLE "when-idle"

struct action {
	enum action_kind kind;
	char *node;
	char *instance;
	char *launch;
	char *reservation;       /* its name in Slurm */
	char *resource;          /* "queue/resource" */
	char *partition;
	char *word, *was;
	struct strs nodes;       /* of ACT_RESERVE; ACT_LAUNCH_RETRY: for the reader, the row has them too */
	int64_t generation;      /* of the node's binding when decided; -1 = had none */
	char *code;              /* short machine-readable why: "orphan", "machine-gone", ... */
	char *reason;            /* sentence for people and for Slurm's Reason */
};

struct plan {
	struct action *v;
	size_t n;
	size_t cap;
};

struct action *plan_add(struct plan *p, enum action_kind kind, const char *code); /* borrowed until next add; NULL no memory */
/* Take out the actions for which drop() is true; the order of the others stays. Returns how many went. */
size_t plan_drop(struct plan *p, bool (*drop)(const struct action *a, const void *arg), const void *arg);
void plan_clear(struct plan *p);
const char *action_kind_text(enum action_kind k);
/* One aligned line an action. Caller frees; NULL on no memory. */
char *plan_text(const struct plan *p);

#endif
