/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quotas.c - ListServiceQuotas, page by page. Called by `slurm-ec2 limits`; reads only. */
#include "lib/aws/quotas.h"

#include "lib/aws/connection.h"
#include "lib/aws/http.h"
#include "lib/aws/service.h"
#include "lib/aws/sign.h"
#include "lib/base/err.h"
#include "lib/base/jview.h"
#include "lib/base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACTION "ListServiceQuotas"
#define TARGET "ServiceQuotasV20190624." ACTION
#define PAGE_SIZE 100	/* the service's largest */
#define MOST_PAGES 1000 /* a token that leads round in a circle must end */

void aws_quotas_clear(struct aws_quotas *q)
{
	for (size_t i = 0; i < q->n; i++) {
		free(q->v[i].code);
		free(q->v[i].name);
	}
	free(q->v);
	*q = (struct aws_quotas){0};
}

const struct aws_quota *aws_quotas_find(const struct aws_quotas *q, const char *code)
{
	for (size_t i = 0; i < q->n; i++)
		if (!strcmp(q->v[i].code, code))
			return &q->v[i];
	return NULL;
}

struct page {
	struct aws_quotas *out;
	char *next; /* NextToken */
};

static int unreadable(struct aws_error *error, const struct err *why)
{
	error->class = AWS_TRANSIENT;
	snprintf(error->code, sizeof error->code, "UnreadableAnswer");
	snprintf(error->message, sizeof error->message, "%.500s", why->text);
	return -1;
}

/* "com.amazonaws.x#Code" or "Code:http://..." */
static void take_code(const char *type, char *out, size_t size)
{
	const char *hash = strrchr(type, '#');

	type = hash ? hash + 1 : type;
	snprintf(out, size, "%.*s", (int)strcspn(type, ":"), type);
}

static void take_error(struct json_object *o, int status, struct aws_error *error)
{
	const char *type = NULL, *text = NULL;

	if (o && json_object_is_type(o, json_type_object)) {
		jview_str(o, "__type", &type, NULL);
		if (jview_str(o, "message", &text, NULL) || !text)
			jview_str(o, "Message", &text, NULL);
	}
	take_code(type ? type : "UnexpectedAnswer", error->code, sizeof error->code);
	error->class = aws_classify(status, type ? error->code : "");
	if (error->class == AWS_OK)
		error->class = AWS_OURS;
	snprintf(error->message, sizeof error->message, "%.500s", text ? text : "");
	if (!text)
		snprintf(error->message, sizeof error->message, "HTTP %d", status);
}

static int take_quota(struct json_object *item, struct aws_quotas *out, struct err *e)
{
	const char *code = NULL, *name = NULL;
	struct aws_quota q = {.value = -1};

	if (jview_str(item, "QuotaCode", &code, e) || jview_str(item, "QuotaName", &name, e) ||
	    jview_double(item, "Value", &q.value, e))
		return -1;
	if (!code || q.value < 0)
		return 0;
	q.code = str_dup(code);
	q.name = str_dup(name ? name : code);
	if (!q.code || !q.name || mem_grow(&out->v, &out->cap, out->n + 1, sizeof *out->v)) {
		free(q.code);
		free(q.name);
		return err_nomem(e);
	}
	out->v[out->n++] = q;
	return 0;
}

static int take_page(struct json_object *o, struct page *p, struct err *e)
{
	struct json_object *list = NULL;
	const char *next = NULL;

	if (!json_object_is_type(o, json_type_object))
		return err_set(e, "the answer is no object");
	if (jview_array(o, "Quotas", &list, e) || jview_str(o, "NextToken", &next, e))
		return -1;
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *item = json_object_array_get_idx(list, i);

		if (json_object_is_type(item, json_type_object) && take_quota(item, p->out, e))
			return -1;
	}
	next = next && *next ? next : NULL;
	p->next = str_dup(next);
	return next && !p->next ? err_nomem(e) : 0;
}

static int read_answer(void *arg, int status, const char *text, size_t n, struct aws_error *error)
{
	struct page *p = arg;
	struct err e = {""};
	struct json_object *o = jview_parse(text, n, "the answer", &e);
	size_t before = p->out->n;
	int rc = 0;

	if (status != 200) {
		take_error(o, status, error);
		rc = -1;
	} else if (!o || take_page(o, p, &e)) {
		while (p->out->n > before) { /* the page will come again */
			p->out->n--;
			free(p->out->v[p->out->n].code);
			free(p->out->v[p->out->n].name);
		}
		rc = unreadable(error, &e);
	}
	json_object_put(o);
	return rc;
}

static char *make_body(const char *service, const char *next)
{
	struct json_object *o = json_object_new_object();
	char *text = NULL;

	if (o && !jview_put_str(o, "ServiceCode", service) && !jview_put_i64(o, "MaxResults", PAGE_SIZE) &&
	    !jview_put_str(o, "NextToken", next))
		text = str_dup(json_object_to_json_string(o));
	json_object_put(o);
	return text;
}

/* One page; new keys once if these are refused. */
static int get_page(struct aws *a, struct http *h, struct service_call *c, int64_t deadline_ms, struct aws_error *error,
		    struct err *e)
{
	for (int tries = 0;; tries++) {
		unsigned serial;

		if (connection_ready(a, e))
			return -1;
		serial = a->keys_serial;
		c->keys = &a->keys;
		if (!service_perform(h, c, deadline_ms, &a->skew_ms, error))
			return 0;
		if (tries || error->class != AWS_CREDENTIALS || !connection_renew(a, serial))
			break;
	}
	connection_redact(a, error->message);
	return err_set(e, ACTION ": %s: %s", error->code, error->message);
}

static int get_all(struct aws *a, struct http *h, const struct endpoint *ep, const char *service, struct page *p,
		   int64_t deadline_ms, struct err *e)
{
	struct service_call c = {.service = "servicequotas",
				 .at = ep,
				 .region = a->region,
				 .content_type = SIGN_JSON,
				 .target = TARGET,
				 .read = read_answer,
				 .arg = p};
	struct aws_error error;
	int rc = 0;

	for (int pages = 0; !rc && (!pages || p->next); pages++) {
		char *body = make_body(service, p->next);

		free(p->next);
		p->next = NULL;
		c.body = body;
		if (pages == MOST_PAGES)
			rc = err_set(e, ACTION ": the answer does not end");
		else
			rc = body ? get_page(a, h, &c, deadline_ms, &error, e) : err_nomem(e);
		free(body);
	}
	return rc;
}

int aws_quotas(struct aws *a, const char *service, struct aws_quotas *out, int64_t deadline_mono_ms, struct err *e)
{
	struct endpoint ep = {0};
	struct page page = {.out = out};
	struct http_route route;
	struct http *h = NULL;
	int rc = -1;

	*out = (struct aws_quotas){0};
	if (!connection_ready(a, e) && !connection_endpoint(a, SERVICE_QUOTAS, &ep, e)) {
		connection_route(a, ep.tls, &route);
		h = http_create(&route, e);
	}
	if (h)
		rc = get_all(a, h, &ep, service, &page, deadline_mono_ms, e);
	http_destroy(h);
	endpoint_clear(&ep);
	free(page.next);
	if (rc)
		aws_quotas_clear(out);
	return rc;
}
