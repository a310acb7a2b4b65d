/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_conf.c - edits of the site's slurm.conf and gres.conf, as text.
 *
 * Called by apply and uninstall. Adds only what is marked and removes only what is marked; refuses to touch files that
 * slurm.conf includes.
 */
#include "conf/slurm_conf.h"

#include "conf/site.h"
#include "lib/base/buf.h"
#include "lib/base/problem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- comma lists with brackets */

/* Length of the element at s: up to a comma outside brackets. */
static size_t element_len(const char *s)
{
	size_t n = 0;
	int depth = 0;

	for (; s[n]; n++) {
		if (s[n] == '[')
			depth++;
		else if (s[n] == ']' && depth > 0)
			depth--;
		else if (s[n] == ',' && depth == 0)
			break;
	}
	return n;
}

static const char *element_next(const char *s, size_t n)
{
	return s[n] == ',' ? s + n + 1 : s + n;
}

static size_t name_len(const char *s, size_t n)
{
	const char *eq = memchr(s, '=', n);

	return eq ? (size_t)(eq - s) : n;
}

static bool list_has_name(const char *list, const char *s, size_t n)
{
	size_t want = name_len(s, n), len;

	for (; *list; list = element_next(list, len)) {
		len = element_len(list);
		if (name_len(list, len) == want && strncasecmp(list, s, want) == 0)
			return true;
	}
	return false;
}

static bool list_has_exactly(const char *list, const char *s, size_t n)
{
	size_t len;

	for (; *list; list = element_next(list, len)) {
		len = element_len(list);
		if (len == n && strncmp(list, s, n) == 0)
			return true;
	}
	return false;
}

static void append_element(struct buf *b, const char *s, size_t n)
{
	if (b->n > 0)
		buf_char(b, ',');
	buf_add(b, s, n);
}

static char *take_text(struct buf *b)
{
	if (b->n == 0 && !buf_failed(b)) {
		buf_free(b);
		return str_dup("");
	}
	return buf_take(b);
}

char *comma_list_missing(const char *have, const char *want)
{
	struct buf b = { 0 };
	size_t len;

	for (; *want; want = element_next(want, len)) {
		len = element_len(want);
		if (len > 0 && !list_has_name(have, want, len))
			append_element(&b, want, len);
	}
	return take_text(&b);
}

/* `list` (n bytes) without the elements that stand in `gone`. */
static char *comma_list_without(const char *list, size_t n, const char *gone)
{
	struct buf b = { 0 };
	char *copy = strndup(list, n);
	size_t len;

	if (!copy)
		return NULL;
	for (const char *s = copy; *s; s = element_next(s, len)) {
		len = element_len(s);
		if (len > 0 && !list_has_exactly(gone, s, len))
			append_element(&b, s, len);
	}
	free(copy);
	return take_text(&b);
}

/* --- taking out */

static size_t line_len(const char *s)
{
	const char *end = strchr(s, '\n');

	return end ? (size_t)(end - s) + 1 : strlen(s);
}

/* Where the added values stand as we left them, at the end of some value of the line. NULL = somebody changed them. */
static const char *added_at(const char *line, const char *gone)
{
	size_t n = strlen(gone);

	for (const char *s = line; n && (s = strstr(s, gone)); s++) {
		if (s > line && strchr(",=\" \t", s[-1]) && strchr(" \t\r\n\"'#\\", s[n]))
			return s;
	}
	return NULL;
}

/* The line without those of the values that its first key still has. */
static void put_line_edited(struct buf *out, const char *line, const char *gone)
{
	const char *eq = strchr(line, '=');
	size_t from, to;
	char *left;

	if (!eq) {
		buf_str(out, line);
		return;
	}
	from = (size_t)(eq - line) + 1;
	from += strspn(line + from, " \t\"");
	to = from + strcspn(line + from, " \t\"#\r\n");
	left = comma_list_without(line + from, to - from, gone);
	if (!left) {
		out->failed = true;
		return;
	}
	buf_add(out, line, from);
	buf_str(out, left);
	buf_str(out, line + to);
	free(left);
}

/* The line of a merged key, without the values that we added; NULL on no memory. Caller frees. */
static char *line_without(const char *line, const char *gone)
{
	const char *at = added_at(line, gone);
	struct buf out = { 0 };

	if (at) {
		buf_add(&out, line, (size_t)(at - line) - (at[-1] == ','));
		buf_str(&out, at + strlen(gone));
	} else {
		put_line_edited(&out, line, gone);
	}
	return take_text(&out);
}

/* The text after the mark on a "we added" line; caller frees. */
static char *added_values(const char *line, size_t n)
{
	size_t skip = strlen(SITE_ADDED);

	while (n > skip && (line[n - 1] == '\n' || line[n - 1] == '\r' || line[n - 1] == ' '))
		n--;
	return strndup(line + skip, n - skip);
}

static bool line_blank(const char *s)
{
	s += strspn(s, " \t\r");
	return !*s || *s == '\n';
}

/* A line that we write between our marks. */
static bool line_ours(const char *s)
{
	static const char *const names[] = { SITE_INCLUDE, SITE_GRES_INCLUDE };

	if (strncasecmp(s, "Include ", 8) != 0)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (str_prefix(s + 8, names[i]) && line_blank(s + 8 + strlen(names[i])))
			return true;
	}
	return false;
}

/* Behind our block at s. Without an end mark it ends with our own line; a line of somebody else is kept in any case. */
static const char *skip_block(struct buf *kept, const char *s)
{
	const char *end = s;

	while (*end && !str_prefix(end, SITE_END))
		end += line_len(end);
	for (s += line_len(s); *s && s != end; s += line_len(s)) {
		if (line_ours(s) || (*end && line_blank(s)))
			continue;
		if (!*end)
			return s;
		buf_add(kept, s, line_len(s));
	}
	return s == end ? s + line_len(s) : s;
}

/* Take our block at s out: *out loses the line end that we added before it, unless somebody added lines in it or behind us. */
static const char *take_block_out(struct buf *out, const char *s)
{
	const char *note = strstr(s, SITE_OPEN_LINE), *after;
	bool added = note && note < s + line_len(s);
	struct buf kept = { 0 };

	after = skip_block(&kept, s);
	if (added && !*after && !kept.n && out->n > 0 && out->v && out->v[out->n - 1] == '\n')
		out->v[--out->n] = 0;
	if (buf_failed(&kept))
		out->failed = true;
	buf_add(out, kept.v, kept.n);
	buf_free(&kept);
	return after;
}

/* Marks at s, one for each key of the line below that we added to, and that line. */
static const char *take_marks_out(struct buf *out, const char *s)
{
	struct strs gone = { 0 };
	size_t n;
	char *line;

	for (; str_prefix(s, SITE_ADDED); s += n) {
		n = line_len(s);
		if (strs_take(&gone, added_values(s, n)))
			out->failed = true;
	}
	n = line_len(s);
	line = strndup(s, n);
	for (size_t i = 0; line && i < gone.n; i++) {
		char *less = line_without(line, gone.v[i]);

		free(line);
		line = less;
	}
	if (line)
		buf_str(out, line);
	else
		out->failed = true;
	free(line);
	strs_clear(&gone);
	return s + n;
}

char *slurmconf_unmerge(const char *text)
{
	struct buf out = { 0 };
	const char *s = text;

	while (*s) {
		size_t n = line_len(s);

		if (str_prefix(s, SITE_BEGIN)) {
			s = take_block_out(&out, s);
		} else if (str_prefix(s, SITE_ADDED)) {
			s = take_marks_out(&out, s);
		} else {
			buf_add(&out, s, n);
			s += n;
		}
	}
	return take_text(&out);
}

/* --- are the marks whole? */

static void mark_problem(struct problems *p, const char *path, int line, const char *text)
{
	problems_add(p, PROBLEM_ERROR, path, line, 0, NULL, "%s", text);
}

void slurmconf_check_marks(const char *path, const char *text, struct problems *p)
{
	int open = 0; /* line of the mark that waits for its end */
	int n = 1;

	for (const char *s = text; *s; s += line_len(s), n++) {
		if (str_prefix(s, SITE_BEGIN)) {
			if (open)
				break;
			open = n;
		} else if (str_prefix(s, SITE_END)) {
			if (!open)
				mark_problem(p, path, n,
					     "no line \"" SITE_BEGIN "\" stands before this \"" SITE_END
					     "\": put it back, above our Include, or take this line and our Include out");
			open = 0;
		} else if (open && !line_ours(s) && !line_blank(s)) {
			if (!strstr(s, "\n" SITE_END) && !str_prefix(s, SITE_END))
				break; /* the mark that is missing is the one thing to tell */
			problems_add(p, PROBLEM_ERROR, path, n, 0, NULL,
				     "\"%.*s\" stands between the marks of slurm-ec2 but is not ours: move it above \"" SITE_BEGIN
				     "\" (line %d)",
				     (int)strcspn(s, "\r\n"), s, open);
		}
	}
	if (open)
		mark_problem(p, path, open,
			     "no line \"" SITE_END "\" follows this one: put it back, right below the line \"Include slurm-ec2...\"");
}

/* --- putting in */

static void put_block(struct buf *out, const char *include)
{
	bool open = out->n > 0 && out->v && out->v[out->n - 1] != '\n';

	if (open)
		buf_char(out, '\n');
	buf_fmt(out,
		SITE_BEGIN " (slurm-ec2 apply writes these lines, slurm-ec2 uninstall takes them out%s)\n"
			   "Include %s\n" SITE_END "\n",
		open ? SITE_OPEN_LINE : "", include);
}

struct edit {
	const struct site_key *key;
	char *add;
};

/* What to add for one merged key, or NULL in ->add when nothing is missing. -1 = a problem. */
static int edit_prepare(const struct site *site, const char *key, const char *want, struct edit *out, struct problems *p)
{
	const struct site_key *k = site_find(site, key);

	*out = (struct edit){ .key = k };
	if (!k)
		return 0;
	out->add = comma_list_missing(k->value, want);
	if (!out->add) {
		p->nomem = true;
		return -1;
	}
	if (!out->add[0]) {
		free(out->add);
		out->add = NULL;
	} else if (k->file != 0 || memchr(site->file[0].text + k->off, '\n', k->len)) {
		problems_add(p, PROBLEM_ERROR, site_path(site, k), k->line, 0, k->name,
			     "%s must be in this list too: add it here, slurm-ec2 changes %s only", out->add,
			     site->file[0].path);
		free(out->add);
		out->add = NULL;
		return -1;
	}
	return 0;
}

static size_t line_start(const char *text, size_t at)
{
	while (at > 0 && text[at - 1] != '\n')
		at--;
	return at;
}

/* Apply one edit to a text: the mark above the line, the values at the value's end. */
static char *edit_apply(const char *text, const struct edit *d)
{
	struct buf b = { 0 };
	size_t start = line_start(text, d->key->off), end = d->key->off + d->key->len;

	buf_add(&b, text, start);
	buf_fmt(&b, SITE_ADDED "%s\n", d->add);
	buf_add(&b, text + start, end - start);
	if (d->key->len > 0)
		buf_char(&b, ',');
	buf_str(&b, d->add);
	buf_str(&b, text + end);
	return buf_take(&b);
}

/* Merge one key into *text, whose site view is made anew as offsets move. `whole` knows the included files. */
static int merge_key(char **text, const struct site *whole, const char *key, const char *want, struct problems *p)
{
	struct site one = { 0 };
	const struct site *view = &one;
	struct edit d = { 0 };
	char *next;
	int rc = -1;

	if (site_add(&one, whole->file[0].path, *text)) {
		p->nomem = true;
		goto out;
	}
	if (!site_find(&one, key))
		view = whole; /* it stands in an included file */
	rc = edit_prepare(view, key, want, &d, p);
	if (rc || !d.add)
		goto out;
	next = edit_apply(*text, &d);
	if (!next) {
		p->nomem = true;
		rc = -1;
		goto out;
	}
	free(*text);
	*text = next;
out:
	free(d.add);
	site_clear(&one);
	return rc;
}

static char *with_block(char *text, const char *include)
{
	struct buf b = { 0 };

	buf_str(&b, text);
	put_block(&b, include);
	free(text);
	return buf_take(&b);
}

char *slurmconf_merge(const struct site *site, const struct kvs *merged, struct problems *p)
{
	size_t errors = problems_count(p, PROBLEM_ERROR);
	bool bad = false;
	char *text;

	slurmconf_check_marks(site->file[0].path, site->file[0].text, p);
	if (problems_count(p, PROBLEM_ERROR) > errors)
		return NULL;
	text = slurmconf_unmerge(site->file[0].text);
	if (!text) {
		p->nomem = true;
		return NULL;
	}
	for (size_t i = 0; i < merged->key.n; i++) {
		if (merge_key(&text, site, merged->key.v[i], merged->val.v[i], p))
			bad = true;
	}
	if (bad) {
		free(text);
		return NULL;
	}
	text = with_block(text, SITE_INCLUDE);
	if (!text)
		p->nomem = true;
	return text;
}

char *gres_conf_merge(const char *text)
{
	char *clean = slurmconf_unmerge(text ? text : "");

	return clean ? with_block(clean, SITE_GRES_INCLUDE) : NULL;
}
