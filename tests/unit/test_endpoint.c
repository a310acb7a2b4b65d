/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_endpoint.c - partitions, and which endpoint URLs are taken. */
#include "lib/aws/endpoint.h"

#include "lib/base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void regions(void **state)
{
	static const struct {
		const char *region, *host;
	} rows[] = {
		{"us-east-1", "ec2.us-east-1.amazonaws.com"},
		{"ap-southeast-2", "ec2.ap-southeast-2.amazonaws.com"},
		{"mx-central-1", "ec2.mx-central-1.amazonaws.com"},
		{"xx-nowhere-10", "ec2.xx-nowhere-10.amazonaws.com"}, /* a region younger than this table */
		{"cn-north-1", "ec2.cn-north-1.amazonaws.com.cn"},
		{"us-gov-west-1", "ec2.us-gov-west-1.amazonaws.com"},
		{"us-iso-east-1", "ec2.us-iso-east-1.c2s.ic.gov"},
		{"us-isob-east-1", "ec2.us-isob-east-1.sc2s.sgov.gov"},
		{"us-isof-south-1", "ec2.us-isof-south-1.csp.hci.ic.gov"},
		{"eu-isoe-west-1", "ec2.eu-isoe-west-1.cloud.adc-e.uk"},
		{"eusc-de-east-1", "ec2.eusc-de-east-1.amazonaws.eu"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct endpoint ep;

		assert_int_equal(endpoint_of("ec2", rows[i].region, (struct endpoint_variant){false, false}, &ep, NULL), 0);
		assert_string_equal(ep.host, rows[i].host);
		assert_true(ep.tls);
		assert_memory_equal(ep.url, "https://", 8);
		assert_memory_equal(ep.url + 8, rows[i].host, strlen(rows[i].host));
		assert_string_equal(ep.url + 8 + strlen(rows[i].host), "/");
		endpoint_clear(&ep);
	}
}

static void variants(void **state)
{
	static const struct {
		const char *service, *region;
		struct endpoint_variant variant;
		const char *host;
	} rows[] = {
		{"sts", "us-east-1", {false, false}, "sts.us-east-1.amazonaws.com"},
		{"servicequotas", "eu-west-3", {false, false}, "servicequotas.eu-west-3.amazonaws.com"},
		{"sts", "cn-northwest-1", {false, false}, "sts.cn-northwest-1.amazonaws.com.cn"},
		{"sts", "us-iso-west-1", {false, false}, "sts.us-iso-west-1.c2s.ic.gov"},
		{"ec2", "us-east-1", {true, false}, "ec2-fips.us-east-1.amazonaws.com"},
		{"ec2", "us-east-1", {false, true}, "ec2.us-east-1.api.aws"},
		{"ec2", "us-east-1", {true, true}, "ec2-fips.us-east-1.api.aws"},
		{"ec2", "us-gov-west-1", {true, false}, "ec2.us-gov-west-1.amazonaws.com"},
		{"sts", "us-gov-east-1", {true, false}, "sts.us-gov-east-1.amazonaws.com"},
		{"ec2", "us-gov-west-1", {true, true}, "ec2-fips.us-gov-west-1.api.aws"},
		{"ec2", "cn-north-1", {false, true}, "ec2.cn-north-1.api.amazonwebservices.com.cn"},
		{"ec2", "eusc-de-east-1", {false, true}, "ec2.eusc-de-east-1.api.amazonwebservices.eu"},
		{"ec2", "us-isob-east-1", {false, true}, "ec2.us-isob-east-1.api.aws.scloud"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct endpoint ep;

		assert_int_equal(endpoint_of(rows[i].service, rows[i].region, rows[i].variant, &ep, NULL), 0);
		assert_string_equal(ep.host, rows[i].host);
		assert_true(endpoint_is_aws(&ep));
		endpoint_clear(&ep);
	}
}

static void not_of_aws(void **state)
{
	static const char *const rows[] = {"http://127.0.0.1:8000", "https://amazonaws.com", "https://ec2.amazonaws.com.example.org",
					   "https://evilamazonaws.com", "http://[::1]:8080", "https://ec2.api.aws.example.org:8443"};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct endpoint ep;

		assert_int_equal(endpoint_parse(rows[i], &ep, NULL), 0);
		if (endpoint_is_aws(&ep))
			fail_msg("%s passes for AWS", rows[i]);
		endpoint_clear(&ep);
	}
}

static void not_regions(void **state)
{
	static const char *const rows[] = {"", "us", "us-east", "useast1", "US-EAST-1", "us-east-1a", "us-east-1.evil.org", "us--east-1",
					   "us-east-1/", "-us-east-1", "$REGION-a-1", "us-east-1\n"};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct endpoint ep = {0};
		struct err e = {""};

		assert_int_equal(endpoint_of("ec2", rows[i], (struct endpoint_variant){false, false}, &ep, &e), -1);
		assert_non_null(strstr(e.text, "not an AWS region"));
		assert_null(ep.url);
	}
}

static void urls(void **state)
{
	static const struct {
		const char *url, *want, *host;
		bool tls;
	} rows[] = {
		{"http://127.0.0.1:8000", "http://127.0.0.1:8000/", "127.0.0.1:8000", false},
		{"http://127.0.0.1:8000/", "http://127.0.0.1:8000/", "127.0.0.1:8000", false},
		{"HTTPS://ec2.example.org", "https://ec2.example.org/", "ec2.example.org", true},
		{"https://ec2.example.org:443", "https://ec2.example.org/", "ec2.example.org", true},
		{"http://ec2.example.org:443", "http://ec2.example.org:443/", "ec2.example.org:443", false},
		{"http://h:80/", "http://h/", "h", false},
		{"http://[::1]:8080", "http://[::1]:8080/", "[::1]:8080", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct endpoint ep;

		assert_int_equal(endpoint_parse(rows[i].url, &ep, NULL), 0);
		assert_string_equal(ep.url, rows[i].want);
		assert_string_equal(ep.host, rows[i].host);
		assert_int_equal(ep.tls, rows[i].tls);
		endpoint_clear(&ep);
	}
}

static void not_urls(void **state)
{
	static const char *const rows[] = {"", "127.0.0.1:8000", "ftp://h", "http://", "http://:80", "http://h:", "http://h:0",
					   "http://h:65536", "http://h:8x", "http://h/path", "http://h?x", "http://u@h",
					   "http://u:p@h", "http://h h", "http://[::1", "http://-h", "http://h:123456", "file:///etc/passwd"};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct endpoint ep = {0};
		struct err e = {""};

		if (!endpoint_parse(rows[i], &ep, &e))
			fail_msg("%s was taken", rows[i]);
		assert_non_null(strstr(e.text, "endpoint"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(regions), cmocka_unit_test(not_regions), cmocka_unit_test(variants),
					   cmocka_unit_test(not_of_aws), cmocka_unit_test(urls),
					   cmocka_unit_test(not_urls)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
