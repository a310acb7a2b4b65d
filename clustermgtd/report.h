/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.h - the figures of one loop, for the event log: ParallelCluster's event types where it has one, and a heartbeat. They
 * are no rows of the state: nobody looks for them there.
 */
#ifndef SE_CLUSTERMGTD_REPORT_H
#define SE_CLUSTERMGTD_REPORT_H

#include <stddef.h>
#include <stdint.h>

struct kept;
struct observed;
struct plan;
struct world;

/* What was seen, what was planned, how many actions failed. */
void report_loop(struct world *w, const struct observed *o, const struct kept *k, const struct plan *p, size_t failed,
		 int64_t loop_us);

#endif
