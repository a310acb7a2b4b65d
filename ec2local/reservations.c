/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reservations.c - the store of capacity reservations, what a launch says about them, and DescribeCapacityReservations. Whether
 * one has room is asked by supply.c.
 */
#include "ec2local/reservations.h"
#include "ec2local/cloud.h"
#include "ec2local/page.h"
#include "ec2local/xml.h"

#include <stdlib.h>
#include <string.h>

static const char *const describe_params[] = {
    "CapacityReservationId.N", "Filter.N.Name", "Filter.N.Value.N", "MaxResults", "NextToken", NULL};

struct reservation *reservations_find(const struct reservations *l, const char *id)
{
	return index_get(&l->by_id, id);
}

static void destroy(struct reservation *r)
{
	if (!r)
		return;
	free(r->id);
	free(r->type);
	free(r->zone);
	free(r->state);
	free(r->group);
	free(r->placement);
	kvs_clear(&r->tags);
	free(r);
}

struct reservation *reservations_make(struct reservations *l, const char *id, int64_t now_ms)
{
	struct reservation *r = reservations_find(l, id);

	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->id = str_dup(id);
	r->created_ms = r->start_ms = now_ms;
	r->seq = l->n + 1;
	if (!r->id || mem_grow(&l->v, &l->cap, l->n + 1, sizeof(struct reservation *)) < 0 ||
	    index_put(&l->by_id, r->id, r) < 0) {
		destroy(r);
		return NULL;
	}
	return l->v[l->n++] = r;
}

void reservations_free(struct reservations *l)
{
	for (size_t i = 0; i < l->n; i++)
		destroy(l->v[i]);
	free(l->v);
	index_free(&l->by_id);
	*l = (struct reservations){0};
}

const char *reservation_state(const struct reservation *r, int64_t now_ms)
{
	if (r->state)
		return r->state;
	if (now_ms < r->start_ms)
		return "scheduled";
	return r->end_ms && now_ms >= r->end_ms ? "expired" : "active";
}

int64_t reservation_free(const struct reservation *r)
{
	return r->total > r->used ? r->total - r->used : 0;
}

static bool serves(const struct reservation *r, const char *type, const char *zone, int64_t now_ms)
{
	return str_eq(r->type, type) && str_eq(r->zone, zone) && str_eq(reservation_state(r, now_ms), "active");
}

struct reservation *reservations_open(const struct reservations *l, const struct launch *launch, int64_t now_ms)
{
	const char *type = launch->type->name, *zone = launch->subnet->zone;

	if (launch->market != MARKET_ON_DEMAND || launch->no_reservation)
		return NULL;
	for (size_t i = 0; i < l->n; i++) {
		struct reservation *r = l->v[i];

		if (r->open && !r->block && serves(r, type, zone, now_ms) && reservation_free(r))
			return r;
	}
	return NULL;
}

/* --- what a launch says */

/* Of a group: the member that serves the launch and has most room; NULL = error written. */
static struct reservation *of_group(struct call *c, const char *arn, const struct launch *l)
{
	const struct reservations *all = &c->cloud->reservations;
	struct reservation *best = NULL;
	bool known = false;

	for (size_t i = 0; i < all->n; i++) {
		struct reservation *r = all->v[i];

		if (!str_eq(r->group, arn))
			continue;
		known = true;
		if (serves(r, l->type->name, l->subnet->zone, c->now_ms) &&
		    (!best || reservation_free(r) > reservation_free(best)))
			best = r;
	}
	if (!known)
		call_fail(c, 400, "InvalidParameterValue", "The resource group '%.200s' has no capacity reservation", arn);
	else if (!best)
		call_fail(c, 400, "ReservationCapacityExceeded",
			  "The requested reservation does not have sufficient compatible and available capacity for this "
			  "request.");
	return best;
}

static struct reservation *of_id(struct call *c, const char *id)
{
	struct reservation *r = reservations_find(&c->cloud->reservations, id);

	if (!str_prefix(id, "cr-"))
		call_fail(c, 400, "InvalidCapacityReservationId.Malformed", "Invalid id: \"%.100s\" (expecting \"cr-...\")",
			  id);
	else if (!r)
		call_fail(c, 400, "InvalidCapacityReservationId.NotFound", "The capacity reservation '%.100s' does not exist",
			  id);
	else
		return r;
	return NULL;
}

int reservations_target(struct call *c, const struct params *p, struct launch *l)
{
#define SPEC "CapacityReservationSpecification."
	const char *id = params_get(p, SPEC "CapacityReservationTarget.CapacityReservationId");
	const char *arn = params_get(p, SPEC "CapacityReservationTarget.CapacityReservationResourceGroupArn");
	const char *preference = params_get(p, SPEC "CapacityReservationPreference");

	if (id && arn)
		return call_fail(c, 400, "InvalidParameterCombination",
				 "A capacity reservation target is an id or a resource group, not both");
	if (id || arn) {
		l->from = id ? of_id(c, id) : of_group(c, arn, l);
		if (!l->from)
			return -1;
	}
	l->no_reservation = str_eq(preference, "none");
	if (l->market == MARKET_SPOT && l->from)
		return call_fail(c, 400, "InvalidParameterCombination", "Spot instances take no capacity reservation");
	if (l->market == MARKET_BLOCK && !(l->from && l->from->block))
		return call_fail(c, 400, "InvalidParameterValue",
				 "The market type capacity-block needs a capacity block as the capacity reservation target");
	if (l->market != MARKET_BLOCK && l->from && l->from->block)
		return call_fail(c, 400, "InvalidParameterValue", "The capacity block %s needs the market type capacity-block",
				 l->from->id);
	return 0;
#undef SPEC
}

/* --- DescribeCapacityReservations */

static void item(struct buf *b, const struct reservation *r, int64_t now_ms)
{
	xml_open(b, "item");
	xml_text(b, "capacityReservationId", r->id);
	xml_text(b, "ownerId", CLOUD_ACCOUNT);
	xml_text(b, "instanceType", r->type);
	xml_text(b, "instancePlatform", "Linux/UNIX");
	xml_text(b, "availabilityZone", r->zone);
	xml_text(b, "tenancy", "default");
	xml_int(b, "totalInstanceCount", r->total);
	xml_int(b, "availableInstanceCount", str_eq(reservation_state(r, now_ms), "active") ? reservation_free(r) : 0);
	xml_bool(b, "ebsOptimized", false);
	xml_bool(b, "ephemeralStorage", false);
	xml_text(b, "state", reservation_state(r, now_ms));
	xml_time(b, "startDate", r->start_ms);
	if (r->end_ms)
		xml_time(b, "endDate", r->end_ms);
	xml_text(b, "endDateType", r->end_ms ? "limited" : "unlimited");
	xml_text(b, "instanceMatchCriteria", r->open ? "open" : "targeted");
	xml_time(b, "createDate", r->created_ms);
	xml_text(b, "reservationType", r->block ? "capacity-block" : "default");
	xml_text(b, "placementGroupArn", r->placement);
	xml_tags(b, &r->tags);
	xml_close(b, "item");
}

static const char *text_of(const struct reservation *r, const char *name, int64_t now_ms)
{
	if (str_eq(name, "capacity-reservation-id"))
		return r->id;
	if (str_eq(name, "instance-type"))
		return r->type;
	if (str_eq(name, "availability-zone"))
		return r->zone;
	if (str_eq(name, "state"))
		return reservation_state(r, now_ms);
	if (str_eq(name, "owner-id"))
		return CLOUD_ACCOUNT;
	if (str_eq(name, "end-date-type"))
		return r->end_ms ? "limited" : "unlimited";
	if (str_eq(name, "instance-match-criteria"))
		return r->open ? "open" : "targeted";
	return "default"; /* tenancy */
}

static bool matches(const struct filters *f, const struct reservation *r, int64_t now_ms)
{
	for (size_t i = 0; i < f->n; i++) {
		bool decided, yes = filter_tags(&f->v[i], &r->tags, &decided);

		if (!decided)
			yes = filter_has(&f->v[i], text_of(r, f->v[i].name, now_ms));
		if (!yes)
			return false;
	}
	return true;
}

static int check_ids(struct call *c, const struct strs *ids)
{
	for (size_t i = 0; i < ids->n; i++) {
		if (!of_id(c, ids->v[i]))
			return -1;
	}
	return 0;
}

static int describe(struct call *c)
{
	static const char *const known[] = {
	    "capacity-reservation-id", "instance-type",		  "availability-zone", "state", "owner-id",
	    "end-date-type",	       "instance-match-criteria", "tenancy",	       NULL};
	const struct reservations *l = &c->cloud->reservations;
	struct filters f = {0};
	struct strs ids = {0};
	struct page page;
	int rc = -1;

	if (page_read(c, &page, 1, 1000, "CapacityReservationId") < 0 || filters_read(c, &f, known) < 0 ||
	    params_list(&c->params, "CapacityReservationId", &ids) < 0 || check_ids(c, &ids) < 0 || call_dry_run(c) < 0)
		goto out;
	xml_open(&c->out, "capacityReservationSet");
	for (size_t i = 0; i < l->n; i++) {
		const struct reservation *r = l->v[i];

		if (r->seq <= page.after || (ids.n && !strs_has(&ids, r->id)) || !matches(&f, r, c->now_ms))
			continue;
		if (!page_take(&page, r->seq))
			break;
		item(&c->out, r, c->now_ms);
	}
	xml_close(&c->out, "capacityReservationSet");
	page_end(&page, &c->out);
	rc = 0;
out:
	filters_free(&f);
	strs_clear(&ids);
	return rc;
}

const struct action reservations_actions[] = {
    {"DescribeCapacityReservations", describe, describe_params, false, NULL},
    {NULL, NULL, NULL, false, NULL},
};
