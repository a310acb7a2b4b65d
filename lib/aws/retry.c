/* SPDX-License-Identifier: GPL-2.0-or-later */
/* retry.c - exponential backoff with jitter. Called by perform.c. */
#include "lib/aws/retry.h"

#include <string.h>

#define SCALE_THROTTLE_MS 1000
#define SCALE_TRANSIENT_MS 100
#define CAP_THROTTLE_MS 20000
#define CAP_TRANSIENT_MS 5000 /* a head node that lost its network should notice its return soon */
#define CAP_TOLD_MS 60000     /* nobody may put us to sleep for longer */

bool retry_worthwhile(enum aws_class c)
{
	return c == AWS_THROTTLE || c == AWS_TRANSIENT;
}

bool retry_is_skew(const struct aws_error *error)
{
	if (!strcmp(error->code, "RequestTimeTooSkewed") || !strcmp(error->code, "RequestExpired"))
		return true;
	return (!strcmp(error->code, "SignatureDoesNotMatch") || !strcmp(error->code, "AuthFailure")) &&
	       (strstr(error->message, "expired") || strstr(error->message, "not yet current") ||
		strstr(error->message, "not within the allowed time"));
}

int64_t retry_delay_ms(enum aws_class c, int tries, double chance, int64_t told_ms)
{
	int64_t cap = c == AWS_THROTTLE ? CAP_THROTTLE_MS : CAP_TRANSIENT_MS;
	int64_t delay = c == AWS_THROTTLE ? SCALE_THROTTLE_MS : SCALE_TRANSIENT_MS;

	for (int i = 1; i < tries && delay < cap; i++)
		delay *= 2;
	if (delay > cap)
		delay = cap;
	/* At least half: a near-zero wait after a refusal only earns the next one. */
	delay = delay / 2 + (int64_t)(chance * (double)delay / 2);
	if (told_ms > CAP_TOLD_MS)
		told_ms = CAP_TOLD_MS;
	return delay > told_ms ? delay : told_ms;
}
