/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_quota_code.c - which vCPU quota a type counts against, by the families that AWS's list of quotas names. */
#include "lib/aws/quotas.h"
#include "lib/node/offering.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void codes(void **state)
{
	static const struct {
		const char *type, *on_demand, *spot; /* NULL = no quota is known */
	} rows[] = {
	    {"t2.micro", "L-1216C47A", "L-34B43A08"},
	    {"a1.large", "L-1216C47A", "L-34B43A08"},
	    {"c7gn.16xlarge", "L-1216C47A", "L-34B43A08"},
	    {"im4gn.large", "L-1216C47A", "L-34B43A08"},
	    {"is4gen.large", "L-1216C47A", "L-34B43A08"},
	    {"z1d.metal", "L-1216C47A", "L-34B43A08"},
	    {"g4dn.xlarge", "L-DB2E81BA", "L-3819A6DF"},
	    {"gr6.4xlarge", "L-DB2E81BA", "L-3819A6DF"},
	    {"vt1.3xlarge", "L-DB2E81BA", "L-3819A6DF"},
	    {"p3.2xlarge", "L-417A185B", "L-7212CCBC"},
	    {"p4de.24xlarge", "L-417A185B", "L-7212CCBC"},
	    {"p5.48xlarge", "L-417A185B", "L-C4BD4855"},
	    {"p5en.48xlarge", "L-417A185B", "L-C4BD4855"},
	    {"p6-b300.48xlarge", "L-417A185B", NULL},
	    {"hpc7a.96xlarge", "L-F7808C92", NULL},
	    {"h1.2xlarge", "L-1216C47A", "L-34B43A08"},
	    {"f2.48xlarge", "L-74FC7D96", "L-88CF9481"},
	    {"inf2.xlarge", "L-1945791B", "L-B5D1601B"},
	    {"i4i.large", "L-1216C47A", "L-34B43A08"},
	    {"trn1n.32xlarge", "L-2C3B7624", "L-6B0D517C"},
	    {"x2iedn.xlarge", "L-7295265B", "L-E3A00192"},
	    {"dl1.24xlarge", "L-6E869C2A", "L-85EED4F7"},
	    {"d3en.xlarge", "L-1216C47A", "L-34B43A08"},
	    {"u-6tb1.metal", "L-43DA4232", NULL},
	    {"u7i-12tb.224xlarge", "L-43DA4232", NULL},
	    {"mac2.metal", NULL, NULL},
	    {"", NULL, NULL},
	    {".", NULL, NULL},
	    {"|", NULL, NULL},
	    {"anamethatismuchlongerthananyfamily1.large", NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *want[] = {rows[i].on_demand, rows[i].spot};
		const char *got[] = {aws_quota_code(rows[i].type, MARKET_ONDEMAND), aws_quota_code(rows[i].type, MARKET_SPOT)};

		for (int k = 0; k < 2; k++)
			if (!want[k] != !got[k] || (want[k] && strcmp(want[k], got[k])))
				fail_msg("%s: %s instead of %s", rows[i].type, got[k] ? got[k] : "none",
					 want[k] ? want[k] : "none");
	}
}

/* What is reserved was paid for: it is not counted a second time. */
static void other_markets(void **state)
{
	(void)state;
	assert_null(aws_quota_code("c5.large", MARKET_BLOCK));
	assert_null(aws_quota_code("c5.large", MARKET_RESERVED "cr-1"));
	assert_null(aws_quota_code("c5.large", "scheduled"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(codes),
	    cmocka_unit_test(other_markets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
