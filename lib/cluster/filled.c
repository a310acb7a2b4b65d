/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filled.c - rewrites the values that hold variables, in place in the text. Called once a file, after it was found good.
 * Pure. */
#include "lib/cluster/filled.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/cluster/document.h"
#include "lib/cluster/variable.h"

#include <stdlib.h>
#include <string.h>

/* How far the text is copied: libyaml counts characters, the text is bytes. */
struct cursor {
	const char *text;
	size_t n, byte, character;
};

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Go on to a character; copy what is passed over, unless out is NULL. */
static void go_to(struct cursor *c, size_t character, struct buf *out)
{
	size_t from = c->byte;

	while (c->byte < c->n && c->character < character) {
		c->byte++;
		while (c->byte < c->n && continues(c->text[c->byte]))
			c->byte++;
		c->character++;
	}
	if (out)
		buf_add(out, c->text + from, c->byte - from);
}

/* A double-quoted YAML text; "$" doubled, so that it stays a plain one. */
static void add_quoted(struct buf *out, const char *s)
{
	buf_char(out, '"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			buf_fmt(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			buf_fmt(out, "\\x%02x", c);
		else
			buf_fmt(out, "%s%c", c == '$' ? "$" : "", c);
	}
	buf_char(out, '"');
}

/* Anchor and tag stand before a value and belong to it: they are kept. */
static void copy_properties(const char *s, struct buf *out)
{
	while (*s == '&' || *s == '!') {
		size_t n = strcspn(s, " \t\r\n");

		buf_add(out, s, n);
		buf_char(out, ' ');
		s += n + strspn(s + n, " \t\r\n");
	}
}

static int replace(struct cursor *c, const yaml_node_t *node, cluster_getenv_fn get, void *arg, struct buf *out)
{
	struct buf value = {0};
	struct err e;
	int rc;

	go_to(c, node->start_mark.index, out);
	copy_properties(c->text + c->byte, out);
	rc = variable_fill(document_text(node), get, arg, &value, &e);
	if (rc == 0)
		add_quoted(out, buf_text(&value));
	if (buf_failed(&value))
		rc = -1;
	buf_free(&value);
	go_to(c, node->end_mark.index, NULL);
	if (c->byte > 0 && c->text[c->byte - 1] == '\n') /* a block of lines ends with its last line */
		buf_char(out, '\n');
	return rc;
}

/* Keys keep their "$". */
static bool *find_keys(const yaml_document_t *y, size_t count)
{
	bool *is_key = calloc(count + 1, sizeof(*is_key));

	for (size_t i = 0; is_key && i < count; i++) {
		const yaml_node_t *n = &y->nodes.start[i];

		if (n->type != YAML_MAPPING_NODE)
			continue;
		for (const yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top; p++)
			is_key[p->key - 1] = true;
	}
	return is_key;
}

/* Nodes are numbered in the order of the text. */
static int rewrite(struct document *d, struct cursor *c, cluster_getenv_fn get, void *arg, struct buf *out)
{
	size_t count = (size_t)(d->yaml.nodes.top - d->yaml.nodes.start);
	bool *is_key = find_keys(&d->yaml, count);
	int rc = is_key ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < count; i++) {
		const yaml_node_t *n = &d->yaml.nodes.start[i];

		if (n->type == YAML_SCALAR_NODE && !is_key[i] && strchr(document_text(n), '$'))
			rc = replace(c, n, get, arg, out);
	}
	go_to(c, SIZE_MAX, out);
	free(is_key);
	return rc;
}

char *filled_text(const char *text, size_t n, cluster_getenv_fn get, void *arg)
{
	static const char bom[] = "\xef\xbb\xbf";
	struct cursor c = {.text = text, .n = n};
	struct problems p = {0};
	struct buf out = {0};
	struct document d;
	char *result = NULL;

	if (n >= 3 && memcmp(text, bom, 3) == 0)
		c.byte = 3; /* libyaml does not count it */
	if (document_open(&d, "", text, n, &p) == 0 && rewrite(&d, &c, get, arg, &out) == 0)
		result = buf_take(&out);
	document_close(&d);
	buf_free(&out);
	problems_clear(&p);
	return result;
}
