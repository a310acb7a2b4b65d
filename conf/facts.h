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

/* Every instance type of the cluster once, in the order of the file. -1 on no memory. */
int facts_types(const struct cluster *c, struct strs *out);
/* Append what the file says. */
int facts_read(const char *path, struct itypes *out, struct err *e);
/* Ask EC2 for the types that are not in *out yet. */
int facts_fetch(struct aws *a, const struct strs *types, int64_t deadline_mono_ms, struct itypes *out, struct err *e);
/* -1 with e naming every type that *have does not know. */
int facts_complete(const struct strs *types, const struct itypes *have, struct err *e);

#endif
