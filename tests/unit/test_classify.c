/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_classify.c - what each error means, and how long to wait after it. */
#include "lib/aws/aws.h"
#include "lib/aws/retry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void classes(void **state)
{
	static const struct {
		int status;
		const char *code;
		enum aws_class want;
	} rows[] = {
		{500, "InsufficientInstanceCapacity", AWS_CAPACITY}, /* as it really arrives */
		{400, "InsufficientInstanceCapacity", AWS_CAPACITY},
		{400, "Unsupported", AWS_CAPACITY},
		{400, "UnfulfillableCapacity", AWS_CAPACITY},
		{400, "MaxSpotInstanceCountExceeded", AWS_CAPACITY},
		{200, "MaxFleetCountExceeded", AWS_QUOTA},
		{400, "SpotMaxPriceTooLow", AWS_CAPACITY},
		{400, "ReservationCapacityExceeded", AWS_CAPACITY},
		{500, "InsufficientSomethingNew", AWS_CAPACITY},
		{400, "InsufficientFreeAddressesInSubnet", AWS_CAPACITY},
		{400, "VcpuLimitExceeded", AWS_QUOTA},
		{400, "InstanceLimitExceeded", AWS_QUOTA},
		{400, "SomeNewLimitExceeded", AWS_QUOTA},
		{503, "RequestLimitExceeded", AWS_THROTTLE},
		{400, "Throttling", AWS_THROTTLE},
		{400, "BandwidthLimitExceeded", AWS_THROTTLE},
		{400, "NewThrottlingKind", AWS_THROTTLE},
		{429, NULL, AWS_THROTTLE},
		{500, "InternalError", AWS_TRANSIENT},
		{503, "Unavailable", AWS_TRANSIENT},
		{500, NULL, AWS_TRANSIENT},
		{502, "", AWS_TRANSIENT},
		{503, NULL, AWS_TRANSIENT},
		{504, NULL, AWS_TRANSIENT},
		{408, NULL, AWS_TRANSIENT},
		{0, "RequestTimeout", AWS_TRANSIENT},
		{0, NULL, AWS_TRANSIENT},
		{500, "NeverHeardOf", AWS_TRANSIENT},
		{200, "NeverHeardOf", AWS_TRANSIENT},
		{401, "AuthFailure", AWS_CREDENTIALS},
		{400, "ExpiredToken", AWS_CREDENTIALS},
		{403, "SignatureDoesNotMatch", AWS_CREDENTIALS},
		{403, "RequestTimeTooSkewed", AWS_CREDENTIALS},
		{401, NULL, AWS_CREDENTIALS},
		{403, "UnauthorizedOperation", AWS_OURS},
		{412, "DryRunOperation", AWS_OURS},
		{400, "IdempotentParameterMismatch", AWS_OURS},
		{400, "InvalidParameterValue", AWS_OURS},
		{400, "InvalidInstanceID.NotFound", AWS_OURS},
		{400, "MissingParameter", AWS_OURS},
		{400, "UnknownParameter", AWS_OURS},
		{500, "InvalidParameterValue", AWS_OURS},
		{400, "NeverHeardOf", AWS_OURS},
		{403, NULL, AWS_OURS},
		{307, NULL, AWS_OURS},
		{200, NULL, AWS_OK},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		enum aws_class got = aws_classify(rows[i].status, rows[i].code);

		if (got != rows[i].want)
			fail_msg("%d %s: %s, want %s", rows[i].status, rows[i].code ? rows[i].code : "-", aws_class_text(got),
				 aws_class_text(rows[i].want));
	}
}

/* Every code that we know of, as it usually arrives and as a fleet lists it (HTTP 200). */
static void known_codes(void **state)
{
	static const struct {
		enum aws_class want;
		int status;
		const char *const codes[16];
	} rows[] = {
		{AWS_CAPACITY, 500,
		 {"InsufficientInstanceCapacity", "InsufficientHostCapacity", "InsufficientReservedInstanceCapacity",
		  "MaxSpotInstanceCountExceeded", "SpotMaxPriceTooLow", "Unsupported", "UnfulfillableCapacity", "InsufficientCapacity",
		  "ReservationCapacityExceeded", "InsufficientCapacityOnHost", "InsufficientFreeAddressesInSubnet",
		  "Server.InsufficientInstanceCapacity", "InvalidFleetConfiguration"}},
		{AWS_QUOTA, 400,
		 {"InstanceLimitExceeded", "VcpuLimitExceeded", "VolumeLimitExceeded", "MaxIOPSLimitExceeded",
		  "PlacementGroupLimitExceeded", "PendingVerification", "Client.InstanceLimitExceeded"}},
		{AWS_THROTTLE, 503,
		 {"RequestLimitExceeded", "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled",
		  "RequestThrottledException", "TooManyRequestsException", "ProvisionedThroughputExceededException",
		  "TransactionInProgressException", "BandwidthLimitExceeded", "LimitExceededException", "SlowDown",
		  "PriorRequestNotComplete", "EC2ThrottledException"}},
		{AWS_TRANSIENT, 500,
		 {"RequestTimeout", "RequestTimeoutException", "InternalError", "InternalFailure", "Unavailable",
		  "ServiceUnavailable", "Server.InternalError"}},
		{AWS_CREDENTIALS, 403,
		 {"ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidClientTokenId", "AuthFailure",
		  "UnrecognizedClientException", "SignatureDoesNotMatch", "RequestTimeTooSkewed"}},
		{AWS_OURS, 400,
		 {"IdempotentParameterMismatch", "InvalidParameterValue", "InvalidParameterCombination", "MissingParameter",
		  "UnknownParameter", "InvalidAMIID.NotFound", "InvalidLaunchTemplateId.VersionNotFound", "DryRunOperation",
		  "InvalidFleetConfig", "UnsupportedOperation", "UnauthorizedOperation",
		  "OptInRequired", "Client.InvalidParameterValue"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (const char *const *code = rows[i].codes; *code; code++) {
			enum aws_class a = aws_classify(rows[i].status, *code), b = aws_classify(200, *code), c = aws_classify(500, *code);

			if (a != rows[i].want || b != rows[i].want || c != rows[i].want)
				fail_msg("%s: %s, %s in a fleet, %s as 500; want %s", *code, aws_class_text(a), aws_class_text(b),
					 aws_class_text(c), aws_class_text(rows[i].want));
		}
}

static void texts(void **state)
{
	(void)state;
	assert_string_equal(aws_class_text(AWS_OK), "ok");
	assert_string_equal(aws_class_text(AWS_OURS), "ours");
	assert_string_equal(aws_class_text((enum aws_class)99), "unknown");
}

static void delays(void **state)
{
	static const struct {
		enum aws_class class;
		int tries;
		double chance;
		int64_t told, want;
	} rows[] = {
		{AWS_THROTTLE, 1, 0, 0, 500},	      {AWS_THROTTLE, 1, 0.5, 0, 750},	    {AWS_THROTTLE, 2, 0, 0, 1000},
		{AWS_THROTTLE, 3, 0, 0, 2000},	      {AWS_THROTTLE, 100, 0, 0, 10000},	    {AWS_THROTTLE, 1, 0, 7000, 7000},
		{AWS_THROTTLE, 1, 0, 999000, 60000},  {AWS_TRANSIENT, 1, 0, 0, 50},	    {AWS_TRANSIENT, 1, 0.5, 0, 75},
		{AWS_TRANSIENT, 4, 0, 0, 400},	      {AWS_TRANSIENT, 1000000, 0, 0, 2500}, {AWS_TRANSIENT, 1, 0, 10, 50},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(retry_delay_ms(rows[i].class, rows[i].tries, rows[i].chance, rows[i].told), rows[i].want);
}

static void worth(void **state)
{
	(void)state;
	assert_true(retry_worthwhile(AWS_THROTTLE));
	assert_true(retry_worthwhile(AWS_TRANSIENT));
	assert_false(retry_worthwhile(AWS_CAPACITY));
	assert_false(retry_worthwhile(AWS_QUOTA));
	assert_false(retry_worthwhile(AWS_CREDENTIALS));
	assert_false(retry_worthwhile(AWS_OURS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(classes), cmocka_unit_test(known_codes), cmocka_unit_test(texts),
					   cmocka_unit_test(delays), cmocka_unit_test(worth)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
