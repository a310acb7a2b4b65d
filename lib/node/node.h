/* node.h - a Slurm node as a plain value.
 *
 * State bits are Slurm's own numbers, unchanged from 21.08 to 26.05 (lib/slurmctl asserts it at compile time). Test them
 * with masks of required and forbidden bits; unknown bits are kept and never make a test fail.
 */
#ifndef SE_NODE_NODE_H
#define SE_NODE_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* base states, in the low 4 bits */
#define NS_BASE 0x0fu
#define NS_UNKNOWN 0u
#define NS_DOWN 1u
#define NS_IDLE 2u
#define NS_ALLOCATED 3u
#define NS_ERROR 4u
#define NS_MIXED 5u
#define NS_FUTURE 6u
/* flags */
#define NS_RES (1u << 5)
#define NS_UNDRAIN (1u << 6)
#define NS_CLOUD (1u << 7)
#define NS_RESUME (1u << 8)
#define NS_DRAIN (1u << 9)
#define NS_COMPLETING (1u << 10)
#define NS_NO_RESPOND (1u << 11)
#define NS_POWERED_DOWN (1u << 12)
#define NS_FAIL (1u << 13)
#define NS_POWERING_UP (1u << 14)
#define NS_MAINT (1u << 15)
#define NS_REBOOT_REQUESTED (1u << 16)
#define NS_POWERING_DOWN (1u << 18)
#define NS_REBOOT_ISSUED (1u << 20)
#define NS_PLANNED (1u << 21)
#define NS_INVALID_REG (1u << 22)
#define NS_POWER_DOWN (1u << 23)
#define NS_POWER_UP (1u << 24)
#define NS_POWER_DRAIN (1u << 25)

struct node {
	char *name;
	uint32_t state;
	char *addr;              /* NodeAddr; equals name when unset */
	char *hostname;
	char *reason;            /* NULL = none */
	char *extra;             /* our record (extra.h), NULL = none */
	char *comment;
	char *instance;          /* instance id that slurmctld keeps (23.11+), NULL = none */
	int64_t boot_time_s;     /* 0 = never */
	int64_t slurmd_start_s;
	int64_t last_busy_s;
	int64_t reason_time_s;
};

/* Zero-initialised = empty. */
struct nodes {
	struct node *v;
	size_t n;
	size_t cap;
};

struct node *nodes_add(struct nodes *l); /* zeroed; borrowed until the next add; NULL on no memory */
void nodes_clear(struct nodes *l);
/* First node of that name or NULL; linear: build an index for many. */
const struct node *nodes_find(const struct nodes *l, const char *name);

/* NodeAddr given to a node that has no machine: an IP literal of TEST-NET-3, so that slurmctld never looks the name up. */
#define NODE_ADDR_PLACEHOLDER "203.0.113.1"

/* True if the address is a machine's: set, not the node's name, not the placeholder. */
bool node_has_addr(const struct node *n);
/* All bits of `required` set and none of `forbidden`; base state one of the bits 1 << base in `bases` (0 = any). */
bool node_state_is(uint32_t state, unsigned bases, uint32_t required, uint32_t forbidden);
/* Slurm's word for one flag, NULL for one that we do not know; for a base state. */
const char *node_flag_text(uint32_t flag);
const char *node_base_text(uint32_t base);
/* "IDLE+CLOUD+POWERED_DOWN"; unknown bits as +0x...; caller frees. */
char *node_state_text(uint32_t state);

#endif
