/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume.c - which machines to launch for a resume request, and who gets them. lib/apply makes the calls and brings the answers.
 *
 * First one round of calls for the union of all jobs' nodes, resource by resource: in a calm cloud that is all. Then the jobs are served in
 * order of priority from what came. Under all-or-nothing a job that is short may ask once more, for itself; what it does not get whole goes
 * back to the pool of its resource, where the next job finds it. Jobs on different resources do not wait for each other. A number of machines
 * that EC2 refused is not asked for again in the same run: capacity does not grow while we hold what we have.
 *
 * A machine is launched for the nodes of its call ("hint") and goes to one of them unless an earlier job needs it.
 */
#include "lib/plan/resume.h"

#include "lib/base/err.h"
#include "lib/node/name.h"
#include "lib/node/nodeset.h"
#include "lib/plan/capacity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* --- create: names to wants, jobs in order */

static void push(struct resume_plan *p, size_t **v, size_t *n, size_t *cap, size_t value)
{
	if (mem_grow(v, cap, *n + 1, sizeof(**v))) {
		p->nomem = true;
		return;
	}
	(*v)[(*n)++] = value;
}

/* The want of a node, made at first sight; NONE on no memory. */
static size_t want_of(struct resume_plan *p, const struct nodeset *live, const char *name)
{
	int added = nodeset_add(p->names, name);
	size_t i = added < 0 ? NONE : nodeset_index(p->names, name);
	struct node_name at;
	struct want *w;

	if (added <= 0)
		return i;
	if (mem_grow(&p->want, &p->cap_want, i + 1, sizeof(*p->want)))
		return NONE;
	w = &p->want[i];
	*w = (struct want){ .resource = NONE, .hint = NONE, .machine = NONE, .step = NONE };
	if (nodeset_has(live, name)) {
		w->state = NODE_KEPT;
	} else if (node_name_resolve(p->in->gen, name, &at)) {
		w->state = NODE_DEAD;
		w->code = str_dup(CODE_INVALID_NAME);
		return w->code ? i : NONE;
	} else {
		w->resource = at.resource;
	}
	return i;
}

/* A name twice in one job counts once: each job is a round of its own here. */
static void add_wants(struct resume_plan *p, struct job *j, const struct nodeset *live, const struct strs *names)
{
	p->round++;
	for (size_t i = 0; i < names->n && !p->nomem; i++) {
		size_t w = want_of(p, live, names->v[i]);

		if (w == NONE) {
			p->nomem = true;
		} else if (p->want[w].round != p->round) {
			p->want[w].round = p->round;
			push(p, &j->want, &j->n, &j->cap, w);
		}
	}
}

static int by_priority(const void *a, const void *b)
{
	const struct job *x = a, *y = b;

	if (x->src->priority != y->src->priority)
		return x->src->priority > y->src->priority ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void add_jobs(struct resume_plan *p, const struct nodeset *live)
{
	const struct resume_request *r = p->in->request;

	p->n_jobs = r->n_jobs;
	for (size_t i = 0; i < r->n_jobs; i++)
		p->jobs[i] = (struct job){ .src = &r->jobs[i], .order = i };
	qsort(p->jobs, p->n_jobs, sizeof(*p->jobs), by_priority);
	for (size_t i = 0; i < p->n_jobs; i++)
		add_wants(p, &p->jobs[i], live, &p->jobs[i].src->nodes);
	for (size_t i = 0; i < r->nodes.n && !p->nomem; i++)
		if (!nodeset_has(p->names, r->nodes.v[i]))
			push(p, &p->rest.want, &p->rest.n, &p->rest.cap, want_of(p, live, r->nodes.v[i]));
}

static struct nodeset *live_set(const struct strs *live)
{
	struct nodeset *s = nodeset_create();

	for (size_t i = 0; s && live && i < live->n; i++)
		if (nodeset_add(s, live->v[i]) < 0) {
			nodeset_destroy(s);
			return NULL;
		}
	return s;
}

static int make_tables(struct resume_plan *p)
{
	size_t n = p->in->gen->n_resources;

	p->names = nodeset_create();
	p->pool = calloc(n + 1, sizeof(*p->pool));
	p->touched = calloc(n + 1, sizeof(*p->touched));
	p->jobs = calloc(p->in->request->n_jobs + 1, sizeof(*p->jobs));
	if (!p->names || !p->pool || !p->touched || !p->jobs)
		return -1;
	for (size_t i = 0; i < n; i++)
		p->pool[i].refused = NONE;
	return 0;
}

struct resume_plan *resume_plan_create(const struct resume_input *in, struct err *e)
{
	struct resume_plan *p = calloc(1, sizeof(*p));
	struct nodeset *live = live_set(in->live);

	if (p)
		p->in = in;
	if (p && live && !make_tables(p))
		add_jobs(p, live);
	if (!p || !live || !p->pool || !p->jobs || !p->touched || !p->names || p->nomem) {
		resume_plan_destroy(p);
		p = NULL;
		err_nomem(e);
	}
	nodeset_destroy(live);
	return p;
}

static void step_destroy(struct step *s)
{
	if (!s)
		return;
	strs_clear(&s->nodes);
	strs_clear(&s->jobs);
	free(s->want);
	free(s->code);
	free(s);
}

void resume_plan_destroy(struct resume_plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; p->names && i < nodeset_count(p->names) && i < p->cap_want; i++)
		free(p->want[i].code);
	for (size_t i = 0; i < p->n_machine; i++) {
		free(p->machine[i].id);
		free(p->machine[i].ip);
	}
	for (size_t i = 0; i < p->n_steps; i++)
		step_destroy(p->steps[i]);
	for (size_t i = 0; i < p->n_jobs; i++)
		free(p->jobs[i].want);
	for (size_t i = 0; p->pool && i < p->in->gen->n_resources; i++) {
		free(p->pool[i].machine);
		free(p->pool[i].list);
	}
	nodeset_destroy(p->names);
	free(p->want);
	free(p->machine);
	free(p->pool);
	free(p->touched);
	free(p->listed);
	free(p->jobs);
	free(p->rest.want);
	free(p->steps);
	free(p->bind);
	free(p->fail);
	free(p->surplus);
	free(p);
}

/* --- calls: wants are listed by resource, then cut into batches */

static void list_want(struct resume_plan *p, size_t w, size_t job)
{
	struct pool *r = &p->pool[p->want[w].resource];

	if (p->want[w].round == p->round)
		return;
	p->want[w].round = p->round;
	p->want[w].job = job;
	if (!r->n_list)
		push(p, &p->listed, &p->n_listed, &p->cap_listed, p->want[w].resource);
	push(p, &r->list, &r->n_list, &r->cap_list, w);
}

/* Names of the nodes, and of the jobs they were listed for. */
static int step_fill(struct resume_plan *p, struct step *s, const size_t *want, size_t n)
{
	size_t last = NONE;

	s->want = calloc(n, sizeof(*want));
	if (!s->want)
		return -1;
	memcpy(s->want, want, n * sizeof(*want));
	for (size_t i = 0; i < n; i++) {
		struct want *w = &p->want[want[i]];

		if (strs_add(&s->nodes, nodeset_get(p->names, want[i])))
			return -1;
		if (w->job != NONE && w->job != last && strs_addf(&s->jobs, "%" PRId64, p->jobs[w->job].src->id))
			return -1;
		last = w->job;
		w->step = p->n_steps;
	}
	return 0;
}

static void add_step(struct resume_plan *p, size_t resource, const size_t *want, size_t n, bool whole)
{
	struct step *s = calloc(1, sizeof(*s));

	if (!s || mem_grow(&p->steps, &p->cap_steps, p->n_steps + 1, sizeof(*p->steps)) || step_fill(p, s, want, n)) {
		step_destroy(s);
		p->nomem = true;
		return;
	}
	s->pub = (struct resume_step){ .id = p->n_steps,
				       .resource = resource,
				       .nodes = &s->nodes,
				       .min_count = whole ? (int)n : 1,
				       .jobs = &s->jobs };
	p->steps[p->n_steps++] = s;
}

/* The calls of this round. whole: EC2 gives all of a call or nothing, where a job needs more than one node. */
static void make_steps(struct resume_plan *p, bool whole)
{
	size_t batch = p->in->batch_max ? p->in->batch_max : 1, n;

	for (size_t i = 0; i < p->n_listed; i++) {
		struct pool *r = &p->pool[p->listed[i]];

		for (size_t at = 0; at < r->n_list && !p->nomem; at += n) {
			n = r->n_list - at < batch ? r->n_list - at : batch;
			add_step(p, p->listed[i], r->list + at, n, whole && r->multi);
		}
		r->n_list = 0;
		r->multi = false;
	}
	p->n_listed = 0;
}

/* --- one job against the pools */

static bool spare(const struct resume_plan *p, size_t machine)
{
	return machine != NONE && p->machine[machine].state == MACHINE_SPARE;
}

/* Count the job's open nodes by resource into pool[].need; the resources go to touched. */
static void look_at(struct resume_plan *p, struct job *j)
{
	for (size_t i = 0; i < p->n_touched; i++)
		p->pool[p->touched[i]].need = 0;
	p->n_touched = 0;
	j->need = 0;
	j->dead = false;
	for (size_t i = 0; i < j->n; i++) {
		const struct want *w = &p->want[j->want[i]];

		j->dead = j->dead || w->state == NODE_DEAD;
		if (w->state != NODE_OPEN)
			continue;
		j->need++;
		if (!p->pool[w->resource].need++)
			p->touched[p->n_touched++] = w->resource;
	}
}

static size_t missing(const struct pool *r)
{
	return r->need > r->spare ? r->need - r->spare : 0;
}

static bool is_short(const struct resume_plan *p)
{
	for (size_t i = 0; i < p->n_touched; i++)
		if (missing(&p->pool[p->touched[i]]))
			return true;
	return false;
}

/* May EC2 still give all that is missing? */
static bool may_ask(const struct resume_plan *p)
{
	for (size_t i = 0; i < p->n_touched; i++)
		if (missing(&p->pool[p->touched[i]]) >= p->pool[p->touched[i]].refused)
			return false;
	return true;
}

static void use(struct resume_plan *p, struct want *w, size_t machine)
{
	p->machine[machine].state = MACHINE_USED;
	p->pool[w->resource].spare--;
	w->machine = machine;
	w->state = NODE_BOUND;
}

/* The latest spare machine: it was launched for the last job in order. */
static size_t pool_take(struct resume_plan *p, struct pool *r)
{
	while (r->n) {
		size_t m = r->machine[--r->n];

		if (spare(p, m))
			return m;
	}
	return NONE;
}

/* Give the job what there is: first each node its own machine, then others of the pool. */
static void take(struct resume_plan *p, struct job *j)
{
	for (size_t i = 0; i < j->n; i++) {
		struct want *w = &p->want[j->want[i]];

		if (w->state == NODE_OPEN && spare(p, w->hint))
			use(p, w, w->hint);
	}
	for (size_t i = 0; i < j->n; i++) {
		struct want *w = &p->want[j->want[i]];
		size_t m = w->state == NODE_OPEN ? pool_take(p, &p->pool[w->resource]) : NONE;

		if (m != NONE)
			use(p, w, m);
	}
}

/* Did any node of the job have a machine, or could it have had one? */
static bool has_some(const struct resume_plan *p, const struct job *j)
{
	for (size_t i = 0; i < j->n; i++)
		if (p->want[j->want[i]].state == NODE_BOUND || p->want[j->want[i]].state == NODE_KEPT)
			return true;
	for (size_t i = 0; i < p->n_touched; i++)
		if (p->pool[p->touched[i]].spare)
			return true;
	return false;
}

/* EC2's code if the node's own call came short; else whether others of the job were the ones missing. */
static const char *code_for(const struct resume_plan *p, const struct want *w, bool some)
{
	if (!spare(p, w->hint) && w->step != NONE && p->steps[w->step]->code && missing(&p->pool[w->resource]))
		return p->steps[w->step]->code;
	return some ? CODE_LIMITED : CODE_INSUFFICIENT;
}

/* Say why its open nodes are not served. The first code stays, it is nearest to the cause. The nodes stay open: a later job may share them. */
static void refuse(struct resume_plan *p, struct job *j)
{
	bool some;

	look_at(p, j);
	some = j->dead || has_some(p, j);
	for (size_t i = 0; i < j->n; i++) {
		struct want *w = &p->want[j->want[i]];

		if (w->state != NODE_OPEN || w->code)
			continue;
		w->code = str_dup(code_for(p, w, some));
		if (!w->code)
			p->nomem = true;
	}
}

/* List what the job lacks: on each resource the last of its nodes without a machine of their own, unless EC2 refused even one. */
static void list_missing(struct resume_plan *p, struct job *j, size_t job)
{
	for (size_t i = 0; i < p->n_touched; i++) {
		struct pool *r = &p->pool[p->touched[i]];

		r->skip = r->spare < r->need ? r->spare : r->need;
		r->multi = r->multi || (job != NONE && j->need > 1);
	}
	for (size_t i = 0; i < j->n; i++) {
		const struct want *w = &p->want[j->want[i]];

		if (w->state == NODE_OPEN && spare(p, w->hint))
			p->pool[w->resource].skip--;
	}
	for (size_t i = 0; i < j->n; i++) {
		const struct want *w = &p->want[j->want[i]];

		if (w->state != NODE_OPEN || spare(p, w->hint) || p->pool[w->resource].refused <= 1)
			continue;
		if (p->pool[w->resource].skip)
			p->pool[w->resource].skip--;
		else
			list_want(p, j->want[i], job);
	}
}

/* --- rounds */

static enum turn turn_of(const struct resume_plan *p, size_t resource)
{
	return p->pool[resource].turn_of == p->round ? p->pool[resource].turn : TURN_FREE;
}

static void set_turns(struct resume_plan *p, enum turn t)
{
	for (size_t i = 0; i < p->n_touched; i++) {
		p->pool[p->touched[i]].turn = t;
		p->pool[p->touched[i]].turn_of = p->round;
	}
}

static bool must_wait(const struct resume_plan *p)
{
	for (size_t i = 0; i < p->n_touched; i++)
		if (turn_of(p, p->touched[i]) != TURN_FREE)
			return true;
	return false;
}

/* An earlier job waits for a resource of this one. One-node jobs join its call if it is one of them; else later jobs wait for this one. */
static void wait_or_join(struct resume_plan *p, struct job *j, size_t job)
{
	if (j->need != 1 || j->dead || turn_of(p, p->touched[0]) != TURN_SINGLES) {
		set_turns(p, TURN_TAKEN);
	} else if (!j->tried) {
		list_missing(p, j, job);
		j->tried = true;
	}
}

static void serve(struct resume_plan *p, struct job *j, size_t job)
{
	bool partly = p->in->strategy == SCALING_BEST_EFFORT;
	bool ask = p->in->strategy == SCALING_ALL_OR_NOTHING && !j->tried && may_ask(p);

	if (ask && is_short(p) && !j->dead) {
		list_missing(p, j, job);
		set_turns(p, j->need == 1 ? TURN_SINGLES : TURN_TAKEN);
		j->tried = true;
		return;
	}
	if (partly || (!j->dead && !is_short(p)))
		take(p, j);
	refuse(p, j);
	j->done = true;
}

static void union_round(struct resume_plan *p)
{
	bool partly = p->in->strategy == SCALING_BEST_EFFORT, whole = p->in->strategy == SCALING_ALL_OR_NOTHING;

	p->round++;
	for (size_t k = 0; k < p->n_jobs; k++) {
		struct job *j = &p->jobs[k];

		look_at(p, j);
		if (j->dead && !partly)
			continue;
		for (size_t i = 0; i < p->n_touched; i++)
			p->pool[p->touched[i]].multi |= j->need > 1;
		for (size_t i = 0; i < j->n; i++)
			if (p->want[j->want[i]].state == NODE_OPEN)
				list_want(p, j->want[i], k);
	}
	for (size_t i = 0; !whole && i < p->rest.n; i++)
		if (p->want[p->rest.want[i]].state == NODE_OPEN)
			list_want(p, p->rest.want[i], NONE);
	make_steps(p, whole);
}

static void jobs_round(struct resume_plan *p)
{
	p->round++;
	for (size_t k = 0; k < p->n_jobs && !p->nomem; k++) {
		struct job *j = &p->jobs[k];

		if (j->done)
			continue;
		look_at(p, j);
		if (must_wait(p))
			wait_or_join(p, j, k);
		else
			serve(p, j, k);
	}
	make_steps(p, true);
}

/* Nodes without a job take what is left over, then ask for as many as there are. */
static void rest_round(struct resume_plan *p)
{
	p->round++;
	look_at(p, &p->rest);
	if (p->in->strategy == SCALING_ALL_OR_NOTHING && !p->rest.tried) {
		p->rest.tried = true;
		list_missing(p, &p->rest, NONE);
		make_steps(p, false);
		return;
	}
	take(p, &p->rest);
	refuse(p, &p->rest);
	p->rest.done = true;
}

/* Go on until there is a call to make or nothing is left. Every answer has come. */
static void advance(struct resume_plan *p)
{
	while (p->sent == p->n_steps && !p->nomem && !p->rest.done) {
		if (p->phase == PHASE_UNION) {
			union_round(p);
			p->phase = PHASE_JOBS;
		} else if (p->phase == PHASE_JOBS) {
			jobs_round(p);
			if (p->sent == p->n_steps)
				p->phase = PHASE_REST;
		} else {
			rest_round(p);
		}
	}
}

size_t resume_plan_next(struct resume_plan *p, struct resume_step *steps, size_t max)
{
	size_t n = 0;

	if (!p->waiting)
		advance(p);
	while (!p->nomem && n < max && p->sent < p->n_steps)
		steps[n++] = p->steps[p->sent++]->pub;
	p->waiting += n;
	return n;
}

/* --- answers */

static int add_machine(struct resume_plan *p, const struct step *s, const struct instance *i)
{
	struct pool *r = &p->pool[s->pub.resource];
	struct machine *m;

	if (mem_grow(&p->machine, &p->cap_machine, p->n_machine + 1, sizeof(*p->machine)) ||
	    mem_grow(&r->machine, &r->cap, r->n + 1, sizeof(*r->machine)))
		return -1;
	m = &p->machine[p->n_machine];
	*m = (struct machine){ .id = str_dup(i->id), .ip = str_dup(i->private_ip), .step = s->pub.id };
	if (!m->id || (i->private_ip && !m->ip)) {
		free(m->id);
		free(m->ip);
		return -1;
	}
	p->n_machine++;
	if (i->state != INSTANCE_UNKNOWN && !instance_alive(i->state)) {
		m->state = MACHINE_SCRAP;
		return 0;
	}
	r->machine[r->n++] = p->n_machine - 1;
	r->spare++;
	return 0;
}

/* Machines since `first` to the open nodes of the call in order; the number of open nodes goes to *open, of those with a machine to *served. */
static void hint(struct resume_plan *p, struct step *s, size_t first, size_t *open, size_t *served)
{
	size_t m = first;

	*open = *served = 0;
	for (size_t i = 0; i < s->nodes.n; i++) {
		struct want *w = &p->want[s->want[i]];

		if (w->state != NODE_OPEN)
			continue;
		++*open;
		while (m < p->n_machine && p->machine[m].state != MACHINE_SPARE)
			m++;
		w->hint = m < p->n_machine ? m++ : NONE;
		*served += w->hint != NONE;
	}
}

/* Fewer came than asked. */
static int note_short(struct resume_plan *p, struct step *s, size_t open, size_t served, const char *code)
{
	struct pool *r = &p->pool[s->pub.resource];
	size_t refused = !served && (size_t)s->pub.min_count >= open ? open : 1;

	s->code = str_dup(code);
	if (code && !s->code)
		return -1;
	if (!code || capacity_code_depends_on_size(code)) {
		r->refused = refused < r->refused ? refused : r->refused;
		return 0;
	}
	for (size_t i = 0; i < s->nodes.n; i++) {
		struct want *w = &p->want[s->want[i]];

		if (w->state != NODE_OPEN || w->hint != NONE)
			continue;
		w->state = NODE_DEAD;
		free(w->code);
		w->code = str_dup(code);
		if (!w->code)
			return -1;
	}
	return 0;
}

static struct step *open_step(struct resume_plan *p, size_t step)
{
	struct step *s = step < p->sent ? p->steps[step] : NULL;

	if (!s || s->answered)
		return NULL;
	s->answered = true;
	p->waiting--;
	return s;
}

int resume_plan_answer(struct resume_plan *p, size_t step, const struct instances *got, const char *code)
{
	struct step *s = open_step(p, step);
	size_t first = p->n_machine, open, served;

	if (!s)
		return -1;
	for (size_t i = 0; got && i < got->n && !p->nomem; i++)
		p->nomem = add_machine(p, s, &got->v[i]);
	hint(p, s, first, &open, &served);
	if (served < open && note_short(p, s, open, served, code))
		p->nomem = true;
	return p->nomem ? -1 : 0;
}

int resume_plan_leave(struct resume_plan *p, size_t step)
{
	struct step *s = open_step(p, step);

	if (!s)
		return -1;
	for (size_t i = 0; i < s->nodes.n; i++)
		if (p->want[s->want[i]].state == NODE_OPEN)
			p->want[s->want[i]].state = NODE_KEPT;
	return 0;
}

void resume_plan_taken(struct resume_plan *p, const char *node)
{
	size_t w = nodeset_index(p->names, node);

	if (w != NONE && p->want[w].state == NODE_OPEN)
		p->want[w].state = NODE_KEPT;
}

/* --- result */

const struct resume_result *resume_plan_result(struct resume_plan *p, struct err *e)
{
	size_t n = nodeset_count(p->names);
	struct resume_result *r = &p->result;

	p->bind = calloc(n + 1, sizeof(*p->bind));
	p->fail = calloc(n + 1, sizeof(*p->fail));
	p->surplus = calloc(p->n_machine + 1, sizeof(*p->surplus));
	if (p->nomem || !p->bind || !p->fail || !p->surplus) {
		err_nomem(e);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		const struct want *w = &p->want[i];
		const char *name = nodeset_get(p->names, i);

		if (w->state == NODE_BOUND)
			p->bind[r->n_bind++] = (struct resume_bind){ .node = name,
								     .instance = p->machine[w->machine].id,
								     .ip = p->machine[w->machine].ip,
								     .step = p->machine[w->machine].step };
		else if (w->state != NODE_KEPT && w->code)
			p->fail[r->n_fail++] = (struct resume_fail){ .node = name, .code = w->code };
	}
	for (size_t i = 0; i < p->n_machine; i++)
		if (p->machine[i].state != MACHINE_USED)
			p->surplus[r->n_surplus++] = p->machine[i].id;
	r->bind = p->bind;
	r->fail = p->fail;
	r->surplus = p->surplus;
	return r;
}
