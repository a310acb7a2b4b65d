/* SPDX-License-Identifier: GPL-2.0-or-later */
/* observe.h - one look at the world: Slurm's nodes and reservations, EC2's instances, our rows. A source that could not be
 * read is absent, never empty. */
#ifndef SE_CLUSTERMGTD_OBSERVE_H
#define SE_CLUSTERMGTD_OBSERVE_H

#include "clustermgtd/block_watch.h"
#include "clustermgtd/clock_watch.h"
#include "clustermgtd/concerns.h"
#include "clustermgtd/metrics.h"
#include "clustermgtd/source.h"
#include "lib/apply/note.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/node/binding.h"
#include "lib/node/failure.h"
#include "lib/node/health.h"
#include "lib/node/instance.h"
#include "lib/node/node.h"
#include "lib/node/offering.h"
#include "lib/node/partition.h"
#include "lib/plan/brake.h"
#include "lib/plan/fleet.h"
#include "lib/plan/invariants.h"
#include "lib/plan/protect.h"
#include "lib/slurmctl/slurmctl.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct ec2_call;
struct nodeset;
struct plan;
struct world;

/* From loop to loop. Zero-initialised = nothing yet. */
struct kept {
	struct kvs seen; /* states that carry no time of their own, and since when (reconcile_watch) */
	struct block_watch blocks;
	struct brake brake;
	struct concerns concerns;
	struct sources sources;
	struct notes notes;
	struct clock_watch clock;
	struct healths healths; /* as EC2 told last */
	bool healths_read;
	bool healths_partial; /* a cloud was away then: who of it is unwell is not known, so it is asked again at once */
	int64_t healths_mono_ms; /* when it was asked last */
	struct metrics metrics;
};

struct observed {
	int64_t at_ms;	       /* wall time when the look began */
	int64_t clock_set_ms;  /* wall time at which the clock was set, 0 = never, as far as we know */
	bool slurm, ec2, rows; /* which sources were read; ec2: in every cloud */
	struct err slurm_why, ec2_why, rows_why; /* and why not */
	struct nodes nodes;
	bool holds_read;
	struct slurmctl_reservations holds;
	struct ec2_call **call; /* one a cloud; they own the instances */
	size_t n_calls;
	bool *cloud_unread;
	struct instances merged;           /* those of several clouds: a list without its texts */
	const struct instances *instances; /* NULL if no cloud was read */
	struct bindings bindings;
	struct launches launches;
	struct strs dead;   /* launches whose worker is gone, or is this process */
	struct kvs backoff; /* static node -> wall ms */
	struct shortages shortages;
	bool failures_read;
	struct failures failures;
	struct fleet fleet;
	struct kvs closed;        /* partitions that a stop closed (fleet.h) */
	int64_t frozen_until_ms;  /* nothing is done before it; 0 = not frozen */
	int64_t confirmed_ms;     /* the brake was released by a person then; 0 = never */
	struct err health_why;
	const struct healths *healths; /* in struct kept; NULL = not read */
	bool partitions_read;
	struct partitions partitions;
	/* what follows from it, made by observed_plan */
	struct protection *protection; /* one a compute resource */
	struct nodeset *cycling;       /* nodes whose machines never come up */
	struct violations violations;
};

/* Trouble with a source is logged once and kept in the rows, unless `quiet`. */
void observe(struct world *w, struct observed *o, struct kept *k, int64_t deadline_mono_ms, bool quiet);
/* A line for each source that was not read. */
void observed_print_unread(const struct observed *o, FILE *out);
void observed_clear(struct observed *o);
/* What to do about it. -1 on no memory. */
int observed_plan(struct world *w, struct observed *o, struct kept *k, struct plan *out);
/* Delete what the capacity memory need not hold any more. */
void observed_forget(struct world *w, const struct observed *o);
/* Something is under way of which more is to be known soon. */
bool observed_unfinished(const struct observed *o);
/* Wall time at which a pool opens, a block begins, the brake is to be judged again or a freeze ends, if that is before `ms`, else
 * ms. */
int64_t observed_wake_ms(const struct observed *o, const struct kept *k, int64_t ms);
void kept_clear(struct kept *k);

#endif
