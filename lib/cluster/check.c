/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check.c - rules that need more than one key: counts, capacity, networks, names that would meet. Pure; comes after the reader.
 *
 * What one key alone can get wrong is in the schema. Names that must differ within one list are judged by the reader.
 */
#include "build_config.h"

#include "lib/cluster/check.h"

#include "lib/base/problem.h"
#include "lib/cluster/cluster.h"
#include "lib/cluster/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* EC2 launches at most this many instances at once, then this many a second, per account and region. */
enum { EC2_BURST = 1000, EC2_PER_SECOND = 2 };
/* Nodes of one slurmctld. 22.05 starts with more, later releases have a bound of this size. */
enum { NODES_MAX = 65536 };

/* Where the rule looks; r NULL = the queue itself. */
struct spot {
	const struct cluster *c;
	const struct queue *q;
	const struct compute_resource *r;
	struct problems *p;
};

#define NAME_OR(s) ((s) ? (s) : "?")

static void say(const struct spot *s, enum problem_level level, struct place at, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

static void say(const struct spot *s, enum problem_level level, struct place at, const char *key, const char *fmt, ...)
{
	char *path, *text;
	va_list ap;

	if (s->r)
		path = str_fmt("Scheduling.SlurmQueues[%s].ComputeResources[%s].%s", NAME_OR(s->q->name), NAME_OR(s->r->name),
			       key);
	else
		path = str_fmt("Scheduling.SlurmQueues[%s].%s", NAME_OR(s->q->name), key);
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (path && text)
		problems_add(s->p, level, s->c->file, at.line, at.column, path, "%s", text);
	else
		s->p->nomem = true;
	free(path);
	free(text);
}

static struct place first_of(struct place a, struct place b)
{
	return a.line ? a : b;
}

static const char *reservation_id(const struct spot *s)
{
	return cluster_reservation_id(s->q, s->r);
}

static bool reserved(const struct spot *s)
{
	return reservation_id(s) || cluster_reservation_group(s->q, s->r);
}

/* Is a placement group asked for, managed or named? */
static bool grouped(const struct spot *s)
{
	const struct placement_group *g = cluster_placement(s->q, s->r);

	return g->enabled == TRI_TRUE || (g->enabled == TRI_UNSET && g->name);
}

static void check_counts(const struct spot *s)
{
	const struct compute_resource *r = s->r;
	int64_t wait;

	if (place_refused(r->min_count_at) || place_refused(r->max_count_at))
		return;
	if (r->min_count > r->max_count)
		say(s, PROBLEM_ERROR, first_of(r->min_count_at, r->at), "MinCount", "%d is more than MaxCount, which is %d%s",
		    r->min_count, r->max_count, r->max_count_at.line ? "" : " by default");
	if (s->q->capacity == CAPACITY_BLOCK && (r->min_count != r->max_count || r->max_count == 0))
		say(s, PROBLEM_ERROR, first_of(r->max_count_at, r->at), "MaxCount",
		    "a capacity block needs MinCount and MaxCount to be equal; they are %d and %d", r->min_count, r->max_count);
	wait = (r->max_count - EC2_BURST + EC2_PER_SECOND - 1) / EC2_PER_SECOND;
	if (r->max_count > EC2_BURST && wait > s->c->resume_timeout_s)
		say(s, PROBLEM_WARNING, first_of(r->max_count_at, r->at), "MaxCount",
		    "EC2 starts %d instances at once and then %d a second, so %d nodes need %lld s, but a node may take only "
		    "%lld s (DevSettings.Timeouts.ComputeNodeBootstrapTimeout)",
		    EC2_BURST, EC2_PER_SECOND, r->max_count, (long long)wait, (long long)s->c->resume_timeout_s);
}

static void check_types(const struct spot *s)
{
	const struct compute_resource *r = s->r;

	if (r->type_at.line && r->instances_at.line)
		say(s, PROBLEM_ERROR, r->instances_at, "Instances", "InstanceType stands here too; give one of the two");
	else if (!r->type_at.line && !r->instances_at.line && !reservation_id(s))
		say(s, PROBLEM_ERROR, r->at, "InstanceType", "is required and missing (or Instances, a list of types)");
	if (r->flexible && reservation_id(s))
		say(s, PROBLEM_ERROR, r->instances_at, "Instances",
		    "cannot be used with CapacityReservationId; give InstanceType");
}

static void check_spot(const struct spot *s)
{
	if (place_refused(s->r->spot_price_at))
		return;
	if (s->r->spot_price_at.line && s->q->capacity != CAPACITY_SPOT && !place_refused(s->q->capacity_at))
		say(s, PROBLEM_WARNING, s->r->spot_price_at, "SpotPrice",
		    "has no effect: the queue's CapacityType is %s, not SPOT", capacity_type_text(s->q->capacity));
}

static void check_efa(const struct spot *s)
{
	const struct compute_resource *r = s->r;

	if (r->gdr && !r->efa)
		say(s, PROBLEM_ERROR, r->gdr_at, "Efa.GdrSupport", "needs Efa.Enabled: true");
	/* a block brings its own network placement; several subnets are an error already */
	if (!r->efa || s->q->subnet_ids.n > 1 || s->q->capacity == CAPACITY_BLOCK || grouped(s))
		return;
	if (cluster_placement(s->q, r)->enabled == TRI_FALSE)
		say(s, PROBLEM_WARNING, r->at, "Efa.Enabled", "nodes with EFA are slower outside a placement group");
	else
		say(s, PROBLEM_ERROR, r->at, "Efa.Enabled",
		    "nodes with EFA belong in a placement group: set Networking.PlacementGroup.Enabled: true, or false to do "
		    "without");
}

static void check_placement(const struct spot *s, const struct placement_group *g)
{
	static const char key[] = "Networking.PlacementGroup";

	if (g->name_at.line && g->id_at.line)
		say(s, PROBLEM_ERROR, g->id_at, key, "Name and Id mean the same; give one of the two");
	if (g->enabled == TRI_FALSE && g->name)
		say(s, PROBLEM_ERROR, first_of(g->name_at, g->id_at), key,
		    "a group is named, but Enabled is false; remove one of the two");
}

static void check_subnets(const struct spot *s)
{
	if (s->q->subnet_ids.n < 2)
		return;
	if (!s->r->flexible && (s->r->type_at.line || reservation_id(s)))
		say(s, PROBLEM_ERROR, s->q->subnets_at, "InstanceType",
		    "several SubnetIds go only with Instances; use Instances, or one subnet");
	if (s->r->efa)
		say(s, PROBLEM_ERROR, s->r->at, "Efa.Enabled", "EFA needs one subnet, the queue has several");
}

static void check_group(const struct spot *s)
{
	static const char key[] = "Networking.PlacementGroup";
	struct place at = first_of(cluster_placement(s->q, s->r)->at, s->r->at);

	if (!grouped(s))
		return;
	if (s->q->subnet_ids.n > 1)
		say(s, PROBLEM_ERROR, at, key, "a placement group needs one subnet, the queue has several");
	if (s->q->capacity == CAPACITY_BLOCK)
		say(s, PROBLEM_ERROR, at, key, "a capacity block cannot be used with a placement group; remove one of the two");
	else if (reserved(s))
		say(s, PROBLEM_WARNING, at, key,
		    "the capacity reservation must be made in this same placement group, else EC2 has no capacity for it");
	if (s->r->instance_types.n > 1)
		say(s, PROBLEM_WARNING, at, key,
		    "several instance types in one placement group find capacity less often than one type");
}

static void check_reservation(const struct spot *s, const char *id, const char *group, struct place at)
{
	if (id && group)
		say(s, PROBLEM_ERROR, at, "CapacityReservationTarget",
		    "CapacityReservationId and CapacityReservationResourceGroupArn stand here; give one of the two");
}

static void check_resource(const struct spot *s)
{
	check_counts(s);
	check_types(s);
	check_spot(s);
	check_efa(s);
	check_placement(s, &s->r->placement);
	check_subnets(s);
	check_group(s);
	check_reservation(s, s->r->capacity_reservation_id, s->r->capacity_reservation_group, s->r->reservation_at);
	if (s->q->capacity == CAPACITY_BLOCK && !reservation_id(s))
		say(s, PROBLEM_ERROR, s->r->at, "CapacityReservationTarget", "a capacity block needs a CapacityReservationId");
	if (s->q->capacity == CAPACITY_SPOT && reserved(s))
		say(s, PROBLEM_ERROR, first_of(s->r->reservation_at, s->q->reservation_at), "CapacityReservationTarget",
		    "a capacity reservation holds on-demand machines, but the queue's CapacityType is SPOT");
}

static void check_allocation(const struct spot *s)
{
	const struct queue *q = s->q;

	if (!q->allocation_strategy)
		return;
	if (q->capacity == CAPACITY_BLOCK)
		say(s, PROBLEM_ERROR, q->allocation_at, "AllocationStrategy", "cannot be used with CAPACITY_BLOCK");
	else if (q->capacity == CAPACITY_ONDEMAND && !str_eq(q->allocation_strategy, "lowest-price") &&
		 !str_eq(q->allocation_strategy, "prioritized"))
		say(s, PROBLEM_ERROR, q->allocation_at, "AllocationStrategy", "\"%s\" goes only with CapacityType: SPOT",
		    q->allocation_strategy);
	else if (q->capacity == CAPACITY_SPOT && str_eq(q->allocation_strategy, "prioritized"))
		say(s, PROBLEM_ERROR, q->allocation_at, "AllocationStrategy",
		    "\"prioritized\" goes only with CapacityType: ONDEMAND; for SPOT it is \"capacity-optimized-prioritized\"");
}

/* Slurm takes the lowest Weight first: static nodes are there anyway and should be used before new ones are launched. */
static void check_priorities(const struct spot *s)
{
	int64_t top_static = 0, least_dynamic = INT64_MAX;

	for (size_t i = 0; i < s->q->n_resources; i++) {
		const struct compute_resource *r = &s->q->resources[i];

		if (r->min_count > 0 && r->static_priority > top_static)
			top_static = r->static_priority;
		if (r->max_count > r->min_count && r->dynamic_priority < least_dynamic)
			least_dynamic = r->dynamic_priority;
	}
	if (top_static >= least_dynamic)
		say(s, PROBLEM_WARNING, s->q->at, "ComputeResources",
		    "StaticNodePriority %lld is not below DynamicNodePriority %lld, so Slurm may launch nodes while "
		    "static ones idle",
		    (long long)top_static, (long long)least_dynamic);
}

static void check_queue(const struct spot *s)
{
	const struct queue *q = s->q;

	if (q->security_groups.n && q->additional_security_groups.n)
		say(s, PROBLEM_ERROR, q->more_groups_at, "Networking.AdditionalSecurityGroups",
		    "SecurityGroups stands here too; give one of the two");
	if (q->instance_role && q->instance_profile)
		say(s, PROBLEM_ERROR, q->role_at, "Iam.InstanceRole", "InstanceProfile stands here too; give one of the two");
	check_placement(s, &q->placement);
	check_reservation(s, q->capacity_reservation_id, q->capacity_reservation_group, q->reservation_at);
	check_allocation(s);
	check_priorities(s);
}

/* `<queue>-{st|dy}-<resource>`: a node name without its number. */
struct stem {
	char *text;
	const struct queue *q;
	const struct compute_resource *r;
};

static int by_stem(const void *x, const void *y)
{
	const struct stem *a = x, *b = y;
	int c = strcmp(a->text, b->text);

	if (c != 0)
		return c;
	if (a->r->at.line != b->r->at.line)
		return a->r->at.line < b->r->at.line ? -1 : 1;
	return a->r->at.column < b->r->at.column ? -1 : a->r->at.column > b->r->at.column;
}

static size_t make_stems(const struct cluster *c, struct stem *out)
{
	static const char *const kinds[] = {"st", "dy"};
	size_t n = 0;

	for (size_t i = 0; i < c->n_queues; i++) {
		const struct queue *q = &c->queues[i];

		for (size_t j = 0; j < 2 * q->n_resources; j++) {
			const struct compute_resource *r = &q->resources[j / 2];

			if (q->name && r->name)
				out[n++] = (struct stem){str_fmt("%s-%s-%s", q->name, kinds[j % 2], r->name), q, r};
		}
	}
	return n;
}

/* Two equal pairs of names are repeated names, which the reader has reported. */
static bool same_pair(const struct stem *a, const struct stem *b)
{
	return str_eq(a->q->name, b->q->name) && str_eq(a->r->name, b->r->name);
}

static void judge_stems(const struct cluster *c, struct stem *s, size_t n, struct problems *p)
{
	for (size_t i = 0; i < n; i++) {
		if (!s[i].text) {
			p->nomem = true;
			return;
		}
	}
	qsort(s, n, sizeof(*s), by_stem);
	for (size_t i = 1; i < n; i++) {
		struct spot at = {c, s[i].q, s[i].r, p};

		if (strcmp(s[i - 1].text, s[i].text) == 0 && !same_pair(&s[i - 1], &s[i]))
			say(&at, PROBLEM_ERROR, s[i].r->at, "Name",
			    "its nodes would be called %s-1 and so on, like those of queue \"%s\", compute resource \"%s\" "
			    "(line %d); rename one of them",
			    s[i].text, s[i - 1].q->name, s[i - 1].r->name, s[i - 1].r->at.line);
	}
}

/* Queue "a" with resource "b-dy-c" and queue "a-dy-b" with resource "c" both give a-dy-b-dy-c-1. Sorting finds the pairs. */
static void check_node_names(const struct cluster *c, struct problems *p)
{
	size_t total = 0, n;
	struct stem *s;

	for (size_t i = 0; i < c->n_queues; i++)
		total += 2 * c->queues[i].n_resources;
	if (total == 0)
		return;
	s = calloc(total, sizeof(*s));
	if (!s) {
		p->nomem = true;
		return;
	}
	n = make_stems(c, s);
	judge_stems(c, s, n, p);
	for (size_t i = 0; i < n; i++)
		free(s[i].text);
	free(s);
}

/* One resource may have as many; all of them together are more than one slurmctld should have. */
static void check_total(const struct cluster *c, struct problems *p)
{
	long long total = 0;

	for (size_t i = 0; i < c->n_queues; i++) {
		for (size_t j = 0; j < c->queues[i].n_resources; j++)
			total += c->queues[i].resources[j].max_count;
	}
	if (total > NODES_MAX)
		problems_add(p, PROBLEM_WARNING, c->file, c->queues[0].at.line, c->queues[0].at.column, "Scheduling.SlurmQueues",
			     "%lld nodes in all; later releases of Slurm take no more than %d", total, NODES_MAX);
}

void check_cluster(const struct cluster *c, struct problems *p)
{
	for (size_t i = 0; i < c->n_queues; i++) {
		struct spot s = {c, &c->queues[i], NULL, p};

		check_queue(&s);
		for (size_t j = 0; j < s.q->n_resources; j++) {
			s.r = &s.q->resources[j];
			check_resource(&s);
		}
	}
	check_node_names(c, p);
	check_total(c, p);
}
