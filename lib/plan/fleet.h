/* fleet.h - starting and stopping the whole fleet, pure.
 *
 * A person asks with `slurm-ec2 fleet start|stop`, which sets the word FLEET_WORD in our state; each loop brings partitions and
 * nodes nearer to it and moves the status on. The words are ParallelCluster's. Only the partitions named like our queues
 * are touched, and only our nodes.
 *
 * A stopped fleet's partitions are DOWN, not INACTIVE as ParallelCluster's: both start no job and let running ones go on, but
 * INACTIVE refuses sbatch, and a job that is queued in the meantime is only waiting. From 22.05 on slurmctld's power saving does
 * not look at a partition's state at all, so nodes of both are powered down alike.
 *
 * A node without a job is powered down by a plain POWER_DOWN: slurmctld takes it out of what it may allocate, and if a job came
 * to it first (by a partition of the site), that one ends before. Only a node that is coming up without a job is forced. With
 * `now`, nodes with jobs are set DOWN first, so that the jobs are queued again: power down alone would wait for them.
 */
#ifndef SE_PLAN_FLEET_H
#define SE_PLAN_FLEET_H

#include "lib/base/str.h"
#include "lib/node/binding.h"
#include "lib/node/instance.h"
#include "lib/node/node.h"
#include "lib/node/partition.h"
#include "lib/plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct generation;
struct nodeset;

#define FLEET_WORD "fleet"           /* store_word: status and, after a blank, "now" when jobs are not waited for; unset = RUNNING */
#define FLEET_CLOSED_WORD "fleet-closed" /* store_word: partitions we set DOWN and what they were, "queue1=UP queue2=DRAIN" */
#define FREEZE_WORD "freeze-until"   /* store_word: wall ms until which nothing is done */

/* Codes of nodes that resume refused. The first stay DOWN until the fleet serves, so that a job which comes by another partition
 * does not go in a circle. */
#define CODE_FLEET_STOPPED "FleetStopped"
#define CODE_FROZEN "Frozen"
/* Is this node DOWN because the fleet does not serve? */
bool fleet_refused(const char *reason);

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
/* The other way; caller frees; NULL on no memory. */
char *fleet_word(enum fleet_status s, bool now);
/* Does it take work: RUNNING, START_REQUESTED, STARTING? */
bool fleet_serves(enum fleet_status s);

/* FLEET_CLOSED_WORD both ways. A part that has no '=' is left out. -1 or NULL on no memory; caller frees the text. */
int fleet_closed_parse(const char *word, struct kvs *out);
char *fleet_closed_text(const struct kvs *closed);

struct fleet_input {
	const struct generation *gen;
	const struct nodes *nodes;           /* NULL = not read */
	const struct partitions *partitions; /* NULL = not read */
	const struct bindings *bindings;     /* NULL = not read: no node is touched */
	const struct launches *launches;     /* not DONE; NULL = not read */
	const struct instances *instances;   /* of all clouds; NULL = EC2 was not read, or not all of it: the fleet is not said to be
					      * STOPPED */
	const struct kvs *closed;            /* fleet_closed_parse */
	const struct nodeset *held;          /* nodes in a reservation of ours; those in a person's MAINT one are waited for */
	struct fleet fleet;
};
/* Appends ACT_PARTITION (word NULL: only forget that we closed it), ACT_NODE_DOWN, ACT_NODE_POWER_DOWN (word POWER_DOWN_IDLE or
 * NULL), ACT_FLEET. */
int fleet_plan(const struct fleet_input *in, struct plan *out, struct err *e);

/* Of a fleet that is being stopped: how far it is. */
struct fleet_rest {
	size_t busy;     /* nodes with jobs */
	size_t reserved; /* nodes in a maintenance reservation */
	size_t going;    /* nodes that power down, or will */
	size_t off;
};
int fleet_rest(const struct fleet_input *in, struct fleet_rest *out, struct err *e);

#endif
