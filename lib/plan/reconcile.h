/* reconcile.h - what clustermgtd does about the difference between Slurm, EC2 and our own rows: pure, rule by rule.
 *
 * Rules are rows of a table (reconcile.c): name, required and forbidden state bits, machine, age, action, reason. A source that could not
 * be read (its pointer is NULL) stops every rule that needs it: unread is never "gone".
 */
#ifndef SE_PLAN_RECONCILE_H
#define SE_PLAN_RECONCILE_H

#include "lib/cluster/generation.h"
#include "lib/node/instance.h"
#include "lib/node/node.h"
#include "lib/node/binding.h"
#include "lib/plan/plan.h"

#include <stdint.h>

struct err;

struct reconcile_input {
	const struct generation *gen;
	const struct nodes *nodes;          /* NULL = slurmctld was not read */
	const struct instances *instances;  /* ours by UUID, all states; NULL = EC2 was not read */
	const struct bindings *bindings;
	const struct launches *launches;    /* not DONE */
	const struct strs *dead_pids;       /* launch ids whose worker process is gone */
	int64_t now_ms;
	int64_t orphan_grace_ms;            /* younger instances without a node are not judged */
	int64_t observed_ms;                /* when the reads began: rows changed after it are not judged */
	const struct kvs *static_backoff;   /* node -> wall ms before which it is not launched again; may be NULL */
};

int reconcile_plan(const struct reconcile_input *in, struct plan *out, struct err *e);

#endif
