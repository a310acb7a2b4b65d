/* SPDX-License-Identifier: GPL-2.0-or-later */
/* schema.c - the keys of cluster.yaml that slurm-ec2 acts on, down to the C field each one fills. Tables only; the keys that
 * are known by name but not acted on are in schema_known.c. Defaults are set by cluster.c when a struct is made.
 */
#include "lib/cluster/schema.h"

#include "lib/cluster/cluster.h"
#include "lib/cluster/custom.h"
#include "lib/cluster/rule.h"

#include <stdlib.h>

#define AT(type, field) (1 + offsetof(type, field))
#define CL(field) .offset = offsetof(struct cluster, field)
#define QU(field) .offset = offsetof(struct queue, field)
#define RE(field) .offset = offsetof(struct compute_resource, field)

enum {
	MAX_NODES = 65536, /* of one bracketed range in Slurm's host lists */
	MAX_VOLUME_GIB = 65536,
	MAX_IOPS = 256000,
	MAX_THROUGHPUT = 2000,
};
#define MAX_PRIORITY INT64_C(4294967295) /* Weight is 32 bits in Slurm */

/* Tags: each entry becomes a pair of the owner's list. */
struct tag {
	char *key, *val;
};

static void *tag_open(void *base)
{
	(void)base;
	return calloc(1, sizeof(struct tag));
}

static int tag_add(struct kvs *tags, struct tag *t)
{
	int rc = t->key && t->val ? kvs_add(tags, t->key, t->val) : 0; /* a half one has its problem already */

	free(t->key);
	free(t->val);
	free(t);
	return rc;
}

static int tag_close_cluster(void *base, void *t)
{
	return tag_add(&((struct cluster *)base)->tags, t);
}

static int tag_close_queue(void *base, void *t)
{
	return tag_add(&((struct queue *)base)->tags, t);
}

static int tag_close_resource(void *base, void *t)
{
	return tag_add(&((struct compute_resource *)base)->tags, t);
}

static const struct key tag_keys[] = {
	{"Key", KEY_TEXT, STORE_TEXT, KEY_REQUIRED, offsetof(struct tag, key), .rule = &rule_tag_key},
	{"Value", KEY_TEXT, STORE_TEXT, KEY_REQUIRED, offsetof(struct tag, val), .rule = &rule_tag_value},
};
static const struct section tag_section = SECTION(tag_keys);

#define TAGS(close_) \
	{"Tags", KEY_MAPS, .flags = KEY_UNIQUE, .section = &tag_section, .open = tag_open, .close = (close_)}

static const struct key placement_keys[] = {
	{"Enabled", KEY_BOOL, STORE_TRI, .offset = offsetof(struct placement_group, enabled)},
	{"Name", KEY_TEXT, STORE_TEXT, .offset = offsetof(struct placement_group, name),
	 .at = AT(struct placement_group, name_at), .rule = &rule_placement},
	{"Id", KEY_TEXT, STORE_TEXT, .offset = offsetof(struct placement_group, name),
	 .at = AT(struct placement_group, id_at), .rule = &rule_placement},
};
static const struct section placement_section = {placement_keys, sizeof(placement_keys) / sizeof(placement_keys[0]),
						 AT(struct placement_group, at)};

/* ComputeResources[] */
static const struct key instance_keys[] = {
	{"InstanceType", KEY_TEXT, STORE_STRS, KEY_REQUIRED, RE(instance_types), .rule = &rule_itype},
};
static const struct section instance_section = SECTION(instance_keys);

static const struct key efa_keys[] = {
	{"Enabled", KEY_BOOL, STORE_BOOL, RE(efa)},
	{"GdrSupport", KEY_BOOL, STORE_BOOL, RE(gdr), .at = AT(struct compute_resource, gdr_at)},
};
static const struct section efa_section = SECTION(efa_keys);

static const struct key resource_reservation_keys[] = {
	{"CapacityReservationId", KEY_TEXT, STORE_TEXT, RE(capacity_reservation_id), .rule = &rule_reservation},
	{"CapacityReservationResourceGroupArn", KEY_TEXT, STORE_TEXT, RE(capacity_reservation_group), .rule = &rule_one_line},
};
static const struct section resource_reservation_section = SECTION(resource_reservation_keys);

static const struct key resource_networking_keys[] = {
	{"PlacementGroup", KEY_MAP, RE(placement), .section = &placement_section},
};
static const struct section resource_networking_section = SECTION(resource_networking_keys);

static const struct key override_keys[] = {
	{.name = "LaunchTemplateId", .kind = KEY_TEXT},
	{.name = "Version", .kind = KEY_TEXT},
};
static const struct section override_section = SECTION(override_keys);

static const struct key resource_keys[] = {
	{"Name", KEY_TEXT, STORE_TEXT, KEY_REQUIRED, RE(name), AT(struct compute_resource, at), .rule = &rule_name},
	{"InstanceType", KEY_TEXT, STORE_STRS, RE(instance_types), .at = AT(struct compute_resource, type_at),
	 .rule = &rule_itype},
	{"Instances", KEY_MAPS, STORE_BOOL, KEY_UNIQUE, RE(flexible), AT(struct compute_resource, instances_at), .min = 1,
	 .section = &instance_section},
	{"MinCount", KEY_INT, STORE_INT, RE(min_count), .at = AT(struct compute_resource, min_count_at), .min = 0,
	 .max = MAX_NODES},
	{"MaxCount", KEY_INT, STORE_INT, RE(max_count), .at = AT(struct compute_resource, max_count_at), .min = 1,
	 .max = MAX_NODES},
	{"SpotPrice", KEY_FLOAT, STORE_DOUBLE, RE(spot_price), .at = AT(struct compute_resource, spot_price_at)},
	{"DisableSimultaneousMultithreading", KEY_BOOL, STORE_BOOL, RE(disable_smt)},
	{"SchedulableMemory", KEY_INT, STORE_INT64, RE(schedulable_memory_mib), .min = 1},
	{"Efa", KEY_MAP, .section = &efa_section},
	{"CapacityReservationTarget", KEY_MAP, .at = AT(struct compute_resource, reservation_at),
	 .section = &resource_reservation_section},
	{"Networking", KEY_MAP, .section = &resource_networking_section},
	{"HealthChecks", KEY_MAP, .flags = KEY_LATER, .section = &schema_health_checks},
	{"CustomSlurmSettings", KEY_FREE, STORE_KVS, RE(custom_slurm), .pair_problem = custom_resource_problem},
	TAGS(tag_close_resource),
	{"StaticNodePriority", KEY_INT, STORE_INT64, RE(static_priority), .min = 1, .max = MAX_PRIORITY},
	{"DynamicNodePriority", KEY_INT, STORE_INT64, RE(dynamic_priority), .min = 1, .max = MAX_PRIORITY},
	{"LaunchTemplateOverrides", KEY_MAP, .flags = KEY_LATER, .section = &override_section},
};
static const struct section resource_section = {resource_keys, sizeof(resource_keys) / sizeof(resource_keys[0]),
						AT(struct compute_resource, at)};

static void *resource_open(void *base)
{
	return queue_add_resource(base);
}

/* SlurmQueues[] */
static const struct key queue_networking_keys[] = {
	{"SubnetIds", KEY_LIST, STORE_STRS, KEY_REQUIRED | KEY_UNIQUE, QU(subnet_ids), AT(struct queue, subnets_at), .min = 1,
	 .rule = &rule_subnet},
	{"AssignPublicIp", KEY_BOOL, STORE_TRI, QU(assign_public_ip)},
	{"SecurityGroups", KEY_LIST, STORE_STRS, KEY_UNIQUE, QU(security_groups), AT(struct queue, groups_at), .min = 1,
	 .rule = &rule_group},
	{"AdditionalSecurityGroups", KEY_LIST, STORE_STRS, KEY_UNIQUE, QU(additional_security_groups),
	 AT(struct queue, more_groups_at), .min = 1, .rule = &rule_group},
	{"PlacementGroup", KEY_MAP, QU(placement), .section = &placement_section},
	{"Proxy", KEY_MAP, .flags = KEY_LATER, .section = &schema_proxy},
};
static const struct section queue_networking_section = SECTION(queue_networking_keys);

static const struct key queue_reservation_keys[] = {
	{"CapacityReservationId", KEY_TEXT, STORE_TEXT, QU(capacity_reservation_id), .rule = &rule_reservation},
	{"CapacityReservationResourceGroupArn", KEY_TEXT, STORE_TEXT, QU(capacity_reservation_group), .rule = &rule_one_line},
};
static const struct section queue_reservation_section = SECTION(queue_reservation_keys);

static const struct key root_volume_keys[] = {
	{"Size", KEY_INT, STORE_INT64, .offset = offsetof(struct root_volume, size_gib), .min = 1, .max = MAX_VOLUME_GIB},
	{"VolumeType", KEY_TEXT, STORE_TEXT, .offset = offsetof(struct root_volume, type),
	 .choices = "standard|io1|io2|gp2|st1|sc1|gp3"},
	{"Iops", KEY_INT, STORE_INT64, .offset = offsetof(struct root_volume, iops), .min = 100, .max = MAX_IOPS},
	{"Throughput", KEY_INT, STORE_INT64, .offset = offsetof(struct root_volume, throughput), .min = 125,
	 .max = MAX_THROUGHPUT},
	{"Encrypted", KEY_BOOL, STORE_BOOL, .offset = offsetof(struct root_volume, encrypted)},
};
static const struct section root_volume_section = SECTION(root_volume_keys);

static const struct key ephemeral_keys[] = {
	{.name = "MountDir", .kind = KEY_TEXT},
};
static const struct section ephemeral_section = SECTION(ephemeral_keys);

static const struct key local_storage_keys[] = {
	{"RootVolume", KEY_MAP, QU(root_volume), .section = &root_volume_section},
	{"EphemeralVolume", KEY_MAP, .flags = KEY_LATER, .section = &ephemeral_section},
};
static const struct section local_storage_section = SECTION(local_storage_keys);

static const struct key compute_settings_keys[] = {
	{"LocalStorage", KEY_MAP, .section = &local_storage_section},
};
static const struct section compute_settings_section = SECTION(compute_settings_keys);

static const struct key queue_iam_keys[] = {
	{"InstanceRole", KEY_TEXT, STORE_TEXT, KEY_LATER, QU(instance_role), .at = AT(struct queue, role_at),
	 .rule = &rule_role, .note = "give InstanceProfile, which holds the role"},
	{"InstanceProfile", KEY_TEXT, STORE_TEXT, .offset = offsetof(struct queue, instance_profile),
	 .at = AT(struct queue, profile_at), .rule = &rule_profile},
	{"AdditionalIamPolicies", KEY_MAPS, .flags = KEY_LATER, .section = &schema_policies},
	{"S3Access", KEY_MAPS, .flags = KEY_LATER, .section = &schema_s3_access},
};
static const struct section queue_iam_section = SECTION(queue_iam_keys);

static const struct key queue_image_keys[] = {
	{"CustomAmi", KEY_TEXT, STORE_TEXT, QU(custom_ami), .rule = &rule_image},
};
static const struct section queue_image_section = SECTION(queue_image_keys);

static const struct key queue_keys[] = {
	{"Name", KEY_TEXT, STORE_TEXT, KEY_REQUIRED, QU(name), AT(struct queue, at), .rule = &rule_name},
	{"CapacityType", KEY_TEXT, STORE_CHOICE, QU(capacity), .at = AT(struct queue, capacity_at),
	 .choices = "ONDEMAND|SPOT|CAPACITY_BLOCK"},
	{"AllocationStrategy", KEY_TEXT, STORE_TEXT, QU(allocation_strategy), .at = AT(struct queue, allocation_at),
	 .choices = "lowest-price|capacity-optimized|price-capacity-optimized|prioritized|capacity-optimized-prioritized"},
	{"JobExclusiveAllocation", KEY_BOOL, STORE_BOOL, QU(job_exclusive)},
	{"CustomSlurmSettings", KEY_FREE, STORE_KVS, QU(custom_slurm), .pair_problem = custom_queue_problem},
	TAGS(tag_close_queue),
	{"HealthChecks", KEY_MAP, .flags = KEY_LATER, .section = &schema_health_checks},
	{"CapacityReservationTarget", KEY_MAP, .at = AT(struct queue, reservation_at), .section = &queue_reservation_section},
	{"CustomActions", KEY_MAP, .flags = KEY_LATER, .section = &schema_custom_actions},
	{"ComputeSettings", KEY_MAP, .section = &compute_settings_section},
	{"Iam", KEY_MAP, .section = &queue_iam_section},
	{"Image", KEY_MAP, .section = &queue_image_section},
	{"Networking", KEY_MAP, .flags = KEY_REQUIRED, .section = &queue_networking_section},
	{"ComputeResources", KEY_MAPS, .flags = KEY_REQUIRED | KEY_UNIQUE, .min = 1, .section = &resource_section,
	 .open = resource_open},
};
static const struct section queue_section = {queue_keys, sizeof(queue_keys) / sizeof(queue_keys[0]), AT(struct queue, at)};

static void *queue_open(void *base)
{
	return cluster_add_queue(base);
}

/* Scheduling */
static const struct key dns_keys[] = {
	{.name = "DisableManagedDns", .kind = KEY_BOOL},
	{.name = "HostedZoneId", .kind = KEY_TEXT},
	{.name = "UseEc2Hostnames", .kind = KEY_BOOL},
};
static const struct section dns_section = SECTION(dns_keys);

static const struct key database_keys[] = {
	{"Uri", KEY_TEXT, .flags = KEY_REQUIRED},
	{"UserName", KEY_TEXT, .flags = KEY_REQUIRED},
	{"PasswordSecretArn", KEY_TEXT, .flags = KEY_REQUIRED},
	{.name = "DatabaseName", .kind = KEY_TEXT},
};
static const struct section database_section = SECTION(database_keys);

static const struct key slurmdbd_keys[] = {
	{"Host", KEY_TEXT, .flags = KEY_REQUIRED},
	{"Port", KEY_INT, .min = 1, .max = 65535},
};
static const struct section slurmdbd_section = SECTION(slurmdbd_keys);

static void *custom_open(void *base)
{
	return cluster_add_custom_slurm(base);
}

static const struct key slurm_settings_keys[] = {
	{"ScaledownIdletime", KEY_INT, STORE_INT64, CL(scaledown_idletime_min), .min = -1, .max = 1000000},
	{"QueueUpdateStrategy", KEY_TEXT, .flags = KEY_LATER, .choices = "DRAIN|COMPUTE_FLEET_STOP|TERMINATE"},
	{"EnableMemoryBasedScheduling", KEY_BOOL, STORE_BOOL, CL(memory_scheduling)},
	{"Dns", KEY_MAP, .flags = KEY_LATER, .section = &dns_section},
	{"Database", KEY_MAP, .flags = KEY_LATER, .section = &database_section},
	{"ExternalSlurmdbd", KEY_MAP, .flags = KEY_LATER, .section = &slurmdbd_section},
	{"MungeKeySecretArn", KEY_TEXT, .flags = KEY_LATER},
	{"CustomSlurmSettings", KEY_FREES, .open = custom_open, .pair_problem = custom_cluster_problem},
	{"CustomSlurmSettingsIncludeFile", KEY_TEXT, .flags = KEY_LATER},
};
static const struct section slurm_settings_section = SECTION(slurm_settings_keys);

#define NO_BATCH "it is for AWS Batch, slurm-ec2 runs Slurm queues (SlurmQueues)"

static const struct key scheduling_keys[] = {
	{"Scheduler", KEY_TEXT, .flags = KEY_REQUIRED, .rule = &rule_scheduler},
	{"ScalingStrategy", KEY_TEXT, STORE_CHOICE, CL(scaling), .choices = "all-or-nothing|greedy-all-or-nothing|best-effort"},
	{"SlurmSettings", KEY_MAP, .section = &slurm_settings_section},
	{"SlurmQueues", KEY_MAPS, .flags = KEY_REQUIRED | KEY_UNIQUE, .min = 1, .section = &queue_section, .open = queue_open},
	{"AwsBatchQueues", KEY_ANY, .flags = KEY_REFUSED, .note = NO_BATCH},
	{"AwsBatchSettings", KEY_ANY, .flags = KEY_REFUSED, .note = NO_BATCH},
};
static const struct section scheduling_section = SECTION(scheduling_keys);

static const struct key image_keys[] = {
	{"Os", KEY_TEXT, STORE_TEXT, KEY_REQUIRED, CL(os),
	 .choices = "alinux2|alinux2023|ubuntu2004|ubuntu2204|ubuntu2404|rhel8|rocky8|rhel9|rocky9|debian12"},
	{"CustomAmi", KEY_TEXT, STORE_TEXT, CL(custom_ami), .rule = &rule_image},
};
static const struct section image_section = SECTION(image_keys);

static const struct key imds_keys[] = {
	{"ImdsSupport", KEY_TEXT, STORE_BOOL, CL(imds_v2_only), .choices = "v1.0|v2.0"},
};
static const struct section imds_section = SECTION(imds_keys);

static const struct key cluster_keys[] = {
	{"Region", KEY_TEXT, STORE_TEXT, CL(region), .rule = &rule_region},
	{"Image", KEY_MAP, .flags = KEY_REQUIRED, .section = &image_section},
	{"HeadNode", KEY_MAP, .section = &schema_head_node},
	{"LoginNodes", KEY_MAP, .flags = KEY_LATER, .section = &schema_login_nodes},
	{"Scheduling", KEY_MAP, .flags = KEY_REQUIRED, .section = &scheduling_section},
	{"SharedStorage", KEY_MAPS, .flags = KEY_LATER | KEY_UNIQUE, .section = &schema_shared_storage},
	{"Monitoring", KEY_MAP, .section = &schema_monitoring},
	{"AdditionalPackages", KEY_MAP, .flags = KEY_LATER, .section = &schema_packages},
	TAGS(tag_close_cluster),
	{"Iam", KEY_MAP, .flags = KEY_LATER, .section = &schema_iam},
	{"DirectoryService", KEY_MAP, .flags = KEY_LATER, .section = &schema_directory_service},
	{"Imds", KEY_MAP, .section = &imds_section},
	{"CustomS3Bucket", KEY_TEXT, .flags = KEY_LATER},
	{"AdditionalResources", KEY_TEXT, .flags = KEY_LATER},
	{"DevSettings", KEY_MAP, .section = &schema_dev_settings},
	{"DeploymentSettings", KEY_MAP, .flags = KEY_LATER, .section = &schema_deployment},
};
const struct section schema_cluster = SECTION(cluster_keys);
