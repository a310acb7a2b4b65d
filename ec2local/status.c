/* SPDX-License-Identifier: GPL-2.0-or-later */
/* status.c - DescribeInstanceStatus: status checks and scheduled events. */
#include "ec2local/cloud.h"
#include "ec2local/describe.h"
#include "ec2local/page.h"
#include "ec2local/xml.h"
#include "lib/base/clock.h"

#include <stdlib.h>
#include <string.h>

#define IDS_MAX 100 /* of one call */

static const char *const params[] = {
    "InstanceId.N", "Filter.N.Name", "Filter.N.Value.N", "MaxResults", "NextToken", "IncludeAllInstances", NULL};
static const char *const known_filters[] = {"instance-state-name",
					    "instance-state-code",
					    "availability-zone",
					    "instance-status.status",
					    "instance-status.reachability",
					    "system-status.status",
					    "system-status.reachability",
					    "event.code",
					    "event.description",
					    "event.instance-event-id",
					    "event.not-before",
					    NULL};

/* --- filters: those of the checks and events here, the others as for DescribeInstances */

static const char *check_status(const struct instance *i, const struct check *k)
{
	if (i->state == RUNNING)
		return k->status ? k->status : "ok";
	return i->state == PENDING ? "initializing" : "not-applicable";
}

static const char *reachability(const char *status)
{
	return str_eq(status, "ok") ? "passed" : str_eq(status, "impaired") ? "failed" : status;
}

static bool event_has(const struct filter *f, const struct event *x)
{
	char at[25];

	if (str_eq(f->name, "event.code"))
		return filter_has(f, x->code);
	if (str_eq(f->name, "event.description"))
		return filter_has(f, x->text);
	if (str_eq(f->name, "event.instance-event-id"))
		return filter_has(f, x->id);
	clock_iso(x->not_before_ms, at);
	return filter_has(f, at);
}

/* *decided = false for a filter that is none of ours. */
static bool one_matches(const struct filter *f, const struct instance *i, bool *decided)
{
	bool of_instance = str_prefix(f->name, "instance-status.");
	const char *status = check_status(i, of_instance ? &i->instance_check : &i->system_check);

	*decided = true;
	if (of_instance || str_prefix(f->name, "system-status."))
		return filter_has(f, strstr(f->name, ".status") ? status : reachability(status));
	*decided = str_prefix(f->name, "event.");
	for (size_t k = 0; *decided && k < i->n_events; k++) {
		if (event_has(f, &i->events[k]))
			return true;
	}
	return false;
}

static bool matches(const struct filters *f, const struct cloud *cloud, const struct instance *i)
{
	for (size_t k = 0; k < f->n; k++) {
		bool decided, yes = one_matches(&f->v[k], i, &decided);

		if (decided ? !yes : !describe_matches(&(struct filters){&f->v[k], 1, 1}, cloud, i))
			return false;
	}
	return true;
}

static int refuse_tags(struct call *c, const struct filters *f)
{
	for (size_t k = 0; k < f->n; k++) {
		if (str_prefix(f->v[k].name, "tag"))
			return call_fail(c, 400, "InvalidParameterValue", "The filter '%.100s' is invalid", f->v[k].name);
	}
	return 0;
}

/* --- the answer */

static void check_element(struct buf *b, const char *name, const struct instance *i, const struct check *k)
{
	const char *status = check_status(i, k);

	xml_open(b, name);
	xml_text(b, "status", status);
	if (!str_eq(status, "not-applicable")) {
		buf_str(b, "<details><item>");
		if (str_eq(status, "impaired") && k->since_ms)
			xml_time(b, "impairedSince", k->since_ms);
		xml_text(b, "name", "reachability");
		xml_text(b, "status", reachability(status));
		buf_str(b, "</item></details>");
	}
	xml_close(b, name);
}

static void event_items(struct buf *b, const struct instance *i)
{
	if (!i->n_events)
		return;
	xml_open(b, "eventsSet");
	for (size_t k = 0; k < i->n_events; k++) {
		const struct event *x = &i->events[k];

		xml_open(b, "item");
		xml_text(b, "instanceEventId", x->id);
		xml_text(b, "code", x->code);
		xml_text(b, "description", x->text);
		xml_time(b, "notBefore", x->not_before_ms);
		xml_close(b, "item");
	}
	xml_close(b, "eventsSet");
}

static void status_item(struct buf *b, const struct instance *i)
{
	xml_open(b, "item");
	xml_text(b, "instanceId", i->id);
	xml_text(b, "availabilityZone", i->launch->subnet->zone);
	event_items(b, i);
	xml_open(b, "instanceState");
	xml_int(b, "code", i->state);
	xml_text(b, "name", instance_state_name(i->state));
	xml_close(b, "instanceState");
	check_element(b, "systemStatus", i, &i->system_check);
	check_element(b, "instanceStatus", i, &i->instance_check);
	xml_close(b, "item");
}

static void list(struct call *c, const struct filters *f, struct page *page, bool all, struct instance **v, size_t n)
{
	xml_open(&c->out, "instanceStatusSet");
	for (size_t k = 0; k < n; k++) {
		const struct instance *i = v[k];

		if (i->gone || (!all && i->state != RUNNING) || !instance_seen(c->cloud, i, c->now_ms) ||
		    !matches(f, c->cloud, i))
			continue;
		if (!page_take(page, i->seq))
			break;
		status_item(&c->out, i);
	}
	xml_close(&c->out, "instanceStatusSet");
	page_end(page, &c->out);
}

static int status(struct call *c)
{
	struct instance **own = NULL, **v = NULL;
	struct filters f = {0};
	struct page page;
	bool all = false;
	size_t n = 0;
	int rc = -1;

	if (page_read(c, &page, 5, 1000, "InstanceId") < 0 || call_flag(c, "IncludeAllInstances", &all) < 0 ||
	    filters_read(c, &f, known_filters) < 0 || refuse_tags(c, &f) < 0 ||
	    describe_candidates(c, &f, &page, &own, &v, &n) < 0)
		goto out;
	if (own && n > IDS_MAX) {
		call_fail(c, 400, "InvalidParameterValue", "at most %d instances can be named in a call", IDS_MAX);
		goto out;
	}
	if (call_dry_run(c) < 0)
		goto out;
	list(c, &f, &page, all, v, n);
	rc = 0;
out:
	filters_free(&f);
	free(own);
	return rc;
}

const struct action status_actions[] = {
    {"DescribeInstanceStatus", status, params, false, NULL},
    {NULL, NULL, NULL, false, NULL},
};
