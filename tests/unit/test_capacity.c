/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_capacity.c - what EC2's codes say of an offering, how long a refusal closes it, and when a compute resource is closed. */
#include "tests/unit/cmocka_all.h"

#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/plan/capacity.h"
#include "lib/plan/resume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW INT64_C(1000000000)
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct capacity_rule rule = { .first_ms = 60000, .limit_ms = 1800000 };

/* --- codes */

static const struct {
	const char *code;
	bool by_size, remembered, quota;
	int rank;
} codes[] = {
	{ "InsufficientInstanceCapacity", true, true, false, 2 },
	{ "LimitedInstanceCapacity", true, true, false, 2 },
	{ "InsufficientHostCapacity", true, true, false, 2 },
	{ "InsufficientReservedInstanceCapacity", true, true, false, 2 },
	{ "ReservationCapacityExceeded", true, true, false, 2 },
	{ "UnfulfillableCapacity", true, true, false, 2 },
	{ "InsufficientFreeAddressesInSubnet", true, true, false, 2 },
	{ "SpotMaxPriceTooLow", false, true, false, 2 },
	{ "Unsupported", false, true, false, 2 },
	{ "InvalidFleetConfiguration", false, true, false, 2 },
	{ "VcpuLimitExceeded", true, true, true, 3 },
	{ "InstanceLimitExceeded", true, true, true, 3 },
	{ "MaxSpotInstanceCountExceeded", true, true, true, 3 },
	{ "MaxFleetCountExceeded", true, true, true, 3 },
	{ "PendingVerification", true, true, true, 3 },
	{ "RequestLimitExceeded", false, false, false, 1 },
	{ "InternalError", false, false, false, 1 },
	{ "UnauthorizedOperation", false, false, false, 4 },
	{ "InvalidParameterValue", false, false, false, 4 },
	{ "AWordOfNextYear", false, false, false, 4 },
	{ NULL, false, false, false, 0 },
};

static void test_codes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(codes); i++) {
		const char *c = codes[i].code;

		if (capacity_code_depends_on_size(c) != codes[i].by_size || capacity_code_remembered(c) != codes[i].remembered ||
		    capacity_code_is_quota(c) != codes[i].quota)
			fail_msg("%s", c ? c : "NULL");
		for (size_t k = 0; k < COUNT(codes); k++) {
			const char *worse = codes[k].rank > codes[i].rank ? codes[k].code : c; /* of equals the first */

			if (capacity_code_worse(c, codes[k].code) != worse)
				fail_msg("%s or %s", c ? c : "NULL", codes[k].code ? codes[k].code : "NULL");
		}
	}
}

/* --- the memory of one offering */

static void test_allowed(void **state)
{
	static const struct {
		struct shortage s;
		int64_t allowed;
	} rows[] = {
		{ { .failures = 0, .until_ms = NOW + 1 }, CAPACITY_UNLIMITED },
		{ { .failures = 1, .until_ms = NOW + 1 }, 0 },
		{ { .failures = 1, .until_ms = NOW + 1, .budget = 5 }, 0 },
		{ { .failures = 1, .until_ms = NOW }, -1 },
		{ { .failures = 1, .until_ms = NOW, .probe_until_ms = NOW + 1 }, 0 },
		{ { .failures = 1, .until_ms = NOW, .budget = 5, .probe_until_ms = NOW + 1 }, 0 },
		{ { .failures = 1, .until_ms = NOW, .probe_until_ms = NOW }, -1 }, /* its process is gone */
		{ { .failures = 3, .until_ms = NOW, .budget = 7 }, 7 },
	};

	(void)state;
	assert_int_equal(capacity_allowed(NULL, NOW), CAPACITY_UNLIMITED);
	for (size_t i = 0; i < COUNT(rows); i++)
		if (capacity_allowed(&rows[i].s, NOW) != rows[i].allowed)
			fail_msg("row %zu", i);
}

/* Each refusal in a row doubles the time, up to the limit; half of it is fixed. */
static void test_refused(void **state)
{
	static const int64_t closed[] = { 60000, 120000, 240000, 480000, 960000, 1800000, 1800000, 1800000 };
	struct shortage s = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(closed); i++) {
		s.probe_until_ms = NOW + 5;
		assert_int_equal(capacity_refused(&s, &rule, "VcpuLimitExceeded", "you have 5", NOW, 0), 0);
		assert_int_equal(s.failures, (int)i + 1);
		assert_int_equal(s.until_ms - NOW, closed[i] / 2);
		s.failures--;
		assert_int_equal(capacity_refused(&s, &rule, "VcpuLimitExceeded", "you have 5", NOW, 0.999999), 0);
		assert_in_range(s.until_ms - NOW, closed[i] - 10, closed[i]);
		assert_int_equal(s.failed_ms, NOW);
		assert_int_equal(s.budget, 0);
		assert_int_equal(s.probe_until_ms, 0);
	}
	assert_string_equal(s.code, "VcpuLimitExceeded");
	assert_string_equal(s.message, "you have 5");
	assert_int_equal(capacity_refused(&s, &rule, "Unsupported", NULL, NOW, 0), 0);
	assert_string_equal(s.code, "Unsupported");
	assert_null(s.message);
	shortage_clear(&s);
}

/* No number of refusals and no setting overflows. */
static void test_refused_far(void **state)
{
	static const struct capacity_rule wide = { .first_ms = 1, .limit_ms = INT64_MAX / 4 };
	struct shortage s = { .failures = 1000000 };

	(void)state;
	assert_int_equal(capacity_refused(&s, &wide, "Unsupported", NULL, NOW, 0.5), 0);
	assert_true(s.until_ms > NOW && s.until_ms <= NOW + wide.limit_ms);
	shortage_clear(&s);
}

/* A probe that came opens a budget that doubles until the shortage is forgotten; a refusal then is the first one again. */
static void test_came(void **state)
{
	static const int64_t budgets[] = { 4, 8, 16, 32, 64, 128, 256, 512 };
	struct shortage s = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(capacity_refused(&s, &rule, "Unsupported", NULL, NOW, 0), 0);
	s.probe_until_ms = NOW + 5;
	assert_false(capacity_came(&s, 0, NOW + 7));
	assert_int_equal(s.budget, 0);
	for (size_t i = 0; i < COUNT(budgets); i++) {
		assert_false(capacity_came(&s, i ? 1 : 2, NOW + 7)); /* a probe of two nodes, then one at a time */
		assert_int_equal(s.budget, budgets[i]);
		assert_int_equal(capacity_allowed(&s, NOW + 7), budgets[i]);
		assert_int_equal(s.failures, 3);
	}
	assert_int_equal(capacity_refused(&s, &rule, "Unsupported", NULL, NOW, 0), 0);
	assert_int_equal(s.failures, 1);
	assert_int_equal(s.until_ms - NOW, 30000);
	assert_int_equal(capacity_allowed(&s, NOW + 30000), -1);
	assert_true(capacity_came(&s, CAPACITY_BUDGET_OVER / 2, NOW)); /* over */
	assert_int_equal(s.failures, 0);
	assert_int_equal(capacity_allowed(&s, NOW), CAPACITY_UNLIMITED);
	assert_true(capacity_came(&s, 1, NOW));
	shortage_clear(&s);
}

static void test_stale(void **state)
{
	struct shortage s = { .failures = 1, .until_ms = NOW };

	(void)state;
	assert_false(capacity_stale(&s, &rule, NOW + rule.limit_ms));
	assert_true(capacity_stale(&s, &rule, NOW + rule.limit_ms + 1));
	s.probe_until_ms = NOW + 10; /* asked since */
	assert_false(capacity_stale(&s, &rule, NOW + rule.limit_ms + 10));
	s.failures = 0;
	assert_true(capacity_stale(&s, &rule, NOW));
}

/* --- a compute resource */

struct house {
	struct generation *gen;
	struct gen_resource *r;
	struct shortages l;
};

/* Stage 0: types t0, t1 in zones za, zb; stage 1: t0 on spot in za. */
static void house_create(struct house *h)
{
	static const char *const words[] = { "0", "1" };
	struct gen_stage *s;

	*h = (struct house){ .gen = calloc(1, sizeof(*h->gen)) };
	assert_non_null(h->gen);
	h->r = generation_add_resource(h->gen);
	s = gen_resource_add_stage(h->r);
	for (size_t i = 0; i < 2; i++) {
		strs_addf(&s->instance_types, "t%s", words[i]);
		strs_addf(&s->subnet_ids, "subnet-%s", words[i]);
		strs_add(&s->zones, i ? "zb" : "za");
	}
	s = gen_resource_add_stage(h->r);
	s->capacity = CAPACITY_SPOT;
	strs_add(&s->instance_types, "t0");
	strs_add(&s->subnet_ids, "subnet-0");
	strs_add(&s->zones, "za");
}

static void house_destroy(struct house *h)
{
	shortages_clear(&h->l);
	generation_destroy(h->gen);
}

static struct shortage *closed(struct house *h, const char *type, const char *zone, const char *market, int64_t until_ms,
			       const char *code)
{
	struct shortage *s = shortages_add(&h->l, type, zone, market);

	assert_non_null(s);
	s->failures = 1;
	s->until_ms = until_ms;
	s->code = str_dup(code);
	return s;
}

static bool all_closed(struct house *h, const char *code, int64_t until_ms)
{
	const char *why = NULL;
	int64_t until = 0;

	if (!capacity_all_closed(h->r, &h->l, NOW, &why, &until))
		return false;
	assert_string_equal(why, code);
	assert_int_equal(until, until_ms);
	return true;
}

static void close_stage0(struct house *h)
{
	closed(h, "t0", "za", MARKET_ONDEMAND, NOW + 900, "InsufficientInstanceCapacity");
	closed(h, "t0", "zb", MARKET_ONDEMAND, NOW + 800, "InsufficientInstanceCapacity");
	closed(h, "t1", ZONE_ANY, MARKET_ONDEMAND, NOW + 700, "VcpuLimitExceeded");
}

/* Closed only if each type in each zone of each stage is; a quota is for all zones. */
static void test_all_closed(void **state)
{
	struct house h;

	(void)state;
	house_create(&h);
	assert_false(all_closed(&h, "", 0));
	close_stage0(&h);
	assert_false(all_closed(&h, "", 0)); /* spot is open */
	closed(&h, "t0", "za", MARKET_SPOT, NOW + 600, "UnfulfillableCapacity");
	assert_true(all_closed(&h, "UnfulfillableCapacity", NOW + 600));
	h.l.v[3].until_ms = NOW + 750;
	assert_true(all_closed(&h, "VcpuLimitExceeded", NOW + 700));
	h.l.v[0].until_ms = NOW; /* a probe is due */
	assert_false(all_closed(&h, "", 0));
	h.l.v[0].probe_until_ms = NOW + 10; /* and under way */
	assert_true(all_closed(&h, "InsufficientInstanceCapacity", NOW + 10));
	house_destroy(&h);
}

/* What is known of the zone and of the quota both hold: the later end counts. */
static void test_two_reasons(void **state)
{
	struct house h;

	(void)state;
	house_create(&h);
	close_stage0(&h);
	closed(&h, "t0", "za", MARKET_SPOT, NOW + 100, "UnfulfillableCapacity");
	closed(&h, "t0", ZONE_ANY, MARKET_SPOT, NOW + 500, "MaxSpotInstanceCountExceeded");
	assert_true(all_closed(&h, "MaxSpotInstanceCountExceeded", NOW + 500));
	h.l.v[4].until_ms = NOW + 50;
	assert_true(all_closed(&h, "UnfulfillableCapacity", NOW + 100));
	house_destroy(&h);
}

/* A price that was too low closes nothing for a stage that bids without one. */
static void test_price(void **state)
{
	struct house h;

	(void)state;
	house_create(&h);
	close_stage0(&h);
	closed(&h, "t0", "za", MARKET_SPOT, NOW + 100, "SpotMaxPriceTooLow");
	assert_false(all_closed(&h, "", 0));
	h.r->stages[1].max_price = 0.1;
	assert_true(all_closed(&h, "SpotMaxPriceTooLow", NOW + 100));
	house_destroy(&h);
}

static void test_market(void **state)
{
	char reserved[] = MARKET_RESERVED "cr-1";
	struct gen_resource r = { .reserved = reserved };
	struct gen_stage s = { .capacity = CAPACITY_ONDEMAND };

	(void)state;
	assert_string_equal(capacity_market(&r, &s), MARKET_RESERVED "cr-1");
	s.capacity = CAPACITY_SPOT;
	assert_string_equal(capacity_market(&r, &s), MARKET_SPOT);
	s.capacity = CAPACITY_BLOCK;
	assert_string_equal(capacity_market(&r, &s), MARKET_BLOCK);
	r.reserved = NULL;
	s.capacity = CAPACITY_ONDEMAND;
	assert_string_equal(capacity_market(&r, &s), MARKET_ONDEMAND);
}

/* A refusal closes the offerings it speaks of: all types, one type, one subnet; a quota a type in every zone. */
static void test_refused_stage(void **state)
{
	static const struct {
		const char *type, *subnet, *code, *closed;
	} rows[] = {
		{ NULL, NULL, "InsufficientInstanceCapacity", "t1/z1 t1/z2 t2/z1 t2/z2 " },
		{ "t2", NULL, "InsufficientInstanceCapacity", "t2/z1 t2/z2 " },
		{ NULL, "subnet-2", "InsufficientInstanceCapacity", "t1/z2 t2/z2 " },
		{ "t1", "subnet-1", "VcpuLimitExceeded", "t1/* " },
		{ "t9", NULL, "InsufficientInstanceCapacity", "" },
		{ NULL, NULL, "RequestLimitExceeded", "" },
	};
	struct gen_resource r = { 0 };
	struct gen_stage g = { .capacity = CAPACITY_SPOT };

	(void)state;
	for (int i = 1; i <= 2; i++) {
		assert_int_equal(strs_addf(&g.instance_types, "t%d", i), 0);
		assert_int_equal(strs_addf(&g.subnet_ids, "subnet-%d", i), 0);
		assert_int_equal(strs_addf(&g.zones, "z%d", i), 0);
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct resume_refusal f = { .type = rows[i].type, .subnet_id = rows[i].subnet, .code = rows[i].code };
		struct shortages l = { 0 };
		char text[200] = "";

		assert_int_equal(capacity_refused_stage(&l, &r, &g, &f, &rule, NOW, 0.5), 0);
		assert_int_equal(capacity_refused_stage(&l, &r, &g, &f, &rule, NOW + 1, 0.5), 0); /* the same rows again */
		for (size_t k = 0; k < l.n; k++) {
			snprintf(text + strlen(text), sizeof text - strlen(text), "%s/%s ", l.v[k].of.type, l.v[k].of.zone);
			assert_string_equal(l.v[k].of.market, MARKET_SPOT);
			assert_int_equal(l.v[k].failures, 2);
			assert_int_equal(l.v[k].failed_ms, NOW + 1);
		}
		assert_string_equal(text, rows[i].closed);
		shortages_clear(&l);
	}
	strs_clear(&g.instance_types);
	strs_clear(&g.subnet_ids);
	strs_clear(&g.zones);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes),	    cmocka_unit_test(test_allowed), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_refused_far), cmocka_unit_test(test_came),    cmocka_unit_test(test_stale),
		cmocka_unit_test(test_all_closed),  cmocka_unit_test(test_two_reasons),
		cmocka_unit_test(test_refused_stage),
		cmocka_unit_test(test_price),	    cmocka_unit_test(test_market),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
