/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock.c - the clocks and the random source; the only place that asks the kernel for either. */
#include "lib/base/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define HALF_DAY_MS (INT64_C(12) * 60 * 60 * 1000)

static int64_t read_ms(clockid_t id)
{
	struct timespec t;

	if (clock_gettime(id, &t))
		return 0;
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t clock_wall_ms(void)
{
	return read_ms(CLOCK_REALTIME);
}

int64_t clock_mono_ms(void)
{
	return read_ms(CLOCK_MONOTONIC);
}

void clock_sleep_ms(int64_t ms)
{
	struct timespec left = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};

	if (ms <= 0)
		return;
	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

void clock_iso(int64_t wall_ms, char out[25])
{
	int64_t ms = wall_ms % 1000;
	time_t s;
	struct tm tm;
	char text[96]; /* a year of any length fits; what is cut below can only be a year beyond 9999 */

	s = (time_t)(wall_ms / 1000);
	if (ms < 0) {
		ms += 1000;
		s--;
	}
	if (!gmtime_r(&s, &tm) || tm.tm_year > 9999 - 1900 || tm.tm_year < -1900) {
		strcpy(out, "0000-00-00T00:00:00.000Z");
		return;
	}
	snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
		 tm.tm_hour, tm.tm_min, tm.tm_sec, (int)ms);
	memcpy(out, text, 24);
	out[24] = '\0';
}

void clock_minute(int64_t wall_ms, int64_t now_ms, char out[CLOCK_MINUTE])
{
	bool far = wall_ms > now_ms + HALF_DAY_MS || wall_ms < now_ms - HALF_DAY_MS;
	char iso[25];

	clock_iso(wall_ms, iso);
	snprintf(out, CLOCK_MINUTE, "%.*s%s%.5s UTC", far ? 10 : 0, iso, far ? " " : "", iso + 11);
}

/* Exactly n digits; moves *p behind them. -1 if they are not there. */
static int fixed(const char **p, int n)
{
	int value = 0;

	for (; n > 0; n--, (*p)++) {
		if (**p < '0' || **p > '9')
			return -1;
		value = value * 10 + (**p - '0');
	}
	return value;
}

static bool literal(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

/* ".123" to 123; digits beyond milliseconds are dropped. -1 if no digit follows the dot. */
static int fraction_ms(const char **p)
{
	int ms = 0, weight = 100;
	const char *start = *p;

	for (; **p >= '0' && **p <= '9'; (*p)++, weight /= 10)
		ms += (**p - '0') * weight;
	return *p == start ? -1 : ms;
}

/* timegm() takes a 30 February and moves on; such a date is refused here. */
static int to_seconds(const struct tm *given, int64_t *out)
{
	struct tm tm = *given;
	time_t t = timegm(&tm);

	if (tm.tm_year != given->tm_year || tm.tm_mon != given->tm_mon || tm.tm_mday != given->tm_mday ||
		tm.tm_hour != given->tm_hour || tm.tm_min != given->tm_min || tm.tm_sec != given->tm_sec)
		return -1;
	*out = (int64_t)t;
	return 0;
}

int clock_iso_parse(const char *text, int64_t *wall_ms)
{
	struct tm tm = {0};
	const char *p = text;
	int year, month, ms = 0;
	int64_t seconds;

	if (!text || (year = fixed(&p, 4)) < 0 || !literal(&p, '-') || (month = fixed(&p, 2)) < 0 || !literal(&p, '-') ||
		(tm.tm_mday = fixed(&p, 2)) < 0 || !literal(&p, 'T') || (tm.tm_hour = fixed(&p, 2)) < 0 || !literal(&p, ':') ||
		(tm.tm_min = fixed(&p, 2)) < 0 || !literal(&p, ':') || (tm.tm_sec = fixed(&p, 2)) < 0)
		return -1;
	if (literal(&p, '.') && (ms = fraction_ms(&p)) < 0)
		return -1;
	if (!literal(&p, 'Z') || *p)
		return -1;
	tm.tm_year = year - 1900;
	tm.tm_mon = month - 1;
	if (to_seconds(&tm, &seconds))
		return -1;
	*wall_ms = seconds * 1000 + ms;
	return 0;
}

static void random_bytes(void *out, size_t n)
{
	unsigned char *p = out;

	while (n) {
		ssize_t got = getrandom(p, n, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			abort(); /* ids would collide: no program of ours may go on */
		p += got;
		n -= (size_t)got;
	}
}

void rand_hex(char *out, size_t n)
{
	static const char digit[] = "0123456789abcdef";
	unsigned char bytes[32];

	for (size_t i = 0; i < n; i++) {
		size_t at = i / 2 % sizeof bytes;

		if (i % (2 * sizeof bytes) == 0) /* a system call for each byte would cost more than all the rest */
			random_bytes(bytes, n - i < 2 * sizeof bytes ? (n - i + 1) / 2 : sizeof bytes);
		out[i] = digit[i % 2 ? bytes[at] & 15 : bytes[at] >> 4];
	}
	out[n] = '\0';
}

void rand_uuid(char out[37])
{
	char hex[33];

	rand_hex(hex, 32);
	hex[12] = '4';
	hex[16] = "89ab"[hex[16] & 3];
	snprintf(out, 37, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
}

double rand_unit(void)
{
	uint64_t bits;

	random_bytes(&bits, sizeof bits);
	return (double)(bits >> 11) / 9007199254740992.0; /* 2^53 */
}
