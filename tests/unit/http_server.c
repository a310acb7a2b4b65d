/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http_server.c - see http_server.h. The server ends with its standard input, so also when the test program dies. */
#include "tests/unit/cmocka_all.h"
#include "tests/unit/http_server.h"

#include "lib/aws/http.h"
#include "lib/base/buf.h"
#include "lib/base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLENTY 60000 /* ms: longer than an answer should need */

static void child(int in[2], int out[2], const char *path, const char *argument)
{
	dup2(in[0], 0);
	dup2(out[1], 1);
	close(in[1]);
	close(out[0]);
	execl(HTTP_SERVER_PYTHON, HTTP_SERVER_PYTHON, path, argument, (char *)NULL);
	_exit(127);
}

int http_server_start(struct http_server *s, const char *script, const char *argument)
{
	const char *srcdir = getenv("srcdir");
	char path[4096], line[64];
	int in[2], out[2];
	FILE *f;

	*s = (struct http_server){.pid = -1, .stdin_fd = -1};
	snprintf(path, sizeof path, "%s/tests/unit/%s", srcdir ? srcdir : ".", script);
	if (access(HTTP_SERVER_PYTHON, X_OK) || access(path, R_OK) || pipe(in) || pipe(out))
		return -1;
	s->pid = fork();
	if (!s->pid)
		child(in, out, path, argument);
	close(in[0]);
	close(out[1]);
	s->stdin_fd = in[1];
	f = fdopen(out[0], "r");
	if (!f || !fgets(line, sizeof line, f) || sscanf(line, "%d %d", &s->port, &s->tls_port) < 1)
		s->port = 0;
	if (f)
		fclose(f);
	return s->port ? 0 : -1;
}

void http_server_stop(struct http_server *s)
{
	close(s->stdin_fd);
	if (s->pid > 0)
		waitpid(s->pid, NULL, 0);
}

static void take(void *arg, const char *bytes, size_t n)
{
	buf_add(arg, bytes, n);
}

void http_server_get(const struct http_server *s, const char *path, struct buf *out)
{
	const struct http_route direct = {.proxy = ""};
	struct http *h = http_create(&direct, NULL);
	struct strs no_headers = {0};
	char *url = str_fmt("http://127.0.0.1:%d%s", s->port, path);
	struct http_answer a;
	struct http_request r = {.method = "GET", .url = url, .headers = &no_headers, .connect_ms = PLENTY, .total_ms = PLENTY,
				 .on_data = take, .arg = out};

	assert_non_null(h);
	assert_int_equal(http_once(h, &r, &a, NULL), 0);
	assert_int_equal(a.status, 200);
	http_destroy(h);
	free(url);
}
