/* SPDX-License-Identifier: GPL-2.0-or-later */
/* failed_boot.h - machines that never served: a row each (lib/plan/protect.h counts them), an event, and what they printed on
 * their console. Internal to lib/apply: carry.c has them of the plan, suspend.c of slurmctld's ResumeTimeout. */
#ifndef SE_APPLY_FAILED_BOOT_H
#define SE_APPLY_FAILED_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct action;
struct err;
struct nodeset;
struct strs;
struct world;

/* Folder below the log folder; FAILED_BOOT_FILES of its files are kept, the newest. */
#define FAILED_BOOT_FOLDER "console"
#define FAILED_BOOT_FILES 100
/* Slurm's word when a node did not come up in time. */
#define FAILED_BOOT_TIMEOUT "ResumeTimeout reached"

struct failed_boot {
	const char *node;
	const char *instance;
	const char *code;   /* of the rule that saw it */
	const char *reason; /* for people; may be NULL */
	bool fresh;         /* out: it was not counted before */
};

/* Count them: rows and events in one transaction; machines that are counted already, and nodes that are not ours, are left
 * out. Trouble is only logged: the machines are ended all the same. */
void failed_boots_count(struct world *w, struct failed_boot *v, size_t n);
/* Save what fresh ones printed, of one machine a resource and five in all. After the machines are ended, which must not wait for
 * it: EC2 keeps the output for an hour. Trouble is only logged. */
void failed_boots_save(struct world *w, const struct failed_boot *v, size_t n, int64_t deadline_mono_ms);
/* Carry out an ACT_FAILURES_CLEAR. */
int failed_boots_forget(struct world *w, const struct action *a, struct err *e);

/* Those of `nodes` that must not be launched, because their resource is protected or they are cycling ones, go to *out. Asks
 * slurmctld only if the rows say that there may be some; nodes of a cluster that cannot be read are not barred. */
int failed_boots_barred(struct world *w, const struct strs *nodes, struct nodeset *out, struct err *e);

#endif
