/* health.h - what EC2 says of a machine beside its state: status checks and scheduled events, as plain values. */
#ifndef SE_NODE_HEALTH_H
#define SE_NODE_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct health {
	char *instance;
	bool instance_impaired, system_impaired; /* only the word "impaired"; initializing, insufficient-data and the like are not */
	int64_t impaired_since_ms; /* the older of both checks; 0 = EC2 does not tell */
	char *event;               /* code of the first event to come, e.g. "instance-retirement"; NULL = none. Completed and canceled ones
				    * are left out by who reads the answer */
	int64_t event_ms;          /* its NotBefore; 0 = not told */
	char *event_text;          /* EC2's description, may be NULL */
};

/* Zero-initialised = empty. A machine that is not listed is well. */
struct healths {
	struct health *v;
	size_t n;
	size_t cap;
};

struct health *healths_add(struct healths *l); /* zeroed; borrowed until the next add; NULL on no memory */
void healths_drop_last(struct healths *l); /* takes an empty list */
/* Append from's to into's; a machine of both keeps what `from` tells. Sorted by instance afterwards; `from` is left empty. -1 on no
 * memory, both lists as they were. */
int healths_merge(struct healths *into, struct healths *from);
void healths_clear(struct healths *l);

#endif
