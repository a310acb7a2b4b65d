/* reconcile.h - what clustermgtd does about the difference between Slurm, EC2 and our own rows: pure, rule by rule.
 *
 * Rules about nodes are rows of a table (node_rules.c), complete and printed by clustermgtd --explain; the first that fits a node
 * is taken, and reconcile_nodes.c finds the facts and does what it says. Rules about launch rows, about machines without a node and about
 * nodes that slurmctld knows wrongly are in reconcile_launches.c, reconcile_machines.c and reconcile_untold.c. A source
 * that could not be read (its pointer is NULL) stops every rule that needs it: unread is never "gone".
 *
 * Powered-down nodes of a compute resource whose every pool is short (lib/plan/capacity.h) are set DOWN, so that Slurm picks
 * another, and come back when a pool may be asked again; known by their reason, so also after the memory was lost.
 */
#ifndef SE_PLAN_RECONCILE_H
#define SE_PLAN_RECONCILE_H

#include "lib/cluster/generation.h"
#include "lib/node/instance.h"
#include "lib/node/node.h"
#include "lib/node/binding.h"
#include "lib/node/health.h"
#include "lib/node/offering.h"
#include "lib/plan/fleet.h"
#include "lib/plan/plan.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct nodeset;
struct protection;

/* Reasons of ParallelCluster, by which such nodes are known again; the first follows "(Code:...)". */
#define REASON_DISABLED "Temporarily disabling node due to insufficient capacity"
#define REASON_ENABLED "Enabling node since insufficient capacity timeout expired"
#define REASON_LAUNCH_FAILED "Failure when resuming nodes"
/* slurmctld lets a job whose node failed rest for two minutes, and may take half a minute more to look at it again. A resource
 * that was refused stays disabled for so long if its queue has another: the second try is to land there. */
#define RECONCILE_REQUEUE_MS (INT64_C(180) * 1000)
/* Is this node off because its resource is short? */
bool reconcile_disabled(const char *reason);

struct reconcile_input {
	const struct generation *gen;
	const struct nodes *nodes;          /* NULL = slurmctld was not read */
	const struct instances *instances;  /* ours by UUID, all states, of all clouds; NULL = EC2 was not read */
	const bool *cloud_unread;           /* 0 = the cluster's own, then gen->clouds: not read; NULL = all were */
	const struct bindings *bindings;    /* all rows, FREE ones too; NULL = not read */
	const struct launches *launches;    /* not DONE; NULL = not read */
	const struct shortages *shortages;  /* capacity memory; NULL = not read */
	const struct healths *healths;      /* of machines that are not well; NULL = not read */
	const struct protection *protection; /* one a compute resource (protect.h); NULL = none is protected */
	const struct nodeset *cycling;      /* nodes whose machines never come up (protect.h); may be NULL */
	enum fleet_status fleet;            /* static nodes are only launched while the fleet runs */
	int64_t health_grace_ms;            /* a younger failed status check is not judged */
	int64_t event_lead_ms;              /* an event of EC2 further away is not judged */
	const struct nodeset *held;         /* nodes whose capacity block is not active: no machine can come; may be NULL */
	const struct strs *dead_pids;       /* launch ids whose worker process is gone, or is the caller itself */
	int64_t now_ms;
	int64_t orphan_grace_ms;            /* younger instances without a node are not judged */
	int64_t observed_ms;                /* when the reads began: rows changed after it are not judged */
	int64_t clock_set_ms;               /* wall time at which the clock was set, 0 = never: nothing counts as older than that, and
					     * what bears a later time than now is from before it */
	const struct kvs *static_backoff;   /* node -> wall ms before which it is not launched again; may be NULL */
	const struct kvs *seen;             /* of reconcile_watch; NULL = rules that watch do not run */
};

int reconcile_plan(const struct reconcile_input *in, struct plan *out, struct err *e);

/* Some states carry no time of their own (powering up without a machine), and EC2 may not tell since when a check fails. The caller
 * keeps `seen` (node -> "rule since_ms", machine -> "impaired since_ms") from loop to loop; this brings it up to date with what
 * `in` shows, before reconcile_plan. in->seen is not used. On error *seen is unchanged. */
int reconcile_watch(const struct reconcile_input *in, struct kvs *seen, struct err *e);

#endif
