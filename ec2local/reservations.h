/* reservations.h - capacity reservations and capacity blocks: machines of one type in one zone kept for us, from a time to a
 * time. Made by the control endpoint only. A launch that names one takes from its total, and gives back when it ends.
 */
#ifndef EC2LOCAL_RESERVATIONS_H
#define EC2LOCAL_RESERVATIONS_H

#include "ec2local/call.h"
#include "ec2local/index.h"
#include "lib/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct launch;

struct reservation {
	uint64_t seq;
	char *id;
	char *type;
	char *zone;
	char *state;	 /* set by control; NULL = by time */
	char *group;	 /* resource group ARN a launch can name instead of the id; NULL = none */
	char *placement; /* placement group ARN; NULL = none */
	bool block;	 /* a capacity block */
	bool open;	 /* also serves on-demand launches that name no reservation */
	int64_t total, used;
	int64_t created_ms, start_ms, end_ms; /* end 0 = unlimited */
	struct kvs tags;
};

/* Zero-initialised = empty. One that was made stays until the end: instances point to it. */
struct reservations {
	struct reservation **v; /* by seq */
	size_t n, cap;
	struct index by_id;
};

/* The one with this id, made if it is new (active, of no type); NULL on no memory. */
struct reservation *reservations_make(struct reservations *l, const char *id, int64_t now_ms);
struct reservation *reservations_find(const struct reservations *l, const char *id);
void reservations_free(struct reservations *l);
/* "scheduled", "active", "expired", or what control said. */
const char *reservation_state(const struct reservation *r, int64_t now_ms);
/* How many more instances of this launch it takes. */
int64_t reservation_free(const struct reservation *r);
/* An open one that serves such a launch and has room; NULL = none. */
struct reservation *reservations_open(const struct reservations *l, const struct launch *launch, int64_t now_ms);
/* Read the launch's CapacityReservationSpecification: sets from. -1 = error written. */
int reservations_target(struct call *c, const struct params *p, struct launch *l);

extern const struct action reservations_actions[];

#endif
