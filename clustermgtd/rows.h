/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rows.h - what the state file holds, as a part of a look at the world. */
#ifndef SE_CLUSTERMGTD_ROWS_H
#define SE_CLUSTERMGTD_ROWS_H

struct observed;
struct world;

/* Bindings, launches and which of them nobody works on, capacity memory, back-off; then what a person asked for. What could not
 * be read is told in o->rows and o->rows_why. */
void rows_read(struct world *w, struct observed *o);

#endif
