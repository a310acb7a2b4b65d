/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_problem.c - problems: order, text form, JSON form. */
#include "tests/unit/test.h"

#include "lib/base/problem.h"

#include <json-c/json.h>

static void fill(struct problems *p)
{
	problems_add(p, PROBLEM_WARNING, NULL, 0, 0, NULL, "no place");
	problems_add(p, PROBLEM_ERROR, "b.yaml", 9, 1, "A.B[q].C", "\"%s\" is wrong", "x");
	problems_add(p, PROBLEM_ERROR, "b.yaml", 2, 7, NULL, "second here");
	problems_add(p, PROBLEM_WARNING, "b.yaml", 2, 7, NULL, "third here");
	problems_add(p, PROBLEM_WARNING, "b.yaml", 2, 3, NULL, "first here");
	problems_add(p, PROBLEM_ERROR, "a.yaml", 0, 0, "Key", "whole file");
	problems_add(p, PROBLEM_ERROR, "b.yaml", 2, 7, NULL, "fourth here");
}

static char *printed(const struct problems *p)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	problems_print(p, f);
	fclose(f);
	return text;
}

static void text_form(void **state)
{
	struct problems p = {0};
	char *text;

	(void)state;
	fill(&p);
	problems_sort(&p);
	text = printed(&p);
	assert_string_equal(text, "a.yaml: error: Key: whole file\n"
				  "b.yaml:2:3: warning: first here\n"
				  "b.yaml:2:7: error: second here\n"
				  "b.yaml:2:7: warning: third here\n"
				  "b.yaml:2:7: error: fourth here\n"
				  "b.yaml:9:1: error: A.B[q].C: \"x\" is wrong\n"
				  "warning: no place\n");
	free(text);
	assert_int_equal(problems_count(&p, PROBLEM_ERROR), 4);
	assert_int_equal(problems_count(&p, PROBLEM_WARNING), 3);
	problems_clear(&p);
	assert_int_equal(p.n, 0);
	problems_sort(&p);
}

/* Stable also when there are enough to make qsort() choose another way. */
static void stable(void **state)
{
	struct problems p = {0};

	(void)state;
	for (int i = 0; i < 5000; i++)
		problems_add(&p, PROBLEM_ERROR, "f", i % 3 + 1, 1, NULL, "%05d", i);
	problems_sort(&p);
	for (size_t i = 1; i < p.n; i++) {
		assert_true(p.v[i - 1].line <= p.v[i].line);
		if (p.v[i - 1].line == p.v[i].line)
			assert_true(strcmp(p.v[i - 1].text, p.v[i].text) < 0);
	}
	problems_clear(&p);
}

static void lost_problem_is_an_error(void **state)
{
	struct problems p = {.nomem = true};
	char *text = printed(&p);

	(void)state;
	assert_int_equal(problems_count(&p, PROBLEM_ERROR), 1);
	assert_int_equal(problems_count(&p, PROBLEM_WARNING), 0);
	assert_non_null(strstr(text, "error: out of memory"));
	free(text);
}

static void json_form(void **state)
{
	struct problems p = {0};
	struct json_object *o;

	(void)state;
	problems_add(&p, PROBLEM_ERROR, "f", 3, 4, "K", "t");
	problems_add(&p, PROBLEM_WARNING, NULL, 0, 0, NULL, "u");
	o = problems_json(&p);
	assert_string_equal(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN),
				"[{\"level\":\"error\",\"file\":\"f\",\"line\":3,\"column\":4,\"key\":\"K\",\"message\":\"t\"},"
				"{\"level\":\"warning\",\"message\":\"u\"}]");
	json_object_put(o);
	problems_clear(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(text_form), cmocka_unit_test(stable),
					   cmocka_unit_test(lost_problem_is_an_error), cmocka_unit_test(json_form)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
