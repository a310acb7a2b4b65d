/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log.c - the one logger. Called by main() and the top of loops; one write() a line, so that processes may share a file. */
#include "lib/base/log.h"

#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
	char ident[64];
	int fd; /* -1 = stderr */
	enum log_level level;
} state = {.ident = "slurm-ec2", .fd = -1, .level = LOG_INFO_LEVEL};

static const char *const level_name[] = {"error", "warning", "info", "debug"};

int log_open(const char *ident, const char *path, enum log_level level, struct err *e)
{
	int fd = -1, num = 0;

	if (path) {
		fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0640);
		num = errno;
	}
	log_close();
	snprintf(state.ident, sizeof state.ident, "%s", ident);
	state.level = level;
	state.fd = fd;
	if (path && fd < 0)
		return err_errno(e, num, "cannot open the log file %s", path);
	return 0;
}

void log_close(void)
{
	if (state.fd >= 0)
		close(state.fd);
	state.fd = -1;
}

int log_level_parse(const char *text, enum log_level *out)
{
	for (size_t i = 0; text && i < sizeof level_name / sizeof *level_name; i++) {
		if (strcmp(text, level_name[i]) == 0) {
			*out = (enum log_level)i;
			return 0;
		}
	}
	return -1;
}

static void add_escaped(struct buf *line, const char *text)
{
	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c < 0x20 || c == 0x7f)
			buf_fmt(line, "\\x%02x", (unsigned)c);
		else
			buf_char(line, *p);
	}
}

static void put(const char *bytes, size_t n)
{
	int fd = state.fd >= 0 ? state.fd : STDERR_FILENO;

	while (n) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return; /* a full disk must not stop the work that is logged */
		bytes += done;
		n -= (size_t)done;
	}
}

static void add(enum log_level level, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
static void add(enum log_level level, const char *fmt, va_list ap)
{
	struct buf text = {0}, line = {0};
	int saved = errno;
	char now[25];

	if (level > state.level)
		return;
	clock_iso(clock_wall_ms(), now);
	buf_vfmt(&text, fmt, ap);
	buf_fmt(&line, "%s %s[%ld]: %s: ", now, state.ident, (long)getpid(), level_name[level]);
	add_escaped(&line, buf_failed(&text) ? "(a message was lost: out of memory)" : buf_text(&text));
	buf_char(&line, '\n');
	if (!buf_failed(&line))
		put(line.v, line.n);
	buf_free(&line);
	buf_free(&text);
	errno = saved;
}

#define LOG_AT(level) \
	do { \
		va_list ap; \
		va_start(ap, fmt); \
		add(level, fmt, ap); \
		va_end(ap); \
	} while (0)

void log_error(const char *fmt, ...)
{
	LOG_AT(LOG_ERROR_LEVEL);
}

void log_fatal(const char *fmt, ...)
{
	struct buf text = {0};
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&text, fmt, ap);
	va_end(ap);
	log_error("%s", buf_text(&text));
	if (state.fd >= 0)
		dprintf(STDERR_FILENO, "%s: %s\n", state.ident, buf_text(&text));
	buf_free(&text);
}

void log_warn(const char *fmt, ...)
{
	LOG_AT(LOG_WARN_LEVEL);
}

void log_info(const char *fmt, ...)
{
	LOG_AT(LOG_INFO_LEVEL);
}

void log_debug(const char *fmt, ...)
{
	LOG_AT(LOG_DEBUG_LEVEL);
}
