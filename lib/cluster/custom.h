/* custom.h - CustomSlurmSettings: which keys a site may not set, because slurm-ec2 writes them itself. Pure. */
#ifndef SE_CLUSTER_CUSTOM_H
#define SE_CLUSTER_CUSTOM_H

#include <stddef.h>

/* Why KEY=VALUE may not stand there, or NULL if it may. Static text. `pairs` = pairs of the same mapping. */
const char *custom_cluster_problem(const char *key, const char *val, size_t pairs);   /* a line of slurm.conf */
const char *custom_queue_problem(const char *key, const char *val, size_t pairs);     /* the PartitionName line */
const char *custom_resource_problem(const char *key, const char *val, size_t pairs);  /* the NodeName line */

#endif
