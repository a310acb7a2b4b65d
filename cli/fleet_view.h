/* fleet_view.h - the fleet as `slurm-ec2 fleet` sees it: what was asked for, how far it is, and what stands in its way.
 *
 * It needs the applied generation, our state and slurmctld; never cluster.yaml or EC2, so a reservation that is gone is no reason
 * why a fleet could not be stopped.
 */
#ifndef SE_CLI_FLEET_VIEW_H
#define SE_CLI_FLEET_VIEW_H

#include "lib/base/str.h"
#include "lib/node/binding.h"
#include "lib/node/failure.h"
#include "lib/node/node.h"
#include "lib/node/partition.h"
#include "lib/plan/fleet.h"
#include "lib/plan/protect.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct events;
struct generation;
struct settings;
struct store;

struct fleet_view {
	/* open as long as the command runs */
	struct settings *set;
	struct generation *gen;
	struct store *store;
	/* of one look */
	char *word;               /* FLEET_WORD as it stands, NULL = unset */
	int64_t word_ms;          /* when it was set */
	struct fleet fleet;
	int64_t frozen_until_ms;
	struct kvs closed;
	struct bindings bindings;
	struct failures failures;
	struct nodes nodes;
	struct partitions partitions;
	struct fleet_rest rest;   /* of a fleet that does not serve */
	size_t static_up, static_all; /* without those that a person or a reservation keeps out */
	struct protection *protection; /* one a compute resource */
	bool watched;             /* clustermgtd runs, */
	bool hung;                /* but has finished no loop within HeartbeatLimit */
	int64_t loop_ms;          /* when it finished the last one, 0 = never */
};

/* Become SlurmUser for good, then open settings, generation and state. */
int fleet_view_open(struct fleet_view *v, struct err *e);
/* What was asked for: no slurmctld is needed. */
int fleet_view_words(struct fleet_view *v, struct err *e);
/* A look at all of it. */
int fleet_view_look(struct fleet_view *v, struct err *e);
/* Why clustermgtd does nothing, and what helps, into out; NULL = it is at work. */
#define FLEET_DAEMON 192
const char *fleet_view_daemon(const struct fleet_view *v, int64_t now_ms, char out[FLEET_DAEMON]);
/* What clustermgtd's brake holds back, by the newest event of type "brake" (one at most); NULL = nothing. Borrowed. A hold that
 * is older than limit_ms is over: a clustermgtd that was ended meanwhile did not say so. */
const char *fleet_view_held(const struct events *said, int64_t now_ms, int64_t limit_ms);
/* PROTECTED while a resource is, else the status. */
const char *fleet_view_status(const struct fleet_view *v);
size_t fleet_view_protected(const struct fleet_view *v);
void fleet_view_close(struct fleet_view *v);

#endif
