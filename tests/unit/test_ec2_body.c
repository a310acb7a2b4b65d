/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_ec2_body.c - what the builders have in common, and a few bodies byte by byte. The model of EC2 checks the rest
 * (tests/oracle). */
#include "tests/oracle/sample_calls.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/jview.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool listed(const char *action)
{
	for (const struct ec2_action *a = ec2_actions(); a->action; a++)
		if (!strcmp(a->action, action))
			return true;
	return false;
}

/* The policy is made from ec2_actions(): an action missing there would be denied on a real account. */
static void every_action_is_listed(void **state)
{
	struct ec2_call *v[SAMPLE_CALLS_MAX];
	size_t n = sample_calls(v);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		char *start = str_fmt("Action=%s&Version=2016-11-15", v[i] ? v[i]->action : "?");

		assert_non_null(v[i]);
		assert_true(listed(v[i]->action));
		assert_true(str_prefix(v[i]->body, start));
		assert_int_equal(v[i]->mutating, !str_prefix(v[i]->action, "Describe") && !str_prefix(v[i]->action, "Get"));
		assert_int_equal(v[i]->launches,
				 !strcmp(v[i]->action, "RunInstances") || !strcmp(v[i]->action, "CreateFleet"));
		free(start);
	}
	for (const struct ec2_action *a = ec2_actions(); a->action; a++) {
		bool built = false;

		for (size_t i = 0; i < n; i++)
			built |= !strcmp(v[i]->action, a->action);
		if (!built)
			fail_msg("no builder makes %s", a->action);
		assert_true(!strcmp(a->user, "daemons") || !strcmp(a->user, "apply"));
		assert_true(!strcmp(a->scope, "any") || !strcmp(a->scope, "cluster-tag") || !strcmp(a->scope, "launch"));
	}
	for (size_t i = 0; i < n; i++)
		ec2_call_destroy(v[i]);
}

/* A retry in another process must be the same request, byte for byte. */
static void same_bytes_each_time(void **state)
{
	struct ec2_call *a[SAMPLE_CALLS_MAX], *b[SAMPLE_CALLS_MAX];
	size_t n = sample_calls(a);

	(void)state;
	assert_int_equal(sample_calls(b), n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(a[i]->body, b[i]->body);
		ec2_call_destroy(a[i]);
		ec2_call_destroy(b[i]);
	}
}

static void launch_body(void **state)
{
	struct kvs tags = {0};
	struct ec2_run r = {.template_id = "lt-1", .template_version = 3, .min_count = 1, .max_count = 4, .client_token = "t",
			    .user_data = "x", .subnet_id = "subnet-1", .tags = &tags};
	struct ec2_call *c, *again;

	(void)state;
	assert_int_equal(kvs_add(&tags, "a:b", "c"), 0);
	c = ec2_run_instances(&r);
	assert_string_equal(c->body,
			    "Action=RunInstances&Version=2016-11-15&ClientToken=t&LaunchTemplate.LaunchTemplateId=lt-1"
			    "&LaunchTemplate.Version=3&MinCount=1&MaxCount=4&SubnetId=subnet-1&UserData=eA%3D%3D"
			    "&TagSpecification.1.ResourceType=instance&TagSpecification.1.Tag.1.Key=a%3Ab&TagSpecification.1.Tag.1.Value=c"
			    "&TagSpecification.2.ResourceType=volume&TagSpecification.2.Tag.1.Key=a%3Ab&TagSpecification.2.Tag.1.Value=c");
	assert_int_equal(c->instances, 4);
	again = ec2_launch_again(c->body);
	assert_string_equal(again->body, c->body);
	assert_int_equal(again->instances, 4);
	ec2_call_destroy(c);
	ec2_call_destroy(again);
	kvs_clear(&tags);
}

static void fleet_body(void **state)
{
	static const struct ec2_fleet_choice choices[] = {{"c5.large", "subnet-1", 0.05, 0}, {"m5.large", "subnet-2", 0, -1}};
	struct kvs tags = {0};
	struct ec2_fleet f = {.template_id = "lt-1", .template_version = 3, .choices = choices, .n_choices = 2, .total = 4,
			      .min_total = 4, .capacity = "spot", .allocation_strategy = "capacity-optimized-prioritized",
			      .client_token = "t", .tags = &tags};
	struct ec2_call *c, *again;

	(void)state;
	assert_int_equal(kvs_add(&tags, "a:b", "c"), 0);
	c = ec2_create_fleet(&f);
	assert_string_equal(c->body,
			    "Action=CreateFleet&Version=2016-11-15&ClientToken=t&Type=instant"
			    "&LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateId=lt-1"
			    "&LaunchTemplateConfigs.1.LaunchTemplateSpecification.Version=3"
			    "&LaunchTemplateConfigs.1.Overrides.1.InstanceType=c5.large"
			    "&LaunchTemplateConfigs.1.Overrides.1.SubnetId=subnet-1"
			    "&LaunchTemplateConfigs.1.Overrides.1.MaxPrice=0.05&LaunchTemplateConfigs.1.Overrides.1.Priority=0"
			    "&LaunchTemplateConfigs.1.Overrides.2.InstanceType=m5.large"
			    "&LaunchTemplateConfigs.1.Overrides.2.SubnetId=subnet-2"
			    "&TargetCapacitySpecification.TotalTargetCapacity=4"
			    "&TargetCapacitySpecification.DefaultTargetCapacityType=spot"
			    "&SpotOptions.AllocationStrategy=capacity-optimized-prioritized"
			    "&TagSpecification.1.ResourceType=instance&TagSpecification.1.Tag.1.Key=a%3Ab"
			    "&TagSpecification.1.Tag.1.Value=c");
	assert_int_equal(c->instances, 4);
	again = ec2_launch_again(c->body);
	assert_string_equal(again->body, c->body);
	assert_string_equal(again->action, "CreateFleet");
	assert_int_equal(again->instances, 4);
	ec2_call_destroy(c);
	ec2_call_destroy(again);
	kvs_clear(&tags);
	assert_null(ec2_launch_again("Action=TerminateInstances&InstanceId.1=i-1"));
}

static bool has(const struct ec2_call *c, const char *part)
{
	return strstr(c->body, part) != NULL;
}

/* A least number is taken only for one type or one zone; a price belongs to spot only. */
static void fleet_rules(void **state)
{
	static const struct {
		const char *capacity;
		bool type, zone, reserved;
		const char *want, *absent;
	} rows[] = {
	    {"spot", true, false, true, "&SpotOptions.SingleInstanceType=true&SpotOptions.MinTargetCapacity=2", "OnDemandOptions"},
	    {"spot", false, true, false, "&SpotOptions.SingleAvailabilityZone=true&SpotOptions.MinTargetCapacity=2", "SingleInstance"},
	    {"spot", false, false, false, ".MaxPrice=10.0&", "MinTarget"},
	    {"on-demand", true, true, false, "&OnDemandOptions.MinTargetCapacity=2", "MaxPrice"},
	    {"on-demand", true, false, true,
	     "OnDemandOptions.CapacityReservationOptions.UsageStrategy=use-capacity-reservations-first", "SpotOptions"},
	    {"capacity-block", true, false, false, ".DefaultTargetCapacityType=capacity-block&", "SpotOptions"},
	};
	static const struct ec2_fleet_choice choice = {"c5.large", "subnet-1", 10, -1};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ec2_fleet f = {.template_id = "lt-1", .template_version = 1, .choices = &choice, .n_choices = 1, .total = 2,
				      .min_total = 2, .single_type = rows[i].type, .single_zone = rows[i].zone,
				      .capacity = rows[i].capacity, .reservations_first = rows[i].reserved, .client_token = "t"};
		struct ec2_call *c = ec2_create_fleet(&f);

		if (!has(c, rows[i].want) || has(c, rows[i].absent))
			fail_msg("row %zu: %s", i, c->body);
		ec2_call_destroy(c);
	}
}

static int parse_overrides(const char *action, const char *text, struct kvs *out, struct err *e)
{
	struct json_object *o = json_tokener_parse(text);
	int rc = ec2_overrides(action, o, out, e);

	json_object_put(o);
	return rc;
}

/* Theirs replace ours whole; token, counts, template and our tags stay. */
static void overridden_bodies(void **state)
{
	static const struct ec2_fleet_choice choice = {"c5.large", "subnet-1", 0, -1};
	struct kvs tags = {0}, run_o = {0}, fleet_o = {0};
	struct ec2_run r = {.template_id = "lt-1", .template_version = 3, .min_count = 1, .max_count = 4, .client_token = "t",
			    .subnet_id = "subnet-1", .tags = &tags, .overrides = &run_o};
	struct ec2_fleet f = {.template_id = "lt-1", .template_version = 3, .choices = &choice, .n_choices = 1, .total = 4,
			      .min_total = 4, .single_type = true, .capacity = "on-demand", .client_token = "t", .tags = &tags,
			      .overrides = &fleet_o};
	struct ec2_call *c;

	(void)state;
	assert_int_equal(kvs_add(&tags, "a", "c"), 0);
	assert_int_equal(parse_overrides("RunInstances",
					 "{\"SubnetId\": \"subnet-9\", \"EbsOptimized\": true, \"TagSpecifications\": [{\"ResourceType\":"
					 " \"volume\", \"Tags\": [{\"Key\": \"x\", \"Value\": \"y&z\"}]}]}",
					 &run_o, NULL),
			 0);
	c = ec2_run_instances(&r);
	assert_string_equal(c->body,
			    "Action=RunInstances&Version=2016-11-15&ClientToken=t&LaunchTemplate.LaunchTemplateId=lt-1"
			    "&LaunchTemplate.Version=3&MinCount=1&MaxCount=4&SubnetId=subnet-9&EbsOptimized=true"
			    "&TagSpecification.1.ResourceType=volume&TagSpecification.1.Tag.1.Key=x&TagSpecification.1.Tag.1.Value=y%26z"
			    "&TagSpecification.2.ResourceType=instance&TagSpecification.2.Tag.1.Key=a&TagSpecification.2.Tag.1.Value=c"
			    "&TagSpecification.1.Tag.2.Key=a&TagSpecification.1.Tag.2.Value=c");
	ec2_call_destroy(c);
	kvs_clear(&run_o);
	assert_int_equal(parse_overrides("RunInstances",
					 "{\"TagSpecifications\": [{\"ResourceType\": \"instance\", \"Tags\": [{\"Key\": \"x\","
					 " \"Value\": \"y\"}]}]}",
					 &run_o, NULL),
			 0);
	c = ec2_run_instances(&r);
	assert_non_null(strstr(c->body, "&TagSpecification.1.Tag.2.Key=a&"));
	assert_non_null(strstr(c->body, "&TagSpecification.2.ResourceType=volume&")); /* EC2's lists have no gaps */
	ec2_call_destroy(c);
	assert_int_equal(parse_overrides("CreateFleet",
					 "{\"OnDemandOptions\": {\"AllocationStrategy\": \"prioritized\"}, \"TargetCapacitySpecification\":"
					 " {\"DefaultTargetCapacityType\": \"spot\"}, \"LaunchTemplateConfigs\": [{\"Overrides\":"
					 " [{\"InstanceType\": \"m5.large\"}]}]}",
					 &fleet_o, NULL),
			 0);
	c = ec2_create_fleet(&f);
	assert_string_equal(c->body,
			    "Action=CreateFleet&Version=2016-11-15&ClientToken=t&Type=instant"
			    "&OnDemandOptions.AllocationStrategy=prioritized&TargetCapacitySpecification.DefaultTargetCapacityType=spot"
			    "&LaunchTemplateConfigs.1.Overrides.1.InstanceType=m5.large"
			    "&LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateId=lt-1"
			    "&LaunchTemplateConfigs.1.LaunchTemplateSpecification.Version=3"
			    "&TargetCapacitySpecification.TotalTargetCapacity=4"
			    "&TagSpecification.1.ResourceType=instance&TagSpecification.1.Tag.1.Key=a&TagSpecification.1.Tag.1.Value=c");
	assert_int_equal(c->instances, 4);
	ec2_call_destroy(c);
	kvs_clear(&tags);
	kvs_clear(&run_o);
	kvs_clear(&fleet_o);
}

static void bad_overrides(void **state)
{
	static const struct {
		const char *action, *text, *want;
	} rows[] = {
	    {"RunInstances", "[]", "RunInstances must be an object"},
	    {"RunInstances", "{\"ClientToken\": \"x\"}", "RunInstances.ClientToken cannot be overridden"},
	    {"RunInstances", "{\"DryRun\": true}", "RunInstances.DryRun cannot be overridden"},
	    {"RunInstances", "{\"MaxCount\": 3}", "RunInstances.MaxCount cannot be overridden"},
	    {"RunInstances", "{\"UserData\": \"x\"}", "RunInstances.UserData cannot be overridden"},
	    {"RunInstances", "{\"LaunchTemplate\": {}}", "RunInstances.LaunchTemplate cannot be overridden"},
	    {"RunInstances", "{\"Action\": \"x\"}", "RunInstances.Action: EC2 knows no such member"},
	    {"RunInstances", "{\"Version\": \"x\"}", "RunInstances.Version: EC2 knows no such member"},
	    {"RunInstances", "{\"SecurityGroupId\": [\"x\"]}", "RunInstances.SecurityGroupId: EC2 knows no such member"},
	    {"RunInstances", "{\"SecurityGroupIds\": \"x\"}", "RunInstances.SecurityGroupIds must be a list"},
	    {"RunInstances", "{\"SubnetId\": {}}", "RunInstances.SubnetId must be a text"},
	    {"RunInstances", "{\"SubnetId\": null}", "RunInstances.SubnetId must be a text"},
	    {"RunInstances", "{\"Placement\": \"x\"}", "RunInstances.Placement must be an object"},
	    {"RunInstances", "{\"NetworkInterfaces\": [{}, {\"Subnet\": 1}]}", "RunInstances.NetworkInterfaces[1].Subnet: EC2 knows"},
	    {"RunInstances", "{\"TagSpecifications\": [{\"Tags\": [{\"Key\": \"slurm-ec2:launch\"}]}]}",
	     "RunInstances.TagSpecifications[0].Tags[0].Key: tags that begin with slurm-ec2: are ours"},
	    {"CreateFleet", "{\"Type\": \"maintain\"}", "CreateFleet.Type cannot be overridden"},
	    {"CreateFleet", "{\"TargetCapacitySpecification\": {\"TotalTargetCapacity\": 1}}", "TotalTargetCapacity cannot be"},
	    {"CreateFleet", "{\"LaunchTemplateConfigs\": [{}, {\"LaunchTemplateSpecification\": {}}]}",
	     "CreateFleet.LaunchTemplateConfigs[1].LaunchTemplateSpecification cannot be overridden"},
	    {"StopInstances", "{\"Force\": true}", "StopInstances.Force: EC2 knows no such member"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct kvs out = {0};
		struct err e = {""};

		assert_int_equal(parse_overrides(rows[i].action, rows[i].text, &out, &e), -1);
		if (!strstr(e.text, rows[i].want))
			fail_msg("%s: %s", rows[i].text, e.text);
		assert_int_equal(out.key.n, 0);
	}
}

static void template_body(void **state)
{
	static const struct ec2_interface nic = {.card = 0, .device = 0, .public_ip = -1};
	static char sg[] = "sg-1";
	static char *list[] = {sg};
	const struct strs groups = {list, 1, 1};
	struct ec2_template t = {.name = "n", .groups = &groups, .market = "spot", .spot_price = 0.05};
	struct ec2_call *c = ec2_create_template(&t);

	(void)state;
	assert_true(has(c, "&LaunchTemplateData.SecurityGroupId.1=sg-1"));
	assert_true(has(c, "&LaunchTemplateData.InstanceInitiatedShutdownBehavior=terminate"));
	assert_true(has(c, ".SpotOptions.MaxPrice=0.05&"));
	assert_true(has(c, ".MetadataOptions.HttpTokens=optional"));
	assert_false(has(c, "BlockDeviceMapping"));
	ec2_call_destroy(c);
	t.interfaces = &nic;
	t.n_interfaces = 1;
	t.imds_v2_only = true;
	t.spot_price = 2;
	c = ec2_create_template_version("lt-1", &t);
	assert_true(has(c, "&LaunchTemplateData.NetworkInterface.1.SecurityGroupId.1=sg-1"));
	assert_false(has(c, "Data.SecurityGroupId"));
	assert_false(has(c, "AssociatePublicIpAddress"));
	assert_true(has(c, ".MetadataOptions.HttpTokens=required"));
	assert_true(has(c, ".SpotOptions.MaxPrice=2.0&"));
	ec2_call_destroy(c);
}

/* A named placement group by name or by id: an id has hex digits only. */
static void placement_by_name_or_id(void **state)
{
	static const struct {
		const char *text;
		bool is_id;
	} rows[] = {
	    {"pg-0123456789abcdef0", true}, {"pg-01234567", true}, {"pg-0123456", false}, {"pg-0123456789abcdef01", false},
	    {"pg-mpi-nodes", false},	    {"mpi", false},	   {"", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ec2_template t = {.name = "n", .placement_group = rows[i].text};
		struct ec2_call *c = ec2_create_template(&t), *d = ec2_describe_placement_group(rows[i].text);

		assert_int_equal(has(c, "Placement.GroupId="), rows[i].is_id);
		assert_int_equal(has(c, "Placement.GroupName="), !rows[i].is_id);
		assert_int_equal(has(d, "&GroupId.1="), rows[i].is_id);
		ec2_call_destroy(c);
		ec2_call_destroy(d);
	}
}

static void long_lists_become_parts(void **state)
{
	const char *v[450];
	struct ec2_call *c;

	(void)state;
	for (int i = 0; i < 450; i++)
		v[i] = "i-1";
	c = ec2_describe_ids(v, 450);
	assert_int_equal(c->parts.n, 2);
	assert_true(has(c, "&Filter.1.Value.200=i-1"));
	assert_false(has(c, "&Filter.1.Value.201="));
	assert_non_null(strstr(c->parts.v[1], "&Filter.1.Value.50=i-1"));
	assert_null(strstr(c->parts.v[1], "&Filter.1.Value.51="));
	ec2_call_destroy(c);
	c = ec2_describe_instance_types(v, 101);
	assert_int_equal(c->parts.n, 1);
	ec2_call_destroy(c);
	c = ec2_describe_ids(v, 0);
	assert_true(c->nothing);
	ec2_call_destroy(c);
}

/* However many machines there are, three questions; the account's others are left to the caller. */
static void unwell_is_asked_by_filter(void **state)
{
	struct ec2_call *c = ec2_describe_unwell();

	(void)state;
	assert_int_equal(c->parts.n, 2);
	assert_true(has(c, "&MaxResults=1000&Filter.1.Name=instance-status.status&Filter.1.Value.1=impaired"));
	assert_non_null(strstr(c->parts.v[0], "&Filter.1.Name=system-status.status&Filter.1.Value.1=impaired"));
	assert_non_null(strstr(c->parts.v[1], "&Filter.1.Name=event.code&Filter.1.Value.1=instance-reboot"));
	assert_null(strstr(c->parts.v[1], "IncludeAllInstances"));
	ec2_call_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_action_is_listed), cmocka_unit_test(same_bytes_each_time), cmocka_unit_test(launch_body),
		cmocka_unit_test(fleet_body),		  cmocka_unit_test(fleet_rules),
		cmocka_unit_test(overridden_bodies),	  cmocka_unit_test(bad_overrides),
		cmocka_unit_test(template_body),	  cmocka_unit_test(placement_by_name_or_id),
		cmocka_unit_test(long_lists_become_parts), cmocka_unit_test(unwell_is_asked_by_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
