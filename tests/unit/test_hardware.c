/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_hardware.c - instance facts to NodeName figures, and to network interfaces. */
#include "conf/hardware.h"
#include "conf/interfaces.h"

#include "conf/facts.h"
#include "lib/base/err.h"
#include "tests/unit/test.h"

static struct itypes types;

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

static int resolve(const char *const *names, bool no_smt, int64_t memory, struct hardware *h, struct err *e)
{
	struct compute_resource r = { .disable_smt = no_smt, .schedulable_memory_mib = memory };
	int rc;

	for (; *names; names++)
		assert_int_equal(strs_add(&r.instance_types, *names), 0);
	rc = hardware_resolve(&r, &types, h, e);
	strs_clear(&r.instance_types);
	return rc;
}

static void test_table(void **state)
{
	static const struct {
		const char *types[3];
		bool no_smt;
		int64_t memory;
		int cpus;
		int64_t real_memory;
		int gpus;
		const char *gpu;
		int cores;
	} rows[] = {
		{ { "t2.micro" }, false, 0, 1, 972, 0, "", 0 },
		{ { "t2.micro" }, true, 0, 1, 972, 0, "", 0 },
		{ { "c6i.32xlarge" }, false, 0, 128, 249036, 0, "", 0 },
		{ { "c6i.32xlarge" }, true, 0, 64, 249036, 0, "", 64 },
		{ { "c6i.32xlarge" }, false, 1000, 128, 1000, 0, "", 0 },
		{ { "p4d.24xlarge" }, true, 0, 48, 1120665, 8, "a100", 48 },
		{ { "c5.xlarge", "c5a.xlarge" }, false, 0, 4, 6809, 0, "", 0 },
		{ { "c5.xlarge", "c5a.xlarge" }, true, 0, 2, 6809, 0, "", 0 },
		{ { "c6g.xlarge" }, true, 0, 4, 7782, 0, "", 0 },
		{ { "g4ad.xlarge" }, false, 0, 4, 15564, 0, "", 0 }, /* AMD: no gres/gpu by NVIDIA device files */
		{ { "g5.xlarge" }, false, 0, 4, 15564, 1, "a10g", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct hardware h;
		struct err e = { 0 };

		if (resolve(rows[i].types, rows[i].no_smt, rows[i].memory, &h, &e))
			fail_msg("row %zu: %s", i, e.text);
		assert_int_equal(h.cpus, rows[i].cpus);
		assert_int_equal(h.real_memory_mib, rows[i].real_memory);
		assert_int_equal(h.gpu_count, rows[i].gpus);
		assert_string_equal(h.gpu_type, rows[i].gpu);
		assert_int_equal(h.cores, rows[i].cores);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *types[3];
		bool no_smt;
		const char *says;
	} rows[] = {
		{ { "c5.xlarge", "x9.huge" }, false, "nothing is known of instance type x9.huge" },
		{ { "c5.xlarge", "c6g.xlarge" }, false, "c5.xlarge is x86_64 but c6g.xlarge is arm64" },
		{ { "c5.xlarge", "t2.micro" }, false, "c5.xlarge has 4 CPUs but t2.micro has 1" },
		{ { "c6i.32xlarge", "p4d.24xlarge" }, true, "c6i.32xlarge has 64 CPUs but p4d.24xlarge has 48" },
		{ { "g5.xlarge", "c5.xlarge" }, false, "g5.xlarge has 1 GPUs but c5.xlarge has 0" },
		{ { "g5.xlarge", "g4ad.xlarge" }, false, "the GPUs of g5.xlarge are by NVIDIA but those of g4ad.xlarge by AMD" },
		{ { NULL }, false, "give InstanceType" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct hardware h;
		struct err e = { 0 };

		assert_int_equal(resolve(rows[i].types, rows[i].no_smt, 0, &h, &e), -1);
		if (!strstr(e.text, rows[i].says))
			fail_msg("row %zu: %s", i, e.text);
	}
}

/* What a fallback may bring counts as the resource's own. */
static void test_more_types(void **state)
{
	struct compute_resource r = { .disable_smt = true };
	struct hardware h;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(strs_add(&r.instance_types, "c5.xlarge") || strs_add(&r.more_types, "c5a.xlarge"), 0);
	assert_int_equal(hardware_resolve(&r, &types, &h, &e), 0);
	assert_int_equal(h.real_memory_mib, 6809);
	assert_int_equal(h.cores, 0); /* the boot script's work */
	assert_int_equal(strs_add(&r.more_types, "c6g.xlarge"), 0);
	assert_int_equal(hardware_resolve(&r, &types, &h, &e), -1);
	assert_non_null(strstr(e.text, "arm64"));
	strs_clear(&r.more_types);
	strs_clear(&r.instance_types);
	assert_int_equal(strs_add(&r.instance_types, "hpc7a.96xlarge"), 0);
	assert_int_equal(hardware_resolve(&r, &types, &h, &e), 0);
	assert_true(h.efa_ok);
	assert_int_equal(strs_add(&r.more_types, "hpc7a.96xlarge") || strs_add(&r.more_types, "p6-b300.48xlarge"), 0);
	assert_int_equal(hardware_resolve(&r, &types, &h, &e), -1); /* GPUs */
	strs_clear(&r.more_types);
	strs_clear(&r.instance_types);
}

/* "card/device type" of each interface, in order. */
static void layout_text(const struct interfaces *l, char *out, size_t size)
{
	size_t n = 0;

	out[0] = 0;
	for (size_t i = 0; i < l->n; i++)
		n += (size_t)snprintf(out + n, size - n, "%s%d/%d%s%s", i ? " " : "", l->v[i].card, l->v[i].device,
				      l->v[i].type ? ":" : "", l->v[i].type ? l->v[i].type : "");
}

/* "<first>-<last>/<device>:<type>" written out. */
static void expect(char *out, size_t size, const char *want)
{
	size_t n = 0;
	int first, last;

	out[0] = 0;
	for (const char *p = want; *p; p += strcspn(p, " "), p += *p == ' ') {
		const char *slash = strchr(p, '/');
		int len = (int)strcspn(slash, " ");

		if (sscanf(p, "%d-%d/", &first, &last) != 2)
			last = first;
		for (int card = first; card <= last; card++)
			n += (size_t)snprintf(out + n, size - n, "%s%d%.*s", n ? " " : "", card, len, slash);
	}
}

static void check_layout(const struct itype *t, enum interfaces_mode mode, const char *want)
{
	struct interfaces l = { 0 };
	char got[1024], wanted[1024];

	assert_non_null(t);
	assert_int_equal(interfaces_layout(t, mode, TRI_TRUE, &l), 0);
	layout_text(&l, got, sizeof(got));
	expect(wanted, sizeof(wanted), want);
	if (strcmp(got, wanted) != 0)
		fail_msg("%s, mode %d: %s, want %s", t->name, (int)mode, got, wanted);
	for (size_t i = 0; i < l.n; i++)
		assert_int_equal(l.v[i].public_ip, l.n == 1 ? TRI_TRUE : TRI_UNSET);
	interfaces_clear(&l);
}

/* As the published types are. */
static void test_interfaces(void **state)
{
	static const struct {
		const char *type, *plain, *efa_only, *efa;
	} rows[] = {
		{ "t2.micro", "0/0", NULL, NULL },
		{ "m5.large", "0/0", NULL, NULL },
		{ "c5n.18xlarge", "0/0", "0/0 0/1:efa-only", "0/0:efa" },
		{ "c6i.32xlarge", "0/0", "0/0 0/1:efa-only", "0/0:efa" },
		{ "hpc6a.48xlarge", "0/0", "0/0 0/1:efa-only", "0/0:efa" },
		{ "hpc7g.16xlarge", "0/0", "0/0 0/1:efa-only", "0/0:efa" },
		{ "hpc6id.32xlarge", "0/0 1/0", "0/0:efa 1/0:efa-only", "0/0:efa 1/0:efa" },
		{ "hpc7a.96xlarge", "0/0 1/1", "0/0 0/1:efa-only 1/0:efa-only", "0/0:efa 1/1:efa" },
		{ "c6in.32xlarge", "0/0 1/1", "0/0 0/1:efa-only 1/0:efa-only", "0/0:efa 1/1:efa" },
		{ "p4d.24xlarge", "0/0 1-3/1", "0/0 0/1:efa-only 1-3/0:efa-only", "0/0:efa 1-3/1:efa" },
		{ "p5.48xlarge", "0/0 1-31/1", "0/0 0/1:efa-only 1-31/0:efa-only", "0/0:efa 1-31/1:efa" },
		{ "p5en.48xlarge", "0/0 1-15/1", "0/0 0/1:efa-only 1-15/0:efa-only", "0/0:efa 1-15/1:efa" },
		{ "trn1.32xlarge", "0/0 1-7/1", "0/0 0/1:efa-only 1-7/0:efa-only", "0/0:efa 1-7/1:efa" },
		{ "p6-b200.48xlarge", "0/0 1-7/1", "0/0 0/1:efa-only 1-7/0:efa-only", "0/0:efa 1-7/1:efa" },
		{ "p6-b300.48xlarge", "0/0 1-16/1", "0/0 1-16/0:efa-only", "0/0 1-16/1:efa" },
		{ "p6e-gb200.36xlarge", "0/0 2/1 4/1 6/1 8/1 10/1 12/1 14/1 16/1", "0/0 0/1:efa-only 1-16/0:efa-only",
		  "0/0:efa 1/0:efa-only 2/1:efa 3/0:efa-only 4/1:efa 5/0:efa-only 6/1:efa 7/0:efa-only 8/1:efa 9/0:efa-only 10/1:efa "
		  "11/0:efa-only 12/1:efa 13/0:efa-only 14/1:efa 15/0:efa-only 16/1:efa" },
	};
	struct itypes l = { 0 };

	(void)state;
	assert_int_equal(facts_read(TEST_DATA "/network-cards.json", &l, NULL), 0);
	assert_int_equal(l.n, COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct itype *t = itypes_find(&l, rows[i].type);

		check_layout(t, INTERFACES_PLAIN, rows[i].plain);
		assert_int_equal(t->efa, rows[i].efa != NULL);
		if (!t->efa)
			continue;
		check_layout(t, INTERFACES_EFA_ONLY, rows[i].efa_only);
		check_layout(t, INTERFACES_EFA, rows[i].efa);
	}
	itypes_clear(&l);
}

/* What the published types do not show: a limit below the number of cards, no cards told. */
static void test_interfaces_odd(void **state)
{
	struct network_card four[] = { { 0, 4 }, { 1, 4 }, { 2, 4 }, { 3, 4 } };
	char limited_name[] = "x.limited", bare_name[] = "x.bare";
	struct itype limited = { .name = limited_name, .cards = four, .n_cards = 4, .max_efa = 2 }, bare = { .name = bare_name };

	(void)state;
	check_layout(&limited, INTERFACES_EFA_ONLY, "0/0 0/1:efa-only 1/0:efa-only");
	check_layout(&limited, INTERFACES_EFA, "0/0:efa 1/1:efa");
	check_layout(&bare, INTERFACES_PLAIN, "0/0");
	check_layout(&bare, INTERFACES_EFA_ONLY, "0/0 0/1:efa-only");
	check_layout(&bare, INTERFACES_EFA, "0/0:efa");
}

/* Two interfaces get no public address, so a machine of one card that is to have one takes one. */
static void test_interfaces_mode(void **state)
{
	struct itype one = { .n_cards = 1 }, two = { .n_cards = 2 };

	(void)state;
	assert_int_equal(interfaces_mode(&one, false, TRI_TRUE), INTERFACES_PLAIN);
	assert_int_equal(interfaces_mode(&one, true, TRI_TRUE), INTERFACES_EFA);
	assert_int_equal(interfaces_mode(&one, true, TRI_UNSET), INTERFACES_EFA_ONLY);
	assert_int_equal(interfaces_mode(&one, true, TRI_FALSE), INTERFACES_EFA_ONLY);
	assert_int_equal(interfaces_mode(&two, true, TRI_TRUE), INTERFACES_EFA_ONLY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_more_types),
		cmocka_unit_test(test_interfaces),
		cmocka_unit_test(test_interfaces_odd),
		cmocka_unit_test(test_interfaces_mode),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
