/* SPDX-License-Identifier: GPL-2.0-or-later */
/* last_settings.c - read settings.yaml; keep a copy of what was right, and fall back on it. */
#include "lib/apply/last_settings.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/problem.h"
#include "lib/cluster/load.h"
#include "lib/cluster/settings.h"

#include <string.h>

#define LARGEST (1u << 20)

/* All problems go to the log; the first error becomes *e (unless NULL). */
static void tell(const struct problems *p, struct err *e)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct problem *q = &p->v[i];
		const char *file = q->file ? q->file : SETTINGS_PATH;

		if (q->level == PROBLEM_WARNING) {
			log_warn("%s:%d: %s", file, q->line, q->text);
			continue;
		}
		if (!e)
			log_error("%s:%d: %s", file, q->line, q->text);
		else
			err_set(e, "%s:%d: %s", file, q->line, q->text);
		e = NULL;
	}
}

/* Only what was parsed as it stands: a person may be writing right now. */
static bool is_right(const struct buf *text)
{
	struct problems p = {0};
	struct settings *s = settings_parse(SETTINGS_PATH, buf_text(text), text->n, &p);
	bool right = s != NULL;

	settings_destroy(s);
	problems_clear(&p);
	return right;
}

/* 0640 and the directory's owner: it may name files with keys, but holds none. */
static void keep_copy(void)
{
	struct buf now = {0}, copy = {0};
	struct err e = {""};

	if (!file_exists(SETTINGS_PATH)) {
		file_remove_tree(LAST_SETTINGS_PATH, NULL);
	} else if (file_read(SETTINGS_PATH, LARGEST, &now, &e) == 0 &&
		   (file_read(LAST_SETTINGS_PATH, LARGEST, &copy, NULL) < 0 || now.n != copy.n ||
		    memcmp(buf_text(&now), buf_text(&copy), now.n) != 0) &&
		   is_right(&now) && file_replace(LAST_SETTINGS_PATH, 0640, buf_text(&now), now.n, &e) < 0) {
		log_warn("no copy of %s could be kept: %s", SETTINGS_PATH, e.text);
	}
	buf_free(&now);
	buf_free(&copy);
}

static struct settings *read_copy(void)
{
	struct problems p = {0};
	struct settings *s = file_exists(LAST_SETTINGS_PATH) ? settings_load(LAST_SETTINGS_PATH, &p) : NULL;

	problems_clear(&p);
	return s;
}

struct settings *last_settings_load(bool keep, struct err *trouble, struct err *e)
{
	struct problems p = {0};
	struct settings *s = settings_load(SETTINGS_PATH, &p);

	trouble->text[0] = 0;
	if (s) {
		tell(&p, NULL);
		if (keep)
			keep_copy();
	} else {
		err_nomem(trouble);
		tell(&p, trouble);
		s = read_copy();
		if (!s && e)
			*e = *trouble;
	}
	problems_clear(&p);
	return s;
}
