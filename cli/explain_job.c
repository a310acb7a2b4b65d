/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain_job.c - a job from Slurm's reason to the nodes it waits for, with the explanation of the one that is furthest behind.
 */
#include "build_config.h"

#include "cli/explain.h"
#include "lib/base/buf.h"
#include "lib/node/name.h"
#include "lib/node/nodeset.h"
#include "lib/plan/reconcile.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BATCH_START_S 30 /* slurmctld looks that often at batch jobs whose nodes are there */
#define REQUEUE_S 120	 /* it lets a job rest whose node failed */

/* --- Slurm's reason */

static const char *meaning_of(const struct slurmctl_job_info *j)
{
	static const struct {
		const char *reason, *text;
	} all[] = {
	    {"None", "Slurm has not looked at it yet"},
	    {"Priority", "other jobs come first in this partition"},
	    {"Resources", "the nodes that fit are in use, on their way, or out of use"},
	    {"BeginTime", "it was asked to begin later"},
	    {"ReqNodeNotAvail", "a node that it needs is down, drained or reserved"},
	    {"PartitionDown", "its partition starts no jobs"},
	    {"PartitionInactive", "its partition takes no jobs"},
	    {"Dependency", "it waits for another job"},
	    {"DependencyNeverSatisfied", "the job that it waits for ended in another way than it asks for"},
	    {"JobHeldUser", "its owner holds it: scontrol release"},
	    {"JobHeldAdmin", "an administrator holds it: scontrol release"},
	    {"JobHoldMaxRequeue", "it was put back too often and is held: scontrol release"},
	    {"Licenses", "it waits for licences"},
	    {"Reservation", "its reservation has not begun, or has no free node"},
	    {"PartitionNodeLimit", "it asks for more nodes than its partition allows or has up"},
	    {"PartitionTimeLimit", "it asks for more time than its partition allows"},
	    {"Cleaning", "its last run is being cleaned up"},
	    {"Prolog", "the prolog runs on its nodes"},
	    {"JobArrayTaskLimit", "so many tasks of its array run already"},
	    {SLURMCTL_BAD_CONSTRAINTS, "no node of the partition can ever fit what it asks for"},
	};

	if (str_eq(j->reason, "BeginTime") && j->restarts)
		return "after a node of it failed Slurm lets it rest for two minutes";
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (str_eq(all[i].reason, j->reason))
			return all[i].text;
	return "that is between it and Slurm's rules on this site";
}

static void say_job(struct explain *x, const struct slurmctl_job_info *j)
{
	const char *partition = j->partition ? j->partition : "?";

	if (str_eq(j->state, "PENDING"))
		explain_say(x, SAY_SLURM, "PENDING in partition %s, reason %s: %s.", partition, j->reason, meaning_of(j));
	else if (j->configuring)
		explain_say(x, SAY_SLURM, "It has its nodes (%s) in partition %s and waits until all are ready.",
			    j->nodes ? j->nodes : "?", partition);
	else
		explain_say(x, SAY_SLURM, "%s in partition %s%s%s%s%s%s.", j->state, partition, j->nodes ? " on " : "",
			    j->nodes ? j->nodes : "", j->completing ? ", its end is being cleaned up" : "",
			    j->ended && !str_eq(j->reason, "None") ? ", reason " : "",
			    j->ended && !str_eq(j->reason, "None") ? j->reason : "");
	if (j->reason_text && *j->reason_text)
		explain_say(x, SAY_SLURM, "slurmctld's words: %s", j->reason_text);
	if (j->restarts)
		explain_say(x, SAY_SLURM,
			    "It was put back into the queue %" PRId64
			    " time%s, because a node of it failed or somebody asked for it.",
			    j->restarts, j->restarts == 1 ? "" : "s");
	if (j->required_nodes && *j->required_nodes)
		explain_say(x, SAY_SLURM, "It asks for %s and no other.", j->required_nodes);
	if (j->admin_comment && *j->admin_comment)
		explain_say(x, str_prefix(j->admin_comment, "slurm-ec2") ? SAY_OURS : SAY_SLURM, "AdminComment: %s",
			    j->admin_comment);
}

/* --- the nodes it has */

static bool has_nodes(const struct slurmctl_job_info *j)
{
	return j->nodes && *j->nodes;
}

static bool is_out(const struct node *n)
{
	return node_state_is(n->state, 1u << NS_DOWN | 1u << NS_ERROR, 0, 0);
}

/* How far a node of a job is from being ready; greater is worse. 0 = ready. */
static int badness(const struct look *l, const struct node *n)
{
	const struct binding *b = look_row(l, n->name);

	if (is_out(n))
		return 5;
	if (!(n->state & (NS_POWERING_UP | NS_POWERED_DOWN | NS_POWERING_DOWN)))
		return n->state & NS_NO_RESPOND ? 1 : 0;
	if (l->state_away)
		return 2;
	return !b ? 4 : b->state == BINDING_LAUNCHING ? 3 : 2;
}

/* Those that it has, or that it asks for. */
static struct nodeset *nodes_of(const struct slurmctl_job_info *j)
{
	const char *text = has_nodes(j) ? j->nodes : j->required_nodes;
	struct nodeset *set = text && *text ? nodeset_create() : NULL;

	if (set && nodeset_parse(set, text, NULL) < 0) {
		nodeset_destroy(set);
		return NULL;
	}
	return set;
}

const char *explain_worst(const struct look *l, const struct slurmctl_job_info *j)
{
	struct nodeset *set = j->ended ? NULL : nodes_of(j);
	const char *worst = NULL;
	int most = 0;
	struct node_name at;

	for (size_t i = 0; set && i < nodeset_count(set); i++) {
		const struct node *n = look_node(l, nodeset_get(set, i));
		int bad = !n ? 0 : has_nodes(j) ? badness(l, n) : is_out(n) || n->state & (NS_DRAIN | NS_FAIL);

		if (bad > most && node_name_resolve_any(l->gen, n->name, &at) == 0) {
			most = bad;
			worst = n->name;
		}
	}
	nodeset_destroy(set);
	return worst;
}

static void say_nodes(struct explain *x, const struct look *l, const struct slurmctl_job_info *j)
{
	static const char *const words[] = {
	    "ready", "up without an answer of slurmd", "booting", "asked of EC2", "without a machine", "DOWN"};
	struct nodeset *set = has_nodes(j) && !j->ended ? nodes_of(j) : NULL;
	size_t count[sizeof(words) / sizeof(words[0])] = {0};
	struct buf b = {0};

	for (size_t i = 0; set && i < nodeset_count(set); i++) {
		const struct node *n = look_node(l, nodeset_get(set, i));

		if (n)
			count[badness(l, n)]++;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (count[i])
			buf_fmt(&b, "%s%zu %s", b.n ? ", " : "", count[i], words[i]);
	if (b.n)
		explain_say(x, SAY_SLURM, "Its nodes: %s.", buf_text(&b));
	x->nomem = x->nomem || buf_failed(&b);
	buf_free(&b);
	nodeset_destroy(set);
}

/* --- the nodes it could get */

static bool in_list(const char *list, const char *name)
{
	struct strs all = {0};
	bool has = list && strs_split(&all, list, ',') == 0 && strs_has(&all, name);

	strs_clear(&all);
	return has;
}

/* The last two are DOWN, for a reason of ours. */
enum tally { TALLY_SHORT = LOOK_GOING + 1, TALLY_PROTECTED, TALLIES };

static size_t tally_of(const struct node *n)
{
	enum look_state state = look_state(n->state);

	if (state == LOOK_DOWN && reconcile_disabled(n->reason))
		return TALLY_SHORT;
	if (state == LOOK_DOWN && (protect_reason(n->reason) || protect_cycling_reason(n->reason)))
		return TALLY_PROTECTED;
	return state;
}

static void say_tally(struct explain *x, const struct gen_resource *r, const size_t count[TALLIES])
{
	static const char *const words[TALLIES] = {[LOOK_OFF] = "powered down",
						   [LOOK_WAKING] = "powering up",
						   [LOOK_IDLE] = "idle",
						   [LOOK_BUSY] = "working",
						   [LOOK_DOWN] = "DOWN",
						   [LOOK_DRAINED] = "drained",
						   [LOOK_GOING] = "powering down",
						   [TALLY_SHORT] = "out of use while EC2 is short",
						   [TALLY_PROTECTED] = "out of use, protected"};
	struct buf b = {0};

	for (size_t i = 0; i < TALLIES; i++)
		if (count[i])
			buf_fmt(&b, "%s%zu %s", b.n ? ", " : "", count[i], words[i]);
	if (b.n)
		explain_say(x, SAY_SLURM, "Nodes of %s/%s: %s.", r->queue, r->name, buf_text(&b));
	x->nomem = x->nomem || buf_failed(&b);
	buf_free(&b);
}

static void say_resource(struct explain *x, const struct look *l, size_t resource)
{
	size_t count[TALLIES] = {0};
	struct node_name at;

	for (size_t i = 0; i < l->nodes.n; i++)
		if (node_name_resolve_any(l->gen, l->nodes.v[i].name, &at) == 0 && at.resource == resource)
			count[tally_of(&l->nodes.v[i])]++;
	say_tally(x, &l->gen->resources[resource], count);
	x->ours = x->ours || count[TALLY_SHORT] || count[TALLY_PROTECTED];
	explain_protection(x, l, resource);
	explain_shortages(x, l, resource);
}

static void say_partitions(struct explain *x, const struct look *l, const struct slurmctl_job_info *j)
{
	size_t ours = 0;

	for (size_t i = 0; i < l->partitions.n; i++) {
		const struct partition *p = &l->partitions.v[i];

		if (in_list(j->partition, p->name) && p->state != PART_UP)
			explain_say(x, SAY_SLURM, "Partition %s is %s.", p->name, partition_state_text(p->state));
	}
	for (size_t i = 0; i < l->gen->n_resources; i++) {
		if (in_list(j->partition, l->gen->resources[i].queue)) {
			say_resource(x, l, i);
			ours++;
		}
	}
	if (!ours && j->partition)
		explain_say(x, SAY_OURS, "No queue of the applied cluster has the name of its partition.");
}

/* --- next */

static bool is_bad_constraints(const struct slurmctl_job_info *j)
{
	return str_eq(j->reason, SLURMCTL_BAD_CONSTRAINTS);
}

static void say_next(struct explain *x, const struct look *l, const struct slurmctl_job_info *j)
{
	char when[EXPLAIN_WHEN];

	if (is_bad_constraints(j)) {
		if (j->restarts)
			explain_say(x, SAY_SLURM,
				    "Slurm does this after a requeue to jobs with --exclusive while memory is scheduled "
				    "(EnableMemoryBasedScheduling). With -N and -c in the place of --exclusive it does not.");
		explain_say(x, SAY_NEXT, "Nothing by itself. scontrol release %" PRId64 " tries it again.", j->id);
		return;
	}
	if (str_eq(j->state, "PENDING") && !fleet_serves(l->fleet.status))
		explain_say(x, SAY_NEXT, "It goes on waiting until slurm-ec2 fleet start.");
	else if (j->configuring && j->batch)
		explain_say(x, SAY_NEXT,
			    "It begins when all its nodes are ready; slurmctld may take up to %d s more for a batch job.",
			    BATCH_START_S);
	else if (j->configuring)
		explain_say(x, SAY_NEXT, "It begins when all its nodes are ready.");
	else if (str_eq(j->state, "PENDING") && j->eligible_s * 1000 > l->now_ms)
		explain_say(x, SAY_NEXT, "Slurm takes it up again at %s%s.", explain_when(l, j->eligible_s * 1000, when),
			    j->restarts ? ", then up to half a minute later" : "");
	else if (str_eq(j->reason, "Resources") && j->start_s * 1000 > l->now_ms)
		explain_say(x, SAY_NEXT, "Slurm expects to start it by %s.", explain_when(l, j->start_s * 1000, when));
	else if (str_eq(j->reason, "Resources"))
		explain_say(x, SAY_NEXT,
			    "It gets nodes as soon as enough that fit are free; should one fail, Slurm puts it back for %d s.",
			    REQUEUE_S);
}

static bool ends_well(const struct slurmctl_job_info *j)
{
	return !str_eq(j->state, "PENDING") && !j->configuring;
}

void explain_job(struct explain *x, const struct look *l, const struct explain_more *m, const struct slurmctl_job_info *j,
		 const char *worst)
{
	bool waits = str_eq(j->state, "PENDING");

	say_job(x, j);
	if (waits)
		say_partitions(x, l, j);
	else
		say_nodes(x, l, j);
	if (worst && !j->ended) {
		explain_say(x, SAY_SLURM, "%s is the furthest behind:", worst);
		x->ours = true;
		explain_node(x, l, m, worst);
	} else {
		explain_fleet(x, l);
		explain_events(x, l, m);
	}
	if (!x->ours && !ends_well(j))
		explain_say(x, SAY_OURS, "Nothing of ours hinders it%s.",
			    l->slurm_away || l->ec2_away || l->state_away ? ", as far as could be seen" : "");
	say_next(x, l, j);
}
