/* SPDX-License-Identifier: GPL-2.0-or-later */
/* strs.c - ordered lists of owned strings and of pairs, and the one growth rule of all our arrays. Pure. */
#include "lib/base/str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GROW_MIN 8 /* elements; saves the first few reallocations of short lists */

int mem_grow(void *v, size_t *cap, size_t need, size_t size)
{
	size_t want = *cap < GROW_MIN ? GROW_MIN : *cap;
	char *p;

	if (need <= *cap)
		return 0;
	while (want < need) {
		if (want > SIZE_MAX / 2)
			return -1;
		want *= 2;
	}
	if (want > SIZE_MAX / size)
		return -1;
	memcpy(&p, v, sizeof p); /* v is the address of some pointer type: reach it without breaking aliasing */
	p = realloc(p, want * size);
	if (!p)
		return -1;
	memset(p + *cap * size, 0, (want - *cap) * size);
	memcpy(v, &p, sizeof p);
	*cap = want;
	return 0;
}

int strs_take(struct strs *l, char *s)
{
	if (!s || mem_grow(&l->v, &l->cap, l->n + 1, sizeof *l->v)) {
		free(s);
		return -1;
	}
	l->v[l->n++] = s;
	return 0;
}

int strs_add(struct strs *l, const char *s)
{
	return strs_take(l, str_dup(s));
}

int strs_addf(struct strs *l, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = str_vfmt(fmt, ap);
	va_end(ap);
	return strs_take(l, s);
}

bool strs_has(const struct strs *l, const char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i], s) == 0)
			return true;
	return false;
}

int strs_copy(struct strs *dst, const struct strs *src)
{
	struct strs copy = {0};

	for (size_t i = 0; i < src->n; i++) {
		if (strs_add(&copy, src->v[i])) {
			strs_clear(&copy);
			return -1;
		}
	}
	strs_clear(dst);
	*dst = copy;
	return 0;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int add_trimmed(struct strs *l, const char *from, const char *to)
{
	while (from < to && blank(*from))
		from++;
	while (from < to && blank(to[-1]))
		to--;
	if (from == to)
		return 0;
	return strs_addf(l, "%.*s", (int)(to - from), from);
}

int strs_split(struct strs *l, const char *text, char sep)
{
	size_t before = l->n;

	while (*text) {
		const char *end = strchr(text, sep);

		if (!end)
			end = text + strlen(text);
		if (add_trimmed(l, text, end)) {
			while (l->n > before)
				free(l->v[--l->n]);
			return -1;
		}
		text = *end ? end + 1 : end;
	}
	return 0;
}

char *strs_join(const struct strs *l, const char *sep)
{
	size_t n = 1, n_sep = strlen(sep);
	char *text, *p;

	for (size_t i = 0; i < l->n; i++)
		n += strlen(l->v[i]) + n_sep;
	text = p = malloc(n);
	if (!text)
		return NULL;
	for (size_t i = 0; i < l->n; i++) {
		size_t len = strlen(l->v[i]);

		if (i) {
			memcpy(p, sep, n_sep);
			p += n_sep;
		}
		memcpy(p, l->v[i], len);
		p += len;
	}
	*p = '\0';
	return text;
}

void strs_clear(struct strs *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct strs){0};
}

int kvs_add(struct kvs *l, const char *key, const char *val)
{
	if (strs_add(&l->key, key))
		return -1;
	if (strs_add(&l->val, val)) {
		free(l->key.v[--l->key.n]);
		return -1;
	}
	return 0;
}

const char *kvs_get(const struct kvs *l, const char *key)
{
	for (size_t i = 0; i < l->key.n; i++)
		if (strcmp(l->key.v[i], key) == 0)
			return l->val.v[i];
	return NULL;
}

void kvs_clear(struct kvs *l)
{
	strs_clear(&l->key);
	strs_clear(&l->val);
}
