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

static int gpus_of(const struct itype *t)
{
	int count = 0;

	for (size_t i = 0; i < t->n_gpus; i++)
		count += t->gpus[i].count;
	return count;
}

static const char *gpu_maker(const struct itype *t)
{
	return t->n_gpus && t->gpus[0].manufacturer ? t->gpus[0].manufacturer : "";
}

/* A job must run the same on whichever type it gets. */
static int must_agree(const struct itype *a, const struct itype *b, bool disable_smt, struct err *e)
{
	int cpus_a = cpus_of(a, disable_smt), cpus_b = cpus_of(b, disable_smt);

	if (a->arch && b->arch && strcmp(a->arch, b->arch) != 0)
		return err_set(e, "%s is %s but %s is %s: one compute resource can have one architecture only", a->name, a->arch,
			       b->name, b->arch);
	if (cpus_a != cpus_b)
		return err_set(e, "%s has %d CPUs but %s has %d: all types of one compute resource must have as many", a->name,
			       cpus_a, b->name, cpus_b);
	if (gpus_of(a) != gpus_of(b))
		return err_set(e, "%s has %d GPUs but %s has %d: all types of one compute resource must have as many", a->name,
			       gpus_of(a), b->name, gpus_of(b));
	if (strcmp(gpu_maker(a), gpu_maker(b)) != 0)
		return err_set(e, "the GPUs of %s are by %s but those of %s by %s: one compute resource can have one maker only",
			       a->name, gpu_maker(a), b->name, gpu_maker(b));
	return 0;
}

/* The i-th type of the resource: its own, then those of its fallback. NULL past the end. */
static const char *type_at(const struct compute_resource *r, size_t i)
{
	if (i < r->instance_types.n)
		return r->instance_types.v[i];
	i -= r->instance_types.n;
	return i < r->more_types.n ? r->more_types.v[i] : NULL;
}

static int fold_types(const struct compute_resource *r, const struct itypes *types, struct hardware *h, struct err *e)
{
	const struct itype *first = NULL;
	const char *name;

	for (size_t i = 0; (name = type_at(r, i)) != NULL; i++) {
		const struct itype *t = itypes_find(types, name);

		if (!t)
			return err_set(e, "nothing is known of instance type %s", name);
		if (first && must_agree(first, t, r->disable_smt, e))
			return -1;
		itype_fold(h, t, cpus_of(t, r->disable_smt), !first);
		if (!first)
			first = t;
	}
	if (first)
		h->arch = first->arch;
	return 0;
}

static int64_t memory_of(const struct compute_resource *r, int64_t least)
{
	int64_t mib = r->schedulable_memory_mib > 0 ? r->schedulable_memory_mib : least * MEMORY_PERCENT / 100;

	return mib < 1 ? 1 : mib;
}

int hardware_resolve(const struct compute_resource *r, const struct itypes *types, struct hardware *out, struct err *e)
{
	struct hardware h = { 0 };

	if (r->instance_types.n == 0)
		return err_set(e, "its instance type is that of its capacity reservation, and EC2 was not asked: give InstanceType");
	if (fold_types(r, types, &h, e))
		return -1;
	/* EC2 can switch the second threads off at launch; with several types the boot script must, for the counts differ. */
	if (r->disable_smt && r->instance_types.n == 1 && r->more_types.n == 0 && h.fewest_cards->threads_per_core > 1 &&
	    h.fewest_cards->one_thread_ok)
		h.cores = h.fewest_cards->cores;
	h.real_memory_mib = memory_of(r, h.real_memory_mib);
	if (h.gpu_count == 0)
		h.gpu_type[0] = 0;
	*out = h;
	return 0;
}
