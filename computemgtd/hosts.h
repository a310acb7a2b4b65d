/* hosts.h - the lines of /etc/hosts that name the nodes of this machine's jobs. Pure. */
#ifndef SE_COMPUTEMGTD_HOSTS_H
#define SE_COMPUTEMGTD_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

struct kvs;
struct nodes;
struct nodeset;

/* Of jobs (id -> hostlist) keep those that hold `own` and another node, and add all their nodes to peers. -1 on no memory. */
int hosts_choose(const struct kvs *jobs, const char *own, struct kvs *kept, struct nodeset *peers);
/* Every one of `names` is in l with a machine's address and is up, so that no address will change. */
bool hosts_settled(const struct nodes *l, const struct nodeset *names);
/* The file's text with our block made of those of l that are in names, instead of the block it had; without one if none of
 * them has an address. What is outside of the block stays, and comes first, so it wins. Caller frees; NULL on no memory. */
char *hosts_merge(const char *text, const struct nodes *l, const struct nodeset *names, const char *own);

#endif
