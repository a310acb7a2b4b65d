/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet.c - from what a person asked of the fleet to partitions and nodes. */
#include "lib/plan/fleet.h"

#include "lib/base/str.h"

#include <string.h>

static const char *const status_text[] = { "RUNNING", "STOP_REQUESTED", "STOPPING", "STOPPED", "START_REQUESTED", "STARTING" };

const char *fleet_status_text(enum fleet_status s)
{
	return status_text[s];
}

int fleet_parse(const char *word, struct fleet *out)
{
	const char *end = word ? strchr(word, ' ') : NULL;
	size_t n = end ? (size_t)(end - word) : word ? strlen(word) : 0;

	*out = (struct fleet){ .status = FLEET_RUNNING, .now = end && str_eq(end + 1, "now") };
	if (!word)
		return 0;
	for (size_t i = 0; i < sizeof(status_text) / sizeof(status_text[0]); i++) {
		if (strlen(status_text[i]) == n && !strncmp(word, status_text[i], n)) {
			out->status = (enum fleet_status)i;
			return 0;
		}
	}
	return -1;
}

bool fleet_serves(enum fleet_status s)
{
	return s == FLEET_RUNNING || s == FLEET_START_REQUESTED || s == FLEET_STARTING;
}

int fleet_plan(const struct fleet_input *in, struct plan *out, struct err *e)
{
	(void)in;
	(void)out;
	(void)e;
	return 0;
}
