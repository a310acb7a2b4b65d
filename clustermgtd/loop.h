/* loop.h - one loop: observe, decide, act. */
#ifndef SE_CLUSTERMGTD_LOOP_H
#define SE_CLUSTERMGTD_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept;
struct world;

/* Where its time went, for who measures. */
struct loop_times {
	int64_t observe_us, act_us;
	int64_t decide_us; /* of this thread: it waits for nothing, and others on the machine are not its doing */
	size_t actions;
};

/* True if something is unfinished and the next loop should come soon. *wake_ms: it should come at that wall time, if that is
 * earlier. times: NULL = not wanted. */
bool loop(struct world *w, struct kept *k, int64_t *wake_ms, struct loop_times *times);

#endif
