/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_itype.c - instance facts from the AWS CLI's JSON and back. */
#include "tests/unit/cmocka_all.h"

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/node/itype.h"

#include <stdlib.h>
#include <string.h>

static const char two[] =
    "{\"InstanceTypes\":[{\"InstanceType\":\"t2.micro\",\"ProcessorInfo\":{\"SupportedArchitectures\":[\"i386\",\"x86_64\"]},"
    "\"VCpuInfo\":{\"DefaultVCpus\":1,\"DefaultCores\":1,\"DefaultThreadsPerCore\":1,\"ValidThreadsPerCore\":[1]},"
    "\"MemoryInfo\":{\"SizeInMiB\":1024},\"EbsInfo\":{\"EbsOptimizedSupport\":\"unsupported\"},"
    "\"NetworkInfo\":{\"EfaSupported\":false,\"NetworkCards\":[{\"NetworkCardIndex\":0,\"MaximumNetworkInterfaces\":2}]},"
    "\"PlacementGroupInfo\":{\"SupportedStrategies\":[\"partition\",\"spread\"]},\"FreeTierEligible\":true},"
    "{\"InstanceType\":\"p4d.24xlarge\",\"ProcessorInfo\":{\"SupportedArchitectures\":[\"x86_64\"]},"
    "\"VCpuInfo\":{\"DefaultVCpus\":96,\"DefaultCores\":48,\"DefaultThreadsPerCore\":2,\"ValidThreadsPerCore\":[1,2]},"
    "\"MemoryInfo\":{\"SizeInMiB\":1179648},\"EbsInfo\":{\"EbsOptimizedSupport\":\"default\"},"
    "\"NetworkInfo\":{\"EfaSupported\":true,\"EfaInfo\":{\"MaximumEfaInterfaces\":4},"
    "\"NetworkCards\":[{\"NetworkCardIndex\":0,\"MaximumNetworkInterfaces\":15},{\"NetworkCardIndex\":1,"
    "\"MaximumNetworkInterfaces\":15}]},\"PlacementGroupInfo\":{\"SupportedStrategies\":[\"cluster\"]},"
    "\"GpuInfo\":{\"Gpus\":[{\"Name\":\"A100\",\"Manufacturer\":\"NVIDIA\",\"Count\":8,\"MemoryInfo\":{\"SizeInMiB\":40960}}]}}"
    "]}";

static void check_two(const struct itypes *l)
{
	const struct itype *t = itypes_find(l, "t2.micro"), *p = itypes_find(l, "p4d.24xlarge");

	assert_non_null(t);
	assert_non_null(p);
	assert_string_equal(t->arch, "x86_64");
	assert_int_equal(t->vcpus, 1);
	assert_int_equal(t->memory_mib, 1024);
	assert_true(t->one_thread_ok);
	assert_false(t->efa || t->ebs_optimized_ok || t->cluster_placement_ok);
	assert_int_equal(t->n_cards, 1);
	assert_int_equal(t->cards[0].max_interfaces, 2);
	assert_int_equal(t->n_gpus, 0);
	assert_int_equal(p->vcpus, 96);
	assert_int_equal(p->cores, 48);
	assert_int_equal(p->threads_per_core, 2);
	assert_true(p->efa && p->ebs_optimized_ok && p->cluster_placement_ok && p->one_thread_ok);
	assert_int_equal(p->max_efa, 4);
	assert_int_equal(p->n_cards, 2);
	assert_int_equal(p->cards[1].index, 1);
	assert_int_equal(p->n_gpus, 1);
	assert_string_equal(p->gpus[0].name, "A100");
	assert_string_equal(p->gpus[0].manufacturer, "NVIDIA");
	assert_int_equal(p->gpus[0].count, 8);
	assert_int_equal(p->gpus[0].memory_mib, 40960);
}

static void test_both_ways(void **state)
{
	struct itypes l = { 0 }, again = { 0 };
	struct err e = { "" };
	char *text;

	(void)state;
	if (itypes_from_json(&l, two, sizeof(two) - 1, "facts", &e))
		fail_msg("%s", e.text);
	assert_int_equal(l.n, 2);
	check_two(&l);
	text = itypes_to_json(&l);
	assert_int_equal(itypes_from_json(&again, text, strlen(text), "facts", &e), 0);
	check_two(&again);
	assert_null(itypes_find(&again, "t2"));
	free(text);
	itypes_clear(&l);
	itypes_clear(&again);
}

/* The shape of DevSettings.InstanceTypesData. */
static void test_map(void **state)
{
	static const char text[] = "{\"x.new\":{\"VCpuInfo\":{\"DefaultVCpus\":3}},\"y\":{\"InstanceType\":\"y.new\"}}";
	struct itypes l = { 0 };

	(void)state;
	assert_int_equal(itypes_from_json(&l, text, sizeof(text) - 1, "data", NULL), 0);
	assert_int_equal(itypes_find(&l, "x.new")->vcpus, 3);
	assert_non_null(itypes_find(&l, "y.new"));
	itypes_clear(&l);
}

static const struct {
	const char *text;
	const char *says;
} bad[] = {
	{ "{\"InstanceTypes\":[{\"InstanceType\":\"a\",\"VCpuInfo\":{\"DefaultVCpus\":\"1\"}}]}", "a: VCpuInfo" },
	{ "{\"InstanceTypes\":[{\"InstanceType\":\"a\",\"MemoryInfo\":[]}]}", "a: MemoryInfo" },
	{ "{\"InstanceTypes\":[{\"InstanceType\":\"a\",\"NetworkInfo\":{\"NetworkCards\":[1]}}]}", "NetworkCards[0]" },
	{ "{\"InstanceTypes\":[{\"InstanceType\":\"a\",\"VCpuInfo\":{\"DefaultVCpus\":-1}}]}", "out of range" },
	{ "{\"InstanceTypes\":[{}]}", "InstanceType" },
	{ "{\"InstanceTypes\":[7]}", "InstanceTypes[0]" },
	{ "{\"InstanceTypes\":{}}", "InstanceTypes" },
	{ "[]", "object" },
	{ "{\"a\":1}", "a is not an object" },
	{ "{", "facts" },
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct itypes l = { 0 };
		struct err e = { "" };

		if (!itypes_from_json(&l, bad[i].text, strlen(bad[i].text), "facts", &e) || l.n)
			fail_msg("%s was taken", bad[i].text);
		if (!strstr(e.text, bad[i].says) || strncmp(e.text, "facts", 5))
			fail_msg("%s says \"%s\"", bad[i].text, e.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_ways), cmocka_unit_test(test_map),
					   cmocka_unit_test(test_bad)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
