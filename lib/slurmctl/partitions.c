/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partitions.c - partitions of slurmctld and their nodes. */
#include "lib/slurmctl/slurmctl.h"

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/slurmctl/slurm_compat.h"

int slurmctl_partitions(struct kvs *out, struct err *e)
{
	partition_info_msg_t *m = NULL;
	int rc = 0;

	if (slurm_load_partitions((time_t)0, &m, SHOW_ALL) != 0)
		return slurmctl_fail(e, "cannot read the partitions from slurmctld");
	for (uint32_t i = 0; i < m->record_count && rc == 0; i++) {
		const partition_info_t *p = &m->partition_array[i];

		if (p->name)
			rc = kvs_add(out, p->name, p->nodes ? p->nodes : "");
	}
	slurm_free_partition_info_msg(m);
	return rc < 0 ? err_nomem(e) : 0;
}
