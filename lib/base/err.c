/* SPDX-License-Identifier: GPL-2.0-or-later */
/* err.c - one error as a value. Used by every library; never logs, never exits, leaves errno as it was. */
#include "lib/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* e->text = the formatted text, with ": " and tail behind it if there is a tail. Built aside first: an argument or the tail may
 * be the very text that is replaced. Always -1. */
static int compose(struct err *e, const char *tail, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));
static int compose(struct err *e, const char *tail, const char *fmt, va_list ap)
{
	char text[ERR_TEXT_MAX];
	int saved = errno, n;
	size_t used;

	if (!e)
		return -1;
	n = vsnprintf(text, sizeof text, fmt, ap);
	if (n < 0)
		n = snprintf(text, sizeof text, "(an error whose text could not be formatted)");
	if (n < ERR_TEXT_MAX && tail) {
		used = (size_t)n;
		n += snprintf(text + used, sizeof text - used, ": %s", tail);
	}
	if (n >= ERR_TEXT_MAX)
		memcpy(text + ERR_TEXT_MAX - 4, "...", 4);
	memcpy(e->text, text, strlen(text) + 1);
	errno = saved;
	return -1;
}

int err_set(struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	compose(e, NULL, fmt, ap);
	va_end(ap);
	return -1;
}

int err_prefix(struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	compose(e, e ? e->text : NULL, fmt, ap);
	va_end(ap);
	return -1;
}

int err_errno(struct err *e, int num, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	compose(e, strerror(num), fmt, ap);
	va_end(ap);
	return -1;
}

int err_nomem(struct err *e)
{
	return err_set(e, "out of memory");
}
