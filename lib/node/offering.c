/* SPDX-License-Identifier: GPL-2.0-or-later */
/* offering.c - lists of shortages. Linear: there are as many as types times zones that ran short lately. */
#include "lib/node/offering.h"

#include "lib/base/str.h"

#include <stdlib.h>

void shortage_clear(struct shortage *s)
{
	free(s->of.type);
	free(s->of.zone);
	free(s->of.market);
	free(s->code);
	free(s->message);
	*s = (struct shortage){0};
}

struct shortage *shortages_add(struct shortages *l, const char *type, const char *zone, const char *market)
{
	struct shortage *s;

	if (mem_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v)))
		return NULL;
	s = &l->v[l->n];
	*s = (struct shortage){.of = {.type = str_dup(type), .zone = str_dup(zone), .market = str_dup(market)}};
	if (!s->of.type || !s->of.zone || !s->of.market) {
		shortage_clear(s);
		return NULL;
	}
	l->n++;
	return s;
}

void shortages_clear(struct shortages *l)
{
	for (size_t i = 0; i < l->n; i++)
		shortage_clear(&l->v[i]);
	free(l->v);
	*l = (struct shortages){0};
}

struct shortage *shortages_find(const struct shortages *l, const char *type, const char *zone, const char *market)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct offering *o = &l->v[i].of;

		if (str_eq(o->type, type) && str_eq(o->zone, zone) && str_eq(o->market, market))
			return &l->v[i];
	}
	return NULL;
}

int shortages_copy(struct shortages *to, const struct shortages *from)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct shortage *f = &from->v[i];
		struct shortage *s = shortages_add(to, f->of.type, f->of.zone, f->of.market);

		if (!s)
			return -1;
		s->code = str_dup(f->code);
		s->message = str_dup(f->message);
		if ((f->code && !s->code) || (f->message && !s->message))
			return -1;
		s->failures = f->failures;
		s->failed_ms = f->failed_ms;
		s->until_ms = f->until_ms;
		s->budget = f->budget;
		s->probe_until_ms = f->probe_until_ms;
	}
	return 0;
}
