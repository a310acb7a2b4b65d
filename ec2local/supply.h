/* supply.h - what a pool (a type in a zone in a market) gives right now: reservations, spot prices, quotas, the capacity set by
 * control, free addresses. Asked by RunInstances and, for each choice, by CreateFleet.
 */
#ifndef EC2LOCAL_SUPPLY_H
#define EC2LOCAL_SUPPLY_H

#include <stdint.h>

struct call;
struct cloud;
struct launch;
struct strs;
struct type;

/* Why a launch gets fewer instances than it asks for; code "" = it gets them all. */
struct refusal {
	int status;
	char code[64];
	char text[256];
};

/* The largest number from min to max that can start; 0 with *why if there are fewer than min. *why also tells what kept the
 * number below max. */
int64_t supply_ask(struct cloud *cloud, const struct launch *l, int64_t now_ms, int64_t min, int64_t max, struct refusal *why);
/* Count n of them as started while a fleet is planned; a negative n gives them back. */
void supply_hold(struct cloud *cloud, const struct launch *l, int64_t n);
/* Start n instances, of which min must succeed; their ids are appended. -1 = error written, none is left. */
int supply_start(struct call *c, struct launch *l, int64_t min, int64_t n, struct strs *ids);

/* Dollars an hour. */
double supply_price(const struct type *t);
double supply_spot_price(const struct cloud *cloud, const struct type *t, const char *zone);
/* What the rule of control has left there; INT64_MAX = no rule. */
int64_t supply_left(struct cloud *cloud, const struct launch *l);

#endif
