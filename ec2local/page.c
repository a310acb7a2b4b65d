/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page.c - pages and filters. A token is the sequence number of the last item shown, so it stays true while items come and go, and
 * the number of the page it asks for.
 */
#include "ec2local/page.h"
#include "ec2local/call.h"
#include "ec2local/cloud.h"
#include "ec2local/policy.h"
#include "ec2local/xml.h"
#include "lib/base/err.h"
#include "lib/base/num.h"

#include <stdlib.h>
#include <string.h>

#define TOKEN_PREFIX "ec2local-page-"

/* "ec2local-page-SEQ-NUMBER" */
static int read_token(struct page *p, const char *token)
{
	const char *at = str_prefix(token, TOKEN_PREFIX) ? token + strlen(TOKEN_PREFIX) : "", *dash = strchr(at, '-');
	char *seq = dash ? str_fmt("%.*s", (int)(dash - at), at) : NULL;
	int64_t after = 0;
	int rc = seq ? 0 : -1;

	if (rc == 0 && (num_i64(seq, 1, INT64_MAX, &after, NULL) < 0 || num_i64(dash + 1, 2, INT64_MAX, &p->number, NULL) < 0))
		rc = -1;
	free(seq);
	p->after = (uint64_t)after;
	return rc;
}

/* Is this one of the pages that control wants to fail, or to be small? */
static int play_faults(struct call *c, struct page *p)
{
	struct faults *f = &c->cloud->faults;

	if (!str_eq(c->action->name, "DescribeInstances") && !str_eq(c->action->name, "DescribeInstanceStatus"))
		return 0;
	if (f->page_size > 0 && f->page_size < p->max)
		p->max = f->page_size;
	if (!str_eq(c->action->name, "DescribeInstances") || f->fail_pages <= 0 || p->number != f->fail_page)
		return 0;
	f->fail_pages--;
	return call_fail(c, f->fail_page_status, f->fail_page_code ? f->fail_page_code : "InternalError",
			 "page %lld fails, as the control endpoint wants it", (long long)p->number);
}

int page_read(struct call *c, struct page *p, int64_t min, int64_t max, const char *ids)
{
	const char *token = params_get(&c->params, "NextToken");

	*p = (struct page){.max = max, .number = 1};
	if (params_has(&c->params, "MaxResults") && ids && params_has(&c->params, ids))
		return call_fail(c, 400, "InvalidParameterCombination",
				 "The parameter %s cannot be used with the parameter MaxResults", ids);
	if (ids && params_has(&c->params, ids))
		p->max = INT64_MAX;
	if (call_int(c, "MaxResults", min, max, &p->max) < 0)
		return -1;
	if (token && *token && read_token(p, token) < 0)
		return call_fail(c, 400, "InvalidNextToken", "The token '%.100s' is not one of ours", token);
	return play_faults(c, p);
}

bool page_take(struct page *p, uint64_t seq)
{
	if (p->shown >= p->max) {
		p->more = true;
		return false;
	}
	p->shown++;
	p->last = seq;
	return true;
}

char *page_token(const struct page *p)
{
	return p->more ? str_fmt(TOKEN_PREFIX "%llu-%lld", (unsigned long long)p->last, (long long)p->number + 1) : NULL;
}

void page_end(const struct page *p, struct buf *out)
{
	char *token = page_token(p);

	xml_text(out, "nextToken", token);
	free(token);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool known_name(const char *name, const char *const *known)
{
	if (str_prefix(name, "tag:") || str_eq(name, "tag-key"))
		return true;
	for (; known && *known; known++) {
		if (str_eq(name, *known))
			return true;
	}
	return false;
}

static int read_one(struct call *c, struct filter *f, int i, const char *const *known)
{
	char *prefix = str_fmt("Filter.%d.Value", i);

	f->name = params_getf(&c->params, "Filter.%d.Name", i);
	if (!prefix || params_list(&c->params, prefix, &f->values) < 0) {
		free(prefix);
		return call_nomem(c);
	}
	free(prefix);
	if (!f->name || !f->values.n)
		return call_fail(c, 400, "InvalidParameterValue", "Filter.%d needs a Name and at least one Value", i);
	if (f->values.n > 200)
		return call_fail(c, 400, "FilterLimitExceeded", "The filter '%.100s' has more than 200 values", f->name);
	if (!known_name(f->name, known))
		return call_fail(c, 400, "InvalidParameterValue", "The filter '%.100s' is invalid", f->name);
	for (size_t k = 0; k < f->values.n; k++)
		f->pattern = f->pattern || strpbrk(f->values.v[k], "*?");
	if (!f->pattern)
		qsort(f->values.v, f->values.n, sizeof(*f->values.v), by_text);
	return 0;
}

int filters_read(struct call *c, struct filters *f, const char *const *known)
{
	for (int i = 1; params_hasf(&c->params, "Filter.%d", i); i++) {
		if (mem_grow(&f->v, &f->cap, f->n + 1, sizeof(*f->v)) < 0)
			return call_nomem(c);
		if (read_one(c, &f->v[f->n++], i, known) < 0)
			return -1;
	}
	return 0;
}

void filters_free(struct filters *f)
{
	for (size_t i = 0; i < f->n; i++)
		strs_clear(&f->v[i].values);
	free(f->v);
	*f = (struct filters){0};
}

bool filter_has(const struct filter *f, const char *text)
{
	if (!text)
		return false;
	if (!f->pattern)
		return bsearch(&text, f->values.v, f->values.n, sizeof(*f->values.v), by_text) != NULL;
	for (size_t i = 0; i < f->values.n; i++) {
		if (policy_glob(f->values.v[i], text))
			return true;
	}
	return false;
}

bool filter_tags(const struct filter *f, const struct kvs *tags, bool *decided)
{
	*decided = true;
	if (str_prefix(f->name, "tag:"))
		return filter_has(f, kvs_get(tags, f->name + 4));
	if (str_eq(f->name, "tag-key")) {
		for (size_t i = 0; i < tags->key.n; i++) {
			if (filter_has(f, tags->key.v[i]))
				return true;
		}
		return false;
	}
	*decided = false;
	return false;
}
