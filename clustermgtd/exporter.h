/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exporter.h - a small HTTP server on loopback that shows the text of metrics.h: GET /metrics and nothing else. It has a
 * thread of its own, so it answers also while a loop waits for EC2.
 */
#ifndef SE_CLUSTERMGTD_EXPORTER_H
#define SE_CLUSTERMGTD_EXPORTER_H

#include <stdint.h>

struct err;
struct exporter;

struct exporter *exporter_create(struct err *e); /* listens nowhere; NULL with e */
/* Listen on 127.0.0.1:port from now on; 0 = nowhere. Nothing happens if it does already. -1 with e: then it listens nowhere,
 * and may be asked again. */
int exporter_listen(struct exporter *x, int64_t port, struct err *e);
/* The new text, owned; NULL leaves the old one. */
void exporter_publish(struct exporter *x, char *text);
void exporter_destroy(struct exporter *x); /* takes NULL */

#endif
