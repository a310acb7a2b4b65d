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

static void action_clear(struct action *a)
{
	free(a->node);
	free(a->instance);
	free(a->launch);
	free(a->reservation);
	free(a->resource);
	free(a->partition);
	free(a->word);
	free(a->was);
	strs_clear(&a->nodes);
	free(a->code);
	free(a->reason);
}

size_t plan_drop(struct plan *p, bool (*drop)(const struct action *a, const void *arg), const void *arg)
{
	size_t kept = 0, gone;

	for (size_t i = 0; i < p->n; i++) {
		if (drop(&p->v[i], arg))
			action_clear(&p->v[i]);
		else
			p->v[kept++] = p->v[i];
	}
	gone = p->n - kept;
	p->n = kept;
	return gone;
}

void plan_clear(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		action_clear(&p->v[i]);
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
