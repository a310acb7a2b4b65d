/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_ec2local_cloud.c - the local cloud from inside: what a pool gives, which capacity rule counts, buckets, quotas,
 * reservations in time, and the metadata an instance sees. Requests go in as a client's would, without the sockets.
 */
#include "tests/unit/test.h"

#include "ec2local/cloud.h"
#include "ec2local/http.h"
#include "ec2local/quotas.h"
#include "ec2local/supply.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"

#define SUBNET "subnet-0fedcba9876543210"
#define IMAGE "ami-0123456789abcdef0"

static int begin(void **state)
{
	static struct cloud cloud;
	struct err e = {""};

	cloud = (struct cloud){0};
	if (cloud_init(&cloud, "us-east-1", "10.77.0.0/16", &e) < 0 ||
	    types_load(&cloud.types, SRCDIR "/ec2local/instance_types.json", &e) < 0 ||
	    network_add_subnet(&cloud.network, SUBNET ":us-east-1a:10.77.0.0/24", &e) < 0 ||
	    images_add(&cloud.images, IMAGE ":22.05.8", &e) < 0) {
		print_error("%s\n", e.text);
		return -1;
	}
	*state = &cloud;
	return 0;
}

static int end(void **state)
{
	cloud_free(*state);
	return 0;
}

/* Post a form (or, with a path other than "/", JSON to the control endpoint); the answer's text, caller frees. */
static char *post(struct cloud *cloud, const char *path, const char *body, int *status)
{
	struct http_request rq = {
	    .method = "POST", .path = (char *)(uintptr_t)path, .query = (char *)(uintptr_t) "", .client = 0x7f000001};
	struct http_answer a = {0};
	char *text;

	buf_str(&rq.body, body);
	api_answer(cloud, &rq, &a);
	*status = a.status;
	text = a.body.n ? buf_take(&a.body) : str_dup("");
	buf_free(&rq.body);
	buf_free(&a.body);
	kvs_clear(&a.headers);
	return text;
}

static void control(struct cloud *cloud, const char *json, int want)
{
	int status;
	char *text = post(cloud, "/_control", json, &status);

	if (status != want)
		print_error("%s: %s\n", json, text);
	assert_int_equal(status, want);
	free(text);
}

/* --- pure rules */

static void test_bucket(void **state)
{
	struct bucket b;

	(void)state;
	bucket_set(&b, 3, 2);
	b.at_ms = 0;
	assert_true(bucket_take(&b, 2, 0));
	assert_false(bucket_take(&b, 2, 0));   /* not enough: none is taken */
	assert_true(bucket_take(&b, 1, 0));    /* so this one is still there */
	assert_false(bucket_take(&b, 1, 400)); /* 0.8 came back */
	assert_true(bucket_take(&b, 1, 500));
	assert_true(bucket_take(&b, 3, 60000)); /* never more than its size */
	assert_false(bucket_take(&b, 1, 60000));
	bucket_set(&b, 0, 0);
	assert_true(bucket_take(&b, 1e9, 0)); /* no bucket, no limit */
}

static void test_capacity_rules(void **state)
{
	static const struct {
		const char *rule, *market, *reservation;
		bool counts;
	} table[] = {
	    {NULL, "on-demand", NULL, true},
	    {NULL, "spot", NULL, true},
	    {NULL, "on-demand", "cr-1", false},
	    {NULL, "capacity-block", "cr-1", false},
	    {"spot", "spot", NULL, true},
	    {"spot", "on-demand", NULL, false},
	    {"on-demand", "on-demand", "cr-1", false},
	    {"reserved:*", "on-demand", NULL, false},
	    {"reserved:*", "on-demand", "cr-1", true},
	    {"reserved:cr-1", "on-demand", "cr-2", false},
	    {"capacity-block", "capacity-block", "cr-1", true},
	    {"reserved:cr-1", "capacity-block", "cr-1", true},
	    {"*", "on-demand", NULL, true},
	    {"*", "on-demand", "cr-1", true},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		struct faults f = {0};
		bool counts;

		assert_int_equal(faults_set_capacity(&f, "c5.*", "*", table[i].rule, 1, NULL), 0);
		counts = faults_capacity(&f, "c5.large", "us-east-1a", table[i].market, table[i].reservation) != NULL;
		if (counts != table[i].counts)
			print_error("row %zu\n", i);
		assert_int_equal(counts, table[i].counts);
		assert_null(faults_capacity(&f, "m5.large", "us-east-1a", table[i].market, table[i].reservation));
		faults_free(&f);
	}
}

static void test_first_rule_counts(void **state)
{
	struct faults f = {0};

	(void)state;
	assert_int_equal(faults_set_capacity(&f, "c5.large", "*", NULL, 1, NULL), 0);
	assert_int_equal(faults_set_capacity(&f, "*", "*", NULL, 7, "Unsupported"), 0);
	assert_int_equal(faults_set_capacity(&f, "c5.large", "*", NULL, 2, NULL), 0); /* replaces the first */
	assert_int_equal(f.n_capacity, 2);
	assert_int_equal(faults_capacity(&f, "c5.large", "z", "spot", NULL)->left, 2);
	assert_string_equal(faults_capacity(&f, "m5.large", "z", "spot", NULL)->code, "Unsupported");
	faults_free(&f);
}

static void test_quota_families(void **state)
{
	static const struct {
		const char *type;
		enum market market;
		const char *code; /* NULL = none */
	} table[] = {
	    {"c5.large", MARKET_ON_DEMAND, "L-1216C47A"},	  {"t2.micro", MARKET_SPOT, "L-34B43A08"},
	    {"p5.48xlarge", MARKET_ON_DEMAND, "L-417A185B"},	  {"p4d.24xlarge", MARKET_SPOT, "L-7212CCBC"},
	    {"g4dn.12xlarge", MARKET_ON_DEMAND, "L-DB2E81BA"},	  {"hpc7a.96xlarge", MARKET_ON_DEMAND, "L-F7808C92"},
	    {"trn1.32xlarge", MARKET_SPOT, "L-6B0D517C"},	  {"p5.48xlarge", MARKET_BLOCK, NULL},
	    {"u-6tb1.112xlarge", MARKET_ON_DEMAND, "L-43DA4232"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++)
		assert_int_equal(quotas_row(table[i].type, table[i].market), table[i].code ? quotas_find(table[i].code) : -1);
	assert_int_equal(quotas_find("L-nonsense"), -1);
}

static void test_reservation_in_time(void **state)
{
	struct reservations l = {0};
	struct reservation *r = reservations_make(&l, "cr-1", 1000);

	(void)state;
	assert_non_null(r);
	assert_ptr_equal(reservations_make(&l, "cr-1", 5000), r);
	r->start_ms = 2000;
	r->end_ms = 3000;
	assert_string_equal(reservation_state(r, 1999), "scheduled");
	assert_string_equal(reservation_state(r, 2000), "active");
	assert_string_equal(reservation_state(r, 3000), "expired");
	r->state = str_dup("cancelled");
	assert_string_equal(reservation_state(r, 2500), "cancelled");
	r->total = 1;
	r->used = 3;
	assert_int_equal(reservation_free(r), 0);
	reservations_free(&l);
}

/* --- through the front door */

static void test_reservation_counts(void **state)
{
	static const char *const run =
	    "Action=RunInstances&Version=2016-11-15&MinCount=2&MaxCount=2&InstanceType=c5.large&ImageId=" IMAGE
	    "&SubnetId=" SUBNET
	    "&CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId=cr-0aaaaaaaaaaaaaaaa";
	struct cloud *cloud = *state;
	int status;
	char *text;

	control(
	    cloud,
	    "{\"reservation\": {\"cr-0aaaaaaaaaaaaaaaa\": {\"type\": \"c5.large\", \"zone\": \"us-east-1a\", \"total\": 3}}}",
	    200);
	text = post(cloud, "/", run, &status);
	assert_int_equal(status, 200);
	free(text);
	assert_int_equal(cloud->reservations.v[0]->used, 2);
	text = post(cloud, "/", run, &status);
	assert_int_equal(status, 400);
	assert_non_null(strstr(text, "<Code>ReservationCapacityExceeded</Code>"));
	free(text);
	instances_terminate(cloud, cloud->instances.v[0], clock_wall_ms(), "Client.UserInitiatedShutdown", "over");
	instances_settle(cloud, clock_wall_ms() + 1000);
	assert_int_equal(cloud->reservations.v[0]->used, 1);
}

static void test_open_reservation(void **state)
{
	static const char *const run =
	    "Action=RunInstances&Version=2016-11-15&MinCount=2&MaxCount=2&InstanceType=c5.large&ImageId=" IMAGE
	    "&SubnetId=" SUBNET;
	struct cloud *cloud = *state;
	char *none = str_fmt("%s&CapacityReservationSpecification.CapacityReservationPreference=none", run);
	int status;

	control(cloud,
		"{\"reservation\": {\"cr-1\": {\"type\": \"c5.large\", \"zone\": \"us-east-1a\", \"total\": 3, \"match\": "
		"\"open\"}}}",
		200);
	free(post(cloud, "/", none, &status));
	free(none);
	assert_int_equal(status, 200);
	assert_int_equal(cloud->reservations.v[0]->used, 0);
	free(post(cloud, "/", run, &status));
	assert_int_equal(cloud->reservations.v[0]->used, 2);
	free(post(cloud, "/", run, &status)); /* it has room for one more only: all of it goes elsewhere */
	assert_int_equal(status, 200);
	assert_int_equal(cloud->reservations.v[0]->used, 2);
}

static void test_rates_from_the_start(void **state)
{
	struct faults f = {.ec2_by_default = true};

	(void)state;
	faults_reset(&f);
	assert_int_equal((int)faults_action(&f, "RunInstances")->requests.size, 5);
	assert_int_equal((int)faults_action(&f, "RunInstances")->instances.size, 1000);
	assert_int_equal((int)faults_action(&f, "DescribeInstances")->unpaged.size, 50);
	assert_int_equal((int)faults_action(&f, "CreatePlacementGroup")->requests.size, 50);
	faults_free(&f);
}

static void test_control_refusals(void **state)
{
	static const char *const bad[] = {
	    "{\"quota\": {\"lunch\": 1}}",
	    "{\"quota\": {\"spot\": -2}}",
	    "{\"spot_price\": {\"type\": \"*\"}}",
	    "{\"spot_price\": {\"price\": 0}}",
	    "{\"fleet_error\": {\"count\": 1}}",
	    "{\"fleet_replay\": \"other\"}",
	    "{\"reservation\": {\"cr-1\": {\"total\": 1}}}",
	    "{\"reservation\": {\"x\": {\"type\": \"c5.large\", \"zone\": \"z\", \"total\": 1}}}",
	    "{\"reservation\": {\"cr-1\": {\"type\": \"t9.huge\", \"zone\": \"z\", \"total\": 1}}}",
	    "{\"expire_key\": \"nobody\"}",
	    "{\"rate\": \"other\"}",
	    "{\"rate\": {\"RunInstances\": {\"bucket\": 1}}}",
	    "{\"eventual_consistency_ms\": {\"min\": 5, \"max\": 1}}",
	    "{\"skew_s\": \"5\"}",
	};

	for (size_t i = 0; i < COUNT(bad); i++)
		control(*state, bad[i], 400);
	assert_int_equal(((struct cloud *)*state)->reservations.n, 0);
}

/* --- metadata */

static char *metadata(struct cloud *cloud, uint32_t client, const char *path, int *status)
{
	struct http_request rq = {
	    .method = "GET", .path = (char *)(uintptr_t)path, .query = (char *)(uintptr_t) "", .client = client};
	struct http_answer a = {0};
	char *text;

	imds_answer(cloud, &rq, &a);
	*status = a.status;
	text = a.body.n ? buf_take(&a.body) : str_dup("");
	buf_free(&a.body);
	kvs_clear(&a.headers);
	return text;
}

static void launch_with_tags(struct cloud *cloud, const char *enabled)
{
	char *body = str_fmt("Action=RunInstances&Version=2016-11-15&MinCount=1&MaxCount=1&InstanceType=c5.large&ImageId=" IMAGE
			     "&SubnetId=" SUBNET "&MetadataOptions.HttpTokens=optional&MetadataOptions.InstanceMetadataTags=%s"
			     "&TagSpecification.1.ResourceType=instance&TagSpecification.1.Tag.1.Key=slurm-ec2%%3Alaunch"
			     "&TagSpecification.1.Tag.1.Value=abc&InstanceMarketOptions.MarketType=spot",
			     enabled);
	int status;

	free(post(cloud, "/", body, &status));
	free(body);
	assert_int_equal(status, 200);
}

static void test_metadata_tags(void **state)
{
	static const struct {
		const char *path;
		int status;
		const char *text;
	} table[] = {
	    {"/latest/meta-data/tags/instance/slurm-ec2:launch", 200, "abc"},
	    {"/latest/meta-data/tags/instance/slurm-ec2%3Alaunch", 200, "abc"},
	    {"/latest/meta-data/tags/instance/", 200, "slurm-ec2:launch"},
	    {"/latest/meta-data/tags/instance/other", 404, NULL},
	    {"/latest/meta-data/instance-life-cycle", 200, "spot"},
	    {"/latest/meta-data/spot/instance-action", 404, NULL},
	};
	struct cloud *cloud = *state;
	const struct instance *i;
	int status;

	launch_with_tags(cloud, "enabled");
	launch_with_tags(cloud, "disabled");
	for (size_t k = 0; k < COUNT(table); k++) {
		char *text = metadata(cloud, cloud->instances.v[0]->ip, table[k].path, &status);

		if (status != table[k].status)
			print_error("%s\n", table[k].path);
		assert_int_equal(status, table[k].status);
		if (table[k].text)
			assert_string_equal(text, table[k].text);
		free(text);
	}
	i = cloud->instances.v[1];
	free(metadata(cloud, i->ip, table[0].path, &status));
	assert_int_equal(status, 404);
	cloud->instances.v[0]->spot_action_ms = clock_wall_ms() + 120000;
	free(metadata(cloud, cloud->instances.v[0]->ip, "/latest/meta-data/spot/instance-action", &status));
	assert_int_equal(status, 200);
}

static void test_role_key_renewed(void **state)
{
	struct cloud *cloud = *state;
	struct err e = {""};
	const struct key *given, *fresh;

	assert_int_equal(cloud_add_key(cloud, "ASIAROLE:secret:token", &e), 0);
	assert_int_equal(cloud_set_role(cloud, "head=ASIAROLE", &e), 0);
	given = cloud_role_key(cloud, 1000);
	assert_string_equal(given->access, "ASIAROLE");
	assert_int_equal(cloud_expire_key(cloud, "ASIAROLE", "ExpiredToken", 1000, &e), 0);
	fresh = cloud_role_key(cloud, 1000);
	assert_ptr_not_equal(fresh, given);
	assert_string_equal(given->expired_code, "ExpiredToken");
	assert_null(fresh->expired_code);
	cloud->session_s = 10;
	given = cloud_role_key(cloud, fresh->expires_ms - 4000); /* less than half its life is left */
	assert_ptr_not_equal(fresh, given);
	assert_ptr_equal(cloud_role_key(cloud, given->expires_ms - 6000), given);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bucket),
	    cmocka_unit_test(test_capacity_rules),
	    cmocka_unit_test(test_first_rule_counts),
	    cmocka_unit_test(test_quota_families),
	    cmocka_unit_test(test_reservation_in_time),
	    cmocka_unit_test_setup_teardown(test_reservation_counts, begin, end),
	    cmocka_unit_test_setup_teardown(test_open_reservation, begin, end),
	    cmocka_unit_test(test_rates_from_the_start),
	    cmocka_unit_test_setup_teardown(test_control_refusals, begin, end),
	    cmocka_unit_test_setup_teardown(test_metadata_tags, begin, end),
	    cmocka_unit_test_setup_teardown(test_role_key_renewed, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
