/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind.h - tie nodes to machines: rows first, then address and launch id in Slurm. Internal to lib/apply. */
#ifndef SE_APPLY_BIND_H
#define SE_APPLY_BIND_H

#include "lib/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct world;

struct bind {
	char *node;
	char *instance;
	char *ip;     /* NULL = EC2 has not told it yet */
	char *launch; /* the machine's */
	char *claim;  /* the launch that claims the node in the rows; may be another one, NULL = none */
	char *what;   /* "t2.micro us-east-1a", for the event; NULL = not known */
	bool told;    /* slurmctld has address and launch id */
};

/* Zero-initialised = empty. */
struct binds {
	struct bind *v;
	size_t n;
	size_t cap;
};

/* -1 no memory. */
int binds_add(struct binds *l, const char *node, const char *instance, const char *ip, const char *launch, const char *claim);
void binds_clear(struct binds *l);
/* Write a BOUND row for each, all or none; those that are no longer wanted (the node was suspended meanwhile) leave the list
 * and their instance ids are appended to *unwanted: the caller terminates them. */
int binds_commit(struct world *w, struct binds *l, struct strs *unwanted, struct err *e);
/* Ask EC2 for the addresses that are missing, at once and then with growing pauses, until all are known or deadline_mono_ms.
 * Known ones are written to the rows and told to slurmctld (until tell_mono_ms) as they come. An id that EC2 does not show
 * stays bound without an address: nothing is concluded from that. */
void binds_learn_addresses(struct world *w, struct binds *l, int64_t deadline_mono_ms, int64_t tell_mono_ms);
/* Tell slurmctld: one update for each launch. Returns how many binds were not told (no address, or slurmctld away). */
size_t binds_tell(struct world *w, struct binds *l, int64_t deadline_mono_ms);

#endif
