/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet.c - CreateFleet of type instant: choices (template and overrides) in the order of the allocation strategy, planned as a
 * whole before the first instance starts. Instances and the refusals of single choices come in one answer.
 */
#include "ec2local/fleet.h"
#include "ec2local/cloud.h"
#include "ec2local/launch.h"
#include "ec2local/run.h"
#include "ec2local/supply.h"
#include "ec2local/xml.h"
#include "lib/base/clock.h"
#include "lib/base/num.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGET_MAX 10000 /* instances of one instant fleet */
#define CHOICES_MAX 300	 /* overrides of one fleet */

static const char *const params[] = {
    "ClientToken",
    "Type",
    "ExcessCapacityTerminationPolicy",
    "ReplaceUnhealthyInstances",
    "TerminateInstancesWithExpiration",
    "LaunchTemplateConfigs.N.LaunchTemplateSpecification.LaunchTemplateId",
    "LaunchTemplateConfigs.N.LaunchTemplateSpecification.LaunchTemplateName",
    "LaunchTemplateConfigs.N.LaunchTemplateSpecification.Version",
    "LaunchTemplateConfigs.N.Overrides.N.AvailabilityZone",
    "LaunchTemplateConfigs.N.Overrides.N.ImageId",
    "LaunchTemplateConfigs.N.Overrides.N.InstanceType",
    "LaunchTemplateConfigs.N.Overrides.N.MaxPrice",
    "LaunchTemplateConfigs.N.Overrides.N.Placement.GroupName",
    "LaunchTemplateConfigs.N.Overrides.N.Priority",
    "LaunchTemplateConfigs.N.Overrides.N.SubnetId",
    "OnDemandOptions.AllocationStrategy",
    "OnDemandOptions.CapacityReservationOptions.UsageStrategy",
    "OnDemandOptions.MaxTotalPrice",
    "OnDemandOptions.MinTargetCapacity",
    "OnDemandOptions.SingleAvailabilityZone",
    "OnDemandOptions.SingleInstanceType",
    "SpotOptions.AllocationStrategy",
    "SpotOptions.InstanceInterruptionBehavior",
    "SpotOptions.MaxTotalPrice",
    "SpotOptions.MinTargetCapacity",
    "SpotOptions.SingleAvailabilityZone",
    "SpotOptions.SingleInstanceType",
    "TagSpecification.N.ResourceType",
    "TagSpecification.N.Tag.N.Key",
    "TagSpecification.N.Tag.N.Value",
    "TargetCapacitySpecification.DefaultTargetCapacityType",
    "TargetCapacitySpecification.TotalTargetCapacity",
    NULL,
};

/* What a client token made. */
struct fleet_token {
	char *token;
	char hash[65];
	char id[48];
	struct buf answer;
};

/* One part of a choice: the same launch, from reserved capacity or not. */
struct part {
	struct launch *l; /* NULL = there is no such part */
	int64_t n;	  /* planned */
	struct strs ids;
};

/* A pool the fleet may take from. */
struct choice {
	int config, override; /* as numbered in the call; override 0 = the template alone */
	const struct template *t;
	const struct template_version *v;
	double priority;
	struct part reserved, plain;
	const struct launch *l; /* of either part; NULL when the launch itself is refused */
	struct refusal why;	/* code "" = none */
};

struct fleet {
	char id[48];
	enum market market;
	int64_t total, min;
	const char *strategy;
	bool single_type, single_zone, reserved_first;
	double max_total; /* dollars an hour, 0 = any */
	struct choice *v; /* in the order of the call, then in that of the strategy */
	size_t n, cap;
};

static void token_destroy(struct fleet_token *t)
{
	if (!t)
		return;
	free(t->token);
	buf_free(&t->answer);
	free(t);
}

void fleets_free(struct fleets *l)
{
	for (size_t i = 0; i < l->by_token.cap; i++)
		token_destroy(l->by_token.v[i].val);
	index_free(&l->by_token);
}

static void part_clear(struct part *p)
{
	if (p->l)
		p->l->template = NULL; /* instances live longer than templates */
	launch_unref(p->l);
	strs_clear(&p->ids);
}

static void fleet_clear(struct fleet *f)
{
	for (size_t i = 0; i < f->n; i++) {
		part_clear(&f->v[i].reserved);
		part_clear(&f->v[i].plain);
	}
	free(f->v);
}

/* --- what is asked for */

static int read_market(struct call *c, struct fleet *f)
{
	const char *text = call_need(c, "TargetCapacitySpecification.DefaultTargetCapacityType");

	if (!text)
		return -1;
	for (int m = 0; m < MARKETS; m++) {
		if (str_eq(text, market_name((enum market)m))) {
			f->market = (enum market)m;
			return 0;
		}
	}
	return call_bad_value(c, "DefaultTargetCapacityType", text);
}

static int check_strategy(struct call *c, struct fleet *f)
{
	static const char *const on_demand[] = {"lowest-price", "prioritized", NULL};
	static const char *const spot[] = {"lowest-price",
					   "diversified",
					   "capacity-optimized",
					   "capacity-optimized-prioritized",
					   "price-capacity-optimized",
					   NULL};
	const char *const *known = f->market == MARKET_SPOT ? spot : on_demand;

	if (!f->strategy)
		f->strategy = "lowest-price";
	for (; *known; known++) {
		if (str_eq(*known, f->strategy))
			return 0;
	}
	return call_bad_value(c, "AllocationStrategy", f->strategy);
}

/* SpotOptions or OnDemandOptions, whichever the fleet's market has. */
static int read_options(struct call *c, struct fleet *f)
{
	const char *of = f->market == MARKET_SPOT ? "SpotOptions" : "OnDemandOptions";
	const char *usage = params_getf(&c->params, "%s.CapacityReservationOptions.UsageStrategy", of);
	const char *most = params_getf(&c->params, "%s.MaxTotalPrice", of);
	const char *single_type = params_getf(&c->params, "%s.SingleInstanceType", of);
	const char *single_zone = params_getf(&c->params, "%s.SingleAvailabilityZone", of);
	const char *min = params_getf(&c->params, "%s.MinTargetCapacity", of);

	f->strategy = params_getf(&c->params, "%s.AllocationStrategy", of);
	f->single_type = str_eq(single_type, "true");
	f->single_zone = str_eq(single_zone, "true");
	f->reserved_first = usage != NULL;
	f->max_total = most ? strtod(most, NULL) : 0;
	if (usage && !str_eq(usage, "use-capacity-reservations-first"))
		return call_bad_value(c, "UsageStrategy", usage);
	if (most && !(f->max_total > 0))
		return call_bad_value(c, "MaxTotalPrice", most);
	if (min && num_i64(min, 1, TARGET_MAX, &f->min, NULL) < 0)
		return call_bad_value(c, "MinTargetCapacity", min);
	if (f->min && !f->single_type && !f->single_zone)
		return call_fail(c, 400, "InvalidParameterCombination",
				 "MinTargetCapacity needs SingleInstanceType or SingleAvailabilityZone");
	if (f->min > f->total)
		return call_fail(c, 400, "InvalidParameterValue", "MinTargetCapacity %lld is above TotalTargetCapacity %lld",
				 (long long)f->min, (long long)f->total);
	return check_strategy(c, f);
}

static int read_request(struct call *c, struct fleet *f)
{
	static const char total[] = "TargetCapacitySpecification.TotalTargetCapacity";
	const char *type = params_get(&c->params, "Type");

	if (!str_eq(type, "instant"))
		return call_fail(c, 400, "InvalidParameterValue", "Only fleets of type instant are made here, not '%.40s'",
				 type ? type : "maintain");
	if (params_has(&c->params, "ReplaceUnhealthyInstances") || params_has(&c->params, "ExcessCapacityTerminationPolicy") ||
	    params_has(&c->params, "TerminateInstancesWithExpiration"))
		return call_fail(c, 400, "InvalidParameterCombination", "An instant fleet is not kept up");
	if (!call_need(c, total) || call_int(c, total, 1, TARGET_MAX, &f->total) < 0)
		return -1;
	return read_market(c, f) < 0 ? -1 : read_options(c, f);
}

/* --- choices */

/* Write the choice's own launch data: what its override says. */
static int own_data(const struct call *c, const struct fleet *f, const struct choice *x, struct params *out)
{
	static const struct {
		const char *from, *to;
	} names[] = {{"ImageId", "ImageId"},
		     {"InstanceType", "InstanceType"},
		     {"MaxPrice", "InstanceMarketOptions.SpotOptions.MaxPrice"},
		     {"AvailabilityZone", "Placement.AvailabilityZone"},
		     {"Placement.GroupName", "Placement.GroupName"},
		     {"SubnetId", "SubnetId"}};

	if (f->market == MARKET_SPOT && params_add(out, "InstanceMarketOptions.MarketType", "spot") < 0)
		return -1;
	for (size_t i = 0; x->override && i < sizeof(names) / sizeof(*names); i++) {
		const char *val =
		    params_getf(&c->params, "LaunchTemplateConfigs.%d.Overrides.%d.%s", x->config, x->override, names[i].from);

		if (val && params_add(out, names[i].to, val) < 0)
			return -1;
	}
	params_sort(out);
	return 0;
}

static struct launch *resolve(struct call *c, const struct fleet *f, const struct choice *x)
{
	struct params own = {0};
	struct launch *l = NULL;

	if (own_data(c, f, x, &own) < 0)
		call_nomem(c);
	else
		l = launch_resolve_choice(c, &own, x->t, x->v, f->market);
	params_clear(&own);
	if (!l)
		return NULL;
	free(l->client_token);
	l->client_token = str_fmt("%s-%d-%d", f->id, x->config, x->override);
	if (l->client_token && kvs_add(&l->tags, "aws:ec2:fleet-id", f->id) == 0)
		return l;
	launch_unref(l);
	call_nomem(c);
	return NULL;
}

/* The launch of a choice; what is wrong with it is the choice's refusal, as EC2 tells it, not the call's. */
static int resolve_parts(struct call *c, const struct fleet *f, struct choice *x)
{
	struct launch *l = resolve(c, f, x);

	if (!l) {
		if (c->status == 500)
			return -1;
		x->why.status = c->status;
		snprintf(x->why.code, sizeof(x->why.code), "%s", c->fail_code);
		snprintf(x->why.text, sizeof(x->why.text), "%.250s", c->fail_text);
		call_unfail(c);
		return 0;
	}
	x->l = l;
	if (l->from)
		x->reserved.l = l;
	else
		x->plain.l = l;
	if (!f->reserved_first || l->market != MARKET_ON_DEMAND)
		return 0;
	if (l->from)
		return (x->plain.l = resolve(c, f, x)) ? (x->plain.l->from = NULL, 0) : -1;
	if (!reservations_open(&c->cloud->reservations, l, c->now_ms))
		return 0;
	x->reserved.l = resolve(c, f, x);
	if (!x->reserved.l)
		return -1;
	x->reserved.l->from = reservations_open(&c->cloud->reservations, l, c->now_ms);
	return 0;
}

static int add_choice(struct call *c, struct fleet *f, const struct choice *from)
{
	const char *text;
	struct choice *x;
	char *end = NULL;

	if (f->n >= CHOICES_MAX)
		return call_fail(c, 400, "InvalidFleetConfig", "More than %d overrides", CHOICES_MAX);
	if (mem_grow(&f->v, &f->cap, f->n + 1, sizeof(*f->v)) < 0)
		return call_nomem(c);
	x = &f->v[f->n++];
	*x = *from;
	x->priority = 1e9; /* one without a priority comes last */
	text = params_getf(&c->params, "LaunchTemplateConfigs.%d.Overrides.%d.Priority", x->config, x->override);
	if (text) {
		x->priority = strtod(text, &end);
		if (end == text || *end || x->priority < 0)
			return call_bad_value(c, "Priority", text);
	}
	return resolve_parts(c, f, x);
}

/* A market belongs to the fleet, not to its template; only a capacity block is named in both. */
static int check_template(struct call *c, const struct fleet *f, const struct choice *x)
{
	const char *market = params_get(&x->v->data, "InstanceMarketOptions.MarketType");

	if (f->market == MARKET_BLOCK && str_eq(market, "capacity-block"))
		return 0;
	if (params_has(&x->v->data, "InstanceMarketOptions"))
		return call_fail(c, 400, "InvalidFleetConfig",
				 "The launch template %s has InstanceMarketOptions, which a fleet does not take", x->t->id);
	return 0;
}

static int read_config(struct call *c, struct fleet *f, int config)
{
	struct choice x = {.config = config};
	char *prefix = str_fmt("LaunchTemplateConfigs.%d.LaunchTemplateSpecification.", config);
	int rc;

	x.v = prefix ? templates_resolve(c, prefix, &x.t) : NULL;
	free(prefix);
	if (!x.v)
		return c->status == 200 ? call_nomem(c) : -1;
	if (!params_getf(&c->params, "LaunchTemplateConfigs.%d.LaunchTemplateSpecification.Version", config))
		return call_fail(c, 400, "MissingParameter", "The launch template specification needs a Version");
	rc = check_template(c, f, &x);
	if (rc == 0 && !params_hasf(&c->params, "LaunchTemplateConfigs.%d.Overrides", config))
		return add_choice(c, f, &x);
	for (x.override = 1; rc == 0 && params_hasf(&c->params, "LaunchTemplateConfigs.%d.Overrides.%d", config, x.override);
	     x.override++)
		rc = add_choice(c, f, &x);
	return rc;
}

static int check_pools(struct call *c, const struct fleet *f)
{
	for (size_t i = 0; i < f->n; i++) {
		for (size_t k = 0; f->v[i].l && k < i; k++) {
			const struct launch *a = f->v[i].l, *b = f->v[k].l;

			if (b && a->type == b->type && str_eq(a->subnet->zone, b->subnet->zone))
				return call_fail(c, 400, "InvalidFleetConfig",
						 "The fleet configuration contains duplicate instance pools.");
		}
	}
	return 0;
}

static int read_choices(struct call *c, struct fleet *f)
{
	if (!params_has(&c->params, "LaunchTemplateConfigs"))
		return call_fail(c, 400, "MissingParameter", "The request must contain the parameter LaunchTemplateConfigs");
	for (int i = 1; params_hasf(&c->params, "LaunchTemplateConfigs.%d", i); i++) {
		if (read_config(c, f, i) < 0)
			return -1;
	}
	return check_pools(c, f);
}

static int allowed(struct call *c, const struct fleet *f)
{
	struct kvs tags = {0};
	int rc = call_tags(c, &c->params, "fleet", &tags);

	if (rc == 0)
		rc = call_allowed_on(c, "fleet", "*", NULL, &tags) < 0 || call_may_tag(c, "fleet", "*", &tags) < 0 ? -1 : 0;
	for (size_t i = 0; rc == 0 && i < f->n; i++) {
		rc = call_allowed_on(c, "launch-template", f->v[i].t->id, &f->v[i].t->tags, NULL);
		if (rc == 0 && f->v[i].l)
			rc = run_allowed(c, f->v[i].l);
	}
	kvs_clear(&tags);
	return rc;
}

/* --- planning */

static double price_of(struct cloud *cloud, const struct launch *l)
{
	return l->market == MARKET_SPOT ? supply_spot_price(cloud, l->type, l->subnet->zone) : supply_price(l->type);
}

/* Smaller is taken first. */
static double rank(struct cloud *cloud, const struct fleet *f, const struct choice *x)
{
	int64_t left = supply_left(cloud, x->l);

	if (str_eq(f->strategy, "prioritized"))
		return x->priority;
	if (str_eq(f->strategy, "capacity-optimized"))
		return -(double)left;
	if (str_eq(f->strategy, "capacity-optimized-prioritized"))
		return (left < f->total ? 2e9 : 0) + x->priority;
	if (str_eq(f->strategy, "price-capacity-optimized"))
		return (left < f->total ? 1e9 : 0) + price_of(cloud, x->l);
	return str_eq(f->strategy, "diversified") ? 0 : price_of(cloud, x->l);
}

/* Those that cannot be launched at all first, the rest by rank; equal ones keep their order. */
static void sort(struct cloud *cloud, struct fleet *f)
{
	for (size_t i = 1; i < f->n; i++) {
		struct choice x = f->v[i];
		double own = x.l ? rank(cloud, f, &x) : -1e300;
		size_t k = i;

		for (; k && own < (f->v[k - 1].l ? rank(cloud, f, &f->v[k - 1]) : -1e300); k--)
			f->v[k] = f->v[k - 1];
		f->v[k] = x;
	}
}

/* Is x in the group of `first`? Fleets of a single type or zone choose one group, others have one. */
static bool together(const struct fleet *f, const struct choice *first, const struct choice *x)
{
	return x->l && (!f->single_type || x->l->type == first->l->type) &&
	       (!f->single_zone || str_eq(x->l->subnet->zone, first->l->subnet->zone));
}

static int64_t plan_part(struct call *c, const struct fleet *f, struct choice *x, struct part *p, int64_t want, double *spent)
{
	double price = p->l ? price_of(c->cloud, p->l) : 0;
	struct refusal why;
	int64_t n;

	if (f->max_total > 0 && p->l && *spent + price * (double)want > f->max_total)
		want = (int64_t)((f->max_total - *spent) / price + 1e-9);
	if (!p->l || want <= 0)
		return 0;
	n = supply_ask(c->cloud, p->l, c->now_ms, 1, want, &why);
	if (n < want)
		x->why = why;
	supply_hold(c->cloud, p->l, n);
	p->n += n;
	*spent += price * (double)n;
	return n;
}

/* Plan the group of `first`; how many it gives. */
static int64_t plan_group(struct call *c, struct fleet *f, const struct choice *first)
{
	int64_t got = 0, share = str_eq(f->strategy, "diversified") ? 1 : f->total;
	int64_t before = -1;
	double spent = 0;

	while (got < f->total && got != before) {
		before = got;
		for (size_t i = 0; got < f->total && i < f->n; i++) {
			struct choice *x = &f->v[i];
			int64_t want = share < f->total - got ? share : f->total - got, own;

			if (!together(f, first, x))
				continue;
			x->why = (struct refusal){0};
			own = plan_part(c, f, x, &x->reserved, want, &spent);
			if (own < want)
				own += plan_part(c, f, x, &x->plain, want - own, &spent);
			got += own;
		}
		if (share == f->total)
			break;
	}
	return got;
}

static void unplan(struct cloud *cloud, struct fleet *f, bool forget)
{
	for (size_t i = 0; i < f->n; i++) {
		struct part *both[] = {&f->v[i].reserved, &f->v[i].plain};

		for (size_t k = 0; k < 2; k++) {
			if (both[k]->l)
				supply_hold(cloud, both[k]->l, -both[k]->n);
			if (forget)
				both[k]->n = 0;
		}
	}
}

static const struct choice *first_launchable(const struct fleet *f)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->v[i].l)
			return &f->v[i];
	}
	return NULL;
}

/* The group that gives all, else the one that gives most; each is tried. */
static const struct choice *best_group(struct call *c, struct fleet *f)
{
	const struct choice *best = first_launchable(f);
	int64_t most = -1;

	if (!f->single_type && !f->single_zone)
		return best;
	for (size_t i = 0; most < f->total && i < f->n; i++) {
		int64_t got;

		if (!f->v[i].l)
			continue;
		got = plan_group(c, f, &f->v[i]);
		unplan(c->cloud, f, true);
		if (got > most) {
			most = got;
			best = &f->v[i];
		}
	}
	return best;
}

static void plan(struct call *c, struct fleet *f)
{
	const struct choice *group;
	int64_t got;

	sort(c->cloud, f);
	group = best_group(c, f);
	if (!group)
		return;
	got = plan_group(c, f, group);
	unplan(c->cloud, f, false);
	if (got >= f->min)
		return;
	for (size_t i = 0; i < f->n; i++) {
		struct choice *x = &f->v[i];

		if ((x->reserved.n || x->plain.n) && !*x->why.code)
			x->why = (struct refusal){400, "UnfulfillableCapacity",
						  "Unable to fulfill capacity due to your request configuration. Please adjust "
						  "your request and try again."};
		x->reserved.n = x->plain.n = 0;
	}
}

/* --- the answer */

static void override_element(struct call *c, const struct choice *x)
{
	static const char *const names[] = {"InstanceType", "MaxPrice", "SubnetId", "AvailabilityZone", "Priority", "ImageId"};
	static const char *const shown[] = {"instanceType", "maxPrice", "subnetId", "availabilityZone", "priority", "imageId"};
	struct buf *b = &c->out;

	xml_open(b, "overrides");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *val =
		    params_getf(&c->params, "LaunchTemplateConfigs.%d.Overrides.%d.%s", x->config, x->override, names[i]);

		if (!val && x->l && str_eq(names[i], "AvailabilityZone"))
			val = x->l->subnet->zone;
		if (!val && x->l && str_eq(names[i], "InstanceType"))
			val = x->l->type->name;
		xml_text(b, shown[i], val);
	}
	xml_close(b, "overrides");
}

static void choice_element(struct call *c, const struct choice *x)
{
	struct buf *b = &c->out;

	xml_open(b, "launchTemplateAndOverrides");
	xml_open(b, "launchTemplateSpecification");
	xml_text(b, "launchTemplateId", x->t->id);
	xml_int(b, "version", x->v->number);
	xml_close(b, "launchTemplateSpecification");
	override_element(c, x);
	xml_close(b, "launchTemplateAndOverrides");
}

static void lifecycle(struct buf *b, const struct fleet *f)
{
	xml_text(b, "lifecycle", market_name(f->market));
}

static void errors_element(struct call *c, const struct fleet *f)
{
	struct buf *b = &c->out;

	xml_open(b, "errorSet");
	for (size_t i = 0; i < f->n; i++) {
		const struct choice *x = &f->v[i];

		if (!*x->why.code)
			continue;
		xml_open(b, "item");
		choice_element(c, x);
		lifecycle(b, f);
		xml_text(b, "errorCode", x->why.code);
		xml_text(b, "errorMessage", x->why.text);
		xml_close(b, "item");
	}
	xml_close(b, "errorSet");
}

static void instances_element(struct call *c, const struct fleet *f)
{
	struct buf *b = &c->out;

	xml_open(b, "fleetInstanceSet");
	for (size_t i = 0; i < f->n; i++) {
		const struct choice *x = &f->v[i];
		const struct strs *lists[] = {&x->reserved.ids, &x->plain.ids};

		if (!lists[0]->n && !lists[1]->n)
			continue;
		xml_open(b, "item");
		choice_element(c, x);
		lifecycle(b, f);
		xml_open(b, "instanceIds");
		for (size_t k = 0; k < 2; k++) {
			for (size_t j = 0; j < lists[k]->n; j++)
				xml_text(b, "item", lists[k]->v[j]);
		}
		xml_close(b, "instanceIds");
		xml_text(b, "instanceType", x->l->type->name);
		xml_close(b, "item");
	}
	xml_close(b, "fleetInstanceSet");
}

static int start(struct call *c, struct fleet *f)
{
	for (size_t i = 0; i < f->n; i++) {
		struct part *both[] = {&f->v[i].reserved, &f->v[i].plain};

		for (size_t k = 0; k < 2; k++) {
			if (both[k]->n && supply_start(c, both[k]->l, 1, both[k]->n, &both[k]->ids) < 0)
				return -1;
		}
	}
	return 0;
}

/* The faults that control asked for: true = they are the whole outcome. */
static bool play_faults(struct faults *faults, struct fleet *f)
{
	if (faults->fleet_empty > 0) {
		faults->fleet_empty--;
		for (size_t i = 0; i < f->n; i++)
			f->v[i].why.code[0] = '\0';
		return true;
	}
	if (faults->fleet_errors <= 0)
		return false;
	faults->fleet_errors--;
	for (size_t i = 0; i < f->n; i++) {
		struct refusal *why = &f->v[i].why;

		why->status = 400;
		snprintf(why->code, sizeof(why->code), "%s", faults->fleet_code ? faults->fleet_code : "InternalError");
		snprintf(why->text, sizeof(why->text), "an error set by the control endpoint");
	}
	return true;
}

/* --- the client token */

/* *seen = the record of the call's token if it was used. -1 = error written. */
static int look_up_token(struct call *c, const char *token, const char *hash, struct fleet_token **seen)
{
	if (!token)
		return 0;
	if (run_check_token(c, token) < 0)
		return -1;
	*seen = index_get(&c->cloud->fleets.by_token, token);
	if (*seen && strcmp((*seen)->hash, hash))
		return call_fail(c, 400, "IdempotentParameterMismatch",
				 "The client token '%.64s' was used before with other parameters", token);
	return 0;
}

static int keep_token(struct call *c, const struct fleet *f, const char *token, const char *hash, size_t from)
{
	struct fleet_token *t = calloc(1, sizeof(*t));

	if (t) {
		t->token = str_dup(token);
		strcpy(t->hash, hash);
		strcpy(t->id, f->id);
		buf_add(&t->answer, buf_text(&c->out) + from, c->out.n - from);
	}
	if (t && t->token && !buf_failed(&t->answer) && index_put(&c->cloud->fleets.by_token, t->token, t) == 0)
		return 0;
	token_destroy(t);
	return call_nomem(c);
}

static void repeat(struct call *c, const struct fleet_token *t)
{
	if (c->cloud->faults.fleet_replay_empty) {
		xml_text(&c->out, "fleetId", t->id);
		buf_str(&c->out, "<errorSet/><fleetInstanceSet/>");
		return;
	}
	buf_add(&c->out, buf_text(&t->answer), t->answer.n);
}

static int launch(struct call *c, struct fleet *f)
{
	const char *token = params_get(&c->params, "ClientToken");
	struct fleet_token *seen = NULL;
	size_t from = c->out.n;
	char hash[65];

	call_hash(c, hash);
	if (look_up_token(c, token, hash, &seen) < 0)
		return -1;
	if (seen) {
		repeat(c, seen);
		return 0;
	}
	if (!play_faults(&c->cloud->faults, f))
		plan(c, f);
	if (start(c, f) < 0)
		return -1;
	xml_text(&c->out, "fleetId", f->id);
	errors_element(c, f);
	instances_element(c, f);
	if (token && keep_token(c, f, token, hash, from) < 0)
		return -1;
	if (c->cloud->faults.lost_answers > 0) {
		c->cloud->faults.lost_answers--;
		c->drop = true;
	}
	return 0;
}

static int create(struct call *c)
{
	struct fleet f = {0};
	char uuid[37];
	int rc = -1;

	rand_uuid(uuid);
	snprintf(f.id, sizeof(f.id), "fleet-%s", uuid);
	if (read_request(c, &f) == 0 && read_choices(c, &f) == 0 && allowed(c, &f) == 0 && call_dry_run(c) == 0)
		rc = launch(c, &f);
	fleet_clear(&f);
	return rc;
}

const struct action fleet_actions[] = {
    {"CreateFleet", create, params, true, NULL},
    {NULL, NULL, NULL, false, NULL},
};
