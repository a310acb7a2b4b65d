/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control.c - /_control: a test or a person on this machine sets faults and looks inside. Not signed, loopback only. */
#include "ec2local/cloud.h"
#include "ec2local/http.h"
#include "ec2local/quotas.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/jview.h"

#include <stdlib.h>
#include <string.h>

/* Set one thing. -1 with e = refused. */
typedef int setter(struct cloud *cloud, struct json_object *val, struct err *e);

static int whole(struct json_object *val, int64_t min, int64_t *out, struct err *e)
{
	if (!json_object_is_type(val, json_type_int) || json_object_get_int64(val) < min)
		return err_set(e, "must be a whole number from %lld", (long long)min);
	*out = json_object_get_int64(val);
	return 0;
}

static int set_reset(struct cloud *cloud, struct json_object *val, struct err *e)
{
	(void)val;
	(void)e;
	faults_reset(&cloud->faults);
	cloud->session_s = 0;
	for (size_t i = 0; i < cloud->n_keys; i++) {
		free(cloud->keys[i]->expired_code);
		cloud->keys[i]->expired_code = NULL;
	}
	return 0;
}

static int set_reset_calls(struct cloud *cloud, struct json_object *val, struct err *e)
{
	(void)val;
	(void)e;
	for (size_t i = 0; i < cloud->faults.n_actions; i++)
		cloud->faults.actions[i]->calls = 0;
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

/* An object, or a list of them. */
static int each_object(struct cloud *cloud, struct json_object *val, setter *one, struct err *e)
{
	if (!json_object_is_type(val, json_type_array))
		return one(cloud, val, e);
	for (size_t i = 0; i < json_object_array_length(val); i++) {
		if (one(cloud, json_object_array_get_idx(val, i), e) < 0)
			return -1;
	}
	return 0;
}

static int set_capacity(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return each_object(cloud, val, set_capacity_one, e);
}

static int set_error_one(struct cloud *cloud, struct json_object *o, struct err *e)
{
	const char *action = NULL, *code = NULL, *message = NULL;
	int64_t count = 1, status = 500;
	struct action_state *s;

	if (!json_object_is_type(o, json_type_object))
		return err_set(e, "must be an object");
	if (jview_str(o, "action", &action, e) < 0 || jview_str(o, "code", &code, e) < 0 ||
	    jview_str(o, "message", &message, e) < 0 || jview_i64(o, "count", &count, e) < 0 ||
	    jview_i64(o, "status", &status, e) < 0)
		return -1;
	if (!action || status < 400 || status > 599 || count < 0)
		return err_set(e, "needs \"action\"; \"status\" is 400 to 599");
	s = faults_action(&cloud->faults, action);
	if (!s)
		return err_nomem(e);
	free(s->code);
	free(s->message);
	s->code = str_dup(code);
	s->message = str_dup(message);
	s->errors = count;
	s->status = (int)status;
	return 0;
}

static int set_error(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return each_object(cloud, val, set_error_one, e);
}

static int set_throttle(struct cloud *cloud, struct json_object *val, struct err *e)
{
	if (!json_object_is_type(val, json_type_object))
		return err_set(e, "must be an object of action: number of calls");
	json_object_object_foreach(val, action, n)
	{
		struct action_state *s = faults_action(&cloud->faults, action);

		if (!s)
			return err_nomem(e);
		if (whole(n, 0, &s->throttle, e) < 0)
			return -1;
	}
	return 0;
}

static int set_api_delay(struct cloud *cloud, struct json_object *val, struct err *e)
{
	if (!json_object_is_type(val, json_type_object))
		return err_set(e, "must be an object of action: milliseconds");
	json_object_object_foreach(val, action, n)
	{
		struct action_state *s = faults_action(&cloud->faults, action);

		if (!s)
			return err_nomem(e);
		if (whole(n, 0, &s->delay_ms, e) < 0)
			return -1;
	}
	return 0;
}

static int set_rate_one(struct action_state *s, struct json_object *o, struct err *e)
{
	double size = -1, refill = -1;
	bool instances = false;

	if (!json_object_is_type(o, json_type_object) || jview_double(o, "bucket", &size, e) < 0 ||
	    jview_double(o, "refill", &refill, e) < 0 || jview_bool(o, "instances", &instances, e) < 0 || size < 0 || refill < 0)
		return err_set(e, "%s needs \"bucket\" and \"refill\"", s->name);
	bucket_set(instances ? &s->instances : &s->requests, size, refill);
	if (!instances)
		s->unpaged = (struct bucket){0};
	return 0;
}

static int set_rate(struct cloud *cloud, struct json_object *val, struct err *e)
{
	if (json_object_is_type(val, json_type_string) && str_eq(json_object_get_string(val), "ec2")) {
		faults_ec2_rates(&cloud->faults);
		return 0;
	}
	if (!json_object_is_type(val, json_type_object))
		return err_set(e, "must be \"ec2\" or an object of action: {\"bucket\": N, \"refill\": N}");
	json_object_object_foreach(val, action, o)
	{
		struct action_state *s = faults_action(&cloud->faults, action);

		if (!s)
			return err_nomem(e);
		for (size_t i = 0; json_object_is_type(o, json_type_array) && i < json_object_array_length(o); i++) {
			if (set_rate_one(s, json_object_array_get_idx(o, i), e) < 0)
				return -1;
		}
		if (!json_object_is_type(o, json_type_array) && set_rate_one(s, o, e) < 0)
			return -1;
	}
	return 0;
}

static int set_delay_running(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return whole(val, 0, &cloud->instances.delay_running_ms, e);
}

static int set_delay_terminated(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return whole(val, 0, &cloud->instances.delay_terminated_ms, e);
}

static int set_hide_ip(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return whole(val, 0, &cloud->faults.hide_ip, e);
}

static int set_address_delay(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return whole(val, 0, &cloud->faults.address_delay_ms, e);
}

static int set_skew(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return whole(val, -86400, &cloud->faults.skew_s, e);
}

static int set_session(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return whole(val, 0, &cloud->session_s, e);
}

/* "ACCESS", or an object with the code it is refused with. */
static int set_expire_key(struct cloud *cloud, struct json_object *val, struct err *e)
{
	const char *access = NULL, *code = "ExpiredToken";

	if (json_object_is_type(val, json_type_string))
		access = json_object_get_string(val);
	else if (!json_object_is_type(val, json_type_object) || jview_str(val, "key", &access, e) < 0 ||
		 jview_str(val, "code", &code, e) < 0)
		return err_set(e, "must be an access key, or an object with \"key\" and \"code\"");
	return cloud_expire_key(cloud, access ? access : "", code, clock_wall_ms(), e);
}

static int set_lost_answer(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return whole(val, 0, &cloud->faults.lost_answers, e);
}

static int set_unseen(struct cloud *cloud, struct json_object *val, struct err *e)
{
	struct json_object *least = NULL, *most = NULL;

	if (!json_object_is_type(val, json_type_object)) {
		if (whole(val, 0, &cloud->faults.unseen_ms, e) < 0)
			return -1;
		cloud->faults.unseen_most_ms = cloud->faults.unseen_ms;
		return 0;
	}
	if (!json_object_object_get_ex(val, "min", &least) || !json_object_object_get_ex(val, "max", &most))
		return err_set(e, "must be milliseconds, or {\"min\": MS, \"max\": MS}");
	if (whole(least, 0, &cloud->faults.unseen_ms, e) < 0)
		return -1;
	return whole(most, cloud->faults.unseen_ms, &cloud->faults.unseen_most_ms, e);
}

static int set_quota(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return whole(val, -1, &cloud->faults.quota_vcpus, e);
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
		if (whole(n, -1, m == MARKETS ? &cloud->faults.quota_row[quotas_find(market)] : &cloud->faults.quota[m], e) < 0)
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
	return each_object(cloud, val, set_spot_price_one, e);
}

static int set_fleet_empty(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return whole(val, 0, &cloud->faults.fleet_empty, e);
}

static int replace(char **slot, const char *text, struct err *e)
{
	char *fresh = str_dup(text);

	if (text && !fresh)
		return err_nomem(e);
	free(*slot);
	*slot = fresh;
	return 0;
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
	return replace(&cloud->faults.fleet_code, code, e);
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
	return whole(val, 0, &cloud->faults.hide_launch, e);
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
	    jview_str(o, "state", &state, e) < 0 || jview_str(o, "match", &match, e) < 0 || jview_str(o, "group", &group, e) < 0 ||
	    jview_str(o, "placement_group", &placement, e) < 0 || jview_i64(o, "total", &total, e) < 0 ||
	    jview_i64(o, "start_in_s", &start_s, e) < 0 || jview_i64(o, "end_in_s", &end_s, e) < 0)
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
	if ((type && replace(&r->type, type, e) < 0) || (zone && replace(&r->zone, zone, e) < 0) ||
	    (group && replace(&r->group, group, e) < 0) || (placement && replace(&r->placement, placement, e) < 0))
		return -1;
	return replace(&r->state, state, e); /* left out = by time again */
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

static struct instance *instance_of(struct cloud *cloud, const char *id, struct err *e)
{
	struct instance *i = id ? instances_find(&cloud->instances, id) : NULL;

	if (!i)
		err_set(e, "there is no instance %s", id ? id : "null");
	return i;
}

static int set_terminate(struct cloud *cloud, struct json_object *val, struct err *e)
{
	if (!json_object_is_type(val, json_type_array))
		return err_set(e, "must be a list of instance ids");
	for (size_t k = 0; k < json_object_array_length(val); k++) {
		struct instance *i = instance_of(cloud, json_object_get_string(json_object_array_get_idx(val, k)), e);

		if (!i)
			return -1;
		if (i->launch->market == MARKET_SPOT)
			instances_terminate(cloud, i, clock_wall_ms(), "Server.SpotInstanceTermination",
					    "Server.SpotInstanceTermination: Spot instance termination");
		else
			instances_terminate(cloud, i, clock_wall_ms(), "Client.UserInitiatedShutdown",
					    "Client.UserInitiatedShutdown: User initiated shutdown");
	}
	return 0;
}

static int set_status(struct cloud *cloud, struct json_object *val, struct err *e)
{
	if (!json_object_is_type(val, json_type_object))
		return err_set(e, "must be an object of id: {\"instance\": ..., \"system\": ...}");
	json_object_object_foreach(val, id, o)
	{
		struct instance *i = instance_of(cloud, id, e);
		const char *of_instance = NULL, *of_system = NULL;

		if (!i || !json_object_is_type(o, json_type_object))
			return i ? err_set(e, "%s: must be an object", id) : -1;
		if (jview_str(o, "instance", &of_instance, e) < 0 || jview_str(o, "system", &of_system, e) < 0 ||
		    replace(&i->instance_status, of_instance, e) < 0 || replace(&i->system_status, of_system, e) < 0)
			return -1;
	}
	return 0;
}

static int set_event(struct cloud *cloud, struct json_object *val, struct err *e)
{
	if (!json_object_is_type(val, json_type_object))
		return err_set(e, "must be an object of id: {\"code\": ..., \"in_s\": ...}");
	json_object_object_foreach(val, id, o)
	{
		struct instance *i = instance_of(cloud, id, e);
		const char *code = NULL;
		int64_t in_s = 3600;

		if (!i || !json_object_is_type(o, json_type_object))
			return i ? err_set(e, "%s: must be an object", id) : -1;
		if (jview_str(o, "code", &code, e) < 0 || jview_i64(o, "in_s", &in_s, e) < 0 ||
		    replace(&i->event.code, code, e) < 0)
			return -1;
		i->event.not_before_ms = clock_wall_ms() + in_s * 1000;
	}
	return 0;
}

static int set_spot_notice(struct cloud *cloud, struct json_object *val, struct err *e)
{
	if (!json_object_is_type(val, json_type_object))
		return err_set(e, "must be an object of id: seconds");
	json_object_object_foreach(val, id, n)
	{
		struct instance *i = instance_of(cloud, id, e);
		int64_t in_s = 0;

		if (!i || whole(n, 0, &in_s, e) < 0)
			return -1;
		i->spot_action_ms = clock_wall_ms() + in_s * 1000;
	}
	return 0;
}

static const struct {
	const char *key;
	setter *set;
} setters[] = {
    {"reset", set_reset}, /* first, so that it can come with new faults */
    {"reset_calls", set_reset_calls},
    {"capacity", set_capacity},
    {"error", set_error},
    {"throttle", set_throttle},
    {"rate", set_rate},
    {"api_delay_ms", set_api_delay},
    {"delay_running_ms", set_delay_running},
    {"delay_terminated_ms", set_delay_terminated},
    {"hide_ip", set_hide_ip},
    {"address_delay_ms", set_address_delay},
    {"skew_s", set_skew},
    {"session_s", set_session},
    {"expire_key", set_expire_key},
    {"lost_answer", set_lost_answer},
    {"eventual_consistency_ms", set_unseen},
    {"quota_vcpus", set_quota},
    {"quota", set_market_quota},
    {"spot_price", set_spot_price},
    {"reservation", set_reservation},
    {"fleet_empty", set_fleet_empty},
    {"fleet_error", set_fleet_error},
    {"fleet_replay", set_fleet_replay},
    {"hide_instances", set_hide_instances},
    {"terminate", set_terminate},
    {"status", set_status},
    {"event", set_event},
    {"spot_notice", set_spot_notice},
};

#define N_SETTERS (sizeof(setters) / sizeof(*setters))

static int check_keys(struct json_object *o, struct err *e)
{
	if (!json_object_is_type(o, json_type_object))
		return err_set(e, "the body must be a JSON object");
	json_object_object_foreach(o, key, val)
	{
		size_t i = 0;

		(void)val;
		while (i < N_SETTERS && !str_eq(setters[i].key, key))
			i++;
		if (i == N_SETTERS)
			return err_set(e, "there is no control \"%s\"", key);
	}
	return 0;
}

static int apply(struct cloud *cloud, const struct http_request *rq, struct err *e)
{
	struct json_object *o = jview_parse(buf_text(&rq->body), rq->body.n, "body", e), *val;
	int rc = o ? check_keys(o, e) : -1;

	for (size_t i = 0; rc == 0 && i < N_SETTERS; i++) {
		if (!json_object_object_get_ex(o, setters[i].key, &val))
			continue;
		rc = setters[i].set(cloud, val, e);
		if (rc < 0)
			err_prefix(e, "%s", setters[i].key);
	}
	json_object_put(o);
	return rc;
}

static struct json_object *instance_json(const struct cloud *cloud, const struct instance *i)
{
	struct json_object *o = json_object_new_object(), *tags = json_object_new_object();

	for (size_t k = 0; tags && k < i->tags.key.n; k++)
		jview_put_str(tags, i->tags.key.v[k], i->tags.val.v[k]);
	if (!o || !tags || jview_put_str(o, "id", i->id) < 0 || jview_put_str(o, "type", i->launch->type->name) < 0 ||
	    jview_put_str(o, "state", instance_state_name(i->state)) < 0 || jview_put_str(o, "reason", i->reason_code) < 0 ||
	    jview_put_str(o, "ip", i->ip ? i->ip_key : NULL) < 0 || jview_put_str(o, "subnet", i->launch->subnet->id) < 0 ||
	    jview_put_str(o, "zone", i->launch->subnet->zone) < 0 ||
	    jview_put_str(o, "client_token", i->launch->client_token) < 0 ||
	    jview_put_i64(o, "launched_ms", i->launched_ms) < 0 || jview_put_i64(o, "pid", i->pid) < 0 ||
	    jview_put_bool(o, "head", i->head) < 0 || jview_put_str(o, "placement_group", i->launch->placement) < 0) {
		json_object_put(tags);
		json_object_put(o);
		return NULL;
	}
	(void)cloud;
	jview_put_obj(o, "tags", tags);
	return o;
}

static struct json_object *instances_json(const struct cloud *cloud)
{
	struct json_object *l = json_object_new_array();

	for (size_t i = 0; l && i < cloud->instances.n; i++) {
		struct json_object *o = cloud->instances.v[i]->gone ? NULL : instance_json(cloud, cloud->instances.v[i]);

		if (o)
			json_object_array_add(l, o);
	}
	return l;
}

static struct json_object *calls_json(const struct cloud *cloud)
{
	struct json_object *o = json_object_new_object();

	for (size_t i = 0; o && i < cloud->faults.n_actions; i++)
		jview_put_i64(o, cloud->faults.actions[i]->name, (int64_t)cloud->faults.actions[i]->calls);
	return o;
}

static struct json_object *time_json(const struct cloud *cloud)
{
	struct json_object *o = json_object_new_object();

	if (o)
		jview_put_i64(o, "busy_us", cloud->busy_us);
	return o;
}

static void answer_json(struct http_answer *a, struct json_object *o)
{
	a->status = o ? 200 : 500;
	buf_str(&a->body,
		o ? json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE) : "{}");
	buf_char(&a->body, '\n');
	json_object_put(o);
}

static void answer_error(struct http_answer *a, int status, const char *text)
{
	struct json_object *o = json_object_new_object();

	if (o)
		jview_put_str(o, "error", text);
	answer_json(a, o);
	a->status = status;
}

void control_answer(struct cloud *cloud, const struct http_request *rq, struct http_answer *a)
{
	bool get = str_eq(rq->method, "GET");
	struct err e = {""};

	a->type = "application/json";
	if (!http_local(rq))
		answer_error(a, 403, "the control endpoint answers this machine only");
	else if (get && str_eq(rq->path, "/_control/instances"))
		answer_json(a, instances_json(cloud));
	else if (get && str_eq(rq->path, "/_control/calls"))
		answer_json(a, calls_json(cloud));
	else if (get && str_eq(rq->path, "/_control/time"))
		answer_json(a, time_json(cloud));
	else if (!str_eq(rq->method, "POST") || !str_eq(rq->path, "/_control"))
		answer_error(a, 404,
			     "POST /_control and GET /_control/instances, /_control/calls, /_control/time are answered here");
	else if (apply(cloud, rq, &e) < 0)
		answer_error(a, 400, e.text);
	else
		answer_json(a, json_object_new_object());
}
