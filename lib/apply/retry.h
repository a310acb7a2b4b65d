/* SPDX-License-Identifier: GPL-2.0-or-later */
/* retry.h - launches that another process, or an earlier loop, left open. Internal to lib/apply. */
#ifndef SE_APPLY_RETRY_H
#define SE_APPLY_RETRY_H

#include <stdint.h>

struct err;
struct strs;
struct world;

/* Take the rows over (if their worker has not changed meanwhile), ask EC2 again with the same request and token, bind or fail
 * their nodes. */
int retry_launches(struct world *w, const struct strs *ids, int64_t deadline_mono_ms, struct err *e);

#endif
