/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partitions.c - partitions of slurmctld: their nodes and states, and setting a state. */
#include "lib/slurmctl/slurmctl.h"

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/slurmctl/slurm_compat.h"

#include <errno.h>
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

/* libslurm of 22.05 does not free this member. Freeing it first is right in every release, because slurm_xfree() also clears the
 * pointer. */
static void free_leaks(partition_info_msg_t *m)
{
	for (uint32_t i = 0; slurm_xfree && i < m->record_count; i++)
		slurm_xfree((void **)&m->partition_array[i].nodesets);
}

int slurmctl_partitions(struct partitions *out, struct err *e)
{
	partition_info_msg_t *m = NULL;
	int rc = 0;

	slurmctl_asked("partitions");
	if (slurm_load_partitions((time_t)0, &m, SHOW_ALL) != 0)
		return slurmctl_fail(e, "cannot read the partitions from slurmctld");
	for (uint32_t i = 0; i < m->record_count && rc == 0; i++)
		if (m->partition_array[i].name)
			rc = add(out, &m->partition_array[i]);
	free_leaks(m);
	slurm_free_partition_info_msg(m);
	return rc < 0 ? err_nomem(e) : 0;
}

static uint16_t number_of(enum partition_state state)
{
	switch (state) {
	case PART_UP:
		return PARTITION_UP;
	case PART_DOWN:
		return PARTITION_DOWN;
	case PART_DRAIN:
		return PARTITION_DRAIN;
	case PART_INACTIVE:
		return PARTITION_INACTIVE;
	case PART_OTHER:
		break;
	}
	return NO_VAL16;
}

int slurmctl_partition_state(const char *name, enum partition_state state, struct err *e)
{
	update_part_msg_t m;
	int rc = 0;

	slurm_init_part_desc_msg(&m);
	m.name = str_dup(name);
	m.state_up = number_of(state);
	if (!m.name)
		return err_nomem(e);
	slurmctl_asked("update partition");
	if (slurm_update_partition(&m) != 0)
		rc = errno == ESLURM_USER_ID_MISSING
			     ? err_set(e, "slurmctld does not let this user change partitions: run it as SlurmUser or root")
			     : err_set(e, "cannot set partition %s %s: %s", name, partition_state_text(state), slurm_strerror(errno));
	free(m.name);
	return rc;
}
