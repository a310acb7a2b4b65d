/* quotas.h - the vCPU quotas of an account: one per family of instance types and market, with Service Quotas' codes. */
#ifndef EC2LOCAL_QUOTAS_H
#define EC2LOCAL_QUOTAS_H

#include "ec2local/launch.h"

#include <stdint.h>

struct cloud;

/* Row of the quota a type falls under; -1 = none (capacity blocks have none). */
int quotas_row(const char *type, enum market market);
int quotas_find(const char *code); /* row of "L-1216C47A"; -1 = unknown */
/* What control set for the row or, failing that, for its market; -1 = no limit. */
int64_t quotas_limit(const struct cloud *cloud, int row);

#endif
