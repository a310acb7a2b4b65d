/* SPDX-License-Identifier: GPL-2.0-or-later */
/* console.c - one file a machine, so that no machine's output pushes out another's; a bounded number of them. What a machine
 * prints is not trusted: it goes to a file as it is, and to an event only what can be printed. */
#include "lib/apply/console.h"

#include "lib/apply/failed_boot.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_MAX_BYTES 200
#define LETTERS "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

/* ---- the file */

static bool is_name(const char *text, const char *set)
{
	size_t n = strlen(text);

	return n > 0 && n <= 128 && text[0] != '-' && strspn(text, set) == n;
}

/* NULL with e if a name is none. */
static char *path_of(const char *folder, const char *node, const char *instance, struct err *e)
{
	char *path;

	if (!is_name(node, LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "-_") || !is_name(instance, LETTERS DIGITS "-")) {
		err_set(e, "no console file is made for %.80s %.80s", node, instance);
		return NULL;
	}
	path = str_fmt("%s/%s.%s.log", folder, node, instance);
	if (!path)
		err_nomem(e);
	return path;
}

static int append(const char *path, const struct buf *b, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0640);
	size_t at = 0;
	ssize_t n = 0;

	if (fd < 0)
		return err_set(e, "%s: %s", path, strerror(errno));
	while (at < b->n && (n >= 0 || errno == EINTR)) {
		n = write(fd, b->v + at, b->n - at);
		at += n > 0 ? (size_t)n : 0;
	}
	if (at < b->n)
		err_set(e, "%s: %s", path, strerror(errno));
	close(fd);
	return at < b->n ? -1 : 0;
}

/* ---- the newest hundred */

struct old {
	char *path;
	struct timespec time;
};

static int by_age(const void *a, const void *b)
{
	const struct timespec *x = &((const struct old *)a)->time, *y = &((const struct old *)b)->time;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? 1 : -1;
	return (x->tv_nsec < y->tv_nsec) - (x->tv_nsec > y->tv_nsec);
}

/* Newest first. What is no file of ours is not listed. */
static size_t list(const char *folder, DIR *d, struct old **out)
{
	struct dirent *entry;
	size_t n = 0, cap = 0;
	struct stat st;

	while ((entry = readdir(d))) {
		if (!str_suffix(entry->d_name, ".log") || mem_grow(out, &cap, n + 1, sizeof **out) < 0 ||
		    fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		(*out)[n].path = file_join(folder, entry->d_name);
		(*out)[n].time = st.st_mtim;
		n += (*out)[n].path != NULL;
	}
	if (n > 0)
		qsort(*out, n, sizeof **out, by_age);
	return n;
}

static void prune(const char *folder)
{
	DIR *d = opendir(folder);
	struct old *v = NULL;
	size_t n = d ? list(folder, d, &v) : 0;

	for (size_t i = 0; i < n; i++) {
		if (i >= FAILED_BOOT_FILES)
			unlink(v[i].path);
		free(v[i].path);
	}
	free(v);
	if (d)
		closedir(d);
}

/* ---- the line for people */

static bool tells(const char *line)
{
	static const char *const words[] = {"FAILED", "Failed", "failed", "ERROR", "error", "panic"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strstr(line, words[i]))
			return true;
	return false;
}

/* Lines to strings, only what can be printed, no blanks at their ends. */
static void make_plain(char *text, size_t n)
{
	size_t end = 0;

	for (size_t i = 0; i < n; i++) {
		bool line_ends = text[i] == '\n';

		text[i] = text[i] > ' ' && text[i] < 127 ? text[i] : ' ';
		if (text[i] != ' ')
			end = i + 1;
		if (!line_ends)
			continue;
		text[end] = 0;
		text[i] = 0;
		end = i + 1;
	}
	text[end] = 0;
}

/* The last line that speaks of a failure, else the last that is not empty. text: n bytes and a NUL, made plain. */
static const char *best_line(const char *text, size_t n)
{
	const char *best = NULL, *last = "";

	for (size_t at = 0; at < n; at += strlen(text + at) + 1) {
		const char *line = text + at + strspn(text + at, " ");

		last = *line ? line : last;
		best = tells(line) ? line : best;
	}
	return best ? best : last;
}

/* "PATH: LINE"; text is changed. */
static char *tell(const char *path, struct buf *text)
{
	const char *line;

	if (text->n == 0)
		return str_dup(path);
	make_plain(text->v, text->n);
	line = best_line(text->v, text->n);
	return str_fmt("%s: %.*s", path, LINE_MAX_BYTES, line);
}

int console_keep(const char *folder, const char *node, const char *instance, const char *text, size_t n, char **told,
		 struct err *e)
{
	char *dir = file_join(folder ? folder : PKGLOGDIR, FAILED_BOOT_FOLDER);
	char *path = dir ? path_of(dir, node, instance, e) : NULL, when[25];
	struct buf b = {0}, lines = {0};
	int rc = -1;

	if (!dir)
		err_nomem(e);
	buf_add(&lines, text, n);
	clock_iso(clock_wall_ms(), when);
	buf_fmt(&b, "== %s console of %s, node %s\n", when, instance, node);
	buf_add(&b, text, n);
	if (n > 0 && text[n - 1] != '\n')
		buf_char(&b, '\n');
	if (path && (buf_failed(&b) || buf_failed(&lines)))
		err_nomem(e);
	else if (path && file_mkdirs(dir, 0750, e) == 0)
		rc = append(path, &b, e);
	if (rc == 0) {
		prune(dir);
		*told = tell(path, &lines);
		rc = *told ? 0 : err_nomem(e);
	}
	buf_free(&b);
	buf_free(&lines);
	free(path);
	free(dir);
	return rc;
}
