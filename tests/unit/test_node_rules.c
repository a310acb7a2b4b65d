/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_node_rules.c - the table of decisions about a node is complete: every combination of base state, flags that a row names,
 * machine, kind of node, reason and side facts has a row, unless Slurm cannot show it; each row is needed; and the manual page
 * says what the table says.
 *
 * Rows are first sifted by state, machine and kind. Combinations for which the same rows are left are one case, so that
 * reasons and side facts are gone through a thousand times and not ten million times.
 */
#include "tests/unit/cmocka_all.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/str.h"
#include "lib/plan/node_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FLAGS 20
#define CASES (1u << 16)

/* ---- the flags that matter */

static uint32_t relevant(void)
{
	uint32_t all = 0;

	for (size_t i = 0; i < node_rules_n; i++)
		all |= node_rules[i].required | node_rules[i].any | node_rules[i].forbidden;
	for (size_t i = 0; i < node_nevers_n; i++)
		all |= node_nevers[i].required;
	return all;
}

/* The subset of `mask` with that number, in the order of counting. */
static uint32_t next_subset(uint32_t subset, uint32_t mask)
{
	return (subset - mask) & mask;
}

/* ---- cases: the rows that state, machine and kind leave */

struct a_case {
	uint64_t rows;          /* bit i = node_rules[i] */
	struct node_facts like; /* one of its combinations */
};

struct cases {
	struct a_case *v;
	size_t n;
};

static bool sifted(const struct node_rule *r, uint32_t state)
{
	return node_state_is(state, 0, r->required, r->forbidden) && (!r->any || state & r->any);
}

static void keep(struct cases *l, uint64_t rows, const struct node_facts *like)
{
	size_t i = (size_t)((rows * 0x9e3779b97f4a7c15u) >> 48);

	while (l->v[i].like.machine && l->v[i].rows != rows)
		i = (i + 1) % CASES;
	if (l->v[i].like.machine)
		return;
	l->v[i] = (struct a_case){ .rows = rows, .like = *like };
	l->n++;
	assert_true(l->n < CASES / 2);
}

/* Rows of a base state, machine and kind: which flags they ask for is looked at later. */
static size_t rows_of(uint32_t base, unsigned machine, unsigned kind, size_t *out)
{
	size_t n = 0;

	for (size_t i = 0; i < node_rules_n; i++) {
		const struct node_rule *r = &node_rules[i];

		if ((!r->bases || r->bases & BASE(base)) && (!r->machine || r->machine & machine) &&
		    (!r->kinds || r->kinds & kind))
			out[n++] = i;
	}
	return n;
}

static void sift(struct cases *l, uint32_t base, unsigned machine, unsigned kind, uint32_t mask, bool *never)
{
	size_t row[64], n = rows_of(base, machine, kind, row);
	uint32_t flags = 0;

	do {
		struct node_facts f = { .state = base | flags, .machine = machine, .kind = kind };
		const struct node_never *no = node_never_find(f.state);
		uint64_t rows = 0;

		if (no)
			never[no - node_nevers] = true;
		for (size_t i = 0; !no && i < n; i++)
			if (sifted(&node_rules[row[i]], f.state))
				rows |= UINT64_C(1) << row[i];
		if (!no)
			keep(l, rows, &f);
		flags = next_subset(flags, mask);
	} while (flags);
}

/* ---- reasons, side facts, watching */

struct judge {
	bool reached[64];
	bool needed[64];
	size_t unowned;
	char first[512]; /* of the unowned ones */
};

static bool same_outcome(const struct node_rule *a, const struct node_rule *b)
{
	return a && b && a->acts == b->acts && str_eq(a->acts ? "" : a->because, b->acts ? "" : b->because);
}

static const struct node_rule *first_of(const size_t *row, size_t n, size_t from, const struct node_facts *f, size_t *at)
{
	for (size_t i = from; i < n; i++) {
		if (node_rule_fits(&node_rules[row[i]], f, true)) {
			*at = i;
			return &node_rules[row[i]];
		}
	}
	*at = n;
	return NULL;
}

static void unowned(struct judge *j, const struct node_facts *f)
{
	char *state = node_state_text(f->state);

	if (!j->unowned++)
		snprintf(j->first, sizeof(j->first), "%s, machine 0x%x, kind %d, reason 0x%x, side facts 0x%x, seen %s %d %d", state,
			 f->machine, (int)f->kind, f->why, f->when, f->seen ? f->seen : "-", f->seen_grace, f->seen_timeout);
	free(state);
}

static void judge_one(struct judge *j, const size_t *row, size_t n, const struct node_facts *f)
{
	size_t at, after;
	const struct node_rule *r = first_of(row, n, 0, f, &at);

	if (!r) {
		unowned(j, f);
		return;
	}
	j->reached[row[at]] = true;
	if (!j->needed[row[at]])
		j->needed[row[at]] = !same_outcome(r, first_of(row, n, at + 1, f, &after));
}

/* Never seen, and seen by each row that watches, for a short, a longer and a long time. */
static void judge_watching(struct judge *j, const size_t *row, size_t n, struct node_facts *f)
{
	f->seen = NULL;
	f->seen_grace = f->seen_timeout = false;
	judge_one(j, row, n, f);
	for (size_t i = 0; i < n; i++) {
		if (node_rules[row[i]].watch == WATCH_NOT)
			continue;
		f->seen = node_rules[row[i]].code;
		for (int age = 0; age < 3; age++) {
			f->seen_grace = age > 0;
			f->seen_timeout = age > 1;
			judge_one(j, row, n, f);
		}
	}
}

/* A pool that may be asked is not short; what is DOWN for long may be requeued. */
static bool can_be(unsigned when)
{
	return (when & (WHEN_OPEN | WHEN_CLOSED)) != (WHEN_OPEN | WHEN_CLOSED) &&
	       (!(when & WHEN_DOWN_LONG) || when & WHEN_REQUEUED);
}

static void judge_case(struct judge *j, const struct a_case *c)
{
	size_t row[64], n = 0;
	unsigned mask = 0, when = 0;
	struct node_facts f = c->like;

	for (size_t i = 0; i < node_rules_n; i++) {
		if (!(c->rows >> i & 1))
			continue;
		row[n++] = i;
		mask |= node_rules[i].when | node_rules[i].unless;
	}
	mask |= mask & WHEN_DOWN_LONG ? WHEN_REQUEUED : 0;
	do {
		for (unsigned why = 0; why < NODE_WHYS; why++) {
			f.why = 1u << why;
			f.when = when;
			if (can_be(when))
				judge_watching(j, row, n, &f);
		}
		when = next_subset(when, mask);
	} while (when);
}

static void judge_all(struct judge *j, bool *never)
{
	struct cases l = { .v = calloc(CASES, sizeof(*l.v)) };
	uint32_t mask = relevant();

	assert_non_null(l.v);
	assert_true(node_rules_n <= 64);
	assert_true(__builtin_popcount(mask) <= MAX_FLAGS);
	assert_int_equal(mask & NS_BASE, 0);
	for (uint32_t base = 0; base <= NS_BASE; base++)
		for (unsigned machine = 0; machine < MACHINE_FACTS; machine++)
			for (unsigned kind = 0; kind < NODE_KINDS; kind++)
				sift(&l, base, 1u << machine, 1u << kind, mask, never);
	for (size_t i = 0; i < CASES; i++)
		if (l.v[i].like.machine)
			judge_case(j, &l.v[i]);
	free(l.v);
}

static void test_every_combination_has_a_row(void **state)
{
	struct judge j = { .unowned = 0 };
	bool never[16] = { false };
	size_t bad = 0;

	(void)state;
	judge_all(&j, never);
	if (j.unowned)
		fail_msg("%zu combinations have no row, the first: %s", j.unowned, j.first);
	for (size_t i = 0; i < node_rules_n; i++) {
		if (j.reached[i] && j.needed[i])
			continue;
		print_error("row %zu, %s, %s\n", i + 1, node_rules[i].code,
			    j.reached[i] ? "could go: nothing would be done or told otherwise" : "is never reached");
		bad++;
	}
	for (size_t i = 0; i < node_nevers_n; i++) {
		if (!never[i])
			print_error("nothing is %s\n", node_nevers[i].because);
		bad += !never[i];
	}
	assert_int_equal(bad, 0);
}

/* Flags that no row names, those of releases to come too, change nothing. */
static void test_unknown_flags(void **state)
{
	uint32_t others = ~relevant() & ~NS_BASE;
	unsigned chance = 1;

	(void)state;
	assert_true(others & NS_CLOUD && others & NS_PLANNED && others & 1u << 30);
	for (int i = 0; i < 200000; i++) {
		struct node_facts f = { .machine = 1u << i % MACHINE_FACTS, .kind = 1u << i % NODE_KINDS, .why = 1u << i % NODE_WHYS };
		const struct node_rule *with, *without;

		chance = chance * 1664525u + 1013904223u;
		f.state = (chance >> 3 & relevant()) | (chance & NS_BASE);
		f.when = chance >> 16 & ((1u << NODE_WHENS) - 1);
		without = node_rule_find(&f, true);
		f.state |= chance & others;
		with = node_rule_find(&f, true);
		assert_ptr_equal(with, without);
	}
}

/* ---- states that were seen, each with who owns it */

static const struct {
	uint32_t state;
	enum machine_fact machine;
	enum node_why why;
	const char *code;
} known[] = {
	{ NS_IDLE | NS_POWERED_DOWN, MACHINE_NONE, WHY_NONE, "off" },
	{ NS_ALLOCATED | NS_POWERED_DOWN, MACHINE_NONE, WHY_NONE, "off" },
	{ NS_ALLOCATED | NS_POWERING_UP | NS_NO_RESPOND, MACHINE_CLAIMED, WHY_NONE, "booting" },
	{ NS_ALLOCATED | NS_POWERING_UP | NS_NO_RESPOND, MACHINE_PENDING, WHY_NONE, "booting" },
	{ NS_MIXED | NS_POWERING_UP | NS_POWERED_DOWN | NS_POWER_UP, MACHINE_RUNNING, WHY_NONE, "power-up-again" },
	{ NS_IDLE | NS_PLANNED, MACHINE_RUNNING, WHY_NONE, "up" },
	{ NS_MIXED | NS_COMPLETING, MACHINE_RUNNING, WHY_NONE, "up" },
	{ NS_IDLE | NS_POWER_DOWN, MACHINE_RUNNING, WHY_BACK, "going-down" },
	{ NS_MIXED | NS_DRAIN | NS_POWER_DOWN, MACHINE_RUNNING, WHY_PERSON, "held" },
	{ NS_IDLE | NS_POWER_DOWN | NS_POWERED_DOWN, MACHINE_NONE, WHY_BACK, "off" },
	{ NS_IDLE | NS_POWERING_DOWN, MACHINE_RUNNING, WHY_NONE, "powering-down" },
	{ NS_IDLE | NS_POWERING_DOWN, MACHINE_SHUTTING, WHY_NONE, "powering-down" },
	{ NS_IDLE | NS_POWERING_DOWN, MACHINE_NONE, WHY_NONE, "powering-down-calm" },
	{ NS_DOWN | NS_NO_RESPOND, MACHINE_UNSURE, WHY_SLURM, "down-waits" },
	{ NS_DOWN, MACHINE_RUNNING, WHY_PERSON, "down-person" },
	{ NS_IDLE | NS_DRAIN | NS_COMPLETING, MACHINE_RUNNING, WHY_PERSON, "held" },
	{ NS_DOWN | NS_REBOOT_ISSUED | NS_DRAIN, MACHINE_IMPAIRED, WHY_PERSON, "rebooting" },
	{ NS_IDLE | NS_DRAIN | NS_INVALID_REG, MACHINE_RUNNING, WHY_INVALID, "invalid-reg" },
	{ NS_ALLOCATED | NS_DRAIN | NS_INVALID_REG, MACHINE_RUNNING, WHY_INVALID, "held" },
	{ NS_IDLE | NS_DRAIN | NS_INVALID_REG, MACHINE_RUNNING, WHY_PERSON, "held" },
	{ NS_IDLE | NS_RES | NS_MAINT, MACHINE_RUNNING, WHY_NONE, "up" },
	{ NS_IDLE | NS_RES | NS_MAINT, MACHINE_IMPAIRED, WHY_NONE, "maintenance" },
	{ NS_ALLOCATED | NS_RES | NS_MAINT, MACHINE_EVENT, WHY_NONE, "maintenance" },
	{ NS_IDLE | NS_RES | NS_MAINT | NS_DRAIN, MACHINE_IMPAIRED, WHY_DRAINED, "maintenance" },
	{ NS_DOWN | NS_RES | NS_MAINT | NS_DRAIN, MACHINE_RUNNING, WHY_DRAINED, "maintenance" },
	{ NS_IDLE | NS_RES | NS_MAINT | NS_POWERING_UP, MACHINE_IMPAIRED, WHY_NONE, "maintenance" },
	{ NS_IDLE | NS_RES | NS_MAINT, MACHINE_STOPPED, WHY_NONE, "machine-stopped" },
	{ NS_IDLE | NS_RES | NS_MAINT | NS_DRAIN, MACHINE_TERMINATED, WHY_DRAINED, "drained-gone" },
	{ NS_IDLE | NS_RES, MACHINE_IMPAIRED, WHY_NONE, "impaired" },
	{ NS_UNKNOWN, MACHINE_RUNNING, WHY_NONE, "unused" },
	{ NS_FUTURE, MACHINE_NONE, WHY_NONE, "unused" },
	{ NS_ALLOCATED, MACHINE_STOPPED, WHY_NONE, "machine-stopped" },
	{ NS_ALLOCATED, MACHINE_TERMINATED, WHY_NONE, "machine-gone" },
	{ NS_ALLOCATED, MACHINE_UNSURE, WHY_NONE, "up-unsure" },
	{ NS_ALLOCATED, MACHINE_NONE, WHY_NONE, "up-unbound" },
};

static void test_known_states(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct node_facts f = { .state = known[i].state | NS_CLOUD, .machine = known[i].machine, .kind = KIND_DYNAMIC,
					.why = known[i].why, .when = WHEN_EC2_READ | WHEN_OPEN | WHEN_SERVES };
		const struct node_rule *r = node_rule_find(&f, true);

		assert_null(node_never_find(f.state));
		assert_non_null(r);
		if (!str_eq(r->code, known[i].code))
			fail_msg("state %zu is %s, not %s", i, r->code, known[i].code);
	}
}

/* ---- whose words */

static const struct {
	const char *reason;
	enum node_why why;
} reasons[] = {
	{ NULL, WHY_NONE },
	{ "", WHY_NONE },
	{ "ResumeTimeout reached", WHY_TIMEOUT },
	{ "Not responding", WHY_SLURM },
	{ "Node unexpectedly rebooted", WHY_SLURM },
	{ "Reboot ASAP : reboot issued : reboot timed out", WHY_SLURM },
	{ "Reboot ASAP : reboot issued", WHY_PERSON },
	{ "Low RealMemory (reported:900 < 100.00% of configured:1000)", WHY_INVALID },
	{ "gres/gpu count reported lower than configured (0 < 8)", WHY_INVALID },
	{ "slurm-ec2: back to idle after a failed boot", WHY_BACK },
	{ "slurm-ec2: back to idle, slurmd does not come back (was: Not responding)", WHY_BACK },
	{ "Failure when resuming nodes", WHY_BACK },
	{ "(Code:X)Failure when resuming nodes: no", WHY_NO_LAUNCH },
	{ "(Code:X)Temporarily disabling node due to insufficient capacity until 10:00 UTC", WHY_DISABLED },
	{ "(Code:BootFailures)Machines of this compute resource do not come up: see", WHY_PROTECTED },
	{ "(Code:BootFailures)Machines of this node do not come up", WHY_PROTECTED },
	{ "(Code:HealthCheck)EC2's system status check fails", WHY_DRAINED },
	{ "(Code:ScheduledEvent)EC2 announces instance-stop", WHY_DRAINED },
	{ "(Code:Replaced)Its machine was not well (was: (Code:HealthCheck)x)", WHY_DRAINED },
	{ "(Code:MachineGone)x (was: Low RealMemory (reported:1 < 2))", WHY_DRAINED },
	{ "(Code:MachineGone)x (was: fan)", WHY_OURS },
	{ "(Code:MachineGone)x", WHY_OURS },
	{ "(Code:X without an end", WHY_OURS },
	{ "Code:X", WHY_PERSON },
	{ "fan", WHY_PERSON },
	{ " (Code:X)", WHY_PERSON },
};

static void test_reasons(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (node_why(reasons[i].reason) != reasons[i].why)
			fail_msg("\"%s\" is 0x%x", reasons[i].reason, node_why(reasons[i].reason));
}

/* ---- for people */

static char *read_source(const char *path)
{
	const char *top = getenv("srcdir");
	char *full = str_fmt("%s/%s", top ? top : ".", path);
	struct buf b = { 0 };
	struct err e = { "" };

	if (file_read(full, 1 << 20, &b, &e))
		fail_msg("%s", e.text);
	free(full);
	return buf_take(&b);
}

static void test_manual_page(void **state)
{
	char *page = read_source("doc/clustermgtd.8"), *part = node_rules_page();

	(void)state;
	assert_non_null(part);
	if (!strstr(page, part))
		fail_msg("doc/clustermgtd.8 does not have the table as it is: run make man-table");
	free(page);
	free(part);
}

/* Each row is there with its code and its reason, no line is wider than a page. */
static void test_text(void **state)
{
	char *text = node_rules_text();
	size_t heads = 0;

	(void)state;
	assert_non_null(text);
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		char number[8];

		snprintf(number, sizeof(number), "%2zu  ", heads + 1);
		if (heads < node_rules_n && str_prefix(line, number))
			assert_true(str_prefix(line + 4, node_rules[heads++].code));
		assert_true(strcspn(line, "\n") < 140);
	}
	assert_int_equal(heads, node_rules_n);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_combination_has_a_row),
	    cmocka_unit_test(test_unknown_flags),
	    cmocka_unit_test(test_known_states),
	    cmocka_unit_test(test_reasons),
	    cmocka_unit_test(test_manual_page),
	    cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
