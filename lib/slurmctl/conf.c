/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf.c - the configuration that slurmctld runs with, as plain values. */
#include "lib/slurmctl/slurmctl.h"

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/slurmctl/slurm_compat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int copy(char **dst, const char *src)
{
	if (!src)
		return 0;
	*dst = str_dup(src);
	return *dst ? 0 : -1;
}

static int fill(struct slurmctl_conf *out, const slurm_conf_t *c)
{
	out->slurm_user_id = c->slurm_user_id;
	out->slurmctld_port = (int)c->slurmctld_port;
	out->resume_timeout_s = c->resume_timeout;
	out->suspend_timeout_s = c->suspend_timeout;
	if (c->control_cnt > 0 &&
	    (copy(&out->control_host, c->control_machine[0]) || copy(&out->control_addr, c->control_addr[0])))
		return -1;
	return copy(&out->version, c->version) || copy(&out->cluster_name, c->cluster_name) ||
		       copy(&out->slurm_user, c->slurm_user_name) || copy(&out->resume_program, c->resume_program) ||
		       copy(&out->suspend_program, c->suspend_program) ||
		       copy(&out->state_save_location, c->state_save_location) || copy(&out->auth_info, c->authinfo) ||
		       copy(&out->slurmctld_params, c->slurmctld_params) || copy(&out->slurm_conf, c->slurm_conf)
		   ? -1
		   : 0;
}

int slurmctl_conf_load(struct slurmctl_conf *out, struct err *e)
{
	slurm_conf_t *c = NULL;
	int rc;

	memset(out, 0, sizeof *out);
	slurmctl_asked("configuration");
	if (slurm_load_ctl_conf((time_t)0, &c) != 0)
		return slurmctl_fail(e, "cannot read slurmctld's configuration");
	rc = fill(out, c);
	compat_free_conf(c);
	if (rc < 0) {
		slurmctl_conf_clear(out);
		return err_nomem(e);
	}
	return 0;
}

const bool slurmctl_keeps_addresses = COMPAT_KEEPS_ADDRESSES;

int slurmctl_boot_time(int64_t *seen, int64_t *boot_s, struct err *e)
{
	slurm_conf_t *c = NULL;

	/* one more than told: slurmctld takes one off, lest it miss a change of the same second */
	slurmctl_asked("configuration");
	if (slurm_load_ctl_conf(*seen ? (time_t)*seen + 1 : 0, &c) != 0) {
		if (errno == SLURM_NO_CHANGE_IN_DATA)
			return 0;
		return slurmctl_fail(e, "cannot ask slurmctld when it started");
	}
	*seen = c->last_update;
	*boot_s = c->boot_time;
	compat_free_conf(c);
	return 1;
}

void slurmctl_conf_clear(struct slurmctl_conf *c)
{
	char *owned[] = {c->version,	  c->cluster_name,     c->slurm_user,	   c->control_host,
			 c->control_addr, c->resume_program,   c->suspend_program, c->state_save_location,
			 c->auth_info,	  c->slurmctld_params, c->slurm_conf};

	for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
		free(owned[i]);
	memset(c, 0, sizeof *c);
}
