/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hardware.c - instance facts to the numbers of a NodeName line.
 *
 * Called by the Slurm file writer and the template builder. A resource may list several types: Slurm must never be promised
 * more than the smallest of them has. Refuses a type it has no facts of; guesses nothing.
 */
#include "conf/hardware.h"

#include "lib/base/err.h"

#include <string.h>

#define MEMORY_PERCENT 95 /* what is left of EC2's figure after firmware and kernel; ParallelCluster's own ratio */

static void gpu_type_copy(char *out, size_t size, const char *name)
{
	size_t n = 0;

	for (; name && *name && n + 1 < size; name++) {
		char c = *name;

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-')
			out[n++] = c;
	}
	out[n] = 0;
}

static int nvidia_count(const struct itype *t, const char **name)
{
	int count = 0;

	*name = NULL;
	for (size_t i = 0; i < t->n_gpus; i++) {
		if (!t->gpus[i].manufacturer || strcmp(t->gpus[i].manufacturer, "NVIDIA") != 0)
			continue;
		count += t->gpus[i].count;
		*name = t->gpus[i].name;
	}
	return count;
}

static void gpus_fold(struct hardware *h, const struct itype *t, bool first)
{
	const char *name;
	int count = nvidia_count(t, &name);
	char type[sizeof(h->gpu_type)];

	gpu_type_copy(type, sizeof(type), name);
	if (first) {
		h->gpu_count = count;
		memcpy(h->gpu_type, type, sizeof(type));
		return;
	}
	if (count < h->gpu_count)
		h->gpu_count = count;
	if (strcmp(type, h->gpu_type) != 0)
		h->gpu_type[0] = 0;
}

/* What is the least, or holds for all, of the types seen so far. */
static void itype_fold(struct hardware *h, const struct itype *t, int cpus, bool first)
{
	if (first || cpus < h->cpus)
		h->cpus = cpus;
	if (first || t->memory_mib < h->real_memory_mib)
		h->real_memory_mib = t->memory_mib;
	if (first || t->n_cards < h->fewest_cards->n_cards)
		h->fewest_cards = t;
	h->ebs_optimized = (first || h->ebs_optimized) && t->ebs_optimized_ok;
	h->efa_ok = (first || h->efa_ok) && t->efa;
	h->cluster_placement_ok = (first || h->cluster_placement_ok) && t->cluster_placement_ok;
	gpus_fold(h, t, first);
}

static int cpus_of(const struct itype *t, bool disable_smt)
{
	int threads = t->threads_per_core > 0 ? t->threads_per_core : 1;
	int cpus = t->vcpus > 0 ? t->vcpus : 1;

	return disable_smt && cpus >= threads ? cpus / threads : cpus;
}

int hardware_resolve(const struct compute_resource *r, const struct itypes *types, struct hardware *out, struct err *e)
{
	struct hardware h = { 0 };

	for (size_t i = 0; i < r->instance_types.n; i++) {
		const struct itype *t = itypes_find(types, r->instance_types.v[i]);

		if (!t)
			return err_set(e, "nothing is known of instance type %s", r->instance_types.v[i]);
		if (i > 0 && h.arch && t->arch && strcmp(h.arch, t->arch) != 0)
			return err_set(e, "%s is %s but %s is %s: one compute resource can have one architecture only",
				       r->instance_types.v[0], h.arch, t->name, t->arch);
		h.arch = t->arch;
		itype_fold(&h, t, cpus_of(t, r->disable_smt), i == 0);
	}
	if (!h.fewest_cards)
		return err_set(
			e, "it names no instance type: give InstanceType (a capacity reservation is not asked for its type)");
	/* EC2 can switch the second threads off at launch; with several types the boot script must, for the counts differ. */
	if (r->disable_smt && r->instance_types.n == 1 && h.fewest_cards->threads_per_core > 1 && h.fewest_cards->one_thread_ok)
		h.cores = h.fewest_cards->cores;
	if (r->schedulable_memory_mib > 0)
		h.real_memory_mib = r->schedulable_memory_mib;
	else
		h.real_memory_mib = h.real_memory_mib * MEMORY_PERCENT / 100;
	if (h.real_memory_mib < 1)
		h.real_memory_mib = 1;
	if (h.gpu_count == 0)
		h.gpu_type[0] = 0;
	*out = h;
	return 0;
}
