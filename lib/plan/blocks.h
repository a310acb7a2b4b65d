/* blocks.h - capacity blocks: while one is not active, or about to end, a reservation in Slurm holds the nodes that live on it,
 * so that no job is given to them. Pure.
 *
 * A reservation is ours by its name: "slurm-ec2-" and the block's id. Those of people are not touched. A block serves every
 * compute resource that names it; a resource that may also use something else (Fallback) is not held.
 */
#ifndef SE_PLAN_BLOCKS_H
#define SE_PLAN_BLOCKS_H

#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct nodeset;

#define BLOCK_HOLD "slurm-ec2-"    /* and the id: the reservation's name */
#define BLOCK_HOLD_OURS "slurm-ec2-cr-"
#define BLOCK_UNKNOWN "unknown"    /* state of an id that EC2 does not know */

/* EC2 begins to end the machines half an hour before the block's end. */
#define BLOCK_LAST_MS (INT64_C(40) * 60 * 1000)

/* What EC2 told of a block last. */
struct block {
	char *id;
	char *state;                /* EC2's word, or BLOCK_UNKNOWN */
	int64_t start_ms, end_ms;   /* 0 = not told */
};
struct blocks { struct block *v; size_t n; size_t cap; };

struct block *blocks_add(struct blocks *l, const char *id); /* NULL no memory */
struct block *blocks_find(const struct blocks *l, const char *id);
void blocks_clear(struct blocks *l);

/* The block that all of a resource's machines come from, or NULL. */
const char *blocks_of(const struct gen_resource *r);
/* Can machines be launched into it? */
bool block_is_active(const struct block *b, int64_t now_ms);
/* It will never be active again. */
bool block_is_over(const struct block *b);

/* A reservation that Slurm has. */
struct block_hold {
	const char *name;
	const char *nodes;          /* hostlist */
};

struct blocks_input {
	const struct generation *gen;
	const struct blocks *blocks; /* a block that is not in it was never read: nothing is decided about it */
	const struct block_hold *holds; /* every reservation of Slurm; NULL = not read: no actions */
	size_t n_holds;
	int64_t now_ms;
};

/* Appends ACT_RESERVE and ACT_UNRESERVE. Nodes for which no machine can come (of blocks that are not known to be active) are
 * added to *held. */
int blocks_plan(const struct blocks_input *in, struct plan *out, struct nodeset *held, struct err *e);

#endif
