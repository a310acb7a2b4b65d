/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fail.h - nodes that a run could not serve: DOWN with the code, EC2's words on their jobs. Internal to lib/apply. */
#ifndef SE_APPLY_FAIL_H
#define SE_APPLY_FAIL_H

struct resume_result;
struct run;

/* res->n_fail > 0. */
void fail_nodes(struct run *r, const struct resume_result *res);

#endif
