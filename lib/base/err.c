/* SPDX-License-Identifier: GPL-2.0-or-later */
/* err.c - one error as a value. Used by every library; never logs, never exits, leaves errno as it was. */
#include "lib/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Format into a copy first: an argument may be the very text that is replaced. */
static void format(char out[ERR_TEXT_MAX], const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
static void format(char out[ERR_TEXT_MAX], const char *fmt, va_list ap)
{
	int n = vsnprintf(out, ERR_TEXT_MAX, fmt, ap);

	if (n < 0)
		snprintf(out, ERR_TEXT_MAX, "(an error whose text could not be formatted)");
	else if (n >= ERR_TEXT_MAX)
		memcpy(out + ERR_TEXT_MAX - 4, "...", 4);
}

/* e->text = head + ": " + tail */
static int join(struct err *e, const char *head, const char *tail)
{
	char both[2 * ERR_TEXT_MAX + 3];
	int n = snprintf(both, sizeof both, "%s: %s", head, tail);

	if (n >= ERR_TEXT_MAX)
		memcpy(both + ERR_TEXT_MAX - 4, "...", 4);
	memcpy(e->text, both, strlen(both) + 1);
	return -1;
}

int err_set(struct err *e, const char *fmt, ...)
{
	int saved = errno;
	char text[ERR_TEXT_MAX];
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	format(text, fmt, ap);
	va_end(ap);
	memcpy(e->text, text, sizeof text);
	errno = saved;
	return -1;
}

int err_prefix(struct err *e, const char *fmt, ...)
{
	int saved = errno;
	char head[ERR_TEXT_MAX], tail[ERR_TEXT_MAX];
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	format(head, fmt, ap);
	va_end(ap);
	memcpy(tail, e->text, sizeof tail);
	tail[ERR_TEXT_MAX - 1] = '\0';
	join(e, head, tail);
	errno = saved;
	return -1;
}

int err_errno(struct err *e, int num, const char *fmt, ...)
{
	int saved = errno;
	char head[ERR_TEXT_MAX];
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	format(head, fmt, ap);
	va_end(ap);
	join(e, head, strerror(num));
	errno = saved;
	return -1;
}

int err_nomem(struct err *e)
{
	return err_set(e, "out of memory");
}
