/* variable.h - $NAME and ${NAME} inside a value. Pure: the values come from a function of the caller's. */
#ifndef SE_CLUSTER_VARIABLE_H
#define SE_CLUSTER_VARIABLE_H

#include "lib/cluster/load.h"

struct buf;
struct err;

/* Append `text` to out with its variables filled in; "$$" is one "$", and a "$" before anything but a name or "{" stays. -1
 * with e naming the variable that is not set, or the "${" that has no end. */
int variable_fill(const char *text, cluster_getenv_fn get, void *arg, struct buf *out, struct err *e);

#endif
