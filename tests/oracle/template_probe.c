/* SPDX-License-Identifier: GPL-2.0-or-later */
/* template_probe.c - prints the request for the launch template of each instance type, as apply would send it, for the oracle
 * script. Not installed.
 *
 *   template_probe TYPES_FILE
 */
#include "conf/facts.h"
#include "conf/template.h"
#include "lib/base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char uuid[] = "0f0e0d0c-1111-4222-8333-444455556666", name[] = "demo", script[] = "#!/bin/sh\n#@LAUNCH@\n";
static const struct generation gen = {.uuid = uuid, .cluster_name = name, .bootstrap = script};

struct variant {
	bool efa, single, public_ip;
	enum capacity_type capacity;
	const char *reservation, *group, *placement;
};

static const struct variant variants[] = {
	{false, true, false, CAPACITY_ONDEMAND, NULL, NULL, NULL},
	{true, true, false, CAPACITY_SPOT, NULL, NULL, "pg-0123456789abcdef0"},
	{true, true, true, CAPACITY_BLOCK, "cr-0123456789abcdef0", NULL, "mine"},
	{true, false, false, CAPACITY_ONDEMAND, NULL, "arn:aws:resource-groups:us-east-1:123456789012:group/g", "demo_q_r_0f0e0d0c"},
	{false, false, true, CAPACITY_SPOT, NULL, NULL, NULL},
};

static int set(char **field, const char *text)
{
	*field = str_dup(text);
	return text && !*field ? -1 : 0;
}

static int fill(struct cluster *c, struct queue *q, struct compute_resource *r, const char *type, const struct variant *v)
{
	q->capacity = v->capacity;
	q->assign_public_ip = v->public_ip ? TRI_TRUE : TRI_UNSET;
	r->efa = v->efa;
	r->spot_price = 1.5;
	return set(&q->name, "q") || set(&r->name, "r") || strs_add(&r->instance_types, type) || strs_add(&q->subnet_ids, "subnet-1") ||
	       set(&q->capacity_reservation_id, v->reservation) || set(&q->capacity_reservation_group, v->group) ||
	       kvs_add(&c->tags, "Owner", "a b") || strs_add(&q->security_groups, "sg-0123456789abcdef0");
}

/* 1 printed, 0 refused with good reason, -1 with e. */
static int print_one(const struct itypes *types, const struct itype *t, const struct variant *v, struct err *e)
{
	struct cluster *c = cluster_create();
	struct queue *q = c ? cluster_add_queue(c) : NULL;
	struct compute_resource *r = q ? queue_add_resource(q) : NULL;
	struct ec2_call *call = NULL;
	struct template made;
	int rc = -1;

	if (!r || fill(c, q, r, t->name, v)) {
		err_nomem(e);
		goto out;
	}
	struct template_input in = {.gen = &gen, .cluster = c, .queue = q, .resource = r, .types = types,
				    .groups = &q->security_groups, .image_id = "ami-0123456789abcdef0", .root_device = "/dev/xvda",
				    .placement_group = v->placement, .single = v->single};
	if (template_build(&in, &made, e)) {
		rc = v->public_ip && t->n_cards > 1 ? 0 : -1;
		goto out;
	}
	made.ec2.client_token = "token";
	call = ec2_create_template(&made.ec2);
	rc = call ? puts(call->body) >= 0 : err_nomem(e);
	ec2_call_destroy(call);
	template_clear(&made);
out:
	cluster_destroy(c);
	return rc;
}

int main(int argc, char **argv)
{
	struct itypes types = {0};
	struct err e = {""};
	int rc = argc == 2 ? facts_read(argv[1], &types, &e) : err_set(&e, "template_probe TYPES_FILE");

	for (size_t i = 0; i < types.n && rc >= 0; i++) {
		types.v[i].cluster_placement_ok = true;
		for (size_t k = 0; k < sizeof variants / sizeof *variants && rc >= 0; k++)
			if (types.v[i].efa || !variants[k].efa)
				rc = print_one(&types, &types.v[i], &variants[k], &e);
	}
	itypes_clear(&types);
	if (rc < 0)
		fprintf(stderr, "%s\n", e.text);
	return rc < 0;
}
