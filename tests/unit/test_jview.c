/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_jview.c - strict JSON texts, typed members, documents written. */
#include "tests/unit/test.h"

#include "lib/base/err.h"
#include "lib/base/jview.h"
#include "lib/base/str.h"

static struct json_object *parse(const char *text)
{
	struct err e = {""};
	struct json_object *o = jview_parse(text, strlen(text), "doc", &e);

	if (!o)
		fail_msg("%s", e.text);
	return o;
}

static void texts(void **state)
{
	static const struct {
		const char *text, *says; /* says NULL = good */
	} row[] = {
		{"{}", NULL},
		{" {\"a\": [1, 2, {\"b\": null}]} \n", NULL},
		{"[]", NULL},
		{"12", NULL},
		{"\"x\"", NULL},
		{"true", NULL},
		{"", "ends too early"},
		{"  ", "ends too early"},
		{"{\"a\": 1", "ends too early"},
		{"{\"a\"", "ends too early"},
		{"{} x", "at offset 3"},
		{"{}{}", "at offset 2"},
		{"{\"a\": 1,}", "not JSON at offset"},
		{"{a: 1}", "not JSON at offset"},
		{"{\"a\": nul}", "not JSON at offset"},
		{"<html>", "not JSON at offset 0"},
		{"null", "only null"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct err e = {""};
		struct json_object *o = jview_parse(row[i].text, strlen(row[i].text), "doc", &e);

		if (row[i].says ? o || !strstr(e.text, row[i].says) : !o)
			fail_msg("%s: %s", row[i].text, e.text);
		json_object_put(o);
	}
}

/* Only the n bytes given are read; there need be no NUL after them. */
static void bounded(void **state)
{
	const char bytes[] = {'{', '}', 'x'};
	struct json_object *o = jview_parse(bytes, 2, "doc", NULL);

	(void)state;
	assert_non_null(o);
	json_object_put(o);
	assert_null(jview_parse(bytes, 3, "doc", NULL));
	assert_null(jview_parse("{}\0x", 4, "doc", NULL)); /* a NUL ends nothing */
}

static void depth(void **state)
{
	char text[513];

	(void)state;
	memset(text, '[', 256);
	memset(text + 256, ']', 256);
	text[512] = '\0';
	assert_null(jview_parse(text, 512, "doc", NULL));
}

static void members(void **state)
{
	struct json_object *o =
		parse("{\"s\":\"text\",\"i\":-7,\"b\":true,\"a\":[\"x\",\"y\"],\"o\":{\"k\":1},\"n\":null,\"d\":1.5,"
		  "\"mixed\":[\"x\",1],\"nul\":\"a\\u0000b\"}");
	struct json_object *sub = NULL;
	struct strs list = {0};
	const char *s = "before";
	int64_t i = 4711;
	double d = 0.5;
	bool b = false;
	struct err e = {""};

	(void)state;
	assert_int_equal(jview_double(o, "absent", &d, &e) || jview_double(o, "n", &d, &e), 0);
	assert_true(d > 0.49 && d < 0.51);
	assert_int_equal(jview_double(o, "d", &d, &e), 0);
	assert_true(d > 1.49 && d < 1.51);
	assert_int_equal(jview_double(o, "i", &d, &e), 0);
	assert_true(d < -6.9);
	assert_int_equal(jview_double(o, "s", &d, &e), -1);
	assert_string_equal(e.text, "\"s\" must be a number, not a text");
	assert_int_equal(jview_str(o, "s", &s, &e), 0);
	assert_string_equal(s, "text");
	assert_int_equal(jview_str(o, "absent", &s, &e), 0);
	assert_null(s);
	assert_int_equal(jview_str(o, "n", &s, &e), 0);
	assert_null(s);
	assert_int_equal(jview_str(o, "i", &s, &e), -1);
	assert_string_equal(e.text, "\"i\" must be a text, not a whole number");
	assert_int_equal(jview_str(o, "nul", &s, &e), -1);
	assert_int_equal(jview_i64(o, "absent", &i, &e), 0);
	assert_int_equal(jview_i64(o, "d", &i, &e), -1);
	assert_int_equal(jview_i64(o, "s", &i, &e), -1);
	assert_int_equal(i, 4711);
	assert_int_equal(jview_i64(o, "i", &i, &e), 0);
	assert_int_equal(i, -7);
	assert_int_equal(jview_bool(o, "i", &b, &e), -1);
	assert_int_equal(jview_bool(o, "b", &b, &e), 0);
	assert_true(b);
	assert_int_equal(jview_member(o, "o", &sub, &e), 0);
	assert_int_equal(jview_i64(sub, "k", &i, &e), 0);
	assert_int_equal(i, 1);
	assert_int_equal(jview_member(o, "a", &sub, &e), -1);
	assert_int_equal(jview_array(o, "o", &sub, &e), -1);
	assert_int_equal(jview_array(o, "a", &sub, &e), 0);
	assert_int_equal(json_object_array_length(sub), 2);
	assert_int_equal(strs_add(&list, "first"), 0);
	assert_int_equal(jview_strs(o, "mixed", &list, &e), -1);
	assert_int_equal(list.n, 1);
	assert_int_equal(jview_strs(o, "a", &list, &e), 0);
	assert_int_equal(list.n, 3);
	assert_string_equal(list.v[2], "y");
	assert_int_equal(jview_str(sub, "s", &s, &e), -1); /* not an object */
	strs_clear(&list);
	json_object_put(o);
}

static void writing(void **state)
{
	struct json_object *o = json_object_new_object();
	struct strs list = {0};

	(void)state;
	assert_int_equal(strs_split(&list, "x,y", ','), 0);
	assert_int_equal(jview_put_str(o, "s", "a\"b"), 0);
	assert_int_equal(jview_put_str(o, "left out", NULL), 0);
	assert_int_equal(jview_put_i64(o, "i", INT64_MAX), 0);
	assert_int_equal(jview_put_bool(o, "b", false), 0);
	assert_int_equal(jview_put_strs(o, "l", &list), 0);
	assert_int_equal(jview_put_obj(o, "o", json_object_new_object()), 0);
	assert_int_equal(jview_put_obj(o, "bad", NULL), -1);
	assert_string_equal(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN),
				"{\"s\":\"a\\\"b\",\"i\":9223372036854775807,\"b\":false,\"l\":[\"x\",\"y\"],\"o\":{}}");
	strs_clear(&list);
	json_object_put(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(bounded), cmocka_unit_test(depth),
					   cmocka_unit_test(members), cmocka_unit_test(writing)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
