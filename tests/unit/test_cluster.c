/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_cluster.c - the cluster value: defaults, each field from its key, placement helpers, enum texts, a big file. */
#include "lib/base/buf.h"
#include "lib/base/problem.h"
#include "lib/cluster/cluster.h"
#include "lib/cluster/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct cluster *parse(const char *text)
{
	struct problems p = {0};
	struct cluster *c = cluster_parse("f", text, strlen(text), cluster_getenv_process, NULL, &p);

	if (!c)
		problems_print(&p, stderr);
	assert_non_null(c);
	problems_clear(&p);
	return c;
}

static const char least[] = "Image: {Os: rhel9}\n"
			    "Scheduling:\n"
			    "  Scheduler: slurm\n"
			    "  SlurmQueues:\n"
			    "  - Name: q\n"
			    "    Networking: {SubnetIds: [subnet-12345678]}\n"
			    "    ComputeResources:\n"
			    "    - {Name: r, InstanceType: c5.large}\n";

static void defaults(void **state)
{
	struct cluster *c = parse(least);
	const struct queue *q = &c->queues[0];
	const struct compute_resource *r = &q->resources[0];

	(void)state;
	assert_string_equal(c->file, "f");
	assert_null(c->region);
	assert_string_equal(c->os, "rhel9");
	assert_int_equal(c->scaling, SCALING_ALL_OR_NOTHING);
	assert_int_equal(c->scaledown_idletime_min, 10);
	assert_int_equal(c->resume_timeout_s, 1800);
	assert_true(c->imds_v2_only);
	assert_false(c->memory_scheduling);
	assert_int_equal(c->n_queues, 1);
	assert_int_equal(q->capacity, CAPACITY_ONDEMAND);
	assert_int_equal(q->assign_public_ip, TRI_UNSET);
	assert_true(q->root_volume.encrypted);
	assert_string_equal(q->root_volume.type, "gp3");
	assert_int_equal(q->root_volume.size_gib, 0);
	assert_int_equal(q->at.line, 5);
	assert_int_equal(q->at.column, 11);
	assert_int_equal(r->min_count, 0);
	assert_int_equal(r->max_count, 10);
	assert_int_equal(r->max_count_at.line, 0);
	assert_int_equal(r->static_priority, 1);
	assert_int_equal(r->dynamic_priority, 1000);
	assert_false(r->flexible);
	assert_false(r->efa);
	assert_false(cluster_placement_managed(q, r));
	cluster_destroy(c);
}

static const char full[] =
	"Region: us-east-1\n"
	"Image: {Os: alinux2, CustomAmi: ami-12345678}\n"
	"HeadNode: {InstanceType: t3.micro, Networking: {SubnetId: subnet-aaaaaaaa}}\n"
	"Imds: {ImdsSupport: v1.0}\n"
	"Monitoring: {DetailedMonitoring: yes}\n"
	"Tags: [{Key: owner, Value: me}]\n"
	"DevSettings: {Timeouts: {ComputeNodeBootstrapTimeout: 600}}\n"
	"Scheduling:\n"
	"  Scheduler: slurm\n"
	"  ScalingStrategy: best-effort\n"
	"  SlurmSettings:\n"
	"    ScaledownIdletime: -1\n"
	"    EnableMemoryBasedScheduling: true\n"
	"    CustomSlurmSettings: [{PreemptMode: OFF}, {NodeName: n1, CPUs: 4}]\n"
	"  SlurmQueues:\n"
	"  - ComputeResources:\n" /* keys in another order than the rules need them */
	"    - Instances: [{InstanceType: c5.large}]\n"
	"      MinCount: 1\n"
	"      MaxCount: \"4\"\n"
	"      SpotPrice: 0.25\n"
	"      DisableSimultaneousMultithreading: on\n"
	"      SchedulableMemory: 3000\n"
	"      Efa: {Enabled: true, GdrSupport: true}\n"
	"      Networking: {PlacementGroup: {Enabled: false}}\n"
	"      CustomSlurmSettings: {Sockets: 2}\n"
	"      Tags: [{Key: a, Value: \"\"}]\n"
	"      StaticNodePriority: 5\n"
	"      DynamicNodePriority: 4294967295\n"
	"      Name: r1\n"
	"    - {Name: r2, InstanceType: c5.xlarge}\n"
	"    Networking:\n"
	"      SubnetIds: [subnet-12345678]\n"
	"      AssignPublicIp: false\n"
	"      AdditionalSecurityGroups: [sg-12345678, sg-87654321]\n"
	"      PlacementGroup: {Enabled: true}\n"
	"    CapacityType: SPOT\n"
	"    AllocationStrategy: capacity-optimized\n"
	"    JobExclusiveAllocation: True\n"
	"    CustomSlurmSettings: {MaxTime: \"1:00:00\"}\n"
	"    ComputeSettings: {LocalStorage: {RootVolume: {Size: 50, Encrypted: false, VolumeType: io2, Iops: 1000}}}\n"
	"    Iam: {InstanceProfile: node}\n"
	"    Image: {CustomAmi: ami-87654321}\n"
	"    Name: q1\n";

static void full_cluster(const struct cluster *c)
{
	assert_string_equal(c->region, "us-east-1");
	assert_string_equal(c->custom_ami, "ami-12345678");
	assert_string_equal(c->head_instance_type, "t3.micro");
	assert_string_equal(c->head_subnet_id, "subnet-aaaaaaaa");
	assert_false(c->imds_v2_only);
	assert_true(c->detailed_monitoring);
	assert_string_equal(kvs_get(&c->tags, "owner"), "me");
	assert_int_equal(c->resume_timeout_s, 600);
	assert_int_equal(c->scaling, SCALING_BEST_EFFORT);
	assert_int_equal(c->scaledown_idletime_min, -1);
	assert_true(c->memory_scheduling);
	assert_int_equal(c->n_custom_slurm, 2);
	assert_string_equal(kvs_get(&c->custom_slurm[0], "PreemptMode"), "OFF");
	assert_string_equal(kvs_get(&c->custom_slurm[1], "CPUs"), "4");
}

static void full_queue(const struct queue *q)
{
	assert_string_equal(q->name, "q1");
	assert_int_equal(q->capacity, CAPACITY_SPOT);
	assert_string_equal(q->allocation_strategy, "capacity-optimized");
	assert_true(q->job_exclusive);
	assert_string_equal(q->custom_ami, "ami-87654321");
	assert_int_equal(q->additional_security_groups.n, 2);
	assert_int_equal(q->assign_public_ip, TRI_FALSE);
	assert_string_equal(q->instance_profile, "node");
	assert_int_equal(q->root_volume.size_gib, 50);
	assert_int_equal(q->root_volume.iops, 1000);
	assert_string_equal(q->root_volume.type, "io2");
	assert_false(q->root_volume.encrypted);
	assert_string_equal(kvs_get(&q->custom_slurm, "MaxTime"), "1:00:00");
}

static void full_resource(const struct compute_resource *r)
{
	assert_string_equal(r->name, "r1");
	assert_true(r->flexible);
	assert_int_equal(r->instance_types.n, 1);
	assert_int_equal(r->min_count, 1);
	assert_int_equal(r->max_count, 4);
	assert_int_equal(r->max_count_at.line, 19);
	assert_float_equal(r->spot_price, 0.25, 1e-9);
	assert_true(r->disable_smt);
	assert_int_equal(r->schedulable_memory_mib, 3000);
	assert_true(r->efa && r->gdr);
	assert_string_equal(kvs_get(&r->custom_slurm, "Sockets"), "2");
	assert_string_equal(kvs_get(&r->tags, "a"), "");
	assert_int_equal(r->static_priority, 5);
	assert_int_equal(r->dynamic_priority, 4294967295);
}

static void every_field(void **state)
{
	struct cluster *c = parse(full);
	const struct queue *q = &c->queues[0];

	(void)state;
	full_cluster(c);
	full_queue(q);
	full_resource(&q->resources[0]);
	assert_false(cluster_placement_managed(q, &q->resources[0])); /* its own section replaces the queue's */
	assert_true(cluster_placement_managed(q, &q->resources[1]));
	assert_ptr_equal(cluster_placement(q, &q->resources[1]), &q->placement);
	cluster_destroy(c);
}

static void named_placement(void **state)
{
	struct cluster *c = parse("Image: {Os: rhel9}\n"
				  "Scheduling:\n"
				  "  Scheduler: slurm\n"
				  "  SlurmQueues:\n"
				  "  - Name: q\n"
				  "    Networking: {SubnetIds: [subnet-12345678], PlacementGroup: {Name: mine}}\n"
				  "    ComputeResources: [{Name: r, InstanceType: c5.large}]\n");

	(void)state;
	assert_string_equal(cluster_placement(&c->queues[0], &c->queues[0].resources[0])->name, "mine");
	assert_false(cluster_placement_managed(&c->queues[0], &c->queues[0].resources[0]));
	cluster_destroy(c);
}

static void enums(void **state)
{
	enum scaling_strategy s;
	enum capacity_type t;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(scaling_strategy_parse(scaling_strategy_text((enum scaling_strategy)i), &s), 0);
		assert_int_equal(s, i);
		assert_int_equal(capacity_type_parse(capacity_type_text((enum capacity_type)i), &t), 0);
		assert_int_equal(t, i);
	}
	assert_int_equal(scaling_strategy_parse("best effort", &s), -1);
	assert_int_equal(capacity_type_parse("spot", &t), -1);
	assert_string_equal(capacity_type_text((enum capacity_type)9), "unknown");
	cluster_destroy(NULL);
}

static void many_queues(void **state)
{
	struct buf b = {0};
	struct cluster *c;

	(void)state;
	buf_str(&b, "Image: {Os: rhel9}\nScheduling:\n  Scheduler: slurm\n  SlurmQueues:\n");
	for (int q = 0; q < 500; q++) {
		buf_fmt(&b, "  - Name: q%d\n    Networking: {SubnetIds: [subnet-12345678]}\n    ComputeResources:\n", q);
		for (int r = 0; r < 20; r++)
			buf_fmt(&b,
				"    - {Name: r%d, InstanceType: c5.large, MaxCount: 20, SchedulableMemory: 900, StaticNodePriority: 5,\n"
				"       Efa: {Enabled: false}, Tags: [{Key: a, Value: b}]}\n",
				r);
	}
	assert_true(b.n > 1024 * 1024);
	c = parse(buf_text(&b));
	buf_free(&b);
	assert_int_equal(c->n_queues, 500);
	assert_string_equal(c->queues[499].name, "q499");
	assert_int_equal(c->queues[499].n_resources, 20);
	assert_string_equal(c->queues[0].resources[19].name, "r19");
	cluster_destroy(c);
}

static const char *get_value(void *arg, const char *name)
{
	(void)arg;
	if (strcmp(name, "TYPE") == 0)
		return "c5.large";
	return strcmp(name, "ODD") == 0 ? "a \"b\": {c} # $d \\" : NULL;
}

static const char *get_nothing(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return NULL;
}

/* What is kept of an applied file reads the same without the environment it was applied in. */
static void filled(void **state)
{
	static const char with[] = "\xef\xbb\xbf# \xc3\xa9 $COMMENT\n"
				   "Image: {Os: rhel9}\n"
				   "Tags:\n"
				   "- {Key: caf\xc3\xa9, Value: &v $ODD}\n"
				   "- {Key: two, Value: *v} # stays\n"
				   "- Key: three\n"
				   "  Value: 'costs $$5'\n"
				   "Scheduling:\n"
				   "  Scheduler: slurm\n"
				   "  SlurmQueues:\n"
				   "  - Name: q\n"
				   "    Networking: {SubnetIds: [subnet-12345678]}\n"
				   "    ComputeResources: [{Name: r, InstanceType: \"${TYPE}\"}]\n"
				   "DevSettings:\n"
				   "  Cookbook:\n"
				   "    ExtraChefAttributes: |\n"
				   "      {\"a\": \"$TYPE\"}\n"
				   "Region: us-east-1\n";
	static const char without[] = "# \xc3\xa9 $COMMENT\n"
				      "Image: {Os: rhel9}\n"
				      "Tags:\n"
				      "- {Key: caf\xc3\xa9, Value: &v \"a \\\"b\\\": {c} # $$d \\\\\"}\n"
				      "- {Key: two, Value: *v} # stays\n"
				      "- Key: three\n"
				      "  Value: \"costs $$5\"\n"
				      "Scheduling:\n"
				      "  Scheduler: slurm\n"
				      "  SlurmQueues:\n"
				      "  - Name: q\n"
				      "    Networking: {SubnetIds: [subnet-12345678]}\n"
				      "    ComputeResources: [{Name: r, InstanceType: \"c5.large\"}]\n"
				      "DevSettings:\n"
				      "  Cookbook:\n"
				      "    ExtraChefAttributes: \"{\\\"a\\\": \\\"c5.large\\\"}\\x0a\"\n"
				      "Region: us-east-1\n";
	struct problems p = {0};
	struct cluster *c = cluster_parse("f", with, strlen(with), get_value, NULL, &p), *again;

	(void)state;
	assert_non_null(c);
	assert_string_equal(c->text, without);
	again = cluster_parse("f", c->text, strlen(c->text), get_nothing, NULL, &p);
	assert_non_null(again);
	assert_string_equal(again->text, c->text);
	assert_string_equal(kvs_get(&again->tags, "two"), "a \"b\": {c} # $d \\");
	assert_string_equal(kvs_get(&again->tags, "three"), "costs $5");
	assert_string_equal(again->queues[0].resources[0].instance_types.v[0], "c5.large");
	cluster_destroy(again);
	cluster_destroy(c);
	problems_clear(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),	   cmocka_unit_test(every_field), cmocka_unit_test(named_placement),
		cmocka_unit_test(enums),	   cmocka_unit_test(many_queues), cmocka_unit_test(filled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
