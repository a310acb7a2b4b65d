/* SPDX-License-Identifier: GPL-2.0-or-later */
/* look_world.c - making looks by hand. */
#include "tests/unit/look_world.h"

#include "lib/base/buf.h"
#include "lib/base/str.h"
#include "lib/node/name.h"
#include "lib/node/nodeset.h"
#include "tests/unit/test.h"

static char *copy(const char *s)
{
	char *c = str_dup(s);

	assert_true(!s || c);
	return c;
}

void world_create(struct look *l)
{
	struct generation *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	*g = (struct generation){.number = 7,
				 .uuid = copy("6f1c3a52-8d57-4c6e-9c1f-0a1b2c3d4e5f"),
				 .cluster_name = copy("demo"),
				 .region = copy("ap-northeast-1"),
				 .slurm_version = copy("22.05.8"),
				 .slurm_user = copy("slurm"),
				 .resume_timeout_s = 1800,
				 .suspend_timeout_s = 30};
	*l = (struct look){.gen = g, .now_ms = NOW_MS, .daemon = 4321, .has_daemon = true};
	l->rules = (struct look_rules){.loop_ms = 60000,
				       .heartbeat_limit_ms = 300000,
				       .orphan_grace_ms = 120000,
				       .health_grace_ms = 180000,
				       .event_lead_ms = 86400000,
				       .terminate_share = 10,
				       .protect = {.count = 10, .window_ms = 3600000}};
	l->cloud_unread = calloc(1, sizeof(*l->cloud_unread));
	l->has_healths = true;
	l->cycling = nodeset_create();
	assert_true(l->cloud_unread && l->cycling);
	world_source(l, "loop", 12000, 0, NULL);
}

size_t world_resource(struct look *l, const char *queue, const char *name, const char *type, int max)
{
	struct gen_resource *r = generation_add_resource(l->gen);
	struct gen_stage *st;
	char *node;

	assert_non_null(r);
	r->queue = copy(queue);
	r->name = copy(name);
	r->max_count = max;
	assert_int_equal(strs_add(&r->instance_types, type), 0);
	st = gen_resource_add_stage(r);
	assert_non_null(st);
	assert_int_equal(strs_add(&st->instance_types, type) | strs_add(&st->zones, "ap-northeast-1a") |
			     strs_add(&st->subnet_ids, "subnet-0fedcba9876543210"),
			 0);
	for (int i = 1; i <= max; i++) {
		node = node_name_format(queue, name, false, i);
		world_node(l, node, OFF, NULL);
		free(node);
	}
	return l->gen->n_resources - 1;
}

struct node *world_node(struct look *l, const char *name, uint32_t state, const char *reason)
{
	struct node *n = (struct node *)nodes_find(&l->nodes, name);

	if (!n) {
		n = nodes_add(&l->nodes);
		assert_non_null(n);
		n->name = copy(name);
	}
	n->state = state;
	free(n->reason);
	n->reason = copy(reason);
	n->reason_time_s = reason ? (NOW_MS - 5 * MINUTE_MS) / 1000 : 0;
	return n;
}

struct instance *world_machine(struct look *l, const char *id, const char *queue, const char *resource, const char *node,
			       int64_t age)
{
	struct instance *i = instances_add(&l->instances);
	struct binding *b = node ? bindings_add(&l->bindings) : NULL;

	assert_true(i && (b || !node));
	i->id = copy(id);
	i->type = copy("t2.micro");
	i->zone = copy("ap-northeast-1a");
	i->private_ip = copy("10.77.0.9");
	i->queue = copy(queue);
	i->resource = copy(resource);
	i->cluster = copy(l->gen->uuid);
	i->state = INSTANCE_RUNNING;
	i->launch_time_ms = NOW_MS - age;
	if (!b)
		return i;
	b->node = copy(node);
	b->instance = copy(id);
	b->launch = copy("l-0123456789abcdef01");
	b->state = BINDING_BOUND;
	b->since_ms = NOW_MS - age + 2000;
	return i;
}

void world_launch(struct look *l, const char *id, const char *queue, const char *resource, int64_t age,
		  const char *const *nodes, size_t n)
{
	struct launch *row = launches_add(&l->launches);

	assert_non_null(row);
	row->id = copy(id);
	row->queue = copy(queue);
	row->resource = copy(resource);
	row->created_ms = NOW_MS - age;
	row->pid = 987;
	for (size_t i = 0; i < n; i++) {
		struct binding *b = bindings_add(&l->bindings);

		assert_non_null(b);
		b->node = copy(nodes[i]);
		b->launch = copy(id);
		b->state = BINDING_LAUNCHING;
		b->since_ms = NOW_MS - age;
		assert_int_equal(strs_add(&row->nodes, nodes[i]), 0);
	}
}

void world_shortage(struct look *l, const char *type, const char *zone, int64_t age, int64_t until_in)
{
	struct shortage *f = shortages_add(&l->shortages, type, zone, MARKET_ONDEMAND);

	assert_non_null(f);
	f->code = copy("InsufficientInstanceCapacity");
	f->message = copy("We do not have what you want in the zone that you want it in.");
	f->failures = 3;
	f->failed_ms = NOW_MS - age;
	f->until_ms = NOW_MS + until_in;
}

void world_failure(struct look *l, const char *queue, const char *resource, const char *node, const char *instance, int64_t age)
{
	struct failure *f = failures_add(&l->failures);

	assert_non_null(f);
	f->queue = copy(queue);
	f->resource = copy(resource);
	f->node = copy(node);
	f->instance = copy(instance);
	f->code = copy("boot-failed");
	f->time_ms = NOW_MS - age;
}

struct slurmctl_job_info *world_job(struct look *l, int64_t id, const char *state, const char *reason, const char *partition)
{
	struct slurmctl_job_info *j;

	assert_int_equal(mem_grow(&l->jobs.v, &l->jobs.cap, l->jobs.n + 1, sizeof(*l->jobs.v)), 0);
	j = &l->jobs.v[l->jobs.n++];
	*j = (struct slurmctl_job_info){.id = id,
					.array_task = -1,
					.batch = true,
					.state = copy(state),
					.reason = copy(reason),
					.partition = copy(partition)};
	return j;
}

void world_source(struct look *l, const char *name, int64_t ok_age, int64_t fails_for, const char *error)
{
	struct source_row *r;

	assert_int_equal(mem_grow(&l->sources.v, &l->sources.cap, l->sources.n + 1, sizeof(*l->sources.v)), 0);
	r = &l->sources.v[l->sources.n++];
	*r = (struct source_row){.name = copy(name),
				 .ok_ms = NOW_MS - ok_age,
				 .since_ms = fails_for ? NOW_MS - fails_for : 0,
				 .failed_ms = fails_for ? NOW_MS - 5000 : 0,
				 .error = copy(error)};
}

struct action *world_action(struct look *l, enum action_kind kind, const char *code, const char *node, const char *reason)
{
	struct action *a = plan_add(&l->plan, kind, code);

	assert_non_null(a);
	a->node = copy(node);
	a->reason = copy(reason);
	return a;
}

void world_done(struct look *l)
{
	if (!l->protection)
		l->protection = calloc(l->gen->n_resources + 1, sizeof(*l->protection));
	assert_non_null(l->protection);
	generation_index(l->gen);
	assert_int_equal(look_join(l), 0);
}

void world_clear(struct look *l)
{
	instances_clear(&l->instances);
	healths_clear(&l->healths);
	look_clear(l);
}

void expect_text(const char *text, const char *name)
{
	char *path = file_join(TEST_DATA, name);
	struct buf want = {0};

	assert_non_null(text);
	for (const char *at = text, *end; *at; at = end + 1) {
		end = strchr(at, '\n');
		assert_non_null(end); /* the last line ends too */
		if (end - at > 80)
			fail_msg("a line of %d bytes: %.*s", (int)(end - at), (int)(end - at), at);
		if (end > at && end[-1] == ' ')
			fail_msg("blanks at the end of: %.*s", (int)(end - at), at);
	}
	assert_int_equal(file_read(path, 1 << 20, &want, NULL), 0);
	if (strcmp(text, buf_text(&want))) {
		fputs(text, stderr); /* cmocka would cut it */
		fail_msg("the text above is not as in %s", path);
	}
	buf_free(&want);
	free(path);
}
