/* SPDX-License-Identifier: GPL-2.0-or-later */
/* num.c - the only text-to-number code. Strict: the whole text is the number or it is refused, and the reason names the text.
 * Pure but for the C locale, which it asks for by name.
 */
#include "lib/base/num.h"

#include "lib/base/err.h"
#include "lib/base/str.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 64 /* bytes of a refused text that a message repeats */

static size_t digits(const char *s)
{
	size_t n = 0;

	while (s[n] >= '0' && s[n] <= '9')
		n++;
	return n;
}

/* Length of "0" or of digits without a leading zero; 0 if it is neither. */
static size_t whole_part(const char *s)
{
	size_t n = digits(s);

	return n > 1 && s[0] == '0' ? 0 : n;
}

static int not_whole(const char *text, struct err *e)
{
	return err_set(e, "\"%.*s\" is not a whole number", SHOWN, text);
}

int num_i64(const char *text, int64_t min, int64_t max, int64_t *out, struct err *e)
{
	bool negative = text && text[0] == '-';
	const char *p = negative ? text + 1 : text;
	int64_t value = 0;
	bool beyond = false;

	if (!text)
		return err_set(e, "a whole number is missing");
	if (whole_part(p) == 0 || p[whole_part(p)] || (negative && p[0] == '0'))
		return not_whole(text, e);
	for (; *p && !beyond; p++) {
		int digit = negative ? -(*p - '0') : *p - '0'; /* counted downwards, INT64_MIN has no special case */

		beyond = __builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value);
	}
	if (beyond ? negative : value < min)
		return err_set(e, "%.*s is below the least value %" PRId64, SHOWN, text, min);
	if (beyond || value > max)
		return err_set(e, "%.*s is above the greatest value %" PRId64, SHOWN, text, max);
	*out = value;
	return 0;
}

static bool plain_decimal(const char *p)
{
	size_t n;

	if (*p == '-')
		p++;
	n = whole_part(p);
	if (n == 0)
		return false;
	p += n;
	if (*p == '\0')
		return true;
	if (*p != '.')
		return false;
	n = digits(p + 1);
	return n > 0 && p[1 + n] == '\0';
}

/* strtod of a text that plain_decimal() has taken; a decimal comma in the user's locale must not matter. */
static int decimal_value(const char *text, double *out)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), old;

	if (!c)
		return -1;
	old = uselocale(c);
	*out = strtod(text, NULL);
	uselocale(old);
	freelocale(c);
	return 0;
}

int num_double(const char *text, double min, double max, double *out, struct err *e)
{
	double value;

	if (!text)
		return err_set(e, "a number is missing");
	if (!plain_decimal(text))
		return err_set(e, "\"%.*s\" is not a plain number such as 0.05", SHOWN, text);
	if (decimal_value(text, &value))
		return err_nomem(e);
	if (value < min)
		return err_set(e, "%.*s is below the least value %g", SHOWN, text, min);
	if (value > max || isinf(value))
		return err_set(e, "%.*s is above the greatest value %g", SHOWN, text, max);
	*out = value;
	return 0;
}

int num_bool(const char *text, int *out, struct err *e)
{
	static const char *const word[] = {"false", "true", "no", "yes", "off", "on", "f", "t", "n", "y", "0", "1"};
	char low[8];

	if (!text)
		return err_set(e, "true or false is missing");
	if (strlen(text) < sizeof low) {
		strcpy(low, text);
		str_lower(low);
		for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
			if (strcmp(low, word[i]) == 0) {
				*out = i % 2 != 0;
				return 0;
			}
		}
	}
	return err_set(e, "\"%.*s\" is neither true nor false", SHOWN, text);
}

static int64_t unit_seconds(const char *unit)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(unit, units[i].name) == 0)
			return units[i].seconds;
	return 0;
}

int num_duration_s(const char *text, int64_t *out, struct err *e)
{
	char count[24]; /* longer than any int64_t */
	int64_t value, unit;
	size_t n;

	if (!text)
		return err_set(e, "a time is missing");
	n = digits(text);
	unit = unit_seconds(text + n);
	if (n == 0 || n >= sizeof count || unit == 0)
		return err_set(e, "\"%.*s\" is not a time such as 90, 90s, 2m, 1h or 1d", SHOWN, text);
	memcpy(count, text, n);
	count[n] = '\0';
	if (num_i64(count, 0, INT64_MAX / unit, &value, e))
		return -1;
	*out = value * unit;
	return 0;
}
