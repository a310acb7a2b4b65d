/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume.c - ResumeProgram's work: observe, placeholder addresses, plan, launch, bind, tell, fail.
 *
 * Money is spent only behind a committed row; what the time limit, a signal or a lost answer leaves undone stays as rows for
 * clustermgtd. A node is told DOWN only when EC2 gave a definite no.
 */
#include "lib/apply/apply.h"

#include "lib/apply/bind.h"
#include "lib/apply/heartbeat.h"
#include "lib/apply/launch.h"
#include "lib/apply/settle.h"
#include "lib/apply/tell.h"
#include "lib/aws/ec2.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/node/job.h"
#include "lib/node/map.h"
#include "lib/node/name.h"
#include "lib/node/node.h"
#include "lib/node/nodeset.h"
#include "lib/plan/resume.h"
#include "lib/slurmctl/slurmctl.h"
#include "lib/state/store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEPS_MAX 16	    /* launches side by side; aws keeps 8 in the air */
#define YOUNG_MS 5000	    /* a binding this young is not doubted: EC2 may not show the machine yet */
#define PLACEHOLDER_MS 5000 /* patience with an absent slurmctld before launching */
#define JOB_COMMENTS_MAX 50 /* a comment is one RPC a job */
#define NO_OWNER SIZE_MAX
#define CODE_FAILED "ResumeFailed" /* no request could be made; the reason follows */

struct run {
	struct world *w;
	const struct resume_request *request;
	int64_t deadline;
	struct nodeset *asked; /* request->nodes */
	size_t *owner;	       /* for each asked node: index of the launching that claims it, or NO_OWNER */
	struct strs live;
	struct resume_input in; /* the plan borrows it */
	struct resume_plan *plan;
	struct launching *launch;
	size_t n_launch, cap_launch;
	size_t left;	 /* launches that stay open */
	const char *raw; /* EC2's own words for the last refusal, for job comments; borrowed from a call */
	struct err why;	 /* of CODE_FAILED */
};

/* ---- observe: which nodes have a machine already */

struct known {
	struct bindings rows; /* BOUND rows of asked nodes that must be looked at */
	struct strs fresh;    /* asked nodes without machine and claim */
};

static int sort_row(struct run *r, struct known *k, const struct binding *b, struct nodeset *busy, int64_t now)
{
	struct binding *copy;

	if (b->state == BINDING_FREE || !nodeset_has(r->asked, b->node))
		return 0;
	if (nodeset_add(busy, b->node) < 0)
		return -1;
	if (b->state == BINDING_LAUNCHING || now - b->since_ms < YOUNG_MS) {
		log_info("%s: a launch for it is under way or just done; left alone", b->node);
		return strs_add(&r->live, b->node);
	}
	copy = bindings_add(&k->rows);
	if (!copy)
		return -1;
	*copy = (struct binding){.generation = b->generation, .state = b->state, .since_ms = b->since_ms};
	copy->node = str_dup(b->node);
	copy->launch = str_dup(b->launch);
	copy->instance = str_dup(b->instance);
	copy->ip = str_dup(b->ip);
	return copy->node && copy->instance ? 0 : -1;
}

static int sort_nodes(struct run *r, struct known *k, const struct bindings *all)
{
	struct nodeset *busy = nodeset_create();
	int64_t now = clock_wall_ms();
	struct node_name at;
	int rc = busy ? 0 : -1;

	for (size_t i = 0; i < all->n && rc == 0; i++)
		rc = sort_row(r, k, &all->v[i], busy, now);
	for (size_t i = 0; i < r->request->nodes.n && rc == 0; i++) {
		const char *name = r->request->nodes.v[i];

		/* a name that is not ours gets no address of ours; the plan says what becomes of it */
		if (!nodeset_has(busy, name) && node_name_resolve(r->w->gen, name, &at) == 0)
			rc = strs_add(&k->fresh, name);
	}
	nodeset_destroy(busy);
	return rc;
}

static void placeholder(struct run *r, const struct strs *names)
{
	int64_t until = clock_mono_ms() + PLACEHOLDER_MS;
	struct err e = {""};

	if (tell_no_machine((const char *const *)names->v, names->n, until < r->deadline ? until : r->deadline, &e) < 0)
		log_warn("placeholder addresses: %s", e.text);
}

/* EC2 may not list a new machine for a while, and a state we have no word for says nothing. */
static bool is_gone(const struct run *r, const struct instance *in, const struct binding *b)
{
	if (!in)
		return clock_wall_ms() - b->since_ms >= r->w->settings->orphan_grace_s * 1000;
	return in->state != INSTANCE_PENDING && in->state != INSTANCE_RUNNING && in->state != INSTANCE_UNKNOWN;
}

/* A bound node is resumed again: Slurm lost track (a crash) or its machine died unseen. in: NULL = EC2 does not list it. */
static int judge_bound(struct run *r, bool seen, const struct instance *in, const struct binding *b, struct strs *dead,
		       struct binds *again)
{
	struct err e = {""};

	if (seen && is_gone(r, in, b)) {
		log_info("%s: its machine %s is gone; a new one is launched", b->node, b->instance);
		if (store_free(r->w->store, b->node, b->generation, NULL, &e) < 0)
			log_warn("%s: %s", b->node, e.text);
		return strs_add(dead, b->node);
	}
	log_info("%s: it has machine %s; its address is written again", b->node, b->instance);
	if (strs_add(&r->live, b->node) < 0)
		return -1;
	return b->ip && b->launch ? binds_add(again, b->node, b->instance, b->ip, b->launch, NULL) : 0;
}

static int judge_all(struct run *r, const struct instances *seen, const struct bindings *rows)
{
	struct strs dead = {0};
	struct binds again = {0};
	struct map ids = {0};
	int rc = seen ? map_instances(&ids, seen) : 0;

	for (size_t i = 0; i < rows->n && rc == 0; i++) {
		size_t k = map_get(&ids, rows->v[i].instance);

		rc = judge_bound(r, seen, k < SIZE_MAX ? &seen->v[k] : NULL, &rows->v[i], &dead, &again);
	}
	map_clear(&ids);
	placeholder(r, &dead);
	binds_tell(r->w, &again, r->deadline);
	strs_clear(&dead);
	binds_clear(&again);
	return rc;
}

static int check_bound(struct run *r, const struct bindings *rows)
{
	const char **ids = calloc(rows->n, sizeof *ids);
	struct ec2_call *c = NULL;
	struct err e = {""};
	int rc = -1;

	for (size_t i = 0; ids && i < rows->n; i++)
		ids[i] = rows->v[i].instance;
	/* by filter: an id that is long gone must not spoil the answer about the others */
	if (ids)
		c = ec2_describe_by("instance-id", ids, rows->n);
	if (c) {
		bool read = ec2_perform_one(r->w->aws, c, r->deadline, &e) == 0;

		if (!read)
			log_warn("machines of %zu nodes: %s", rows->n, e.text);
		rc = judge_all(r, read ? ec2_describe_reply(c) : NULL, rows); /* unread is never "gone" */
	}
	ec2_call_destroy(c);
	free(ids);
	return rc;
}

static int observe(struct run *r, struct err *e)
{
	struct bindings all = {0};
	struct known k = {{0}, {0}};
	int rc;

	if (store_bindings(r->w->store, &all, e) < 0)
		return -1;
	rc = sort_nodes(r, &k, &all);
	if (rc == 0) {
		placeholder(r, &k.fresh); /* before anything slow: slurmctld would look the names up, under its lock */
		if (k.rows.n > 0)
			rc = check_bound(r, &k.rows);
	}
	bindings_clear(&all);
	bindings_clear(&k.rows);
	strs_clear(&k.fresh);
	return rc < 0 ? err_nomem(e) : 0;
}

/* ---- launch */

static void release_all(struct run *r, const struct strs *nodes)
{
	struct err e = {""};

	for (size_t i = 0; i < nodes->n; i++) {
		size_t at = nodeset_index(r->asked, nodes->v[i]);
		struct launching *l;

		if (at == SIZE_MAX || r->owner[at] == NO_OWNER)
			continue;
		l = &r->launch[r->owner[at]];
		if (l->outcome == LAUNCHING_CAME && store_launch_release(r->w->store, l->row.id, nodes->v[i], &e) < 0)
			log_warn("launch %s: %s", l->row.id, e.text);
		r->owner[at] = NO_OWNER;
	}
}

/* A node goes from one of our launches to the next try: give the old claim back first. One transaction for all. */
static void release_old_claims(struct run *r, const struct strs *nodes)
{
	struct err e = {""};
	int rc = store_batch_begin(r->w->store, &e);

	if (rc == 0) {
		release_all(r, nodes);
		rc = store_batch_end(r->w->store, 0, &e);
	}
	if (rc < 0)
		log_warn("claims: %s", e.text);
}

static int fill_row(struct run *r, struct launch *row, const struct resume_step *s)
{
	const struct gen_resource *res = &r->w->gen->resources[s->resource];
	char id[21];

	launching_new_id(id);
	row->id = str_dup(id);
	row->queue = str_dup(res->queue);
	row->resource = str_dup(res->name);
	row->min_count = s->min_count;
	row->created_ms = clock_wall_ms();
	row->pid = getpid();
	if (!row->id || !row->queue || !row->resource || strs_copy(&row->nodes, s->nodes) < 0)
		return -1;
	return s->jobs ? strs_copy(&row->jobs, s->jobs) : 0;
}

static void own(struct run *r, const struct strs *nodes, size_t launching)
{
	for (size_t i = 0; i < nodes->n; i++) {
		size_t at = nodeset_index(r->asked, nodes->v[i]);

		if (at != SIZE_MAX)
			r->owner[at] = launching;
	}
}

/* 1 = another process took some of the nodes between our look and our claim; they are live now, and what we had claimed is
 * given back. */
static int claim(struct run *r, struct launching *l, struct err *e)
{
	struct strs taken = {0};
	int rc = store_launch_claim(r->w->store, &l->row, &taken, e);

	for (size_t i = 0; i < taken.n && rc >= 0; i++) {
		log_info("%s: another process launches for it", taken.v[i]);
		rc = strs_add(&r->live, taken.v[i]) < 0 ? err_nomem(e) : 1;
	}
	if (rc > 0 && l->row.nodes.n > 0)
		store_launch_done(r->w->store, l->row.id, NULL);
	strs_clear(&taken);
	return rc;
}

/* Commit the row and build the call of one step. 1 = another process was faster. */
static int prepare(struct run *r, struct launching *l, const struct resume_step *s, struct err *e)
{
	int rc;

	l->step = s->id;
	release_old_claims(r, s->nodes);
	if (fill_row(r, &l->row, s) < 0)
		return err_nomem(e);
	rc = claim(r, l, e);
	if (rc != 0)
		return rc;
	own(r, &l->row.nodes, (size_t)(l - r->launch));
	if (launching_prepare(r->w, l, e) == 0)
		return 0;
	store_launch_done(r->w->store, l->row.id, NULL); /* never sent */
	return -1;
}

static int answer(struct run *r, struct launching *l)
{
	launching_collect(r->w, l);
	if (l->outcome == LAUNCHING_OPEN) {
		r->left++;
		return resume_plan_leave(r->plan, l->step);
	}
	if (l->outcome == LAUNCHING_REFUSED)
		r->raw = l->call->error.message;
	return resume_plan_answer(r->plan, l->step,
				  &(struct resume_answer){
				      .got = launching_instances(l),
				      .code = l->outcome == LAUNCHING_REFUSED ? l->call->error.code : NULL,
				  },
				  clock_wall_ms());
}

static int perform(struct run *r, size_t first)
{
	struct ec2_call *calls[STEPS_MAX];
	size_t n = 0;
	int rc = 0;

	for (size_t i = first; i < r->n_launch; i++) {
		if (r->launch[i].call)
			calls[n++] = r->launch[i].call;
	}
	ec2_perform(r->w->aws, calls, n, apply_stop ? 0 : r->deadline, NULL, NULL);
	for (size_t i = first; i < r->n_launch && rc == 0; i++) {
		if (r->launch[i].call)
			rc = answer(r, &r->launch[i]);
	}
	return rc;
}

/* Never sent, so it is as good as a no: the nodes fail, rather than wait for nothing. */
static int not_prepared(struct run *r, struct launching *l, const struct resume_step *s, const struct err *e)
{
	const struct gen_resource *res = &r->w->gen->resources[s->resource];

	log_error("launch for %zu nodes of %s/%s: %s", s->nodes->n, res->queue, res->name, e->text);
	l->outcome = LAUNCHING_REFUSED;
	r->why = *e;
	return resume_plan_answer(r->plan, s->id, &(struct resume_answer){.why = SHORT_FATAL, .code = CODE_FAILED}, clock_wall_ms());
}

/* Nothing was sent yet: give the claims of this round back, so that the plan can be made anew. */
static void forget_round(struct run *r)
{
	for (size_t i = 0; i < r->n_launch; i++) {
		if (r->launch[i].call)
			store_launch_done(r->w->store, r->launch[i].row.id, NULL);
		launching_clear(&r->launch[i]);
	}
	r->n_launch = 0;
	for (size_t i = 0; i < r->request->nodes.n; i++)
		r->owner[i] = NO_OWNER;
}

/* 1 = another process took nodes of the first round: plan anew with them as live. In a later round, for nodes that had already
 * failed once, the step is left to that process. */
static int launch_round(struct run *r, const struct resume_step *steps, size_t n)
{
	size_t first = r->n_launch;
	struct err e = {""};

	if (mem_grow(&r->launch, &r->cap_launch, first + n, sizeof *r->launch) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct launching *l = &r->launch[r->n_launch++];
		int rc = prepare(r, l, &steps[i], &e);

		if (rc > 0 && first == 0) {
			forget_round(r);
			return 1;
		}
		if (rc > 0)
			l->outcome = LAUNCHING_OPEN;
		if ((rc > 0 && resume_plan_leave(r->plan, steps[i].id) < 0) ||
		    (rc < 0 && not_prepared(r, l, &steps[i], &e) < 0))
			return -1;
	}
	return perform(r, first);
}

static int launch_all(struct run *r, struct err *e)
{
	struct resume_step steps[STEPS_MAX];
	int64_t wake;
	size_t n;
	int rc = 0;

	while (rc == 0 && (n = resume_plan_next(r->plan, clock_wall_ms(), steps, STEPS_MAX, &wake)) > 0)
		rc = launch_round(r, steps, n);
	return rc < 0 ? err_nomem(e) : rc;
}

/* ---- after the last answer */

static const struct launching *launching_of_step(const struct run *r, size_t step)
{
	for (size_t i = 0; i < r->n_launch; i++) {
		if (r->launch[i].step == step)
			return &r->launch[i];
	}
	return NULL;
}

static const char *claim_of(const struct run *r, const char *node)
{
	size_t at = nodeset_index(r->asked, node);
	const struct launching *l = at == SIZE_MAX || r->owner[at] == NO_OWNER ? NULL : &r->launch[r->owner[at]];

	return l && l->outcome == LAUNCHING_CAME ? l->row.id : NULL;
}

static int gather_binds(const struct run *r, const struct resume_result *res, struct binds *out)
{
	for (size_t i = 0; i < res->n_bind; i++) {
		const struct launching *l = launching_of_step(r, res->bind[i].step);

		if (l && binds_add(out, res->bind[i].node, res->bind[i].instance, res->bind[i].ip, l->row.id,
				   claim_of(r, res->bind[i].node)) < 0)
			return -1;
	}
	return 0;
}

static int bind_all(struct run *r, const struct resume_result *res, struct err *e)
{
	struct binds b = {0};
	struct strs surplus = {0};
	int rc = gather_binds(r, res, &b);

	for (size_t i = 0; i < res->n_surplus && rc == 0; i++)
		rc = strs_add(&surplus, res->surplus[i]);
	rc = rc < 0 ? err_nomem(e) : settle(r->w, r->launch, r->n_launch, &b, &surplus, r->deadline, e);
	strs_clear(&surplus);
	binds_clear(&b);
	return rc;
}

static const char *why_of(const struct run *r, const char *code)
{
	return str_eq(code, CODE_FAILED) ? r->why.text : NULL;
}

/* One update for each code. */
static void fail_code(struct run *r, const struct resume_result *res, size_t first, const char **names, bool *done)
{
	size_t n = 0;

	for (size_t i = first; i < res->n_fail; i++) {
		if (!done[i] && str_eq(res->fail[i].code, res->fail[first].code)) {
			names[n++] = res->fail[i].node;
			done[i] = true;
		}
	}
	settle_failed(r->w, names, n, res->fail[first].code, why_of(r, res->fail[first].code), r->deadline + AFTER_LIMIT_MS);
}

static bool any_failed(const struct resume_job *j, const struct nodeset *failed)
{
	for (size_t i = 0; i < j->nodes.n; i++) {
		if (nodeset_has(failed, j->nodes.v[i]))
			return true;
	}
	return false;
}

/* A comment is a courtesy: it does not wait for a slurmctld that went away, which takes ten seconds to notice. */
static bool may_comment(const struct run *r)
{
	return !apply_stop && clock_mono_ms() < r->deadline + AFTER_LIMIT_MS && slurmctl_ping(NULL) == 0;
}

/* Where `scontrol show job` shows it: EC2's own words, and what to do. Caller frees; NULL on no memory. */
static char *comment_text(const struct run *r, const char *code)
{
	const char *const part[] = {code, why_of(r, code) ? why_of(r, code) : r->raw, launching_remedy(code)};
	struct buf b = {0};

	buf_str(&b, "slurm-ec2");
	for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
		if (part[i] && *part[i])
			buf_fmt(&b, ": %s", part[i]);
	}
	return buf_take(&b);
}

static void comment_jobs(struct run *r, const struct resume_result *res)
{
	char *text = comment_text(r, res->fail[0].code);
	struct nodeset *failed = nodeset_create();
	struct err e = {""};
	size_t sent = 0;

	for (size_t i = 0; failed && i < res->n_fail; i++)
		nodeset_add(failed, res->fail[i].node);
	for (size_t i = 0; text && failed && i < r->request->n_jobs && sent < JOB_COMMENTS_MAX; i++) {
		const struct resume_job *j = &r->request->jobs[i];

		if (!any_failed(j, failed))
			continue;
		if (!may_comment(r))
			break;
		sent++;
		if (slurmctl_job_comment(j->id, text, &e) < 0)
			log_debug("job %lld: %s", (long long)j->id, e.text);
	}
	nodeset_destroy(failed);
	free(text);
}

static void fail_nodes(struct run *r, const struct resume_result *res)
{
	const char **names = calloc(res->n_fail, sizeof *names);
	bool *done = calloc(res->n_fail, sizeof *done);

	for (size_t i = 0; names && done && i < res->n_fail; i++) {
		if (!done[i])
			fail_code(r, res, i, names, done);
	}
	free(names);
	free(done);
	comment_jobs(r, res);
}

static int finish(struct run *r, struct err *e)
{
	const struct resume_result *res = resume_plan_result(r->plan, e);
	int rc;

	if (!res)
		return -1;
	rc = bind_all(r, res, e);
	if (res->n_fail > 0)
		fail_nodes(r, res);
	log_info("%zu nodes asked: %zu bound, %zu failed, %zu machines returned, %zu launches left open, %zu were live",
		 r->request->nodes.n, res->n_bind, res->n_fail, res->n_surplus, r->left, r->live.n);
	return rc;
}

/* ---- the whole */

static int run_open(struct run *r, struct err *e)
{
	size_t n = r->request->nodes.n;

	r->asked = nodeset_create();
	r->owner = calloc(n ? n : 1, sizeof *r->owner);
	if (!r->asked || !r->owner)
		return err_nomem(e);
	for (size_t i = 0; i < n; i++) {
		if (nodeset_add(r->asked, r->request->nodes.v[i]) < 0)
			return err_nomem(e);
		r->owner[i] = NO_OWNER;
	}
	return 0;
}

static void run_close(struct run *r)
{
	resume_plan_destroy(r->plan);
	for (size_t i = 0; i < r->n_launch; i++)
		launching_clear(&r->launch[i]);
	free(r->launch);
	free(r->owner);
	nodeset_destroy(r->asked);
	strs_clear(&r->live);
}

static int run_plan(struct run *r, struct err *e)
{
	int rc;

	r->in = (struct resume_input){
	    .gen = r->w->gen,
	    .request = r->request,
	    .live = &r->live,
	    .strategy = r->w->gen->scaling,
	    .batch_max = (size_t)r->w->settings->launch_batch,
	};
	do {
		resume_plan_destroy(r->plan);
		r->plan = resume_plan_create(&r->in, e);
		rc = r->plan ? launch_all(r, e) : -1;
	} while (rc > 0); /* each time with more nodes live, so it ends */
	return rc < 0 ? -1 : finish(r, e);
}

/* A placeholder address too: slurmctld would go on looking the names up. By the code clustermgtd knows the reason as ours, and
 * lets the nodes go back to idle. */
static int down_all(const struct resume_request *q, const char *code, const char *why, int64_t deadline, struct err *e)
{
	const char *const *names = (const char *const *)q->nodes.v;
	char *reason = str_fmt("(Code:%s)%s", code, why);
	int rc = reason ? tell_no_machine(names, q->nodes.n, deadline, e) : err_nomem(e);

	if (rc == 0)
		rc = tell_state(names, q->nodes.n, slurmctl_state_down, reason, deadline, e);
	free(reason);
	return rc;
}

static int refuse(struct world *w, const struct resume_request *q, int64_t deadline, const struct err *why)
{
	struct err e = {""};

	apply_event(w, "resume-refused", NULL, NULL, why->text);
	if (down_all(q, "NotWatched", why->text, deadline, &e) < 0)
		log_error("%s", e.text);
	return -1;
}

int apply_resume(struct world *w, const struct resume_request *q, int64_t deadline, struct err *e)
{
	struct run r = {.w = w, .request = q, .deadline = deadline};
	int rc;

	if (q->nodes.n == 0)
		return 0;
	if (heartbeat_check(w, deadline, e) < 0)
		return refuse(w, q, deadline + AFTER_LIMIT_MS, e);
	rc = run_open(&r, e);
	if (rc == 0)
		rc = observe(&r, e);
	if (rc == 0)
		rc = run_plan(&r, e);
	run_close(&r);
	return rc;
}

int apply_fail_nodes(const char *conf, const struct resume_request *q, const char *why, struct err *e)
{
	if (slurmctl_open(conf ? conf : "/etc/slurm/slurm.conf", e) < 0)
		return -1;
	return down_all(q, CODE_FAILED, why, clock_mono_ms() + AFTER_LIMIT_MS, e);
}
