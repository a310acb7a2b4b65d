/* note.h - what a person should look at (ACT_NOTE of a plan): a line of the log and an event, once. */
#ifndef SE_APPLY_NOTE_H
#define SE_APPLY_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nodeset;
struct plan;
struct world;

/* What was said, from loop to loop. Zero-initialised = nothing; then the events of the last day count as said, so that a restart
 * does not repeat it. */
struct notes {
	struct nodeset *said; /* "code node instance" */
	int64_t *seen_ms;     /* of each: monotonic ms at which a plan last had it */
	size_t cap;
	bool remembered;
};

/* Say the notes of a plan that were not said yet. One that no plan had for an hour is over, and is said again if it comes back;
 * a loop that could not read a source has none. */
void notes_say(struct world *w, struct notes *l, const struct plan *p);
void notes_clear(struct notes *l);

#endif
