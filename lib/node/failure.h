/* failure.h - a machine that was launched and never served: a row of our memory (lib/state), counted by lib/plan/protect.h. */
#ifndef SE_NODE_FAILURE_H
#define SE_NODE_FAILURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct failure {
	char *queue;
	char *resource;
	char *node;
	char *instance;  /* NULL = unknown */
	char *code;      /* of the rule that saw it: "boot-failed", "resume-timeout", ... */
	int64_t time_ms;
	bool over;       /* a machine of its resource came up since: it counts for its node only */
};

/* Zero-initialised = empty. */
struct failures {
	struct failure *v;
	size_t n;
	size_t cap;
};

struct failure *failures_add(struct failures *l); /* zeroed; borrowed until the next add; NULL on no memory */
void failure_clear(struct failure *f); /* what it holds, not the value itself */
void failures_clear(struct failures *l);

#endif
