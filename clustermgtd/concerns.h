/* SPDX-License-Identifier: GPL-2.0-or-later */
/* concerns.h - what a person should know of a loop beside what was done: broken invariants, a brake that holds, a freeze. Each is
 * a line in the log and an event when it begins, not each loop. */
#ifndef SE_CLUSTERMGTD_CONCERNS_H
#define SE_CLUSTERMGTD_CONCERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct brake;
struct nodeset;
struct observed;
struct plan;
struct world;

/* From loop to loop. Zero-initialised = nothing said yet. */
struct concerns {
	struct nodeset *violations; /* "code node instance" of those that are there */
	int64_t brake_ms;       /* since when the brake holds that was told last */
	size_t brake_held;
	bool frozen;
	char *plan;             /* what a frozen loop would have done, as text */
};

void concerns_tell(struct world *w, struct concerns *c, const struct observed *o, const struct brake *b, int64_t share_percent);
/* Is everything frozen? Then the plan is only told, once for each. */
bool concerns_frozen(struct world *w, struct concerns *c, const struct observed *o, const struct plan *p);
void concerns_clear(struct concerns *c);

#endif
