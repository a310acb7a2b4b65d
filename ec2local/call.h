/* call.h - one request to the API on its way: who asks for what, and the answer being written.
 *
 * A handler reads params, changes the cloud, writes the answer's inner elements to out and returns 0; or it returns
 * call_fail(...). The wrapper element, request id, faults, signature and policy are the dispatcher's (api.c).
 */
#ifndef EC2LOCAL_CALL_H
#define EC2LOCAL_CALL_H

#include "ec2local/params.h"
#include "ec2local/policy.h"
#include "lib/base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cloud;
struct key;
struct kvs;
struct service;

struct call {
	struct cloud *cloud;
	const struct service *service;
	const struct action *action;
	struct params params;
	const struct key *key; /* the signer; NULL when the server checks no signatures */
	int64_t now_ms;	       /* wall clock, one value for the whole request */
	char request_id[37];
	struct buf out;
	int status;
	char fail_code[64]; /* of the last call_fail */
	char fail_text[512];
	int64_t delay_ms; /* hold the answer back that long */
	bool drop;	  /* close the connection without an answer */
};

/* An action of the API. */
struct action {
	const char *name;
	int (*run)(struct call *c);
	const char *const
	    *params;	  /* names it knows, N for an index; NULL-terminated; "Action", "Version", "DryRun" always are */
	bool own_policy;  /* the handler asks call_allowed itself, with its resources; else it is asked for "*" */
	const char *data; /* prefix below which launch data is known too ("" or "LaunchTemplateData."); NULL = nowhere */
};

/* Replace the answer by an error. Always returns -1. */
int call_fail(struct call *c, int status, const char *code, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Take the error back: the answer is empty again, as before the handler. */
void call_unfail(struct call *c);
/* 400 InvalidParameterValue. */
int call_bad_value(struct call *c, const char *name, const char *val);
int call_nomem(struct call *c);

/* May the signer do this? -1 = UnauthorizedOperation written. */
int call_allowed(struct call *c, const struct policy_question *q);
/* May the signer do this call's action on arn:aws:ec2:REGION:ACCOUNT:type/id, which has these tags and gets those? */
int call_allowed_on(struct call *c, const char *type, const char *id, const struct kvs *tags, const struct kvs *requested);
/* The same for another action than the call's own. */
int call_allowed_for(struct call *c, const char *action, const char *type, const char *id, const struct kvs *tags,
		     const struct kvs *requested);
/* Tags given at creation need ec2:CreateTags with ec2:CreateAction = this action as well. */
int call_may_tag(struct call *c, const char *type, const char *id, const struct kvs *tags);
/* Every check passed: with DryRun=true the answer is DryRunOperation (-1), else 0. */
int call_dry_run(struct call *c);
/* SHA-256 of the call's parameters without its ClientToken, as hex: two calls with one hash ask for the same. */
void call_hash(const struct call *c, char out[65]);

/* Parameters with their types; absent leaves *out alone. -1 = error written. */
int call_int(struct call *c, const char *name, int64_t min, int64_t max, int64_t *out);
int call_flag(struct call *c, const char *name, bool *out);
/* The value of a required parameter; NULL = MissingParameter written. */
const char *call_need(struct call *c, const char *name);
/* TagSpecification.N of this resource type, appended. Also checks keys and values. */
int call_tags(struct call *c, const struct params *p, const char *resource_type, struct kvs *out);
/* Tag rules of EC2: key 1-127 characters, not "aws:", value up to 255, at most 50, no key twice. */
int call_check_tags(struct call *c, const struct kvs *tags);

#endif
