/* store.h - our own state: one SQLite file (WAL, synchronous=FULL), one function per question.
 *
 * It holds only what neither slurmctld nor EC2 knows: launches in flight, node-to-instance bindings with a generation number,
 * capacity memory, failure counters, the heartbeat, the event log. Every write is one BEGIN IMMEDIATE transaction behind our own busy handler. A
 * damaged file is moved aside (said in *note) and a new one made: the next clustermgtd loop rebuilds what matters.
 */
#ifndef SE_STATE_STORE_H
#define SE_STATE_STORE_H

#include "lib/node/binding.h"
#include "lib/node/failure.h"
#include "lib/node/offering.h"

#include <stdint.h>

struct err;

#define STORE_PATH PKGSTATEDIR "/state.db"

struct store;

/* note: text[0] = 0 unless a file was moved aside. */
struct store *store_open(const char *path, struct err *note, struct err *e);
/* Only reading, for `status`; NULL with e if there is none yet. */
struct store *store_open_readonly(const char *path, struct err *e);
void store_close(struct store *s); /* takes NULL */

/* Many changes as one transaction (one fsync): calls in between join it. End with the caller's outcome: rc >= 0 commits and is
 * returned; rc < 0, or a failed call in between, undoes all and gives -1. Short: other programs wait for it. */
int store_batch_begin(struct store *s, struct err *e);
int store_batch_end(struct store *s, int rc, struct err *e);

/* --- launches and bindings (idea 3: intent before effect) */

/* In one transaction: for each node of l->nodes that has no LAUNCHING/BOUND binding, claim it for l->id (new generation) and
 * commit the row as INTENT. Nodes that are taken are left out of the row and listed in *taken. If none is left nothing is
 * written. 0, or -1 with e. l->nodes is changed to what was claimed. */
int store_launch_claim(struct store *s, struct launch *l, struct strs *taken, struct err *e);
/* Keep the exact request of an INTENT row, before it is sent. */
int store_launch_request(struct store *s, const char *id, const char *request, struct err *e);
/* INTENT -> ANSWERED, with code (NULL = none). */
int store_launch_answered(struct store *s, const char *id, const char *code, struct err *e);
/* -> DONE. Nodes still LAUNCHING under it become FREE. */
int store_launch_done(struct store *s, const char *id, struct err *e);
/* Free the claim on one node of a launch (it failed and no machine came). 1 done, 0 it had none. */
int store_launch_release(struct store *s, const char *id, const char *node, struct err *e);
/* Rows that are not DONE, oldest first; appends. */
int store_launches_open(struct store *s, struct launches *out, struct err *e);
/* Append the jobs of a launch; a row that is not there has none. */
int store_launch_jobs(struct store *s, const char *id, struct strs *out, struct err *e);
/* Give an open launch to this process (pid), if its worker is `old_pid`. 1 taken, 0 not any more. */
int store_launch_take(struct store *s, const char *id, int64_t old_pid, int64_t pid, struct err *e);

/* LAUNCHING under `launch` -> BOUND with instance and ip (ip may be NULL, written later by a second call). 1 done; 0 = no
 * longer true (the node was suspended meanwhile): the caller terminates the instance. */
int store_bind(struct store *s, const char *node, const char *launch, const char *instance, const char *ip, struct err *e);
/* Rebuild: force a BOUND row for a node that has none or a FREE one. 1 done, 0 it had one. */
int store_adopt(struct store *s, const char *node, const char *launch, const char *instance, const char *ip, struct err *e);
/* BOUND or LAUNCHING -> FREE with a new generation. `generation` -1 = whatever it is, else only if still that one. 1 done, 0
 * not. *was (may be NULL) gets the row before; caller clears through bindings_clear. */
int store_free(struct store *s, const char *node, int64_t generation, struct bindings *was, struct err *e);
/* Does a node have this machine, or is the launch it came from (may be NULL) still open? 1, 0, -1. */
int store_machine_wanted(struct store *s, const char *instance, const char *launch, struct err *e);
int store_bindings(struct store *s, struct bindings *out, struct err *e);		   /* appends all, FREE ones too */
int store_binding(struct store *s, const char *node, struct bindings *out, struct err *e); /* 0 or 1 row appended */

/* --- counters and heartbeat */

/* Wall ms of the last success of a source ("slurm", "ec2", "loop"), 0 = never; err text of the last failure or NULL. Caller
 * frees *error. */
int store_source_ok(struct store *s, const char *source, int64_t now_ms, struct err *e);
int store_source_failed(struct store *s, const char *source, int64_t now_ms, const char *error, struct err *e);
int store_source(struct store *s, const char *source, int64_t *ok_ms, int64_t *failed_ms, char **error, struct err *e);
/* All of them, by name; appends. Caller clears. */
struct source_row {
	char *name;
	int64_t ok_ms, failed_ms; /* last success and last failure, 0 = never */
	int64_t since_ms;         /* it fails since then, 0 = its last word was a success */
	char *error;              /* of the last failure, also when it is over */
};
struct source_rows { struct source_row *v; size_t n; size_t cap; };
int store_sources(struct store *s, struct source_rows *out, struct err *e);
void source_rows_clear(struct source_rows *l);
/* Named numbers (boot failures of a resource, back-off of a static node). */
int store_counter_add(struct store *s, const char *name, int64_t by, int64_t *out, struct err *e);
int store_counter_set(struct store *s, const char *name, int64_t value, struct err *e);
int store_counters(struct store *s, const char *prefix, struct kvs *out, struct err *e);

/* Named words that a person or the loop sets: fleet status, freeze, confirmation of the brake. value NULL takes it away. */
int store_word_put(struct store *s, const char *name, const char *value, int64_t now_ms, struct err *e);
/* *value NULL if it is not set (then *set_ms 0); caller frees it. */
int store_word(struct store *s, const char *name, char **value, int64_t *set_ms, struct err *e);
/* Replace `from` by `to` only if it still is `from` (either may be NULL = not set). 1 done, 0 it is something else, -1. */
int store_word_swap(struct store *s, const char *name, const char *from, const char *to, int64_t now_ms, struct err *e);

/* --- machines that never served (lib/plan/protect.h counts them). One row a machine: the same node and instance again
 * within an open row is not written twice (0). 1 = written. */
int store_failure_add(struct store *s, const struct failure *f, struct err *e);
int store_failures(struct store *s, int64_t since_ms, struct failures *out, struct err *e); /* appends, oldest first */
/* A machine of the resource came up: rows that are not younger than `until_ms` are over. Those of a node whose machine it was
 * are forgotten. */
int store_failures_over(struct store *s, const char *queue, const char *resource, int64_t until_ms, struct err *e);
int store_failures_forget(struct store *s, const char *node, int64_t until_ms, struct err *e);
/* Forget those of a resource (queue NULL = of all) that are not younger than `until_ms`. */
int store_failures_clear(struct store *s, const char *queue, const char *resource, int64_t until_ms, struct err *e);

/* --- capacity memory (lib/plan/capacity.h decides, these only keep) */
int store_shortages(struct store *s, struct shortages *out, struct err *e); /* appends all */
/* Write one as it is now; with failures 0 its row goes. */
int store_shortage_put(struct store *s, const struct shortage *row, struct err *e);
/* Claim the probe of an offering until a wall time, unless somebody else has it at `now_ms`. 1 claimed, 0 not, -1. */
int store_shortage_probe(struct store *s, const struct offering *of, int64_t now_ms, int64_t until_ms, struct err *e);

/* --- event log */
struct event { int64_t id, time_ms; char *type, *node, *instance, *jobs, *detail; }; /* node: a hostlist; the next two: comma lists */
struct events { struct event *v; size_t n; size_t cap; };
struct event_query {
	int64_t since_ms;    /* 0 = all */
	int64_t after_id;    /* only later rows than this one; 0 = all */
	const char *type;    /* NULL = any; likewise node, instance and job, which are also found in an event of many */
	const char *node;
	const char *instance;
	const char *job;
	size_t last;         /* the newest so many, oldest of them first; 0 = all */
};
int store_events(struct store *s, const struct event_query *q, struct events *out, struct err *e); /* appends, oldest first */
void events_clear(struct events *l);
/* Append one; its id is not looked at. */
int store_event_put(struct store *s, const struct event *v, struct err *e);
/* One without jobs. */
int store_event(struct store *s, int64_t now_ms, const char *type, const char *node, const char *instance, const char *detail,
		struct err *e);

#endif
