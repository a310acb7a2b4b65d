/* server.h - the HTTP side and the loop: one thread, one poll, everything else is called from here. */
#ifndef EC2LOCAL_SERVER_H
#define EC2LOCAL_SERVER_H

#include "ec2local/http.h"

struct cloud;
struct err;
struct server;

struct server *server_create(struct cloud *cloud, struct err *e);
/* Listen on "ADDRESS:PORT" (port 0 = any free one; *port tells which). */
int server_listen(struct server *s, const char *where, http_answerer *answer, int *port, struct err *e);
/* Serve until SIGTERM or SIGINT, which the caller has blocked with SIGCHLD (server_block_signals). */
int server_run(struct server *s, struct err *e);
void server_destroy(struct server *s); /* takes NULL */
/* Before anything is started: the loop takes these signals from a descriptor. */
void server_block_signals(void);

#endif
