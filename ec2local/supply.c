/* SPDX-License-Identifier: GPL-2.0-or-later */
/* supply.c - counts what a pool can give and starts instances from it. Each limit narrows the number in turn, and the last one
 * that did is the reason the caller hears.
 */
#include "ec2local/supply.h"
#include "ec2local/cloud.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- prices */

double supply_price(const struct type *t)
{
	/* As they were in us-east-1; any other type costs by its size. Only their order matters to a fleet. */
	static const struct {
		const char *type;
		double price;
	} known[] = {
	    {"t2.micro", 0.0116},    {"t3.micro", 0.0104},	{"t3.medium", 0.0416},	 {"c5.large", 0.085},
	    {"c5.xlarge", 0.17},     {"c5.2xlarge", 0.34},	{"c5n.18xlarge", 3.888}, {"c6i.large", 0.085},
	    {"c6i.xlarge", 0.17},    {"m5.large", 0.096},	{"m6g.large", 0.077},	 {"hpc6a.48xlarge", 2.88},
	    {"hpc7a.96xlarge", 7.2}, {"p4d.24xlarge", 32.7726}, {"p5.48xlarge", 98.32},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (str_eq(known[i].type, t->name))
			return known[i].price;
	}
	return 0.05 * t->vcpus;
}

double supply_spot_price(const struct cloud *cloud, const struct type *t, const char *zone)
{
	double set = faults_spot_price(&cloud->faults, t->name, zone);

	return set > 0 ? set : 0.35 * supply_price(t);
}

/* --- limits */

__attribute__((format(printf, 4, 5))) static void refuse(struct refusal *why, int status, const char *code, const char *fmt,
							 ...)
{
	va_list ap;

	why->status = status;
	snprintf(why->code, sizeof(why->code), "%s", code);
	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
}

static struct capacity *rule_of(struct cloud *cloud, const struct launch *l)
{
	return faults_capacity(&cloud->faults, l->type->name, l->subnet->zone, market_name(l->market),
			       l->from ? l->from->id : NULL);
}

int64_t supply_left(struct cloud *cloud, const struct launch *l)
{
	const struct capacity *cap = rule_of(cloud, l);

	return cap ? cap->left : INT64_MAX;
}

static int64_t by_reservation(const struct launch *l, int64_t now_ms, int64_t n, struct refusal *why)
{
	const struct reservation *r = l->from;
	bool fits = r && str_eq(r->type, l->type->name) && str_eq(r->zone, l->subnet->zone);

	if (!r)
		return n;
	if (!str_eq(reservation_state(r, now_ms), "active")) {
		refuse(why, 400, "InvalidCapacityReservationState", "The capacity reservation %s is not active but %s.", r->id,
		       reservation_state(r, now_ms));
		return 0;
	}
	if (fits && reservation_free(r) >= n)
		return n;
	refuse(why, 400, "ReservationCapacityExceeded",
	       "The requested reservation does not have sufficient compatible and available capacity for this request.");
	return fits ? reservation_free(r) : 0;
}

static int64_t by_price(const struct cloud *cloud, const struct launch *l, int64_t n, struct refusal *why)
{
	double price, most = l->max_price > 0 ? l->max_price : supply_price(l->type);

	if (l->market != MARKET_SPOT)
		return n;
	price = supply_spot_price(cloud, l->type, l->subnet->zone);
	if (most >= price)
		return n;
	refuse(why, 400, "SpotMaxPriceTooLow",
	       "Your Spot request price of %g is lower than the minimum required Spot request fulfillment price of %g.", most,
	       price);
	return 0;
}

/* Lower *room to what `limit` leaves above `used`; *tight keeps the limit that is the lowest. */
static void narrow(int64_t limit, int64_t used, int64_t *room, int64_t *tight)
{
	if (limit < 0 || limit - used >= *room)
		return;
	*room = limit > used ? limit - used : 0;
	*tight = limit;
}

static int64_t by_quota(const struct cloud *cloud, const struct launch *l, int64_t n, struct refusal *why)
{
	const struct instances *all = &cloud->instances;
	int64_t room = INT64_MAX, tight = -1, used = 0;

	for (int m = 0; m < MARKETS; m++)
		used += all->vcpus[m];
	narrow(cloud->faults.quota_vcpus, used, &room, &tight);
	narrow(cloud->faults.quota[l->market], all->vcpus[l->market], &room, &tight);
	if (l->quota_row >= 0)
		narrow(cloud->faults.quota_row[l->quota_row], all->quota_vcpus[l->quota_row], &room, &tight);
	room /= l->type->vcpus;
	if (room >= n)
		return n;
	if (l->market == MARKET_SPOT)
		refuse(why, 400, "MaxSpotInstanceCountExceeded", "Max spot instance count exceeded");
	else
		refuse(
		    why, 400, "VcpuLimitExceeded",
		    "You have requested more vCPU capacity than your current vCPU limit of %lld allows for the instance bucket "
		    "that the specified instance type belongs to.",
		    (long long)tight);
	return room;
}

static int64_t by_capacity(struct cloud *cloud, const struct launch *l, int64_t n, struct refusal *why)
{
	const struct capacity *cap = rule_of(cloud, l);
	const char *code = cap && cap->code ? cap->code : "InsufficientInstanceCapacity";

	if (!cap || cap->left >= n)
		return n;
	refuse(why, str_prefix(code, "Insufficient") ? 500 : 400, code,
	       "We currently do not have sufficient %s capacity in the Availability Zone you requested (%s).", l->type->name,
	       l->subnet->zone);
	return cap->left;
}

/* Interfaces of one instance can share a pool. */
static int64_t by_addresses(const struct launch *l, int64_t n, struct refusal *why)
{
	for (size_t i = 0; i < l->n_nics; i++) {
		const struct pool *p = l->nics[i].subnet->pool;
		int64_t each = 0, room;

		if (str_eq(l->nics[i].type, "efa-only"))
			continue;
		for (size_t k = 0; k < l->n_nics; k++)
			each += l->nics[k].subnet->pool == p && !str_eq(l->nics[k].type, "efa-only");
		room = ((int64_t)p->n_free - p->held) / each;
		if (room >= n)
			continue;
		refuse(why, 400, "InsufficientFreeAddressesInSubnet", "There are not enough free addresses in subnet '%s'.",
		       l->nics[i].subnet->id);
		n = room < 0 ? 0 : room;
	}
	return n;
}

int64_t supply_ask(struct cloud *cloud, const struct launch *l, int64_t now_ms, int64_t min, int64_t max, struct refusal *why)
{
	int64_t n = max;

	*why = (struct refusal){0};
	n = by_reservation(l, now_ms, n, why);
	if (n >= min)
		n = by_price(cloud, l, n, why);
	if (n >= min)
		n = by_quota(cloud, l, n, why);
	if (n >= min)
		n = by_capacity(cloud, l, n, why);
	if (n >= min)
		n = by_addresses(l, n, why);
	return n >= min ? n : 0;
}

void supply_hold(struct cloud *cloud, const struct launch *l, int64_t n)
{
	struct capacity *cap = rule_of(cloud, l);

	if (cap)
		cap->left -= n;
	if (l->from)
		l->from->used += n;
	cloud->instances.vcpus[l->market] += n * l->type->vcpus;
	if (l->quota_row >= 0)
		cloud->instances.quota_vcpus[l->quota_row] += n * l->type->vcpus;
	for (size_t i = 0; i < l->n_nics; i++) {
		if (!str_eq(l->nics[i].type, "efa-only"))
			l->nics[i].subnet->pool->held += n;
	}
}

/* --- starting */

static void undo(struct call *c, const struct strs *ids, size_t from)
{
	for (size_t k = from; k < ids->n; k++) {
		struct instance *i = instances_find(&c->cloud->instances, ids->v[k]);

		if (i)
			instances_terminate(c->cloud, i, c->now_ms, "Server.InternalError", "Server.InternalError: undone");
	}
}

int supply_start(struct call *c, struct launch *l, int64_t min, int64_t n, struct strs *ids)
{
	struct capacity *cap = rule_of(c->cloud, l);
	size_t before = ids->n;
	bool no_address = false;

	for (int64_t k = 0; k < n; k++) {
		struct instance *i = instances_launch(c->cloud, l, (int)k, c->now_ms, &no_address);

		if (i && strs_add(ids, i->id) == 0) {
			if (cap)
				cap->left--;
			continue;
		}
		if (no_address && k >= min)
			break;
		undo(c, ids, before);
		return no_address ? call_fail(c, 400, "InsufficientFreeAddressesInSubnet",
					      "There are not enough free addresses in subnet '%s'", l->subnet->id)
				  : call_nomem(c);
	}
	return 0;
}
