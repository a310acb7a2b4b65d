/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event.h - what our programs tell of: rows of the state's event table, for `slurm-ec2 events`, and lines of the event log, one
 * JSON object each, for whoever collects logs.
 *
 * A line has the members that ParallelCluster's event log has: datetime, version, scheduler, cluster-name, node-role,
 * component, level, instance-id (of the head node), event-type, message, detail. Node lists in it are hostlists. An event never decides
 * anything: trouble with either is only logged.
 */
#ifndef SE_APPLY_EVENT_H
#define SE_APPLY_EVENT_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct json_object;
struct strs;
struct world;

#define EVENT_LOG_PATH PKGLOGDIR "/slurm-ec2.events"

/* Totals of what all programs did with machines, kept as counters in the state: launched, bound, returned, terminated. */
#define EVENT_TOTAL_PREFIX "total/"

enum event_level { EVENT_ERROR, EVENT_WARNING, EVENT_INFO, EVENT_DEBUG }; /* as enum log_level */

/* Append an event; node may be a hostlist, instance a comma list. */
void apply_event(struct world *w, const char *type, const char *node, const char *instance, const char *detail);
/* The same with the jobs it is about; jobs may be NULL. */
void apply_event_jobs(struct world *w, const char *type, const char *node, const char *instance, const struct strs *jobs,
		      const char *detail);
/* Its line of the event log alone, for a caller that writes the row itself. */
void apply_event_line(struct world *w, const char *type, const char *node, const char *instance, const struct strs *jobs,
		      const char *detail);
/* A line of the event log alone: figures of a loop or a run. detail is owned, NULL = none. */
void apply_figure(struct world *w, enum event_level level, const char *type, const char *message, struct json_object *detail);
/* Would a line of this level be written? Who makes a long detail asks first. */
bool event_is_logged(const struct world *w, enum event_level level);
/* Add to one of the totals; joins the caller's transaction. */
void apply_total(struct world *w, const char *name, int64_t by);

/* --- the log itself; in struct world */
struct event_log;

/* What stands in each line. */
struct event_head {
	const char *cluster;   /* NULL = not known */
	const char *component; /* "clustermgtd", "slurm-resume", "slurm-suspend" */
	const char *instance;  /* id of the head node, "" = not known */
};
/* Append to `path` (0640); lines of a level above `most` are left out. A file that was rotated away is opened anew by
 * event_log_reopen. NULL with e on no memory; a file that cannot be opened is told in e, and is one for event_log_reopen. */
struct event_log *event_log_open(const char *path, const char *ident, enum event_level most, struct err *e);
int event_log_reopen(struct event_log *l, enum event_level most, struct err *e);
void event_log_close(struct event_log *l); /* takes NULL */

/* One line with its end. detail is borrowed, NULL = an empty object. Bytes that are no UTF-8 become '?'. Caller frees; NULL on
 * no memory. */
char *event_line(const struct event_head *h, int64_t time_ms, enum event_level level, const char *type, const char *message,
		 struct json_object *detail);

#endif
