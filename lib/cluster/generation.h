/* generation.h - the applied generation: everything resume, suspend and the daemons need, resolved once by `slurm-ec2
 * apply`.
 *
 * On disk: PKGSTATEDIR/applied/<number>/ with generation.json, cluster.yaml (as applied, variables filled in) and slurm/
 * (the Slurm files). "current" in that folder is a symbolic link to the newest, replaced by rename; the previous one is
 * kept, older ones are removed. A node name is `<queue>-{st|dy}-<resource>-<n>`; the (queue, resource) pairs below are
 * what names are resolved against.
 */
#ifndef SE_CLUSTER_GENERATION_H
#define SE_CLUSTER_GENERATION_H

#include "lib/base/str.h"
#include "lib/cluster/cluster.h"

#include <stdint.h>

struct err;

#define APPLIED_DIR PKGSTATEDIR "/applied"

/* One way to fill a compute resource. The first of a resource is what cluster.yaml says, the others come from Fallback in
 * settings.yaml; they are tried in this order. */
struct gen_stage {
	enum capacity_type capacity;
	struct strs instance_types;
	struct strs subnet_ids;
	struct strs zones;         /* of the subnets, in the same order; "" = unknown */
	double max_price;          /* SpotPrice, 0 = none */
	int64_t time_limit_s;      /* a shortage here is asked again for so long before the next is tried; 0 = next at once */
};

/* Where a queue's machines are, if not where the cluster's are. */
struct gen_cloud {
	char *region;
	char *profile;             /* NULL = settings.yaml's */
	char *endpoint;            /* NULL = the region's */
};

struct gen_resource {
	char *queue;
	char *name;
	int min_count;             /* nodes -st-1..min */
	int max_count;             /* nodes -dy-1..max-min */
	struct strs instance_types;
	struct strs subnet_ids;
	enum capacity_type capacity;
	char *template_id;         /* lt-... */
	int64_t template_version;
	char *template_hash;       /* of the content of that version: tells apply whether a new one is due */
	char *placement_group;     /* name, NULL = none */
	bool placement_managed;    /* ours to delete */
	bool single;               /* one stage, one type and one subnet: RunInstances; else CreateFleet */
	char *allocation_strategy; /* EC2's word for CreateFleet ("lowest-price"), NULL = EC2's default */
	char *reserved;            /* MARKET_RESERVED and the targeted reservation's id or group ARN, NULL = none */
	char *reservation_id;      /* of a capacity block or reservation by id, NULL = none */
	struct kvs overrides;      /* wire parameters that replace ours in the launch call, from the overrides file */
	int64_t cloud;             /* 0 = the cluster's, else 1 + index into generation.clouds */
	struct gen_stage *stages;  /* at least one once loaded */
	size_t n_stages;
	int cpus;                  /* as written to slurm.conf */
	int64_t real_memory_mib;
};

struct generation {
	int64_t number;            /* 1, 2, ... */
	char *uuid;                /* the cluster, for ever */
	char *cluster_name;
	char *region;
	char *slurm_version;       /* "22.05.8" */
	char *head_address;        /* IP literal */
	int slurmctld_port;
	char *munge_socket;        /* AuthInfo socket on nodes, NULL = default */
	char *slurm_user;
	enum scaling_strategy scaling;
	int64_t resume_timeout_s;
	int64_t suspend_timeout_s;
	char *bootstrap;           /* user data without the per-launch lines; see conf/bootstrap.h */
	struct kvs slurm_merged;   /* key -> what we added to the site's own comma list, so that uninstall can take it back */
	struct gen_cloud *clouds;
	size_t n_clouds;
	struct gen_resource *resources;
	size_t n_resources;
	const struct gen_resource **by_name; /* resources sorted by queue and name; NULL = not indexed */
};

void generation_destroy(struct generation *g); /* takes NULL */
/* Append a zeroed resource; borrowed until the next call. NULL on no memory. */
struct gen_resource *generation_add_resource(struct generation *g);
/* Append a zeroed stage or cloud; borrowed until the next call. NULL on no memory. */
struct gen_stage *gen_resource_add_stage(struct gen_resource *r);
struct gen_cloud *generation_add_cloud(struct generation *g);
/* Position of a pair in resources, or SIZE_MAX. Lengths are given so that a part of a node name can be looked up where it
 * stands. */
size_t generation_find_resource(const struct generation *g, const char *queue, size_t n_queue, const char *name, size_t n_name);
/* Make lookups fast; done by generation_from_json and undone by generation_add_resource. -1 on no memory (lookups still
 * work). */
int generation_index(struct generation *g);

/* JSON text both ways. Unknown members are ignored (an older program after a downgrade). */
char *generation_to_json(const struct generation *g); /* caller frees; NULL on no memory */
struct generation *generation_from_json(const char *text, size_t n, struct err *e);

/* Read <dir>/current/generation.json. dir is APPLIED_DIR but in tests. NULL with e, which says "run slurm-ec2 apply" when
 * there is none. */
struct generation *generation_load(const char *dir, struct err *e);

/* One file of a generation. */
struct gen_file {
	char *path;  /* relative to the generation's folder, e.g. "slurm/slurm-ec2.conf" */
	char *text;
};
/* Write <dir>/<number>/ (its files and generation.json), then swing "current" to it and remove all but the previous one.
 * All or nothing. */
int generation_store(const char *dir, const struct generation *g, const struct gen_file *files, size_t n, struct err *e);
/* Swing "current" back to generation `number` (a failed apply); 0 = there was none before. */
int generation_revert(const char *dir, int64_t number, struct err *e);

#endif
