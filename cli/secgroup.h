/* secgroup.h - do security groups let a connection in? A pure reading of DescribeSecurityGroups' answer. */
#ifndef SE_CLI_SECGROUP_H
#define SE_CLI_SECGROUP_H

#include "lib/aws/ec2.h"

#include <stdbool.h>

/* The group of that id, or NULL. */
const struct ec2_group *secgroup_find(const struct ec2_groups *all, const char *id);
/* Does any of `targets` admit TCP to `port` (-1 = to every port) from a machine that is in one of `sources` (may be NULL), or
 * whose address or subnet is `from` ("10.0.0.9", "10.0.0.0/24"; may be NULL)? */
bool secgroup_admits(const struct ec2_groups *all, const struct strs *targets, const struct strs *sources, const char *from,
		     int port);
/* True if all addresses of `inner` (address or CIDR, IPv4) are in `outer` (CIDR). */
bool cidr_contains(const char *outer, const char *inner);

#endif
