/* SPDX-License-Identifier: GPL-2.0-or-later */
/* aws_probe.c - shows what lib/aws makes of its input, for the oracle scripts. Not installed.
 *
 *   aws_probe bodies            a form body a line, of every builder
 *   aws_probe sign FILE         JSON list of requests; the Authorization header of each, a line each
 *   aws_probe parse KIND FILE   an answer as a JSON list
 *   aws_probe keys FILE         JSON list of {credentials, config, profile, sts, region}; of each its keys, or "! error"
 *   aws_probe overrides ACTION FILE   members of a launch request as a JSON object of wire parameters
 */
#include "lib/aws/call.h"
#include "lib/aws/credentials.h"
#include "lib/aws/sigv4.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/jview.h"
#include "tests/oracle/sample_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE (64 * 1024 * 1024)
#define MAX_HEADERS 16

static int print_bodies(void)
{
	struct ec2_call *v[SAMPLE_CALLS_MAX];
	size_t n = sample_calls(v);
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		if (v[i])
			puts(v[i]->body);
		else
			rc = 1;
		ec2_call_destroy(v[i]);
	}
	return rc;
}

static const char *text(struct json_object *o, const char *key)
{
	const char *s = NULL;

	return jview_str(o, key, &s, NULL) ? NULL : s;
}

static int sign_one(struct json_object *o)
{
	struct json_object *list = NULL, *body = NULL;
	struct sigv4_header h[MAX_HEADERS];
	struct sigv4_key key = {text(o, "key"), text(o, "secret"), text(o, "region"), text(o, "service")};
	struct sigv4_request r = {.method = text(o, "method"), .path = text(o, "path"), .query = text(o, "query"), .headers = h};
	struct buf out = {0};
	int64_t when = 0;
	int rc = -1;

	if (jview_array(o, "headers", &list, NULL) || !json_object_object_get_ex(o, "body", &body) || jview_i64(o, "ms", &when, NULL))
		return -1;
	for (size_t i = 0; i < json_object_array_length(list) && i < MAX_HEADERS; i++) {
		struct json_object *pair = json_object_array_get_idx(list, i);

		h[r.n_headers].name = json_object_get_string(json_object_array_get_idx(pair, 0));
		h[r.n_headers++].value = json_object_get_string(json_object_array_get_idx(pair, 1));
	}
	r.body = json_object_get_string(body);
	r.body_n = (size_t)json_object_get_string_len(body);
	if (!sigv4_authorize(&r, &key, when, &out))
		rc = puts(buf_text(&out)) < 0 ? -1 : 0;
	buf_free(&out);
	return rc;
}

static int sign(const char *bytes, size_t n, struct err *e)
{
	struct json_object *all = jview_parse(bytes, n, "requests", e);
	int rc = 0;

	if (!all)
		return -1;
	for (size_t i = 0; !rc && i < json_object_array_length(all); i++)
		rc = sign_one(json_object_array_get_idx(all, i)) ? err_set(e, "request %zu cannot be signed", i) : 0;
	json_object_put(all);
	return rc;
}

/* --- keys of profiles */
static void show_keys(struct json_object *o)
{
	struct credential_source s = {
		.profile = (char *)(void *)text(o, "profile"), .credentials_file = (char *)(void *)text(o, "credentials"),
		.config_file = (char *)(void *)text(o, "config"), .sts_endpoint = (char *)(void *)text(o, "sts"),
		.region = text(o, "region"), .no_imds = true, .route = {.proxy = "", .no_proxy = ""},
	};
	struct credentials c = {0};
	struct err e = {""};

	if (credentials_load(&s, NULL, NULL, &c, &e))
		printf("! %s\n", e.text);
	else
		printf("%s %s %s\n", c.access_key, c.secret, c.token ? c.token : "-");
	credentials_clear(&c);
}

static int keys(const char *bytes, size_t n, struct err *e)
{
	struct json_object *all = jview_parse(bytes, n, "profiles", e);

	if (!all)
		return -1;
	for (size_t i = 0; i < json_object_array_length(all); i++)
		show_keys(json_object_array_get_idx(all, i));
	json_object_put(all);
	return 0;
}

/* --- answers */
static void put_i64(struct json_object *o, const char *key, int64_t v)
{
	if (jview_put_i64(o, key, v))
		abort();
}

static void put(struct json_object *o, const char *key, const char *v)
{
	if (jview_put_str(o, key, v))
		abort();
}

static struct json_object *add(struct json_object *list)
{
	struct json_object *o = json_object_new_object();

	json_object_array_add(list, o);
	return o;
}

static void show_instances(struct json_object *list, const struct instances *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct instance *x = &l->v[i];
		struct json_object *o = add(list), *g = json_object_new_array();

		put(o, "id", x->id);
		put(o, "type", x->type);
		put(o, "state", x->state == INSTANCE_UNKNOWN ? NULL : instance_state_text(x->state));
		put(o, "ip", x->private_ip);
		put(o, "dns", x->private_dns);
		put(o, "subnet", x->subnet_id);
		put(o, "zone", x->zone);
		put(o, "lifecycle", x->lifecycle);
		put(o, "token", x->client_token);
		put(o, "cluster", x->cluster);
		put(o, "launch", x->launch);
		put(o, "queue", x->queue);
		put(o, "reason", x->state_reason);
		put_i64(o, "launched", x->launch_time_ms);
		put_i64(o, "index", x->launch_index);
		for (size_t k = 0; k < x->groups.n; k++)
			json_object_array_add(g, json_object_new_string(x->groups.id[k]));
		json_object_object_add(o, "groups", g);
	}
}

static void show_run(struct json_object *list, const struct ec2_call *c)
{
	show_instances(list, &ec2_launch_reply(c)->instances);
}

static void show_fleet(struct json_object *list, const struct ec2_call *c)
{
	const struct ec2_launch_reply *l = ec2_launch_reply(c);

	show_instances(list, &l->instances);
	for (size_t i = 0; i < l->n_errors; i++) {
		const struct ec2_launch_error *x = &l->errors[i];
		struct json_object *o = add(list);

		put(o, "code", x->code);
		put(o, "message", x->message);
		put(o, "type", x->type);
		put(o, "subnet", x->subnet_id);
		put(o, "zone", x->zone);
	}
}

static void show_reservations(struct json_object *list, const struct ec2_call *c)
{
	const struct ec2_reservations *l = ec2_describe_reservations_reply(c);

	for (size_t i = 0; i < l->n; i++) {
		const struct ec2_reservation *r = &l->v[i];
		struct json_object *o = add(list);

		put(o, "id", r->id);
		put(o, "type", r->type);
		put(o, "zone", r->zone);
		put(o, "state", r->state);
		put(o, "kind", r->kind);
		put(o, "cluster", r->cluster);
		put(o, "placement", r->placement_group);
		put_i64(o, "total", r->total);
		put_i64(o, "available", r->available);
		put_i64(o, "start", r->start_ms);
		put_i64(o, "end", r->end_ms);
	}
}

static void show_describe(struct json_object *list, const struct ec2_call *c)
{
	show_instances(list, ec2_describe_reply(c));
}

static void show_status(struct json_object *list, const struct ec2_call *c)
{
	const struct healths *l = ec2_describe_unwell_reply(c);

	for (size_t i = 0; i < l->n; i++) {
		struct json_object *o = add(list);

		put(o, "id", l->v[i].instance);
		put_i64(o, "instance", l->v[i].instance_impaired);
		put_i64(o, "system", l->v[i].system_impaired);
		put_i64(o, "since", l->v[i].impaired_since_ms);
		put(o, "event", l->v[i].event);
		put(o, "text", l->v[i].event_text);
		put_i64(o, "at", l->v[i].event_ms);
	}
}

static void show_types(struct json_object *list, const struct ec2_call *c)
{
	const struct itypes *l = ec2_describe_instance_types_reply(c);

	for (size_t i = 0; i < l->n; i++) {
		const struct itype *t = &l->v[i];
		struct json_object *o = add(list);

		put(o, "name", t->name);
		put(o, "arch", t->arch);
		put_i64(o, "vcpus", t->vcpus);
		put_i64(o, "cores", t->cores);
		put_i64(o, "threads", t->threads_per_core);
		put_i64(o, "one_thread", t->one_thread_ok);
		put_i64(o, "memory", t->memory_mib);
		put_i64(o, "efa", t->efa);
		put_i64(o, "max_efa", t->max_efa);
		put_i64(o, "ebs", t->ebs_optimized_ok);
		put_i64(o, "placement", t->cluster_placement_ok);
		for (size_t k = 0; k < t->n_cards; k++)
			put_i64(o, k ? "card1" : "card0", t->cards[k].index * 100 + t->cards[k].max_interfaces);
		for (size_t k = 0; k < t->n_gpus; k++) {
			put(o, k ? "gpu1" : "gpu0", t->gpus[k].name);
			put_i64(o, k ? "gpu1n" : "gpu0n", t->gpus[k].count);
		}
	}
}

static void show_images(struct json_object *list, const struct ec2_call *c)
{
	const struct ec2_images *l = ec2_describe_images_reply(c);

	for (size_t i = 0; i < l->n; i++) {
		struct json_object *o = add(list);

		put(o, "id", l->v[i].id);
		put(o, "name", l->v[i].name);
		put(o, "arch", l->v[i].arch);
		put(o, "state", l->v[i].state);
		put(o, "root", l->v[i].root_device);
		put(o, "created", l->v[i].creation);
	}
}

static void show_subnets(struct json_object *list, const struct ec2_call *c)
{
	const struct ec2_subnets *l = ec2_describe_subnets_reply(c);

	for (size_t i = 0; i < l->n; i++) {
		struct json_object *o = add(list);

		put(o, "id", l->v[i].id);
		put(o, "vpc", l->v[i].vpc);
		put(o, "zone", l->v[i].zone);
		put(o, "cidr", l->v[i].cidr);
		put_i64(o, "public", l->v[i].public_ip);
		put_i64(o, "free", l->v[i].free_addresses);
	}
}

static void show_rules(struct json_object *o, const char *key, const struct ec2_rule *v, size_t n)
{
	struct buf b = {0};

	for (size_t i = 0; i < n; i++) {
		buf_fmt(&b, "%s/%d/%d", v[i].protocol ? v[i].protocol : "", v[i].from_port, v[i].to_port);
		for (size_t k = 0; k < v[i].groups.n; k++)
			buf_fmt(&b, " %s", v[i].groups.v[k]);
		for (size_t k = 0; k < v[i].cidrs.n; k++)
			buf_fmt(&b, " %s", v[i].cidrs.v[k]);
		buf_char(&b, ';');
	}
	put(o, key, buf_text(&b));
	buf_free(&b);
}

static void show_groups(struct json_object *list, const struct ec2_call *c)
{
	const struct ec2_groups *l = ec2_describe_groups_reply(c);

	for (size_t i = 0; i < l->n; i++) {
		struct json_object *o = add(list);

		put(o, "id", l->v[i].id);
		put(o, "name", l->v[i].name);
		put(o, "vpc", l->v[i].vpc);
		show_rules(o, "in", l->v[i].in, l->v[i].n_in);
		show_rules(o, "out", l->v[i].out, l->v[i].n_out);
	}
}

static void show_templates(struct json_object *list, const struct ec2_call *c)
{
	const struct ec2_template_refs *l = ec2_template_reply(c);

	for (size_t i = 0; i < l->n; i++) {
		struct json_object *o = add(list);

		put(o, "id", l->v[i].id);
		put(o, "name", l->v[i].name);
		put(o, "cluster", l->v[i].cluster);
		put_i64(o, "version", l->v[i].version);
	}
}

static void show_placements(struct json_object *list, const struct ec2_call *c)
{
	const struct ec2_placements *l = ec2_placement_groups_reply(c);

	for (size_t i = 0; i < l->n; i++) {
		struct json_object *o = add(list);

		put(o, "id", l->v[i].id);
		put(o, "name", l->v[i].name);
		put(o, "state", l->v[i].state);
		put(o, "cluster", l->v[i].cluster);
	}
}

static void show_console(struct json_object *list, const struct ec2_call *c)
{
	size_t n;

	put(add(list), "text", ec2_console_output_reply(c, &n));
}

static const struct shower {
	const char *action;
	void (*show)(struct json_object *list, const struct ec2_call *c);
} showers[] = {
	{"RunInstances", show_run},
	{"CreateFleet", show_fleet},
	{"DescribeCapacityReservations", show_reservations},
	{"DescribeInstances", show_describe},
	{"DescribeInstanceStatus", show_status},
	{"GetConsoleOutput", show_console},
	{"DescribeInstanceTypes", show_types},
	{"DescribeImages", show_images},
	{"DescribeSubnets", show_subnets},
	{"DescribeSecurityGroups", show_groups},
	{"CreateLaunchTemplate", show_templates},
	{"CreateLaunchTemplateVersion", show_templates},
	{"DescribeLaunchTemplates", show_templates},
	{"DescribePlacementGroups", show_placements},
};

/* The sample call of an action gives us its reader. */
static struct ec2_call *call_of(const char *action)
{
	struct ec2_call *v[SAMPLE_CALLS_MAX], *found = NULL;
	size_t n = sample_calls(v);

	for (size_t i = 0; i < n; i++) {
		if (!found && v[i] && !strcmp(v[i]->action, action))
			found = v[i];
		else
			ec2_call_destroy(v[i]);
	}
	return found;
}

static int show(struct ec2_call *c)
{
	struct json_object *list = json_object_new_array();
	int rc = -1;

	for (size_t i = 0; i < sizeof showers / sizeof *showers; i++) {
		if (strcmp(showers[i].action, c->action))
			continue;
		showers[i].show(list, c);
		rc = 0;
	}
	puts(json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN));
	json_object_put(list);
	return rc;
}

static int parse(const char *action, const char *bytes, size_t n, struct err *e)
{
	struct ec2_call *c = call_of(action);
	struct reply *r = c ? reply_create(action, c->reader) : NULL;
	struct aws_error x;
	int rc = -1;

	if (!r) {
		err_set(e, "%s cannot be read", action);
		goto out;
	}
	reply_feed(r, bytes, n);
	if (reply_end(r, 200, &x) || c->reader->merge(c->reply, reply_page(r)))
		err_set(e, "%s: %s", x.code, x.message);
	else
		rc = show(c);
out:
	reply_destroy(r);
	ec2_call_destroy(c);
	return rc;
}

static int overrides(const char *action, const char *bytes, size_t n, struct err *e)
{
	struct json_object *members = jview_parse(bytes, n, "overrides", e), *out = json_object_new_object();
	struct kvs l = {0};
	int rc = members ? ec2_overrides(action, members, &l, e) : -1;

	for (size_t i = 0; i < l.key.n; i++)
		put(out, l.key.v[i], l.val.v[i]);
	if (!rc)
		puts(json_object_to_json_string_ext(out, JSON_C_TO_STRING_PLAIN));
	json_object_put(out);
	json_object_put(members);
	kvs_clear(&l);
	return rc;
}

int main(int argc, char **argv)
{
	struct err e = {""};
	struct buf b = {0};
	int rc = -1;

	if (argc == 2 && !strcmp(argv[1], "bodies"))
		return print_bodies();
	if (argc < 3 || file_read(argv[argc - 1], MAX_FILE, &b, &e))
		err_prefix(&e, "aws_probe bodies | sign FILE | keys FILE | parse ACTION FILE");
	else if (argc == 3 && !strcmp(argv[1], "sign"))
		rc = sign(buf_text(&b), b.n, &e);
	else if (argc == 3 && !strcmp(argv[1], "keys"))
		rc = keys(buf_text(&b), b.n, &e);
	else if (argc == 4 && !strcmp(argv[1], "overrides"))
		rc = overrides(argv[2], buf_text(&b), b.n, &e);
	else if (argc == 4 && !strcmp(argv[1], "parse"))
		rc = parse(argv[2], buf_text(&b), b.n, &e);
	buf_free(&b);
	if (rc)
		fprintf(stderr, "%s\n", e.text);
	return rc ? 1 : 0;
}
