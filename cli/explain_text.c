/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain_text.c - the lines of an explanation: collected, printed, as JSON. */
#include "build_config.h"

#include "cli/explain.h"
#include "cli/text.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/jview.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_WIDTH 11
#define DAY_MS INT64_C(86400000)

void explain_say(struct explain *x, const char *source, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = str_vfmt(fmt, ap);
	va_end(ap);
	if (!text || mem_grow(&x->v, &x->cap, x->n + 1, sizeof(*x->v))) {
		free(text);
		x->nomem = true;
		return;
	}
	x->v[x->n++] = (struct explain_line){.source = source, .text = text};
}

void explain_clear(struct explain *x)
{
	for (size_t i = 0; i < x->n; i++)
		free(x->v[i].text);
	free(x->v);
	*x = (struct explain){0};
}

const char *explain_when(const struct look *l, int64_t ms, char out[EXPLAIN_WHEN])
{
	int64_t left = ms - l->now_ms, far = left < 0 ? -left : left;
	char iso[25], age[TEXT_AGE];

	clock_iso(ms, iso);
	text_age(far, age);
	if (far > DAY_MS / 2)
		snprintf(out, EXPLAIN_WHEN, "%.10s %.8s UTC, %s%s%s", iso, iso + 11, left >= 0 ? "in " : "", age,
			 left >= 0 ? "" : " ago");
	else
		snprintf(out, EXPLAIN_WHEN, "%.8s UTC, %s%s%s", iso + 11, left >= 0 ? "in " : "", age, left >= 0 ? "" : " ago");
	return out;
}

/* A source is named once for the lines that follow each other. */
char *explain_text(const struct explain *x, const char *title)
{
	struct buf b = {0};

	text_fold(&b, title, 0, 2, 0);
	for (size_t i = 0; i < x->n; i++) {
		bool same = i && str_eq(x->v[i].source, x->v[i - 1].source);

		buf_fmt(&b, "%-*s", SOURCE_WIDTH, same ? "" : x->v[i].source);
		text_fold(&b, x->v[i].text, SOURCE_WIDTH, SOURCE_WIDTH + 2, 0);
	}
	if (x->nomem)
		b.failed = true;
	return buf_take(&b);
}

static int put_lines(struct json_object *o, const struct explain *x)
{
	struct json_object *list = json_object_new_array();
	int rc = !list || jview_put_obj(o, "lines", list) ? -1 : 0;

	for (size_t i = 0; i < x->n && rc == 0; i++) {
		struct json_object *line = jview_add_object(list);

		rc = !line || jview_put_str(line, "source", x->v[i].source) || jview_put_str(line, "text", x->v[i].text) ? -1
															 : 0;
	}
	return rc;
}

struct json_object *explain_json(const struct explain *x, const char *kind, const char *name)
{
	struct json_object *o = x->nomem ? NULL : json_object_new_object();

	if (o && (jview_put_str(o, "kind", kind) || jview_put_str(o, "name", name) || jview_put_bool(o, "ours", x->ours) ||
		  put_lines(o, x))) {
		json_object_put(o);
		return NULL;
	}
	return o;
}
