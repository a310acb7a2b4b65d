/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_plan_blocks.c - capacity blocks: which reservations are made and taken away, and which nodes cannot have a machine. */
#include "tests/unit/cmocka_all.h"

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/node/nodeset.h"
#include "lib/plan/blocks.h"

#include <stdlib.h>
#include <string.h>

#define NOW INT64_C(1000000000)
#define MINUTE 60000
#define A "slurm-ec2-cr-a"
#define B "slurm-ec2-cr-b"
#define NODES_A "p-st-x-[1-3],q-st-x-1,q-dy-x-1" /* two resources of one block */

/* p/x: 3 static on cr-a; q/x: 1 static and 1 dynamic on cr-a; q/y on demand; q/z: 1 static on cr-b; q/w: cr-a, or else on
 * demand */
static struct generation *make(void)
{
	static const struct {
		const char *queue, *name, *block;
		int min, max;
		bool fallback;
	} r[] = { { "p", "x", "cr-a", 3, 3, false }, { "q", "x", "cr-a", 1, 2, false }, { "q", "y", NULL, 0, 5, false },
		  { "q", "z", "cr-b", 1, 1, false }, { "q", "w", "cr-a", 1, 1, true } };
	struct generation *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	for (size_t i = 0; i < sizeof(r) / sizeof(r[0]); i++) {
		struct gen_resource *o = generation_add_resource(g);

		o->queue = str_dup(r[i].queue);
		o->name = str_dup(r[i].name);
		o->min_count = r[i].min;
		o->max_count = r[i].max;
		o->reservation_id = str_dup(r[i].block);
		o->capacity = r[i].block ? CAPACITY_BLOCK : CAPACITY_ONDEMAND;
		gen_resource_add_stage(o)->capacity = o->capacity;
		if (r[i].fallback)
			gen_resource_add_stage(o)->capacity = CAPACITY_ONDEMAND;
	}
	return g;
}

struct one {
	const char *why;
	const char *a, *b;     /* states of the blocks; NULL = never read */
	int64_t end_min;       /* of cr-a, from now; 0 = not told */
	const char *hold[3];   /* reservations that there are */
	const char *nodes[3];
	bool unread;           /* they were not read */
	const char *want;      /* the plan's text up to the reason, a line each */
	const char *held;      /* nodes, as text */
};

#define BOTH "p-st-x-[1-3],q-st-x-1,q-dy-x-1,q-st-z-1"
#define MAKE_A "reserve       block-not-active     reservation=" A " nodes=" NODES_A

static const struct one ones[] = {
	{ .why = "both active", .a = "active", .b = "active", .want = "", .held = "" },
	{ .why = "one scheduled", .a = "scheduled", .b = "active", .want = MAKE_A " (capacity block cr-a is scheduled)\n",
	  .held = NODES_A },
	{ .why = "it is held already, in another order", .a = "scheduled", .b = "active", .hold = { A },
	  .nodes = { "q-dy-x-1,q-st-x-1,p-st-x-[1-3]" }, .want = "", .held = NODES_A },
	{ .why = "held, but not all of its nodes", .a = "pending", .b = "active", .hold = { A }, .nodes = { "p-st-x-[1-3]" },
	  .want = MAKE_A " (capacity block cr-a is pending)\n", .held = NODES_A },
	{ .why = "becomes active", .a = "active", .b = "active", .hold = { A }, .nodes = { NODES_A },
	  .want = "unreserve     block-active         reservation=" A " (the capacity block is active)\n", .held = "" },
	{ .why = "expired", .a = "expired", .b = "active", .want = MAKE_A " (capacity block cr-a is expired)\n",
	  .held = NODES_A },
	{ .why = "a state nobody knows", .a = "dreaming", .b = "active", .want = MAKE_A " (capacity block cr-a is dreaming)\n",
	  .held = NODES_A },
	{ .why = "W34: an id that EC2 does not know does not spoil the other", .a = "unknown", .b = "active", .hold = { B },
	  .nodes = { "q-st-z-1" },
	  .want = MAKE_A " (capacity block cr-a is unknown)\nunreserve     block-active         reservation=" B
			 " (the capacity block is active)\n",
	  .held = NODES_A },
	{ .why = "about to end", .a = "active", .b = "active", .end_min = 39,
	  .want = MAKE_A " (capacity block cr-a is about to end)\n", .held = NODES_A },
	{ .why = "ends later", .a = "active", .b = "active", .end_min = 40, .want = "", .held = "" },
	{ .why = "never read: nothing is decided, nothing is launched", .b = "active", .hold = { A }, .nodes = { NODES_A },
	  .want = "", .held = NODES_A },
	{ .why = "reservations not read", .a = "scheduled", .b = "scheduled", .unread = true, .want = "", .held = BOTH },
	{ .why = "left over of a block that is not used any more", .a = "active", .b = "active", .hold = { "slurm-ec2-cr-c" },
	  .nodes = { "q-dy-y-1" },
	  .want = "unreserve     block-unused         reservation=slurm-ec2-cr-c (no compute resource uses this capacity block "
		  "any more)\n",
	  .held = "" },
	{ .why = "B76: reservations of people", .a = "active", .b = "active",
	  .hold = { "maint", "slurm-ec2-lunch", "pcluster-cr-a" },
	  .nodes = { "q-st-z-1", "q-st-z-1", "q-st-z-1" }, .want = "", .held = "" },
};

static void run_one(const struct one *c, char **text, char **held)
{
	struct generation *g = make();
	struct blocks l = { 0 };
	struct block_hold holds[3];
	struct blocks_input in = { .gen = g, .blocks = &l, .holds = c->unread ? NULL : holds, .now_ms = NOW };
	struct nodeset *s = nodeset_create();
	struct plan p = { 0 };

	if (c->a) {
		struct block *b = blocks_add(&l, "cr-a");

		b->state = str_dup(c->a);
		b->end_ms = c->end_min ? NOW + c->end_min * MINUTE : 0;
	}
	if (c->b)
		blocks_add(&l, "cr-b")->state = str_dup(c->b);
	for (size_t i = 0; i < 3 && c->hold[i]; i++)
		holds[in.n_holds++] = (struct block_hold){ .name = c->hold[i], .nodes = c->nodes[i] };
	assert_int_equal(blocks_plan(&in, &p, s, NULL), 0);
	*text = plan_text(&p);
	*held = nodeset_text(s);
	nodeset_destroy(s);
	plan_clear(&p);
	blocks_clear(&l);
	generation_destroy(g);
}

static void test_B77_W34_blocks(void **state)
{
	size_t bad = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(ones) / sizeof(ones[0]); i++) {
		char *text, *held;

		run_one(&ones[i], &text, &held);
		if (strcmp(text, ones[i].want) || strcmp(held ? held : "", ones[i].held)) {
			print_error("%s:\n   is \"%s\" held \"%s\"\n", ones[i].why, text, held);
			print_error("  not \"%s\" held \"%s\"\n", ones[i].want, ones[i].held);
			bad++;
		}
		free(text);
		free(held);
	}
	assert_int_equal(bad, 0);
}

static void test_over(void **state)
{
	static const struct {
		const char *state;
		bool active, over;
	} c[] = { { "active", true, false },	{ "scheduled", false, false },	{ "payment-pending", false, false },
		  { "pending", false, false },	{ "expired", false, true },	{ "cancelled", false, true },
		  { "failed", false, true },	{ BLOCK_UNKNOWN, false, true }, { "payment-failed", false, true } };

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct block b = { .state = (char *)c[i].state };

		assert_int_equal(block_is_active(&b, NOW), c[i].active);
		assert_int_equal(block_is_over(&b), c[i].over);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_B77_W34_blocks), cmocka_unit_test(test_over) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
