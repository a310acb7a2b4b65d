/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sigv4.c - AWS Signature Version 4. Called by perform.c for each request; knows neither clock nor network.
 *
 * libcurl could sign too, but it cannot correct the clock, sends unsigned when a key is missing, and changes with the
 * distribution.
 */
#include "lib/aws/sigv4.h"

#include "lib/aws/query.h"
#include "lib/base/buf.h"
#include "lib/base/str.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define HASH_BYTES 32
#define ALGORITHM "AWS4-HMAC-SHA256"

void sigv4_date(int64_t wall_ms, char out[17])
{
	time_t t = wall_ms / 1000;
	struct tm tm = {0};

	gmtime_r(&t, &tm);
	strftime(out, 17, "%Y%m%dT%H%M%SZ", &tm);
}

static int add_hash(struct buf *out, const void *bytes, size_t n)
{
	unsigned char md[HASH_BYTES];
	unsigned int len = 0;

	if (!EVP_Digest(n ? bytes : "", n, md, &len, EVP_sha256(), NULL))
		return -1;
	for (unsigned int i = 0; i < len; i++)
		buf_fmt(out, "%02x", md[i]);
	return 0;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A query part, decoded as the service does and encoded again in the one strict form. */
static void add_query_part(struct buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char c = s[i];

		if (c == '%' && i + 2 < n && hex_value(s[i + 1]) >= 0 && hex_value(s[i + 2]) >= 0) {
			c = (char)(hex_value(s[i + 1]) << 4 | hex_value(s[i + 2]));
			i += 2;
		}
		query_encode(out, &c, 1);
	}
}

/* Sort by name, then by value: the '=' between them must not take part ("a=" goes before "a-b="). */
static int compare_pairs(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	size_t nx = strcspn(x, "="), ny = strcspn(y, "=");
	int d = memcmp(x, y, nx < ny ? nx : ny);

	if (d)
		return d;
	return nx != ny ? (nx < ny ? -1 : 1) : strcmp(x + nx, y + ny);
}

static int split_query(struct strs *pairs, const char *query)
{
	for (const char *p = query; *p;) {
		size_t n = strcspn(p, "&"), name = strcspn(p, "=&");
		struct buf one = {0};

		add_query_part(&one, p, name);
		buf_char(&one, '=');
		if (name < n)
			add_query_part(&one, p + name + 1, n - name - 1);
		if (n && strs_take(pairs, buf_take(&one)))
			return -1;
		buf_free(&one);
		p += n + (p[n] == '&');
	}
	return 0;
}

static int add_query(struct buf *out, const char *query)
{
	struct strs pairs = {0};
	int rc = split_query(&pairs, query ? query : "");

	if (!rc && pairs.n > 1)
		qsort(pairs.v, pairs.n, sizeof *pairs.v, compare_pairs);
	for (size_t i = 0; !rc && i < pairs.n; i++) {
		buf_str(out, i ? "&" : "");
		buf_str(out, pairs.v[i]);
	}
	strs_clear(&pairs);
	return rc;
}

static bool is_segment(const char *s, size_t n, const char *text)
{
	return n == strlen(text) && !memcmp(s, text, n);
}

/* The path without empty, "." and ".." segments, encoded once more: services other than S3 sign the path encoded twice. */
static int add_path(struct buf *out, const char *path)
{
	struct buf flat = {0};

	for (const char *p = path; *p;) {
		size_t n;

		p += strspn(p, "/");
		n = strcspn(p, "/");
		if (is_segment(p, n, "..")) {
			while (flat.n && flat.v[--flat.n] != '/')
				;
		} else if (n && !is_segment(p, n, ".")) {
			buf_char(&flat, '/');
			buf_add(&flat, p, n);
		}
		p += n;
	}
	if (!flat.n || (*path && path[strlen(path) - 1] == '/'))
		buf_char(&flat, '/');
	for (size_t i = 0; i < flat.n; i++) {
		if (flat.v[i] == '/')
			buf_char(out, '/');
		else
			query_encode(out, flat.v + i, 1);
	}
	if (buf_failed(&flat))
		out->failed = true;
	buf_free(&flat);
	return 0;
}

/* Stable by position, so that a header given twice keeps its values in order. */
static int compare_headers(const void *a, const void *b)
{
	const struct sigv4_header *x = *(const struct sigv4_header *const *)a, *y = *(const struct sigv4_header *const *)b;
	int d = strcasecmp(x->name, y->name);

	return d ? d : (x < y ? -1 : 1);
}

static const struct sigv4_header **sorted_headers(const struct sigv4_request *r)
{
	const struct sigv4_header **v = calloc(r->n_headers + 1, sizeof *v);

	if (!v)
		return NULL;
	for (size_t i = 0; i < r->n_headers; i++)
		v[i] = &r->headers[i];
	qsort(v, r->n_headers, sizeof *v, compare_headers);
	return v;
}

static bool same_name(const struct sigv4_header *a, const struct sigv4_header *b)
{
	return a && b && !strcasecmp(a->name, b->name);
}

static void add_lower(struct buf *out, const char *s)
{
	for (; *s; s++)
		buf_char(out, (char)tolower((unsigned char)*s));
}

/* Outer blanks removed, inner runs of blanks one blank. */
static void add_value(struct buf *out, const char *s)
{
	bool gap = false, any = false;

	for (; *s; s++) {
		if (strchr(" \t\r\n", *s)) {
			gap = any;
			continue;
		}
		if (gap)
			buf_char(out, ' ');
		buf_char(out, *s);
		gap = false;
		any = true;
	}
}

static void add_headers(struct buf *out, const struct sigv4_header **v)
{
	const struct sigv4_header *last = NULL;

	for (; *v; last = *v++) {
		if (same_name(last, *v)) {
			buf_char(out, ',');
		} else {
			buf_str(out, last ? "\n" : "");
			add_lower(out, (*v)->name);
			buf_char(out, ':');
		}
		add_value(out, (*v)->value);
	}
	buf_char(out, '\n');
}

static void add_signed_names(struct buf *out, const struct sigv4_header **v)
{
	const struct sigv4_header *last = NULL;

	for (; *v; last = *v++) {
		if (same_name(last, *v))
			continue;
		buf_str(out, last ? ";" : "");
		add_lower(out, (*v)->name);
	}
}

int sigv4_canonical(const struct sigv4_request *r, struct buf *out)
{
	const struct sigv4_header **v = sorted_headers(r);
	int rc = -1;

	if (!v)
		return -1;
	buf_fmt(out, "%s\n", r->method);
	if (add_path(out, r->path ? r->path : "/"))
		goto out;
	buf_char(out, '\n');
	if (add_query(out, r->query))
		goto out;
	buf_char(out, '\n');
	add_headers(out, v);
	buf_char(out, '\n');
	add_signed_names(out, v);
	buf_char(out, '\n');
	if (add_hash(out, r->body, r->body_n) || buf_failed(out))
		goto out;
	rc = 0;
out:
	free(v);
	return rc;
}

static int hmac(const unsigned char *key, size_t key_n, const char *text, unsigned char out[HASH_BYTES])
{
	unsigned char md[EVP_MAX_MD_SIZE];
	unsigned int n = 0;

	if (!HMAC(EVP_sha256(), key, (int)key_n, (const unsigned char *)text, strlen(text), md, &n))
		return -1;
	memcpy(out, md, HASH_BYTES); /* out may be key */
	OPENSSL_cleanse(md, sizeof md);
	return 0;
}

/* The signature of `to_sign`: the secret is only ever used to derive the key of one day, region and service. */
static int sign(const struct sigv4_key *k, const char *day, const char *to_sign, unsigned char out[HASH_BYTES])
{
	const char *steps[] = {day, k->region, k->service, "aws4_request", to_sign};
	char *secret = str_fmt("AWS4%s", k->secret);
	int rc = -1;

	if (!secret)
		return -1;
	rc = hmac((const unsigned char *)secret, strlen(secret), steps[0], out);
	for (size_t i = 1; !rc && i < sizeof steps / sizeof *steps; i++)
		rc = hmac(out, HASH_BYTES, steps[i], out);
	OPENSSL_cleanse(secret, strlen(secret));
	free(secret);
	return rc;
}

static int add_signature(struct buf *out, const struct sigv4_key *k, const char *day, const char *to_sign)
{
	unsigned char md[HASH_BYTES];

	if (sign(k, day, to_sign, md))
		return -1;
	for (size_t i = 0; i < sizeof md; i++)
		buf_fmt(out, "%02x", md[i]);
	return 0;
}

int sigv4_authorize(const struct sigv4_request *r, const struct sigv4_key *k, int64_t wall_ms, struct buf *out)
{
	const struct sigv4_header **v = sorted_headers(r);
	struct buf canonical = {0}, to_sign = {0};
	char date[17], day[9];
	int rc = -1;

	sigv4_date(wall_ms, date);
	memcpy(day, date, 8);
	day[8] = '\0';
	if (!v || sigv4_canonical(r, &canonical))
		goto out;
	buf_fmt(&to_sign, ALGORITHM "\n%s\n%s/%s/%s/aws4_request\n", date, day, k->region, k->service);
	if (add_hash(&to_sign, canonical.v, canonical.n) || buf_failed(&to_sign))
		goto out;
	buf_fmt(out, ALGORITHM " Credential=%s/%s/%s/%s/aws4_request, SignedHeaders=", k->access_key, day, k->region, k->service);
	add_signed_names(out, v);
	buf_str(out, ", Signature=");
	if (add_signature(out, k, day, buf_text(&to_sign)) || buf_failed(out))
		goto out;
	rc = 0;
out:
	buf_free(&to_sign);
	buf_free(&canonical);
	free(v);
	return rc;
}
