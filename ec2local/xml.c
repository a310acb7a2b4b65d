/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xml.c - the writer of answers. The buffer's sticky failure is checked by whoever sends it. */
#include "ec2local/xml.h"
#include "ec2local/params.h"
#include "lib/base/clock.h"

#include <ctype.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#define SPECIAL "&<>\""
#define SHORT 256 /* bytes of an element put together at once */

static void add_escaped(struct buf *b, const char *s)
{
	static const char *const special = SPECIAL;
	static const char *const with[] = {"&amp;", "&lt;", "&gt;", "&quot;"};

	while (*s) {
		size_t n = strcspn(s, special);

		buf_add(b, s, n);
		s += n;
		if (*s)
			buf_str(b, with[strchr(special, *s++) - special]);
	}
}

void xml_open(struct buf *b, const char *name)
{
	char line[SHORT];
	size_t n = strlen(name);

	if (n + 2 > sizeof(line))
		return; /* no element has such a name */
	line[0] = '<';
	memcpy(line + 1, name, n);
	line[n + 1] = '>';
	buf_add(b, line, n + 2);
}

void xml_close(struct buf *b, const char *name)
{
	buf_str(b, "</");
	buf_str(b, name);
	buf_char(b, '>');
}

void xml_text(struct buf *b, const char *name, const char *text)
{
	char line[SHORT];
	size_t n = strlen(name), len = text ? strlen(text) : 0;

	if (!text)
		return;
	if (2 * n + len + 5 <= sizeof(line) && text[strcspn(text, SPECIAL)] == '\0') {
		/* nearly all of them: one addition to the buffer instead of seven */
		line[0] = line[1 + n + 1 + len] = '<';
		memcpy(line + 1, name, n);
		line[1 + n] = line[2 * n + len + 4] = '>';
		memcpy(line + n + 2, text, len);
		line[n + len + 3] = '/';
		memcpy(line + n + len + 4, name, n);
		buf_add(b, line, 2 * n + len + 5);
		return;
	}
	xml_open(b, name);
	add_escaped(b, text);
	xml_close(b, name);
}

void xml_int(struct buf *b, const char *name, int64_t val)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)val);
	xml_text(b, name, text);
}

void xml_bool(struct buf *b, const char *name, bool val)
{
	xml_text(b, name, val ? "true" : "false");
}

void xml_time(struct buf *b, const char *name, int64_t wall_ms)
{
	char iso[25];

	clock_iso(wall_ms, iso);
	xml_text(b, name, iso);
}

void xml_tags(struct buf *b, const struct kvs *tags)
{
	if (!tags->key.n)
		return;
	xml_open(b, "tagSet");
	for (size_t i = 0; i < tags->key.n; i++) {
		xml_open(b, "item");
		xml_text(b, "key", tags->key.v[i]);
		xml_text(b, "value", tags->val.v[i]);
		xml_close(b, "item");
	}
	xml_close(b, "tagSet");
}

static void put_name(struct buf *b, const char *open, const char *name, size_t n, const char *suffix)
{
	buf_str(b, open);
	buf_char(b, (char)tolower((unsigned char)name[0]));
	buf_add(b, name + 1, n - 1);
	buf_str(b, suffix);
	buf_char(b, '>');
}

static void json_value(struct buf *b, struct json_object *v)
{
	if (json_object_is_type(v, json_type_object)) {
		xml_json(b, v);
	} else if (json_object_is_type(v, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(v); i++) {
			xml_open(b, "item");
			json_value(b, json_object_array_get_idx(v, i));
			xml_close(b, "item");
		}
	} else {
		add_escaped(b, json_object_get_string(v));
	}
}

void xml_json(struct buf *b, struct json_object *o)
{
	json_object_object_foreach(o, key, val)
	{
		if (!*key)
			continue;
		put_name(b, "<", key, strlen(key), "");
		json_value(b, val);
		put_name(b, "</", key, strlen(key), "");
	}
}

/* The answer's name of a list differs from the request's in a few places. */
static const char *list_name(const char *name, size_t n, int depth, size_t *out_n, const char **suffix)
{
	*suffix = "Set";
	*out_n = n;
	if (n == 15 && !memcmp(name, "SecurityGroupId", 15) && depth > 0)
		*out_n = strlen(name = "group");
	else if (n == 20 && !memcmp(name, "LicenseSpecification", 20))
		*out_n = strlen(name = "license");
	return name;
}

/* Write v[lo..hi), whose keys all begin with the same `at` bytes. */
static void params_range(struct buf *b, const struct params *p, size_t lo, size_t hi, size_t at, int depth);

static size_t group_end(const struct params *p, size_t lo, size_t hi, size_t at, size_t n)
{
	size_t i = lo + 1;

	while (i < hi && !strncmp(p->v[i].key + at, p->v[lo].key + at, n) &&
	       (p->v[i].key[at + n] == '.' || !p->v[i].key[at + n]))
		i++;
	return i;
}

static void params_items(struct buf *b, const struct params *p, size_t lo, size_t hi, size_t at, int depth)
{
	while (lo < hi) {
		size_t n = strcspn(p->v[lo].key + at, "."), end = group_end(p, lo, hi, at, n);

		xml_open(b, "item");
		if (p->v[lo].key[at + n])
			params_range(b, p, lo, end, at + n + 1, depth + 1);
		else
			add_escaped(b, p->v[lo].val);
		xml_close(b, "item");
		lo = end;
	}
}

static void params_range(struct buf *b, const struct params *p, size_t lo, size_t hi, size_t at, int depth)
{
	while (lo < hi) {
		const char *name = p->v[lo].key + at, *suffix = "";
		size_t n = strcspn(name, "."), end = group_end(p, lo, hi, at, n), below = at + n + 1, out_n = n;
		bool leaf = !name[n], list = !leaf && isdigit((unsigned char)name[n + 1]);

		if (list)
			name = list_name(name, n, depth, &out_n, &suffix);
		put_name(b, "<", name, out_n, suffix);
		if (list)
			params_items(b, p, lo, end, below, depth);
		else if (leaf)
			add_escaped(b, p->v[lo].val);
		else
			params_range(b, p, lo, end, below, depth);
		put_name(b, "</", name, out_n, suffix);
		lo = end;
	}
}

void xml_params(struct buf *b, const struct params *p)
{
	params_range(b, p, 0, p->n, 0, 0);
}
