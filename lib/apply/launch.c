/* SPDX-License-Identifier: GPL-2.0-or-later */
/* launch.c - from a claimed row to EC2's answer. The request is kept in the row before it is sent: a retry by any process,
 * after any crash, is byte for byte the same request with the same ClientToken, and EC2 answers it with the same machines. */
#include "lib/apply/launch.h"

#include "conf/bootstrap.h"
#include "lib/apply/apply.h"
#include "lib/aws/ec2.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/node/nodeset.h"
#include "lib/state/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void launching_new_id(char out[21])
{
	memcpy(out, "l-", 2);
	rand_hex(out + 2, 18);
}

void apply_event(struct world *w, const char *type, const char *node, const char *instance, const char *detail)
{
	struct err e = {""};

	if (w->store && store_event(w->store, clock_wall_ms(), type, node, instance, detail, &e) < 0)
		log_warn("event %s: %s", type, e.text);
}

static const struct gen_resource *find_resource(const struct generation *g, const char *queue, const char *name)
{
	size_t i = generation_find_resource(g, queue, strlen(queue), name, strlen(name));

	return i < g->n_resources ? &g->resources[i] : NULL;
}

static struct ec2_call *build_call(const struct launch *row, const struct gen_resource *r, const char *user_data)
{
	struct kvs tags = {{0}, {0}};
	struct ec2_run run = {
	    .template_id = r->template_id,
	    .template_version = r->template_version,
	    .min_count = row->min_count,
	    .max_count = (int)row->nodes.n,
	    .client_token = row->id,
	    .user_data = user_data,
	    .subnet_id = r->subnet_ids.n > 1 ? r->subnet_ids.v[0] : NULL,
	    .tags = &tags,
	};
	struct ec2_call *c = NULL;

	if (kvs_add(&tags, TAG_LAUNCH, row->id) == 0)
		c = ec2_run_instances(&run);
	kvs_clear(&tags);
	return c;
}

int launching_prepare(struct world *w, struct launching *l, struct err *e)
{
	const struct gen_resource *r = find_resource(w->gen, l->row.queue, l->row.resource);
	char *user_data;

	if (!r)
		return err_set(e, "compute resource %s/%s is not in the applied generation", l->row.queue, l->row.resource);
	user_data = bootstrap_launch(w->gen->bootstrap, l->row.id, (const char *const *)l->row.nodes.v, l->row.nodes.n, e);
	if (!user_data)
		return -1;
	l->call = build_call(&l->row, r, user_data);
	free(user_data);
	if (!l->call)
		return err_nomem(e);
	if (store_launch_request(w->store, l->row.id, l->call->body, e) == 0)
		return 0;
	ec2_call_destroy(l->call); /* what is not kept is not sent */
	l->call = NULL;
	return -1;
}

int launching_prepare_again(struct launching *l, struct err *e)
{
	l->call = ec2_launch_again(l->row.request);
	return l->call ? 0 : err_nomem(e);
}

const struct instances *launching_instances(const struct launching *l)
{
	static const struct instances none;
	const struct ec2_launch_reply *got = l->outcome == LAUNCHING_CAME ? ec2_launch_reply(l->call) : NULL;

	return got ? &got->instances : &none;
}

/* A row write that fails after EC2 answered does not undo anything: the row stays INTENT and clustermgtd asks EC2 again. */
static void row_written(const struct launching *l, int rc, const struct err *e)
{
	if (rc < 0)
		log_error("launch %s: cannot write its row, clustermgtd will: %s", l->row.id, e->text);
}

static void collect_came(struct world *w, struct launching *l)
{
	const struct instances *got;
	struct err e = {""};

	l->outcome = LAUNCHING_CAME;
	got = launching_instances(l);
	row_written(l, store_launch_answered(w->store, l->row.id, NULL, &e), &e);
	log_info("launch %s: %zu of %zu machines for %s/%s", l->row.id, got->n, l->row.nodes.n, l->row.queue, l->row.resource);
	for (size_t i = 0; i < got->n; i++)
		log_debug("launch %s: %s %s", l->row.id, got->v[i].id,
			  got->v[i].private_ip ? got->v[i].private_ip : "(no address yet)");
}

const char *launching_remedy(const char *code)
{
	static const struct {
		const char *code, *remedy;
	} known[] = {
		{"InvalidLaunchTemplateId.NotFound", "the launch template was deleted, run slurm-ec2 apply to make it again"},
		{"InvalidLaunchTemplateId.VersionNotFound", "the launch template was changed, run slurm-ec2 apply to make it again"},
		{"UnauthorizedOperation", "`slurm-ec2 policy` prints what the credentials must be allowed"},
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (str_eq(code, known[i].code))
			return known[i].remedy;
	}
	return "";
}

static void collect_refused(struct world *w, struct launching *l)
{
	const struct aws_error *a = &l->call->error;
	const char *remedy = launching_remedy(a->code);
	char *detail = str_fmt("launch %s, %s/%s, %zu nodes: %s: %s (request %s)%s%s", l->row.id, l->row.queue, l->row.resource,
			       l->row.nodes.n, a->code, a->message, a->request_id, *remedy ? "; " : "", remedy);
	struct err e = {""};

	l->outcome = LAUNCHING_REFUSED;
	log_warn("%s", detail ? detail : a->code);
	apply_event(w, "launch-refused", NULL, NULL, detail);
	free(detail);
	row_written(l, store_launch_answered(w->store, l->row.id, a->code, &e), &e);
	row_written(l, store_launch_done(w->store, l->row.id, &e), &e);
}

/* Without credentials nothing was sent, and nothing will be until somebody repairs them. But of a request that an earlier
 * process kept, and perhaps sent, that says nothing. */
static bool definite_no(const struct launching *l)
{
	const struct ec2_call *c = l->call;

	if (l->row.request && c->error.class == AWS_CREDENTIALS)
		return false;
	if (!c->sent)
		return c->error.class == AWS_CREDENTIALS;
	return c->error.class != AWS_OK && c->error.class != AWS_THROTTLE && c->error.class != AWS_TRANSIENT;
}

void launching_collect(struct world *w, struct launching *l)
{
	const struct aws_error *a = &l->call->error;

	if (l->call->sent && a->class == AWS_OK) {
		collect_came(w, l);
	} else if (definite_no(l)) {
		collect_refused(w, l);
	} else {
		/* throttled until the time was over, or it may have happened: same token, later */
		l->outcome = LAUNCHING_OPEN;
		log_warn("launch %s: no answer yet (%s %s); clustermgtd goes on with it", l->row.id,
			 l->call->sent ? a->code : "not sent", l->call->sent ? a->message : "");
	}
}

static void row_clear(struct launch *r)
{
	free(r->id);
	free(r->queue);
	free(r->resource);
	free(r->error);
	free(r->request);
	strs_clear(&r->nodes);
	strs_clear(&r->jobs);
	memset(r, 0, sizeof *r);
}

void launching_clear(struct launching *l)
{
	ec2_call_destroy(l->call);
	row_clear(&l->row);
	memset(l, 0, sizeof *l);
}
