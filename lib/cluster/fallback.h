/* fallback.h - Fallback of settings.yaml applied to a cluster: what is tried for a compute resource, in order. Pure. */
#ifndef SE_CLUSTER_FALLBACK_H
#define SE_CLUSTER_FALLBACK_H

#include "lib/cluster/cluster.h"
#include "lib/cluster/settings.h"

struct problems;

/* One way to fill a compute resource; lists and texts are borrowed. */
struct stage {
	enum capacity_type capacity;
	const struct strs *instance_types;
	const struct strs *subnet_ids;
	double spot_price;    /* 0 = none */
	int64_t time_limit_s; /* how long a shortage is asked again before the next is tried */
};

/* NULL = the resource has none. */
const struct fallback *fallback_find(const struct settings *s, const char *queue, const char *resource);
/* How many stages there are: 1 + those of f, which may be NULL. */
size_t fallback_stages(const struct fallback *f);
/* The i-th: 0 is what cluster.yaml says; what a further one does not give is as in cluster.yaml. */
void fallback_stage(const struct queue *q, const struct compute_resource *r, const struct fallback *f, size_t i,
		    struct stage *out);
/* Remember in each compute resource which further types it may get (compute_resource.more_types). -1 on no memory. */
int fallback_note_types(struct cluster *c, const struct settings *s);
/* Rules across both files: names that exist, and steps that a resource can take. `path`: of settings.yaml, for messages. */
void fallback_check(const struct cluster *c, const struct settings *s, const char *path, struct problems *p);

#endif
