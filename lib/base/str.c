/* SPDX-License-Identifier: GPL-2.0-or-later */
/* str.c - single strings: copies, comparison, "did you mean". ASCII only, whatever the locale. Pure. */
#include "lib/base/str.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *str_dup(const char *s)
{
	size_t n;
	char *copy;

	if (!s)
		return NULL;
	n = strlen(s) + 1;
	copy = malloc(n);
	if (copy)
		memcpy(copy, s, n);
	return copy;
}

/* Most texts are short: formatted once, then copied. */
char *str_vfmt(const char *fmt, va_list ap)
{
	char usual[256];
	va_list again;
	char *s;
	int n;

	va_copy(again, ap);
	n = vsnprintf(usual, sizeof usual, fmt, again);
	va_end(again);
	s = n < 0 ? NULL : malloc((size_t)n + 1);
	if (s && (size_t)n < sizeof usual)
		memcpy(s, usual, (size_t)n + 1);
	else if (s)
		vsnprintf(s, (size_t)n + 1, fmt, ap);
	return s;
}

char *str_fmt(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = str_vfmt(fmt, ap);
	va_end(ap);
	return s;
}

bool str_eq(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return strcmp(a, b) == 0;
}

bool str_prefix(const char *s, const char *prefix)
{
	return s && strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_suffix(const char *s, const char *suffix)
{
	size_t n = s ? strlen(s) : 0, k = strlen(suffix);

	return s && n >= k && strcmp(s + n - k, suffix) == 0;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

uint32_t str_hash(const char *s)
{
	size_t n = strlen(s);
	uint64_t h = n, word;

	for (; n; s += n < sizeof word ? n : sizeof word, n -= n < sizeof word ? n : sizeof word) {
		word = 0;
		memcpy(&word, s, n < sizeof word ? n : sizeof word);
		h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	return (uint32_t)h;
}

char *str_lower(char *s)
{
	for (char *p = s; *p; p++)
		*p = lower(*p);
	return s;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* One row of the distance table: a[i-1] against all of b. `before` and `last` are the two rows above. Returns the row's least
 * value. */
static size_t fill_row(const char *a, size_t i, const char *b, size_t nb, const size_t *before, const size_t *last, size_t *now)
{
	size_t min = now[0] = i;

	for (size_t j = 1; j <= nb; j++) {
		bool same = lower(a[i - 1]) == lower(b[j - 1]);

		now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + (same ? 0 : 1));
		if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
			now[j] = least(now[j], before[j - 2] + 1);
		min = least(min, now[j]);
	}
	return min;
}

size_t str_distance(const char *a, const char *b, size_t limit)
{
	size_t na = strlen(a), nb = strlen(b);
	size_t apart = na > nb ? na - nb : nb - na;
	size_t *rows, *before, *last, *now, result = limit + 1;

	if (apart > limit)
		return limit + 1;
	rows = calloc(3 * (nb + 1), sizeof *rows);
	if (!rows)
		return limit + 1;
	before = rows;
	last = rows + nb + 1;
	now = rows + 2 * (nb + 1);
	for (size_t j = 0; j <= nb; j++)
		last[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *spare = before;
		size_t min = fill_row(a, i, b, nb, before, last, now);

		/* a swap reaches two rows back, so a row above the limit ends it only together with the one before */
		if (min > limit + 1)
			goto out;
		before = last;
		last = now;
		now = spare;
	}
	result = least(last[nb], limit + 1);
out:
	free(rows);
	return result;
}

const char *str_nearest(const char *s, const char *const *candidates, size_t n)
{
	size_t limit = least(strlen(s) / 3, 4);
	const char *best = NULL;

	if (limit == 0)
		limit = 1;
	for (size_t i = 0; i < n; i++) {
		size_t d = str_distance(s, candidates[i], limit);

		if (d > limit)
			continue;
		best = candidates[i];
		if (d == 0)
			break;
		limit = d - 1; /* only a nearer one can replace it */
	}
	return best;
}
