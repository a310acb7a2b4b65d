/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ec2_fleet.c - CreateFleet of type instant: body and reader. Called by lib/apply for resources with several types or subnets.
 *
 * The answer groups ids by what they were launched as, tells no address, and may hold errors beside instances.
 */
#include "lib/aws/call.h"
#include "lib/aws/fleet.h"
#include "lib/aws/override.h"
#include "lib/aws/page.h"
#include "lib/aws/query.h"
#include "lib/node/offering.h"

/* --- reading */
struct fleet_page {
	struct ec2_launch_reply launch; /* first: what ec2_launch_reply() gives */
	struct fleet_group {
		size_t first;                 /* of its instances */
		char *type, *lifecycle;
		char *chosen_type, *subnet, *zone; /* of the override it came from */
	} group;
};

static void group_clear(struct fleet_group *g)
{
	free(g->type);
	free(g->lifecycle);
	free(g->chosen_type);
	free(g->subnet);
	free(g->zone);
	*g = (struct fleet_group){0};
}

static void error_clear(struct ec2_launch_error *e)
{
	free(e->code);
	free(e->message);
	free(e->type);
	free(e->subnet_id);
	free(e->zone);
}

PAGE_CREATE(fleet, struct fleet_page)

/* Every rule has a function of its own. */
static void *fleet_current(void *page)
{
	(void)page;
	return NULL;
}

static void fleet_destroy(void *page)
{
	struct fleet_page *p = page;

	if (!p)
		return;
	for (size_t i = 0; i < p->launch.n_errors; i++)
		error_clear(&p->launch.errors[i]);
	free(p->launch.errors);
	free(p->launch.fleet_id);
	instances_clear(&p->launch.instances);
	group_clear(&p->group);
	free(p);
}

/* The answer has one page. */
static int fleet_merge(void *into, void *from)
{
	struct fleet_page *a = into, *b = from;
	struct fleet_page empty = {0};
	struct ec2_launch_reply old = a->launch;

	a->launch = b->launch;
	b->launch = old;
	group_clear(&b->group);
	b->group = empty.group;
	return 0;
}

static int set_fleet_id(void *page, const char *text)
{
	return reply_text(&((struct fleet_page *)page)->launch.fleet_id, text);
}

static int group_open(void *page)
{
	struct fleet_page *p = page;

	group_clear(&p->group);
	p->group.first = p->launch.instances.n;
	return 0;
}

static int group_id(void *page, const char *text)
{
	struct instance *i;

	if (!*text)
		return 0;
	i = instances_add(&((struct fleet_page *)page)->launch.instances);
	if (!i)
		return -1;
	i->state = INSTANCE_PENDING;
	return reply_text(&i->id, text);
}

static int group_type(void *page, const char *text)
{
	return reply_text(&((struct fleet_page *)page)->group.type, text);
}

static int group_lifecycle(void *page, const char *text)
{
	return reply_text(&((struct fleet_page *)page)->group.lifecycle, text);
}

static int group_chosen_type(void *page, const char *text)
{
	return reply_text(&((struct fleet_page *)page)->group.chosen_type, text);
}

static int group_subnet(void *page, const char *text)
{
	return reply_text(&((struct fleet_page *)page)->group.subnet, text);
}

static int group_zone(void *page, const char *text)
{
	return reply_text(&((struct fleet_page *)page)->group.zone, text);
}

static int give(char **field, const char *text)
{
	return text ? reply_text(field, text) : 0;
}

/* What the group says holds for all its instances. */
static int group_close(void *page, const char *text)
{
	struct fleet_page *p = page;
	const struct fleet_group *g = &p->group;
	const char *lifecycle = g->lifecycle && strcmp(g->lifecycle, "on-demand") ? g->lifecycle : NULL;

	(void)text;
	for (size_t i = g->first; i < p->launch.instances.n; i++) {
		struct instance *x = &p->launch.instances.v[i];

		if (give(&x->type, g->type ? g->type : g->chosen_type) || give(&x->lifecycle, lifecycle) ||
		    give(&x->subnet_id, g->subnet) || give(&x->zone, g->zone))
			return -1;
	}
	return 0;
}

static int error_open(void *page)
{
	struct ec2_launch_reply *l = &((struct fleet_page *)page)->launch;

	if (mem_grow(&l->errors, &l->cap_errors, l->n_errors + 1, sizeof *l->errors))
		return -1;
	l->errors[l->n_errors++] = (struct ec2_launch_error){0};
	return 0;
}

static struct ec2_launch_error *last_error(void *page)
{
	struct ec2_launch_reply *l = &((struct fleet_page *)page)->launch;

	return &l->errors[l->n_errors - 1];
}

static int error_code(void *page, const char *text)
{
	return reply_text(&last_error(page)->code, text);
}

static int error_message(void *page, const char *text)
{
	return reply_text(&last_error(page)->message, text);
}

static int error_type(void *page, const char *text)
{
	return reply_text(&last_error(page)->type, text);
}

static int error_subnet(void *page, const char *text)
{
	return reply_text(&last_error(page)->subnet_id, text);
}

static int error_zone(void *page, const char *text)
{
	return reply_text(&last_error(page)->zone, text);
}

#define GROUP "fleetInstanceSet/item"
#define ERROR "errorSet/item"
#define CHOICE "/launchTemplateAndOverrides/overrides/"

static const struct reply_rule fleet_rules[] = {
	REPLY_RULE_CALL("fleetId", NULL, set_fleet_id),
	REPLY_RULE_CALL(GROUP, group_open, group_close),
	REPLY_RULE_CALL(GROUP "/instanceIds/item", NULL, group_id),
	REPLY_RULE_CALL(GROUP "/instanceType", NULL, group_type),
	REPLY_RULE_CALL(GROUP "/lifecycle", NULL, group_lifecycle),
	REPLY_RULE_CALL(GROUP CHOICE "instanceType", NULL, group_chosen_type),
	REPLY_RULE_CALL(GROUP CHOICE "subnetId", NULL, group_subnet),
	REPLY_RULE_CALL(GROUP CHOICE "availabilityZone", NULL, group_zone),
	REPLY_RULE_CALL(ERROR, error_open, NULL),
	REPLY_RULE_CALL(ERROR "/errorCode", NULL, error_code),
	REPLY_RULE_CALL(ERROR "/errorMessage", NULL, error_message),
	REPLY_RULE_CALL(ERROR CHOICE "instanceType", NULL, error_type),
	REPLY_RULE_CALL(ERROR CHOICE "subnetId", NULL, error_subnet),
	REPLY_RULE_CALL(ERROR CHOICE "availabilityZone", NULL, error_zone),
};

const struct reply_reader fleet_reader = PAGE_READER(fleet, "", fleet_rules);

/* --- building */
static void add_choice(struct buf *b, const struct ec2_fleet_choice *c, size_t index, bool spot)
{
	char *name = str_fmt("LaunchTemplateConfigs.1.Overrides.%zu", index);

	if (!name) {
		b->failed = true;
		return;
	}
	query_str(b, c->type, "%s.InstanceType", name);
	query_str(b, c->subnet_id, "%s.SubnetId", name);
	if (spot && c->max_price > 0)
		query_price(b, c->max_price, "%s.MaxPrice", name);
	if (c->priority >= 0)
		query_i64(b, c->priority, "%s.Priority", name);
	free(name);
}

/* A resource that falls back from one market to the other has a strategy for one of them only. */
static bool strategy_fits(const char *strategy, bool spot)
{
	return spot ? !str_eq(strategy, "prioritized") : str_eq(strategy, "lowest-price") || str_eq(strategy, "prioritized");
}

/* EC2 takes a least number only for a fleet of one type or of one zone. */
static void add_options(struct buf *b, const struct ec2_fleet *f, bool spot)
{
	const char *options = spot ? "SpotOptions" : "OnDemandOptions";

	if (strategy_fits(f->allocation_strategy, spot))
		query_str(b, f->allocation_strategy, "%s.AllocationStrategy", options);
	if (f->single_type)
		query_bool(b, true, "%s.SingleInstanceType", options);
	if (f->single_zone)
		query_bool(b, true, "%s.SingleAvailabilityZone", options);
	if (f->min_total > 0 && (f->single_type || f->single_zone))
		query_i64(b, f->min_total, "%s.MinTargetCapacity", options);
	if (!spot && f->reservations_first)
		query_str(b, "use-capacity-reservations-first", "OnDemandOptions.CapacityReservationOptions.UsageStrategy");
}

#define SPEC "LaunchTemplateConfigs.%zu.LaunchTemplateSpecification."

static void add_template(struct buf *b, const struct ec2_fleet *f, size_t config)
{
	query_str(b, f->template_id, SPEC "LaunchTemplateId", config);
	query_i64(b, f->template_version, SPEC "Version", config);
}

/* What no override may take away: the template of each config, and how many. */
static void add_ours(struct buf *b, const struct ec2_fleet *f)
{
	size_t configs = override_last(f->overrides, "LaunchTemplateConfigs");

	for (size_t i = 1; i <= configs; i++)
		add_template(b, f, i);
	if (override_has(f->overrides, "TargetCapacitySpecification"))
		query_i64(b, f->total, FLEET_TOTAL);
	override_tags(b, f->overrides, f->tags, (const char *const[]){"instance"}, 1);
}

struct ec2_call *ec2_create_fleet(const struct ec2_fleet *f)
{
	bool spot = !strcmp(f->capacity, MARKET_SPOT);
	struct buf b = {0};
	struct ec2_call *c;

	query_start(&b, "CreateFleet");
	query_str(&b, f->client_token, "ClientToken");
	query_str(&b, "instant", "Type");
	if (f->dry_run)
		query_bool(&b, true, "DryRun");
	add_template(&b, f, 1);
	for (size_t i = 0; i < f->n_choices; i++)
		add_choice(&b, &f->choices[i], i + 1, spot);
	query_i64(&b, f->total, FLEET_TOTAL);
	query_str(&b, f->capacity, "TargetCapacitySpecification.DefaultTargetCapacityType");
	add_options(&b, f, spot);
	override_apply(&b, f->overrides);
	add_ours(&b, f);
	c = call_create("CreateFleet", &b, &fleet_reader);
	if (c)
		c->instances = f->total;
	return c;
}
