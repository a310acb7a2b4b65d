/* partition.h - a Slurm partition as a plain value. */
#ifndef SE_NODE_PARTITION_H
#define SE_NODE_PARTITION_H

#include <stddef.h>

/* Slurm's own header has the names PARTITION_*. */
enum partition_state {
	PART_UP,       /* jobs are taken and started */
	PART_DOWN,     /* jobs are taken, none is started; running ones go on */
	PART_DRAIN,    /* none is taken, those that wait are started */
	PART_INACTIVE, /* none is taken or started; running ones go on */
	PART_OTHER     /* a word we do not know */
};

struct partition {
	char *name;
	char *nodes; /* hostlist, may be NULL */
	enum partition_state state;
};

/* Zero-initialised = empty. */
struct partitions {
	struct partition *v;
	size_t n;
	size_t cap;
};

struct partition *partitions_add(struct partitions *l); /* zeroed; borrowed until the next add; NULL on no memory */
void partitions_clear(struct partitions *l);
const char *partition_state_text(enum partition_state s); /* "UP", ... */
enum partition_state partition_state_parse(const char *text); /* the other way */

#endif
