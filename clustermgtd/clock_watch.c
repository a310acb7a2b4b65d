/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock_watch.c - both clocks run equally fast, so between two looks the same time passes on both, unless one is set. A head
 * node that slept (its monotonic clock stood still) looks the same, and is treated the same. */
#include "clustermgtd/clock_watch.h"

#define SET_MS 5000 /* less changes no decision */

int64_t clock_watch_look(struct clock_watch *c, int64_t wall_ms, int64_t mono_ms)
{
	int64_t by = c->wall_ms ? (wall_ms - c->wall_ms) - (mono_ms - c->mono_ms) : 0;

	c->wall_ms = wall_ms;
	c->mono_ms = mono_ms;
	if (by > -SET_MS && by < SET_MS)
		return 0;
	c->set_ms = wall_ms;
	return by;
}
