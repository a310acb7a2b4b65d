/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_calls.c - see the header. Called by test_ec2_body and aws_probe. */
#include "tests/oracle/sample_calls.h"

#include "lib/base/jview.h"

#include <stdlib.h>

static const char *const ids[] = {"i-0123456789abcdef0", "i-0123456789abcdef1", "i-0123456789abcdef2"};
static const char *const images[] = {"ami-0123456789abcdef0"};
static const char *const subnets[] = {"subnet-0123456789abcdef0", "subnet-0123456789abcdef1"};
static const char *const groups[] = {"sg-0123456789abcdef0"};
static const char *const types[] = {"t2.micro", "c5n.18xlarge"};
static const char uuid[] = "5f0c6e0e-64f5-4b4e-9e0f-0a4a5d0f8b11";

static void fill_tags(struct kvs *t)
{
	if (kvs_add(t, TAG_CLUSTER, uuid) || kvs_add(t, TAG_LAUNCH, "l-1") || kvs_add(t, TAG_PC_CLUSTER, "a & b=c\xc3\xa9") ||
	    kvs_add(t, "empty", ""))
		abort();
}

/* As ParallelCluster's files have them; what makes a machine ours must stand beside it. */
static void fill_overrides(struct kvs *o, const char *action, const char *text)
{
	struct json_object *members = json_tokener_parse(text);

	if (!members || ec2_overrides(action, members, o, NULL))
		abort();
	json_object_put(members);
}

static const char run_overrides[] =
    "{\"NetworkInterfaces\": [{\"DeviceIndex\": 0, \"Groups\": [\"sg-0123456789abcdef0\"]}], \"SubnetId\": \"subnet-1\","
    " \"TagSpecifications\": [{\"ResourceType\": \"volume\", \"Tags\": [{\"Key\": \"k\", \"Value\": \"v\"}]}]}";
static const char fleet_overrides[] =
    "{\"SpotOptions\": {\"MaxTotalPrice\": \"3.5\"}, \"TargetCapacitySpecification\": {\"DefaultTargetCapacityType\": \"spot\"},"
    " \"LaunchTemplateConfigs\": [{\"Overrides\": [{\"InstanceRequirements\": {\"VCpuCount\": {\"Min\": 4}, \"MemoryMiB\":"
    " {\"Min\": 8}}}]}, {\"Overrides\": [{\"InstanceType\": \"t2.micro\"}]}],"
    " \"TagSpecifications\": [{\"ResourceType\": \"fleet\"}, {\"ResourceType\": \"instance\", \"Tags\": [{\"Key\": \"k\","
    " \"Value\": \"v\"}]}]}";

static size_t add_launches(struct ec2_call **v, const struct kvs *tags)
{
	struct ec2_run bare = {.template_id = "lt-0123456789abcdef0", .template_version = 1, .min_count = 1, .max_count = 1,
			       .client_token = "token-1"};
	struct ec2_run full = {.template_id = "lt-0123456789abcdef0",
			       .template_version = 12,
			       .min_count = 2,
			       .max_count = 500,
			       .client_token = "token-2",
			       .user_data = "#!/bin/bash\necho \"a+b/c?\" > /x\n",
			       .subnet_id = subnets[0],
			       .tags = tags};
	struct ec2_run replaced = full;
	struct kvs overrides = {0};
	size_t n = 0;

	fill_overrides(&overrides, "RunInstances", run_overrides);
	replaced.overrides = &overrides;
	v[n++] = ec2_run_instances(&bare);
	v[n++] = ec2_run_instances(&replaced);
	kvs_clear(&overrides);
	v[n++] = ec2_run_instances(&full);
	v[n] = v[n - 1] ? ec2_launch_again(v[n - 1]->body) : NULL;
	n++;
	v[n++] = ec2_terminate_instances(ids, 3);
	return n;
}

static size_t add_fleets(struct ec2_call **v, const struct kvs *tags)
{
	const struct ec2_fleet_choice choices[] = {
	    {types[0], subnets[0], 0.05, 0}, {types[0], subnets[1], 10, 1}, {types[1], subnets[0], 0, 2}};
	struct ec2_fleet bare = {.template_id = "lt-0123456789abcdef0", .template_version = 1, .choices = choices, .n_choices = 1,
				 .total = 1, .capacity = "on-demand", .client_token = "fleet-1"};
	struct ec2_fleet spot = {.template_id = "lt-0123456789abcdef0", .template_version = 3, .choices = choices, .n_choices = 3,
				 .total = 500, .min_total = 500, .single_type = true, .single_zone = true, .capacity = "spot",
				 .allocation_strategy = "capacity-optimized-prioritized", .client_token = "fleet-2", .tags = tags};
	struct ec2_fleet demand = spot, replaced = spot;
	struct kvs overrides = {0};
	size_t n = 0;

	demand.capacity = "on-demand";
	demand.allocation_strategy = "prioritized";
	demand.reservations_first = true;
	fill_overrides(&overrides, "CreateFleet", fleet_overrides);
	replaced.overrides = &overrides;
	v[n++] = ec2_create_fleet(&bare);
	v[n++] = ec2_create_fleet(&spot);
	v[n++] = ec2_create_fleet(&demand);
	v[n++] = ec2_create_fleet(&replaced);
	v[n] = v[n - 1] ? ec2_launch_again(v[n - 1]->body) : NULL;
	n++;
	kvs_clear(&overrides);
	return n;
}

static size_t add_reads(struct ec2_call **v)
{
	size_t n = 0;

	v[n++] = ec2_describe_cluster(uuid);
	v[n++] = ec2_describe_by("tag:" TAG_LAUNCH, ids, 2);
	v[n++] = ec2_describe_by("client-token", ids, 1);
	v[n++] = ec2_describe_ids(ids, 3);
	v[n++] = ec2_describe_unwell();
	v[n++] = ec2_console_output(ids[0]);
	v[n++] = ec2_describe_instance_types(types, 2);
	v[n++] = ec2_describe_images(images, 1);
	v[n++] = ec2_describe_images_tagged();
	v[n++] = ec2_describe_subnets(subnets, 2);
	v[n++] = ec2_describe_groups(groups, 1);
	v[n++] = ec2_describe_default_group("vpc-0123456789abcdef0");
	v[n++] = ec2_describe_templates(uuid);
	v[n++] = ec2_describe_placement_groups(uuid);
	v[n++] = ec2_describe_placement_group("a/b");
	v[n++] = ec2_describe_placement_group("pg-0123456789abcdef0");
	v[n++] = ec2_describe_reservations(NULL, 0);
	v[n++] = ec2_describe_reservations(ids, 2);
	return n;
}

static size_t add_templates(struct ec2_call **v, const struct kvs *tags)
{
	static char sg0[] = "sg-0123456789abcdef0", sg1[] = "sg-0123456789abcdef1";
	static char *group_list[] = {sg0, sg1};
	const struct strs two_groups = {group_list, 2, 2};
	const struct ec2_interface nics[] = {{0, 0, "efa", -1}, {1, 1, NULL, 0}, {0, 2, "interface", 1}};
	struct ec2_template bare = {.name = "c/q/r", .client_token = "t1"};
	struct ec2_template plain = {.name = "c/q/r", .client_token = "t2", .image_id = images[0], .instance_type = "t2.micro",
				     .subnet_id = subnets[0], .groups = &two_groups, .imds_v2_only = true, .root_device = "/dev/xvda",
				     .tags = tags, .own_tags = tags, .user_data = "#!/bin/sh\n", .instance_profile = "profile-1"};
	struct ec2_template full = plain;
	size_t n = 0;

	full.interfaces = nics;
	full.n_interfaces = 3;
	full.placement_group = "c/q";
	full.instance_profile = "arn:aws:iam::123456789012:instance-profile/x";
	full.root_size_gib = 40;
	full.root_iops = 3000;
	full.root_throughput = 125;
	full.root_type = "gp3";
	full.root_encrypted = full.detailed_monitoring = full.ebs_optimized = true;
	full.imds_tags = true;
	full.instance_tags = tags;
	full.market = "spot";
	full.spot_price = 0.05;
	full.capacity_reservation_id = "cr-0123456789abcdef0";
	full.capacity_reservation_group = "arn:aws:resource-groups:us-east-1:123456789012:group/g";
	full.cores = 18;
	full.threads_per_core = 1;
	v[n++] = ec2_create_template(&bare);
	v[n++] = ec2_create_template(&plain);
	v[n++] = ec2_create_template(&full);
	v[n++] = ec2_create_template_version("lt-0123456789abcdef0", &full);
	v[n++] = ec2_delete_template("lt-0123456789abcdef0");
	return n;
}

size_t sample_calls(struct ec2_call *v[SAMPLE_CALLS_MAX])
{
	struct kvs tags = {0};
	size_t n = 0;

	fill_tags(&tags);
	n += add_launches(v + n, &tags);
	n += add_fleets(v + n, &tags);
	n += add_reads(v + n);
	n += add_templates(v + n, &tags);
	v[n++] = ec2_create_placement_group("c/q", &tags);
	v[n++] = ec2_delete_placement_group("c/q");
	v[n++] = ec2_create_tags(ids, 2, &tags);
	kvs_clear(&tags);
	return n;
}
