/* slurmctl.h - slurmctld through libslurm; the only includer of <slurm/slurm.h>, every version guard in slurm_compat.h.
 *
 * libslurm's slurm_init() calls exit(1) on a bad configuration, so slurmctl_open checks that the file is readable first.
 * libslurm prints its own errors on stderr. Nothing of ours retries, but libslurm does: with slurmctld away a call takes
 * MessageTimeout (10 s) to fail. Only slurmctl_ping() tells at once, so ask it first.
 */
#ifndef SE_SLURMCTL_SLURMCTL_H
#define SE_SLURMCTL_SLURMCTL_H

#include "lib/node/node.h"
#include "lib/node/partition.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct kvs;
struct strs;

/* conf: absolute path of slurm.conf. Once per process. */
int slurmctl_open(const char *conf, struct err *e);
void slurmctl_close(void);
/* The libslurm we run with, "22.05.8". */
const char *slurmctl_library_version(void);
/* Requests of this process to slurmctld by kind, such as "nodes" or "update nodes"; they only grow. Borrowed until the next call. */
struct slurmctl_count {
	const char *request;
	uint64_t n;
};
const struct slurmctl_count *slurmctl_counts(size_t *n);
/* 0 if the primary answers. Not from a compute node (its SlurmUser is unknown there). */
int slurmctl_ping(struct err *e);
/* Make slurmctld read its files again (scontrol reconfigure). Not after nodes were added or removed: that ends a slurmctld
 * of 22.05. */
int slurmctl_reconfigure(struct err *e);

/* All nodes the controller shows; nameless (hidden) records are skipped. */
int slurmctl_nodes(struct nodes *out, struct err *e);
/* One node; 0 with nothing appended if slurmctld does not know it. */
int slurmctl_node(const char *name, struct nodes *out, struct err *e);

/* One update for many nodes; NULL/0 members are left unchanged. */
struct node_update {
	const char *const *names;
	const char *const *addrs; /* NULL, or one for each name, in order */
	size_t n;
	uint32_t state; /* slurmctl_state_* below, 0 = unchanged */
	const char *reason;
	const char *extra; /* "" clears */
	const char *comment;
	const char *const *instance_ids; /* Slurm 23.11+ only, ignored before; NULL, or one for each name. Best effort: what cannot
					  * take a list gets an update for each node, and those past 100 are left out */
};
/* Sent in parts of 500. With addrs the result is read back and compared where this Slurm pairs lists wrongly. An unknown name
 * fails its part. */
int slurmctl_update_nodes(const struct node_update *u, struct err *e);

/* Values for node_update.state: DOWN, RESUME, POWER_DOWN, POWER_DOWN_FORCE, POWER_UP. */
extern const uint32_t slurmctl_state_down, slurmctl_state_resume, slurmctl_state_power_down, slurmctl_state_power_down_force,
    slurmctl_state_power_up, slurmctl_state_drain, slurmctl_state_idle;

struct slurmctl_conf {
	char *version; /* slurmctld's own "22.05.8" */
	char *cluster_name;
	char *slurm_user;
	uint32_t slurm_user_id;
	char *control_host; /* first SlurmctldHost name */
	char *control_addr; /* its address */
	int slurmctld_port;
	char *resume_program;
	char *suspend_program;
	int resume_timeout_s;
	int suspend_timeout_s;
	char *state_save_location;
	char *auth_info;
	char *slurmctld_params;
	char *slurm_conf;
};
int slurmctl_conf_load(struct slurmctl_conf *out, struct err *e);
void slurmctl_conf_clear(struct slurmctl_conf *c);

/* When slurmctld started, in wall seconds. *seen (0 at first) is kept for the next call, so that asking again costs a few
 * bytes. 1 = *boot_s is set, 0 = nothing changed since. */
int slurmctl_boot_time(int64_t *seen, int64_t *boot_s, struct err *e);
/* After a restart slurmctld still tells a job's steps the addresses of its cloud nodes (23.11+). Before, it forgets them. */
extern const bool slurmctl_keeps_addresses;

#define SLURMCTL_BAD_CONSTRAINTS "BadConstraints"

struct slurmctl_job_info {
	int64_t id;
	int64_t priority;
	char *nodes; /* hostlist or NULL */
	char *state; /* "RUNNING", "PENDING", ... */
	bool configuring, completing;
	bool ended;	       /* its state is a last one; it may be completing still */
	bool batch;	       /* has a script */
	char *reason;	       /* one word of Slurm's, as squeue has it: "Resources", SLURMCTL_BAD_CONSTRAINTS; "None" */
	char *reason_text;     /* slurmctld's further words, or NULL */
	char *partition;       /* a comma list while it waits in several; NULL = not told */
	char *required_nodes;  /* --nodelist; NULL = none */
	char *admin_comment;   /* NULL = none */
	int64_t array_id, array_task; /* 0 and -1 = not of an array; the record of tasks that wait has no task either */
	int64_t restarts;
	int64_t start_s, eligible_s; /* begin (or expected begin), not to begin before; 0 = not told */
};
struct slurmctl_jobs { struct slurmctl_job_info *v; size_t n; size_t cap; };
int slurmctl_job(int64_t id, struct slurmctl_job_info *out, struct err *e);
void slurmctl_job_clear(struct slurmctl_job_info *j);
/* All jobs that slurmctld shows and `wanted` takes (`of` is handed through); appends. */
typedef bool (*slurmctl_job_fn)(const struct slurmctl_job_info *j, const void *of);
int slurmctl_jobs(slurmctl_job_fn wanted, const void *of, struct slurmctl_jobs *out, struct err *e);
void slurmctl_jobs_clear(struct slurmctl_jobs *l);
/* Ids and nodes of running (or configuring, completing) jobs: kvs id -> hostlist. */
int slurmctl_running_jobs(struct kvs *out, struct err *e);
/* Those among them that have several nodes and no batch script: salloc's and srun's, whose steps start elsewhere. */
int slurmctl_outside_jobs(struct kvs *out, struct err *e);
/* Put a text where `scontrol show job` shows it (admin comment). Best effort. */
int slurmctl_job_comment(int64_t id, const char *text, struct err *e);

/* Fill in the priorities of the jobs of a request that slurmctld did not tell (before 26.05): one RPC for each of a few jobs, one
 * for all if they are many, none if all are known or there is only one job. */
struct resume_request;
int slurmctl_priorities(struct resume_request *r, struct err *e);

/* Reservations: ours hold the nodes of a capacity block that is not active yet. */
struct slurmctl_reservation {
	char *name;
	char *nodes;         /* hostlist */
	bool maint;
	int64_t start_s, end_s;
};
struct slurmctl_reservations { struct slurmctl_reservation *v; size_t n; size_t cap; };
int slurmctl_reservations(struct slurmctl_reservations *out, struct err *e); /* appends all */
void slurmctl_reservations_clear(struct slurmctl_reservations *l);
/* MAINT, for SlurmUser, from now to end_s (0 = without end); replaces the nodes of one that exists. */
int slurmctl_reservation_hold(const char *name, const char *const *nodes, size_t n, int64_t end_s, struct err *e);
int slurmctl_reservation_delete(const char *name, struct err *e); /* 0 also if there is none */

/* All partitions, hidden ones too; appends. */
int slurmctl_partitions(struct partitions *out, struct err *e);
/* Set one to UP, DOWN, DRAIN or INACTIVE. */
int slurmctl_partition_state(const char *name, enum partition_state state, struct err *e);

#endif
