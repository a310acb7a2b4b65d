/* SPDX-License-Identifier: GPL-2.0-or-later */
/* terminate.c - TerminateInstances: all of the named instances or, when one id is bad, none. */
#include "ec2local/cloud.h"
#include "ec2local/xml.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define IDS_MAX 1000 /* of one call */

static const char *const params[] = {"InstanceId.N", NULL};

/* "i-" and 8 or 17 hex digits. */
static bool well_formed(const char *id)
{
	size_t n = strlen(id);

	if (!str_prefix(id, "i-") || (n != 10 && n != 19))
		return false;
	for (const char *p = id + 2; *p; p++) {
		if (!isxdigit((unsigned char)*p) || isupper((unsigned char)*p))
			return false;
	}
	return true;
}

/* All that are unknown, as EC2 lists them: 'i-1, i-2'. */
static int fail_unknown(struct call *c, const struct strs *unknown)
{
	char *text = strs_join(unknown, ", ");

	if (!text)
		return call_nomem(c);
	call_fail(c, 400, "InvalidInstanceID.NotFound",
		  unknown->n == 1 ? "The instance ID '%s' does not exist" : "The instance IDs '%s' do not exist", text);
	free(text);
	return -1;
}

int instances_named(struct call *c, const struct strs *ids, struct instance **out)
{
	struct strs unknown = {0};
	int rc = 0;

	for (size_t k = 0; rc == 0 && k < ids->n; k++) {
		out[k] = instances_find(&c->cloud->instances, ids->v[k]);
		if (!out[k] && !well_formed(ids->v[k]))
			rc = call_fail(c, 400, "InvalidInstanceID.Malformed", "Invalid id: \"%.100s\"", ids->v[k]);
		else if ((!out[k] || !instance_seen(c->cloud, out[k], c->now_ms)) && strs_add(&unknown, ids->v[k]) < 0)
			rc = call_nomem(c);
	}
	if (rc == 0 && unknown.n)
		rc = fail_unknown(c, &unknown);
	strs_clear(&unknown);
	return rc;
}

static int allowed(struct call *c, struct instance *const *v, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		if (call_allowed_on(c, "instance", v[k]->id, &v[k]->tags, NULL) < 0)
			return -1;
	}
	return 0;
}

static void state_element(struct buf *b, const char *name, enum instance_code s)
{
	xml_open(b, name);
	xml_int(b, "code", s);
	xml_text(b, "name", instance_state_name(s));
	xml_close(b, name);
}

static void end_all(struct call *c, struct instance *const *v, size_t n)
{
	xml_open(&c->out, "instancesSet");
	for (size_t k = 0; k < n; k++) {
		enum instance_code before = v[k]->state;

		instances_terminate(c->cloud, v[k], c->now_ms, "Client.UserInitiatedShutdown",
				    "Client.UserInitiatedShutdown: User initiated shutdown");
		xml_open(&c->out, "item");
		xml_text(&c->out, "instanceId", v[k]->id);
		state_element(&c->out, "currentState", v[k]->state);
		state_element(&c->out, "previousState", before);
		xml_close(&c->out, "item");
	}
	xml_close(&c->out, "instancesSet");
}

static int terminate(struct call *c)
{
	struct instance **v = NULL;
	struct strs ids = {0};
	int rc = -1;

	if (params_list(&c->params, "InstanceId", &ids) < 0 || !(v = calloc(ids.n + 1, sizeof(struct instance *)))) {
		call_nomem(c);
		goto out;
	}
	if (!ids.n || ids.n > IDS_MAX) {
		call_fail(c, 400, ids.n ? "InvalidParameterValue" : "MissingParameter",
			  "The request must contain 1 to %d InstanceId, not %zu", IDS_MAX, ids.n);
		goto out;
	}
	if (instances_named(c, &ids, v) < 0 || allowed(c, v, ids.n) < 0 || call_dry_run(c) < 0)
		goto out;
	end_all(c, v, ids.n);
	rc = 0;
out:
	free(v);
	strs_clear(&ids);
	return rc;
}

const struct action end_actions[] = {
    {"TerminateInstances", terminate, params, true, NULL},
    {NULL, NULL, NULL, false, NULL},
};
