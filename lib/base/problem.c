/* SPDX-License-Identifier: GPL-2.0-or-later */
/* problem.c - every problem of an input with its place. Filled by checkers, shown by commands; decides nothing. */
#include "lib/base/problem.h"

#include "lib/base/jview.h"
#include "lib/base/str.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *level_text(enum problem_level level)
{
	return level == PROBLEM_ERROR ? "error" : "warning";
}

static void free_strings(struct problem *p)
{
	free(p->file);
	free(p->key);
	free(p->text);
}

void problems_add(struct problems *p, enum problem_level level, const char *file, int line, int column, const char *key,
		  const char *fmt, ...)
{
	struct problem new = {.level = level, .line = line, .column = column, .order = p->n};
	va_list ap;

	va_start(ap, fmt);
	new.text = str_vfmt(fmt, ap);
	va_end(ap);
	new.file = str_dup(file);
	new.key = str_dup(key);
	if (!new.text || (file && !new.file) || (key && !new.key) || mem_grow(&p->v, &p->cap, p->n + 1, sizeof *p->v)) {
		free_strings(&new);
		p->nomem = true;
		return;
	}
	p->v[p->n++] = new;
}

size_t problems_count(const struct problems *p, enum problem_level level)
{
	size_t n = level == PROBLEM_ERROR && p->nomem;

	for (size_t i = 0; i < p->n; i++)
		n += p->v[i].level == level;
	return n;
}

/* Those without a file come last. */
static int by_place(const void *left, const void *right)
{
	const struct problem *a = left, *b = right;
	int c;

	if (!a->file != !b->file)
		return a->file ? -1 : 1;
	c = a->file ? strcmp(a->file, b->file) : 0;
	if (c)
		return c;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->column != b->column)
		return a->column < b->column ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void problems_sort(struct problems *p)
{
	if (p->n > 1)
		qsort(p->v, p->n, sizeof *p->v, by_place);
}

void problems_print(const struct problems *p, FILE *out)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct problem *one = &p->v[i];

		if (one->file)
			fprintf(out, "%s:", one->file);
		if (one->file && one->line > 0)
			fprintf(out, "%d:", one->line);
		if (one->file && one->line > 0 && one->column > 0)
			fprintf(out, "%d:", one->column);
		fprintf(out, "%s%s: ", one->file ? " " : "", level_text(one->level));
		if (one->key)
			fprintf(out, "%s: ", one->key);
		fprintf(out, "%s\n", one->text);
	}
	if (p->nomem)
		fprintf(out, "error: out of memory, more problems may exist\n");
}

static struct json_object *one_json(const struct problem *p)
{
	struct json_object *o = json_object_new_object();

	if (!o)
		return NULL;
	if (jview_put_str(o, "level", level_text(p->level)) || jview_put_str(o, "file", p->file) ||
		(p->line > 0 && jview_put_i64(o, "line", p->line)) ||
		(p->column > 0 && jview_put_i64(o, "column", p->column)) ||
		jview_put_str(o, "key", p->key) || jview_put_str(o, "message", p->text)) {
		json_object_put(o);
		return NULL;
	}
	return o;
}

struct json_object *problems_json(const struct problems *p)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; list && i < p->n; i++) {
		struct json_object *o = one_json(&p->v[i]);

		if (!o || json_object_array_add(list, o)) {
			json_object_put(o);
			json_object_put(list);
			return NULL;
		}
	}
	return list;
}

void problems_clear(struct problems *p)
{
	for (size_t i = 0; i < p->n; i++)
		free_strings(&p->v[i]);
	free(p->v);
	*p = (struct problems){0};
}
