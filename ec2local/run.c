/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run.c - RunInstances: policy, client token, quota, capacity, addresses, then as many instances as there are, at least
 * MinCount. */
#include "ec2local/cloud.h"
#include "ec2local/describe.h"
#include "ec2local/launch.h"
#include "ec2local/run.h"
#include "ec2local/supply.h"
#include "ec2local/xml.h"

#include <stdlib.h>
#include <string.h>

/* What a client token was used for. A failed attempt that got as far as capacity burns it too: it keeps its parameters. */
struct run_token {
	char *key; /* token, and the zone when the call is zonal */
	char hash[65];
	struct strs ids; /* empty = nothing was launched */
};

static const char *const params[] = {"MinCount",
				     "MaxCount",
				     "ClientToken",
				     "LaunchTemplate.LaunchTemplateId",
				     "LaunchTemplate.LaunchTemplateName",
				     "LaunchTemplate.Version",
				     "AdditionalInfo",
				     NULL};

void run_tokens_free(struct instances *l)
{
	for (size_t i = 0; i < l->by_token.cap; i++) {
		struct run_token *t = l->by_token.v[i].val;

		if (!t)
			continue;
		free(t->key);
		strs_clear(&t->ids);
		free(t);
	}
}

/* --- permission */

static int ask(struct call *c, const char *type, const char *id, const struct kvs *tags, const struct kvs *requested)
{
	return call_allowed_for(c, "RunInstances", type, id, tags, requested);
}

static int pass_role_allowed(struct call *c, const struct launch *l)
{
	const char *name = l->profile ? strrchr(l->profile, '/') : NULL;
	char *arn = l->profile ? str_fmt("arn:aws:iam::" CLOUD_ACCOUNT ":role/%s", name ? name + 1 : l->profile) : NULL;
	struct kvs context = {0};
	int rc = 0;

	if (!l->profile)
		return 0;
	if (!arn || kvs_add(&context, "iam:PassedToService", "ec2.amazonaws.com") < 0)
		rc = call_nomem(c);
	else
		rc = call_allowed(c, &(struct policy_question){"iam:PassRole", arn, NULL, NULL, &context});
	kvs_clear(&context);
	free(arn);
	return rc;
}

static int network_allowed(struct call *c, const struct launch *l)
{
	for (size_t i = 0; i < l->n_nics; i++) {
		const struct nic *n = &l->nics[i];

		if (ask(c, "subnet", n->subnet->id, &n->subnet->tags, NULL) < 0 ||
		    ask(c, "network-interface", "*", NULL, NULL) < 0)
			return -1;
		for (size_t k = 0; k < n->groups.n; k++) {
			const struct group *g = network_group(&c->cloud->network, n->groups.v[k]);

			if (ask(c, "security-group", n->groups.v[k], g ? &g->tags : NULL, NULL) < 0)
				return -1;
		}
	}
	return 0;
}

/* Each thing RunInstances touches must be allowed, as IAM asks it. */
int run_allowed(struct call *c, const struct launch *l)
{
	if (!c->key || !c->key->policy)
		return 0;
	if (ask(c, "instance", "*", NULL, &l->tags) < 0 || ask(c, "volume", "*", NULL, &l->volume_tags) < 0 ||
	    ask(c, "image", l->image->id, &l->image->tags, NULL) < 0 || network_allowed(c, l) < 0)
		return -1;
	if (l->template && ask(c, "launch-template", l->template->id, &l->template->tags, NULL) < 0)
		return -1;
	if (l->placement && ask(c, "placement-group", l->placement, NULL, NULL) < 0)
		return -1;
	if (l->key_name && ask(c, "key-pair", l->key_name, NULL, NULL) < 0)
		return -1;
	if (call_may_tag(c, "instance", "*", &l->tags) < 0 || call_may_tag(c, "volume", "*", &l->volume_tags) < 0)
		return -1;
	return pass_role_allowed(c, l);
}

/* --- the client token */

int run_check_token(struct call *c, const char *token)
{
	if (strlen(token) > 64)
		return call_fail(c, 400, "InvalidParameterValue", "The client token is longer than 64 characters");
	for (const char *p = token; *p; p++) {
		if (*p < 33 || *p > 126)
			return call_fail(c, 400, "InvalidParameterValue",
					 "The client token holds a character that is not ASCII");
	}
	return 0;
}

/* A launch into a named subnet or zone is zonal: the same token elsewhere is another launch. */
static char *token_key(const struct call *c, const struct launch *l, const char *token)
{
	bool zonal = params_has(&c->params, "SubnetId") || params_has(&c->params, "NetworkInterface") ||
		     params_has(&c->params, "Placement.AvailabilityZone") || l->template;

	return str_fmt("%s %s", token, zonal ? l->subnet->zone : "");
}

/* *out = the record of the call's token, made if it is new; NULL when the call has none. -1 = error written. */
static int take_token(struct call *c, const struct launch *l, struct run_token **out)
{
	const char *token = params_get(&c->params, "ClientToken");
	struct run_token *t;
	char *key, hash[65];

	*out = NULL;
	if (!token)
		return 0;
	key = run_check_token(c, token) == 0 ? token_key(c, l, token) : NULL;
	if (!key)
		return c->status != 200 ? -1 : call_nomem(c);
	call_hash(c, hash);
	t = index_get(&c->cloud->instances.by_token, key);
	if (t) {
		free(key);
		*out = t;
		return strcmp(t->hash, hash)
			   ? call_fail(c, 400, "IdempotentParameterMismatch",
				       "The client token '%.64s' was used before with other parameters", token)
			   : 0;
	}
	t = calloc(1, sizeof(*t));
	if (!t || index_put(&c->cloud->instances.by_token, key, t) < 0) {
		free(key);
		free(t);
		return call_nomem(c);
	}
	t->key = key;
	strcpy(t->hash, hash);
	*out = t;
	return 0;
}

static void answer(struct call *c, const struct strs *ids)
{
	struct buf *b = &c->out;
	bool hide = c->cloud->faults.hide_ip > 0, first = true;

	if (hide)
		c->cloud->faults.hide_ip--;
	for (size_t k = 0; k < ids->n; k++) {
		const struct instance *i = instances_find(&c->cloud->instances, ids->v[k]);

		if (!i)
			continue;
		if (first) {
			xml_text(b, "reservationId", i->launch->reservation);
			xml_text(b, "ownerId", CLOUD_ACCOUNT);
			buf_str(b, "<groupSet/><instancesSet>");
		}
		first = false;
		describe_instance(b, c->cloud, i, c->now_ms, hide);
	}
	buf_str(b, first ? "<instancesSet/>" : "</instancesSet>");
}

/* A launch that names no reservation goes into an open one that has room for all of it. */
static void use_open_reservation(struct call *c, struct launch *l, int64_t max)
{
	struct reservation *r = l->from ? NULL : reservations_open(&c->cloud->reservations, l, c->now_ms);

	if (r && reservation_free(r) >= max)
		l->from = r;
}

static int launch(struct call *c, struct launch *l, int64_t min, int64_t max)
{
	struct run_token *token = NULL;
	struct strs ids = {0};
	struct refusal why;
	int64_t n;

	if (take_token(c, l, &token) < 0)
		return -1;
	if (token && token->ids.n) {
		answer(c, &token->ids);
		return 0;
	}
	use_open_reservation(c, l, max);
	n = supply_ask(c->cloud, l, c->now_ms, min, max, &why);
	if (!n)
		return call_fail(c, why.status, why.code, "%s", why.text);
	if (supply_start(c, l, min, n, &ids) < 0) {
		strs_clear(&ids);
		return -1;
	}
	answer(c, &ids);
	if (token)
		token->ids = ids;
	else
		strs_clear(&ids);
	if (c->cloud->faults.lost_answers > 0) {
		c->cloud->faults.lost_answers--;
		c->drop = true;
	}
	return 0;
}

static int run(struct call *c)
{
	int64_t min = 0, max = 0;
	struct launch *l;
	int rc;

	if (!call_need(c, "MinCount") || !call_need(c, "MaxCount") || call_int(c, "MinCount", 1, 100000, &min) < 0 ||
	    call_int(c, "MaxCount", 1, 100000, &max) < 0)
		return -1;
	if (min > max)
		return call_fail(c, 400, "InvalidParameterValue", "MinCount %lld is greater than MaxCount %lld", (long long)min,
				 (long long)max);
	l = launch_resolve(c);
	if (!l)
		return -1;
	rc = run_allowed(c, l) < 0 || call_dry_run(c) < 0 ? -1 : launch(c, l, min, max);
	l->template = NULL; /* its time is over: instances live longer than templates */
	launch_unref(l);
	return rc;
}

const struct action run_actions[] = {
    {"RunInstances", run, params, true, ""},
    {NULL, NULL, NULL, false, NULL},
};
