/* brake.h - no loop ends a large part of the machines in use at once without a second, fresh look, pure.
 *
 * Counted are machines to be terminated whose node Slurm holds up, allocated or powering up. Orphans, leftovers of powered-down
 * nodes and machines that EC2 itself says are gone do not count. If they are more than the share (and more than
 * BRAKE_AT_LEAST), every action of those nodes is taken out of the plan; they pass when a later look, not before BRAKE_LOOK_MS,
 * asks for the same, or when a person confirms (`slurm-ec2 fleet confirm`). What passed may be asked for again (EC2 may have
 * refused), until a look asks for no more than the share.
 */
#ifndef SE_PLAN_BRAKE_H
#define SE_PLAN_BRAKE_H

#include "lib/base/str.h"
#include "lib/node/instance.h"
#include "lib/node/node.h"
#include "lib/plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

#define BRAKE_AT_LEAST 10
#define BRAKE_LOOK_MS INT64_C(50000)
/* What events of type "brake" say when nothing is held back any longer, or is not to be. */
#define BRAKE_OFF_TEXT "the brake is off"
#define BRAKE_CONFIRMED_TEXT "confirmed by a person"
#define BRAKE_CONFIRM_WORD "brake-confirm" /* store_word, by `fleet confirm`; its time counts */

struct brake_input {
	const struct nodes *nodes;
	const struct instances *instances;
	int64_t share_percent;
	int64_t now_ms;
	int64_t confirmed_ms;     /* 0 = never */
};

/* Kept from loop to loop; zero-initialised = off. */
struct brake {
	struct strs instances;    /* of the first look that asked for too many, sorted */
	int64_t since_ms;         /* when that was */
	bool released;            /* they may go */
	size_t in_use;            /* machines of nodes in use then */
	size_t held;              /* machines that the last look kept from being ended; 0 = the brake is off */
};

/* How many actions were taken out, or -1. */
int brake_apply(const struct brake_input *in, struct plan *p, struct brake *b, struct err *e);
void brake_clear(struct brake *b);

#endif
