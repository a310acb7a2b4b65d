/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply_make.c - what apply makes in EC2: placement groups and launch templates, and the trial of a launch; and the removal of
 * those that no resource uses any more. Everything carries the cluster's UUID, nothing without it is touched.
 */
#include "cli/apply_job.h"
#include "conf/hardware.h"
#include "conf/template.h"
#include "lib/aws/aws.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/user.h"
#include "lib/node/offering.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_LIMIT_MS 30000
#define POLL_MS 500

static struct aws *aws_of(const struct apply_job *j, const struct gen_resource *g)
{
	return j->clouds[g->cloud].aws;
}

/* --- placement groups */

static const struct ec2_placement *placement_find(const struct ec2_placements *l, const char *name)
{
	for (size_t i = 0; l && i < l->n; i++) {
		if ((str_eq(l->v[i].name, name) || str_eq(l->v[i].id, name)) && !str_eq(l->v[i].state, "deleted") &&
		    !str_eq(l->v[i].state, "deleting"))
			return &l->v[i];
	}
	return NULL;
}

/* State of a group by its name: 1 available, 0 there but not yet, -1 with e. */
static int placement_state(struct aws *aws, const char *name, struct err *e)
{
	struct ec2_call *c = ec2_describe_placement_group(name);
	const struct ec2_placement *p;
	int rc = -1;

	if (!c)
		return err_nomem(e);
	if (ec2_perform_one(aws, c, apply_deadline(), e) == 0) {
		p = placement_find(ec2_placement_groups_reply(c), name);
		rc = p ? str_eq(p->state, "available") : err_set(e, "EC2 has no placement group %s", name);
	}
	ec2_call_destroy(c);
	return rc;
}

static int placement_create(struct apply_job *j, struct aws *aws, const char *name, struct err *e)
{
	struct kvs tags = { 0 };
	struct ec2_call *c = NULL;
	int64_t until = clock_mono_ms() + GROUP_LIMIT_MS;
	int rc;

	if (kvs_add(&tags, TAG_CLUSTER, j->gen->uuid) || kvs_add(&tags, TAG_PC_CLUSTER, j->gen->cluster_name) ||
	    !(c = ec2_create_placement_group(name, &tags))) {
		rc = err_nomem(e);
	} else {
		rc = ec2_perform_one(aws, c, apply_deadline(), e);
		/* a lost answer: the group is there already, made by us (its name holds our UUID) */
		if (rc && str_eq(c->error.code, "InvalidPlacementGroup.Duplicate"))
			rc = 0;
	}
	while (rc == 0 && (rc = placement_state(aws, name, e)) == 0) {
		if (clock_mono_ms() >= until) {
			rc = err_set(e, "placement group %s is not available after %d s", name, GROUP_LIMIT_MS / 1000);
			break;
		}
		clock_sleep_ms(POLL_MS);
	}
	ec2_call_destroy(c);
	kvs_clear(&tags);
	return rc < 0 ? -1 : 0;
}

static int need_placement(struct apply_job *j, const struct ec2_placements *have, struct gen_resource *g, size_t *made,
			  struct err *e)
{
	int rc = 0;

	if (g->placement_managed) {
		g->placement_group = placement_name(j->gen->uuid, j->gen->cluster_name, g->queue, g->name);
		if (!g->placement_group)
			return err_nomem(e);
		if (placement_find(have, g->placement_group))
			return 0;
		rc = placement_create(j, aws_of(j, g), g->placement_group, e);
		*made += rc == 0;
	} else if (g->placement_group) {
		rc = placement_state(aws_of(j, g), g->placement_group, e) < 0 ? -1 : 0;
	}
	return rc ? err_prefix(e, "queue %s, compute resource %s", g->queue, g->name) : 0;
}

/* Those of one cloud. */
static int cloud_placement(struct apply_job *j, size_t cloud, size_t *made, struct err *e)
{
	struct ec2_call *c = ec2_describe_placement_groups(j->gen->uuid);
	int rc;

	if (!c)
		return err_nomem(e);
	rc = ec2_perform_one(j->clouds[cloud].aws, c, apply_deadline(), e);
	for (size_t i = 0; i < j->gen->n_resources && rc == 0; i++) {
		if (j->gen->resources[i].cloud == (int64_t)cloud)
			rc = need_placement(j, ec2_placement_groups_reply(c), &j->gen->resources[i], made, e);
	}
	ec2_call_destroy(c);
	return rc;
}

int apply_step_placement(struct apply_job *j, struct buf *note, struct err *e)
{
	size_t made = 0, used = 0;

	for (size_t i = 0; i <= j->gen->n_clouds; i++) {
		if (cloud_placement(j, i, &made, e))
			return -1;
	}
	for (size_t i = 0; i < j->gen->n_resources; i++)
		used += j->gen->resources[i].placement_group != NULL;
	buf_fmt(note, "%zu used, %zu created", used, made);
	return 0;
}

/* --- launch templates */

static const struct ec2_template_ref *template_find(const struct ec2_template_refs *l, const char *name, const char *id)
{
	for (size_t i = 0; l && i < l->n; i++) {
		if ((name && str_eq(l->v[i].name, name)) || (id && str_eq(l->v[i].id, id)))
			return &l->v[i];
	}
	return NULL;
}

static const struct gen_resource *old_resource(const struct apply_job *j, const struct gen_resource *g)
{
	size_t i;

	if (!j->old)
		return NULL;
	i = generation_find_resource(j->old, g->queue, strlen(g->queue), g->name, strlen(g->name));
	return i == SIZE_MAX ? NULL : &j->old->resources[i];
}

static int keep_template(struct gen_resource *g, const char *id, int64_t version, const char *hash, struct err *e)
{
	g->template_id = str_dup(id);
	g->template_version = version;
	g->template_hash = str_dup(hash);
	return g->template_id && g->template_hash ? 0 : err_nomem(e);
}

static struct ec2_call *template_call(const char *id, const struct ec2_template *t)
{
	return id ? ec2_create_template_version(id, t) : ec2_create_template(t);
}

/* Another cluster of this account has the name: ours gets our UUID's start. A request of its own, so with a token of its
 * own. */
static struct ec2_call *template_call_renamed(const struct apply_job *j, const struct template *t)
{
	char *longer = str_fmt("%s/%.8s", t->name, j->gen->uuid), token[37];
	struct ec2_template copy = t->ec2;
	struct ec2_call *c;

	rand_uuid(token);
	copy.name = longer;
	copy.client_token = token;
	c = longer ? ec2_create_template(&copy) : NULL;
	free(longer);
	return c;
}

/* Create the template, or its next version if id is known. */
static int send_template(struct apply_job *j, struct template *t, const char *id, const char *hash, struct gen_resource *g,
			 struct err *e)
{
	struct ec2_call *c = template_call(id, &t->ec2);
	const struct ec2_template_refs *l;
	int rc;

	if (!c)
		return err_nomem(e);
	rc = ec2_perform_one(aws_of(j, g), c, apply_deadline(), e);
	if (rc && str_eq(c->error.code, "InvalidLaunchTemplateName.AlreadyExistsException")) {
		ec2_call_destroy(c);
		c = template_call_renamed(j, t);
		rc = c ? ec2_perform_one(aws_of(j, g), c, apply_deadline(), e) : err_nomem(e);
	}
	if (rc == 0) {
		l = ec2_template_reply(c);
		rc = l && l->n && (id || l->v[0].id) ? keep_template(g, l->v[0].id ? l->v[0].id : id, l->v[0].version, hash, e)
						     : err_set(e, "EC2's answer names no template");
	}
	ec2_call_destroy(c);
	return rc;
}

/* The content without name and token, for the hash. */
static int content_hash(const struct template *t, char out[17])
{
	struct ec2_template copy = t->ec2;
	struct ec2_call *c;

	copy.client_token = NULL;
	c = ec2_create_template(&copy);
	if (!c)
		return -1;
	template_hash(c->body, out);
	ec2_call_destroy(c);
	return 0;
}

static const struct ec2_template_ref *our_template(const struct apply_job *j, const struct ec2_template_refs *have,
						   const char *name, const struct gen_resource *was)
{
	const struct ec2_template_ref *r = was ? template_find(have, NULL, was->template_id) : NULL;
	char *longer;

	if (r)
		return r;
	r = template_find(have, name, NULL);
	if (r)
		return r;
	longer = str_fmt("%s/%.8s", name, j->gen->uuid);
	r = longer ? template_find(have, longer, NULL) : NULL;
	free(longer);
	return r;
}

static int make_template(struct apply_job *j, const struct ec2_template_refs *have, const struct template_input *in,
			 struct gen_resource *g, size_t *made, struct err *e)
{
	const struct gen_resource *was = old_resource(j, g);
	const struct ec2_template_ref *ref;
	struct template t;
	char hash[17], token[37];
	int rc;

	if (template_build(in, &t, e))
		return -1;
	ref = our_template(j, have, t.name, was);
	if (content_hash(&t, hash)) {
		rc = err_nomem(e);
	} else if (ref && was && str_eq(was->template_hash, hash) && str_eq(was->template_id, ref->id)) {
		rc = keep_template(g, was->template_id, was->template_version, hash, e);
	} else {
		rand_uuid(token);
		t.ec2.client_token = token;
		rc = send_template(j, &t, ref ? ref->id : NULL, hash, g, e);
		*made += rc == 0;
	}
	template_clear(&t);
	return rc;
}

static struct template_input input_of(const struct apply_job *j, size_t queue, size_t resource)
{
	const struct apply_queue *d = &j->queues[queue];
	const struct gen_resource *g = apply_resource(j, queue, resource);
	const char *root = d->root_devices.v[resource];

	return (struct template_input){
		.gen = j->gen,
		.cluster = j->cluster,
		.queue = &j->cluster->queues[queue],
		.resource = &j->cluster->queues[queue].resources[resource],
		.types = &j->types,
		.groups = &d->groups,
		.image_id = d->images.v[resource],
		.root_device = root[0] ? root : NULL,
		.placement_group = g->placement_group,
		.single = g->single,
	};
}

static int make_templates(struct apply_job *j, size_t cloud, const struct ec2_template_refs *have, size_t *made,
			  struct err *e)
{
	for (size_t i = 0; i < j->cluster->n_queues; i++) {
		const struct queue *q = &j->cluster->queues[i];

		for (size_t k = 0; k < q->n_resources && j->queues[i].cloud == (int64_t)cloud; k++) {
			const struct template_input in = input_of(j, i, k);

			if (make_template(j, have, &in, apply_resource(j, i, k), made, e))
				return err_prefix(e, "queue %s, compute resource %s", q->name, q->resources[k].name);
		}
	}
	return 0;
}

/* What would be refused when the templates are made is better known before anything is. */
int apply_step_rules(struct apply_job *j, struct buf *note, struct err *e)
{
	(void)e;
	for (size_t i = 0; i < j->cluster->n_queues; i++) {
		const struct queue *q = &j->cluster->queues[i];

		for (size_t k = 0; k < q->n_resources; k++) {
			struct template_input in = input_of(j, i, k);
			struct hardware h;
			struct template t;
			struct err why;

			if (hardware_resolve(in.resource, in.types, &h, NULL))
				continue; /* said when its image was chosen */
			if (cluster_placement_managed(q, in.resource))
				in.placement_group = "managed";
			if (template_build(&in, &t, &why))
				APPLY_PROBLEM_AT(j, in.resource->at, "queue %s, compute resource %s: %s", q->name,
						 in.resource->name, why.text);
			else
				template_clear(&t);
		}
	}
	buf_fmt(note, "%zu compute resource%s", j->gen->n_resources, j->gen->n_resources == 1 ? "" : "s");
	return 0;
}

/* Those of one cloud. */
static int cloud_templates(struct apply_job *j, size_t cloud, size_t *made, struct err *e)
{
	struct ec2_call *c = ec2_describe_templates(j->gen->uuid);
	int rc;

	if (!c)
		return err_nomem(e);
	rc = ec2_perform_one(j->clouds[cloud].aws, c, apply_deadline(), e);
	if (rc == 0)
		rc = make_templates(j, cloud, ec2_template_reply(c), made, e);
	ec2_call_destroy(c);
	return rc;
}

int apply_step_templates(struct apply_job *j, struct buf *note, struct err *e)
{
	size_t made = 0;

	for (size_t i = 0; i <= j->gen->n_clouds; i++) {
		if (cloud_templates(j, i, &made, e))
			return -1;
	}
	buf_fmt(note, "%zu used, %zu new or with a new version", j->gen->n_resources, made);
	return 0;
}

/* --- would EC2 launch? */

static struct ec2_call *run_call(const struct gen_resource *g, const char *token)
{
	const struct ec2_run run = {
		.template_id = g->template_id,
		.template_version = g->template_version,
		.min_count = 1,
		.max_count = 1,
		.client_token = token,
		.overrides = &g->overrides,
		.dry_run = true,
	};

	return ec2_run_instances(&run);
}

/* What the market of a stage is called in a fleet. */
static const char *capacity_word(enum capacity_type c)
{
	return c == CAPACITY_SPOT ? MARKET_SPOT : c == CAPACITY_BLOCK ? MARKET_BLOCK : MARKET_ONDEMAND;
}

/* A fleet of every type and subnet of the stage. NULL on no memory. */
static struct ec2_call *fleet_call(const struct gen_resource *g, const struct gen_stage *st, const char *token)
{
	size_t n = st->instance_types.n * st->subnet_ids.n;
	struct ec2_fleet_choice *choices = calloc(n, sizeof(*choices));
	struct ec2_fleet fleet = {
		.template_id = g->template_id,
		.template_version = g->template_version,
		.choices = choices,
		.n_choices = n,
		.total = 1,
		.single_type = st->instance_types.n == 1,
		.single_zone = st->subnet_ids.n == 1,
		.capacity = capacity_word(st->capacity),
		.client_token = token,
		.overrides = &g->overrides,
		.dry_run = true,
	};
	struct ec2_call *c = NULL;

	for (size_t i = 0; choices && i < n; i++)
		choices[i] = (struct ec2_fleet_choice){
			.type = st->instance_types.v[i / st->subnet_ids.n],
			.subnet_id = st->subnet_ids.v[i % st->subnet_ids.n],
			.max_price = st->max_price,
			.priority = -1,
		};
	if (choices)
		c = ec2_create_fleet(&fleet);
	free(choices);
	return c;
}

/* st NULL = by RunInstances. */
static int try_one(struct apply_job *j, const struct gen_resource *g, const struct gen_stage *st, struct err *e)
{
	char token[37];
	struct ec2_call *c;
	int rc = 0;

	rand_uuid(token);
	c = st ? fleet_call(g, st, token) : run_call(g, token);
	if (!c)
		return err_nomem(e);
	ec2_perform_one(j->clouds[g->cloud].daemon_aws, c, apply_deadline(), e);
	if (str_eq(c->error.code, "UnauthorizedOperation"))
		rc = err_prefix(e, "user %s may not launch it: `slurm-ec2 policy` prints the permissions it needs",
				j->gen->slurm_user);
	else if (!str_eq(c->error.code, "DryRunOperation"))
		rc = err_prefix(e, "EC2 would not launch it");
	ec2_call_destroy(c);
	return rc;
}

/* In each way it may be launched. */
static int try_resource(struct apply_job *j, const struct gen_resource *g, struct err *e)
{
	int rc = 0;

	if (g->single)
		return try_one(j, g, NULL, e);
	for (size_t i = 0; i < g->n_stages && rc == 0; i++) {
		rc = try_one(j, g, &g->stages[i], e);
		if (rc && i > 0)
			err_prefix(e, "fallback %zu", i);
	}
	return rc;
}

int apply_step_try_launch(struct apply_job *j, struct buf *note, struct err *e)
{
	int rc = 0;

	if (user_become(j->gen->slurm_user, e))
		return -1;
	for (size_t i = 0; i < j->gen->n_resources && rc == 0; i++) {
		rc = try_resource(j, &j->gen->resources[i], e);
		if (rc)
			err_prefix(e, "queue %s, compute resource %s", j->gen->resources[i].queue, j->gen->resources[i].name);
	}
	user_restore();
	if (rc == 0)
		buf_str(note, "EC2 would launch each resource");
	return rc;
}

/* --- what no resource uses any more */

/* The generation whose things stay; NULL = none. */
static const struct generation *in_force(const struct apply_job *j)
{
	return j->unmake ? j->old : j->gen;
}

static bool template_used(const struct apply_job *j, const char *id)
{
	const struct generation *g = in_force(j);

	for (size_t i = 0; g && i < g->n_resources; i++) {
		if (str_eq(g->resources[i].template_id, id))
			return true;
	}
	return false;
}

static const char *region_of(const struct generation *g, const struct gen_resource *r)
{
	return r->cloud > 0 ? g->clouds[r->cloud - 1].region : g->region;
}

/* Every region has groups of its own: that of a queue which moved bears the same name in both. */
static bool placement_used(const struct apply_job *j, const char *region, const char *name)
{
	const struct generation *g = in_force(j);

	for (size_t i = 0; g && i < g->n_resources; i++) {
		if (str_eq(g->resources[i].placement_group, name) && str_eq(region_of(g, &g->resources[i]), region))
			return true;
	}
	return false;
}

/* Failing to tidy is no failure of apply: the next one tries again. */
static void delete_one(struct apply_job *j, struct aws *aws, struct ec2_call *c, const char *what, size_t *gone)
{
	struct err e = { 0 };

	if (!c)
		return;
	if (ec2_perform_one(aws, c, apply_deadline(), &e))
		APPLY_WARN(j, "%s is not used any more but could not be deleted: %s", what, e.text);
	else
		(*gone)++;
	ec2_call_destroy(c);
}

static void tidy_templates(struct apply_job *j, struct aws *aws, const struct ec2_template_refs *l, size_t *gone)
{
	for (size_t i = 0; l && i < l->n; i++) {
		if (!template_used(j, l->v[i].id))
			delete_one(j, aws, ec2_delete_template(l->v[i].id), l->v[i].name, gone);
	}
}

static void tidy_placements(struct apply_job *j, const struct apply_cloud *cloud, const struct ec2_placements *l, size_t *gone)
{
	for (size_t i = 0; l && i < l->n; i++) {
		if (str_eq(l->v[i].state, "available") && !placement_used(j, cloud->region, l->v[i].name))
			delete_one(j, cloud->aws, ec2_delete_placement_group(l->v[i].name), l->v[i].name, gone);
	}
}

int apply_step_tidy(struct apply_job *j, struct buf *note, struct err *e)
{
	size_t gone = 0;

	for (size_t i = 0; i < j->n_clouds; i++) {
		struct ec2_call *t = ec2_describe_templates(j->gen->uuid), *p = ec2_describe_placement_groups(j->gen->uuid);
		struct aws *aws = j->clouds[i].aws;

		if (t && ec2_perform_one(aws, t, apply_deadline(), e) == 0)
			tidy_templates(j, aws, ec2_template_reply(t), &gone);
		if (p && ec2_perform_one(aws, p, apply_deadline(), e) == 0)
			tidy_placements(j, &j->clouds[i], ec2_placement_groups_reply(p), &gone);
		ec2_call_destroy(t);
		ec2_call_destroy(p);
	}
	buf_fmt(note, "%zu removed", gone);
	return 0;
}

void apply_unmake(struct apply_job *j)
{
	struct buf note = { 0 };
	struct err e;

	j->unmake = true;
	apply_step_tidy(j, &note, &e);
	buf_free(&note);
}
