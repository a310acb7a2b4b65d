/* capacity.h - which EC2 error codes mean what for a launch, and the memory of shortages: pure, time and chance are arguments.
 *
 * A refusal closes an offering (type, zone, market) for a time that grows with each refusal in a row. After it one probe may
 * go, for the smallest job that waits; when machines come, a budget that doubles with each success, until the shortage is
 * forgotten. So thousands of nodes never run into the same shortage at once.
 */
#ifndef SE_PLAN_CAPACITY_H
#define SE_PLAN_CAPACITY_H

#include "lib/node/offering.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gen_resource;
struct gen_stage;
struct resume_refusal; /* lib/plan/resume.h */
struct settings;

#define CODE_INSUFFICIENT "InsufficientInstanceCapacity" /* none came, EC2 said nothing else */
#define CODE_LIMITED "LimitedInstanceCapacity"           /* fewer came than the job needs (ParallelCluster's word) */
#define CODE_INVALID_NAME "InvalidNodenameError"         /* not a node of the applied cluster */

/* True for capacity and quota codes that depend on how many were asked for. Any other code fails every size alike. */
bool capacity_code_depends_on_size(const char *code);
/* True for codes that say something of the offering, so that it is remembered. */
bool capacity_code_remembered(const char *code);
/* True for quotas: remembered for the type's market in all zones. */
bool capacity_code_is_quota(const char *code);
/* The one of two codes that a person should hear of; NULL loses. Ours (a wrong request) before quota before capacity before
 * throttling. */
const char *capacity_code_worse(const char *a, const char *b);

struct capacity_rule {
	int64_t first_ms;   /* settings CapacityRetry: closed after the first refusal */
	int64_t limit_ms;   /* settings CapacityRetryLimit: never longer */
};

struct capacity_rule capacity_rule_of(const struct settings *s);

#define CAPACITY_BUDGET_OVER 1000 /* a budget that reached this is forgotten with its shortage */
#define CAPACITY_UNLIMITED INT64_MAX

/* Nodes that may be asked of it now: CAPACITY_UNLIMITED, 0 = closed, -1 = one probe (a single job), else the budget.
 * s NULL = no shortage known. A probe of somebody else that is under way closes it. */
int64_t capacity_allowed(const struct shortage *s, int64_t now_ms);
/* EC2 refused; a refusal after machines came is the first in a row. Half of the time it closes is fixed, half is `chance`, in
 * [0, 1). -1 no memory. */
int capacity_refused(struct shortage *s, const struct capacity_rule *r, const char *code, const char *message, int64_t now_ms,
		     double chance);
/* n machines came: the budget becomes twice the greater of n and what it was. true = nothing is left to remember. */
bool capacity_came(struct shortage *s, int64_t n, int64_t now_ms);
/* Open again for longer than the limit and not asked since: it says nothing any more. */
bool capacity_stale(const struct shortage *s, const struct capacity_rule *r, int64_t now_ms);

/* Does the shortage hold for this stage? A price that was too low says nothing of a stage that bids without one. */
bool capacity_holds(const struct shortage *s, const struct gen_stage *stage);
/* The same as capacity_refused for every offering of a stage that a refusal speaks of; makes the rows that are missing. The rows
 * it changed have failed_ms = now_ms. A code that is not remembered changes nothing. -1 no memory. */
int capacity_refused_stage(struct shortages *l, const struct gen_resource *r, const struct gen_stage *g,
			   const struct resume_refusal *f, const struct capacity_rule *rule, int64_t now_ms, double chance);
/* The market of a stage's launches: MARKET_..., or the resource's own `reserved` text. Borrowed. */
const char *capacity_market(const struct gen_resource *r, const struct gen_stage *s);
/* Is every offering of every stage closed? Then *code and *until_ms (the earliest end) are of the one that opens first. */
bool capacity_all_closed(const struct gen_resource *r, const struct shortages *l, int64_t now_ms, const char **code,
			 int64_t *until_ms);

#endif
