/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_plan.c - `slurm-ec2 plan resume`: what the resume program would launch for these nodes now, and why. Asks slurmctld for
 * job priorities at most; launches nothing, changes nothing, does not ask EC2.
 *
 * The plan is the resume program's own (lib/plan/resume.h) with the same inputs; each call is answered as if EC2 gave all.
 */
#include "build_config.h"

#include "cli/command.h"
#include "cli/session.h"
#include "lib/apply/apply.h"
#include "lib/apply/heartbeat.h"
#include "lib/apply/wish.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/jview.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/node/job.h"
#include "lib/node/name.h"
#include "lib/node/nodeset.h"
#include "lib/plan/resume.h"
#include "lib/slurmctl/resume_file.h"
#include "lib/slurmctl/slurmctl.h"
#include "lib/state/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (64u << 20) /* bytes of a resume file */
#define ROUND 16

struct preview {
	struct settings *set;
	struct generation *gen;
	struct resume_request request;
	struct strs live;
	struct shortages shortages;
	struct resume_input in;
	struct resume_plan *plan;
	struct json_object *json; /* NULL = text; else the lists below */
	struct json_object *calls;
	const char *refused;      /* code with which resume would refuse all now, NULL = it would not */
	struct err refused_why;
	size_t n_calls, n_machines;
	int64_t now_ms;
};

/* --- reading */

static int read_request(struct preview *p, const char *hostlist, const char *file, struct err *e)
{
	struct buf text = {0};
	int rc = file ? file_read(file, FILE_MAX, &text, e) : 0;

	if (rc == 0)
		rc = resume_request_parse(&p->request, file ? buf_text(&text) : NULL, text.n, hostlist, e);
	buf_free(&text);
	return rc;
}

/* Nodes that have a machine, or a launch under way. */
static int read_live(struct preview *p, struct store *s, struct err *e)
{
	struct nodeset *asked = nodeset_create();
	struct bindings l = {0};
	int rc = asked ? store_bindings(s, &l, e) : err_nomem(e);

	for (size_t i = 0; i < p->request.nodes.n && rc == 0; i++)
		rc = nodeset_add(asked, p->request.nodes.v[i]) < 0 ? err_nomem(e) : 0;
	for (size_t i = 0; i < l.n && rc == 0; i++)
		if (l.v[i].state != BINDING_FREE && nodeset_has(asked, l.v[i].node))
			rc = strs_add(&p->live, l.v[i].node) ? err_nomem(e) : 0;
	bindings_clear(&l);
	nodeset_destroy(asked);
	return rc;
}

/* What resume asks before it plans: does the fleet serve, and does anybody watch? */
static int read_refusal(struct preview *p, struct store *s, struct err *e)
{
	struct world w = {.store = s, .settings = p->set};
	struct wish wish;

	if (wish_read(s, clock_wall_ms(), &wish, e))
		return -1;
	if (!wish_serves(&wish, &p->refused, &p->refused_why))
		return 0;
	if (heartbeat_look(&w, &p->refused_why))
		p->refused = "NotWatched";
	return 0;
}

/* Without a state file nothing has been launched yet, and clustermgtd never ran. */
static int read_state(struct preview *p, struct err *e)
{
	struct store *s;
	int rc;

	if (!file_exists(STORE_PATH)) {
		p->refused = "NotWatched";
		err_set(&p->refused_why, "clustermgtd never ran here; start it: systemctl enable --now slurm-ec2-clustermgtd");
		return 0;
	}
	s = store_open_readonly(STORE_PATH, e);
	rc = s ? read_live(p, s, e) : -1;
	if (rc == 0)
		rc = store_shortages(s, &p->shortages, e);
	if (rc == 0)
		rc = read_refusal(p, s, e);
	store_close(s);
	return rc;
}

/* Only their order hangs on it, so a slurmctld that is away is no failure. */
static void read_priorities(struct preview *p)
{
	struct err e = {""};

	if (p->request.n_jobs < 2 || session_slurm_open("slurm-ec2 plan", p->set->slurm_conf, &e))
		return;
	if (slurmctl_ping(&e) || slurmctl_priorities(&p->request, &e))
		fprintf(stderr, "slurm-ec2 plan: priorities of the jobs are not known, so they are taken in the file's order: %s\n",
			e.text);
	slurmctl_close();
}

static int make_plan(struct preview *p, struct err *e)
{
	p->now_ms = clock_wall_ms();
	p->in = (struct resume_input){
	    .gen = p->gen,
	    .request = &p->request,
	    .live = &p->live,
	    .strategy = p->gen->scaling,
	    .batch_max = (size_t)p->set->launch_batch,
	    .shortages = &p->shortages,
	    .rule = capacity_rule_of(p->set),
	    .seed = 1,
	};
	p->plan = resume_plan_create(&p->in, e);
	return p->plan ? 0 : -1;
}

/* A slip of the hand is told, not planned. */
static int known_nodes(const struct preview *p, struct err *e)
{
	struct strs unknown = {0};
	struct node_name name;
	char *text;
	int rc = 0;

	if (!p->request.nodes.n)
		return err_set(e, "no node is named: give some, such as queue1-dy-small-[1-4]");
	for (size_t i = 0; i < p->request.nodes.n && rc == 0; i++)
		if (node_name_resolve(p->gen, p->request.nodes.v[i], &name))
			rc = strs_add(&unknown, p->request.nodes.v[i]) ? err_nomem(e) : 0;
	text = rc == 0 && unknown.n ? nodeset_text_of((const char *const *)unknown.v, unknown.n) : NULL;
	if (unknown.n && rc == 0)
		rc = err_set(e, "%s: not in the applied cluster; `slurm-ec2 status` shows its queues and resources", text ? text : "");
	free(text);
	strs_clear(&unknown);
	return rc;
}

static int preview_read(struct preview *p, const char *hostlist, const char *file, struct err *e)
{
	if (read_request(p, hostlist, file, e))
		return -1;
	p->set = session_settings(e);
	p->gen = p->set ? generation_load(APPLIED_DIR, e) : NULL;
	if (!p->gen || known_nodes(p, e) || read_state(p, e))
		return -1;
	read_priorities(p);
	return make_plan(p, e);
}

static void preview_clear(struct preview *p)
{
	resume_plan_destroy(p->plan);
	shortages_clear(&p->shortages);
	strs_clear(&p->live);
	resume_request_clear(&p->request);
	generation_destroy(p->gen);
	settings_destroy(p->set);
	json_object_put(p->json);
}

/* --- what EC2 was short of: why a choice is missing below, or a node would fail */

/* Is this a way to fill a resource that one of the nodes is of? */
static bool concerns(const struct preview *p, const struct shortage *f, const bool *asked)
{
	for (size_t i = 0; i < p->gen->n_resources; i++) {
		const struct gen_resource *r = &p->gen->resources[i];

		for (size_t k = 0; asked[i] && k < r->n_stages; k++) {
			const struct gen_stage *g = &r->stages[k];

			if (str_eq(capacity_market(r, g), f->of.market) && strs_has(&g->instance_types, f->of.type) &&
			    (str_eq(f->of.zone, ZONE_ANY) || !g->zones.n || strs_has(&g->zones, f->of.zone)) &&
			    capacity_holds(f, g))
				return true;
		}
	}
	return false;
}

/* Which resources the nodes are of; NULL on no memory. */
static bool *asked_resources(const struct preview *p)
{
	bool *asked = calloc(p->gen->n_resources + 1, sizeof(*asked));
	struct node_name n;

	for (size_t i = 0; asked && i < p->request.nodes.n; i++)
		if (node_name_resolve(p->gen, p->request.nodes.v[i], &n) == 0)
			asked[n.resource] = true;
	return asked;
}

static void print_shortage(const struct preview *p, const struct shortage *f)
{
	int64_t allowed = capacity_allowed(f, p->now_ms);

	printf("short   %s in %s, %s (%s): ", f->of.type, str_eq(f->of.zone, ZONE_ANY) ? "any zone" : f->of.zone, f->of.market,
	       f->code ? f->code : "no code");
	if (allowed == 0 && f->until_ms > p->now_ms)
		printf("not asked again for %" PRId64 " s\n", (f->until_ms - p->now_ms + 999) / 1000);
	else if (allowed == 0)
		puts("another program is probing it");
	else if (allowed < 0)
		puts("a probe is due");
	else
		printf("at most %" PRId64 " machine%s at a time\n", allowed, allowed == 1 ? "" : "s");
}

static int put_json_shortage(const struct preview *p, const struct shortage *f, struct json_object *list)
{
	struct json_object *o = jview_add_object(list);
	int64_t allowed = capacity_allowed(f, p->now_ms);

	return !o || jview_put_str(o, "type", f->of.type) || jview_put_str(o, "zone", f->of.zone) ||
			       jview_put_str(o, "market", f->of.market) || jview_put_str(o, "code", f->code) ||
			       jview_put_str(o, "message", f->message) || jview_put_i64(o, "until_ms", f->until_ms) ||
			       jview_put_str(o, "state", allowed == 0 ? "closed" : allowed < 0 ? "probe" : "limited")
		       ? -1
		       : 0;
}

/* As the capacity memory was before the first call. */
static int show_shortages(struct preview *p)
{
	bool *asked = asked_resources(p);
	struct json_object *list = p->json ? json_object_new_array() : NULL;
	int rc = !asked || (p->json && (!list || jview_put_obj(p->json, "short", list))) ? -1 : 0;

	for (size_t i = 0; i < p->shortages.n && rc == 0; i++) {
		const struct shortage *f = &p->shortages.v[i];

		if (!concerns(p, f, asked))
			continue;
		if (p->json)
			rc = put_json_shortage(p, f, list);
		else
			print_shortage(p, f);
	}
	free(asked);
	return rc;
}

/* --- one call */

static const char *api_of(const struct gen_resource *r)
{
	return r->single ? "RunInstances" : "CreateFleet";
}

/* "c5.large in us-east-1a (subnet-1)" for each choice. */
static void put_choices(struct buf *b, const struct gen_stage *g, const struct resume_choice *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *zone = c[i].subnet < g->zones.n ? g->zones.v[c[i].subnet] : "";

		buf_fmt(b, "%s%s", i ? ", " : "", g->instance_types.v[c[i].type]);
		if (c[i].subnet < g->subnet_ids.n)
			buf_fmt(b, " in %s%s%s%s", *zone ? zone : g->subnet_ids.v[c[i].subnet], *zone ? " (" : "",
				*zone ? g->subnet_ids.v[c[i].subnet] : "", *zone ? ")" : "");
	}
}

/* What a stage would be asked for. */
static void put_stage(struct buf *b, const struct gen_resource *r, const struct gen_stage *g)
{
	char *types = strs_join(&g->instance_types, ", "), *subnets = strs_join(&g->subnet_ids, ", ");

	buf_fmt(b, "%s: %s in %s", capacity_market(r, g), types ? types : "", subnets ? subnets : "");
	if (g->max_price > 0)
		buf_fmt(b, ", at most %g USD an hour", g->max_price);
	free(types);
	free(subnets);
}

static void print_call(struct preview *p, const struct resume_step *s)
{
	const struct gen_resource *r = &p->gen->resources[s->resource];
	const struct gen_stage *g = &r->stages[s->stage];
	char *nodes = nodeset_text_of((const char *const *)s->nodes->v, s->nodes->n), *jobs = strs_join(s->jobs, ", ");
	struct buf b = {0};

	printf("call %zu  %s for %s/%s: %zu machine%s, at least %d%s\n", p->n_calls, api_of(r), r->queue, r->name, s->nodes->n,
	       s->nodes->n == 1 ? "" : "s", s->min_count, s->probe ? ", a probe: EC2 was short there" : "");
	printf("  nodes   %s\n", nodes ? nodes : "");
	if (s->jobs->n)
		printf("  jobs    %s\n", jobs ? jobs : "");
	buf_fmt(&b, "%s: ", capacity_market(r, g));
	put_choices(&b, g, s->choices, s->n_choices);
	printf("  from    %s\n", buf_text(&b));
	for (size_t i = s->stage + 1; i < r->n_stages; i++) {
		buf_reset(&b);
		put_stage(&b, r, &r->stages[i]);
		printf("  else    %s\n", buf_text(&b));
	}
	buf_free(&b);
	free(nodes);
	free(jobs);
}

static int put_json_choices(struct json_object *o, const struct gen_stage *g, const struct resume_step *s)
{
	struct json_object *list = json_object_new_array();

	if (!list || jview_put_obj(o, "choices", list))
		return -1;
	for (size_t i = 0; i < s->n_choices; i++) {
		const struct resume_choice *c = &s->choices[i];
		struct json_object *one = jview_add_object(list);

		if (!one || jview_put_str(one, "instance_type", g->instance_types.v[c->type]) ||
		    (c->subnet < g->subnet_ids.n && (jview_put_str(one, "subnet_id", g->subnet_ids.v[c->subnet]) ||
						    jview_put_str(one, "zone", g->zones.v[c->subnet]))))
			return -1;
	}
	return 0;
}

static int put_json_call(struct preview *p, const struct resume_step *s)
{
	const struct gen_resource *r = &p->gen->resources[s->resource];
	const struct gen_stage *g = &r->stages[s->stage];
	struct json_object *o = jview_add_object(p->calls);

	return !o || jview_put_str(o, "action", api_of(r)) || jview_put_str(o, "queue", r->queue) ||
			       jview_put_str(o, "resource", r->name) || jview_put_i64(o, "stage", (int64_t)s->stage) ||
			       jview_put_str(o, "market", capacity_market(r, g)) || jview_put_i64(o, "min_count", s->min_count) ||
			       jview_put_i64(o, "max_count", (int64_t)s->nodes->n) || jview_put_strs(o, "nodes", s->nodes) ||
			       jview_put_strs(o, "jobs", s->jobs) || jview_put_bool(o, "probe", s->probe) ||
			       put_json_choices(o, g, s)
		       ? -1
		       : 0;
}

/* As if EC2 gave all, of the first choice. */
static int answer_all(struct preview *p, const struct resume_step *s)
{
	const struct gen_stage *g = &p->gen->resources[s->resource].stages[s->stage];
	struct instances l = {0};
	int rc = 0;

	for (size_t i = 0; i < s->nodes->n && rc == 0; i++) {
		struct instance *in = instances_add(&l);

		if (!in)
			break;
		in->state = INSTANCE_PENDING;
		in->id = str_fmt("i-%zu", p->n_machines++);
		in->type = str_dup(g->instance_types.v[s->choices[0].type]);
		in->subnet_id = s->choices[0].subnet < g->subnet_ids.n ? str_dup(g->subnet_ids.v[s->choices[0].subnet]) : NULL;
		rc = in->id && in->type ? 0 : -1;
	}
	rc = rc || l.n < s->nodes->n || resume_plan_answer(p->plan, s->id, &(struct resume_answer){.got = &l}, p->now_ms);
	instances_clear(&l);
	return rc ? -1 : 0;
}

static int one_call(struct preview *p, const struct resume_step *s)
{
	p->n_calls++;
	if (p->json) {
		if (put_json_call(p, s))
			return -1;
	} else {
		print_call(p, s);
	}
	return answer_all(p, s);
}

static int all_calls(struct preview *p, struct err *e)
{
	struct resume_step steps[ROUND];
	int64_t wake;
	size_t n;

	while ((n = resume_plan_next(p->plan, p->now_ms, steps, ROUND, &wake)) > 0 || wake) {
		if (!n)
			resume_plan_hurry(p->plan);
		for (size_t i = 0; i < n; i++)
			if (one_call(p, &steps[i]))
				return err_nomem(e);
	}
	return 0;
}

/* --- what is not launched */

static int put_json_failed(struct preview *p, const struct resume_result *r)
{
	struct json_object *list = json_object_new_array();

	if (!list || jview_put_obj(p->json, "failed", list) || jview_put_strs(p->json, "left_alone", &p->live))
		return -1;
	for (size_t i = 0; i < r->n_fail; i++) {
		struct json_object *o = jview_add_object(list);

		if (!o || jview_put_str(o, "node", r->fail[i].node) || jview_put_str(o, "code", r->fail[i].code))
			return -1;
	}
	puts(json_object_to_json_string_ext(p->json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
							 JSON_C_TO_STRING_NOSLASHESCAPE));
	return 0;
}

/* Nodes of one code in a line. */
static void print_failed(const struct resume_result *r)
{
	bool *told = calloc(r->n_fail + 1, sizeof(*told));

	for (size_t i = 0; told && i < r->n_fail; i++) {
		struct strs names = {0};
		char *text;

		for (size_t k = i; k < r->n_fail && !told[i]; k++)
			if (str_eq(r->fail[k].code, r->fail[i].code) && strs_add(&names, r->fail[k].node))
				break;
		for (size_t k = r->n_fail; k-- > i && names.n;)
			told[k] = told[k] || str_eq(r->fail[k].code, r->fail[i].code);
		text = names.n ? nodeset_text_of((const char *const *)names.v, names.n) : NULL;
		if (text)
			printf("would fail (%s): %s\n", r->fail[i].code, text);
		free(text);
		strs_clear(&names);
	}
	free(told);
}

static void print_rest(const struct preview *p, const struct resume_result *r)
{
	char *live = nodeset_text_of((const char *const *)p->live.v, p->live.n);

	if (p->live.n)
		printf("left alone (machine or launch under way): %s\n", live ? live : "");
	free(live);
	print_failed(r);
	if (!p->n_calls)
		puts("nothing would be launched");
}

static int put_refused(struct preview *p)
{
	struct json_object *o = json_object_new_object();

	if (!o || jview_put_obj(p->json, "refused", o))
		return -1;
	return jview_put_str(o, "code", p->refused) || jview_put_str(o, "why", p->refused_why.text) ? -1 : 0;
}

static int preview_run(struct preview *p, struct err *e)
{
	const struct resume_result *r;

	if (p->json) {
		p->calls = json_object_new_array();
		if (!p->calls || jview_put_str(p->json, "strategy", scaling_strategy_text(p->gen->scaling)) ||
		    jview_put_obj(p->json, "calls", p->calls))
			return err_nomem(e);
		if (p->refused && put_refused(p))
			return err_nomem(e);
	} else {
		if (p->refused)
			printf("resume would refuse all of it now (%s): %s; without that:\n", p->refused, p->refused_why.text);
		printf("strategy %s%s\n", scaling_strategy_text(p->gen->scaling),
		       p->request.n_jobs ? "" : " (for jobs; these nodes are of none, so each is launched for itself)");
	}
	if (show_shortages(p))
		return err_nomem(e);
	if (all_calls(p, e))
		return -1;
	r = resume_plan_result(p->plan, e);
	if (!r)
		return -1;
	if (p->json)
		return put_json_failed(p, r) ? err_nomem(e) : 0;
	print_rest(p, r);
	return 0;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
						{"resume-file", required_argument, NULL, 'f'},
						{NULL, 0, NULL, 0}};
	struct preview p = {0};
	struct err e = {""};
	const char *file = NULL;
	bool json = false;
	int c, status = EXIT_OK;

	while ((c = command_option(&cmd_plan, argc, argv, ":", options)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		json = json || c == 'j';
		file = c == 'f' ? optarg : file;
	}
	if (argc - optind != 2 || strcmp(argv[optind], "resume") != 0)
		return command_usage_error(&cmd_plan, "\"resume HOSTLIST\" is expected");
	p.json = json ? json_object_new_object() : NULL;
	if (json && !p.json)
		err_nomem(&e);
	if ((json && !p.json) || preview_read(&p, argv[optind + 1], file, &e) || preview_run(&p, &e)) {
		fprintf(stderr, "slurm-ec2 plan: %s\n", e.text);
		status = EXIT_PROBLEM;
	}
	preview_clear(&p);
	return status;
}

const struct command cmd_plan = {
	.name = "plan",
	.help = "show what a resume would launch, without launching",
	.usage = "usage: slurm-ec2 plan resume HOSTLIST [--resume-file FILE] [--json]\n"
		 "Show the EC2 calls that resume would make for these nodes now: how many machines of which types, zones and\n"
		 "markets, for which nodes and jobs, what would be tried if EC2 came up short, and which nodes would fail at\n"
		 "once; first what EC2 was short of lately, which is why a type or zone may be missing.\n"
		 "Launches nothing and changes nothing.\n\n"
		 "  --resume-file FILE  jobs, as slurmctld gives them in SLURM_RESUME_FILE; without it the nodes have no job\n"
		 "  --json              one JSON object: strategy, refused (if all would be), short, calls, failed, left_alone\n\n"
		 "Exit status: 0 shown, also where nodes would fail; 1 it cannot be worked out, a node is not in the cluster, or\n"
		 "nothing is applied;\n"
		 "2 wrong usage.\n",
	.run = run,
};
