/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exporter.c - libmicrohttpd's own thread answers from a copy of the text; all that it shares with the loop is under one mutex.
 */
#include "clustermgtd/exporter.h"

#include "lib/base/err.h"
#include "lib/base/str.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#if MHD_VERSION >= 0x00097002
typedef enum MHD_Result mhd_result;
#else
typedef int mhd_result; /* RHEL 8 */
#endif

#define CONNECTIONS 16u
#define IDLE_S 10u
#define BACKLOG 16

struct exporter {
	struct MHD_Daemon *daemon; /* NULL = listens nowhere */
	int64_t port;
	pthread_mutex_t lock;
	char *text; /* NULL = no loop has ended yet */
};

static mhd_result answer(struct MHD_Connection *c, unsigned status, struct MHD_Response *r)
{
	mhd_result rc;

	if (!r)
		return MHD_NO;
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET");
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
				status == MHD_HTTP_OK ? "text/plain; version=0.0.4; charset=utf-8" : "text/plain");
	rc = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return rc;
}

static mhd_result refuse(struct MHD_Connection *c, unsigned status, const char *why)
{
	return answer(c, status, MHD_create_response_from_buffer(strlen(why), (char *)why, MHD_RESPMEM_PERSISTENT));
}

static mhd_result on_request(void *cls, struct MHD_Connection *c, const char *url, const char *method, const char *version,
				  const char *upload, size_t *upload_n, void **context)
{
	struct exporter *x = cls;
	char *copy;

	(void)version;
	(void)upload;
	(void)upload_n;
	(void)context;
	if (!str_eq(url, "/metrics"))
		return refuse(c, MHD_HTTP_NOT_FOUND, "only /metrics is here\n");
	if (!str_eq(method, MHD_HTTP_METHOD_GET))
		return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is answered\n");
	pthread_mutex_lock(&x->lock);
	copy = str_dup(x->text);
	pthread_mutex_unlock(&x->lock);
	if (!copy)
		return refuse(c, MHD_HTTP_SERVICE_UNAVAILABLE, "no loop has ended yet\n");
	return answer(c, MHD_HTTP_OK, MHD_create_response_from_buffer(strlen(copy), copy, MHD_RESPMEM_MUST_FREE));
}

struct exporter *exporter_create(struct err *e)
{
	struct exporter *x = calloc(1, sizeof *x);

	if (!x || pthread_mutex_init(&x->lock, NULL)) {
		free(x);
		err_nomem(e);
		return NULL;
	}
	return x;
}

static void stop(struct exporter *x)
{
	if (x->daemon)
		MHD_stop_daemon(x->daemon); /* closes the socket too */
	x->daemon = NULL;
	x->port = 0;
}

static int open_socket(int64_t port, struct err *e)
{
	struct sockaddr_in at = {
	    .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

	if (fd < 0)
		return err_errno(e, errno, "socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	err_errno(e, errno, "metrics cannot be had on 127.0.0.1:%lld (MetricsPort in settings.yaml, 0 = none)",
		  (long long)port);
	close(fd);
	return -1;
}

/* Signals are the loop's: the thread takes none. */
static struct MHD_Daemon *start(struct exporter *x, int fd)
{
	sigset_t all, old;
	struct MHD_Daemon *d;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	d = MHD_start_daemon(MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, on_request, x,
			     MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
			     MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S, MHD_OPTION_END);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return d;
}

int exporter_listen(struct exporter *x, int64_t port, struct err *e)
{
	int fd;

	if (x->port == port)
		return 0;
	stop(x);
	if (port == 0)
		return 0;
	fd = open_socket(port, e);
	if (fd < 0)
		return -1;
	x->daemon = start(x, fd);
	if (!x->daemon) {
		close(fd);
		return err_set(e, "the server of the metrics cannot be started");
	}
	x->port = port;
	return 0;
}

void exporter_publish(struct exporter *x, char *text)
{
	char *old;

	if (!text)
		return;
	pthread_mutex_lock(&x->lock);
	old = x->text;
	x->text = text;
	pthread_mutex_unlock(&x->lock);
	free(old);
}

void exporter_destroy(struct exporter *x)
{
	if (!x)
		return;
	stop(x);
	pthread_mutex_destroy(&x->lock);
	free(x->text);
	free(x);
}
