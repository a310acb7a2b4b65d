/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clouds.h - EC2's part of a look at the world: the cluster's machines in every cloud, and which of them are not well. */
#ifndef SE_CLUSTERMGTD_CLOUDS_H
#define SE_CLUSTERMGTD_CLOUDS_H

#include <stdbool.h>
#include <stdint.h>

struct healths;
struct observed;
struct sources;
struct world;

/* Machines: o->instances NULL if no cloud was read, o->ec2 if all were. A list that ends in the middle was not read. */
void clouds_read(struct world *w, struct observed *o, int64_t deadline_mono_ms);
/* Those of the machines that are not well, of the clouds whose machines were read; replaces *out. False with o->health_why and
 * *out as it was if one of these clouds did not tell. */
bool clouds_read_health(struct world *w, struct observed *o, struct healths *out, int64_t deadline_mono_ms);

#endif
