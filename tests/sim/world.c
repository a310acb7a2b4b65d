/* SPDX-License-Identifier: GPL-2.0-or-later */
/* world.c - a site made from a seed, and its time: second by second, until all is well for long enough or never will be. */
#include "tests/sim/sim.h"

#include "lib/base/str.h"
#include "lib/node/name.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_MS INT64_C(1760000000000)
#define QUIET_MS (INT64_C(12) * 60000) /* so long all must stay well: some loops, and a suspend and static nodes' time */

const char *const fault_text[N_FAULT] = {
    "kill",  "short", "partial",    "lost",	"late",	  "noaddr", "throttle", "denied", "unreach", "shortlist",
    "die",   "stop",  "hang",	    "impaired", "event",  "noboot", "slowboot", "ctld",	  "state",   "terminate",
    "drain", "down",  "power_down", "power_up", "reboot", "maint",  "fleet",	"freeze",
};
const char *const who_text[] = {"EC2", "a person", "slurmctld", "clustermgtd", "resume", "suspend", "the machine"};

/* splitmix64: any seed will do, also 0 and its neighbours */
unsigned draw(struct rng *r, unsigned n)
{
	uint64_t z = r->x += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return n ? (unsigned)((z ^ z >> 31) >> 32) % n : 0;
}

int between(struct rng *r, int low, int high)
{
	return low + (int)draw(r, (unsigned)(high - low + 1));
}

bool one_in(struct rng *r, unsigned n)
{
	return !draw(r, n);
}

bool fault_now(struct world *w, enum fault f, unsigned n)
{
	bool yes = one_in(&w->fault[f], n);

	return yes && w->on[f] && !w->calm;
}

/* --- telling */

void tell(const struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (!w->spec.trace)
		return;
	printf("%9.3f ", (double)(w->now - w->start_ms) / 1000);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

void wrong(struct world *w, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (w->wrong[0])
		return;
	n = snprintf(w->wrong, sizeof(w->wrong), "at %.3f s: ", (double)(w->now - w->start_ms) / 1000);
	va_start(ap, fmt);
	vsnprintf(w->wrong + n, sizeof(w->wrong) - (size_t)n, fmt, ap);
	va_end(ap);
	tell(w, "WRONG %s", w->wrong);
}

int node_of(const struct world *w, const char *name)
{
	for (int i = 0; name && i < w->n_node; i++)
		if (!strcmp(w->node[i].name, name))
			return i;
	return NONE_OF;
}

void machine_id(int machine, char out[24])
{
	snprintf(out, 24, "i-%08d", machine);
}

int machine_of(const char *id)
{
	return id && str_prefix(id, "i-") ? atoi(id + 2) : NONE_OF;
}

void machine_ip(int machine, char out[24])
{
	if (machine == NONE_OF)
		snprintf(out, 24, "%s", NODE_ADDR_PLACEHOLDER);
	else
		snprintf(out, 24, "10.0.%d.%d", machine / 250, machine % 250 + 1);
}

void launch_id(int launch, char out[24])
{
	snprintf(out, 24, "l-%018d", launch);
}

/* --- making one */

static void make_settings(struct world *w)
{
	struct rng *r = &w->shape;

	w->loop_ms = between(r, 20, 60) * 1000;
	w->suspend_ms = between(r, 60, 240) * 1000;
	w->suspend_timeout_ms = between(r, 20, 60) * 1000;
	w->orphan_ms = between(r, 60, 150) * 1000;
	w->health_ms = between(r, 60, 180) * 1000;
	w->event_ms = between(r, 300, 3600) * 1000;
	w->beat_ms = between(r, 120, 300) * 1000;
	w->slurmd_timeout_ms = 300000;
	w->window_ms = between(r, 900, 1800) * 1000;
	w->protect = one_in(r, 5) ? 0 : between(r, 2, 10);
	w->share = 10;
	w->rule = (struct capacity_rule){.first_ms = between(r, 30, 60) * 1000, .limit_ms = between(r, 120, 300) * 1000};
}

static void add_nodes(struct world *w, int res, int min, int max)
{
	for (int i = 0; i < max && w->n_node < N_NODE; i++) {
		struct snode *n = &w->node[w->n_node++];

		n->res = res;
		n->is_static = i < min;
		n->number = n->is_static ? i + 1 : i - min + 1;
		snprintf(n->name, sizeof(n->name), "q-%s-r%d-%d", n->is_static ? "st" : "dy", res, n->number);
		n->state = NS_IDLE | NS_CLOUD | NS_POWERED_DOWN;
		n->asleep = true;
		n->ip = n->launch = n->job = NONE_OF;
	}
}

static void make_resource(struct world *w, int res, int least)
{
	struct gen_resource *g = generation_add_resource(w->gen);
	struct gen_stage *s;
	char text[16];
	int min = one_in(&w->shape, 2) ? between(&w->shape, 0, 2) : 0;
	int max = min + between(&w->shape, 1, 5) + least;

	snprintf(text, sizeof(text), "r%d", res);
	g->queue = str_dup("q");
	g->name = str_dup(text);
	g->min_count = min;
	g->max_count = max;
	g->single = true;
	s = gen_resource_add_stage(g);
	snprintf(text, sizeof(text), "t%d.large", res);
	strs_add(&s->instance_types, text);
	strs_add(&s->subnet_ids, "subnet-1");
	strs_add(&s->zones, "z1");
	strs_add(&g->instance_types, text);
	strs_add(&g->subnet_ids, "subnet-1");
	add_nodes(w, res, min, max);
}

/* Sometimes with so many nodes that the brake has something to hold. */
static void make_site(struct world *w)
{
	int n = between(&w->shape, 1, N_RES);

	w->gen = calloc(1, sizeof(*w->gen));
	w->gen->number = 1;
	w->gen->uuid = str_dup("u-1");
	w->gen->cluster_name = str_dup("sim");
	w->gen->slurm_version = str_dup("22.05.8");
	w->gen->resume_timeout_s = between(&w->shape, 180, 400);
	w->gen->suspend_timeout_s = w->suspend_timeout_ms / 1000;
	for (int i = 0; i < n; i++)
		make_resource(w, i, i == 0 && one_in(&w->shape, 6) ? between(&w->shape, 8, 12) : 0);
	generation_index(w->gen);
}

static int nodes_of_res(const struct world *w, int res)
{
	int n = 0;

	for (int i = 0; i < w->n_node; i++)
		n += w->node[i].res == res;
	return n;
}

static void make_jobs(struct world *w, int64_t during_ms)
{
	int n = between(&w->jobs, 1, N_JOB);

	for (int i = 0; i < n; i++) {
		struct sjob *j = &w->job[i];
		int res = (int)draw(&w->jobs, (unsigned)w->gen->n_resources), most = nodes_of_res(w, res);

		j->res = res;
		j->want = one_in(&w->jobs, 3) ? 1 + (int)draw(&w->jobs, (unsigned)most) : 1;
		j->submit_ms = w->start_ms + (int64_t)draw(&w->jobs, (unsigned)(during_ms / 1000 + 1)) * 1000;
		j->long_ms = one_in(&w->jobs, 4) ? between(&w->jobs, 600, 1500) * 1000 : between(&w->jobs, 5, 400) * 1000;
		if (one_in(&w->jobs, 3) && j->want == 1)
			j->res = NONE_OF;
	}
	w->n_job = n < w->spec.jobs ? n : w->spec.jobs;
}

static void make_faults(struct world *w)
{
	for (int f = 0; f < N_FAULT; f++) {
		struct rng *r = &w->fault[f];

		r->x = w->spec.seed * 1000003 + (uint64_t)f * 7919 + 17;
		w->on[f] = !draw(r, f == F_KILL ? 2 : 4) && (w->spec.faults >> f & 1);
		w->next_ms[f] = w->start_ms + between(r, 20, 600) * 1000;
	}
}

void world_begin(struct world *w, const struct sim_spec *spec)
{
	int faults_s;

	memset(w, 0, sizeof(*w));
	w->spec = *spec;
	w->shape.x = spec->seed;
	w->jobs.x = spec->seed ^ UINT64_C(0x5bd1e9955bd1e995);
	w->timing.x = spec->seed ^ UINT64_C(0x1234567812345678);
	w->start_ms = w->now = w->tick = START_MS;
	make_settings(w);
	make_site(w);
	faults_s = between(&w->shape, 300, 2400);
	if (spec->fault_s >= 0 && faults_s > spec->fault_s)
		faults_s = spec->fault_s;
	w->faults_end_ms = w->start_ms + faults_s * 1000;
	make_jobs(w, (int64_t)faults_s * 1000);
	make_faults(w);
	w->ctld = w->part_up = true;
	w->next_pid = 100;
	w->loop_due_ms = w->now + 1000;
	w->store = store_new(w);
}

static void store_end(struct store *s)
{
	shortages_clear(&s->shortages);
	free(s);
}

void world_end(struct world *w)
{
	for (int i = 0; i < N_PROC; i++)
		looking_end(w->proc[i].look);
	for (int i = 0; i < w->n_store; i++)
		store_end(w->stores[i]);
	kvs_clear(&w->seen);
	brake_clear(&w->brake);
	generation_destroy(w->gen);
}

/* --- its time */

/* What may have to pass, one after the other, before all is well: a node of whom slurmctld does not hear, one that does not
 * come up, a job that was put back and a resource that rests since it was refused; the window in which failures count, or the
 * back-off of a static node; a stop that waits for jobs; then the jobs themselves, in the worst case one after the other and
 * each with a boot before it and a suspend after it. */
int64_t world_bound_ms(const struct world *w)
{
	int64_t boot = w->gen->resume_timeout_s * 1000 + w->orphan_ms, work = 0;
	int64_t life = boot + w->suspend_ms + w->suspend_timeout_ms + 2 * w->loop_ms;

	for (int i = 0; i < w->n_job; i++)
		work += w->job[i].long_ms + life;
	return 2 * w->slurmd_timeout_ms + w->health_ms + w->window_ms + 300000 + w->rule.limit_ms + 2 * RECONCILE_REQUEUE_MS +
	       4 * life + 10 * w->loop_ms + work;
}

static void one_second(struct world *w)
{
	w->tick += 1000;
	if (w->now < w->tick)
		w->now = w->tick;
	if (!w->calm)
		faults_tick(w);
	ec2_tick(w);
	slurm_tick(w);
	procs_tick(w);
}

static bool give_up(struct world *w, const char *why)
{
	wrong(w, "%s, though the faults are over for %lld s and %lld s should be enough", why,
	      (long long)(w->now - w->faults_end_ms) / 1000, (long long)world_bound_ms(w) / 1000);
	return false;
}

/* All must become well before the bound, and then stay so. */
static bool calm_second(struct world *w, int64_t *well_ms)
{
	const char *why = judge_settled(w);

	if (!why && !*well_ms) {
		tell(w, "all is well");
		*well_ms = w->now;
	} else if (why && *well_ms) {
		wrong(w, "all was well since %.0f s, and now: %s", (double)(*well_ms - w->start_ms) / 1000, why);
	}
	if (why && w->now > w->faults_end_ms + world_bound_ms(w))
		return give_up(w, why);
	return true;
}

bool world_run(struct world *w)
{
	int64_t well_ms = 0;

	while (!w->wrong[0] && !(well_ms && w->now > well_ms + QUIET_MS)) {
		one_second(w);
		if (!w->calm && w->now >= w->faults_end_ms) {
			tell(w, "---- the faults are over");
			w->calm = true;
			faults_over(w);
		}
		if (w->calm && w->tick % 5000 == 0 && !calm_second(w, &well_ms))
			break;
	}
	return !w->wrong[0];
}
