/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_policy.c - IAM policies of the local cloud: what is allowed, what is not, what is refused at load. */
#include "tests/unit/test.h"

#include "ec2local/policy.h"
#include "lib/base/err.h"

#define S(text) "{\"Version\": \"2012-10-17\", \"Statement\": [" text "]}"
#define ALLOW(action, more) S("{\"Effect\": \"Allow\", \"Action\": " action ", \"Resource\": \"*\"" more "}")
#define IF(op, key, val) ", \"Condition\": {\"" op "\": {\"" key "\": " val "}}"

static const struct {
	const char *name, *policy;
	const char *action, *arn, *tag_owner, *requested_a;
	bool allowed;
} table[] = {
    {"exact", ALLOW("\"ec2:RunInstances\"", ""), "ec2:RunInstances", "arn:x", NULL, NULL, true},
    {"case of actions", ALLOW("[\"ec2:x\", \"EC2:runinstances\"]", ""), "ec2:RunInstances", "arn:x", NULL, NULL, true},
    {"pattern", ALLOW("\"ec2:Describe*\"", ""), "ec2:DescribeVpcs", "*", NULL, NULL, true},
    {"other action", ALLOW("\"ec2:Describe*\"", ""), "ec2:RunInstances", "*", NULL, NULL, false},
    {"resource", S("{\"Effect\": \"Allow\", \"Action\": \"*\", \"Resource\": [\"arn:a/*\", \"arn:b/?\"]}"), "ec2:X", "arn:b/1",
     NULL, NULL, true},
    {"other resource", S("{\"Effect\": \"Allow\", \"Action\": \"*\", \"Resource\": \"arn:a/*\"}"), "ec2:X", "arn:b/1", NULL,
     NULL, false},
    {"deny wins",
     S("{\"Effect\": \"Allow\", \"Action\": \"*\", \"Resource\": \"*\"}, {\"Effect\": \"Deny\", \"Action\": \"ec2:X\", "
       "\"Resource\": \"*\"}"),
     "ec2:X", "*", NULL, NULL, false},
    {"not action", S("{\"Effect\": \"Allow\", \"NotAction\": \"ec2:X\", \"Resource\": \"*\"}"), "ec2:X", "*", NULL, NULL,
     false},
    {"tag", ALLOW("\"*\"", IF("StringEquals", "ec2:ResourceTag/owner", "\"me\"")), "ec2:X", "*", "me", NULL, true},
    {"tag, other name of the key", ALLOW("\"*\"", IF("StringEquals", "aws:ResourceTag/owner", "[\"you\", \"me\"]")), "ec2:X",
     "*", "me", NULL, true},
    {"tag of another", ALLOW("\"*\"", IF("StringEquals", "ec2:ResourceTag/owner", "\"me\"")), "ec2:X", "*", "you", NULL, false},
    {"no tag", ALLOW("\"*\"", IF("StringEquals", "ec2:ResourceTag/owner", "\"me\"")), "ec2:X", "*", NULL, NULL, false},
    {"no tag, if exists", ALLOW("\"*\"", IF("StringEqualsIfExists", "ec2:ResourceTag/owner", "\"me\"")), "ec2:X", "*", NULL,
     NULL, true},
    {"no tag, not equals", ALLOW("\"*\"", IF("StringNotEquals", "ec2:ResourceTag/owner", "\"me\"")), "ec2:X", "*", NULL, NULL,
     true},
    {"tag like", ALLOW("\"*\"", IF("StringLike", "ec2:ResourceTag/owner", "\"m*\"")), "ec2:X", "*", "me", NULL, true},
    {"equals knows no pattern", ALLOW("\"*\"", IF("StringEquals", "ec2:ResourceTag/owner", "\"m*\"")), "ec2:X", "*", "me", NULL,
     false},
    {"absent tag", ALLOW("\"*\"", IF("Null", "ec2:ResourceTag/owner", "\"false\"")), "ec2:X", "*", NULL, NULL, false},
    {"requested tag", ALLOW("\"*\"", IF("StringEquals", "aws:RequestTag/a", "\"1\"")), "ec2:X", "*", NULL, "1", true},
    {"requested keys", ALLOW("\"*\"", IF("ForAllValues:StringEquals", "aws:TagKeys", "[\"b\"]")), "ec2:X", "*", NULL, "1",
     false},
    {"two conditions, one holds",
     ALLOW("\"*\"", ", \"Condition\": {\"StringEquals\": {\"ec2:ResourceTag/owner\": \"me\", \"aws:RequestTag/a\": \"2\"}}"),
     "ec2:X", "*", "me", "1", false},
};

static void table_holds(void **state)
{
	int bad = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		struct err e = {""};
		struct policy *p = policy_parse(table[i].policy, strlen(table[i].policy), "test", &e);
		struct kvs tags = {0}, requested = {0};

		if (!p)
			fail_msg("%s: %s", table[i].name, e.text);
		if (table[i].tag_owner)
			assert_int_equal(kvs_add(&tags, "owner", table[i].tag_owner), 0);
		if (table[i].requested_a)
			assert_int_equal(kvs_add(&requested, "a", table[i].requested_a), 0);
		if (policy_allows(p, &(struct policy_question){table[i].action, table[i].arn, &tags, &requested, NULL}) !=
		    table[i].allowed) {
			print_error("%s: wrong\n", table[i].name);
			bad++;
		}
		kvs_clear(&tags);
		kvs_clear(&requested);
		policy_destroy(p);
	}
	assert_int_equal(bad, 0);
}

static void unknown_words_are_refused(void **state)
{
	static const char *const bad[] = {
	    "",
	    "[]",
	    "{}",
	    "{\"Statement\": {}}",
	    S("3"),
	    S("{\"Effect\": \"Allow\", \"Action\": \"*\"}"),
	    S("{\"Effect\": \"Maybe\", \"Action\": \"*\", \"Resource\": \"*\"}"),
	    S("{\"Effect\": \"Allow\", \"Action\": [], \"Resource\": \"*\"}"),
	    S("{\"Effect\": \"Allow\", \"Action\": \"*\", \"Resource\": \"*\", \"Principal\": \"*\"}"),
	    ALLOW("\"*\"", IF("DateLessThan", "aws:CurrentTime", "\"x\"")),
	    ALLOW("\"*\"", IF("ForAllValues:StringEquals", "aws:Other", "\"x\"")),
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct err e = {""};

		assert_null(policy_parse(bad[i], strlen(bad[i]), "test", &e));
		assert_true(*e.text);
	}
}

static void globs(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool fits;
	} v[] = {
	    {"*", "", true},	{"a*c", "abc", true}, {"a*c", "abcd", false}, {"a*b*c", "aXbYbZc", true}, {"?", "", false},
	    {"a?", "ab", true}, {"", "", true},	      {"", "a", false},	      {"[ab]", "a", false},	  {"**a", "ba", true},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(v); i++)
		assert_int_equal(policy_glob(v[i].pattern, v[i].text), v[i].fits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(table_holds),
	    cmocka_unit_test(unknown_words_are_refused),
	    cmocka_unit_test(globs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
