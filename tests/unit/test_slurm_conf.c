/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_slurm_conf.c - the site's slurm.conf read, merged and unmerged; nothing of the site's own may change. */
#include "conf/slurm_conf.h"

#include "conf/site.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/problem.h"
#include "tests/unit/test.h"

static void test_missing(void **state)
{
	static const struct {
		const char *have, *want, *missing;
	} rows[] = {
		{ "", "a,b", "a,b" },
		{ "a,b", "a,b", "" },
		{ "A", "a", "" },
		{ "x=5", "x=10,y=1", "y=1" },
		{ "n[1,3],m", "n[1,3]", "" },
		{ "n[1,3],m", "n[1,2]", "n[1,2]" },
		{ "ab", "a", "a" },
		{ "a", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *got = comma_list_missing(rows[i].have, rows[i].want);

		assert_string_equal(got, rows[i].missing);
		free(got);
	}
}

static char *merge(const char *text, const struct kvs *want, struct problems *p)
{
	struct site s = { 0 };
	char *out;

	assert_int_equal(site_add(&s, "/etc/slurm/slurm.conf", text), 0);
	out = slurmconf_merge(&s, want, p);
	site_clear(&s);
	return out;
}

static void want_fill(struct kvs *want)
{
	kvs_add(want, "SlurmctldParameters", "enable_configless,idle_on_node_suspend,power_save_interval=5");
	kvs_add(want, "PrivateData", "cloud");
	kvs_add(want, "SuspendExcNodes", "q-st-r-[1-2]");
}

/* Merged twice = merged once; unmerged = the text before. */
static void test_round_trip(void **state)
{
	static const struct {
		const char *before, *line; /* a line the merged text must hold */
	} rows[] = {
		{ "ClusterName=c\n", "Include slurm-ec2.conf\n" },
		{ "ClusterName=c", "ClusterName=c\n" SITE_BEGIN },
		{ "SlurmctldParameters=cloud_reg_addrs\n",
		  "SlurmctldParameters=cloud_reg_addrs,enable_configless,idle_on_node_suspend,power_save_interval=5\n" },
		{ "slurmctldparameters = enable_configless,power_save_interval=60 # ours\nA=b\n",
		  "slurmctldparameters = enable_configless,power_save_interval=60,idle_on_node_suspend # ours\n" },
		{ "PrivateData=jobs,usage ClusterName=x\n", "PrivateData=jobs,usage,cloud ClusterName=x\n" },
		{ "PrivateData=cloud\n", "PrivateData=cloud\n" },
		{ "SuspendExcNodes=p[1,2]:1,p3\nNodeName=p[1-3]\n", "SuspendExcNodes=p[1,2]:1,p3,q-st-r-[1-2]\n" },
		{ "PrivateData=\"jobs\"\n", "PrivateData=\"jobs,cloud\"\n" },
		{ "#PrivateData=jobs\n", "#PrivateData=jobs\n" },
		{ "PrivateData=jobs\nClusterName=x\nPrivateData=usage\n", "PrivateData=usage,cloud\n" },
		{ "ClusterName=x PrivateData=jobs\n", "ClusterName=x PrivateData=jobs,cloud\n" },
		{ "PrivateData=jobs SlurmctldParameters=x\nA=b\n", "PrivateData=jobs,cloud SlurmctldParameters=x,enable_configless," },
		{ "ClusterName=x \\\n  PrivateData=jobs \\\n  A=b\n", "  PrivateData=jobs,cloud \\\n" },
		{ "PrivateData=\n", "PrivateData=cloud\n" },
		{ "", "Include slurm-ec2.conf\n" },
	};
	struct kvs want = { 0 };

	(void)state;
	want_fill(&want);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct problems p = { 0 };
		char *once = merge(rows[i].before, &want, &p), *twice, *back;

		assert_non_null(once);
		if (!strstr(once, rows[i].line))
			fail_msg("row %zu: no \"%s\" in \"%s\"", i, rows[i].line, once);
		twice = merge(once, &want, &p);
		assert_string_equal(twice, once);
		back = slurmconf_unmerge(twice);
		assert_string_equal(back, rows[i].before);
		assert_int_equal(p.n, 0);
		free(once);
		free(twice);
		free(back);
		problems_clear(&p);
	}
	kvs_clear(&want);
}

/* What an administrator adds to a merged line, or to the end of the file, stays. */
static void test_edits_stay(void **state)
{
	struct kvs want = { 0 };
	struct problems p = { 0 };
	char *once, *edited, *back, *at;

	(void)state;
	want_fill(&want);
	once = merge("PrivateData=jobs\n", &want, &p);
	at = strstr(once, "jobs,cloud\n");
	assert_non_null(at);
	edited = malloc(strlen(once) + 64);
	sprintf(edited, "%.*sjobs,cloud,nodes\nMaxNodeCount=7\n%s", (int)(at - once), once, at + strlen("jobs,cloud\n"));
	back = slurmconf_unmerge(edited);
	assert_string_equal(back, "PrivateData=jobs,nodes\nMaxNodeCount=7\n");
	free(once);
	free(edited);
	free(back);
	kvs_clear(&want);
	problems_clear(&p);
}

/* Marks that are not whole are refused with their place, and taking out keeps what is not ours. */
static void test_marks(void **state)
{
	static const struct {
		const char *text;
		int line; /* 0 = good */
		const char *word, *back;
	} rows[] = {
		{ "A=b\n" SITE_BEGIN " (x)\nInclude slurm-ec2.conf\n" SITE_END "\nC=d\n", 0, NULL, "A=b\nC=d\n" },
		{ "A=b\n" SITE_BEGIN "\nInclude slurm-ec2.conf\r\n\n" SITE_END "\n", 0, NULL, "A=b\n" },
		{ SITE_BEGIN "\nInclude slurm-ec2-gres.conf\n" SITE_END, 0, NULL, "" },
		{ "A=b\n" SITE_BEGIN "\nInclude slurm-ec2.conf\nNodeName=n1\n", 2, "put it back", "A=b\nNodeName=n1\n" },
		{ "A=b\n" SITE_BEGIN "\nInclude slurm-ec2.conf\n", 2, "put it back", "A=b\n" },
		{ "A=b\n" SITE_BEGIN "\nNodeName=n1\nInclude slurm-ec2.conf\n" SITE_END "\n", 3, "NodeName=n1", "A=b\nNodeName=n1\n" },
		{ SITE_BEGIN "\nInclude slurm-ec2.conf\n# mine\n" SITE_END "\n", 3, "# mine", "# mine\n" },
		{ SITE_BEGIN "\nInclude slurm-ec2.confX\n" SITE_END "\n", 2, "slurm-ec2.confX", "Include slurm-ec2.confX\n" },
		{ "A=b\nInclude slurm-ec2.conf\n" SITE_END "\n", 3, "put it back", NULL },
		{ SITE_BEGIN "\nInclude slurm-ec2.conf\n" SITE_BEGIN "\nInclude slurm-ec2.conf\n" SITE_END "\n", 1, "put it back", NULL },
	};
	struct kvs want = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct problems p = { 0 };
		char *out = merge(rows[i].text, &want, &p), *back = slurmconf_unmerge(rows[i].text);

		if (rows[i].line == 0) {
			assert_non_null(out);
			assert_int_equal(p.n, 0);
		} else {
			if (out || p.n != 1)
				fail_msg("row %zu: %zu problems", i, p.n);
			assert_int_equal(p.v[0].line, rows[i].line);
			assert_string_equal(p.v[0].file, "/etc/slurm/slurm.conf");
			assert_non_null(strstr(p.v[0].text, rows[i].word));
		}
		if (rows[i].back)
			assert_string_equal(back, rows[i].back);
		free(out);
		free(back);
		problems_clear(&p);
	}
}

/* A begin mark without its end hides none of the site's keys from the check for clashes. */
static void test_open_mark_hides_nothing(void **state)
{
	struct site s = { 0 };

	(void)state;
	assert_int_equal(site_add(&s, "/x", SITE_BEGIN "\nInclude slurm-ec2.conf\nNodeName=n1\nPrivateData=jobs\n"), 0);
	assert_true(site_has_nodes(&s));
	assert_non_null(site_find(&s, "PrivateData"));
	site_clear(&s);
}

/* Lines added behind our block keep the line end that we gave the line before it. */
static void test_lines_behind(void **state)
{
	struct kvs want = { 0 };
	struct problems p = { 0 };
	char *once = merge("ClusterName=c", &want, &p), *more = str_fmt("%sMaxNodeCount=7\n", once), *back = slurmconf_unmerge(more);

	(void)state;
	assert_string_equal(back, "ClusterName=c\nMaxNodeCount=7\n");
	free(once);
	free(more);
	free(back);
	problems_clear(&p);
}

/* Fewer needs than at the last apply: what is not needed goes. */
static void test_needs_shrink(void **state)
{
	struct kvs want = { 0 }, less = { 0 };
	struct problems p = { 0 };
	char *once, *again;

	(void)state;
	want_fill(&want);
	kvs_add(&less, "PrivateData", "cloud");
	once = merge("SuspendExcNodes=p1\nPrivateData=jobs\n", &want, &p);
	again = merge(once, &less, &p);
	assert_non_null(strstr(again, "SuspendExcNodes=p1\n"));
	assert_non_null(strstr(again, "PrivateData=jobs,cloud\n"));
	assert_null(strstr(again, "q-st-r"));
	free(once);
	free(again);
	kvs_clear(&want);
	kvs_clear(&less);
	problems_clear(&p);
}

static void write_in(const char *dir, const char *name, const char *text)
{
	char *path = file_join(dir, name);

	assert_int_equal(file_replace(path, 0644, text, strlen(text), NULL), 0);
	free(path);
}

/* A key in an included file is not ours to change, but may say already what we need. */
static void test_included(void **state)
{
	char *dir = test_folder(), *conf = file_join(dir, "slurm.conf"), *text;
	struct kvs want = { 0 };
	struct problems p = { 0 };
	struct site s = { 0 };
	struct err e;

	(void)state;
	kvs_add(&want, "PrivateData", "cloud");
	write_in(dir, "slurm.conf", "ClusterName=c\nInclude more.conf\nInclude slurm-ec2.conf\n");
	write_in(dir, "more.conf", "\nPrivateData=jobs\n");
	assert_int_equal(site_load(&s, conf, &e), 0);
	assert_int_equal(s.n_files, 2);
	assert_null(slurmconf_merge(&s, &want, &p));
	assert_int_equal(problems_count(&p, PROBLEM_ERROR), 1);
	assert_int_equal(p.v[0].line, 2);
	assert_non_null(strstr(p.v[0].file, "more.conf"));
	assert_non_null(strstr(p.v[0].text, "cloud"));
	problems_clear(&p);
	site_clear(&s);

	write_in(dir, "more.conf", "PrivateData=jobs,cloud\n");
	assert_int_equal(site_load(&s, conf, &e), 0);
	text = slurmconf_merge(&s, &want, &p);
	assert_non_null(text);
	assert_null(strstr(text, SITE_ADDED));
	free(text);
	site_clear(&s);

	write_in(dir, "slurm.conf", "Include absent.conf\n");
	assert_int_equal(site_load(&s, conf, &e), -1);
	assert_non_null(strstr(e.text, "slurm.conf:1"));
	write_in(dir, "slurm.conf", "Include slurm.conf\n");
	assert_int_equal(site_load(&s, conf, &e), -1);

	file_remove_tree(dir, NULL);
	kvs_clear(&want);
	free(conf);
	free(dir);
}

static void test_site(void **state)
{
	static const char text[] = "# NodeName=no\n"
				   "ClusterName=c  SlurmUser='my slurm' # x=y\n"
				   "NodeName=DEFAULT CPUs=4\n"
				   "nodename=p[1-3] \\\n"
				   "   State=UNKNOWN Gres=gpu:2\n"
				   "PartitionName=main Nodes=ALL Default=YES\n"
				   "State=plain\n" SITE_BEGIN "\nInclude slurm-ec2.conf\nClusterName=ours\n" SITE_END "\n"
				   "SlurmdPort=7000";
	struct site s = { 0 };
	const struct site_key *k;

	(void)state;
	assert_int_equal(site_add(&s, "/x/slurm.conf", text), 0);
	assert_string_equal(site_find(&s, "clustername")->value, "c");
	assert_string_equal(site_find(&s, "SlurmUser")->value, "my slurm");
	assert_int_equal(site_find(&s, "SlurmUser")->line, 2);
	assert_string_equal(site_find(&s, "State")->value, "plain");
	assert_string_equal(site_find(&s, "SlurmdPort")->value, "7000");
	assert_null(site_find(&s, "Gres"));
	assert_null(site_find(&s, "x"));
	assert_true(site_has_nodes(&s));
	for (size_t i = 0; i < s.n_keys; i++) {
		k = &s.key[i];
		assert_int_equal(strncmp(text + k->off, k->value, k->len), 0);
		if (site_opens_record(k) && strcmp(k->value, "p[1-3]") == 0)
			assert_string_equal(site_in_record(&s, k, "gres")->value, "gpu:2");
	}
	site_clear(&s);
	assert_int_equal(site_add(&s, "/x/slurm.conf", "NodeName=DEFAULT CPUs=4\n"), 0);
	assert_false(site_has_nodes(&s));
	site_clear(&s);
}

static void test_gres(void **state)
{
	char *fresh = gres_conf_merge(NULL), *more = gres_conf_merge("AutoDetect=nvml\n"), *again = gres_conf_merge(more),
	     *back;

	(void)state;
	assert_non_null(strstr(fresh, "Include slurm-ec2-gres.conf\n"));
	back = slurmconf_unmerge(fresh);
	assert_string_equal(back, "");
	free(back);
	assert_string_equal(more, again);
	back = slurmconf_unmerge(more);
	assert_string_equal(back, "AutoDetect=nvml\n");
	free(back);
	free(fresh);
	free(more);
	free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing),	     cmocka_unit_test(test_round_trip), cmocka_unit_test(test_edits_stay),
		cmocka_unit_test(test_lines_behind),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_open_mark_hides_nothing),
		cmocka_unit_test(test_needs_shrink), cmocka_unit_test(test_included),	cmocka_unit_test(test_site),
		cmocka_unit_test(test_gres),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
