/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limits_read.c - the sources of `slurm-ec2 limits`: the applied generation, EC2 and Service Quotas in each of its regions, the
 * capacity memory. Each may be away or not allowed: then it is said and the others are read all the same. Changes nothing.
 */
#include "build_config.h"

#include "cli/limits.h"
#include "cli/session.h"
#include "lib/apply/apply.h"
#include "lib/aws/ec2.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/user.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/state/store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLOUD_LIMIT_MS 20000 /* a person waits */

static const struct {
	const char *title, *key, *action;
} sources[LIMITS_SOURCES] = {
    [LIMITS_MACHINES] = {"running instances", "machines", "ec2:DescribeInstances"},
    [LIMITS_RESERVATIONS] = {"capacity reservations", "reservations", "ec2:DescribeCapacityReservations"},
    [LIMITS_TYPES] = {"instance types", "types", "ec2:DescribeInstanceTypes"},
    [LIMITS_SUBNETS] = {"subnets", "subnets", "ec2:DescribeSubnets"},
    [LIMITS_QUOTAS] = {"vCPU quotas", "quotas", "servicequotas:ListServiceQuotas"},
    [LIMITS_STATE] = {"capacity memory", "state", NULL},
};

const char *limits_source_title(enum limits_source s)
{
	return sources[s].title;
}

const char *limits_source_key(enum limits_source s)
{
	return sources[s].key;
}

const char *limits_source_action(enum limits_source s)
{
	return sources[s].action;
}

static bool is_denied(const char *text)
{
	return strstr(text, "UnauthorizedOperation") || strstr(text, "AccessDenied");
}

static int add_away(struct limits *l, enum limits_source source, const char *region, const struct err *why)
{
	struct limits_away *a;

	if (mem_grow(&l->away, &l->cap_away, l->n_away + 1, sizeof(*l->away)))
		return -1;
	a = &l->away[l->n_away];
	*a =
	    (struct limits_away){.source = source, .region = region, .denied = is_denied(why->text), .why = str_dup(why->text)};
	l->n_away++;
	return a->why ? 0 : -1;
}

/* Keeps the call only if it was answered. -1: no memory to say that it was not. */
static int ask(struct limits *l, struct limits_cloud *c, enum limits_source source, struct ec2_call *call,
	       struct ec2_call **kept, int64_t deadline)
{
	struct err e = {""};

	if (call && c->aws && ec2_perform_one(c->aws, call, deadline, &e) == 0) {
		*kept = call;
		return 0;
	}
	if (!call)
		err_nomem(&e);
	ec2_call_destroy(call);
	return add_away(l, source, c->region, &e);
}

static int add_new(struct strs *list, const char *text)
{
	return text && !strs_has(list, text) ? strs_add(list, text) : 0;
}

/* Types of the resources, of all that runs and of what is reserved. */
static int all_types(const struct limits *l, size_t cloud, struct strs *out)
{
	const struct limits_cloud *c = &l->clouds[cloud];
	const struct instances *m = c->machines ? ec2_describe_reply(c->machines) : NULL;
	const struct ec2_reservations *r = c->reservations ? ec2_describe_reservations_reply(c->reservations) : NULL;
	int rc = 0;

	for (size_t i = 0; i < l->gen->n_resources; i++) {
		const struct gen_resource *g = &l->gen->resources[i];

		for (size_t s = 0; s < g->n_stages && g->cloud == (int64_t)cloud; s++)
			for (size_t t = 0; t < g->stages[s].instance_types.n; t++)
				rc = rc || add_new(out, g->stages[s].instance_types.v[t]);
	}
	for (size_t i = 0; m && i < m->n; i++)
		rc = rc || add_new(out, m->v[i].type);
	for (size_t i = 0; r && i < r->n; i++)
		rc = rc || (str_eq(r->v[i].state, "active") && add_new(out, r->v[i].type));
	return rc ? -1 : 0;
}

static int all_subnets(const struct limits *l, size_t cloud, struct strs *out)
{
	int rc = 0;

	for (size_t i = 0; i < l->gen->n_resources; i++) {
		const struct gen_resource *g = &l->gen->resources[i];

		for (size_t s = 0; s < g->n_stages && g->cloud == (int64_t)cloud; s++)
			for (size_t k = 0; k < g->stages[s].subnet_ids.n; k++)
				rc = rc || add_new(out, g->stages[s].subnet_ids.v[k]);
	}
	return rc ? -1 : 0;
}

static int ask_quotas(struct limits *l, struct limits_cloud *c, int64_t deadline)
{
	struct err e = {""};

	c->has_quotas = aws_quotas(c->aws, "ec2", &c->quotas, deadline, &e) == 0;
	return c->has_quotas ? 0 : add_away(l, LIMITS_QUOTAS, c->region, &e);
}

static int read_cloud(struct limits *l, size_t i)
{
	static const char *const running[] = {"pending", "running"};
	struct limits_cloud *c = &l->clouds[i];
	struct strs types = {0}, subnets = {0};
	int64_t deadline = clock_mono_ms() + CLOUD_LIMIT_MS;
	int rc = ask(l, c, LIMITS_MACHINES, ec2_describe_by("instance-state-name", running, 2), &c->machines, deadline) ||
		 ask(l, c, LIMITS_RESERVATIONS, ec2_describe_reservations(NULL, 0), &c->reservations, deadline) ||
		 all_types(l, i, &types) || all_subnets(l, i, &subnets);

	rc =
	    rc ||
	    ask(l, c, LIMITS_TYPES, ec2_describe_instance_types((const char *const *)types.v, types.n), &c->types, deadline) ||
	    ask(l, c, LIMITS_SUBNETS, ec2_describe_subnets((const char *const *)subnets.v, subnets.n), &c->subnets, deadline) ||
	    ask_quotas(l, c, deadline);
	strs_clear(&types);
	strs_clear(&subnets);
	return rc ? -1 : 0;
}

/* Without a connection nothing of this region can be asked. */
static int no_cloud(struct limits *l, size_t i, const struct err *why)
{
	for (enum limits_source s = 0; s < LIMITS_STATE; s++)
		if (add_away(l, s, l->clouds[i].region, why))
			return -1;
	return 0;
}

static int read_clouds(struct limits *l, const struct settings *set, struct err *e)
{
	const struct generation *g = l->gen;

	l->clouds = calloc(g->n_clouds + 1, sizeof(*l->clouds));
	if (!l->clouds)
		return err_nomem(e);
	l->n_clouds = g->n_clouds + 1;
	for (size_t i = 0; i < l->n_clouds; i++) {
		struct limits_cloud *c = &l->clouds[i];
		struct err why = {""};

		c->region = i ? g->clouds[i - 1].region : g->region;
		c->aws = i ? world_cloud_aws(set, &g->clouds[i - 1], true, &why) : world_aws(set, g->region, true, &why);
		if (c->aws ? read_cloud(l, i) : no_cloud(l, i, &why))
			return err_nomem(e);
	}
	return 0;
}

/* It lies in files of SlurmUser. Without a file nothing was short yet. */
static int read_state(struct limits *l)
{
	struct err e = {""};
	bool became = geteuid() == 0 && user_become(l->gen->slurm_user ? l->gen->slurm_user : SLURM_USER, &e) == 0;
	struct store *s = NULL;

	l->has_shortages = !file_exists(STORE_PATH);
	if (!l->has_shortages) {
		s = store_open_readonly(STORE_PATH, &e);
		l->has_shortages = s && store_shortages(s, &l->shortages, &e) == 0;
	}
	store_close(s);
	if (became)
		user_restore();
	return l->has_shortages ? 0 : add_away(l, LIMITS_STATE, NULL, &e);
}

int limits_read(struct limits *l, struct err *e)
{
	struct settings *set = session_settings(e);
	int rc = -1;

	if (!set)
		return -1;
	l->now_ms = clock_wall_ms();
	l->gen = generation_load(APPLIED_DIR, e);
	if (l->gen && aws_rate_parse(set->launch_instances_rate, &l->rate, e) == 0)
		rc = read_clouds(l, set, e);
	if (rc == 0 && read_state(l))
		rc = err_nomem(e);
	settings_destroy(set);
	return rc;
}

void limits_clear(struct limits *l)
{
	for (size_t i = 0; i < l->n_clouds; i++) {
		struct limits_cloud *c = &l->clouds[i];

		ec2_call_destroy(c->machines);
		ec2_call_destroy(c->reservations);
		ec2_call_destroy(c->types);
		ec2_call_destroy(c->subnets);
		aws_quotas_clear(&c->quotas);
		aws_destroy(c->aws);
	}
	for (size_t i = 0; i < l->n_away; i++)
		free(l->away[i].why);
	free(l->clouds);
	free(l->away);
	free(l->quotas);
	free(l->rows);
	shortages_clear(&l->shortages);
	strs_clear(&l->warnings);
	generation_destroy(l->gen);
	*l = (struct limits){0};
}
