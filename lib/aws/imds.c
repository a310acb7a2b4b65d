/* SPDX-License-Identifier: GPL-2.0-or-later */
/* imds.c - the instance metadata service, version 2 only. Called by credentials.c and by computemgtd. Never uses a proxy. */
#include "lib/aws/imds.h"

#include "lib/aws/endpoint.h"
#include "lib/aws/http.h"
#include "lib/aws/secret.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_ENDPOINT "http://169.254.169.254"
#define TRIES 2
#define TIMEOUT_MS 1000
#define TOKEN_TTL_S 21600
#define TOKEN_MARGIN_MS 60000

struct imds {
	char *endpoint; /* as given */
	char *url;      /* NULL until first used */
	struct http *http;
	char *token;
	int64_t token_until_ms; /* clock_mono_ms */
};

struct imds *imds_create(const char *endpoint)
{
	struct imds *i = calloc(1, sizeof *i);

	if (!i)
		return NULL;
	i->endpoint = str_dup(endpoint ? endpoint : DEFAULT_ENDPOINT);
	if (!i->endpoint) {
		free(i);
		return NULL;
	}
	return i;
}

const char *imds_endpoint(const struct imds *i)
{
	return i->endpoint;
}

static void forget_token(struct imds *i)
{
	secret_free(&i->token);
}

void imds_destroy(struct imds *i)
{
	if (!i)
		return;
	http_destroy(i->http);
	forget_token(i);
	free(i->url);
	free(i->endpoint);
	free(i);
}

static int make_ready(struct imds *i, struct err *e)
{
	const struct http_route direct = {.proxy = ""};
	struct endpoint ep;

	if (i->http)
		return 0;
	free(i->url);
	i->url = NULL;
	if (endpoint_parse(i->endpoint, &ep, e))
		return err_prefix(e, "ImdsEndpoint");
	i->url = ep.url;
	ep.url = NULL;
	endpoint_clear(&ep);
	i->http = http_create(&direct, e);
	return i->http ? 0 : -1;
}

/* One request; the answer's body in out. 0 = some HTTP answer arrived. */
static int ask(struct imds *i, const char *method, const char *path, const char *header, struct buf *out,
	       struct http_answer *answer, struct err *e)
{
	char *url = str_fmt("%slatest/%s", i->url, path);
	struct strs headers = {0};
	int rc = -1;

	if (!url || strs_add(&headers, header) || (strcmp(method, "GET") && strs_add(&headers, "Content-Type:"))) {
		err_nomem(e);
		goto out;
	}
	struct http_request r = {.method = method, .url = url, .headers = &headers, .connect_ms = TIMEOUT_MS,
				 .total_ms = TIMEOUT_MS, .on_data = http_collect, .arg = out};

	buf_reset(out);
	if (http_once(i->http, &r, answer, e))
		goto out;
	if (answer->fault)
		err_set(e, "the instance metadata service at %s does not answer (%s)", i->endpoint, answer->detail);
	else if (buf_failed(out))
		err_set(e, "the instance metadata service sent more than %d bytes for %s", HTTP_COLLECT_MAX, path);
	else
		rc = 0;
out:
	secret_strs_clear(&headers);
	free(url);
	return rc;
}

static int get_token(struct imds *i, struct err *e)
{
	static const char ttl[] = "X-aws-ec2-metadata-token-ttl-seconds: 21600";
	struct http_answer answer;
	struct buf b = {0};
	int rc = -1;

	if (i->token && clock_mono_ms() < i->token_until_ms)
		return 0;
	forget_token(i);
	if (ask(i, "PUT", "api/token", ttl, &b, &answer, e)) {
		err_prefix(e, "no metadata token (inside a container the hop limit must be 2)");
	} else if (answer.status != 200 || !b.n || strpbrk(buf_text(&b), "\r\n")) {
		err_set(e, "the instance metadata service at %s gave no token (HTTP %d); version 2 must be enabled", i->endpoint,
			answer.status);
	} else {
		i->token = buf_take(&b);
		i->token_until_ms = clock_mono_ms() + TOKEN_TTL_S * 1000LL - TOKEN_MARGIN_MS;
		rc = i->token ? 0 : err_nomem(e);
	}
	buf_free(&b);
	return rc;
}

/* One try. 1 found, 0 not found, -1 failed. */
static int get_once(struct imds *i, const char *path, struct buf *out, struct err *e)
{
	struct http_answer answer;
	char *header;
	int rc;

	if (get_token(i, e))
		return -1;
	header = str_fmt("X-aws-ec2-metadata-token: %s", i->token);
	if (!header)
		return err_nomem(e);
	rc = ask(i, "GET", path, header, out, &answer, e);
	secret_free(&header);
	if (rc)
		return -1;
	if (answer.status == 200)
		return 1;
	if (answer.status == 404)
		return 0;
	if (answer.status == 401)
		forget_token(i);
	return err_set(e, "the instance metadata service answered HTTP %d for %s", answer.status, path);
}

int imds_get(struct imds *i, const char *path, struct buf *out, struct err *e)
{
	struct buf b = {0};
	int rc = -1;

	if (make_ready(i, e))
		return -1;
	secret_reserve(&b);
	for (int n = 0; n < TRIES && rc < 0; n++)
		rc = get_once(i, path, &b, e);
	if (rc == 1)
		buf_add(out, buf_text(&b), b.n);
	secret_buf_free(&b); /* it may be the role's keys */
	return rc;
}
