/* facts.h - instance facts of all types a cluster names: from EC2, or from a file of the AWS CLI's describe-instance-types
 * output. */
#ifndef SE_CONF_FACTS_H
#define SE_CONF_FACTS_H

#include "lib/base/str.h"
#include "lib/cluster/cluster.h"
#include "lib/node/itype.h"

#include <stdint.h>

struct aws;
struct err;
struct problems;

/* Every instance type of the cluster, or of one queue, once, in the order of the file; those of fallbacks too. -1 on no
 * memory. */
int facts_types(const struct cluster *c, struct strs *out);
int facts_queue_types(const struct queue *q, struct strs *out);
/* Fill in the types of the queue's compute resources that name a capacity reservation instead: EC2 is asked. One that EC2 does
 * not have is a problem with its place in c's file. */
int facts_reserved(struct aws *a, const struct cluster *c, struct queue *q, int64_t deadline_mono_ms, struct problems *p,
		   struct err *e);
/* Append what the file says. */
int facts_read(const char *path, struct itypes *out, struct err *e);
/* Ask EC2 for the types that are not in *out yet. */
int facts_fetch(struct aws *a, const struct strs *types, int64_t deadline_mono_ms, struct itypes *out, struct err *e);
/* -1 with e naming every type that *have does not know. */
int facts_complete(const struct strs *types, const struct itypes *have, struct err *e);

#endif
