/* identify.h - ask slurmctld which node this machine is. */
#ifndef SE_COMPUTEMGTD_IDENTIFY_H
#define SE_COMPUTEMGTD_IDENTIFY_H

#include "computemgtd/match.h"

#include <stddef.h>
#include <stdint.h>

struct err;

struct identify_spec {
	const char *conf; /* a slurm.conf with what a client needs */
	struct self self;
	const char *nodes; /* hostlist of the launch, in its order; "" or NULL = not known */
	size_t index;	   /* this machine's place in it; only a first guess */
	int64_t timeout_s;
};

/* The node's name; caller frees. NULL with e when the time is over or nothing can come of waiting (SlurmUser differs here). */
char *identify(const struct identify_spec *s, struct err *e);

#endif
