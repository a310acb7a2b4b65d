/* apply.h - plans to effects, in the safe order: rows first, then EC2, then Slurm, then rows; outcome per node. */
#ifndef SE_APPLY_APPLY_H
#define SE_APPLY_APPLY_H

#include "lib/plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct aws;
struct err;
struct generation;
struct resume_request;
struct settings;
struct store;

/* What each program opens at its start and closes at its end. */
struct world {
	struct settings *settings;
	struct generation *gen;
	struct store *store;
	struct aws *aws;
};
/* settings.yaml, the applied generation, the state file (as SlurmUser), aws (not connected), libslurm. A note (state file moved aside) is logged. */
int world_open(struct world *w, const char *ident, bool foreground, struct err *e);
void world_close(struct world *w);

/* ResumeProgram: the whole of design.md "Resume, in order". Node failures are DOWN in Slurm, not an error here; -1 only when nothing could be
 * done at all (and then the nodes are DOWN if slurmctld can be reached). */
int apply_resume(struct world *w, const struct resume_request *r, int64_t deadline_mono_ms, struct err *e);
/* SuspendProgram and ResumeFailProgram: terminate by instance id, free the row, placeholder address, clear extra. Idempotent. */
int apply_suspend(struct world *w, const char *const *nodes, size_t n, int64_t deadline_mono_ms, struct err *e);
/* clustermgtd: carry out a plan. Every action is tried; failures are logged and stay for the next loop. Returns how many failed. */
size_t apply_plan(struct world *w, const struct plan *p, int64_t deadline_mono_ms);
/* Wake clustermgtd through its socket, if it listens. */
void apply_poke(void);

#endif
