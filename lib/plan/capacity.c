/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capacity.c - what EC2's error codes say of an offering, and how long a refusal closes it. Messages are never looked at: they
 * differ between markets. */
#include "lib/plan/capacity.h"

#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/plan/resume.h"

#include <stdlib.h>

#define AHEAD_MS 5000 /* between the clocks that two processes read */

struct capacity_rule capacity_rule_of(const struct settings *s)
{
	return (struct capacity_rule){.first_ms = s->capacity_retry_s * 1000, .limit_ms = s->capacity_retry_limit_s * 1000};
}

/* --- codes */

enum code_kind { CODE_OURS, CODE_BUSY, CODE_CAPACITY, CODE_QUOTA };

struct code {
	const char *name;
	enum code_kind kind;
	bool any_size; /* a smaller request is refused just the same */
};

static const struct code codes[] = {
	{CODE_INSUFFICIENT, CODE_CAPACITY, false},
	{CODE_LIMITED, CODE_CAPACITY, false},
	{"InsufficientHostCapacity", CODE_CAPACITY, false},
	{"InsufficientReservedInstanceCapacity", CODE_CAPACITY, false},
	{"InsufficientCapacity", CODE_CAPACITY, false},
	{"InsufficientCapacityOnHost", CODE_CAPACITY, false},
	{"ReservationCapacityExceeded", CODE_CAPACITY, false},
	{"UnfulfillableCapacity", CODE_CAPACITY, false},
	{"InsufficientFreeAddressesInSubnet", CODE_CAPACITY, false},
	{"InsufficientVolumeCapacity", CODE_CAPACITY, false},
	{"SpotMaxPriceTooLow", CODE_CAPACITY, true},
	{"Unsupported", CODE_CAPACITY, true}, /* the zone has not got the type */
	{"InvalidFleetConfiguration", CODE_CAPACITY, true}, /* the same, said of one choice of a fleet */
	{"MaxSpotInstanceCountExceeded", CODE_QUOTA, false},
	{"SpotInstanceCountLimitExceeded", CODE_QUOTA, false},
	{"MaxFleetCountExceeded", CODE_QUOTA, false},
	{"PendingVerification", CODE_QUOTA, false}, /* a new account or region, for minutes or hours */
	{"VcpuLimitExceeded", CODE_QUOTA, false},
	{"InstanceLimitExceeded", CODE_QUOTA, false},
	{"NetworkInterfaceLimitExceeded", CODE_QUOTA, false},
	{"VolumeLimitExceeded", CODE_QUOTA, false},
	{"MaxIOPSLimitExceeded", CODE_QUOTA, false},
	{"RequestLimitExceeded", CODE_BUSY, true},
	{"Throttling", CODE_BUSY, true},
	{"ThrottlingException", CODE_BUSY, true},
	{"ThrottledException", CODE_BUSY, true},
	{"RequestThrottled", CODE_BUSY, true},
	{"RequestThrottledException", CODE_BUSY, true},
	{"EC2ThrottledException", CODE_BUSY, true},
	{"TooManyRequestsException", CODE_BUSY, true},
	{"BandwidthLimitExceeded", CODE_BUSY, true},
	{"SlowDown", CODE_BUSY, true},
	{"InternalError", CODE_BUSY, true},
	{"InternalFailure", CODE_BUSY, true},
	{"Unavailable", CODE_BUSY, true},
	{"ServiceUnavailable", CODE_BUSY, true},
	{"RequestTimeout", CODE_BUSY, true},
};

static const struct code *find_code(const char *code)
{
	for (size_t i = 0; code && i < sizeof(codes) / sizeof(codes[0]); i++)
		if (str_eq(code, codes[i].name))
			return &codes[i];
	return NULL;
}

bool capacity_code_depends_on_size(const char *code)
{
	const struct code *c = find_code(code);

	return c && !c->any_size;
}

bool capacity_code_remembered(const char *code)
{
	const struct code *c = find_code(code);

	return c && (c->kind == CODE_CAPACITY || c->kind == CODE_QUOTA);
}

bool capacity_code_is_quota(const char *code)
{
	const struct code *c = find_code(code);

	return c && c->kind == CODE_QUOTA;
}

static int rank(const char *code)
{
	static const int ranks[] = {[CODE_BUSY] = 1, [CODE_CAPACITY] = 2, [CODE_QUOTA] = 3, [CODE_OURS] = 4};
	const struct code *c = find_code(code);

	if (!code)
		return 0;
	return ranks[c ? c->kind : CODE_OURS];
}

const char *capacity_code_worse(const char *a, const char *b)
{
	return rank(b) > rank(a) ? b : a;
}

/* --- the memory of one offering */

/* It was written before the clock was set back, so nobody can say until when it would hold. */
static bool from_later(const struct shortage *s, int64_t now_ms)
{
	return s->failed_ms > now_ms + AHEAD_MS;
}

int64_t capacity_allowed(const struct shortage *s, int64_t now_ms)
{
	if (!s || !s->failures || from_later(s, now_ms))
		return CAPACITY_UNLIMITED;
	if (now_ms < s->until_ms || now_ms < s->probe_until_ms)
		return 0;
	return s->budget > 0 ? s->budget : -1;
}

/* first, twice that, four times ... limit. */
static int64_t closed_for(const struct capacity_rule *r, int failures)
{
	int64_t d = r->first_ms;

	for (int i = 1; i < failures && d < r->limit_ms; i++)
		d = d > INT64_MAX / 2 ? INT64_MAX : d * 2;
	return d < r->limit_ms ? d : r->limit_ms;
}

/* Strings first, so that no memory changes nothing. */
static int set_words(struct shortage *s, const char *code, const char *message)
{
	char *c = str_dup(code), *m = str_dup(message);

	if ((code && !c) || (message && !m)) {
		free(c);
		free(m);
		return -1;
	}
	free(s->code);
	free(s->message);
	s->code = c;
	s->message = m;
	return 0;
}

int capacity_refused(struct shortage *s, const struct capacity_rule *r, const char *code, const char *message, int64_t now_ms,
		     double chance)
{
	int64_t d;

	if (set_words(s, code, message))
		return -1;
	/* Machines came since the last refusal: this one is the first in a row again. */
	s->failures = s->budget > 0 ? 1 : s->failures + 1;
	d = closed_for(r, s->failures);
	s->failed_ms = now_ms;
	s->until_ms = now_ms + d / 2 + (int64_t)((double)(d - d / 2) * chance);
	s->budget = 0;
	s->probe_until_ms = 0;
	return 0;
}

bool capacity_came(struct shortage *s, int64_t n, int64_t now_ms)
{
	if (!s->failures)
		return true;
	if (n <= 0)
		return false;
	s->budget = s->budget > n ? s->budget * 2 : n * 2;
	s->until_ms = now_ms;
	s->probe_until_ms = 0;
	if (s->budget < CAPACITY_BUDGET_OVER)
		return false;
	s->failures = 0;
	s->budget = 0;
	return true;
}

bool capacity_stale(const struct shortage *s, const struct capacity_rule *r, int64_t now_ms)
{
	int64_t last = s->until_ms > s->probe_until_ms ? s->until_ms : s->probe_until_ms;

	return !s->failures || from_later(s, now_ms) || now_ms - last > r->limit_ms;
}

/* --- what a resource may be launched from */

const char *capacity_market(const struct gen_resource *r, const struct gen_stage *s)
{
	if (s->capacity == CAPACITY_SPOT)
		return MARKET_SPOT;
	if (s->capacity == CAPACITY_BLOCK)
		return MARKET_BLOCK;
	return r->reserved ? r->reserved : MARKET_ONDEMAND;
}

bool capacity_holds(const struct shortage *s, const struct gen_stage *stage)
{
	return !str_eq(s->code, "SpotMaxPriceTooLow") || stage->max_price > 0;
}

/* Closed until when, 0 = not closed. The later of what is known of the zone and of the quota counts; *code is of that. */
static int64_t closed_until(const struct shortages *l, const struct gen_stage *stage, const char *type, const char *zone,
			    const char *market, int64_t now_ms, const char **code)
{
	const struct shortage *s[] = {shortages_find(l, type, zone, market), shortages_find(l, type, ZONE_ANY, market)};
	int64_t until = 0;

	for (size_t i = 0; i < sizeof(s) / sizeof(s[0]); i++) {
		int64_t end;

		if (capacity_allowed(s[i], now_ms) != 0 || !capacity_holds(s[i], stage))
			continue;
		end = s[i]->until_ms > s[i]->probe_until_ms ? s[i]->until_ms : s[i]->probe_until_ms;
		if (end > until) {
			until = end;
			*code = s[i]->code;
		}
	}
	return until;
}

/* The choice of the stage that opens first; false if one is open. */
static bool stage_closed(const struct gen_resource *r, const struct gen_stage *s, const struct shortages *l, int64_t now_ms,
			 const char **code, int64_t *first)
{
	const char *market = capacity_market(r, s), *why = NULL;

	for (size_t t = 0; t < s->instance_types.n; t++) {
		for (size_t z = 0; z < s->subnet_ids.n; z++) {
			const char *zone = z < s->zones.n ? s->zones.v[z] : "";
			int64_t until = closed_until(l, s, s->instance_types.v[t], zone, market, now_ms, &why);

			if (!until)
				return false;
			if (until < *first) {
				*first = until;
				*code = why;
			}
		}
	}
	return true;
}

bool capacity_all_closed(const struct gen_resource *r, const struct shortages *l, int64_t now_ms, const char **code,
			 int64_t *until_ms)
{
	int64_t first = INT64_MAX;
	const char *why = NULL;

	for (size_t i = 0; i < r->n_stages; i++)
		if (!stage_closed(r, &r->stages[i], l, now_ms, &why, &first))
			return false;
	if (first == INT64_MAX)
		return false;
	*code = why ? why : CODE_INSUFFICIENT;
	*until_ms = first;
	return true;
}

/* --- a refusal that no plan of this run sent */

static bool speaks_of(const char *wanted, const char *name)
{
	return !wanted || str_eq(wanted, name);
}

static int refuse_row(struct shortages *l, const char *type, const char *zone, const char *market,
		      const struct resume_refusal *f, const struct capacity_rule *rule, int64_t now_ms, double chance)
{
	struct shortage *s = shortages_find(l, type, zone, market);

	if (!s)
		s = shortages_add(l, type, zone, market);
	return s ? capacity_refused(s, rule, f->code, f->message, now_ms, chance) : -1;
}

int capacity_refused_stage(struct shortages *l, const struct gen_resource *r, const struct gen_stage *g,
			   const struct resume_refusal *f, const struct capacity_rule *rule, int64_t now_ms, double chance)
{
	const char *market = capacity_market(r, g);
	bool quota = capacity_code_is_quota(f->code);

	if (!capacity_code_remembered(f->code))
		return 0;
	for (size_t t = 0; t < g->instance_types.n; t++) {
		const char *type = g->instance_types.v[t];

		if (!speaks_of(f->type, type))
			continue;
		if (quota && refuse_row(l, type, ZONE_ANY, market, f, rule, now_ms, chance))
			return -1;
		for (size_t i = 0; i < g->subnet_ids.n && !quota; i++) {
			if (speaks_of(f->subnet_id, g->subnet_ids.v[i]) &&
			    refuse_row(l, type, i < g->zones.n ? g->zones.v[i] : "", market, f, rule, now_ms, chance))
				return -1;
		}
	}
	return 0;
}
