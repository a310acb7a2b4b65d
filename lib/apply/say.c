/* SPDX-License-Identifier: GPL-2.0-or-later */
/* say.c - log changes, not states: has this sentence been said lately? A loop that fails the same way every minute says so
 * every ten. */
#include "lib/apply/apply.h"

#include "lib/base/clock.h"

#define SLOTS 512 /* sentences remembered; two that fall on one slot push each other out, which only says one more often */
#define AGAIN_MS 600000

static struct {
	uint64_t hash;
	int64_t said_ms;
} slot[SLOTS];

static uint64_t hash(const char *text)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return h;
}

bool say_again(const char *text)
{
	uint64_t h = hash(text);
	int64_t now = clock_mono_ms();

	if (slot[h % SLOTS].hash == h && now - slot[h % SLOTS].said_ms < AGAIN_MS)
		return false;
	slot[h % SLOTS].hash = h;
	slot[h % SLOTS].said_ms = now;
	return true;
}
