/* filled.h - a cluster.yaml with its variables filled in, as text, to be kept with what was applied. Inside lib/cluster
 * only. */
#ifndef SE_CLUSTER_FILLED_H
#define SE_CLUSTER_FILLED_H

#include "lib/cluster/load.h"

/* The text with each value that holds a "$" replaced by a quoted one without variables; all else, comments too, stays as
 * it is. Parsed again, without any variable set, it gives the same cluster. The text must be one that cluster_parse() has
 * taken. NULL on no memory. Caller frees. */
char *filled_text(const char *text, size_t n, cluster_getenv_fn get, void *arg);

#endif
