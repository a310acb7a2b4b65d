/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory.h - the capacity memory between the store and a resume plan: read, probes claimed, changes kept. Internal to lib/apply.
 *
 * lib/plan/capacity.h has the rules, lib/state the rows. */
#ifndef SE_APPLY_MEMORY_H
#define SE_APPLY_MEMORY_H

#include "lib/node/offering.h"
#include "lib/plan/resume.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct gen_resource;
struct world;

#define PROBE_MS 120000     /* a probe's process will have ended by then */
#define PROBE_WAIT_MS 10000 /* another process's probe is waited for so long, then its offering counts as closed */

/* Zero-initialised = empty. */
struct memory {
	struct shortages known; /* as read, for the plan */
	struct shortages fresh; /* as the last gate read it */
	struct shortages kept;  /* what this process wrote last */
	struct shortages held;  /* probes this process has; only the offering and probe_until_ms count */
	int64_t denied_ms;      /* wall time of the first probe that another process had; 0 = none */
};

enum gate {
	GATE_GO,     /* send it */
	GATE_LATER,  /* another process probes: wait for what it finds */
	GATE_CLOSED  /* the choices in the list are closed */
};

int memory_read(struct world *w, struct memory *m, struct err *e);
/* May this probe step go? *closed gets one entry a closed choice, at least one for GATE_CLOSED; texts are borrowed from the
 * generation and m, the caller frees the array. -1 no memory or the store. */
int memory_gate(struct world *w, struct memory *m, const struct resume_step *s, struct resume_refusal **closed, size_t *n,
		struct err *e);
/* Note refusals of a launch that no plan of this run sent, in m->known and the store. */
int memory_refuse(struct world *w, struct memory *m, const struct gen_resource *r, size_t stage,
		  const struct resume_refusal *refused, size_t n, struct err *e);
/* Write what the plan changed, if it is news. How many rows, or -1. Joins the caller's transaction. */
int memory_keep(struct world *w, struct memory *m, const struct shortages *all, size_t changed, struct err *e);
/* Give back probes that came to nothing. */
void memory_release(struct world *w, struct memory *m);
void memory_clear(struct memory *m);

#endif
