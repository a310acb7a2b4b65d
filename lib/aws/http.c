/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http.c - the only user of libcurl. Called by perform.c (EC2), service.c, imds.c and credentials_local.c.
 *
 * Debian's libcurl reads the whole bundle of 144 certificates for each connection (33 ms, and serially); a hashed folder
 * costs 2 ms. So a hashed folder is preferred where there is one.
 */
#include "lib/aws/http.h"

#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/num.h"
#include "lib/base/str.h"

#include <curl/curl.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define HASHED_CERTS "/etc/ssl/certs"
#define MAX_CONNECTIONS 24L /* kept open; more than are ever used at once */
#define HOST_CONNECTIONS 16L
#define RECEIVE_BYTES 65536L /* an answer about 500 instances has 2 MB */
#define MAX_RETRY_AFTER_S 3600

struct transfer {
	struct http *http;
	struct transfer *next; /* in the list of idle ones, or of those held */
	bool begun;            /* its first bytes were held once */
	CURL *easy;
	struct curl_slist *headers;
	struct http_answer answer;
	void (*on_data)(void *arg, const char *bytes, size_t n);
	void *arg;
	void *tag;
	char error[CURL_ERROR_SIZE];
};

struct http {
	CURLM *multi;
	char *proxy, *no_proxy, *ca_bundle;
	bool ca_is_folder, bundled; /* of ca_bundle; libcurl knows a bundle of its own */
	const char *ca_path;
	bool tls;
	bool global;
	struct transfer *idle;
	struct transfer *held; /* their answers have begun; they go on with the next step */
	size_t active;
};

/* A folder is hashed if it holds a file such as "3513523f.0". */
static bool is_hashed_folder(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *f;
	bool found = false;

	if (!d)
		return false;
	while (!found && (f = readdir(d)))
		found = strspn(f->d_name, "0123456789abcdef") == 8 && !strcmp(f->d_name + 8, ".0");
	closedir(d);
	return found;
}

/* libcurl keeps a parsed bundle only while no folder is set, so where there is no hashed folder its built-in one is taken
 * away. */
static void find_certificates(struct http *h)
{
	struct stat st;

	if (h->ca_bundle) {
		h->ca_is_folder = stat(h->ca_bundle, &st) == 0 && S_ISDIR(st.st_mode);
	} else if (is_hashed_folder(HASHED_CERTS)) {
		h->ca_path = HASHED_CERTS;
	} else {
#if LIBCURL_VERSION_NUM >= 0x074600
		h->bundled = curl_version_info(CURLVERSION_NOW)->cainfo != NULL;
#endif
	}
}

struct http *http_create(const struct http_route *route, struct err *e)
{
	struct http *h = calloc(1, sizeof *h);

	if (!h)
		goto nomem;
	if (curl_global_init(CURL_GLOBAL_DEFAULT)) {
		err_set(e, "libcurl cannot be initialised");
		free(h);
		return NULL;
	}
	h->global = true;
	h->multi = curl_multi_init();
	h->proxy = str_dup(route->proxy);
	h->no_proxy = str_dup(route->no_proxy);
	h->ca_bundle = str_dup(route->ca_bundle);
	if (!h->multi || (route->proxy && !h->proxy) || (route->no_proxy && !h->no_proxy) || (route->ca_bundle && !h->ca_bundle))
		goto nomem;
	h->tls = route->tls;
	if (h->tls)
		find_certificates(h);
	curl_multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, MAX_CONNECTIONS);
	curl_multi_setopt(h->multi, CURLMOPT_MAX_HOST_CONNECTIONS, HOST_CONNECTIONS);
	return h;
nomem:
	http_destroy(h);
	err_nomem(e);
	return NULL;
}

static void transfer_destroy(struct transfer *t)
{
	if (t->easy)
		curl_easy_cleanup(t->easy);
	curl_slist_free_all(t->headers);
	free(t);
}

void http_destroy(struct http *h)
{
	if (!h)
		return;
	while (h->idle) {
		struct transfer *t = h->idle;

		h->idle = t->next;
		transfer_destroy(t);
	}
	if (h->multi)
		curl_multi_cleanup(h->multi);
	free(h->proxy);
	free(h->no_proxy);
	free(h->ca_bundle);
	if (h->global)
		curl_global_cleanup();
	free(h);
}

void http_collect(void *arg, const char *bytes, size_t n)
{
	struct buf *b = arg;

	if (n <= HTTP_COLLECT_MAX - b->n)
		buf_add(b, bytes, n);
	else
		b->failed = true;
}

/* libcurl reads an answer to its end before it looks at the next transfer, and starts nothing meanwhile. So the first bytes
 * are held until the caller had a turn, when it may send what must not wait until thousands of instances are read. */
static size_t take_data(char *bytes, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;

	if (!t->begun) {
		t->begun = true;
		t->next = t->http->held;
		t->http->held = t;
		if (t->on_data)
			t->on_data(t->arg, bytes, 0);
		return CURL_WRITEFUNC_PAUSE;
	}
	if (t->on_data)
		t->on_data(t->arg, bytes, size * n);
	return size * n;
}

/* The value if the line is that header, blanks removed, cut to out's size; else NULL. */
static const char *header_value(const char *line, size_t n, const char *name, char *out, size_t size)
{
	size_t skip = strlen(name);

	if (n <= skip || strncasecmp(line, name, skip))
		return NULL;
	while (skip < n && (line[skip] == ' ' || line[skip] == '\t'))
		skip++;
	while (n > skip && strchr(" \t\r\n", line[n - 1]))
		n--;
	snprintf(out, size, "%.*s", (int)(n - skip), line + skip);
	return out;
}

static size_t take_header(char *line, size_t size, size_t n, void *arg)
{
	struct http_answer *a = &((struct transfer *)arg)->answer;
	char value[80];
	int64_t number;
	time_t t;

	n *= size;
	if (header_value(line, n, "Date:", value, sizeof value)) {
		t = curl_getdate(value, NULL);
		a->date_ms = t > 0 ? (int64_t)t * 1000 : 0;
	} else if (header_value(line, n, "Retry-After:", value, sizeof value)) {
		if (!num_i64(value, 0, MAX_RETRY_AFTER_S, &number, NULL))
			a->retry_after_ms = number * 1000;
	} else if (header_value(line, n, "x-amz-retry-after:", value, sizeof value)) {
		if (!num_i64(value, 0, MAX_RETRY_AFTER_S * 1000L, &number, NULL))
			a->retry_after_ms = number;
	}
	return n;
}

static struct transfer *transfer_create(struct http *h)
{
	struct transfer *t = h->idle;

	if (t) {
		h->idle = t->next;
		curl_easy_reset(t->easy);
		return t;
	}
	t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	t->http = h;
	t->easy = curl_easy_init();
	if (!t->easy) {
		transfer_destroy(t);
		return NULL;
	}
	return t;
}

static void transfer_idle(struct transfer *t)
{
	curl_slist_free_all(t->headers);
	t->headers = NULL;
	t->next = t->http->idle;
	t->http->idle = t;
}

/* curl adds Expect and Content-Type by itself; a line without a value takes one away. */
static int add_headers(struct transfer *t, const struct http_request *r)
{
	static const char *const off[] = {"Expect:", "Accept:"};
	struct curl_slist *more;

	for (size_t i = 0; i < r->headers->n + 2; i++) {
		more = curl_slist_append(t->headers, i < r->headers->n ? r->headers->v[i] : off[i - r->headers->n]);
		if (!more)
			return -1;
		t->headers = more;
	}
	return 0;
}

static void set_route(const struct http *h, CURL *c)
{
	if (h->proxy)
		curl_easy_setopt(c, CURLOPT_PROXY, h->proxy);
	if (h->no_proxy)
		curl_easy_setopt(c, CURLOPT_NOPROXY, h->no_proxy);
	if (!h->tls)
		return;
	curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (h->ca_bundle) {
		curl_easy_setopt(c, CURLOPT_CAINFO, h->ca_is_folder ? NULL : h->ca_bundle);
		curl_easy_setopt(c, CURLOPT_CAPATH, h->ca_is_folder ? h->ca_bundle : NULL);
	} else if (h->bundled) {
		curl_easy_setopt(c, CURLOPT_CAPATH, NULL);
	} else if (h->ca_path) {
		curl_easy_setopt(c, CURLOPT_CAINFO, NULL);
		curl_easy_setopt(c, CURLOPT_CAPATH, h->ca_path);
	}
}

static void set_request(struct transfer *t, const struct http_request *r)
{
	CURL *c = t->easy;

	curl_easy_setopt(c, CURLOPT_URL, r->url);
	if (strcmp(r->method, "GET")) {
		curl_easy_setopt(c, CURLOPT_POST, 1L);
		curl_easy_setopt(c, CURLOPT_POSTFIELDS, r->body ? r->body : "");
		curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_n);
		if (strcmp(r->method, "POST"))
			curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, r->method);
	}
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, t->headers);
	curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(c, CURLOPT_USERAGENT, "slurm-ec2");
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(c, CURLOPT_BUFFERSIZE, RECEIVE_BYTES);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(c, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)r->connect_ms);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)(r->total_ms > 0 ? r->total_ms : 1));
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_data);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, t->error);
	curl_easy_setopt(c, CURLOPT_PRIVATE, t);
}

int http_start(struct http *h, const struct http_request *r, void *tag, struct err *e)
{
	struct transfer *t = transfer_create(h);

	if (!t)
		return err_nomem(e);
	if (add_headers(t, r)) {
		transfer_idle(t);
		return err_nomem(e);
	}
	t->answer = (struct http_answer){0};
	t->on_data = r->on_data;
	t->arg = r->arg;
	t->tag = tag;
	t->begun = false;
	t->error[0] = '\0';
	set_route(h, t->easy);
	set_request(t, r);
	if (curl_multi_add_handle(h->multi, t->easy)) {
		transfer_idle(t);
		return err_set(e, "libcurl refused a request");
	}
	h->active++;
	return 0;
}

static const char *fault_name(CURL *easy, CURLcode rc)
{
	curl_off_t connected_us = 0;

	switch (rc) {
	case CURLE_OK:
		return NULL;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_CONNECT:
		return "ConnectFailure";
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_CERTPROBLEM:
		return "CertificateFailure";
	case CURLE_OPERATION_TIMEDOUT:
		curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &connected_us);
		return connected_us > 0 ? "RequestTimeout" : "ConnectFailure";
	default:
		return "ConnectionLost";
	}
}

static void fill_answer(struct transfer *t, CURLcode rc)
{
	long status = 0;

	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	t->answer.status = (int)status;
	t->answer.fault = fault_name(t->easy, rc);
	if (t->answer.fault)
		snprintf(t->answer.detail, sizeof t->answer.detail, "%s", t->error[0] ? t->error : curl_easy_strerror(rc));
}

static void drop_held(struct http *h, const struct transfer *t)
{
	for (struct transfer **at = &h->held; *at; at = &(*at)->next) {
		if (*at == t) {
			*at = t->next;
			return;
		}
	}
}

static void go_on(struct http *h)
{
	int running;

	while (h->held) {
		struct transfer *t = h->held;

		h->held = t->next;
		curl_easy_pause(t->easy, CURLPAUSE_CONT);
	}
	curl_multi_perform(h->multi, &running);
}

static bool end_finished(struct http *h, void (*on_end)(void *, void *, const struct http_answer *), void *arg)
{
	bool any = false;
	CURLMsg *m;
	int left;

	while ((m = curl_multi_info_read(h->multi, &left))) {
		struct transfer *t = NULL;
		CURLcode rc = m->data.result;

		if (m->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&t);
		fill_answer(t, rc);
		curl_multi_remove_handle(h->multi, t->easy);
		drop_held(h, t);
		h->active--;
		on_end(arg, t->tag, &t->answer);
		transfer_idle(t);
		any = true;
	}
	return any;
}

static void wait_for_something(struct http *h, int64_t wait_ms)
{
	int fds = 0;

#if LIBCURL_VERSION_NUM >= 0x074200
	curl_multi_poll(h->multi, NULL, 0, (int)wait_ms, &fds);
#else
	/* Returns at once while a name is being looked up. */
	curl_multi_wait(h->multi, NULL, 0, (int)wait_ms, &fds);
	if (!fds)
		clock_sleep_ms(wait_ms < 10 ? wait_ms : 10);
#endif
}

void http_step(struct http *h, int64_t wait_ms, void (*on_end)(void *, void *, const struct http_answer *), void *arg)
{
	if (!h->active) {
		clock_sleep_ms(wait_ms);
		return;
	}
	go_on(h);
	if (end_finished(h, on_end, arg) || h->held || wait_ms <= 0)
		return;
	wait_for_something(h, wait_ms);
	go_on(h);
	end_finished(h, on_end, arg);
}

static void note_end(void *arg, void *tag, const struct http_answer *a)
{
	(void)arg;
	*(struct http_answer *)tag = *a;
}

int http_once(struct http *h, const struct http_request *r, struct http_answer *out, struct err *e)
{
	if (http_start(h, r, out, e))
		return -1;
	while (h->active)
		http_step(h, 1000, note_end, NULL);
	return 0;
}
