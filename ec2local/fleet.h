/* fleet.h - instant fleets: what each made, for a repeated call with the same client token. */
#ifndef EC2LOCAL_FLEET_H
#define EC2LOCAL_FLEET_H

#include "ec2local/call.h"
#include "ec2local/index.h"

/* Zero-initialised = empty. */
struct fleets {
	struct index by_token; /* to fleet.c's records */
};

void fleets_free(struct fleets *l);

extern const struct action fleet_actions[];

#endif
