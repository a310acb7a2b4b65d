/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_slurm_files.c - rendered Slurm files against golden ones, and what the site's own slurm.conf changes in them. */
#include "conf/slurm_files.h"

#include "conf/facts.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/problem.h"
#include "lib/cluster/load.h"
#include "tests/unit/test.h"

static struct itypes types;

static const char *variable(void *arg, const char *name)
{
	(void)arg;
	if (strcmp(name, "SUBNET_ID") == 0)
		return "subnet-0fedcba9876543210";
	return strcmp(name, "FSX_FS_ID") == 0 ? "fs-0123456789abcdef0" : NULL;
}

static struct cluster *load(const char *name)
{
	char path[512];
	struct problems p = { 0 };
	struct cluster *c;

	snprintf(path, sizeof(path), TEST_DATA "/%s.yaml", name);
	c = cluster_load(path, variable, NULL, &p);
	if (!c)
		problems_print(&p, stderr);
	problems_clear(&p);
	assert_non_null(c);
	return c;
}

static struct slurm_render input(const struct cluster *c, int version, const struct site *site)
{
	return (struct slurm_render){
		.cluster = c,
		.types = &types,
		.site = site,
		.version = version,
		.resume_program = "/usr/libexec/slurm-ec2/resume",
		.suspend_program = "/usr/libexec/slurm-ec2/suspend",
		.suspend_timeout_s = 30,
	};
}

/* With UPDATE_GOLDEN set the file is written instead: look at the difference before it is committed. */
static void compare(const char *name, const char *version, const struct gen_file *f)
{
	char path[512];
	struct buf want = { 0 };

	snprintf(path, sizeof(path), TEST_DATA "/golden/%s-%s-%s", name, version, strrchr(f->path, '/') + 1);
	if (getenv("UPDATE_GOLDEN"))
		assert_int_equal(file_replace(path, 0644, f->text, strlen(f->text), NULL), 0);
	assert_int_equal(file_read(path, 1 << 20, &want, NULL), 0);
	assert_string_equal(f->text, buf_text(&want));
	buf_free(&want);
}

static void test_golden(void **state)
{
	static const struct {
		const char *name, *version;
		size_t files;
	} rows[] = {
		{ "quickstart", "22.05.8", 1 }, { "quickstart", "23.11.10", 1 }, { "workshop", "22.05.8", 1 },
		{ "workshop", "23.11.10", 1 },	{ "two-kinds", "22.05.8", 2 },	 { "two-kinds", "23.11.10", 2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cluster *c = load(rows[i].name);
		struct slurm_render in = input(c, slurmfiles_version_number(rows[i].version), NULL);
		struct gen_file *files = NULL;
		struct kvs merged = { 0 };
		struct problems p = { 0 };
		size_t n = 0;

		assert_int_equal(slurmfiles_render(&in, &files, &n, &merged, &p), 0);
		assert_int_equal(n, rows[i].files);
		assert_int_equal(merged.key.n, 0);
		for (size_t k = 0; k < n; k++)
			compare(rows[i].name, rows[i].version, &files[k]);
		gen_files_free(files, n);
		problems_clear(&p);
		cluster_destroy(c);
	}
}

struct outcome {
	int rc;
	char *text; /* slurm-ec2.conf or NULL */
	struct kvs merged;
	struct problems p;
};

static void render_with(const char *name, const char *site_text, struct outcome *o)
{
	struct cluster *c = load(name);
	struct site site = { 0 };
	struct slurm_render in = input(c, 2205, &site);
	struct gen_file *files = NULL;
	size_t n = 0;

	memset(o, 0, sizeof(*o));
	assert_int_equal(site_add(&site, "/etc/slurm/slurm.conf", site_text), 0);
	o->rc = slurmfiles_render(&in, &files, &n, &o->merged, &o->p);
	if (n)
		o->text = strdup(files[0].text);
	gen_files_free(files, n);
	site_clear(&site);
	cluster_destroy(c);
}

static void outcome_clear(struct outcome *o)
{
	free(o->text);
	kvs_clear(&o->merged);
	problems_clear(&o->p);
}

/* Lines of the site that cannot work with ours: one problem with its line, and with a word of the remedy. */
static void test_conflicts(void **state)
{
	static const struct {
		const char *name, *site;
		enum problem_level level;
		int line;
		const char *word;
	} rows[] = {
		{ "quickstart", "ClusterName=c\nResumeProgram=/opt/other\n", PROBLEM_ERROR, 2,
		  "/usr/libexec/slurm-ec2/resume" },
		{ "quickstart", "SuspendTime=600\n", PROBLEM_ERROR, 1, "SuspendTime=INFINITE" },
		{ "quickstart", "SlurmctldParameters=cloud_dns\n", PROBLEM_ERROR, 1, "cloud_dns" },
		{ "quickstart", "\nNodeName=p1\nNodeName=x,queue1-dy-t2micro-[3-4]\n", PROBLEM_ERROR, 3,
		  "queue1-dy-t2micro-3" },
		{ "quickstart", "PartitionName=queue1 Nodes=ALL\n", PROBLEM_ERROR, 1, "queue1" },
		{ "quickstart", "NodeSet=queue1_nodes Nodes=p1\n", PROBLEM_ERROR, 1, "queue1_nodes" },
		{ "quickstart", "SelectType=select/linear\n", PROBLEM_WARNING, 1, "cons_tres" },
		{ "quickstart", "ReturnToService=1\n", PROBLEM_WARNING, 1, "ReturnToService=2" },
		{ "quickstart", "TreeWidth=30\n", PROBLEM_WARNING, 1, "65533" },
		{ "two-kinds", "SelectType=select/linear\n", PROBLEM_ERROR, 1, "cons_tres" },
		{ "two-kinds", "SelectTypeParameters=CR_Core\n", PROBLEM_ERROR, 1, "CR_CPU_Memory" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct outcome o;

		render_with(rows[i].name, rows[i].site, &o);
		if (problems_count(&o.p, rows[i].level) != 1)
			fail_msg("row %zu: %zu problems", i, problems_count(&o.p, rows[i].level));
		assert_int_equal(o.rc, rows[i].level == PROBLEM_ERROR ? -1 : 0);
		assert_int_equal(o.text == NULL, rows[i].level == PROBLEM_ERROR);
		for (size_t k = 0; k < o.p.n; k++) {
			if (o.p.v[k].level != rows[i].level)
				continue;
			assert_int_equal(o.p.v[k].line, rows[i].line);
			assert_string_equal(o.p.v[k].file, "/etc/slurm/slurm.conf");
			assert_non_null(strstr(o.p.v[k].text, rows[i].word));
		}
		outcome_clear(&o);
	}
}

/* Lines of the site that go with ours: left alone, or merged. */
static void test_respect(void **state)
{
	static const struct {
		const char *site, *in, *not_in; /* in, or not in, slurm-ec2.conf */
		const char *key, *merged;	/* merged[key] starts so; NULL = key is not merged */
	} rows[] = {
		{ "ClusterName=c\n", "SelectType=select/cons_tres\n", "GresTypes", "SlurmctldParameters", NULL },
		{ "SuspendTime=-1\n", "ResumeRate=0\n", "SuspendTime=INFINITE\n", "SuspendTime", NULL },
		{ "ReturnToService=2\n", "ResumeRate=0\n", "ReturnToService", "ReturnToService", NULL },
		{ "NodeName=p1\n", "ResumeRate=0\n", "SelectType", "SelectType", NULL },
		{ "NodeName=DEFAULT CPUs=1\n", "SelectType=", "PrivateData=jobs", "PrivateData", NULL },
		{ "PrivateData=jobs\n", "LaunchParameters=enable_nss_slurm\n", "PrivateData", "PrivateData", "cloud" },
		{ "SlurmctldParameters=x\n", "PrivateData=cloud\n", "SlurmctldParameters", "SlurmctldParameters",
		  "enable_configless," },
		{ "PartitionName=main Nodes=ALL Default=YES\n", "PartitionName=queue1", "Default=YES", "Default", NULL },
		{ "PartitionName=main Nodes=ALL\n", "Default=YES", "Nodes=ALL", "Default", NULL },
		{ "NodeName=queue1-dy-t2micro-11\n", "queue1-dy-t2micro-[1-10]", "queue1-dy-t2micro-11", "NodeName", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct outcome o;
		const char *merged;

		render_with("quickstart", rows[i].site, &o);
		assert_int_equal(o.rc, 0);
		if (!strstr(o.text, rows[i].in) || strstr(o.text, rows[i].not_in))
			fail_msg("row %zu: %s", i, o.text);
		merged = kvs_get(&o.merged, rows[i].key);
		assert_int_equal(merged != NULL, rows[i].merged != NULL);
		if (merged)
			assert_int_equal(strncmp(merged, rows[i].merged, strlen(rows[i].merged)), 0);
		outcome_clear(&o);
	}
}

/* A key that slurm-ec2 writes itself, or a value that would begin a line of its own, in CustomSlurmSettings. */
static void test_custom_refused(void **state)
{
	static const struct {
		const char *key, *val;
		bool of_queue;
	} rows[] = { { "CPUs", "1", false }, { "weight", "1", false },	   { "Foo", "a\nNodeName=x", false },
		     { "A B", "1", false },  { "SuspendTime", "1", true }, { "X", "a\"b", true },
		     { "X", "a\\", true },   { "X", "\"a#b\"", false },	   { "X", "\"", false } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cluster *c = load("quickstart");
		struct slurm_render in = input(c, 2205, NULL);
		struct gen_file *files = NULL;
		struct kvs merged = { 0 };
		struct problems p = { 0 };
		size_t n = 0;

		kvs_add(rows[i].of_queue ? &c->queues[0].custom_slurm : &c->queues[0].resources[0].custom_slurm, rows[i].key,
			rows[i].val);
		assert_int_equal(slurmfiles_render(&in, &files, &n, &merged, &p), -1);
		assert_int_equal(problems_count(&p, PROBLEM_ERROR), 1);
		assert_int_equal(n, 0);
		free(files);
		problems_clear(&p);
		cluster_destroy(c);
	}
}

/* What check lets pass is written as it stands. */
static void test_custom_quoted(void **state)
{
	struct cluster *c = load("quickstart");
	struct slurm_render in = input(c, 2205, NULL);
	struct gen_file *files = NULL;
	struct kvs merged = { 0 };
	struct problems p = { 0 };
	size_t n = 0;

	(void)state;
	kvs_add(&c->queues[0].custom_slurm, "QOS", "\"a b\"");
	kvs_add(&c->queues[0].resources[0].custom_slurm, "Comment", "a b");
	assert_int_equal(slurmfiles_render(&in, &files, &n, &merged, &p), 0);
	assert_non_null(strstr(files[0].text, " QOS=\"a b\"\n"));
	assert_non_null(strstr(files[0].text, " Comment=\"a b\"\n"));
	gen_files_free(files, n);
	kvs_clear(&merged);
	problems_clear(&p);
	cluster_destroy(c);
}

static void test_version(void **state)
{
	static const struct {
		const char *text;
		int number;
	} rows[] = { { "22.05.8", 2205 }, { "23.02.0-0rc1", 2302 }, { "24.11", 2411 }, { "20.11.9", 2011 }, { "", -1 },
		     { "22", -1 },	  { "x.05", -1 },	    { "22.x", -1 },    { NULL, -1 },	    { "22.", -1 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(slurmfiles_version_number(rows[i].text), rows[i].number);
}

static int setup(void **state)
{
	(void)state;
	return facts_read(TEST_DATA "/types.json", &types, NULL);
}

static int teardown(void **state)
{
	(void)state;
	itypes_clear(&types);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),	       cmocka_unit_test(test_conflicts), cmocka_unit_test(test_respect),
		cmocka_unit_test(test_custom_refused), cmocka_unit_test(test_custom_quoted), cmocka_unit_test(test_version),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
