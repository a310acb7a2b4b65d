/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_status.c - `slurm-ec2 status`: queues with their nodes and machines, launches under way, how fresh our view is.
 *
 * Four sources: the applied generation, slurmctld, EC2, our state. Each may be away; then the others are shown, and it says
 * which is not there. Changes nothing.
 */
#include "build_config.h"

#include "cli/command.h"
#include "cli/session.h"
#include "lib/apply/apply.h"
#include "lib/aws/aws.h"
#include "lib/aws/ec2.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/jview.h"
#include "lib/base/user.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/node/name.h"
#include "lib/node/node.h"
#include "lib/node/offering.h"
#include "lib/plan/capacity.h"
#include "lib/plan/reconcile.h"
#include "lib/slurmctl/slurmctl.h"
#include "lib/state/store.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EC2_LIMIT_MS 5000 /* a person waits */
#define MACHINES_SHOWN 100

struct counts {
	int disabled; /* nodes that are DOWN because their resource is short */
	int off, waking, idle, busy, down, sleeping; /* nodes: idle~, #, up, working, down or drained, % */
	int machines, launching;
};

static const char *const source_names[] = { "loop", "slurm", "ec2" };
#define N_SOURCES (sizeof(source_names) / sizeof(source_names[0]))

struct source {
	int64_t ok_ms, failed_ms;
	char *error;
};

struct status {
	struct generation *gen;
	struct counts *counts; /* one a resource */
	struct launches launches;
	struct bindings bindings;
	struct shortages shortages;
	struct ec2_call **machines; /* one a cloud, their replies; NULL = EC2 was not asked */
	size_t n_machines;
	struct source source[N_SOURCES];
	int64_t now_ms;
	char *slurm_away, *ec2_away, *state_away; /* why a source is missing; NULL = it is there */
};

/* --- reading */

static void count_node(struct counts *c, uint32_t state)
{
	if (state & NS_POWERING_UP)
		c->waking++;
	else if (state & (NS_POWERING_DOWN | NS_POWER_DOWN))
		c->sleeping++;
	else if (node_state_is(state, 1u << NS_DOWN | 1u << NS_ERROR, 0, 0) || state & (NS_DRAIN | NS_FAIL))
		c->down++;
	else if (state & NS_POWERED_DOWN)
		c->off++;
	else if (node_state_is(state, 1u << NS_IDLE, 0, NS_COMPLETING))
		c->idle++;
	else
		c->busy++;
}

static char *why(const struct err *e)
{
	return str_dup(e->text[0] ? e->text : "no reason known");
}

/* For the sources that lie in files of SlurmUser: an ordinary user is told that it is not trouble, but not for him. */
static char *why_closed(const struct status *s, const struct err *e)
{
	const char *owner = s->gen->slurm_user ? s->gen->slurm_user : SLURM_USER;
	uid_t uid;
	gid_t gid;

	if (geteuid() == 0 || user_lookup(owner, &uid, &gid, NULL) < 0 || uid == geteuid() ||
	    !(strstr(e->text, strerror(EACCES)) || strstr(e->text, "owner")))
		return why(e);
	return str_fmt("this part needs root or SlurmUser (%s): %s", owner, e->text);
}

static void read_slurm(struct status *s, const struct settings *set)
{
	struct nodes l = { 0 };
	struct node_name n;
	struct err e = { 0 };

	if (session_slurm_open("slurm-ec2 status", set->slurm_conf, &e)) {
		s->slurm_away = why(&e);
		return;
	}
	if (slurmctl_ping(&e) || slurmctl_nodes(&l, &e))
		s->slurm_away = why(&e);
	for (size_t i = 0; !s->slurm_away && i < l.n; i++) {
		if (node_name_resolve(s->gen, l.v[i].name, &n))
			continue;
		count_node(&s->counts[n.resource], l.v[i].state);
		s->counts[n.resource].disabled += node_state_is(l.v[i].state, 1u << NS_DOWN, 0, 0) &&
						  reconcile_disabled(l.v[i].reason);
	}
	nodes_clear(&l);
	slurmctl_close();
}

static void count_machines(struct status *s, const struct instances *l)
{
	for (size_t i = 0; l && i < l->n; i++) {
		const struct instance *m = &l->v[i];
		size_t r;

		if (!instance_alive(m->state) || !m->queue || !m->resource)
			continue;
		r = generation_find_resource(s->gen, m->queue, strlen(m->queue), m->resource, strlen(m->resource));
		if (r != SIZE_MAX)
			s->counts[r].machines++;
	}
}

/* Machines in one cloud. -1: there is nothing to show. */
static int read_cloud(struct status *s, const struct settings *set, size_t i, struct err *e)
{
	struct aws *a = i ? world_cloud_aws(set, &s->gen->clouds[i - 1], true, e) : world_aws(set, s->gen->region, true, e);
	struct ec2_call *c = a ? ec2_describe_cluster(s->gen->uuid) : NULL;
	int rc = -1;

	if (a && !c)
		err_nomem(e);
	else if (a)
		rc = ec2_perform_one(a, c, clock_mono_ms() + EC2_LIMIT_MS, e);
	aws_destroy(a);
	if (rc) {
		ec2_call_destroy(c);
		return -1;
	}
	count_machines(s, ec2_describe_reply(c));
	s->machines[s->n_machines++] = c;
	return 0;
}

static void read_ec2(struct status *s, const struct settings *set)
{
	struct err e = { 0 };
	int rc = 0;

	s->machines = calloc(s->gen->n_clouds + 1, sizeof(*s->machines));
	if (!s->machines)
		rc = err_nomem(&e);
	for (size_t i = 0; !rc && i <= s->gen->n_clouds; i++)
		rc = read_cloud(s, set, i, &e);
	if (rc)
		s->ec2_away = why_closed(s, &e);
}

static void count_launches(struct status *s)
{
	for (size_t i = 0; i < s->launches.n; i++) {
		const struct launch *l = &s->launches.v[i];
		size_t r = generation_find_resource(s->gen, l->queue, strlen(l->queue), l->resource, strlen(l->resource));

		if (r != SIZE_MAX)
			s->counts[r].launching += (int)l->nodes.n;
	}
}

static void read_state(struct status *s)
{
	struct err e = { 0 };
	struct store *st;
	bool became = geteuid() == 0 && user_become(s->gen->slurm_user ? s->gen->slurm_user : SLURM_USER, &e) == 0;

	st = store_open_readonly(STORE_PATH, &e);
	if (!st || store_launches_open(st, &s->launches, &e) || store_bindings(st, &s->bindings, &e) ||
	    store_shortages(st, &s->shortages, &e))
		s->state_away = why_closed(s, &e);
	for (size_t i = 0; st && !s->state_away && i < N_SOURCES; i++) {
		if (store_source(st, source_names[i], &s->source[i].ok_ms, &s->source[i].failed_ms, &s->source[i].error, &e))
			s->state_away = why_closed(s, &e);
	}
	store_close(st);
	if (became)
		user_restore();
	if (!s->state_away)
		count_launches(s);
}

static int status_read(struct status *s, struct err *e)
{
	struct settings *set = session_settings(e);

	if (!set)
		return -1;
	s->now_ms = clock_wall_ms();
	s->gen = generation_load(APPLIED_DIR, e);
	s->counts = s->gen ? calloc(s->gen->n_resources + 1, sizeof(*s->counts)) : NULL;
	if (s->gen && !s->counts)
		err_nomem(e);
	if (s->counts) {
		read_state(s);
		read_slurm(s, set);
		read_ec2(s, set);
	}
	settings_destroy(set);
	return s->counts ? 0 : -1;
}

static void status_clear(struct status *s)
{
	for (size_t i = 0; i < N_SOURCES; i++)
		free(s->source[i].error);
	launches_clear(&s->launches);
	bindings_clear(&s->bindings);
	shortages_clear(&s->shortages);
	for (size_t i = 0; i < s->n_machines; i++)
		ec2_call_destroy(s->machines[i]);
	free(s->machines);
	free(s->counts);
	free(s->slurm_away);
	free(s->ec2_away);
	free(s->state_away);
	generation_destroy(s->gen);
}

/* --- as text */

static void print_rows(const struct status *s)
{
	printf("%-16s %-16s %-16s %6s %6s %6s %6s %6s %6s %6s %9s %9s\n", "QUEUE", "RESOURCE", "TYPE", "NODES", "off", "waking",
	       "idle", "busy", "down", "going", "MACHINES", "LAUNCHING");
	for (size_t i = 0; i < s->gen->n_resources; i++) {
		const struct gen_resource *r = &s->gen->resources[i];
		const struct counts *c = &s->counts[i];

		printf("%-16s %-16s %-16s %6d", r->queue, r->name,
		       r->instance_types.n == 1 ? r->instance_types.v[0] : "several", r->max_count);
		if (s->slurm_away)
			printf(" %6s %6s %6s %6s %6s %6s", "?", "?", "?", "?", "?", "?");
		else
			printf(" %6d %6d %6d %6d %6d %6d", c->off, c->waking, c->idle, c->busy, c->down, c->sleeping);
		if (s->ec2_away)
			printf(" %9s", "?");
		else
			printf(" %9d", c->machines);
		if (s->state_away)
			printf(" %9s\n", "?");
		else
			printf(" %9d\n", c->launching);
	}
}

static void print_sources(const struct status *s)
{
	static const char *const titles[] = { "clustermgtd's loop", "its view of Slurm", "its view of EC2" };

	for (size_t i = 0; i < N_SOURCES; i++) {
		const struct source *o = &s->source[i];

		if (o->ok_ms)
			printf("%-20s %" PRId64 " s ago", titles[i], (s->now_ms - o->ok_ms) / 1000);
		else
			printf("%-20s never", titles[i]);
		if (o->error && o->failed_ms > o->ok_ms)
			printf("; last error %" PRId64 " s ago: %s", (s->now_ms - o->failed_ms) / 1000, o->error);
		putchar('\n');
	}
}

static const char *launch_state_text(enum launch_state st)
{
	return st == LAUNCH_INTENT ? "asked" : st == LAUNCH_ANSWERED ? "answered" : "done";
}

static void print_launches(const struct status *s)
{
	for (size_t i = 0; i < s->launches.n; i++) {
		const struct launch *l = &s->launches.v[i];

		printf("launch %s  %s/%s  %zu node%s  %s  %" PRId64 " s%s%s\n", l->id, l->queue, l->resource, l->nodes.n,
		       l->nodes.n == 1 ? "" : "s", launch_state_text(l->state), (s->now_ms - l->created_ms) / 1000,
		       l->error ? "  " : "", l->error ? l->error : "");
	}
}

/* Is it one of the ways to fill this resource? */
static bool resource_has(const struct gen_resource *r, const struct offering *o)
{
	for (size_t i = 0; i < r->n_stages; i++) {
		const struct gen_stage *st = &r->stages[i];

		if (str_eq(capacity_market(r, st), o->market) && strs_has(&st->instance_types, o->type) &&
		    (str_eq(o->zone, ZONE_ANY) || !st->zones.n || strs_has(&st->zones, o->zone)))
			return true;
	}
	return false;
}

/* Nodes out of use in the resources that have this offering. */
static int count_disabled(const struct status *s, const struct offering *o)
{
	int n = 0;

	for (size_t i = 0; i < s->gen->n_resources; i++)
		n += resource_has(&s->gen->resources[i], o) ? s->counts[i].disabled : 0;
	return n;
}

/* When it may be asked again, or how much of it. */
static void next_text(char *text, size_t size, const struct shortage *f, int64_t now_ms)
{
	int64_t allowed = capacity_allowed(f, now_ms);

	if (allowed == 0 && f->until_ms > now_ms)
		snprintf(text, size, "in %" PRId64 " s", (f->until_ms - now_ms + 999) / 1000);
	else if (allowed == 0)
		snprintf(text, size, "probing");
	else if (allowed < 0)
		snprintf(text, size, "one probe");
	else
		snprintf(text, size, "%" PRId64 " nodes", allowed);
}

static void print_shortages(const struct status *s)
{
	if (!s->shortages.n)
		return;
	printf("%-16s %-16s %-12s %-32s %9s %11s %8s\n", "SHORT OF", "ZONE", "MARKET", "CODE", "SINCE", "NEXT TRY", "DISABLED");
	for (size_t i = 0; i < s->shortages.n; i++) {
		const struct shortage *f = &s->shortages.v[i];
		char since[32], next[40], disabled[16] = "?";

		snprintf(since, sizeof(since), "%" PRId64 " s", (s->now_ms - f->failed_ms) / 1000);
		next_text(next, sizeof(next), f, s->now_ms);
		if (!s->slurm_away)
			snprintf(disabled, sizeof(disabled), "%d", count_disabled(s, &f->of));
		printf("%-16s %-16s %-12s %-32s %9s %11s %8s\n", f->of.type,
		       str_eq(f->of.zone, ZONE_ANY) ? "every" : f->of.zone, f->of.market, f->code ? f->code : "-", since, next,
		       disabled);
	}
	putchar('\n');
}

/* The node a machine is bound to, or NULL. */
static const char *node_of(const struct status *s, const char *instance)
{
	for (size_t i = 0; i < s->bindings.n; i++) {
		if (s->bindings.v[i].state == BINDING_BOUND && str_eq(s->bindings.v[i].instance, instance))
			return s->bindings.v[i].node;
	}
	return NULL;
}

/* The next of them after *cloud and *i that lives, in any cloud; NULL = no more. Both begin at 0. */
static const struct instance *next_machine(const struct status *s, size_t *cloud, size_t *i)
{
	for (; !s->ec2_away && *cloud < s->n_machines; (*cloud)++, *i = 0) {
		const struct instances *l = ec2_describe_reply(s->machines[*cloud]);

		while (*i < l->n) {
			const struct instance *m = &l->v[(*i)++];

			if (instance_alive(m->state))
				return m;
		}
	}
	return NULL;
}

static void print_machines(const struct status *s)
{
	size_t shown = 0, more = 0, cloud = 0, i = 0;
	const struct instance *m;

	while ((m = next_machine(s, &cloud, &i))) {
		const char *node = node_of(s, m->id);

		if (shown++ >= MACHINES_SHOWN) {
			more++;
			continue;
		}
		printf("machine %s  %s  %s  %s  %s\n", m->id, instance_state_text(m->state),
		       m->private_ip ? m->private_ip : "no address yet", m->type ? m->type : "-", node ? node : "no node");
	}
	if (more)
		printf("and %zu machine%s more (--json shows all)\n", more, more == 1 ? "" : "s");
}

static void print_text(const struct status *s)
{
	const struct generation *g = s->gen;

	printf("cluster %s (%s), generation %" PRId64 ", Slurm %s, region %s\n\n", g->cluster_name, g->uuid, g->number,
	       g->slurm_version, g->region);
	print_rows(s);
	putchar('\n');
	print_shortages(s);
	print_machines(s);
	if (!s->state_away) {
		print_sources(s);
		print_launches(s);
	}
	if (s->slurm_away)
		printf("slurmctld is away: %s\n", s->slurm_away);
	if (s->ec2_away)
		printf("EC2 cannot be asked: %s\n", s->ec2_away);
	if (s->state_away)
		printf("our state cannot be read: %s\n", s->state_away);
}

/* --- as JSON */

static int put_counts(struct json_object *o, const struct status *s, const struct counts *c)
{
	if (!s->slurm_away &&
	    (jview_put_i64(o, "off", c->off) || jview_put_i64(o, "waking", c->waking) || jview_put_i64(o, "idle", c->idle) ||
	     jview_put_i64(o, "busy", c->busy) || jview_put_i64(o, "down", c->down) || jview_put_i64(o, "going", c->sleeping) ||
	     jview_put_i64(o, "disabled", c->disabled)))
		return -1;
	if (!s->ec2_away && jview_put_i64(o, "machines", c->machines))
		return -1;
	return !s->state_away && jview_put_i64(o, "launching", c->launching) ? -1 : 0;
}

static int put_resource(struct json_object *list, const struct status *s, size_t i)
{
	const struct gen_resource *r = &s->gen->resources[i];
	struct json_object *o = jview_add_object(list);

	if (!o)
		return -1;
	return jview_put_str(o, "queue", r->queue) || jview_put_str(o, "resource", r->name) ||
			       jview_put_strs(o, "instance_types", &r->instance_types) ||
			       jview_put_i64(o, "min", r->min_count) || jview_put_i64(o, "max", r->max_count) ||
			       put_counts(o, s, &s->counts[i])
		       ? -1
		       : 0;
}

static int put_launch(struct json_object *list, const struct launch *l)
{
	struct json_object *o = jview_add_object(list);

	if (!o)
		return -1;
	return jview_put_str(o, "id", l->id) || jview_put_str(o, "queue", l->queue) ||
			       jview_put_str(o, "resource", l->resource) || jview_put_strs(o, "nodes", &l->nodes) ||
			       jview_put_str(o, "state", launch_state_text(l->state)) ||
			       jview_put_i64(o, "created_ms", l->created_ms) || jview_put_str(o, "error", l->error)
		       ? -1
		       : 0;
}

static int put_shortage(struct json_object *list, const struct status *s, const struct shortage *f)
{
	struct json_object *o = jview_add_object(list);
	int64_t allowed = capacity_allowed(f, s->now_ms);

	if (!o)
		return -1;
	return jview_put_str(o, "type", f->of.type) || jview_put_str(o, "zone", f->of.zone) ||
			       jview_put_str(o, "market", f->of.market) || jview_put_str(o, "code", f->code) ||
			       jview_put_str(o, "message", f->message) || jview_put_i64(o, "refusals", f->failures) ||
			       jview_put_i64(o, "refused_ms", f->failed_ms) || jview_put_i64(o, "until_ms", f->until_ms) ||
			       jview_put_str(o, "state", allowed == 0 ? "closed" : allowed < 0 ? "probe" : "limited") ||
			       jview_put_i64(o, "budget", f->budget) ||
			       (!s->slurm_away && jview_put_i64(o, "disabled", count_disabled(s, &f->of)))
		       ? -1
		       : 0;
}

static int put_source(struct json_object *all, const char *name, const struct source *from)
{
	struct json_object *o = json_object_new_object();

	if (!o || jview_put_obj(all, name, o))
		return -1;
	return jview_put_i64(o, "ok_ms", from->ok_ms) || jview_put_i64(o, "failed_ms", from->failed_ms) ||
			       jview_put_str(o, "error", from->error)
		       ? -1
		       : 0;
}

static int put_machine(struct json_object *list, const struct status *s, const struct instance *m)
{
	struct json_object *o = jview_add_object(list);

	if (!o)
		return -1;
	return jview_put_str(o, "id", m->id) || jview_put_str(o, "state", instance_state_text(m->state)) ||
			       jview_put_str(o, "type", m->type) || jview_put_str(o, "private_ip", m->private_ip) ||
			       jview_put_str(o, "queue", m->queue) || jview_put_str(o, "resource", m->resource) ||
			       jview_put_str(o, "node", node_of(s, m->id))
		       ? -1
		       : 0;
}

static int put_machines(struct json_object *list, const struct status *s)
{
	size_t cloud = 0, i = 0;
	const struct instance *m;

	while ((m = next_machine(s, &cloud, &i)))
		if (put_machine(list, s, m))
			return -1;
	return 0;
}

/* A fresh list or object under `key`, borrowed; NULL on no memory. */
static struct json_object *put_new(struct json_object *o, const char *key, struct json_object *child)
{
	return child && jview_put_obj(o, key, child) == 0 ? child : NULL;
}

static int put_lists(struct json_object *o, const struct status *s)
{
	struct json_object *rows = put_new(o, "resources", json_object_new_array());
	struct json_object *machines = put_new(o, "machines", json_object_new_array());
	struct json_object *launches = put_new(o, "launches", json_object_new_array());
	struct json_object *shortages = put_new(o, "shortages", json_object_new_array());
	struct json_object *sources = put_new(o, "sources", json_object_new_object());
	int rc = !rows || !machines || !launches || !shortages || !sources;

	if (rc || put_machines(machines, s))
		return -1;
	for (size_t i = 0; i < s->gen->n_resources; i++)
		rc = rc || put_resource(rows, s, i);
	for (size_t i = 0; i < s->launches.n; i++)
		rc = rc || put_launch(launches, &s->launches.v[i]);
	for (size_t i = 0; i < s->shortages.n; i++)
		rc = rc || put_shortage(shortages, s, &s->shortages.v[i]);
	for (size_t i = 0; i < N_SOURCES && !s->state_away; i++)
		rc = rc || put_source(sources, source_names[i], &s->source[i]);
	return rc ? -1 : 0;
}

static int print_json(const struct status *s)
{
	struct json_object *o = json_object_new_object();
	int rc = !o || jview_put_str(o, "cluster_name", s->gen->cluster_name) || jview_put_str(o, "uuid", s->gen->uuid) ||
		 jview_put_i64(o, "generation", s->gen->number) || jview_put_str(o, "slurm_version", s->gen->slurm_version) ||
		 jview_put_str(o, "region", s->gen->region) || jview_put_i64(o, "now_ms", s->now_ms) ||
		 jview_put_str(o, "slurm_away", s->slurm_away) || jview_put_str(o, "ec2_away", s->ec2_away) ||
		 jview_put_str(o, "state_away", s->state_away) || put_lists(o, s);

	if (rc)
		fputs("slurm-ec2 status: out of memory\n", stderr);
	else
		puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
							       JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
	return rc ? -1 : 0;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = { { "json", no_argument, NULL, 'j' }, { NULL, 0, NULL, 0 } };
	struct status s = { 0 };
	struct err e = { 0 };
	int c, json = 0, status = EXIT_OK;

	while ((c = command_option(&cmd_status, argc, argv, ":", options)) != -1) {
		if (c != 'j')
			return EXIT_USAGE;
		json = 1;
	}
	if (argc != optind)
		return command_usage_error(&cmd_status, "\"%s\": no argument is expected", argv[optind]);
	if (status_read(&s, &e)) {
		fprintf(stderr, "slurm-ec2 status: %s\n", e.text);
		status = EXIT_PROBLEM;
	} else if (json) {
		status = print_json(&s) ? EXIT_PROBLEM : EXIT_OK;
	} else {
		print_text(&s);
	}
	if (status == EXIT_OK && (s.slurm_away || s.ec2_away))
		status = EXIT_PROBLEM;
	status_clear(&s);
	return status;
}

const struct command cmd_status = {
	.name = "status",
	.help = "show queues, nodes, machines and launches",
	.usage =
		"usage: slurm-ec2 status [--json]\n"
		"Show each compute resource of the applied cluster: its nodes in Slurm (off = idle~, waking, idle, busy, down or drained,\n"
		"going = powering down), its machines in EC2 and launches under way; what EC2 ran short of, when\n"
		"it is asked again and how many nodes are disabled meanwhile; and how fresh clustermgtd's view is. What cannot be asked\n"
		"(slurmctld, EC2, our state) is said and shown as \"?\".\n\n"
		"Exit status: 0 all sources answered, 1 slurmctld or EC2 did not, or nothing is applied, 2 wrong usage.\n",
	.run = run,
};
