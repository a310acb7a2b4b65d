/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet.h - the EC2 call of one launch row: RunInstances for one type in one subnet, else CreateFleet. Internal to lib/apply. */
#ifndef SE_APPLY_FLEET_H
#define SE_APPLY_FLEET_H

#include "lib/plan/resume.h"

#include <stddef.h>

struct ec2_call;
struct err;
struct generation;
struct launch;

/* n 0 = all choices of row->stage. The same bytes for the same arguments. NULL with e. */
struct ec2_call *fleet_call(const struct generation *g, const struct gen_resource *r, const struct launch *row,
			    const struct resume_choice *choices, size_t n, struct err *e);

#endif
