/* cluster.h - the cluster value: what one cluster.yaml says, read-only once loaded.
 *
 * Field names follow the keys of AWS ParallelCluster 3 (Scheduling.SlurmQueues[].ComputeResources[] ...). Defaults are filled
 * in; a key that was not given and has no default is NULL, an empty list, or TRI_UNSET. Strings are owned by the cluster and
 * live until cluster_destroy.
 */
#ifndef SE_CLUSTER_CLUSTER_H
#define SE_CLUSTER_CLUSTER_H

#include "lib/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tri { TRI_UNSET = -1, TRI_FALSE = 0, TRI_TRUE = 1 };

enum scaling_strategy { SCALING_ALL_OR_NOTHING, SCALING_GREEDY_ALL_OR_NOTHING, SCALING_BEST_EFFORT };
enum capacity_type { CAPACITY_ONDEMAND, CAPACITY_SPOT, CAPACITY_BLOCK };

/* Where a value stands in the file, for messages made after parsing; line 0 = not in the file. */
struct place {
	int line;
	int column;
};

struct placement_group {
	struct place at;   /* line 0: no section */
	enum tri enabled;
	char *name;        /* Name or Id: a group that is not ours; Name wins */
	struct place name_at, id_at;
};

struct root_volume {
	int64_t size_gib;  /* 0 = the image's */
	char *type;        /* gp3 by default */
	int64_t iops;      /* 0 = EC2's default */
	int64_t throughput;
	bool encrypted;    /* default true */
};

struct compute_resource {
	struct place at;                 /* of the Name's value; of the section if it has none */
	char *name;
	struct strs instance_types;      /* InstanceType or Instances[].InstanceType, in order */
	struct place type_at;            /* of InstanceType */
	struct strs more_types;          /* not of this file: further ones that Fallback of settings.yaml names; see fallback.h */
	bool flexible;                   /* given as Instances: */
	struct place instances_at;
	int min_count;                   /* static nodes, default 0 */
	struct place min_count_at;
	int max_count;                   /* static + dynamic, default 10 */
	struct place max_count_at;
	double spot_price;               /* USD an hour, 0 = not set */
	struct place spot_price_at;
	bool disable_smt;                /* DisableSimultaneousMultithreading */
	int64_t schedulable_memory_mib;  /* 0 = 95 % of what EC2 says */
	bool efa;
	bool gdr;
	struct place gdr_at;
	struct placement_group placement; /* a section here replaces the queue's */
	char *capacity_reservation_id;
	char *capacity_reservation_group;
	struct place reservation_at;     /* of CapacityReservationTarget */
	int64_t static_priority;         /* Weight of -st- nodes, default 1 */
	int64_t dynamic_priority;        /* Weight of -dy- nodes, default 1000 */
	struct kvs custom_slurm;         /* appended to the NodeName line */
	struct kvs tags;
};

struct queue {
	struct place at;                 /* of the Name's value; of the section if it has none */
	char *name;
	enum capacity_type capacity;
	struct place capacity_at;
	char *allocation_strategy;       /* NULL = EC2's default */
	struct place allocation_at;
	bool job_exclusive;              /* JobExclusiveAllocation */
	char *custom_ami;                /* Image.CustomAmi of the queue, or NULL */
	struct strs subnet_ids;
	struct place subnets_at;
	struct strs security_groups;     /* instead of ComputeSecurityGroupIds of settings.yaml */
	struct place groups_at;
	struct strs additional_security_groups; /* beside them */
	struct place more_groups_at;
	enum tri assign_public_ip;
	struct placement_group placement;
	char *instance_profile;          /* name or ARN, NULL = none */
	struct place profile_at;
	char *instance_role;
	struct place role_at;
	struct root_volume root_volume;
	char *capacity_reservation_id;
	char *capacity_reservation_group;
	struct place reservation_at;     /* of CapacityReservationTarget */
	struct kvs custom_slurm;         /* appended to the PartitionName line */
	struct kvs tags;
	struct compute_resource *resources;
	size_t n_resources, cap_resources;
};

struct cluster {
	char *file;                      /* path as given, for messages */
	char *text;                      /* the file with its variables filled in; gives the same cluster again without any of them */
	char *region;
	char *os;                        /* Image.Os */
	char *custom_ami;                /* Image.CustomAmi or NULL */
	char *head_subnet_id;
	char *head_instance_type;
	enum scaling_strategy scaling;
	int64_t scaledown_idletime_min;  /* default 10; -1 = never power down */
	bool memory_scheduling;          /* EnableMemoryBasedScheduling */
	int64_t resume_timeout_s;        /* DevSettings.Timeouts.ComputeNodeBootstrapTimeout, default 1800 */
	bool imds_v2_only;               /* Imds.ImdsSupport, default v2.0 */
	bool detailed_monitoring;
	struct kvs *custom_slurm;        /* CustomSlurmSettings: one list a line */
	size_t n_custom_slurm, cap_custom_slurm;
	struct kvs tags;
	struct queue *queues;
	size_t n_queues, cap_queues;
};

/* All defaults, no queue. NULL on no memory. */
struct cluster *cluster_create(void);
/* Append a queue or a resource with its defaults; borrowed until the next call for the same list. NULL on no memory. */
struct queue *cluster_add_queue(struct cluster *c);
struct compute_resource *queue_add_resource(struct queue *q);
/* Append an empty line of CustomSlurmSettings. */
struct kvs *cluster_add_custom_slurm(struct cluster *c);
/* Takes NULL. */
void cluster_destroy(struct cluster *c);

/* The placement section in force: the resource's if it has one, else the queue's. Borrowed, never NULL. */
const struct placement_group *cluster_placement(const struct queue *q, const struct compute_resource *r);
/* True if we make a placement group of our own for this resource (Enabled: true without Name or Id). */
bool cluster_placement_managed(const struct queue *q, const struct compute_resource *r);
/* The capacity reservation in force, by id or by the ARN of a resource group: the resource's section replaces the queue's.
 * Borrowed; NULL = none. */
const char *cluster_reservation_id(const struct queue *q, const struct compute_resource *r);
const char *cluster_reservation_group(const struct queue *q, const struct compute_resource *r);

const char *scaling_strategy_text(enum scaling_strategy s);
int scaling_strategy_parse(const char *text, enum scaling_strategy *out); /* -1 if unknown */
const char *capacity_type_text(enum capacity_type t);                     /* ONDEMAND, SPOT, CAPACITY_BLOCK */
int capacity_type_parse(const char *text, enum capacity_type *out);

#endif
