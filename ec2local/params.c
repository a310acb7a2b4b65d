/* SPDX-License-Identifier: GPL-2.0-or-later */
/* params.c - form body to sorted parameters and back to values. Knows no action. */
#include "ec2local/params.h"
#include "lib/base/err.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 512 /* the longest EC2 name is far below; longer is refused as unknown anyway */

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decoded copy of s[0..n); NULL on no memory or a bad escape (e says which). */
static char *decode(const char *s, size_t n, struct err *e)
{
	char *out = malloc(n + 1), *w = out;

	if (!out) {
		err_nomem(e);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		int hi, lo;

		if (s[i] != '%') {
			*w++ = s[i] == '+' ? ' ' : s[i];
			continue;
		}
		hi = i + 2 < n ? hex(s[i + 1]) : -1;
		lo = i + 2 < n ? hex(s[i + 2]) : -1;
		if (hi < 0 || lo < 0 || (hi == 0 && lo == 0)) {
			err_set(e, "bad %%-escape in the request body");
			free(out);
			return NULL;
		}
		*w++ = (char)(hi * 16 + lo);
		i += 2;
	}
	*w = '\0';
	return out;
}

static int add(struct params *p, char *key, char *val)
{
	if (!key || !val || mem_grow(&p->v, &p->cap, p->n + 1, sizeof(*p->v)) < 0) {
		free(key);
		free(val);
		return -1;
	}
	p->v[p->n++] = (struct param){key, val};
	return 0;
}

static int parse_pair(struct params *p, const char *s, size_t n, struct err *e)
{
	const char *eq = memchr(s, '=', n);
	size_t klen = eq ? (size_t)(eq - s) : n;
	char *key = decode(s, klen, e);
	char *val = key ? decode(eq ? eq + 1 : "", eq ? n - klen - 1 : 0, e) : NULL;

	return add(p, key, val);
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct param *)a)->key, ((const struct param *)b)->key);
}

int params_parse(struct params *p, const char *body, size_t n, struct err *e)
{
	size_t at = 0;

	if (memchr(body, '\0', n))
		return err_set(e, "NUL byte in the request body");
	while (at < n) {
		const char *end = memchr(body + at, '&', n - at);
		size_t len = end ? (size_t)(end - body) - at : n - at;

		if (len && parse_pair(p, body + at, len, e) < 0)
			return -1;
		at += len + 1;
	}
	if (p->n)
		qsort(p->v, p->n, sizeof(*p->v), by_key);
	for (size_t i = 1; i < p->n; i++) {
		if (str_eq(p->v[i - 1].key, p->v[i].key))
			return err_set(e, "%.200s is given twice", p->v[i].key);
	}
	return 0;
}

int params_add(struct params *p, const char *key, const char *val)
{
	return add(p, str_dup(key), str_dup(val));
}

void params_sort(struct params *p)
{
	if (p->n)
		qsort(p->v, p->n, sizeof(*p->v), by_key);
}

void params_clear(struct params *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].key);
		free(p->v[i].val);
	}
	free(p->v);
	*p = (struct params){0};
}

/* First index whose key is not below `key`. */
static size_t lower(const struct params *p, const char *key)
{
	size_t lo = 0, hi = p->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(p->v[mid].key, key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int params_below(struct params *out, const struct params *p, const char *prefix)
{
	size_t n = strlen(prefix);

	for (size_t i = lower(p, prefix); i < p->n && str_prefix(p->v[i].key, prefix); i++) {
		if (p->v[i].key[n] == '.' && add(out, str_dup(p->v[i].key + n + 1), str_dup(p->v[i].val)) < 0)
			return -1;
	}
	return 0;
}

const char *params_get(const struct params *p, const char *key)
{
	size_t i = lower(p, key);

	return i < p->n && str_eq(p->v[i].key, key) ? p->v[i].val : NULL;
}

const char *params_getf(const struct params *p, const char *fmt, ...)
{
	char key[NAME_MAX_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(key, sizeof(key), fmt, ap);
	va_end(ap);
	return params_get(p, key);
}

bool params_has(const struct params *p, const char *key)
{
	size_t n = strlen(key);

	/* '.' sorts below digits and letters, so "key" and "key.…" come first among all that begin with key. */
	for (size_t i = lower(p, key); i < p->n && str_prefix(p->v[i].key, key); i++) {
		if (p->v[i].key[n] == '\0' || p->v[i].key[n] == '.')
			return true;
		if (p->v[i].key[n] > '.')
			return false;
	}
	return false;
}

bool params_hasf(const struct params *p, const char *fmt, ...)
{
	char key[NAME_MAX_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(key, sizeof(key), fmt, ap);
	va_end(ap);
	return params_has(p, key);
}

int params_list(const struct params *p, const char *prefix, struct strs *out)
{
	const char *val;

	for (int i = 1; (val = params_getf(p, "%s.%d", prefix, i)); i++) {
		if (strs_add(out, val) < 0)
			return -1;
	}
	return 0;
}

int params_pairs(const struct params *p, const char *prefix, struct kvs *out)
{
	for (int i = 1; params_hasf(p, "%s.%d", prefix, i); i++) {
		const char *key = params_getf(p, "%s.%d.Key", prefix, i);
		const char *val = params_getf(p, "%s.%d.Value", prefix, i);

		if (kvs_add(out, key ? key : "", val ? val : "") < 0)
			return -1;
	}
	return 0;
}

static size_t part_len(const char *s)
{
	return strcspn(s, ".");
}

static bool is_index(const char *s, size_t n)
{
	if (n == 0 || n > 6 || s[0] == '0')
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!isdigit((unsigned char)s[i]))
			return false;
	}
	return true;
}

bool params_fits(const char *pattern, const char *name)
{
	while (*pattern && *name) {
		size_t np = part_len(pattern), nn = part_len(name);

		if (np == 1 && *pattern == '*')
			return true;
		if (np == 1 && *pattern == 'N') {
			if (!is_index(name, nn))
				return false;
		} else if (np != nn || memcmp(pattern, name, np)) {
			return false;
		}
		pattern += np + (pattern[np] == '.');
		name += nn + (name[nn] == '.');
	}
	return !*pattern && !*name;
}

/* The element of key that ends at `end` is index k > 1: is there a k-1? */
static bool has_before(const struct params *p, const char *key, const char *part)
{
	int k = atoi(part);

	return k <= 1 || params_hasf(p, "%.*s%d", (int)(part - key), key, k - 1);
}

const char *params_gap(const struct params *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const char *key = p->v[i].key, *part = key;

		while (*part) {
			size_t n = part_len(part);

			if (is_index(part, n) && part != key && !has_before(p, key, part))
				return key;
			part += n + (part[n] == '.');
		}
	}
	return NULL;
}
