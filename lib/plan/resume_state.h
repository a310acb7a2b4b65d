/* resume_state.h - the state of one resume plan. Private to lib/plan/resume*.c.
 *
 * Who does what: resume.c takes the request in and gives the result out; resume_serve.c decides which job gets machines and
 * which nodes are to be asked for; resume_ask.c turns nodes into calls, stage by stage; resume_source.c knows what a stage
 * can be asked in this turn; resume_answer.c takes answers; resume_memory.c keeps what they say of offerings.
 */
#ifndef SE_PLAN_RESUME_STATE_H
#define SE_PLAN_RESUME_STATE_H

#include "lib/node/nodeset.h"
#include "lib/plan/resume.h"

#include <stdbool.h>
#include <stdint.h>

#define NONE SIZE_MAX

enum node_state {
	NODE_OPEN,    /* to be served */
	NODE_BOUND,
	NODE_KEPT,    /* not ours to judge: has a machine, or its launch row was left for later */
	NODE_DEAD     /* cannot be served: unknown name, or an error that fails every size alike */
};

struct want {         /* a node of the request */
	enum node_state state;
	size_t resource;
	size_t hint;      /* machine launched for it */
	size_t machine;   /* machine bound to it */
	size_t round;     /* last round that listed it */
	size_t job;       /* for which job it was listed; NONE = without a job */
	bool several;     /* that job needs more than one node */
	bool flying;      /* a call for it is under way */
	bool called;      /* there was one */
	size_t first;     /* stage it begins with */
	size_t stage;     /* stage to ask next, while it waits in its pool */
	const char *said; /* the worst that EC2 said of it */
	const char *code; /* why it was not served */
};

enum machine_state { MACHINE_SPARE, MACHINE_USED, MACHINE_SCRAP /* came dead */ };

struct machine {
	char *id;
	char *ip;
	size_t step;
	enum machine_state state;
};

struct step {
	struct resume_step pub;
	struct strs nodes;
	struct strs jobs;
	size_t *want;     /* positions of nodes, in order */
	struct resume_choice *choice;
	size_t *row;      /* gates of its choices, each once */
	size_t n_row;
	bool answered;
};

struct job {
	const struct resume_job *src; /* NULL = the nodes of one resource that are without a job */
	size_t order;
	size_t *want;
	size_t n, cap;
	size_t need;      /* open nodes; valid while it is looked at */
	bool dead;        /* has a dead node; likewise */
	size_t asked;     /* calls there were when it last asked for itself; NONE = never */
	bool done;
};

/* What may be asked of an offering, a choice or a stage, from less to more. */
enum give {
	GIVE_NOTHING, /* closed, or refused in this run */
	GIVE_WAIT,    /* a probe or a pause is under way */
	GIVE_PROBE,   /* one job */
	GIVE_SOME,    /* so many nodes, or one job */
	GIVE_ALL
};

struct room {
	enum give give;
	int64_t n;    /* of GIVE_SOME */
	bool firm;    /* likewise: not a whole job either, if it is larger */
};

/* How this run stands to what the memory said of an offering. */
enum gate_state {
	GATE_MEMORY, /* as it was read */
	GATE_OPEN,   /* nothing was said, or it is over */
	GATE_PROBED, /* our probe is under way */
	GATE_BUDGET, /* the probe came; the budget rules */
	GATE_SHUT    /* the probe did not */
};

struct gate {         /* of an offering, or of a quota: position as in `offerings` */
	const char *type, *zone, *market;
	enum gate_state state;
	size_t shortage;  /* in `known`; NONE = none */
	bool counted;     /* refusals of this run since machines came count once */
	bool changed;     /* the shortage */
	int64_t came;     /* machines in the answer being taken */
	int64_t in_flight; /* nodes asked of it and not answered */
};

struct met {          /* what one stage heard of an offering in this run */
	size_t refused;   /* least number EC2 refused; 0 = no size helps, NONE = none was refused */
	int64_t at_ms;    /* last time */
};

struct choice {
	struct resume_choice at;
	size_t row[2];    /* gates: its own and its quota's */
	size_t met[2];    /* likewise, of the stage's list */
	bool memory[2];   /* the memory of the gate holds for it */
	size_t n_row;     /* 1 = a stage without types: not an offering */
	bool use;         /* by the calls that are being made */
};

struct source {       /* one stage of a resource */
	const struct gen_stage *gen;
	bool last;
	struct choice *choice;
	size_t n_choice;
	struct met *met;
	const char *code; /* the worst it said */
	int64_t first_ms; /* first asked; 0 = never */
	int64_t wake_ms;  /* not asked before */
	int shorts;       /* pauses in a row for want of capacity, within the time limit */
	int laters;       /* likewise for throttling */
	bool whole;       /* EC2 decides alone and gives all of a call or nothing; of the calls that are being made */
	size_t *list;     /* wants to ask of it now */
	size_t n_list, cap_list;
};

/* Who may use a resource in this round: anyone; one-node jobs, which share a call; nobody, an earlier job waits. */
enum turn { TURN_FREE, TURN_SINGLES, TURN_TAKEN };

struct pool {         /* of one resource */
	struct source *source; /* NULL = no node of the request is of it */
	size_t n_source;
	size_t *machine;  /* in order of arrival; may still list used ones */
	size_t n, cap;
	size_t spare;     /* machines not used */
	size_t need;      /* open nodes of the job looked at */
	const char *word; /* what closes its stages, for nodes that were never in a call */
	size_t skip;      /* of them, how many go without a call: the pool has enough */
	size_t *pending;  /* wants being asked for; jobs on the resource wait until it is empty */
	size_t n_pending, cap_pending;
	size_t in_flight; /* calls not answered */
	size_t rest;      /* 1 + the job that stands for its nodes without a job; 0 = none */
	enum turn turn;   /* valid in turn_of */
	size_t turn_of;   /* round */
};

struct resume_plan {
	const struct resume_input *in;
	struct nodeset *names;
	struct want *want;        /* position as in names */
	size_t cap_want;
	struct machine *machine;
	size_t n_machine, cap_machine;
	struct pool *pool;        /* one a resource */
	size_t *active;           /* resources with nodes in the request, in order of appearance */
	size_t n_active;
	size_t *touched;          /* resources of the job looked at */
	size_t n_touched;
	struct job *jobs;         /* in order of service; those without a job come last */
	size_t n_jobs;
	struct step **steps;
	size_t n_steps, cap_steps;
	size_t sent, waiting;
	size_t round;
	struct nodeset *offerings; /* names of gates */
	struct gate *gate;
	size_t cap_gate;
	struct shortages known;   /* what was read, then what was met */
	size_t *gate_of;          /* of each of them */
	size_t cap_gate_of;
	struct shortages *told;   /* changed first; its strings are those of `known` */
	struct strs codes;        /* owner of every code */
	uint64_t chance;
	int64_t wake_ms;          /* the next pause that ends; 0 = none */
	bool begun;
	bool stale;               /* something came in since resume_advance */
	bool progress;
	bool hurry;
	bool nomem;
	struct resume_bind *bind;
	struct resume_fail *fail;
	const char **surplus;
	struct resume_result result;
};

/* resume.c */
/* Append to a list of positions; out of memory sets p->nomem. */
void resume_push(struct resume_plan *p, size_t **v, size_t *n, size_t *cap, size_t value);
/* A copy that lives as long as the plan, one for equal texts. NULL stays NULL. */
const char *resume_code(struct resume_plan *p, const char *code);
double resume_chance(struct resume_plan *p); /* in [0, 1) */
/* The n-th pause in a row: twice the one before, up to a limit; half of it is chance. */
int64_t resume_pause(struct resume_plan *p, int64_t first_ms, int64_t limit_ms, int n);

/* resume_source.c */
int resume_source_open(struct resume_plan *p, size_t resource); /* -1 no memory */
void resume_source_close(struct pool *r);
/* What a stage may be asked for, if n nodes are wanted; marks the choices to use and whether the call is whole. */
struct room resume_source_room(struct resume_plan *p, struct pool *r, size_t stage, size_t n, int64_t now_ms);
/* How many of n one-node jobs may share a call, after what EC2 refused; at least 1. */
size_t resume_source_most(const struct resume_plan *p, const struct source *s, size_t n, int64_t now_ms);
/* Why it gives nothing; NULL = EC2 said nothing. */
const char *resume_source_code(struct resume_plan *p, const struct source *s);
/* The worst of all its stages. */
const char *resume_source_word(struct resume_plan *p, const struct pool *r);
/* Something may still come of the resource for a job that lacks n. */
bool resume_source_any(struct resume_plan *p, struct pool *r, size_t n, int64_t now_ms);
/* A call is under way: it gets the marked choices. -1 no memory. */
int resume_source_use(struct resume_plan *p, const struct source *s, struct step *step, int64_t now_ms);
/* It was answered, or left. */
enum probe_end { PROBE_CAME, PROBE_REFUSED, PROBE_AGAIN };
void resume_source_release(struct resume_plan *p, const struct step *step, enum probe_end end);

/* resume_memory.c */
/* Gates for the shortages that were read. -1 no memory. */
int resume_memory_open(struct resume_plan *p);
/* Gate of an offering, made at first sight; it borrows the names. NONE = no memory. */
size_t resume_gate(struct resume_plan *p, const char *type, const char *zone, const char *market);
/* EC2 refused it: keep that. */
void resume_memory_refused(struct resume_plan *p, size_t gate, const char *code, const char *message, int64_t now_ms);
/* Machines came (gate.came). */
void resume_memory_came(struct resume_plan *p, int64_t now_ms);

/* resume_ask.c */
void resume_step_destroy(struct step *s); /* takes NULL */
/* The calls that were not handed out are planned anew. */
void resume_ask_withdraw(struct resume_plan *p);
/* Ask for a node on behalf of a job. Once a round. */
void resume_ask(struct resume_plan *p, size_t want, size_t job);
/* Make the calls that can go now, of all pools. */
void resume_ask_turn(struct resume_plan *p, int64_t now_ms);
void resume_say(struct want *w, const char *code);

/* resume_serve.c */
bool resume_spare(const struct resume_plan *p, size_t machine);
/* Go on until there is a call to make or only answers and pauses are waited for. */
void resume_advance(struct resume_plan *p, int64_t now_ms);

#endif
