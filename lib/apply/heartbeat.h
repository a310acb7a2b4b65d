/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heartbeat.h - is clustermgtd at work? */
#ifndef SE_APPLY_HEARTBEAT_H
#define SE_APPLY_HEARTBEAT_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct world;

/* 0 if it finished a loop and read EC2 and Slurm within HeartbeatLimit; else -1 with a sentence that says what is wrong and how to start
 * it. */
int heartbeat_check(struct world *w, int64_t deadline_mono_ms, struct err *e);
/* The same as the rows stand, without giving a clustermgtd that has just started its moment. */
int heartbeat_look(struct world *w, struct err *e);

/* The source under which the machines of one of several clouds are kept: "ec2/REGION", "ec2/REGION/PROFILE". Caller frees; NULL
 * on no memory. */
char *heartbeat_cloud_name(const struct world *w, size_t cloud);
/* 0 if clustermgtd could read the machines of that cloud within HeartbeatLimit, or has not looked at it yet; else -1. */
int heartbeat_check_cloud(struct world *w, size_t cloud, struct err *e);

#endif
