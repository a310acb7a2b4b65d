/* settings.h - settings.yaml of one head node: how our programs reach Slurm and EC2. Every key has a default.
 *
 * The programs that slurmctld starts have an empty environment, so all they need stands here or in the applied generation.
 * One table (settings.c) gives each key's name, type, default and sentence; the example file, the man page and the parser
 * are made from it.
 */
#ifndef SE_CLUSTER_SETTINGS_H
#define SE_CLUSTER_SETTINGS_H

#include "lib/base/str.h"
#include "lib/cluster/cluster.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct problems;

#define SETTINGS_PATH PKGSYSCONFDIR "/settings.yaml"

/* Queues[]: where the machines of one queue are, if not where the cluster's are. */
struct queue_cloud {
	struct place at;
	char *queue;
	char *region;
	char *profile;
	char *endpoint;
};

/* Fallback[].Then[]: what is tried when the pool before came up short. What is not given is as in cluster.yaml. */
struct fallback_stage {
	struct place at;
	enum capacity_type capacity;
	struct place capacity_at;
	bool has_capacity;
	struct strs instance_types;
	struct strs subnet_ids;
	double spot_price;
	struct place spot_price_at;
	int64_t time_limit_s;
};

/* Fallback[]: of one compute resource, in order. */
struct fallback {
	struct place at;
	char *queue;
	char *resource;
	int64_t time_limit_s;           /* of what cluster.yaml says itself */
	struct fallback_stage *stages;
	size_t n_stages, cap_stages;
};

struct settings {
	/* Slurm */
	char *cluster_name;             /* ClusterName: NULL = slurm.conf's */
	char *slurm_conf;               /* SlurmConf: /etc/slurm/slurm.conf */
	char *slurmctld;                /* Slurmctld: path of the program for the scratch run; /usr/sbin/slurmctld */
	struct strs slurmctld_restart;  /* SlurmctldRestart: argument vector; [systemctl, restart, slurmctld] */
	char *head_address;             /* HeadNodeAddress: IP nodes reach slurmctld at; NULL = found by apply */
	/* AWS */
	char *endpoint;                 /* Ec2Endpoint: NULL = the region's */
	char *sts_endpoint;             /* StsEndpoint: NULL = the region's */
	char *profile;                  /* Profile */
	char *credentials_file;         /* CredentialsFile: shared credentials file, NULL = none */
	char *config_file;              /* ConfigFile */
	char *imds_endpoint;            /* ImdsEndpoint: http://169.254.169.254 */
	char *proxy;                    /* Proxy: http(s) proxy for EC2; never for IMDS */
	char *ca_bundle;                /* CaBundle */
	char *no_proxy;                 /* NoProxy: as the variable NO_PROXY has it */
	struct queue_cloud *clouds;     /* Queues: region, profile, endpoint of single queues */
	size_t n_clouds, cap_clouds;
	struct strs security_group_ids; /* ComputeSecurityGroupIds: for queues that name none */
	char *image_id;                 /* ImageId: for queues without CustomAmi */
	bool accept_untagged_image;     /* AcceptUntaggedImage: false */
	/* behaviour */
	int64_t resume_limit_s;         /* ResumeTimeLimit: 30 */
	int64_t loop_s;                 /* LoopTime: 60 */
	int64_t orphan_grace_s;         /* OrphanGrace: 120; younger instances are not judged */
	int64_t heartbeat_limit_s;      /* HeartbeatLimit: 300; older = resume refuses to launch */
	int64_t health_grace_s;         /* HealthCheckGrace: 180; a failed status check younger than this is not acted on */
	int64_t event_lead_s;           /* ScheduledEventLead: 86400; a node is drained so long before an event of EC2 */
	int64_t protected_count;        /* ProtectedFailureCount: 10; 0 = never */
	int64_t protected_window_s;     /* ProtectedFailureWindow: 3600 */
	int64_t terminate_share;        /* TerminateShare: 10 per cent */
	int64_t metrics_port;           /* MetricsPort: 9839 on loopback; 0 = none */
	int64_t suspend_timeout_s;      /* SuspendTimeout: 30, into slurm.conf */
	int64_t launch_batch;           /* LaunchBatch: 500 nodes a call */
	struct place resume_limit_at, capacity_retry_at, capacity_retry_limit_at;
	int64_t capacity_retry_s;       /* CapacityRetry: 60; cool-down after the first refusal of an offering */
	int64_t capacity_retry_limit_s; /* CapacityRetryLimit: 1800 */
	char *launch_rate;              /* LaunchRate ... : "5/2" size/refill a second, "none" = no limit; NULL = EC2's own */
	char *launch_instances_rate, *terminate_rate, *terminate_instances_rate, *read_rate, *change_rate;
	struct fallback *fallbacks;     /* Fallback */
	size_t n_fallbacks, cap_fallbacks;
	char *run_instances_overrides;  /* RunInstancesOverrides, CreateFleetOverrides: JSON files as ParallelCluster has them */
	char *create_fleet_overrides;
	char *log_level;                /* LogLevel: info */
};

/* All defaults. NULL on no memory. */
struct settings *settings_create(void);
/* From memory over the defaults; `path` is only for messages. NULL on error. Caller settings_destroy()s. */
struct settings *settings_parse(const char *path, const char *text, size_t n, struct problems *p);
void settings_destroy(struct settings *s); /* takes NULL */
/* The documented example file: every key with its sentence, commented out at its default. */
void settings_print_example(FILE *out);

#endif
