/* SPDX-License-Identifier: GPL-2.0-or-later */
/* concerns.c - telling what a loop found wrong or did not do. Decides nothing. */
#include "clustermgtd/concerns.h"

#include "clustermgtd/observe.h"
#include "lib/apply/apply.h"
#include "lib/apply/launch.h"
#include "lib/apply/wish.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/node/nodeset.h"
#include "lib/plan/plan.h"
#include "lib/state/store.h"

#include <stdlib.h>
#include <string.h>

static char *key_of(const struct violation *v)
{
	return str_fmt("%s %s %s", v->code, v->node ? v->node : "-", v->instance ? v->instance : v->node ? "-" : v->text);
}

static void tell_violation(struct world *w, const struct violation *v)
{
	char *detail = str_fmt("%s: %s", v->code, v->text);

	log_warn("%s (%s)", v->text, v->code);
	apply_event(w, "invariant", v->node, v->instance, detail);
	free(detail);
}

/* A lost state file is thousands of them: one transaction for all, and a hash to know them again. */
static void tell_violations(struct world *w, struct concerns *c, const struct violations *l)
{
	struct nodeset *now = l->n ? nodeset_create() : NULL;
	bool batch = now && w->store && store_batch_begin(w->store, NULL) == 0;

	for (size_t i = 0; now && i < l->n; i++) {
		const struct violation *v = &l->v[i];
		char *key = key_of(v);

		if (key && nodeset_add(now, key) == 1 && !(c->violations && nodeset_has(c->violations, key)))
			tell_violation(w, v);
		free(key);
	}
	if (batch)
		store_batch_end(w->store, 0, NULL); /* what could not be written was said */
	nodeset_destroy(c->violations);
	c->violations = now;
}

static void tell_brake(struct world *w, struct concerns *c, const struct brake *b, int64_t share)
{
	char *text;

	if (b->held == 0) {
		if (c->brake_held > 0) {
			log_info(BRAKE_OFF_TEXT);
			apply_event(w, "brake", NULL, NULL, BRAKE_OFF_TEXT);
		}
		c->brake_held = 0;
		return;
	}
	if (c->brake_held > 0 && c->brake_ms == b->since_ms)
		return;
	text = str_fmt("%zu of %zu machines in use would be ended, more than %lld %%: held back until a look after %lld s asks for the "
		       "same; slurm-ec2 fleet confirm lets it happen now",
		       b->held, b->in_use, (long long)share, (long long)(BRAKE_LOOK_MS / 1000));
	if (text) {
		log_warn("%s", text);
		apply_event(w, "brake", NULL, NULL, text);
	}
	free(text);
	c->brake_ms = b->since_ms;
	c->brake_held = b->held;
}

void concerns_tell(struct world *w, struct concerns *c, const struct observed *o, const struct brake *b, int64_t share)
{
	tell_violations(w, c, &o->violations);
	tell_brake(w, c, b, share);
}

static void tell_freeze(struct world *w, struct concerns *c, const struct observed *o, bool frozen)
{
	char clock[CLOCK_MINUTE], *text;

	if (frozen == c->frozen)
		return;
	wish_clock(o->frozen_until_ms, clock);
	text = frozen ? str_fmt("frozen until %s: nothing is done in EC2 or Slurm", clock) : str_dup("the freeze is over");
	if (text) {
		log_info("%s", text);
		apply_event(w, "freeze", NULL, NULL, text);
	}
	free(text);
	c->frozen = frozen;
}

/* A line an action. */
static void log_plan(const char *text)
{
	for (const char *end; (end = strchr(text, '\n')); text = end + 1)
		log_info("frozen, not done: %.*s", (int)(end - text), text);
}

bool concerns_frozen(struct world *w, struct concerns *c, const struct observed *o, const struct plan *p)
{
	bool frozen = o->frozen_until_ms > clock_wall_ms();
	char *text = frozen && p->n > 0 ? plan_text(p) : NULL;

	tell_freeze(w, c, o, frozen);
	if (text && !str_eq(text, c->plan))
		log_plan(text);
	free(c->plan);
	c->plan = text;
	return frozen;
}

void concerns_clear(struct concerns *c)
{
	nodeset_destroy(c->violations);
	free(c->plan);
	*c = (struct concerns){0};
}
