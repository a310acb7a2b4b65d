/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sigv4check.c - rebuild the canonical request from what came over the wire and compare signatures. No I/O, no clock. */
#include "build_config.h"

#include "ec2local/sigv4check.h"
#include "lib/base/buf.h"

#include <ctype.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define ALGORITHM "AWS4-HMAC-SHA256"

/* The parts of an Authorization header. */
struct authorization {
	char access[128];
	char date[16];
	char region[64];
	char service[64];
	char end[32];
	char signed_headers[1024];
	char signature[80];
};

void sigv4_sha256_hex(const void *bytes, size_t n, char out[65])
{
	unsigned char md[EVP_MAX_MD_SIZE];
	unsigned int len = 0;

	out[0] = '\0';
	if (!EVP_Digest(bytes, n, md, &len, EVP_sha256(), NULL))
		return;
	for (unsigned int i = 0; i < len; i++)
		snprintf(out + 2 * i, 3, "%02x", md[i]);
}

static const char *header(const struct kvs *h, const char *name)
{
	for (size_t i = 0; i < h->key.n; i++) {
		if (!strcasecmp(h->key.v[i], name))
			return h->val.v[i];
	}
	return NULL;
}

/* Copy the value of "Name=value" up to a comma, blank or the end. */
static int take(const char *text, const char *name, char *out, size_t cap)
{
	const char *at = strstr(text, name);
	size_t n;

	if (!at)
		return -1;
	at += strlen(name);
	n = strcspn(at, ", ");
	if (n == 0 || n >= cap)
		return -1;
	memcpy(out, at, n);
	out[n] = '\0';
	return 0;
}

static int split_scope(const char *credential, struct authorization *a)
{
	struct strs part = {0};
	int rc = -1;

	if (strs_split(&part, credential, '/') == 0 && part.n == 5 && strlen(part.v[0]) < sizeof(a->access) &&
	    strlen(part.v[1]) < sizeof(a->date) && strlen(part.v[2]) < sizeof(a->region) &&
	    strlen(part.v[3]) < sizeof(a->service) && strlen(part.v[4]) < sizeof(a->end)) {
		strcpy(a->access, part.v[0]);
		strcpy(a->date, part.v[1]);
		strcpy(a->region, part.v[2]);
		strcpy(a->service, part.v[3]);
		strcpy(a->end, part.v[4]);
		rc = 0;
	}
	strs_clear(&part);
	return rc;
}

static int parse_authorization(const char *text, struct authorization *a)
{
	char credential[512];

	if (!str_prefix(text, ALGORITHM " "))
		return -1;
	if (take(text, "Credential=", credential, sizeof(credential)) < 0 || split_scope(credential, a) < 0)
		return -1;
	if (take(text, "SignedHeaders=", a->signed_headers, sizeof(a->signed_headers)) < 0)
		return -1;
	return take(text, "Signature=", a->signature, sizeof(a->signature));
}

/* "20261130T165027Z" to milliseconds; -1 if it is not such a time. */
static int64_t parse_amz_date(const char *s)
{
	struct tm tm = {0};
	const char *end = s && strlen(s) == 16 ? strptime(s, "%Y%m%dT%H%M%SZ", &tm) : NULL;

	return end && !*end ? (int64_t)timegm(&tm) * 1000 : -1;
}

/* Blanks around removed, runs of blanks inside become one. */
static void add_squeezed(struct buf *b, const char *s)
{
	bool blank = false, any = false;

	for (; *s; s++) {
		if (*s == ' ' || *s == '\t') {
			blank = any;
			continue;
		}
		if (blank)
			buf_char(b, ' ');
		buf_char(b, *s);
		blank = false;
		any = true;
	}
}

/* "name:value,value\n" of all headers with that name in the order received; -1 if there is none. */
static int add_header(struct buf *b, const struct kvs *h, const char *name)
{
	bool found = false;

	buf_str(b, name);
	for (size_t i = 0; i < h->key.n; i++) {
		if (strcasecmp(h->key.v[i], name))
			continue;
		buf_char(b, found ? ',' : ':');
		add_squeezed(b, h->val.v[i]);
		found = true;
	}
	buf_char(b, '\n');
	return found ? 0 : -1;
}

static bool unreserved(char c)
{
	return isalnum((unsigned char)c) || strchr("-._~", c);
}

static int nibble(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Decode and encode again, as a service does. */
static void add_reencoded(struct buf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char c = s[i];

		if (c == '%' && i + 2 < n && isxdigit((unsigned char)s[i + 1]) && isxdigit((unsigned char)s[i + 2])) {
			c = (char)(nibble(s[i + 1]) * 16 + nibble(s[i + 2]));
			i += 2;
		}
		if (c && unreserved(c))
			buf_char(b, c);
		else
			buf_fmt(b, "%%%02X", (unsigned char)c);
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_query(struct buf *b, const char *query)
{
	struct strs pairs = {0}, out = {0};
	int rc = strs_split(&pairs, query, '&');

	for (size_t i = 0; rc == 0 && i < pairs.n; i++) {
		struct buf one = {0};
		size_t klen = strcspn(pairs.v[i], "=");

		add_reencoded(&one, pairs.v[i], klen);
		buf_char(&one, '=');
		if (pairs.v[i][klen])
			add_reencoded(&one, pairs.v[i] + klen + 1, strlen(pairs.v[i] + klen + 1));
		rc = strs_take(&out, buf_take(&one));
	}
	if (out.n)
		qsort(out.v, out.n, sizeof(*out.v), by_text);
	for (size_t i = 0; i < out.n; i++) {
		buf_str(b, i ? "&" : "");
		buf_str(b, out.v[i]);
	}
	strs_clear(&pairs);
	strs_clear(&out);
	return rc;
}

static int add_canonical(struct buf *b, const struct sigv4_request *r, const char *signed_headers)
{
	struct strs names = {0};
	char hash[65];
	int rc = strs_split(&names, signed_headers, ';');

	buf_fmt(b, "%s\n", r->method);
	for (const char *p = r->path; *p; p++) {
		if (*p == '/')
			buf_char(b, '/');
		else
			add_reencoded(b, p, 1);
	}
	buf_char(b, '\n');
	if (rc == 0)
		rc = add_query(b, r->query);
	buf_char(b, '\n');
	for (size_t i = 0; rc == 0 && i < names.n; i++)
		rc = add_header(b, r->headers, names.v[i]);
	sigv4_sha256_hex(r->body ? r->body : "", r->body_n, hash);
	buf_fmt(b, "\n%s\n%s", signed_headers, hash);
	strs_clear(&names);
	return rc;
}

static void hmac(const void *key, size_t key_n, const char *text, unsigned char out[32])
{
	unsigned int n = 32;

	HMAC(EVP_sha256(), key, (int)key_n, (const unsigned char *)text, strlen(text), out, &n);
}

static void sign(const char *secret, const struct authorization *a, const char *to_sign, char out[65])
{
	unsigned char k[32];
	char *start = str_fmt("AWS4%s", secret);

	out[0] = '\0';
	if (!start)
		return;
	hmac(start, strlen(start), a->date, k);
	hmac(k, 32, a->region, k);
	hmac(k, 32, a->service, k);
	hmac(k, 32, a->end, k);
	hmac(k, 32, to_sign, k);
	for (int i = 0; i < 32; i++)
		snprintf(out + 2 * i, 3, "%02x", k[i]);
	OPENSSL_cleanse(k, sizeof(k));
	OPENSSL_cleanse(start, strlen(start));
	free(start);
}

static bool listed(const char *signed_headers, const char *name)
{
	struct strs l = {0};
	bool yes = strs_split(&l, signed_headers, ';') == 0 && strs_has(&l, name);

	strs_clear(&l);
	return yes;
}

/* What must be signed, and the scope; NULL if all is well. */
static const char *scope_fault(const struct authorization *a, const struct sigv4_request *r, const struct sigv4_rules *rules)
{
	if (strcmp(a->end, "aws4_request"))
		return "the scope does not end in aws4_request";
	if (strcmp(a->region, rules->region))
		return "the scope names another region";
	if (strcmp(a->service, rules->service))
		return "the scope names another service";
	if (!listed(a->signed_headers, "host"))
		return "Host is not signed";
	if (!listed(a->signed_headers, "x-amz-date"))
		return "X-Amz-Date is not signed";
	if (header(r->headers, "x-amz-security-token") && !listed(a->signed_headers, "x-amz-security-token"))
		return "X-Amz-Security-Token is not signed";
	return NULL;
}

static enum sigv4_verdict compare(const struct sigv4_request *r, const struct authorization *a, const char *amz_date,
				  const char *secret, char why[256])
{
	struct buf canonical = {0}, to_sign = {0};
	enum sigv4_verdict v = SIGV4_MISMATCH;
	char hash[65], want[65] = "";

	if (add_canonical(&canonical, r, a->signed_headers) < 0) {
		snprintf(why, 256, "a signed header is missing");
	} else {
		sigv4_sha256_hex(buf_text(&canonical), canonical.n, hash);
		buf_fmt(&to_sign, ALGORITHM "\n%s\n%s/%s/%s/%s\n%s", amz_date, a->date, a->region, a->service, a->end, hash);
		if (!buf_failed(&canonical) && !buf_failed(&to_sign))
			sign(secret, a, buf_text(&to_sign), want);
		if (strlen(want) == 64 && strlen(a->signature) == 64 && !CRYPTO_memcmp(want, a->signature, 64))
			v = SIGV4_OK;
		else
			snprintf(why, 256, "the signature does not match");
	}
	buf_free(&canonical);
	buf_free(&to_sign);
	return v;
}

enum sigv4_verdict sigv4_check(const struct sigv4_request *r, const struct sigv4_rules *rules, char access[128], char why[256])
{
	const char *text = header(r->headers, "authorization"), *date = header(r->headers, "x-amz-date");
	const char *fault, *secret, *token = NULL, *given = header(r->headers, "x-amz-security-token");
	struct authorization a = {0};
	int64_t at = parse_amz_date(date);

	access[0] = why[0] = '\0';
	if (!text)
		return SIGV4_UNSIGNED;
	if (parse_authorization(text, &a) < 0 || at < 0 || strncmp(a.date, date, 8)) {
		snprintf(why, 256, at < 0 ? "X-Amz-Date is missing or wrong" : "the Authorization header is malformed");
		return SIGV4_MALFORMED;
	}
	strcpy(access, a.access);
	secret = rules->secret_of(rules->arg, a.access, &token);
	if (!secret)
		return SIGV4_UNKNOWN_KEY;
	fault = scope_fault(&a, r, rules);
	if (!fault && (token ? !given || strcmp(token, given) : given != NULL))
		fault = "the session token is not the one of this key";
	if (fault) {
		snprintf(why, 256, "%s", fault);
		return SIGV4_MISMATCH;
	}
	if (at < rules->now_ms - SIGV4_WINDOW_MS || at > rules->now_ms + SIGV4_WINDOW_MS)
		return SIGV4_EXPIRED;
	return compare(r, &a, date, secret, why);
}
