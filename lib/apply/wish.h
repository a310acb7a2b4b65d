/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wish.h - what a person asked for, as our state has it: the fleet's status, and whether everything is frozen. */
#ifndef SE_APPLY_WISH_H
#define SE_APPLY_WISH_H

#include "lib/base/clock.h"
#include "lib/plan/fleet.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct store;

struct wish {
	struct fleet fleet;
	int64_t frozen_until_ms; /* 0 = not frozen, also when that time is over at now_ms */
};

/* RUNNING and not frozen until told otherwise, so *out is that when the rows cannot be read. */
int wish_read(struct store *s, int64_t now_ms, struct wish *out, struct err *e);
/* May machines be launched? If not, *code is for Slurm's Reason and e says why and what helps. */
bool wish_serves(const struct wish *w, const char **code, struct err *e);
/* clock_minute() of a freeze's end: rounded up. */
void wish_clock(int64_t wall_ms, char out[CLOCK_MINUTE]);

#endif
