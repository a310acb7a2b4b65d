/* instance.h - an EC2 instance as a plain value, and the tags that make it ours. */
#ifndef SE_NODE_INSTANCE_H
#define SE_NODE_INSTANCE_H

#include <stddef.h>
#include <stdint.h>

#define TAG_CLUSTER "slurm-ec2:cluster" /* the cluster's UUID */
#define TAG_LAUNCH "slurm-ec2:launch"   /* the launch id */
#define TAG_SLURM_VERSION "slurm-ec2:slurm-version" /* on images: the slurmd inside */
#define TAG_PC_CLUSTER "parallelcluster:cluster-name"
#define TAG_PC_NODE_TYPE "parallelcluster:node-type"
#define TAG_PC_QUEUE "parallelcluster:queue-name"
#define TAG_PC_RESOURCE "parallelcluster:compute-resource-name"
#define TAG_PC_ATTRIBUTES "parallelcluster:attributes"
#define TAG_PC_NETWORKING "parallelcluster:networking"

enum instance_state {
	INSTANCE_UNKNOWN, /* a word we do not know, or a read that failed */
	INSTANCE_PENDING,
	INSTANCE_RUNNING,
	INSTANCE_STOPPING,
	INSTANCE_STOPPED,
	INSTANCE_SHUTTING_DOWN,
	INSTANCE_TERMINATED
};

struct instance {
	char *id;
	char *type;
	enum instance_state state;
	char *private_ip;      /* of device 0, card 0; NULL = EC2 has not told yet */
	char *private_dns;
	char *subnet_id;
	char *zone;
	char *lifecycle;       /* "spot", "scheduled", "capacity-block"; NULL = on-demand */
	char *client_token;
	char *cluster;         /* value of TAG_CLUSTER or NULL */
	char *cluster_name;    /* TAG_PC_CLUSTER */
	char *launch;          /* TAG_LAUNCH or NULL */
	char *queue;           /* TAG_PC_QUEUE */
	char *resource;        /* TAG_PC_RESOURCE */
	char *state_reason;    /* code, e.g. "Server.SpotInstanceTermination", or NULL */
	int64_t launch_time_ms;
	int launch_index;      /* amiLaunchIndex */
	size_t cloud;          /* where it was read from: 0 = the cluster's own cloud, else 1 + index into generation.clouds */
	struct { char **id; size_t n; } groups; /* security group ids */
};

struct instances {
	struct instance *v;
	size_t n;
	size_t cap;
};

struct instance *instances_add(struct instances *l); /* zeroed; borrowed until the next add; NULL on no memory */
void instances_clear(struct instances *l);
const struct instance *instances_find(const struct instances *l, const char *id);
enum instance_state instance_state_parse(const char *text);
const char *instance_state_text(enum instance_state s);
/* pending, running, stopping or stopped: it exists and may bill. */
int instance_alive(enum instance_state s);
/* shutting-down or terminated. A state that is unknown is neither alive nor ended. */
int instance_ended(enum instance_state s);

#endif
