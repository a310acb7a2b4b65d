/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_life.c - the control endpoint's keys about what happens to instances without their owner: ended, stopped, started,
 * taken back by spot, ill, to be maintained. Each names its instances by id or pattern; one that fits nothing is refused.
 */
#include "ec2local/cloud.h"
#include "ec2local/control_set.h"
#include "ec2local/policy.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/jview.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one key does to one instance; o = its object, or NULL when only a name was given. */
typedef int verb(struct cloud *cloud, struct instance *i, struct json_object *o, struct err *e);

static bool is_there(const struct instance *i)
{
	return !i->gone && i->state != SHUTTING_DOWN && i->state != TERMINATED;
}

/* Patterns never mean the head: it is no instance of the cluster. */
static int each_named(struct cloud *cloud, const char *name, struct json_object *o, verb *run, struct err *e)
{
	struct instance *only = instances_find(&cloud->instances, name);
	bool any = false;

	if (only)
		return run(cloud, only, o, e);
	for (size_t k = 0; k < cloud->instances.n; k++) {
		struct instance *i = cloud->instances.v[k];

		if (i->head || !is_there(i) || !policy_glob(name, i->id))
			continue;
		any = true;
		if (run(cloud, i, o, e) < 0)
			return -1;
	}
	return any ? 0 : err_set(e, "there is no instance %s", name);
}

/* A name, an object with "instance", or a list of these. */
static int each(struct cloud *cloud, struct json_object *val, verb *run, struct err *e)
{
	const char *name = NULL;

	if (json_object_is_type(val, json_type_array)) {
		for (size_t k = 0; k < json_object_array_length(val); k++) {
			if (each(cloud, json_object_array_get_idx(val, k), run, e) < 0)
				return -1;
		}
		return 0;
	}
	if (json_object_is_type(val, json_type_string))
		return each_named(cloud, json_object_get_string(val), NULL, run, e);
	if (!json_object_is_type(val, json_type_object) || jview_str(val, "instance", &name, e) < 0 || !name)
		return err_set(e, "must be an instance id or pattern, an object with \"instance\", or a list of them");
	return each_named(cloud, name, val, run, e);
}

static int terminate_one(struct cloud *cloud, struct instance *i, struct json_object *o, struct err *e)
{
	(void)o;
	(void)e;
	if (i->launch->market == MARKET_SPOT)
		instances_terminate(cloud, i, clock_wall_ms(), "Server.SpotInstanceTermination",
				    "Server.SpotInstanceTermination: Spot instance termination");
	else
		instances_terminate(cloud, i, clock_wall_ms(), "Client.UserInitiatedShutdown",
				    "Client.UserInitiatedShutdown: User initiated shutdown");
	return 0;
}

static int stop_one(struct cloud *cloud, struct instance *i, struct json_object *o, struct err *e)
{
	bool ok;

	(void)o;
	if (i->launch->market == MARKET_SPOT)
		ok = instances_stop(cloud, i, clock_wall_ms(), "Server.SpotInstanceShutdown",
				    "Server.SpotInstanceShutdown: Spot instance shutdown");
	else
		ok = instances_stop(cloud, i, clock_wall_ms(), "Client.UserInitiatedShutdown",
				    "Client.UserInitiatedShutdown: User initiated shutdown");
	return ok ? 0 : err_set(e, "%s is %s", i->id, instance_state_name(i->state));
}

static int start_one(struct cloud *cloud, struct instance *i, struct json_object *o, struct err *e)
{
	(void)o;
	return instances_start(cloud, i, clock_wall_ms()) ? 0 : err_set(e, "%s is %s", i->id, instance_state_name(i->state));
}

static int notice_one(struct cloud *cloud, struct instance *i, struct json_object *o, struct err *e)
{
	static const char *const known[] = {"terminate", "stop", "hibernate"};
	const char *action = NULL;
	int64_t in_s = 120;

	(void)cloud;
	if (o && (jview_i64(o, "in_s", &in_s, e) < 0 || jview_str(o, "action", &action, e) < 0))
		return -1;
	i->spot_action = NULL;
	for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++) {
		if (str_eq(known[k], action ? action : "terminate"))
			i->spot_action = known[k];
	}
	i->spot_action_ms = clock_wall_ms() + in_s * 1000;
	return i->spot_action ? 0 : err_set(e, "\"action\" is terminate, stop or hibernate");
}

/* A notice that is there already keeps its time, unless a time is given. */
static int interrupt_one(struct cloud *cloud, struct instance *i, struct json_object *o, struct err *e)
{
	bool timed = o && json_object_object_get_ex(o, "in_s", NULL);

	if (i->state != PENDING && i->state != RUNNING)
		return err_set(e, "%s is %s", i->id, instance_state_name(i->state));
	if ((!i->spot_action_ms || timed) && notice_one(cloud, i, o, e) < 0)
		return -1;
	instances_interrupt(cloud, i, clock_wall_ms());
	return 0;
}

static bool known_status(const char *status)
{
	static const char *const known[] = {"ok", "impaired", "insufficient-data", "not-applicable", "initializing"};

	for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++) {
		if (str_eq(known[k], status))
			return true;
	}
	return !status;
}

static int set_check(struct check *c, const char *status, int64_t since_ms, struct err *e)
{
	c->since_ms = since_ms;
	return control_text(&c->status, status, e);
}

static int status_one(struct cloud *cloud, struct instance *i, struct json_object *o, struct err *e)
{
	const char *of_instance = NULL, *of_system = NULL;
	int64_t since_s = 0, since_ms;

	(void)cloud;
	if (o && (jview_str(o, "instance_status", &of_instance, e) < 0 || jview_str(o, "system_status", &of_system, e) < 0 ||
		  jview_i64(o, "since_s", &since_s, e) < 0))
		return -1;
	if (!known_status(of_instance) || !known_status(of_system))
		return err_set(e, "a status is ok, impaired, insufficient-data, not-applicable or initializing");
	since_ms = since_s < 0 ? 0 : clock_wall_ms() - since_s * 1000;
	return set_check(&i->instance_check, of_instance, since_ms, e) < 0
		   ? -1
		   : set_check(&i->system_check, of_system, since_ms, e);
}

static void drop_event(struct instance *i, const char *code)
{
	for (size_t k = 0; k < i->n_events; k++) {
		if (code && !str_eq(i->events[k].code, code))
			continue;
		free(i->events[k].code);
		free(i->events[k].text);
		i->events[k--] = i->events[--i->n_events];
	}
}

static int add_event(struct instance *i, const char *code, const char *text, int64_t at_ms, struct err *e)
{
	struct event fresh = {.code = str_dup(code), .text = str_dup(text), .not_before_ms = at_ms};
	char hex[19];

	if (!fresh.code || !fresh.text || mem_grow(&i->events, &i->cap_events, i->n_events + 1, sizeof(*i->events)) < 0) {
		free(fresh.code);
		free(fresh.text);
		return err_nomem(e);
	}
	rand_hex(hex, 18);
	snprintf(fresh.id, sizeof(fresh.id), "instance-event-%.17s", hex);
	i->events[i->n_events++] = fresh;
	return 0;
}

/* Without a code all events of the instance are forgotten. */
static int event_one(struct cloud *cloud, struct instance *i, struct json_object *o, struct err *e)
{
	const char *code = NULL, *text = NULL;
	int64_t in_s = 3600;

	(void)cloud;
	if (o && (jview_str(o, "code", &code, e) < 0 || jview_str(o, "description", &text, e) < 0 ||
		  jview_i64(o, "in_s", &in_s, e) < 0))
		return -1;
	drop_event(i, code);
	return code ? add_event(i, code, text ? text : "set by the control endpoint", clock_wall_ms() + in_s * 1000, e) : 0;
}

static int set_terminate(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return each(cloud, val, terminate_one, e);
}

static int set_stop(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return each(cloud, val, stop_one, e);
}

static int set_start(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return each(cloud, val, start_one, e);
}

static int set_spot_notice(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return each(cloud, val, notice_one, e);
}

static int set_interrupt(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return each(cloud, val, interrupt_one, e);
}

static int set_status(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return each(cloud, val, status_one, e);
}

static int set_event(struct cloud *cloud, struct json_object *val, struct err *e)
{
	return each(cloud, val, event_one, e);
}

const struct control_key control_life_keys[] = {
    {"terminate", set_terminate}, {"stop", set_stop},	  {"start", set_start}, {"spot_notice", set_spot_notice},
    {"interrupt", set_interrupt}, {"status", set_status}, {"event", set_event}, {NULL, NULL},
};
