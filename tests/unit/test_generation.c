/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_generation.c - the applied generation as JSON both ways, and its folder: store, keep the previous, revert, refuse. */
#include "tests/unit/cmocka_all.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct generation *sample(int64_t number)
{
	struct generation *g = calloc(1, sizeof(*g));
	struct gen_resource *r;
	struct gen_stage *st;
	struct gen_cloud *c;

	assert_non_null(g);
	g->number = number;
	g->uuid = str_dup("0b1e4a52-0000-4000-8000-000000000001");
	g->cluster_name = str_dup("demo");
	g->region = str_dup("us-east-1");
	g->slurm_version = str_dup("22.05.8");
	g->head_address = str_dup("10.77.0.1");
	g->slurmctld_port = 6817;
	g->slurm_user = str_dup("slurm");
	g->scaling = SCALING_BEST_EFFORT;
	g->resume_timeout_s = 1800;
	g->suspend_timeout_s = 120;
	g->bootstrap = str_dup("#!/bin/bash\necho \"a/b\" \\ \xc3\xa9\n");
	assert_int_equal(kvs_add(&g->slurm_merged, "SlurmctldParameters", "idle_on_node_suspend"), 0);
	r = generation_add_resource(g);
	r->queue = str_dup("queue1");
	r->name = str_dup("t2micro");
	r->min_count = 1;
	r->max_count = 10;
	assert_int_equal(strs_add(&r->instance_types, "t2.micro"), 0);
	assert_int_equal(strs_add(&r->subnet_ids, "subnet-1"), 0);
	r->capacity = CAPACITY_SPOT;
	r->template_id = str_dup("lt-1");
	r->template_version = 3;
	r->placement_group = str_dup("pg");
	r->placement_managed = true;
	r->single = true;
	r->cpus = 1;
	r->real_memory_mib = 972;
	r->allocation_strategy = str_dup("lowest-price");
	r->reserved = str_dup("reserved:cr-1");
	r->reservation_id = str_dup("cr-1");
	r->cloud = 1;
	assert_int_equal(kvs_add(&r->overrides, "Placement.Tenancy", "dedicated"), 0);
	st = gen_resource_add_stage(r);
	st->capacity = CAPACITY_SPOT;
	st->max_price = 0.35;
	st->time_limit_s = 20;
	assert_int_equal(strs_add(&st->instance_types, "t2.micro"), 0);
	st = gen_resource_add_stage(r);
	assert_int_equal(strs_add(&st->subnet_ids, "subnet-2") || strs_add(&st->zones, "us-east-1b"), 0);
	c = generation_add_cloud(g);
	c->region = str_dup("eu-west-1");
	c->profile = str_dup("away");
	r = generation_add_resource(g);
	r->queue = str_dup("queue1");
	r->name = str_dup("c5");
	r->max_count = 2;
	return g;
}

static void check_sample(const struct generation *g, int64_t number)
{
	const struct gen_resource *r = &g->resources[0];

	assert_int_equal(g->number, number);
	assert_string_equal(g->uuid, "0b1e4a52-0000-4000-8000-000000000001");
	assert_string_equal(g->cluster_name, "demo");
	assert_string_equal(g->region, "us-east-1");
	assert_string_equal(g->slurm_version, "22.05.8");
	assert_string_equal(g->head_address, "10.77.0.1");
	assert_int_equal(g->slurmctld_port, 6817);
	assert_null(g->munge_socket);
	assert_string_equal(g->slurm_user, "slurm");
	assert_int_equal(g->scaling, SCALING_BEST_EFFORT);
	assert_int_equal(g->resume_timeout_s, 1800);
	assert_int_equal(g->suspend_timeout_s, 120);
	assert_string_equal(g->bootstrap, "#!/bin/bash\necho \"a/b\" \\ \xc3\xa9\n");
	assert_string_equal(kvs_get(&g->slurm_merged, "SlurmctldParameters"), "idle_on_node_suspend");
	assert_int_equal(g->n_resources, 2);
	assert_string_equal(r->queue, "queue1");
	assert_string_equal(r->name, "t2micro");
	assert_int_equal(r->min_count, 1);
	assert_int_equal(r->max_count, 10);
	assert_int_equal(r->instance_types.n, 1);
	assert_string_equal(r->subnet_ids.v[0], "subnet-1");
	assert_int_equal(r->capacity, CAPACITY_SPOT);
	assert_string_equal(r->template_id, "lt-1");
	assert_int_equal(r->template_version, 3);
	assert_string_equal(r->placement_group, "pg");
	assert_true(r->placement_managed && r->single);
	assert_int_equal(r->cpus, 1);
	assert_int_equal(r->real_memory_mib, 972);
	assert_string_equal(r->allocation_strategy, "lowest-price");
	assert_string_equal(r->reserved, "reserved:cr-1");
	assert_string_equal(r->reservation_id, "cr-1");
	assert_int_equal(r->cloud, 1);
	assert_string_equal(kvs_get(&r->overrides, "Placement.Tenancy"), "dedicated");
	assert_int_equal(r->n_stages, 2);
	assert_int_equal(r->stages[0].capacity, CAPACITY_SPOT);
	assert_true(r->stages[0].max_price > 0.34 && r->stages[0].max_price < 0.36);
	assert_int_equal(r->stages[0].time_limit_s, 20);
	assert_string_equal(r->stages[0].instance_types.v[0], "t2.micro");
	assert_string_equal(r->stages[1].zones.v[0], "us-east-1b");
	assert_int_equal(g->n_clouds, 1);
	assert_string_equal(g->clouds[0].region, "eu-west-1");
	assert_string_equal(g->clouds[0].profile, "away");
	assert_null(g->clouds[0].endpoint);
	assert_false(g->resources[1].placement_managed || g->resources[1].single);
	assert_null(g->resources[1].template_id);
}

static void test_json(void **state)
{
	struct generation *g = sample(7), *again;
	char *text = generation_to_json(g);
	struct err e = { "" };

	(void)state;
	again = generation_from_json(text, strlen(text), &e);
	if (!again)
		fail_msg("%s", e.text);
	check_sample(again, 7);
	assert_int_equal(generation_find_resource(again, "queue1", 6, "c5", 2), 1);
	assert_int_equal(generation_find_resource(again, "queue1", 6, "c", 1), SIZE_MAX);
	free(text);
	generation_destroy(g);
	generation_destroy(again);
	generation_destroy(NULL);
}

static const struct {
	const char *text;
	const char *says; /* NULL = taken */
} texts[] = {
	{ "{\"number\":1,\"uuid\":\"u\",\"cluster_name\":\"c\",\"region\":\"r\"}", NULL },
	{ "{\"number\":1,\"uuid\":\"u\",\"cluster_name\":\"c\",\"region\":\"r\",\"from_the_future\":[1]}", NULL },
	{ "{\"number\":1,\"uuid\":\"u\",\"cluster_name\":\"c\"}", "region is missing" },
	{ "{\"number\":1,\"uuid\":null,\"cluster_name\":\"c\",\"region\":\"r\"}", "uuid" },
	{ "{\"number\":\"1\",\"uuid\":\"u\",\"cluster_name\":\"c\",\"region\":\"r\"}", "number" },
	{ "{\"number\":1,\"uuid\":\"u\",\"cluster_name\":\"c\",\"region\":\"r\",\"scaling\":\"best\"}", "\"best\"" },
	{ "{\"number\":1,\"uuid\":\"u\",\"cluster_name\":\"c\",\"region\":\"r\",\"resources\":[{\"queue\":\"q\"}]}", "resources[0]" },
	{ "{\"number\":1,\"uuid\":\"u\",\"cluster_name\":\"c\",\"region\":\"r\",\"resources\":[{\"queue\":\"q\",\"name\":\"n\","
	  "\"min_count\":3,\"max_count\":2}]}", "resources[0]" },
	{ "{\"number\":1,\"uuid\":\"u\",\"cluster_name\":\"c\",\"region\":\"r\",\"resources\":[7]}", "resources[0]" },
	{ "{\"number\":1,\"uuid\":\"u\",\"cluster_name\":\"c\",\"region\":\"r\",\"slurm_merged\":{\"a\":1}}", "slurm_merged" },
	{ "[]", "object" },
	{ "", "generation" },
};

static void test_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct err e = { "" };
		struct generation *g = generation_from_json(texts[i].text, strlen(texts[i].text), &e);

		if (!g != !!texts[i].says)
			fail_msg("%s: %s", texts[i].text, e.text);
		if (!g && !strstr(e.text, texts[i].says))
			fail_msg("%s says \"%s\"", texts[i].text, e.text);
		generation_destroy(g);
	}
}

static char dir[] = "/tmp/test_generation.XXXXXX";

static int setup(void **state)
{
	(void)state;
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return file_remove_tree(dir, NULL);
}

static bool there(const char *path)
{
	char *full = file_join(dir, path);
	bool yes = file_exists(full);

	free(full);
	return yes;
}

static void store(int64_t number)
{
	char path[] = "slurm/slurm-ec2.conf", other[] = "cluster.yaml", body[] = "NodeName=x\n";
	struct gen_file files[] = { { path, body }, { other, body } };
	struct generation *g = sample(number);
	struct err e = { "" };

	if (generation_store(dir, g, files, 2, &e))
		fail_msg("%s", e.text);
	generation_destroy(g);
}

static void check_current(int64_t number)
{
	struct err e = { "" };
	struct generation *g = generation_load(dir, &e);

	if (!g)
		fail_msg("%s", e.text);
	check_sample(g, number);
	generation_destroy(g);
}

static void test_store(void **state)
{
	(void)state;
	store(1);
	check_current(1);
	assert_true(there("1/slurm/slurm-ec2.conf") && there("current/cluster.yaml"));
	store(2);
	check_current(2);
	assert_true(there("1/generation.json"));
	store(3);
	check_current(3);
	assert_true(there("2/generation.json"));
	assert_false(there("1"));
}

static void test_revert(void **state)
{
	struct err e = { "" };

	(void)state;
	store(1);
	store(2);
	assert_int_equal(generation_revert(dir, 1, &e), 0);
	check_current(1);
	store(2); /* the folder of the failed apply is replaced */
	check_current(2);
	assert_true(there("1"));
	assert_int_equal(generation_revert(dir, 9, &e), -1);
	assert_non_null(strstr(e.text, "no longer kept"));
	check_current(2);
	assert_int_equal(generation_revert(dir, 0, &e), 0);
	assert_null(generation_load(dir, &e));
}

static void test_none(void **state)
{
	struct err e = { "" };

	(void)state;
	assert_null(generation_load(dir, &e));
	assert_non_null(strstr(e.text, "slurm-ec2 apply"));
}

/* A refused store leaves what was there and no scrap. */
static void test_refused(void **state)
{
	static const char *const bad[] = { "../x", "/etc/x", "a/../../x", "", "a//b", "./a", "a/" };
	char body[] = "x";
	struct err e = { "" };

	(void)state;
	store(1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *path = str_dup(bad[i]);
		struct gen_file f = { path, body };
		struct generation *g = sample(2);

		if (!generation_store(dir, g, &f, 1, &e))
			fail_msg("\"%s\" was taken", bad[i]);
		generation_destroy(g);
		free(path);
	}
	check_current(1);
	assert_false(there("2"));
	for (int64_t number = 0; number < 2; number++) { /* no number; the current one */
		struct generation *g = sample(number);

		assert_int_equal(generation_store(dir, g, NULL, 0, &e), -1);
		generation_destroy(g);
	}
	check_current(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_texts),
		cmocka_unit_test_setup_teardown(test_store, setup, teardown),
		cmocka_unit_test_setup_teardown(test_revert, setup, teardown),
		cmocka_unit_test_setup_teardown(test_none, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
