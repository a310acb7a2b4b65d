/* SPDX-License-Identifier: GPL-2.0-or-later */
/* launch.h - one launch: its committed row, its exact request, its answer. Internal to lib/apply; used by resume and by
 * clustermgtd's retries. */
#ifndef SE_APPLY_LAUNCH_H
#define SE_APPLY_LAUNCH_H

#include "lib/apply/event.h"
#include "lib/node/binding.h"
#include "lib/node/instance.h"
#include "lib/plan/resume.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ec2_call;
struct err;
struct gen_resource;
struct gen_stage;
struct world;

enum launching_outcome {
	LAUNCHING_NEW,	   /* not performed yet */
	LAUNCHING_CAME,	   /* machines came, perhaps fewer than asked */
	LAUNCHING_REFUSED, /* a definite no: nothing came */
	LAUNCHING_OPEN	   /* not known, or later: the row stays as it is, clustermgtd goes on with it */
};

struct launching {
	struct launch row;
	size_t step; /* the resume plan's */
	size_t cloud;
	struct ec2_call *call;
	bool replay; /* an earlier process may have sent the request */
	bool keep;   /* a machine of it is not told yet: its row stays open */
	enum launching_outcome outcome;
	/* after launching_read(): */
	struct instances got;
	enum resume_short why; /* when fewer came than asked */
	const char *code;      /* likewise, NULL = EC2 said nothing; borrowed like message */
	const char *message;
	struct resume_refusal *refused; /* choices that EC2 refused, also beside machines */
	size_t n_refused;
};

/* A fresh launch id, 20 characters, for row.id: also ClientToken and tag value. */
void launching_new_id(char out[21]);
/* The compute resource of a row, NULL if the applied generation has none such. */
const struct gen_resource *launching_resource(const struct world *w, const struct launch *row);
/* Build the call for a claimed row, row.stage filled, and keep the exact request in the row; without that there is no call.
 * n 0 = all choices of the stage. */
int launching_prepare(struct world *w, struct launching *l, const struct resume_choice *choices, size_t n, struct err *e);
/* The same from the request an earlier process kept. */
int launching_prepare_again(struct launching *l, struct err *e);
/* Read the performed call's answer: outcome, machines, refusals. A fleet that was asked more than once may not list what its
 * first try launched: then EC2 is asked by tag, until the deadline. */
void launching_read(struct world *w, struct launching *l, int64_t deadline_mono_ms);
/* Log it, write the row's next state and the events. A transaction of the caller makes many of them one. */
void launching_record(struct world *w, struct launching *l);
/* What a person does about a refusal of this code, "" if we do not know better than EC2's own words. */
const char *launching_remedy(const char *code);
void launching_clear(struct launching *l);

#endif
