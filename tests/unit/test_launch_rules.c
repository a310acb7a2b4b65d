/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_launch_rules.c - what apply judges before a launch: security groups and images. */
#include "cli/image.h"
#include "cli/secgroup.h"

#include "lib/base/err.h"
#include "tests/unit/test.h"

static void test_cidr(void **state)
{
	static const struct {
		const char *outer, *inner;
		bool in;
	} rows[] = {
		{ "10.0.0.0/8", "10.1.2.3", true },	{ "10.0.0.0/8", "11.0.0.1", false },
		{ "0.0.0.0/0", "8.8.8.8", true },	{ "10.0.0.9/32", "10.0.0.9", true },
		{ "10.0.0.9", "10.0.0.9", true },	{ "10.0.0.0/24", "10.0.0.0/16", false },
		{ "10.0.0.0/16", "10.0.7.0/24", true }, { "10.0.0.0/33", "10.0.0.1", false },
		{ "10.0.0/8", "10.0.0.1", false },	{ "::/0", "10.0.0.1", false },
		{ "10.0.0.0/16", "10.0.x.1", false },	{ "10.0.0.0/", "10.0.0.1", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (cidr_contains(rows[i].outer, rows[i].inner) != rows[i].in)
			fail_msg("%s in %s", rows[i].inner, rows[i].outer);
	}
}

static char tcp[] = "tcp", all[] = "-1", udp[] = "udp", node[] = "sg-node", head[] = "sg-head", open_to[] = "10.0.0.0/16";
static char *only_node[] = { node }, *only_head[] = { head }, *net[] = { open_to };

/* One group "sg-node" with one rule. */
static bool admits(struct ec2_rule rule, const char *source, const char *from, int port)
{
	struct ec2_group g = { .id = node, .in = &rule, .n_in = 1 };
	struct ec2_groups groups = { .v = &g, .n = 1 };
	struct strs targets = { .v = only_node, .n = 1 }, sources = { 0 };
	bool yes;

	if (source)
		strs_add(&sources, source);
	yes = secgroup_admits(&groups, &targets, &sources, from, port);
	strs_clear(&sources);
	return yes;
}

static void test_secgroup(void **state)
{
	const struct strs from_head = { .v = only_head, .n = 1 }, from_net = { .v = net, .n = 1 },
			  from_node = { .v = only_node, .n = 1 };
	const struct {
		struct ec2_rule rule;
		const char *source, *from;
		int port;
		bool yes;
	} rows[] = {
		{ { tcp, 6818, 6818, from_head, { 0 } }, "sg-head", NULL, 6818, true },
		{ { tcp, 6818, 6818, from_head, { 0 } }, "sg-other", NULL, 6818, false },
		{ { tcp, 6818, 6818, from_head, { 0 } }, "sg-head", NULL, 6819, false },
		{ { tcp, 6000, 7000, from_head, { 0 } }, "sg-head", NULL, 6818, true },
		{ { udp, 6818, 6818, from_head, { 0 } }, "sg-head", NULL, 6818, false },
		{ { all, -1, -1, from_node, { 0 } }, "sg-node", NULL, -1, true },
		{ { tcp, 0, 65535, from_node, { 0 } }, "sg-node", NULL, -1, true },
		{ { tcp, 1024, 65535, from_node, { 0 } }, "sg-node", NULL, -1, false },
		{ { tcp, 6818, 6818, { 0 }, from_net }, NULL, "10.0.3.4", 6818, true },
		{ { tcp, 6818, 6818, { 0 }, from_net }, NULL, "10.1.3.4", 6818, false },
		{ { tcp, 6818, 6818, { 0 }, from_net }, NULL, NULL, 6818, false },
		{ { tcp, 6818, 6818, { 0 }, from_net }, "sg-x", "10.0.0.0/24", 6818, true },
		{ { NULL, 6818, 6818, from_head, { 0 } }, "sg-head", NULL, 6818, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (admits(rows[i].rule, rows[i].source, rows[i].from, rows[i].port) != rows[i].yes)
			fail_msg("row %zu", i);
	}
}

static void test_distance(void **state)
{
	static const struct {
		const char *head, *inside;
		int distance;
	} rows[] = {
		{ "22.05.8", "22.05.2", 0 }, { "23.02.1", "22.05.8", 1 },  { "23.11.4", "22.05.8", 2 },
		{ "24.05.0", "22.05.8", 3 }, { "22.05.8", "23.02.0", -1 }, { "26.11.0", "26.05.1", 1 },
		{ "27.05.0", "26.05.1", 2 }, { "22.05.8", "latest", -99 }, { "22.05.8", "22.06", -99 },
		{ "22.05.8", "", -99 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(image_release_distance(rows[i].head, rows[i].inside), rows[i].distance);
}

static struct ec2_image image(const char *id, const char *arch, const char *state, const char *version, const char *creation)
{
	return (struct ec2_image){ .id = (char *)(uintptr_t)id,
				   .arch = (char *)(uintptr_t)arch,
				   .state = (char *)(uintptr_t)state,
				   .slurm_version = (char *)(uintptr_t)version,
				   .creation = (char *)(uintptr_t)creation };
}

static void test_images(void **state)
{
	struct ec2_image v[] = {
		image("ami-old", "x86_64", "available", "22.05.8", "2026-01-01T00:00:00.000Z"),
		image("ami-arm", "arm64", "available", "22.05.8", "2026-09-01T00:00:00.000Z"),
		image("ami-good", "x86_64", "available", "21.08.8", "2026-02-01T00:00:00.000Z"),
		image("ami-newer", "x86_64", "available", "23.02.1", "2026-08-01T00:00:00.000Z"),
		image("ami-pending", "x86_64", "pending", "22.05.8", "2026-08-01T00:00:00.000Z"),
		image("ami-plain", "x86_64", "available", NULL, "2026-08-01T00:00:00.000Z"),
	};
	struct ec2_images l = { .v = v, .n = COUNT(v) };
	static const struct {
		size_t i;
		int accept, rc;
		const char *word;
	} rows[] = {
		{ 0, 0, 0, NULL },	 { 1, 0, -1, "arm64" },	  { 2, 0, 0, NULL },
		{ 3, 0, -1, "23.02.1" }, { 4, 0, -1, "pending" }, { 5, 0, -1, "AcceptUntaggedImage" },
		{ 5, 1, 0, NULL },	 { 3, 1, -1, "23.02.1" },
	};

	(void)state;
	assert_string_equal(image_newest(&l, "x86_64", "22.05.8")->id, "ami-good");
	assert_string_equal(image_newest(&l, "arm64", "22.05.8")->id, "ami-arm");
	assert_null(image_newest(&l, "arm64", "21.08.1"));
	assert_null(image_newest(NULL, "x86_64", "22.05.8"));
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err e = { 0 };

		assert_int_equal(image_judge(&v[rows[i].i], "x86_64", "22.05.8", rows[i].accept, &e), rows[i].rc);
		if (rows[i].word)
			assert_non_null(strstr(e.text, rows[i].word));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cidr),
		cmocka_unit_test(test_secgroup),
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_images),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
