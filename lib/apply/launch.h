/* SPDX-License-Identifier: GPL-2.0-or-later */
/* launch.h - one launch: its committed row, its exact request, its answer. Internal to lib/apply; used by resume and by
 * clustermgtd's retries. */
#ifndef SE_APPLY_LAUNCH_H
#define SE_APPLY_LAUNCH_H

#include "lib/node/binding.h"
#include "lib/node/instance.h"

#include <stddef.h>
#include <stdint.h>

struct ec2_call;
struct err;
struct world;

enum launching_outcome {
	LAUNCHING_NEW,	   /* not performed yet */
	LAUNCHING_CAME,	   /* instances came, perhaps fewer than asked; row is ANSWERED */
	LAUNCHING_REFUSED, /* a definite no: nothing came; row is DONE */
	LAUNCHING_OPEN	   /* not known, or later: the row stays as it is, clustermgtd goes on with it */
};

struct launching {
	struct launch row;
	size_t step; /* the resume plan's */
	struct ec2_call *call;
	enum launching_outcome outcome;
};

/* A fresh launch id, 20 characters, for row.id: also ClientToken and tag value. */
void launching_new_id(char out[21]);
/* Build the call for a claimed row and keep the exact request in the row; without that there is no call. The resource is found
 * by row.queue and row.resource.
 */
int launching_prepare(struct world *w, struct launching *l, struct err *e);
/* The same from the request an earlier process kept. */
int launching_prepare_again(struct launching *l, struct err *e);
/* Read the performed call's answer, log it, write the row's next state. */
void launching_collect(struct world *w, struct launching *l);
/* Instances that came; an empty list if none. Borrowed from the call. */
const struct instances *launching_instances(const struct launching *l);
/* What a person does about a refusal of this code, "" if we do not know better than EC2's own words. */
const char *launching_remedy(const char *code);
void launching_clear(struct launching *l);

/* Append an event; trouble is only logged, because an event never decides anything. */
void apply_event(struct world *w, const char *type, const char *node, const char *instance, const char *detail);

#endif
