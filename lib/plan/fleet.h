/* fleet.h - starting and stopping the whole fleet, pure.
 *
 * A person asks with `slurm-ec2 fleet start|stop`, which sets the word FLEET_WORD in our state; each loop brings partitions and
 * nodes nearer to it and moves the status on. The words are ParallelCluster's. Only the partitions named like our queues
 * are touched, and only our nodes.
 */
#ifndef SE_PLAN_FLEET_H
#define SE_PLAN_FLEET_H

#include "lib/node/node.h"
#include "lib/node/partition.h"
#include "lib/plan/plan.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct generation;

#define FLEET_WORD "fleet"           /* store_word: status and, after a blank, "now" when jobs are not waited for; unset = RUNNING */
#define FREEZE_WORD "freeze-until"   /* store_word: wall ms until which nothing is done */

enum fleet_status {
	FLEET_RUNNING,
	FLEET_STOP_REQUESTED,
	FLEET_STOPPING,        /* jobs still run */
	FLEET_STOPPED,
	FLEET_START_REQUESTED,
	FLEET_STARTING
};

struct fleet {
	enum fleet_status status;
	bool now;              /* end running jobs */
};

/* "RUNNING", ...; PROTECTED is said by status when a resource is, but is no state of its own. */
const char *fleet_status_text(enum fleet_status s);
/* The word, NULL = unset. -1 for one that we do not know (then *out is RUNNING). */
int fleet_parse(const char *word, struct fleet *out);
/* Does it take work: RUNNING, START_REQUESTED, STARTING? */
bool fleet_serves(enum fleet_status s);

struct fleet_input {
	const struct generation *gen;
	const struct nodes *nodes;           /* NULL = not read */
	const struct partitions *partitions; /* NULL = not read */
	struct fleet fleet;
};
/* Appends ACT_PARTITION, ACT_NODE_*, ACT_FLEET. */
int fleet_plan(const struct fleet_input *in, struct plan *out, struct err *e);

#endif
