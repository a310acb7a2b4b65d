/* launch.h - launch data: what a template or RunInstances says about an instance, checked and turned into one value. */
#ifndef EC2LOCAL_LAUNCH_H
#define EC2LOCAL_LAUNCH_H

#include "ec2local/call.h"
#include "ec2local/network.h"
#include "ec2local/placement.h"
#include "ec2local/templates.h"
#include "ec2local/types.h"

#include <stdbool.h>
#include <stddef.h>

struct image;
struct reservation;

enum market { MARKET_ON_DEMAND, MARKET_SPOT, MARKET_BLOCK };
#define MARKETS 3

struct nic {
	int card;
	int device;
	char *type; /* "interface", "efa", "efa-only" */
	const struct subnet *subnet;
	struct strs groups;
};

/* Shared by the instances of one launch; counted. */
struct launch {
	long refs;
	char reservation[24];
	char request_id[37]; /* of the call that made it */
	const struct type *type;
	const struct image *image;
	const struct subnet *subnet;	 /* of device 0 */
	const struct template *template; /* only good while the call runs */
	char *placement;		 /* name or NULL */
	char *user_data;		 /* base64 or NULL */
	char *key_name;
	char *profile; /* name or ARN as given, or NULL */
	char *client_token;
	enum market market;
	int quota_row;		  /* of quotas.c; -1 = none */
	double max_price;	  /* of spot, dollars an hour; 0 = the on-demand price */
	bool no_reservation;	  /* not even an open one */
	struct reservation *from; /* the capacity reservation it takes from, or NULL */
	bool stop_on_shutdown;	  /* InstanceInitiatedShutdownBehavior=stop, EC2's default */
	bool imds_optional;	  /* HttpTokens=optional */
	bool imds_tags;
	bool monitoring;
	bool ebs_optimized;
	int cores, threads_per_core; /* 0 = the type's */
	struct kvs tags;	     /* of the instance */
	struct kvs volume_tags;
	struct nic *nics;
	size_t n_nics, cap_nics;
	size_t primary; /* index of device 0 on card 0 */
};

/* Names of launch data, NULL-terminated. */
extern const char *const launch_params[];
bool launch_knows(const char *name);

/* Check the form of launch data (enumerations, base64, numbers). -1 = error written. */
int launch_check_data(struct call *c, const struct params *data);
/* Add to data each top-level parameter of `under` that it lacks. -1 on no memory. */
int launch_merge(struct params *data, const struct params *under);
const char *market_name(enum market m); /* "on-demand", "spot", "capacity-block" */
/* The launch a RunInstances call asks for: its template below its own parameters, every reference resolved. NULL = error
 * written. */
struct launch *launch_resolve(struct call *c);
/* The launch of one of a fleet's choices: its own data (InstanceType, SubnetId, ...) over the template's. A subnet of its own
 * is also that of the template's interfaces. NULL = error written. */
struct launch *launch_resolve_choice(struct call *c, const struct params *own, const struct template *t,
				     const struct template_version *v, enum market market);
/* A launch made of defaults, for the head's record. NULL on no memory or without a subnet. */
struct launch *launch_plain(struct cloud *cloud, const char *type, const struct subnet *subnet, const char *profile);
void launch_unref(struct launch *l); /* takes NULL */

#endif
