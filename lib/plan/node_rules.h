/* node_rules.h - the table of decisions about a node: what Slurm shows, crossed with its machine's state, has one row that owns
 * it. Pure values: the caller finds the facts (reconcile_nodes.c), this says which row fits first.
 *
 * State is tested by required and forbidden bits only, so a flag that a newer Slurm adds changes nothing. There is no row for
 * the rest: what no release of Slurm from 22.05 to 26.05 shows is a list of its own, with the reason why it cannot be. A test
 * goes through every combination.
 */
#ifndef SE_PLAN_NODE_RULES_H
#define SE_PLAN_NODE_RULES_H

#include "lib/node/node.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What we know of the node's machine; exactly one. */
enum machine_fact {
	MACHINE_NONE = 1u << 0,      /* no row, or a free one */
	MACHINE_CLAIMED = 1u << 1,   /* a launch is under way */
	MACHINE_PENDING = 1u << 2,
	MACHINE_RUNNING = 1u << 3,
	MACHINE_EVENT = 1u << 4,     /* running or pending, and EC2 announces an event within ScheduledEventLead */
	MACHINE_IMPAIRED = 1u << 5,  /* running or pending, and a status check has failed for HealthCheckGrace, since slurmd started */
	MACHINE_STOPPING = 1u << 6,
	MACHINE_STOPPED = 1u << 7,
	MACHINE_SHUTTING = 1u << 8,
	MACHINE_TERMINATED = 1u << 9,
	MACHINE_UNLISTED = 1u << 10, /* EC2 does not list it, its row is past OrphanGrace, and slurmctld does not hear from the node */
	MACHINE_UNSURE = 1u << 11,   /* has a row, but EC2 was not read, may not list it yet, or said a word we do not know */
};
#define MACHINE_FACTS 12
#define MACHINE_WELL (MACHINE_PENDING | MACHINE_RUNNING)
#define MACHINE_ON (MACHINE_WELL | MACHINE_EVENT | MACHINE_IMPAIRED)
#define MACHINE_HALTED (MACHINE_STOPPING | MACHINE_STOPPED)
#define MACHINE_ALIVE (MACHINE_ON | MACHINE_HALTED)
#define MACHINE_GONE (MACHINE_SHUTTING | MACHINE_TERMINATED | MACHINE_UNLISTED)
#define MACHINE_BOUND (MACHINE_ALIVE | MACHINE_GONE | MACHINE_UNSURE)

enum node_kind {
	KIND_DYNAMIC = 1u << 0,
	KIND_STATIC = 1u << 1, /* MinCount keeps it up, and it can have a machine */
	KIND_SPARE = 1u << 2,  /* a static node beyond MinCount, or of a capacity block that is not active */
};
#define NODE_KINDS 3

/* Whose words the node's Reason is; exactly one. */
enum node_why {
	WHY_NONE = 1u << 0,
	WHY_TIMEOUT = 1u << 1,   /* Slurm's "ResumeTimeout reached" */
	WHY_SLURM = 1u << 2,     /* Slurm's own about a node that it lost */
	WHY_INVALID = 1u << 3,   /* Slurm's own about hardware that is not what slurm.conf says */
	WHY_BACK = 1u << 4,      /* ours: it is on its way back */
	WHY_OURS = 1u << 5,      /* ours, "(Code:...)", other than these: */
	WHY_NO_LAUNCH = 1u << 6, /* nothing was launched */
	WHY_DISABLED = 1u << 7,  /* its resource is short */
	WHY_PROTECTED = 1u << 8, /* its machines do not come up */
	WHY_DRAINED = 1u << 9,   /* drained for its machine's health */
	WHY_PERSON = 1u << 10,   /* anything else */
};
#define NODE_WHYS 11
#define WHY_CODED (WHY_OURS | WHY_NO_LAUNCH | WHY_DISABLED | WHY_PROTECTED | WHY_DRAINED)
#define WHY_AUTOMATIC (WHY_CODED | WHY_NONE | WHY_TIMEOUT | WHY_SLURM | WHY_INVALID | WHY_BACK)

/* What else a row may ask for. */
enum node_when {
	WHEN_EC2_READ = 1u << 0,
	WHEN_OPEN = 1u << 1,       /* a pool of its resource may be asked */
	WHEN_CLOSED = 1u << 2,     /* none may; neither: the capacity memory was not read */
	WHEN_PROTECTED = 1u << 3,  /* its resource is, or the node is a cycling one */
	WHEN_SERVES = 1u << 4,     /* the fleet takes work */
	WHEN_BACKOFF = 1u << 5,    /* a static node whose launch just failed */
	WHEN_OLD_SLURM = 1u << 6,  /* before 22.05.6 */
	WHEN_SETTING_UP = 1u << 7, /* its machine came after the Reason, less than ResumeTimeout ago */
	WHEN_REQUEUED = 1u << 8,   /* the Reason is old enough for its jobs to be requeued */
	WHEN_DOWN_LONG = 1u << 9,  /* the Reason has a time and is older than OrphanGrace */
	WHEN_CHECKED = 1u << 10,   /* status checks were read and say nothing of the machine */
	WHEN_BLOCK = 1u << 11,     /* our own reservation keeps it, for a capacity block that is not active */
};
#define NODE_WHENS 12

/* States that carry no time of their own are watched from loop to loop. */
enum node_watch {
	WATCH_NOT,
	WATCH_GRACE,   /* fits once seen for OrphanGrace */
	WATCH_TIMEOUT, /* fits once seen for ResumeTimeout and OrphanGrace */
	WATCH_WITHIN   /* fits until then */
};

#define DO_COUNT 1u        /* a failed boot, if the machine never served */
#define DO_DOWN 2u
#define DO_DRAIN 4u
#define DO_RESUME 8u
#define DO_TERMINATE 16u /* also by an id that EC2 does not list: it may not list it yet, or not by our tag */
#define DO_UNBIND 32u
#define DO_POWER_DOWN 64u
#define DO_POWER_UP 128u
#define DO_CLEAN (DO_TERMINATE | DO_UNBIND)

#define BASE(b) (1u << (b))
#define BASE_ANY 0xffffu
#define BASE_UP (BASE_ANY & ~BASE(NS_DOWN))
#define BASE_USED (BASE(NS_IDLE) | BASE(NS_ALLOCATED) | BASE(NS_MIXED))
#define HELD (NS_DRAIN | NS_FAIL)
#define OFF (NS_POWERED_DOWN | NS_POWERING_DOWN)
#define MOVING (NS_POWERING_UP | NS_POWER_UP | NS_POWERING_DOWN | NS_POWER_DOWN)
#define REBOOT (NS_REBOOT_REQUESTED | NS_REBOOT_ISSUED)
#define RESERVED (NS_RES | NS_MAINT)

/* Members that are 0 ask for nothing. */
struct node_rule {
	const char *code;
	unsigned bases;
	uint32_t required, any, forbidden; /* any: at least one of them */
	unsigned machine;
	unsigned kinds;
	unsigned why;
	unsigned when, unless;
	enum node_watch watch;
	unsigned acts;        /* 0 = the node is left as it is */
	const char *says;     /* what Slurm's Reason gets; NULL if nothing is done */
	const char *because;  /* for people */
};

extern const struct node_rule node_rules[];
extern const size_t node_rules_n;

/* What Slurm cannot show. */
struct node_never {
	unsigned bases;
	uint32_t required;
	const char *because;
};

extern const struct node_never node_nevers[];
extern const size_t node_nevers_n;

struct node_facts {
	uint32_t state;
	enum machine_fact machine;
	enum node_kind kind;
	enum node_why why;
	unsigned when;
	const char *seen;                /* code of the row that watches the node; NULL = none */
	bool seen_grace, seen_timeout;   /* for so long */
};

/* The first row that fits, or NULL. Without `aged` a row that watches counts as soon as all else fits. */
const struct node_rule *node_rule_find(const struct node_facts *f, bool aged);
/* One row, whatever the others say. */
bool node_rule_fits(const struct node_rule *r, const struct node_facts *f, bool aged);
/* Could any row watch a node in that state? */
bool node_rule_watches(uint32_t state);
/* Why Slurm cannot show that state, or NULL. */
const struct node_never *node_never_find(uint32_t state);
enum node_why node_why(const char *reason);
/* What follows "(Code:X)" in a Reason, NULL if it does not begin so. Borrowed. */
const char *node_reason_text(const char *reason);
/* The Reason `text` in place of `old` (may be NULL): what a person or Slurm wrote is kept behind it, "(was: ...)", also when ours is
 * replaced by another of ours. A drain of ours is kept whole, for by it the node is known again. Caller frees; NULL on no memory. */
char *node_reason_replace(const char *text, const char *old);

/* The table as text (`clustermgtd --explain`), and as a part of the manual page. Caller frees; NULL on no memory. */
char *node_rules_text(void);
char *node_rules_page(void);

#endif
