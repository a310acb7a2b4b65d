/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_rules_text.c - the table of node_rules.c for people: `clustermgtd --explain`, and the part of its manual page that a test
 * compares with it. */
#include "lib/plan/node_rules.h"

#include "lib/base/buf.h"

#include <string.h>

#define WIDTH 110
#define MARGIN 14 /* of what stands beside a word like "machine" */

struct word {
	unsigned bits;
	const char *text;
};

/* Wider groups first: each takes its bits away. */
static const struct word machines[] = {
	{ MACHINE_BOUND, "any (bound)" },
	{ MACHINE_ALIVE, "alive (pending to stopped)" },
	{ MACHINE_ON, "on (pending, running, event or impaired)" },
	{ MACHINE_GONE, "gone (shutting-down, terminated, unlisted)" },
	{ MACHINE_WELL, "pending or running" },
	{ MACHINE_HALTED, "stopping or stopped" },
	{ MACHINE_NONE, "none" },
	{ MACHINE_CLAIMED, "claimed by a launch" },
	{ MACHINE_PENDING, "pending" },
	{ MACHINE_RUNNING, "running" },
	{ MACHINE_EVENT, "event" },
	{ MACHINE_IMPAIRED, "impaired" },
	{ MACHINE_UNSURE, "unsure" },
};

static const struct word kinds[] = {
	{ KIND_DYNAMIC, "dynamic" },
	{ KIND_STATIC, "static" },
	{ KIND_SPARE, "static, not to be kept up" },
};

static const struct word whys[] = {
	{ WHY_AUTOMATIC, "Slurm's own, ours or none" },
	{ WHY_CODED, "ours, (Code:...)" },
	{ WHY_NO_LAUNCH, "\"(Code:...)Failure when resuming nodes\"" },
	{ WHY_DISABLED, "ours, for lack of capacity" },
	{ WHY_PROTECTED, "ours, for failed boots" },
	{ WHY_DRAINED, "ours, for its machine's health" },
	{ WHY_INVALID, "Slurm's, of hardware that is not as in slurm.conf" },
	{ WHY_PERSON, "a person's" },
};

static const struct word whens[] = {
	{ WHEN_EC2_READ, "EC2 was read" },
	{ WHEN_OPEN, "EC2 may be asked for its compute resource" },
	{ WHEN_CLOSED, "EC2 is short of its compute resource" },
	{ WHEN_PROTECTED, "it, or its compute resource, failed to boot too often" },
	{ WHEN_SERVES, "the fleet is not stopped" },
	{ WHEN_BACKOFF, "its launch just failed" },
	{ WHEN_OLD_SLURM, "Slurm is older than 22.05.6" },
	{ WHEN_SETTING_UP, "its machine came after the reason, less than ResumeTimeout ago" },
	{ WHEN_REQUEUED, "the reason is 20 s old" },
	{ WHEN_DOWN_LONG, "the reason is older than OrphanGrace" },
	{ WHEN_CHECKED, "EC2's checks were read and say nothing of the machine" },
	{ WHEN_BLOCK, "our own reservation keeps it for a capacity block" },
};

static const struct word acts[] = {
	{ DO_COUNT, "count a failed boot, if it never served" },
	{ DO_DOWN, "set DOWN" },
	{ DO_DRAIN, "drain" },
	{ DO_RESUME, "resume" },
	{ DO_CLEAN, "end the machine and forget it" },
	{ DO_POWER_DOWN, "power down by force" },
	{ DO_POWER_UP, "power up" },
};

static const char *const watches[] = { NULL, "seen for OrphanGrace", "seen for ResumeTimeout and OrphanGrace",
				       "seen for less than ResumeTimeout and OrphanGrace" };

#define LIST(l) l, sizeof(l) / sizeof(l[0])

static void add_word(struct buf *b, const char *between, const char *text)
{
	if (b->n)
		buf_str(b, between);
	buf_str(b, text);
}

static void add_words(struct buf *b, const struct word *l, size_t n, unsigned bits, const char *between, const char *before)
{
	for (size_t i = 0; i < n; i++) {
		if ((bits & l[i].bits) != l[i].bits)
			continue;
		add_word(b, between, before);
		buf_str(b, l[i].text);
		bits &= ~l[i].bits;
	}
}

/* "DRAIN, FAIL" */
static void add_flags(struct buf *b, uint32_t flags, const char *between)
{
	bool first = true;

	for (uint32_t bit = 1u << 4; bit; bit <<= 1) {
		if (!(flags & bit) || !node_flag_text(bit))
			continue;
		buf_fmt(b, "%s%s", first ? "" : between, node_flag_text(bit));
		first = false;
	}
}

static void add_bases(struct buf *b, unsigned bases)
{
	if (!bases || bases == BASE_ANY) {
		buf_str(b, "any state");
		return;
	}
	if (bases == BASE_UP) {
		buf_str(b, "any state but DOWN");
		return;
	}
	for (uint32_t i = 0, n = 0; i <= NS_BASE; i++)
		if (bases & BASE(i) && node_base_text(i))
			buf_fmt(b, "%s%s", n++ ? " or " : "", node_base_text(i));
}

static void add_state(struct buf *b, const struct node_rule *r)
{
	add_bases(b, r->bases);
	if (r->required) {
		buf_str(b, " with ");
		add_flags(b, r->required, ", ");
	}
	if (r->any) {
		buf_str(b, r->required ? ", and " : " with ");
		add_flags(b, r->any, " or ");
	}
	if (r->forbidden) {
		buf_str(b, "; not ");
		add_flags(b, r->forbidden, ", ");
	}
}

static void add_when(struct buf *b, const struct node_rule *r)
{
	add_words(b, LIST(kinds), r->kinds, "; ", "node: ");
	add_words(b, LIST(whys), r->why, "; ", "Reason: ");
	add_words(b, LIST(whens), r->when, "; ", "");
	add_words(b, LIST(whens), r->unless, "; ", "not so: ");
	if (watches[r->watch])
		add_word(b, "; ", watches[r->watch]);
}

static void add_acts(struct buf *b, const struct node_rule *r)
{
	add_words(b, LIST(acts), r->acts, ", ", "");
	if (!r->acts)
		buf_str(b, "nothing");
}

/* At the width of a page, broken at blanks. */
static void wrap(struct buf *b, const char *label, const char *text)
{
	size_t col = MARGIN;

	buf_fmt(b, "    %-*s", MARGIN - 4, label);
	while (*text) {
		size_t n = strcspn(text, " ");

		if (col > MARGIN && col + 1 + n > WIDTH) {
			buf_fmt(b, "\n%*s", MARGIN, "");
			col = MARGIN;
		} else if (col > MARGIN) {
			buf_char(b, ' ');
			col++;
		}
		buf_fmt(b, "%.*s", (int)n, text);
		col += n;
		text += n + (text[n] == ' ');
	}
	buf_char(b, '\n');
}

/* How one row is written down. */
struct form {
	void (*head)(struct buf *b, size_t number, const char *code, const char *acts);
	void (*line)(struct buf *b, const char *label, const char *text);
};

static void add_line(struct buf *out, const struct form *f, const char *label, struct buf *text)
{
	if (text->failed)
		out->failed = true;
	else if (text->n)
		f->line(out, label, buf_text(text));
	buf_free(text);
}

static void add_rule(struct buf *out, const struct form *f, size_t i)
{
	const struct node_rule *r = &node_rules[i];
	struct buf b = { 0 };

	add_acts(&b, r);
	if (b.failed)
		out->failed = true;
	else
		f->head(out, i + 1, r->code, buf_text(&b));
	buf_free(&b);
	f->line(out, "why", r->because);
	add_state(&b, r);
	add_line(out, f, "state", &b);
	add_words(&b, LIST(machines), r->machine, ", ", "");
	add_line(out, f, "machine", &b);
	add_when(&b, r);
	add_line(out, f, "only if", &b);
}

static void add_never(struct buf *out, const struct form *f, const struct node_never *n)
{
	struct buf b = { 0 };

	if (n->bases == (BASE_ANY & ~0x7fu))
		buf_str(&b, "base states 7 to 15");
	else
		add_bases(&b, n->bases);
	if (n->required) {
		buf_str(&b, " with ");
		add_flags(&b, n->required, " and ");
	}
	buf_fmt(&b, ": %s", n->because);
	add_line(out, f, "never", &b);
}

static void plain_head(struct buf *b, size_t number, const char *code, const char *what)
{
	buf_fmt(b, "%2zu  %-24s%s\n", number, code, what);
}

char *node_rules_text(void)
{
	static const struct form plain = { plain_head, wrap };
	struct buf b = { 0 };

	buf_str(&b, "What clustermgtd does about a node. The first row that fits decides; \"nothing\" leaves it as it is.\n\n");
	for (size_t i = 0; i < node_rules_n; i++) {
		add_rule(&b, &plain, i);
		buf_char(&b, '\n');
	}
	buf_str(&b, "What Slurm cannot show; such a node is left alone, and it is said:\n\n");
	for (size_t i = 0; i < node_nevers_n; i++)
		add_never(&b, &plain, &node_nevers[i]);
	return buf_take(&b);
}

/* ---- as a page of the manual */

/* A dash is a minus in options and flags only; a line must not begin with a quote or a dot. */
static void page_text(struct buf *b, const char *text)
{
	for (; *text; text++) {
		if (*text == '-')
			buf_str(b, "\\-");
		else if (*text == '"')
			buf_str(b, "\\(dq");
		else if (*text == '~')
			buf_str(b, "\\(ti");
		else
			buf_char(b, *text);
	}
}

static void page_head(struct buf *b, size_t number, const char *code, const char *what)
{
	buf_fmt(b, ".TP\n%zu. \\fB", number);
	page_text(b, code);
	buf_str(b, "\\fR: ");
	page_text(b, what);
	buf_char(b, '\n');
}

static void page_line(struct buf *b, const char *label, const char *text)
{
	if (!strcmp(label, "why")) {
		page_text(b, text);
		buf_str(b, ".\n");
		return;
	}
	buf_fmt(b, ".br\n\\fI%s\\fR: ", label);
	page_text(b, text);
	buf_char(b, '\n');
}

char *node_rules_page(void)
{
	static const struct form page = { page_head, page_line };
	struct buf b = { 0 };

	for (size_t i = 0; i < node_rules_n; i++)
		add_rule(&b, &page, i);
	buf_str(&b, ".PP\nWhat Slurm cannot show; such a node is left alone, and it is said:\n");
	for (size_t i = 0; i < node_nevers_n; i++)
		add_never(&b, &page, &node_nevers[i]);
	return buf_take(&b);
}
