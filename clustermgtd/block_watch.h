/* SPDX-License-Identifier: GPL-2.0-or-later */
/* block_watch.h - what EC2 tells of the capacity blocks that the cluster uses, kept from loop to loop. */
#ifndef SE_CLUSTERMGTD_BLOCK_WATCH_H
#define SE_CLUSTERMGTD_BLOCK_WATCH_H

#include "lib/plan/blocks.h"

#include <stdbool.h>
#include <stdint.h>

struct world;

/* Zero-initialised = nothing known. */
struct block_watch {
	struct blocks blocks;  /* what was told last */
	int64_t read_ms;       /* wall time of the last look, 0 = never */
	bool incomplete;       /* something could not be read then */
	int64_t swept;         /* generation whose leftover reservations are gone */
};

/* Ask EC2 if it is time: every ten minutes, and each time while a block may become active or something could not be read.
 * Changes are logged and become events, unless `quiet`. */
void block_watch_read(struct world *w, struct block_watch *k, int64_t deadline_mono_ms, bool quiet);
/* Are Slurm's reservations to be read and compared? */
bool block_watch_compares(const struct world *w, const struct block_watch *k);
void block_watch_clear(struct block_watch *k);

#endif
