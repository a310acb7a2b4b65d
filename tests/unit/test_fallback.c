/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_fallback.c - stages of a compute resource from cluster.yaml and settings.yaml, and the rules across both. */
#include "lib/base/problem.h"
#include "lib/base/str.h"
#include "lib/cluster/fallback.h"
#include "lib/cluster/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CLUSTER \
	"Region: us-east-1\nImage: {Os: rhel9}\nScheduling:\n  Scheduler: slurm\n  SlurmQueues:\n" \
	"  - Name: q\n    CapacityType: SPOT\n    Networking: {SubnetIds: [subnet-11111111, subnet-22222222]}\n" \
	"    ComputeResources:\n    - {Name: flex, SpotPrice: 0.5, Instances: [{InstanceType: c5.large}, {InstanceType: m5.large}]}\n" \
	"  - Name: near\n    Networking: {SubnetIds: [subnet-11111111], PlacementGroup: {Enabled: true}}\n" \
	"    ComputeResources:\n    - {Name: mpi, InstanceType: c5n.18xlarge, Efa: {Enabled: true}}\n" \
	"  - Name: kept\n    Networking: {SubnetIds: [subnet-11111111]}\n" \
	"    ComputeResources:\n    - {Name: r, InstanceType: c5.large, CapacityReservationTarget: {CapacityReservationId: cr-12345678}}\n" \
	"  - Name: block\n    CapacityType: CAPACITY_BLOCK\n    Networking: {SubnetIds: [subnet-11111111]}\n" \
	"    CapacityReservationTarget: {CapacityReservationId: cr-12345678}\n" \
	"    ComputeResources:\n    - {Name: b, InstanceType: p5.48xlarge, MinCount: 2, MaxCount: 2}\n"

static struct cluster *cluster;

static int setup(void **state)
{
	struct problems p = {0};

	(void)state;
	cluster = cluster_parse("c", CLUSTER, strlen(CLUSTER), NULL, NULL, &p);
	problems_print(&p, stderr);
	problems_clear(&p);
	return cluster ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	cluster_destroy(cluster);
	return 0;
}

static struct settings *settings(const char *text)
{
	struct problems p = {0};
	struct settings *s = settings_parse("s", text, strlen(text), &p);

	problems_print(&p, stderr);
	problems_clear(&p);
	assert_non_null(s);
	return s;
}

static void stages(void **state)
{
	struct settings *s = settings("Fallback:\n"
				      "- Queue: q\n  ComputeResource: flex\n  TimeLimit: 10\n  Then:\n"
				      "  - {CapacityType: ONDEMAND, TimeLimit: 5}\n"
				      "  - {InstanceTypes: [c6i.large, m5.large], SubnetIds: [subnet-33333333]}\n"
				      "  - {SpotPrice: 0.9}\n");
	const struct fallback *f = fallback_find(s, "q", "flex");
	struct compute_resource *r = &cluster->queues[0].resources[0];
	struct stage st;

	(void)state;
	assert_null(fallback_find(s, "q", "mpi"));
	assert_int_equal(fallback_stages(NULL), 1);
	assert_int_equal(fallback_stages(f), 4);
	fallback_stage(&cluster->queues[0], r, f, 0, &st);
	assert_int_equal(st.capacity, CAPACITY_SPOT);
	assert_int_equal(st.instance_types->n, 2);
	assert_int_equal(st.subnet_ids->n, 2);
	assert_int_equal(st.time_limit_s, 10);
	assert_true(st.spot_price > 0.49 && st.spot_price < 0.51);
	fallback_stage(&cluster->queues[0], r, f, 1, &st);
	assert_int_equal(st.capacity, CAPACITY_ONDEMAND);
	assert_int_equal(st.instance_types->n, 2);
	assert_int_equal(st.time_limit_s, 5);
	assert_true(st.spot_price <= 0); /* not for on-demand machines */
	fallback_stage(&cluster->queues[0], r, f, 2, &st);
	assert_int_equal(st.capacity, CAPACITY_SPOT);
	assert_string_equal(st.instance_types->v[0], "c6i.large");
	assert_int_equal(st.subnet_ids->n, 1);
	assert_int_equal(st.time_limit_s, 0);
	assert_true(st.spot_price > 0.49 && st.spot_price < 0.51);
	fallback_stage(&cluster->queues[0], r, f, 3, &st);
	assert_string_equal(st.instance_types->v[0], "c5.large");
	assert_true(st.spot_price > 0.89);
	assert_int_equal(fallback_note_types(cluster, s), 0);
	assert_int_equal(r->more_types.n, 1);
	assert_string_equal(r->more_types.v[0], "c6i.large");
	strs_clear(&r->more_types);
	settings_destroy(s);
}

#define FOR(queue, resource) "Fallback:\n- Queue: " queue "\n  ComputeResource: " resource "\n  Then:\n"

static void rules(void **state)
{
	static const struct {
		const char *yaml, *says;
	} rows[] = {
		{FOR("q", "flex") "  - CapacityType: ONDEMAND\n", ""},
		{FOR("x", "flex") "  - CapacityType: ONDEMAND\n", "s:2:3: error: Fallback: c has no queue x\n"},
		{FOR("q", "mpi") "  - CapacityType: ONDEMAND\n",
		 "s:2:3: error: Fallback: queue q of c has no compute resource mpi\n"},
		{FOR("near", "mpi") "  - SubnetIds: [subnet-11111111]\n    InstanceTypes: [hpc6a.48xlarge]\n", ""},
		{FOR("near", "mpi") "  - SubnetIds: [subnet-22222222]\n",
		 "s:5:5: error: Fallback: queue near, compute resource mpi: a placement group needs one subnet: remove SubnetIds "
		 "here\n"},
		{FOR("near", "mpi") "  - InstanceTypes: [hpc6a.48xlarge]\n    SpotPrice: 3\n",
		 "s:6:16: error: Fallback: queue near, compute resource mpi: SpotPrice goes only with CapacityType: SPOT, this is "
		 "ONDEMAND\n"},
		{FOR("near", "mpi") "  - CapacityType: ONDEMAND\n",
		 "s:5:5: warning: Fallback: queue near, compute resource mpi: this is the same as what was tried before it\n"},
		{FOR("kept", "r") "  - CapacityType: SPOT\n",
		 "s:2:3: error: Fallback: queue kept, compute resource r: its machines come from a capacity reservation only: remove "
		 "this entry, or CapacityReservationTarget\n"},
		{FOR("block", "b") "  - CapacityType: SPOT\n",
		 "s:2:3: error: Fallback: queue block, compute resource b: it is a capacity block, whose machines come from nowhere "
		 "else: remove this entry\n"},
		{"Queues:\n- {Name: x, Region: eu-west-1}\n", "s:2:10: error: Queues: c has no queue x\n"},
		{"Queues:\n- {Name: q, Region: eu-west-1}\n", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct settings *s = settings(rows[i].yaml);
		struct problems p = {0};
		char *got = NULL;
		size_t size;
		FILE *f = open_memstream(&got, &size);

		fallback_check(cluster, s, "s", &p);
		problems_print(&p, f);
		fclose(f);
		assert_string_equal(got, rows[i].says);
		free(got);
		problems_clear(&p);
		settings_destroy(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(stages), cmocka_unit_test(rules)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
