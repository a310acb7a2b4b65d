/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nodes.c - node records of slurmctld as plain values. */
#include "lib/slurmctl/slurmctl.h"

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/slurmctl/slurm_compat.h"

#include <errno.h>
#include <stdlib.h>

/* slurm_free_node_info_msg() forgets these members in many releases (extra until 24.11): 1 MB a load at 10 000 nodes. Freeing
 * them first is right in every release, because slurm_xfree() also clears the pointer. */
static void free_forgotten(node_info_msg_t *m)
{
	if (!slurm_xfree)
		return;
	for (uint32_t i = 0; i < m->record_count; i++) {
		node_info_t *n = &m->node_array[i];

		slurm_xfree((void **)&n->extra);
		slurm_xfree((void **)&n->comment);
		slurm_xfree((void **)&n->bcast_address);
#if COMPAT_NODE_INSTANCE
		slurm_xfree((void **)&n->instance_id);
		slurm_xfree((void **)&n->instance_type);
#endif
	}
}

static void free_nodes(node_info_msg_t *m)
{
	free_forgotten(m);
	slurm_free_node_info_msg(m);
}

/* Copy a text; an empty one is no text. -1 on no memory. */
static int copy(char **dst, const char *src)
{
	if (!src || !*src)
		return 0;
	*dst = str_dup(src);
	return *dst ? 0 : -1;
}

static int add_node(struct nodes *out, const node_info_t *n)
{
	struct node *o = nodes_add(out);

	if (!o || copy(&o->name, n->name) || copy(&o->addr, n->node_addr) || copy(&o->hostname, n->node_hostname) ||
	    copy(&o->reason, n->reason) || copy(&o->extra, n->extra) || copy(&o->comment, n->comment))
		return -1;
#if COMPAT_NODE_INSTANCE
	if (copy(&o->instance, n->instance_id))
		return -1;
#endif
	o->state = n->node_state;
	o->boot_time_s = n->boot_time;
	o->slurmd_start_s = n->slurmd_start_time;
	o->last_busy_s = n->last_busy;
	o->reason_time_s = n->reason_time;
	return 0;
}

static int add_all(struct nodes *out, node_info_msg_t *m, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < m->record_count && rc == 0; i++) {
		/* a nameless record is one that slurmctld hides: powered down without PrivateData=cloud, before 23.02 */
		if (m->node_array[i].name && *m->node_array[i].name)
			rc = add_node(out, &m->node_array[i]);
	}
	free_nodes(m);
	return rc < 0 ? err_nomem(e) : 0;
}

int slurmctl_nodes(struct nodes *out, struct err *e)
{
	node_info_msg_t *m = NULL;

	slurmctl_asked("nodes");
	if (slurm_load_node((time_t)0, &m, SHOW_ALL | SHOW_MIXED) != 0)
		return slurmctl_fail(e, "cannot read the nodes from slurmctld");
	return add_all(out, m, e);
}

int slurmctl_node(const char *name, struct nodes *out, struct err *e)
{
	node_info_msg_t *m = NULL;
	char *copy_of_name = str_dup(name); /* libslurm's parameter is not const */
	int rc;

	if (!copy_of_name)
		return err_nomem(e);
	slurmctl_asked("node");
	rc = slurm_load_node_single(&m, copy_of_name, SHOW_ALL | SHOW_MIXED);
	if (rc != 0 && errno == ESLURM_INVALID_NODE_NAME)
		rc = 0; /* newer releases say so; 22.05 answers with no record */
	else if (rc != 0)
		rc = slurmctl_fail(e, "cannot read a node from slurmctld");
	free(copy_of_name);
	return m ? add_all(out, m, e) : rc;
}
