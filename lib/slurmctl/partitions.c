/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partitions.c - partitions of slurmctld: their nodes and states. */
#include "lib/slurmctl/slurmctl.h"

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/slurmctl/slurm_compat.h"

#include <stdlib.h>

static enum partition_state state_of(uint16_t state)
{
	switch (state) {
	case PARTITION_UP:
		return PART_UP;
	case PARTITION_DOWN:
		return PART_DOWN;
	case PARTITION_DRAIN:
		return PART_DRAIN;
	case PARTITION_INACTIVE:
		return PART_INACTIVE;
	default:
		return PART_OTHER;
	}
}

static int add(struct partitions *out, const partition_info_t *from)
{
	struct partition *p = partitions_add(out);

	if (!p)
		return -1;
	p->name = str_dup(from->name);
	p->nodes = str_dup(from->nodes ? from->nodes : "");
	p->state = state_of(from->state_up);
	return p->name && p->nodes ? 0 : -1;
}

int slurmctl_partitions(struct partitions *out, struct err *e)
{
	partition_info_msg_t *m = NULL;
	int rc = 0;

	if (slurm_load_partitions((time_t)0, &m, SHOW_ALL) != 0)
		return slurmctl_fail(e, "cannot read the partitions from slurmctld");
	for (uint32_t i = 0; i < m->record_count && rc == 0; i++)
		if (m->partition_array[i].name)
			rc = add(out, &m->partition_array[i]);
	slurm_free_partition_info_msg(m);
	return rc < 0 ? err_nomem(e) : 0;
}
