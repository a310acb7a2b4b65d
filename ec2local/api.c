/* SPDX-License-Identifier: GPL-2.0-or-later */
/* api.c - the EC2 query protocol: signature, faults, known parameters and policy before an action, the XML around its answer
 * after. */
#include "ec2local/call.h"
#include "ec2local/cloud.h"
#include "ec2local/http.h"
#include "ec2local/launch.h"
#include "ec2local/services.h"
#include "ec2local/sigv4check.h"
#include "ec2local/xml.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/jview.h"
#include "lib/base/num.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TAGS_MAX 50 /* of one resource */

/* --- the answer */

int call_fail(struct call *c, int status, const char *code, const char *fmt, ...)
{
	struct err text = {""};
	va_list ap;
	struct buf message = {0};

	va_start(ap, fmt);
	buf_vfmt(&message, fmt, ap);
	va_end(ap);
	err_set(&text, "%s", buf_text(&message));
	buf_free(&message);
	c->status = status;
	snprintf(c->fail_code, sizeof(c->fail_code), "%s", code);
	snprintf(c->fail_text, sizeof(c->fail_text), "%s", text.text);
	buf_reset(&c->out);
	c->service->fail(c, code, text.text);
	return -1;
}

void call_unfail(struct call *c)
{
	c->status = 200;
	buf_reset(&c->out);
	c->service->open(c);
}

int call_nomem(struct call *c)
{
	return call_fail(c, 500, "InternalError", "out of memory");
}

int call_bad_value(struct call *c, const char *name, const char *val)
{
	return call_fail(c, 400, "InvalidParameterValue", "Invalid value '%.200s' for %.200s.", val, name);
}

/* --- parameters */

const char *call_need(struct call *c, const char *name)
{
	const char *val = params_get(&c->params, name);

	if (!val || !*val) {
		call_fail(c, 400, "MissingParameter", "The request must contain the parameter %s", name);
		return NULL;
	}
	return val;
}

int call_int(struct call *c, const char *name, int64_t min, int64_t max, int64_t *out)
{
	const char *text = params_get(&c->params, name);

	if (!text || num_i64(text, min, max, out, NULL) == 0)
		return 0;
	return call_fail(c, 400, "InvalidParameterValue",
			 "Value ( %.100s ) for parameter %s is invalid: expecting %lld to %lld", text, name, (long long)min,
			 (long long)max);
}

int call_flag(struct call *c, const char *name, bool *out)
{
	const char *text = params_get(&c->params, name);

	if (!text)
		return 0;
	if (!str_eq(text, "true") && !str_eq(text, "false"))
		return call_bad_value(c, name, text);
	*out = str_eq(text, "true");
	return 0;
}

static bool known_resource_type(const char *type)
{
	static const char *const known[] = {
	    "instance", "volume", "network-interface", "spot-instances-request", "launch-template", "placement-group", "fleet"};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (str_eq(type, known[i]))
			return true;
	}
	return false;
}

int call_tags(struct call *c, const struct params *p, const char *resource_type, struct kvs *out)
{
	for (int i = 1; params_hasf(p, "TagSpecification.%d", i); i++) {
		const char *type = params_getf(p, "TagSpecification.%d.ResourceType", i);
		char *prefix;
		int rc;

		if (!type || !known_resource_type(type))
			return call_bad_value(c, "ResourceType", type ? type : "");
		if (!str_eq(type, resource_type))
			continue;
		prefix = str_fmt("TagSpecification.%d.Tag", i);
		rc = prefix ? params_pairs(p, prefix, out) : -1;
		free(prefix);
		if (rc < 0)
			return call_nomem(c);
	}
	return call_check_tags(c, out);
}

int call_check_tags(struct call *c, const struct kvs *tags)
{
	if (tags->key.n > TAGS_MAX)
		return call_fail(c, 400, "TagLimitExceeded", "More than %d tags", TAGS_MAX);
	for (size_t i = 0; i < tags->key.n; i++) {
		const char *key = tags->key.v[i];

		if (!*key || strlen(key) > 127 || str_prefix(key, "aws:"))
			return call_fail(c, 400, "InvalidParameterValue",
					 "Tag key '%.150s' is not valid: 1 to 127 characters, not beginning with aws:", key);
		if (strlen(tags->val.v[i]) > 255)
			return call_fail(c, 400, "InvalidParameterValue", "The value of tag '%s' is longer than 255 characters",
					 key);
		for (size_t k = 0; k < i; k++) {
			if (str_eq(tags->key.v[k], key))
				return call_fail(c, 400, "InvalidParameterValue", "Duplicate tag key '%s' specified.", key);
		}
	}
	return 0;
}

void call_hash(const struct call *c, char out[65])
{
	struct buf b = {0};

	for (size_t i = 0; i < c->params.n; i++) {
		if (str_eq(c->params.v[i].key, "ClientToken"))
			continue;
		buf_add(&b, c->params.v[i].key, strlen(c->params.v[i].key) + 1);
		buf_add(&b, c->params.v[i].val, strlen(c->params.v[i].val) + 1);
	}
	sigv4_sha256_hex(buf_text(&b), b.n, out);
	buf_free(&b);
}

/* --- permission */

int call_allowed(struct call *c, const struct policy_question *q)
{
	if (!c->key || !c->key->policy || policy_allows(c->key->policy, q))
		return 0;
	return call_fail(c, 403, "UnauthorizedOperation",
			 "You are not authorized to perform this operation. %s on %s is not allowed.", q->action, q->arn);
}

/* Ask for `action` on type/id; create_action NULL or the call a tag comes with. */
static int ask(struct call *c, const char *action, const char *type, const char *id, const struct kvs *tags,
	       const struct kvs *requested, bool at_creation)
{
	char *name = str_fmt("ec2:%s", action);
	char *arn = str_fmt("arn:aws:ec2:%s:%s:%s/%s", c->cloud->region, str_eq(type, "image") ? "" : CLOUD_ACCOUNT, type, id);
	struct kvs context = {0};
	int rc;

	if (!name || !arn || kvs_add(&context, "ec2:Region", c->cloud->region) < 0 ||
	    (at_creation && kvs_add(&context, "ec2:CreateAction", c->action->name) < 0))
		rc = call_nomem(c);
	else
		rc = call_allowed(c, &(struct policy_question){name, arn, tags, requested, &context});
	kvs_clear(&context);
	free(name);
	free(arn);
	return rc;
}

int call_allowed_on(struct call *c, const char *type, const char *id, const struct kvs *tags, const struct kvs *requested)
{
	return c->key && c->key->policy ? ask(c, c->action->name, type, id, tags, requested, false) : 0;
}

int call_allowed_for(struct call *c, const char *action, const char *type, const char *id, const struct kvs *tags,
		     const struct kvs *requested)
{
	return c->key && c->key->policy ? ask(c, action, type, id, tags, requested, false) : 0;
}

int call_may_tag(struct call *c, const char *type, const char *id, const struct kvs *tags)
{
	return tags->key.n && c->key && c->key->policy ? ask(c, "CreateTags", type, id, NULL, tags, true) : 0;
}

int call_dry_run(struct call *c)
{
	bool dry = false;

	if (call_flag(c, "DryRun", &dry) < 0)
		return -1;
	return dry ? call_fail(c, 412, "DryRunOperation", "Request would have succeeded, but DryRun flag is set.") : 0;
}

/* --- before an action */

static const char *secret_of(void *arg, const char *access, const char **token)
{
	const struct key *k = cloud_key(arg, access);

	*token = k ? k->token : NULL;
	return k ? k->secret : NULL;
}

/* EC2 says of a session that has ended what it says of a request that came too late; the others have words of their own. */
static int check_expiry(struct call *c)
{
	const struct key *k = c->key;

	if (k->expired_code)
		return call_fail(c, c->service == &service_sts ? 403 : 400, k->expired_code, "The provided token has expired.");
	if (!k->expires_ms || c->now_ms < k->expires_ms)
		return 0;
	if (c->service == &service_ec2)
		return call_fail(c, 400, "RequestExpired", "Request has expired.");
	return call_fail(c, c->service == &service_sts ? 403 : 400,
			 c->service == &service_sts ? "ExpiredToken" : "ExpiredTokenException",
			 "The security token included in the request is expired");
}

static int check_signature(struct call *c, const struct http_request *rq)
{
	struct sigv4_request r = {rq->method, rq->path, rq->query, &rq->headers, buf_text(&rq->body), rq->body.n};
	int64_t now_ms = c->now_ms + c->cloud->faults.skew_s * 1000;
	struct sigv4_rules rules = {c->cloud->region, c->service->name, now_ms, secret_of, c->cloud};
	char access[128], why[256];

	if (!c->cloud->n_keys)
		return 0;
	switch (sigv4_check(&r, &rules, access, why)) {
	case SIGV4_OK:
		c->key = cloud_key(c->cloud, access);
		return check_expiry(c);
	case SIGV4_UNSIGNED:
		return call_fail(c, 403, "MissingAuthenticationToken", "The request carries no signature");
	case SIGV4_EXPIRED:
		return call_fail(c, 400, "RequestExpired", "Request has expired: its time is more than 5 minutes off");
	case SIGV4_MALFORMED:
		return call_fail(c, 400, "IncompleteSignature", "%s", why);
	case SIGV4_UNKNOWN_KEY:
		return call_fail(c, 401, "AuthFailure", "AWS was not able to validate the provided access credentials");
	case SIGV4_MISMATCH:
		break;
	}
	return call_fail(c, 401, "AuthFailure", "AWS was not able to validate the provided access credentials: %s", why);
}

/* How many instances the call is about. */
static double instances_of(const struct call *c)
{
	const char *text = params_get(&c->params, "MaxCount");
	int64_t n = 0;

	if (!text)
		text = params_get(&c->params, "TargetCapacitySpecification.TotalTargetCapacity");
	if (str_eq(params_get(&c->params, "DryRun"), "true"))
		return 0;
	if (text)
		return num_i64(text, 0, INT32_MAX, &n, NULL) < 0 ? 0 : (double)n;
	for (size_t i = 0; i < c->params.n; i++)
		n += str_prefix(c->params.v[i].key, "InstanceId.");
	return (double)n;
}

/* All or nothing: a call refused for its instances has still used a request. */
static bool take_tokens(struct call *c, struct action_state *s)
{
	bool unpaged = s->unpaged.size > 0 && !params_has(&c->params, "MaxResults") && !params_has(&c->params, "Filter");
	int64_t now_ms = clock_mono_ms();

	if (!bucket_take(unpaged ? &s->unpaged : &s->requests, 1, now_ms))
		return false;
	return s->instances.size <= 0 || bucket_take(&s->instances, instances_of(c), now_ms);
}

/* Count the call and play the faults asked for. */
static int play_faults(struct call *c)
{
	struct action_state *s = faults_action(&c->cloud->faults, c->action->name);

	if (!s)
		return call_nomem(c);
	s->calls++;
	c->delay_ms = s->delay_ms;
	if (s->throttle > 0 || !take_tokens(c, s)) {
		s->throttle -= s->throttle > 0;
		return call_fail(c, 503, "RequestLimitExceeded", "Request limit exceeded.");
	}
	if (s->errors > 0) {
		s->errors--;
		return call_fail(c, s->status, s->code ? s->code : "InternalError", "%s",
				 s->message ? s->message : "an error set by the control endpoint");
	}
	return 0;
}

static bool known_param(const struct action *a, const char *name)
{
	if (str_eq(name, "Action") || str_eq(name, "Version") || str_eq(name, "DryRun"))
		return true;
	for (const char *const *p = a->params; *p; p++) {
		if (params_fits(*p, name))
			return true;
	}
	return a->data && str_prefix(name, a->data) && launch_knows(name + strlen(a->data));
}

static int check_params(struct call *c)
{
	const char *gap = params_gap(&c->params), *version = c->service->version;

	if (version && !str_eq(params_get(&c->params, "Version"), version))
		return call_fail(c, 400, "NoSuchVersion", "The requested version is not %s", version);
	for (size_t i = 0; i < c->params.n; i++) {
		if (!known_param(c->action, c->params.v[i].key))
			return call_fail(c, 400, "UnknownParameter", "The parameter %.200s is not recognized",
					 c->params.v[i].key);
	}
	if (gap)
		return call_fail(c, 400, "InvalidParameter", "The list of parameter %.200s has a gap", gap);
	return 0;
}

static int default_policy(struct call *c)
{
	char *name;
	int rc;

	if (c->action->own_policy || !c->key || !c->key->policy)
		return 0;
	name = str_fmt("%s:%s", c->service->name, c->action->name);
	rc = name ? call_allowed(c, &(struct policy_question){name, "*", NULL, NULL, NULL}) : call_nomem(c);
	free(name);
	return rc;
}

/* A JSON protocol: the action is in a header, plain members of the body are the parameters. */
static int parse_json(struct call *c, const struct http_request *rq, const char *target, struct err *e)
{
	struct json_object *o = jview_parse(buf_text(&rq->body), rq->body.n, "body", e);
	const char *dot = strrchr(target, '.');
	int rc = params_add(&c->params, "Action", dot ? dot + 1 : target);

	if (!o || !json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		return err_set(e, "the body is not a JSON object");
	}
	json_object_object_foreach(o, key, val)
	{
		if (rc == 0 && val)
			rc = params_add(&c->params, key, json_object_get_string(val));
	}
	json_object_put(o);
	params_sort(&c->params);
	return rc < 0 ? err_nomem(e) : 0;
}

static int parse(struct call *c, const struct http_request *rq)
{
	const char *target = http_header(rq, "X-Amz-Target");
	struct err e = {""};
	int rc;

	if (rq->too_long)
		return call_fail(c, 413, "RequestEntityTooLarge", "The request is too long");
	if (target)
		rc = parse_json(c, rq, target, &e);
	else
		rc = params_parse(&c->params, buf_text(&rq->body), rq->body.n, &e);
	c->service = service_of(rq, &c->params);
	return rc < 0 ? call_fail(c, 400, target ? "SerializationException" : "MalformedQueryString", "%s", e.text) : 0;
}

static int prepare(struct call *c, const struct http_request *rq)
{
	const char *name;

	if (parse(c, rq) < 0)
		return -1;
	if (check_signature(c, rq) < 0)
		return -1;
	name = params_get(&c->params, "Action");
	if (!name)
		return call_fail(c, 400, "MissingAction", "The request must contain the parameter Action");
	c->action = service_action(c->service, name);
	if (!c->action)
		return call_fail(c, 400, "InvalidAction", "The action %.100s is not valid for this web service.", name);
	return play_faults(c) < 0 || check_params(c) < 0 || default_policy(c) < 0 ? -1 : 0;
}

static void log_request(struct cloud *cloud, const struct http_request *rq)
{
	if (!cloud->request_log || !rq->body.n || http_header(rq, "X-Amz-Target") || memchr(rq->body.v, '\n', rq->body.n))
		return;
	fwrite(rq->body.v, 1, rq->body.n, cloud->request_log);
	fputc('\n', cloud->request_log);
	fflush(cloud->request_log);
}

static void run(struct call *c, const struct http_request *rq)
{
	if (prepare(c, rq) < 0)
		return;
	c->service->open(c);
	if (c->action->run(c) == 0)
		c->service->close(c);
	if (buf_failed(&c->out)) {
		buf_free(&c->out);
		call_nomem(c);
	}
}

static int64_t mono_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

void api_answer(struct cloud *cloud, const struct http_request *rq, struct http_answer *a)
{
	struct call c = {.cloud = cloud, .service = &service_ec2, .now_ms = clock_wall_ms(), .status = 200};
	int64_t start_us = mono_us();

	if (str_eq(rq->path, "/_control") || str_prefix(rq->path, "/_control/")) {
		control_answer(cloud, rq, a);
		return;
	}
	rand_uuid(c.request_id);
	if (!str_eq(rq->method, "POST") || !str_eq(rq->path, "/")) {
		call_fail(&c, 400, "InvalidRequest", "only POST / is answered here");
	} else {
		log_request(cloud, rq);
		run(&c, rq);
	}
	a->status = c.status;
	a->type = c.service->type;
	a->body = c.out;
	a->delay_ms = c.delay_ms;
	a->drop = c.drop;
	params_clear(&c.params);
	cloud->busy_us += mono_us() - start_us;
}
