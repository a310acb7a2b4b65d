/* SPDX-License-Identifier: GPL-2.0-or-later */
/* launch.c - from parameters to a launch. Launches nothing: run.c does, after policy, token and capacity were asked. */
#include "ec2local/launch.h"
#include "ec2local/cloud.h"
#include "ec2local/quotas.h"
#include "ec2local/reservations.h"
#include "lib/base/num.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#define USER_DATA_MAX 16384 /* bytes, before base64: EC2's limit */

const char *const launch_params[] = {
    "BlockDeviceMapping.N.DeviceName",
    "BlockDeviceMapping.N.Ebs.DeleteOnTermination",
    "BlockDeviceMapping.N.Ebs.Encrypted",
    "BlockDeviceMapping.N.Ebs.Iops",
    "BlockDeviceMapping.N.Ebs.KmsKeyId",
    "BlockDeviceMapping.N.Ebs.SnapshotId",
    "BlockDeviceMapping.N.Ebs.Throughput",
    "BlockDeviceMapping.N.Ebs.VolumeSize",
    "BlockDeviceMapping.N.Ebs.VolumeType",
    "BlockDeviceMapping.N.NoDevice",
    "BlockDeviceMapping.N.VirtualName",
    "CapacityReservationSpecification.CapacityReservationPreference",
    "CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId",
    "CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationResourceGroupArn",
    "CpuOptions.CoreCount",
    "CpuOptions.ThreadsPerCore",
    "CreditSpecification.CpuCredits",
    "DisableApiTermination",
    "EbsOptimized",
    "HibernationOptions.Configured",
    "IamInstanceProfile.Arn",
    "IamInstanceProfile.Name",
    "ImageId",
    "InstanceInitiatedShutdownBehavior",
    "InstanceMarketOptions.MarketType",
    "InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior",
    "InstanceMarketOptions.SpotOptions.MaxPrice",
    "InstanceMarketOptions.SpotOptions.SpotInstanceType",
    "InstanceType",
    "KeyName",
    "LicenseSpecification.N.LicenseConfigurationArn",
    "MaintenanceOptions.AutoRecovery",
    "MetadataOptions.HttpEndpoint",
    "MetadataOptions.HttpProtocolIpv6",
    "MetadataOptions.HttpPutResponseHopLimit",
    "MetadataOptions.HttpTokens",
    "MetadataOptions.InstanceMetadataTags",
    "Monitoring.Enabled",
    "NetworkInterface.N.AssociatePublicIpAddress",
    "NetworkInterface.N.DeleteOnTermination",
    "NetworkInterface.N.Description",
    "NetworkInterface.N.DeviceIndex",
    "NetworkInterface.N.InterfaceType",
    "NetworkInterface.N.NetworkCardIndex",
    "NetworkInterface.N.SecurityGroupId.N",
    "NetworkInterface.N.SubnetId",
    "Placement.AvailabilityZone",
    "Placement.GroupId",
    "Placement.GroupName",
    "Placement.Tenancy",
    "PrivateDnsNameOptions.EnableResourceNameDnsARecord",
    "PrivateDnsNameOptions.HostnameType",
    "SecurityGroup.N",
    "SecurityGroupId.N",
    "SubnetId",
    "TagSpecification.N.ResourceType",
    "TagSpecification.N.Tag.N.Key",
    "TagSpecification.N.Tag.N.Value",
    "UserData",
    NULL,
};

const char *market_name(enum market m)
{
	static const char *const names[MARKETS] = {"on-demand", "spot", "capacity-block"};

	return names[m];
}

bool launch_knows(const char *name)
{
	for (size_t i = 0; launch_params[i]; i++) {
		if (params_fits(launch_params[i], name))
			return true;
	}
	return false;
}

/* --- form */

static int check_user_data(struct call *c, const char *text)
{
	size_t n = strlen(text), raw = n / 4 * 3;
	unsigned char *out;
	int got;

	if (n % 4)
		return call_fail(c, 400, "InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.");
	if (n > 1 && text[n - 1] == '=')
		raw -= text[n - 2] == '=' ? 2 : 1;
	if (raw > USER_DATA_MAX)
		return call_fail(c, 400, "InvalidParameterValue", "User data is limited to %d bytes", USER_DATA_MAX);
	out = malloc(n + 1);
	if (!out)
		return call_nomem(c);
	got = EVP_DecodeBlock(out, (const unsigned char *)text, (int)n);
	free(out);
	return got < 0 ? call_fail(c, 400, "InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.") : 0;
}

struct choice {
	const char *pattern;
	const char *words; /* "a|b"; "#" = a whole number; "?" = true or false */
};

static const struct choice choices[] = {
    {"CapacityReservationSpecification.CapacityReservationPreference", "open|none|capacity-reservations-only"},
    {"InstanceInitiatedShutdownBehavior", "stop|terminate"},
    {"InstanceMarketOptions.MarketType", "spot|capacity-block"},
    {"InstanceMarketOptions.SpotOptions.SpotInstanceType", "one-time|persistent"},
    {"InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior", "terminate|stop|hibernate"},
    {"MetadataOptions.HttpTokens", "optional|required"},
    {"MetadataOptions.HttpEndpoint", "enabled|disabled"},
    {"MetadataOptions.InstanceMetadataTags", "enabled|disabled"},
    {"MetadataOptions.HttpPutResponseHopLimit", "#"},
    {"NetworkInterface.N.InterfaceType", "interface|efa|efa-only"},
    {"NetworkInterface.N.DeviceIndex", "#"},
    {"NetworkInterface.N.NetworkCardIndex", "#"},
    {"NetworkInterface.N.AssociatePublicIpAddress", "?"},
    {"NetworkInterface.N.DeleteOnTermination", "?"},
    {"BlockDeviceMapping.N.Ebs.VolumeType", "standard|io1|io2|gp2|gp3|sc1|st1"},
    {"BlockDeviceMapping.N.Ebs.VolumeSize", "#"},
    {"BlockDeviceMapping.N.Ebs.Iops", "#"},
    {"BlockDeviceMapping.N.Ebs.Throughput", "#"},
    {"BlockDeviceMapping.N.Ebs.Encrypted", "?"},
    {"BlockDeviceMapping.N.Ebs.DeleteOnTermination", "?"},
    {"CpuOptions.CoreCount", "#"},
    {"CpuOptions.ThreadsPerCore", "#"},
    {"Monitoring.Enabled", "?"},
    {"EbsOptimized", "?"},
    {"DisableApiTermination", "?"},
};

static bool among(const char *words, const char *val)
{
	struct strs l = {0};
	int64_t num;
	bool yes;

	if (*words == '#')
		return num_i64(val, 0, INT32_MAX, &num, NULL) == 0;
	if (*words == '?')
		return str_eq(val, "true") || str_eq(val, "false");
	yes = strs_split(&l, words, '|') == 0 && strs_has(&l, val);
	strs_clear(&l);
	return yes;
}

int launch_check_data(struct call *c, const struct params *data)
{
	const char *user_data = params_get(data, "UserData");

	for (size_t i = 0; i < data->n; i++) {
		for (size_t k = 0; k < sizeof(choices) / sizeof(*choices); k++) {
			if (params_fits(choices[k].pattern, data->v[i].key) && !among(choices[k].words, data->v[i].val))
				return call_bad_value(c, data->v[i].key, data->v[i].val);
		}
	}
	return user_data && *user_data ? check_user_data(c, user_data) : 0;
}

/* --- merging */

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct param *)a)->key, ((const struct param *)b)->key);
}

static int copy_param(struct params *to, const struct param *p)
{
	struct param fresh = {str_dup(p->key), str_dup(p->val)};

	if (!fresh.key || !fresh.val || mem_grow(&to->v, &to->cap, to->n + 1, sizeof(*to->v)) < 0) {
		free(fresh.key);
		free(fresh.val);
		return -1;
	}
	to->v[to->n++] = fresh;
	return 0;
}

int launch_merge(struct params *data, const struct params *under)
{
	struct params extra = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < under->n; i++) {
		char *top = str_dup(under->v[i].key);

		if (top)
			top[strcspn(top, ".")] = '\0';
		if (!top)
			rc = -1;
		else if (!params_has(data, top))
			rc = copy_param(&extra, &under->v[i]);
		free(top);
	}
	for (size_t i = 0; rc == 0 && i < extra.n; i++)
		rc = copy_param(data, &extra.v[i]);
	params_clear(&extra);
	if (data->n)
		qsort(data->v, data->n, sizeof(*data->v), by_key);
	return rc;
}

/* --- references */

static int read_num(const struct params *p, const char *prefix, const char *name)
{
	const char *text = params_getf(p, "%s%s", prefix, name);
	int64_t num = 0;

	if (text)
		num_i64(text, 0, INT32_MAX, &num, NULL); /* its form was checked */
	return (int)num;
}

static bool is_true(const struct params *p, const char *name)
{
	return str_eq(params_get(p, name), "true");
}

static int copy_text(struct call *c, char **out, const char *text)
{
	*out = str_dup(text);
	return text && !*out ? call_nomem(c) : 0;
}

static int find_type(struct call *c, const struct params *p, struct launch *l)
{
	const char *name = params_get(p, "InstanceType");

	/* EC2's default when nothing is said is m1.small; nobody wants that. */
	if (!name)
		return call_fail(c, 400, "MissingParameter", "The request must contain the parameter InstanceType");
	l->type = types_find(&c->cloud->types, name);
	return l->type ? 0 : call_bad_value(c, "InstanceType", name);
}

static int find_image(struct call *c, const struct params *p, struct launch *l)
{
	const char *id = params_get(p, "ImageId");

	if (!id)
		return call_fail(c, 400, "MissingParameter", "The request must contain the parameter ImageId");
	if (!str_prefix(id, "ami-"))
		return call_fail(c, 400, "InvalidAMIID.Malformed", "Invalid id: \"%.100s\" (expecting \"ami-...\")", id);
	l->image = images_find(&c->cloud->images, id);
	if (!l->image)
		return call_fail(c, 400, "InvalidAMIID.NotFound", "The image id '[%.100s]' does not exist", id);
	if (!str_eq(l->image->arch, l->type->arch))
		return call_fail(
		    c, 400, "InvalidParameterValue",
		    "The architecture '%s' of the specified instance type does not match the architecture '%s' of the "
		    "specified AMI.",
		    l->type->arch, l->image->arch);
	return 0;
}

static const struct subnet *find_subnet(struct call *c, const char *id, const char *zone)
{
	const struct subnet *s = id ? network_subnet(&c->cloud->network, id) : network_default_subnet(&c->cloud->network, zone);

	if (!s && id)
		call_fail(c, 400, "InvalidSubnetID.NotFound", "The subnet ID '%.100s' does not exist", id);
	else if (!s)
		call_fail(c, 400, "MissingInput", "No subnets found for the default VPC. Please specify a subnet.");
	else if (zone && !str_eq(zone, s->zone))
		call_fail(c, 400, "InvalidParameterCombination", "The availability zone '%.60s' is not that of subnet %s", zone,
			  s->id);
	else
		return s;
	return NULL;
}

/* Group ids below prefix (and names, for the instance level); the default group if there is none. */
static int find_groups(struct call *c, const struct params *p, const char *prefix, struct strs *out)
{
	const struct network *n = &c->cloud->network;
	struct strs names = {0};
	int rc = -1;

	if (params_list(p, prefix, out) < 0 ||
	    (str_eq(prefix, "SecurityGroupId") && params_list(p, "SecurityGroup", &names) < 0)) {
		call_nomem(c);
		goto out;
	}
	for (size_t i = 0; i < out->n; i++) {
		if (!network_group(n, out->v[i])) {
			call_fail(c, 400, "InvalidGroup.NotFound", "The security group '%.100s' does not exist", out->v[i]);
			goto out;
		}
	}
	for (size_t i = 0; i < names.n; i++) {
		const struct group *g = network_group_named(n, names.v[i]);

		if (!g) {
			call_fail(c, 400, "InvalidGroup.NotFound", "The security group '%.100s' does not exist", names.v[i]);
			goto out;
		}
		if (strs_add(out, g->id) < 0)
			goto out;
	}
	rc = out->n || strs_add(out, n->groups[0].id) == 0 ? 0 : call_nomem(c);
out:
	strs_clear(&names);
	return rc;
}

static struct nic *add_nic(struct launch *l, const char *type)
{
	struct nic *n;

	if (mem_grow(&l->nics, &l->cap_nics, l->n_nics + 1, sizeof(*l->nics)) < 0)
		return NULL;
	n = &l->nics[l->n_nics];
	n->type = str_dup(type ? type : "interface");
	if (!n->type)
		return NULL;
	l->n_nics++;
	return n;
}

/* One network interface of the call. */
static int read_nic(struct call *c, const struct params *p, int i, const char *zone, struct launch *l)
{
	char *prefix = str_fmt("NetworkInterface.%d.", i);
	char *groups = str_fmt("NetworkInterface.%d.SecurityGroupId", i);
	struct nic *n = add_nic(l, params_getf(p, "NetworkInterface.%d.InterfaceType", i));
	const char *subnet;
	int rc = -1;

	if (!prefix || !groups || !n) {
		call_nomem(c);
		goto out;
	}
	n->card = read_num(p, prefix, "NetworkCardIndex");
	n->device = read_num(p, prefix, "DeviceIndex");
	subnet = params_getf(p, "NetworkInterface.%d.SubnetId", i);
	n->subnet = find_subnet(c, subnet ? subnet : params_get(p, "SubnetId"), zone);
	if (!n->subnet)
		goto out;
	if (str_prefix(n->type, "efa") && !l->type->max_efa) {
		call_fail(c, 400, "InvalidParameterCombination", "EFA interfaces are not supported on %s", l->type->name);
		goto out;
	}
	rc = find_groups(c, p, groups, &n->groups);
out:
	free(prefix);
	free(groups);
	return rc;
}

/* One interface against its type. A type with a card more than it has EFA has none on the first card. */
static int check_nic(struct call *c, const struct launch *l, const struct nic *n)
{
	const struct type *t = l->type;

	if (n->card >= (t->cards ? t->cards : 1))
		return call_fail(c, 400, "InvalidParameterValue", "The network card index %d is above what %s has", n->card,
				 t->name);
	if (str_eq(n->type, "efa-only") && n->card == 0 && n->device == 0)
		return call_fail(c, 400, "InvalidParameterCombination",
				 "An efa-only interface cannot be the primary network interface");
	if (str_prefix(n->type, "efa") && n->card == 0 && t->cards > t->max_efa)
		return call_fail(c, 400, "InvalidParameterCombination", "Network card 0 of %s does not support EFA", t->name);
	return 0;
}

static int check_nics(struct call *c, const struct launch *l)
{
	int first = 0, efa = 0;

	for (size_t i = 0; i < l->n_nics; i++) {
		if (check_nic(c, l, &l->nics[i]) < 0)
			return -1;
		first += l->nics[i].device == 0 && l->nics[i].card == 0;
		efa += str_prefix(l->nics[i].type, "efa");
		for (size_t k = 0; k < i; k++) {
			if (l->nics[i].card == l->nics[k].card && l->nics[i].device == l->nics[k].device)
				return call_fail(c, 400, "InvalidParameterValue",
						 "Each network interface requires a unique device index.");
		}
		if (!str_eq(l->nics[i].subnet->zone, l->nics[0].subnet->zone))
			return call_fail(c, 400, "InvalidParameterCombination",
					 "The interfaces lie in different availability zones");
	}
	if (first != 1)
		return call_fail(c, 400, "InvalidParameterCombination",
				 "One network interface must have device index 0 on card 0");
	if (efa > l->type->max_efa)
		return call_fail(c, 400, "AttachmentLimitExceeded", "%d EFA interfaces exceed the limit %d of %s", efa,
				 l->type->max_efa, l->type->name);
	return 0;
}

/* Is an instance-level subnet allowed? Beside interfaces only a fleet's choice names one, and they must name none. */
static bool may_name_subnet(const struct call *c, const struct params *p)
{
	if (!params_has(p, "NetworkInterface"))
		return true;
	for (int i = 1; params_hasf(p, "NetworkInterface.%d", i); i++) {
		if (params_hasf(p, "NetworkInterface.%d.SubnetId", i))
			return false;
	}
	return !params_has(&c->params, "SubnetId") && str_eq(c->action->name, "CreateFleet");
}

static int read_network(struct call *c, const struct params *p, struct launch *l)
{
	const char *zone = params_get(p, "Placement.AvailabilityZone");
	struct nic *n;

	if (params_has(p, "NetworkInterface") && (params_has(p, "SecurityGroupId") || params_has(p, "SecurityGroup")))
		return call_fail(
		    c, 400, "InvalidParameterCombination",
		    "Network interfaces and an instance-level security groups may not be specified on the same request");
	if (params_has(p, "SubnetId") && !may_name_subnet(c, p))
		return call_fail(c, 400, "InvalidParameterCombination",
				 "Network interfaces and an instance-level subnet ID may not be specified on the same request");
	for (int i = 1; params_hasf(p, "NetworkInterface.%d", i); i++) {
		if (read_nic(c, p, i, zone, l) < 0)
			return -1;
	}
	if (!l->n_nics) {
		n = add_nic(l, NULL);
		if (!n)
			return call_nomem(c);
		n->subnet = find_subnet(c, params_get(p, "SubnetId"), zone);
		if (!n->subnet || find_groups(c, p, "SecurityGroupId", &n->groups) < 0)
			return -1;
	}
	if (check_nics(c, l) < 0)
		return -1;
	for (int i = 1; l->n_nics > 1 && params_hasf(p, "NetworkInterface.%d", i); i++) {
		if (params_getf(p, "NetworkInterface.%d.AssociatePublicIpAddress", i))
			return call_fail(
			    c, 400, "InvalidParameterCombination",
			    "The associatePublicIPAddress parameter cannot be specified when launching with multiple "
			    "network interfaces.");
	}
	for (size_t i = 0; i < l->n_nics; i++) {
		if (l->nics[i].device == 0 && l->nics[i].card == 0)
			l->primary = i;
	}
	l->subnet = l->nics[l->primary].subnet;
	return 0;
}

static int read_placement(struct call *c, const struct params *p, struct launch *l)
{
	const char *id = params_get(p, "Placement.GroupId"), *name = id ? id : params_get(p, "Placement.GroupName");
	const struct placement *g = name ? placements_find(&c->cloud->placements, name) : NULL;

	if (!name || !*name)
		return 0;
	if (!g)
		return call_fail(c, 400, "InvalidPlacementGroup.Unknown", "The Placement Group '%.255s' is unknown.", name);
	if (str_eq(g->strategy, "cluster") && !l->type->cluster_placement)
		return call_fail(c, 400, "InvalidParameterCombination",
				 "Cluster placement groups are not supported by the '%s' instance type", l->type->name);
	return copy_text(c, &l->placement, g->name);
}

/* "0.05"; a price of zero or less is refused as EC2 does. */
static int read_price(struct call *c, const char *text, double *out)
{
	char *end = NULL;

	if (!text)
		return 0;
	*out = strtod(text, &end);
	return end == text || *end || !(*out > 0) || *out > 1e6 ? call_bad_value(c, "MaxPrice", text) : 0;
}

static int read_market(struct call *c, const struct params *p, struct launch *l)
{
	const char *type = params_get(p, "InstanceMarketOptions.MarketType");

	if (params_has(p, "InstanceMarketOptions.SpotOptions") && !str_eq(type, "spot"))
		return call_fail(c, 400, "InvalidParameterCombination", "Spot options need the market type spot");
	if (type)
		l->market = str_eq(type, "spot") ? MARKET_SPOT : MARKET_BLOCK;
	if (read_price(c, params_get(p, "InstanceMarketOptions.SpotOptions.MaxPrice"), &l->max_price) < 0)
		return -1;
	return reservations_target(c, p, l);
}

static int read_rest(struct call *c, const struct params *p, struct launch *l)
{
	const char *profile = params_get(p, "IamInstanceProfile.Name");

	if (!profile)
		profile = params_get(p, "IamInstanceProfile.Arn");
	l->stop_on_shutdown = !str_eq(params_get(p, "InstanceInitiatedShutdownBehavior"), "terminate");
	l->imds_optional = str_eq(params_get(p, "MetadataOptions.HttpTokens"), "optional");
	l->imds_tags = str_eq(params_get(p, "MetadataOptions.InstanceMetadataTags"), "enabled");
	l->monitoring = is_true(p, "Monitoring.Enabled");
	l->ebs_optimized = is_true(p, "EbsOptimized");
	l->cores = read_num(p, "CpuOptions.", "CoreCount");
	l->threads_per_core = read_num(p, "CpuOptions.", "ThreadsPerCore");
	if (copy_text(c, &l->user_data, params_get(p, "UserData")) < 0 ||
	    copy_text(c, &l->key_name, params_get(p, "KeyName")) < 0 || copy_text(c, &l->profile, profile) < 0)
		return -1;
	return copy_text(c, &l->client_token, params_get(&c->params, "ClientToken"));
}

/* Add or replace each of `over` in tags. */
static int lay_over(struct call *c, struct kvs *tags, const struct kvs *over)
{
	for (size_t i = 0; i < over->key.n; i++) {
		size_t k = 0;

		while (k < tags->key.n && !str_eq(tags->key.v[k], over->key.v[i]))
			k++;
		if (k == tags->key.n) {
			if (kvs_add(tags, over->key.v[i], over->val.v[i]) < 0)
				return call_nomem(c);
			continue;
		}
		free(tags->val.v[k]);
		tags->val.v[k] = str_dup(over->val.v[i]);
		if (!tags->val.v[k])
			return call_nomem(c);
	}
	return 0;
}

static int tags_of(struct call *c, const struct params *below, const char *type, struct kvs *out)
{
	struct kvs own = {0};
	int rc = -1;

	if (below && call_tags(c, below, type, out) < 0)
		goto out;
	if (call_tags(c, &c->params, type, &own) < 0)
		goto out;
	rc = lay_over(c, out, &own) < 0 ? -1 : call_check_tags(c, out);
out:
	kvs_clear(&own);
	return rc;
}

static int check_request_tags(struct call *c, const struct params *p, const struct launch *l)
{
	for (int i = 1; p && l->market != MARKET_SPOT && params_hasf(p, "TagSpecification.%d", i); i++) {
		if (str_eq(params_getf(p, "TagSpecification.%d.ResourceType", i), "spot-instances-request"))
			return call_fail(
			    c, 400, "InvalidParameterValue",
			    "You cannot specify tags for Spot instances requests if there are no Spot instances requests "
			    "being created by the request.");
	}
	return 0;
}

static int read_tags(struct call *c, const struct params *below, struct launch *l)
{
	if (check_request_tags(c, &c->params, l) < 0 || check_request_tags(c, below, l) < 0 ||
	    tags_of(c, below, "instance", &l->tags) < 0 || tags_of(c, below, "volume", &l->volume_tags) < 0)
		return -1;
	for (size_t i = 0; l->imds_tags && i < l->tags.key.n; i++) {
		if (strpbrk(l->tags.key.v[i], " /") || str_eq(l->tags.key.v[i], ".") || str_eq(l->tags.key.v[i], ".."))
			return call_fail(
			    c, 400, "InvalidParameterValue",
			    "'%.127s' is not a valid tag key. Tag keys must not hold a blank or '/' while instance metadata "
			    "tags are enabled.",
			    l->tags.key.v[i]);
	}
	return 0;
}

static void free_texts(struct launch *l)
{
	free(l->placement);
	free(l->user_data);
	free(l->key_name);
	free(l->profile);
	free(l->client_token);
}

void launch_unref(struct launch *l)
{
	if (!l || --l->refs > 0)
		return;
	for (size_t i = 0; i < l->n_nics; i++) {
		free(l->nics[i].type);
		strs_clear(&l->nics[i].groups);
	}
	free(l->nics);
	free_texts(l);
	kvs_clear(&l->tags);
	kvs_clear(&l->volume_tags);
	free(l);
}

/* The launch data in the call itself. */
static int own_data(const struct call *c, struct params *out)
{
	for (size_t i = 0; i < c->params.n; i++) {
		if (launch_knows(c->params.v[i].key) && copy_param(out, &c->params.v[i]) < 0)
			return -1;
	}
	return 0;
}

/* Data and template are complete: check them and find everything they name. */
static int fill(struct call *c, const struct params *data, const struct template_version *v, struct launch *l)
{
	if (launch_check_data(c, data) < 0 || find_type(c, data, l) < 0 || find_image(c, data, l) < 0 ||
	    read_network(c, data, l) < 0 || read_placement(c, data, l) < 0 || read_market(c, data, l) < 0 ||
	    read_rest(c, data, l) < 0)
		return -1;
	l->quota_row = quotas_row(l->type->name, l->market);
	return read_tags(c, v ? &v->data : NULL, l);
}

static struct launch *create(struct call *c)
{
	struct launch *l = calloc(1, sizeof(*l));

	if (!l) {
		call_nomem(c);
		return NULL;
	}
	l->refs = 1;
	cloud_new_id(l->reservation, "r-");
	strcpy(l->request_id, c->request_id);
	return l;
}

struct launch *launch_resolve(struct call *c)
{
	const struct template_version *v = NULL;
	struct launch *l = create(c);
	struct params data = {0};
	int rc = -1;

	if (!l || own_data(c, &data) < 0) {
		call_nomem(c);
		goto out;
	}
	if (params_has(&c->params, "LaunchTemplate")) {
		v = templates_resolve(c, "LaunchTemplate.", &l->template);
		if (!v)
			goto out;
		if (launch_merge(&data, &v->data) < 0) {
			call_nomem(c);
			goto out;
		}
	}
	rc = fill(c, &data, v, l);
out:
	params_clear(&data);
	if (rc == 0)
		return l;
	launch_unref(l);
	return NULL;
}

struct launch *launch_resolve_choice(struct call *c, const struct params *own, const struct template *t,
				     const struct template_version *v, enum market market)
{
	struct launch *l = create(c);
	struct params data = {0};
	int rc = 0;

	for (size_t i = 0; l && rc == 0 && i < own->n; i++)
		rc = copy_param(&data, &own->v[i]);
	if (!l || rc < 0 || launch_merge(&data, &v->data) < 0) {
		call_nomem(c);
		rc = -1;
		goto out;
	}
	l->template = t;
	l->market = market;
	rc = fill(c, &data, v, l);
out:
	params_clear(&data);
	if (rc == 0)
		return l;
	launch_unref(l);
	return NULL;
}

struct launch *launch_plain(struct cloud *cloud, const char *type, const struct subnet *subnet, const char *profile)
{
	struct launch *l = calloc(1, sizeof(*l));
	struct nic *n;

	if (!l)
		return NULL;
	l->refs = 1;
	cloud_new_id(l->reservation, "r-");
	l->type = types_find(&cloud->types, type);
	l->image = cloud->images.n ? &cloud->images.v[0] : NULL;
	l->subnet = subnet;
	l->profile = str_dup(profile);
	n = add_nic(l, NULL);
	if (!l->type || !subnet || !n || strs_add(&n->groups, cloud->network.groups[0].id) < 0) {
		launch_unref(l);
		return NULL;
	}
	n->subnet = subnet;
	l->quota_row = quotas_row(l->type->name, l->market);
	return l;
}
