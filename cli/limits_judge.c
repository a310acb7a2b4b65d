/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limits_judge.c - what is below MaxCount, and by how much: the lines and sentences of `slurm-ec2 limits`, from what
 * limits_read.c read. Asks nobody. What is not known is -1 and never a warning.
 */
#include "build_config.h"

#include "cli/limits.h"
#include "lib/aws/ec2.h"
#include "lib/base/buf.h"
#include "lib/cluster/generation.h"
#include "lib/plan/capacity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BURST 1000 /* EC2's own: so many machines at once, */
#define REFILL 2   /* then so many a second */
#define REMEDY_QUOTA "ask AWS for a higher quota (Service Quotas), or lower MaxCount"

static const struct limits_cloud *cloud_of(const struct limits *l, const struct gen_resource *r)
{
	return &l->clouds[r->cloud];
}

static int64_t vcpus_of(const struct limits_cloud *c, const char *type)
{
	const struct itypes *all = c->types ? ec2_describe_instance_types_reply(c->types) : NULL;
	const struct itype *t = all && type ? itypes_find(all, type) : NULL;

	return t ? t->vcpus : -1;
}

static const struct instances *machines_of(const struct limits_cloud *c)
{
	return c->machines ? ec2_describe_reply(c->machines) : NULL;
}

static const struct ec2_reservations *reservations_of(const struct limits_cloud *c)
{
	return c->reservations ? ec2_describe_reservations_reply(c->reservations) : NULL;
}

static bool is_ours(const struct limits *l, const struct instance *m)
{
	return str_eq(m->cluster, l->gen->uuid);
}

/* --- quotas */

static void use_machines(const struct limits *l, struct limits_quota *q)
{
	const struct limits_cloud *c = &l->clouds[q->cloud];
	const struct instances *m = machines_of(c);

	q->ours = q->others = m ? 0 : -1;
	for (size_t i = 0; m && i < m->n && q->ours >= 0; i++) {
		const struct instance *x = &m->v[i];
		int64_t *sum = is_ours(l, x) ? &q->ours : &q->others;
		int64_t n = vcpus_of(c, x->type);

		if (!x->type || !str_eq(aws_quota_code(x->type, x->lifecycle ? x->lifecycle : MARKET_ONDEMAND), q->code))
			continue;
		if (n < 0)
			q->ours = q->others = -1;
		else
			*sum += n;
	}
}

/* A reservation takes from the on-demand quota for all its machines, used or not. */
static void use_reserved(const struct limits *l, struct limits_quota *q)
{
	const struct limits_cloud *c = &l->clouds[q->cloud];
	const struct ec2_reservations *r = reservations_of(c);

	for (size_t i = 0; r && i < r->n && q->others >= 0; i++) {
		int64_t n = vcpus_of(c, r->v[i].type);

		if (n > 0 && str_eq(r->v[i].state, "active") && !str_eq(r->v[i].kind, MARKET_BLOCK) &&
		    str_eq(aws_quota_code(r->v[i].type, MARKET_ONDEMAND), q->code))
			q->others += n * r->v[i].available;
	}
}

/* The quota's position, made at its first use. SIZE_MAX = no memory. */
static size_t take_quota(struct limits *l, size_t cloud, const char *code)
{
	const struct limits_cloud *c = &l->clouds[cloud];
	const struct aws_quota *told = c->has_quotas ? aws_quotas_find(&c->quotas, code) : NULL;
	struct limits_quota *q;

	for (size_t i = 0; i < l->n_quotas; i++)
		if (l->quotas[i].cloud == cloud && str_eq(l->quotas[i].code, code))
			return i;
	if (mem_grow(&l->quotas, &l->cap_quotas, l->n_quotas + 1, sizeof(*l->quotas)))
		return SIZE_MAX;
	q = &l->quotas[l->n_quotas];
	*q = (struct limits_quota){
	    .cloud = cloud, .code = code, .name = told ? told->name : NULL, .value = told ? (int64_t)told->value : -1};
	use_machines(l, q);
	use_reserved(l, q);
	return l->n_quotas++;
}

/* vCPUs that this cluster may have of it; -1. Without a view of what runs: the whole quota. */
static int64_t room_of(const struct limits_quota *q)
{
	int64_t others = q->others > 0 ? q->others : 0;

	if (q->value < 0)
		return -1;
	return q->value > others ? q->value - others : 0;
}

/* Machines that one quota has room for, of the greatest type of the stage that counts against it. */
static int64_t machines_room(const struct limits *l, const struct limits_row *row, size_t quota)
{
	const struct limits_quota *q = &l->quotas[quota];
	int64_t most = 0, room = room_of(q);

	for (size_t i = 0; i < row->stage->instance_types.n; i++) {
		const char *type = row->stage->instance_types.v[i];
		int64_t n = vcpus_of(cloud_of(l, row->r), type);

		if (!str_eq(aws_quota_code(type, row->market), q->code))
			continue;
		if (n <= 0)
			return -1;
		most = n > most ? n : most;
	}
	return room < 0 || !most ? -1 : room / most;
}

/* A type without a known quota has room without end, so nothing is said of such a stage. */
static int fill_quotas(struct limits *l, struct limits_row *row)
{
	bool seen_all = true;
	size_t seen[32], n_seen = 0;

	row->quota = SIZE_MAX;
	row->quota_room = 0;
	for (size_t i = 0; i < row->stage->instance_types.n; i++) {
		const char *code = aws_quota_code(row->stage->instance_types.v[i], row->market);
		size_t q, k = 0;
		int64_t room;

		if (!code) {
			seen_all = false;
			continue;
		}
		q = take_quota(l, (size_t)row->r->cloud, code);
		if (q == SIZE_MAX)
			return -1;
		row->quota = row->quota == SIZE_MAX ? q : row->quota;
		row->more_quotas = row->more_quotas || q != row->quota;
		while (k < n_seen && seen[k] != q)
			k++;
		if (k < n_seen || n_seen == 32)
			continue;
		seen[n_seen++] = q;
		room = machines_room(l, row, q);
		seen_all = seen_all && room >= 0;
		row->quota_room += room > 0 ? room : 0;
	}
	if (!seen_all || row->quota == SIZE_MAX)
		row->quota_room = -1;
	return 0;
}

static int64_t greatest_vcpus(const struct limits *l, const struct gen_resource *r, const struct gen_stage *g)
{
	int64_t most = -1;

	for (size_t i = 0; i < g->instance_types.n; i++) {
		int64_t n = vcpus_of(cloud_of(l, r), g->instance_types.v[i]);

		if (n < 0)
			return -1;
		most = n > most ? n : most;
	}
	return most;
}

/* --- addresses */

static int64_t free_addresses(const struct limits_cloud *c, const char *subnet)
{
	const struct ec2_subnets *all = c->subnets ? ec2_describe_subnets_reply(c->subnets) : NULL;

	for (size_t i = 0; all && i < all->n; i++)
		if (str_eq(all->v[i].id, subnet))
			return all->v[i].free_addresses;
	return -1;
}

static int64_t stage_addresses(const struct limits_cloud *c, const struct gen_stage *g)
{
	int64_t sum = 0;

	for (size_t i = 0; i < g->subnet_ids.n; i++) {
		int64_t n = free_addresses(c, g->subnet_ids.v[i]);

		if (n < 0)
			return -1;
		sum += n;
	}
	return g->subnet_ids.n ? sum : -1;
}

/* This cluster's machines in a subnet have an address already. */
static int64_t ours_in(const struct limits *l, const struct limits_cloud *c, const char *subnet)
{
	const struct instances *m = machines_of(c);
	int64_t n = 0;

	for (size_t i = 0; m && i < m->n; i++)
		n += is_ours(l, &m->v[i]) && str_eq(m->v[i].subnet_id, subnet);
	return n;
}

/* --- reservations, rate, shortages */

static void fill_reservation(const struct limits *l, struct limits_row *row)
{
	const struct ec2_reservations *all = reservations_of(cloud_of(l, row->r));

	row->reserved_total = row->reserved_free = -1;
	if (!row->r->reservation_id || str_eq(row->market, MARKET_SPOT) || !all)
		return;
	for (size_t i = 0; i < all->n; i++) {
		if (!str_eq(all->v[i].id, row->r->reservation_id))
			continue;
		row->reserved = all->v[i].state;
		row->reserved_total = all->v[i].total;
		row->reserved_free = all->v[i].available;
	}
	row->reserved_gone = row->reserved_total < 0;
}

static int64_t launch_seconds(const struct limits *l, int64_t n)
{
	double size = l->rate.size > 0 ? l->rate.size : BURST, refill = l->rate.size > 0 ? l->rate.per_second : REFILL;

	return (double)n > size ? (int64_t)(((double)n - size) / refill + 0.999) : 0;
}

static bool covers(const struct gen_stage *g, const struct shortage *f)
{
	return strs_has(&g->instance_types, f->of.type) &&
	       (str_eq(f->of.zone, ZONE_ANY) || !g->zones.n || strs_has(&g->zones, f->of.zone));
}

static bool is_closed(const struct limits *l, const struct limits_row *row, const char *type, const char *zone)
{
	for (size_t i = 0; i < l->shortages.n; i++) {
		const struct shortage *f = &l->shortages.v[i];

		if (str_eq(f->of.type, type) && str_eq(f->of.market, row->market) && capacity_holds(f, row->stage) &&
		    capacity_allowed(f, l->now_ms) == 0 && (str_eq(f->of.zone, ZONE_ANY) || str_eq(f->of.zone, zone)))
			return true;
	}
	return false;
}

/* Two subnets of a zone are one offering. */
static int fill_offerings(const struct limits *l, struct limits_row *row)
{
	const struct gen_stage *g = row->stage;
	struct strs zones = {0};
	int rc = 0;

	for (size_t i = 0; i < g->zones.n && rc == 0; i++)
		rc = strs_has(&zones, g->zones.v[i]) ? 0 : strs_add(&zones, g->zones.v[i]);
	if (rc == 0 && !zones.n)
		rc = strs_add(&zones, "");
	for (size_t t = 0; t < g->instance_types.n && rc == 0; t++)
		for (size_t z = 0; z < zones.n; z++) {
			row->offerings++;
			row->closed += is_closed(l, row, g->instance_types.v[t], zones.v[z]);
		}
	strs_clear(&zones);
	if (!l->has_shortages)
		row->closed = -1;
	return rc;
}

/* --- rows */

static int64_t running_of(const struct limits *l, const struct gen_resource *r)
{
	const struct instances *m = machines_of(cloud_of(l, r));
	int64_t n = 0;

	for (size_t i = 0; m && i < m->n; i++)
		n += is_ours(l, &m->v[i]) && str_eq(m->v[i].queue, r->queue) && str_eq(m->v[i].resource, r->name);
	return m ? n : -1;
}

static void add_need(struct limits_quota *q, int64_t vcpus)
{
	q->resources++;
	q->need = q->need < 0 || vcpus < 0 ? -1 : q->need + vcpus;
}

static int add_row(struct limits *l, const struct gen_resource *r, size_t stage)
{
	struct limits_row row = {.r = r, .stage = &r->stages[stage], .running = running_of(l, r)};
	int64_t each = greatest_vcpus(l, r, row.stage);

	row.market = capacity_market(r, row.stage);
	row.vcpus = each < 0 ? -1 : each * r->max_count;
	row.addresses = stage_addresses(cloud_of(l, r), row.stage);
	row.seconds = launch_seconds(l, r->max_count);
	fill_reservation(l, &row);
	if (fill_quotas(l, &row) || fill_offerings(l, &row) ||
	    mem_grow(&l->rows, &l->cap_rows, l->n_rows + 1, sizeof(*l->rows)))
		return -1;
	if (stage == 0 && row.quota != SIZE_MAX && !row.more_quotas)
		add_need(&l->quotas[row.quota], row.vcpus);
	l->rows[l->n_rows++] = row;
	return 0;
}

/* --- sentences */

static const char *plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

static char *who(const struct limits_row *row)
{
	bool first = row->stage == row->r->stages;

	return first ? str_fmt("%s/%s", row->r->queue, row->r->name)
		     : str_fmt("%s/%s, stage %zu", row->r->queue, row->r->name, (size_t)(row->stage - row->r->stages));
}

static int warn_quota(struct limits *l, const struct limits_row *row, const char *name)
{
	const struct limits_quota *q = row->quota == SIZE_MAX ? NULL : &l->quotas[row->quota];

	if (!q || row->quota_room < 0 || row->quota_room >= row->r->max_count)
		return 0;
	return strs_addf(&l->warnings,
			 "%s: the vCPU quota %s (%s) in %s is %" PRId64 ", with %" PRId64
			 " in use by others%s: room for %" PRId64 " machine%s, MaxCount is %d; " REMEDY_QUOTA,
			 name, q->code, q->name, l->clouds[q->cloud].region, q->value, q->others > 0 ? q->others : 0,
			 row->more_quotas ? ", and the other types have one of their own" : "", row->quota_room,
			 plural(row->quota_room), row->r->max_count);
}

static int warn_addresses(struct limits *l, const struct limits_row *row, const char *name)
{
	int64_t have = row->addresses;
	char *subnets;
	int rc;

	for (size_t i = 0; have >= 0 && i < row->stage->subnet_ids.n; i++)
		have += ours_in(l, cloud_of(l, row->r), row->stage->subnet_ids.v[i]);
	if (have < 0 || have >= row->r->max_count)
		return 0;
	subnets = strs_join(&row->stage->subnet_ids, ", ");
	rc = strs_addf(&l->warnings,
		       "%s: %s ha%s room for %" PRId64 " machine%s of this cluster (%" PRId64
		       " free addresses), MaxCount is %d; name another subnet in SubnetIds, or lower MaxCount",
		       name, subnets ? subnets : "its subnets", row->stage->subnet_ids.n == 1 ? "s" : "ve", have, plural(have),
		       row->addresses, row->r->max_count);
	free(subnets);
	return rc;
}

static int warn_reservation(struct limits *l, const struct limits_row *row, const char *name)
{
	const char *id = row->r->reservation_id;

	if (row->reserved_gone)
		return strs_addf(&l->warnings, "%s: EC2 knows no capacity reservation %s", name, id);
	if (!row->reserved)
		return 0;
	if (strcmp(row->reserved, "active") != 0)
		return strs_addf(&l->warnings, "%s: capacity reservation %s is %s, so it gives no machine", name, id,
				 row->reserved);
	if (row->reserved_total >= row->r->max_count)
		return 0;
	return strs_addf(&l->warnings,
			 "%s: capacity reservation %s has %" PRId64 " machine%s (%" PRId64 " free), MaxCount is %d", name, id,
			 row->reserved_total, plural(row->reserved_total), row->reserved_free, row->r->max_count);
}

static int warn_shortage(struct limits *l, const struct limits_row *row, const char *name, const struct shortage *f)
{
	bool any = str_eq(f->of.zone, ZONE_ANY);
	int64_t wait = f->until_ms > l->now_ms ? (f->until_ms - l->now_ms + 999) / 1000 : 0;
	char *when;
	int rc;

	if (!str_eq(f->of.market, row->market) || !covers(row->stage, f) || !capacity_holds(f, row->stage) ||
	    capacity_allowed(f, l->now_ms) != 0)
		return 0;
	when = wait ? str_fmt("asked again in %" PRId64 " s", wait) : str_dup("a probe is under way");
	rc = strs_addf(&l->warnings, "%s: EC2 gave no %s in %s (%s), %s", name, f->of.type, any ? "any zone" : f->of.zone,
		       f->code ? f->code : "no code", when ? when : "");
	free(when);
	return rc;
}

static int warn_row(struct limits *l, const struct limits_row *row)
{
	char *name = who(row);
	int rc = !name || warn_quota(l, row, name) || warn_addresses(l, row, name) || warn_reservation(l, row, name);

	for (size_t i = 0; i < l->shortages.n && rc == 0; i++)
		rc = warn_shortage(l, row, name, &l->shortages.v[i]);
	free(name);
	return rc ? -1 : 0;
}

/* Each resource may fit alone, and all together not. */
static int warn_shared_quota(struct limits *l, const struct limits_quota *q)
{
	int64_t room = room_of(q);

	if (q->resources < 2 || room < 0 || q->need <= room)
		return 0;
	return strs_addf(&l->warnings,
			 "all %zu compute resources of the vCPU quota %s (%s) in %s together need %" PRId64
			 " vCPUs at MaxCount; the quota is %" PRId64 ", with %" PRId64 " in use by others; " REMEDY_QUOTA,
			 q->resources, q->code, q->name, l->clouds[q->cloud].region, q->need, q->value,
			 q->others > 0 ? q->others : 0);
}

/* Only resources that have no other subnet. */
static int warn_shared_subnet(struct limits *l, size_t cloud, const struct ec2_subnet *s)
{
	int64_t need = 0, have = s->free_addresses + ours_in(l, &l->clouds[cloud], s->id);
	size_t n = 0;

	for (size_t i = 0; i < l->gen->n_resources; i++) {
		const struct gen_resource *r = &l->gen->resources[i];
		const struct gen_stage *g = &r->stages[0];

		if (r->cloud != (int64_t)cloud || g->subnet_ids.n != 1 || !str_eq(g->subnet_ids.v[0], s->id))
			continue;
		need += r->max_count;
		n++;
	}
	if (n < 2 || need <= have)
		return 0;
	return strs_addf(&l->warnings,
			 "all %zu compute resources that have subnet %s alone have %" PRId64
			 " machines at MaxCount; it has room for %" PRId64 " of this cluster (%d free addresses)",
			 n, s->id, need, have, s->free_addresses);
}

/* EC2 counts launches of an account in a region, not of a resource. */
static int warn_rate(struct limits *l, size_t cloud)
{
	int64_t all = 0, seconds;

	for (size_t i = 0; i < l->gen->n_resources; i++)
		all += l->gen->resources[i].cloud == (int64_t)cloud ? l->gen->resources[i].max_count : 0;
	seconds = launch_seconds(l, all);
	if (!seconds)
		return 0;
	return strs_addf(
	    &l->warnings,
	    "%s: all %" PRId64 " machines at once take about %" PRId64 " s to launch: EC2 takes %g at once, then %g a second%s",
	    l->clouds[cloud].region, all, seconds, l->rate.size > 0 ? l->rate.size : (double)BURST,
	    l->rate.size > 0 ? l->rate.per_second : (double)REFILL,
	    seconds > l->gen->resume_timeout_s ? "; that is longer than ResumeTimeout, so the last nodes would fail" : "");
}

static int warn_cloud(struct limits *l, size_t cloud)
{
	const struct limits_cloud *c = &l->clouds[cloud];
	const struct ec2_subnets *subnets = c->subnets ? ec2_describe_subnets_reply(c->subnets) : NULL;

	for (size_t i = 0; subnets && i < subnets->n; i++)
		if (warn_shared_subnet(l, cloud, &subnets->v[i]))
			return -1;
	return warn_rate(l, cloud);
}

int limits_judge(struct limits *l)
{
	int rc = 0;

	for (size_t i = 0; i < l->gen->n_resources; i++)
		for (size_t s = 0; s < l->gen->resources[i].n_stages && rc == 0; s++)
			rc = add_row(l, &l->gen->resources[i], s);
	for (size_t i = 0; i < l->n_rows && rc == 0; i++)
		rc = warn_row(l, &l->rows[i]);
	for (size_t i = 0; i < l->n_quotas && rc == 0; i++)
		rc = warn_shared_quota(l, &l->quotas[i]);
	for (size_t i = 0; i < l->n_clouds && rc == 0; i++)
		rc = warn_cloud(l, i);
	return rc ? -1 : 0;
}
