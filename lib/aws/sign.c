/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sign.c - makes the headers of a signed POST. Called by connection.c (EC2) and service.c (all other services). */
#include "lib/aws/sign.h"

#include "lib/aws/credentials.h"
#include "lib/aws/sigv4.h"
#include "lib/base/buf.h"
#include "lib/base/str.h"

#define MOST_HEADERS 5

static size_t add(struct sigv4_header *h, size_t n, const char *name, const char *value)
{
	if (value)
		h[n++] = (struct sigv4_header){name, value};
	return n;
}

int sign_post(const struct sign_post *p, struct strs *headers)
{
	struct sigv4_key key = {p->keys->access_key, p->keys->secret, p->region, p->service};
	struct sigv4_header h[MOST_HEADERS];
	struct sigv4_request r = {.method = "POST", .path = "/", .headers = h, .body = p->body, .body_n = p->body_n};
	struct buf authorization = {0};
	char date[17];
	int rc = -1;

	sigv4_date(p->wall_ms, date);
	r.n_headers = add(h, 0, "Host", p->host);
	r.n_headers = add(h, r.n_headers, "Content-Type", p->content_type);
	r.n_headers = add(h, r.n_headers, "X-Amz-Date", date);
	r.n_headers = add(h, r.n_headers, "X-Amz-Security-Token", p->keys->token);
	r.n_headers = add(h, r.n_headers, "X-Amz-Target", p->target);
	if (!key.access_key || !key.secret || sigv4_authorize(&r, &key, p->wall_ms, &authorization))
		goto out;
	for (size_t i = 0; i < r.n_headers; i++)
		if (strs_addf(headers, "%s: %s", h[i].name, h[i].value))
			goto out;
	rc = strs_addf(headers, "Authorization: %s", buf_text(&authorization));
out:
	buf_free(&authorization);
	return rc;
}
