/* SPDX-License-Identifier: GPL-2.0-or-later */
/* document.c - YAML text to nodes: libyaml with limits, and the two things libyaml leaves to us, duplicate keys and merge keys.
 *
 * Two passes. The first reads events only and refuses deep nesting and a second document; older libyaml builds the node tree
 * by recursion, so depth must be known before. The second builds the tree, in which an alias is the anchor's own node.
 */
#include "lib/cluster/document.h"

#include "lib/base/buf.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_DEPTH = 32,		/* the deepest known key is at 9 */
	MAX_MERGE_DEPTH = 8,	/* a merged map that merges another one ...: ends a cycle of aliases too */
	MAX_PROBLEMS = 1000,	/* nobody reads more; a small file of aliases could make millions */
	VISIT_BUDGET = 5000000, /* more nodes than a file of the greatest size can hold without aliases */
};

static struct place mark_place(yaml_mark_t m)
{
	return (struct place){(int)m.line + 1, (int)m.column + 1};
}

struct place document_place(const yaml_node_t *n)
{
	return mark_place(n->start_mark);
}

const char *document_text(const yaml_node_t *n)
{
	return (const char *)n->data.scalar.value;
}

static void path_write(struct buf *b, const struct path *at)
{
	if (!at)
		return;
	path_write(b, at->up);
	if (at->name)
		buf_fmt(b, "%s%s", at->up ? "." : "", at->name);
	else if (at->item)
		buf_fmt(b, "[%s]", at->item);
	else
		buf_fmt(b, "[%zu]", at->index);
}

char *path_text(const struct path *at)
{
	struct buf b = {0};
	char *text;

	path_write(&b, at);
	text = buf_take(&b);
	buf_free(&b);
	return text;
}

void document_report(struct document *d, enum problem_level level, struct place where, const char *key, const char *text)
{
	if (d->stopped)
		return;
	if (++d->said <= MAX_PROBLEMS) {
		problems_add(d->p, level, d->file, where.line, where.column, key, "%s", text);
		return;
	}
	problems_add(d->p, PROBLEM_ERROR, d->file, where.line, where.column, NULL,
		     "more than %d problems; the rest of the file is not judged", MAX_PROBLEMS);
	d->stopped = true;
}

void document_problem(struct document *d, enum problem_level level, struct place where, const struct path *at, const char *fmt,
		      ...)
{
	struct buf b = {0};
	char *key = at ? path_text(at) : NULL;
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&b, fmt, ap);
	va_end(ap);
	if (buf_failed(&b) || (at && !key))
		d->p->nomem = true;
	else
		document_report(d, level, where, key, buf_text(&b));
	buf_free(&b);
	free(key);
}

const char *document_show(const char *text, char out[SHOWN_MAX])
{
	size_t at = 0;

	out[at++] = '"';
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (at > SHOWN_MAX - 10) {
			memcpy(out + at, "...", 3);
			at += 3;
			break;
		}
		if (c < 0x20 || c == 0x7f)
			at += (size_t)snprintf(out + at, 5, "\\x%02x", c);
		else
			out[at++] = (char)c;
	}
	out[at++] = '"';
	out[at] = '\0';
	return out;
}

/* libyaml gives a byte offset, not a mark, for bytes that are no text. */
static struct place offset_place(const char *text, size_t n, size_t offset)
{
	struct place p = {1, 1};

	for (size_t i = 0; i < n && i < offset; i++) {
		p.column++;
		if (text[i] == '\n')
			p = (struct place){p.line + 1, 1};
	}
	return p;
}

/* The two slips that libyaml's own words do not explain. */
static const char *syntax_hint(const char *text, size_t n, size_t at)
{
	if (at < n && text[at] == '\t')
		return "; a tab cannot indent YAML, use spaces";
	if (at > 0 && at < n && text[at] == '{' && text[at - 1] == '$')
		return "; inside { } and [ ] write \"${NAME}\" in quotes";
	return "";
}

static void syntax_problem(struct document *d, const yaml_parser_t *y, const char *text, size_t n)
{
	struct place at = mark_place(y->problem_mark);
	const char *hint = syntax_hint(text, n, y->problem_mark.index);

	if (y->error == YAML_MEMORY_ERROR) {
		d->p->nomem = true;
		return;
	}
	if (y->error == YAML_READER_ERROR)
		at = offset_place(text, n, y->problem_offset);
	document_problem(d, PROBLEM_ERROR, at, NULL, "not valid YAML: %s%s%s%s", y->context ? y->context : "",
			 y->context ? ", " : "", y->problem ? y->problem : "unreadable", hint);
}

/* How an event changes the depth. */
static int depth_step(yaml_event_type_t t)
{
	if (t == YAML_SEQUENCE_START_EVENT || t == YAML_MAPPING_START_EVENT)
		return 1;
	if (t == YAML_SEQUENCE_END_EVENT || t == YAML_MAPPING_END_EVENT)
		return -1;
	return 0;
}

/* One event of the first pass. 1 = go on, 0 = end, -1 = refused. */
static int look_at_event(struct document *d, const yaml_event_t *ev, int *depth, int *documents)
{
	if (ev->type == YAML_STREAM_END_EVENT)
		return 0;
	if (ev->type == YAML_DOCUMENT_START_EVENT && ++*documents > 1) {
		document_problem(d, PROBLEM_ERROR, mark_place(ev->start_mark), NULL,
				 "a second YAML document begins here; a file holds one");
		return -1;
	}
	*depth += depth_step(ev->type);
	if (*depth > MAX_DEPTH) {
		document_problem(d, PROBLEM_ERROR, mark_place(ev->start_mark), NULL, "nested more than %d deep", MAX_DEPTH);
		return -1;
	}
	return 1;
}

static int first_pass(struct document *d, const char *text, size_t n)
{
	yaml_parser_t y;
	int depth = 0, documents = 0, go = 1;

	if (!yaml_parser_initialize(&y)) {
		d->p->nomem = true;
		return -1;
	}
	yaml_parser_set_input_string(&y, (const unsigned char *)text, n);
	while (go > 0) {
		yaml_event_t ev;

		if (!yaml_parser_parse(&y, &ev)) {
			syntax_problem(d, &y, text, n);
			go = -1;
			break;
		}
		go = look_at_event(d, &ev, &depth, &documents);
		yaml_event_delete(&ev);
	}
	yaml_parser_delete(&y);
	return go;
}

static int second_pass(struct document *d, const char *text, size_t n)
{
	yaml_parser_t y;

	if (!yaml_parser_initialize(&y)) {
		d->p->nomem = true;
		return -1;
	}
	yaml_parser_set_input_string(&y, (const unsigned char *)text, n);
	d->loaded = yaml_parser_load(&y, &d->yaml);
	if (!d->loaded)
		syntax_problem(d, &y, text, n);
	yaml_parser_delete(&y);
	return d->loaded ? 0 : -1;
}

int document_open(struct document *d, const char *file, const char *text, size_t n, struct problems *p)
{
	*d = (struct document){.file = file, .p = p, .budget = VISIT_BUDGET};
	if (n > DOCUMENT_MAX_BYTES) {
		document_problem(d, PROBLEM_ERROR, (struct place){1, 1}, NULL, "the file is larger than %d KiB",
				 DOCUMENT_MAX_BYTES / 1024);
		return -1;
	}
	if (n >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0)) {
		document_problem(d, PROBLEM_ERROR, (struct place){1, 1}, NULL, "the file is UTF-16; save it as UTF-8");
		return -1;
	}
	if (first_pass(d, text, n) < 0)
		return -1;
	return second_pass(d, text, n);
}

void document_close(struct document *d)
{
	if (d->loaded)
		yaml_document_delete(&d->yaml);
	d->loaded = false;
}

const yaml_node_t *document_root(struct document *d)
{
	return yaml_document_get_root_node(&d->yaml);
}

/* A node by number, against the budget. NULL when that is used up. */
static const yaml_node_t *visit(struct document *d, int number)
{
	const yaml_node_t *n = yaml_document_get_node(&d->yaml, number);

	if (d->stopped)
		return NULL;
	if (d->budget > 0) {
		d->budget--;
		return n;
	}
	if (n)
		document_problem(d, PROBLEM_ERROR, document_place(n), NULL,
				 "aliases multiply the values beyond %d; write fewer of them", VISIT_BUDGET);
	d->stopped = true;
	return NULL;
}

const yaml_node_t *document_item(struct document *d, const yaml_node_t *list, size_t i)
{
	const yaml_node_item_t *first = list->data.sequence.items.start;

	return first + i < list->data.sequence.items.top ? visit(d, first[i]) : NULL;
}

bool document_is_null(const yaml_node_t *n)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};

	if (n->type != YAML_SCALAR_NODE || n->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++)
		if (strcmp(document_text(n), nulls[i]) == 0)
			return true;
	return false;
}

const char *document_kind(const yaml_node_t *n)
{
	if (n->type == YAML_SEQUENCE_NODE)
		return "a list";
	if (n->type == YAML_MAPPING_NODE)
		return "a mapping";
	return document_is_null(n) ? "no value" : "one value";
}

static bool is_merge_key(const yaml_node_t *key)
{
	return key->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && strcmp(document_text(key), "<<") == 0;
}

/* Append the mapping's own pairs; faults only when `complain`: a merged map was judged where it stands. */
static int own_pairs(struct document *d, const yaml_node_t *map, const struct path *at, bool complain, struct pairs *out)
{
	for (const yaml_node_pair_t *y = map->data.mapping.pairs.start; y < map->data.mapping.pairs.top; y++) {
		struct pair pair = {visit(d, y->key), visit(d, y->value)};

		if (!pair.key || !pair.val)
			return 0;
		if (pair.key->type != YAML_SCALAR_NODE) {
			if (complain)
				document_problem(d, PROBLEM_ERROR, document_place(pair.key), at,
						 "a key must be text, this is %s", document_kind(pair.key));
			continue;
		}
		if (mem_grow(&out->v, &out->cap, out->n + 1, sizeof(*out->v)) < 0)
			return -1;
		out->v[out->n++] = pair;
	}
	return 0;
}

static int by_key_then_place(const void *x, const void *y)
{
	const struct pair *const *a = x, *const *b = y;
	int c = strcmp(document_text((*a)->key), document_text((*b)->key));

	if (c != 0)
		return c;
	return *a < *b ? -1 : *a > *b; /* both point into one array: the order of the file */
}

static struct pair **sorted(struct pairs *all)
{
	struct pair **s = calloc(all->n ? all->n : 1, sizeof(struct pair *));

	for (size_t i = 0; s && i < all->n; i++)
		s[i] = &all->v[i];
	if (s)
		qsort(s, all->n, sizeof(struct pair *), by_key_then_place);
	return s;
}

/* Of pairs with one key the first stays. Sorting, so that a map of 100 000 keys costs no quadratic time. */
static int drop_repeated(struct document *d, const struct path *at, bool complain, struct pairs *all)
{
	struct pair **s = sorted(all);
	struct pair *first = NULL;
	size_t kept = 0;

	if (!s)
		return -1;
	for (size_t i = 0; i < all->n; i++) {
		const char *name = document_text(s[i]->key);

		if (!first || strcmp(name, document_text(first->key)) != 0) {
			first = s[i];
			continue;
		}
		if (complain) {
			struct path here = {.up = at, .name = name};
			struct place was = document_place(first->key);

			document_problem(d, PROBLEM_ERROR, document_place(s[i]->key), &here,
					 "duplicate key; it stands in line %d already", was.line);
		}
		s[i]->key = NULL;
	}
	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].key)
			all->v[kept++] = all->v[i];
	all->n = kept;
	free(s);
	return 0;
}

static int merge(struct document *d, const yaml_node_t *from, const struct path *at, int depth, struct pairs *out);

/* Take a `<<` out of the pairs from `start` on and append what it names; keys given before win: the first is kept. */
static int resolve_merges(struct document *d, size_t start, const struct path *at, int depth, struct pairs *out)
{
	for (size_t i = start; i < out->n; i++) {
		const yaml_node_t *from = out->v[i].val;

		if (!is_merge_key(out->v[i].key))
			continue;
		memmove(&out->v[i], &out->v[i + 1], (out->n - i - 1) * sizeof(*out->v));
		out->n--;
		return merge(d, from, at, depth + 1, out);
	}
	return 0;
}

static int merge_map(struct document *d, const yaml_node_t *map, const struct path *at, int depth, struct pairs *out)
{
	size_t start = out->n;

	if (own_pairs(d, map, at, false, out) < 0)
		return -1;
	return resolve_merges(d, start, at, depth, out);
}

static int merge(struct document *d, const yaml_node_t *from, const struct path *at, int depth, struct pairs *out)
{
	const yaml_node_t *map;

	if (depth > MAX_MERGE_DEPTH) {
		document_problem(d, PROBLEM_ERROR, document_place(from), at,
				 "merged mappings nest too deep, or one merges itself");
		return 0;
	}
	if (from->type == YAML_MAPPING_NODE)
		return merge_map(d, from, at, depth, out);
	if (from->type != YAML_SEQUENCE_NODE) {
		document_problem(d, PROBLEM_ERROR, document_place(from), at, "<< takes a mapping or a list of them, this is %s",
				 document_kind(from));
		return 0;
	}
	for (size_t i = 0; (map = document_item(d, from, i)) != NULL; i++) {
		if (map->type != YAML_MAPPING_NODE)
			document_problem(d, PROBLEM_ERROR, document_place(map), at, "<< takes mappings only, this is %s",
					 document_kind(map));
		else if (merge_map(d, map, at, depth, out) < 0)
			return -1;
	}
	return 0;
}

int document_pairs(struct document *d, const yaml_node_t *map, const struct path *at, struct pairs *out)
{
	size_t own;

	if (own_pairs(d, map, at, true, out) < 0 || drop_repeated(d, at, true, out) < 0)
		return -1;
	own = out->n;
	if (resolve_merges(d, 0, at, 0, out) < 0)
		return -1;
	return out->n == own ? 0 : drop_repeated(d, at, false, out);
}

const yaml_node_t *document_find(struct document *d, const yaml_node_t *map, const char *key)
{
	for (const yaml_node_pair_t *y = map->data.mapping.pairs.start; y < map->data.mapping.pairs.top; y++) {
		const yaml_node_t *k = yaml_document_get_node(&d->yaml, y->key);

		if (k && k->type == YAML_SCALAR_NODE && strcmp(document_text(k), key) == 0)
			return yaml_document_get_node(&d->yaml, y->value);
	}
	return NULL;
}
