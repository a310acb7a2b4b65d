/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cloud.h - which of the world's EC2 connections a node's machine hangs on, and reads and terminations that are spread over them.
 * Internal to lib/apply. */
#ifndef SE_APPLY_CLOUD_H
#define SE_APPLY_CLOUD_H

#include "lib/base/str.h"

#include <stddef.h>
#include <stdint.h>

struct err;
struct instances;
struct world;

/* Position for world_cloud_at(); a name of no resource counts as the cluster's own. */
size_t cloud_of_node(const struct world *w, const char *node);
/* How many there are. */
size_t cloud_count(const struct world *w);

/* Machine ids and the cloud of each. Zero-initialised = empty. */
struct cloud_ids {
	struct strs id;
	size_t *cloud;
	size_t cap;
};
int cloud_ids_add(struct cloud_ids *l, const char *id, size_t cloud); /* -1 no memory */
void cloud_ids_clear(struct cloud_ids *l);
/* Terminate them. -1 if some cloud refused; all are tried, the first trouble is told. */
int cloud_terminate(struct world *w, const struct cloud_ids *l, int64_t deadline_mono_ms, struct err *e);
/* Instances of one cloud by a filter, appended. -1 if they could not all be read (then nothing is appended). */
int cloud_describe(struct world *w, size_t cloud, const char *filter, const char *const *values, size_t n,
		   int64_t deadline_mono_ms, struct instances *out, struct err *e);

#endif
