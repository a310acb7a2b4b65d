/* placement.h - placement groups: names with a count of the instances in them. */
#ifndef EC2LOCAL_PLACEMENT_H
#define EC2LOCAL_PLACEMENT_H

#include "ec2local/call.h"
#include "lib/base/str.h"

#include <stddef.h>

struct placement {
	char *name;
	char *strategy;
	char id[24];
	long in_use; /* instances that are not terminated */
	struct kvs tags;
};

/* Zero-initialised = empty. */
struct placements {
	struct placement **v;
	size_t n;
	size_t cap;
};

struct placement *placements_find(const struct placements *l, const char *name_or_id);
void placements_free(struct placements *l);

extern const struct action placement_actions[];

#endif
