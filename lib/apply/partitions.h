/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partitions.h - a stopped or started fleet in Slurm's partitions and in our words. Internal to lib/apply. */
#ifndef SE_APPLY_PARTITIONS_H
#define SE_APPLY_PARTITIONS_H

#include <stdbool.h>

struct plan;
struct world;

/* Carry out the ACT_PARTITIONs of a plan. What a partition was is in our state before it is closed, and goes after it is open
 * again, so that a loop that dies in between closes or opens it once more. failed[i] is set for those that were not done. */
void partitions_carry(struct world *w, const struct plan *p, bool *failed);
/* Carry out its ACT_FLEETs; one whose word a person changed meanwhile is left. After everything else: the status says what has
 * been done. */
void partitions_carry_fleet(struct world *w, const struct plan *p, bool *failed);

#endif
