/* types.h - instance types as `aws ec2 describe-instance-types` prints them, from a file. */
#ifndef EC2LOCAL_TYPES_H
#define EC2LOCAL_TYPES_H

#include "ec2local/call.h"
#include "ec2local/index.h"

#include <stdbool.h>
#include <stddef.h>

struct err;
struct json_object;

struct type {
	const char *name; /* borrowed from facts */
	const char *arch; /* the last SupportedArchitectures, the 64 bit one */
	int vcpus;
	bool cluster_placement;
	int max_efa;		   /* 0 = no EFA */
	int cards;		   /* network cards */
	struct json_object *facts; /* borrowed from doc */
};

/* Zero-initialised = empty. */
struct types {
	struct json_object *doc;
	struct type *v;
	size_t n;
	size_t cap;
	struct index by_name;
};

int types_load(struct types *t, const char *path, struct err *e);
const struct type *types_find(const struct types *t, const char *name);
void types_free(struct types *t);

extern const struct action types_actions[];

#endif
