/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_plan_nodes.c - what clustermgtd does about one node as its machine's health, its state and the time change: stories of a
 * few loops, the reports of people who run such clusters among them. Single sights are in test_plan_reconcile.c, the
 * whole table in test_node_rules.c.
 */
#include "tests/unit/cmocka_all.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/node/extra.h"
#include "lib/node/nodeset.h"
#include "lib/plan/protect.h"
#include "lib/plan/reconcile.h"

#include <stdlib.h>
#include <string.h>

#define START INT64_C(1796119200000) /* 2026-12-01 10:00 UTC */
#define GRACE_S 120
#define TIMEOUT_S 1800
#define HEALTH_S 180
#define LEAD_S 86400

#define IDLE NS_IDLE
#define RUN NS_ALLOCATED
#define OFF (NS_IDLE | NS_POWERED_DOWN)

/* One node, its row, its machine and what EC2 says of it. */
struct story {
	struct generation *gen;
	struct nodes nodes;
	struct instances instances;
	struct bindings rows;
	struct launches launches;
	struct healths healths;
	struct shortages shortages;
	struct kvs seen, backoff;
	struct protection protection[8];
	struct nodeset *cycling, *held;
	struct node *node;
	struct binding *row;
	struct instance *machine;
	struct health *health;
	int64_t now;
	bool health_unread, ec2_unread;
	enum fleet_status fleet;
	char *reason; /* of the last plan's first action that has one for Slurm */
};

static void add_resource(struct story *s, const char *queue, const char *name)
{
	struct gen_resource *r = generation_add_resource(s->gen);
	struct gen_stage *st;

	r->queue = str_dup(queue);
	r->name = str_dup(name);
	r->min_count = 10;
	r->max_count = 100;
	st = gen_resource_add_stage(r);
	assert_non_null(st);
	assert_int_equal(strs_addf(&st->instance_types, "%s.%s", queue, name), 0);
	assert_int_equal(strs_add(&st->subnet_ids, "subnet-1"), 0);
	assert_int_equal(strs_add(&st->zones, "z"), 0);
}

static void set_reason(struct story *s, const char *reason, int age_s)
{
	free(s->node->reason);
	s->node->reason = str_dup(reason);
	s->node->reason_time_s = reason ? s->now / 1000 - age_s : 0;
}

/* It has been bound for so long; its machine runs. */
static void set_machine(struct story *s, const char *id, enum instance_state state, int age_s)
{
	free(s->row->instance);
	free(s->machine->id);
	free(s->machine->state_reason);
	s->machine->state_reason = NULL;
	s->row->state = BINDING_BOUND;
	s->row->instance = str_dup(id);
	s->machine->id = str_dup(id);
	s->row->since_ms = s->machine->launch_time_ms = s->now - age_s * INT64_C(1000);
	s->machine->state = state;
	s->row->generation++;
}

static void no_machine(struct story *s)
{
	s->row->state = BINDING_FREE;
	s->machine->state = INSTANCE_TERMINATED;
}

static void story_create(struct story *s, const char *node, uint32_t state)
{
	*s = (struct story){ .gen = calloc(1, sizeof(*s->gen)), .now = START };
	assert_non_null(s->gen);
	s->gen->uuid = str_dup("uuid-1");
	s->gen->slurm_version = str_dup("23.11.4");
	s->gen->resume_timeout_s = TIMEOUT_S;
	add_resource(s, "q", "a");
	add_resource(s, "q", "b");
	add_resource(s, "a-dy-b-st", "st-c");
	add_resource(s, "q-st", "dy");
	assert_int_equal(generation_index(s->gen), 0);
	s->node = nodes_add(&s->nodes);
	s->node->name = str_dup(node);
	s->node->state = state | NS_CLOUD;
	s->node->addr = str_dup("10.0.0.1");
	s->node->extra = extra_format("L1");
	s->row = bindings_add(&s->rows);
	*s->row = (struct binding){ .node = str_dup(node), .generation = 7, .launch = str_dup("L1") };
	s->machine = instances_add(&s->instances);
	*s->machine = (struct instance){ .private_ip = str_dup("10.0.0.1"), .launch = str_dup("L1"), .cluster = str_dup("uuid-1"),
					 .queue = str_dup("q"), .resource = str_dup("a") };
	s->cycling = nodeset_create();
	s->held = nodeset_create();
	set_machine(s, "i-1", INSTANCE_RUNNING, 3600);
}

static void story_destroy(struct story *s)
{
	generation_destroy(s->gen);
	nodes_clear(&s->nodes);
	instances_clear(&s->instances);
	bindings_clear(&s->rows);
	launches_clear(&s->launches);
	healths_clear(&s->healths);
	shortages_clear(&s->shortages);
	kvs_clear(&s->seen);
	kvs_clear(&s->backoff);
	nodeset_destroy(s->cycling);
	nodeset_destroy(s->held);
	free(s->reason);
}

/* A status check fails since so long; -1 = EC2 does not tell since when. */
static void impair(struct story *s, int age_s)
{
	s->health = healths_add(&s->healths);
	s->health->instance = str_dup(s->machine->id);
	s->health->system_impaired = true;
	s->health->impaired_since_ms = age_s < 0 ? 0 : s->now - age_s * INT64_C(1000);
}

static void announce(struct story *s, const char *event, int64_t in_s)
{
	s->health = healths_add(&s->healths);
	s->health->instance = str_dup(s->machine->id);
	s->health->event = str_dup(event);
	s->health->event_ms = s->now + in_s * 1000;
}

static void heal(struct story *s)
{
	healths_clear(&s->healths);
}

static void short_of(struct story *s, const char *type)
{
	struct shortage *f = shortages_add(&s->shortages, type, "z", MARKET_ONDEMAND);

	assert_non_null(f);
	f->code = str_dup("InsufficientInstanceCapacity");
	f->failures = 1;
	f->failed_ms = s->now - RECONCILE_REQUEUE_MS;
	f->until_ms = s->now + 600000;
}

static void keep_reason(struct story *s, const struct plan *p)
{
	free(s->reason);
	s->reason = NULL;
	for (size_t i = 0; i < p->n && !s->reason; i++)
		if (p->v[i].kind == ACT_NODE_DOWN || p->v[i].kind == ACT_NODE_DRAIN || p->v[i].kind == ACT_NODE_POWER_DOWN)
			s->reason = str_dup(p->v[i].reason);
}

/* One loop; "kind:code" of each action. Caller frees. */
static char *loop(struct story *s)
{
	struct reconcile_input in = {
		.gen = s->gen, .nodes = &s->nodes, .instances = s->ec2_unread ? NULL : &s->instances, .bindings = &s->rows,
		.launches = &s->launches, .shortages = &s->shortages, .healths = s->health_unread ? NULL : &s->healths,
		.protection = s->protection, .cycling = s->cycling, .held = s->held, .fleet = s->fleet,
		.health_grace_ms = HEALTH_S * 1000, .event_lead_ms = LEAD_S * INT64_C(1000), .now_ms = s->now,
		.orphan_grace_ms = GRACE_S * 1000, .observed_ms = s->now - 500, .static_backoff = &s->backoff, .seen = &s->seen,
	};
	struct plan p = { 0 };
	struct buf b = { 0 };

	assert_int_equal(reconcile_watch(&in, &s->seen, NULL), 0);
	assert_int_equal(reconcile_plan(&in, &p, NULL), 0);
	for (size_t i = 0; i < p.n; i++)
		buf_fmt(&b, "%s%s:%s", i ? " " : "", action_kind_text(p.v[i].kind), p.v[i].code);
	keep_reason(s, &p);
	plan_clear(&p);
	return buf_failed(&b) ? NULL : b.v ? buf_take(&b) : str_dup("");
}

static void loop_is(struct story *s, int line, const char *want)
{
	char *is = loop(s);

	if (!str_eq(is, want))
		fail_msg("line %d: it does \"%s\", not \"%s\"", line, is, want);
	free(is);
}

#define IS(s, want) loop_is(s, __LINE__, want)
#define REPLACE(code) "down:" code " terminate:" code " unbind:" code " power-down:" code
#define REPLACE_DOWN(code) "terminate:" code " unbind:" code " power-down:" code

static void reason_is(struct story *s, const char *want)
{
	if (!str_eq(s->reason, want))
		fail_msg("its reason is \"%s\", not \"%s\"", s->reason ? s->reason : "", want);
}

static void wait_s(struct story *s, int seconds)
{
	s->now += seconds * INT64_C(1000);
}

/* Slurm took what the plan said: the state changes, the reason of the plan is the node's. */
static void becomes(struct story *s, uint32_t state)
{
	char *reason = s->reason;

	s->reason = NULL;
	s->node->state = state | NS_CLOUD;
	set_reason(s, reason, 0);
	free(reason);
}

/* ---- health */

static void test_impaired_with_a_job(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-dy-a-1", RUN);
	impair(&s, HEALTH_S - 1);
	IS(&s, "");
	wait_s(&s, 1);
	IS(&s, "drain:impaired");
	reason_is(&s, "(Code:HealthCheck)EC2's system status check fails since 2026-12-01 09:57 UTC");
	becomes(&s, RUN | NS_DRAIN);
	IS(&s, "");
	becomes(&s, IDLE | NS_DRAIN | NS_COMPLETING);
	set_reason(&s, "(Code:HealthCheck)EC2's system status check fails since 2026-12-01 09:57 UTC", 10);
	IS(&s, "");
	s.node->state = IDLE | NS_DRAIN;
	IS(&s, REPLACE("drained"));
	reason_is(&s, "(Code:Replaced)Its machine was not well (was: (Code:HealthCheck)EC2's system status check fails since "
		      "2026-12-01 09:57 UTC)");
	/* slurmctld went away before the power down: it is known again */
	becomes(&s, NS_DOWN | NS_DRAIN);
	no_machine(&s);
	IS(&s, "");
	wait_s(&s, 20);
	IS(&s, "power-down:drained-down");
	story_destroy(&s);
}

/* A drain first, also without a job: none may start between the look and the deed. */
static void test_impaired_idle(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-st-a-1", IDLE);
	impair(&s, HEALTH_S);
	IS(&s, "drain:impaired");
	becomes(&s, IDLE | NS_DRAIN);
	IS(&s, REPLACE("drained"));
	story_destroy(&s);
}

/* What EC2 takes back is taken back here: only our own drain, and only when the checks were read. */
static void test_drain_is_taken_back(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-dy-a-1", RUN);
	impair(&s, HEALTH_S);
	IS(&s, "drain:impaired");
	becomes(&s, RUN | NS_DRAIN);
	s.health->impaired_since_ms = s.now; /* fails anew: not well, but not for long either */
	IS(&s, "");
	heal(&s);
	s.health_unread = true;
	IS(&s, "");
	s.health_unread = false;
	IS(&s, "resume:drain-over");
	set_reason(&s, "fan", 10);
	IS(&s, "");
	set_reason(&s, "(Code:HealthCheck)x", 10);
	s.node->state |= NS_FAIL;
	IS(&s, "");
	story_destroy(&s);
}

/* EC2 does not tell since when: our own clock counts from the first sight, over loops that could not read. */
static void test_impaired_since_is_not_told(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-dy-a-1", RUN);
	impair(&s, -1);
	IS(&s, "");
	wait_s(&s, 100);
	s.health_unread = true;
	IS(&s, "");
	s.health_unread = false;
	wait_s(&s, HEALTH_S - 101);
	IS(&s, "");
	wait_s(&s, 1);
	IS(&s, "drain:impaired");
	heal(&s);
	IS(&s, "");
	impair(&s, -1); /* another time */
	IS(&s, "");
	story_destroy(&s);
}

static void test_events(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-dy-a-1", RUN);
	announce(&s, "instance-retirement", LEAD_S + 1);
	IS(&s, "");
	wait_s(&s, 1);
	IS(&s, "drain:event");
	reason_is(&s, "(Code:ScheduledEvent)EC2 announces instance-retirement at 2026-12-02 10:00 UTC");
	becomes(&s, RUN | NS_DRAIN);
	s.health->event_ms += 3600 * 1000; /* put off */
	IS(&s, "resume:drain-over");
	s.node->state = IDLE | NS_DRAIN;
	s.health->event_ms = s.now - 1000; /* it happens now */
	IS(&s, REPLACE("drained"));
	story_destroy(&s);
}

/* A person's drain is left alone, whatever EC2 says, until the machine is gone. */
static void test_person_holds_it(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-dy-a-1", IDLE | NS_DRAIN);
	set_reason(&s, "fan", 3600);
	IS(&s, "");
	impair(&s, 3600);
	IS(&s, "");
	s.machine->state = INSTANCE_STOPPED;
	IS(&s, "");
	s.node->state = RUN | NS_DRAIN; /* its job cannot go on */
	IS(&s, "down:machine-stopped-held");
	reason_is(&s, "(Code:MachineStopped)The machine of this node stopped (was: fan)");
	s.machine->state = INSTANCE_TERMINATED;
	IS(&s, "down:machine-gone-held unbind:machine-gone-held");
	reason_is(&s, "(Code:MachineGone)The machine of this node is gone (was: fan)");
	story_destroy(&s);
}

static void test_invalid_registration(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-dy-a-1", RUN | NS_DRAIN | NS_INVALID_REG);
	set_reason(&s, "Low RealMemory (reported:900 < 100.00% of configured:1000)", 5);
	IS(&s, "");
	s.node->state = IDLE | NS_DRAIN | NS_INVALID_REG;
	IS(&s, "boot-failed:invalid-reg " REPLACE("invalid-reg"));
	reason_is(&s, "(Code:InvalidRegistration)Its machine is not what slurm.conf says (was: Low RealMemory (reported:900 < 100.00% "
		      "of configured:1000))");
	s.node->state |= NS_POWER_DOWN;
	IS(&s, "");
	s.node->state = IDLE | NS_DRAIN | NS_INVALID_REG;
	set_reason(&s, "I look at it", 5);
	IS(&s, "");
	story_destroy(&s);
}

/* slurmctld gives a node up by itself after ResumeTimeout; if it forgot to, we do. */
static void test_boot_timeout(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-dy-a-1", RUN | NS_POWERING_UP);
	IS(&s, "");
	wait_s(&s, TIMEOUT_S + GRACE_S - 1);
	IS(&s, "");
	wait_s(&s, 1);
	IS(&s, "boot-failed:boot-timeout " REPLACE("boot-timeout"));
	story_destroy(&s);
}

/* EC2 took the machine back, or a person ended it, before it came up: nothing is said against its resource. */
static void test_lost_while_booting(void **state)
{
	static const struct {
		const char *why;
		bool counts;
	} rows[] = { { "Client.InstanceInitiatedShutdown", true }, { "Server.InternalError", true }, { NULL, true },
		     { "Server.SpotInstanceTermination", false }, { "Server.InsufficientInstanceCapacity", false },
		     { "Client.UserInitiatedShutdown", false } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct story s;

		story_create(&s, "q-dy-a-1", RUN | NS_POWERING_UP);
		s.machine->state = INSTANCE_TERMINATED;
		s.machine->state_reason = str_dup(rows[i].why);
		IS(&s, rows[i].counts ? "boot-failed:machine-gone down:machine-gone unbind:machine-gone power-down:machine-gone"
				      : "down:machine-gone unbind:machine-gone power-down:machine-gone");
		story_destroy(&s);
	}
}

static void test_spot_is_named(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-dy-a-1", RUN);
	s.machine->state = INSTANCE_SHUTTING_DOWN;
	s.machine->state_reason = str_dup("Server.SpotInstanceTermination");
	IS(&s, "down:machine-gone unbind:machine-gone power-down:machine-gone");
	reason_is(&s, "(Code:MachineGone)The machine of this node is gone: Server.SpotInstanceTermination, EC2 took the spot machine back");
	story_destroy(&s);
}

/* ---- protected resources, cycling nodes */

static void protect(struct story *s, const char *node, const char *off, const char *back)
{
	story_create(s, node, OFF);
	no_machine(s);
	s->protection[0].on = true;
	IS(s, off);
	becomes(s, NS_DOWN | NS_POWERED_DOWN);
	wait_s(s, 3600);
	IS(s, "");
	s->protection[0].on = false;
	IS(s, back);
	story_destroy(s);
}

static void test_protected(void **state)
{
	struct story s;

	(void)state;
	protect(&s, "q-dy-a-1", "down:protected", "power-down:protected-over");
	protect(&s, "q-st-a-1", "down:protected", "power-down:protected-over");
	story_create(&s, "q-dy-b-1", OFF); /* the queue's other resources go on */
	no_machine(&s);
	s.protection[0].on = true;
	IS(&s, "");
	s.protection[1].on = true;
	IS(&s, "down:protected");
	reason_is(&s, "(Code:BootFailures)Machines of this compute resource do not come up: see slurm-ec2 explain node q-dy-b-1, then "
		      "slurm-ec2 fleet start");
	assert_true(protect_reason(s.reason));
	s.node->state = OFF | NS_MAINT | NS_RES; /* somebody wants this very node */
	IS(&s, "");
	s.node->state = RUN;
	set_machine(&s, "i-1", INSTANCE_RUNNING, 3600);
	IS(&s, "");
	story_destroy(&s);
}

static void test_cycling(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-dy-a-2", OFF);
	no_machine(&s);
	assert_int_equal(nodeset_add(s.cycling, "q-dy-a-2"), 1);
	IS(&s, "down:protected");
	assert_true(protect_cycling_reason(s.reason));
	becomes(&s, NS_DOWN | NS_POWERED_DOWN);
	IS(&s, "");
	nodeset_destroy(s.cycling);
	s.cycling = nodeset_create();
	IS(&s, "power-down:protected-over");
	story_destroy(&s);
}

/* ---- static nodes */

/* Back in idle~ after its machine is gone, and only then powered up again; not while the fleet is stopped. */
static void test_static_is_replaced(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-st-a-1", NS_DOWN | NS_NO_RESPOND);
	set_reason(&s, "Not responding", GRACE_S);
	IS(&s, REPLACE_DOWN("node-down"));
	reason_is(&s, "slurm-ec2: back to idle, slurmd does not come back (was: Not responding)");
	becomes(&s, OFF);
	s.machine->state = INSTANCE_RUNNING; /* EC2 could not end it */
	IS(&s, "terminate:powered-down unbind:powered-down");
	no_machine(&s);
	s.fleet = FLEET_STOPPED;
	IS(&s, "");
	s.fleet = FLEET_RUNNING;
	IS(&s, "power-up:static-down");
	story_destroy(&s);
}

/* ---- what people reported of such systems */

/* Idle-looking, powered down, not responding: nothing is ever scheduled there. Once it was seen for a while it is reset. */
static void test_B01_idle_but_not_responding(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-dy-a-1", OFF | NS_NO_RESPOND);
	no_machine(&s);
	IS(&s, "");
	wait_s(&s, GRACE_S - 1);
	IS(&s, "");
	s.node->state = OFF; /* it was over for a moment */
	IS(&s, "");
	s.node->state = OFF | NS_NO_RESPOND;
	IS(&s, "");
	wait_s(&s, GRACE_S - 1);
	IS(&s, "");
	wait_s(&s, 1);
	IS(&s, "power-down:stuck-idle");
	becomes(&s, OFF);
	IS(&s, "");
	story_destroy(&s);
}

/* Not up within ResumeTimeout: address and row go, one failed boot is counted, and nobody has to resume it. */
static void test_B02_resume_timeout(void **state)
{
	struct story s;

	(void)state;
	for (int no_respond = 0; no_respond <= 1; no_respond++) {
		story_create(&s, "q-dy-a-1", NS_DOWN | NS_POWERED_DOWN | (no_respond ? NS_NO_RESPOND : 0));
		set_reason(&s, "ResumeTimeout reached", 20);
		IS(&s, "boot-failed:resume-timeout " REPLACE_DOWN("resume-timeout"));
		no_machine(&s);
		becomes(&s, IDLE | NS_POWER_DOWN);
		IS(&s, "");
		s.node->state = IDLE | NS_POWERING_DOWN;
		IS(&s, "");
		s.node->state = OFF;
		IS(&s, "");
		story_destroy(&s);
	}
	/* a look before its jobs are requeued ends the machine, and counts too */
	story_create(&s, "q-dy-a-1", NS_DOWN | NS_POWERED_DOWN);
	set_reason(&s, "ResumeTimeout reached", 1);
	IS(&s, "boot-failed:powered-down terminate:powered-down unbind:powered-down");
	no_machine(&s);
	IS(&s, "");
	wait_s(&s, 20);
	IS(&s, "power-down:resume-timeout");
	story_destroy(&s);
}

/* SuspendExcStates and the like are not asked: a node that stays DOWN goes back by force. */
static void test_B03_down_does_not_stay(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-dy-a-1", NS_DOWN | NS_NO_RESPOND);
	set_reason(&s, "Not responding", GRACE_S);
	IS(&s, REPLACE_DOWN("node-down"));
	no_machine(&s);
	IS(&s, "power-down:node-down");
	story_destroy(&s);
}

/* Before 22.05.6 Slurm leaves it completing for ever. Later releases get ResumeTimeout, for an epilog may run. */
static void test_B04_stuck_completing(void **state)
{
	static const struct {
		const char *version;
		bool old;
	} rows[] = { { "22.05.5", true }, { "22.05.0", true }, { "21.08.8", true }, { "22.05.6", false }, { "22.05.11", false },
		     { "23.02.1", false }, { "23.11.4", false }, { "26.05.0", false }, { "", false } };
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		story_create(&s, "q-dy-a-1", IDLE | NS_COMPLETING | NS_POWER_DOWN | NS_NO_RESPOND);
		free(s.gen->slurm_version);
		s.gen->slurm_version = str_dup(rows[i].version);
		IS(&s, rows[i].old ? REPLACE("stuck-completing-old") : "");
		wait_s(&s, TIMEOUT_S + GRACE_S - 1);
		IS(&s, rows[i].old ? REPLACE("stuck-completing-old") : "");
		wait_s(&s, 1);
		IS(&s, rows[i].old ? REPLACE("stuck-completing-old") : REPLACE("stuck-completing"));
		s.node->state &= ~NS_NO_RESPOND; /* the epilog runs */
		IS(&s, "");
		story_destroy(&s);
	}
}

/* Both flags for a while after a reset: a plain powered-down node; the same DOWN and not responding is not. */
static void test_B05_power_down_and_powered_down(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-dy-a-1", OFF | NS_POWER_DOWN);
	no_machine(&s);
	IS(&s, "");
	wait_s(&s, 3600);
	IS(&s, "");
	s.node->state = NS_DOWN | NS_POWERED_DOWN | NS_POWER_DOWN | NS_NO_RESPOND;
	set_reason(&s, "Not responding", 30);
	IS(&s, "power-down:resume-timeout");
	story_destroy(&s);
}

/* Power down asked for is not power down under way: jobs run on. */
static void test_B06_asked_is_not_under_way(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-dy-a-1", NS_MIXED | NS_DRAIN | NS_POWER_DOWN);
	set_reason(&s, "POWER_DOWN_ASAP", 3600);
	IS(&s, "");
	impair(&s, 3600);
	IS(&s, "");
	heal(&s);
	s.node->state = NS_DOWN | NS_POWER_DOWN;
	set_reason(&s, "Not responding", 3600);
	IS(&s, "");
	s.node->state = IDLE | NS_POWERING_DOWN;
	IS(&s, "terminate:powering-down unbind:powering-down");
	story_destroy(&s);
	story_create(&s, "q-st-a-1", IDLE | NS_POWERING_DOWN);
	IS(&s, "terminate:powering-down unbind:powering-down");
	story_destroy(&s);
}

/* Drained and completing: its epilog still runs. */
static void test_B10_epilog_of_a_draining_node(void **state)
{
	static const char *const reasons[] = { "fan", "(Code:HealthCheck)EC2's system status check fails since now",
					       "Low RealMemory (reported:1 < 2)" };
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		story_create(&s, "q-dy-a-1", IDLE | NS_DRAIN | NS_COMPLETING | (i == 2 ? NS_INVALID_REG : 0));
		set_reason(&s, reasons[i], 3600);
		impair(&s, 3600);
		IS(&s, "");
		wait_s(&s, 3600);
		IS(&s, "");
		s.node->state &= ~NS_COMPLETING;
		IS(&s, i == 0 ? "" : i == 1 ? REPLACE("drained") : "boot-failed:invalid-reg " REPLACE("invalid-reg"));
		story_destroy(&s);
	}
}

/* Names with st and dy in the wrong places go to the resource that has them. */
static void test_B65_names_with_hyphens(void **state)
{
	static const char *const names[] = { "a-dy-b-st-dy-st-c-7", "q-st-dy-dy-7", "q-dy-a-7" };
	static const char *const types[] = { "a-dy-b-st.st-c", "q-st.dy", "q.a" };
	struct story s;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		for (size_t k = 0; k < 3; k++) {
			story_create(&s, names[i], OFF);
			no_machine(&s);
			short_of(&s, types[k]);
			IS(&s, i == k ? "down:capacity-closed" : "");
			story_destroy(&s);
		}
	}
	story_create(&s, "a-dy-b-st-st-st-c-7", OFF);
	no_machine(&s);
	IS(&s, "power-up:static-down");
	story_destroy(&s);
}

/* A static node without capacity: no failed boot, and not launched again at once. */
static void test_B73_static_without_capacity(void **state)
{
	struct story s;
	struct kvs *b = &s.backoff;

	(void)state;
	story_create(&s, "q-st-a-1", NS_DOWN | NS_NO_RESPOND);
	set_reason(&s, "Not responding", GRACE_S);
	s.machine->state = INSTANCE_TERMINATED;
	IS(&s, "unbind:machine-gone power-down:machine-gone"); /* the old address goes with the row */
	becomes(&s, OFF);
	no_machine(&s);
	IS(&s, "power-up:static-down");
	s.node->state = NS_DOWN | NS_POWERING_UP;
	set_reason(&s, "(Code:InsufficientInstanceCapacity)Failure when resuming nodes", 20);
	IS(&s, "power-down:launch-failed");
	becomes(&s, OFF);
	assert_int_equal(kvs_add(b, "q-st-a-1", "1796119201000"), 0);
	IS(&s, "");
	wait_s(&s, 1);
	IS(&s, "power-up:static-down");
	story_destroy(&s);
}

/* A user's maintenance reservation on a static node that goes DOWN: one replacement, which gets its time. */
static void test_B76_reserved_for_maintenance(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-st-a-1", NS_DOWN | NS_MAINT | NS_RES | NS_NO_RESPOND);
	set_reason(&s, "Not responding", GRACE_S);
	IS(&s, REPLACE_DOWN("node-down"));
	becomes(&s, OFF | NS_MAINT | NS_RES);
	no_machine(&s);
	IS(&s, "power-up:static-down");
	s.node->state = IDLE | NS_POWERING_UP | NS_NO_RESPOND | NS_MAINT | NS_RES;
	set_machine(&s, "i-2", INSTANCE_RUNNING, 0);
	for (int i = 0; i < TIMEOUT_S / 60; i++) {
		wait_s(&s, 60);
		IS(&s, "");
	}
	s.node->state = IDLE | NS_MAINT | NS_RES;
	for (int i = 0; i < 10; i++) {
		wait_s(&s, 3600);
		IS(&s, "");
	}
	story_destroy(&s);
}

/* Somebody repairs the machine: EC2's word against it is not ours to act on until it is gone, or the maintenance over. */
static void test_maintenance_of_a_person(void **state)
{
	static const uint32_t bases[] = { IDLE, RUN, IDLE | NS_POWERING_UP, RUN | NS_COMPLETING };
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		story_create(&s, "q-st-a-1", bases[i] | NS_MAINT | NS_RES);
		impair(&s, HEALTH_S);
		IS(&s, "");
		heal(&s);
		announce(&s, "instance-stop", 3600);
		IS(&s, "");
		s.machine->state = INSTANCE_TERMINATED; /* the one replacement */
		IS(&s, bases[i] & NS_POWERING_UP
			       ? "boot-failed:machine-gone down:machine-gone unbind:machine-gone power-down:machine-gone"
			       : "down:machine-gone unbind:machine-gone power-down:machine-gone");
		story_destroy(&s);
	}
	story_create(&s, "q-dy-a-1", IDLE | NS_MAINT | NS_RES);
	impair(&s, HEALTH_S);
	IS(&s, "");
	s.node->state = IDLE; /* it is over, and nothing was mended */
	IS(&s, "drain:impaired");
	story_destroy(&s);
}

/* We had drained it, then somebody reserved it to look at it: the drain stays, and no more. It may go DOWN meanwhile. */
static void test_maintenance_after_our_drain(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-dy-a-1", RUN);
	impair(&s, HEALTH_S);
	IS(&s, "drain:impaired");
	becomes(&s, IDLE | NS_DRAIN | NS_MAINT | NS_RES);
	IS(&s, "");
	s.node->state = NS_DOWN | NS_DRAIN | NS_MAINT | NS_RES | NS_NO_RESPOND;
	wait_s(&s, TIMEOUT_S);
	IS(&s, "");
	heal(&s);
	IS(&s, "");
	s.node->state = IDLE | NS_DRAIN | NS_MAINT | NS_RES;
	IS(&s, "resume:drain-over");
	story_destroy(&s);
}

/* The reservation by which we keep a capacity block's nodes is MAINT too, and nobody repairs anything. */
static void test_our_reservation_is_no_maintenance(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-st-a-1", IDLE | NS_MAINT | NS_RES);
	assert_true(nodeset_add(s.held, "q-st-a-1") >= 0);
	impair(&s, HEALTH_S);
	IS(&s, "drain:impaired");
	becomes(&s, IDLE | NS_DRAIN | NS_MAINT | NS_RES);
	IS(&s, REPLACE("drained"));
	story_destroy(&s);
}

/* What was said of the node before stays to be read behind our words. */
static void test_B80_original_reason_is_kept(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-dy-a-1", RUN);
	set_reason(&s, "Not responding", 40);
	s.machine->state = INSTANCE_TERMINATED;
	IS(&s, "down:machine-gone unbind:machine-gone power-down:machine-gone");
	reason_is(&s, "(Code:MachineGone)The machine of this node is gone (was: Not responding)");
	becomes(&s, NS_DOWN);
	no_machine(&s);
	wait_s(&s, 20);
	IS(&s, "power-down:launch-failed");
	reason_is(&s, "slurm-ec2: back to idle after a failed launch (was: Not responding)");
	becomes(&s, OFF);
	story_destroy(&s);
}

/* A static node DOWN whose machine sets itself up: it has ResumeTimeout, then it is replaced once. */
static void test_B81_still_sets_up(void **state)
{
	struct story s;

	(void)state;
	for (int coming_up = 0; coming_up <= 1; coming_up++) {
		story_create(&s, "q-st-a-1", NS_DOWN | (coming_up ? NS_POWERING_UP : 0));
		set_reason(&s, "Not responding", 1600);
		set_machine(&s, "i-1", INSTANCE_RUNNING, 1500);
		IS(&s, "");
		wait_s(&s, 180);
		IS(&s, "");
		wait_s(&s, TIMEOUT_S - 1500 - 180);
		IS(&s, coming_up ? "boot-failed:boot-failed " REPLACE_DOWN("boot-failed") : REPLACE_DOWN("node-down"));
		story_destroy(&s);
	}
	/* not so a machine that was there when it went DOWN */
	story_create(&s, "q-st-a-1", NS_DOWN);
	set_reason(&s, "Not responding", GRACE_S);
	set_machine(&s, "i-1", INSTANCE_RUNNING, 600);
	IS(&s, REPLACE_DOWN("node-down"));
	story_destroy(&s);
}

/* A hard failure does not wait for the boot's time. */
static void test_B82_impaired_while_booting(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-st-a-1", IDLE | NS_POWERING_UP | NS_NO_RESPOND);
	set_machine(&s, "i-1", INSTANCE_RUNNING, 300);
	impair(&s, HEALTH_S - 1);
	IS(&s, "");
	wait_s(&s, 1);
	IS(&s, "boot-failed:impaired-boot " REPLACE("impaired-boot"));
	story_destroy(&s);
}

/* scontrol reboot: EC2's check fails meanwhile and lags afterwards. Neither counts, for ResumeTimeout. */
static void test_B83_reboot(void **state)
{
	static const uint32_t flags[] = { NS_REBOOT_REQUESTED, NS_REBOOT_ISSUED, NS_REBOOT_ISSUED | NS_DRAIN };
	struct story s;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		story_create(&s, "q-dy-a-1", (i ? NS_DOWN : IDLE) | flags[i]);
		set_reason(&s, "kernel : reboot issued", 400);
		impair(&s, 400);
		IS(&s, "");
		wait_s(&s, 600);
		IS(&s, "");
		s.node->state = IDLE; /* back, and EC2 has not noticed */
		set_reason(&s, NULL, 0);
		s.node->slurmd_start_s = s.now / 1000 - 10;
		IS(&s, "");
		wait_s(&s, 3600);
		IS(&s, "");
		s.health->impaired_since_ms = s.now - HEALTH_S * 1000; /* another time, after slurmd started */
		IS(&s, "drain:impaired");
		story_destroy(&s);
	}
}

static void test_B83_reboot_has_an_end(void **state)
{
	struct story s;

	(void)state;
	story_create(&s, "q-dy-a-1", IDLE | NS_REBOOT_ISSUED);
	impair(&s, 3600);
	IS(&s, "");
	wait_s(&s, TIMEOUT_S + GRACE_S - 1);
	IS(&s, "");
	wait_s(&s, 1);
	IS(&s, "drain:impaired");
	s.machine->state = INSTANCE_TERMINATED;
	IS(&s, "down:machine-gone unbind:machine-gone power-down:machine-gone");
	story_destroy(&s);
	/* slurmctld's own word for it */
	story_create(&s, "q-dy-a-1", NS_DOWN);
	set_reason(&s, "kernel : reboot issued : reboot timed out", GRACE_S);
	IS(&s, REPLACE_DOWN("node-down"));
	story_destroy(&s);
}

/* Spot with stop or hibernate: the node looks fine for long, and its jobs do not run. */
static void test_B85_stopped_spot(void **state)
{
	static const enum instance_state states[] = { INSTANCE_STOPPING, INSTANCE_STOPPED };
	struct story s;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		story_create(&s, "q-dy-a-1", RUN);
		s.machine->state = states[i];
		s.machine->state_reason = str_dup("Server.SpotInstanceShutdown");
		IS(&s, REPLACE("machine-stopped"));
		reason_is(&s, "(Code:MachineStopped)The machine of this node stopped: Server.SpotInstanceShutdown, EC2 took the spot "
			      "machine back");
		becomes(&s, NS_DOWN);
		set_reason(&s, "Not responding", 1);
		IS(&s, REPLACE_DOWN("machine-stopped"));
		s.ec2_unread = true;
		IS(&s, "");
		story_destroy(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_impaired_with_a_job),
	    cmocka_unit_test(test_impaired_idle),
	    cmocka_unit_test(test_drain_is_taken_back),
	    cmocka_unit_test(test_impaired_since_is_not_told),
	    cmocka_unit_test(test_events),
	    cmocka_unit_test(test_person_holds_it),
	    cmocka_unit_test(test_invalid_registration),
	    cmocka_unit_test(test_boot_timeout),
	    cmocka_unit_test(test_lost_while_booting),
	    cmocka_unit_test(test_spot_is_named),
	    cmocka_unit_test(test_protected),
	    cmocka_unit_test(test_cycling),
	    cmocka_unit_test(test_static_is_replaced),
	    cmocka_unit_test(test_B01_idle_but_not_responding),
	    cmocka_unit_test(test_B02_resume_timeout),
	    cmocka_unit_test(test_B03_down_does_not_stay),
	    cmocka_unit_test(test_B04_stuck_completing),
	    cmocka_unit_test(test_B05_power_down_and_powered_down),
	    cmocka_unit_test(test_B06_asked_is_not_under_way),
	    cmocka_unit_test(test_B10_epilog_of_a_draining_node),
	    cmocka_unit_test(test_B65_names_with_hyphens),
	    cmocka_unit_test(test_B73_static_without_capacity),
	    cmocka_unit_test(test_B76_reserved_for_maintenance),
	    cmocka_unit_test(test_maintenance_of_a_person),
	    cmocka_unit_test(test_maintenance_after_our_drain),
	    cmocka_unit_test(test_our_reservation_is_no_maintenance),
	    cmocka_unit_test(test_B80_original_reason_is_kept),
	    cmocka_unit_test(test_B81_still_sets_up),
	    cmocka_unit_test(test_B82_impaired_while_booting),
	    cmocka_unit_test(test_B83_reboot),
	    cmocka_unit_test(test_B83_reboot_has_an_end),
	    cmocka_unit_test(test_B85_stopped_spot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
