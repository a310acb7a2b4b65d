/* SPDX-License-Identifier: GPL-2.0-or-later */
/* failed_boot.c - count machines that never served, and keep what they said. */
#include "lib/apply/failed_boot.h"

#include "lib/apply/apply.h"
#include "lib/apply/cloud.h"
#include "lib/apply/console.h"
#include "lib/apply/launch.h"
#include "lib/aws/ec2.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/num.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/node/failure.h"
#include "lib/node/name.h"
#include "lib/node/node.h"
#include "lib/node/nodeset.h"
#include "lib/plan/protect.h"
#include "lib/slurmctl/slurmctl.h"
#include "lib/state/store.h"

#include <stdlib.h>

#define SAMPLE 5          /* machines a call whose console is read */
#define SAVE_MS 10000     /* for that */

/* ---- counting */

static const struct gen_resource *resource_of(const struct world *w, const char *node)
{
	struct node_name at;

	return node && !node_name_resolve_any(w->gen, node, &at) ? &w->gen->resources[at.resource] : NULL;
}

/* 1 it is new, 0 not, -1. */
static int count_one(struct world *w, const struct failed_boot *b, struct err *e)
{
	const struct gen_resource *r = resource_of(w, b->node);
	struct failure f = {
	    .queue = r ? r->queue : NULL,
	    .resource = r ? r->name : NULL,
	    .node = (char *)b->node,
	    .instance = (char *)b->instance,
	    .code = (char *)b->code,
	    .time_ms = clock_wall_ms(),
	};

	return r && b->instance ? store_failure_add(w->store, &f, e) : 0;
}

static void note_one(struct world *w, const struct failed_boot *b)
{
	char *detail = str_fmt("%s%s%s", b->code, b->reason ? ": " : "", b->reason ? b->reason : "");

	log_warn("%s %s: its boot failed (%s)", b->node, b->instance, detail ? detail : b->code);
	apply_event(w, "boot-failed", b->node, b->instance, detail);
	free(detail);
}

void failed_boots_count(struct world *w, struct failed_boot *v, size_t n)
{
	int64_t old = clock_wall_ms() - w->settings->protected_window_s * 1000;
	struct err e = {""};
	int rc;

	if (n == 0)
		return;
	rc = store_batch_begin(w->store, &e);
	if (rc == 0) {
		for (size_t i = 0; i < n && rc >= 0; i++) {
			rc = count_one(w, &v[i], &e);
			v[i].fresh = rc > 0;
			if (v[i].fresh)
				note_one(w, &v[i]);
		}
		if (rc >= 0)
			rc = store_failures_clear(w->store, NULL, NULL, old, &e); /* they count no more */
		rc = store_batch_end(w->store, rc, &e);
	}
	if (rc < 0)
		log_error("failed boots were not counted: %s", e.text);
}

/* ---- what they said */

struct sample {
	const struct failed_boot *boot;
	struct ec2_call *call;
	size_t cloud;
};

/* Of a thousand machines with one fault one is enough. */
static size_t take_sample(const struct world *w, const struct failed_boot *v, size_t n, struct sample *out)
{
	const struct gen_resource *seen[SAMPLE];
	size_t n_out = 0;

	for (size_t i = 0; i < n && n_out < SAMPLE; i++) {
		const struct gen_resource *r = v[i].fresh ? resource_of(w, v[i].node) : NULL;
		size_t k = 0;

		while (k < n_out && seen[k] != r)
			k++;
		if (!r || k < n_out)
			continue;
		seen[n_out] = r;
		out[n_out++] = (struct sample){
		    .boot = &v[i], .cloud = (size_t)r->cloud, .call = ec2_console_output(v[i].instance)};
	}
	return n_out;
}

static void ask_cloud(struct world *w, size_t cloud, const struct sample *s, size_t n, int64_t deadline)
{
	struct ec2_call *calls[SAMPLE];
	size_t n_calls = 0;

	for (size_t i = 0; i < n; i++)
		if (s[i].call && s[i].cloud == cloud)
			calls[n_calls++] = s[i].call;
	if (n_calls > 0)
		ec2_perform(world_cloud_at(w, cloud), calls, n_calls, deadline, NULL, NULL);
}

static void keep_one(struct world *w, const struct sample *s)
{
	const struct failed_boot *b = s->boot;
	struct err e = {""};
	const char *text;
	char *detail;
	size_t n;

	if (!s->call || s->call->error.class != AWS_OK) {
		log_info("%s %s: its console cannot be read: %s", b->node, b->instance,
			 s->call ? s->call->error.message : "out of memory");
		return;
	}
	text = ec2_console_output_reply(s->call, &n);
	if (n == 0) {
		log_info("%s %s: EC2 has nothing of its console yet", b->node, b->instance);
		return;
	}
	if (console_keep(w->log_folder, b->node, b->instance, text, n, &detail, &e) < 0) {
		log_warn("%s", e.text);
		return;
	}
	log_info("%s %s: its console is in %s", b->node, b->instance, detail);
	apply_event(w, "boot-console", b->node, b->instance, detail);
	free(detail);
}

void failed_boots_save(struct world *w, const struct failed_boot *v, size_t n, int64_t deadline)
{
	struct sample s[SAMPLE];
	size_t n_s = take_sample(w, v, n, s);
	int64_t until = clock_mono_ms() + SAVE_MS;

	for (size_t i = 0; n_s > 0 && i < cloud_count(w); i++)
		ask_cloud(w, i, s, n_s, until < deadline ? until : deadline);
	for (size_t i = 0; i < n_s; i++) {
		keep_one(w, &s[i]);
		ec2_call_destroy(s[i].call);
	}
}

/* ---- forgetting */

int failed_boots_forget(struct world *w, const struct action *a, struct err *e)
{
	struct strs part = {0};
	int64_t until = 0;
	int rc;

	if (!a->word || num_i64(a->word, 0, INT64_MAX, &until, e) < 0 || !a->resource)
		return -1;
	if (a->node)
		return store_failures_forget(w->store, a->node, until, e);
	if (strs_split(&part, a->resource, '/') < 0)
		return err_nomem(e);
	rc = part.n == 2 ? store_failures_over(w->store, part.v[0], part.v[1], until, e)
			 : err_set(e, "%s: no compute resource", a->resource);
	strs_clear(&part);
	return rc;
}

/* ---- what must not be launched */

static int judge(struct world *w, const struct failures *rows, const struct strs *names, struct nodeset *out, struct err *e)
{
	struct protect_input in = {
	    .gen = w->gen,
	    .failures = rows,
	    .rule = {.count = w->settings->protected_count, .window_ms = w->settings->protected_window_s * 1000},
	    .now_ms = clock_wall_ms(),
	};
	struct protection *p = calloc(w->gen->n_resources + 1, sizeof *p);
	struct nodeset *cycling = nodeset_create();
	struct nodes nodes = {0};
	int rc = p && cycling ? 0 : err_nomem(e);

	if (rc == 0)
		rc = slurmctl_ping(e) < 0 ? -1 : slurmctl_nodes(&nodes, e);
	in.nodes = &nodes;
	if (rc == 0)
		rc = protect_judge(&in, p, cycling, e);
	for (size_t i = 0; i < names->n && rc == 0; i++) {
		struct node_name at;

		if (node_name_resolve_any(w->gen, names->v[i], &at) < 0 ||
		    (!p[at.resource].on && !nodeset_has(cycling, names->v[i])))
			continue;
		rc = nodeset_add(out, names->v[i]) < 0 ? err_nomem(e) : 0;
	}
	nodes_clear(&nodes);
	nodeset_destroy(cycling);
	free(p);
	return rc;
}

int failed_boots_barred(struct world *w, const struct strs *names, struct nodeset *out, struct err *e)
{
	int64_t window = w->settings->protected_window_s * 1000, count = w->settings->protected_count;
	int64_t few = count / 2 < PROTECT_CYCLE ? count / 2 : PROTECT_CYCLE - 1;
	struct failures rows = {0};
	int rc;

	if (count <= 0)
		return 0;
	rc = store_failures(w->store, clock_wall_ms() - window, &rows, e);
	if (rc == 0 && (int64_t)rows.n > few)
		rc = judge(w, &rows, names, out, e);
	failures_clear(&rows);
	return rc;
}
