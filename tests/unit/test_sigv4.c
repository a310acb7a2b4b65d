/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_sigv4.c - the signer against AWS's published vectors (service "service", us-east-1, 30 August 2015). */
#include "lib/aws/sigv4.h"

#include "lib/base/buf.h"
#include "lib/base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define WHEN "2015-08-30T12:36:00Z"
#define TOKEN                                                                                                                      \
	"AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/" \
	"qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38" \
	"xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="

static const struct sigv4_key key = {"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "us-east-1", "service"};

static const struct vector {
	const char *name, *method, *path, *query;
	struct sigv4_header header[4]; /* beside Host and X-Amz-Date */
	const char *body;
	bool token;
	const char *signature;
} vectors[] = {
	{"get-header-key-duplicate", "GET", "/", "", {{"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}}, "", false,
	 "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
	{"get-header-value-order", "GET", "/", "", {{"My-Header1", "value4"}, {"My-Header1", "value1"}, {"My-Header1", "value3"}, {"My-Header1", "value2"}}, "", false,
	 "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"},
	{"get-header-value-trim", "GET", "/", "", {{"My-Header1", "value1"}, {"My-Header2", "\"a   b   c\""}}, "", false,
	 "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
	{"get-unreserved", "GET", "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "", {{NULL, NULL}}, "", false,
	 "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
	{"get-vanilla", "GET", "/", "", {{NULL, NULL}}, "", false,
	 "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
	{"get-vanilla-empty-query-key", "GET", "/", "Param1=value1", {{NULL, NULL}}, "", false,
	 "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"},
	{"get-vanilla-query", "GET", "/", "", {{NULL, NULL}}, "", false,
	 "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
	{"get-vanilla-query-order-key", "GET", "/", "Param1=value2&Param1=Value1", {{NULL, NULL}}, "", false,
	 "eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1"},
	{"get-vanilla-query-order-key-case", "GET", "/", "Param2=value2&Param1=value1", {{NULL, NULL}}, "", false,
	 "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
	{"get-vanilla-query-order-value", "GET", "/", "Param1=value2&Param1=value1", {{NULL, NULL}}, "", false,
	 "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694"},
	{"get-vanilla-query-unreserved", "GET", "/", "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz=-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", {{NULL, NULL}}, "", false,
	 "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"},
	{"get-vanilla-utf8-query", "GET", "/", "\341\210\264=bar", {{NULL, NULL}}, "", false,
	 "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
	{"post-header-key-case", "POST", "/", "", {{NULL, NULL}}, "", false,
	 "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
	{"post-header-key-sort", "POST", "/", "", {{"My-Header1", "value1"}}, "", false,
	 "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
	{"post-header-value-case", "POST", "/", "", {{"My-Header1", "VALUE1"}}, "", false,
	 "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"},
	{"post-vanilla", "POST", "/", "", {{NULL, NULL}}, "", false,
	 "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
	{"post-vanilla-empty-query-value", "POST", "/", "Param1=value1", {{NULL, NULL}}, "", false,
	 "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"},
	{"post-vanilla-query", "POST", "/", "Param1=value1", {{NULL, NULL}}, "", false,
	 "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"},
	{"post-x-www-form-urlencoded", "POST", "/", "", {{"Content-Type", "application/x-www-form-urlencoded"}}, "Param1=value1", false,
	 "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
	{"post-x-www-form-urlencoded-parameters", "POST", "/", "", {{"Content-Type", "application/x-www-form-urlencoded; charset=utf8"}}, "Param1=value1", false,
	 "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe"},
	{"get-relative", "GET", "/example/..", "", {{NULL, NULL}}, "", false,
	 "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
	{"get-relative-relative", "GET", "/example1/example2/../..", "", {{NULL, NULL}}, "", false,
	 "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
	{"get-slash", "GET", "//", "", {{NULL, NULL}}, "", false,
	 "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
	{"get-slash-dot-slash", "GET", "/./", "", {{NULL, NULL}}, "", false,
	 "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
	{"get-slash-pointless-dot", "GET", "/./example", "", {{NULL, NULL}}, "", false,
	 "ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5"},
	{"get-slashes", "GET", "//example//", "", {{NULL, NULL}}, "", false,
	 "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"},
	{"post-sts-header-before", "POST", "/", "", {{NULL, NULL}}, "", true,
	 "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
};

static int64_t when(void)
{
	int64_t ms = 0;

	assert_int_equal(clock_iso_parse(WHEN, &ms), 0);
	return ms;
}

static size_t collect_headers(const struct vector *v, struct sigv4_header *h)
{
	size_t n = 0;

	h[n++] = (struct sigv4_header){"Host", "example.amazonaws.com"};
	for (size_t i = 0; i < 4 && v->header[i].name; i++)
		h[n++] = v->header[i];
	h[n++] = (struct sigv4_header){"X-Amz-Date", "20150830T123600Z"};
	if (v->token)
		h[n++] = (struct sigv4_header){"X-Amz-Security-Token", TOKEN};
	return n;
}

static void sign(const struct vector *v, struct buf *out)
{
	struct sigv4_header h[8];
	struct sigv4_request r = {.method = v->method, .path = v->path, .query = v->query, .headers = h, .body = v->body,
				  .body_n = strlen(v->body)};

	r.n_headers = collect_headers(v, h);
	assert_int_equal(sigv4_authorize(&r, &key, when(), out), 0);
}

static void published_vectors(void **state)
{
	int bad = 0;

	(void)state;
	for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
		struct buf b = {0};
		const char *signature;

		sign(&vectors[i], &b);
		signature = strstr(buf_text(&b), "Signature=");
		assert_non_null(signature);
		if (strcmp(signature + 10, vectors[i].signature)) {
			print_error("%s: %s, want %s\n", vectors[i].name, signature + 10, vectors[i].signature);
			bad++;
		}
		buf_free(&b);
	}
	assert_int_equal(bad, 0);
}

static void header_text(void **state)
{
	static const struct vector vanilla = {"", "GET", "/", "", {{NULL, NULL}}, "", false, ""};
	struct buf b = {0};

	(void)state;
	sign(&vanilla, &b);
	assert_string_equal(buf_text(&b),
			    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
			    "SignedHeaders=host;x-amz-date, "
			    "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
	buf_free(&b);
}

/* Each part of a request must change the signature: an unsigned part could be swapped on the way. */
static void every_part_counts(void **state)
{
	static const struct vector base = {"", "POST", "/a", "b=c", {{"X-Y", "z"}}, "body", false, ""};
	struct vector v[6];
	struct buf first = {0};

	(void)state;
	sign(&base, &first);
	for (size_t i = 0; i < 6; i++)
		v[i] = base;
	v[0].method = "PUT";
	v[1].path = "/b";
	v[2].query = "b=d";
	v[3].header[0].value = "w";
	v[4].body = "bodY";
	v[5].token = true;
	for (size_t i = 0; i < 6; i++) {
		struct buf b = {0};

		sign(&v[i], &b);
		assert_string_not_equal(buf_text(&b), buf_text(&first));
		buf_free(&b);
	}
	buf_free(&first);
}

static void canonical_path_and_query(void **state)
{
	static const struct {
		const char *path, *query, *want;
	} rows[] = {
		{"/example space/", "", "GET\n/example%20space/\n\n"},
		{"/a%20b", "", "GET\n/a%2520b\n\n"}, /* encoded twice, as the services do */
		{"", NULL, "GET\n/\n\n"},
		{NULL, NULL, "GET\n/\n\n"},
		{"/../../a", "", "GET\n/a\n\n"},
		{"/a/./b/../c", "", "GET\n/a/c\n\n"},
		{"/", "b&a=1", "GET\n/\na=1&b=\n"},
		{"/", "a-b=1&a=2", "GET\n/\na=2&a-b=1\n"},
		{"/", "x=%7e%2f", "GET\n/\nx=~%2F\n"},
		{"/", "a=b=c&&", "GET\n/\na=b%3Dc\n"},
		{"/", "p=100%", "GET\n/\np=100%25\n"},
	};
	struct sigv4_header h = {"Host", "h"};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct sigv4_request r = {.method = "GET", .path = rows[i].path, .query = rows[i].query, .headers = &h, .n_headers = 1};
		struct buf b = {0};
		char head[200];

		assert_int_equal(sigv4_canonical(&r, &b), 0);
		snprintf(head, sizeof head, "%.*s", (int)strlen(rows[i].want), buf_text(&b));
		assert_string_equal(head, rows[i].want);
		buf_free(&b);
	}
}

static void date_text(void **state)
{
	char out[17];

	(void)state;
	sigv4_date(when() + 999, out);
	assert_string_equal(out, "20150830T123600Z");
	sigv4_date(0, out);
	assert_string_equal(out, "19700101T000000Z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_vectors), cmocka_unit_test(header_text),
		cmocka_unit_test(every_part_counts), cmocka_unit_test(canonical_path_and_query),
		cmocka_unit_test(date_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
