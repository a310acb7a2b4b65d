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
	char *token;		     /* session token it must come with; NULL = a long-lived key */
	char *arn;		     /* of the session; NULL = a user's key */
	const struct policy *policy; /* NULL = everything is allowed; borrowed from the cloud */
	int64_t expires_ms;	     /* 0 = never */
	char *expired_code;	     /* control ended it: requests are refused so; NULL = it is good */
};

/* A role AssumeRole gives keys for. */
struct assumable {
	char *arn;
	const struct policy *policy; /* of its sessions; NULL = everything */
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
	struct key **keys;
	size_t n_keys, cap_keys;
	struct policy **policies;
	size_t n_policies, cap_policies;
	struct assumable *assumables;
	size_t n_assumables, cap_assumables;
	int64_t session_s;	    /* how long temporary keys live; 0 = as asked for, the role's for ever */
	char *role;		    /* instance profile's role whose credentials the metadata service gives; NULL = none */
	const struct key *role_key; /* its key at the moment */
	FILE *request_log;	    /* a line per request body; NULL = none */
	FILE *state_log;	    /* a line per change of an instance's state; NULL = none */
	int64_t busy_us;	    /* spent on answers so far, for benchmarks of clients */
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
/* "ARN" or "ARN=FILE": AssumeRole gives keys for that role, which may do what the policy says. */
int cloud_add_assumable(struct cloud *c, const char *spec, struct err *e);
const struct assumable *cloud_assumable(const struct cloud *c, const char *arn); /* NULL = unknown */
/* A fresh temporary key; NULL on no memory. */
const struct key *cloud_new_session(struct cloud *c, const struct policy *policy, const char *arn, int64_t expires_ms);
/* The key the metadata service hands out now: a fresh one when the last has expired or will soon. NULL = no role. */
const struct key *cloud_role_key(struct cloud *c, int64_t now_ms);
/* End a key now: it is refused with this code. The role it belongs to gets a fresh one. */
int cloud_expire_key(struct cloud *c, const char *access, const char *code, int64_t now_ms, struct err *e);
/* "i-" and 17 random hex digits. */
void cloud_new_id(char out[24], const char *prefix);
/* Tags of any resource by its id; NULL if there is no such thing. *type gets "instance", "launch-template", ... */
struct kvs *cloud_tags(struct cloud *c, const char *id, const char **type);

#endif
