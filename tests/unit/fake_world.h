/* fake_world.h - a slurmctld and an EC2 of a few lines, for tests of lib/apply: everything they are told goes into one trace,
 * in order.
 *
 * They stand in for lib/slurmctl and lib/aws at link time; rows are the real store in a scratch folder.
 */
#ifndef SE_TESTS_UNIT_FAKE_WORLD_H
#define SE_TESTS_UNIT_FAKE_WORLD_H

#include "lib/apply/apply.h"
#include "lib/aws/aws.h"
#include "lib/base/str.h"
#include "lib/node/instance.h"
#include "lib/node/node.h"

#include <stdbool.h>
#include <stddef.h>

struct fake {
	struct strs trace;	/* "slurm q-1 addr=203.0.113.1 extra=", "ec2 run l-.. min 1 max 2" ... */
	struct nodes nodes;	/* what slurmctl_node and slurmctl_nodes show */
	struct instances cloud; /* what EC2 has; terminated ones stay */
	bool slurm_away, slurm_refuses;
	int vain; /* updates of nodes, partitions and comments sent while slurmctld was away: each would wait for MessageTimeout */
	bool ec2_away;		  /* reads and terminations fail */
	bool second_away;	  /* the same in the second cloud */
	bool health_away;	  /* EC2 does not tell which machines are unwell */
	struct strs unwell;	  /* ids of machines with an impaired check, ours or not */
	enum aws_class run_class; /* answer of the next launches; AWS_OK launches */
	const char *run_code;
	int capacity;		 /* machines that can come, in all */
	int hide_ip;		 /* that many answers show no address */
	void (*on_update)(void); /* called once, at the next update of nodes */
	void (*on_describe)(void); /* called while EC2 lists the cluster's machines */
	void (*on_run)(void);	 /* called while EC2 "launches", before the answer */
	void (*on_terminate)(void); /* called while EC2 ends machines */
	struct kvs partitions;	 /* name -> state that slurmctld has */
	struct kvs holds;	 /* reservations that slurmctld has: name and nodes */
	struct kvs blocks;	 /* capacity blocks that EC2 knows: id and state, or "STATE END_MS" */
	struct kvs offers;	 /* "type/subnet" (or its beginning) -> machines left, or an error code; others have plenty */
	struct kvs priorities;	 /* job id -> priority */
	int fleet_empty;	 /* that many fleets get neither machines nor errors */
	int lost;		 /* that many launches happen, but their answer is lost */
	const char *unlisted;	 /* an instance id that no read shows */
	struct kvs consoles;	 /* what a machine printed, by id; "!" = EC2 does not tell */
	const char *unknown;	 /* a name that slurmctld does not know: it spoils the update it is in */
};

extern struct fake fake;

/* A world with queue q: resource a (min 1, max 10; one type and subnet), resource f (max 20; types m and c in subnets s-a and
 * s-b on spot, then m in s-b on demand), a fresh store, and clustermgtd's heartbeat if `watched`. */
void fake_open(struct world *w, bool watched);
/* More of it: queue far with resource b (max 10) in a second cloud; queue block with resource c, 2 static nodes on block
 * cr-1. */
void fake_second_cloud(struct world *w);
struct gen_resource *fake_block(struct world *w);
const char *fake_store_path(void); /* static text */
void fake_close(struct world *w);
/* Assert the trace; "*" at a line's end matches the rest of it. Forgets it. */
void fake_expect(const char *const *lines, size_t n);
#define EXPECT_TRACE(...)                                                                                                      \
	fake_expect((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))
void fake_expect_nothing(void);
struct node *fake_node(const char *name, uint32_t state, const char *addr, const char *extra);
struct instance *fake_instance(const char *id, const char *ip, const char *launch, enum instance_state state);
/* "BOUND i-1 l-1" of a node's row, "" without one; static text. */
const char *fake_row(struct world *w, const char *node);
/* Failed boots that count: "node instance code" of each, "," between them; static text. */
const char *fake_failures(struct world *w);
/* The folder of the world's files, the console's among them. */
const char *fake_folder(void);
/* Make a node's row that much older. */
void fake_age(const char *node, int64_t ms);
/* Number of launch rows that are not done. */
size_t fake_open_launches(struct world *w);

#endif
