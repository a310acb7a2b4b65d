/* SPDX-License-Identifier: GPL-2.0-or-later */
/* protect.c - counting machines that never served, one pass over rows and nodes. */
#include "lib/plan/protect.h"

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/node/map.h"
#include "lib/node/name.h"
#include "lib/node/nodeset.h"
#include "lib/plan/node_rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ANY_UP (~(1u << NS_DOWN))
#define WORKING ((1u << NS_ALLOCATED) | (1u << NS_MIXED))
#define NOT_UP (NS_POWERING_UP | NS_POWERED_DOWN | NS_POWERING_DOWN)

static bool says(const char *reason, const char *text)
{
	const char *told = node_reason_text(reason);

	return told && str_prefix(told, text);
}

bool protect_reason(const char *reason)
{
	return says(reason, REASON_PROTECTED);
}

bool protect_cycling_reason(const char *reason)
{
	return says(reason, REASON_CYCLING);
}

/* What is known of a resource beside its rows. */
struct known {
	bool busy;        /* one of its nodes runs a job */
	bool closed;      /* its nodes are DOWN for it */
	int64_t came_ms;  /* when the first slurmd of its youngest good machine started, 0 = none */
};

struct judge {
	const struct protect_input *in;
	struct known *known;     /* one a resource */
	size_t *of;              /* one a row of failures: its resource, SIZE_MAX = it does not count */
	struct map bound;        /* node name -> in->bindings, BOUND ones */
};

/* A job that waits for its machines does not count: its node is powering up. A dying one on a node that is DOWN neither. */
static bool runs_job(const struct node *n)
{
	return node_state_is(n->state, WORKING, 0, NOT_UP) || node_state_is(n->state, ANY_UP, NS_COMPLETING, NOT_UP);
}

/* Start of the slurmd that made this node's machine serve, 0 = it does not. A slurmd that somebody restarts later on an old
 * machine says nothing about booting. */
static int64_t came_up_ms(const struct judge *j, const struct node *n)
{
	size_t at = map_get(&j->bound, n->name);

	if (at == SIZE_MAX || !node_state_is(n->state, ANY_UP, 0, NOT_UP | NS_NO_RESPOND | NS_INVALID_REG) || !n->boot_time_s ||
	    n->slurmd_start_s > n->boot_time_s + j->in->gen->resume_timeout_s)
		return 0;
	/* Slurm counts seconds, rows milliseconds */
	return n->slurmd_start_s >= j->in->bindings->v[at].since_ms / 1000 ? n->slurmd_start_s * 1000 : 0;
}

static void look_at(struct judge *j, const struct node *n)
{
	struct node_name name;
	struct known *k;
	int64_t came;

	if (node_name_resolve_any(j->in->gen, n->name, &name))
		return;
	k = &j->known[name.resource];
	k->busy |= runs_job(n);
	k->closed |= node_state_is(n->state, 1u << NS_DOWN, 0, 0) && protect_reason(n->reason);
	came = came_up_ms(j, n);
	if (came > k->came_ms)
		k->came_ms = came;
}

/* SIZE_MAX: the cluster has the resource no more, or the row is too old. One of the future is of a clock that went back. */
static size_t resource_of(const struct protect_input *in, const struct failure *f)
{
	if (f->time_ms <= in->now_ms - in->rule.window_ms || f->time_ms >= in->now_ms + in->rule.window_ms || !f->queue ||
	    !f->resource)
		return SIZE_MAX;
	return generation_find_resource(in->gen, f->queue, strlen(f->queue), f->resource, strlen(f->resource));
}

static void judge_close(struct judge *j)
{
	map_clear(&j->bound);
	free(j->known);
	free(j->of);
}

static int judge_open(struct judge *j, const struct protect_input *in, struct err *e)
{
	size_t n_rows = in->failures ? in->failures->n : 0;

	*j = (struct judge){ .in = in };
	j->known = calloc(in->gen->n_resources + 1, sizeof(*j->known));
	j->of = calloc(n_rows + 1, sizeof(*j->of));
	if (!j->known || !j->of)
		goto nomem;
	for (size_t i = 0; i < n_rows; i++)
		j->of[i] = resource_of(in, &in->failures->v[i]);
	for (size_t i = 0; in->bindings && i < in->bindings->n; i++)
		if (in->bindings->v[i].state == BINDING_BOUND && map_put(&j->bound, in->bindings->v[i].node, i))
			goto nomem;
	for (size_t i = 0; in->nodes && i < in->nodes->n; i++)
		look_at(j, &in->nodes->v[i]);
	return 0;
nomem:
	judge_close(j);
	return err_nomem(e);
}

/* ---- judging */

/* At so many rows a protected resource opens again. */
static int64_t low_mark(const struct protect_rule *r)
{
	return r->count / 2;
}

/* Does this row count against its resource? */
static bool counts(const struct judge *j, size_t row, size_t resource)
{
	return j->of[row] == resource && !j->in->failures->v[row].over;
}

/* It opens when all but the youngest low_mark() rows are out of the window. */
static void find_end(const struct judge *j, struct protection *p, size_t resource)
{
	int64_t left = p->count - low_mark(&j->in->rule);

	for (size_t i = 0; left > 0; i++)
		if (counts(j, i, resource) && --left == 0)
			p->until_ms = j->in->failures->v[i].time_ms + j->in->rule.window_ms;
}

/* Rows of a node, at its first one. All count, whatever became of the resource meanwhile: it is this node's own trouble. */
static int count_nodes(const struct judge *j, struct map *first, size_t *count)
{
	const struct failures *l = j->in->failures;

	for (size_t i = 0; i < l->n; i++) {
		if (j->of[i] == SIZE_MAX || !l->v[i].node)
			continue;
		if (map_put(first, l->v[i].node, i))
			return -1;
		count[map_get(first, l->v[i].node)]++;
	}
	return 0;
}

static int find_cycling(const struct judge *j, struct nodeset *cycling)
{
	const struct failures *l = j->in->failures;
	size_t *count = calloc(l->n + 1, sizeof(*count));
	struct map first = { 0 };
	int rc = count ? count_nodes(j, &first, count) : -1;

	for (size_t i = 0; i < l->n && !rc; i++)
		if (count[i] >= PROTECT_CYCLE && nodeset_add(cycling, l->v[i].node) < 0)
			rc = -1;
	map_clear(&first);
	free(count);
	return rc;
}

/* Rows were not read: what slurmctld shows is all we know, and it stays. */
static int judge_by_reason(const struct judge *j, struct protection *out, struct nodeset *cycling)
{
	const struct nodes *l = j->in->nodes;

	for (size_t i = 0; i < j->in->gen->n_resources; i++)
		out[i].on = j->known[i].closed;
	for (size_t i = 0; cycling && l && i < l->n; i++)
		if (protect_cycling_reason(l->v[i].reason) && nodeset_add(cycling, l->v[i].name) < 0)
			return -1;
	return 0;
}

static int judge_by_rows(const struct judge *j, struct protection *out, struct nodeset *cycling)
{
	const struct protect_input *in = j->in;

	for (size_t i = 0; i < in->failures->n; i++) {
		if (j->of[i] == SIZE_MAX || in->failures->v[i].over)
			continue;
		out[j->of[i]].count++;
		out[j->of[i]].code = in->failures->v[i].code;
	}
	for (size_t i = 0; i < in->gen->n_resources; i++) {
		const struct known *k = &j->known[i];

		out[i].on = !k->busy &&
			    (out[i].count >= in->rule.count || (k->closed && out[i].count > low_mark(&in->rule)));
		if (out[i].on)
			find_end(j, &out[i], i);
	}
	return cycling ? find_cycling(j, cycling) : 0;
}

int protect_judge(const struct protect_input *in, struct protection *out, struct nodeset *cycling, struct err *e)
{
	struct judge j;
	int rc;

	for (size_t i = 0; i < in->gen->n_resources; i++)
		out[i] = (struct protection){ 0 };
	if (in->rule.count <= 0 || (in->failures && !in->failures->n))
		return 0;
	if (judge_open(&j, in, e))
		return -1;
	rc = in->failures ? judge_by_rows(&j, out, cycling) : judge_by_reason(&j, out, cycling);
	judge_close(&j);
	return rc ? err_nomem(e) : 0;
}

/* ---- forgetting */

/* b NULL = the whole resource. */
static int clear(struct plan *out, const struct gen_resource *r, const struct binding *b, int64_t until_ms)
{
	struct action *a = plan_add(out, ACT_FAILURES_CLEAR, "machine-came-up");

	if (!a)
		return -1;
	a->generation = b ? b->generation : -1;
	a->node = b ? str_dup(b->node) : NULL;
	a->resource = str_fmt("%s/%s", r->queue, r->name);
	a->word = str_fmt("%" PRId64, until_ms);
	a->reason = str_dup(b ? "its machine came up" : "a machine of it came up");
	return a->resource && a->word && a->reason && (!b || a->node) ? 0 : -1;
}

static int clear_resources(const struct judge *j, struct plan *out)
{
	const struct failures *l = j->in->failures;
	int64_t *newest = calloc(j->in->gen->n_resources + 1, sizeof(*newest));
	int rc = newest ? 0 : -1;

	for (size_t i = 0; i < l->n && !rc; i++)
		if (j->of[i] != SIZE_MAX && !l->v[i].over && l->v[i].time_ms > newest[j->of[i]])
			newest[j->of[i]] = l->v[i].time_ms;
	for (size_t i = 0; i < j->in->gen->n_resources && !rc; i++)
		if (newest[i] && j->known[i].came_ms > newest[i])
			rc = clear(out, &j->in->gen->resources[i], NULL, newest[i]);
	free(newest);
	return rc;
}

static int clear_nodes(const struct judge *j, struct plan *out)
{
	const struct failures *l = j->in->failures;
	struct map last = { 0 };
	int rc = 0;

	for (size_t i = l->n; i-- > 0 && !rc;) /* the first that is put is the newest */
		if (j->of[i] != SIZE_MAX)
			rc = map_put(&last, l->v[i].node, i);
	for (size_t i = 0; i < j->in->nodes->n && !rc; i++) {
		const struct node *n = &j->in->nodes->v[i];
		size_t at = map_get(&last, n->name);

		if (at != SIZE_MAX && came_up_ms(j, n) > l->v[at].time_ms)
			rc = clear(out, &j->in->gen->resources[j->of[at]],
				   &j->in->bindings->v[map_get(&j->bound, n->name)], l->v[at].time_ms);
	}
	map_clear(&last);
	return rc;
}

int protect_plan(const struct protect_input *in, struct plan *out, struct err *e)
{
	struct judge j;
	int rc;

	if (!in->nodes || !in->bindings || !in->failures || !in->failures->n)
		return 0;
	if (judge_open(&j, in, e))
		return -1;
	rc = clear_resources(&j, out) || clear_nodes(&j, out);
	judge_close(&j);
	return rc ? err_nomem(e) : 0;
}
