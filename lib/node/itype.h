/* itype.h - instance facts: what DescribeInstanceTypes says of a type, as far as we use it. */
#ifndef SE_NODE_ITYPE_H
#define SE_NODE_ITYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct network_card {
	int index;
	int max_interfaces;
};

struct itype_gpu {
	char *name;
	char *manufacturer;
	int count;
	int64_t memory_mib;
};

struct itype {
	char *name;
	char *arch;              /* first of SupportedArchitectures: x86_64, arm64 */
	int vcpus;
	int cores;
	int threads_per_core;
	bool one_thread_ok;      /* ValidThreadsPerCore contains 1 */
	int64_t memory_mib;
	bool efa;
	int max_efa;             /* MaximumEfaInterfaces, 0 = unknown */
	bool ebs_optimized_ok;
	bool cluster_placement_ok;
	struct network_card *cards;
	size_t n_cards;
	struct itype_gpu *gpus;
	size_t n_gpus;
};

struct itypes {
	struct itype *v;
	size_t n;
	size_t cap;
};

struct itype *itypes_add(struct itypes *l); /* NULL on no memory */
void itypes_clear(struct itypes *l);
const struct itype *itypes_find(const struct itypes *l, const char *name);
struct network_card *itype_add_card(struct itype *t);
struct itype_gpu *itype_add_gpu(struct itype *t);
/* JSON text both ways: {"InstanceTypes": [...]} in the shape of the AWS CLI's describe-instance-types output, so that its
 * output (and DevSettings.InstanceTypesData) can be fed in as it is. */
char *itypes_to_json(const struct itypes *l);
int itypes_from_json(struct itypes *l, const char *text, size_t n, const char *what, struct err *e);

#endif
