/* SPDX-License-Identifier: GPL-2.0-or-later */
/* status_text.c - status as text: at most 80 columns, read without the manual. First how things are as a whole, then a line a
 * compute resource, then what is under way and what is wrong, each with its own heading and only if there is any.
 */
#include "build_config.h"

#include "cli/status.h"
#include "cli/text.h"
#include "lib/base/buf.h"
#include "lib/node/nodeset.h"
#include "lib/plan/capacity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL 13      /* of the lines at the top */
#define FOLD_ABOVE 20 /* so many resources are listed even if nothing is on there */
#define LIST_MAX 10   /* entries of a section, but with --all */
#define NAMES_LINES 3 /* of a host list, likewise */
#define ROW_NAME 24
#define ROW "%6s%6s%7s%6s%6s%6s%6s%6s%7s\n"

struct out {
	struct buf b;
	const struct status *s;
	const struct look *l;
	bool all;
};

static int64_t since(const struct out *o, int64_t ms)
{
	return o->l->now_ms - ms;
}

/* From column `first` on, what follows from `rest`; lines: at most so many, unless all is to be seen. */
static void fold(struct out *o, size_t first, size_t rest, size_t lines, const char *fmt, va_list ap)
{
	char *text = str_vfmt(fmt, ap);

	o->b.failed = o->b.failed || !text;
	text_fold(&o->b, text, first, rest, o->all ? 0 : lines);
	free(text);
}

/* "label        sentence", folded under itself. */
static void top_line(struct out *o, const char *label, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void top_line(struct out *o, const char *label, const char *fmt, ...)
{
	va_list ap;

	buf_fmt(&o->b, "%-*s", LABEL, label);
	va_start(ap, fmt);
	fold(o, LABEL, LABEL, 3, fmt, ap);
	va_end(ap);
}

/* A folded line of a section; `indent` blanks before it and two more before what follows. */
static void line(struct out *o, size_t indent, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void line(struct out *o, size_t indent, const char *fmt, ...)
{
	va_list ap;

	buf_fmt(&o->b, "%*s", (int)indent, "");
	va_start(ap, fmt);
	fold(o, indent, indent + 2, NAMES_LINES, fmt, ap);
	va_end(ap);
}

static void heading(struct out *o, const char *text)
{
	buf_char(&o->b, '\n');
	text_fold(&o->b, text, 0, 2, 0);
}

/* The rest of a list that is cut. True: no more. */
static bool enough(struct out *o, size_t i, size_t n)
{
	if (o->all || i < LIST_MAX)
		return false;
	buf_fmt(&o->b, "  ... and %zu more (--all shows them)\n", n - i);
	return true;
}

/* --- at the top */

static void put_fleet(struct out *o)
{
	const struct look *l = o->l;
	char age[TEXT_AGE];
	bool now = l->fleet.now && (l->fleet.status == FLEET_STOP_REQUESTED || l->fleet.status == FLEET_STOPPING);

	if (l->state_away)
		top_line(o, "fleet", "?");
	else if (l->fleet.status == FLEET_RUNNING)
		top_line(o, "fleet", "%s", status_fleet(l));
	else
		top_line(o, "fleet", "%s%s, asked %s ago%s", status_fleet(l), now ? " at once" : "",
			 text_age(since(o, l->fleet_set_ms), age),
			 fleet_serves(l->fleet.status) ? "" : "; slurm-ec2 fleet start brings it back");
	if (l->frozen_until_ms > l->now_ms)
		top_line(o, "", "FROZEN for %s more: clustermgtd only watches", text_age(l->frozen_until_ms - l->now_ms, age));
}

static void put_daemon(struct out *o)
{
	const struct look *l = o->l;
	const struct source_row *f = look_source(l, "loop");
	char age[TEXT_AGE], loop[TEXT_AGE + 32] = "has not looked round yet";

	if (!l->has_daemon) {
		top_line(o, "clustermgtd", "?");
		return;
	}
	if (f && f->ok_ms)
		snprintf(loop, sizeof(loop), "loop ended %s ago", text_age(since(o, f->ok_ms), age));
	if (l->daemon)
		top_line(o, "clustermgtd", "runs (process %ld), %s%s", (long)l->daemon, loop,
			 status_loop_stale(l) ? "; too long: no node is launched until it has" : "");
	else
		top_line(o, "clustermgtd", "DOES NOT RUN, %s: nothing is repaired or launched; start it", loop);
}

/* What we heard ourselves. */
static void put_source(struct out *o, const char *label, const char *away)
{
	if (away)
		top_line(o, label, "CANNOT BE ASKED: %s", away);
	else
		top_line(o, label, "answers");
}

/* What clustermgtd cannot read: it decides nothing that needs it. */
static void put_degraded(struct out *o)
{
	if (o->l->disk_full)
		top_line(o, "DEGRADED", "no space is left in %s: nothing is launched until there is", PKGSTATEDIR);
	for (size_t i = 0; i < o->l->sources.n; i++) {
		const struct source_row *f = &o->l->sources.v[i];
		char age[TEXT_AGE];

		if (f->since_ms)
			top_line(o, "DEGRADED", "clustermgtd has not been able to read %s for %s: %s", f->name,
				 text_age(since(o, f->since_ms), age), f->error ? f->error : "no reason known");
	}
}

static void put_top(struct out *o)
{
	const struct generation *g = o->l->gen;

	top_line(o, "cluster", "%s in %s, Slurm %s, generation %" PRId64, g->cluster_name, g->region, g->slurm_version,
		 g->number);
	put_fleet(o);
	put_daemon(o);
	put_source(o, "slurmctld", o->l->slurm_away);
	put_source(o, "EC2", o->l->ec2_away);
	if (!o->l->ec2_away && !o->l->has_healths)
		top_line(o, "", "but not how its machines are (DescribeInstanceStatus)");
	if (o->l->state_away)
		top_line(o, "our state", "CANNOT BE READ: %s", o->l->state_away);
	put_degraded(o);
}

/* --- a line a resource */

static void cell(char out[16], const char *away, int n)
{
	if (away)
		memcpy(out, "?", 2);
	else
		snprintf(out, 16, "%d", n);
}

/* "queue/resource" in a column: the longer part loses more of itself. */
static void short_name(const char *queue, const char *resource, char out[ROW_NAME])
{
	size_t room = ROW_NAME - 2, nq = strlen(queue), nr = strlen(resource);
	char q[ROW_NAME], r[ROW_NAME];

	if (nq + nr > room) {
		nq = nr < room / 2 ? room - nr : nq < room / 2 ? nq : room / 2;
		nr = room - nq;
	}
	snprintf(out, ROW_NAME, "%s/%s", text_short(queue, nq, q), text_short(resource, nr, r));
}

static void put_row(struct out *o, const char *name, int nodes, const struct status_counts *c)
{
	const struct look *l = o->l;
	const int n[] = {nodes, c->off, c->waking, c->idle, c->busy, c->down, c->going, c->machines, c->launching};
	const char *const away[] = {NULL,	   l->slurm_away, l->slurm_away, l->slurm_away, l->slurm_away,
				    l->slurm_away, l->slurm_away, l->ec2_away,	 l->state_away};
	char text[9][16];

	for (size_t i = 0; i < 9; i++)
		cell(text[i], away[i], n[i]);
	buf_fmt(&o->b, "%-*s" ROW, ROW_NAME, name, text[0], text[1], text[2], text[3], text[4], text[5], text[6], text[7],
		text[8]);
}

/* Nothing to be seen there but nodes that are off. */
static bool quiet(const struct look *l, const struct status_counts *c, size_t i)
{
	return !(c->waking || c->idle || c->busy || c->down || c->going || c->machines || c->launching) &&
	       !(l->protection && l->protection[i].count);
}

static void add_counts(struct status_counts *to, const struct status_counts *c)
{
	to->off += c->off;
	to->waking += c->waking;
	to->idle += c->idle;
	to->busy += c->busy;
	to->down += c->down;
	to->going += c->going;
	to->machines += c->machines;
	to->launching += c->launching;
}

static void put_rows(struct out *o)
{
	const struct generation *g = o->l->gen;
	struct status_counts sum = {0};
	size_t folded = 0;
	int folded_nodes = 0, nodes = 0;

	buf_fmt(&o->b, "\n%-*s" ROW, ROW_NAME, "QUEUE/RESOURCE", "nodes", "off", "waking", "idle", "busy", "down", "going",
		"EC2", "asked");
	for (size_t i = 0; i < g->n_resources; i++) {
		const struct gen_resource *r = &g->resources[i];
		char name[ROW_NAME];

		nodes += r->max_count;
		add_counts(&sum, &o->s->counts[i]);
		if (!o->all && g->n_resources > FOLD_ABOVE && quiet(o->l, &o->s->counts[i], i)) {
			folded++;
			folded_nodes += r->max_count;
			continue;
		}
		short_name(r->queue, r->name, name);
		put_row(o, name, r->max_count, &o->s->counts[i]);
	}
	if (folded)
		buf_fmt(&o->b, "%zu more resources, %d nodes, %s\n", folded, folded_nodes,
			o->l->slurm_away ? "states not known" : "all off");
	if (g->n_resources > 1)
		put_row(o, "all", nodes, &sum);
	buf_str(&o->b, "off: powered down, waking: powering up, going: powering down, down: or drained,\n"
		       "EC2: machines there, asked: nodes that EC2 is being asked for\n");
}

/* --- powering up */

static bool same_group(const struct out *o, const struct status_waking *a, const struct status_waking *b)
{
	char x[TEXT_AGE], y[TEXT_AGE];

	return a->late == b->late && str_eq(a->stage, b->stage) && !a->since_ms == !b->since_ms &&
	       str_eq(text_age(since(o, a->since_ms) / 60000 * 60000, x), text_age(since(o, b->since_ms) / 60000 * 60000, y));
}

static void put_names(struct out *o, const char *const *names, size_t n, size_t at, size_t indent)
{
	char *text = nodeset_text_of(names, n);

	if (!text)
		o->b.failed = true;
	text_fold(&o->b, text, at, indent, o->all ? 0 : NAMES_LINES);
	free(text);
}

static void put_group(struct out *o, const struct status_waking *w, size_t n)
{
	const char **names = calloc(n + 1, sizeof(*names));
	char age[TEXT_AGE] = "age ?", left[64];
	int len;

	if (!names) {
		o->b.failed = true;
		return;
	}
	for (size_t i = 0; i < n; i++)
		names[i] = w[i].node->name;
	if (w->since_ms)
		text_age(since(o, w->since_ms), age);
	len = snprintf(left, sizeof(left), "%12s%5s%6zu  %-16s ", age, w->late ? " LATE" : "", n, w->stage);
	buf_str(&o->b, left);
	put_names(o, names, n, (size_t)len, 14);
	free(names);
}

static void put_waking(struct out *o)
{
	const struct status *s = o->s;
	char age[TEXT_AGE], title[160];
	size_t groups = 0, end;

	if (!s->n_waking)
		return;
	snprintf(title, sizeof(title), "POWERING UP: age, nodes, what they wait for (LATE: past ResumeTimeout, %s)",
		 text_age(o->l->gen->resume_timeout_s * 1000, age));
	heading(o, title);
	for (size_t i = 0; i < s->n_waking; i = end) {
		for (end = i + 1; end < s->n_waking && same_group(o, &s->waking[i], &s->waking[end]);)
			end++;
		if (groups++ >= LIST_MAX && !o->all) {
			buf_fmt(&o->b, "  ... and %zu younger nodes (--all shows them)\n", s->n_waking - i);
			return;
		}
		put_group(o, &s->waking[i], end - i);
	}
}

static void put_launches(struct out *o)
{
	const struct launches *l = &o->l->launches;
	char age[TEXT_AGE];

	if (l->n)
		heading(o, "LAUNCHES UNDER WAY");
	for (size_t i = 0; i < l->n && !enough(o, i, l->n); i++)
		line(o, 2, "%s/%s: %zu node%s, EC2 was %s %s ago%s%s (%s)", l->v[i].queue, l->v[i].resource, l->v[i].nodes.n,
		     l->v[i].nodes.n == 1 ? "" : "s", l->v[i].state == LAUNCH_INTENT ? "asked" : "heard",
		     text_age(since(o, l->v[i].created_ms), age), l->v[i].error ? ", " : "", l->v[i].error ? l->v[i].error : "",
		     l->v[i].id);
}

/* --- what EC2 is short of */

/* When it may be asked again, or how much of it. */
static void next_text(char *text, size_t size, const struct shortage *f, int64_t now_ms)
{
	int64_t allowed = capacity_allowed(f, now_ms);
	char age[TEXT_AGE];

	if (allowed == 0 && f->until_ms > now_ms)
		snprintf(text, size, "asked again in %s", text_age(f->until_ms - now_ms + 999, age));
	else if (allowed == 0)
		snprintf(text, size, "one machine is being tried");
	else if (allowed < 0)
		snprintf(text, size, "the next job tries one launch");
	else
		snprintf(text, size, "%" PRId64 " nodes may be asked for", allowed);
}

static void put_shortages(struct out *o)
{
	const struct shortages *l = &o->l->shortages;

	if (l->n)
		heading(o, "SHORT IN EC2: type, zone and market, with what EC2 said");
	for (size_t i = 0; i < l->n && !enough(o, i, l->n); i++) {
		const struct shortage *f = &l->v[i];
		bool any = str_eq(f->of.zone, ZONE_ANY);
		char age[TEXT_AGE], next[64], market[25], disabled[48] = "? nodes disabled";

		if (!o->l->slurm_away)
			snprintf(disabled, sizeof(disabled), "%d nodes disabled", status_disabled(o->s, &f->of));
		next_text(next, sizeof(next), f, o->l->now_ms);
		line(o, 2, "%s in %s, %s: %s", f->of.type,
		     any	   ? "every zone"
		     : *f->of.zone ? f->of.zone
				   : "a zone",
		     text_short(f->of.market, 24, market), f->code ? f->code : "refused");
		line(o, 4, "refused %s ago, %s; %s", text_age(since(o, f->failed_ms), age), next, disabled);
	}
}

/* --- machines that did not come up */

/* The newest failure of a resource, and how many nodes they are of. */
static const struct failure *newest(const struct look *l, const struct gen_resource *r, const char **names, size_t *n)
{
	const struct failure *last = NULL;
	struct nodeset *seen = nodeset_create();

	*n = 0;
	for (size_t i = 0; seen && i < l->failures.n; i++) {
		const struct failure *f = &l->failures.v[i];

		if (f->over || !str_eq(f->queue, r->queue) || !str_eq(f->resource, r->name))
			continue;
		last = f;
		if (f->node && nodeset_add(seen, f->node) > 0)
			names[(*n)++] = f->node;
	}
	nodeset_destroy(seen);
	return last;
}

static bool has_console(const struct look *l, const char *node)
{
	for (size_t i = 0; i < l->consoles.n; i++)
		if (look_console_of(l->consoles.v[i], node))
			return true;
	return false;
}

/* The node that tells most: the newest one whose console output was saved, else the newest. */
static const char *telling(const struct look *l, const struct gen_resource *r, const struct failure *last)
{
	for (size_t i = l->failures.n; i-- > 0;) {
		const struct failure *f = &l->failures.v[i];

		if (!f->over && f->node && str_eq(f->queue, r->queue) && str_eq(f->resource, r->name) && has_console(l, f->node))
			return f->node;
	}
	return last ? last->node : NULL;
}

static void put_protected(struct out *o, const struct protection *p)
{
	char age[TEXT_AGE];
	bool timed = p->until_ms > o->l->now_ms;

	line(o, 4, "PROTECTED: nothing is launched here. Mend the cause, then slurm-ec2 fleet start%s%s.",
	     timed ? "; over by itself in " : "", timed ? text_age(p->until_ms - o->l->now_ms, age) : "");
}

static void put_failures_of(struct out *o, size_t resource, const char **names)
{
	const struct gen_resource *r = &o->l->gen->resources[resource];
	const struct protection *p = &o->l->protection[resource];
	const struct failure *last;
	char age[TEXT_AGE];
	size_t n;

	last = newest(o->l, r, names, &n);
	if (!last && !p->on)
		return;
	line(o, 2, "%s/%s: %" PRId64 " machine%s%s%s%s%s%s", r->queue, r->name, p->count, p->count == 1 ? "" : "s",
	     last ? ", the last " : "", last ? text_age(since(o, last->time_ms), age) : "", last ? " ago (" : "",
	     last && last->code ? last->code : "", last ? ")" : "");
	if (n) {
		buf_fmt(&o->b, "    ");
		put_names(o, names, n, 4, 6);
	}
	if (p->on)
		put_protected(o, p);
	if (telling(o->l, r, last))
		line(o, 4, "why: slurm-ec2 explain node %s", telling(o->l, r, last));
}

static void put_failures(struct out *o)
{
	const struct look *l = o->l;
	const char **names;
	char age[TEXT_AGE], title[128];
	bool any = false;

	for (size_t i = 0; i < l->gen->n_resources; i++)
		any = any || l->protection[i].on || l->protection[i].count;
	if (!any)
		return;
	names = calloc(l->failures.n + 1, sizeof(*names));
	if (!names) {
		o->b.failed = true;
		return;
	}
	snprintf(title, sizeof(title), "MACHINES THAT DID NOT COME UP in the last %s",
		 text_age(l->rules.protect.window_ms, age));
	heading(o, title);
	for (size_t i = 0; i < l->gen->n_resources; i++)
		put_failures_of(o, i, names);
	free(names);
}

/* --- machines that are not as they should be */

static void put_orphans(struct out *o)
{
	const struct status *s = o->s;

	if (s->n_orphans)
		heading(o, "MACHINES WITHOUT A NODE: they cost money, nothing runs on them");
	for (size_t i = 0; i < s->n_orphans && !enough(o, i, s->n_orphans); i++) {
		const struct instance *m = s->orphans[i].machine;
		char age[TEXT_AGE];

		line(o, 2, "%s %s, %s old: %s", m->id, instance_state_text(m->state),
		     m->launch_time_ms ? text_age(since(o, m->launch_time_ms), age) : "?", s->orphans[i].next);
	}
}

static void put_unwell_machine(struct out *o, const struct health *h)
{
	const struct binding *b = look_row_of(o->l, h->instance);
	char age[TEXT_AGE];

	if (h->instance_impaired || h->system_impaired)
		line(o, 2, "%s (%s): %s status check fails%s%s", h->instance, b ? b->node : "no node",
		     !h->system_impaired     ? "instance"
		     : !h->instance_impaired ? "system"
					     : "system and instance",
		     h->impaired_since_ms ? " for " : "",
		     h->impaired_since_ms ? text_age(since(o, h->impaired_since_ms), age) : "");
	if (h->event)
		line(o, 2, "%s (%s): %s%s%s%s%s", h->instance, b ? b->node : "no node", h->event, h->event_ms ? " in " : "",
		     h->event_ms ? text_age(h->event_ms - o->l->now_ms, age) : "", h->event_text ? ": " : "",
		     h->event_text ? h->event_text : "");
}

/* EC2 tells of the whole account; others' machines are not our matter. */
static void put_unwell(struct out *o)
{
	const struct healths *l = &o->l->healths;
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct instance *m = look_instance(o->l, l->v[i].instance);

		if (!m || !instance_alive(m->state))
			continue;
		if (n++ == 0)
			heading(o, "MACHINES THAT ARE NOT WELL, as EC2 says");
		put_unwell_machine(o, &l->v[i]);
	}
}

static void put_brake(struct out *o)
{
	if (!o->l->held)
		return;
	heading(o, "HELD BACK");
	line(o, 2,
	     "clustermgtd would end %zu of %zu machines in use at once, and looks again before it does. See "
	     "clustermgtd --dry-run; slurm-ec2 fleet confirm lets it go on now.",
	     o->l->held, o->l->in_use);
}

static void put_violations(struct out *o)
{
	const struct violations *l = &o->l->violations;

	if (l->n)
		heading(o, "NOT AS IT SHOULD BE");
	for (size_t i = 0; i < l->n && !enough(o, i, l->n); i++)
		line(o, 2, "%s: %s", l->v[i].code, l->v[i].text ? l->v[i].text : "");
}

/* Slurm's own fault, which nothing of ours can mend: a node was lost, and the job does not fit any node any more. */
static void put_stuck_jobs(struct out *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->l->jobs.n; i++) {
		const struct slurmctl_job_info *j = &o->l->jobs.v[i];

		if (!status_job_stuck(j))
			continue;
		if (n++ == 0)
			heading(o, "JOBS PUT ASIDE BY SLURM (BadConstraints after a requeue)");
		line(o, 2, "job %" PRId64 " in %s: scontrol release %" PRId64 " tries it again", j->id,
		     j->partition ? j->partition : "?", j->id);
	}
	if (n)
		line(
		    o, 2,
		    "Slurm does this to jobs with --exclusive while memory is scheduled (EnableMemoryBasedScheduling). With -N "
		    "and -c in the place of --exclusive it does not.");
}

static void put_machines(struct out *o)
{
	const struct instances *l = &o->l->instances;
	size_t n = 0;

	if (o->l->ec2_away)
		return;
	for (size_t i = 0; i < l->n; i++) {
		const struct instance *m = &l->v[i];
		const struct binding *b = look_row_of(o->l, m->id);
		char type[17], node[31];

		if (!instance_alive(m->state))
			continue;
		if (n++ == 0)
			heading(o, "MACHINES");
		buf_fmt(&o->b, "%-19s %-10s %-16s %s\n", m->id, instance_state_text(m->state),
			text_short(m->type ? m->type : "?", 16, type),
			text_short(b		      ? b->node
				   : o->l->state_away ? "?"
						      : "no node",
				   30, node));
	}
}

char *status_text(const struct status *s, const struct status_show *show)
{
	struct out o = {.s = s, .l = &s->look, .all = show->all};

	put_top(&o);
	put_rows(&o);
	put_waking(&o);
	put_launches(&o);
	put_shortages(&o);
	put_failures(&o);
	put_brake(&o);
	put_orphans(&o);
	put_unwell(&o);
	put_violations(&o);
	put_stuck_jobs(&o);
	if (show->machines || show->all)
		put_machines(&o);
	return buf_take(&o.b);
}
