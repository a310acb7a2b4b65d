/* limits.h - what `slurm-ec2 limits` reads and works out: read by limits_read.c, judged by limits_judge.c, shown by
 * cmd_limits.c.
 */
#ifndef SE_CLI_LIMITS_H
#define SE_CLI_LIMITS_H

#include "lib/aws/aws.h"
#include "lib/aws/quotas.h"
#include "lib/base/str.h"
#include "lib/node/offering.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ec2_call;
struct err;
struct gen_resource;
struct gen_stage;
struct generation;

enum limits_source {
	LIMITS_MACHINES,
	LIMITS_RESERVATIONS,
	LIMITS_TYPES,
	LIMITS_SUBNETS,
	LIMITS_QUOTAS,
	LIMITS_STATE, /* the capacity memory; of no cloud */
	LIMITS_SOURCES
};

/* One source that could not be read. */
struct limits_away {
	enum limits_source source;
	const char *region; /* NULL = of none */
	bool denied;	    /* not allowed, rather than away */
	char *why;
};

/* A region (and account) of the generation: 0 = the cluster's own, then gen->clouds. A reply that is not there is NULL. */
struct limits_cloud {
	const char *region;
	struct aws *aws;
	struct ec2_call *machines, *reservations, *types, *subnets;
	struct aws_quotas quotas;
	bool has_quotas;
};

/* A vCPU quota that at least one resource counts against. */
struct limits_quota {
	size_t cloud;
	const char *code, *name; /* name NULL = not told */
	int64_t value;		 /* vCPUs; -1 = not known, as for all below */
	int64_t ours;		 /* vCPUs of this cluster's machines */
	int64_t others;		 /* of all else: machines of others, reservations that are not in use */
	int64_t need;		 /* of all compute resources at MaxCount, by their first stage */
	size_t resources;	 /* how many those are */
};

/* A stage of a compute resource: a line of the table. */
struct limits_row {
	const struct gen_resource *r;
	const struct gen_stage *stage;
	const char *market;
	int64_t running;     /* the resource's machines */
	int64_t vcpus;	     /* at MaxCount, of the greatest type */
	size_t quota;	     /* of the first type that has one; SIZE_MAX = none */
	bool more_quotas;    /* the other types count against others */
	int64_t quota_room;  /* machines the quotas have room for */
	int64_t addresses;   /* free ones of its subnets; -1 */
	const char *reserved; /* state of its reservation; NULL = none or not known */
	bool reserved_gone;  /* EC2 does not know it */
	int64_t reserved_total, reserved_free;
	int64_t seconds;     /* until all are launched, by EC2's rate */
	int64_t offerings, closed;
};

struct limits {
	struct generation *gen;
	struct limits_cloud *clouds;
	size_t n_clouds;
	struct shortages shortages;
	bool has_shortages;
	struct aws_rate rate; /* of instances launched */
	int64_t now_ms;
	struct limits_away *away;
	size_t n_away, cap_away;
	struct limits_quota *quotas;
	size_t n_quotas, cap_quotas;
	struct limits_row *rows;
	size_t n_rows, cap_rows;
	struct strs warnings; /* sentences */
};

/* All sources; one that is not there is in `away`. -1 with e: there is nothing to show. */
int limits_read(struct limits *l, struct err *e);
/* Rows, quotas and warnings from what was read. -1 on no memory. */
int limits_judge(struct limits *l);
void limits_clear(struct limits *l);

/* Its name for a person, and in JSON and with the permission it needs. */
const char *limits_source_title(enum limits_source s);
const char *limits_source_key(enum limits_source s);
const char *limits_source_action(enum limits_source s);

#endif
