/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ec2_template.c - launch templates and tags: bodies and reader. Called by apply. */
#include "lib/aws/call.h"
#include "lib/aws/page.h"
#include "lib/aws/query.h"

#include <stddef.h>

#define DATA "LaunchTemplateData."
#define PAGE_SIZE 200 /* EC2's largest page of templates */

/* --- reading */
struct template_page {
	struct ec2_template_refs list;
	struct page_tag tag;
};

static void templates_clear(struct ec2_template_refs *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].id);
		free(l->v[i].name);
		free(l->v[i].cluster);
	}
	free(l->v);
	*l = (struct ec2_template_refs){0};
}

PAGE_CREATE(template, struct template_page)
PAGE_CURRENT(template, struct template_page)
PAGE_OPEN(template, struct template_page)
PAGE_MERGE(template, struct template_page)

static void template_destroy(void *page)
{
	struct template_page *p = page;

	if (!p)
		return;
	templates_clear(&p->list);
	page_tag_clear(&p->tag);
	free(p);
}

static int take_tag(void *item, const char *key, const char *value)
{
	struct ec2_template_ref *t = item;

	return strcmp(key, TAG_CLUSTER) ? 0 : page_replace(&t->cluster, value);
}

PAGE_TAG_CALLS(template, struct template_page, take_tag)

static const struct reply_rule template_rules[] = {
	REPLY_RULE_CALL("", template_open, NULL),
	REPLY_RULE_TEXT("launchTemplateId", struct ec2_template_ref, id),
	REPLY_RULE_TEXT("launchTemplateName", struct ec2_template_ref, name),
	REPLY_RULE_I64("latestVersionNumber", struct ec2_template_ref, version), /* of a template */
	REPLY_RULE_I64("versionNumber", struct ec2_template_ref, version),       /* of a version */
	PAGE_TAG_RULES(template),
};

static const struct reply_reader create_reader = PAGE_READER(template, "launchTemplate", template_rules);
static const struct reply_reader version_reader = PAGE_READER(template, "launchTemplateVersion", template_rules);
static const struct reply_reader describe_reader = PAGE_READER(template, "launchTemplates/item", template_rules);

const struct ec2_template_refs *ec2_template_reply(const struct ec2_call *c)
{
	return &((const struct template_page *)c->reply)->list;
}

/* --- the template's data, part by part */
static void add_positive(struct buf *b, int64_t value, const char *name)
{
	if (value > 0)
		query_i64(b, value, "%s", name);
}

static void add_interface(struct buf *b, const struct ec2_template *t, size_t index, const struct ec2_interface *nic)
{
	char *name = str_fmt(DATA "NetworkInterface.%zu", index + 1);

	if (!name) {
		b->failed = true;
		return;
	}
	query_i64(b, nic->card, "%s.NetworkCardIndex", name);
	query_i64(b, nic->device, "%s.DeviceIndex", name);
	query_str(b, nic->type, "%s.InterfaceType", name);
	if (nic->public_ip >= 0)
		query_bool(b, nic->public_ip > 0, "%s.AssociatePublicIpAddress", name);
	query_str(b, t->subnet_id, "%s.SubnetId", name);
	if (t->groups)
		query_list(b, (const char *const *)t->groups->v, t->groups->n, "%s.SecurityGroupId", name);
	query_bool(b, true, "%s.DeleteOnTermination", name);
	free(name);
}

/* With interfaces, EC2 wants groups and subnet there and not beside them. */
static void add_network(struct buf *b, const struct ec2_template *t)
{
	for (size_t i = 0; i < t->n_interfaces; i++)
		add_interface(b, t, i, &t->interfaces[i]);
	if (!t->n_interfaces && t->groups)
		query_list(b, (const char *const *)t->groups->v, t->groups->n, DATA "SecurityGroupId");
	if (t->placement_group && ec2_is_placement_id(t->placement_group))
		query_str(b, t->placement_group, DATA "Placement.GroupId");
	else
		query_str(b, t->placement_group, DATA "Placement.GroupName");
}

static void add_root_volume(struct buf *b, const struct ec2_template *t)
{
	static const char ebs[] = DATA "BlockDeviceMapping.1.Ebs";

	if (!t->root_device)
		return;
	query_str(b, t->root_device, DATA "BlockDeviceMapping.1.DeviceName");
	if (t->root_size_gib > 0)
		query_i64(b, t->root_size_gib, "%s.VolumeSize", ebs);
	query_str(b, t->root_type, "%s.VolumeType", ebs);
	if (t->root_iops > 0)
		query_i64(b, t->root_iops, "%s.Iops", ebs);
	if (t->root_throughput > 0)
		query_i64(b, t->root_throughput, "%s.Throughput", ebs);
	if (t->root_encrypted)
		query_bool(b, true, "%s.Encrypted", ebs);
	query_bool(b, true, "%s.DeleteOnTermination", ebs);
}

static void add_market(struct buf *b, const struct ec2_template *t)
{
	if (t->market) {
		query_str(b, t->market, DATA "InstanceMarketOptions.MarketType");
		if (!strcmp(t->market, "spot")) {
			if (t->spot_price > 0)
				query_price(b, t->spot_price, DATA "InstanceMarketOptions.SpotOptions.MaxPrice");
			query_str(b, "one-time", DATA "InstanceMarketOptions.SpotOptions.SpotInstanceType");
			query_str(b, "terminate", DATA "InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior");
		}
	}
	query_str(b, t->capacity_reservation_id,
		  DATA "CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId");
	query_str(b, t->capacity_reservation_group,
		  DATA "CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationResourceGroupArn");
}

static void add_machine(struct buf *b, const struct ec2_template *t)
{
	bool is_arn = t->instance_profile && str_prefix(t->instance_profile, "arn:");

	query_str(b, t->image_id, DATA "ImageId");
	query_str(b, t->instance_type, DATA "InstanceType");
	query_str(b, t->instance_profile, is_arn ? DATA "IamInstanceProfile.Arn" : DATA "IamInstanceProfile.Name");
	add_positive(b, t->cores, DATA "CpuOptions.CoreCount");
	add_positive(b, t->threads_per_core, DATA "CpuOptions.ThreadsPerCore");
	query_str(b, "enabled", DATA "MetadataOptions.HttpEndpoint");
	query_str(b, t->imds_v2_only ? "required" : "optional", DATA "MetadataOptions.HttpTokens");
	if (t->imds_tags)
		query_str(b, "enabled", DATA "MetadataOptions.InstanceMetadataTags");
	if (t->detailed_monitoring)
		query_bool(b, true, DATA "Monitoring.Enabled");
	if (t->ebs_optimized)
		query_bool(b, true, DATA "EbsOptimized");
	/* A node that cannot become a node shuts itself down: that must end the bill too. */
	query_str(b, "terminate", DATA "InstanceInitiatedShutdownBehavior");
}

static void add_tags(struct buf *b, const struct ec2_template *t)
{
	static const char list[] = DATA "TagSpecification.1.Tag";
	size_t n = t->tags ? t->tags->key.n : 0;

	query_tag_spec(b, t->tags, DATA, 1, "instance");
	for (size_t i = 0; n && t->instance_tags && i < t->instance_tags->key.n; i++) {
		query_str(b, t->instance_tags->key.v[i], "%s.%zu.Key", list, n + i + 1);
		query_str(b, t->instance_tags->val.v[i], "%s.%zu.Value", list, n + i + 1);
	}
	query_tag_spec(b, t->tags, DATA, 2, "volume");
}

static void add_data(struct buf *b, const struct ec2_template *t)
{
	add_machine(b, t);
	add_network(b, t);
	add_root_volume(b, t);
	add_market(b, t);
	add_tags(b, t);
	query_base64(b, t->user_data, DATA "UserData");
}

/* --- verbs */
struct ec2_call *ec2_create_template(const struct ec2_template *t)
{
	struct buf b = {0};

	query_start(&b, "CreateLaunchTemplate");
	query_str(&b, t->client_token, "ClientToken");
	query_str(&b, t->name, "LaunchTemplateName");
	add_data(&b, t);
	query_tag_spec(&b, t->own_tags, "", 1, "launch-template");
	return call_create("CreateLaunchTemplate", &b, &create_reader);
}

struct ec2_call *ec2_create_template_version(const char *template_id, const struct ec2_template *t)
{
	struct buf b = {0};

	query_start(&b, "CreateLaunchTemplateVersion");
	query_str(&b, t->client_token, "ClientToken");
	query_str(&b, template_id, "LaunchTemplateId");
	add_data(&b, t);
	return call_create("CreateLaunchTemplateVersion", &b, &version_reader);
}

struct ec2_call *ec2_describe_templates(const char *uuid)
{
	struct buf b = {0};

	query_start(&b, "DescribeLaunchTemplates");
	query_i64(&b, PAGE_SIZE, "MaxResults");
	query_filter(&b, 1, "tag:" TAG_CLUSTER, &uuid, 1);
	return call_create("DescribeLaunchTemplates", &b, &describe_reader);
}

struct ec2_call *ec2_delete_template(const char *id)
{
	struct buf b = {0};

	query_start(&b, "DeleteLaunchTemplate");
	query_str(&b, id, "LaunchTemplateId");
	return call_create("DeleteLaunchTemplate", &b, &reply_nothing);
}

struct ec2_call *ec2_create_tags(const char *const *ids, size_t n, const struct kvs *tags)
{
	struct buf b = {0};

	query_start(&b, "CreateTags");
	query_list(&b, ids, n, "ResourceId");
	query_tags(&b, tags, "Tag");
	return call_create("CreateTags", &b, &reply_nothing);
}
