/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume_text.h - the result of a resume plan as text, for the tables of its tests. Callers free. */
#ifndef SE_TESTS_RESUME_TEXT_H
#define SE_TESTS_RESUME_TEXT_H

#include "lib/base/buf.h"
#include "lib/base/str.h"
#include "lib/node/nodeset.h"
#include "lib/plan/resume.h"

#include <stdlib.h>

/* "CODE:nodes CODE:nodes", codes in order of first appearance. */
static char *fails_text(const struct resume_result *r)
{
	struct strs done = { 0 };
	struct buf b = { 0 };

	for (size_t i = 0; i < r->n_fail; i++) {
		struct strs names = { 0 };
		char *text;

		if (strs_has(&done, r->fail[i].code))
			continue;
		strs_add(&done, r->fail[i].code);
		for (size_t k = i; k < r->n_fail; k++)
			if (str_eq(r->fail[k].code, r->fail[i].code))
				strs_add(&names, r->fail[k].node);
		text = nodeset_text_of((const char *const *)names.v, names.n);
		buf_fmt(&b, "%s%s:%s", b.n ? " " : "", r->fail[i].code, text);
		free(text);
		strs_clear(&names);
	}
	strs_clear(&done);
	return buf_take(&b);
}

static char *binds_text(const struct resume_result *r)
{
	struct strs names = { 0 };
	char *text;

	for (size_t i = 0; i < r->n_bind; i++)
		strs_add(&names, r->bind[i].node);
	text = nodeset_text_of((const char *const *)names.v, names.n);
	strs_clear(&names);
	return text;
}

#endif
