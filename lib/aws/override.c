/* SPDX-License-Identifier: GPL-2.0-or-later */
/* override.c - see the header. Called by ec2_run_instances() and ec2_create_fleet(). */
#include "lib/aws/override.h"

#include "lib/aws/query.h"
#include "lib/base/buf.h"
#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>

#define SPECS "TagSpecification"

/* `name` up to its first dot or, in a body, its value. */
static bool has_member(const struct kvs *overrides, const char *name)
{
	size_t n = strcspn(name, ".=&");

	for (size_t i = 0; overrides && i < overrides->key.n; i++) {
		const char *key = overrides->key.v[i];

		if (strcspn(key, ".") == n && !memcmp(key, name, n))
			return true;
	}
	return false;
}

bool override_has(const struct kvs *overrides, const char *member)
{
	return has_member(overrides, member);
}

size_t override_last(const struct kvs *overrides, const char *list)
{
	size_t n = strlen(list), last = 0;

	for (size_t i = 0; overrides && i < overrides->key.n; i++) {
		const char *key = overrides->key.v[i];
		size_t index;

		if (strncmp(key, list, n) || key[n] != '.')
			continue;
		index = (size_t)strtoul(key + n + 1, NULL, 10);
		last = index > last ? index : last;
	}
	return last;
}

void override_apply(struct buf *body, const struct kvs *overrides)
{
	struct buf out = {0};
	const char *p = buf_text(body);

	if (!overrides || !overrides->key.n)
		return;
	for (size_t n; *p; p += n + (p[n] == '&')) {
		n = strcspn(p, "&");
		if (has_member(overrides, p))
			continue;
		buf_str(&out, out.n ? "&" : "");
		buf_add(&out, p, n);
	}
	for (size_t i = 0; i < overrides->key.n; i++)
		query_str(&out, overrides->val.v[i], "%s", overrides->key.v[i]);
	out.failed = out.failed || buf_failed(body);
	buf_free(body);
	*body = out;
}

/* The overrides' TagSpecification for a resource type, 0 = none. */
static size_t spec_of(const struct kvs *overrides, const char *resource_type)
{
	for (size_t i = 0; overrides && i < overrides->key.n; i++) {
		const char *key = overrides->key.v[i], *dot = strchr(key, '.');

		if (str_prefix(key, SPECS ".") && !strcmp(strchr(dot + 1, '.') ? strchr(dot + 1, '.') : "", ".ResourceType") &&
		    !strcmp(overrides->val.v[i], resource_type))
			return (size_t)strtoul(dot + 1, NULL, 10);
	}
	return 0;
}

static void add_tags(struct buf *body, const struct kvs *overrides, const struct kvs *tags, size_t spec)
{
	char *list = str_fmt(SPECS ".%zu.Tag", spec);
	size_t last = list ? override_last(overrides, list) : 0;

	body->failed = body->failed || !list;
	for (size_t i = 0; list && i < tags->key.n; i++) {
		query_str(body, tags->key.v[i], "%s.%zu.Key", list, last + i + 1);
		query_str(body, tags->val.v[i], "%s.%zu.Value", list, last + i + 1);
	}
	free(list);
}

void override_tags(struct buf *body, const struct kvs *overrides, const struct kvs *tags, const char *const *types, size_t n)
{
	size_t last = override_last(overrides, SPECS);

	for (size_t i = 0; tags && tags->key.n && i < n; i++) {
		size_t spec = spec_of(overrides, types[i]);

		if (spec)
			add_tags(body, overrides, tags, spec);
		else
			query_tag_spec(body, tags, "", (int)++last, types[i]);
	}
}
