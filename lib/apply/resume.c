/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume.c - ResumeProgram's work: observe, placeholder addresses, then one resume plan from its launches to its end (run.c).
 *
 * A node that has a live machine, or a launch under way, is left alone.
 */
#include "lib/apply/apply.h"

#include "lib/apply/bind.h"
#include "lib/apply/cloud.h"
#include "lib/apply/failed_boot.h"
#include "lib/apply/heartbeat.h"
#include "lib/apply/launch.h"
#include "lib/apply/run.h"
#include "lib/apply/settle.h"
#include "lib/apply/tell.h"
#include "lib/apply/wish.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/node/map.h"
#include "lib/node/name.h"
#include "lib/node/node.h"
#include "lib/node/nodeset.h"
#include "lib/slurmctl/slurmctl.h"
#include "lib/state/store.h"

#include <stdlib.h>

#define YOUNG_MS 5000	    /* a binding this young is not doubted: EC2 may not show the machine yet */
#define PLACEHOLDER_MS 5000 /* patience with an absent slurmctld before launching */

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
	if (b->state == BINDING_LAUNCHING || (now >= b->since_ms && now - b->since_ms < YOUNG_MS)) {
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

/* A new generation for a row that stays: a plan of clustermgtd that holds the machine for a leftover of the node's last life must
 * not end it now. 1 done, 0 the row changed meanwhile, -1. */
static int renew(struct run *r, const struct binding *b, struct err *e)
{
	int rc = store_batch_begin(r->w->store, e);

	if (rc < 0)
		return -1;
	rc = store_free(r->w->store, b->node, b->generation, NULL, e);
	if (rc == 1)
		rc = store_adopt(r->w->store, b->node, b->launch, b->instance, b->ip, e);
	return store_batch_end(r->w->store, rc, e);
}

/* What becomes of nodes that have a machine. */
struct doubt {
	struct nodeset *waking; /* slurmctld has just powered them up */
	struct strs dead;       /* they get a new machine */
	struct cloud_ids ended; /* instead of these */
	struct binds again;     /* they keep theirs */
};

/* Up longer than a power-up may take, so it is a leftover that nobody ended: slurmctld does not take a node whose machine booted
 * before its power-up, and the job would wait for ResumeTimeout. */
static bool is_stale(const struct run *r, const struct instance *in, const struct binding *b, const struct doubt *d)
{
	return in && d->waking && nodeset_has(d->waking, b->node) &&
	       clock_wall_ms() - b->since_ms >= r->w->gen->resume_timeout_s * 1000;
}

static int give_up(struct run *r, const struct binding *b, struct doubt *d)
{
	struct err e = {""};

	if (store_free(r->w->store, b->node, b->generation, NULL, &e) < 0)
		log_warn("%s: %s", b->node, e.text);
	return strs_add(&d->dead, b->node);
}

/* A bound node is resumed again: Slurm lost track (a crash) or its machine died unseen. in: NULL = EC2 does not list it. */
static int judge_bound(struct run *r, size_t cloud, bool seen, const struct instance *in, const struct binding *b,
		       struct doubt *d)
{
	struct err e = {""};
	int kept;

	if (seen && is_gone(r, in, b)) {
		log_info("%s: its machine %s is gone; a new one is launched", b->node, b->instance);
		return give_up(r, b, d);
	}
	if (seen && is_stale(r, in, b, d)) {
		log_info("%s: its machine %s is older than its power-up; a new one is launched", b->node, b->instance);
		return cloud_ids_add(&d->ended, b->instance, cloud) < 0 ? -1 : give_up(r, b, d);
	}
	kept = seen && !in ? 1 : renew(r, b, &e); /* one that is not listed yet goes on growing old */
	if (kept < 0)
		log_warn("%s: %s", b->node, e.text);
	if (kept == 0) {
		log_info("%s: its machine %s was just taken from it", b->node, b->instance);
		return strs_add(&d->dead, b->node);
	}
	log_info("%s: it has machine %s; its address is written again", b->node, b->instance);
	if (strs_add(&r->live, b->node) < 0)
		return -1;
	return b->ip && b->launch ? binds_add(&d->again, b->node, b->instance, b->ip, b->launch, NULL) : 0;
}

/* seen: of cloud `cloud`, whose rows are judged; NULL = not read. */
static int judge_cloud(struct run *r, size_t cloud, const struct instances *seen, const struct bindings *rows, struct doubt *d)
{
	struct map ids = {0};
	int rc = seen ? map_instances(&ids, seen) : 0;

	for (size_t i = 0; i < rows->n && rc == 0; i++) {
		size_t k = map_get(&ids, rows->v[i].instance);

		if (cloud_of_node(r->w, rows->v[i].node) == cloud)
			rc = judge_bound(r, cloud, seen, k < SIZE_MAX ? &seen->v[k] : NULL, &rows->v[i], d);
	}
	map_clear(&ids);
	return rc;
}

static int check_cloud(struct run *r, size_t cloud, const struct bindings *rows, const char **ids, struct doubt *d)
{
	struct instances seen = {0};
	struct err e = {""};
	size_t n = 0;
	bool read;
	int rc;

	for (size_t i = 0; i < rows->n; i++) {
		if (cloud_of_node(r->w, rows->v[i].node) == cloud)
			ids[n++] = rows->v[i].instance;
	}
	if (n == 0)
		return 0;
	/* by filter: an id that is long gone must not spoil the answer about the others */
	read = cloud_describe(r->w, cloud, "instance-id", ids, n, r->deadline, &seen, &e) == 0;
	if (!read)
		log_warn("machines of %zu nodes: %s", n, e.text);
	rc = judge_cloud(r, cloud, read ? &seen : NULL, rows, d); /* unread is never "gone" */
	instances_clear(&seen);
	return rc;
}

/* Without slurmctld's word no machine counts as a leftover. */
static struct nodeset *read_waking(void)
{
	struct nodeset *waking = nodeset_create();
	struct nodes all = {0};
	int rc = waking && slurmctl_ping(NULL) == 0 ? slurmctl_nodes(&all, NULL) : -1;

	for (size_t i = 0; i < all.n && rc == 0; i++)
		if (all.v[i].state & NS_POWERING_UP)
			rc = nodeset_add(waking, all.v[i].name) < 0 ? -1 : 0;
	nodes_clear(&all);
	if (rc == 0)
		return waking;
	nodeset_destroy(waking);
	return NULL;
}

/* Their rows are free by now: what EC2 does not end at once is an orphan, and clustermgtd ends it. */
static void end_leftovers(struct run *r, const struct cloud_ids *l)
{
	char *text = strs_join(&l->id, ",");
	struct err e = {""};

	if (l->id.n > 0) {
		apply_event(r->w, "terminate", NULL, text, "older than its node's power-up");
		if (cloud_terminate(r->w, l, r->deadline, &e) < 0)
			log_error("%zu leftovers: %s; clustermgtd ends them", l->id.n, e.text);
	}
	free(text);
}

static int check_bound(struct run *r, const struct bindings *rows)
{
	const char **ids = calloc(rows->n, sizeof *ids);
	struct doubt d = {.waking = read_waking()};
	int rc = ids ? 0 : -1;

	for (size_t i = 0; i < cloud_count(r->w) && rc == 0; i++)
		rc = check_cloud(r, i, rows, ids, &d);
	placeholder(r, &d.dead);
	end_leftovers(r, &d.ended);
	binds_tell(r->w, &d.again, r->deadline);
	nodeset_destroy(d.waking);
	strs_clear(&d.dead);
	cloud_ids_clear(&d.ended);
	binds_clear(&d.again);
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

/* A placeholder address too: slurmctld would go on looking the names up. By the code clustermgtd knows the reason as ours, and
 * lets the nodes go back to idle. */
static int down_all(const struct strs *nodes, const char *code, const char *why, int64_t deadline, struct err *e)
{
	const char *const *names = (const char *const *)nodes->v;
	char *reason = str_fmt("(Code:%s)%s", code, why);
	int rc = reason ? tell_no_machine(names, nodes->n, deadline, e) : err_nomem(e);

	if (rc == 0)
		rc = tell_state(names, nodes->n, slurmctl_state_down, reason, deadline, e);
	free(reason);
	return rc;
}

static int refuse(struct world *w, const struct strs *nodes, const char *code, int64_t deadline, const struct err *why)
{
	char *text = nodeset_text_of((const char *const *)nodes->v, nodes->n);
	struct err e = {""};

	apply_event(w, "resume-refused", text, NULL, why->text);
	free(text);
	if (down_all(nodes, code, why->text, deadline, &e) < 0)
		log_error("%s", e.text);
	return -1;
}

/* In one of several clouds nobody watches: only its nodes are refused. */
static int refuse_cloud(struct run *r, size_t cloud, const struct err *why)
{
	struct strs nodes = {0};
	int rc = 0;

	for (size_t i = 0; i < r->request->nodes.n && rc == 0; i++) {
		const char *name = r->request->nodes.v[i];

		if (cloud_of_node(r->w, name) == cloud)
			rc = strs_add(&nodes, name) < 0 || strs_add(&r->live, name) < 0 ? -1 : 0;
	}
	if (rc == 0 && nodes.n > 0) {
		log_error("%s", why->text);
		refuse(r->w, &nodes, "NotWatched", r->deadline + AFTER_LIMIT_MS, why);
	}
	strs_clear(&nodes);
	return rc;
}

static int refuse_clouds(struct run *r, struct err *e)
{
	for (size_t i = 0; r->w->n_clouds > 0 && i < cloud_count(r->w); i++) {
		struct err why = {""};

		if (heartbeat_check_cloud(r->w, i, &why) < 0 && refuse_cloud(r, i, &why) < 0)
			return err_nomem(e);
	}
	return 0;
}

/* What cannot be read is no reason to stop. */
static bool is_wanted(struct world *w, const char **code, struct err *e)
{
	struct wish wish;
	struct err more = {""};

	if (wish_read(w->store, clock_wall_ms(), &wish, &more) < 0)
		log_warn("%s", more.text);
	return wish_serves(&wish, code, e);
}

/* Without them jobs go in the order of the file. */
static void learn_priorities(struct resume_request *q)
{
	struct err e = {""};

	if (q->n_jobs < 2 || slurmctl_ping(NULL) < 0)
		return;
	if (slurmctl_priorities(q, &e) < 0)
		log_warn("priorities of jobs: %s; they are served in slurmctld's order", e.text);
}

/* They are DOWN in Slurm, but a job may have been given one a moment before. Without an answer nothing is barred: what cannot be
 * read is no reason to fail a job. */
static void find_barred(struct run *r)
{
	struct err e = {""};
	char *text;

	r->barred = nodeset_create();
	if (!r->barred)
		return;
	if (failed_boots_barred(r->w, &r->request->nodes, r->barred, &e) < 0)
		log_warn("failed boots: %s; no node is barred for them", e.text);
	if (nodeset_count(r->barred) == 0)
		return;
	text = nodeset_text(r->barred);
	log_warn("%s: not launched, for machines of that kind do not come up", text ? text : "");
	free(text);
}

int apply_resume(struct world *w, struct resume_request *q, int64_t deadline, struct err *e)
{
	struct run r = {.w = w, .request = q, .deadline = deadline};
	const char *code;
	int rc;

	if (q->nodes.n == 0)
		return 0;
	if (!is_wanted(w, &code, e))
		return refuse(w, &q->nodes, code, deadline + AFTER_LIMIT_MS, e);
	if (heartbeat_check(w, deadline, e) < 0)
		return refuse(w, &q->nodes, "NotWatched", deadline + AFTER_LIMIT_MS, e);
	rc = run_open(&r, e);
	if (rc == 0)
		rc = refuse_clouds(&r, e);
	if (rc == 0)
		rc = observe(&r, e);
	if (rc == 0) {
		find_barred(&r);
		learn_priorities(q);
		rc = run_plan(&r, e);
	}
	run_close(&r);
	return rc;
}

int apply_fail_nodes(const char *conf, const struct resume_request *q, const char *why, struct err *e)
{
	if (slurmctl_open(conf ? conf : "/etc/slurm/slurm.conf", e) < 0)
		return -1;
	return down_all(&q->nodes, CODE_FAILED, why, clock_mono_ms() + AFTER_LIMIT_MS, e);
}
