/* SPDX-License-Identifier: GPL-2.0-or-later */
/* schema_known.c - sections of cluster.yaml about the head node, storage, login nodes and the like: known by name and type, so
 * that a slip in them is found, though little in them is acted on. The head node exists before slurm-ec2 comes to it.
 * Tables only.
 */
#include "lib/cluster/schema.h"

#include "lib/cluster/cluster.h"
#include "lib/cluster/rule.h"

#define CL(field) .offset = offsetof(struct cluster, field)

#define VOLUME_TYPES "standard|io1|io2|gp2|st1|sc1|gp3"
#define DELETE_RETAIN "Delete|Retain"

/* Shared small sections */
static const struct key proxy_keys[] = {
	{.name = "HttpProxyAddress", .kind = KEY_TEXT},
};
const struct section schema_proxy = SECTION(proxy_keys);

static const struct key script_keys[] = {
	{"Script", KEY_TEXT, .flags = KEY_REQUIRED},
	{"Args", KEY_LIST, .flags = KEY_EMPTY_OK},
};
static const struct section script_section = SECTION(script_keys);

static const struct key action_keys[] = {
	{.name = "Script", .kind = KEY_TEXT},
	{"Args", KEY_LIST, .flags = KEY_EMPTY_OK},
	{"Sequence", KEY_MAPS, .section = &script_section},
};
static const struct section action_section = SECTION(action_keys);

static const struct key custom_actions_keys[] = {
	{"OnNodeStart", KEY_MAP, .section = &action_section},
	{"OnNodeConfigured", KEY_MAP, .section = &action_section},
};
const struct section schema_custom_actions = SECTION(custom_actions_keys);

static const struct key head_actions_keys[] = {
	{"OnNodeStart", KEY_MAP, .section = &action_section},
	{"OnNodeConfigured", KEY_MAP, .section = &action_section},
	{"OnNodeUpdated", KEY_MAP, .section = &action_section},
};
static const struct section head_actions_section = SECTION(head_actions_keys);

static const struct key enabled_keys[] = {
	{.name = "Enabled", .kind = KEY_BOOL},
};
static const struct section enabled_section = SECTION(enabled_keys);

static const struct key health_checks_keys[] = {
	{"Gpu", KEY_MAP, .section = &enabled_section},
};
const struct section schema_health_checks = SECTION(health_checks_keys);

static const struct key policy_keys[] = {
	{"Policy", KEY_TEXT, .flags = KEY_REQUIRED},
};
const struct section schema_policies = SECTION(policy_keys);

static const struct key s3_access_keys[] = {
	{"BucketName", KEY_TEXT, .flags = KEY_REQUIRED},
	{.name = "KeyName", .kind = KEY_TEXT},
	{.name = "EnableWriteAccess", .kind = KEY_BOOL},
};
const struct section schema_s3_access = SECTION(s3_access_keys);

static const struct key image_keys[] = {
	{"CustomAmi", KEY_TEXT, .rule = &rule_image},
};
static const struct section image_section = SECTION(image_keys);

static const struct key ssh_keys[] = {
	{.name = "KeyName", .kind = KEY_TEXT},
	{.name = "AllowedIps", .kind = KEY_TEXT},
};
static const struct section ssh_section = SECTION(ssh_keys);

static const struct key dcv_keys[] = {
	{.name = "Enabled", .kind = KEY_BOOL},
	{"Port", KEY_INT, .min = 1, .max = 65535},
	{.name = "AllowedIps", .kind = KEY_TEXT},
};
static const struct section dcv_section = SECTION(dcv_keys);

/* HeadNode: InstanceType and SubnetId are kept, the rest is for whoever made the head node. */
static const struct key head_networking_keys[] = {
	{"SubnetId", KEY_TEXT, STORE_TEXT, KEY_REQUIRED, CL(head_subnet_id), .rule = &rule_subnet},
	{"ElasticIp", KEY_TEXT, .flags = KEY_LATER},
	{"SecurityGroups", KEY_LIST, .flags = KEY_LATER, .rule = &rule_group},
	{"AdditionalSecurityGroups", KEY_LIST, .flags = KEY_LATER, .rule = &rule_group},
	{"Proxy", KEY_MAP, .flags = KEY_LATER, .section = &schema_proxy},
};
static const struct section head_networking_section = SECTION(head_networking_keys);

static const struct key head_volume_keys[] = {
	{"Size", KEY_INT, .min = 1, .max = 65536},
	{"VolumeType", KEY_TEXT, .choices = VOLUME_TYPES},
	{.name = "Iops", .kind = KEY_INT},
	{.name = "Throughput", .kind = KEY_INT},
	{.name = "Encrypted", .kind = KEY_BOOL},
	{.name = "DeleteOnTermination", .kind = KEY_BOOL},
};
static const struct section head_volume_section = SECTION(head_volume_keys);

static const struct key head_ephemeral_keys[] = {
	{.name = "MountDir", .kind = KEY_TEXT},
};
static const struct section head_ephemeral_section = SECTION(head_ephemeral_keys);

static const struct key head_storage_keys[] = {
	{"RootVolume", KEY_MAP, .section = &head_volume_section},
	{"EphemeralVolume", KEY_MAP, .section = &head_ephemeral_section},
};
static const struct section head_storage_section = SECTION(head_storage_keys);

static const struct key head_iam_keys[] = {
	{"InstanceRole", KEY_TEXT, .rule = &rule_role},
	{"InstanceProfile", KEY_TEXT, .rule = &rule_profile},
	{"AdditionalIamPolicies", KEY_MAPS, .section = &schema_policies},
	{"S3Access", KEY_MAPS, .section = &schema_s3_access},
};
static const struct section head_iam_section = SECTION(head_iam_keys);

static const struct key head_imds_keys[] = {
	{.name = "Secured", .kind = KEY_BOOL},
};
static const struct section head_imds_section = SECTION(head_imds_keys);

static const struct key head_keys[] = {
	{"InstanceType", KEY_TEXT, STORE_TEXT, KEY_REQUIRED, CL(head_instance_type), .rule = &rule_itype},
	{"DisableSimultaneousMultithreading", KEY_BOOL, .flags = KEY_LATER},
	{"Networking", KEY_MAP, .flags = KEY_REQUIRED, .section = &head_networking_section},
	{"Ssh", KEY_MAP, .flags = KEY_LATER, .section = &ssh_section},
	{"LocalStorage", KEY_MAP, .flags = KEY_LATER, .section = &head_storage_section},
	{"SharedStorageType", KEY_TEXT, .flags = KEY_LATER, .choices = "Ebs|Efs"},
	{"Dcv", KEY_MAP, .flags = KEY_LATER, .section = &dcv_section},
	{"CustomActions", KEY_MAP, .flags = KEY_LATER, .section = &head_actions_section},
	{"Iam", KEY_MAP, .flags = KEY_LATER, .section = &head_iam_section},
	{"Imds", KEY_MAP, .flags = KEY_LATER, .section = &head_imds_section},
	{"Image", KEY_MAP, .flags = KEY_LATER, .section = &image_section},
};
const struct section schema_head_node = SECTION(head_keys);

/* LoginNodes */
static const struct key pool_networking_keys[] = {
	{"SubnetIds", KEY_LIST, .flags = KEY_REQUIRED, .min = 1, .max = 1, .rule = &rule_subnet},
	{"SecurityGroups", KEY_LIST, .rule = &rule_group},
	{"AdditionalSecurityGroups", KEY_LIST, .rule = &rule_group},
	{"Proxy", KEY_MAP, .section = &schema_proxy},
};
static const struct section pool_networking_section = SECTION(pool_networking_keys);

static const struct key pool_iam_keys[] = {
	{"InstanceRole", KEY_TEXT, .rule = &rule_role},
	{"InstanceProfile", KEY_TEXT, .rule = &rule_profile},
	{"AdditionalIamPolicies", KEY_MAPS, .section = &schema_policies},
};
static const struct section pool_iam_section = SECTION(pool_iam_keys);

static const struct key pool_keys[] = {
	{"Name", KEY_TEXT, .flags = KEY_REQUIRED, .rule = &rule_name},
	{"InstanceType", KEY_TEXT, .flags = KEY_REQUIRED, .rule = &rule_itype},
	{"Count", KEY_INT, .flags = KEY_REQUIRED},
	{"GracetimePeriod", KEY_INT, .min = 3, .max = 120},
	{"Networking", KEY_MAP, .flags = KEY_REQUIRED, .section = &pool_networking_section},
	{"Ssh", KEY_MAP, .section = &ssh_section},
	{"Image", KEY_MAP, .section = &image_section},
	{"Iam", KEY_MAP, .section = &pool_iam_section},
	{"Dcv", KEY_MAP, .section = &dcv_section},
	{"CustomActions", KEY_MAP, .section = &head_actions_section},
};
static const struct section pool_section = SECTION(pool_keys);

static const struct key login_keys[] = {
	{"Pools", KEY_MAPS, .flags = KEY_REQUIRED | KEY_UNIQUE, .section = &pool_section},
};
const struct section schema_login_nodes = SECTION(login_keys);

/* SharedStorage[] */
static const struct key raid_keys[] = {
	{"Type", KEY_INT, .flags = KEY_REQUIRED, .min = 0, .max = 1},
	{"NumberOfVolumes", KEY_INT, .min = 2, .max = 5},
};
static const struct section raid_section = SECTION(raid_keys);

static const struct key ebs_keys[] = {
	{"VolumeType", KEY_TEXT, .choices = VOLUME_TYPES},
	{"Size", KEY_INT, .min = 1, .max = 65536},
	{.name = "Iops", .kind = KEY_INT},
	{.name = "Throughput", .kind = KEY_INT},
	{.name = "Encrypted", .kind = KEY_BOOL},
	{.name = "KmsKeyId", .kind = KEY_TEXT},
	{.name = "SnapshotId", .kind = KEY_TEXT},
	{.name = "VolumeId", .kind = KEY_TEXT},
	{"Raid", KEY_MAP, .section = &raid_section},
	{"DeletionPolicy", KEY_TEXT, .choices = "Delete|Retain|Snapshot"},
};
static const struct section ebs_section = SECTION(ebs_keys);

static const struct key efs_keys[] = {
	{.name = "Encrypted", .kind = KEY_BOOL},
	{.name = "KmsKeyId", .kind = KEY_TEXT},
	{"PerformanceMode", KEY_TEXT, .choices = "generalPurpose|maxIO"},
	{"ThroughputMode", KEY_TEXT, .choices = "bursting|provisioned|elastic"},
	{"ProvisionedThroughput", KEY_INT, .min = 1, .max = 1024},
	{.name = "FileSystemId", .kind = KEY_TEXT},
	{.name = "AccessPointId", .kind = KEY_TEXT},
	{.name = "EncryptionInTransit", .kind = KEY_BOOL},
	{.name = "IamAuthorization", .kind = KEY_BOOL},
	{"DeletionPolicy", KEY_TEXT, .choices = DELETE_RETAIN},
};
static const struct section efs_section = SECTION(efs_keys);

static const struct key association_keys[] = {
	{"Name", KEY_TEXT, .flags = KEY_REQUIRED},
	{"DataRepositoryPath", KEY_TEXT, .flags = KEY_REQUIRED},
	{"FileSystemPath", KEY_TEXT, .flags = KEY_REQUIRED},
	{.name = "BatchImportMetaDataOnCreate", .kind = KEY_BOOL},
	{"ImportedFileChunkSize", KEY_INT, .min = 1, .max = 512000},
	{"AutoExportPolicy", KEY_LIST, .max = 3},
	{"AutoImportPolicy", KEY_LIST, .max = 3},
};
static const struct section association_section = SECTION(association_keys);

static const struct key lustre_keys[] = {
	{.name = "FileSystemId", .kind = KEY_TEXT},
	{"StorageCapacity", KEY_INT, .min = 1},
	{"DeploymentType", KEY_TEXT, .choices = "SCRATCH_1|SCRATCH_2|PERSISTENT_1|PERSISTENT_2"},
	{"PerUnitStorageThroughput", KEY_INT, .min = 1},
	{"StorageType", KEY_TEXT, .choices = "HDD|SSD"},
	{"DriveCacheType", KEY_TEXT, .choices = "READ"},
	{.name = "ImportPath", .kind = KEY_TEXT},
	{.name = "ExportPath", .kind = KEY_TEXT},
	{"ImportedFileChunkSize", KEY_INT, .min = 1, .max = 512000},
	{"AutoImportPolicy", KEY_TEXT, .choices = "NEW|NEW_CHANGED|NEW_CHANGED_DELETED"},
	{"DataRepositoryAssociations", KEY_MAPS, .flags = KEY_UNIQUE, .max = 8, .section = &association_section},
	{.name = "BackupId", .kind = KEY_TEXT},
	{"AutomaticBackupRetentionDays", KEY_INT, .min = 0, .max = 35},
	{.name = "DailyAutomaticBackupStartTime", .kind = KEY_TEXT},
	{.name = "WeeklyMaintenanceStartTime", .kind = KEY_TEXT},
	{.name = "CopyTagsToBackups", .kind = KEY_BOOL},
	{.name = "KmsKeyId", .kind = KEY_TEXT},
	{"DataCompressionType", KEY_TEXT, .choices = "LZ4"},
	{"DeletionPolicy", KEY_TEXT, .choices = DELETE_RETAIN},
};
static const struct section lustre_section = SECTION(lustre_keys);

static const struct key volume_id_keys[] = {
	{"VolumeId", KEY_TEXT, .flags = KEY_REQUIRED},
};
static const struct section volume_id_section = SECTION(volume_id_keys);

static const struct key cache_keys[] = {
	{"FileCacheId", KEY_TEXT, .flags = KEY_REQUIRED},
};
static const struct section cache_section = SECTION(cache_keys);

static const struct key storage_keys[] = {
	{"Name", KEY_TEXT, .flags = KEY_REQUIRED},
	{"MountDir", KEY_TEXT, .flags = KEY_REQUIRED},
	{"StorageType", KEY_TEXT, .flags = KEY_REQUIRED, .choices = "Ebs|Efs|FsxLustre|FsxOpenZfs|FsxOntap|FileCache"},
	{"EbsSettings", KEY_MAP, .section = &ebs_section},
	{"EfsSettings", KEY_MAP, .section = &efs_section},
	{"FsxLustreSettings", KEY_MAP, .section = &lustre_section},
	{"FsxOpenZfsSettings", KEY_MAP, .section = &volume_id_section},
	{"FsxOntapSettings", KEY_MAP, .section = &volume_id_section},
	{"FileCacheSettings", KEY_MAP, .section = &cache_section},
};
const struct section schema_shared_storage = SECTION(storage_keys);

/* Monitoring */
static const struct key cloudwatch_logs_keys[] = {
	{.name = "Enabled", .kind = KEY_BOOL},
	{"RetentionInDays", KEY_TEXT, .choices = "0|1|3|5|7|14|30|60|90|120|150|180|365|400|545|731|1827|3653"},
	{"DeletionPolicy", KEY_TEXT, .choices = DELETE_RETAIN},
};
static const struct section cloudwatch_logs_section = SECTION(cloudwatch_logs_keys);

static const struct key logs_keys[] = {
	{"CloudWatch", KEY_MAP, .section = &cloudwatch_logs_section},
	{"Rotation", KEY_MAP, .section = &enabled_section},
};
static const struct section logs_section = SECTION(logs_keys);

static const struct key dashboards_keys[] = {
	{"CloudWatch", KEY_MAP, .section = &enabled_section},
};
static const struct section dashboards_section = SECTION(dashboards_keys);

static const struct key monitoring_keys[] = {
	{"DetailedMonitoring", KEY_BOOL, STORE_BOOL, CL(detailed_monitoring)},
	{"Logs", KEY_MAP, .flags = KEY_LATER, .section = &logs_section},
	{"Dashboards", KEY_MAP, .flags = KEY_LATER, .section = &dashboards_section},
	{"Alarms", KEY_MAP, .flags = KEY_LATER, .section = &enabled_section},
};
const struct section schema_monitoring = SECTION(monitoring_keys);

/* The rest */
static const struct key intel_keys[] = {
	{.name = "IntelHpcPlatform", .kind = KEY_BOOL},
};
static const struct section intel_section = SECTION(intel_keys);

static const struct key packages_keys[] = {
	{"IntelSoftware", KEY_MAP, .section = &intel_section},
};
const struct section schema_packages = SECTION(packages_keys);

static const struct key roles_keys[] = {
	{.name = "LambdaFunctionsRole", .kind = KEY_TEXT},
};
static const struct section roles_section = SECTION(roles_keys);

static const struct key iam_keys[] = {
	{"Roles", KEY_MAP, .section = &roles_section},
	{.name = "PermissionsBoundary", .kind = KEY_TEXT},
	{.name = "ResourcePrefix", .kind = KEY_TEXT},
};
const struct section schema_iam = SECTION(iam_keys);

static const struct key directory_keys[] = {
	{"DomainName", KEY_TEXT, .flags = KEY_REQUIRED},
	{"DomainAddr", KEY_TEXT, .flags = KEY_REQUIRED},
	{"PasswordSecretArn", KEY_TEXT, .flags = KEY_REQUIRED},
	{"DomainReadOnlyUser", KEY_TEXT, .flags = KEY_REQUIRED},
	{.name = "LdapTlsCaCert", .kind = KEY_TEXT},
	{"LdapTlsReqCert", KEY_TEXT, .choices = "never|allow|try|demand|hard"},
	{.name = "LdapAccessFilter", .kind = KEY_TEXT},
	{.name = "GenerateSshKeysForUsers", .kind = KEY_BOOL},
	{.name = "AdditionalSssdConfigs", .kind = KEY_FREE},
};
const struct section schema_directory_service = SECTION(directory_keys);

static const struct key vpc_keys[] = {
	{"SecurityGroupIds", KEY_LIST, .flags = KEY_REQUIRED, .min = 1, .max = 5, .rule = &rule_group},
	{"SubnetIds", KEY_LIST, .flags = KEY_REQUIRED, .min = 1, .max = 16, .rule = &rule_subnet},
};
static const struct section vpc_section = SECTION(vpc_keys);

static const struct key deployment_keys[] = {
	{"LambdaFunctionsVpcConfig", KEY_MAP, .section = &vpc_section},
	{.name = "DisableSudoAccessForDefaultUser", .kind = KEY_BOOL},
	{"DefaultUserHome", KEY_TEXT, .choices = "Shared|Local"},
};
const struct section schema_deployment = SECTION(deployment_keys);

static const struct key filter_tag_keys[] = {
	{"Key", KEY_TEXT, .flags = KEY_REQUIRED},
	{"Value", KEY_TEXT, .flags = KEY_REQUIRED},
};
static const struct section filter_tag_section = SECTION(filter_tag_keys);

static const struct key ami_filter_keys[] = {
	{.name = "Owner", .kind = KEY_TEXT},
	{"Tags", KEY_MAPS, .section = &filter_tag_section},
};
static const struct section ami_filter_section = SECTION(ami_filter_keys);

static const struct key timeouts_keys[] = {
	{"HeadNodeBootstrapTimeout", KEY_INT, .flags = KEY_LATER, .min = 1},
	{"ComputeNodeBootstrapTimeout", KEY_INT, STORE_INT64, CL(resume_timeout_s), .min = 1, .max = 65533},
};
static const struct section timeouts_section = SECTION(timeouts_keys);

static const struct key cookbook_keys[] = {
	{.name = "ChefCookbook", .kind = KEY_TEXT},
	{.name = "ExtraChefAttributes", .kind = KEY_TEXT},
};
static const struct section cookbook_section = SECTION(cookbook_keys);

static const struct key dev_settings_keys[] = {
	{"ClusterTemplate", KEY_TEXT, .flags = KEY_LATER},
	{"AmiSearchFilters", KEY_MAP, .flags = KEY_LATER, .section = &ami_filter_section},
	{"InstanceTypesData", KEY_TEXT, .flags = KEY_LATER},
	{"Timeouts", KEY_MAP, .section = &timeouts_section},
	{"ComputeStartupTimeMetricEnabled", KEY_BOOL, .flags = KEY_LATER},
	{"Cookbook", KEY_MAP, .flags = KEY_LATER, .section = &cookbook_section},
	{"NodePackage", KEY_TEXT, .flags = KEY_LATER},
	{"AwsBatchCliPackage", KEY_TEXT, .flags = KEY_LATER},
};
const struct section schema_dev_settings = SECTION(dev_settings_keys);
