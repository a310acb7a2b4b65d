/* SPDX-License-Identifier: GPL-2.0-or-later */
/* query.c - the form body of an EC2 request. Called by the ec2_*.c builders; the same arguments give the same bytes. */
#include "lib/aws/query.h"

#include "lib/base/buf.h"
#include "lib/base/num.h"
#include "lib/base/str.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define API_VERSION "2016-11-15"

static bool unreserved(unsigned char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c && strchr("-._~", c));
}

void query_encode(struct buf *out, const void *bytes, size_t n)
{
	static const char hex[] = "0123456789ABCDEF";
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++) {
		const char triplet[3] = {'%', hex[p[i] >> 4], hex[p[i] & 15]};

		if (unreserved(p[i]))
			buf_add(out, p + i, 1);
		else
			buf_add(out, triplet, sizeof triplet);
	}
}

void query_start(struct buf *out, const char *action)
{
	buf_fmt(out, "Action=%s&Version=" API_VERSION, action);
}

static void add_name(struct buf *out, const char *name, va_list ap)
{
	buf_char(out, '&');
	buf_vfmt(out, name, ap);
}

void query_str(struct buf *out, const char *value, const char *name, ...)
{
	va_list ap;

	if (!value)
		return;
	va_start(ap, name);
	add_name(out, name, ap);
	va_end(ap);
	buf_char(out, '=');
	query_encode(out, value, strlen(value));
}

void query_i64(struct buf *out, int64_t value, const char *name, ...)
{
	va_list ap;

	va_start(ap, name);
	add_name(out, name, ap);
	va_end(ap);
	buf_fmt(out, "=%" PRId64, value);
}

void query_bool(struct buf *out, bool value, const char *name, ...)
{
	va_list ap;

	va_start(ap, name);
	add_name(out, name, ap);
	va_end(ap);
	buf_str(out, value ? "=true" : "=false");
}

/* Millionths are more than EC2 keeps; trailing zeros go, so that 0.05 stays "0.05". */
void query_price(struct buf *out, double price, const char *name, ...)
{
	char *text = str_fmt("%.6f", price);
	va_list ap;

	if (!text) {
		out->failed = true;
		return;
	}
	for (size_t n = strlen(text); n && text[n - 1] == '0' && text[n - 2] != '.'; n--)
		text[n - 1] = '\0';
	va_start(ap, name);
	add_name(out, name, ap);
	va_end(ap);
	buf_fmt(out, "=%s", text);
	free(text);
}

void query_base64(struct buf *out, const char *value, const char *name, ...)
{
	struct buf text = {0};
	va_list ap;

	if (!value)
		return;
	va_start(ap, name);
	add_name(out, name, ap);
	va_end(ap);
	buf_char(out, '=');
	buf_base64(&text, value, strlen(value));
	query_encode(out, buf_text(&text), text.n);
	if (buf_failed(&text))
		out->failed = true;
	buf_free(&text);
}

void query_list(struct buf *out, const char *const *v, size_t n, const char *name, ...)
{
	for (size_t i = 0; i < n; i++) {
		va_list ap;

		va_start(ap, name);
		add_name(out, name, ap);
		va_end(ap);
		buf_fmt(out, ".%zu=", i + 1);
		query_encode(out, v[i], strlen(v[i]));
	}
}

void query_tags(struct buf *out, const struct kvs *tags, const char *name)
{
	for (size_t i = 0; tags && i < tags->key.n; i++) {
		query_str(out, tags->key.v[i], "%s.%zu.Key", name, i + 1);
		query_str(out, tags->val.v[i], "%s.%zu.Value", name, i + 1);
	}
}

void query_tag_spec(struct buf *out, const struct kvs *tags, const char *prefix, int index, const char *resource_type)
{
	char *name;

	if (!tags || !tags->key.n)
		return;
	query_str(out, resource_type, "%sTagSpecification.%d.ResourceType", prefix, index);
	name = str_fmt("%sTagSpecification.%d.Tag", prefix, index);
	if (name)
		query_tags(out, tags, name);
	else
		out->failed = true;
	free(name);
}

void query_filter(struct buf *out, int index, const char *name, const char *const *values, size_t n)
{
	query_str(out, name, "Filter.%d.Name", index);
	query_list(out, values, n, "Filter.%d.Value", index);
}

int64_t query_find_i64(const char *body, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = body; p; p = strchr(p, '&')) {
		char digits[24] = "";
		int64_t value;

		p += *p == '&';
		if (strncmp(p, name, n) || p[n] != '=')
			continue;
		p += n + 1;
		if (strcspn(p, "&") >= sizeof digits)
			return 0;
		memcpy(digits, p, strcspn(p, "&"));
		return num_i64(digits, 0, INT64_MAX, &value, NULL) ? 0 : value;
	}
	return 0;
}
