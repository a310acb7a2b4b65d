/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event.c - each event is a row and a line. The line is one write() to a file that all programs append to: lines never mix. */
#include "lib/apply/event.h"

#include "lib/apply/apply.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/jview.h"
#include "lib/base/log.h"
#include "lib/base/num.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/state/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where a Nitro machine has its own id, readable by all and without the network. */
#define HEAD_ID_PATH "/sys/devices/virtual/dmi/id/board_asset_tag"

struct event_log {
	int fd; /* -1 = could not be opened */
	char *path;
	enum event_level most;
	bool torn; /* the last line was cut short, by a full disk */
	char component[32];
	char head_id[32];
};

/* ---- the line */

/* Bytes of a well-formed character of UTF-8, 0 = it is none. */
static size_t utf8_length(const unsigned char *p)
{
	size_t n = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : *p >= 0xe0 && *p < 0xf0 ? 3 : *p >= 0xf0 && *p < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	if (n >= 3 && ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) ||
		       (*p == 0xf4 && p[1] > 0x8f)))
		return 0; /* longer than need be, a surrogate, or past the last */
	return n;
}

/* Words of EC2 may be cut in the middle of a character. */
static int put_text(struct json_object *o, const char *key, const char *text)
{
	char *copy = str_dup(text);
	int rc = text && !copy ? -1 : 0;

	for (unsigned char *p = (unsigned char *)copy; p && *p;) {
		size_t n = utf8_length(p);

		if (n == 0)
			*p = '?';
		p += n ? n : 1;
	}
	if (rc == 0)
		rc = jview_put_str(o, key, copy);
	free(copy);
	return rc;
}

static const char *level_text(enum event_level level)
{
	static const char *const text[] = {"ERROR", "WARNING", "INFO", "DEBUG"};

	return text[level];
}

static int fill_line(struct json_object *o, const struct event_head *h, int64_t time_ms, enum event_level level,
		     const char *type, const char *message, struct json_object *detail)
{
	char when[25];

	clock_iso(time_ms, when);
	return jview_put_str(o, "datetime", when) || jview_put_i64(o, "version", 0) || jview_put_str(o, "scheduler", "slurm") ||
			       put_text(o, "cluster-name", h->cluster ? h->cluster : "") ||
			       jview_put_str(o, "node-role", "HeadNode") || jview_put_str(o, "component", h->component) ||
			       jview_put_str(o, "level", level_text(level)) || jview_put_str(o, "instance-id", h->instance) ||
			       put_text(o, "event-type", type) || put_text(o, "message", message ? message : "") ||
			       jview_put_obj(o, "detail", detail ? json_object_get(detail) : json_object_new_object())
		       ? -1
		       : 0;
}

char *event_line(const struct event_head *h, int64_t time_ms, enum event_level level, const char *type, const char *message,
		 struct json_object *detail)
{
	const int style = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE;
	struct json_object *o = json_object_new_object();
	char *text = NULL;

	if (o && fill_line(o, h, time_ms, level, type, message, detail) == 0)
		text = str_fmt("%s\n", json_object_to_json_string_ext(o, style));
	json_object_put(o);
	return text;
}

/* Of an event type of ours. */
static enum event_level level_of(const char *type)
{
	static const struct {
		const char *type;
		enum event_level level;
	} known[] = {
	    {"resume-refused", EVENT_ERROR},   {"source-failed", EVENT_ERROR},     {"invariant", EVENT_ERROR},
	    {"launch-refused", EVENT_WARNING}, {"nodes-failed", EVENT_WARNING},    {"node-down", EVENT_WARNING},
	    {"boot-failed", EVENT_WARNING},    {"capacity-closed", EVENT_WARNING}, {"brake", EVENT_WARNING},
	    {"protected", EVENT_WARNING},      {"note", EVENT_WARNING},
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (str_eq(known[i].type, type))
			return known[i].level;
	}
	return EVENT_INFO;
}

/* ---- the file */

static void learn_head_id(struct event_log *l)
{
	struct buf b = {0};
	char *end;

	if (file_read(HEAD_ID_PATH, 256, &b, NULL) == 0 && str_prefix(buf_text(&b), "i-") && b.n < sizeof l->head_id) {
		snprintf(l->head_id, sizeof l->head_id, "%s", buf_text(&b));
		end = strpbrk(l->head_id, " \r\n");
		if (end)
			*end = 0;
	}
	buf_free(&b);
}

/* Does it end in the middle of a line, which some process could not finish? */
static bool ends_torn(int fd)
{
	struct stat st;
	char last = '\n';

	return fstat(fd, &st) == 0 && st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n';
}

static int open_file(struct event_log *l, struct err *e)
{
	int fd = open(l->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0640);
	int num = errno;

	if (l->fd >= 0)
		close(l->fd);
	l->fd = fd;
	l->torn = fd >= 0 && ends_torn(fd);
	return fd < 0 ? err_errno(e, num, "cannot open the event log %s", l->path) : 0;
}

/* Not to be opened now is no reason to have no log later: the folder may come back. */
struct event_log *event_log_open(const char *path, const char *ident, enum event_level most, struct err *e)
{
	struct event_log *l = calloc(1, sizeof *l);
	bool power = str_eq(ident, "resume") || str_eq(ident, "suspend");

	if (l)
		l->path = str_dup(path);
	if (!l || !l->path) {
		free(l);
		err_nomem(e);
		return NULL;
	}
	l->fd = -1;
	l->most = most;
	snprintf(l->component, sizeof l->component, "%s%s", power ? "slurm-" : "", ident);
	learn_head_id(l);
	open_file(l, e);
	return l;
}

int event_log_reopen(struct event_log *l, enum event_level most, struct err *e)
{
	l->most = most;
	return open_file(l, e);
}

void event_log_close(struct event_log *l)
{
	if (!l)
		return;
	if (l->fd >= 0)
		close(l->fd);
	free(l->path);
	free(l);
}

/* What a full disk cut is ended, so that the next line is one of its own. */
static int append(struct event_log *l, const char *line)
{
	size_t n = strlen(line);
	ssize_t done;

	if (l->torn && write(l->fd, "\n", 1) != 1)
		return -1;
	l->torn = false;
	do
		done = write(l->fd, line, n);
	while (done < 0 && errno == EINTR);
	l->torn = done > 0 && (size_t)done < n;
	if (l->torn)
		errno = ENOSPC;
	return done == (ssize_t)n ? 0 : -1;
}

bool event_is_logged(const struct world *w, enum event_level level)
{
	return w->events && w->events->fd >= 0 && level <= w->events->most;
}

static void write_line(struct world *w, enum event_level level, const char *type, const char *message,
		       struct json_object *detail)
{
	struct event_log *l = w->events;
	struct event_head h = {
	    .cluster = w->gen ? w->gen->cluster_name : NULL,
	    .component = l->component,
	    .instance = l->head_id,
	};
	char *line = event_line(&h, clock_wall_ms(), level, type, message, detail);
	struct err e = {""};

	if (!line)
		err_nomem(&e);
	else if (append(l, line) < 0)
		err_errno(&e, errno, "cannot write to the event log %s", l->path);
	if (e.text[0] && say_again(e.text))
		log_warn("%s", e.text);
	free(line);
}

void apply_figure(struct world *w, enum event_level level, const char *type, const char *message, struct json_object *detail)
{
	if (event_is_logged(w, level))
		write_line(w, level, type, message, detail);
	json_object_put(detail);
}

/* ---- events */

static int put_words(struct json_object *o, const char *key, const char *list)
{
	struct strs words = {0};
	int rc = 0;

	if (list)
		rc = strs_split(&words, list, ',') || jview_put_strs(o, key, &words) ? -1 : 0;
	strs_clear(&words);
	return rc;
}

static int put_jobs(struct json_object *o, const struct strs *jobs)
{
	struct json_object *list = jobs && jobs->n ? json_object_new_array() : NULL;
	int64_t id;

	if (!list)
		return jobs && jobs->n ? -1 : 0;
	for (size_t i = 0; i < jobs->n; i++) {
		if (num_i64(jobs->v[i], 0, INT64_MAX, &id, NULL) == 0)
			json_object_array_add(list, json_object_new_int64(id));
	}
	return jview_put_obj(o, "jobs", list);
}

void apply_event_line(struct world *w, const char *type, const char *node, const char *instance, const struct strs *jobs,
		      const char *detail)
{
	enum event_level level = level_of(type);
	struct json_object *o;

	if (!event_is_logged(w, level))
		return;
	o = json_object_new_object();
	if (o && put_text(o, "nodes", node) == 0 && put_words(o, "instances", instance) == 0 && put_jobs(o, jobs) == 0)
		write_line(w, level, type, detail ? detail : type, o);
	json_object_put(o);
}

void apply_event_jobs(struct world *w, const char *type, const char *node, const char *instance, const struct strs *jobs,
		      const char *detail)
{
	char *ids = jobs && jobs->n ? strs_join(jobs, ",") : NULL;
	const struct event v = {.time_ms = clock_wall_ms(), .type = (char *)type, .node = (char *)node,
				.instance = (char *)instance, .jobs = ids, .detail = (char *)detail}; /* only read */
	struct err e = {""};

	if (w->store && store_event_put(w->store, &v, &e) < 0 && say_again(e.text))
		log_warn("event %s: %s", type, e.text);
	apply_event_line(w, type, node, instance, jobs, detail);
	free(ids);
}

void apply_event(struct world *w, const char *type, const char *node, const char *instance, const char *detail)
{
	apply_event_jobs(w, type, node, instance, NULL, detail);
}

void apply_total(struct world *w, const char *name, int64_t by)
{
	char key[64];
	struct err e = {""};

	snprintf(key, sizeof key, EVENT_TOTAL_PREFIX "%s", name);
	if (w->store && by > 0 && store_counter_add(w->store, key, by, NULL, &e) < 0 && say_again(e.text))
		log_warn("%s: %s", key, e.text);
}
