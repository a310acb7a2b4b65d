/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rate.c - a token bucket's size and refill from a text. Called by apply for the keys of settings.yaml. Pure. */
#include "lib/aws/aws.h"

#include "lib/base/err.h"
#include "lib/base/num.h"

#include <string.h>

#define LEAST 0.001
#define MOST 1e9

int aws_rate_parse(const char *text, struct aws_rate *out, struct err *e)
{
	const char *slash = text ? strchr(text, '/') : NULL;
	struct aws_rate r = {0, 0};
	char size[24] = "";

	if (text && !strcmp(text, "none"))
		r.size = -1;
	if (text && r.size == 0) {
		if (slash && (size_t)(slash - text) < sizeof size)
			memcpy(size, text, (size_t)(slash - text));
		if (!slash || num_double(size, LEAST, MOST, &r.size, NULL) ||
		    num_double(slash + 1, LEAST, MOST, &r.per_second, NULL))
			return err_set(e, "\"%s\" is not a rate; it is SIZE/PER_SECOND such as 5/2, or none", text);
	}
	*out = r;
	return 0;
}
