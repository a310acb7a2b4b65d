/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_resume_file.c - SLURM_RESUME_FILE as 22.05, 23.02 and 26.05 write it, the argument alone, and what must be refused. */
#include "lib/slurmctl/resume_file.h"

#include "lib/base/err.h"
#include "lib/node/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct good {
	const char *what;
	const char *text; /* NULL = no file */
	const char *argument;
	const char *nodes; /* expected, joined with blanks */
	const char *jobs;  /* expected, "id/priority:nodes joined with blanks;..." */
};

static const struct good good[] = {
    {"22.05", "{\"jobs\":[{\"job_id\":123,\"nodes\":\"q1-dy-c5-[1-3]\"}],\"all_nodes\":\"q1-dy-c5-[1-3]\"}", "q1-dy-c5-[1-3]",
     "q1-dy-c5-1 q1-dy-c5-2 q1-dy-c5-3", "123/-1:q1-dy-c5-1 q1-dy-c5-2 q1-dy-c5-3;"},
    {"23.02",
     "{\"jobs\":[{\"extra\":null,\"job_id\":7,\"features\":\"a&b\",\"nodes_alloc\":\"q-[1-4]\",\"nodes_resume\":\"q-[3-4]\","
     "\"oversubscribe\":\"OK\",\"partition\":\"q\",\"reservation\":null}],\"all_nodes_resume\":\"q-[3-4]\"}",
     "q-[3-4]", "q-3 q-4", "7/-1:q-3 q-4;"},
    {"26.05",
     "{\"all_nodes_resume\":\"q-[1-2]\",\"jobs\":[{\"job_id\":8,\"exclusive\":\"NO\",\"priority\":4294901759,\"nodes_alloc\":"
     "\"q-1\","
     "\"nodes_resume\":\"q-1\",\"oversubscribe\":\"NO\",\"partition\":\"q\"},{\"job_id\":9,\"priority\":5,\"nodes_resume\":\"q-"
     "2\"}]}",
     "q-[1-2]", "q-1 q-2", "8/4294901759:q-1;9/5:q-2;"},
    {"unknown members", "{\"x\":[1],\"jobs\":[{\"job_id\":1,\"nodes\":\"a-1\",\"later\":{\"y\":2}}],\"all_nodes\":\"a-1\"}",
     "a-1", "a-1", "1/-1:a-1;"},
    {"no file", NULL, "q-dy-a-[2-3],q-dy-b-1", "q-dy-a-2 q-dy-a-3 q-dy-b-1", ""},
    {"power_up by hand", "{\"jobs\":[],\"all_nodes\":\"a-1\"}", "a-1", "a-1", ""},
    {"file without lists", "{}", "a-1", "a-1", ""},
    {"a node of two jobs",
     "{\"jobs\":[{\"job_id\":1,\"nodes\":\"a-[1-2]\"},{\"job_id\":2,\"nodes\":\"a-[2-3]\"}],\"all_nodes\":\"a-[1-3]\"}",
     "a-[1-3]", "a-1 a-2 a-3", "1/-1:a-1 a-2;2/-1:a-2 a-3;"},
    {"a job's node in neither list", "{\"jobs\":[{\"job_id\":1,\"nodes\":\"a-9\"}],\"all_nodes\":\"a-1\"}", "a-1", "a-1 a-9",
     "1/-1:a-9;"},
    {"only the file", "{\"jobs\":[],\"all_nodes\":\"a-1\"}", NULL, "a-1", ""},
    {"leading zeros and order", NULL, "n-010,n-002", "n-010 n-002", ""},
};

static const struct {
	const char *what, *text, *argument, *says;
} bad[] = {
    {"not JSON", "{\"jobs\":[", "a-1", "resume file"},
    {"garbage after", "{} x", "a-1", "resume file"},
    {"not an object", "[]", "a-1", "not an object"},
    {"jobs not a list", "{\"jobs\":3}", "a-1", "jobs"},
    {"job not an object", "{\"jobs\":[3]}", "a-1", "element 0"},
    {"job id is text", "{\"jobs\":[{\"job_id\":\"x\",\"nodes\":\"a-1\"}]}", "a-1", "job_id"},
    {"bad list in a job", "{\"jobs\":[{\"job_id\":77,\"nodes\":\"a-[3-1]\"}],\"all_nodes\":\"a-1\"}", "a-1", "job 77"},
    {"bad list of all", "{\"jobs\":[],\"all_nodes\":\"a-[1\"}", "a-1", "resume file"},
    {"bad argument", "{\"jobs\":[],\"all_nodes\":\"a-1\"}", "a-[", "argument"},
    {"empty text", "", "a-1", "resume file"},
};

static char *joined(const struct strs *l)
{
	char *t = strs_join(l, " ");

	assert_non_null(t);
	return t;
}

static char *jobs_text(const struct resume_request *r)
{
	char *out = str_dup("");

	for (size_t i = 0; i < r->n_jobs; i++) {
		char *nodes = joined(&r->jobs[i].nodes);
		char *more = str_fmt("%s%lld/%lld:%s;", out, (long long)r->jobs[i].id, (long long)r->jobs[i].priority, nodes);

		free(nodes);
		free(out);
		out = more;
	}
	assert_non_null(out);
	return out;
}

static void accepts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		struct resume_request r;
		struct err e = {""};
		size_t n = good[i].text ? strlen(good[i].text) : 0;
		char *nodes, *jobs;

		if (resume_request_parse(&r, good[i].text, n, good[i].argument, &e) < 0)
			fail_msg("%s: %s", good[i].what, e.text);
		nodes = joined(&r.nodes);
		jobs = jobs_text(&r);
		print_message("%s\n", good[i].what);
		assert_string_equal(nodes, good[i].nodes);
		assert_string_equal(jobs, good[i].jobs);
		free(nodes);
		free(jobs);
		resume_request_clear(&r);
	}
}

static void keeps_members(void **state)
{
	static const char text[] =
	    "{\"jobs\":[{\"job_id\":7,\"features\":\"a&b\",\"extra\":\"e\",\"partition\":\"q\",\"nodes_resume\":\"q-1\"}]}";
	struct resume_request r;
	struct err e = {""};

	(void)state;
	assert_int_equal(resume_request_parse(&r, text, strlen(text), NULL, &e), 0);
	assert_int_equal(r.n_jobs, 1);
	assert_string_equal(r.jobs[0].features, "a&b");
	assert_string_equal(r.jobs[0].extra, "e");
	assert_string_equal(r.jobs[0].partition, "q");
	resume_request_clear(&r);
}

static void refuses(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct resume_request r, before;
		struct err e = {""};

		memset(&r, 0x5a, sizeof r);
		before = r;
		print_message("%s\n", bad[i].what);
		assert_int_equal(resume_request_parse(&r, bad[i].text, strlen(bad[i].text), bad[i].argument, &e), -1);
		print_message("  %s\n", e.text);
		assert_non_null(strstr(e.text, bad[i].says));
		assert_memory_equal(&r, &before, sizeof r); /* nothing is returned */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(accepts),
	    cmocka_unit_test(keeps_members),
	    cmocka_unit_test(refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
