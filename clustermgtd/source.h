/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source.h - what a loop reads from, and whether it could: trouble is said once, kept with its beginning in the state file, and
 * so is its end. */
#ifndef SE_CLUSTERMGTD_SOURCE_H
#define SE_CLUSTERMGTD_SOURCE_H

#include "lib/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct world;

enum source_id {
	SOURCE_SLURM,
	SOURCE_EC2,    /* the machines, in one cloud at least */
	SOURCE_HEALTH, /* what EC2 holds for unwell */
	SOURCE_STATE,  /* our own file; its trouble is not kept, for it would be kept there */
	N_SOURCES
};

struct source {
	bool failing;
	int64_t since_mono_ms; /* of the first failure after a success */
	bool looked, ok;       /* reported since the last sources_write */
	bool changed;	       /* it began or ended to fail since then */
	bool logged;	       /* and the event log has that */
	int64_t failed_ms;     /* how long, when it ended */
	struct err why;
};

/* From loop to loop; zero-initialised = nothing known. */
struct sources {
	struct source v[N_SOURCES];
};

/* The name under which the state file has it. */
const char *source_name(enum source_id id);
/* why NULL = it could be read. Logs trouble that is new, and its end. */
void source_report(struct sources *l, enum source_id id, const struct err *why);
/* What was reported since the last time goes to the state file, in one transaction; if that fails SOURCE_STATE is in trouble. */
void sources_write(struct world *w, struct sources *l);
/* One of several clouds on its own, for resume: kept as "ec2/REGION". why NULL = it could be read. */
int source_write_cloud(struct world *w, size_t cloud, const struct err *why, struct err *e);

#endif
