/* sim.h - a whole site on pure values with virtual time: slurmctld, EC2, our programs and their state, and the faults of all of
 * them. For test_sim.c.
 *
 * slurm.c moves nodes and jobs as slurmctld 22.05 does, ec2.c launches, ends and breaks machines, ours.c is our state file and
 * the effects of resume, suspend and launches, loop.c is clustermgtd: the same chain of lib/plan as its decide.c, carried out
 * as lib/apply/carry.c does. Each program is a list of steps between which the world goes on and at any of which it may be
 * killed. faults.c makes the trouble, judge.c says what must hold. Nothing here reads a clock or does any I/O.
 *
 * Everything follows from the seed. Each kind of fault draws from a stream of its own, so that taking one kind, some jobs or
 * some minutes away leaves the rest as it was: that is how a failing world is made small.
 */
#ifndef SE_TESTS_SIM_SIM_H
#define SE_TESTS_SIM_SIM_H

#include "lib/cluster/generation.h"
#include "lib/node/node.h"
#include "lib/node/offering.h"
#include "lib/plan/brake.h"
#include "lib/plan/capacity.h"
#include "lib/plan/fleet.h"
#include "lib/plan/protect.h"
#include "lib/plan/reconcile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define N_RES 3
#define N_NODE 30
#define N_JOB 14
#define N_MACHINE 3000
#define N_LAUNCH 3000
#define N_PROC 64
#define N_STORE 8
#define N_FAILURE 600
#define NONE_OF -1

enum fault {
	F_KILL,	     /* resume, suspend or clustermgtd ends between two steps */
	F_SHORT,     /* EC2 has no capacity for a resource for a while */
	F_PARTIAL,   /* fewer machines than asked for */
	F_LOST,	     /* a launch happens, its answer is lost */
	F_LATE,	     /* new machines are not listed for a while */
	F_NOADDR,    /* their addresses come late */
	F_THROTTLE,  /* single calls fail */
	F_DENIED,    /* a launch is refused for good */
	F_UNREACH,   /* EC2 does not answer for a while */
	F_SHORTLIST, /* lists lack machines that live */
	F_DIE,	     /* EC2 ends a machine (spot) */
	F_STOP,	     /* a machine stops */
	F_HANG,	     /* a machine hangs: impaired and silent */
	F_IMPAIRED,  /* a failed status check, though the machine works */
	F_EVENT,     /* a scheduled event */
	F_NOBOOT,    /* a machine never comes up */
	F_SLOWBOOT,  /* one comes up around ResumeTimeout */
	F_CTLD,	     /* slurmctld is away, or starts anew */
	F_STATE,     /* the state file is lost */
	F_TERMINATE, /* a person ends a machine */
	F_DRAIN,
	F_DOWN,
	F_POWER_DOWN,
	F_POWER_UP,
	F_REBOOT,
	F_MAINT, /* a person does that to a node */
	F_FLEET, /* a person stops the fleet, and starts it later */
	F_FREEZE,
	N_FAULT
};

extern const char *const fault_text[N_FAULT];

/* What makes a world. */
struct sim_spec {
	uint64_t seed;
	int jobs;	 /* at most so many */
	uint32_t faults; /* bits 1 << enum fault that may happen */
	int fault_s;	 /* at most so long; -1 = as the seed says */
	bool trace;
};

struct rng {
	uint64_t x;
};
unsigned draw(struct rng *r, unsigned n);      /* 0 ... n - 1 */
int between(struct rng *r, int low, int high); /* both included */
bool one_in(struct rng *r, unsigned n);

/* --- slurmctld */

struct snode {
	char name[24];
	int res, number;
	bool is_static;
	uint32_t state;
	int ip;	    /* a machine's number, NONE_OF = placeholder */
	int launch; /* in extra; NONE_OF = none */
	char reason[160];
	int64_t reason_ms, boot_ms, slurmd_ms, busy_ms, boot_req_ms, down_req_ms, heard_ms;
	bool booting, asleep;  /* in slurmctld's booting_node_bitmap, power_node_bitmap */
	int job;	       /* NONE_OF = none */
	int64_t completing_ms; /* until when its last job completes; 0 = not */
	bool downed, drained;  /* by a person, and still */
	int64_t held_ms;       /* since when */
	int64_t waking_ms;     /* it powers up since, also if it was asked to again */
	bool maint;	       /* in a person's maintenance reservation */
};

enum job_state { JOB_WAITS, JOB_CONFIGURES, JOB_RUNS, JOB_DONE };

struct sjob {
	enum job_state state;
	int want, res; /* nodes; resource, NONE_OF = any of the queue */
	int64_t submit_ms, eligible_ms, long_ms, start_ms, end_ms;
	int n, node[N_NODE];
	int requeued;
	bool to_resume; /* in slurmctld's resume_job_list */
};

enum who { WHO_EC2, WHO_PERSON, WHO_SLURM, WHO_LOOP, WHO_RESUME, WHO_SUSPEND, WHO_SELF };
extern const char *const who_text[];

/* --- EC2 */

struct smachine {
	int launch, index, res;
	enum instance_state state;
	enum who ended_by;
	int64_t launch_ms, seen_ms, address_ms, run_ms;
	int64_t boot_ms;  /* its kernel's start */
	int64_t ready_ms; /* it asks slurmctld for its name from then on; 0 = never */
	int64_t asks_until_ms;
	int64_t end_ms;		       /* shutting down -> terminated, stopping -> stopped */
	int64_t forget_ms;	       /* not listed any more */
	int64_t impaired_ms, event_ms; /* since; 0 = none */
	int node;		       /* slurmd runs as this node; NONE_OF = none */
	bool registered;
	int64_t slurmd_ms;
	bool hung;
	int64_t rebooting_ms; /* slurmd is away until then */
};

/* --- our state */

struct sbinding {
	enum binding_state state;
	bool there; /* there is a row */
	int64_t generation, since_ms;
	int launch, machine;
};

struct slaunch {
	enum launch_state state;
	bool there;
	int res, n, node[N_NODE];
	int64_t created_ms;
	int pid;
};

struct sfailure {
	int node, machine;
	int64_t time_ms;
	bool over;
	char code[32];
};

struct store {
	int64_t generation;
	struct sbinding row[N_NODE];
	struct slaunch launch[N_LAUNCH]; /* by launch id */
	int n_launch;			 /* ids below it may be there */
	int n_failure;
	struct sfailure failure[N_FAILURE];
	int64_t backoff_ms[N_NODE];
	struct shortages shortages;
	enum fleet_status fleet;
	bool fleet_now;
	bool closed; /* a stop closed the partition */
	int64_t frozen_ms;
	int64_t loop_ms, ec2_ms, slurm_ms; /* heartbeat */
};

/* --- our programs */

enum proc_kind { PROC_RESUME, PROC_SUSPEND, PROC_LOOP };

struct work { /* one launch of a program */
	int launch;
	bool asked, open, came;
	bool keep;	  /* bound but not told */
	const char *code; /* EC2's no */
	int n_got, got[N_NODE];
	int n_bound, bound[N_NODE], n_failed, failed[N_NODE]; /* nodes */
};

struct looking; /* loop.c: what one loop has read, and its plan */

struct proc {
	bool there;
	enum proc_kind kind;
	int pid;
	int step;
	int64_t start_ms, due_ms;
	struct store *store;
	int n, node[N_NODE];
	int n_work, works;
	struct work work[N_RES * 2 + N_NODE];
	int n_end, end[N_MACHINE < 200 ? N_MACHINE : 200]; /* machines to end */
	int64_t row_generation[N_NODE];			   /* suspend: of the rows it has read */
	bool had_row[N_NODE], mine[N_NODE];
	const char *refused;
	struct looking *look;
};

struct world {
	struct sim_spec spec;
	struct rng shape, jobs, timing, fault[N_FAULT];
	int64_t start_ms, now, tick, faults_end_ms;
	bool calm; /* the faults are over */
	/* settings */
	int64_t loop_ms, suspend_ms, suspend_timeout_ms, orphan_ms, health_ms, event_ms, slurmd_timeout_ms, beat_ms, window_ms;
	int64_t protect, share;
	struct capacity_rule rule;
	struct generation *gen;
	/* slurmctld */
	int n_node, n_job;
	struct snode node[N_NODE];
	struct sjob job[N_JOB];
	bool ctld, part_up;
	int64_t ctld_back_ms, power_ms, sched_ms, ping_ms;
	/* EC2 */
	int n_machine, n_launch;
	struct smachine machine[N_MACHINE];
	int launch_asked[N_LAUNCH]; /* first machine of that token + 1; 0 = EC2 never heard it; -1 = heard, none came */
	int launch_got[N_LAUNCH];
	int64_t short_ms[N_RES], unreach_ms, shortlist_ms;
	int missing; /* of a short list: machines with number % 3 == missing */
	int64_t next_ms[N_FAULT];
	bool on[N_FAULT];
	/* ours */
	int n_store;
	struct store *store, *stores[N_STORE];
	struct proc proc[N_PROC];
	int next_pid;
	int64_t loop_due_ms; /* clustermgtd's next loop, or its start */
	bool poked;
	struct kvs seen;
	struct brake brake;
	int n_violation; /* of the last finished loop that read everything */
	char violation[200];
	int64_t look_ms;      /* when the program that acts now began to look */
	int64_t stop_over_ms; /* when a stop that ends jobs was taken back */
	int64_t started_ms;   /* when a stop was taken back */
	char wrong[400];      /* the first thing that must never happen */
	/* totals */
	int launched, kills, loops, requeues, steps;
};

/* world.c */
void world_begin(struct world *w, const struct sim_spec *spec);
void world_end(struct world *w);
/* True if all went well; else w->wrong says what did not. */
bool world_run(struct world *w);
int64_t world_bound_ms(const struct world *w); /* after the faults: by then all must be well */
void tell(const struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* if traced */
void wrong(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool fault_now(struct world *w, enum fault f, unsigned n); /* may it happen, one time in n? */
int node_of(const struct world *w, const char *name);
int machine_of(const char *id);
void machine_id(int machine, char out[24]);
void machine_ip(int machine, char out[24]);
void launch_id(int launch, char out[24]);

/* slurm.c */
void slurm_tick(struct world *w);
bool slurm_says(const struct snode *n, unsigned bases, uint32_t required, uint32_t forbidden);
void slurm_update(struct world *w, struct snode *n, uint32_t state, const char *reason, enum who who);
void slurm_ask_reboot(struct world *w, struct snode *n);
bool slurm_machine_asks(struct world *w, struct smachine *m); /* true: it has a name */
void slurm_starts(struct world *w);			      /* after it was away */
bool slurm_runs_job(const struct world *w, const struct snode *n);

/* ec2.c */
void ec2_tick(struct world *w);
bool ec2_call(struct world *w); /* does a call get through? */
void ec2_launch(struct world *w, struct work *k, const struct slaunch *l, enum who who);
void ec2_end(struct world *w, int machine, enum who who);
bool ec2_lists(const struct world *w, const struct smachine *m);
bool ec2_alive(const struct smachine *m);

/* ours.c */
struct store *store_new(struct world *w);
bool store_free_row(struct world *w, struct store *s, int node, int64_t generation);
void store_done(struct world *w, struct store *s, int launch);
bool store_wants(const struct store *s, int machine, int launch);
void failure_add(struct world *w, struct store *s, int node, int machine, const char *code);
struct proc *proc_start(struct world *w, enum proc_kind kind, const int *nodes, int n);
void proc_end(struct world *w, struct proc *p, bool killed);
void procs_tick(struct world *w);
void tell_no_machine(struct world *w, int node);
/* The steps of launches that are written down: ask, write down the answer, bind, tell, return, close, fail. True = one more. */
bool work_step(struct world *w, struct proc *p, int step);
int store_claim(struct world *w, struct proc *p, int res, const int *nodes,
		int n); /* the launch, NONE_OF if no node was free */

/* loop.c */
void loop_step(struct world *w, struct proc *p);
void looking_end(struct looking *l);

/* faults.c */
void faults_tick(struct world *w);
void faults_over(struct world *w);

/* judge.c */
const char *judge_settled(struct world *w); /* NULL = all is well now; else what is not; borrowed until the next call */
/* A running job's node or machine is taken away by us. */
void judge_kill(struct world *w, const struct snode *n, enum who who, const char *how);
/* clustermgtd changes a node's state: not one that a person holds, nor one that resume works on. */
void judge_update(struct world *w, const struct snode *n, uint32_t state, const char *reason);
void judge_waste(struct world *w, int machine, enum who who);
bool judge_held(const struct snode *n); /* by a person */

#endif
