/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capacity.c - EC2 error codes that a smaller request can avoid. Messages are never looked at: they differ between markets. */
#include "lib/plan/capacity.h"

#include <stddef.h>
#include <string.h>

static const char *const codes[] = {
	CODE_INSUFFICIENT,
	CODE_LIMITED,
	"InsufficientHostCapacity",
	"InsufficientReservedInstanceCapacity",
	"InsufficientCapacity",
	"InsufficientCapacityOnHost",
	"ReservationCapacityExceeded",
	"UnfulfillableCapacity",
	"MaxSpotInstanceCountExceeded",
	"SpotInstanceCountLimitExceeded",
	"VcpuLimitExceeded",
	"InstanceLimitExceeded",
	"InsufficientFreeAddressesInSubnet",
	"NetworkInterfaceLimitExceeded",
	"InsufficientVolumeCapacity",
	"VolumeLimitExceeded",
};

bool capacity_code_depends_on_size(const char *code)
{
	for (size_t i = 0; code && i < sizeof(codes) / sizeof(codes[0]); i++)
		if (!strcmp(code, codes[i]))
			return true;
	return false;
}
