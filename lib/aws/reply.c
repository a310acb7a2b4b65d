/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reply.c - streaming reader of EC2 answers on expat. Called by perform.c from curl's write callback.
 *
 * Refuses a DOCTYPE (EC2 never sends one, a proxy's HTML page does) and more than MAX_DEPTH levels. An error body is
 * recognised by its element names at any depth, because the layers in front of EC2 wrap it differently.
 */
#include "lib/aws/reply.h"

#include "lib/aws/reply_tree.h"
#include "lib/base/buf.h"
#include "lib/base/num.h"
#include "lib/base/str.h"

#include <expat.h>

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64          /* EC2's deepest answer has 12 levels */
#define MAX_TEXT (1024 * 1024) /* one element's text; user data, the longest, is 22 kB */
#define COMMON_DEPTH 3        /* of what every answer of a verb may have: STS wraps its request id once */
#define HEAD_BYTES 200        /* of an answer that is not EC2's: enough to recognise a proxy's page */

struct reply {
	XML_Parser xml;
	const struct reply_reader *reader;
	void *page;
	char *root;
	bool is_verb;         /* the root is the verb's answer; else it is read as an error body */
	bool prefixed;        /* names may have a namespace prefix: the root has one, or it is not the verb's */
	bool seen_root;
	struct reply_tree *tree;
	const struct reply_node *at[MAX_DEPTH]; /* the open elements; NULL = nothing in it is wanted */
	int depth;
	struct buf text;
	bool collect;
	struct buf code, message, request_id, next_token;
	char head[HEAD_BYTES + 1];
	size_t head_n;
	const char *fault;    /* why it cannot be read; NULL = nothing yet */
	bool nomem;
};

static void *nothing_create(void)
{
	return calloc(1, 1);
}

static void *nothing_current(void *page)
{
	(void)page;
	return NULL;
}

static int nothing_merge(void *into, void *from)
{
	(void)into;
	(void)from;
	return 0;
}

const struct reply_reader reply_nothing = {"", NULL, 0, nothing_create, nothing_current, nothing_merge, free};

static void stop(struct reply *r, const char *why)
{
	if (!r->fault)
		r->fault = why;
	XML_StopParser(r->xml, XML_FALSE);
}

static const char *local_name(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon ? colon + 1 : name;
}

/* Where the text of an element goes that every answer may have; NULL = nowhere. */
static struct buf *common_field(struct reply *r, const char *name)
{
	if (r->is_verb && r->depth > COMMON_DEPTH)
		return NULL;
	if (!strcmp(name, "RequestID") || !strcmp(name, "RequestId") || (!strcmp(name, "requestId") && r->depth <= 2))
		return &r->request_id;
	if (r->is_verb)
		return r->depth == 2 && !strcmp(name, "nextToken") ? &r->next_token : NULL;
	if (!strcmp(name, "Code"))
		return &r->code;
	return !strcmp(name, "Message") ? &r->message : NULL;
}

static void add_text(void *arg, const char *text, int n)
{
	struct reply *r = arg;

	if (r->text.n + (size_t)n > MAX_TEXT)
		stop(r, "an element is too long");
	else
		buf_add(&r->text, text, (size_t)n);
}

/* Expat is told to keep to itself the text that nobody wants: most of an answer. */
static void collect(struct reply *r, bool on)
{
	if (on || r->collect)
		buf_reset(&r->text);
	if (r->collect != on)
		XML_SetCharacterDataHandler(r->xml, on ? add_text : NULL);
	r->collect = on;
}

/* The node of an element that begins; the root has none of its own unless it is the verb's. */
static const struct reply_node *step(struct reply *r, const char *name, bool prefixed)
{
	if (r->seen_root)
		return r->at[r->depth - 1] ? reply_tree_step(r->at[r->depth - 1], name) : NULL;
	r->seen_root = true;
	r->is_verb = !strcmp(name, r->root);
	r->prefixed = prefixed || !r->is_verb;
	return r->is_verb ? reply_tree_root(r->tree) : NULL;
}

/* Below what every answer may have: only rules can want anything. */
static bool is_deep(const struct reply *r)
{
	return r->is_verb && r->depth > COMMON_DEPTH;
}

static void open_element(void *arg, const char *qname, const char **attributes)
{
	struct reply *r = arg;
	const char *name;
	const struct reply_node *node;
	const struct reply_rule *rule;

	(void)attributes;
	if (r->depth == MAX_DEPTH) {
		stop(r, "nested too deeply");
		return;
	}
	if (is_deep(r) && !r->at[r->depth - 1]) { /* most of an answer */
		r->at[r->depth++] = NULL;
		return;
	}
	name = r->seen_root && !r->prefixed ? qname : local_name(qname);
	node = step(r, name, name != qname);
	rule = node ? node->rule : NULL;
	r->at[r->depth++] = node;
	collect(r, common_field(r, name) || (rule && (rule->kind != REPLY_CALL || rule->close)));
	if (rule && rule->open && rule->open(r->page)) {
		r->nomem = true;
		stop(r, "out of memory");
	}
}

int reply_text(char **field, const char *text)
{
	char *copy;

	if (!*text)
		return 0;
	copy = str_dup(text);
	if (!copy)
		return -1;
	free(*field);
	*field = copy;
	return 0;
}

static int store_number(struct reply *r, const struct reply_rule *rule, char *field, const char *text)
{
	int64_t value, min = INT64_MIN, max = INT64_MAX;

	if (rule->kind == REPLY_INT) {
		min = INT_MIN;
		max = INT_MAX;
	}
	if (!*text)
		return 0;
	if (num_i64(text, min, max, &value, NULL)) {
		stop(r, "a number cannot be read");
		return 0;
	}
	if (rule->kind == REPLY_INT)
		*(int *)(void *)field = (int)value;
	else
		*(int64_t *)(void *)field = value;
	return 0;
}

static int apply_rule(struct reply *r, const struct reply_rule *rule, const char *text)
{
	char *item;

	if (rule->kind == REPLY_CALL)
		return rule->close ? rule->close(r->page, text) : 0;
	item = r->reader->current(r->page);
	if (!item)
		return 0;
	item += rule->offset;
	if (rule->kind == REPLY_TEXT)
		return reply_text((char **)(void *)item, text);
	if (rule->kind != REPLY_BOOL)
		return store_number(r, rule, item, text);
	*(bool *)(void *)item = !strcmp(text, "true");
	return 0;
}

static void close_element(void *arg, const char *qname)
{
	struct reply *r = arg;
	const struct reply_node *node = r->at[r->depth - 1];
	const struct reply_rule *rule = node ? node->rule : NULL;
	struct buf *field;

	if (!rule && !r->collect) {
		r->depth--;
		return;
	}
	field = r->collect ? common_field(r, local_name(qname)) : NULL;
	if (field && !field->n)
		buf_add(field, buf_text(&r->text), r->text.n);
	if (buf_failed(&r->text) || (rule && apply_rule(r, rule, buf_text(&r->text)))) {
		r->nomem = true;
		stop(r, "out of memory");
	}
	r->depth--;
	collect(r, false);
}

static void refuse_doctype(void *arg, const char *name, const char *sysid, const char *pubid, int internal)
{
	(void)name;
	(void)sysid;
	(void)pubid;
	(void)internal;
	stop(arg, "it has a DOCTYPE");
}

struct reply *reply_create(const char *action, const struct reply_reader *reader)
{
	struct reply *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->reader = reader;
	r->xml = XML_ParserCreate(NULL);
	r->root = str_fmt("%sResponse", action);
	r->page = reader->create();
	r->tree = reply_tree_create(reader);
	if (!r->xml || !r->root || !r->page || !r->tree) {
		reply_destroy(r);
		return NULL;
	}
	XML_SetUserData(r->xml, r);
	XML_SetElementHandler(r->xml, open_element, close_element);
	XML_SetStartDoctypeDeclHandler(r->xml, refuse_doctype);
	return r;
}

void reply_destroy(struct reply *r)
{
	if (!r)
		return;
	if (r->xml)
		XML_ParserFree(r->xml);
	r->reader->destroy(r->page);
	reply_tree_destroy(r->tree);
	buf_free(&r->text);
	buf_free(&r->code);
	buf_free(&r->message);
	buf_free(&r->request_id);
	buf_free(&r->next_token);
	free(r->root);
	free(r);
}

static void keep_head(struct reply *r, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n && r->head_n < HEAD_BYTES; i++)
		r->head[r->head_n++] = bytes[i] >= ' ' && bytes[i] <= '~' ? bytes[i] : ' ';
}

static void parse(struct reply *r, const char *bytes, size_t n, int final)
{
	if (r->fault || XML_Parse(r->xml, bytes, (int)n, final) == XML_STATUS_OK)
		return;
	if (!r->fault)
		r->fault = XML_ErrorString(XML_GetErrorCode(r->xml));
}

void reply_feed(struct reply *r, const char *bytes, size_t n)
{
	keep_head(r, bytes, n);
	for (size_t part; n; bytes += part, n -= part) {
		part = n < INT_MAX ? n : INT_MAX;
		parse(r, bytes, part, 0);
	}
}

static void copy_field(char *out, size_t size, const struct buf *field)
{
	snprintf(out, size, "%s", buf_text(field));
	for (char *p = out; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			*p = ' ';
}

/* Not EC2's XML: a proxy or a load balancer spoke, or the answer broke off. */
static void fill_foreign(const struct reply *r, int http_status, struct aws_error *error)
{
	bool ok = http_status / 100 == 2;

	snprintf(error->code, sizeof error->code, "%s", ok ? "UnreadableAnswer" : "UnexpectedAnswer");
	snprintf(error->message, sizeof error->message, "HTTP %d, not an answer of EC2 (%s): %s", http_status,
		 r->fault ? r->fault : "unknown root element", r->head_n ? r->head : "empty");
	error->class = ok ? AWS_TRANSIENT : aws_classify(http_status, NULL);
}

int reply_end(struct reply *r, int http_status, struct aws_error *error)
{
	parse(r, "", 0, 1);
	memset(error, 0, sizeof *error);
	error->http_status = http_status;
	copy_field(error->request_id, sizeof error->request_id, &r->request_id);
	if (r->nomem) {
		snprintf(error->code, sizeof error->code, "OutOfMemory");
		error->class = AWS_TRANSIENT;
		return -1;
	}
	if (!r->fault && r->is_verb && http_status / 100 == 2)
		return 0;
	if (!r->code.n) {
		fill_foreign(r, http_status, error);
		return -1;
	}
	copy_field(error->code, sizeof error->code, &r->code);
	copy_field(error->message, sizeof error->message, &r->message);
	error->class = aws_classify(http_status, error->code);
	return -1;
}

void *reply_page(struct reply *r)
{
	return r->page;
}

const char *reply_next_token(const struct reply *r)
{
	return r->next_token.n ? r->next_token.v : NULL;
}
