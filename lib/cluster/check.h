/* check.h - rules across keys of a cluster.yaml. Pure: a cluster value in, problems out. */
#ifndef SE_CLUSTER_CHECK_H
#define SE_CLUSTER_CHECK_H

struct cluster;
struct problems;

/* Every rule, all problems. The cluster may be half filled: a value that was refused when it was read is not judged again. */
void check_cluster(const struct cluster *c, struct problems *p);

#endif
