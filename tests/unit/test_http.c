/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_http.c - calls over real sockets, against ec2_server.py: what is retried, with which body, and what is believed
 * afterwards. */
#include "lib/aws/ec2.h"
#include "lib/aws/http.h"
#include "lib/aws/imds.h"

#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "tests/unit/http_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PLENTY 60000 /* ms: longer than any of these calls should need */

static char url[40], dir[] = "/tmp/test_http.XXXXXX";
static char *credentials_path;
static struct http_server server;

/* --- the server */
static int start_server(void)
{
	int rc = http_server_start(&server, "ec2_server.py", NULL);

	snprintf(url, sizeof url, "http://127.0.0.1:%d", server.port);
	return rc;
}

struct log {
	int requests, bodies, connections;
};

static struct log server_log(const char *scenario)
{
	char *path = str_fmt("/log/%s", scenario);
	struct buf b = {0};
	struct log l = {-1, -1, -1};

	http_server_get(&server, path, &b);
	assert_int_equal(sscanf(buf_text(&b), "%d %d %d", &l.requests, &l.bodies, &l.connections), 3);
	buf_free(&b);
	free(path);
	return l;
}

/* --- helpers */
static void write_keys(const char *key, const char *token)
{
	char *text = str_fmt("[default]\naws_access_key_id=%s\naws_secret_access_key=SECRETKEY1\n%s%s\n", key,
			     token ? "aws_session_token=" : "", token ? token : "");

	assert_non_null(text);
	assert_int_equal(file_replace(credentials_path, 0600, text, strlen(text), NULL), 0);
	free(text);
}

static struct aws *connect_to(const char *endpoint)
{
	struct aws_config c = {.region = "us-east-1", .endpoint = endpoint, .credentials_file = credentials_path};
	struct aws *a;

	write_keys("AKID1", "TOKEN1");
	a = aws_create(&c, NULL);
	assert_non_null(a);
	return a;
}

static int64_t in_ms(int64_t ms)
{
	return clock_mono_ms() + ms;
}

static struct ec2_call *describe(const char *scenario)
{
	struct ec2_call *c = ec2_describe_by("tag:x", &scenario, 1);

	assert_non_null(c);
	return c;
}

static struct ec2_call *launch(const char *scenario)
{
	struct ec2_run r = {.template_id = "lt-1", .template_version = 3, .min_count = 1, .max_count = 1, .client_token = scenario,
			    .user_data = "#!/bin/sh\n"};
	struct ec2_call *c = ec2_run_instances(&r);

	assert_non_null(c);
	return c;
}

/* Perform and forget; what is left is the outcome. */
static struct aws_error outcome(struct ec2_call *c, int64_t limit_ms, bool *sent)
{
	struct aws *a = connect_to(url);
	struct aws_error x;
	struct err e = {""};
	int rc = ec2_perform_one(a, c, in_ms(limit_ms), &e);

	x = c->error;
	assert_int_equal(rc, x.class == AWS_OK ? 0 : -1);
	if (rc)
		assert_non_null(strstr(e.text, x.code));
	if (sent)
		*sent = c->sent;
	ec2_call_destroy(c);
	aws_destroy(a);
	return x;
}

/* --- tests */
static void kept_connection(void **state)
{
	struct aws *a = connect_to(url);

	(void)state;
	for (int i = 0; i < 5; i++) {
		struct ec2_call *c = describe("ok-kept");

		assert_int_equal(ec2_perform_one(a, c, in_ms(PLENTY), NULL), 0);
		assert_int_equal(ec2_describe_reply(c)->n, 1);
		ec2_call_destroy(c);
	}
	assert_int_equal(server_log("ok-kept").requests, 5);
	assert_int_equal(server_log("ok-kept").connections, 1);
	assert_int_equal(aws_call_count(a), 5);
	aws_destroy(a);
}

static void count_done(struct ec2_call *c, void *arg)
{
	assert_int_equal(c->error.class, AWS_OK);
	++*(int *)arg;
}

static void many_side_by_side(void **state)
{
	struct aws *a = connect_to(url);
	struct ec2_call *calls[30];
	int done = 0;

	(void)state;
	for (int i = 0; i < 30; i++)
		calls[i] = describe("ok-many");
	assert_int_equal(ec2_perform(a, calls, 30, in_ms(PLENTY), count_done, &done), 0);
	assert_int_equal(done, 30);
	assert_int_equal(server_log("ok-many").requests, 30);
	assert_true(server_log("ok-many").connections <= 8);
	for (int i = 0; i < 30; i++)
		ec2_call_destroy(calls[i]);
	aws_destroy(a);
}

static void throttled_then_ok(void **state)
{
	(void)state;
	assert_int_equal(outcome(launch("throttle-1"), PLENTY, NULL).class, AWS_OK);
	assert_int_equal(server_log("throttle-1").requests, 3);
	assert_int_equal(server_log("throttle-1").bodies, 1);
}

static void throttled_until_the_deadline(void **state)
{
	struct aws_error x = outcome(describe("always-1"), 2000, NULL);

	(void)state;
	assert_int_equal(x.class, AWS_THROTTLE);
	assert_string_equal(x.code, "RequestLimitExceeded");
	assert_string_equal(x.request_id, "req-1");
	assert_true(server_log("always-1").requests >= 2);
}

static void dropped_then_ok(void **state)
{
	(void)state;
	assert_int_equal(outcome(launch("drop-1"), PLENTY, NULL).class, AWS_OK);
	assert_int_equal(server_log("drop-1").requests, 2);
	assert_int_equal(server_log("drop-1").bodies, 1); /* the same token */
}

/* The launch may have happened at the first try; "too fast" at the second does not unsay it. */
static void unknown_outcome_is_kept(void **state)
{
	bool sent = false;
	struct aws_error x = outcome(launch("dropthenthrottle-1"), 2000, &sent);

	(void)state;
	assert_true(sent);
	assert_int_equal(x.class, AWS_TRANSIENT);
	assert_string_equal(x.code, "ConnectionLost");
	assert_true(server_log("dropthenthrottle-1").requests >= 2);
}

static void clock_corrected(void **state)
{
	struct aws *a = connect_to(url);
	struct ec2_call *c = describe("skew-1"), *again = describe("skew-1");

	(void)state;
	assert_int_equal(ec2_perform_one(a, c, in_ms(PLENTY), NULL), 0);
	assert_int_equal(server_log("skew-1").requests, 2);
	assert_int_equal(ec2_perform_one(a, again, in_ms(PLENTY), NULL), 0); /* the offset is remembered */
	assert_int_equal(server_log("skew-1").requests, 3);
	ec2_call_destroy(c);
	ec2_call_destroy(again);
	aws_destroy(a);
}

static void clock_corrected_once(void **state)
{
	(void)state;
	assert_int_equal(outcome(describe("chase-1"), PLENTY, NULL).class, AWS_CREDENTIALS);
	assert_int_equal(server_log("chase-1").requests, 2);
}

static void clock_is_not_to_blame(void **state)
{
	struct aws_error x = outcome(describe("noskew-1"), PLENTY, NULL);

	(void)state;
	assert_int_equal(x.class, AWS_CREDENTIALS);
	assert_int_equal(server_log("noskew-1").requests, 1);
}

static void slow_beyond_the_deadline(void **state)
{
	bool sent = false;
	struct aws_error x = outcome(launch("slow-1"), 400, &sent);

	(void)state;
	assert_true(sent);
	assert_int_equal(x.class, AWS_TRANSIENT);
	assert_string_equal(x.code, "RequestTimeout");
	assert_int_equal(server_log("slow-1").requests, 1);
}

static void deadline_before_the_start(void **state)
{
	bool sent = true;
	struct aws_error x = outcome(launch("ok-late"), -1, &sent);

	(void)state;
	assert_false(sent);
	assert_int_equal(x.class, AWS_THROTTLE);
	assert_string_equal(x.code, "DeadlineReached");
	assert_int_equal(server_log("ok-late").requests, 0);
}

static void html_answer(void **state)
{
	struct aws_error x = outcome(describe("html-1"), 4000, NULL);

	(void)state;
	assert_int_equal(x.class, AWS_TRANSIENT);
	assert_int_equal(x.http_status, 502);
	assert_non_null(strstr(x.message, "Bad Gateway of the site"));
	assert_true(server_log("html-1").requests > 1);
}

static void once_only(void **state)
{
	static const struct {
		const char *scenario, *code;
		enum aws_class class;
	} rows[] = {
		{"ice-1", "InsufficientInstanceCapacity", AWS_CAPACITY}, /* HTTP 500, and yet not retried */
		{"denied-1", "UnauthorizedOperation", AWS_OURS},
		{"cuterror-1", "InsufficientInstanceCapacity", AWS_CAPACITY},
		{"quota-1", "VcpuLimitExceeded", AWS_QUOTA},
		{"mismatch-1", "IdempotentParameterMismatch", AWS_OURS},
		{"redirect-1", "UnexpectedAnswer", AWS_OURS},
		{"proxy-1", "UnexpectedAnswer", AWS_OURS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct aws_error x = outcome(launch(rows[i].scenario), PLENTY, NULL);

		assert_int_equal(x.class, rows[i].class);
		assert_string_equal(x.code, rows[i].code);
		assert_int_equal(server_log(rows[i].scenario).requests, 1);
	}
}

/* Whatever came instead of an answer, a launch is asked again with the same bytes, token included. */
static void no_answer_then_ok(void **state)
{
	static const char *const scenarios[] = {"page-1", "empty-1", "cut-1", "busy-1"};

	(void)state;
	for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
		if (outcome(launch(scenarios[i]), PLENTY, NULL).class != AWS_OK)
			fail_msg("%s", scenarios[i]);
		assert_int_equal(server_log(scenarios[i]).requests, 2);
		assert_int_equal(server_log(scenarios[i]).bodies, 1);
	}
}

/* It says that the token was used: after a try of unknown outcome that may have been ours. */
static void mismatch(void **state)
{
	struct aws_error x = outcome(launch("mismatch-2"), PLENTY, NULL);

	(void)state;
	assert_string_equal(x.message, "Arguments differ; its ClientToken was first used with other parameters, nothing was done for "
				       "this request");
	x = outcome(launch("dropthenmismatch-1"), PLENTY, NULL);
	assert_int_equal(x.class, AWS_TRANSIENT);
	assert_string_equal(x.code, "ConnectionLost");
	assert_int_equal(server_log("dropthenmismatch-1").requests, 2);
}

static void clock_corrected_by_other_words(void **state)
{
	(void)state;
	assert_int_equal(outcome(launch("skewsigned-1"), PLENTY, NULL).class, AWS_OK);
	assert_int_equal(server_log("skewsigned-1").requests, 2);
	assert_int_equal(server_log("skewsigned-1").bodies, 1);
	assert_int_equal(outcome(describe("skewauth-1"), PLENTY, NULL).class, AWS_OK);
	assert_int_equal(server_log("skewauth-1").requests, 2);
}

static void secrets_are_redacted(void **state)
{
	struct aws_error x = outcome(describe("echo-1"), PLENTY, NULL);

	(void)state;
	assert_string_equal(x.message, "secret *** token *** end");
	x = outcome(describe("longecho-1"), PLENTY, NULL);
	assert_int_equal(strspn(x.message, "x"), 590);
	assert_string_equal(x.message + 590, "***");
}

static void all_pages(void **state)
{
	struct aws *a = connect_to(url);
	struct ec2_call *c = describe("pages-1");

	(void)state;
	assert_int_equal(ec2_perform_one(a, c, in_ms(PLENTY), NULL), 0);
	assert_int_equal(ec2_describe_reply(c)->n, 3);
	assert_string_equal(ec2_describe_reply(c)->v[2].id, "i-3");
	assert_int_equal(server_log("pages-1").requests, 3);
	ec2_call_destroy(c);
	aws_destroy(a);
}

static void failed_page_fails_the_read(void **state)
{
	struct aws_error x = outcome(describe("badpage-1"), PLENTY, NULL);

	(void)state;
	assert_int_equal(x.class, AWS_OURS);
	assert_string_equal(x.code, "InvalidParameterValue");
}

static void truncated_page_leaves_nothing(void **state)
{
	struct aws *a = connect_to(url);
	struct ec2_call *c = describe("truncated-1");

	(void)state;
	assert_int_equal(ec2_perform_one(a, c, in_ms(PLENTY), NULL), 0);
	assert_int_equal(ec2_describe_reply(c)->n, 2);
	assert_int_equal(server_log("truncated-1").requests, 2);
	ec2_call_destroy(c);
	aws_destroy(a);
}

static void more_values_than_a_filter_takes(void **state)
{
	struct aws *a = connect_to(url);
	const char *values[450];
	struct ec2_call *c;

	(void)state;
	for (int i = 0; i < 450; i++)
		values[i] = "ok-parts";
	c = ec2_describe_ids(values, 450);
	assert_int_equal(ec2_perform_one(a, c, in_ms(PLENTY), NULL), 0);
	assert_int_equal(ec2_describe_reply(c)->n, 3); /* one instance an answer, three requests */
	assert_int_equal(server_log("ok-parts").requests, 3);
	ec2_call_destroy(c);
	c = ec2_describe_ids(values, 0);
	assert_int_equal(ec2_perform_one(a, c, in_ms(PLENTY), NULL), 0);
	assert_int_equal(ec2_describe_reply(c)->n, 0);
	assert_false(c->sent);
	ec2_call_destroy(c);
	aws_destroy(a);
}

static void expired_keys_are_read_again(void **state)
{
	struct aws *a = connect_to(url);
	struct ec2_call *c = describe("ok-first"), *d = describe("expired-1");

	(void)state;
	write_keys("OLDKEY", NULL);
	assert_int_equal(ec2_perform_one(a, c, in_ms(PLENTY), NULL), 0);
	write_keys("NEWKEY", NULL);
	assert_int_equal(ec2_perform_one(a, d, in_ms(PLENTY), NULL), 0);
	assert_int_equal(server_log("expired-1").requests, 2);
	ec2_call_destroy(c);
	ec2_call_destroy(d);
	aws_destroy(a);
}

/* The same old keys again: no second try. */
static void expired_keys_once(void **state)
{
	struct aws *a = connect_to(url);
	struct ec2_call *c = describe("expired-2");

	(void)state;
	write_keys("OLDKEY", NULL);
	assert_int_equal(ec2_perform_one(a, c, in_ms(PLENTY), NULL), -1);
	assert_int_equal(c->error.class, AWS_CREDENTIALS);
	assert_int_equal(server_log("expired-2").requests, 1);
	ec2_call_destroy(c);
	aws_destroy(a);
}

static void never_unsigned(void **state)
{
	struct aws_config config = {.region = "us-east-1", .endpoint = url, .imds_endpoint = "http://127.0.0.1:1"};
	struct aws *a = aws_create(&config, NULL);
	struct ec2_call *calls[] = {describe("ok-unsigned"), launch("ok-unsigned")};

	(void)state;
	assert_non_null(a);
	assert_int_equal(ec2_perform(a, calls, 2, in_ms(PLENTY), NULL, NULL), -1);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(calls[i]->error.class, AWS_CREDENTIALS);
		assert_string_equal(calls[i]->error.code, "NoCredentials");
		assert_false(calls[i]->sent);
		ec2_call_destroy(calls[i]);
	}
	assert_int_equal(server_log("ok-unsigned").requests, 0);
	aws_destroy(a);
}

static void role_of_the_instance(void **state)
{
	struct aws_config config = {.endpoint = url, .imds_endpoint = url};
	struct aws *a = aws_create(&config, NULL);
	struct ec2_call *c = describe("role-1");

	(void)state;
	assert_non_null(a);
	assert_int_equal(ec2_perform_one(a, c, in_ms(PLENTY), NULL), 0);
	assert_string_equal(aws_region(a, NULL), "us-east-1");
	ec2_call_destroy(c);
	c = describe("refused-1");
	assert_int_equal(ec2_perform_one(a, c, in_ms(PLENTY), NULL), -1); /* new keys help once, or not at all */
	assert_int_equal(server_log("refused-1").requests, 2);
	ec2_call_destroy(c);
	aws_destroy(a);
}

static void metadata(void **state)
{
	struct imds *i = imds_create(url);
	struct err e = {""};
	struct buf b = {0};

	(void)state;
	assert_non_null(i);
	assert_int_equal(imds_get(i, "meta-data/instance-id", &b, &e), 1);
	assert_string_equal(buf_text(&b), "i-77");
	assert_int_equal(imds_get(i, "meta-data/nothing", &b, &e), 0);
	assert_string_equal(buf_text(&b), "i-77");
	assert_int_equal(imds_get(i, "meta-data/big", &b, &e), -1);
	assert_non_null(strstr(e.text, "more than"));
	buf_reset(&b);
	http_server_get(&server, "/control/forget-tokens", &b);
	assert_int_equal(imds_get(i, "meta-data/instance-id", &b, &e), 1); /* a new token is fetched */
	assert_string_equal(buf_text(&b), "i-77");
	buf_free(&b);
	imds_destroy(i);
}

static void no_metadata(void **state)
{
	struct imds *i = imds_create("http://127.0.0.1:1");
	struct err e = {""};
	struct buf b = {0};

	(void)state;
	assert_int_equal(imds_get(i, "meta-data/instance-id", &b, &e), -1);
	assert_non_null(strstr(e.text, "127.0.0.1:1"));
	imds_destroy(i);
	i = imds_create("ftp://x");
	assert_int_equal(imds_get(i, "meta-data/instance-id", &b, &e), -1);
	assert_non_null(strstr(e.text, "ImdsEndpoint"));
	imds_destroy(i);
}

static void nobody_listens(void **state)
{
	struct aws *a = connect_to("http://127.0.0.1:1");
	struct ec2_call *c = launch("x");

	(void)state;
	assert_int_equal(ec2_perform_one(a, c, in_ms(300), NULL), -1);
	assert_int_equal(c->error.class, AWS_TRANSIENT);
	assert_string_equal(c->error.code, "ConnectFailure");
	ec2_call_destroy(c);
	aws_destroy(a);
}

/* A daemon that is told to end does not go on with what EC2 refused for a while. */
static void stops_when_told(void **state)
{
	static volatile sig_atomic_t stop = 1;
	struct aws_config k = {.region = "us-east-1", .endpoint = url, .credentials_file = credentials_path, .stop = &stop};
	struct ec2_call *c = describe("ok-stopped");
	struct aws *a;

	(void)state;
	write_keys("AKID1", "TOKEN1");
	a = aws_create(&k, NULL);
	assert_non_null(a);
	assert_int_equal(ec2_perform_one(a, c, in_ms(PLENTY), NULL), -1);
	assert_false(c->sent);
	stop = 0;
	assert_int_equal(ec2_perform_one(a, c, in_ms(PLENTY), NULL), 0);
	assert_int_equal(server_log("ok-stopped").requests, 1);
	ec2_call_destroy(c);
	aws_destroy(a);
}

static void ended(const char *const *ids, size_t n, int want_rc, int want_requests, int want_ended)
{
	struct aws *a = connect_to(url);
	int before = server_log("ended").requests;
	struct err e = {""};

	assert_int_equal(ec2_terminate_all(a, ids, n, in_ms(PLENTY), &e), want_rc);
	assert_int_equal(aws_call_count(a), want_requests);
	assert_int_equal(server_log("ended").requests - before, want_ended);
	aws_destroy(a);
}

static void terminate(void **state)
{
	static const char *const few[] = {"i-0bad", "i-0bad1", "i-2", "i-0bad12"};
	static const char *const bad[] = {"i-0bad1"};
	static const char *const kept[] = {"i-1", "i-0kept1", "i-2", "i-0kept2"};
	static char text[450][16];
	const char *many[450];

	(void)state;
	for (int i = 0; i < 450; i++) {
		snprintf(text[i], sizeof text[i], i == 300 ? "i-0bad%d" : "i-%d", i);
		many[i] = text[i];
	}
	ended(few, 0, 0, 0, 0);
	ended(few, 1, 0, 1, 1);
	ended(few, 4, 0, 2, 2);
	ended(kept, 4, -1, 3, 2); /* two protected machines are told, the others end */
	ended(bad, 1, 0, 1, 0);
	ended(many, 450, 0, 4, 449);
}

/* Only commands of a person may be led astray by their environment. */
static void environment_is_ignored(void **state)
{
	static const char *const names[] = {"http_proxy", "all_proxy", "AWS_ENDPOINT_URL", "AWS_REGION"};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		setenv(names[i], "http://127.0.0.1:1", 1);
	setenv("AWS_ACCESS_KEY_ID", "OLDKEY", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "x", 1);
	assert_int_equal(outcome(describe("expired-3"), PLENTY, NULL).class, AWS_OK);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
	unsetenv("AWS_ACCESS_KEY_ID");
	unsetenv("AWS_SECRET_ACCESS_KEY");
}

static void environment_of_a_person(void **state)
{
	struct aws_config config = {.person = true};
	struct ec2_call *c = describe("expired-4");
	struct aws *a;

	(void)state;
	setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1", 1);
	setenv("AWS_ENDPOINT_URL_EC2", url, 1);
	setenv("AWS_REGION", "us-east-1", 1);
	setenv("AWS_ACCESS_KEY_ID", "NEWKEY", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "x", 1);
	a = aws_create(&config, NULL);
	assert_non_null(a);
	assert_int_equal(ec2_perform_one(a, c, in_ms(PLENTY), NULL), 0);
	ec2_call_destroy(c);
	aws_destroy(a);
	unsetenv("AWS_ENDPOINT_URL");
	unsetenv("AWS_ENDPOINT_URL_EC2");
	unsetenv("AWS_REGION");
	unsetenv("AWS_ACCESS_KEY_ID");
	unsetenv("AWS_SECRET_ACCESS_KEY");
}

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	credentials_path = file_join(dir, "credentials");
	return credentials_path ? start_server() : -1;
}

static int teardown(void **state)
{
	(void)state;
	http_server_stop(&server);
	free(credentials_path);
	return file_remove_tree(dir, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept_connection),
		cmocka_unit_test(many_side_by_side),
		cmocka_unit_test(throttled_then_ok),
		cmocka_unit_test(throttled_until_the_deadline),
		cmocka_unit_test(dropped_then_ok),
		cmocka_unit_test(unknown_outcome_is_kept),
		cmocka_unit_test(clock_corrected),
		cmocka_unit_test(clock_corrected_once),
		cmocka_unit_test(clock_is_not_to_blame),
		cmocka_unit_test(slow_beyond_the_deadline),
		cmocka_unit_test(deadline_before_the_start),
		cmocka_unit_test(html_answer),
		cmocka_unit_test(once_only),
		cmocka_unit_test(no_answer_then_ok),
		cmocka_unit_test(mismatch),
		cmocka_unit_test(clock_corrected_by_other_words),
		cmocka_unit_test(secrets_are_redacted),
		cmocka_unit_test(all_pages),
		cmocka_unit_test(failed_page_fails_the_read),
		cmocka_unit_test(truncated_page_leaves_nothing),
		cmocka_unit_test(more_values_than_a_filter_takes),
		cmocka_unit_test(expired_keys_are_read_again),
		cmocka_unit_test(expired_keys_once),
		cmocka_unit_test(never_unsigned),
		cmocka_unit_test(role_of_the_instance),
		cmocka_unit_test(metadata),
		cmocka_unit_test(no_metadata),
		cmocka_unit_test(nobody_listens),
		cmocka_unit_test(stops_when_told),
		cmocka_unit_test(terminate),
		cmocka_unit_test(environment_is_ignored),
		cmocka_unit_test(environment_of_a_person),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
