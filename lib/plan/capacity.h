/* capacity.h - which EC2 error codes say "not so many", so that asking for fewer may work. */
#ifndef SE_PLAN_CAPACITY_H
#define SE_PLAN_CAPACITY_H

#include <stdbool.h>

#define CODE_INSUFFICIENT "InsufficientInstanceCapacity" /* none came, EC2 said nothing else */
#define CODE_LIMITED "LimitedInstanceCapacity"           /* fewer came than the job needs (ParallelCluster's word) */
#define CODE_INVALID_NAME "InvalidNodenameError"         /* not a node of the applied cluster */

/* True for capacity and quota codes that depend on how many were asked for. Any other code fails every size alike. */
bool capacity_code_depends_on_size(const char *code);

#endif
