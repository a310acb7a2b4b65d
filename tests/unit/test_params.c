/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_params.c - the local cloud's reading of form bodies, and its way back to XML. */
#include "tests/unit/test.h"

#include "ec2local/index.h"
#include "ec2local/params.h"
#include "ec2local/xml.h"
#include "lib/base/err.h"

static void parse(struct params *p, const char *body)
{
	struct err e = {""};

	*p = (struct params){0};
	assert_int_equal(params_parse(p, body, strlen(body), &e), 0);
}

static void values_are_decoded(void **state)
{
	static const struct {
		const char *body, *key, *val;
	} table[] = {
	    {"a=b", "a", "b"},	     {"a=b+c%20d", "a", "b c d"}, {"a=%C3%A4%2b", "a", "\303\244+"}, {"a", "a", ""},
	    {"a=", "a", ""},	     {"a=b=c", "a", "b=c"},	  {"%61.1=x", "a.1", "x"},	     {"b=1&a=2&&c=3", "a", "2"},
	    {"a=%26%3D", "a", "&="},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		struct params p;

		parse(&p, table[i].body);
		assert_string_equal(params_get(&p, table[i].key), table[i].val);
		assert_null(params_get(&p, "none"));
		params_clear(&p);
	}
}

static void bad_bodies_are_refused(void **state)
{
	static const char *const table[] = {"a=%", "a=%4", "a=%zz", "a=%00", "a=1&a=2", "a%2=b", "a=%4g"};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		struct params p = {0};
		struct err e = {""};

		assert_int_equal(params_parse(&p, table[i], strlen(table[i]), &e), -1);
		assert_true(*e.text);
		params_clear(&p);
	}
}

static void lists_keep_their_order(void **state)
{
	struct params p, below = {0};
	struct strs l = {0};
	struct kvs kv = {0};

	(void)state;
	parse(
	    &p,
	    "X.10=j&X.1=a&X.2=b&X.3=c&X.4=d&X.5=e&X.6=f&X.7=g&X.8=h&X.9=i&T.1.Key=k&T.1.Value=v&T.2.Key=only&D.Y.1=in&DY=out");
	assert_int_equal(params_list(&p, "X", &l), 0);
	assert_int_equal(l.n, 10);
	assert_string_equal(l.v[9], "j");
	assert_int_equal(params_pairs(&p, "T", &kv), 0);
	assert_string_equal(kvs_get(&kv, "k"), "v");
	assert_string_equal(kvs_get(&kv, "only"), "");
	assert_true(params_has(&p, "X") && params_has(&p, "X.1") && params_has(&p, "T.2") && params_has(&p, "D.Y"));
	assert_false(params_has(&p, "X.11") || params_has(&p, "T.3") || params_has(&p, "T.1.K"));
	assert_int_equal(params_below(&below, &p, "D"), 0);
	assert_int_equal(below.n, 1);
	assert_string_equal(params_get(&below, "Y.1"), "in");
	params_clear(&p);
	params_clear(&below);
	strs_clear(&l);
	kvs_clear(&kv);
}

static void names_fit_patterns(void **state)
{
	static const struct {
		const char *pattern, *name;
		bool fits;
	} table[] = {
	    {"A.N.B", "A.1.B", true},	 {"A.N.B", "A.12.B", true}, {"A.N.B", "A.0.B", false}, {"A.N.B", "A.01.B", false},
	    {"A.N.B", "A.x.B", false},	 {"A.N.B", "A.1", false},   {"A.N", "A.1.B", false},   {"A", "A", true},
	    {"A", "AB", false},		 {"AB", "A", false},	    {"A.*", "A.1.B", true},    {"A.*", "B.1", false},
	    {"A.N", "A.1234567", false}, {"A.N", "A.", false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++)
		assert_int_equal(params_fits(table[i].pattern, table[i].name), table[i].fits);
}

static void gaps_are_found(void **state)
{
	static const struct {
		const char *body, *gap;
	} table[] = {
	    {"A.1=x&A.2=y", NULL},     {"A.2=y", "A.2"}, {"A.1=x&A.3=y", "A.3"}, {"A.1.B.1=x&A.1.B.3=x", "A.1.B.3"},
	    {"A.1.B=x&A.2.C=y", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		struct params p;
		const char *gap;

		parse(&p, table[i].body);
		gap = params_gap(&p);
		if (table[i].gap)
			assert_string_equal(gap, table[i].gap);
		else
			assert_null(gap);
		params_clear(&p);
	}
}

static void params_come_back_as_xml(void **state)
{
	struct buf b = {0};
	struct params p;

	(void)state;
	parse(&p, "ImageId=a%26%3C&NetworkInterface.1.SecurityGroupId.1=g1&NetworkInterface.1.SecurityGroupId.2=g2"
		  "&NetworkInterface.1.DeviceIndex=0&NetworkInterface.2.DeviceIndex=1&SecurityGroupId.1=s"
		  "&TagSpecification.1.Tag.1.Key=k&Placement.GroupName=p");
	xml_params(&b, &p);
	assert_string_equal(
	    buf_text(&b),
	    "<imageId>a&amp;&lt;</imageId><networkInterfaceSet><item><deviceIndex>0</deviceIndex><groupSet><item>g1</item>"
	    "<item>g2</item></groupSet></item><item><deviceIndex>1</deviceIndex></item></networkInterfaceSet>"
	    "<placement><groupName>p</groupName></placement><securityGroupIdSet><item>s</item></securityGroupIdSet>"
	    "<tagSpecificationSet><item><tagSet><item><key>k</key></item></tagSet></item></tagSpecificationSet>");
	buf_free(&b);
	params_clear(&p);
}

static void index_holds_many(void **state)
{
	static char keys[5000][8];
	struct index t = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(keys); i++) {
		snprintf(keys[i], sizeof(keys[i]), "k%zu", i);
		assert_int_equal(index_put(&t, keys[i], keys[i]), 0);
	}
	for (size_t i = 0; i < COUNT(keys); i += 2)
		index_del(&t, keys[i]);
	for (size_t i = 0; i < COUNT(keys); i++)
		assert_ptr_equal(index_get(&t, keys[i]), i % 2 ? keys[i] : NULL);
	assert_int_equal(t.n, COUNT(keys) / 2);
	/* thousands of comings and goings do not fill the table */
	for (size_t i = 0; i < 100000; i++) {
		char *key = strdup("comes and goes");

		assert_non_null(key);
		assert_int_equal(index_put(&t, key, key), 0);
		index_del(&t, key);
		memset(key, 'x', 8);
		free(key);
	}
	assert_true(t.cap <= 16384);
	assert_null(index_get(&t, ""));
	index_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(values_are_decoded),     cmocka_unit_test(bad_bodies_are_refused),
	    cmocka_unit_test(lists_keep_their_order), cmocka_unit_test(names_fit_patterns),
	    cmocka_unit_test(gaps_are_found),	      cmocka_unit_test(params_come_back_as_xml),
	    cmocka_unit_test(index_holds_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
