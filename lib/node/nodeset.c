/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nodeset.c - an ordered set of names with its hostlist text, for code that must not link libslurm.
 *
 * A list keeps the order, an open-addressed table of list positions answers "is it there". Names only grow; a parse that
 * fails takes its own names back out. It knows nothing of queues: name.c does.
 */
#include "lib/node/nodeset.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/num.h"
#include "lib/base/str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RANGE_MAX 65536  /* names in one range: slurmctld's own limit */
#define DIGITS_MAX 18    /* fits int64_t; longer digit tails are text */
#define TABLE_FIRST 64   /* slots, a power of two */

struct nodeset {
	struct strs names;
	struct slot {
		uint32_t at;    /* position + 1, 0 = empty */
		uint32_t hash;
	} *table;
	size_t slots;           /* power of two, more than half empty */
};

struct nodeset *nodeset_create(void)
{
	struct nodeset *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->table = calloc(TABLE_FIRST, sizeof(*s->table));
	if (!s->table) {
		free(s);
		return NULL;
	}
	s->slots = TABLE_FIRST;
	return s;
}

void nodeset_destroy(struct nodeset *s)
{
	if (!s)
		return;
	strs_clear(&s->names);
	free(s->table);
	free(s);
}

/* The slot of name, or the empty one where it would go. */
static struct slot *slot_of(const struct nodeset *s, const char *name, uint32_t hash)
{
	size_t i = hash & (s->slots - 1);

	while (s->table[i].at && (s->table[i].hash != hash || strcmp(s->names.v[s->table[i].at - 1], name)))
		i = (i + 1) & (s->slots - 1);
	return &s->table[i];
}

static void fill_table(struct nodeset *s)
{
	memset(s->table, 0, s->slots * sizeof(*s->table));
	for (size_t i = 0; i < s->names.n; i++) {
		uint32_t hash = str_hash(s->names.v[i]);

		*slot_of(s, s->names.v[i], hash) = (struct slot){ (uint32_t)i + 1, hash };
	}
}

static int grow_table(struct nodeset *s)
{
	size_t slots = s->slots * 2;
	struct slot *table;

	if ((s->names.n + 1) * 2 <= s->slots)
		return 0;
	table = s->names.n < UINT32_MAX / 2 ? calloc(slots, sizeof(*table)) : NULL;
	if (!table)
		return -1;
	for (size_t i = 0; i < s->slots; i++) {
		size_t to = s->table[i].hash & (slots - 1);

		if (!s->table[i].at)
			continue;
		while (table[to].at)
			to = (to + 1) & (slots - 1);
		table[to] = s->table[i];
	}
	free(s->table);
	s->table = table;
	s->slots = slots;
	return 0;
}

int nodeset_add(struct nodeset *s, const char *name)
{
	uint32_t hash = str_hash(name);
	struct slot *slot;

	if (grow_table(s))
		return -1;
	slot = slot_of(s, name, hash);
	if (slot->at)
		return 0;
	if (strs_add(&s->names, name))
		return -1;
	*slot = (struct slot){ (uint32_t)s->names.n, hash };
	return 1;
}

size_t nodeset_index(const struct nodeset *s, const char *name)
{
	size_t at = slot_of(s, name, str_hash(name))->at;

	return at ? at - 1 : SIZE_MAX;
}

bool nodeset_has(const struct nodeset *s, const char *name)
{
	return nodeset_index(s, name) != SIZE_MAX;
}

size_t nodeset_count(const struct nodeset *s)
{
	return s->names.n;
}

const char *nodeset_get(const struct nodeset *s, size_t i)
{
	return i < s->names.n ? s->names.v[i] : NULL;
}

static void cut_back(struct nodeset *s, size_t n)
{
	while (s->names.n > n)
		free(s->names.v[--s->names.n]);
	fill_table(s);
}

/* --- text to names */

struct part {
	const char *text;   /* the whole part, for messages */
	int len;
	const char *open;   /* its '[' or NULL */
	const char *close;
};

static int bad_part(const struct part *p, struct err *e, const char *why)
{
	return err_set(e, "host list part \"%.*s\": %s", p->len > 200 ? 200 : p->len, p->text, why);
}

/* One part up to a comma outside brackets. */
static int part_scan(const char *text, struct part *p, struct err *e)
{
	const char *s;

	*p = (struct part){ .text = text };
	for (s = text; *s && (*s != ',' || (p->open && !p->close)); s++) {
		p->len = (int)(s - text) + 1;
		if ((unsigned char)*s <= ' ' || *s == 0x7f)
			return bad_part(p, e, "a blank or control character");
		if ((*s == '[' && p->open) || (*s == ']' && (!p->open || p->close)))
			return bad_part(p, e, *s == '[' ? "more than one bracket" : "\"]\" without \"[\"");
		if (*s == '[')
			p->open = s;
		else if (*s == ']')
			p->close = s;
	}
	if (!p->len)
		return err_set(e, "host list \"%.200s\" has an empty part", text);
	if (p->open && !p->close)
		return bad_part(p, e, "\"[\" without \"]\"");
	return 0;
}

static int number_text(const struct part *p, const char *from, size_t n, char out[DIGITS_MAX + 1], struct err *e)
{
	if (!n || n > DIGITS_MAX || strspn(from, "0123456789") < n)
		return bad_part(p, e, "not a number or a range of numbers in brackets");
	memcpy(out, from, n);
	out[n] = '\0';
	return 0;
}

/* Leading zeros are the width, not the value: num.h refuses them, so they are skipped here. */
static int64_t number_value(const char *digits)
{
	int64_t v = 0;

	digits += strspn(digits, "0");
	if (*digits)
		num_i64(digits, 0, INT64_MAX, &v, NULL);
	return v;
}

/* By hand: a list of 10 000 names is read at each resume. */
static void add_number(struct buf *name, int width, int64_t v)
{
	char digits[DIGITS_MAX + 1];
	size_t at = sizeof digits;

	for (int n = 0; n < width || v; n++, v /= 10)
		digits[--at] = (char)('0' + v % 10);
	buf_add(name, digits + at, sizeof digits - at);
}

static int add_name(struct nodeset *s, const struct part *p, int width, int64_t v, struct buf *name)
{
	const char *tail = p->close + 1;

	buf_reset(name);
	buf_add(name, p->text, (size_t)(p->open - p->text));
	add_number(name, width, v);
	buf_add(name, tail, (size_t)p->len - (size_t)(tail - p->text));
	return buf_failed(name) || nodeset_add(s, buf_text(name)) < 0 ? -1 : 0;
}

/* "3", "1-10" */
static int add_range(struct nodeset *s, const struct part *p, const char *from, size_t n, struct err *e)
{
	const char *dash = memchr(from, '-', n);
	size_t n_lo = dash ? (size_t)(dash - from) : n;
	char lo[DIGITS_MAX + 1], hi[DIGITS_MAX + 1];
	int64_t first, last;
	struct buf name = { 0 };
	int rc = 0;

	if (number_text(p, from, n_lo, lo, e))
		return -1;
	first = last = number_value(lo);
	if (dash) {
		if (number_text(p, dash + 1, n - n_lo - 1, hi, e))
			return -1;
		last = number_value(hi);
	}
	if (last < first)
		return bad_part(p, e, "a range that runs backwards");
	if (last - first >= RANGE_MAX)
		return bad_part(p, e, "more than 65536 names in one range");
	for (int64_t v = first; v <= last && rc == 0; v++)
		rc = add_name(s, p, (int)n_lo, v, &name);
	buf_free(&name);
	return rc < 0 ? err_nomem(e) : 0;
}

static int add_plain(struct nodeset *s, const struct part *p, struct err *e)
{
	char *name = str_fmt("%.*s", p->len, p->text);
	int rc = name ? nodeset_add(s, name) : -1;

	free(name);
	return rc < 0 ? err_nomem(e) : 0;
}

static int add_part(struct nodeset *s, const struct part *p, struct err *e)
{
	const char *from, *comma;

	if (!p->open)
		return add_plain(s, p, e);
	for (from = p->open + 1;; from = comma + 1) {
		comma = memchr(from, ',', (size_t)(p->close - from));
		if (add_range(s, p, from, (size_t)((comma ? comma : p->close) - from), e))
			return -1;
		if (!comma)
			return 0;
	}
}

int nodeset_parse(struct nodeset *s, const char *text, struct err *e)
{
	size_t before = s->names.n;
	struct part p;

	if (!*text)
		return 0;
	for (;; text += p.len + 1) {
		if (part_scan(text, &p, e) || add_part(s, &p, e)) {
			cut_back(s, before);
			return -1;
		}
		if (!text[p.len])
			return 0;
	}
}

/* --- names to text */

struct split {
	const char *name;
	size_t prefix;  /* bytes before the number */
	int width;      /* digits of the number, 0 = the name ends in none */
	int64_t v;
};

static struct split split(const char *name)
{
	struct split x = { .name = name, .prefix = strlen(name) };

	while (x.prefix && x.width < DIGITS_MAX && name[x.prefix - 1] >= '0' && name[x.prefix - 1] <= '9') {
		x.prefix--;
		x.width++;
	}
	if (x.width)
		x.v = number_value(name + x.prefix);
	return x;
}

static bool joins(const struct split *a, const struct split *b)
{
	return a->width && b->width && a->prefix == b->prefix && !memcmp(a->name, b->name, a->prefix) && b->v > a->v;
}

static int digits_of(int64_t v)
{
	int n = 1;

	while (v >= 10) {
		v /= 10;
		n++;
	}
	return n;
}

/* Would "<first>-<next>" be read back with next's own digits? */
static bool in_range(const struct split *first, const struct split *last, const struct split *next)
{
	int width = digits_of(next->v);

	if (width < first->width)
		width = first->width;
	return next->v == last->v + 1 && next->width == width && next->v - first->v < RANGE_MAX;
}

/* Write names[i...] as far as they join; the position after them. */
static size_t write_group(struct buf *b, const char *const *names, size_t n, size_t i)
{
	struct split first = split(names[i]), last = first, next;
	size_t parts = 0, at;
	struct buf in = { 0 };

	for (at = i + 1;; at++) {
		bool more = at < n;

		if (more) {
			next = split(names[at]);
			more = joins(&last, &next);
			if (more && in_range(&first, &last, &next)) {
				last = next;
				continue;
			}
		}
		buf_fmt(&in, "%s%s", parts++ ? "," : "", first.name + first.prefix);
		if (last.v != first.v)
			buf_fmt(&in, "-%s", last.name + last.prefix);
		if (!more)
			break;
		first = last = next;
	}
	buf_add(b, names[i], split(names[i]).prefix);
	buf_fmt(b, at > i + 1 ? "[%s]" : "%s", buf_text(&in));
	b->failed = b->failed || in.failed;
	buf_free(&in);
	return at;
}

char *nodeset_text_of(const char *const *names, size_t n)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < n;) {
		if (i)
			buf_char(&b, ',');
		i = write_group(&b, names, n, i);
	}
	return buf_take(&b);
}

char *nodeset_text(const struct nodeset *s)
{
	return nodeset_text_of((const char *const *)s->names.v, s->names.n);
}
