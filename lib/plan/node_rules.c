/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_rules.c - the rows, in the order in which they are tried; the first that fits decides. reconcile_nodes.c finds the facts
 * and does what a row says.
 *
 * An administrator's DOWN, DRAIN or FAIL is not touched while the machine lives: rows that act on a node that is DOWN or held
 * ask for a Reason that is Slurm's own or ours. That holds for a drained node without a job too: somebody may want to look
 * at it. Slurm itself is another matter: it powers a drained node down once it is idle for SuspendTime (before 23.02, which has
 * SuspendExcStates), and the drain ends with it.
 *
 * A person's maintenance reservation stands against the rows about a machine's health only: what EC2 says against it may be what
 * that person is there for. A node that is lost meanwhile is replaced as ever.
 */
#include "lib/plan/node_rules.h"

#include "lib/base/str.h"
#include "lib/plan/protect.h"
#include "lib/plan/reconcile.h"

#include <string.h>

#define OURS "slurm-ec2: "
#define WAS "(was: "
#define GONE_TEXT "(Code:MachineGone)The machine of this node is gone"
#define STOPPED_TEXT "(Code:MachineStopped)The machine of this node stopped"
#define CODE_HEALTH "(Code:HealthCheck)"
#define CODE_EVENT "(Code:ScheduledEvent)"
#define CODE_INVALID "(Code:InvalidRegistration)"
/* Drains that end with the machine. */
#define WHY_DRAIN_ENDS (WHY_DRAINED | WHY_INVALID)
#define DO_REPLACE (DO_CLEAN | DO_POWER_DOWN)
#define MAINTAINED "A person's maintenance: left alone while its machine lives"

const struct node_rule node_rules[] = {
	{ .code = "down-stopped", .bases = BASE(NS_DOWN), .machine = MACHINE_NONE, .why = WHY_AUTOMATIC, .unless = WHEN_SERVES,
	  .because = "DOWN without a machine while the fleet is stopped: a job that came by another partition would take it and be refused "
		     "again and again. It comes back with the fleet" },
	/* ---- powered down, no machine: may it be used? Whoever reserved a node wants that one. */
	{ .code = "protected", .bases = BASE(NS_IDLE), .required = NS_POWERED_DOWN,
	  .forbidden = HELD | MOVING | RESERVED | NS_NO_RESPOND | NS_COMPLETING, .machine = MACHINE_NONE, .when = WHEN_PROTECTED,
	  .acts = DO_DOWN, .says = REASON_PROTECTED,
	  .because = "Machines of its compute resource, or of this node, do not come up: it is taken out, so that Slurm picks another "
		     "and nothing more is spent" },
	{ .code = "protected-still", .bases = BASE(NS_DOWN), .required = NS_POWERED_DOWN, .machine = MACHINE_NONE,
	  .why = WHY_PROTECTED, .when = WHEN_PROTECTED,
	  .because = "It was taken out because machines do not come up, and that holds" },
	{ .code = "protected-over", .bases = BASE(NS_DOWN), .required = NS_POWERED_DOWN, .forbidden = HELD | NS_POWER_DOWN,
	  .machine = MACHINE_NONE, .why = WHY_PROTECTED, .unless = WHEN_PROTECTED, .acts = DO_POWER_DOWN,
	  .says = OURS "machines of this node may be tried again",
	  .because = "What took it out is over: failures grew old, a machine came up, or the fleet was started again" },
	{ .code = "capacity-closed", .bases = BASE(NS_IDLE), .required = NS_POWERED_DOWN,
	  .forbidden = HELD | MOVING | RESERVED | NS_NO_RESPOND | NS_COMPLETING, .machine = MACHINE_NONE, .kinds = KIND_DYNAMIC,
	  .when = WHEN_CLOSED, .acts = DO_DOWN, .says = REASON_DISABLED,
	  .because = "EC2 is short of its compute resource in every way it may be launched: Slurm is to pick another" },
	{ .code = "capacity-closed-still", .bases = BASE(NS_DOWN), .required = NS_POWERED_DOWN, .machine = MACHINE_NONE,
	  .why = WHY_DISABLED, .unless = WHEN_OPEN,
	  .because = "It was taken out for lack of capacity, and EC2 may not be asked yet, or our memory of it was not read" },
	{ .code = "capacity-open", .bases = BASE(NS_DOWN), .required = NS_POWERED_DOWN, .forbidden = HELD | NS_POWER_DOWN,
	  .machine = MACHINE_NONE, .why = WHY_DISABLED, .when = WHEN_OPEN, .acts = DO_POWER_DOWN, .says = REASON_ENABLED,
	  .because = "EC2 may be asked for its compute resource again" },
	{ .code = "launch-failed-still", .bases = BASE(NS_DOWN), .machine = MACHINE_NONE, .why = WHY_NO_LAUNCH, .when = WHEN_CLOSED,
	  .because = "Its launch failed and EC2 is still short: back in idle~ its job would take it at once again" },

	/* ---- the machine is gone */
	{ .code = "machine-gone", .bases = BASE_UP, .forbidden = HELD | OFF, .machine = MACHINE_GONE,
	  .acts = DO_COUNT | DO_DOWN | DO_REPLACE, .says = GONE_TEXT,
	  .because = "Its machine is gone: DOWN requeues its jobs, and it goes back to idle~" },
	{ .code = "machine-gone", .bases = BASE(NS_DOWN), .forbidden = HELD | OFF, .machine = MACHINE_GONE, .why = WHY_AUTOMATIC,
	  .acts = DO_COUNT | DO_REPLACE, .says = GONE_TEXT,
	  .because = "Slurm had found it DOWN, and its machine is gone: it goes back to idle~" },
	{ .code = "drained-gone", .required = NS_DRAIN, .forbidden = NS_FAIL | OFF, .machine = MACHINE_GONE | MACHINE_HALTED,
	  .why = WHY_DRAIN_ENDS, .acts = DO_DOWN | DO_REPLACE, .says = GONE_TEXT,
	  .because = "Drained for its machine's health or hardware, and the machine is gone or stopped: it goes back to idle~" },
	{ .code = "machine-gone-held", .forbidden = OFF, .machine = MACHINE_GONE, .acts = DO_DOWN | DO_CLEAN,
	  .says = GONE_TEXT,
	  .because = "A person holds it and its machine is gone: its jobs are requeued, the hold stays" },

	/* ---- stopped, hibernated, or on the way there: its jobs do not run, and EC2 may keep it so for ever */
	{ .code = "machine-stopped", .bases = BASE_UP, .forbidden = HELD | OFF, .machine = MACHINE_HALTED,
	  .acts = DO_DOWN | DO_REPLACE, .says = STOPPED_TEXT,
	  .because = "A stopped or hibernated machine runs no job: DOWN requeues its jobs, the machine is ended" },
	{ .code = "machine-stopped", .bases = BASE(NS_DOWN), .forbidden = HELD | OFF | NS_POWER_DOWN, .machine = MACHINE_HALTED,
	  .why = WHY_AUTOMATIC, .acts = DO_REPLACE, .says = STOPPED_TEXT,
	  .because = "Slurm had found it DOWN, and its machine is stopped: the machine is ended" },
	{ .code = "machine-stopped-held", .bases = BASE(NS_ALLOCATED) | BASE(NS_MIXED), .any = HELD, .forbidden = OFF,
	  .machine = MACHINE_HALTED, .acts = DO_DOWN, .says = STOPPED_TEXT,
	  .because = "A person holds it and stopped the machine: its jobs are requeued, the machine is left to that person" },

	/* ---- powering down, powered down */
	{ .code = "powering-down", .required = NS_POWERING_DOWN, .machine = MACHINE_BOUND, .acts = DO_CLEAN,
	  .says = "its node is powering down",
	  .because = "SuspendProgram was asked to end its machine, and the machine still has its row" },
	{ .code = "powering-down-calm", .required = NS_POWERING_DOWN, .machine = MACHINE_NONE | MACHINE_CLAIMED,
	  .because = "slurmctld calls it powered down after SuspendTimeout; a launch that claimed it meanwhile is undone by itself" },
	{ .code = "resume-timeout", .bases = BASE(NS_DOWN), .required = NS_POWERED_DOWN, .forbidden = HELD,
	  .machine = MACHINE_NONE | MACHINE_BOUND, .why = WHY_AUTOMATIC, .when = WHEN_REQUEUED,
	  .acts = DO_COUNT | DO_REPLACE, .says = OURS "back to idle after ResumeTimeout",
	  .because = "slurmctld gave it up, nobody else brings it back: its machine is ended, it goes back to idle~" },
	{ .code = "powered-down", .required = NS_POWERED_DOWN, .forbidden = NS_POWERING_UP, .machine = MACHINE_BOUND,
	  .acts = DO_COUNT | DO_CLEAN, .says = "its node is powered down",
	  .because = "A machine is left over from its last life" },
	{ .code = "drained-down", .bases = BASE(NS_DOWN), .required = NS_DRAIN,
	  .forbidden = NS_FAIL | NS_POWERING_DOWN | NS_POWER_DOWN, .machine = MACHINE_NONE, .why = WHY_DRAIN_ENDS,
	  .when = WHEN_REQUEUED, .acts = DO_POWER_DOWN, .says = OURS "back to idle, its machine is gone",
	  .because = "Drained for its machine, and the machine is gone: the drain ends with it" },
	{ .code = "drained-off", .bases = BASE_UP, .required = NS_DRAIN | NS_POWERED_DOWN, .forbidden = NS_FAIL | MOVING,
	  .machine = MACHINE_NONE, .why = WHY_DRAIN_ENDS, .acts = DO_RESUME, .says = "its machine is gone, the next one is another",
	  .because = "Drained for a machine that is gone: the drain is taken back" },
	{ .code = "off-held", .required = NS_POWERED_DOWN, .any = HELD, .forbidden = NS_POWERING_UP,
	  .machine = MACHINE_NONE | MACHINE_CLAIMED, .because = "Powered down, and a person holds it" },
	{ .code = "off-down-claimed", .bases = BASE(NS_DOWN), .required = NS_POWERED_DOWN, .machine = MACHINE_CLAIMED,
	  .because = "The launch that claimed it is over for Slurm; the rows of launches undo it" },
	{ .code = "off-down-waits", .bases = BASE(NS_DOWN), .required = NS_POWERED_DOWN, .forbidden = NS_POWERING_UP,
	  .machine = MACHINE_NONE, .why = WHY_AUTOMATIC,
	  .because = "It became DOWN a moment ago: slurmctld requeues its jobs first, or is powering it down" },
	{ .code = "off-down-person", .bases = BASE(NS_DOWN), .required = NS_POWERED_DOWN, .forbidden = NS_POWERING_UP,
	  .machine = MACHINE_NONE, .why = WHY_PERSON, .because = "A person set it DOWN" },
	{ .code = "power-up-again", .required = NS_POWERED_DOWN | NS_POWERING_UP, .forbidden = NS_POWERING_DOWN,
	  .because = "A power up was asked for while one is under way: slurmctld runs ResumeProgram again" },
	{ .code = "stuck-idle", .bases = BASE(NS_IDLE), .required = NS_POWERED_DOWN | NS_NO_RESPOND, .forbidden = HELD | MOVING,
	  .machine = MACHINE_NONE, .watch = WATCH_GRACE, .acts = DO_POWER_DOWN,
	  .says = OURS "powered down but marked as not responding",
	  .because = "Powered down and not responding: Slurm never gives it a job, and nothing else ends that" },
	{ .code = "static-stopped", .bases = BASE(NS_IDLE), .required = NS_POWERED_DOWN, .forbidden = HELD | MOVING,
	  .machine = MACHINE_NONE, .kinds = KIND_STATIC, .unless = WHEN_SERVES,
	  .because = "A static node, but the fleet is stopped" },
	{ .code = "static-waits", .bases = BASE(NS_IDLE), .required = NS_POWERED_DOWN, .forbidden = HELD | MOVING,
	  .machine = MACHINE_NONE, .kinds = KIND_STATIC, .when = WHEN_SERVES | WHEN_BACKOFF,
	  .because = "A static node whose launch just failed: not at once again" },
	{ .code = "static-down", .bases = BASE(NS_IDLE), .required = NS_POWERED_DOWN, .forbidden = HELD | MOVING,
	  .machine = MACHINE_NONE, .kinds = KIND_STATIC, .when = WHEN_SERVES, .unless = WHEN_BACKOFF, .acts = DO_POWER_UP,
	  .says = "static node",
	  .because = "MinCount keeps it up; its old machine is gone. Also in a reservation: it is that node that was reserved" },
	{ .code = "off", .bases = BASE_UP, .required = NS_POWERED_DOWN, .machine = MACHINE_NONE | MACHINE_CLAIMED,
	  .because = "Powered down, as it should be: a job or a person wakes it, or has just done so" },

	/* ---- a person had it rebooted */
	{ .code = "rebooting", .any = REBOOT, .forbidden = OFF | NS_POWERING_UP | NS_FAIL,
	  .machine = MACHINE_NONE | MACHINE_CLAIMED | MACHINE_ON | MACHINE_UNSURE, .watch = WATCH_WITHIN,
	  .because = "scontrol reboot is under way: whatever EC2 or Slurm says of it meanwhile, it has ResumeTimeout" },

	/* ---- DOWN */
	{ .code = "maintenance", .bases = BASE(NS_DOWN), .required = NS_DRAIN | NS_MAINT, .forbidden = NS_FAIL | OFF | NS_POWER_DOWN,
	  .machine = MACHINE_ON, .why = WHY_DRAINED, .unless = WHEN_BLOCK, .because = MAINTAINED },
	{ .code = "drained-replaced", .bases = BASE(NS_DOWN), .required = NS_DRAIN,
	  .forbidden = NS_FAIL | OFF | NS_POWER_DOWN | NS_COMPLETING, .machine = MACHINE_ON, .why = WHY_DRAINED,
	  .when = WHEN_REQUEUED, .acts = DO_REPLACE, .says = OURS "back to idle, its machine was not well",
	  .because = "Drained by us and DOWN since: its machine is ended, the drain ends with it" },
	{ .code = "launch-failed", .bases = BASE(NS_DOWN), .forbidden = HELD | OFF | NS_POWER_DOWN,
	  .machine = MACHINE_NONE | MACHINE_BOUND, .why = WHY_CODED, .when = WHEN_REQUEUED, .acts = DO_REPLACE,
	  .says = OURS "back to idle after a failed launch",
	  .because = "We set it DOWN, its jobs are requeued: it goes back to idle~" },
	{ .code = "setting-up", .bases = BASE(NS_DOWN), .forbidden = HELD | OFF | NS_POWER_DOWN,
	  .machine = MACHINE_WELL | MACHINE_EVENT | MACHINE_UNSURE, .why = WHY_AUTOMATIC, .when = WHEN_SETTING_UP,
	  .because = "Its machine came after it went DOWN and has ResumeTimeout to set itself up" },
	{ .code = "boot-failed", .bases = BASE(NS_DOWN), .required = NS_POWERING_UP, .forbidden = HELD | OFF | NS_POWER_DOWN,
	  .machine = MACHINE_NONE | MACHINE_BOUND, .why = WHY_AUTOMATIC, .when = WHEN_REQUEUED,
	  .acts = DO_COUNT | DO_REPLACE, .says = OURS "back to idle after a failed boot",
	  .because = "It went DOWN while coming up: its machine is ended, it goes back to idle~" },
	{ .code = "invalid-reg", .bases = BASE(NS_IDLE) | BASE(NS_DOWN), .required = NS_INVALID_REG,
	  .forbidden = OFF | NS_COMPLETING | NS_POWER_DOWN | NS_POWERING_UP | NS_FAIL, .machine = MACHINE_ON, .why = WHY_AUTOMATIC,
	  .acts = DO_COUNT | DO_DOWN | DO_REPLACE, .says = CODE_INVALID "Its machine is not what slurm.conf says",
	  .because = "Slurm refuses its machine (too little memory, GPUs or processors) and drains it: it is replaced once it has no job" },
	{ .code = "node-down", .bases = BASE(NS_DOWN), .forbidden = HELD | OFF | NS_POWER_DOWN | NS_POWERING_UP | NS_COMPLETING,
	  .machine = MACHINE_NONE | MACHINE_ALIVE, .why = WHY_AUTOMATIC, .when = WHEN_DOWN_LONG | WHEN_EC2_READ,
	  .acts = DO_REPLACE, .says = OURS "back to idle, slurmd does not come back",
	  .because = "DOWN for OrphanGrace and its slurmd does not come back: it is replaced" },
	{ .code = "down-completing", .bases = BASE(NS_DOWN), .required = NS_COMPLETING,
	  .forbidden = HELD | OFF | NS_POWER_DOWN | NS_POWERING_UP, .machine = MACHINE_NONE | MACHINE_ALIVE, .why = WHY_AUTOMATIC,
	  .when = WHEN_EC2_READ, .watch = WATCH_TIMEOUT, .acts = DO_REPLACE, .says = OURS "back to idle, its jobs never end",
	  .because = "DOWN, and its jobs have not ended for ResumeTimeout: no epilog is waited for any longer" },
	{ .code = "down-going", .bases = BASE(NS_DOWN), .required = NS_POWER_DOWN, .forbidden = OFF | HELD,
	  .machine = MACHINE_NONE | MACHINE_CLAIMED | MACHINE_ALIVE | MACHINE_UNSURE,
	  .because = "Power down was asked for: slurmctld does it once its jobs have ended" },
	{ .code = "down-person", .bases = BASE(NS_DOWN), .forbidden = OFF | HELD,
	  .machine = MACHINE_NONE | MACHINE_CLAIMED | MACHINE_ALIVE | MACHINE_UNSURE, .why = WHY_PERSON,
	  .because = "A person set it DOWN: not touched while its machine lives" },
	{ .code = "down-waits", .bases = BASE(NS_DOWN), .forbidden = OFF | HELD,
	  .machine = MACHINE_NONE | MACHINE_CLAIMED | MACHINE_ALIVE | MACHINE_UNSURE, .why = WHY_AUTOMATIC,
	  .because = "DOWN for a short time, or its epilog runs, or EC2 was not read: it may come back by itself" },

	/* ---- coming up */
	{ .code = "no-machine", .bases = BASE_USED, .required = NS_POWERING_UP, .forbidden = OFF | NS_POWER_DOWN,
	  .machine = MACHINE_NONE, .when = WHEN_EC2_READ, .watch = WATCH_GRACE, .acts = DO_DOWN,
	  .says = "(Code:NoMachine)No machine was launched for this node",
	  .because = "slurmctld waits for it, but nobody launches anything: its jobs need not wait for ResumeTimeout" },
	{ .code = "maintenance", .bases = BASE_USED, .required = NS_POWERING_UP | NS_MAINT, .forbidden = OFF,
	  .machine = MACHINE_IMPAIRED, .unless = WHEN_BLOCK, .because = MAINTAINED },
	{ .code = "impaired-boot", .bases = BASE_USED, .required = NS_POWERING_UP, .forbidden = HELD | OFF,
	  .machine = MACHINE_IMPAIRED, .acts = DO_COUNT | DO_DOWN | DO_REPLACE, .says = CODE_HEALTH,
	  .because = "EC2 says that its machine is impaired: it will not come up" },
	{ .code = "boot-timeout", .bases = BASE_USED, .required = NS_POWERING_UP, .forbidden = HELD | OFF | NS_POWER_DOWN,
	  .machine = MACHINE_WELL | MACHINE_EVENT, .watch = WATCH_TIMEOUT, .acts = DO_COUNT | DO_DOWN | DO_REPLACE,
	  .says = "(Code:BootTimeout)The machine of this node did not come up",
	  .because = "Its machine had ResumeTimeout and more, and slurmctld did not give it up by itself" },
	{ .code = "booting", .bases = BASE_UP, .required = NS_POWERING_UP, .forbidden = OFF,
	  .machine = MACHINE_NONE | MACHINE_CLAIMED | MACHINE_ON | MACHINE_UNSURE,
	  .because = "It comes up: slurmctld gives it up after ResumeTimeout" },

	/* ---- up */
	{ .code = "stuck-completing-old", .bases = BASE(NS_IDLE), .required = NS_COMPLETING | NS_POWER_DOWN | NS_NO_RESPOND,
	  .forbidden = OFF | HELD, .machine = MACHINE_NONE | MACHINE_ALIVE, .when = WHEN_EC2_READ | WHEN_OLD_SLURM,
	  .acts = DO_DOWN | DO_REPLACE, .says = "(Code:StuckCompleting)Its jobs never end (a fault of Slurm before 22.05.6)",
	  .because = "Slurm before 22.05.6 leaves such a node completing for ever" },
	{ .code = "stuck-completing", .bases = BASE(NS_IDLE), .required = NS_COMPLETING | NS_NO_RESPOND, .forbidden = OFF | HELD,
	  .machine = MACHINE_NONE | MACHINE_ALIVE, .when = WHEN_EC2_READ, .watch = WATCH_TIMEOUT, .acts = DO_DOWN | DO_REPLACE,
	  .says = "(Code:StuckCompleting)Its jobs do not end and it does not respond",
	  .because = "Completing and not responding for ResumeTimeout: no epilog is waited for any longer" },
	{ .code = "maintenance", .bases = BASE_USED, .required = NS_MAINT, .forbidden = OFF | NS_POWER_DOWN,
	  .machine = MACHINE_IMPAIRED | MACHINE_EVENT, .unless = WHEN_BLOCK, .because = MAINTAINED },
	{ .code = "drained", .bases = BASE(NS_IDLE), .required = NS_DRAIN,
	  .forbidden = NS_FAIL | NS_COMPLETING | OFF | NS_POWER_DOWN, .machine = MACHINE_IMPAIRED | MACHINE_EVENT,
	  .why = WHY_DRAINED, .acts = DO_DOWN | DO_REPLACE, .says = "(Code:Replaced)Its machine was not well",
	  .because = "Drained by us, and the last job has ended: the machine is replaced" },
	{ .code = "drain-over", .bases = BASE_USED, .required = NS_DRAIN,
	  .forbidden = NS_FAIL | NS_INVALID_REG | OFF | NS_POWER_DOWN, .machine = MACHINE_WELL, .why = WHY_DRAINED,
	  .when = WHEN_CHECKED, .acts = DO_RESUME, .says = "its machine is well again",
	  .because = "Drained by us, and EC2 has nothing against its machine any more: the drain is taken back" },
	{ .code = "drain-goes-on", .bases = BASE_UP, .required = NS_DRAIN, .forbidden = NS_FAIL | OFF,
	  .machine = MACHINE_NONE | MACHINE_CLAIMED | MACHINE_ON | MACHINE_UNSURE, .why = WHY_DRAINED,
	  .because = "Drained by us: its jobs end by themselves" },
	{ .code = "held", .any = HELD, .forbidden = OFF,
	  .machine = MACHINE_NONE | MACHINE_CLAIMED | MACHINE_ALIVE | MACHINE_UNSURE,
	  .because = "A person, or Slurm after a failed prolog, drained it: not touched while its machine lives" },
	{ .code = "impaired", .bases = BASE_USED, .forbidden = OFF | NS_POWER_DOWN, .machine = MACHINE_IMPAIRED,
	  .acts = DO_DRAIN, .says = CODE_HEALTH,
	  .because = "A status check of EC2 has failed for HealthCheckGrace: no new job, and it is replaced once it has none" },
	{ .code = "event", .bases = BASE_USED, .forbidden = OFF | NS_POWER_DOWN, .machine = MACHINE_EVENT,
	  .acts = DO_DRAIN, .says = CODE_EVENT,
	  .because = "EC2 will stop, reboot or retire its machine within ScheduledEventLead: no new job, and it is replaced once it has none" },
	{ .code = "going-down", .bases = BASE_UP, .required = NS_POWER_DOWN, .forbidden = OFF,
	  .machine = MACHINE_NONE | MACHINE_CLAIMED | MACHINE_ON | MACHINE_UNSURE,
	  .because = "Power down was asked for: slurmctld does it once its jobs have ended, until then they run" },
	{ .code = "up", .bases = BASE_USED, .forbidden = OFF, .machine = MACHINE_WELL,
	  .because = "It is up and its machine runs" },
	{ .code = "up-unsure", .bases = BASE_USED, .forbidden = OFF, .machine = MACHINE_UNSURE,
	  .because = "It is up, and of its machine nothing certain is known: unread or not yet listed is not gone" },
	{ .code = "up-unbound", .bases = BASE_USED, .forbidden = OFF, .machine = MACHINE_NONE | MACHINE_CLAIMED,
	  .because = "It is up without a machine of ours in our rows: slurmctld hears from it, or will set it DOWN itself" },
	{ .code = "unused", .bases = BASE(NS_UNKNOWN) | BASE(NS_FUTURE), .forbidden = OFF,
	  .machine = MACHINE_NONE | MACHINE_CLAIMED | MACHINE_ON | MACHINE_UNSURE,
	  .because = "slurmctld has just started and knows nothing of it yet, or a person made it FUTURE" },
};

const size_t node_rules_n = sizeof(node_rules) / sizeof(node_rules[0]);

const struct node_never node_nevers[] = {
	{ .bases = BASE_ANY & ~0x7fu, .because = "no release from 22.05 to 26.05 has such a base state" },
	{ .bases = BASE(NS_ERROR), .because = "the number is kept for old programs, slurmctld sets it nowhere" },
	{ .required = NS_POWERED_DOWN | NS_POWERING_DOWN,
	  .because = "slurmctld takes POWERED_DOWN away before, or when, it begins to power down, and gives it when that is over" },
	{ .required = NS_POWERING_UP | NS_POWERING_DOWN,
	  .because = "slurmctld powers down no node that is powering up, and gives no job to one that is powering down" },
};

const size_t node_nevers_n = sizeof(node_nevers) / sizeof(node_nevers[0]);

/* ---- which fits */

static bool watch_fits(const struct node_rule *r, const struct node_facts *f)
{
	bool mine = f->seen && !strcmp(f->seen, r->code);

	switch (r->watch) {
	case WATCH_NOT:
		return true;
	case WATCH_GRACE:
		return mine && f->seen_grace;
	case WATCH_TIMEOUT:
		return mine && f->seen_timeout;
	case WATCH_WITHIN:
		return !mine || !f->seen_timeout;
	}
	return false;
}

bool node_rule_fits(const struct node_rule *r, const struct node_facts *f, bool aged)
{
	/* what says no to most rows comes first: this is asked for each row, node and loop */
	if (r->machine && !(r->machine & f->machine))
		return false;
	if (!node_state_is(f->state, r->bases, r->required, r->forbidden) || (r->any && !(f->state & r->any)))
		return false;
	if ((r->kinds && !(r->kinds & f->kind)) || (r->why && !(r->why & f->why)))
		return false;
	if ((f->when & r->when) != r->when || (f->when & r->unless))
		return false;
	return !aged || watch_fits(r, f);
}

const struct node_rule *node_rule_find(const struct node_facts *f, bool aged)
{
	for (size_t i = 0; i < node_rules_n; i++)
		if (node_rule_fits(&node_rules[i], f, aged))
			return &node_rules[i];
	return NULL;
}

bool node_rule_watches(uint32_t state)
{
	for (size_t i = 0; i < node_rules_n; i++) {
		const struct node_rule *r = &node_rules[i];

		if (r->watch != WATCH_NOT && node_state_is(state, r->bases, r->required, r->forbidden) &&
		    (!r->any || state & r->any))
			return true;
	}
	return false;
}

const struct node_never *node_never_find(uint32_t state)
{
	for (size_t i = 0; i < node_nevers_n; i++)
		if (node_state_is(state, node_nevers[i].bases, node_nevers[i].required, 0))
			return &node_nevers[i];
	return NULL;
}

/* ---- whose words */

const char *node_reason_text(const char *reason)
{
	const char *end = reason && str_prefix(reason, "(Code:") ? strchr(reason, ')') : NULL;

	return end ? end + 1 : NULL;
}

bool reconcile_disabled(const char *reason)
{
	const char *text = node_reason_text(reason);

	return text && str_prefix(text, REASON_DISABLED);
}

/* A DOWN that came after a drain has the drain's words behind its own. */
static bool drained(const char *reason)
{
	const char *was = strstr(reason, WAS);

	return str_prefix(reason, CODE_HEALTH) || str_prefix(reason, CODE_EVENT) || str_prefix(reason, CODE_INVALID) ||
	       (was && node_why(was + strlen(WAS)) & WHY_DRAIN_ENDS);
}

static enum node_why why_coded(const char *reason)
{
	const char *text = node_reason_text(reason);

	if (drained(reason))
		return WHY_DRAINED;
	if (reconcile_disabled(reason))
		return WHY_DISABLED;
	if (protect_reason(reason) || protect_cycling_reason(reason))
		return WHY_PROTECTED;
	return text && str_prefix(text, REASON_LAUNCH_FAILED) ? WHY_NO_LAUNCH : WHY_OURS;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && !strcmp(s + n - k, end);
}

enum node_why node_why(const char *reason)
{
	static const struct {
		const char *prefix;
		enum node_why why;
	} known[] = {
		{ "ResumeTimeout reached", WHY_TIMEOUT },
		{ "Not responding", WHY_SLURM },
		{ "Node unexpectedly rebooted", WHY_SLURM },
		{ REASON_LAUNCH_FAILED, WHY_BACK },
		{ REASON_ENABLED, WHY_BACK },
		{ OURS, WHY_BACK },
		{ "Low RealMemory", WHY_INVALID },
		{ "Low CPUs", WHY_INVALID },
		{ "Low socket*core*thread count", WHY_INVALID },
		{ "Low TmpDisk", WHY_INVALID },
		{ "gres/", WHY_INVALID },
		{ "Could not unpack gres data", WHY_INVALID },
		{ "RestrictedCoresPerGPU", WHY_INVALID },
		{ "Reported active features", WHY_INVALID },
	};

	if (!reason || !*reason)
		return WHY_NONE;
	if (str_prefix(reason, "(Code:"))
		return why_coded(reason);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (str_prefix(reason, known[i].prefix))
			return known[i].why;
	/* scontrol reboot writes its words behind those of whoever asked for it */
	return ends_with(reason, "reboot timed out") ? WHY_SLURM : WHY_PERSON;
}

char *node_reason_replace(const char *text, const char *old)
{
	const char *tail = old ? strstr(old, WAS) : NULL;

	if (node_why(old) & (WHY_DRAINED | WHY_PERSON | WHY_SLURM | WHY_INVALID))
		return str_fmt("%s " WAS "%s)", text, old);
	return tail ? str_fmt("%s %s", text, tail) : str_dup(text);
}
