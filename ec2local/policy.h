/* policy.h - an IAM policy document: parsed once, asked per request. Only what EC2 policies of our kind use; a word it does not
 * know is refused at load, so that a policy never seems stricter or wider here than it is at AWS.
 */
#ifndef EC2LOCAL_POLICY_H
#define EC2LOCAL_POLICY_H

#include "lib/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct err;
struct policy;

/* One resource an action touches. */
struct policy_question {
	const char *action;	     /* "ec2:RunInstances" */
	const char *arn;	     /* "*" when the action has no resource */
	const struct kvs *tags;	     /* of the resource: ec2:ResourceTag/K, aws:ResourceTag/K; may be NULL */
	const struct kvs *requested; /* tags in the request: aws:RequestTag/K, aws:TagKeys; may be NULL */
	const struct kvs *context;   /* other condition keys ("ec2:CreateAction", "ec2:Region", ...); may be NULL */
};

struct policy *policy_load(const char *path, struct err *e);
struct policy *policy_parse(const char *text, size_t n, const char *what, struct err *e);
void policy_destroy(struct policy *p); /* takes NULL */
/* Deny wins, then any Allow. */
bool policy_allows(const struct policy *p, const struct policy_question *q);

/* '*' and '?' as IAM has them; case counts. */
bool policy_glob(const char *pattern, const char *text);

#endif
