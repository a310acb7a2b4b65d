/* SPDX-License-Identifier: GPL-2.0-or-later */
/* property_world.c - random worlds for the plan of a resume, and a world in words. */
#include "tests/unit/property.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_MS INT64_C(1760000000000)
#define MONTH_MS (INT64_C(30) * 86400 * 1000)
#define PLENTY 1000

const char *const code_text[N_CODE] = {
    [C_ICE] = "InsufficientInstanceCapacity",
    [C_UNFULFILLABLE] = "UnfulfillableCapacity",
    [C_RESERVED] = "ReservationCapacityExceeded",
    [C_VCPU] = "VcpuLimitExceeded",
    [C_UNSUPPORTED] = "Unsupported",
    [C_PRICE] = "SpotMaxPriceTooLow",
    [C_RATE] = "RequestLimitExceeded",
    [C_AUTH] = "UnauthorizedOperation",
    [C_PARAMETER] = "InvalidParameterValue",
};

/* splitmix64: any seed will do, also 0 and its neighbours */
unsigned world_draw(struct world *w, unsigned n)
{
	uint64_t z = w->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (unsigned)((z ^ z >> 31) >> 32) % n;
}

static bool one_in(struct world *w, unsigned n)
{
	return !world_draw(w, n);
}

/* --- names */

const char *node_text(int node)
{
	static char names[N_NODE][16];

	if (node < 0 || node >= N_NODE)
		return "?";
	if (!names[node][0] && node < STRANGER)
		snprintf(names[node], sizeof(names[node]), "q-dy-%c-%d", 'a' + node / PER_RES, node % PER_RES);
	else if (!names[node][0])
		snprintf(names[node], sizeof(names[node]), "stranger%d", node - STRANGER);
	return names[node];
}

int node_number(const char *name)
{
	if (!strncmp(name, "stranger", 8) && name[8] >= '0' && name[8] <= '3' && !name[9])
		return STRANGER + name[8] - '0';
	if (strncmp(name, "q-dy-", 5) || name[5] < 'a' || name[5] >= 'a' + N_RES || name[6] != '-')
		return -1;
	return (name[5] - 'a') * PER_RES + atoi(name + 7);
}

const char *market_text(int market)
{
	static const char *const text[N_MARKET] = {MARKET_ONDEMAND, MARKET_SPOT, MARKET_BLOCK, MARKET_RESERVED "cr-0",
						   MARKET_RESERVED "arn:g/1"};

	return text[market];
}

int net_zone(int net)
{
	return net / 2;
}

int row_at(int type, int zone, int market)
{
	return (market * (N_ZONE + 1) + zone) * N_TYPE + type;
}

const char *row_zone_text(int zone)
{
	static const char *const text[] = {"z0", "z1", "z2", "", ZONE_ANY};

	return text[zone];
}

/* --- resources */

/* n different numbers below `of`, in random order. */
static int pick(struct world *w, int *out, int n, int of)
{
	for (int i = 0; i < n; i++)
		for (bool again = true; again;) {
			again = false;
			out[i] = (int)world_draw(w, (unsigned)of);
			for (int k = 0; k < i; k++)
				again |= out[k] == out[i];
		}
	return n;
}

static int few(struct world *w, int most)
{
	return one_in(w, 2) ? 1 : 1 + (int)world_draw(w, (unsigned)most);
}

static void random_stage(struct world *w, struct stage *s, int reserved)
{
	s->market = reserved >= 0 ? reserved : one_in(w, 12) ? M_BLOCK : (int)world_draw(w, 2);
	s->n_type = pick(w, s->type, few(w, 3), one_in(w, 2) ? 2 + 1 : N_TYPE);
	s->n_net = pick(w, s->net, few(w, 3), one_in(w, 15) ? N_NET : N_NET - 1);
	s->price = s->market == M_SPOT && one_in(w, 2);
	s->limit_s = one_in(w, 5) ? 1 + (int)world_draw(w, 300) : 0;
}

static void random_resource(struct world *w, struct resource *r)
{
	static const enum code fatal[] = {C_AUTH, C_PARAMETER};
	int reserved = one_in(w, 8) ? M_RESERVED0 + (int)world_draw(w, 2) : -1;

	r->max = 2 + (int)world_draw(w, 7);
	r->n_stage = one_in(w, 2) ? 1 : 1 + (int)world_draw(w, N_STAGE);
	for (int i = 0; i < r->n_stage; i++)
		random_stage(w, &r->stage[i], reserved);
	r->single = r->n_stage == 1 && r->stage[0].n_type == 1 && r->stage[0].n_net == 1;
	r->fatal = one_in(w, 40) ? fatal[world_draw(w, 2)] : C_NONE;
}

/* --- the request */

static int random_node(struct world *w)
{
	int res = (int)world_draw(w, one_in(w, 2) ? 1 : (unsigned)w->n_res);

	if (one_in(w, 80))
		return STRANGER + (int)world_draw(w, N_NODE - STRANGER);
	return res * PER_RES + 1 + (int)world_draw(w, (unsigned)w->res[res].max + one_in(w, 60));
}

static int random_nodes(struct world *w, int *node, bool share)
{
	int n = one_in(w, 3) ? 1 : 1 + (int)world_draw(w, one_in(w, 3) ? N_JOB : 4), used = 0;

	for (int i = 0; i < n; i++) {
		int one = random_node(w);

		if (w->asked[one] && !share)
			continue;
		node[used++] = one;
	}
	for (int i = 0; i < used; i++)
		w->asked[node[i]] = true;
	return used;
}

static void random_request(struct world *w)
{
	int n = (int)world_draw(w, one_in(w, 3) ? N_JOB + 1 : 4);
	bool share = one_in(w, 3), ranked = one_in(w, 2);

	for (int i = 0; i < n; i++) {
		struct pjob *j = &w->job[w->n_job];

		j->priority = ranked ? (int)world_draw(w, 4) : -1;
		j->n = random_nodes(w, j->node, share);
		w->n_job += j->n > 0;
	}
	if (one_in(w, 4))
		w->n_rest = random_nodes(w, w->rest, false);
	for (int i = 0; i < N_NODE && one_in(w, 4); i++)
		w->live[i] = one_in(w, 8);
	for (int i = 0; one_in(w, 12) && i < STRANGER; i++) {
		int stages = i / PER_RES < w->n_res ? w->res[i / PER_RES].n_stage : 1;

		w->first_stage[i] = one_in(w, 2) ? (int)world_draw(w, (unsigned)stages + 1) : 0;
	}
}

/* --- memory and cloud */

static void random_row(struct world *w, struct row *r)
{
	*r = (struct row){.set = true, .failures = 1 + (int)world_draw(w, 4), .until_ms = w->start_ms - world_draw(w, 60000)};
	switch (world_draw(w, 6)) {
	case 0:
	case 1:
		r->until_ms = w->start_ms + 1 + world_draw(w, 200000);
		r->budget = one_in(w, 2) ? 0 : 1 + world_draw(w, 5);
		break;
	case 2:
	case 3:
		break; /* a probe is due */
	case 4:
		r->budget = one_in(w, 6) ? 900 : 1 + world_draw(w, 6);
		break;
	default:
		r->probe_until_ms = one_in(w, 2) ? w->start_ms + 1 + world_draw(w, 60000) : 0;
		r->stale = !r->probe_until_ms;
		r->until_ms -= r->stale ? MONTH_MS : 0;
	}
}

static void random_cloud(struct world *w)
{
	bool memory = one_in(w, 3), plenty = one_in(w, 4), quotas = one_in(w, 6);

	for (int i = 0; i < N_ROW; i++) {
		int zone = i / N_TYPE % (N_ZONE + 1);

		w->left[i] = plenty ? PLENTY : one_in(w, 3) ? 0 : (int)world_draw(w, one_in(w, 2) ? 4 : 12);
		if (memory && one_in(w, zone == ZONE_ALL ? 25 : 3))
			random_row(w, &w->row[i]);
	}
	for (int i = 0; i < N_MARKET; i++)
		w->quota[i] = quotas ? (int)world_draw(w, 8) : PLENTY;
	w->later = one_in(w, 6) ? 1 + (int)world_draw(w, 3) : 0;
	w->oddness = one_in(w, 2) ? 0 : 8 + (int)world_draw(w, 20);
	w->hurry_after = one_in(w, 5) ? (int)world_draw(w, 12) : -1;
}

void world_random(struct world *w, uint64_t seed)
{
	static const enum scaling_strategy strategies[] = {SCALING_ALL_OR_NOTHING, SCALING_ALL_OR_NOTHING,
							   SCALING_GREEDY_ALL_OR_NOTHING, SCALING_BEST_EFFORT};

	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->random = seed * UINT64_C(0xd1342543de82ef95);
	w->start_ms = START_MS;
	w->strategy = strategies[world_draw(w, 4)];
	w->batch = one_in(w, 2) ? 500 : 1 + (int)world_draw(w, 5);
	w->n_res = few(w, N_RES);
	for (int i = 0; i < w->n_res; i++)
		random_resource(w, &w->res[i]);
	random_request(w);
	random_cloud(w);
}

/* --- in words */

static void dump_nodes(struct buf *out, const char *head, const int *node, int n)
{
	buf_fmt(out, "%s", head);
	for (int i = 0; i < n; i++)
		buf_fmt(out, " %s", node_text(node[i]));
	buf_fmt(out, "\n");
}

static void dump_stage(struct buf *out, const struct world *w, const struct stage *s)
{
	buf_fmt(out, "    stage: %s%s, limit %d s, left", market_text(s->market), s->price ? " at a price" : "", s->limit_s);
	for (int t = 0; t < s->n_type; t++)
		for (int z = 0; z < s->n_net; z++)
			buf_fmt(out, " t%d/s%d(z%d)=%d", s->type[t], s->net[z], net_zone(s->net[z]),
				w->left[row_at(s->type[t], net_zone(s->net[z]), s->market)]);
	buf_fmt(out, "\n");
}

static bool row_matters(const struct world *w, int row)
{
	for (int i = 0; i < w->n_res; i++)
		for (int k = 0; k < w->res[i].n_stage; k++)
			for (int t = 0; t < w->res[i].stage[k].n_type; t++) {
				const struct stage *s = &w->res[i].stage[k];

				if (row == row_at(s->type[t], ZONE_ALL, s->market))
					return true;
				for (int z = 0; z < s->n_net; z++)
					if (row == row_at(s->type[t], net_zone(s->net[z]), s->market))
						return true;
			}
	return false;
}

static void dump_rows(struct buf *out, const struct world *w)
{
	for (int i = 0; i < N_ROW; i++) {
		const struct row *r = &w->row[i];

		if (!r->set || !row_matters(w, i))
			continue;
		buf_fmt(out,
			"  remembered t%d/z%d/%s: failures %d, until %+" PRId64 " ms, budget %" PRId64 ", probe until %+" PRId64
			"%s\n",
			i % N_TYPE, i / N_TYPE % (N_ZONE + 1), market_text(i / N_TYPE / (N_ZONE + 1)), r->failures,
			r->until_ms - w->start_ms, r->budget, r->probe_until_ms ? r->probe_until_ms - w->start_ms : 0,
			r->stale ? ", stale" : "");
	}
}

static void dump_world(const struct world *w, struct buf *out)
{
	static const char *const strategy[] = {"all-or-nothing", "greedy", "best-effort"};

	buf_fmt(out, "world %" PRIu64 ": %s, batches of %d\n", w->seed, strategy[w->strategy], w->batch);
	for (int i = 0; i < w->n_res; i++) {
		const struct resource *r = &w->res[i];

		buf_fmt(out, "  resource %c: %s, %d nodes%s%s\n", 'a' + i, r->single ? "single" : "fleet", r->max,
			r->fatal ? ", always " : "", r->fatal ? code_text[r->fatal] : "");
		for (int k = 0; k < r->n_stage; k++)
			dump_stage(out, w, &r->stage[k]);
	}
	for (int i = 0; i < w->n_job; i++) {
		buf_fmt(out, "  job %d priority %d:", i + 1, w->job[i].priority);
		dump_nodes(out, "", w->job[i].node, w->job[i].n);
	}
	if (w->n_rest)
		dump_nodes(out, "  without a job:", w->rest, w->n_rest);
	for (int i = 0; i < N_NODE; i++) {
		if (w->asked[i] && w->live[i])
			buf_fmt(out, "  live: %s\n", node_text(i));
		if (w->asked[i] && w->first_stage[i])
			buf_fmt(out, "  %s begins at stage %d\n", node_text(i), w->first_stage[i]);
	}
	dump_rows(out, w);
	for (int i = 0; i < N_MARKET; i++)
		if (w->quota[i] < PLENTY)
			buf_fmt(out, "  quota of %s: %d\n", market_text(i), w->quota[i]);
}

static void dump_ask(const struct world *w, const struct pstep *s, struct buf *out)
{
	buf_fmt(out, "ask %zu: %c stage %d min %d of %d%s:", s->id, 'a' + s->res, s->stage, s->min, s->n,
		s->probe ? " PROBE" : "");
	for (int i = 0; i < s->n; i++)
		buf_fmt(out, " %s", node_text(s->node[i]));
	buf_fmt(out, "; of");
	for (int i = 0; i < s->n_choice; i++) {
		const struct stage *t = &w->res[s->res].stage[s->stage];

		buf_fmt(out, " t%d/s%d", t->type[s->type[i]], t->net[s->net[i]]);
	}
	buf_fmt(out, "; jobs");
	for (int i = 0; i < s->n_job; i++)
		buf_fmt(out, " %d", s->job[i]);
}

static void dump_answer(const struct world *w, const struct record *r, const struct event *e, struct buf *out)
{
	static const char *const why[] = {"capacity", "later", "fatal"};
	const struct pstep *s = &r->step[e->step];
	const struct stage *t = &w->res[s->res].stage[s->stage];

	buf_fmt(out, "answer %zu: %d came", s->id, e->n);
	for (int i = e->first; i < e->first + e->n; i++)
		buf_fmt(out, " i-%d%s(t%d/s%d)", i, r->instance[i].alive ? "" : "-dead", t->type[r->instance[i].type],
			t->net[r->instance[i].net]);
	buf_fmt(out, ", %s, code %s", why[e->why], e->code ? code_text[e->code] : "none");
	for (int i = 0; i < e->n_refused; i++) {
		const struct refusal *f = &e->refused[i];

		buf_fmt(out, ", refused t%d/s%d %s", f->type < 0 ? -1 : t->type[f->type], f->net < 0 ? -1 : t->net[f->net],
			f->code ? code_text[f->code] : "none");
	}
}

static void dump_event(const struct world *w, const struct record *r, const struct event *e, struct buf *out)
{
	buf_fmt(out, "  %+8" PRId64 " ", e->now_ms - w->start_ms);
	switch (e->kind) {
	case EV_ASK:
		dump_ask(w, &r->step[e->step], out);
		break;
	case EV_ANSWER:
		dump_answer(w, r, e, out);
		break;
	case EV_LEAVE:
		buf_fmt(out, "left %zu", r->step[e->step].id);
		break;
	case EV_TAKEN:
		buf_fmt(out, "taken: %s", node_text(e->node));
		break;
	case EV_HURRY:
		buf_fmt(out, "hurry");
		break;
	case EV_IDLE:
		buf_fmt(out, "nothing to do before %+" PRId64, e->wake_ms - w->start_ms);
		break;
	}
	buf_fmt(out, "\n");
}

void world_dump(const struct world *w, const struct record *r, struct buf *out)
{
	dump_world(w, out);
	for (int i = 0; i < r->n_event; i++)
		dump_event(w, r, &r->event[i], out);
	for (int i = 0; i < r->n_bind; i++)
		buf_fmt(out, "  bound: %s i-%d\n", node_text(r->bind[i].node), r->bind[i].instance);
	for (int i = 0; i < r->n_fail; i++)
		buf_fmt(out, "  failed: %s %s\n", node_text(r->fail[i].node), r->fail[i].code);
	for (int i = 0; i < r->n_back; i++)
		buf_fmt(out, "  returned: i-%d\n", r->back[i]);
	for (int i = 0; i < r->n_short; i++) {
		const struct pshortage *s = &r->shortage[i];

		buf_fmt(out, "  %s: t%d/z%d/%s failures %d, until %+" PRId64 ", budget %" PRId64 "\n",
			s->changed ? "learned" : "known", s->row % N_TYPE, s->row / N_TYPE % (N_ZONE + 1),
			s->row < 0 ? "?" : market_text(s->row / N_TYPE / (N_ZONE + 1)), s->failures, s->until_ms - w->start_ms,
			s->budget);
	}
}
