/* services.h - the AWS services that answer on the API's port, told apart by what a request looks like. */
#ifndef EC2LOCAL_SERVICES_H
#define EC2LOCAL_SERVICES_H

#include "ec2local/call.h"

#include <stddef.h>

struct http_request;

struct service {
	const char *name;    /* in the signature's scope and in policies */
	const char *version; /* the query protocol's Version; NULL = a JSON protocol */
	const char *type;    /* Content-Type of its answers */
	/* Write the frame around an answer, and an error in place of it. */
	void (*open)(struct call *c);
	void (*close)(struct call *c);
	void (*fail)(struct call *c, const char *code, const char *text);
	const struct action *const *actions; /* NULL-terminated */
};

extern const struct service service_ec2, service_sts, service_quotas;

/* Which one is asked. The target header of a JSON protocol or the Version of a query decides. */
const struct service *service_of(const struct http_request *rq, const struct params *p);
const struct action *service_action(const struct service *s, const char *name); /* NULL = unknown */

extern const struct action sts_actions[];    /* sts.c */
extern const struct action quotas_actions[]; /* quotas.c */

#endif
