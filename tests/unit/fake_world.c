/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fake_world.c - the stand-ins. A launch's ids count from i-1, addresses from 10.0.0.1. */
#include "tests/unit/fake_world.h"

#include "lib/aws/ec2.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/node/binding.h"
#include "lib/node/job.h"
#include "lib/node/nodeset.h"
#include "lib/slurmctl/slurmctl.h"
#include "lib/state/store.h"
#include "tests/unit/test.h"

#include <sqlite3.h>

struct fake fake;
static char *folder;

static const char generation_text[] =
    "{\"number\":1,\"uuid\":\"u\",\"cluster_name\":\"c\",\"region\":\"r\",\"scaling\":\"all-or-nothing\","
    "\"bootstrap\":\"#!/bin/"
    "sh\\n#@LAUNCH@\\n\",\"resume_timeout_s\":600,\"resources\":[{\"queue\":\"q\",\"name\":\"a\",\"min_count\":1,"
    "\"max_count\":10,\"instance_types\":[\"t2.micro\"],\"template_id\":\"lt-1\",\"template_version\":1,\"single\":true,"
    "\"stages\":[{\"capacity\":\"ONDEMAND\",\"instance_types\":[\"t2.micro\"],\"subnet_ids\":[\"s-a\"],\"zones\":[\"za\"]}]},"
    "{\"queue\":\"q\",\"name\":\"f\",\"min_count\":0,\"max_count\":20,\"template_id\":\"lt-2\",\"template_version\":1,\"capacity\":\"SPOT\","
    "\"instance_types\":[\"m\",\"c\"],\"subnet_ids\":[\"s-a\",\"s-b\"],\"allocation_strategy\":\"lowest-price\",\"stages\":["
    "{\"capacity\":\"SPOT\",\"instance_types\":[\"m\",\"c\"],\"subnet_ids\":[\"s-a\",\"s-b\"],\"zones\":[\"za\",\"zb\"],"
    "\"max_price\":0.5},"
    "{\"capacity\":\"ONDEMAND\",\"instance_types\":[\"m\"],\"subnet_ids\":[\"s-b\"],\"zones\":[\"zb\"]}]}]}";

/* ---- slurmctld */

const uint32_t slurmctl_state_down = 1, slurmctl_state_resume = 1u << 8, slurmctl_state_power_down = 1u << 23,
	       slurmctl_state_power_down_force = 1u << 23 | 1u << 12,
	       slurmctl_state_power_up = 1u << 24, slurmctl_state_drain = 1u << 9, slurmctl_state_idle = 2;

static void trace_update(const struct node_update *u)
{
	struct buf line = {0};

	buf_str(&line, "slurm");
	for (size_t i = 0; i < u->n; i++)
		buf_fmt(&line, " %s%s%s", u->names[i], u->addrs ? "=" : "", u->addrs ? u->addrs[i] : "");
	if (u->extra)
		buf_fmt(&line, " extra=%s", u->extra);
	else
		buf_fmt(&line, " state=%x %s", u->state, u->reason ? u->reason : "");
	assert_int_equal(strs_take(&fake.trace, buf_take(&line)), 0);
}

int slurmctl_update_nodes(const struct node_update *u, struct err *e)
{
	void (*hook)(void) = fake.on_update;

	fake.on_update = NULL;
	if (hook)
		hook();
	fake.vain += fake.slurm_away;
	if (fake.slurm_away || fake.slurm_refuses)
		return err_set(e, "slurmctld says no");
	for (size_t i = 0; i < u->n; i++) {
		if (str_eq(u->names[i], fake.unknown))
			return err_set(e, "Invalid node name specified");
	}
	trace_update(u);
	return 0;
}

const struct slurmctl_count *slurmctl_counts(size_t *n)
{
	static const struct slurmctl_count some[] = {{"nodes", 3}, {"update nodes", 1}};

	*n = 2;
	return some;
}

int slurmctl_ping(struct err *e)
{
	return fake.slurm_away ? err_set(e, "away") : 0;
}

static int show(const struct node *n, struct nodes *out)
{
	struct node *o = nodes_add(out);

	o->name = str_dup(n->name);
	o->state = n->state;
	o->addr = str_dup(n->addr);
	o->extra = str_dup(n->extra);
	o->reason = str_dup(n->reason);
	o->reason_time_s = n->reason_time_s;
	return 0;
}

int slurmctl_node(const char *name, struct nodes *out, struct err *e)
{
	const struct node *n = nodes_find(&fake.nodes, name);

	if (fake.slurm_away)
		return err_set(e, "away");
	return n ? show(n, out) : 0;
}

int slurmctl_nodes(struct nodes *out, struct err *e)
{
	if (fake.slurm_away)
		return err_set(e, "away");
	for (size_t i = 0; i < fake.nodes.n; i++)
		show(&fake.nodes.v[i], out);
	return 0;
}

int slurmctl_reservations(struct slurmctl_reservations *out, struct err *e)
{
	if (fake.slurm_away)
		return err_set(e, "away");
	for (size_t i = 0; i < fake.holds.key.n; i++) {
		assert_int_equal(mem_grow(&out->v, &out->cap, out->n + 1, sizeof *out->v), 0);
		out->v[out->n++] = (struct slurmctl_reservation){
		    .name = str_dup(fake.holds.key.v[i]),
		    .nodes = str_dup(fake.holds.val.v[i]),
		};
	}
	return 0;
}

int slurmctl_partitions(struct partitions *out, struct err *e)
{
	for (size_t i = 0; !fake.slurm_away && i < fake.partitions.key.n; i++) {
		struct partition *p = partitions_add(out);

		p->name = str_dup(fake.partitions.key.v[i]);
		p->state = partition_state_parse(fake.partitions.val.v[i]);
	}
	return fake.slurm_away ? err_set(e, "away") : 0;
}

int slurmctl_partition_state(const char *name, enum partition_state state, struct err *e)
{
	fake.vain += fake.slurm_away;
	if (fake.slurm_away)
		return err_set(e, "away");
	strs_addf(&fake.trace, "slurm partition %s %s", name, partition_state_text(state));
	for (size_t i = 0; i < fake.partitions.key.n; i++) {
		if (!str_eq(fake.partitions.key.v[i], name))
			continue;
		free(fake.partitions.val.v[i]);
		fake.partitions.val.v[i] = str_dup(partition_state_text(state));
	}
	return 0;
}

void slurmctl_reservations_clear(struct slurmctl_reservations *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].name);
		free(l->v[i].nodes);
	}
	free(l->v);
	*l = (struct slurmctl_reservations){0};
}

int slurmctl_reservation_hold(const char *name, const char *const *nodes, size_t n, int64_t end_s, struct err *e)
{
	char *text = nodeset_text_of(nodes, n);
	int rc = fake.slurm_refuses ? err_set(e, "slurmctld says no") : strs_addf(&fake.trace, "hold %s %s", name, text);

	assert_int_equal(end_s, 0);
	free(text);
	return rc;
}

int slurmctl_reservation_delete(const char *name, struct err *e)
{
	return fake.slurm_refuses ? err_set(e, "slurmctld says no") : strs_addf(&fake.trace, "delete %s", name);
}

int slurmctl_priorities(struct resume_request *r, struct err *e)
{
	assert_int_equal(strs_add(&fake.trace, "priorities"), 0);
	if (fake.slurm_refuses)
		return err_set(e, "slurmctld says no");
	for (size_t i = 0; i < r->n_jobs; i++) {
		char id[24];

		snprintf(id, sizeof id, "%lld", (long long)r->jobs[i].id);
		if (kvs_get(&fake.priorities, id))
			r->jobs[i].priority = atoi(kvs_get(&fake.priorities, id));
	}
	return 0;
}

int slurmctl_open(const char *conf, struct err *e)
{
	(void)conf;
	return fake.slurm_away ? err_set(e, "away") : 0;
}

void slurmctl_close(void)
{
}

int slurmctl_job_comment(int64_t id, const char *text, struct err *e)
{
	fake.vain += fake.slurm_away;
	if (fake.slurm_away)
		return err_set(e, "away");
	return strs_addf(&fake.trace, "comment %lld %s", (long long)id, text);
}

/* ---- EC2 */

struct aws *aws_create(const struct aws_config *c, struct err *e)
{
	(void)c;
	err_set(e, "no aws in this test");
	return NULL;
}

void aws_destroy(struct aws *a)
{
	(void)a;
}

static void instance_copy(struct instances *out, const struct instance *i, bool hide)
{
	struct instance *o = instances_add(out);

	o->id = str_dup(i->id);
	o->state = i->state;
	o->private_ip = hide ? NULL : str_dup(i->private_ip);
	o->launch_time_ms = i->launch_time_ms;
	o->type = str_dup(i->type);
	o->zone = str_dup(i->zone);
	o->cluster = str_dup(i->cluster);
	o->launch = str_dup(i->launch);
	o->client_token = str_dup(i->client_token);
}

static void free_instances(void *p)
{
	struct ec2_launch_reply *r = p;

	instances_clear(&r->instances);
	for (size_t i = 0; i < r->n_errors; i++) {
		free(r->errors[i].code);
		free(r->errors[i].message);
		free(r->errors[i].type);
		free(r->errors[i].subnet_id);
	}
	free(r->errors);
	free(r);
}

static struct ec2_call *new_call(const char *action)
{
	struct ec2_call *c = calloc(1, sizeof *c);

	c->action = action;
	c->reply = calloc(1, sizeof(struct ec2_launch_reply)); /* begins with its instances */
	c->reply_free = free_instances;
	return c;
}

void ec2_call_destroy(struct ec2_call *c)
{
	if (!c)
		return;
	c->reply_free(c->reply);
	strs_clear(&c->parts);
	free(c->body);
	free(c);
}

struct ec2_call *ec2_run_instances(const struct ec2_run *r)
{
	struct ec2_call *c = new_call("RunInstances");

	assert_non_null(strstr(r->user_data, r->client_token)); /* the machine is told its launch */
	assert_string_equal(kvs_get(r->tags, TAG_LAUNCH), r->client_token);
	c->body = str_fmt("%s %d %d", r->client_token, r->min_count, r->max_count);
	return c;
}

/* "fleet TOKEN MIN TOTAL CAPACITY STRATEGY type/subnet ..." */
struct ec2_call *ec2_create_fleet(const struct ec2_fleet *f)
{
	struct ec2_call *c = new_call("CreateFleet");
	struct buf b = {0};

	assert_string_equal(kvs_get(f->tags, TAG_LAUNCH), f->client_token);
	assert_true(f->reservations_first == !strcmp(f->capacity, "on-demand"));
	assert_true(f->min_total == 0 || f->single_type || f->single_zone);
	buf_fmt(&b, "fleet %s %d %d %s %s", f->client_token, f->min_total, f->total, f->capacity,
		f->allocation_strategy ? f->allocation_strategy : "-");
	for (size_t i = 0; i < f->n_choices; i++) {
		buf_fmt(&b, " %s/%s", f->choices[i].type, f->choices[i].subnet_id);
		if (f->choices[i].max_price > 0)
			buf_fmt(&b, "/%g", f->choices[i].max_price);
		if (f->choices[i].priority >= 0)
			buf_fmt(&b, "#%d", f->choices[i].priority);
	}
	c->body = buf_take(&b);
	return c;
}

struct ec2_call *ec2_launch_again(const char *body)
{
	struct ec2_call *c = new_call(str_prefix(body, "fleet ") ? "CreateFleet" : "RunInstances");

	c->body = str_dup(body);
	return c;
}

const struct ec2_launch_reply *ec2_launch_reply(const struct ec2_call *c)
{
	return c->reply;
}

const struct instances *ec2_describe_reply(const struct ec2_call *c)
{
	return c->reply;
}

struct ec2_call *ec2_describe_by(const char *filter, const char *const *values, size_t n)
{
	struct ec2_call *c = new_call("DescribeInstances");

	for (size_t i = 0; i < n; i++)
		assert_int_equal(strs_add(&c->parts, values[i]), 0);
	c->body = str_dup(filter);
	return c;
}

struct ec2_call *ec2_describe_cluster(const char *uuid)
{
	struct ec2_call *c = new_call("DescribeInstances");

	(void)uuid;
	c->body = str_dup("cluster");
	return c;
}

/* Our own connection is NULL. */
static bool away(const struct aws *a)
{
	return a ? fake.second_away : fake.ec2_away;
}

static void free_healths(void *p)
{
	healths_clear(p);
	free(p);
}

struct ec2_call *ec2_describe_unwell(void)
{
	struct ec2_call *c = calloc(1, sizeof *c);

	c->action = "DescribeInstanceStatus";
	c->reply = calloc(1, sizeof(struct healths));
	c->reply_free = free_healths;
	return c;
}

const struct healths *ec2_describe_unwell_reply(const struct ec2_call *c)
{
	return c->reply;
}

static void unwell(const struct aws *a, struct ec2_call *c)
{
	assert_int_equal(strs_addf(&fake.trace, "ec2%s unwell", a ? " second" : ""), 0);
	c->error.class = away(a) || fake.health_away ? AWS_TRANSIENT : AWS_OK;
	for (size_t i = 0; i < fake.unwell.n && c->error.class == AWS_OK; i++) {
		struct health *h = healths_add(c->reply);

		h->instance = str_dup(fake.unwell.v[i]);
		h->instance_impaired = true;
	}
}

static void free_reservations(void *p)
{
	struct ec2_reservations *l = p;

	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].id);
		free(l->v[i].state);
	}
	free(l->v);
	free(l);
}

/* fake.blocks: id and state, or "STATE END_MS". */
static void add_reservation(struct ec2_reservations *l, const char *id, const char *text)
{
	struct ec2_reservation *r;
	long long end = 0;
	char state[40];

	assert_true(sscanf(text, "%39s %lld", state, &end) >= 1);
	assert_int_equal(mem_grow(&l->v, &l->cap, l->n + 1, sizeof *l->v), 0);
	r = &l->v[l->n++];
	r->id = str_dup(id);
	r->state = str_dup(state);
	r->end_ms = end;
}

struct ec2_call *ec2_describe_reservations(const char *const *ids, size_t n)
{
	struct ec2_call *c = calloc(1, sizeof *c);

	c->action = "DescribeCapacityReservations";
	c->reply = calloc(1, sizeof(struct ec2_reservations));
	c->reply_free = free_reservations;
	for (size_t i = 0; i < n; i++) {
		if (kvs_get(&fake.blocks, ids[i]))
			add_reservation(c->reply, ids[i], kvs_get(&fake.blocks, ids[i]));
	}
	return c;
}

const struct ec2_reservations *ec2_describe_reservations_reply(const struct ec2_call *c)
{
	return c->reply;
}

static void free_text(void *p)
{
	free(p);
}

struct ec2_call *ec2_console_output(const char *id)
{
	struct ec2_call *c = calloc(1, sizeof *c);
	const char *text = kvs_get(&fake.consoles, id);

	c->action = "GetConsoleOutput";
	c->body = str_dup(id);
	c->reply = str_dup(text ? text : "");
	c->reply_free = free_text;
	return c;
}

const char *ec2_console_output_reply(const struct ec2_call *c, size_t *n)
{
	*n = strlen(c->reply);
	return c->reply;
}

static void console(const struct aws *a, struct ec2_call *c)
{
	assert_int_equal(strs_addf(&fake.trace, "ec2%s console %s", a ? " second" : "", c->body), 0);
	if (away(a) || str_eq(c->reply, "!"))
		c->error.class = AWS_TRANSIENT;
}

static bool hidden(void)
{
	if (fake.hide_ip <= 0)
		return false;
	fake.hide_ip--;
	return true;
}

static bool is_known(const char *token)
{
	for (size_t i = 0; i < fake.cloud.n; i++) {
		if (str_eq(fake.cloud.v[i].client_token, token))
			return true;
	}
	return false;
}

static void new_machines(int n, const char *token, const char *type, const char *zone)
{
	for (int i = 0; i < n; i++) {
		char id[32], ip[64];
		struct instance *in;

		snprintf(id, sizeof id, "i-%zu", fake.cloud.n + 1);
		snprintf(ip, sizeof ip, "10.0.%zu.%zu", (fake.cloud.n + 1) / 250, (fake.cloud.n + 1) % 250);
		in = fake_instance(id, ip, token, INSTANCE_PENDING);
		in->type = str_dup(type);
		in->zone = str_dup(zone);
		fake.capacity--;
	}
}

static void list_machines(struct ec2_call *c, const char *token, bool hide)
{
	for (size_t i = 0; i < fake.cloud.n; i++) {
		if (str_eq(fake.cloud.v[i].client_token, token))
			instance_copy(c->reply, &fake.cloud.v[i], hide);
	}
}

static void launch(struct ec2_call *c, const char *token, int min, int max)
{
	bool hide = hidden(), known = is_known(token);
	int n = max < fake.capacity ? max : fake.capacity;

	if (!known && n < min) {
		c->error.class = AWS_CAPACITY;
		strcpy(c->error.code, "InsufficientInstanceCapacity");
		strcpy(c->error.message, "no more of these");
		return;
	}
	if (!known)
		new_machines(n, token, "t2.micro", "za");
	list_machines(c, token, hide);
}

/* The launch happened, but its answer is lost. */
static void lose(struct ec2_call *c)
{
	if (fake.lost <= 0)
		return;
	fake.lost--;
	instances_clear(c->reply);
	c->error.class = AWS_TRANSIENT;
	strcpy(c->error.code, "RequestTimeout");
}

static bool not_now(struct ec2_call *c)
{
	c->sent = true;
	c->error.class = fake.run_class;
	if (fake.run_code)
		snprintf(c->error.code, sizeof c->error.code, "%s", fake.run_code);
	if (fake.on_run)
		fake.on_run();
	return fake.run_class != AWS_OK;
}

static void run(const struct aws *a, struct ec2_call *c)
{
	char token[64];
	int min, max;

	assert_int_equal(sscanf(c->body, "%63s %d %d", token, &min, &max), 3);
	assert_int_equal(strs_addf(&fake.trace, "ec2%s run min %d max %d", a ? " second" : "", min, max), 0);
	if (not_now(c))
		return;
	launch(c, token, min, max);
	lose(c);
}

static void fleet_error(struct ec2_call *c, const char *type, const char *subnet, const char *code)
{
	struct ec2_launch_reply *r = c->reply;

	assert_int_equal(mem_grow(&r->errors, &r->cap_errors, r->n_errors + 1, sizeof *r->errors), 0);
	r->errors[r->n_errors++] = (struct ec2_launch_error){
	    .code = str_dup(code), .message = str_fmt("no %s in %s", type, subnet), .type = str_dup(type), .subnet_id = str_dup(subnet)};
}

/* Machines of one choice, as fake.offers has it. How many came. */
static int offer(struct ec2_call *c, const char *token, const char *choice, int wanted)
{
	struct strs part = {0};
	const char *say;
	int n = wanted, left;

	assert_int_equal(strs_split(&part, choice, '/'), 0);
	for (size_t i = 0; i < fake.offers.key.n; i++) {
		if (strncmp(fake.offers.key.v[i], choice, strlen(fake.offers.key.v[i])))
			continue;
		say = fake.offers.val.v[i];
		if (*say < '0' || *say > '9') {
			fleet_error(c, part.v[0], part.v[1], say);
			n = 0;
			break;
		}
		left = atoi(say);
		n = left < wanted ? left : wanted;
		free(fake.offers.val.v[i]);
		fake.offers.val.v[i] = str_fmt("%d", left - n);
		if (n < wanted)
			fleet_error(c, part.v[0], part.v[1], "InsufficientInstanceCapacity");
		break;
	}
	new_machines(n, token, part.v[0], str_eq(part.v[1], "s-a") ? "za" : "zb");
	strs_clear(&part);
	return n;
}

/* As many as all choices have together. */
static bool enough(const struct strs *word, int min)
{
	int n = 0;

	for (size_t i = 6; i < word->n; i++) {
		size_t k = 0;

		while (k < fake.offers.key.n && strncmp(fake.offers.key.v[k], word->v[i], strlen(fake.offers.key.v[k])))
			k++;
		n += k == fake.offers.key.n ? 1000 : atoi(fake.offers.val.v[k]);
	}
	return n >= min;
}

/* A replay does not tell again what the first one launched, which EC2 does not promise either. */
static void fleet(struct ec2_call *c)
{
	struct strs word = {0};
	int left;

	assert_int_equal(strs_split(&word, c->body, ' '), 0);
	assert_int_equal(strs_addf(&fake.trace, "ec2 fleet%s", strchr(strchr(c->body, ' ') + 1, ' ')), 0);
	if (!not_now(c) && !is_known(word.v[1]) && fake.fleet_empty-- <= 0) {
		left = enough(&word, atoi(word.v[2])) ? atoi(word.v[3]) : 0;
		for (size_t i = 6; i < word.n && (left > 0 || atoi(word.v[2]) > 0); i++)
			left -= offer(c, word.v[1], word.v[i], left);
		list_machines(c, word.v[1], true);
		lose(c);
	}
	strs_clear(&word);
}

static const char *value_of(const struct instance *i, const char *filter)
{
	if (str_eq(filter, "instance-id"))
		return i->id;
	if (str_eq(filter, "tag:" TAG_LAUNCH))
		return i->launch;
	assert_string_equal(filter, "private-ip-address");
	return i->private_ip;
}

static void describe(const struct aws *a, struct ec2_call *c)
{
	bool hide = hidden();

	c->sent = true;
	assert_int_equal(strs_addf(&fake.trace, "ec2%s describe %s", a ? " second" : "", c->body), 0);
	if (fake.on_describe)
		fake.on_describe();
	if (away(a)) {
		c->error.class = AWS_TRANSIENT;
		return;
	}
	for (size_t i = 0; i < fake.cloud.n; i++) {
		if (str_eq(c->body, "cluster") && fake.cloud.v[i].cloud == (a ? 1 : 0))
			instance_copy(c->reply, &fake.cloud.v[i], hide);
		else if (!str_eq(c->body, "cluster") && strs_has(&c->parts, value_of(&fake.cloud.v[i], c->body)) &&
			 !str_eq(fake.cloud.v[i].id, fake.unlisted))
			instance_copy(c->reply, &fake.cloud.v[i], hide);
	}
}

int ec2_perform(struct aws *a, struct ec2_call *const *calls, size_t n, int64_t deadline,
		void (*on_done)(struct ec2_call *, void *), void *arg)
{
	int rc = 0;

	(void)on_done;
	(void)arg;
	for (size_t i = 0; i < n; i++) {
		if (str_eq(calls[i]->action, "DescribeCapacityReservations")) {
			assert_int_equal(strs_add(&fake.trace, "ec2 blocks"), 0);
			calls[i]->error.class = away(a) ? AWS_TRANSIENT : AWS_OK;
		} else if (str_eq(calls[i]->action, "DescribeInstanceStatus")) {
			unwell(a, calls[i]);
		} else if (!deadline && !str_prefix(calls[i]->action, "Describe") && !str_prefix(calls[i]->action, "Get")) {
			calls[i]->error.class = AWS_THROTTLE;
		} else if (str_eq(calls[i]->action, "GetConsoleOutput")) {
			console(a, calls[i]);
		} else if (str_eq(calls[i]->action, "RunInstances")) {
			run(a, calls[i]);
		} else if (str_eq(calls[i]->action, "CreateFleet")) {
			fleet(calls[i]);
		} else {
			describe(a, calls[i]);
		}
		rc = calls[i]->error.class == AWS_OK ? rc : -1;
	}
	return rc;
}

int ec2_perform_one(struct aws *a, struct ec2_call *c, int64_t deadline, struct err *e)
{
	return ec2_perform(a, &c, 1, deadline, NULL, NULL) < 0 ? err_set(e, "EC2 says no") : 0;
}

int ec2_terminate_all(struct aws *a, const char *const *ids, size_t n, int64_t deadline, struct err *e)
{
	(void)deadline;
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(strs_addf(&fake.trace, "ec2%s terminate %s", a ? " second" : "", ids[i]), 0);
		for (size_t k = 0; k < fake.cloud.n && !away(a); k++) {
			if (str_eq(fake.cloud.v[k].id, ids[i]))
				fake.cloud.v[k].state = INSTANCE_SHUTTING_DOWN;
		}
	}
	if (fake.on_terminate)
		fake.on_terminate();
	return away(a) ? err_set(e, "EC2 is away") : 0;
}

/* ---- the test's side */

struct node *fake_node(const char *name, uint32_t state, const char *addr, const char *extra)
{
	struct node *n = nodes_add(&fake.nodes);

	n->name = str_dup(name);
	n->state = state;
	n->addr = str_dup(addr);
	n->extra = str_dup(extra);
	return n;
}

struct instance *fake_instance(const char *id, const char *ip, const char *launch_id, enum instance_state state)
{
	struct instance *i = instances_add(&fake.cloud);

	i->id = str_dup(id);
	i->private_ip = str_dup(ip);
	i->launch = str_dup(launch_id);
	i->client_token = str_dup(launch_id);
	i->cluster = str_dup("u");
	i->state = state;
	return i;
}

const char *fake_store_path(void)
{
	static char path[512];

	snprintf(path, sizeof path, "%s/state.db", folder);
	return path;
}

void fake_open(struct world *w, bool watched)
{
	struct err e = {""};
	char *path;

	memset(&fake, 0, sizeof fake);
	fake.capacity = 1000;
	apply_stop = 0;
	folder = test_folder();
	path = file_join(folder, "state.db");
	*w = (struct world){.settings = settings_create(), .log_folder = folder};
	w->gen = generation_from_json(generation_text, sizeof generation_text - 1, &e);
	w->store = store_open(path, NULL, &e);
	free(path);
	if (!w->gen || !w->store)
		fail_msg("%s", e.text);
	if (watched) {
		assert_int_equal(store_source_ok(w->store, "loop", clock_wall_ms(), NULL), 0);
		assert_int_equal(store_source_ok(w->store, "ec2", clock_wall_ms(), NULL), 0);
		assert_int_equal(store_source_ok(w->store, "slurm", clock_wall_ms(), NULL), 0);
	}
}

void fake_second_cloud(struct world *w)
{
	static char second;
	struct gen_resource *r;

	assert_non_null(generation_add_cloud(w->gen));
	w->gen->clouds[0].region = str_dup("far");
	r = generation_add_resource(w->gen);
	r->queue = str_dup("far");
	r->name = str_dup("b");
	r->max_count = 10;
	r->cloud = 1;
	assert_int_equal(generation_index(w->gen), 0);
	w->clouds = calloc(1, sizeof *w->clouds);
	w->clouds[0] = (struct aws *)&second;
	w->n_clouds = 1;
}

struct gen_resource *fake_block(struct world *w)
{
	struct gen_resource *r = generation_add_resource(w->gen);

	r->queue = str_dup("block");
	r->name = str_dup("c");
	r->min_count = r->max_count = 2;
	r->capacity = CAPACITY_BLOCK;
	r->reservation_id = str_dup("cr-1");
	gen_resource_add_stage(r)->capacity = CAPACITY_BLOCK;
	assert_int_equal(generation_index(w->gen), 0);
	return r;
}

void fake_close(struct world *w)
{
	world_close(w);
	file_remove_tree(folder, NULL);
	free(folder);
	strs_clear(&fake.trace);
	kvs_clear(&fake.partitions);
	kvs_clear(&fake.holds);
	kvs_clear(&fake.blocks);
	kvs_clear(&fake.offers);
	kvs_clear(&fake.priorities);
	strs_clear(&fake.unwell);
	kvs_clear(&fake.consoles);
	nodes_clear(&fake.nodes);
	instances_clear(&fake.cloud);
}

static bool line_matches(const char *line, const char *wanted)
{
	size_t n = strlen(wanted);

	return n > 0 && wanted[n - 1] == '*' ? strncmp(line, wanted, n - 1) == 0 : strcmp(line, wanted) == 0;
}

void fake_expect(const char *const *lines, size_t n)
{
	bool same = fake.trace.n == n;

	for (size_t i = 0; i < n && same; i++)
		same = line_matches(fake.trace.v[i], lines[i]);
	if (!same) {
		for (size_t i = 0; i < n; i++)
			print_error("wanted: %s\n", lines[i]);
		for (size_t i = 0; i < fake.trace.n; i++)
			print_error("   got: %s\n", fake.trace.v[i]);
		fail_msg("the trace differs");
	}
	strs_clear(&fake.trace);
}

void fake_expect_nothing(void)
{
	fake_expect(NULL, 0);
}

const char *fake_row(struct world *w, const char *node)
{
	static const char *const state[] = {"LAUNCHING", "BOUND", "FREE"};
	static char text[200];
	struct bindings b = {0};

	assert_int_equal(store_binding(w->store, node, &b, NULL), 0);
	text[0] = 0;
	if (b.n == 1)
		snprintf(text, sizeof text, "%s%s%s", state[b.v[0].state], b.v[0].instance ? " " : "",
			 b.v[0].instance ? b.v[0].instance : "");
	bindings_clear(&b);
	return text;
}

const char *fake_failures(struct world *w)
{
	static char text[2000];
	struct failures l = {0};
	size_t n = 0;

	assert_int_equal(store_failures(w->store, 0, &l, NULL), 0);
	text[0] = 0;
	for (size_t i = 0; i < l.n; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %s %s%s", n ? "," : "", l.v[i].node, l.v[i].instance, l.v[i].code,
				      l.v[i].over ? " over" : "");
	failures_clear(&l);
	return text;
}

const char *fake_folder(void)
{
	return folder;
}

void fake_age(const char *node, int64_t ms)
{
	char *path = file_join(folder, "state.db");
	char *sql = str_fmt("UPDATE binding SET since_ms = since_ms - %lld WHERE node = '%s'", (long long)ms, node);
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_changes(db), 1);
	sqlite3_close(db);
	free(sql);
	free(path);
}

size_t fake_open_launches(struct world *w)
{
	struct launches l = {0};
	size_t n;

	assert_int_equal(store_launches_open(w->store, &l, NULL), 0);
	n = l.n;
	launches_clear(&l);
	return n;
}
