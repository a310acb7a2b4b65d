/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wish.c - words that `slurm-ec2 fleet` and `slurm-ec2 freeze` set, read by resume, suspend and clustermgtd. */
#include "lib/apply/wish.h"

#include "lib/base/err.h"
#include "lib/base/num.h"
#include "lib/state/store.h"

#include <stdlib.h>

int wish_read(struct store *s, int64_t now_ms, struct wish *out, struct err *e)
{
	char *fleet = NULL, *until = NULL;
	int64_t ms = 0;
	int rc;

	*out = (struct wish){ .fleet = { .status = FLEET_RUNNING } };
	rc = store_word(s, FLEET_WORD, &fleet, NULL, e);
	if (rc == 0)
		rc = store_word(s, FREEZE_WORD, &until, NULL, e);
	if (rc == 0)
		fleet_parse(fleet, &out->fleet);
	if (rc == 0 && until && num_i64(until, 0, INT64_MAX, &ms, NULL) == 0 && ms > now_ms)
		out->frozen_until_ms = ms;
	free(fleet);
	free(until);
	return rc;
}

void wish_clock(int64_t wall_ms, char out[CLOCK_MINUTE])
{
	clock_minute(wall_ms < INT64_MAX - 59999 ? wall_ms + 59999 : wall_ms, clock_wall_ms(), out);
}

bool wish_serves(const struct wish *w, const char **code, struct err *e)
{
	char clock[CLOCK_MINUTE];

	if (!fleet_serves(w->fleet.status)) {
		*code = CODE_FLEET_STOPPED;
		err_set(e, "The fleet is stopped, slurm-ec2 fleet start opens it");
		return false;
	}
	if (w->frozen_until_ms) {
		wish_clock(w->frozen_until_ms, clock);
		*code = CODE_FROZEN;
		err_set(e, "Nothing is launched until %s, slurm-ec2 freeze --end ends that", clock);
		return false;
	}
	return true;
}
