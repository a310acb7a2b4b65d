/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http_server.h - a Python server of tests/unit beside a test program: started, asked outside of everything tested, ended. */
#ifndef SE_TESTS_HTTP_SERVER_H
#define SE_TESTS_HTTP_SERVER_H

#include <sys/types.h>

struct buf;

#define HTTP_SERVER_PYTHON "/usr/bin/python3"

struct http_server {
	pid_t pid;
	int stdin_fd; /* closing it ends the server */
	int port;
	int tls_port; /* 0 = it has none */
};

/* script: its name in tests/unit; argument may be NULL. It prints "PORT" or "PORT TLS-PORT". -1 if it does not run. */
int http_server_start(struct http_server *s, const char *script, const char *argument);
void http_server_stop(struct http_server *s);
/* GET a path; anything but 200 fails the test. */
void http_server_get(const struct http_server *s, const char *path, struct buf *out);

#endif
