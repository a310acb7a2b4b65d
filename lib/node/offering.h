/* offering.h - where EC2 has machines, as plain values: an offering is one instance type in one zone in one market, the grain
 * at which EC2 runs short. A shortage is what we remember of one (rows of lib/state; rules in lib/plan/capacity.h).
 */
#ifndef SE_NODE_OFFERING_H
#define SE_NODE_OFFERING_H

#include <stddef.h>
#include <stdint.h>

#define MARKET_ONDEMAND "on-demand"
#define MARKET_SPOT "spot"
#define MARKET_BLOCK "capacity-block"
/* On-demand into a targeted reservation: MARKET_RESERVED and its id or group ARN. */
#define MARKET_RESERVED "reserved:"
#define ZONE_ANY "*" /* a quota: it holds for all zones */

struct offering {
	char *type;   /* "c5.large" */
	char *zone;   /* "us-east-1a", ZONE_ANY; "" = unknown */
	char *market;
};

struct shortage {
	struct offering of;
	char *code;             /* EC2's, of the last refusal */
	char *message;          /* its words */
	int failures;           /* refusals in a row */
	int64_t failed_ms;      /* wall time of the last one */
	int64_t until_ms;       /* nothing is asked before */
	int64_t budget;         /* after until_ms: 0 = one probe is due, else at most so many nodes at a time */
	int64_t probe_until_ms; /* a probe is under way, of a process that will have ended by then; 0 = none */
};

struct shortages {
	struct shortage *v;
	size_t n;
	size_t cap;
};

struct shortage *shortages_add(struct shortages *l, const char *type, const char *zone, const char *market); /* NULL no memory */
void shortages_clear(struct shortages *l);
/* Exact match; NULL = none. */
struct shortage *shortages_find(const struct shortages *l, const char *type, const char *zone, const char *market);
int shortages_copy(struct shortages *to, const struct shortages *from); /* appends; -1 no memory */
void shortage_clear(struct shortage *s);

#endif
