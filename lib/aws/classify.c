/* SPDX-License-Identifier: GPL-2.0-or-later */
/* classify.c - what to do about an error: by EC2's code first, because a lack of capacity arrives as HTTP 500. Pure. */
#include "lib/aws/aws.h"

#include "lib/base/str.h"

#include <string.h>

struct known {
	const char *code;
	enum aws_class class;
};

static const struct known known[] = {
	{"InsufficientInstanceCapacity", AWS_CAPACITY},
	{"InsufficientHostCapacity", AWS_CAPACITY},
	{"InsufficientReservedInstanceCapacity", AWS_CAPACITY},
	{"InsufficientCapacity", AWS_CAPACITY},
	{"InsufficientCapacityOnHost", AWS_CAPACITY},
	{"InsufficientFreeAddressesInSubnet", AWS_CAPACITY},
	{"UnfulfillableCapacity", AWS_CAPACITY},
	{"ReservationCapacityExceeded", AWS_CAPACITY},
	{"MaxSpotInstanceCountExceeded", AWS_CAPACITY},
	{"SpotMaxPriceTooLow", AWS_CAPACITY},
	{"Unsupported", AWS_CAPACITY}, /* the type is not offered in this zone */
	{"InvalidFleetConfiguration", AWS_CAPACITY}, /* the same of a fleet's choice; a wrong request is InvalidFleetConfig */

	{"InstanceLimitExceeded", AWS_QUOTA},
	{"VcpuLimitExceeded", AWS_QUOTA},
	{"MaxFleetCountExceeded", AWS_QUOTA},
	{"VolumeLimitExceeded", AWS_QUOTA},
	{"MaxIOPSLimitExceeded", AWS_QUOTA},
	{"PlacementGroupLimitExceeded", AWS_QUOTA},
	{"PendingVerification", AWS_QUOTA}, /* a new account or region, for minutes or hours */

	{"RequestLimitExceeded", AWS_THROTTLE},
	{"Throttling", AWS_THROTTLE},
	{"ThrottlingException", AWS_THROTTLE},
	{"ThrottledException", AWS_THROTTLE},
	{"RequestThrottled", AWS_THROTTLE},
	{"RequestThrottledException", AWS_THROTTLE},
	{"TooManyRequestsException", AWS_THROTTLE},
	{"ProvisionedThroughputExceededException", AWS_THROTTLE},
	{"TransactionInProgressException", AWS_THROTTLE},
	{"BandwidthLimitExceeded", AWS_THROTTLE},
	{"LimitExceededException", AWS_THROTTLE},
	{"SlowDown", AWS_THROTTLE},
	{"PriorRequestNotComplete", AWS_THROTTLE},
	{"EC2ThrottledException", AWS_THROTTLE},

	{"RequestTimeout", AWS_TRANSIENT},
	{"RequestTimeoutException", AWS_TRANSIENT},
	{"InternalError", AWS_TRANSIENT},
	{"InternalFailure", AWS_TRANSIENT},
	{"Unavailable", AWS_TRANSIENT},
	{"ServiceUnavailable", AWS_TRANSIENT},
	{"ConnectFailure", AWS_TRANSIENT},

	{"ExpiredToken", AWS_CREDENTIALS},
	{"ExpiredTokenException", AWS_CREDENTIALS},
	{"RequestExpired", AWS_CREDENTIALS},
	{"RequestTimeTooSkewed", AWS_CREDENTIALS},
	{"InvalidClientTokenId", AWS_CREDENTIALS},
	{"AuthFailure", AWS_CREDENTIALS},
	{"UnrecognizedClientException", AWS_CREDENTIALS},
	{"SignatureDoesNotMatch", AWS_CREDENTIALS},
	{"NoCredentials", AWS_CREDENTIALS},

	{"UnauthorizedOperation", AWS_OURS},
	{"OptInRequired", AWS_OURS},
	{"DryRunOperation", AWS_OURS},
	{"IdempotentParameterMismatch", AWS_OURS},
};

static bool has_suffix(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && !strcmp(s + n - m, suffix);
}

/* Codes we do not know by name, by the words EC2 makes them of. AWS_OK = says nothing. */
static enum aws_class by_words(const char *code)
{
	if (str_prefix(code, "Insufficient"))
		return AWS_CAPACITY;
	if (strstr(code, "Throttl"))
		return AWS_THROTTLE;
	if (has_suffix(code, "LimitExceeded"))
		return AWS_QUOTA;
	if (str_prefix(code, "Invalid") || str_prefix(code, "Missing") || str_prefix(code, "Unknown") ||
	    str_prefix(code, "Unsupported"))
		return AWS_OURS;
	return AWS_OK;
}

/* Reasons of an instance's state and of a fleet say whose fault it is first: "Server.InsufficientInstanceCapacity". */
static const char *without_side(const char *code)
{
	return str_prefix(code, "Server.") || str_prefix(code, "Client.") ? code + 7 : code;
}

static enum aws_class by_status(int http_status)
{
	if (http_status == 429)
		return AWS_THROTTLE;
	if (http_status == 0 || http_status == 408 || http_status >= 500)
		return AWS_TRANSIENT;
	if (http_status == 401)
		return AWS_CREDENTIALS;
	return AWS_OURS;
}

enum aws_class aws_classify(int http_status, const char *code)
{
	enum aws_class c;

	if (!code || !*code)
		return http_status / 100 == 2 ? AWS_OK : by_status(http_status);
	code = without_side(code);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(code, known[i].code))
			return known[i].class;
	c = by_words(code);
	if (c != AWS_OK)
		return c;
	return by_status(http_status / 100 == 2 ? 0 : http_status);
}

const char *aws_class_text(enum aws_class c)
{
	static const char *const text[] = {"ok", "capacity", "quota", "throttle", "transient", "credentials", "ours"};

	return (size_t)c < sizeof text / sizeof *text ? text[c] : "unknown";
}
