/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perform.c - carries EC2 calls out: many side by side, under the token buckets, retried with the same body until the deadline.
 *
 * The rule that everything here serves: a launch that may have happened is never reported as one that did not.
 */
#include "lib/aws/call.h"
#include "lib/aws/connection.h"
#include "lib/aws/count.h"
#include "lib/aws/http.h"
#include "lib/aws/query.h"
#include "lib/aws/reply.h"
#include "lib/aws/retry.h"
#include "lib/aws/secret.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARALLEL 8           /* EC2 lets 5 launches through at once and 2 a second; more in flight only wait there */
#define CONNECTIONS 16       /* with those whose answer is arriving: EC2 works on the next ones while we read */
#define CONNECT_MS 5000
#define MUTATING_MS 90000    /* longer than EC2 takes: a time-out leaves a launch nobody knows of */
#define READING_MS 60000
#define TOKEN_REUSED "IdempotentParameterMismatch"
#define SKEW_LEAST_MS 2000   /* Date has whole seconds */

enum phase { WAITING, ACTIVE, ANSWERING, DONE };

struct flight {
	struct run *run;
	struct ec2_call *call;
	enum phase phase;
	char *body;              /* of the page now asked for; NULL = the part's own */
	size_t part;             /* 0 = call->body, then call->parts */
	struct reply *reply;
	int64_t not_before_ms;
	int tries;               /* of this page */
	int64_t skew_ms;         /* that the last try was signed with */
	struct bucket_cost cost; /* of the last try */
	double charged;          /* instances paid for */
	unsigned keys;           /* the keys that the last try was signed with */
	bool skew_tried, renewed;
};

struct run {
	struct aws *a;
	struct flight *flights;
	size_t n, left;
	size_t active, unanswered; /* in flight; those of which nothing has come yet */
	int64_t deadline_ms;
	void (*on_done)(struct ec2_call *, void *);
	void *arg;
	struct err refused;      /* why nothing can be sent at all: looked into once, it may cost seconds */
};

/* --- rates */
/* Take what the next try costs: 0, or the milliseconds until it can be had. A retry with the same token launches nothing new,
 * so only the first try is charged for instances. */
static int64_t charge(struct flight *f, int64_t now_ms)
{
	const struct ec2_call *c = f->call;
	enum bucket_kind instances = call_instance_bucket(c->action);
	int64_t wait_ms;

	f->cost = (struct bucket_cost){{0}};
	f->cost.v[call_bucket(c->action)] = 1;
	if (instances != BUCKET_KINDS && f->charged <= 0)
		f->cost.v[instances] = c->instances;
	wait_ms = bucket_share_take(f->run->a->buckets, &f->cost, now_ms);
	if (!wait_ms && instances != BUCKET_KINDS)
		f->charged = c->instances;
	return wait_ms;
}

/* What was never sent costs nothing. */
static void uncharge(struct flight *f)
{
	enum bucket_kind instances = call_instance_bucket(f->call->action);

	bucket_share_refund(f->run->a->buckets, &f->cost, clock_mono_ms());
	if (instances != BUCKET_KINDS && f->cost.v[instances] > 0)
		f->charged = 0;
}

/* Instances that the call's outcome leaves to be paid for: none if EC2 said no, all that may be there, or those it gave. */
static double instances_due(const struct flight *f)
{
	const struct ec2_call *c = f->call;

	if (c->error.class == AWS_TRANSIENT || (c->error.class == AWS_OK && !c->launches))
		return f->charged;
	return c->error.class == AWS_OK ? (double)ec2_launch_reply(c)->instances.n : 0;
}

static void refund_instances(struct flight *f)
{
	double due = f->charged > 0 ? instances_due(f) : 0;
	struct bucket_cost cost = {{0}};

	if (f->charged <= due)
		return;
	cost.v[call_instance_bucket(f->call->action)] = f->charged - due;
	bucket_share_refund(f->run->a->buckets, &cost, clock_mono_ms());
	f->charged = due;
}

/* --- outcomes */
static void set_error(struct aws_error *error, enum aws_class class, const char *code, const char *message)
{
	*error = (struct aws_error){.class = class};
	snprintf(error->code, sizeof error->code, "%s", code);
	snprintf(error->message, sizeof error->message, "%.*s", (int)sizeof error->message - 1, message);
}

/* After a try whose outcome is unknown, a later "not now" says nothing about it: the call keeps the error that says so. */
static bool replaces(const struct ec2_call *c, const struct aws_error *new)
{
	if (!c->mutating || c->error.class != AWS_TRANSIENT || !strcmp(c->error.code, "ConnectFailure"))
		return true;
	/* "Used before with other parameters" says that one try did arrive. */
	return new->class != AWS_THROTTLE && new->class != AWS_CREDENTIALS && strcmp(new->code, "ConnectFailure") &&
	       strcmp(new->code, TOKEN_REUSED);
}

/* EC2's own words do not say that the request at hand was not carried out. */
static void explain(struct aws_error *error)
{
	size_t n = strlen(error->message);

	if (!strcmp(error->code, TOKEN_REUSED))
		snprintf(error->message + n, sizeof error->message - n,
			 "%sits ClientToken was first used with other parameters, nothing was done for this request", n ? "; " : "");
}

static void note_error(struct flight *f, const struct aws_error *error)
{
	if (replaces(f->call, error)) {
		f->call->error = *error;
		explain(&f->call->error);
	}
	connection_redact(f->run->a, f->call->error.message);
}

static void finish(struct flight *f)
{
	struct run *run = f->run;

	f->phase = DONE;
	refund_instances(f);
	reply_destroy(f->reply);
	f->reply = NULL;
	free(f->body);
	f->body = NULL;
	run->left--;
	if (run->on_done)
		run->on_done(f->call, run->arg);
}

static void finish_with(struct flight *f, enum aws_class class, const char *code, const char *message)
{
	struct aws_error error;

	set_error(&error, class, code, message);
	note_error(f, &error);
	finish(f);
}

/* No time is left. A call that was tried keeps what its last try said. */
static void finish_late(struct flight *f)
{
	if (f->call->error.class == AWS_OK)
		finish_with(f, AWS_THROTTLE, "DeadlineReached", "no time was left to send it");
	else
		finish(f);
}

/* --- starting */
static const char *body_of(const struct flight *f)
{
	if (f->body)
		return f->body;
	return f->part ? f->call->parts.v[f->part - 1] : f->call->body;
}

static void feed(void *arg, const char *bytes, size_t n)
{
	struct flight *f = arg;

	if (f->phase == ACTIVE) {
		f->phase = ANSWERING;
		f->run->unanswered--;
	}
	reply_feed(f->reply, bytes, n);
}

static int send_request(struct flight *f, struct err *e)
{
	struct aws *a = f->run->a;
	const char *body = body_of(f);
	struct strs headers = {0};
	int64_t left_ms = f->run->deadline_ms - clock_mono_ms();
	struct http_request r = {
		.method = "POST", .url = a->endpoint.url, .headers = &headers, .body = body, .body_n = strlen(body),
		.connect_ms = CONNECT_MS, .total_ms = f->call->mutating ? MUTATING_MS : READING_MS, .on_data = feed, .arg = f,
	};
	int rc;

	if (r.total_ms > left_ms)
		r.total_ms = left_ms;
	rc = connection_sign(a, body, r.body_n, &headers) ? err_nomem(e) : http_start(a->http, &r, f, e);
	secret_strs_clear(&headers);
	return rc;
}

static void start(struct flight *f)
{
	struct aws *a = f->run->a;
	struct err e = {0};

	if (f->run->refused.text[0] || connection_ready(a, &f->run->refused)) {
		uncharge(f);
		finish_with(f, AWS_CREDENTIALS, "NoCredentials", f->run->refused.text);
		return;
	}
	if (clock_mono_ms() >= f->run->deadline_ms) { /* the keys took all the time there was */
		uncharge(f);
		finish_late(f);
		return;
	}
	f->reply = reply_create(f->call->action, f->call->reader);
	if (!f->reply || send_request(f, &e)) {
		uncharge(f);
		finish_with(f, AWS_TRANSIENT, "RequestFailure", f->reply ? e.text : "out of memory");
		return;
	}
	f->skew_ms = a->skew_ms;
	f->keys = a->keys_serial;
	f->tries++;
	f->phase = ACTIVE;
	f->call->repeated = f->tries > 1;
	f->call->sent = true;
	f->run->active++;
	f->run->unanswered++;
	a->calls++;
}

/* Start what may start now. Returns the milliseconds until the next could, at most the time left. */
static int64_t start_ready(struct run *run)
{
	int64_t next_ms = INT64_MAX;

	for (size_t i = 0; i < run->n && run->unanswered < PARALLEL && run->active < CONNECTIONS; i++) {
		struct flight *f = &run->flights[i];
		int64_t now_ms, delay;

		if (f->phase != WAITING)
			continue;
		now_ms = clock_mono_ms();
		delay = f->not_before_ms - now_ms;
		if (delay <= 0 && now_ms < run->deadline_ms)
			delay = charge(f, now_ms);
		if (now_ms + (delay > 0 ? delay : 0) >= run->deadline_ms)
			finish_late(f);
		else if (delay <= 0)
			start(f);
		else if (delay < next_ms)
			next_ms = delay;
	}
	return next_ms < 1000 ? next_ms : 1000;
}

/* --- ending */
static void retry_at(struct flight *f, int64_t delay_ms)
{
	reply_destroy(f->reply);
	f->reply = NULL;
	f->not_before_ms = clock_mono_ms() + delay_ms;
	f->phase = WAITING;
}

static int next_page_body(struct flight *f, const char *token)
{
	struct buf b = {0};

	buf_str(&b, f->part ? f->call->parts.v[f->part - 1] : f->call->body);
	query_str(&b, token, "NextToken");
	free(f->body);
	f->body = buf_take(&b);
	buf_free(&b);
	return f->body ? 0 : -1;
}

/* A whole page arrived: keep it and ask for the next, the next part, or be done. */
static void take_page(struct flight *f)
{
	const char *token = reply_next_token(f->reply);

	if (f->call->reader->merge(f->call->reply, reply_page(f->reply)) || (token && next_page_body(f, token))) {
		finish_with(f, AWS_TRANSIENT, "RequestFailure", "out of memory");
		return;
	}
	set_error(&f->call->error, AWS_OK, "", "");
	f->call->error.http_status = 200;
	if (!token) {
		free(f->body);
		f->body = NULL;
		if (f->part == f->call->parts.n) {
			finish(f);
			return;
		}
		f->part++;
	}
	f->tries = 0;
	retry_at(f, 0);
}

/* Take EC2's clock from the answer. true = the next signature will carry another time. */
static bool correct_clock(struct flight *f, const struct http_answer *answer)
{
	struct aws *a = f->run->a;
	int64_t skew_ms, change;

	if (f->skew_tried || !answer->date_ms)
		return false;
	f->skew_tried = true;
	skew_ms = answer->date_ms - clock_wall_ms();
	change = skew_ms - f->skew_ms;
	if (change < SKEW_LEAST_MS && change > -SKEW_LEAST_MS)
		return false;
	a->skew_ms = skew_ms;
	return true;
}

static void judge(struct flight *f, const struct aws_error *error, const struct http_answer *answer)
{
	enum aws_class class = error->class;

	note_error(f, error);
	if (retry_is_skew(error) && correct_clock(f, answer)) {
		retry_at(f, 0);
		return;
	}
	if (class == AWS_CREDENTIALS && !f->renewed) {
		f->renewed = true;
		if (connection_renew(f->run->a, f->keys)) {
			retry_at(f, 0);
			return;
		}
	}
	if (!retry_worthwhile(class)) {
		finish(f);
		return;
	}
	if (class == AWS_THROTTLE)
		bucket_share_empty(f->run->a->buckets, call_bucket(f->call->action), clock_mono_ms());
	retry_at(f, retry_delay_ms(class, f->tries, rand_unit(), answer->retry_after_ms));
}

static void fault_error(const struct http_answer *answer, struct aws_error *error)
{
	bool certificate = !strcmp(answer->fault, "CertificateFailure");

	set_error(error, certificate ? AWS_OURS : AWS_TRANSIENT, answer->fault, answer->detail);
	error->http_status = answer->status;
}

static void flight_ended(void *arg, void *tag, const struct http_answer *answer)
{
	struct run *run = arg;
	struct flight *f = tag;
	struct aws_error error;

	run->active--;
	run->unanswered -= f->phase == ACTIVE;
	if (answer->fault)
		fault_error(answer, &error);
	else if (reply_end(f->reply, answer->status, &error) == 0)
		error.class = AWS_OK;
	count_request(f->call->action, error.class);
	if (error.class == AWS_OK)
		take_page(f);
	else
		judge(f, &error, answer);
}

/* --- the verbs of ec2.h */
static void begin(struct flight *f, struct run *run, struct ec2_call *c)
{
	f->run = run;
	f->call = c;
	c->error = (struct aws_error){0};
	if (c->nothing)
		finish(f);
}

int ec2_perform(struct aws *a, struct ec2_call *const *calls, size_t n, int64_t deadline_mono_ms,
		void (*on_done)(struct ec2_call *, void *), void *arg)
{
	struct run run = {.a = a, .n = n, .left = n, .deadline_ms = deadline_mono_ms, .on_done = on_done, .arg = arg};
	int rc = 0;

	run.flights = calloc(n ? n : 1, sizeof *run.flights);
	if (!run.flights) {
		for (size_t i = 0; i < n; i++)
			set_error(&calls[i]->error, AWS_TRANSIENT, "RequestFailure", "out of memory");
		return -1;
	}
	a->refused_serial = 0; /* they may have been repaired since */
	for (size_t i = 0; i < n; i++)
		begin(&run.flights[i], &run, calls[i]);
	while (run.left) {
		int64_t wait_ms;

		if (a->stop && *a->stop && run.deadline_ms > clock_mono_ms())
			run.deadline_ms = clock_mono_ms();
		wait_ms = start_ready(&run);
		if (run.active)
			http_step(a->http, wait_ms, flight_ended, &run);
		else if (run.left)
			clock_sleep_ms(wait_ms);
	}
	for (size_t i = 0; i < n; i++)
		if (calls[i]->error.class != AWS_OK)
			rc = -1;
	free(run.flights);
	return rc;
}

int ec2_perform_one(struct aws *a, struct ec2_call *c, int64_t deadline_mono_ms, struct err *e)
{
	const struct aws_error *x = &c->error;

	if (!ec2_perform(a, &c, 1, deadline_mono_ms, NULL, NULL))
		return 0;
	return err_set(e, "%s: %s: %s%s%s%s", c->action, x->code, x->message[0] ? x->message : "(no message)",
		       x->request_id[0] ? " (request " : "", x->request_id, x->request_id[0] ? ")" : "");
}
