/* SPDX-License-Identifier: GPL-2.0-or-later */
/* observe.h - one look at the world: Slurm's nodes, EC2's instances, our rows. A source that could not be read is absent, never
 * empty. */
#ifndef SE_CLUSTERMGTD_OBSERVE_H
#define SE_CLUSTERMGTD_OBSERVE_H

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/node/binding.h"
#include "lib/node/instance.h"
#include "lib/node/node.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct ec2_call;
struct plan;
struct world;

struct observed {
	int64_t at_ms;	       /* wall time when the look began */
	bool slurm, ec2, rows; /* which sources were read */
	struct err slurm_why, ec2_why, rows_why; /* and why not */
	struct nodes nodes;
	struct ec2_call *call;		   /* owns the instances */
	const struct instances *instances; /* NULL unless ec2 */
	struct bindings bindings;
	struct launches launches;
	struct strs dead;   /* launches whose worker is gone, or is this process */
	struct kvs backoff; /* static node -> wall ms */
};

/* Trouble with a source is logged once and kept in the rows, unless `quiet`. */
void observe(struct world *w, struct observed *o, int64_t deadline_mono_ms, bool quiet);
/* A line for each source that was not read. */
void observed_print_unread(const struct observed *o, FILE *out);
void observed_clear(struct observed *o);
/* What to do about it; seen is kept from loop to loop (reconcile_watch). -1 on no memory. */
int observed_plan(struct world *w, const struct observed *o, struct kvs *seen, struct plan *out);

#endif
