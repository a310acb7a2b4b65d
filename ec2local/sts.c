/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sts.c - the part of STS that a chain of roles needs: AssumeRole gives temporary keys for a role that --assumable names, and
 * GetCallerIdentity says who asks.
 */
#include "ec2local/cloud.h"
#include "ec2local/services.h"
#include "ec2local/xml.h"

#include <stdlib.h>
#include <string.h>

#define DURATION_S 3600

static const char *const assume_params[] = {"RoleArn",
					    "RoleSessionName",
					    "DurationSeconds",
					    "ExternalId",
					    "Tags.member.N.Key",
					    "Tags.member.N.Value",
					    "TransitiveTagKeys.member.N",
					    NULL};
static const char *const no_params[] = {NULL};

static int check_session_name(struct call *c, const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=,.@-";
	size_t n = strlen(name);

	if (n >= 2 && n <= 64 && strspn(name, allowed) == n)
		return 0;
	return call_fail(c, 400, "ValidationError",
			 "1 validation error detected: Value '%.70s' at 'roleSessionName' failed to satisfy constraint", name);
}

/* "arn:aws:sts::ACCOUNT:assumed-role/ROLE/SESSION"; caller frees. */
static char *session_arn(const char *role_arn, const char *session)
{
	const char *name = strrchr(role_arn, '/');

	return str_fmt("arn:aws:sts::" CLOUD_ACCOUNT ":assumed-role/%s/%s", name ? name + 1 : role_arn, session);
}

static void credentials_element(struct call *c, const struct key *k)
{
	struct buf *b = &c->out;

	xml_open(b, "Credentials");
	xml_text(b, "AccessKeyId", k->access);
	xml_text(b, "SecretAccessKey", k->secret);
	xml_text(b, "SessionToken", k->token);
	xml_time(b, "Expiration", k->expires_ms);
	xml_close(b, "Credentials");
}

static int assume_role(struct call *c)
{
	const char *arn = call_need(c, "RoleArn"), *session = arn ? call_need(c, "RoleSessionName") : NULL;
	int64_t seconds = DURATION_S;
	const struct assumable *role;
	const struct key *k;
	char *who;

	if (!session || check_session_name(c, session) < 0 || call_int(c, "DurationSeconds", 900, 43200, &seconds) < 0)
		return -1;
	role = cloud_assumable(c->cloud, arn);
	if (!role)
		return call_fail(c, 403, "AccessDenied",
				 "User: %s is not authorized to perform: sts:AssumeRole on resource: %.200s",
				 c->key ? c->key->access : "anonymous", arn);
	if (c->cloud->session_s > 0)
		seconds = c->cloud->session_s;
	who = session_arn(arn, session);
	k = who ? cloud_new_session(c->cloud, role->policy, who, c->now_ms + seconds * 1000) : NULL;
	free(who);
	if (!k)
		return call_nomem(c);
	credentials_element(c, k);
	xml_open(&c->out, "AssumedRoleUser");
	xml_text(&c->out, "AssumedRoleId", "AROAEC2LOCAL00000001");
	xml_text(&c->out, "Arn", k->arn);
	xml_close(&c->out, "AssumedRoleUser");
	return 0;
}

static int caller_identity(struct call *c)
{
	xml_text(&c->out, "Arn", c->key && c->key->arn ? c->key->arn : "arn:aws:iam::" CLOUD_ACCOUNT ":user/ec2local");
	xml_text(&c->out, "UserId", c->key ? c->key->access : "anonymous");
	xml_text(&c->out, "Account", CLOUD_ACCOUNT);
	return 0;
}

const struct action sts_actions[] = {
    {"AssumeRole", assume_role, assume_params, true, NULL},
    {"GetCallerIdentity", caller_identity, no_params, true, NULL},
    {NULL, NULL, NULL, false, NULL},
};
