/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control.c - /_control: a test or a person on this machine sets faults and looks inside. Not signed, loopback only. */
#include "ec2local/cloud.h"
#include "ec2local/control_set.h"
#include "ec2local/http.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/jview.h"

#include <stdlib.h>
#include <string.h>

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
	return control_each(cloud, val, set_error_one, e);
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
		if (control_whole(n, 0, &s->throttle, e) < 0)
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
		if (control_whole(n, 0, &s->delay_ms, e) < 0)
			return -1;
	}
	return 0;
}

static int set_rate_one(struct action_state *s, struct json_object *o, struct err *e)
{
	double size = -1, refill = -1;
	bool instances = false;

	if (!json_object_is_type(o, json_type_object) || jview_double(o, "bucket", &size, e) < 0 ||
	    jview_double(o, "refill", &refill, e) < 0 || jview_bool(o, "instances", &instances, e) < 0 || size < 0 ||
	    refill < 0)
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
	return control_whole(val, 0, &cloud->instances.delay_running_ms, e);
}

static int set_delay_terminated(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return control_whole(val, 0, &cloud->instances.delay_terminated_ms, e);
}

static int set_hide_ip(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return control_whole(val, 0, &cloud->faults.hide_ip, e);
}

static int set_address_delay(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return control_whole(val, 0, &cloud->faults.address_delay_ms, e);
}

static int set_skew(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return control_whole(val, -86400, &cloud->faults.skew_s, e);
}

static int set_session(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return control_whole(val, 0, &cloud->session_s, e);
}

/* "ACCESS", or an object with the code it is refused with. */
static int set_expire_key(struct cloud *cloud, struct json_object *val, struct err *e)
{
	const char *access = NULL, *code = NULL;

	if (json_object_is_type(val, json_type_string))
		access = json_object_get_string(val);
	else if (!json_object_is_type(val, json_type_object) || jview_str(val, "key", &access, e) < 0 ||
		 jview_str(val, "code", &code, e) < 0)
		return err_set(e, "must be an access key, or an object with \"key\" and \"code\"");
	return cloud_expire_key(cloud, access ? access : "", code ? code : "ExpiredToken", clock_wall_ms(), e);
}

static int set_lost_answer(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return control_whole(val, 0, &cloud->faults.lost_answers, e);
}

static int set_unseen(struct cloud *cloud, struct json_object *val, struct err *e)
{
	struct json_object *least = NULL, *most = NULL;

	if (!json_object_is_type(val, json_type_object)) {
		if (control_whole(val, 0, &cloud->faults.unseen_ms, e) < 0)
			return -1;
		cloud->faults.unseen_most_ms = cloud->faults.unseen_ms;
		return 0;
	}
	if (!json_object_object_get_ex(val, "min", &least) || !json_object_object_get_ex(val, "max", &most))
		return err_set(e, "must be milliseconds, or {\"min\": MS, \"max\": MS}");
	if (control_whole(least, 0, &cloud->faults.unseen_ms, e) < 0)
		return -1;
	return control_whole(most, cloud->faults.unseen_ms, &cloud->faults.unseen_most_ms, e);
}

static int set_page_size(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return control_whole(val, 0, &cloud->faults.page_size, e);
}

static int set_fail_page(struct cloud *cloud, struct json_object *o, struct err *e)
{
	const char *code = NULL;
	int64_t page = 0, count = 1, status = 500;

	if (!json_object_is_type(o, json_type_object) || jview_i64(o, "page", &page, e) < 0 || jview_i64(o, "count", &count, e) < 0 ||
	    jview_i64(o, "status", &status, e) < 0 || jview_str(o, "code", &code, e) < 0 || page < 1 || count < 0 ||
	    status < 400 || status > 599)
		return err_set(e, "needs \"page\" from 1; \"count\" is from 0, \"status\" 400 to 599");
	cloud->faults.fail_page = page;
	cloud->faults.fail_pages = count;
	cloud->faults.fail_page_status = (int)status;
	return control_text(&cloud->faults.fail_page_code, code, e);
}

static const struct control_key own_keys[] = {
    {"reset", set_reset}, /* first, so that it can come with new faults */
    {"reset_calls", set_reset_calls},
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
    {"page_size", set_page_size},
    {"fail_page", set_fail_page},
    {NULL, NULL},
};
static const struct control_key *const all_keys[] = {own_keys, control_supply_keys, control_life_keys}; /* applied in this order */

static bool known_key(const char *key)
{
	for (size_t i = 0; i < sizeof(all_keys) / sizeof(*all_keys); i++) {
		for (const struct control_key *k = all_keys[i]; k->key; k++) {
			if (str_eq(k->key, key))
				return true;
		}
	}
	return false;
}

static int check_keys(struct json_object *o, struct err *e)
{
	if (!json_object_is_type(o, json_type_object))
		return err_set(e, "the body must be a JSON object");
	json_object_object_foreach(o, key, val)
	{
		(void)val;
		if (!known_key(key))
			return err_set(e, "there is no control \"%s\"", key);
	}
	return 0;
}

static int apply_keys(struct cloud *cloud, struct json_object *o, const struct control_key *k, struct err *e)
{
	struct json_object *val;

	for (; k->key; k++) {
		if (json_object_object_get_ex(o, k->key, &val) && k->set(cloud, val, e) < 0)
			return err_prefix(e, "%s", k->key);
	}
	return 0;
}

static int apply(struct cloud *cloud, const struct http_request *rq, struct err *e)
{
	struct json_object *o = jview_parse(buf_text(&rq->body), rq->body.n, "body", e);
	int rc = o ? check_keys(o, e) : -1;

	for (size_t i = 0; rc == 0 && i < sizeof(all_keys) / sizeof(*all_keys); i++)
		rc = apply_keys(cloud, o, all_keys[i], e);
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
