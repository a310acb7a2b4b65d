# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# `slurm-ec2 explain`: why a job waits and a node is as it is, from Slurm's reason to EC2's words and the boot log, and what happens next. A job that waits
# for capacity, a node that powers up, a machine that never became a node, what an ordinary user is told, a stopped fleet.

LOOP_TIME=5
eval "usual_$(declare -f write_settings)"
write_settings() {
	usual_write_settings
	echo "CapacityRetry: 120"
}
# explain STATUS WORD...: its words go to $RUN/out; no line is longer than a terminal
explain() {
	local want=$1 got=0
	shift
	"${WHO:-on_head}" slurm-ec2 explain "$@" >"$RUN/out" 2>&1 || got=$?
	expect "$want" "$got" "exit status of explain $*: $(<"$RUN/out")"
	[[ $want != 0 || $* == *--json* ]] || expect "" "$(awk 'length > 80' "$RUN/out")" "lines that are too long"
	tr -s ' \n' ' ' <"$RUN/out" >"$RUN/words"
}
# says WORDS...: they stand there, wherever lines end
says() { grep -qF -- "$*" "$RUN/words" || fail "no \"$*\" in: $(<"$RUN/out")"; }
says_like() { grep -qE -- "$*" "$RUN/words" || fail "nothing like \"$*\" in: $(<"$RUN/out")"; }

head_up
WHO=on_head
explain 1 node queue1-dy-t2micro-1
says "slurm-ec2 apply"
quickstart 's/MaxCount: 10/MaxCount: 3/' | apply_cluster

step "what is not known is said"
explain 1 node queue1-dy-t2micro-99
says "cluster demo has no node queue1-dy-t2micro-99: MaxCount of queue1/t2micro is 3"
explain 1 node nobody
says "cluster demo has no node nobody"
explain 1 job 4711
says "slurmctld does not know job 4711"
explain 2 job x
explain 2 node 'queue1-dy-t2micro-[1-2]'
says 'give one node, not a list'
explain 2 node
explain 0 node queue1-dy-t2micro-1
says "powered down, a job wakes it"
says "clustermgtd does not run"

step "a job waits for capacity"
on_head systemctl start slurm-ec2-clustermgtd
control '{"capacity": {"type": "t2.micro", "left": 0}}' >/dev/null
job=$(submit $'#!/bin/bash\nhostname' --nodes=2)
is_disabled() { node_short_is queue1-dy-t2micro-3 'down~'; }
wait_for 120 "the nodes are disabled" is_disabled
explain 0 job "$job"
says_like "Slurm PENDING in partition queue1, reason (None|BeginTime|Resources|ReqNodeNotAvail)"
says "Short of t2.micro in ap-northeast-1a, on-demand,"
says "InsufficientInstanceCapacity: We currently do not have sufficient t2.micro capacity"
says_like "not asked for that again before [0-9:]+ UTC, in [0-9]+ (s|min)"
says "launch-refused"
explain 0 node queue1-dy-t2micro-3
says "out of use while EC2 is short"
says_like "next (It comes back by itself when EC2 may be asked again, about|clustermgtd acts on it)"
explain 0 job "$job" --json
/usr/bin/python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); assert d["kind"] == "job" and d["ours"] and {"Slurm", "EC2", "slurm-ec2"} <= {l["source"] for l in d["lines"]}, d' "$RUN/out"

step "an ordinary user is told what may be seen"
WHO=as_alice
explain 0 job "$job"
says "PENDING in partition queue1"
says "Our own state was not to be seen: you may not read the state file /var/lib/slurm-ec2/state.db: run this as root or as SlurmUser (slurm)"
says "EC2 cannot be asked: this part needs root or SlurmUser (slurm)"
WHO=on_head
on_head scancel "$job"
control '{"reset": true}' >/dev/null

step "a machine that cannot become a node"
wait_for 200 "the nodes are back" node_short_is queue1-dy-t2micro-1 'idle~'
sed -i 's/^slurm:x:[0-9]*:/slurm:x:999:/' "$RUN/image/root/etc/passwd"
on_head scontrol update nodename=queue1-dy-t2micro-1 state=power_up
has_machine() { [ -n "$(instance_of queue1-dy-t2micro-1)" ]; }
wait_for 120 "a machine is its" has_machine
id=$(instance_of queue1-dy-t2micro-1)
explain 0 node queue1-dy-t2micro-1
says "it is being powered up"
says "Its machine is $id since"
says "EC2 $id is "
says_like "next .*Slurm waits for its slurmd until about [0-9:]+ UTC, in [0-9]+ min \(ResumeTimeout 30 min\)"
wait_for 120 "it ends itself" instance_count_is 0
wait_for 200 "the node is powered down" node_short_is queue1-dy-t2micro-1 'idle~'
explain 0 node queue1-dy-t2micro-1
says "did not come up lately; the last was $id"
says "/var/log/slurm-ec2/console/ queue1-dy-t2micro-1.$id.log"
says "slurm-ec2-bootstrap: FAILED: no node name"
says "bind $id: launch l-"
says "Client.InstanceInitiatedShutdown"

step "the fleet is stopped: a job that waits is told so"
on_head slurm-ec2 fleet stop
stopped() { on_head slurm-ec2 status | grep -q '^fleet  *STOPPED, asked '; }
wait_for 120 "the fleet is stopped" stopped
job=$(submit $'#!/bin/bash\nhostname')
part_down() { on_head slurm-ec2 explain job "$job" | grep -q 'reason PartitionDown'; }
wait_for 120 "Slurm says why the job waits" part_down
explain 0 job "$job"
says "Partition queue1 is DOWN"
says_like "The fleet is STOPPED since [0-9:]+ UTC, [0-9]+ (s|min) ago: no job is started until slurm-ec2 fleet start"
says "next It goes on waiting until slurm-ec2 fleet start"
explain 0 node queue1-dy-t2micro-2
says "It stays off until slurm-ec2 fleet start"
