/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server.c - libmicrohttpd under one poll. A request is read whole, answered by its listener's function at once, and sent at
 * once or, when a delay was asked for, later: its connection sleeps meanwhile and nobody else waits. Also reaps machines.
 */
#include "ec2local/server.h"
#include "ec2local/cloud.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/num.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if MHD_VERSION >= 0x00097002
typedef enum MHD_Result mhd_result;
#else
typedef int mhd_result; /* RHEL 8 */
#endif

#define BODY_MAX (4u * 1024 * 1024) /* EC2 takes far less */
#define LISTENERS_MAX 2
#define CONNECTIONS_MAX 900 /* below the usual limit of 1024 descriptors */

struct server;

struct listener {
	struct server *server;
	struct MHD_Daemon *daemon;
	http_answerer *answer;
};

/* One request of a connection. */
struct exchange {
	struct http_request rq;
	struct http_answer answer;
	struct MHD_Connection *connection;
	bool answered;
	int64_t due_mono_ms; /* sleeping until then */
	struct exchange *next_sleeping;
};

struct server {
	struct cloud *cloud;
	struct listener listeners[LISTENERS_MAX];
	size_t n_listeners;
	struct exchange *sleeping;
	int signals; /* signalfd */
	bool stop;
};

const char *http_header(const struct http_request *rq, const char *name)
{
	for (size_t i = 0; i < rq->headers.key.n; i++) {
		if (!strcasecmp(rq->headers.key.v[i], name))
			return rq->headers.val.v[i];
	}
	return NULL;
}

bool http_local(const struct http_request *rq)
{
	return rq->client >> 24 == 127;
}

/* --- one exchange */

static void exchange_destroy(struct exchange *x)
{
	if (!x)
		return;
	free(x->rq.path);
	free(x->rq.query);
	kvs_clear(&x->rq.headers);
	buf_free(&x->rq.body);
	kvs_clear(&x->answer.headers);
	buf_free(&x->answer.body);
	free(x);
}

/* The first thing MHD tells of a request: its URI as it came. What we return is the request's context from then on. */
static void *on_uri(void *cls, const char *uri, struct MHD_Connection *connection)
{
	struct exchange *x = calloc(1, sizeof(*x));
	const char *q = strchr(uri, '?');

	(void)cls;
	if (!x)
		return NULL;
	x->connection = connection;
	x->rq.path = q ? str_fmt("%.*s", (int)(q - uri), uri) : str_dup(uri);
	x->rq.query = str_dup(q ? q + 1 : "");
	if (x->rq.path && x->rq.query)
		return x;
	exchange_destroy(x);
	return NULL;
}

static void on_end(void *cls, struct MHD_Connection *connection, void **context, enum MHD_RequestTerminationCode why)
{
	struct listener *l = cls;

	(void)connection;
	(void)why;
	for (struct exchange **p = &l->server->sleeping; *p; p = &(*p)->next_sleeping) {
		if (*p == *context) {
			*p = (*p)->next_sleeping;
			break;
		}
	}
	exchange_destroy(*context);
	*context = NULL;
}

static mhd_result on_header(void *cls, enum MHD_ValueKind kind, const char *key, const char *val)
{
	(void)kind;
	return kvs_add(cls, key, val ? val : "") == 0 ? MHD_YES : MHD_NO;
}

static void compute(struct listener *l, struct exchange *x, const char *method)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	x->rq.method = method;
	if (info && info->client_addr->sa_family == AF_INET)
		x->rq.client = ntohl(((const struct sockaddr_in *)(const void *)info->client_addr)->sin_addr.s_addr);
	MHD_get_connection_values(x->connection, MHD_HEADER_KIND, on_header, &x->rq.headers);
	instances_settle(l->server->cloud, clock_wall_ms());
	l->answer(l->server->cloud, &x->rq, &x->answer);
	x->answered = true;
}

/* MHD's own Date knows nothing of the skew that was asked for. */
static void add_date(struct MHD_Response *r, int64_t skew_s)
{
	time_t now = (time_t)(clock_wall_ms() / 1000 + skew_s);
	struct tm tm;
	char text[64];

	if (gmtime_r(&now, &tm) && strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm))
		MHD_add_response_header(r, MHD_HTTP_HEADER_DATE, text);
}

static mhd_result send_answer(struct exchange *x, int64_t skew_s)
{
	size_t n = x->answer.body.n;
	struct MHD_Response *r;
	mhd_result rc;
	char *text;

	if (x->answer.drop)
		return MHD_NO; /* MHD closes the connection */
	text = n ? buf_take(&x->answer.body) : NULL;
	r = MHD_create_response_from_buffer(text ? n : 0, text, text ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
	if (!r) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, x->answer.type);
	MHD_add_response_header(r, MHD_HTTP_HEADER_SERVER, "ec2local");
	add_date(r, skew_s);
	for (size_t i = 0; i < x->answer.headers.key.n; i++)
		MHD_add_response_header(r, x->answer.headers.key.v[i], x->answer.headers.val.v[i]);
	rc = MHD_queue_response(x->connection, (unsigned int)x->answer.status, r);
	MHD_destroy_response(r);
	return rc;
}

static void take_body(struct exchange *x, const char *data, size_t n)
{
	if (x->rq.body.n + n > BODY_MAX) {
		x->rq.too_long = true;
		buf_reset(&x->rq.body);
	} else if (!x->rq.too_long) {
		buf_add(&x->rq.body, data, n);
	}
}

static mhd_result on_request(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
				  const char *version, const char *data, size_t *size, void **context)
{
	struct listener *l = cls;
	struct exchange *x = *context;

	(void)connection;
	(void)url;
	(void)version;
	if (!x)
		return MHD_NO;
	if (!x->rq.method) { /* headers only: the body, or its end, comes with the next call */
		x->rq.method = method;
		return MHD_YES;
	}
	if (*size) {
		take_body(x, data, *size);
		*size = 0;
		return MHD_YES;
	}
	if (x->answered)
		return send_answer(x, l->server->cloud->faults.skew_s);
	compute(l, x, method);
	if (x->answer.delay_ms <= 0)
		return send_answer(x, l->server->cloud->faults.skew_s);
	x->due_mono_ms = clock_mono_ms() + x->answer.delay_ms;
	x->next_sleeping = l->server->sleeping;
	l->server->sleeping = x;
	MHD_suspend_connection(x->connection);
	return MHD_YES;
}

/* --- listening */

static int parse_where(const char *where, struct sockaddr_in *out, struct err *e)
{
	const char *colon = strrchr(where, ':');
	char ip[INET_ADDRSTRLEN] = "";
	int64_t port;

	*out = (struct sockaddr_in){.sin_family = AF_INET};
	if (colon && colon - where < (ptrdiff_t)sizeof(ip))
		memcpy(ip, where, (size_t)(colon - where));
	if (!colon || inet_pton(AF_INET, ip, &out->sin_addr) != 1 || num_i64(colon + 1, 0, 65535, &port, NULL) < 0)
		return err_set(e, "\"%s\" is not ADDRESS:PORT such as 127.0.0.1:8000", where);
	out->sin_port = htons((uint16_t)port);
	return 0;
}

int server_listen(struct server *s, const char *where, http_answerer *answer, int *port, struct err *e)
{
	struct listener *l = &s->listeners[s->n_listeners];
	const union MHD_DaemonInfo *info;
	struct sockaddr_in addr;

	if (s->n_listeners == LISTENERS_MAX)
		return err_set(e, "too many listeners");
	if (parse_where(where, &addr, e) < 0)
		return -1;
	*l = (struct listener){.server = s, .answer = answer};
	errno = 0;
	l->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_SUPPRESS_DATE_NO_CLOCK,
				     ntohs(addr.sin_port), NULL, NULL, on_request, l, MHD_OPTION_SOCK_ADDR, &addr,
				     MHD_OPTION_URI_LOG_CALLBACK, on_uri, l, MHD_OPTION_NOTIFY_COMPLETED, on_end, l,
				     MHD_OPTION_CONNECTION_LIMIT,
				     (unsigned int)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, 300u, MHD_OPTION_END);
	if (!l->daemon)
		return err_errno(e, errno, "cannot listen on %s", where);
	info = MHD_get_daemon_info(l->daemon, MHD_DAEMON_INFO_BIND_PORT);
	*port = info ? info->port : ntohs(addr.sin_port);
	s->n_listeners++;
	return 0;
}

/* --- the loop */

static void signal_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
}

void server_block_signals(void)
{
	sigset_t set;

	signal_set(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

struct server *server_create(struct cloud *cloud, struct err *e)
{
	struct server *s = calloc(1, sizeof(*s));
	sigset_t set;

	if (!s) {
		err_nomem(e);
		return NULL;
	}
	signal_set(&set);
	s->cloud = cloud;
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0) {
		err_errno(e, errno, "signalfd");
		free(s);
		return NULL;
	}
	return s;
}

void server_destroy(struct server *s)
{
	if (!s)
		return;
	for (struct exchange *x = s->sleeping, *next; x; x = next) {
		next = x->next_sleeping;
		MHD_resume_connection(x->connection); /* MHD refuses to stop with sleepers */
	}
	s->sleeping = NULL;
	for (size_t i = 0; i < s->n_listeners; i++)
		MHD_stop_daemon(s->listeners[i].daemon);
	close(s->signals);
	free(s);
}

/* Wake the exchanges whose time has come. Milliseconds until the next (0 = one was woken, MHD must run), -1 = none. */
static int64_t wake(struct server *s)
{
	int64_t now = clock_mono_ms(), least = -1;
	bool woken = false;

	for (struct exchange **p = &s->sleeping; *p;) {
		struct exchange *x = *p;

		if (x->due_mono_ms <= now) {
			*p = x->next_sleeping;
			MHD_resume_connection(x->connection);
			woken = true;
			continue;
		}
		if (least < 0 || x->due_mono_ms - now < least)
			least = x->due_mono_ms - now;
		p = &x->next_sleeping;
	}
	return woken ? 0 : least;
}

static void take_signals(struct server *s)
{
	struct signalfd_siginfo si;
	pid_t pid;

	while (read(s->signals, &si, sizeof(si)) == (ssize_t)sizeof(si))
		s->stop = s->stop || si.ssi_signo != SIGCHLD;
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		instances_reaped(s->cloud, pid, clock_wall_ms());
}

static int64_t sooner(int64_t a, int64_t b)
{
	return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

static int timeout_of(struct server *s)
{
	int64_t t = sooner(wake(s), instances_settle(s->cloud, clock_wall_ms()));
	MHD_UNSIGNED_LONG_LONG ms;

	for (size_t i = 0; i < s->n_listeners; i++) {
		if (MHD_get_timeout(s->listeners[i].daemon, &ms) == MHD_YES)
			t = sooner(t, ms > 60000 ? 60000 : (int64_t)ms);
	}
	return t < 0 ? -1 : t > 60000 ? 60000 : (int)t;
}

int server_run(struct server *s, struct err *e)
{
	struct pollfd fds[LISTENERS_MAX + 1];

	for (size_t i = 0; i < s->n_listeners; i++) {
		const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->listeners[i].daemon, MHD_DAEMON_INFO_EPOLL_FD);

		if (!info)
			return err_set(e, "libmicrohttpd has no epoll descriptor");
		fds[i] = (struct pollfd){info->epoll_fd, POLLIN, 0};
	}
	fds[s->n_listeners] = (struct pollfd){s->signals, POLLIN, 0};
	while (!s->stop) {
		if (poll(fds, s->n_listeners + 1, timeout_of(s)) < 0 && errno != EINTR)
			return err_errno(e, errno, "poll");
		take_signals(s);
		for (size_t i = 0; i < s->n_listeners; i++)
			MHD_run(s->listeners[i].daemon);
	}
	log_info("stopping");
	return 0;
}
