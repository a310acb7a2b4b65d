/* SPDX-License-Identifier: GPL-2.0-or-later */
/* protect.c - counting machines that never served. */
#include "lib/plan/protect.h"

#include "lib/cluster/generation.h"

int protect_judge(const struct protect_input *in, struct protection *out, struct nodeset *cycling, struct err *e)
{
	(void)cycling;
	(void)e;
	for (size_t i = 0; i < in->gen->n_resources; i++)
		out[i] = (struct protection){ 0 };
	return 0;
}

int protect_plan(const struct protect_input *in, struct plan *out, struct err *e)
{
	(void)in;
	(void)out;
	(void)e;
	return 0;
}
