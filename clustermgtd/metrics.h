/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics.h - what the daemon tells Prometheus, and one line for systemd: made from one look at the world and the totals kept
 * since the start. No node and no job is a label: a series must not die with what it names.
 */
#ifndef SE_CLUSTERMGTD_METRICS_H
#define SE_CLUSTERMGTD_METRICS_H

#include "clustermgtd/source.h"
#include "lib/plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept;
struct observed;
struct world;

#define METRICS_ACTIONS (ACT_NOTE + 1)
#define METRICS_VIOLATIONS 16 /* more than there are codes */

/* Totals since the start of the process; in struct kept. Zero-initialised = none. */
struct metrics {
	uint64_t loops;
	int64_t loop_us, loops_us; /* of the last, of all */
	int64_t ended_ms;	   /* wall time at which the last one ended */
	uint64_t actions[METRICS_ACTIONS], failed;
	uint64_t violations[METRICS_VIOLATIONS]; /* loops that saw one, in the order of invariant_codes */
	int64_t source_ok_ms[N_SOURCES];	 /* 0 = never */
	bool wanted;				 /* the texts are made at the end of each loop */
	char *text, *status;			 /* of the last loop; may be taken, then NULL stays behind */
};

/* A loop is over: what it saw, what it planned, how many actions failed. k->metrics is brought up to date. */
void metrics_loop(struct world *w, const struct observed *o, struct kept *k, const struct plan *p, size_t failed,
		  int64_t loop_us);
void metrics_clear(struct metrics *m);
/* The text that Prometheus reads. Caller frees; NULL on no memory. */
char *metrics_text(struct world *w, const struct observed *o, const struct kept *k);
/* "RUNNING, 120 nodes, 12 machines, EC2 degraded since 02:10 UTC". Caller frees; NULL on no memory. */
char *metrics_status(const struct world *w, const struct observed *o, const struct kept *k);

/* --- the same numbers for others */

/* One word for a node, as `sinfo` would group it. */
enum node_word {
	WORD_OFF,	   /* powered down */
	WORD_POWERING_UP,
	WORD_IDLE,
	WORD_ALLOCATED,	   /* also completing */
	WORD_MIXED,
	WORD_DRAINING,	   /* jobs still run */
	WORD_DRAINED,
	WORD_DOWN,
	WORD_POWERING_DOWN,
	WORD_OTHER,
	N_WORDS
};
enum node_word node_word_of(uint32_t state);
const char *node_word_text(enum node_word w);
/* Wall time at which a source began to fail, 0 = it does not. */
int64_t metrics_degraded_since(const struct kept *k, enum source_id id);

#endif
