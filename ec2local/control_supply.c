/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_supply.c - the control endpoint's keys about what can be had: capacity, quotas, spot prices, reservations, and how
 * fleets come out. Also how a value is read, for these keys and for control.c's.
 */
#include "ec2local/cloud.h"
#include "ec2local/control_set.h"
#include "ec2local/quotas.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/jview.h"

#include <stdlib.h>
#include <string.h>

int control_whole(struct json_object *val, int64_t min, int64_t *out, struct err *e)
{
	if (!json_object_is_type(val, json_type_int) || json_object_get_int64(val) < min)
		return err_set(e, "must be a whole number from %lld", (long long)min);
	*out = json_object_get_int64(val);
	return 0;
}

int control_each(struct cloud *cloud, struct json_object *val, control_setter *one, struct err *e)
{
	if (!json_object_is_type(val, json_type_array))
		return one(cloud, val, e);
	for (size_t i = 0; i < json_object_array_length(val); i++) {
		if (one(cloud, json_object_array_get_idx(val, i), e) < 0)
			return -1;
	}
	return 0;
}

int control_text(char **slot, const char *text, struct err *e)
{
	char *fresh = str_dup(text);

	if (text && !fresh)
		return err_nomem(e);
	free(*slot);
	*slot = fresh;
	return 0;
}

static int set_capacity_one(struct cloud *cloud, struct json_object *o, struct err *e)
{
	const char *type = NULL, *zone = NULL, *market = NULL, *code = NULL;
	int64_t left = -1;

	if (!json_object_is_type(o, json_type_object))
		return err_set(e, "must be an object");
	if (jview_str(o, "type", &type, e) < 0 || jview_str(o, "zone", &zone, e) < 0 || jview_str(o, "code", &code, e) < 0 ||
	    jview_str(o, "market", &market, e) < 0 || jview_i64(o, "left", &left, e) < 0)
		return -1;
	if (left < 0)
		return err_set(e, "needs \"left\", a whole number from 0");
	if (faults_set_capacity(&cloud->faults, type ? type : "*", zone ? zone : "*", market, left, code) < 0)
		return err_nomem(e);
	return 0;
}

static int set_capacity(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return control_each(cloud, val, set_capacity_one, e);
}

static int set_quota(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return control_whole(val, -1, &cloud->faults.quota_vcpus, e);
}

static int set_market_quota(struct cloud *cloud, struct json_object *val, struct err *e)
{
	if (!json_object_is_type(val, json_type_object))
		return err_set(e, "must be an object of market or quota code: vCPUs");
	json_object_object_foreach(val, market, n)
	{
		int m = 0;

		while (m < MARKETS && !str_eq(market, market_name((enum market)m)))
			m++;
		if (m == MARKETS && quotas_find(market) < 0)
			return err_set(e, "\"%s\" is neither a market nor the code of a quota", market);
		if (control_whole(n, -1, m == MARKETS ? &cloud->faults.quota_row[quotas_find(market)] : &cloud->faults.quota[m],
				  e) < 0)
			return -1;
	}
	return 0;
}

static int set_spot_price_one(struct cloud *cloud, struct json_object *o, struct err *e)
{
	const char *type = NULL, *zone = NULL;
	double price = 0;

	if (!json_object_is_type(o, json_type_object))
		return err_set(e, "must be an object");
	if (jview_str(o, "type", &type, e) < 0 || jview_str(o, "zone", &zone, e) < 0 || jview_double(o, "price", &price, e) < 0)
		return -1;
	if (!(price > 0))
		return err_set(e, "needs \"price\", dollars an hour above 0");
	return faults_set_spot_price(&cloud->faults, type ? type : "*", zone ? zone : "*", price) < 0 ? err_nomem(e) : 0;
}

static int set_spot_price(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return control_each(cloud, val, set_spot_price_one, e);
}

static int set_fleet_empty(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return control_whole(val, 0, &cloud->faults.fleet_empty, e);
}

static int set_fleet_error(struct cloud *cloud, struct json_object *o, struct err *e)
{
	const char *code = NULL;
	int64_t count = 1;

	if (!json_object_is_type(o, json_type_object))
		return err_set(e, "must be an object");
	if (jview_str(o, "code", &code, e) < 0 || jview_i64(o, "count", &count, e) < 0)
		return -1;
	if (!code || count < 0)
		return err_set(e, "needs \"code\"; \"count\" is from 0");
	cloud->faults.fleet_errors = count;
	return control_text(&cloud->faults.fleet_code, code, e);
}

static int set_fleet_replay(struct cloud *cloud, struct json_object *val, struct err *e)
{
	const char *text = json_object_is_type(val, json_type_string) ? json_object_get_string(val) : NULL;

	if (!str_eq(text, "same") && !str_eq(text, "empty"))
		return err_set(e, "must be \"same\" or \"empty\"");
	cloud->faults.fleet_replay_empty = str_eq(text, "empty");
	return 0;
}

static int set_hide_instances(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return control_whole(val, 0, &cloud->faults.hide_launch, e);
}

/* The members of a reservation that are given change; a new one needs type, zone and total. */
static int read_reservation(struct cloud *cloud, const char *id, struct json_object *o, struct err *e)
{
	const char *type = NULL, *zone = NULL, *kind = NULL, *state = NULL, *match = NULL, *group = NULL, *placement = NULL;
	int64_t total = -1, start_s = INT64_MIN, end_s = INT64_MIN, now = clock_wall_ms();
	struct reservation *r = reservations_find(&cloud->reservations, id);

	if (!str_prefix(id, "cr-") || !json_object_is_type(o, json_type_object))
		return err_set(e, "%s: an id is cr-..., its value an object", id);
	if (jview_str(o, "type", &type, e) < 0 || jview_str(o, "zone", &zone, e) < 0 || jview_str(o, "kind", &kind, e) < 0 ||
	    jview_str(o, "state", &state, e) < 0 || jview_str(o, "match", &match, e) < 0 ||
	    jview_str(o, "group", &group, e) < 0 || jview_str(o, "placement_group", &placement, e) < 0 ||
	    jview_i64(o, "total", &total, e) < 0 || jview_i64(o, "start_in_s", &start_s, e) < 0 ||
	    jview_i64(o, "end_in_s", &end_s, e) < 0)
		return -1;
	if (!r && (!type || !zone || total < 0))
		return err_set(e, "%s: a new reservation needs \"type\", \"zone\" and \"total\"", id);
	if (type && !types_find(&cloud->types, type))
		return err_set(e, "%s: there is no type %s", id, type);
	if (kind && !str_eq(kind, "default") && !str_eq(kind, "capacity-block"))
		return err_set(e, "%s: \"kind\" is default or capacity-block", id);
	if (match && !str_eq(match, "open") && !str_eq(match, "targeted"))
		return err_set(e, "%s: \"match\" is open or targeted", id);
	r = reservations_make(&cloud->reservations, id, now);
	if (!r)
		return err_nomem(e);
	r->total = total >= 0 ? total : r->total;
	r->block = kind ? str_eq(kind, "capacity-block") : r->block;
	r->open = match ? str_eq(match, "open") : r->open;
	r->start_ms = start_s != INT64_MIN ? now + start_s * 1000 : r->start_ms;
	r->end_ms = end_s != INT64_MIN ? now + end_s * 1000 : r->end_ms;
	if ((type && control_text(&r->type, type, e) < 0) || (zone && control_text(&r->zone, zone, e) < 0) ||
	    (group && control_text(&r->group, group, e) < 0) || (placement && control_text(&r->placement, placement, e) < 0))
		return -1;
	return control_text(&r->state, state, e); /* left out = by time again */
}

static int set_reservation(struct cloud *cloud, struct json_object *val, struct err *e)
{
	if (!json_object_is_type(val, json_type_object))
		return err_set(e, "must be an object of id: {\"type\": ..., \"zone\": ..., \"total\": ...}");
	json_object_object_foreach(val, id, o)
	{
		if (read_reservation(cloud, id, o, e) < 0)
			return -1;
	}
	return 0;
}

const struct control_key control_supply_keys[] = {
    {"capacity", set_capacity},
    {"quota_vcpus", set_quota},
    {"quota", set_market_quota},
    {"spot_price", set_spot_price},
    {"reservation", set_reservation},
    {"fleet_empty", set_fleet_empty},
    {"fleet_error", set_fleet_error},
    {"fleet_replay", set_fleet_replay},
    {"hide_instances", set_hide_instances},
    {NULL, NULL},
};
