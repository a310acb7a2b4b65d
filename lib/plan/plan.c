/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan.c - the list of actions and its text. Deciding is in resume.c and reconcile.c, doing in lib/apply. */
#include "lib/plan/plan.h"

#include "lib/base/buf.h"
#include "lib/node/nodeset.h"

#include <stdlib.h>
#include <string.h>

struct action *plan_add(struct plan *p, enum action_kind kind, const char *code)
{
	struct action *a;

	if (mem_grow(&p->v, &p->cap, p->n + 1, sizeof(*p->v)))
		return NULL;
	a = &p->v[p->n];
	*a = (struct action){ .kind = kind, .generation = -1, .code = str_dup(code) };
	if (code && !a->code)
		return NULL;
	p->n++;
	return a;
}

void plan_clear(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].node);
		free(p->v[i].instance);
		free(p->v[i].launch);
		free(p->v[i].reservation);
		free(p->v[i].resource);
		free(p->v[i].partition);
		free(p->v[i].word);
		free(p->v[i].was);
		strs_clear(&p->v[i].nodes);
		free(p->v[i].code);
		free(p->v[i].reason);
	}
	free(p->v);
	*p = (struct plan){ 0 };
}

const char *action_kind_text(enum action_kind k)
{
	switch (k) {
	case ACT_TERMINATE:
		return "terminate";
	case ACT_BIND:
		return "bind";
	case ACT_UNBIND:
		return "unbind";
	case ACT_FORGET:
		return "forget";
	case ACT_NODE_DOWN:
		return "down";
	case ACT_NODE_POWER_DOWN:
		return "power-down";
	case ACT_NODE_POWER_UP:
		return "power-up";
	case ACT_LAUNCH_RETRY:
		return "launch-retry";
	case ACT_LAUNCH_CLOSE:
		return "launch-close";
	case ACT_RESERVE:
		return "reserve";
	case ACT_UNRESERVE:
		return "unreserve";
	case ACT_NODE_DRAIN:
		return "drain";
	case ACT_NODE_RESUME:
		return "resume";
	case ACT_BOOT_FAILED:
		return "boot-failed";
	case ACT_FAILURES_CLEAR:
		return "failures-clear";
	case ACT_PARTITION:
		return "partition";
	case ACT_FLEET:
		return "fleet";
	case ACT_NOTE:
		return "note";
	}
	return "unknown";
}

static void add_line(struct buf *b, const struct action *a)
{
	char *nodes;

	buf_fmt(b, "%-13s %-20s", action_kind_text(a->kind), a->code ? a->code : "-");
	if (a->reservation)
		buf_fmt(b, " reservation=%s", a->reservation);
	if (a->resource)
		buf_fmt(b, " resource=%s", a->resource);
	if (a->partition)
		buf_fmt(b, " partition=%s", a->partition);
	if (a->word)
		buf_fmt(b, " to=%s", a->word);
	if (a->node)
		buf_fmt(b, " node=%s", a->node);
	if (a->nodes.n) {
		nodes = nodeset_text_of((const char *const *)a->nodes.v, a->nodes.n);
		b->failed = b->failed || !nodes;
		buf_fmt(b, " nodes=%s", nodes ? nodes : "");
		free(nodes);
	}
	if (a->instance)
		buf_fmt(b, " instance=%s", a->instance);
	if (a->launch)
		buf_fmt(b, " launch=%s", a->launch);
	if (a->reason)
		buf_fmt(b, " (%s)", a->reason);
	buf_char(b, '\n');
}

char *plan_text(const struct plan *p)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < p->n; i++)
		add_line(&b, &p->v[i]);
	return buf_take(&b);
}
