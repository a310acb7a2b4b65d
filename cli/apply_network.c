/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply_network.c - apply's look at subnets and security groups: can head and nodes talk? Reads only; every refusal names the
 * command that opens the way.
 */
#include "cli/apply_job.h"
#include "cli/secgroup.h"
#include "lib/aws/aws.h"
#include "lib/aws/imds.h"
#include "lib/base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- subnets */

static const struct ec2_subnet *subnet_find(const struct ec2_subnets *l, const char *id)
{
	for (size_t i = 0; l && i < l->n; i++) {
		if (str_eq(l->v[i].id, id))
			return &l->v[i];
	}
	return NULL;
}

static long queue_nodes(const struct queue *q)
{
	long n = 0;

	for (size_t i = 0; i < q->n_resources; i++)
		n += q->resources[i].max_count;
	return n;
}

/* Every subnet of the queue's stages once, in order. */
static int queue_subnets(const struct apply_job *j, size_t at, struct strs *out)
{
	for (size_t i = 0; i < j->cluster->queues[at].n_resources; i++) {
		const struct gen_resource *g = apply_resource(j, at, i);

		for (size_t s = 0; s < g->n_stages; s++) {
			const struct strs *ids = &g->stages[s].subnet_ids;

			for (size_t k = 0; k < ids->n; k++) {
				if (!strs_has(out, ids->v[k]) && strs_add(out, ids->v[k]))
					return -1;
			}
		}
	}
	return 0;
}

/* Where a subnet of the queue stands: in cluster.yaml, else in a fallback. */
static void subnet_problem(struct apply_job *j, size_t at, const char *id, const char *text)
{
	const struct queue *q = &j->cluster->queues[at];
	struct place where = q->subnets_at;
	const char *file = j->cluster->file;

	for (size_t i = 0; i < j->set->n_fallbacks && !strs_has(&q->subnet_ids, id); i++) {
		const struct fallback *f = &j->set->fallbacks[i];

		for (size_t k = 0; str_eq(f->queue, q->name) && k < f->n_stages; k++) {
			if (!strs_has(&f->stages[k].subnet_ids, id))
				continue;
			where = f->stages[k].at;
			file = SETTINGS_PATH;
		}
	}
	problems_add(&j->problems, PROBLEM_ERROR, file, where.line, where.column, NULL, "queue %s: %s", q->name, text);
}

static void judge_subnets(struct apply_job *j, size_t at, const struct ec2_subnets *l)
{
	const struct queue *q = &j->cluster->queues[at];
	struct strs ids = { 0 };
	long room = 0;

	if (queue_subnets(j, at, &ids))
		j->problems.nomem = true;
	for (size_t i = 0; i < ids.n; i++) {
		const struct ec2_subnet *s = subnet_find(l, ids.v[i]);
		char text[200];

		if (!s) {
			snprintf(text, sizeof(text), "EC2 has no subnet %s in %s", ids.v[i], apply_region(j, at));
			subnet_problem(j, at, ids.v[i], text);
			continue;
		}
		room += s->free_addresses;
		if (!j->queues[at].vpc)
			j->queues[at].vpc = str_dup(s->vpc);
		else if (!str_eq(j->queues[at].vpc, s->vpc))
			subnet_problem(j, at, ids.v[i], "its subnets are in different VPCs");
	}
	if (j->queues[at].vpc && room < queue_nodes(q))
		problems_add(&j->problems, PROBLEM_WARNING, j->cluster->file, q->subnets_at.line, q->subnets_at.column, NULL,
			     "queue %s: its subnets have %ld free addresses for %ld nodes", q->name, room, queue_nodes(q));
	strs_clear(&ids);
}

/* EC2 takes one subnet of a zone in a launch. */
static void judge_zones(struct apply_job *j, size_t at, const struct gen_stage *st)
{
	for (size_t i = 1; i < st->zones.n; i++) {
		for (size_t k = 0; k < i; k++) {
			char text[200];

			if (!st->zones.v[i][0] || !str_eq(st->zones.v[i], st->zones.v[k]))
				continue;
			snprintf(text, sizeof(text), "subnets %s and %s are both in zone %s; give one subnet a zone",
				 st->subnet_ids.v[k], st->subnet_ids.v[i], st->zones.v[i]);
			subnet_problem(j, at, st->subnet_ids.v[i], text);
		}
	}
}

static int fill_zones(struct apply_job *j, size_t at, const struct ec2_subnets *l)
{
	for (size_t i = 0; i < j->cluster->queues[at].n_resources; i++) {
		struct gen_resource *g = apply_resource(j, at, i);

		for (size_t s = 0; s < g->n_stages; s++) {
			struct gen_stage *st = &g->stages[s];

			for (size_t k = 0; k < st->subnet_ids.n; k++) {
				const struct ec2_subnet *found = subnet_find(l, st->subnet_ids.v[k]);

				if (strs_add(&st->zones, found && found->zone ? found->zone : ""))
					return -1;
			}
			/* stages of one queue often share their subnets: say it once */
			if (s == 0 ? i == 0 : !str_eq(st->subnet_ids.v[0], g->stages[0].subnet_ids.v[0]) ||
						      st->subnet_ids.n != g->stages[0].subnet_ids.n)
				judge_zones(j, at, st);
		}
	}
	return 0;
}

/* One id EC2 does not know spoils a call, so the ids are asked one by one and the answers are kept side by side. */
struct asked {
	struct strs ids;
	struct ec2_call **call;
	size_t cap;
};

static int ask_one(struct aws *aws, struct asked *a, struct ec2_call *c, const char *id, const char *unknown, struct err *e)
{
	if (!c)
		return err_nomem(e);
	if (mem_grow(&a->call, &a->cap, a->ids.n + 1, sizeof(*a->call)) || strs_add(&a->ids, id)) {
		ec2_call_destroy(c);
		return err_nomem(e);
	}
	a->call[a->ids.n - 1] = c;
	if (ec2_perform_one(aws, c, apply_deadline(), e) && !str_prefix(c->error.code, unknown))
		return -1;
	return 0;
}

static void asked_clear(struct asked *a)
{
	for (size_t i = 0; i < a->ids.n; i++)
		ec2_call_destroy(a->call[i]);
	free(a->call);
	strs_clear(&a->ids);
}

static int ask_queue_subnets(struct apply_job *j, size_t at, struct asked *a, struct err *e)
{
	struct aws *aws = j->clouds[j->queues[at].cloud].aws;
	struct strs ids = { 0 };
	int rc = queue_subnets(j, at, &ids) ? err_nomem(e) : 0;

	for (size_t k = 0; k < ids.n && rc == 0; k++) {
		const char *one[1] = { ids.v[k] };

		if (!strs_has(&a->ids, ids.v[k]))
			rc = ask_one(aws, a, ec2_describe_subnets(one, 1), one[0], "InvalidSubnetID", e);
	}
	strs_clear(&ids);
	return rc;
}

static int ask_subnets(struct apply_job *j, struct asked *a, struct ec2_subnets *all, struct err *e)
{
	for (size_t i = 0; i < j->cluster->n_queues; i++) {
		if (ask_queue_subnets(j, i, a, e))
			return -1;
	}
	for (size_t i = 0; i < a->ids.n; i++) {
		const struct ec2_subnets *l = a->call[i]->error.class == AWS_OK ? ec2_describe_subnets_reply(a->call[i]) : NULL;

		for (size_t k = 0; l && k < l->n; k++) {
			if (mem_grow(&all->v, &all->cap, all->n + 1, sizeof(*all->v)))
				return err_nomem(e);
			all->v[all->n++] = l->v[k]; /* the strings stay the call's */
		}
	}
	return 0;
}

/* --- security groups */

static int default_group(struct aws *aws, struct apply_queue *q, struct err *e)
{
	struct ec2_call *c = ec2_describe_default_group(q->vpc);
	const struct ec2_groups *l;
	int rc = -1;

	if (!c)
		return err_nomem(e);
	if (ec2_perform_one(aws, c, apply_deadline(), e) == 0) {
		l = ec2_describe_groups_reply(c);
		rc = l && l->n ? 0
			       : err_set(e,
					 "VPC %s has no default security group: name groups by SecurityGroups in the queue, or "
					 "ComputeSecurityGroupIds in %s",
					 q->vpc, SETTINGS_PATH);
		if (rc == 0 && strs_add(&q->groups, l->v[0].id))
			rc = err_nomem(e);
	}
	ec2_call_destroy(c);
	return rc;
}

/* The queue's own groups, else the site's, else the VPC's default; and the additional ones. */
static int groups_in_force(struct apply_job *j, size_t at, struct err *e)
{
	const struct queue *q = &j->cluster->queues[at];
	struct apply_queue *to = &j->queues[at];
	const struct strs *own = q->security_groups.n ? &q->security_groups : &j->set->security_group_ids;

	if (own->n) {
		if (strs_copy(&to->groups, own))
			return err_nomem(e);
	} else if (to->vpc && default_group(j->clouds[to->cloud].aws, to, e)) {
		return -1;
	}
	for (size_t i = 0; i < q->additional_security_groups.n; i++) {
		if (strs_add(&to->groups, q->additional_security_groups.v[i]))
			return err_nomem(e);
	}
	return 0;
}

/* The head node's own groups, if it is an instance. */
static int head_groups(struct apply_job *j, struct err *e)
{
	struct imds *m = imds_create(j->set->imds_endpoint);
	struct buf id = { 0 };
	struct ec2_call *c = NULL;
	const struct instances *l;
	int rc = 0;

	if (m && imds_get(m, "meta-data/instance-id", &id, NULL) == 1) {
		const char *one[1] = { buf_text(&id) };

		c = ec2_describe_ids(one, 1);
		if (!c)
			rc = err_nomem(e);
		else if (ec2_perform_one(j->clouds[0].aws, c, apply_deadline(), e) == 0 && (l = ec2_describe_reply(c)) && l->n) {
			j->head_in_ec2 = true;
			for (size_t i = 0; i < l->v[0].groups.n && rc == 0; i++)
				rc = strs_add(&j->head_groups, l->v[0].groups.id[i]) ? err_nomem(e) : 0;
		}
	}
	ec2_call_destroy(c);
	buf_free(&id);
	imds_destroy(m);
	return rc;
}

static int ask_groups(struct aws *aws, struct asked *a, const struct strs *ids, struct ec2_groups *all, struct err *e)
{
	for (size_t i = 0; i < ids->n; i++) {
		const char *one[1] = { ids->v[i] };
		const struct ec2_groups *l;
		struct ec2_call *c;

		if (strs_has(&a->ids, ids->v[i]))
			continue;
		c = ec2_describe_groups(one, 1);
		if (ask_one(aws, a, c, one[0], "InvalidGroup", e))
			return -1;
		l = c->error.class == AWS_OK ? ec2_describe_groups_reply(c) : NULL;
		for (size_t k = 0; l && k < l->n; k++) {
			if (mem_grow(&all->v, &all->cap, all->n + 1, sizeof(*all->v)))
				return err_nomem(e);
			all->v[all->n++] = l->v[k];
		}
	}
	return 0;
}

#define OPEN_COMMAND "aws ec2 authorize-security-group-ingress --region %s --group-id %s --protocol tcp --port %s "

static const char *queue_region(const struct apply_job *j, const struct apply_queue *d)
{
	return apply_region(j, (size_t)(d - j->queues));
}

static void judge_head_to_node(struct apply_job *j, const struct queue *q, const struct apply_queue *d,
			       const struct ec2_groups *all)
{
	char port[16];

	if (secgroup_admits(all, &d->groups, &j->head_groups, j->gen->head_address, j->slurmd_port))
		return;
	snprintf(port, sizeof(port), "%d", j->slurmd_port);
	if (j->head_groups.n && d->cloud == 0) /* another region knows no group of ours */
		APPLY_PROBLEM_AT(
			j, q->at,
			"queue %s: slurmctld cannot reach slurmd (TCP %s) through the nodes' security groups; open it: " OPEN_COMMAND
			"--source-group %s",
			q->name, port, j->gen->region, d->groups.v[0], port, j->head_groups.v[0]);
	else
		APPLY_PROBLEM_AT(
			j, q->at,
			"queue %s: slurmctld cannot reach slurmd (TCP %s) through the nodes' security groups; open it: " OPEN_COMMAND
			"--cidr %s/32",
			q->name, port, queue_region(j, d), d->groups.v[0], port, j->gen->head_address);
}

/* slurmd passes messages on to other nodes, and MPI uses any port. */
static void judge_node_to_node(struct apply_job *j, const struct queue *q, const struct apply_queue *d,
			       const struct ec2_groups *all, const char *cidr)
{
	if (secgroup_admits(all, &d->groups, &d->groups, cidr, -1))
		return;
	if (secgroup_admits(all, &d->groups, &d->groups, cidr, j->slurmd_port))
		problems_add(&j->problems, PROBLEM_WARNING, j->cluster->file, q->at.line, q->at.column, NULL,
			     "queue %s: nodes reach each other's slurmd only; MPI and srun use other ports too", q->name);
	else
		APPLY_PROBLEM_AT(j, q->at,
				 "queue %s: nodes cannot reach each other; open it: " OPEN_COMMAND "--source-group %s", q->name,
				 queue_region(j, d), d->groups.v[0], "0-65535", d->groups.v[0]);
}

static void judge_node_to_head(struct apply_job *j, const struct queue *q, const struct apply_queue *d,
			       const struct ec2_groups *all, const char *cidr)
{
	char port[16];

	if (!j->head_groups.n)
		return;
	if (secgroup_admits(all, &j->head_groups, &d->groups, cidr, -1))
		return;
	snprintf(port, sizeof(port), "%d", j->gen->slurmctld_port);
	if (!secgroup_admits(all, &j->head_groups, &d->groups, cidr, j->gen->slurmctld_port) && d->cloud != 0)
		APPLY_PROBLEM_AT(
			j, q->at,
			"queue %s: nodes cannot reach slurmctld (TCP %s) through the head node's security groups; open it: " OPEN_COMMAND
			"--cidr %s",
			q->name, port, j->gen->region, j->head_groups.v[0], port, cidr ? cidr : "0.0.0.0/0");
	else if (!secgroup_admits(all, &j->head_groups, &d->groups, cidr, j->gen->slurmctld_port))
		APPLY_PROBLEM_AT(
			j, q->at,
			"queue %s: nodes cannot reach slurmctld (TCP %s) through the head node's security groups; open it: " OPEN_COMMAND
			"--source-group %s",
			q->name, port, j->gen->region, j->head_groups.v[0], port, d->groups.v[0]);
	else
		problems_add(
			&j->problems, PROBLEM_WARNING, j->cluster->file, q->at.line, q->at.column, NULL,
			"queue %s: nodes reach slurmctld only; srun and salloc on the head node need their ports open too (SrunPortRange)",
			q->name);
}

static void judge_groups(struct apply_job *j, size_t at, const struct ec2_groups *all, const struct ec2_subnets *subnets)
{
	const struct queue *q = &j->cluster->queues[at];
	const struct apply_queue *d = &j->queues[at];
	const struct ec2_subnet *s = q->subnet_ids.n ? subnet_find(subnets, q->subnet_ids.v[0]) : NULL;
	bool known = d->groups.n > 0;

	for (size_t i = 0; i < d->groups.n; i++) {
		const struct ec2_group *g = secgroup_find(all, d->groups.v[i]);

		if (!g)
			APPLY_PROBLEM_AT(j, q->at, "queue %s: EC2 has no security group %s", q->name, d->groups.v[i]);
		else if (d->vpc && g->vpc && strcmp(g->vpc, d->vpc) != 0)
			APPLY_PROBLEM_AT(j, q->at, "queue %s: security group %s is in %s, its subnet is in %s", q->name, g->id,
					 g->vpc, d->vpc);
		known = known && g;
	}
	if (!known)
		return;
	judge_head_to_node(j, q, d, all);
	judge_node_to_node(j, q, d, all, s ? s->cidr : NULL);
	judge_node_to_head(j, q, d, all, s ? s->cidr : NULL);
}

static int look(struct apply_job *j, struct asked *subnets_asked, struct asked *groups_asked, struct ec2_subnets *subnets,
		struct ec2_groups *groups, struct err *e)
{
	if (ask_subnets(j, subnets_asked, subnets, e) || head_groups(j, e) ||
	    ask_groups(j->clouds[0].aws, groups_asked, &j->head_groups, groups, e))
		return -1;
	for (size_t i = 0; i < j->cluster->n_queues; i++) {
		judge_subnets(j, i, subnets);
		if (fill_zones(j, i, subnets))
			return err_nomem(e);
		if (groups_in_force(j, i, e) ||
		    ask_groups(j->clouds[j->queues[i].cloud].aws, groups_asked, &j->queues[i].groups, groups, e))
			return -1;
		judge_groups(j, i, groups, subnets);
	}
	return 0;
}

int apply_step_network(struct apply_job *j, struct buf *note, struct err *e)
{
	struct asked subnets_asked = { 0 }, groups_asked = { 0 };
	struct ec2_subnets subnets = { 0 };
	struct ec2_groups groups = { 0 };
	int rc = look(j, &subnets_asked, &groups_asked, &subnets, &groups, e);

	if (rc == 0)
		buf_fmt(note, "%zu subnet%s, %zu security group%s%s", subnets.n, subnets.n == 1 ? "" : "s", groups.n,
			groups.n == 1 ? "" : "s",
			j->head_in_ec2 ? "" : "; this head node is not in EC2, its own firewall is not checked");
	free(subnets.v);
	free(groups.v);
	asked_clear(&subnets_asked);
	asked_clear(&groups_asked);
	return rc;
}
