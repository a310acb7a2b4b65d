/* SPDX-License-Identifier: GPL-2.0-or-later */
/* invariants.c - checks on the picture a loop has read. */
#include "lib/plan/invariants.h"

#include <stdlib.h>

const char *const invariant_codes[] = { "machine-without-row", "node-with-two-machines", "machine-with-two-nodes",
					"launch-unaccounted", NULL };

int invariants_check(const struct reconcile_input *in, struct violations *out, struct err *e)
{
	(void)in;
	(void)out;
	(void)e;
	return 0;
}

void violations_clear(struct violations *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].node);
		free(l->v[i].instance);
		free(l->v[i].text);
	}
	free(l->v);
	*l = (struct violations){ 0 };
}
