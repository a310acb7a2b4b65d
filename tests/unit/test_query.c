/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_query.c - parameters to form body. */
#include "lib/aws/query.h"

#include "lib/base/buf.h"
#include "lib/base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define START "Action=RunInstances&Version=2016-11-15"

static void check(struct buf *b, const char *want)
{
	assert_false(buf_failed(b));
	assert_string_equal(buf_text(b), want);
	buf_free(b);
}

static void encoding(void **state)
{
	static const struct {
		const char *raw, *want;
	} rows[] = {
		{"", ""},
		{"AZaz09-._~", "AZaz09-._~"},
		{"a b", "a%20b"},
		{"a+b&c=d", "a%2Bb%26c%3Dd"},
		{"slurm-ec2:cluster", "slurm-ec2%3Acluster"},
		{"\xc3\xa9", "%C3%A9"},
		{"%41", "%2541"},
		{"*!'()/", "%2A%21%27%28%29%2F"},
		{"\n\t", "%0A%09"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct buf b = {0};

		query_encode(&b, rows[i].raw, strlen(rows[i].raw));
		check(&b, rows[i].want);
	}
}

static void zero_byte(void **state)
{
	struct buf b = {0};

	(void)state;
	query_encode(&b, "a\0b", 3);
	check(&b, "a%00b");
}

static void values(void **state)
{
	struct buf b = {0};

	(void)state;
	query_start(&b, "RunInstances");
	query_str(&b, NULL, "Left.Out");
	query_str(&b, "", "Empty");
	query_str(&b, "x y", "Name.%d", 3);
	query_i64(&b, -7, "Number");
	query_bool(&b, true, "Yes");
	query_bool(&b, false, "No");
	query_base64(&b, "any carnal pleas", "UserData");
	query_base64(&b, NULL, "Nothing");
	check(&b, START "&Empty=&Name.3=x%20y&Number=-7&Yes=true&No=false&UserData=YW55IGNhcm5hbCBwbGVhcw%3D%3D");
}

static void lists(void **state)
{
	const char *v[] = {"i-1", "i-2"};
	struct buf b = {0};

	(void)state;
	query_list(&b, v, 2, "InstanceId");
	query_list(&b, v, 0, "Nothing");
	query_filter(&b, 2, "tag:a", v, 1);
	check(&b, "&InstanceId.1=i-1&InstanceId.2=i-2&Filter.2.Name=tag%3Aa&Filter.2.Value.1=i-1");
}

static void tags(void **state)
{
	struct kvs t = {0}, none = {0};
	struct buf b = {0};

	(void)state;
	assert_int_equal(kvs_add(&t, "k", "v"), 0);
	assert_int_equal(kvs_add(&t, "e", ""), 0);
	query_tag_spec(&b, &t, "LaunchTemplateData.", 2, "volume");
	query_tag_spec(&b, &none, "", 1, "instance");
	query_tag_spec(&b, NULL, "", 1, "instance");
	kvs_clear(&t);
	check(&b, "&LaunchTemplateData.TagSpecification.2.ResourceType=volume"
		  "&LaunchTemplateData.TagSpecification.2.Tag.1.Key=k&LaunchTemplateData.TagSpecification.2.Tag.1.Value=v"
		  "&LaunchTemplateData.TagSpecification.2.Tag.2.Key=e&LaunchTemplateData.TagSpecification.2.Tag.2.Value=");
}

static void finding(void **state)
{
	static const struct {
		const char *body;
		int64_t want;
	} rows[] = {
		{START "&MaxCount=12&X=1", 12},
		{START "&MinMaxCount=3&MaxCount=5", 5},
		{"MaxCount=9", 9},
		{START "&MaxCount=", 0},
		{START "&MaxCount=1x", 0},
		{START "&MaxCounts=4", 0},
		{START "&MaxCount=99999999999999999999999999", 0},
		{"", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(query_find_i64(rows[i].body, "MaxCount"), rows[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encoding), cmocka_unit_test(zero_byte), cmocka_unit_test(values),
		cmocka_unit_test(lists),    cmocka_unit_test(tags),	 cmocka_unit_test(finding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
