/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_sigv4check.c - the local cloud's verifier: AWS's published vectors pass, and each thing changed in one is noticed. */
#include "tests/unit/test.h"

#include "ec2local/sigv4check.h"
#include "lib/base/clock.h"

#define ACCESS "AKIDEXAMPLE"
#define SCOPE "20150830/us-east-1/service/aws4_request"
#define FORM_SIGNED "content-type;host;x-amz-date"
#define FORM_SIGNATURE "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"

/* A request as it came; defaults are those of post-x-www-form-urlencoded. */
struct received {
	const char *name;
	const char *method, *path, *query, *body, *type, *date, *token, *access, *scope, *signed_headers, *signature;
	const char *secret, *want_token;
	int64_t late_ms;
	enum sigv4_verdict verdict;
	const char *why; /* part of the reason; NULL = any */
};

static const struct received table[] = {
    {"post-x-www-form-urlencoded", .verdict = SIGV4_OK},
    {"post-vanilla", .body = "", .type = "", .signed_headers = "host;x-amz-date",
     .signature = "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b", .verdict = SIGV4_OK},
    {"get-vanilla", .method = "GET", .body = "", .type = "", .signed_headers = "host;x-amz-date",
     .signature = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31", .verdict = SIGV4_OK},
    {"get-vanilla-query-order-key-case", .method = "GET", .body = "", .type = "", .signed_headers = "host;x-amz-date",
     .query = "Param2=value2&Param1=value1", .signature = "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
     .verdict = SIGV4_OK},
    {"blanks in a header are squeezed", .type = "  application/x-www-form-urlencoded \t", .verdict = SIGV4_OK},
    {"at the edge of the window", .late_ms = SIGV4_WINDOW_MS, .verdict = SIGV4_OK},
    {"too late", .late_ms = SIGV4_WINDOW_MS + 1, .verdict = SIGV4_EXPIRED},
    {"too early", .late_ms = -SIGV4_WINDOW_MS - 1, .verdict = SIGV4_EXPIRED},
    {"other body", .body = "Param1=value2", .verdict = SIGV4_MISMATCH, .why = "does not match"},
    {"other method", .method = "PUT", .verdict = SIGV4_MISMATCH},
    {"other path", .path = "/x", .verdict = SIGV4_MISMATCH},
    {"other query", .query = "a=b", .verdict = SIGV4_MISMATCH},
    {"other header value", .type = "text/plain", .verdict = SIGV4_MISMATCH},
    {"other secret", .secret = "wrong", .verdict = SIGV4_MISMATCH},
    {"other region", .scope = "20150830/eu-west-1/service/aws4_request", .verdict = SIGV4_MISMATCH, .why = "region"},
    {"other service", .scope = "20150830/us-east-1/s3/aws4_request", .verdict = SIGV4_MISMATCH, .why = "service"},
    {"other end of scope", .scope = "20150830/us-east-1/service/aws5_request", .verdict = SIGV4_MISMATCH,
     .why = "aws4_request"},
    {"a digit of the signature", .signature = "0f11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
     .verdict = SIGV4_MISMATCH},
    {"short signature", .signature = "ff11", .verdict = SIGV4_MISMATCH},
    {"host not signed", .signed_headers = "content-type;x-amz-date", .verdict = SIGV4_MISMATCH, .why = "Host"},
    {"date not signed", .signed_headers = "content-type;host", .verdict = SIGV4_MISMATCH, .why = "X-Amz-Date"},
    {"a signed header is missing", .signed_headers = "content-type;host;x-amz-date;x-none", .verdict = SIGV4_MISMATCH,
     .why = "header is missing"},
    {"token nobody wants", .token = "t", .signed_headers = "content-type;host;x-amz-date;x-amz-security-token",
     .verdict = SIGV4_MISMATCH, .why = "session token"},
    {"token not signed", .token = "t", .want_token = "t", .verdict = SIGV4_MISMATCH, .why = "X-Amz-Security-Token"},
    {"token missing", .want_token = "t", .verdict = SIGV4_MISMATCH, .why = "session token"},
    {"unknown key", .access = "AKIDOTHER", .verdict = SIGV4_UNKNOWN_KEY},
    {"scope of another day", .scope = "20150829/us-east-1/service/aws4_request", .verdict = SIGV4_MALFORMED},
    {"scope too short", .scope = "20150830/us-east-1/service", .verdict = SIGV4_MALFORMED},
    {"no date", .date = "", .verdict = SIGV4_MALFORMED},
    {"odd date", .date = "2015-08-30T12:36:00", .verdict = SIGV4_MALFORMED},
};

static const char *either(const char *given, const char *usual)
{
	return given ? given : usual;
}

static const char *secret_of(void *arg, const char *access, const char **token)
{
	const struct received *t = arg;

	*token = t->want_token;
	return strcmp(access, ACCESS) ? NULL : either(t->secret, "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
}

static void add(struct kvs *h, const char *key, const char *val)
{
	if (val && *val)
		assert_int_equal(kvs_add(h, key, val), 0);
}

static enum sigv4_verdict check(const struct received *t, bool with_authorization, char why[256])
{
	struct sigv4_request r = {
	    either(t->method, "POST"), either(t->path, "/"), either(t->query, ""), NULL, either(t->body, "Param1=value1"), 0};
	struct sigv4_rules rules = {"us-east-1", "service", 0, secret_of, (void *)(uintptr_t)t};
	enum sigv4_verdict verdict;
	struct kvs h = {0};
	char access[128];
	char *auth =
	    str_fmt("AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s", either(t->access, ACCESS),
		    either(t->scope, SCOPE), either(t->signed_headers, FORM_SIGNED), either(t->signature, FORM_SIGNATURE));

	assert_non_null(auth);
	assert_int_equal(clock_iso_parse("2015-08-30T12:36:00Z", &rules.now_ms), 0);
	rules.now_ms += t->late_ms;
	add(&h, "Host", "example.amazonaws.com");
	add(&h, "X-AMZ-Date", either(t->date, "20150830T123600Z"));
	add(&h, "content-TYPE", either(t->type, "application/x-www-form-urlencoded"));
	add(&h, "X-Amz-Security-Token", t->token);
	add(&h, "Authorization", with_authorization ? auth : NULL);
	r.headers = &h;
	r.body_n = strlen(r.body);
	verdict = sigv4_check(&r, &rules, access, why);
	kvs_clear(&h);
	free(auth);
	return verdict;
}

static void each_change_is_noticed(void **state)
{
	int bad = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		char why[256];
		enum sigv4_verdict got = check(&table[i], true, why);

		if (got == table[i].verdict && (!table[i].why || strstr(why, table[i].why)))
			continue;
		print_error("%s: verdict %d, want %d (%s)\n", table[i].name, got, table[i].verdict, why);
		bad++;
	}
	assert_int_equal(bad, 0);
}

static void unsigned_is_told_apart(void **state)
{
	char why[256];

	(void)state;
	assert_int_equal(check(&table[0], false, why), SIGV4_UNSIGNED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_change_is_noticed),
	    cmocka_unit_test(unsigned_is_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
