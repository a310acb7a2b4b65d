/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_compat.h - <slurm/slurm.h> as it is in 22.05 to 26.05, made to look alike. Every version guard of the product stands
 * here; only lib/slurmctl/ (.c files) includes it. */
#ifndef SE_SLURMCTL_SLURM_COMPAT_H
#define SE_SLURMCTL_SLURM_COMPAT_H

#define SLURM_BACKWARD_COMPAT 1 /* 26.05: the calls that take a job id keep doing so */
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
#define compat_free_conf slurm_free_conf
#else
#define compat_free_conf slurm_free_ctl_conf
#endif

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
#define COMPAT_NODE_INSTANCE 1 /* node records have instance_id and instance_type */
#else
#define COMPAT_NODE_INSTANCE 0
#endif

/* slurmctld before 25.11.6 gives a whole list of instance ids to each node of the update. */
#define COMPAT_ID_LISTS SLURM_VERSION_NUM(25, 11, 6)

/* Is a job's list of node addresses made again when slurmctld restarts? */
#define COMPAT_KEEPS_ADDRESSES (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0))

/* 22.05.0 to 22.05.7 slurmctld may pair a list of addresses with the wrong nodes of the same update. */
#define COMPAT_MAY_PAIR_WRONGLY (SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 11, 0))

/* Not in <slurm/slurm.h>, but in every libslurm: for what its own functions forget to free. */
extern void slurm_xfree(void **) __attribute__((weak));

struct err;

/* "<what>: <Slurm's text for errno>" into e. Always returns -1. */
int slurmctl_fail(struct err *e, const char *what);
/* One more request of this kind (a literal) is about to be sent. */
void slurmctl_asked(const char *request);

#endif
