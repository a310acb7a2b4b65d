/* match.h - is this Slurm node the machine we run on? Pure.
 *
 * A node is ours if its address is ours, the launch written into its `extra` is ours, and slurmctld waits for it to come up. An
 * address alone would not do: it may be left over from a machine that had it before.
 */
#ifndef SE_COMPUTEMGTD_MATCH_H
#define SE_COMPUTEMGTD_MATCH_H

#include <stdbool.h>
#include <stdint.h>

struct node;
struct nodes;

struct self {
	const char *address; /* IP of this machine */
	const char *launch;  /* id of the launch that made it */
};

bool match_node(const struct node *n, const struct self *self);
/* How many of the nodes are ours; *found is the last of them (borrowed), untouched if none is. */
int match_nodes(const struct nodes *l, const struct self *self, const struct node **found);

/* Milliseconds over which machines that must read the whole table should spread their next question, so that slurmctld spends
 * half a processor on it: every node here that is powering up may have one that asks. At most 30 s. */
int64_t match_spread_ms(const struct nodes *l);

#endif
