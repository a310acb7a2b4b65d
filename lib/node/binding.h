/* binding.h - our own memory of a node's machine and of a launch, as plain values (rows of lib/state). */
#ifndef SE_NODE_BINDING_H
#define SE_NODE_BINDING_H

#include "lib/base/str.h"

#include <stddef.h>
#include <stdint.h>

enum binding_state {
	BINDING_LAUNCHING, /* claimed by a launch, no machine yet */
	BINDING_BOUND,     /* has a machine */
	BINDING_FREE       /* had one; kept for its generation number */
};

struct binding {
	char *node;
	int64_t generation;  /* grows with each change of life; never reused */
	enum binding_state state;
	char *launch;        /* launch id, NULL if free */
	char *instance;      /* instance id, NULL unless bound */
	char *ip;
	int64_t since_ms;    /* wall time of the last change */
};

enum launch_state {
	LAUNCH_INTENT,   /* committed; EC2 may or may not have heard it */
	LAUNCH_ANSWERED, /* EC2 answered; instances known; binding under way */
	LAUNCH_DONE      /* every instance bound or returned, or none came */
};

struct launch {
	char *id;            /* also ClientToken and the value of tag slurm-ec2:launch */
	char *queue;
	char *resource;
	struct strs nodes;   /* in the order the call lists them */
	int min_count;
	int stage;           /* of the compute resource */
	enum launch_state state;
	char *error;         /* EC2 error code, NULL = none */
	int64_t created_ms;
	int64_t pid;         /* process that works on it; a dead one's row is clustermgtd's */
	struct strs jobs;    /* job ids as text, for the log */
	char *request;       /* the exact form body without credentials, so that a retry is byte for byte the same */
};

struct bindings { struct binding *v; size_t n; size_t cap; };
struct launches { struct launch *v; size_t n; size_t cap; };

struct binding *bindings_add(struct bindings *l);
void bindings_clear(struct bindings *l);
const struct binding *bindings_find(const struct bindings *l, const char *node); /* linear */
struct launch *launches_add(struct launches *l);
void launches_clear(struct launches *l);

#endif
