/* explain.h - why a node or a job is as it is, and what happens next: lines in the order of cause, each with its source. Made
 * from a look at the cluster (look.h) and what explain_read.c adds; everything but that file is pure.
 */
#ifndef SE_CLI_EXPLAIN_H
#define SE_CLI_EXPLAIN_H

#include "cli/look.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct json_object;

/* Who says it. */
#define SAY_SLURM "Slurm"
#define SAY_EC2 "EC2"
#define SAY_OURS "slurm-ec2"
#define SAY_BOOT "boot log"
#define SAY_NEXT "next" /* what our rules and Slurm's do then */

struct explain_line {
	const char *source;
	char *text;
};

/* Zero-initialised = empty. */
struct explain {
	struct explain_line *v;
	size_t n, cap;
	bool nomem;
	bool ours; /* something of ours, or of EC2, stands in its way */
};

/* Of a node: what is not in the look. */
struct explain_more {
	char *events_away;    /* NULL = they were read */
	struct events events; /* the newest, oldest of them first */
	char *console;	      /* path of the saved console output; NULL = there is none */
	char *console_away;   /* why it cannot be read */
	char *console_end;    /* its last lines */
};

/* The rows of the log and the console file; what is away is said in it. instance NULL = the newest one of the node. job 0 =
 * any. -1 no memory. */
int explain_read(struct explain_more *m, const struct look *l, const char *node, int64_t job);
void explain_more_clear(struct explain_more *m);

void explain_say(struct explain *x, const char *source, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void explain_clear(struct explain *x);

/* name is one of the cluster's. */
void explain_node(struct explain *x, const struct look *l, const struct explain_more *m, const char *name);
/* The node that explains best why the job does not run yet, NULL = none of ours. Borrowed. */
const char *explain_worst(const struct look *l, const struct slurmctl_job_info *j);
/* worst is explain_worst()'s, m of it and of the job. */
void explain_job(struct explain *x, const struct look *l, const struct explain_more *m, const struct slurmctl_job_info *j,
		 const char *worst);

/* Parts of both: what our rules do with a node next; shortages of a resource; what keeps the fleet from working as a whole. */
void explain_next(struct explain *x, const struct look *l, const char *name);
void explain_shortages(struct explain *x, const struct look *l, size_t resource);
void explain_fleet(struct explain *x, const struct look *l);
void explain_protection(struct explain *x, const struct look *l, size_t resource);
void explain_events(struct explain *x, const struct look *l, const struct explain_more *m);
/* A job that has or gets this node, or NULL. */
const struct slurmctl_job_info *explain_job_of(const struct look *l, const char *node);
/* "02:33:11 UTC, in 12 min" or "..., 12 min ago" into out. Returns out. */
#define EXPLAIN_WHEN 64
const char *explain_when(const struct look *l, int64_t ms, char out[EXPLAIN_WHEN]);

/* Caller frees, or json_object_put()s; NULL on no memory. */
char *explain_text(const struct explain *x, const char *title);
struct json_object *explain_json(const struct explain *x, const char *kind, const char *name);

#endif
