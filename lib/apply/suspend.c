/* SPDX-License-Identifier: GPL-2.0-or-later */
/* suspend.c - SuspendProgram's and ResumeFailProgram's work: end the machines of some nodes. Idempotent.
 *
 * Order: event, TerminateInstances by id, placeholder in Slurm, row to free. A kill in between leaves a row that names a
 * machine, which the next run of any program finds. When EC2 cannot be reached the row is freed all the same: the machine then
 * belongs to no node, the next life of the node gets a new one, and clustermgtd ends it as an orphan by its tag.
 *
 * The brake: slurmctld asks for nodes that power down, are powered down or DOWN. One that it shows up, or coming up, has a new
 * life since (this process was late), or a job: it is left alone. With slurmctld away its question stands.
 */
#include "lib/apply/apply.h"

#include "lib/apply/cloud.h"
#include "lib/apply/failed_boot.h"
#include "lib/apply/launch.h"
#include "lib/apply/settle.h"
#include "lib/apply/tell.h"
#include "lib/apply/wish.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/node/binding.h"
#include "lib/node/extra.h"
#include "lib/node/instance.h"
#include "lib/node/map.h"
#include "lib/node/name.h"
#include "lib/node/node.h"
#include "lib/node/nodeset.h"
#include "lib/slurmctl/slurmctl.h"
#include "lib/state/store.h"

#include <stdlib.h>

#define SINGLE_LOADS_MAX 20 /* above it, one read of the whole table is cheaper */

struct run {
	struct world *w;
	int64_t deadline;
	struct nodeset *asked;
	struct nodes nodes;    /* asked nodes, and perhaps others, as slurmctld shows them */
	struct err unread;     /* why it does not; text[0] = 0 if it does */
	struct nodeset *up;    /* asked nodes with a life: not ours to end */
	struct nodeset *ours;  /* of the others, those that the cluster has, or that have a row */
	struct bindings rows;  /* of asked nodes, not FREE */
	struct nodeset *rowed; /* their names, in that order */
	struct cloud_ids ids;  /* machines to end */
	struct failed_boot *boots; /* of nodes that reached ResumeTimeout */
	size_t n_boots;
};

static int keep_row(struct run *r, const struct binding *b)
{
	struct binding *copy;

	if (b->state == BINDING_FREE || !nodeset_has(r->asked, b->node) || nodeset_has(r->up, b->node))
		return 0;
	copy = bindings_add(&r->rows);
	if (!copy)
		return -1;
	*copy = (struct binding){.generation = b->generation, .state = b->state, .node = str_dup(b->node)};
	if (!copy->node || nodeset_add(r->rowed, b->node) < 0)
		return -1;
	if (b->state != BINDING_BOUND || !b->instance)
		return 0;
	copy->instance = str_dup(b->instance);
	if (!copy->instance)
		return -1;
	return cloud_ids_add(&r->ids, b->instance, cloud_of_node(r->w, b->node));
}

static int read_rows(struct run *r, struct err *e)
{
	struct bindings all = {0};
	int rc = store_bindings(r->w->store, &all, e);

	for (size_t i = 0; i < all.n && rc == 0; i++)
		rc = keep_row(r, &all.v[i]) < 0 ? err_nomem(e) : 0;
	bindings_clear(&all);
	return rc;
}

/* ---- what slurmctld shows */

static int load_nodes(const struct nodeset *names, struct nodes *out, struct err *e)
{
	if (slurmctl_ping(e) < 0)
		return -1;
	if (nodeset_count(names) > SINGLE_LOADS_MAX)
		return slurmctl_nodes(out, e);
	for (size_t i = 0; i < nodeset_count(names); i++) {
		if (slurmctl_node(nodeset_get(names, i), out, e) < 0)
			return -1;
	}
	return 0;
}

static int sort_up(struct run *r, struct err *e)
{
	if (load_nodes(r->asked, &r->nodes, &r->unread) < 0) {
		nodes_clear(&r->nodes);
		return 0;
	}
	r->unread.text[0] = 0;
	for (size_t i = 0; i < r->nodes.n; i++) {
		const struct node *n = &r->nodes.v[i];

		if (!nodeset_has(r->asked, n->name) ||
		    !node_state_is(n->state, ~(1u << NS_DOWN), 0, NS_POWERING_DOWN | NS_POWERED_DOWN))
			continue;
		log_warn("%s is up, or coming up again: left alone", n->name);
		if (nodeset_add(r->up, n->name) < 0)
			return err_nomem(e);
	}
	return 0;
}

/* ---- nodes without a row: the state file was lost, or they never had a machine. Slurm and EC2 still know. */

/* Living machines of this cluster by address; addresses are unique among them. */
static int map_addresses(const struct run *r, const struct instances *seen, struct map *out)
{
	for (size_t i = 0; i < seen->n; i++) {
		const struct instance *in = &seen->v[i];

		if (instance_alive(in->state) && str_eq(in->cluster, r->w->gen->uuid) && map_put(out, in->private_ip, i) < 0)
			return -1;
	}
	return 0;
}

/* Addresses may repeat between clouds; the launch id does not. */
static int match(struct run *r, size_t cloud, const struct nodes *nodes, const struct nodeset *names, const struct instances *seen)
{
	struct map at = {0};
	int rc = map_addresses(r, seen, &at);

	for (size_t i = 0; i < nodes->n && rc == 0; i++) {
		const struct node *n = &nodes->v[i];
		size_t k = nodeset_has(names, n->name) && node_has_addr(n) ? map_get(&at, n->addr) : SIZE_MAX;
		char *launch = k < SIZE_MAX ? extra_launch(n->extra) : NULL;

		if (launch && str_eq(seen->v[k].launch, launch))
			rc = cloud_ids_add(&r->ids, seen->v[k].id, cloud);
		free(launch);
	}
	map_clear(&at);
	return rc;
}

/* Addresses of the named nodes of a cloud that look like a machine's. */
static size_t addresses(const struct run *r, size_t cloud, const struct nodes *nodes, const struct nodeset *names, const char **out)
{
	size_t n = 0;

	for (size_t i = 0; i < nodes->n; i++) {
		if (nodeset_has(names, nodes->v[i].name) && node_has_addr(&nodes->v[i]) &&
		    cloud_of_node(r->w, nodes->v[i].name) == cloud)
			out[n++] = nodes->v[i].addr;
	}
	return n;
}

static int ask_cloud(struct run *r, size_t cloud, const struct nodes *nodes, const struct nodeset *names, const char **addrs,
		     struct err *e)
{
	size_t n = addresses(r, cloud, nodes, names, addrs);
	struct instances seen = {0};
	int rc;

	if (n == 0)
		return 0;
	log_info("%zu nodes have an address but no row; asking EC2", n);
	rc = cloud_describe(r->w, cloud, "private-ip-address", addrs, n, r->deadline, &seen, e);
	if (rc == 0 && match(r, cloud, nodes, names, &seen) < 0)
		rc = err_nomem(e);
	instances_clear(&seen);
	return rc;
}

static int ask_ec2(struct run *r, const struct nodes *nodes, const struct nodeset *names, struct err *e)
{
	const char **addrs = calloc(nodes->n ? nodes->n : 1, sizeof *addrs);
	int rc = addrs ? 0 : err_nomem(e);

	for (size_t i = 0; i < cloud_count(r->w) && addrs; i++) {
		if (ask_cloud(r, i, nodes, names, addrs, rc < 0 ? NULL : e) < 0)
			rc = -1;
	}
	free(addrs);
	return rc;
}

static int find_rowless(struct run *r, struct err *e)
{
	struct nodeset *names = nodeset_create();
	int rc = names ? 0 : err_nomem(e);

	for (size_t i = 0; i < nodeset_count(r->ours) && rc == 0; i++) {
		const char *name = nodeset_get(r->ours, i);

		/* a LAUNCHING row has no machine we could name: its launcher ends it when the answer comes */
		if (!nodeset_has(r->rowed, name) && nodeset_add(names, name) < 0)
			rc = err_nomem(e);
	}
	if (rc == 0 && nodeset_count(names) > 0)
		rc = r->unread.text[0] ? err_set(e, "%s", r->unread.text) : ask_ec2(r, &r->nodes, names, e);
	nodeset_destroy(names);
	return rc;
}

/* ---- machines that did not come up in time */

/* libslurm shows a DOWN node as mixed or allocated until its job has let go of it. */
static bool timed_out(const struct node *n)
{
	return node_state_is(n->state, ~(1u << NS_IDLE), NS_POWERED_DOWN, 0) && n->reason &&
	       str_prefix(n->reason, FAILED_BOOT_TIMEOUT);
}

/* slurmctld gave them up; clustermgtd, which comes later, would not find their rows any more. */
static void count_boots(struct run *r)
{
	r->boots = calloc(r->rows.n + 1, sizeof *r->boots);
	for (size_t i = 0; r->boots && i < r->nodes.n; i++) {
		size_t at = timed_out(&r->nodes.v[i]) ? nodeset_index(r->rowed, r->nodes.v[i].name) : SIZE_MAX;

		if (at != SIZE_MAX && r->rows.v[at].instance && r->n_boots < r->rows.n)
			r->boots[r->n_boots++] = (struct failed_boot){.node = r->rows.v[at].node,
								      .instance = r->rows.v[at].instance,
								      .code = "resume-timeout",
								      .reason = "it did not come up within ResumeTimeout"};
	}
	failed_boots_count(r->w, r->boots, r->n_boots);
}

/* ---- effects */

/* Rows of one state, if they are still what they were; one transaction. Claims without a machine: from now on store_bind
 * refuses the launch that works for them. */
static int free_rows(struct run *r, enum binding_state state, struct err *e)
{
	int rc = store_batch_begin(r->w->store, e);

	if (rc < 0)
		return -1;
	for (size_t i = 0; i < r->rows.n && rc >= 0; i++) {
		const struct binding *b = &r->rows.v[i];

		if (b->state == state)
			rc = store_free(r->w->store, b->node, b->generation, NULL, e);
	}
	return store_batch_end(r->w->store, rc, e) < 0 ? -1 : 0;
}

static int terminate(struct run *r, struct err *e)
{
	char *text;

	if (r->ids.id.n == 0)
		return 0;
	text = strs_join(&r->ids.id, ",");
	log_info("terminating %zu machines: %s", r->ids.id.n, text ? text : "");
	apply_event(r->w, "terminate", NULL, text, "suspended");
	apply_total(r->w, "terminated", (int64_t)r->ids.id.n);
	free(text);
	if (cloud_terminate(r->w, &r->ids, r->deadline, e) == 0)
		return 0;
	return err_prefix(e, "%zu machines are left to clustermgtd", r->ids.id.n);
}

/* Ending machines may take longer than SuspendTimeout: a node that has a new life by now keeps its address. */
static bool has_new_life(const struct run *r, const char *name)
{
	size_t at = nodeset_index(r->rowed, name);
	struct bindings now = {0};
	bool new_life;

	new_life = store_binding(r->w->store, name, &now, NULL) == 0 && now.n == 1 && now.v[0].state != BINDING_FREE &&
		   (at == SIZE_MAX || now.v[0].generation != r->rows.v[at].generation);
	bindings_clear(&now);
	return new_life;
}

static int clear_in_slurm(struct run *r, struct err *e)
{
	const char **names = calloc(nodeset_count(r->ours) + 1, sizeof *names);
	size_t n = 0;
	int rc;

	if (!names)
		return err_nomem(e);
	for (size_t i = 0; i < nodeset_count(r->ours); i++) {
		const char *name = nodeset_get(r->ours, i);

		if (!has_new_life(r, name))
			names[n++] = name;
	}
	rc = tell_no_machine(names, n, r->deadline + AFTER_LIMIT_MS, e);
	free(names);
	return rc;
}

/* Each step is tried whatever became of the one before; the first trouble is the one told. */
static int act(struct run *r, struct err *e)
{
	struct err more = {""};
	int rc;

	count_boots(r);
	rc = free_rows(r, BINDING_LAUNCHING, e);
	if (find_rowless(r, rc < 0 ? &more : e) < 0)
		rc = -1;
	if (terminate(r, rc < 0 ? &more : e) < 0)
		rc = -1;
	if (clear_in_slurm(r, rc < 0 ? &more : e) < 0)
		rc = -1;
	if (free_rows(r, BINDING_BOUND, rc < 0 ? &more : e) < 0)
		rc = -1;
	failed_boots_save(r->w, r->boots, r->n_boots, r->deadline);
	if (more.text[0])
		log_warn("%s", more.text);
	return rc;
}

static void run_close(struct run *r)
{
	nodeset_destroy(r->asked);
	nodes_clear(&r->nodes);
	nodeset_destroy(r->up);
	nodeset_destroy(r->rowed);
	nodeset_destroy(r->ours);
	bindings_clear(&r->rows);
	cloud_ids_clear(&r->ids);
	free(r->boots);
}

/* Slurm may ask for nodes of a generation that is gone; only what is ours by name or by row is touched. */
static int sort_ours(struct run *r, struct err *e)
{
	struct node_name at;

	for (size_t i = 0; i < nodeset_count(r->asked); i++) {
		const char *name = nodeset_get(r->asked, i);

		if (nodeset_has(r->up, name))
			continue;
		if (!nodeset_has(r->rowed, name) && node_name_resolve_any(r->w->gen, name, &at) < 0)
			log_warn("%s is not a node of this cluster: left alone", name);
		else if (nodeset_add(r->ours, name) < 0)
			return err_nomem(e);
	}
	return 0;
}

static int run_open(struct run *r, const char *const *nodes, size_t n, struct err *e)
{
	r->asked = nodeset_create();
	r->up = nodeset_create();
	r->rowed = nodeset_create();
	r->ours = nodeset_create();
	if (!r->asked || !r->up || !r->rowed || !r->ours)
		return err_nomem(e);
	for (size_t i = 0; i < n; i++) {
		if (nodeset_add(r->asked, nodes[i]) < 0)
			return err_nomem(e);
	}
	return sort_up(r, e) < 0 || read_rows(r, e) < 0 ? -1 : sort_ours(r, e);
}

/* While everything is frozen the machines stay; clustermgtd finds them at powered-down nodes when that is over. */
static bool is_frozen(struct world *w, size_t n)
{
	struct err e = {""};
	struct wish wish;
	char clock[CLOCK_MINUTE];

	if (wish_read(w->store, clock_wall_ms(), &wish, &e) < 0)
		log_warn("%s", e.text);
	if (!wish.frozen_until_ms)
		return false;
	wish_clock(wish.frozen_until_ms, clock);
	log_info("frozen until %s: the machines of %zu nodes are left to clustermgtd", clock, n);
	return true;
}

int apply_suspend(struct world *w, const char *const *nodes, size_t n, int64_t deadline, struct err *e)
{
	struct run r = {.w = w, .deadline = deadline};
	int rc;

	if (is_frozen(w, n))
		return 0;
	rc = run_open(&r, nodes, n, e);
	if (rc == 0)
		rc = act(&r, e);
	log_info("%zu nodes asked: %zu machines ended", n, rc == 0 ? r.ids.id.n : 0);
	run_close(&r);
	return rc;
}
