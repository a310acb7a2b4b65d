/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settle.h - after EC2's answers: bind, tell, return what is over, fail what got nothing. Internal to lib/apply; resume and
 * clustermgtd's retries end the same way. */
#ifndef SE_APPLY_SETTLE_H
#define SE_APPLY_SETTLE_H

#include <stddef.h>
#include <stdint.h>

struct binds;
struct err;
struct launching;
struct strs;
struct world;

#define AFTER_LIMIT_MS 5000 /* for rows and Slurm once the time for EC2 is over */

/* Commit the binds, tell slurmctld, learn missing addresses until the deadline, terminate `surplus` (and what is no longer
 * wanted): machines of the launches v. binds may shrink. -1 if rows could not be written: clustermgtd then goes on with them. */
int settle(struct world *w, struct launching *v, size_t n, struct binds *b, struct strs *surplus, int64_t deadline_mono_ms,
	   struct err *e);
/* Close the rows of the launches that are through, in one transaction. */
void settle_close(struct world *w, const struct launching *v, size_t n);
/* Nodes of these jobs DOWN with `(Code:X)Failure when resuming nodes: WHY`, why NULL = without; a job that lost its nodes is requeued
 * by Slurm at once. Static ones get a back-off. */
void settle_failed(struct world *w, const char *const *names, size_t n, const struct strs *jobs, const char *code,
		   const char *why, int64_t deadline_mono_ms);

#endif
