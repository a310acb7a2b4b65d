/* SPDX-License-Identifier: GPL-2.0-or-later */
/* network_describe.c - DescribeSubnets, DescribeSecurityGroups, DescribeVpcs, DescribeAvailabilityZones, DescribeRegions. */
#include "ec2local/cloud.h"
#include "ec2local/network.h"
#include "ec2local/page.h"
#include "ec2local/xml.h"

#include <stdlib.h>
#include <string.h>

static const char *const paged[] = {"MaxResults", "NextToken", "Filter.N.Name", "Filter.N.Value.N", "SubnetId.N", NULL};
static const char *const group_params[] = {"MaxResults",  "NextToken", "Filter.N.Name", "Filter.N.Value.N", "GroupId.N",
					   "GroupName.N", NULL};
static const char *const vpc_params[] = {"MaxResults", "NextToken", "Filter.N.Name", "Filter.N.Value.N", "VpcId.N", NULL};
static const char *const zone_params[] = {"ZoneName.N", "AllAvailabilityZones", NULL};
static const char *const region_params[] = {"AllRegions", NULL};

/* Is this one asked for by id? A call without ids asks for all. */
static bool wanted(const struct strs *ids, const char *id)
{
	return !ids->n || strs_has(ids, id);
}

static bool subnet_matches(const struct filters *f, const struct subnet *s, const char *vpc)
{
	for (size_t i = 0; i < f->n; i++) {
		bool decided, yes = filter_tags(&f->v[i], &s->tags, &decided);
		const char *name = f->v[i].name;

		if (!decided)
			yes = filter_has(&f->v[i], str_eq(name, "subnet-id") ? s->id
						   : str_eq(name, "vpc-id")  ? vpc
						   : str_eq(name, "state")   ? "available"
									     : s->zone);
		if (!yes)
			return false;
	}
	return true;
}

static void subnet_item(struct buf *b, const struct subnet *s, const struct cloud *cloud)
{
	xml_open(b, "item");
	xml_text(b, "subnetId", s->id);
	xml_text(b, "state", "available");
	xml_text(b, "vpcId", cloud->network.vpc_id);
	xml_text(b, "ownerId", CLOUD_ACCOUNT);
	xml_text(b, "cidrBlock", s->cidr);
	xml_int(b, "availableIpAddressCount", s->pool->n_free);
	xml_text(b, "availabilityZone", s->zone);
	xml_bool(b, "defaultForAz", false);
	xml_bool(b, "mapPublicIpOnLaunch", false);
	xml_bool(b, "assignIpv6AddressOnCreation", false);
	xml_tags(b, &s->tags);
	xml_close(b, "item");
}

static int check_subnets(struct call *c, const struct strs *ids)
{
	for (size_t i = 0; i < ids->n; i++) {
		if (!network_subnet(&c->cloud->network, ids->v[i]))
			return call_fail(c, 400, "InvalidSubnetID.NotFound", "The subnet ID '%.100s' does not exist",
					 ids->v[i]);
	}
	return 0;
}

static int describe_subnets(struct call *c)
{
	static const char *const known[] = {"subnet-id", "vpc-id", "availability-zone", "state", NULL};
	struct network *n = &c->cloud->network;
	struct filters f = {0};
	struct strs ids = {0};
	struct page page;
	int rc = -1;

	if (page_read(c, &page, 5, 1000, "SubnetId") < 0 || filters_read(c, &f, known) < 0 ||
	    params_list(&c->params, "SubnetId", &ids) < 0 || check_subnets(c, &ids) < 0 || call_dry_run(c) < 0)
		goto out;
	xml_open(&c->out, "subnetSet");
	for (size_t i = page.after; i < n->n_subnets; i++) {
		if (!wanted(&ids, n->subnets[i].id) || !subnet_matches(&f, &n->subnets[i], n->vpc_id))
			continue;
		if (!page_take(&page, i + 1))
			break;
		subnet_item(&c->out, &n->subnets[i], c->cloud);
	}
	xml_close(&c->out, "subnetSet");
	page_end(&page, &c->out);
	rc = 0;
out:
	filters_free(&f);
	strs_clear(&ids);
	return rc;
}

/* One rule for everything: from the group itself, or from everywhere. */
static void rule(struct buf *b, const char *set, const struct group *from, const char *cidr)
{
	xml_open(b, set);
	if (from || cidr) {
		xml_open(b, "item");
		xml_text(b, "ipProtocol", "-1");
		xml_open(b, "groups");
		if (from) {
			xml_open(b, "item");
			xml_text(b, "userId", CLOUD_ACCOUNT);
			xml_text(b, "groupId", from->id);
			xml_close(b, "item");
		}
		xml_close(b, "groups");
		xml_open(b, "ipRanges");
		if (cidr) {
			xml_open(b, "item");
			xml_text(b, "cidrIp", cidr);
			xml_close(b, "item");
		}
		xml_close(b, "ipRanges");
		xml_close(b, "item");
	}
	xml_close(b, set);
}

static void group_item(struct buf *b, const struct group *g, const struct network *n)
{
	xml_open(b, "item");
	xml_text(b, "ownerId", CLOUD_ACCOUNT);
	xml_text(b, "groupId", g->id);
	xml_text(b, "groupName", g->name);
	xml_text(b, "groupDescription", str_eq(g->name, "default") ? "default VPC security group" : g->name);
	xml_text(b, "vpcId", n->vpc_id);
	rule(b, "ipPermissions", g->open ? g : NULL, NULL);
	rule(b, "ipPermissionsEgress", NULL, "0.0.0.0/0");
	xml_tags(b, &g->tags);
	xml_close(b, "item");
}

static bool group_matches(const struct filters *f, const struct group *g, const char *vpc)
{
	for (size_t i = 0; i < f->n; i++) {
		bool decided, yes = filter_tags(&f->v[i], &g->tags, &decided);
		const char *name = f->v[i].name;

		if (!decided)
			yes = filter_has(&f->v[i], str_eq(name, "group-id") ? g->id : str_eq(name, "vpc-id") ? vpc : g->name);
		if (!yes)
			return false;
	}
	return true;
}

static int check_groups(struct call *c, const struct strs *ids, const struct strs *names)
{
	for (size_t i = 0; i < ids->n; i++) {
		if (!network_group(&c->cloud->network, ids->v[i]))
			return call_fail(c, 400, "InvalidGroup.NotFound", "The security group '%.100s' does not exist",
					 ids->v[i]);
	}
	for (size_t i = 0; i < names->n; i++) {
		if (!network_group_named(&c->cloud->network, names->v[i]))
			return call_fail(c, 400, "InvalidGroup.NotFound", "The security group '%.100s' does not exist",
					 names->v[i]);
	}
	return 0;
}

static int describe_groups(struct call *c)
{
	static const char *const known[] = {"group-id", "group-name", "vpc-id", NULL};
	struct network *n = &c->cloud->network;
	struct strs ids = {0}, names = {0};
	struct filters f = {0};
	struct page page;
	int rc = -1;

	if (page_read(c, &page, 5, 1000, "GroupId") < 0 || filters_read(c, &f, known) < 0 ||
	    params_list(&c->params, "GroupId", &ids) < 0 || params_list(&c->params, "GroupName", &names) < 0 ||
	    check_groups(c, &ids, &names) < 0 || call_dry_run(c) < 0)
		goto out;
	xml_open(&c->out, "securityGroupInfo");
	for (size_t i = page.after; i < n->n_groups; i++) {
		struct group *g = &n->groups[i];

		if (!wanted(&ids, g->id) || !wanted(&names, g->name) || !group_matches(&f, g, n->vpc_id))
			continue;
		if (!page_take(&page, i + 1))
			break;
		group_item(&c->out, g, n);
	}
	xml_close(&c->out, "securityGroupInfo");
	page_end(&page, &c->out);
	rc = 0;
out:
	filters_free(&f);
	strs_clear(&ids);
	strs_clear(&names);
	return rc;
}

static bool vpc_matches(const struct filters *f, const struct network *n)
{
	for (size_t i = 0; i < f->n; i++) {
		const char *name = f->v[i].name;

		if (str_prefix(name, "tag"))
			return false; /* it has none */
		if (!filter_has(&f->v[i], str_eq(name, "vpc-id")				    ? n->vpc_id
					  : str_eq(name, "is-default") || str_eq(name, "isDefault") ? "true"
					  : str_eq(name, "state")				    ? "available"
												    : n->cidr))
			return false;
	}
	return true;
}

static int describe_vpcs(struct call *c)
{
	static const char *const known[] = {"vpc-id", "is-default", "isDefault", "state", "cidr", NULL};
	const struct network *n = &c->cloud->network;
	struct filters f = {0};
	struct strs ids = {0};
	struct page page;
	int rc = -1;

	if (page_read(c, &page, 5, 1000, "VpcId") < 0 || filters_read(c, &f, known) < 0 ||
	    params_list(&c->params, "VpcId", &ids) < 0)
		goto out;
	for (size_t i = 0; i < ids.n; i++) {
		if (!str_eq(ids.v[i], n->vpc_id)) {
			call_fail(c, 400, "InvalidVpcID.NotFound", "The vpc ID '%.100s' does not exist", ids.v[i]);
			goto out;
		}
	}
	xml_open(&c->out, "vpcSet");
	if (vpc_matches(&f, n)) {
		xml_open(&c->out, "item");
		xml_text(&c->out, "vpcId", n->vpc_id);
		xml_text(&c->out, "ownerId", CLOUD_ACCOUNT);
		xml_text(&c->out, "state", "available");
		xml_text(&c->out, "cidrBlock", n->cidr);
		xml_text(&c->out, "instanceTenancy", "default");
		xml_bool(&c->out, "isDefault", true);
		xml_close(&c->out, "item");
	}
	xml_close(&c->out, "vpcSet");
	rc = 0;
out:
	filters_free(&f);
	strs_clear(&ids);
	return rc;
}

static int describe_zones(struct call *c)
{
	const struct network *n = &c->cloud->network;
	struct strs ids = {0}, done = {0};

	if (params_list(&c->params, "ZoneName", &ids) < 0)
		return call_nomem(c);
	xml_open(&c->out, "availabilityZoneInfo");
	for (size_t i = 0; i < n->n_subnets; i++) {
		const char *zone = n->subnets[i].zone;

		if (!wanted(&ids, zone) || strs_has(&done, zone) || strs_add(&done, zone) < 0)
			continue;
		xml_open(&c->out, "item");
		xml_text(&c->out, "zoneName", zone);
		xml_text(&c->out, "zoneState", "available");
		xml_text(&c->out, "regionName", n->region);
		xml_text(&c->out, "zoneType", "availability-zone");
		xml_text(&c->out, "optInStatus", "opt-in-not-required");
		xml_close(&c->out, "item");
	}
	xml_close(&c->out, "availabilityZoneInfo");
	strs_clear(&ids);
	strs_clear(&done);
	return 0;
}

static int describe_regions(struct call *c)
{
	struct buf *b = &c->out;
	char *endpoint = str_fmt("ec2.%s.amazonaws.com", c->cloud->network.region);

	if (!endpoint)
		return call_nomem(c);
	xml_open(b, "regionInfo");
	xml_open(b, "item");
	xml_text(b, "regionName", c->cloud->network.region);
	xml_text(b, "regionEndpoint", endpoint);
	xml_text(b, "optInStatus", "opt-in-not-required");
	xml_close(b, "item");
	xml_close(b, "regionInfo");
	free(endpoint);
	return 0;
}

const struct action network_actions[] = {
    {"DescribeSubnets", describe_subnets, paged, false, NULL},
    {"DescribeSecurityGroups", describe_groups, group_params, false, NULL},
    {"DescribeVpcs", describe_vpcs, vpc_params, false, NULL},
    {"DescribeAvailabilityZones", describe_zones, zone_params, false, NULL},
    {"DescribeRegions", describe_regions, region_params, false, NULL},
    {NULL, NULL, NULL, false, NULL},
};
