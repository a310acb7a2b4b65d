/* invariants.h - what must hold whatever happened, checked each loop on what was read, pure.
 *
 * Every machine has a row or is younger than the grace; no node has two machines; no machine two nodes; what was launched is
 * bound or returned. A violation decides nothing: it is said, counted and left to the rules.
 */
#ifndef SE_PLAN_INVARIANTS_H
#define SE_PLAN_INVARIANTS_H

#include "lib/plan/reconcile.h"

#include <stddef.h>

struct err;

struct violation {
	const char *code;  /* "machine-without-row", "node-with-two-machines", "machine-with-two-nodes", "launch-unaccounted" */
	char *node;
	char *instance;
	char *text;
};
struct violations { struct violation *v; size_t n; size_t cap; };

/* Appends. A source that was not read stops the checks that need it. */
int invariants_check(const struct reconcile_input *in, struct violations *out, struct err *e);
void violations_clear(struct violations *l);
/* All codes, NULL-terminated: a metric has each. */
extern const char *const invariant_codes[];

#endif
