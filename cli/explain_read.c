/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain_read.c - what an explanation needs beside the look: events of a node or a job, and the console output that was saved
 * of a machine that did not come up. Changes nothing.
 */
#include "build_config.h"

#include "cli/explain.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/user.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONSOLE_MAX (1 << 20)
#define CONSOLE_LINES 8
#define EVENTS_MAX 6

/* --- events */

static int read_events(struct explain_more *m, const char *node, int64_t job)
{
	char id[24];
	struct event_query q = {.node = node, .job = job ? id : NULL, .last = EVENTS_MAX};
	struct err e = {0};
	struct store *s = store_open_readonly(STORE_PATH, &e);

	snprintf(id, sizeof(id), "%" PRId64, job);
	if (!s || store_events(s, &q, &m->events, &e) < 0) {
		m->events_away = str_dup(e.text);
		events_clear(&m->events);
	}
	store_close(s);
	return m->events_away || s ? 0 : -1;
}

/* --- console output */

/* "<node>.<instance>.log", the newest of them. */
static char *find_console(const char *node, char **away)
{
	char *best = NULL;
	time_t best_time = 0;
	struct dirent *d;
	DIR *dir = opendir(CONSOLE_DIR);

	if (!dir && errno == EACCES)
		*away = str_fmt("%s: %s", CONSOLE_DIR, strerror(errno));
	while (dir && (d = readdir(dir))) {
		char *path = look_console_of(d->d_name, node) ? file_join(CONSOLE_DIR, d->d_name) : NULL;
		struct stat st;

		if (path && lstat(path, &st) == 0 && S_ISREG(st.st_mode) && (!best || st.st_mtime >= best_time)) {
			free(best);
			best = path;
			best_time = st.st_mtime;
		} else {
			free(path);
		}
	}
	if (dir)
		closedir(dir);
	return best;
}

static const char *last_lines(const char *text, size_t n)
{
	const char *at = text + strlen(text);

	while (at > text && at[-1] == '\n')
		at--;
	for (; at > text; at--)
		if (at[-1] == '\n' && --n == 0)
			break;
	return at;
}

static void read_console(struct explain_more *m, const char *node)
{
	struct buf b = {0};
	struct err e = {0};

	m->console = find_console(node, &m->console_away);
	if (!m->console)
		return;
	if (file_read(m->console, CONSOLE_MAX, &b, &e) < 0)
		m->console_away = str_dup(e.text);
	else
		m->console_end = str_dup(last_lines(buf_text(&b), CONSOLE_LINES));
	buf_free(&b);
}

int explain_read(struct explain_more *m, const struct look *l, const char *node, int64_t job)
{
	const char *owner = l->gen->slurm_user ? l->gen->slurm_user : SLURM_USER;
	bool became = geteuid() == 0 && user_become(owner, NULL) == 0;
	int rc = read_events(m, job ? NULL : node, job);

	if (node)
		read_console(m, node);
	if (became)
		user_restore();
	return rc;
}

void explain_more_clear(struct explain_more *m)
{
	events_clear(&m->events);
	free(m->events_away);
	free(m->console);
	free(m->console_away);
	free(m->console_end);
	*m = (struct explain_more){0};
}
