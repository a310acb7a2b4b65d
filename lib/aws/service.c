/* SPDX-License-Identifier: GPL-2.0-or-later */
/* service.c - the exchange with STS and Service Quotas. Called by credentials_sts.c and quotas.c. */
#include "lib/aws/service.h"

#include "lib/aws/endpoint.h"
#include "lib/aws/http.h"
#include "lib/aws/retry.h"
#include "lib/aws/secret.h"
#include "lib/aws/sign.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/str.h"

#include <stdio.h>
#include <string.h>

#define TRIES 4
#define CONNECT_MS 5000
#define TOTAL_MS 15000
#define SKEW_LEAST_MS 2000 /* Date has whole seconds */

static void set_error(struct aws_error *error, enum aws_class class, int status, const char *code, const char *message)
{
	*error = (struct aws_error){.class = class, .http_status = status};
	snprintf(error->code, sizeof error->code, "%s", code);
	snprintf(error->message, sizeof error->message, "%.*s", (int)sizeof error->message - 1, message);
}

static int make_headers(const struct service_call *c, int64_t skew_ms, struct strs *headers)
{
	struct sign_post p = {
	    .service = c->service,
	    .region = c->region,
	    .host = c->at->host,
	    .keys = c->keys,
	    .content_type = c->content_type,
	    .target = c->target,
	    .body = c->body,
	    .body_n = strlen(c->body),
	    .wall_ms = clock_wall_ms() + skew_ms,
	};

	return c->keys ? sign_post(&p, headers) : strs_addf(headers, "Content-Type: %s", c->content_type);
}

/* One exchange; 0 = good. */
static int try_once(struct http *h, const struct service_call *c, int64_t deadline_ms, int64_t skew_ms, struct http_answer *a,
		    struct aws_error *error)
{
	struct strs headers = {0};
	struct buf text = {0};
	int64_t left_ms = deadline_ms - clock_mono_ms();
	struct http_request r = {
	    .method = "POST",
	    .url = c->at->url,
	    .headers = &headers,
	    .body = c->body,
	    .body_n = strlen(c->body),
	    .connect_ms = CONNECT_MS,
	    .total_ms = left_ms < TOTAL_MS ? left_ms : TOTAL_MS,
	    .on_data = http_collect,
	    .arg = &text,
	};
	int rc = -1;

	*a = (struct http_answer){0};
	secret_reserve(&text);
	if (make_headers(c, skew_ms, &headers) || http_once(h, &r, a, NULL) || buf_failed(&text)) {
		set_error(error, AWS_OURS, 0, "RequestFailure", "out of memory, or an answer of too many bytes");
	} else if (a->fault) {
		bool certificate = !strcmp(a->fault, "CertificateFailure");

		set_error(error, certificate ? AWS_OURS : AWS_TRANSIENT, a->status, a->fault, a->detail);
	} else {
		*error = (struct aws_error){.http_status = a->status};
		rc = c->read(c->arg, a->status, buf_text(&text), text.n, error);
	}
	secret_strs_clear(&headers);
	secret_buf_free(&text);
	return rc;
}

/* Take AWS's clock from the answer. true = the next signature will carry another time. */
static bool correct_clock(const struct http_answer *a, int64_t *skew_ms)
{
	int64_t skew = a->date_ms - clock_wall_ms(), change = skew - *skew_ms;

	if (!a->date_ms || (change < SKEW_LEAST_MS && change > -SKEW_LEAST_MS))
		return false;
	*skew_ms = skew;
	return true;
}

int service_perform(struct http *h, const struct service_call *c, int64_t deadline_mono_ms, int64_t *skew_ms,
		    struct aws_error *error)
{
	bool skew_tried = false;

	for (int tries = 1;; tries++) {
		struct http_answer a;
		int64_t delay_ms = 0;

		if (!try_once(h, c, deadline_mono_ms, *skew_ms, &a, error))
			return 0;
		if (!skew_tried && retry_is_skew(error) && correct_clock(&a, skew_ms)) {
			skew_tried = true;
			continue;
		}
		if (!retry_worthwhile(error->class) || tries >= TRIES)
			return -1;
		delay_ms = retry_delay_ms(error->class, tries, rand_unit(), a.retry_after_ms);
		if (clock_mono_ms() + delay_ms >= deadline_mono_ms)
			return -1;
		clock_sleep_ms(delay_ms);
	}
}
