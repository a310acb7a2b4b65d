/* SPDX-License-Identifier: GPL-2.0-or-later */
/* property_run.c - a plan runs in a world: the cloud answers as EC2 does, in any order, and each word is written down. */
#include "tests/unit/property.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void (*world_in_plan)(bool inside);

static void in_plan(bool inside)
{
	if (world_in_plan)
		world_in_plan(inside);
}

static bool one_in(struct world *w, int n)
{
	return n > 0 && !world_draw(w, (unsigned)n);
}

/* --- the world as the plan is told it */

static void fill_stage(struct gen_stage *to, const struct stage *s)
{
	to->capacity = s->market == M_SPOT ? CAPACITY_SPOT : s->market == M_BLOCK ? CAPACITY_BLOCK : CAPACITY_ONDEMAND;
	to->time_limit_s = s->limit_s;
	to->max_price = s->price ? 0.25 : 0;
	for (int i = 0; i < s->n_type; i++)
		strs_addf(&to->instance_types, "t%d", s->type[i]);
	for (int i = 0; i < s->n_net; i++) {
		strs_addf(&to->subnet_ids, "s%d", s->net[i]);
		strs_add(&to->zones, row_zone_text(net_zone(s->net[i])));
	}
}

static struct generation *make_generation(const struct world *w)
{
	struct generation *g = calloc(1, sizeof(*g));

	for (int i = 0; g && i < w->n_res; i++) {
		const struct resource *from = &w->res[i];
		struct gen_resource *r = generation_add_resource(g);

		r->queue = str_dup("q");
		r->name = str_fmt("%c", 'a' + i);
		r->max_count = from->max;
		r->single = from->single;
		for (int k = 0; k < from->n_stage; k++)
			fill_stage(gen_resource_add_stage(r), &from->stage[k]);
		strs_copy(&r->instance_types, &r->stages[0].instance_types);
		strs_copy(&r->subnet_ids, &r->stages[0].subnet_ids);
		r->capacity = r->stages[0].capacity;
		if (from->stage[0].market >= M_RESERVED0)
			r->reserved = str_dup(market_text(from->stage[0].market));
	}
	if (g)
		generation_index(g);
	return g;
}

static void add_names(struct strs *out, const int *node, int n)
{
	for (int i = 0; i < n; i++)
		strs_add(out, node_text(node[i]));
}

static void make_request(const struct world *w, struct resume_request *r)
{
	for (int i = 0; i < w->n_job; i++) {
		struct resume_job *j = resume_request_add_job(r);

		j->id = i + 1;
		j->priority = w->job[i].priority;
		add_names(&j->nodes, w->job[i].node, w->job[i].n);
		add_names(&r->nodes, w->job[i].node, w->job[i].n);
	}
	add_names(&r->nodes, w->rest, w->n_rest);
}

static void make_shortages(const struct world *w, struct shortages *l)
{
	char type[8];

	for (int i = 0; i < N_ROW; i++) {
		const struct row *r = &w->row[i];
		struct shortage *s;

		if (!r->set)
			continue;
		snprintf(type, sizeof(type), "t%d", i % N_TYPE);
		s = shortages_add(l, type, row_zone_text(i / N_TYPE % (N_ZONE + 1)), market_text(i / N_TYPE / (N_ZONE + 1)));
		s->code = str_dup(i / N_TYPE % (N_ZONE + 1) == ZONE_ALL ? code_text[C_VCPU] : code_text[C_ICE]);
		s->message = str_dup("we have no capacity");
		s->failures = r->failures;
		s->failed_ms = r->until_ms - 200000;
		s->until_ms = r->until_ms;
		s->budget = r->budget;
		s->probe_until_ms = r->probe_until_ms;
	}
}

struct told {
	struct resume_request request;
	struct strs live;
	struct shortages shortages;
	struct kvs first_stage;
	struct resume_input in;
};

static void tell(const struct world *w, struct told *t)
{
	char number[8];

	make_request(w, &t->request);
	make_shortages(w, &t->shortages);
	for (int i = 0; i < N_NODE; i++) {
		if (w->live[i])
			strs_add(&t->live, node_text(i));
		snprintf(number, sizeof(number), "%d", w->first_stage[i]);
		if (w->first_stage[i])
			kvs_add(&t->first_stage, node_text(i), number);
	}
	t->in = (struct resume_input){.gen = make_generation(w),
				      .request = &t->request,
				      .live = &t->live,
				      .strategy = w->strategy,
				      .batch_max = (size_t)w->batch,
				      .shortages = &t->shortages,
				      .rule = {.first_ms = 60000, .limit_ms = 1800000},
				      .seed = w->seed,
				      .first_stage = &t->first_stage};
}

static void forget(struct told *t)
{
	generation_destroy((struct generation *)t->in.gen);
	resume_request_clear(&t->request);
	shortages_clear(&t->shortages);
	strs_clear(&t->live);
	kvs_clear(&t->first_stage);
}

/* --- writing down */

static struct event *add_event(struct record *r, enum event_kind kind, int64_t now, int step)
{
	struct event *e = &r->event[r->n_event];

	if (r->n_event + 1 < N_EVENT)
		r->n_event++;
	else
		r->broken = "it never ends";
	*e = (struct event){.kind = kind, .now_ms = now, .step = step};
	return e;
}

static void write_choices(const struct world *w, struct pstep *to, const struct resume_step *s)
{
	const struct stage *t = &w->res[to->res].stage[to->stage];

	for (size_t i = 0; i < s->n_choices; i++) {
		if (i >= N_CHOICE || s->choices[i].type >= (size_t)t->n_type || s->choices[i].subnet >= (size_t)t->n_net) {
			to->wrong = "a choice that the stage does not have";
			return;
		}
		to->type[i] = (int)s->choices[i].type;
		to->net[i] = (int)s->choices[i].subnet;
		to->n_choice++;
	}
}

static void write_step(const struct world *w, struct record *r, const struct resume_step *s, int64_t now)
{
	struct pstep *to = &r->step[r->n_step];

	*to = (struct pstep){
	    .id = s->id, .res = (int)s->resource, .stage = (int)s->stage, .min = s->min_count, .probe = s->probe};
	add_event(r, EV_ASK, now, r->n_step++);
	if (s->resource >= (size_t)w->n_res || s->stage >= (size_t)w->res[s->resource].n_stage) {
		to->res = to->stage = 0;
		to->wrong = "a resource or stage that the generation does not have";
		return;
	}
	write_choices(w, to, s);
	for (size_t i = 0; i < s->nodes->n && i < PER_RES; i++)
		to->node[to->n++] = node_number(s->nodes->v[i]);
	for (size_t i = 0; i < s->jobs->n && i < N_JOB; i++)
		to->job[to->n_job++] = atoi(s->jobs->v[i]);
	if (s->nodes->n > PER_RES || s->jobs->n > N_JOB)
		to->wrong = "more nodes or jobs in a call than there are";
}

static int shortage_row(const struct offering *o)
{
	for (int i = 0; i < N_ROW; i++)
		if (o->type[0] == 't' && o->type[1] == '0' + i % N_TYPE && !o->type[2] &&
		    !strcmp(o->zone, row_zone_text(i / N_TYPE % (N_ZONE + 1))) &&
		    !strcmp(o->market, market_text(i / N_TYPE / (N_ZONE + 1))))
			return i;
	return -1;
}

static void write_shortages(const struct resume_plan *p, struct record *r)
{
	size_t changed = 0;
	const struct shortages *l = resume_plan_shortages(p, &changed);

	if (l->n > N_ROW * 2 || changed > l->n) {
		r->broken = "too many shortages";
		return;
	}
	for (size_t i = 0; i < l->n; i++) {
		const struct shortage *s = &l->v[i];

		r->shortage[r->n_short++] = (struct pshortage){.row = shortage_row(&s->of),
							       .changed = i < changed,
							       .has_code = s->code && *s->code,
							       .failures = s->failures,
							       .until_ms = s->until_ms,
							       .budget = s->budget};
	}
}

static int instance_number(const char *id)
{
	return id && !strncmp(id, "i-", 2) ? atoi(id + 2) : -1;
}

static void write_result(struct resume_plan *p, struct record *r)
{
	const struct resume_result *out;

	in_plan(true);
	out = resume_plan_result(p, NULL);
	in_plan(false);
	if (!out || out->n_bind > N_NODE * 2 || out->n_fail > N_NODE * 2 || out->n_surplus > N_INSTANCE * 2) {
		r->broken = "no result, or one of nodes and machines that never were";
		return;
	}
	for (size_t i = 0; i < out->n_bind; i++) {
		const struct resume_bind *b = &out->bind[i];
		int k = instance_number(b->instance);

		r->bind[r->n_bind++] = (struct pbind){.node = node_number(b->node),
						      .instance = k,
						      .step = b->step,
						      .ip_ok = k % 2 ? b->ip && atoi(b->ip) == k : !b->ip};
	}
	for (size_t i = 0; i < out->n_fail; i++) {
		struct pfail *f = &r->fail[r->n_fail++];

		f->node = node_number(out->fail[i].node);
		snprintf(f->code, sizeof(f->code), "%s", out->fail[i].code ? out->fail[i].code : "");
	}
	for (size_t i = 0; i < out->n_surplus; i++)
		r->back[r->n_back++] = instance_number(out->surplus[i]);
	write_shortages(p, r);
}

/* --- the cloud */

struct call {
	struct world *w;
	struct record *r;
	const struct pstep *s;
	const struct stage *stage;
	struct event *e;
	int want; /* machines asked for */
};

static int *left_of(const struct call *c, int choice)
{
	return &c->w->left[row_at(c->stage->type[c->s->type[choice]], net_zone(c->stage->net[c->s->net[choice]]),
				  c->stage->market)];
}

static void come(struct call *c, int choice)
{
	struct record *r = c->r;

	if (r->n_instance >= N_INSTANCE) {
		r->broken = "too many machines";
		return;
	}
	r->instance[r->n_instance++] =
	    (struct pinstance){.step = c->e->step, .type = c->s->type[choice], .net = c->s->net[choice], .alive = true};
	c->e->n++;
	--*left_of(c, choice);
	c->w->quota[c->stage->market]--;
}

static void go_back(struct call *c, int keep)
{
	while (c->e->n > keep) {
		const struct pinstance *i = &c->r->instance[--c->r->n_instance];

		c->e->n--;
		++c->w->left[row_at(c->stage->type[i->type], net_zone(c->stage->net[i->net]), c->stage->market)];
		c->w->quota[c->stage->market]++;
	}
}

static enum code shortage_code(const struct call *c)
{
	if (c->w->quota[c->stage->market] <= 0)
		return C_VCPU;
	if (c->stage->market >= M_RESERVED0)
		return C_RESERVED;
	return one_in(c->w, 4) ? C_UNFULFILLABLE : C_ICE;
}

static void refuse(struct call *c, int type, int net, enum code code)
{
	struct event *e = c->e;

	if (e->n_refused < N_CHOICE + 1)
		e->refused[e->n_refused++] = (struct refusal){type, net, code};
	if (!e->code)
		e->code = code;
}

/* The minimum of a call; a fleet of several types in several places has none. */
static int least(const struct call *c)
{
	bool types = false, nets = false;

	for (int i = 1; i < c->s->n_choice; i++) {
		types |= c->s->type[i] != c->s->type[0];
		nets |= c->s->net[i] != c->s->net[0];
	}
	return types && nets ? 0 : c->s->min < c->want ? c->s->min : c->want;
}

/* Choice by choice until there are enough; which come first is EC2's affair. */
static void fill(struct call *c)
{
	int at = (int)world_draw(c->w, (unsigned)c->s->n_choice);
	bool dry[N_CHOICE] = {false}, spread = one_in(c->w, 3);

	for (int k = 0, idle = 0; c->e->n < c->want && idle < c->s->n_choice; at = (at + 1) % c->s->n_choice, k++) {
		bool some = false;

		while (c->e->n<c->want && * left_of(c, at)> 0 && c->w->quota[c->stage->market] > 0) {
			come(c, at);
			some = true;
			if (spread)
				break;
		}
		dry[at] = *left_of(c, at) <= 0 || c->w->quota[c->stage->market] <= 0;
		idle = some ? 0 : idle + 1;
	}
	if (c->e->n < least(c)) {
		enum code code = shortage_code(c);

		go_back(c, 0);
		for (int i = 0; i < c->s->n_choice; i++)
			refuse(c, c->s->type[i], c->s->net[i], code);
		return;
	}
	for (int i = 0; i < c->s->n_choice; i++)
		if (c->e->n < c->want ? dry[i] : one_in(c->w, 20))
			refuse(c, c->s->type[i], c->s->net[i], shortage_code(c));
}

/* What EC2 leaves out, or says of several choices in one word. */
static void blur(struct call *c)
{
	struct event *e = c->e;

	switch (world_draw(c->w, 6)) {
	case 0:
		if (e->n_refused == c->s->n_choice && e->n < c->want) { /* all of them, as a refused call says it */
			e->n_refused = 1;
			e->refused[0] = (struct refusal){-1, -1, e->code};
		}
		break;
	case 1:
		if (e->n_refused == c->s->n_choice || c->s->n_choice == 1)
			e->n_refused = 0;
		break;
	case 2:
		for (int i = 0; i < e->n_refused; i++)
			if (e->refused[i].code == C_VCPU)
				e->refused[i].net = -1;
		break;
	case 3:
		if (e->n_refused == c->s->n_choice && one_in(c->w, 3)) { /* no instances and no errors */
			e->n_refused = 0;
			e->code = C_NONE;
		}
		break;
	case 4:
		for (int i = 0, same = one_in(c->w, 4); same && i < e->n_refused; i++)
			e->refused[i].code = c->stage->price ? C_PRICE : C_UNSUPPORTED;
		if (e->n_refused)
			e->code = e->refused[0].code;
		break;
	default:
		break;
	}
	if (c->w->res[c->s->res].single && e->n)
		e->n_refused = 0, e->code = C_NONE; /* RunInstances with some machines says nothing of the others */
}

static void odd(struct call *c)
{
	struct event *e = c->e;

	switch (world_draw(c->w, 5)) {
	case 0:
		go_back(c, e->n ? (int)world_draw(c->w, (unsigned)e->n) : 0);
		e->n_refused = 0;
		e->code = C_NONE;
		break;
	case 1:
		come(c, (int)world_draw(c->w, (unsigned)c->s->n_choice)); /* more than asked */
		break;
	case 2:
		if (e->n)
			c->r->instance[e->first + (int)world_draw(c->w, (unsigned)e->n)].alive = false;
		break;
	case 3:
		go_back(c, 0);
		e->n_refused = 0;
		e->why = SHORT_FATAL;
		e->code = C_PARAMETER;
		break;
	default:
		go_back(c, 0);
		e->n_refused = 0;
		e->code = one_in(c->w, 2) ? C_ICE : C_NONE;
	}
}

static void throttle(struct call *c)
{
	c->w->later--;
	go_back(c, c->e->n ? (int)world_draw(c->w, (unsigned)c->e->n) : 0);
	c->e->why = SHORT_LATER;
	c->e->n_refused = 0;
	c->e->code = C_NONE;
	for (int i = 0; i < c->s->n_choice && one_in(c->w, 2); i++)
		refuse(c, c->s->type[i], c->s->net[i], C_RATE);
	c->e->code = C_RATE;
}

static void decide(struct call *c)
{
	const struct resource *res = &c->w->res[c->s->res];

	if (c->want <= 0)
		return;
	if (res->fatal) {
		c->e->why = SHORT_FATAL;
		c->e->code = res->fatal;
		return;
	}
	fill(c);
	blur(c);
	if (c->w->later > 0 && one_in(c->w, 3))
		throttle(c);
	else if (one_in(c->w, c->w->oddness))
		odd(c);
}

static void make_instances(const struct call *c, struct instances *out)
{
	for (int i = c->e->first; i < c->e->first + c->e->n; i++) {
		const struct pinstance *from = &c->r->instance[i];
		struct instance *to = instances_add(out);

		to->id = str_fmt("i-%d", i);
		to->type = str_fmt("t%d", c->stage->type[from->type]);
		to->subnet_id = str_fmt("s%d", c->stage->net[from->net]);
		to->zone = i % 4 ? str_dup(row_zone_text(net_zone(c->stage->net[from->net]))) : NULL;
		to->private_ip = i % 2 ? str_fmt("%d", i) : NULL;
		to->state = from->alive ? (i % 3 ? INSTANCE_PENDING : INSTANCE_RUNNING) : INSTANCE_TERMINATED;
	}
}

static void send_answer(const struct call *c, struct resume_plan *p)
{
	static const char *const type[] = {"t0", "t1", "t2", "t3"};
	static const char *const net[] = {"s0", "s1", "s2", "s3", "s4", "s5", "s6"};
	struct resume_refusal refused[N_CHOICE + 1];
	struct instances got = {0};
	const struct event *e = c->e;
	struct resume_answer a = {
	    .got = &got, .why = e->why, .code = code_text[e->code], .refused = refused, .n_refused = (size_t)e->n_refused};

	for (int i = 0; i < e->n_refused; i++) {
		const struct refusal *f = &e->refused[i];

		refused[i] = (struct resume_refusal){.type = f->type < 0 ? NULL : type[c->stage->type[f->type]],
						     .subnet_id = f->net < 0 ? NULL : net[c->stage->net[f->net]],
						     .code = code_text[f->code],
						     .message = i % 2 ? "we are sorry" : NULL};
	}
	make_instances(c, &got);
	if (!e->n && e->now_ms % 2)
		a.got = NULL;
	in_plan(true);
	if (resume_plan_answer(p, c->s->id, &a, e->now_ms))
		c->r->broken = "an answer was not taken";
	in_plan(false);
	instances_clear(&got);
}

static void answer(struct world *w, struct record *r, struct resume_plan *p, int step, int64_t now)
{
	struct pstep *s = &r->step[step];
	struct call c = {.w = w, .r = r, .s = s, .stage = &w->res[s->res].stage[s->stage]};

	for (int i = 0; w->oddness && i < s->n; i++)
		if (one_in(w, 60)) {
			add_event(r, EV_TAKEN, now, step)->node = s->node[i];
			resume_plan_taken(p, node_text(s->node[i]));
			s->taken++;
		}
	c.want = s->n - s->taken;
	c.e = add_event(r, EV_ANSWER, now, step);
	c.e->first = r->n_instance;
	decide(&c);
	send_answer(&c, p);
}

/* --- the run */

struct run {
	struct world *w;
	struct record *r;
	struct resume_plan *p;
	int64_t now;
	int air[N_STEP], n_air;
	bool hurried;
	int waits;
};

static void leave(struct run *u, int step)
{
	add_event(u->r, EV_LEAVE, u->now, step);
	in_plan(true);
	if (resume_plan_leave(u->p, u->r->step[step].id))
		u->r->broken = "a step could not be left";
	in_plan(false);
}

static void land_one(struct run *u)
{
	int k = (int)world_draw(u->w, (unsigned)u->n_air), step = u->air[k];

	u->air[k] = u->air[--u->n_air];
	if (u->hurried ? !one_in(u->w, 3) : u->w->oddness && one_in(u->w, 40))
		leave(u, step);
	else
		answer(u->w, u->r, u->p, step, u->now);
	u->now += world_draw(u->w, 3) * 500;
}

static void maybe_hurry(struct run *u)
{
	if (u->hurried || u->w->hurry_after < 0 || u->r->n_step < u->w->hurry_after)
		return;
	u->hurried = true;
	add_event(u->r, EV_HURRY, u->now, -1);
	resume_plan_hurry(u->p);
}

/* One look at the plan. false = it is over. */
static bool turn(struct run *u)
{
	struct resume_step steps[5];
	int64_t wake = 0;
	size_t n, max = 1 + world_draw(u->w, 5);

	in_plan(true);
	n = resume_plan_next(u->p, u->now, steps, max, &wake);
	in_plan(false);
	for (size_t i = 0; i < n && !u->r->broken; i++) {
		if (u->r->n_step == N_STEP) {
			u->r->broken = "too many calls";
			return false;
		}
		u->air[u->n_air++] = u->r->n_step;
		write_step(u->w, u->r, &steps[i], u->now);
		if (u->r->step[u->r->n_step - 1].wrong)
			u->r->broken = u->r->step[u->r->n_step - 1].wrong;
	}
	if (u->n_air && (!n || one_in(u->w, 3)))
		for (unsigned k = 1 + world_draw(u->w, (unsigned)u->n_air); k; k--)
			land_one(u);
	else if (!n && !wake)
		return false;
	else if (!n) {
		add_event(u->r, EV_IDLE, u->now, -1)->wake_ms = wake;
		if (wake <= u->now || ++u->waits > MAX_WAITS)
			u->r->broken = "it waits for what has passed, or too often";
		u->now =
		    one_in(u->w, 4) ? u->now + (wake - u->now) / 2 + 1 : wake + (one_in(u->w, 4) ? world_draw(u->w, 90000) : 0);
	}
	maybe_hurry(u);
	return true;
}

void world_run(struct world *w, struct record *r)
{
	static struct run u;
	struct told t = {0};

	r->n_step = r->n_instance = r->n_event = r->n_bind = r->n_fail = r->n_back = r->n_short = 0;
	r->broken = NULL;
	tell(w, &t);
	in_plan(true);
	u = (struct run){.w = w, .r = r, .p = resume_plan_create(&t.in, NULL), .now = w->start_ms};
	in_plan(false);
	if (!u.p)
		r->broken = "no plan was made";
	while (!r->broken && turn(&u))
		;
	if (!r->broken)
		write_result(u.p, r);
	resume_plan_destroy(u.p);
	forget(&t);
}
