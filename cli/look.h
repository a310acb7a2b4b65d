/* look.h - one look at the whole cluster for a person who asks: what slurmctld, EC2 and our state say, and what clustermgtd's
 * rules make of it. For `status` and `explain`. Read by look_read.c, which changes nothing; joined and judged by look_judge.c,
 * which is pure. A source that is away is absent, never empty: `..._away` says why.
 */
#ifndef SE_CLI_LOOK_H
#define SE_CLI_LOOK_H

#include "lib/cluster/generation.h"
#include "lib/node/binding.h"
#include "lib/node/failure.h"
#include "lib/node/health.h"
#include "lib/node/instance.h"
#include "lib/node/map.h"
#include "lib/node/node.h"
#include "lib/node/offering.h"
#include "lib/plan/fleet.h"
#include "lib/plan/invariants.h"
#include "lib/plan/plan.h"
#include "lib/plan/protect.h"
#include "lib/slurmctl/slurmctl.h"
#include "lib/state/store.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ec2_call;
struct err;
struct nodeset;

/* The parts of settings.yaml that are shown or that rules need. */
struct look_rules {
	int64_t loop_ms, heartbeat_limit_ms, orphan_grace_ms, health_grace_ms, event_lead_ms, terminate_share;
	struct protect_rule protect;
};

struct look {
	struct generation *gen;
	struct look_rules rules;
	int64_t now_ms;

	char *slurm_away; /* NULL = nodes and jobs were read */
	struct nodes nodes;
	struct partitions partitions;
	struct slurmctl_jobs jobs; /* those that were wanted */

	char *ec2_away;		    /* NULL = every cloud was read */
	bool *cloud_unread;	    /* 0 = the cluster's, then gen->clouds; NULL = none was */
	struct instances instances; /* of all clouds; the texts belong to the calls */
	bool has_healths;
	struct healths healths; /* likewise */
	struct ec2_call **calls;
	size_t n_calls;

	bool disk_full;   /* no row can be written, so nothing is launched; the rows cannot tell that */
	char *state_away; /* NULL = all rows were read */
	struct launches launches;
	struct bindings bindings;
	struct shortages shortages;
	struct failures failures;
	struct strs consoles; /* names of the files of saved console output; none where they may not be seen */
	struct kvs backoff;
	struct strs dead; /* launches nobody works on */
	struct fleet fleet;
	struct kvs closed;				     /* partitions that the fleet closed, and what they were */
	int64_t fleet_set_ms, frozen_until_ms, confirmed_ms; /* 0 = not set */
	struct source_rows sources;			     /* what clustermgtd notes of its own reads */
	bool has_daemon;				     /* whether clustermgtd runs could be seen: */
	pid_t daemon;					     /* its process, 0 = it does not */

	/* made by look_judge */
	struct map node, row, row_of, instance; /* names, names, instance ids and instance ids to their positions */
	struct protection *protection;		/* one a resource */
	struct nodeset *cycling;		/* nodes whose machines never come up */
	struct violations violations;
	struct plan plan;    /* what clustermgtd would do now */
	struct kvs waits;    /* rules that act once they were seen for OrphanGrace: node -> "rule since" */
	size_t held, in_use; /* machines that the brake would keep from being ended, of so many */
};

/* What a person calls a node's state. */
enum look_state { LOOK_OFF, LOOK_WAKING, LOOK_IDLE, LOOK_BUSY, LOOK_DOWN, LOOK_DRAINED, LOOK_GOING };
enum look_state look_state(uint32_t state);
/* Is this offering one of the ways to fill the resource? */
bool look_offers(const struct gen_resource *r, const struct offering *o);

/* wanted: which jobs are kept. -1 with e: there is nothing to show. note: begins our last line should libslurm end the process.
 */
int look_read(struct look *l, const char *note, slurmctl_job_fn wanted, const void *of, struct err *e);
/* Only the joins. -1 on no memory. */
int look_join(struct look *l);
/* Joins, then the rules. */
int look_judge(struct look *l, struct err *e);
void look_clear(struct look *l);

/* Console output that was saved: "<node>.<instance>.log". */
#define CONSOLE_DIR PKGLOGDIR "/console"
bool look_console_of(const char *file, const char *node);
/* Joined by look_judge; NULL = none or not read. */
const struct node *look_node(const struct look *l, const char *name);
const struct binding *look_row(const struct look *l, const char *node);	       /* its binding, if that is not FREE */
const struct binding *look_row_of(const struct look *l, const char *instance); /* BOUND */
const struct instance *look_instance(const struct look *l, const char *id);
const struct launch *look_launch(const struct look *l, const char *id); /* an open one */
/* When a node that powers up began to: Slurm does not tell, so the oldest sign counts: launch, machine, job (NULL = none). 0 =
 * no sign. */
int64_t look_waking_since(const struct look *l, const struct node *n, const struct slurmctl_job_info *j);
const struct health *look_health(const struct look *l, const char *instance);
const struct source_row *look_source(const struct look *l, const char *name); /* "loop", "slurm", "ec2", ... */
/* A machine's resource, or SIZE_MAX. */
size_t look_resource(const struct look *l, const char *queue, const char *resource);

#endif
