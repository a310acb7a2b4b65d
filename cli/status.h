/* status.h - what `slurm-ec2 status` shows: a look at the cluster (look.h) counted and grouped by status_judge.c, as text by
 * status_text.c, as JSON by status_json.c. All three are pure.
 */
#ifndef SE_CLI_STATUS_H
#define SE_CLI_STATUS_H

#include "cli/look.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

/* Of one compute resource. */
struct status_counts {
	int disabled;				  /* nodes that are DOWN because their resource is short */
	int off, waking, idle, busy, down, going; /* nodes: idle~, #, up, working, down or drained, % */
	int machines, launching;
};

/* A node that is powering up. */
struct status_waking {
	const struct node *node;
	int64_t since_ms;  /* of the oldest sign of it: launch, machine, job; 0 = none */
	const char *stage; /* what it waits for */
	bool late;	   /* for longer than ResumeTimeout */
};

/* A machine that bills and has no node. */
struct status_orphan {
	const struct instance *machine;
	const char *code; /* "ended", "taken-in", "young", "kept": what happens to it next */
	char *next;	  /* the same as a sentence */
};

struct status {
	struct look look;
	struct status_counts *counts; /* one a resource */
	struct status_waking *waking; /* the oldest first, those without a time last */
	size_t n_waking, cap_waking;
	struct status_orphan *orphans;
	size_t n_orphans, cap_orphans;
};

/* Which jobs it needs: those that wake nodes, and those that Slurm put aside after a requeue. */
bool status_wants_job(const struct slurmctl_job_info *j, const void *of);
bool status_job_stuck(const struct slurmctl_job_info *j);
/* look_judge() comes first. -1 on no memory. */
int status_judge(struct status *s);
void status_clear(struct status *s); /* its look too */

struct status_show {
	bool all;      /* fold and cut nothing */
	bool machines; /* a line each */
};
/* No line is longer than 80, no colours. Caller frees; NULL on no memory. */
char *status_text(const struct status *s, const struct status_show *show);
/* Caller json_object_put()s; NULL on no memory. */
struct json_object *status_json(const struct status *s);

/* Shared by both. */
const char *status_launch_text(enum launch_state st);
/* Nodes out of use in the resources that have this offering. */
int status_disabled(const struct status *s, const struct offering *o);
/* Seconds since clustermgtd's loop beyond HeartbeatLimit mean that nothing is launched. */
bool status_loop_stale(const struct look *l);
/* "RUNNING", ...; "PROTECTED" when it runs and a resource is protected. */
const char *status_fleet(const struct look *l);

#endif
