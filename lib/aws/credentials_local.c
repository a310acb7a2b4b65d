/* SPDX-License-Identifier: GPL-2.0-or-later */
/* credentials_local.c - the role of this instance (metadata service) or of this container. Called by credentials.c and
 * credentials_role.c. Never through a proxy, and the container's service only where nobody else can be listening. */
#include "lib/aws/credentials_chain.h"

#include "lib/aws/imds.h"
#include "lib/aws/secret.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/str.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define ROLE_PATH "meta-data/iam/security-credentials/"
#define CONTAINER_BASE "http://169.254.170.2"
#define CONTAINER_MS 2000
#define TRIES 3
#define MAX_TOKEN 16384
#define STALE_AGAIN_MS (2 * 60 * 1000)

/* --- this instance */

/* A metadata service that cannot renew goes on serving old keys, and AWS goes on taking them: keep them, and look again in 2 to
 * 10 minutes, each program at another time. */
static void extend_stale(struct credentials *c)
{
	int64_t now_ms = clock_wall_ms();

	if (c->expires_ms && c->expires_ms - now_ms < CREDENTIALS_TRY_MS)
		c->expires_ms = now_ms + CREDENTIALS_TRY_MS + STALE_AGAIN_MS + (int64_t)(rand_unit() * 4 * STALE_AGAIN_MS);
}

static int fetch_imds(void *arg, struct credentials *out, struct err *e)
{
	static const struct key_words words = {"the answer about the instance's role", "Token", 0};
	const struct chain *c = arg;
	struct buf role = {0}, json = {0};
	char *path = NULL;
	int rc = imds_get(c->imds, ROLE_PATH, &role, e);

	secret_reserve(&json);
	if (rc > 0) {
		path = str_fmt(ROLE_PATH "%.*s", (int)strcspn(buf_text(&role), "\r\n"), buf_text(&role));
		rc = path ? imds_get(c->imds, path, &json, e) : err_nomem(e);
	}
	if (rc == 0)
		rc = err_set(e, "this instance has no role (instance profile)");
	else if (rc > 0)
		rc = keys_from_json(buf_text(&json), json.n, &words, out, e);
	if (!rc)
		extend_stale(out);
	free(path);
	buf_free(&role);
	secret_buf_free(&json);
	return rc;
}

int keys_from_imds(const struct chain *c, struct credentials *out, struct err *e)
{
	const char *const parts[] = {imds_endpoint(c->imds)};
	struct chain copy = *c;

	return keys_shared(c, "instance", parts, 1, fetch_imds, &copy, out, e);
}

/* --- this container */
static bool is_loopback(const char *host)
{
	struct in_addr v4;

	if (inet_pton(AF_INET, host, &v4) == 1)
		return ntohl(v4.s_addr) >> 24 == 127;
	return !strcmp(host, "localhost") || !strcmp(host, "[::1]");
}

/* Keys over plain http only from where no stranger can answer. */
static bool is_trusted(const struct endpoint *ep)
{
	char host[80];
	size_t n = ep->host[0] == '[' ? strcspn(ep->host, "]") + 1 : strcspn(ep->host, ":");

	if (ep->tls)
		return true;
	if (n >= sizeof host)
		return false;
	memcpy(host, ep->host, n);
	host[n] = '\0';
	str_lower(host);
	return is_loopback(host) || !strcmp(host, "169.254.170.2") || !strcmp(host, "169.254.170.23") ||
	       !strcmp(host, "[fd00:ec2::23]");
}

/* The address to ask. NULL = none given, or with e. Caller frees. */
static char *container_url(const struct chain *c, struct err *e)
{
	const char *relative = chain_environment(c, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
	const char *full = chain_environment(c, "AWS_CONTAINER_CREDENTIALS_FULL_URI"), *slashes, *path;
	struct endpoint ep;
	char *base, *url = NULL;

	if (relative) {
		url = *relative == '/' ? str_fmt("%s%s", CONTAINER_BASE, relative) : NULL;
		if (!url)
			err_set(e, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI must begin with /");
		return url;
	}
	slashes = strstr(full, "://");
	path = slashes ? slashes + 3 + strcspn(slashes + 3, "/?#") : full + strlen(full);
	base = str_fmt("%.*s", (int)(path - full), full);
	if (!base) {
		err_nomem(e);
	} else if (endpoint_parse(base, &ep, e)) {
		err_prefix(e, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
	} else {
		if (!is_trusted(&ep))
			err_set(e, "AWS_CONTAINER_CREDENTIALS_FULL_URI: keys are not fetched from %s without TLS", ep.host);
		else
			url = str_dup(full);
		endpoint_clear(&ep);
	}
	free(base);
	return url;
}

/* The Authorization line, read anew each time; 0 = added or none is wanted. */
static int add_authorization(const struct chain *c, struct strs *headers, struct err *e)
{
	const char *file = chain_environment(c, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
	const char *token = chain_environment(c, "AWS_CONTAINER_AUTHORIZATION_TOKEN");
	struct buf b = {0};
	int rc = 0;

	secret_reserve(&b);
	if (file && file_read(file, MAX_TOKEN, &b, e))
		rc = -1;
	if (!file)
		buf_str(&b, token);
	if (!rc && b.n && strpbrk(buf_text(&b), "\r\n"))
		rc = err_set(e, "the container's authorization token has more than one line");
	if (!rc && b.n && strs_addf(headers, "Authorization: %s", buf_text(&b)))
		rc = err_nomem(e);
	secret_buf_free(&b);
	return rc;
}

/* The answer's text in out; -1 after TRIES. */
static int ask_container(struct http *h, const char *url, const struct strs *headers, struct buf *out, struct err *e)
{
	struct http_request r = {.method = "GET",
				 .url = url,
				 .headers = headers,
				 .connect_ms = CONTAINER_MS,
				 .total_ms = CONTAINER_MS,
				 .on_data = http_collect,
				 .arg = out};
	struct http_answer a = {0};

	for (int i = 0; i < TRIES; i++) {
		buf_reset(out);
		if (http_once(h, &r, &a, e))
			return -1;
		if (!a.fault && a.status == 200 && !buf_failed(out))
			return 0;
		if (!a.fault && a.status < 500)
			break;
	}
	return a.fault ? err_set(e, "the container's credential service does not answer (%s)", a.detail)
		       : err_set(e, "the container's credential service answered HTTP %d", a.status);
}

struct container {
	const struct chain *c;
	const char *url;
};

static int fetch_container(void *arg, struct credentials *out, struct err *e)
{
	static const struct key_words words = {"the answer of the container's credential service", "Token", 0};
	const struct http_route direct = {.proxy = "", .tls = true};
	const struct container *k = arg;
	struct http *h = http_create(&direct, e);
	struct strs headers = {0};
	struct buf json = {0};
	int rc = -1;

	secret_reserve(&json);
	if (h && !add_authorization(k->c, &headers, e) && !ask_container(h, k->url, &headers, &json, e))
		rc = keys_from_json(buf_text(&json), json.n, &words, out, e);
	http_destroy(h);
	secret_strs_clear(&headers);
	secret_buf_free(&json);
	return rc;
}

int keys_from_container(const struct chain *c, struct credentials *out, struct err *e)
{
	struct container k = {.c = c};
	char *url;
	int rc;

	if (!chain_environment(c, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") &&
	    !chain_environment(c, "AWS_CONTAINER_CREDENTIALS_FULL_URI"))
		return 0;
	k.url = url = container_url(c, e);
	if (!url)
		return -1;
	rc = keys_shared(c, "container", &k.url, 1, fetch_container, &k, out, e);
	free(url);
	return rc ? -1 : 1;
}
