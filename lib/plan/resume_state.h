/* resume_state.h - the state of one resume plan. Private to lib/plan/resume*.c. */
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
	size_t step;      /* last call that listed it */
	size_t round;     /* last round that listed it */
	size_t job;       /* for which job it was listed; NONE = without a job */
	char *code;       /* first reason it was not served */
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
	char *code;       /* EC2's, when fewer came than asked */
	bool answered;
};

struct job {
	const struct resume_job *src; /* NULL = the nodes without a job */
	size_t order;
	size_t *want;
	size_t n, cap;
	size_t need;      /* open nodes; valid while it is looked at */
	bool dead;        /* has a dead node; likewise */
	bool tried;       /* had a call of its own */
	bool done;
};

/* Who may use a resource in this round: anyone; one-node jobs, which share a call; nobody, an earlier job waits. */
enum turn { TURN_FREE, TURN_SINGLES, TURN_TAKEN };

struct pool {         /* of one resource */
	size_t *machine;  /* in order of arrival; may still list used ones */
	size_t n, cap;
	size_t spare;     /* machines not used */
	size_t refused;   /* least number EC2 refused */
	size_t need;      /* open nodes of the job looked at */
	size_t skip;      /* of them, how many go without a call: the pool has enough */
	size_t *list;     /* wants to be put into calls this round */
	size_t n_list, cap_list;
	bool multi;       /* the list has nodes of a job that needs several */
	enum turn turn;   /* valid in turn_of */
	size_t turn_of;   /* round */
};

enum phase { PHASE_UNION, PHASE_JOBS, PHASE_REST };

struct resume_plan {
	const struct resume_input *in;
	struct nodeset *names;
	struct want *want;        /* position as in names */
	size_t cap_want;
	struct machine *machine;
	size_t n_machine, cap_machine;
	struct pool *pool;        /* one a resource */
	size_t *touched;          /* resources of the job looked at */
	size_t n_touched;
	size_t *listed;           /* resources with a list this round */
	size_t n_listed, cap_listed;
	struct job *jobs;
	size_t n_jobs;
	struct job rest;
	struct step **steps;
	size_t n_steps, cap_steps;
	size_t sent, waiting;
	size_t round;
	enum phase phase;
	bool nomem;
	struct resume_bind *bind;
	struct resume_fail *fail;
	const char **surplus;
	struct resume_result result;
};

/* Append to a list of positions; out of memory sets p->nomem. */
void resume_push(struct resume_plan *p, size_t **v, size_t *n, size_t *cap, size_t value);
void resume_step_destroy(struct step *s); /* takes NULL */
/* Go on until there is a call to make or nothing is left. Every answer has come. */
void resume_advance(struct resume_plan *p);

#endif
