/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tell.h - what this room tells slurmctld about nodes, with patience while slurmctld is away. Internal to lib/apply. */
#ifndef SE_APPLY_TELL_H
#define SE_APPLY_TELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* While slurmctld does not answer, each tries again until deadline_mono_ms (or apply_stop); a refusal is final at once. */

/* Placeholder address and no launch id: the node has no machine. */
int tell_no_machine(const char *const *names, size_t n, int64_t deadline_mono_ms, struct err *e);
/* Address and machine of each node and the launch they all come from. *there: slurmctld took the caller's update before this one, so it is
 * not asked whether it is there; kept for the next. False at first. */
int tell_machines(const char *const *names, const char *const *addrs, const char *const *instances, size_t n,
		  const char *launch, bool *there, int64_t deadline_mono_ms, struct err *e);
/* A state with a reason. */
int tell_state(const char *const *names, size_t n, uint32_t state, const char *reason, int64_t deadline_mono_ms, struct err *e);

#endif
