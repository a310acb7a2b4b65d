/* property.h - random worlds for lib/plan's resume, what happened in one, and the judge of it. For test_plan_property.c.
 *
 * A world says all that the plan is told and how the cloud will behave; everything in it is a small number, so that the judge
 * shares nothing with the code it judges: no name is resolved, no rule of lib/plan is called. property_world.c makes worlds,
 * property_run.c lets the plan run in one and writes down what it did, property_judge.c reads that.
 */
#ifndef SE_TESTS_UNIT_PROPERTY_H
#define SE_TESTS_UNIT_PROPERTY_H

#include "lib/base/buf.h"
#include "lib/plan/resume.h"

#include <stdbool.h>
#include <stdint.h>

#define N_RES 4    /* resources a, b, c, d of queue q */
#define N_STAGE 3
#define N_TYPE 4   /* t0 ... */
#define N_NET 7    /* s0 ...: two subnets a zone, the last in a zone nobody knows */
#define N_ZONE 4   /* z0, z1, z2, "" */
#define ZONE_ALL N_ZONE /* a quota's row */
#define N_MARKET 5 /* on-demand, spot, capacity-block, two reservations */
#define N_ROW (N_TYPE * (N_ZONE + 1) * N_MARKET)
#define N_JOB 8
#define PER_RES 16 /* node number 3 of resource b is 1 * PER_RES + 3 */
#define STRANGER (N_RES * PER_RES) /* names that nobody knows follow */
#define N_NODE (STRANGER + 4)
#define N_CHOICE 9
#define N_STEP 1500
#define N_INSTANCE 3000
#define N_EVENT 8000
#define MAX_WAITS 400

enum market { M_ONDEMAND, M_SPOT, M_BLOCK, M_RESERVED0, M_RESERVED1 };

enum code { C_NONE, C_ICE, C_UNFULFILLABLE, C_RESERVED, C_VCPU, C_UNSUPPORTED, C_PRICE, C_RATE, C_AUTH, C_PARAMETER, N_CODE };

struct stage {
	int market;
	int n_type, type[3];
	int n_net, net[3];
	int limit_s;
	bool price;        /* spot with a price of our own */
};

struct resource {
	bool single;
	int max;           /* nodes 1 to max */
	int n_stage;
	struct stage stage[N_STAGE];
	enum code fatal;   /* every call of it is answered so; C_NONE = it works */
};

struct pjob {
	int priority;
	int n, node[N_JOB];
};

struct row {               /* what is remembered of one offering */
	bool set, stale;
	int failures;
	int64_t until_ms, budget, probe_until_ms;
};

struct world {
	uint64_t seed, random;
	enum scaling_strategy strategy;
	int batch;
	int n_res;
	struct resource res[N_RES];
	int n_job;
	struct pjob job[N_JOB];
	int n_rest, rest[N_JOB];
	bool asked[N_NODE];        /* in the request */
	bool live[N_NODE];
	int first_stage[N_NODE];
	int64_t start_ms;
	struct row row[N_ROW];
	/* the cloud */
	int left[N_ROW];
	int quota[N_MARKET];
	int later;                 /* throttled answers still to come */
	int oddness;               /* one answer in so many is odd; 0 = none */
	int hurry_after;           /* calls after which there is no time left; -1 = never */
};

struct pstep {
	size_t id;
	int res, stage, min;
	int n, node[PER_RES];
	int n_choice, type[N_CHOICE], net[N_CHOICE]; /* numbers in the stage's lists */
	bool probe;
	int n_job, job[N_JOB];
	int taken;                 /* nodes that somebody else had after all */
	const char *wrong;         /* could not even be written down */
};

struct pinstance {
	int step, type, net;       /* type and net as in the step's stage */
	bool alive;
};

struct refusal { int type, net; enum code code; }; /* -1 = all */

enum event_kind { EV_ASK, EV_ANSWER, EV_LEAVE, EV_TAKEN, EV_HURRY, EV_IDLE };

struct event {
	enum event_kind kind;
	int64_t now_ms;
	int step;                  /* number in record.step */
	int node;                  /* EV_TAKEN */
	int64_t wake_ms;           /* EV_IDLE */
	int first, n;              /* EV_ANSWER: instances */
	enum resume_short why;
	enum code code;
	int n_refused;
	struct refusal refused[N_CHOICE + 1];
};

struct pbind { int node, instance; size_t step; bool ip_ok; };
struct pfail { int node; char code[48]; };
struct pshortage {
	int row;
	bool changed, has_code;
	int failures;
	int64_t until_ms, budget;
};

/* What happened. */
struct record {
	int n_step, n_instance, n_event, n_bind, n_fail, n_back, n_short;
	struct pstep step[N_STEP];
	struct pinstance instance[N_INSTANCE];
	struct event event[N_EVENT];
	struct pbind bind[N_NODE * 2];
	struct pfail fail[N_NODE * 2];
	int back[N_INSTANCE * 2];
	struct pshortage shortage[N_ROW * 2];
	const char *broken;        /* the run could not be finished */
};

extern const char *const code_text[N_CODE];

unsigned world_draw(struct world *w, unsigned n); /* 0 ... n - 1 */
void world_random(struct world *w, uint64_t seed);
void world_dump(const struct world *w, const struct record *r, struct buf *out);
const char *node_text(int node);          /* "q-dy-b-3"; borrowed for ever */
int node_number(const char *name);        /* -1 = unknown */
const char *market_text(int market);
int net_zone(int net);
int row_at(int type, int zone, int market);
const char *row_zone_text(int zone);

/* Called, unless NULL, before and after each call of the plan that may need memory. */
extern void (*world_in_plan)(bool inside);
/* Let the plan run in the world. */
void world_run(struct world *w, struct record *r);
/* NULL = all is right, else what is wrong. */
const char *judge(const struct world *w, const struct record *r);

#endif
