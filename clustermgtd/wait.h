/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wait.h - between two loops: until the period is over, a program pokes us, or a signal ends us. */
#ifndef SE_CLUSTERMGTD_WAIT_H
#define SE_CLUSTERMGTD_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct err;

/* The socket that apply_poke() writes to. -1 with e. */
int wait_open(struct err *e);
void wait_close(int fd);
/* Wait at most `ms`, but at least a second unless a signal comes (pokes are rate limited); keeps systemd's watchdog content.
 * True if a poke ended it. */
bool wait_for_work(int fd, int64_t ms);

#endif
