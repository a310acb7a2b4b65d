/* cloud.h - everything the local cloud holds, made by main and passed down; there is no other state. One thread. */
#ifndef EC2LOCAL_CLOUD_H
#define EC2LOCAL_CLOUD_H

#include "ec2local/faults.h"
#include "ec2local/fleet.h"
#include "ec2local/images.h"
#include "ec2local/instances.h"
#include "ec2local/network.h"
#include "ec2local/placement.h"
#include "ec2local/reservations.h"
#include "ec2local/templates.h"
#include "ec2local/types.h"

#include <stdio.h>

struct err;
struct policy;

#define CLOUD_ACCOUNT "123456789012"

/* An access key the API accepts. */
struct key {
	char *access;
	char *secret;
	char *token;	       /* session token it must come with; NULL = a long-lived key */
	struct policy *policy; /* NULL = everything is allowed */
};

struct cloud {
	char *region;
	struct network network;
	struct images images;
	struct types types;
	struct templates templates;
	struct placements placements;
	struct reservations reservations;
	struct fleets fleets;
	struct instances instances;
	struct faults faults;
	struct key *keys;
	size_t n_keys, cap_keys;
	char *role;		 /* instance profile's role whose credentials the metadata service gives; NULL = none */
	const char *role_access; /* its key */
	FILE *request_log;	 /* a line per request body; NULL = none */
	FILE *state_log;	 /* a line per change of an instance's state; NULL = none */
	int64_t busy_us;	 /* spent on answers so far, for benchmarks of clients */
};

int cloud_init(struct cloud *c, const char *region, const char *cidr, struct err *e);
void cloud_free(struct cloud *c);
/* "ACCESS:SECRET[:TOKEN]" as --key gives it. */
int cloud_add_key(struct cloud *c, const char *spec, struct err *e);
const struct key *cloud_key(const struct cloud *c, const char *access);
/* "ACCESS=FILE": from now on that key may do only what the policy says. */
int cloud_set_policy(struct cloud *c, const char *spec, struct err *e);
/* "NAME=ACCESS": the metadata service gives instances with an instance profile this key. */
int cloud_set_role(struct cloud *c, const char *spec, struct err *e);
/* "i-" and 17 random hex digits. */
void cloud_new_id(char out[24], const char *prefix);
/* Tags of any resource by its id; NULL if there is no such thing. *type gets "instance", "launch-template", ... */
struct kvs *cloud_tags(struct cloud *c, const char *id, const char **type);

#endif
