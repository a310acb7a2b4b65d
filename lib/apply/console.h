/* SPDX-License-Identifier: GPL-2.0-or-later */
/* console.h - files with what machines printed while they failed to boot: one a machine, the newest hundred. Internal to
 * lib/apply. */
#ifndef SE_APPLY_CONSOLE_H
#define SE_APPLY_CONSOLE_H

#include <stddef.h>

struct err;

/* Append to <log folder>/console/<node>.<instance>.log (0640), folder NULL = PKGLOGDIR. Refuses names that are none of a node or
 * an instance. *told: the path and the line that tells most, for an event; caller frees. */
int console_keep(const char *folder, const char *node, const char *instance, const char *text, size_t n, char **told,
		 struct err *e);

#endif
