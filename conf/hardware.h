/* hardware.h - what one compute resource looks like to Slurm: the least of all its instance types, those of its fallback too
 * (compute_resource.more_types). Pure. */
#ifndef SE_CONF_HARDWARE_H
#define SE_CONF_HARDWARE_H

#include "lib/cluster/cluster.h"
#include "lib/node/itype.h"

struct err;

struct hardware {
	int cpus;		 /* of NodeName; one a core when multithreading is off */
	int64_t real_memory_mib; /* SchedulableMemory, or 95 % of the smallest type's; at least 1 */
	int gpu_count;		 /* NVIDIA GPUs of every type; 0 = none */
	char gpu_type[32];	 /* "a100", lower case, [a-z0-9_-] only; "" if none or if the types differ */
	const char *arch;	 /* x86_64, arm64; borrowed from the facts */
	int cores;		 /* for CpuOptions when multithreading is off and the type allows it, else 0 */
	bool ebs_optimized;	 /* every type can */
	bool efa_ok;		 /* every type has EFA */
	bool cluster_placement_ok;
	const struct itype *fewest_cards; /* its network cards fit every type; borrowed */
};

/* -1 with e naming the type without facts, or two types that differ in architecture, CPUs or GPUs. */
int hardware_resolve(const struct compute_resource *r, const struct itypes *types, struct hardware *out, struct err *e);

#endif
