/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ec2_reservation.c - DescribeCapacityReservations: body and reader, capacity blocks included. Called by clustermgtd, apply
 * and `slurm-ec2 limits`. */
#include "lib/aws/call.h"
#include "lib/aws/page.h"
#include "lib/aws/query.h"
#include "lib/base/clock.h"

#define PAGE_SIZE 1000 /* EC2's largest page */

struct reservation_page {
	struct ec2_reservations list;
	struct page_tag tag;
	struct strs wanted; /* of the page that is merged into; empty = all */
};

static void reservation_clear(struct ec2_reservation *r)
{
	free(r->id);
	free(r->type);
	free(r->zone);
	free(r->state);
	free(r->kind);
	free(r->cluster);
	free(r->placement_group);
}

PAGE_CREATE(reservation, struct reservation_page)
PAGE_CURRENT(reservation, struct reservation_page)
PAGE_OPEN(reservation, struct reservation_page)

static void reservation_destroy(void *page)
{
	struct reservation_page *p = page;

	if (!p)
		return;
	for (size_t i = 0; i < p->list.n; i++)
		reservation_clear(&p->list.v[i]);
	free(p->list.v);
	page_tag_clear(&p->tag);
	strs_clear(&p->wanted);
	free(p);
}

static bool is_wanted(const struct reservation_page *p, const struct ec2_reservation *r)
{
	for (size_t i = 0; i < p->wanted.n; i++)
		if (str_eq(p->wanted.v[i], r->id))
			return true;
	return !p->wanted.n;
}

static int reservation_merge(void *into, void *from)
{
	struct reservation_page *a = into, *b = from;

	if (!b->list.n)
		return 0;
	if (mem_grow(&a->list.v, &a->list.cap, a->list.n + b->list.n, sizeof *a->list.v))
		return -1;
	for (size_t i = 0; i < b->list.n; i++) {
		if (is_wanted(a, &b->list.v[i]))
			a->list.v[a->list.n++] = b->list.v[i];
		else
			reservation_clear(&b->list.v[i]);
	}
	b->list.n = 0;
	return 0;
}

static int take_tag(void *item, const char *key, const char *value)
{
	struct ec2_reservation *r = item;

	return strcmp(key, TAG_CLUSTER) ? 0 : page_replace(&r->cluster, value);
}

PAGE_TAG_CALLS(reservation, struct reservation_page, take_tag)

static int set_start(void *page, const char *text)
{
	struct ec2_reservation *r = reservation_current(page);

	if (clock_iso_parse(text, &r->start_ms))
		r->start_ms = 0;
	return 0;
}

static int set_end(void *page, const char *text)
{
	struct ec2_reservation *r = reservation_current(page);

	if (clock_iso_parse(text, &r->end_ms))
		r->end_ms = 0;
	return 0;
}

static const struct reply_rule reservation_rules[] = {
	REPLY_RULE_CALL("", reservation_open, NULL),
	REPLY_RULE_TEXT("capacityReservationId", struct ec2_reservation, id),
	REPLY_RULE_TEXT("instanceType", struct ec2_reservation, type),
	REPLY_RULE_TEXT("availabilityZone", struct ec2_reservation, zone),
	REPLY_RULE_TEXT("state", struct ec2_reservation, state),
	REPLY_RULE_TEXT("reservationType", struct ec2_reservation, kind),
	REPLY_RULE_TEXT("placementGroupArn", struct ec2_reservation, placement_group),
	REPLY_RULE_INT("totalInstanceCount", struct ec2_reservation, total),
	REPLY_RULE_INT("availableInstanceCount", struct ec2_reservation, available),
	REPLY_RULE_CALL("startDate", NULL, set_start),
	REPLY_RULE_CALL("endDate", NULL, set_end),
	PAGE_TAG_RULES(reservation),
};

static const struct reply_reader reservation_reader =
	PAGE_READER(reservation, "capacityReservationSet/item", reservation_rules);

struct ec2_call *ec2_describe_reservations(const char *const *ids, size_t n)
{
	struct reservation_page *p;
	struct buf b = {0};
	struct ec2_call *c;

	query_start(&b, "DescribeCapacityReservations");
	query_i64(&b, PAGE_SIZE, "MaxResults");
	c = call_create("DescribeCapacityReservations", &b, &reservation_reader);
	p = c ? c->reply : NULL;
	for (size_t i = 0; c && i < n; i++) {
		if (!strs_add(&p->wanted, ids[i]))
			continue;
		ec2_call_destroy(c);
		c = NULL;
	}
	return c;
}

const struct ec2_reservations *ec2_describe_reservations_reply(const struct ec2_call *c)
{
	return &((const struct reservation_page *)c->reply)->list;
}
