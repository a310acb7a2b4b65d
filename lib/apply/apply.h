/* apply.h - plans to effects, in the safe order: rows first, then EC2, then Slurm, then rows; outcome per node.
 *
 * The callers are resume, suspend and clustermgtd. This room logs what it does: below it nobody does.
 */
#ifndef SE_APPLY_APPLY_H
#define SE_APPLY_APPLY_H

#include "lib/base/err.h"
#include "lib/plan/plan.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct aws;
struct err;
struct event_log;
struct gen_cloud;
struct gen_resource;
struct generation;
struct instances;
struct resume_request;
struct settings;
struct store;

#define CLUSTERMGTD_SOCKET PKGSTATEDIR "/clustermgtd.sock"
#define CLUSTERMGTD_LOCK PKGSTATEDIR "/clustermgtd.lock"

/* A static node whose launch failed is left alone until the wall time in its counter. */
#define STATIC_BACKOFF_PREFIX "static-backoff/"
#define STATIC_BACKOFF_MS 300000

/* What each program opens at its start and closes at its end. */
struct world {
	struct settings *settings;
	struct { dev_t dev; ino_t ino; int64_t changed_ns; } settings_file; /* that they were read from; zeros = there was none */
	struct generation *gen;
	struct store *store;
	struct aws *aws;    /* the cluster's own cloud */
	struct aws **clouds; /* of gen->clouds, in order; a queue may have one of its own */
	size_t n_clouds;
	dev_t store_dev; /* which file the store is, to see that it was deleted under us */
	ino_t store_ino;
	struct event_log *events; /* lib/apply/event.h; NULL = nothing is appended to it */
	struct err settings_trouble; /* why settings.yaml cannot be used; the last right one is, then. text[0] = 0: it can */
	bool settings_told;
	const char *ident; /* of the log */
	bool foreground;
	const char *log_folder; /* NULL = PKGLOGDIR; tests have their own */
};

/* EC2 as settings.yaml says. region NULL = found by itself; person = the caller's environment counts too. */
struct aws *world_aws(const struct settings *s, const char *region, bool person, struct err *e);
/* The same for a queue's own cloud. */
struct aws *world_cloud_aws(const struct settings *s, const struct gen_cloud *cloud, bool person, struct err *e);
/* The connections: 0 = the cluster's, then gen->clouds. NULL past the end. */
struct aws *world_cloud_at(const struct world *w, size_t i);
/* Can somebody but its owner and SlurmUser's group read CredentialsFile, or change it? Then its mode goes to *mode. */
bool world_credentials_open(const struct settings *s, mode_t *mode);
/* First acts of a program: sane process, SlurmUser's identity (from root for good), log open. ident names the log file. What
 * cannot be done is an error, but the log is open then (stderr if the file cannot be). */
int world_begin(const char *ident, bool foreground, struct err *e);
/* settings.yaml, the applied generation, the state file, aws (not connected), libslurm. A note (state file moved aside) is
 * logged. */
int world_open(struct world *w, const char *ident, bool foreground, struct err *e);
/* The same for a run that must change nothing: the state file is only read, and may be absent (w->store NULL then). */
int world_open_readonly(struct world *w, struct err *e);
/* For a daemon: take changed settings (but SlurmConf, which needs a new start), a newer generation, a state file that was deleted or
 * replaced, and a rotated log. 1 something changed, 0 not, -1 the old is kept. */
int world_refresh(struct world *w, struct err *e);
void world_close(struct world *w);

/* Set by SIGTERM or SIGINT (apply_catch_signals): no new launches, no waiting; what is open stays as rows. */
extern volatile sig_atomic_t apply_stop;
void apply_catch_signals(void);

/* ResumeProgram: the whole of the resume path. Priorities of jobs that slurmctld did not tell are filled in. Node failures are
 * DOWN in Slurm, not an error here. -1: clustermgtd does not watch, the fleet is stopped or frozen (all nodes are DOWN then), or
 * rows could not be read or written: what was launched is in its row, and clustermgtd goes on with it and fails the nodes that got nothing. */
int apply_resume(struct world *w, struct resume_request *r, int64_t deadline_mono_ms, struct err *e);
/* For a ResumeProgram that cannot even open its world: DOWN with `why`, so that jobs go elsewhere. conf NULL = the usual path.
 */
int apply_fail_nodes(const char *conf, const struct resume_request *r, const char *why, struct err *e);
/* SuspendProgram and ResumeFailProgram: terminate by instance id, free the row, placeholder address, clear extra. Idempotent.
 * Nodes that slurmctld shows up or coming up are left alone. While everything is frozen nothing is done, which is no error.
 * -1 if something was left to clustermgtd. */
int apply_suspend(struct world *w, const char *const *nodes, size_t n, int64_t deadline_mono_ms, struct err *e);
/* clustermgtd: carry out a plan. Every action is tried; failures are logged and stay for the next loop. Returns how many
 * failed. seen: the instances the plan was made from, may be NULL if EC2 was not read. */
size_t apply_plan(struct world *w, const struct plan *p, const struct instances *seen, int64_t deadline_mono_ms);
/* False if the same sentence was said within the last ten minutes by this process: a loop that fails the same way again is not
 * worth a line each time. For errors only: what was done is logged each time. */
bool say_again(const char *text);
/* Wake clustermgtd through its socket, if it listens. */
void apply_poke(void);

/* One clustermgtd at a time: 0 and the descriptor that holds the lock until it is closed, or -1 (message names the other's
 * pid). */
int lock_take(const char *path, int *fd, struct err *e);
/* Process that holds it, 0 = nobody. */
pid_t lock_holder(const char *path);

#endif
