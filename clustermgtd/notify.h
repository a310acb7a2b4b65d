/* SPDX-License-Identifier: GPL-2.0-or-later */
/* notify.h - systemd's readiness and watchdog messages, without its library. Nothing happens outside systemd. */
#ifndef SE_CLUSTERMGTD_NOTIFY_H
#define SE_CLUSTERMGTD_NOTIFY_H

#include <stdint.h>

/* "READY=1", "WATCHDOG=1", "STOPPING=1", "STATUS=...". */
void notify(const char *message);
/* Half of the watchdog's time in ms, INT64_MAX if there is none. */
int64_t notify_period_ms(void);

#endif
