/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ec2_console.c - GetConsoleOutput: what a machine printed while it booted. Called by lib/apply/failed_boot.c. */
#include "lib/aws/call.h"
#include "lib/aws/query.h"

#include "lib/base/str.h"

#include <stdlib.h>

struct console_page {
	struct buf text;
};

static void *console_create(void)
{
	return calloc(1, sizeof(struct console_page));
}

static void *console_current(void *page)
{
	return page;
}

static void console_destroy(void *page)
{
	struct console_page *p = page;

	if (!p)
		return;
	buf_free(&p->text);
	free(p);
}

static int console_merge(void *into, void *from)
{
	struct console_page *a = into, *b = from;

	buf_add(&a->text, b->text.v, b->text.n);
	return buf_failed(&a->text) ? -1 : 0;
}

/* Its end tells how it ended. */
static void keep_end(struct buf *b)
{
	size_t over = b->n > EC2_CONSOLE_MAX ? b->n - EC2_CONSOLE_MAX : 0;
	struct buf end = {0};

	if (!over)
		return;
	buf_add(&end, b->v + over, b->n - over);
	buf_free(b);
	*b = end;
}

/* Output that is no base64 is as good as none. */
static int take_output(void *page, const char *text)
{
	struct console_page *p = page;

	if (buf_base64_decode(&p->text, text))
		return p->text.failed ? -1 : 0;
	keep_end(&p->text);
	return buf_failed(&p->text) ? -1 : 0;
}

static const struct reply_rule console_rules[] = {
	REPLY_RULE_CALL("output", NULL, take_output),
};

static const struct reply_reader console_reader = {"",		    console_rules,   sizeof console_rules / sizeof *console_rules,
						   console_create,  console_current, console_merge,
						   console_destroy};

struct ec2_call *ec2_console_output(const char *id)
{
	struct buf b = {0};

	query_start(&b, "GetConsoleOutput");
	query_str(&b, id, "InstanceId");
	return call_create("GetConsoleOutput", &b, &console_reader);
}

const char *ec2_console_output_reply(const struct ec2_call *c, size_t *n)
{
	const struct console_page *p = c->reply;

	*n = p->text.n;
	return buf_text(&p->text);
}
