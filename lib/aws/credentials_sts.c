/* SPDX-License-Identifier: GPL-2.0-or-later */
/* credentials_sts.c - keys of a role from STS: AssumeRole with other keys, or with a web identity token and no signature.
 * Called by credentials_role.c. */
#include "lib/aws/credentials_chain.h"

#include "lib/aws/query.h"
#include "lib/aws/reply.h"
#include "lib/aws/secret.h"
#include "lib/aws/service.h"
#include "lib/aws/sign.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>

#define VERSION "2011-06-15"
#define LIMIT_MS 25000
#define MAX_TOKEN 65536

/* --- the answer */
struct role_page {
	char *access_key, *secret, *token, *until;
};

static void *page_create(void)
{
	return calloc(1, sizeof(struct role_page));
}

static void *page_current(void *page)
{
	return page;
}

static int page_merge(void *into, void *from)
{
	(void)into;
	(void)from;
	return 0;
}

static void page_destroy(void *page)
{
	struct role_page *p = page;

	if (!p)
		return;
	free(p->access_key);
	secret_free(&p->secret);
	secret_free(&p->token);
	free(p->until);
	free(p);
}

static const struct reply_rule rules[] = {
    REPLY_RULE_TEXT("AccessKeyId", struct role_page, access_key),
    REPLY_RULE_TEXT("SecretAccessKey", struct role_page, secret),
    REPLY_RULE_TEXT("SessionToken", struct role_page, token),
    REPLY_RULE_TEXT("Expiration", struct role_page, until),
};
static const struct reply_reader assume_reader = {
    "AssumeRoleResult/Credentials", rules, sizeof rules / sizeof *rules, page_create, page_current, page_merge, page_destroy};
static const struct reply_reader web_reader = {"AssumeRoleWithWebIdentityResult/Credentials",
					       rules,
					       sizeof rules / sizeof *rules,
					       page_create,
					       page_current,
					       page_merge,
					       page_destroy};

struct reading {
	const char *action;
	const struct reply_reader *reader;
	struct credentials *out;
};

static int take_page(struct role_page *p, struct credentials *out, struct aws_error *error)
{
	int64_t until_ms = 0;

	if (!p->access_key || !p->secret || !p->token || !p->until || keys_time(p->until, &until_ms)) {
		error->class = AWS_TRANSIENT;
		strcpy(error->code, "UnreadableAnswer");
		return -1;
	}
	*out = (struct credentials){p->access_key, p->secret, p->token, until_ms};
	p->access_key = p->secret = p->token = NULL;
	return 0;
}

static int read_answer(void *arg, int status, const char *text, size_t n, struct aws_error *error)
{
	const struct reading *r = arg;
	struct reply *reply = reply_create(r->action, r->reader);
	int rc = -1;

	if (reply) {
		reply_feed(reply, text, n);
		rc = reply_end(reply, status, error) ? -1 : take_page(reply_page(reply), r->out, error);
	}
	reply_destroy(reply);
	return rc;
}

/* --- the question */
static int sts_endpoint(const struct credential_source *s, struct endpoint *out, struct err *e)
{
	if (s->sts_endpoint)
		return endpoint_parse(s->sts_endpoint, out, e);
	if (!s->region)
		return err_set(e, "STS is asked in a region, and there is none");
	return endpoint_of("sts", s->region, (struct endpoint_variant){false, false}, out, e);
}

static int ask(const struct credential_source *s, const struct credentials *base, struct buf *body, struct reading *r,
	       struct aws_error *error, struct err *e)
{
	struct endpoint ep = {0};
	struct service_call call = {.service = "sts",
				    .at = &ep,
				    .region = s->region ? s->region : "us-east-1",
				    .keys = base,
				    .content_type = SIGN_FORM,
				    .body = buf_text(body),
				    .read = read_answer,
				    .arg = r};
	struct http_route route = s->route;
	struct http *h = NULL;
	int64_t skew_ms = 0;
	int rc = -1;

	if (buf_failed(body)) {
		err_nomem(e);
	} else if (!sts_endpoint(s, &ep, e)) {
		route.tls = ep.tls;
		h = http_create(&route, e);
		if (h)
			rc = service_perform(h, &call, clock_mono_ms() + LIMIT_MS, &skew_ms, error);
		if (base) { /* what STS says of a wrong signature is the whole request, with the token in it */
			secret_redact(error->message, base->secret);
			secret_redact(error->message, base->token);
		}
		if (h && rc)
			err_set(e, "STS at %s: %s: %s", ep.host, error->code,
				error->message[0] ? error->message : "(no message)");
	}
	http_destroy(h);
	endpoint_clear(&ep);
	return rc;
}

static void start_body(struct buf *b, const char *action, const struct role_wish *w)
{
	buf_fmt(b, "Action=%s&Version=%s", action, VERSION);
	query_str(b, w->arn, "RoleArn");
	query_str(b, w->session_name, "RoleSessionName");
	query_str(b, w->duration_s, "DurationSeconds");
}

int keys_assume_role(const struct chain *c, const struct credentials *base, const struct role_wish *w, struct credentials *out,
		     struct aws_error *error, struct err *e)
{
	struct reading r = {"AssumeRole", &assume_reader, out};
	struct buf body = {0};
	int rc;

	start_body(&body, r.action, w);
	query_str(&body, w->external_id, "ExternalId");
	rc = ask(c->s, base, &body, &r, error, e);
	buf_free(&body);
	return rc;
}

struct web {
	const struct chain *c;
	const char *token_file;
	const struct role_wish *w;
};

/* The token is read anew each time: who hands it out replaces it. */
static int fetch_web(void *arg, struct credentials *out, struct err *e)
{
	const struct web *k = arg;
	struct reading r = {"AssumeRoleWithWebIdentity", &web_reader, out};
	struct buf token = {0}, body = {0};
	struct aws_error error = {0};
	char *text;
	int rc;

	secret_reserve(&token);
	secret_reserve(&body);
	rc = file_read(k->token_file, MAX_TOKEN, &token, e);
	if (!rc) {
		text = token.v;
		while (token.n && strchr(" \t\r\n", text[token.n - 1]))
			text[--token.n] = '\0';
		start_body(&body, r.action, k->w);
		query_str(&body, text, "WebIdentityToken");
		rc = ask(k->c->s, NULL, &body, &r, &error, e);
	}
	secret_buf_free(&token);
	secret_buf_free(&body);
	return rc ? err_prefix(e, "role %s by web identity", k->w->arn) : 0;
}

int keys_from_web_identity(const struct chain *c, const char *token_file, const struct role_wish *w, struct credentials *out,
			   struct err *e)
{
	const char *const parts[] = {token_file, w->arn, w->session_name, c->s->region, c->s->sts_endpoint};
	struct web k = {c, token_file, w};

	return keys_shared(c, "web", parts, sizeof parts / sizeof *parts, fetch_web, &k, out, e);
}
