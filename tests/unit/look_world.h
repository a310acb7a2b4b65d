/* look_world.h - looks at clusters for the tests of `status` and `explain`, made by hand: nothing is read, and the rules of
 * clustermgtd are not asked, so that a text changes only with the text.
 */
#ifndef SE_TESTS_UNIT_LOOK_WORLD_H
#define SE_TESTS_UNIT_LOOK_WORLD_H

#include "cli/look.h"

#define NOW_MS INT64_C(1796094000000) /* 2026-12-01T03:00:00Z */
#define MINUTE_MS INT64_C(60000)
#define OFF (NS_IDLE | NS_CLOUD | NS_POWERED_DOWN)
#define WAKING (NS_ALLOCATED | NS_CLOUD | NS_POWERING_UP)

/* An empty cluster at NOW_MS, all sources read, clustermgtd alive; look_clear()ed by the caller, the texts of machines too. */
void world_create(struct look *l);
/* Its nodes -dy-1..max are OFF; returns its position. */
size_t world_resource(struct look *l, const char *queue, const char *name, const char *type, int max);
/* The node's state, and a reason or NULL. */
struct node *world_node(struct look *l, const char *name, uint32_t state, const char *reason);
/* A machine, launched `age` ago, that is bound to a node (NULL = none). */
struct instance *world_machine(struct look *l, const char *id, const char *queue, const char *resource, const char *node,
			       int64_t age);
void world_launch(struct look *l, const char *id, const char *queue, const char *resource, int64_t age,
		  const char *const *nodes, size_t n);
void world_shortage(struct look *l, const char *type, const char *zone, int64_t age, int64_t until_in);
void world_failure(struct look *l, const char *queue, const char *resource, const char *node, const char *instance,
		   int64_t age);
struct slurmctl_job_info *world_job(struct look *l, int64_t id, const char *state, const char *reason, const char *partition);
void world_source(struct look *l, const char *name, int64_t ok_age, int64_t fails_for, const char *error);
struct action *world_action(struct look *l, enum action_kind kind, const char *code, const char *node, const char *reason);
/* After everything: joins. */
void world_done(struct look *l);
/* Machines borrow in a real look; here they are ours. */
void world_clear(struct look *l);

/* No line is longer than a terminal is wide, and the text is that of TEST_DATA/name. */
void expect_text(const char *text, const char *name);

#endif
