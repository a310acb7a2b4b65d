/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_template.c - a compute resource as a launch template: whose tags win, what is left out, what is refused. */
#include "conf/template.h"

#include "conf/facts.h"
#include "lib/base/err.h"
#include "lib/base/problem.h"
#include "lib/cluster/load.h"
#include "tests/unit/test.h"

static struct itypes types;
static char uuid[] = "0f0e0d0c-1111-4222-8333-444455556666", name[] = "demo", boot[] = "#!/bin/sh\n";
static struct generation gen = { .uuid = uuid, .cluster_name = name, .bootstrap = boot };
static char group[] = "sg-0123456789abcdef0", *group_list[] = { group };
static struct strs groups = { .v = group_list, .n = 1 };

static struct cluster *load(const char *file)
{
	struct problems p = { 0 };
	struct cluster *c = cluster_load(file, cluster_getenv_process, NULL, &p);

	problems_clear(&p);
	assert_non_null(c);
	return c;
}

static struct template_input input(const struct cluster *c, size_t q, size_t r)
{
	return (struct template_input){
		.gen = &gen,
		.cluster = c,
		.queue = &c->queues[q],
		.resource = &c->queues[q].resources[r],
		.types = &types,
		.groups = &groups,
		.image_id = "ami-0123456789abcdef0",
		.root_device = "/dev/xvda",
		.single = c->queues[q].resources[r].instance_types.n == 1 && c->queues[q].subnet_ids.n == 1,
	};
}

static void test_plain(void **state)
{
	struct cluster *c = load(TEST_DATA "/quickstart.yaml");
	struct template_input in = input(c, 0, 0);
	struct template t;
	struct err e;

	(void)state;
	kvs_add(&c->tags, "Owner", "wide");
	kvs_add(&c->queues[0].tags, "Owner", "narrow");
	kvs_add(&c->queues[0].resources[0].tags, TAG_CLUSTER, "stolen");
	assert_int_equal(template_build(&in, &t, &e), 0);
	assert_string_equal(t.ec2.name, "demo/queue1/t2micro");
	assert_string_equal(t.ec2.instance_type, "t2.micro");
	assert_string_equal(t.ec2.subnet_id, "subnet-0fedcba9876543210");
	assert_string_equal(t.ec2.user_data, boot);
	assert_string_equal(kvs_get(&t.tags, "Owner"), "narrow");
	assert_string_equal(kvs_get(&t.tags, TAG_CLUSTER), uuid);
	assert_string_equal(kvs_get(&t.tags, TAG_PC_QUEUE), "queue1");
	assert_string_equal(kvs_get(&t.own_tags, TAG_CLUSTER), uuid);
	assert_string_equal(t.ec2.root_device, "/dev/xvda");
	assert_true(t.ec2.root_encrypted);
	assert_true(t.ec2.imds_v2_only);
	assert_false(t.ec2.ebs_optimized);
	assert_null(t.ec2.market);
	assert_int_equal(t.ec2.cores, 0);
	assert_int_equal(t.ec2.n_interfaces, 1);
	assert_false(t.ec2.imds_tags);
	assert_string_equal(kvs_get(&t.instance_tags, TAG_PC_NETWORKING), "EFA=NONE");
	assert_non_null(strstr(kvs_get(&t.instance_tags, TAG_PC_ATTRIBUTES), ", slurm, "));
	assert_non_null(strstr(kvs_get(&t.instance_tags, TAG_PC_ATTRIBUTES), ", x86_64"));
	template_clear(&t);
	cluster_destroy(c);
}

static void test_rich(void **state)
{
	struct cluster *c = load(TEST_DATA "/two-kinds.yaml");
	struct template_input in = input(c, 0, 0);
	struct template t;
	struct err e;

	(void)state;
	in.root_device = NULL;
	assert_int_equal(template_build(&in, &t, &e), 0);
	assert_string_equal(t.ec2.market, "spot");
	assert_int_equal(t.ec2.cores, 48);
	assert_int_equal(t.ec2.threads_per_core, 1);
	assert_int_equal(t.ec2.n_interfaces, 5);
	assert_string_equal(t.ec2.interfaces[1].type, "efa-only");
	assert_null(t.ec2.root_device);
	template_clear(&t);

	cluster_destroy(c);
}

/* CreateFleet says type, subnet and market itself; the machine learns its launch from its tags. */
static void test_fleet(void **state)
{
	struct cluster *c = load(TEST_DATA "/two-kinds.yaml");
	struct template_input in = input(c, 0, 1);
	struct template t;
	struct err e;

	(void)state;
	assert_false(in.single);
	assert_int_equal(template_build(&in, &t, &e), 0);
	assert_null(t.ec2.instance_type);
	assert_null(t.ec2.subnet_id);
	assert_null(t.ec2.market);
	assert_true(t.ec2.imds_tags);
	assert_non_null(strstr(kvs_get(&t.instance_tags, TAG_PC_ATTRIBUTES), ", NONE"));
	template_clear(&t);

	in = input(c, 0, 0); /* one type, but several ways to get it */
	in.single = false;
	assert_int_equal(template_build(&in, &t, &e), 0);
	assert_null(t.ec2.instance_type);
	assert_null(t.ec2.market);
	assert_true(t.ec2.spot_price == 0);
	template_clear(&t);

	kvs_add(&c->tags, "cost/center", "1");
	assert_int_equal(template_build(&in, &t, &e), -1);
	assert_non_null(strstr(e.text, "cost/center"));
	in = input(c, 0, 0);
	assert_int_equal(template_build(&in, &t, &e), 0);
	template_clear(&t);
	cluster_destroy(c);
}

static char *copy_of(const char *s)
{
	char *copy = str_dup(s);

	assert_non_null(copy);
	return copy;
}

/* Kinds of capacity: what the resource says wins over the queue. */
static void test_capacity(void **state)
{
	struct cluster *c = load(TEST_DATA "/quickstart.yaml");
	struct template_input in = input(c, 0, 0);
	struct queue *q = &c->queues[0];
	struct template t;
	struct err e;

	(void)state;
	q->capacity = CAPACITY_BLOCK;
	q->capacity_reservation_id = copy_of("cr-queue");
	assert_int_equal(template_build(&in, &t, &e), 0);
	assert_string_equal(t.ec2.market, "capacity-block");
	assert_string_equal(t.ec2.capacity_reservation_id, "cr-queue");
	template_clear(&t);

	q->capacity = CAPACITY_ONDEMAND;
	q->resources[0].reservation_at.line = 1; /* a section of its own, which replaces the queue's */
	q->resources[0].capacity_reservation_group = copy_of("arn:aws:resource-groups:us-east-1:1:group/g");
	assert_int_equal(template_build(&in, &t, &e), 0);
	assert_null(t.ec2.market);
	assert_null(t.ec2.capacity_reservation_id);
	assert_string_equal(t.ec2.capacity_reservation_group, "arn:aws:resource-groups:us-east-1:1:group/g");
	template_clear(&t);

	q->capacity = CAPACITY_SPOT;
	assert_int_equal(template_build(&in, &t, &e), 0);
	assert_string_equal(t.ec2.market, "spot");
	assert_true(t.ec2.spot_price == 0);
	template_clear(&t);
	q->resources[0].spot_price = 0.5;
	assert_int_equal(template_build(&in, &t, &e), 0);
	assert_true(t.ec2.spot_price == 0.5);
	template_clear(&t);
	cluster_destroy(c);
}

/* With several types EC2 cannot switch the second threads off for each: the machine does. */
static void test_threads(void **state)
{
	static char script[] = "#!/bin/sh\nNO_SMT=''\n#@LAUNCH@\nrest\n";
	struct cluster *c = load(TEST_DATA "/two-kinds.yaml");
	struct template_input in = input(c, 0, 1);
	struct generation with_place = gen;
	struct template t;
	struct err e;

	(void)state;
	with_place.bootstrap = script;
	in.gen = &with_place;
	c->queues[0].resources[1].disable_smt = true;
	assert_int_equal(template_build(&in, &t, &e), 0);
	assert_string_equal(t.ec2.user_data, "#!/bin/sh\nNO_SMT=''\nNO_SMT=1\n#@LAUNCH@\nrest\n");
	template_clear(&t);
	c->queues[0].resources[1].disable_smt = false;
	assert_int_equal(template_build(&in, &t, &e), 0);
	assert_string_equal(t.ec2.user_data, script);
	template_clear(&t);
	cluster_destroy(c);
}

static void test_refused(void **state)
{
	struct cluster *c = load(TEST_DATA "/two-kinds.yaml"), *small = load(TEST_DATA "/quickstart.yaml");
	struct template_input in = input(c, 0, 0);
	struct template t;
	struct err e;

	(void)state;
	c->queues[0].assign_public_ip = TRI_TRUE;
	assert_int_equal(template_build(&in, &t, &e), -1);
	assert_non_null(strstr(e.text, "AssignPublicIp"));
	in = input(c, 0, 1);
	c->queues[0].resources[1].efa = true;
	assert_int_equal(template_build(&in, &t, &e), -1);
	assert_non_null(strstr(e.text, "EFA"));
	in = input(small, 0, 0);
	in.placement_group = "pg";
	assert_int_equal(template_build(&in, &t, &e), -1);
	assert_non_null(strstr(e.text, "placement group"));
	cluster_destroy(c);
	cluster_destroy(small);
}

static void test_hash(void **state)
{
	char a[17], b[17];

	(void)state;
	template_hash("Action=X&ClientToken=1&A=1", a);
	template_hash("Action=X&ClientToken=2&A=1", b);
	assert_string_equal(a, b);
	assert_int_equal(strlen(a), 16);
	template_hash("Action=X&ClientToken=1&A=2", b);
	assert_string_not_equal(a, b);
	template_hash("Action=X&A=1", b);
	assert_string_equal(a, b);
}

static void test_placement_name(void **state)
{
	static const char cluster_id[] = "0c1d2e3f-0000-4000-8000-000000000000";
	char *a = placement_name(cluster_id, "demo", "a-b", "c"), *b = placement_name(cluster_id, "demo", "a", "b-c");

	(void)state;
	assert_string_equal(a, "demo_a-b_c_0c1d2e3f");
	assert_string_not_equal(a, b);
	free(a);
	free(b);
}

static int setup(void **state)
{
	(void)state;
	return facts_read(TEST_DATA "/types.json", &types, NULL);
}

static int teardown(void **state)
{
	(void)state;
	itypes_clear(&types);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_rich),
		cmocka_unit_test(test_fleet),
		cmocka_unit_test(test_capacity),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_placement_name),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
