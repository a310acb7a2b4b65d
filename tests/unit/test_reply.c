/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_reply.c - answers to values: every list, every kind of error body, and bytes cut anywhere. */
#include "lib/aws/call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define XMLNS " xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\""
#define TAG(k, v) "<item><key>" k "</key><value>" v "</value></item>"

/* Feed `text` to the call's reader in pieces of `step` bytes; the page goes into the call on success. */
static int read_in(struct ec2_call *c, int status, const char *text, size_t step)
{
	struct reply *r = reply_create(c->action, c->reader);
	size_t n = strlen(text);
	int rc;

	assert_non_null(r);
	for (size_t at = 0; at < n; at += step)
		reply_feed(r, text + at, n - at < step ? n - at : step);
	rc = reply_end(r, status, &c->error);
	if (!rc)
		assert_int_equal(c->reader->merge(c->reply, reply_page(r)), 0);
	reply_destroy(r);
	return rc;
}

static struct ec2_call *answer(struct ec2_call *c, int status, const char *text)
{
	assert_non_null(c);
	assert_int_equal(read_in(c, status, text, strlen(text)), 0);
	return c;
}

#define DESCRIBE(reservations)                                                                                                     \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<DescribeInstancesResponse" XMLNS                                             \
	"><requestId>r-1</requestId><reservationSet>" reservations "</reservationSet></DescribeInstancesResponse>"

static const char none[] = DESCRIBE("");

/* Two reservations; the first instance has three interfaces, the primary one last; the second has no address yet. */
static const char three[] = DESCRIBE(
	"<item><reservationId>r</reservationId><groupSet/><instancesSet>"
	"<item><instanceId>i-1</instanceId><imageId>ami-1</imageId><instanceState><code>16</code><name>running</name></instanceState>"
	"<privateDnsName>ip-10-0-9-9.ec2.internal</privateDnsName><stateReason><code>pending</code><message>m</message></stateReason>"
	"<amiLaunchIndex>0</amiLaunchIndex><instanceType>c5n.18xlarge</instanceType><launchTime>2026-11-30T16:50:27.000Z</launchTime>"
	"<placement><availabilityZone>us-east-1a</availabilityZone><groupName/></placement><subnetId>subnet-9</subnetId>"
	"<privateIpAddress>10.0.9.9</privateIpAddress><clientToken>tok</clientToken><instanceLifecycle>spot</instanceLifecycle>"
	"<groupSet><item><groupId>sg-1</groupId><groupName>a</groupName></item><item><groupId>sg-2</groupId></item></groupSet>"
	"<tagSet>" TAG("Name", "Compute") TAG("slurm-ec2:cluster", "uuid") TAG("slurm-ec2:launch", "l-1")
	TAG("parallelcluster:cluster-name", "c &amp; d") TAG("parallelcluster:queue-name", "q1")
	TAG("parallelcluster:compute-resource-name", "cr") "</tagSet>"
	"<networkInterfaceSet>"
	"<item><privateIpAddress>10.0.9.9</privateIpAddress><subnetId>subnet-9</subnetId>"
	"<attachment><deviceIndex>1</deviceIndex><networkCardIndex>1</networkCardIndex></attachment>"
	"<groupSet><item><groupId>sg-7</groupId></item></groupSet></item>"
	"<item><privateIpAddress>10.0.9.8</privateIpAddress><subnetId>subnet-9</subnetId>"
	"<attachment><deviceIndex>0</deviceIndex><networkCardIndex>1</networkCardIndex></attachment></item>"
	"<item><privateIpAddress>10.0.1.1</privateIpAddress><privateDnsName>ip-10-0-1-1.ec2.internal</privateDnsName>"
	"<subnetId>subnet-1</subnetId><attachment><deviceIndex>0</deviceIndex><networkCardIndex>0</networkCardIndex></attachment>"
	"<privateIpAddressesSet><item><privateIpAddress>10.0.1.2</privateIpAddress></item></privateIpAddressesSet></item>"
	"</networkInterfaceSet></item>"
	"<item><instanceId>i-2</instanceId><instanceState><code>0</code><name>pending</name></instanceState>"
	"<privateDnsName/><amiLaunchIndex>7</amiLaunchIndex><tagSet/></item>"
	"</instancesSet></item>"
	"<item><instancesSet><item><instanceId>i-3</instanceId><instanceState><name>dreaming</name></instanceState>"
	"<networkInterfaceSet><item><privateIpAddress>10.0.2.2</privateIpAddress><attachment><deviceIndex>0</deviceIndex></attachment>"
	"<groupSet><item><groupId>sg-8</groupId></item><item><groupId>sg-8</groupId></item></groupSet></item></networkInterfaceSet>"
	"</item></instancesSet></item>");

static void check_first(const struct instance *i)
{
	assert_string_equal(i->id, "i-1");
	assert_string_equal(i->type, "c5n.18xlarge");
	assert_int_equal(i->state, INSTANCE_RUNNING);
	assert_string_equal(i->private_ip, "10.0.1.1");
	assert_string_equal(i->private_dns, "ip-10-0-1-1.ec2.internal");
	assert_string_equal(i->subnet_id, "subnet-1");
	assert_string_equal(i->zone, "us-east-1a");
	assert_string_equal(i->lifecycle, "spot");
	assert_string_equal(i->client_token, "tok");
	assert_string_equal(i->cluster, "uuid");
	assert_string_equal(i->launch, "l-1");
	assert_string_equal(i->cluster_name, "c & d");
	assert_string_equal(i->queue, "q1");
	assert_string_equal(i->resource, "cr");
	assert_string_equal(i->state_reason, "pending");
	assert_true(i->launch_time_ms == INT64_C(1796057427000));
	assert_int_equal(i->groups.n, 3); /* those of the instance, then those of its interfaces */
	assert_string_equal(i->groups.id[1], "sg-2");
	assert_string_equal(i->groups.id[2], "sg-7");
}

static void instances(void **state)
{
	const char *id = "i-1";
	/* Byte by byte, odd pieces and all at once must give the same. */
	static const size_t steps[] = {1, 2, 3, 7, 64, 1000000};

	(void)state;
	for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
		struct ec2_call *c = ec2_describe_ids(&id, 1);
		const struct instances *l;

		assert_non_null(c);
		assert_int_equal(read_in(c, 200, three, steps[s]), 0);
		l = ec2_describe_reply(c);
		assert_int_equal(l->n, 3);
		check_first(&l->v[0]);
		assert_string_equal(l->v[1].id, "i-2");
		assert_int_equal(l->v[1].state, INSTANCE_PENDING);
		assert_null(l->v[1].private_ip);
		assert_null(l->v[1].private_dns);
		assert_null(l->v[1].cluster);
		assert_int_equal(l->v[1].launch_index, 7);
		assert_int_equal(l->v[2].state, INSTANCE_UNKNOWN);
		assert_string_equal(l->v[2].private_ip, "10.0.2.2");
		assert_int_equal(l->v[2].groups.n, 1);
		assert_string_equal(l->v[2].groups.id[0], "sg-8");
		ec2_call_destroy(c);
	}
}

static void no_instances(void **state)
{
	struct ec2_call *c = answer(ec2_describe_cluster("uuid"), 200, none);

	(void)state;
	assert_int_equal(ec2_describe_reply(c)->n, 0);
	ec2_call_destroy(c);
}

static void many_instances(void **state)
{
	struct ec2_call *c = ec2_describe_cluster("uuid");
	struct buf b = {0};

	(void)state;
	buf_str(&b, "<DescribeInstancesResponse><reservationSet>");
	for (int i = 0; i < 3000; i++)
		buf_fmt(&b, "<item><instancesSet><item><instanceId>i-%d</instanceId></item></instancesSet></item>", i);
	buf_str(&b, "</reservationSet><nextToken>more</nextToken></DescribeInstancesResponse>");
	answer(c, 200, buf_text(&b));
	answer(c, 200, buf_text(&b)); /* a second page is appended */
	assert_int_equal(ec2_describe_reply(c)->n, 6000);
	assert_string_equal(ec2_describe_reply(c)->v[5999].id, "i-2999");
	buf_free(&b);
	ec2_call_destroy(c);
}

static void run_instances(void **state)
{
	struct ec2_run run = {.template_id = "lt-1", .template_version = 1, .min_count = 1, .max_count = 2, .client_token = "t"};
	struct ec2_call *c = answer(ec2_run_instances(&run), 200,
				    "<RunInstancesResponse" XMLNS "><requestId>x</requestId><reservationId>r</reservationId><groupSet/>"
				    "<instancesSet><item><instanceId>i-1</instanceId><privateIpAddress>10.0.0.1</privateIpAddress></item>"
				    "<item><instanceId>i-2</instanceId></item></instancesSet></RunInstancesResponse>");

	(void)state;
	assert_int_equal(ec2_launch_reply(c)->instances.n, 2);
	assert_string_equal(ec2_launch_reply(c)->instances.v[0].private_ip, "10.0.0.1");
	assert_null(ec2_launch_reply(c)->instances.v[1].private_ip);
	ec2_call_destroy(c);
}

/* As EC2 gives it: many ids in one group, errors beside instances. */
static void fleet(void **state)
{
	static const struct ec2_fleet_choice choice = {"c5.large", "subnet-1", 0, -1};
	struct ec2_fleet f = {.template_id = "lt-1", .template_version = 1, .choices = &choice, .n_choices = 1, .total = 3,
			      .capacity = "spot", .client_token = "t"};
	struct ec2_call *c = answer(
	    ec2_create_fleet(&f), 200,
	    "<CreateFleetResponse" XMLNS "><requestId>x</requestId><fleetId>fleet-1</fleetId><errorSet><item>"
	    "<errorCode>InsufficientInstanceCapacity</errorCode><errorMessage>none left</errorMessage><lifecycle>spot</lifecycle>"
	    "<launchTemplateAndOverrides><launchTemplateSpecification><version>1</version></launchTemplateSpecification><overrides>"
	    "<instanceType>m5.large</instanceType><subnetId>subnet-2</subnetId><availabilityZone>z2</availabilityZone></overrides>"
	    "</launchTemplateAndOverrides></item></errorSet><fleetInstanceSet><item><launchTemplateAndOverrides><overrides>"
	    "<instanceType>c5.large</instanceType><subnetId>subnet-1</subnetId><availabilityZone>z1</availabilityZone></overrides>"
	    "</launchTemplateAndOverrides><lifecycle>spot</lifecycle><instanceIds><item>i-1</item><item>i-2</item></instanceIds>"
	    "<instanceType>c5.large</instanceType></item><item><lifecycle>on-demand</lifecycle><instanceIds><item>i-3</item>"
	    "</instanceIds><instanceType>m5.large</instanceType></item></fleetInstanceSet></CreateFleetResponse>");
	const struct ec2_launch_reply *l = ec2_launch_reply(c);

	(void)state;
	assert_string_equal(l->fleet_id, "fleet-1");
	assert_int_equal(l->instances.n, 3);
	assert_string_equal(l->instances.v[1].id, "i-2");
	assert_string_equal(l->instances.v[1].type, "c5.large");
	assert_string_equal(l->instances.v[1].zone, "z1");
	assert_string_equal(l->instances.v[1].subnet_id, "subnet-1");
	assert_string_equal(l->instances.v[1].lifecycle, "spot");
	assert_null(l->instances.v[1].private_ip);
	assert_string_equal(l->instances.v[2].type, "m5.large");
	assert_null(l->instances.v[2].zone); /* nothing leaks from the group before */
	assert_null(l->instances.v[2].lifecycle);
	assert_int_equal(l->n_errors, 1);
	assert_string_equal(l->errors[0].code, "InsufficientInstanceCapacity");
	assert_string_equal(l->errors[0].message, "none left");
	assert_string_equal(l->errors[0].type, "m5.large");
	assert_string_equal(l->errors[0].zone, "z2");
	c->error.class = AWS_CAPACITY;
	assert_null(ec2_launch_reply(c));
	ec2_call_destroy(c);
}

static void test_B21_fleet_of_nothing(void **state)
{
	static const struct ec2_fleet_choice choice = {"c5.large", "subnet-1", 0, -1};
	struct ec2_fleet f = {.template_id = "lt-1", .template_version = 1, .choices = &choice, .n_choices = 1, .total = 3,
			      .capacity = "on-demand", .client_token = "t"};
	struct ec2_call *c = answer(ec2_create_fleet(&f), 200,
				    "<CreateFleetResponse" XMLNS "><requestId>x</requestId><fleetId>fleet-1</fleetId><errorSet/>"
				    "<fleetInstanceSet/></CreateFleetResponse>");

	(void)state;
	assert_non_null(ec2_launch_reply(c));
	assert_int_equal(ec2_launch_reply(c)->instances.n, 0);
	assert_int_equal(ec2_launch_reply(c)->n_errors, 0);
	ec2_call_destroy(c);
}

#define RESERVATION(id, more)                                                                                                      \
	"<item><capacityReservationId>" id "</capacityReservationId><instanceType>p5.48xlarge</instanceType>"                      \
	"<availabilityZone>z1</availabilityZone><totalInstanceCount>4</totalInstanceCount>"                                        \
	"<availableInstanceCount>3</availableInstanceCount><state>active</state>" more "</item>"

/* EC2 has no filter for the ids: all are read, the wanted ones kept, also from a second page. */
static void reservations(void **state)
{
	static const char *const wanted[] = {"cr-2", "cr-4", "cr-unknown"};
	struct ec2_call *c = ec2_describe_reservations(wanted, 3);
	const struct ec2_reservations *l;

	(void)state;
	answer(c, 200,
	       "<DescribeCapacityReservationsResponse" XMLNS "><capacityReservationSet>" RESERVATION("cr-1", "") RESERVATION(
		   "cr-2", "<reservationType>capacity-block</reservationType><startDate>2026-01-02T03:04:05.000Z</startDate>"
			   "<endDateType>limited</endDateType><endDate>2026-01-03T03:04:05.000Z</endDate><tagSet><item><key>"
			   "slurm-ec2:cluster</key><value>u</value></item></tagSet>") "</capacityReservationSet><nextToken>n</nextToken>"
										      "</DescribeCapacityReservationsResponse>");
	answer(c, 200,
	       "<DescribeCapacityReservationsResponse" XMLNS "><capacityReservationSet>" RESERVATION("cr-3", "")
		   RESERVATION("cr-4", "") "</capacityReservationSet></DescribeCapacityReservationsResponse>");
	l = ec2_describe_reservations_reply(c);
	assert_int_equal(l->n, 2);
	assert_string_equal(l->v[0].id, "cr-2");
	assert_string_equal(l->v[0].kind, "capacity-block");
	assert_string_equal(l->v[0].cluster, "u");
	assert_true(l->v[0].total == 4 && l->v[0].available == 3);
	assert_true(l->v[0].end_ms - l->v[0].start_ms == 86400000);
	assert_string_equal(l->v[1].id, "cr-4");
	assert_true(l->v[1].end_ms == 0 && !l->v[1].kind);
	ec2_call_destroy(c);
}

#define STATUS_PAGE(items) \
	"<DescribeInstanceStatusResponse" XMLNS "><instanceStatusSet>" items "</instanceStatusSet></DescribeInstanceStatusResponse>"
#define CHECK(name, status, since) \
	"<" name "><status>" status "</status><details><item><name>reachability</name><status>x</status>" since "</item></details></" \
	name ">"
#define EVENT(code, text, at) \
	"<item><code>" code "</code><description>" text "</description><notAfter>2030-01-01T00:00:00.000Z</notAfter>" at "</item>"
#define AT(time) "<notBefore>" time "</notBefore>"
#define SINCE(time) "<impairedSince>" time "</impairedSince>"

static void healths(void **state)
{
	struct ec2_call *c = answer(
		ec2_describe_unwell(), 200,
		STATUS_PAGE("<item><instanceId>i-9</instanceId><instanceState><code>16</code><name>running</name></instanceState>" CHECK(
			"systemStatus", "impaired", SINCE("2026-01-02T03:04:06.000Z"))
				CHECK("instanceStatus", "impaired", SINCE("2026-01-02T03:04:05.000Z")) "</item>"
			"<item><instanceId>i-2</instanceId><eventsSet>" EVENT("instance-stop", "[Completed] x", AT("2026-01-01T00:00:00.000Z"))
				EVENT("system-reboot", "b", AT("2026-02-03T00:00:00.000Z"))
				EVENT("instance-retirement", "a", AT("2026-02-02T00:00:00.000Z"))
				EVENT("instance-reboot", "c", "") "</eventsSet>" CHECK("systemStatus", "ok", "") "</item>"
			"<item><instanceId>i-3</instanceId><eventsSet>" EVENT("instance-stop", "[Canceled] x", "") "</eventsSet>"
			CHECK("instanceStatus", "insufficient-data", "") CHECK("systemStatus", "initializing", "") "</item>"
			"<item><instanceId>i-4</instanceId><eventsSet>" EVENT("instance-stop", "", "") "</eventsSet></item>"));
	const struct healths *l = ec2_describe_unwell_reply(c);

	(void)state;
	assert_int_equal(l->n, 3);
	assert_string_equal(l->v[0].instance, "i-2");
	assert_true(!l->v[0].instance_impaired && !l->v[0].system_impaired && !l->v[0].impaired_since_ms);
	assert_string_equal(l->v[0].event, "instance-retirement");
	assert_string_equal(l->v[0].event_text, "a");
	assert_true(l->v[0].event_ms == 1769990400000);
	assert_string_equal(l->v[1].event, "instance-stop");
	assert_true(!l->v[1].event_text && !l->v[1].event_ms);
	assert_string_equal(l->v[2].instance, "i-9");
	assert_true(l->v[2].instance_impaired && l->v[2].system_impaired && !l->v[2].event);
	assert_true(l->v[2].impaired_since_ms == 1767323045000);
	ec2_call_destroy(c);
}

/* The answer to another of the questions names a machine again: it is listed once, as told last. */
static void healths_of_several_answers(void **state)
{
	struct ec2_call *c = ec2_describe_unwell();
	const struct healths *l;

	(void)state;
	c = answer(c, 200, STATUS_PAGE("<item><instanceId>i-5</instanceId>" CHECK("instanceStatus", "impaired", "") "</item>"
				       "<item><instanceId>i-1</instanceId>" CHECK("instanceStatus", "impaired", "") "</item>"));
	c = answer(c, 200, STATUS_PAGE("<item><instanceId>i-5</instanceId>" CHECK("systemStatus", "impaired", "") "</item>"
				       "<item><instanceId>i-3</instanceId>" CHECK("systemStatus", "impaired", "") "</item>"));
	c = answer(c, 200, STATUS_PAGE(""));
	l = ec2_describe_unwell_reply(c);
	assert_int_equal(l->n, 3);
	assert_string_equal(l->v[0].instance, "i-1");
	assert_string_equal(l->v[1].instance, "i-3");
	assert_true(l->v[2].system_impaired && !l->v[2].instance_impaired);
	ec2_call_destroy(c);
}

static void types(void **state)
{
	const char *name = "p4d.24xlarge";
	struct ec2_call *c = answer(
		ec2_describe_instance_types(&name, 1), 200,
		"<DescribeInstanceTypesResponse><instanceTypeSet><item><instanceType>p4d.24xlarge</instanceType>"
		"<processorInfo><supportedArchitectures><item>i386</item><item>x86_64</item></supportedArchitectures></processorInfo>"
		"<vCpuInfo><defaultVCpus>96</defaultVCpus><defaultCores>48</defaultCores><defaultThreadsPerCore>2</defaultThreadsPerCore>"
		"<validThreadsPerCore><item>1</item><item>2</item></validThreadsPerCore></vCpuInfo>"
		"<memoryInfo><sizeInMiB>1179648</sizeInMiB></memoryInfo><ebsInfo><ebsOptimizedSupport>default</ebsOptimizedSupport></ebsInfo>"
		"<networkInfo><networkCards><item><networkCardIndex>0</networkCardIndex><maximumNetworkInterfaces>15</maximumNetworkInterfaces>"
		"</item><item><networkCardIndex>1</networkCardIndex><maximumNetworkInterfaces>14</maximumNetworkInterfaces></item></networkCards>"
		"<efaSupported>true</efaSupported><efaInfo><maximumEfaInterfaces>4</maximumEfaInterfaces></efaInfo></networkInfo>"
		"<gpuInfo><gpus><item><name>A100</name><manufacturer>NVIDIA</manufacturer><count>8</count><memoryInfo><sizeInMiB>40960</sizeInMiB>"
		"</memoryInfo></item></gpus></gpuInfo>"
		"<placementGroupInfo><supportedStrategies><item>partition</item><item>cluster</item></supportedStrategies></placementGroupInfo>"
		"</item><item><instanceType>t2.micro</instanceType><ebsInfo><ebsOptimizedSupport>unsupported</ebsOptimizedSupport></ebsInfo>"
		"</item></instanceTypeSet></DescribeInstanceTypesResponse>");
	const struct itypes *l = ec2_describe_instance_types_reply(c);
	const struct itype *t = itypes_find(l, "p4d.24xlarge");

	(void)state;
	assert_int_equal(l->n, 2);
	assert_non_null(t);
	assert_string_equal(t->arch, "x86_64");
	assert_int_equal(t->vcpus, 96);
	assert_int_equal(t->cores, 48);
	assert_int_equal(t->threads_per_core, 2);
	assert_true(t->one_thread_ok && t->efa && t->ebs_optimized_ok && t->cluster_placement_ok);
	assert_int_equal(t->memory_mib, 1179648);
	assert_int_equal(t->max_efa, 4);
	assert_int_equal(t->n_cards, 2);
	assert_int_equal(t->cards[1].index, 1);
	assert_int_equal(t->cards[1].max_interfaces, 14);
	assert_int_equal(t->n_gpus, 1);
	assert_string_equal(t->gpus[0].name, "A100");
	assert_string_equal(t->gpus[0].manufacturer, "NVIDIA");
	assert_int_equal(t->gpus[0].count, 8);
	assert_int_equal(t->gpus[0].memory_mib, 40960);
	t = itypes_find(l, "t2.micro");
	assert_non_null(t);
	assert_false(t->one_thread_ok || t->efa || t->ebs_optimized_ok || t->cluster_placement_ok);
	ec2_call_destroy(c);
}

static void images(void **state)
{
	const char *id = "ami-1";
	/* The root device's name comes after the mappings, and is not the first of them. */
	struct ec2_call *c = answer(
		ec2_describe_images(&id, 1), 200,
		"<DescribeImagesResponse><imagesSet><item><imageId>ami-1</imageId><imageState>available</imageState>"
		"<architecture>arm64</architecture><name>n</name><creationDate>2026-01-01T00:00:00.000Z</creationDate>"
		"<blockDeviceMapping><item><deviceName>/dev/sdb</deviceName><ebs><volumeSize>99</volumeSize></ebs></item>"
		"<item><deviceName>/dev/xvda</deviceName><ebs><volumeSize>8</volumeSize></ebs></item>"
		"<item><deviceName>/dev/sdc</deviceName><virtualName>ephemeral0</virtualName></item></blockDeviceMapping>"
		"<rootDeviceName>/dev/xvda</rootDeviceName>"
		"<tagSet>" TAG("x", "y") TAG("slurm-ec2:slurm-version", "22.05.8") "</tagSet></item>"
		"<item><imageId>ami-2</imageId><rootDeviceName>/dev/xvda</rootDeviceName></item></imagesSet></DescribeImagesResponse>");
	const struct ec2_images *l = ec2_describe_images_reply(c);

	(void)state;
	assert_int_equal(l->n, 2);
	assert_string_equal(l->v[0].arch, "arm64");
	assert_string_equal(l->v[0].state, "available");
	assert_string_equal(l->v[0].root_device, "/dev/xvda");
	assert_int_equal(l->v[0].root_size_gib, 8);
	assert_string_equal(l->v[0].slurm_version, "22.05.8");
	assert_int_equal(l->v[1].root_size_gib, 0);
	assert_null(l->v[1].slurm_version);
	ec2_call_destroy(c);
}

static void subnets(void **state)
{
	const char *id = "subnet-1";
	struct ec2_call *c = answer(ec2_describe_subnets(&id, 1), 200,
				    "<DescribeSubnetsResponse><subnetSet><item><subnetId>subnet-1</subnetId><vpcId>vpc-1</vpcId>"
				    "<cidrBlock>10.0.0.0/20</cidrBlock><availableIpAddressCount>4091</availableIpAddressCount>"
				    "<availabilityZone>us-east-1b</availabilityZone><mapPublicIpOnLaunch>true</mapPublicIpOnLaunch></item>"
				    "</subnetSet></DescribeSubnetsResponse>");
	const struct ec2_subnets *l = ec2_describe_subnets_reply(c);

	(void)state;
	assert_int_equal(l->n, 1);
	assert_string_equal(l->v[0].vpc, "vpc-1");
	assert_string_equal(l->v[0].zone, "us-east-1b");
	assert_string_equal(l->v[0].cidr, "10.0.0.0/20");
	assert_int_equal(l->v[0].free_addresses, 4091);
	assert_true(l->v[0].public_ip);
	ec2_call_destroy(c);
}

static void groups(void **state)
{
	const char *id = "sg-1";
	struct ec2_call *c = answer(
		ec2_describe_groups(&id, 1), 200,
		"<DescribeSecurityGroupsResponse><securityGroupInfo><item><groupId>sg-1</groupId><groupName>g</groupName><vpcId>vpc-1</vpcId>"
		"<ipPermissions><item><ipProtocol>-1</ipProtocol><groups><item><userId>1</userId><groupId>sg-1</groupId></item></groups>"
		"<ipRanges/></item><item><ipProtocol>tcp</ipProtocol><fromPort>6817</fromPort><toPort>6818</toPort>"
		"<ipRanges><item><cidrIp>10.0.0.0/16</cidrIp><description>d</description></item></ipRanges>"
		"<ipv6Ranges><item><cidrIpv6>::/0</cidrIpv6></item></ipv6Ranges></item></ipPermissions>"
		"<ipPermissionsEgress><item><ipProtocol>-1</ipProtocol><ipRanges><item><cidrIp>0.0.0.0/0</cidrIp></item></ipRanges></item>"
		"</ipPermissionsEgress></item></securityGroupInfo></DescribeSecurityGroupsResponse>");
	const struct ec2_groups *l = ec2_describe_groups_reply(c);

	(void)state;
	assert_int_equal(l->n, 1);
	assert_int_equal(l->v[0].n_in, 2);
	assert_int_equal(l->v[0].n_out, 1);
	assert_string_equal(l->v[0].in[0].protocol, "-1");
	assert_int_equal(l->v[0].in[0].from_port, -1);
	assert_int_equal(l->v[0].in[0].groups.n, 1);
	assert_int_equal(l->v[0].in[0].cidrs.n, 0);
	assert_int_equal(l->v[0].in[1].from_port, 6817);
	assert_int_equal(l->v[0].in[1].to_port, 6818);
	assert_int_equal(l->v[0].in[1].cidrs.n, 2);
	assert_string_equal(l->v[0].out[0].cidrs.v[0], "0.0.0.0/0");
	ec2_call_destroy(c);
}

static void templates(void **state)
{
	struct ec2_template t = {.name = "n", .client_token = "c"};
	struct ec2_call *c = answer(ec2_create_template(&t), 200,
				    "<CreateLaunchTemplateResponse><launchTemplate><launchTemplateId>lt-1</launchTemplateId>"
				    "<launchTemplateName>n</launchTemplateName><defaultVersionNumber>1</defaultVersionNumber>"
				    "<latestVersionNumber>1</latestVersionNumber><tagSet>" TAG("slurm-ec2:cluster", "u")
				    "</tagSet></launchTemplate></CreateLaunchTemplateResponse>");

	(void)state;
	assert_int_equal(ec2_template_reply(c)->n, 1);
	assert_string_equal(ec2_template_reply(c)->v[0].cluster, "u");
	assert_int_equal(ec2_template_reply(c)->v[0].version, 1);
	ec2_call_destroy(c);
	c = answer(ec2_create_template_version("lt-1", &t), 200,
		   "<CreateLaunchTemplateVersionResponse><launchTemplateVersion><launchTemplateId>lt-1</launchTemplateId>"
		   "<versionNumber>17</versionNumber><defaultVersion>false</defaultVersion></launchTemplateVersion>"
		   "</CreateLaunchTemplateVersionResponse>");
	assert_int_equal(ec2_template_reply(c)->v[0].version, 17);
	ec2_call_destroy(c);
	c = answer(ec2_describe_templates("u"), 200,
		   "<DescribeLaunchTemplatesResponse><launchTemplates><item><launchTemplateId>lt-1</launchTemplateId></item><item>"
		   "<launchTemplateId>lt-2</launchTemplateId><latestVersionNumber>3</latestVersionNumber></item></launchTemplates>"
		   "</DescribeLaunchTemplatesResponse>");
	assert_int_equal(ec2_template_reply(c)->n, 2);
	assert_int_equal(ec2_template_reply(c)->v[1].version, 3);
	ec2_call_destroy(c);
}

static void placement_groups(void **state)
{
	struct ec2_call *c = answer(ec2_describe_placement_groups("u"), 200,
				    "<DescribePlacementGroupsResponse><placementGroupSet><item><groupName>g</groupName>"
				    "<strategy>cluster</strategy><state>available</state><tagSet>" TAG("slurm-ec2:cluster", "u")
				    "</tagSet></item></placementGroupSet></DescribePlacementGroupsResponse>");

	(void)state;
	assert_int_equal(ec2_placement_groups_reply(c)->n, 1);
	assert_string_equal(ec2_placement_groups_reply(c)->v[0].name, "g");
	assert_string_equal(ec2_placement_groups_reply(c)->v[0].state, "available");
	assert_string_equal(ec2_placement_groups_reply(c)->v[0].cluster, "u");
	ec2_call_destroy(c);
}

static const struct error_row {
	const char *what;
	int status;
	const char *body;
	enum aws_class class;
	const char *code, *message, *request_id; /* message: a part of it */
} error_rows[] = {
	{"EC2", 500,
	 "<?xml version=\"1.0\"?><Response><Errors><Error><Code>InsufficientInstanceCapacity</Code><Message>There is no Spot capacity."
	 "</Message></Error></Errors><RequestID>abc-1</RequestID></Response>",
	 AWS_CAPACITY, "InsufficientInstanceCapacity", "no Spot capacity", "abc-1"},
	{"STS and the authentication layer", 403,
	 "<ErrorResponse xmlns=\"x\"><Error><Type>Sender</Type><Code>SignatureDoesNotMatch</Code><Message>m</Message></Error>"
	 "<RequestId>abc-2</RequestId></ErrorResponse>",
	 AWS_CREDENTIALS, "SignatureDoesNotMatch", "m", "abc-2"},
	{"other depth", 401, "<ErrorResponse><Errors><Error><Code>AuthFailure</Code></Error></Errors></ErrorResponse>", AWS_CREDENTIALS,
	 "AuthFailure", "", ""},
	{"prefixed names", 400, "<a:Response xmlns:a=\"x\"><a:Error><a:Code>MissingParameter</a:Code></a:Error></a:Response>", AWS_OURS,
	 "MissingParameter", "", ""},
	{"two errors: the first", 400,
	 "<Response><Errors><Error><Code>One</Code></Error><Error><Code>Two</Code></Error></Errors></Response>", AWS_OURS, "One", "", ""},
	{"error with status 200", 200, "<Response><Errors><Error><Code>Throttling</Code></Error></Errors></Response>", AWS_THROTTLE,
	 "Throttling", "", ""},
	{"line break in the message", 400, "<Response><Error><Code>X</Code><Message>a&#10;b</Message></Error></Response>", AWS_OURS, "X",
	 "a b", ""},
	{"HTML of a proxy", 502, "<html><head><title>502 Bad Gateway</title></head></html>", AWS_TRANSIENT, "UnexpectedAnswer",
	 "HTTP 502, not an answer of EC2 (unknown root element): <html><head><title>502 Bad", ""},
	{"HTML with doctype", 403, "<!DOCTYPE html>\n<html><body>Blocked by policy</body></html>", AWS_OURS, "UnexpectedAnswer",
	 "DOCTYPE): <!DOCTYPE html> <html><body>Blocked", ""},
	{"empty 503", 503, "", AWS_TRANSIENT, "UnexpectedAnswer", "HTTP 503", ""},
	{"empty 200", 200, "", AWS_TRANSIENT, "UnreadableAnswer", "no element found", ""},
	{"truncated", 200, "<DescribeInstancesResponse><reservationSet><item>", AWS_TRANSIENT, "UnreadableAnswer", "", ""},
	{"cut inside a tag", 200, "<DescribeInstancesResponse><reservat", AWS_TRANSIENT, "UnreadableAnswer", "", ""},
	{"answer of another verb", 200, "<RunInstancesResponse><instancesSet/></RunInstancesResponse>", AWS_TRANSIENT, "UnreadableAnswer",
	 "unknown root", ""},
	{"doctype in a good answer", 200, "<!DOCTYPE DescribeInstancesResponse><DescribeInstancesResponse/>", AWS_TRANSIENT,
	 "UnreadableAnswer", "DOCTYPE", ""},
	{"entity bomb", 200,
	 "<!DOCTYPE x [<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><DescribeInstancesResponse>&b;</DescribeInstancesResponse>",
	 AWS_TRANSIENT, "UnreadableAnswer", "DOCTYPE", ""},
	{"a number that is none", 200,
	 DESCRIBE("<item><instancesSet><item><amiLaunchIndex>x</amiLaunchIndex></item></instancesSet></item>"), AWS_TRANSIENT,
	 "UnreadableAnswer", "number", "r-1"},
	{"good body, bad status", 500, none, AWS_TRANSIENT, "UnexpectedAnswer", "HTTP 500", "r-1"},
};

static void check_error(const struct error_row *r, size_t step)
{
	struct ec2_call *c = ec2_describe_cluster("u");

	assert_non_null(c);
	if (!read_in(c, r->status, r->body, step))
		fail_msg("%s: read as success", r->what);
	if (c->error.class != r->class || strcmp(c->error.code, r->code) || !strstr(c->error.message, r->message) ||
	    strcmp(c->error.request_id, r->request_id) || c->error.http_status != r->status)
		fail_msg("%s: %s %s \"%s\" %s", r->what, aws_class_text(c->error.class), c->error.code, c->error.message,
			 c->error.request_id);
	assert_int_equal(ec2_describe_reply(c)->n, 0);
	ec2_call_destroy(c);
}

static void errors(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof error_rows / sizeof *error_rows; i++) {
		check_error(&error_rows[i], 1000000);
		check_error(&error_rows[i], 1);
	}
}

/* Cut anywhere, an answer is never a shorter success. */
static void every_truncation_fails(void **state)
{
	size_t n = strlen(three);

	(void)state;
	for (size_t keep = 0; keep < n; keep += 13) {
		struct ec2_call *c = ec2_describe_cluster("u");
		char *part = strndup(three, keep);

		assert_non_null(c);
		assert_non_null(part);
		assert_int_equal(read_in(c, 200, part, 1000000), -1);
		assert_int_equal(c->error.class, AWS_TRANSIENT);
		assert_int_equal(ec2_describe_reply(c)->n, 0);
		free(part);
		ec2_call_destroy(c);
	}
}

static void too_deep(void **state)
{
	struct ec2_call *c = ec2_describe_cluster("u");
	struct buf b = {0};

	(void)state;
	for (int i = 0; i < 1000; i++)
		buf_str(&b, i ? "<a>" : "<DescribeInstancesResponse>");
	for (int i = 999; i >= 0; i--)
		buf_str(&b, i ? "</a>" : "</DescribeInstancesResponse>");
	assert_int_equal(read_in(c, 200, buf_text(&b), 1000000), -1);
	assert_non_null(strstr(c->error.message, "deep"));
	buf_free(&b);
	ec2_call_destroy(c);
}

/* What a page of HTML says must reach the user as plain, short text. */
static void head_is_short_and_printable(void **state)
{
	struct ec2_call *c = ec2_describe_cluster("u");
	struct buf b = {0};

	(void)state;
	buf_str(&b, "\033[31m\r\nnope\xff");
	for (int i = 0; i < 1000; i++)
		buf_char(&b, 'z');
	assert_int_equal(read_in(c, 502, buf_text(&b), 3), -1);
	assert_true(strlen(c->error.message) < 300);
	for (const char *p = c->error.message; *p; p++)
		assert_true(*p >= ' ' && *p <= '~');
	buf_free(&b);
	ec2_call_destroy(c);
}

static void next_token(void **state)
{
	static const struct {
		const char *body, *want;
	} rows[] = {
		{"<DescribeInstancesResponse><nextToken>a&amp;b==</nextToken></DescribeInstancesResponse>", "a&b=="},
		{"<DescribeInstancesResponse><nextToken/></DescribeInstancesResponse>", NULL},
		{"<DescribeInstancesResponse/>", NULL},
		{"<DescribeInstancesResponse><a><nextToken>x</nextToken></a></DescribeInstancesResponse>", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct reply *r = reply_create("DescribeInstances", &reply_nothing);
		struct aws_error e;

		reply_feed(r, rows[i].body, strlen(rows[i].body));
		assert_int_equal(reply_end(r, 200, &e), 0);
		assert_true(str_eq(reply_next_token(r), rows[i].want));
		reply_destroy(r);
	}
}

#define CONSOLE(output) "<GetConsoleOutputResponse" XMLNS "><requestId>r</requestId><instanceId>i-1</instanceId>" \
	"<timestamp>2026-11-30T16:50:27.000Z</timestamp>" output "</GetConsoleOutputResponse>"

/* What a machine printed: raw bytes, its end if it is long. */
static void console_output(void **state)
{
	static const struct {
		const char *xml, *want;
	} rows[] = {
		{CONSOLE("<output>Zm9vDQpiYXI=</output>"), "foo\r\nbar"},
		{CONSOLE("<output>Zm9v\nDQpi\nYXI=\n</output>"), "foo\r\nbar"},
		{CONSOLE("<output/>"), ""},
		{CONSOLE(""), ""},
		{CONSOLE("<output>no base64</output>"), ""},
	};
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ec2_call *c = answer(ec2_console_output("i-1"), 200, rows[i].xml);

		assert_string_equal(ec2_console_output_reply(c, &n), rows[i].want);
		assert_int_equal(n, strlen(rows[i].want));
		ec2_call_destroy(c);
	}
}

static void console_output_is_bounded(void **state)
{
	struct buf b = {0}, raw = {0};
	struct ec2_call *c;
	const char *text;
	size_t n;

	(void)state;
	for (int i = 0; i < 20000; i++)
		buf_fmt(&raw, "%04d ", i % 10000);
	buf_str(&b, "<GetConsoleOutputResponse" XMLNS "><output>");
	buf_base64(&b, raw.v, raw.n);
	buf_str(&b, "</output></GetConsoleOutputResponse>");
	c = answer(ec2_console_output("i-1"), 200, buf_text(&b));
	text = ec2_console_output_reply(c, &n);
	assert_int_equal(n, EC2_CONSOLE_MAX);
	assert_memory_equal(text, raw.v + raw.n - n, n);
	assert_false(c->mutating);
	ec2_call_destroy(c);
	buf_free(&b);
	buf_free(&raw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instances),
		cmocka_unit_test(no_instances),
		cmocka_unit_test(many_instances),
		cmocka_unit_test(run_instances), cmocka_unit_test(fleet),
		cmocka_unit_test(test_B21_fleet_of_nothing), cmocka_unit_test(reservations),
		cmocka_unit_test(healths), cmocka_unit_test(healths_of_several_answers),
		cmocka_unit_test(types),
		cmocka_unit_test(images),
		cmocka_unit_test(subnets),
		cmocka_unit_test(groups),
		cmocka_unit_test(templates),
		cmocka_unit_test(placement_groups),
		cmocka_unit_test(errors),
		cmocka_unit_test(every_truncation_fails),
		cmocka_unit_test(console_output),
		cmocka_unit_test(console_output_is_bounded),
		cmocka_unit_test(too_deep),
		cmocka_unit_test(head_is_short_and_printable),
		cmocka_unit_test(next_token),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
