/* SPDX-License-Identifier: GPL-2.0-or-later */
/* property_judge.c - reads what a plan did in a world, event by event, and says what is wrong with it.
 *
 * It keeps books of its own: who is in the air, what the memory allows now, at which size each offering was refused. Where the
 * contract of lib/plan/resume.h leaves a choice, any is right. Everything it says is one sentence without numbers, so that
 * failures can be counted by kind.
 */
#include "tests/unit/property.h"

#include <string.h>

#define UNLIMITED INT64_MAX
#define CLOSED_MS 30000 /* a refusal closes an offering for so long at least */
#define FORGOTTEN 1000	/* a budget from which a shortage is over */

struct met { /* refusals in this run */
	bool refused;
	bool any_size; /* in a way that no size helps */
	int size;      /* least number refused */
	int64_t at;
};

struct book {	      /* of one row: an offering, or a quota of a type in all zones */
	bool limited; /* the memory says something of it */
	bool stale;   /* it says something of long ago: either is right */
	int64_t until, budget, foreign;
	int air_steps, air_nodes;
	unsigned air_jobs; /* jobs that all nodes in the air belong to */
	bool asked;
	struct met met;
	bool perhaps; /* fewer came and EC2 named others, or a machine came dead */
	bool throttled;
	bool came;
	bool last_refused; /* the last word on it was a refusal that is remembered */
	bool shut;	   /* a probe of ours was refused */
	int64_t shut_at;
};

struct bench { /* what the judge knows so far */
	const struct world *w;
	const struct record *r;
	struct book book[N_ROW];
	struct met there[N_RES][N_STAGE][N_ROW]; /* the same for each stage */
	bool kept[N_NODE];			 /* live, left, taken */
	bool left[N_NODE];
	bool dead[N_NODE]; /* in a call that failed for a reason that no size helps */
	int air[N_NODE];
	int last_answer[N_NODE]; /* event */
	int last_of_job[N_JOB];	 /* the answer to the last call that was made for it */
	bool fatal[N_RES];
	bool short_stage[N_RES][N_STAGE]; /* fewer came than asked ... */
	bool no_help[N_RES][N_STAGE];	  /* ... and waiting may not help */
	int64_t first_ask[N_RES][N_STAGE];
	int came[N_RES], extra[N_RES], flying[N_RES]; /* living machines, of them more than asked, nodes in the air */
	int when[N_INSTANCE];			      /* event */
	bool closed[N_STEP];			      /* answered or left */
	bool hurried;
	bool code_seen[N_CODE];
	/* the result */
	int machine_of[N_NODE]; /* -1 = not bound */
	const char *failed[N_NODE];
	int node_of[N_INSTANCE]; /* -1 = returned, -2 = nothing */
};

#define TRY(call)                                                                                                              \
	do {                                                                                                                   \
		const char *wrong_ = (call);                                                                                   \
		if (wrong_)                                                                                                    \
			return wrong_;                                                                                         \
	} while (0)

static const struct stage *stage_of(const struct bench *b, const struct pstep *s)
{
	return &b->w->res[s->res].stage[s->stage];
}

static bool valid(const struct world *w, int node)
{
	return node >= 0 && node < STRANGER && node / PER_RES < w->n_res && node % PER_RES >= 1 &&
	       node % PER_RES <= w->res[node / PER_RES].max;
}

/* Where a node begins; a generation may have fewer stages than an earlier run knew. */
static int first_stage(const struct world *w, int node)
{
	int last = w->res[node / PER_RES].n_stage - 1;

	return w->first_stage[node] < last ? w->first_stage[node] : last;
}

/* The two rows of a choice: its own and the quota's. */
static void rows_of(const struct stage *t, int type, int net, int row[2])
{
	row[0] = row_at(t->type[type], net_zone(t->net[net]), t->market);
	row[1] = row_at(t->type[type], ZONE_ALL, t->market);
}

static void open_book(struct bench *b)
{
	for (int i = 0; i < N_ROW; i++) {
		const struct row *r = &b->w->row[i];

		b->book[i] = (struct book){.limited = r->set && !r->stale,
					   .stale = r->stale,
					   .until = r->until_ms,
					   .budget = r->budget,
					   .foreign = r->probe_until_ms};
	}
}

/* 0 = closed, -1 = one call */
static int64_t allowed(const struct book *k, int64_t now)
{
	if (!k->limited)
		return UNLIMITED;
	if (now < k->until || now < k->foreign)
		return 0;
	return k->budget ? k->budget : -1;
}

/* --- a call */

static const char *ask_shape(const struct bench *b, const struct pstep *s)
{
	if (s->wrong)
		return s->wrong;
	if (!s->n)
		return "a call for no nodes";
	if (s->n > b->w->batch)
		return "a call of more nodes than a batch has";
	if (!s->n_choice)
		return "a call without a choice";
	if (b->w->res[s->res].single && s->n_choice != 1)
		return "a single resource with several choices";
	for (int i = 0; i < s->n_choice; i++)
		for (int k = 0; k < i; k++)
			if (s->type[i] == s->type[k] && s->net[i] == s->net[k])
				return "a choice named twice";
	if (s->min != 1 && s->min != s->n)
		return "a minimum between one and all";
	return NULL;
}

static const char *ask_nodes(const struct bench *b, const struct pstep *s)
{
	for (int i = 0; i < s->n; i++) {
		int node = s->node[i];

		if (!valid(b->w, node) || !b->w->asked[node])
			return "a call for a node that was not asked for";
		if (node / PER_RES != s->res)
			return "a call for a node of another resource";
		if (b->kept[node])
			return "a call for a node that has a machine or a launch";
		if (b->dead[node])
			return "a call for a node after a final error";
		if (b->air[node])
			return "a node in two calls at once";
		if (first_stage(b->w, node) > s->stage)
			return "a stage that an earlier run was through with";
		for (int k = 0; k < i; k++)
			if (s->node[k] == node)
				return "a node twice in a call";
	}
	return NULL;
}

static bool in_list(const int *list, int n, int node)
{
	for (int i = 0; i < n; i++)
		if (list[i] == node)
			return true;
	return false;
}

static const char *ask_jobs(const struct bench *b, const struct pstep *s)
{
	for (int i = 0; i < s->n_job; i++) {
		bool some = false;

		if (s->job[i] < 1 || s->job[i] > b->w->n_job)
			return "a call for a job that does not exist";
		for (int k = 0; k < s->n && !some; k++)
			some = in_list(b->w->job[s->job[i] - 1].node, b->w->job[s->job[i] - 1].n, s->node[k]);
		if (!some)
			return "a call for a job without nodes in it";
	}
	return NULL;
}

/* Several nodes of one job in this call? And does any job at all need more than one? */
static void ask_sizes(const struct bench *b, const struct pstep *s, bool *together, bool *alone)
{
	*together = false;
	*alone = true;
	for (int j = 0; j < b->w->n_job; j++) {
		const struct pjob *p = &b->w->job[j];
		int here = 0, distinct = 0;

		for (int i = 0; i < s->n; i++)
			here += in_list(p->node, p->n, s->node[i]);
		for (int i = 0; i < p->n; i++)
			distinct += !in_list(p->node, i, p->node[i]);
		*together |= here > 1 && in_list(s->job, s->n_job, j + 1);
		*alone &= !here || distinct == 1;
	}
}

/* Does a later stage have a choice of which nothing bad is known? */
static bool later_open(const struct bench *b, const struct pstep *s)
{
	const struct resource *r = &b->w->res[s->res];

	for (int i = s->stage + 1; i < r->n_stage; i++)
		for (int t = 0; t < r->stage[i].n_type; t++)
			for (int n = 0; n < r->stage[i].n_net; n++) {
				int row[2];

				rows_of(&r->stage[i], t, n, row);
				if (!b->book[row[0]].limited && !b->book[row[0]].stale && !b->book[row[0]].met.refused &&
				    !b->book[row[1]].limited && !b->book[row[1]].stale && !b->book[row[1]].met.refused &&
				    !b->book[row[0]].perhaps && !b->book[row[0]].throttled)
					return true;
			}
	return false;
}

static const char *ask_minimum(const struct bench *b, const struct pstep *s)
{
	const struct stage *t = stage_of(b, s);
	bool types = false, nets = false, zones = false, together, alone;

	for (int i = 1; i < s->n_choice; i++) {
		types |= s->type[i] != s->type[0];
		nets |= s->net[i] != s->net[0];
		zones |= net_zone(t->net[s->net[i]]) != net_zone(t->net[s->net[0]]);
	}
	ask_sizes(b, s, &together, &alone);
	if (s->n == 1)
		return NULL;
	if (b->w->strategy != SCALING_ALL_OR_NOTHING)
		return s->min == 1 ? NULL : "all or nothing asked of EC2 under another strategy";
	if (types && zones && s->min != 1)
		return "a minimum for several types in several zones";
	if (s->min != 1 && alone)
		return "a minimum for jobs of one node";
	if (s->min != 1 && later_open(b, s))
		return "a minimum although another stage could fill up";
	if (s->min == 1 && together && s->stage == b->w->res[s->res].n_stage - 1 && !(types && nets))
		return "no minimum for a job of several nodes";
	return NULL;
}

/* The jobs that all nodes of the call belong to. */
static unsigned jobs_of(const struct bench *b, const struct pstep *s)
{
	unsigned jobs = 0;

	for (int j = 0; j < b->w->n_job; j++) {
		bool all = true;

		for (int i = 0; i < s->n; i++)
			all &= in_list(b->w->job[j].node, b->w->job[j].n, s->node[i]);
		jobs |= all ? 1u << j : 0;
	}
	return jobs;
}

/* May this row be asked for n now? One job may go beyond a budget: it could not be had otherwise. */
static const char *ask_row(const struct book *k, const struct pstep *s, unsigned jobs, int64_t now, bool *probe)
{
	int64_t n = allowed(k, now);

	if (!n)
		return "a closed offering was asked";
	if (n > 0)
		return n - k->air_nodes >= s->n || (jobs & (k->air_steps ? k->air_jobs : ~0u))
			   ? NULL
			   : "more nodes asked than the budget allows";
	*probe = true;
	if (k->air_steps)
		return "two probes at once";
	return s->probe ? NULL : "a probe that is not marked";
}

static const char *ask_memory(const struct bench *b, const struct pstep *s, int64_t now)
{
	const struct stage *t = stage_of(b, s);
	unsigned jobs = jobs_of(b, s);
	bool probe = false;

	for (int i = 0; i < s->n_choice; i++) {
		int row[2];

		rows_of(t, s->type[i], s->net[i], row);
		TRY(ask_row(&b->book[row[0]], s, jobs, now, &probe));
		TRY(ask_row(&b->book[row[1]], s, jobs, now, &probe));
	}
	if (!probe)
		return s->probe ? "a probe where none is due" : NULL;
	return s->n == 1 || jobs ? NULL : "a probe for more than one job";
}

/* Nothing that was refused is asked again for as many, but after a pause in a stage with a time limit. */
static const char *again_row(const struct bench *b, const struct pstep *s, const struct met *m, int64_t now)
{
	int64_t limit_ms = stage_of(b, s)->limit_s * INT64_C(1000), first = b->first_ask[s->res][s->stage];

	if (!m->refused || (!m->any_size && s->n < m->size))
		return NULL;
	if (!limit_ms)
		return "asked again for what was refused";
	if (now <= m->at)
		return "asked again without a pause";
	if (b->hurried)
		return "asked again although there is no time";
	return first && now > first + limit_ms ? "asked again after the stage's time limit" : NULL;
}

static const char *ask_again(const struct bench *b, const struct pstep *s, int64_t now)
{
	for (int i = 0; i < s->n_choice; i++) {
		int row[2];

		rows_of(stage_of(b, s), s->type[i], s->net[i], row);
		for (int k = 0; k < 2; k++) {
			const struct book *o = &b->book[row[k]];

			if (o->shut && now < o->shut_at + CLOSED_MS)
				return "asked again for what was refused";
			TRY(again_row(b, s, &b->there[s->res][s->stage][row[k]], now));
		}
	}
	return NULL;
}

/* Before a stage is tried, the ones before it were. */
static const char *ask_order(const struct bench *b, const struct pstep *s, int64_t now)
{
	const struct resource *r = &b->w->res[s->res];
	int from = 0;

	for (int i = 0; i < s->n; i++)
		from = first_stage(b->w, s->node[i]) > from ? first_stage(b->w, s->node[i]) : from;
	for (int i = from; i < s->stage; i++) {
		const struct stage *t = &r->stage[i];

		for (int ty = 0; ty < t->n_type; ty++)
			for (int n = 0; n < t->n_net; n++) {
				int row[2];
				const struct book *o, *q;

				rows_of(t, ty, n, row);
				o = &b->book[row[0]];
				q = &b->book[row[1]];
				if (!o->limited && !o->stale && !o->met.refused && !o->perhaps && !o->throttled &&
				    !q->limited && !q->stale && !q->met.refused)
					return "a stage left out";
			}
		if (t->limit_s && b->short_stage[s->res][i] && !b->no_help[s->res][i] && !b->hurried &&
		    now < b->w->start_ms + t->limit_s * INT64_C(1000))
			return "a stage left before its time limit";
	}
	return NULL;
}

/* No machine is asked for that nobody could want. */
static const char *ask_enough(const struct bench *b, const struct pstep *s)
{
	int open = 0;

	for (int i = s->res * PER_RES; i < (s->res + 1) * PER_RES; i++)
		open += b->w->asked[i] && valid(b->w, i) && !b->kept[i];
	if (b->flying[s->res] + s->n + b->came[s->res] - b->extra[s->res] > open)
		return "more machines asked for than there are nodes";
	return NULL;
}

static void air_rows(struct bench *b, const struct pstep *s, int sign)
{
	bool done[N_ROW] = {false};
	unsigned jobs = jobs_of(b, s);

	for (int i = 0; i < s->n_choice; i++) {
		int row[2];

		rows_of(stage_of(b, s), s->type[i], s->net[i], row);
		for (int k = 0; k < 2; k++) {
			if (done[row[k]])
				continue;
			done[row[k]] = true;
			if (sign > 0)
				b->book[row[k]].air_jobs = jobs & (b->book[row[k]].air_steps ? b->book[row[k]].air_jobs : ~0u);
			b->book[row[k]].air_steps += sign;
			b->book[row[k]].air_nodes += sign * s->n;
			b->book[row[k]].asked = true;
		}
	}
}

static const char *on_ask(struct bench *b, const struct event *e)
{
	const struct pstep *s = &b->r->step[e->step];

	TRY(ask_shape(b, s));
	TRY(ask_nodes(b, s));
	TRY(ask_jobs(b, s));
	TRY(ask_memory(b, s, e->now_ms));
	TRY(ask_again(b, s, e->now_ms));
	TRY(ask_order(b, s, e->now_ms));
	TRY(ask_minimum(b, s));
	TRY(ask_enough(b, s));
	for (int i = 0; i < s->n; i++)
		b->air[s->node[i]]++;
	b->flying[s->res] += s->n;
	if (!b->first_ask[s->res][s->stage])
		b->first_ask[s->res][s->stage] = e->now_ms;
	air_rows(b, s, 1);
	return NULL;
}

/* --- an answer */

static void land(struct bench *b, const struct event *e, bool leave)
{
	const struct pstep *s = &b->r->step[e->step];

	b->closed[e->step] = true;
	for (int i = 0; i < s->n; i++) {
		b->air[s->node[i]] = 0;
		b->last_answer[s->node[i]] = (int)(e - b->r->event);
		if (leave)
			b->kept[s->node[i]] = b->left[s->node[i]] = true;
	}
	for (int i = 0; i < s->n_job; i++)
		b->last_of_job[s->job[i] - 1] = (int)(e - b->r->event);
	b->flying[s->res] -= s->n;
	air_rows(b, s, -1);
}

static void note_refused(struct met *m, enum code code, int size, int64_t now)
{
	m->refused = true;
	m->any_size |= code == C_UNSUPPORTED || code == C_PRICE;
	m->size = !m->size || size < m->size ? size : m->size;
	m->at = now;
}

static void refused_choice(struct bench *b, const struct event *e, int choice, enum code code, int size)
{
	const struct pstep *s = &b->r->step[e->step];
	struct book *k;
	int row[2];

	rows_of(stage_of(b, s), s->type[choice], s->net[choice], row);
	k = &b->book[row[code == C_VCPU]];
	note_refused(&b->there[s->res][s->stage][row[code == C_VCPU]], code, size, e->now_ms);
	if (code == C_PRICE) { /* says nothing of a stage with another, or with none */
		k->perhaps = true;
	} else {
		note_refused(&k->met, code, size, e->now_ms);
		k->last_refused = true;
	}
	for (int i = 0; s->probe && i < 2; i++) {
		b->book[row[i]].shut |= allowed(&b->book[row[i]], e->now_ms) < 0;
		b->book[row[i]].shut_at = e->now_ms;
	}
}

static bool refusal_fits(const struct refusal *f, const struct pstep *s, int choice)
{
	return (f->type < 0 || f->type == s->type[choice]) && (f->net < 0 || f->net == s->net[choice]);
}

static void perhaps_choice(struct bench *b, const int row[2])
{
	for (int i = 0; i < 2; i++)
		b->book[row[i]].perhaps = true;
}

/* Which choices were refused, and which only perhaps. */
static void read_refusals(struct bench *b, const struct event *e, bool certain, int size)
{
	const struct pstep *s = &b->r->step[e->step];

	for (int c = 0; c < s->n_choice; c++) {
		int row[2];
		bool named = !e->n_refused;

		rows_of(stage_of(b, s), s->type[c], s->net[c], row);
		for (int i = 0; i < e->n_refused; i++) {
			if (!refusal_fits(&e->refused[i], s, c))
				continue;
			named = true;
			if (certain && e->why == SHORT_CAPACITY)
				refused_choice(b, e, c, e->refused[i].code, size);
		}
		if (certain && e->why == SHORT_CAPACITY && !e->n_refused)
			refused_choice(b, e, c, e->code, size);
		if (!named || !certain)
			perhaps_choice(b, row);
		if (e->why == SHORT_LATER)
			b->book[row[0]].throttled = b->book[row[1]].throttled = true;
	}
}

static void came_row(struct book *k, int n, int64_t now)
{
	int64_t twice = 2 * (k->budget > n ? k->budget : n);

	k->came = true;
	k->last_refused = false;
	k->budget = twice;
	k->until = k->until < now ? k->until : now;
	k->foreign = 0;
	if (twice >= FORGOTTEN)
		k->limited = false;
}

static int count_machines(struct bench *b, const struct event *e)
{
	const struct pstep *s = &b->r->step[e->step];
	int alive = 0, of[N_CHOICE] = {0};

	for (int i = e->first; i < e->first + e->n; i++) {
		const struct pinstance *m = &b->r->instance[i];

		b->when[i] = (int)(e - b->r->event);
		if (!m->alive)
			continue;
		alive++;
		for (int c = 0; c < s->n_choice; c++)
			of[c] += s->type[c] == m->type && s->net[c] == m->net;
	}
	for (int c = 0; c < s->n_choice; c++) {
		int row[2];

		rows_of(stage_of(b, s), s->type[c], s->net[c], row);
		if (of[c]) {
			came_row(&b->book[row[0]], of[c], e->now_ms);
			came_row(&b->book[row[1]], of[c], e->now_ms);
		}
	}
	b->came[s->res] += alive;
	return alive;
}

static bool waiting_helps(const struct event *e)
{
	bool helps = e->code != C_UNSUPPORTED && e->code != C_PRICE;

	for (int i = 0; i < e->n_refused; i++)
		helps &= e->refused[i].code != C_UNSUPPORTED && e->refused[i].code != C_PRICE;
	return helps;
}

static void on_answer(struct bench *b, const struct event *e)
{
	const struct pstep *s = &b->r->step[e->step];
	int want = s->n - s->taken, alive = count_machines(b, e);
	bool is_short = alive < want, dead = is_short && e->n >= want;

	land(b, e, false);
	b->extra[s->res] += alive > want ? alive - want : 0;
	b->code_seen[e->code] = true;
	for (int i = 0; i < e->n_refused; i++)
		b->code_seen[e->refused[i].code] = true;
	b->short_stage[s->res][s->stage] |= is_short && e->why == SHORT_CAPACITY;
	b->no_help[s->res][s->stage] |= (is_short && s->probe) || !waiting_helps(e);
	if (is_short && e->why == SHORT_FATAL) {
		b->fatal[s->res] = true;
		for (int i = 0; i < s->n; i++)
			b->dead[s->node[i]] = true;
	}
	if (is_short || e->n_refused)
		read_refusals(b, e, is_short && !dead, !e->n && s->min >= want ? want : 1);
}

static const char *read_event(struct bench *b, const struct event *e)
{
	switch (e->kind) {
	case EV_ASK:
		return on_ask(b, e);
	case EV_ANSWER:
		on_answer(b, e);
		return NULL;
	case EV_LEAVE:
		land(b, e, true);
		return NULL;
	case EV_TAKEN:
		b->kept[e->node] = true;
		return NULL;
	case EV_HURRY:
		b->hurried = true;
		return NULL;
	case EV_IDLE:
		return b->hurried ? "it waits although there is no time" : NULL;
	}
	return "an event that is none";
}

/* --- the result: machines and nodes */

static const char *check_binds(struct bench *b)
{
	for (int i = 0; i < b->r->n_bind; i++) {
		const struct pbind *p = &b->r->bind[i];

		if (p->node < 0 || p->node >= N_NODE || !b->w->asked[p->node])
			return "a node bound that was not asked for";
		if (p->instance < 0 || p->instance >= b->r->n_instance)
			return "a machine bound that never came";
		if (b->machine_of[p->node] >= 0)
			return "a node bound twice";
		if (b->node_of[p->instance] != -2)
			return "a machine bound twice";
		if (b->kept[p->node])
			return "a node bound that has a machine or a launch";
		if (!b->r->instance[p->instance].alive)
			return "a dead machine bound";
		if (b->r->step[b->r->instance[p->instance].step].res != p->node / PER_RES)
			return "a machine of another resource bound";
		if (p->step != b->r->step[b->r->instance[p->instance].step].id)
			return "a machine bound with another launch than its own";
		if (!p->ip_ok)
			return "a machine bound with another address than its own";
		b->machine_of[p->node] = p->instance;
		b->node_of[p->instance] = p->node;
	}
	return NULL;
}

static const char *check_returns(struct bench *b)
{
	for (int i = 0; i < b->r->n_back; i++) {
		int m = b->r->back[i];

		if (m < 0 || m >= b->r->n_instance)
			return "a machine returned that never came";
		if (b->node_of[m] == -1)
			return "a machine returned twice";
		if (b->node_of[m] >= 0)
			return "a machine both bound and returned";
		b->node_of[m] = -1;
	}
	for (int i = 0; i < b->r->n_instance; i++)
		if (b->node_of[i] == -2)
			return "a machine lost";
	return NULL;
}

/* Codes that somebody said: EC2, the memory, or the plan itself. */
static const char *check_code(const struct bench *b, const struct pfail *f)
{
	bool mine = valid(b->w, f->node), name = !strcmp(f->code, "InvalidNodenameError");

	if (!*f->code)
		return "a node failed without a code";
	if (name == mine)
		return mine ? "a node of ours called unknown" : "an unknown node with another code";
	if (name || !strcmp(f->code, "InsufficientInstanceCapacity") || !strcmp(f->code, "LimitedInstanceCapacity"))
		return NULL;
	if (!strcmp(f->code, code_text[C_RATE]) && !b->hurried)
		return "a node failed for throttling alone";
	for (int i = 1; i < N_CODE; i++)
		if ((b->code_seen[i] || i == C_VCPU) && !strcmp(f->code, code_text[i]))
			return NULL;
	return "a code that nobody said";
}

static const char *check_fails(struct bench *b)
{
	for (int i = 0; i < b->r->n_fail; i++) {
		const struct pfail *f = &b->r->fail[i];

		if (f->node < 0 || f->node >= N_NODE || !b->w->asked[f->node])
			return "a node failed that was not asked for";
		if (b->failed[f->node])
			return "a node failed twice";
		if (b->machine_of[f->node] >= 0)
			return "a node both bound and failed";
		if (b->kept[f->node])
			return "a node failed that has a machine or a launch";
		TRY(check_code(b, f));
		b->failed[f->node] = f->code;
	}
	for (int i = 0; i < N_NODE; i++)
		if (b->w->asked[i] && b->machine_of[i] < 0 && !b->failed[i] && !b->kept[i])
			return "a node forgotten";
	return NULL;
}

static const char *check_closed(const struct bench *b)
{
	for (int i = 0; i < b->r->n_step; i++)
		if (!b->closed[i])
			return "it ended before all answers had come";
	return NULL;
}

/* --- jobs */

static bool job_failed(const struct bench *b, const struct pjob *j)
{
	for (int i = 0; i < j->n; i++)
		if (b->failed[j->node[i]])
			return true;
	return false;
}

/* A name that nobody knows, or a call that no size helps: it cannot be served whole. */
static bool job_hopeless(const struct bench *b, const struct pjob *j)
{
	for (int i = 0; i < j->n; i++)
		if (!valid(b->w, j->node[i]) || b->dead[j->node[i]])
			return true;
	return false;
}

static bool in_served_job(const struct bench *b, int node)
{
	for (int k = 0; k < b->w->n_job; k++)
		if (in_list(b->w->job[k].node, b->w->job[k].n, node) && !job_failed(b, &b->w->job[k]))
			return true;
	return false;
}

static const char *check_whole(const struct bench *b)
{
	for (int k = 0; k < b->w->n_job && b->w->strategy != SCALING_BEST_EFFORT; k++) {
		const struct pjob *j = &b->w->job[k];

		for (int i = 0; i < j->n && job_failed(b, j); i++)
			if (b->machine_of[j->node[i]] >= 0 && !in_served_job(b, j->node[i]))
				return "a job served in part";
	}
	return NULL;
}

/* Failed nodes of the job by resource. */
static void needs(const struct bench *b, const struct pjob *j, int need[N_RES])
{
	memset(need, 0, N_RES * sizeof(*need));
	for (int i = 0; i < j->n; i++)
		if (b->failed[j->node[i]] && valid(b->w, j->node[i]) && !in_list(j->node, i, j->node[i]))
			need[j->node[i] / PER_RES]++;
}

static void spares(const struct bench *b, int spare[N_RES])
{
	memset(spare, 0, N_RES * sizeof(*spare));
	for (int i = 0; i < b->r->n_instance; i++)
		spare[b->r->step[b->r->instance[i].step].res] += b->r->instance[i].alive && b->node_of[i] == -1;
}

static bool covers(const int *have, const int *need)
{
	for (int i = 0; i < N_RES; i++)
		if (have[i] < need[i])
			return false;
	return true;
}

static const char *check_waste(const struct bench *b)
{
	int spare[N_RES], need[N_RES];

	spares(b, spare);
	for (int i = 0; i < STRANGER; i++) {
		bool rest = in_list(b->w->rest, b->w->n_rest, i);

		if (b->failed[i] && valid(b->w, i) && !b->dead[i] && spare[i / PER_RES] &&
		    (rest || b->w->strategy == SCALING_BEST_EFFORT))
			return "a machine returned that a node lacked";
	}
	for (int k = 0; k < b->w->n_job; k++) {
		const struct pjob *j = &b->w->job[k];

		if (!job_failed(b, j) || job_hopeless(b, j))
			continue;
		needs(b, j, need);
		if (covers(spare, need))
			return "machines returned that would have served a job";
	}
	return NULL;
}

/* --- order of jobs */

static bool before(const struct world *w, int a, int b)
{
	return w->job[a].priority != w->job[b].priority ? w->job[a].priority > w->job[b].priority : a < b;
}

/* Does any job that is as good as `job` or better want the node? */
static bool wanted_before(const struct world *w, int node, int job)
{
	for (int k = 0; k < w->n_job; k++)
		if ((k == job || before(w, k, job)) && in_list(w->job[k].node, w->job[k].n, node))
			return true;
	return false;
}

/* Machines that were there at `event` and went back or to those behind the job. */
static void within_reach(const struct bench *b, int job, int event, int have[N_RES])
{
	memset(have, 0, N_RES * sizeof(*have));
	for (int i = 0; i < b->r->n_instance; i++)
		have[b->r->step[b->r->instance[i].step].res] += b->r->instance[i].alive && b->when[i] <= event &&
								(b->node_of[i] < 0 || !wanted_before(b->w, b->node_of[i], job));
}

static const char *check_starved(const struct bench *b)
{
	bool partly = b->w->strategy == SCALING_BEST_EFFORT;

	for (int k = 0; k < b->w->n_job; k++) {
		const struct pjob *j = &b->w->job[k];
		int need[N_RES], have[N_RES];

		if (!job_failed(b, j) || (!partly && job_hopeless(b, j)))
			continue;
		needs(b, j, need);
		within_reach(b, k, b->last_of_job[k], have);
		if (!partly && covers(have, need))
			return "a job starved by one behind it";
		for (int i = 0; i < j->n && partly; i++) {
			int node = j->node[i];

			within_reach(b, k, b->last_answer[node], have);
			if (b->failed[node] && valid(b->w, node) && !b->dead[node] && have[node / PER_RES])
				return "a node starved by one behind it";
		}
	}
	return NULL;
}

/* --- capacity that was never asked for */

static bool row_exhausted(const struct bench *b, int res, int stage, int row, int need)
{
	const struct met *m = &b->there[res][stage][row];
	const struct book *k = &b->book[row];

	if ((m->refused && (m->any_size || m->size <= need)) || (k->met.refused && (k->met.any_size || k->met.size <= need)))
		return true;
	if (k->perhaps || k->shut || k->stale || (k->throttled && b->hurried))
		return true;
	if (!k->limited)
		return false;
	return k->until > b->w->start_ms || k->foreign > b->w->start_ms || k->asked || (k->budget && k->budget < need);
}

static bool resource_exhausted(const struct bench *b, int res, int from, int need)
{
	const struct resource *r = &b->w->res[res];

	if (b->fatal[res])
		return true;
	for (int i = from; i < r->n_stage; i++)
		for (int t = 0; t < r->stage[i].n_type; t++)
			for (int n = 0; n < r->stage[i].n_net; n++) {
				int row[2];

				rows_of(&r->stage[i], t, n, row);
				if (!row_exhausted(b, res, i, row[0], need) && !row_exhausted(b, res, i, row[1], need))
					return false;
			}
	return true;
}

/* One resource of which the job fails nodes has nothing left to ask for. */
static bool gave_all(const struct bench *b, const struct pjob *j)
{
	for (int r = 0; r < b->w->n_res; r++) {
		int from = 0, need = 0;
		bool some = false;

		for (int i = 0; i < j->n; i++) {
			int node = j->node[i];

			if (!valid(b->w, node) || node / PER_RES != r)
				continue;
			need += !b->w->live[node] && !in_list(j->node, i, node);
			some |= b->failed[node] != NULL;
			if (b->failed[node] && first_stage(b->w, node) > from)
				from = first_stage(b->w, node);
		}
		if (some && resource_exhausted(b, r, from, need))
			return true;
	}
	return false;
}

static const char *check_gave_up(const struct bench *b)
{
	for (int k = 0; k < b->w->n_job; k++) {
		const struct pjob *j = &b->w->job[k];

		if (job_failed(b, j) && !job_hopeless(b, j) && !gave_all(b, j))
			return "a job failed while capacity was never asked for";
	}
	for (int i = 0; i < STRANGER; i++)
		if (b->failed[i] && valid(b->w, i) && !b->dead[i] && !b->fatal[i / PER_RES] &&
		    (in_list(b->w->rest, b->w->n_rest, i) || b->w->strategy == SCALING_BEST_EFFORT) &&
		    !resource_exhausted(b, i / PER_RES, first_stage(b->w, i), N_JOB))
			return "a node failed while capacity was never asked for";
	return NULL;
}

/* --- what it learned */

static const char *check_learned_row(const struct bench *b, int row, const struct pshortage *s)
{
	const struct book *k = &b->book[row];

	if (k->last_refused && (!s || !s->changed || s->failures <= 0))
		return "a refusal was not remembered";
	if (s && s->changed && k->last_refused && (!s->has_code || s->until_ms <= k->met.at))
		return "a refusal remembered without a code or a time";
	if (s && s->changed && !k->met.refused && !k->perhaps && !k->came && !k->asked && !k->stale)
		return "a shortage that nobody saw";
	if (s && s->changed && !k->met.refused && !k->perhaps && !b->w->row[row].set && s->failures > 0)
		return "a shortage made of a success";
	if (k->came && !k->met.refused && !k->perhaps && b->w->row[row].set && !b->w->row[row].stale &&
	    (!s || !s->changed || (s->failures && s->budget <= b->w->row[row].budget)))
		return "machines came and the shortage stayed as it was";
	return NULL;
}

static const char *check_learned(const struct bench *b)
{
	const struct pshortage *of[N_ROW] = {NULL};

	for (int i = 0; i < b->r->n_short; i++) {
		const struct pshortage *s = &b->r->shortage[i];

		if (s->row < 0)
			return "a shortage of what is not offered";
		if (of[s->row])
			return "a shortage listed twice";
		of[s->row] = s;
	}
	for (int i = 0; i < N_ROW; i++)
		TRY(check_learned_row(b, i, of[i]));
	return NULL;
}

const char *judge(const struct world *w, const struct record *r)
{
	static struct bench b;

	b = (struct bench){.w = w, .r = r};
	if (r->broken)
		return r->broken;
	open_book(&b);
	for (int i = 0; i < N_NODE; i++) {
		b.kept[i] = w->live[i];
		b.machine_of[i] = b.last_answer[i] = -1;
	}
	for (int i = 0; i < N_JOB; i++)
		b.last_of_job[i] = -1;
	for (int i = 0; i < r->n_instance; i++)
		b.node_of[i] = -2;
	for (int i = 0; i < r->n_event; i++)
		TRY(read_event(&b, &r->event[i]));
	TRY(check_closed(&b));
	TRY(check_binds(&b));
	TRY(check_returns(&b));
	TRY(check_fails(&b));
	TRY(check_whole(&b));
	TRY(check_waste(&b));
	TRY(check_starved(&b));
	TRY(check_gave_up(&b));
	return check_learned(&b);
}
