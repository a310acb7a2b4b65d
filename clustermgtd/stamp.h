/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stamp.h - the heartbeat that compute nodes see: `comment` of our powered-up nodes, once a minute, in one update. */
#ifndef SE_CLUSTERMGTD_STAMP_H
#define SE_CLUSTERMGTD_STAMP_H

struct nodes;
struct world;

/* Stamp if a minute has passed. Nodes whose comment is somebody else's are left alone. */
void stamp(struct world *w, const struct nodes *nodes);

#endif
