/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock_watch.h - was the wall clock set while we ran? Pure. What was stamped before it was set has no age that can be told. */
#ifndef SE_CLUSTERMGTD_CLOCK_WATCH_H
#define SE_CLUSTERMGTD_CLOCK_WATCH_H

#include <stdint.h>

#define CLOCK_AHEAD_MS 5000 /* a stamp further in the future is from before the clock was set back */

/* Zero-initialised = no look yet. */
struct clock_watch {
	int64_t wall_ms, mono_ms; /* of the last look; wall_ms 0 = none */
	int64_t set_ms;		  /* wall time, as it is now, of the last look that found the clock set; 0 = never */
};

/* Look at both clocks. By how many ms the wall clock was set since the last look, 0 = not: a clock that is slowed or sped up a
 * little is not set. */
int64_t clock_watch_look(struct clock_watch *c, int64_t wall_ms, int64_t mono_ms);

#endif
