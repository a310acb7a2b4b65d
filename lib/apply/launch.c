/* SPDX-License-Identifier: GPL-2.0-or-later */
/* launch.c - from a claimed row to EC2's answer. The request is kept in the row before it is sent: a retry by any process,
 * after any crash, is byte for byte the same request with the same ClientToken, and EC2 answers it with the same machines. */
#include "lib/apply/launch.h"

#include "lib/apply/apply.h"
#include "lib/apply/cloud.h"
#include "lib/apply/fleet.h"
#include "lib/aws/ec2.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/node/map.h"
#include "lib/node/nodeset.h"
#include "lib/plan/capacity.h"
#include "lib/plan/protect.h"
#include "lib/state/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFUSALS_TOLD 20 /* of one answer, in log and events: a fleet of all types and zones may be refused hundreds of times */

void launching_new_id(char out[21])
{
	memcpy(out, "l-", 2);
	rand_hex(out + 2, 18);
}

const struct gen_resource *launching_resource(const struct world *w, const struct launch *row)
{
	const struct generation *g = w->gen;
	size_t i = generation_find_resource(g, row->queue, strlen(row->queue), row->resource, strlen(row->resource));

	return i < g->n_resources ? &g->resources[i] : NULL;
}

int launching_prepare(struct world *w, struct launching *l, const struct resume_choice *choices, size_t n, struct err *e)
{
	const struct gen_resource *r = launching_resource(w, &l->row);

	if (!r)
		return err_set(e, "compute resource %s/%s is not in the applied generation", l->row.queue, l->row.resource);
	l->call = fleet_call(w->gen, r, &l->row, choices, n, e);
	if (!l->call)
		return -1;
	if (store_launch_request(w->store, l->row.id, l->call->body, e) == 0)
		return 0;
	ec2_call_destroy(l->call); /* what is not kept is not sent */
	l->call = NULL;
	return -1;
}

int launching_prepare_again(struct launching *l, struct err *e)
{
	l->replay = true;
	l->call = ec2_launch_again(l->row.request);
	return l->call ? 0 : err_set(e, "its request cannot be read");
}

/* ---- reading the answer */

/* Without credentials nothing was sent, and nothing will be until somebody repairs them. But of a request that an earlier
 * process kept, and perhaps sent, that says nothing. */
static bool definite_no(const struct launching *l)
{
	const struct ec2_call *c = l->call;

	if (l->replay && c->error.class == AWS_CREDENTIALS)
		return false;
	if (!c->sent)
		return c->error.class == AWS_CREDENTIALS;
	return c->error.class != AWS_OK && c->error.class != AWS_THROTTLE && c->error.class != AWS_TRANSIENT;
}

static bool is_fleet(const struct launching *l)
{
	return str_eq(l->call->action, "CreateFleet");
}

/* Moved: a thousand machines need not be there twice. */
static int take_instances(struct launching *l, const struct instances *from, const struct map *known)
{
	for (size_t i = 0; i < from->n; i++) {
		struct instance *to;

		if (known && (map_get(known, from->v[i].id) < SIZE_MAX || !instance_alive(from->v[i].state)))
			continue;
		to = instances_add(&l->got);
		if (!to)
			return -1;
		*to = from->v[i];
		from->v[i] = (struct instance){0};
	}
	return 0;
}

/* What an earlier try launched carries our tag. -1 if that cannot be told. */
static int find_earlier(struct world *w, struct launching *l, int64_t deadline, struct err *e)
{
	const char *const id[] = {l->row.id};
	struct instances more = {0};
	struct map known = {0};
	int rc = cloud_describe(w, l->cloud, "tag:" TAG_LAUNCH, id, 1, deadline, &more, e);

	if (rc == 0 && (map_instances(&known, &l->got) < 0 || take_instances(l, &more, &known) < 0))
		rc = err_nomem(e);
	map_clear(&known);
	instances_clear(&more);
	return rc;
}

static enum resume_short short_of(enum aws_class c)
{
	if (c == AWS_CAPACITY || c == AWS_QUOTA)
		return SHORT_CAPACITY;
	return c == AWS_THROTTLE || c == AWS_TRANSIENT ? SHORT_LATER : SHORT_FATAL;
}

static void add_refusal(struct launching *l, const struct resume_refusal *r)
{
	struct resume_refusal *v = realloc(l->refused, (l->n_refused + 1) * sizeof *v);

	if (!v)
		return; /* the plan then takes the code for all choices */
	v[l->n_refused++] = *r;
	l->refused = v;
}

/* The call as a whole was refused. */
static void judge_error(struct launching *l)
{
	const struct aws_error *a = &l->call->error;

	l->why = short_of(a->class);
	l->code = a->code;
	l->message = a->message;
	if (l->why == SHORT_CAPACITY)
		add_refusal(l, &(struct resume_refusal){.code = a->code, .message = a->message});
}

/* Throttled choices are not short: they are asked again, whatever became of the others. A fleet's answer that only repeats
 * (listed: the machines it named itself) says nothing of capacity when it is empty. */
static void judge_choices(struct launching *l, const struct ec2_launch_reply *r, size_t listed)
{
	bool later = is_fleet(l) && (l->replay || l->call->repeated) && listed == 0 && r->n_errors == 0, capacity = false;

	for (size_t i = 0; i < r->n_errors; i++) {
		const struct ec2_launch_error *x = &r->errors[i];
		const char *code = x->code ? x->code : CODE_INSUFFICIENT;
		enum resume_short why = short_of(aws_classify(200, code));

		if (!l->code || capacity_code_worse(l->code, code) == code) {
			l->code = code;
			l->message = x->message;
		}
		later = later || why == SHORT_LATER;
		capacity = capacity || why == SHORT_CAPACITY;
		if (why == SHORT_LATER)
			continue;
		add_refusal(l, &(struct resume_refusal){
				   .type = x->type, .subnet_id = x->subnet_id, .code = code, .message = x->message});
	}
	l->why = later ? SHORT_LATER : capacity || r->n_errors == 0 ? SHORT_CAPACITY : SHORT_FATAL;
	if (!l->code && l->got.n == 0 && !later)
		l->code = CODE_INSUFFICIENT;
}

void launching_read(struct world *w, struct launching *l, int64_t deadline)
{
	const struct aws_error *a = &l->call->error;
	const struct ec2_launch_reply *r = l->call->sent && a->class == AWS_OK ? ec2_launch_reply(l->call) : NULL;
	size_t listed = r ? r->instances.n : 0;
	bool known = r || definite_no(l);
	struct err e = {""};

	if (r && take_instances(l, &r->instances, NULL) < 0)
		known = false; /* what came is in the row's tag; clustermgtd asks again */
	if (known && is_fleet(l) && (l->replay || l->call->repeated) && find_earlier(w, l, deadline, &e) < 0) {
		log_warn("launch %s: what an earlier try launched cannot be read: %s", l->row.id, e.text);
		known = l->got.n > 0;
	}
	if (!known) {
		l->outcome = LAUNCHING_OPEN;
		return;
	}
	l->outcome = l->got.n ? LAUNCHING_CAME : LAUNCHING_REFUSED;
	if (r)
		judge_choices(l, r, listed);
	else
		judge_error(l);
}

/* ---- telling */

/* A row write that fails after EC2 answered does not undo anything: the row stays INTENT and clustermgtd asks EC2 again. */
static void row_written(const struct launching *l, int rc, const struct err *e)
{
	if (rc < 0)
		log_error("launch %s: cannot write its row, clustermgtd will: %s", l->row.id, e->text);
}

static const char *or_what(const char *text)
{
	return text ? text : "?";
}

/* "300 c5.large us-east-1a, 200 c5.xlarge us-east-1b". NULL on no memory. */
static char *what_came(const struct instances *got)
{
	struct buf b = {0};
	size_t from = 0;

	/* EC2 tells them in groups */
	for (size_t i = 0; i < got->n; i++) {
		const struct instance *x = &got->v[i], *next = i + 1 < got->n ? &got->v[i + 1] : NULL;

		if (next && str_eq(x->type, next->type) && str_eq(x->zone, next->zone))
			continue;
		if (b.n < 400)
			buf_fmt(&b, "%s%zu %s %s", from ? ", " : "", i + 1 - from, or_what(x->type), or_what(x->zone));
		from = i + 1;
	}
	return buf_take(&b);
}

static void tell_came(struct world *w, const struct launching *l)
{
	char *what = what_came(&l->got), *nodes = nodeset_text_of((const char *const *)l->row.nodes.v, l->row.nodes.n);
	char *jobs = strs_join(&l->row.jobs, ",");
	char *detail = str_fmt("launch %s, stage %d, jobs %s: %zu of %zu machines for %s/%s: %s", l->row.id, l->row.stage,
			       jobs && *jobs ? jobs : "-", l->got.n, l->row.nodes.n, l->row.queue, l->row.resource,
			       what ? what : "");

	log_info("%s", detail ? detail : l->row.id);
	apply_event_jobs(w, "launch", nodes, NULL, &l->row.jobs, detail);
	apply_total(w, "launched", (int64_t)l->got.n);
	free(detail);
	free(jobs);
	free(nodes);
	free(what);
}

static void tell_refusal(struct world *w, const struct launching *l, const char *type, const char *subnet, const char *code,
			 const char *message)
{
	const char *remedy = launching_remedy(code);
	const char *request = l->call->error.request_id;
	char *nodes = nodeset_text_of((const char *const *)l->row.nodes.v, l->row.nodes.n);
	char *jobs = strs_join(&l->row.jobs, ",");
	char *detail = str_fmt("launch %s, stage %d, jobs %s: %zu machine%s for %s/%s%s%s%s%s: %s: %s%s%s%s%s%s", l->row.id,
			       l->row.stage, jobs && *jobs ? jobs : "-", l->row.nodes.n, l->row.nodes.n == 1 ? "" : "s",
			       l->row.queue, l->row.resource,
			       type ? ", " : "", type ? type : "", subnet ? " in " : "", subnet ? subnet : "", code,
			       message ? message : "EC2 said nothing more", *request ? " (request " : "", request,
			       *request ? ")" : "", *remedy ? "; " : "", remedy);

	log_warn("%s", detail ? detail : code);
	apply_event_jobs(w, "launch-refused", nodes, NULL, &l->row.jobs, detail);
	free(detail);
	free(jobs);
	free(nodes);
}

static void tell_refused(struct world *w, const struct launching *l)
{
	size_t n = l->n_refused < REFUSALS_TOLD ? l->n_refused : REFUSALS_TOLD;

	for (size_t i = 0; i < n; i++)
		tell_refusal(w, l, l->refused[i].type, l->refused[i].subnet_id, l->refused[i].code, l->refused[i].message);
	if (n < l->n_refused)
		log_warn("launch %s: %zu more choices were refused", l->row.id, l->n_refused - n);
	if (n == 0 && l->got.n < l->row.nodes.n)
		tell_refusal(w, l, NULL, NULL, l->code ? l->code : CODE_LIMITED, l->message);
}

const char *launching_remedy(const char *code)
{
	static const struct {
		const char *code, *remedy;
	} known[] = {
		{"InvalidLaunchTemplateId.NotFound", "the launch template was deleted, run slurm-ec2 apply to make it again"},
		{"InvalidLaunchTemplateId.VersionNotFound", "the launch template was changed, run slurm-ec2 apply to make it again"},
		{CODE_PROTECTED, "`slurm-ec2 events` tells how they failed; once that is mended, `slurm-ec2 fleet start`"},
		{"UnauthorizedOperation", "`slurm-ec2 policy` prints what the credentials must be allowed"},
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (str_eq(code, known[i].code))
			return known[i].remedy;
	}
	return "";
}

void launching_record(struct world *w, struct launching *l)
{
	const struct aws_error *a = &l->call->error;
	struct err e = {""};

	if (l->outcome == LAUNCHING_OPEN) {
		/* throttled until the time was over, or it may have happened: same token, later */
		log_warn("launch %s: no answer yet (%s %s); clustermgtd goes on with it", l->row.id,
			 l->call->sent ? a->code : "not sent", l->call->sent ? a->message : "");
		return;
	}
	if (l->got.n > 0)
		tell_came(w, l);
	tell_refused(w, l);
	row_written(l, store_launch_answered(w->store, l->row.id, l->got.n < l->row.nodes.n ? l->code : NULL, &e), &e);
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
	instances_clear(&l->got);
	free(l->refused);
	row_clear(&l->row);
	memset(l, 0, sizeof *l);
}
