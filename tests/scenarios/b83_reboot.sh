# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# B83: while scontrol reboot is under way, and after slurmd has started anew, a status check that still fails counts for nothing. One that fails
# later drains the node under its job, and the machine is replaced when the job has ended. A trouble that EC2 takes back ends the drain.

LOOP_TIME=5
more_head_files() { echo 'HealthCheckGrace: 5' >>"$RUN/head/root/etc/slurm-ec2/settings.yaml"; }
site_slurm_conf() { echo RebootProgram=/bin/true; }
node=queue1-st-t2micro-1
drained() { node_is $node '.*DRAIN.*' && [[ $(node_reason $node) == "(Code:$1)"* ]]; }
well() { ! node_is $node '.*(DRAIN|DOWN|POWER|REBOOT).*'; }
looks() {
	looked=$(calls DescribeInstanceStatus)
	wait_for 120 "the daemon looks round twice" looked_twice
}
looked_twice() { [ "$(calls DescribeInstanceStatus)" -ge $((looked + 6)) ]; }
slurmd_start() { on_head scontrol show node $node --oneliner | sed -n 's/.*SlurmdStartTime=\([^ ]*\).*/\1/p'; }
status() { control "{\"status\": {\"instance\": \"$first\", \"system_status\": \"impaired\", \"since_s\": $1}}"; }

up <<<"$(quickstart 's/MinCount: 0/MinCount: 1/')"
wait_for 240 "the static node is up" node_short_is $node idle
first=$(cloud id)
job=$(submit $'#!/bin/bash\nwhile [ ! -e stop ]; do sleep 1; done' --nodelist=$node --output=/dev/null)
wait_for 120 "a job runs" job_is "$job" RUNNING

step "an event that EC2 takes back"
control "{\"event\": {\"instance\": \"$first\", \"code\": \"instance-retirement\", \"in_s\": 3600, \"description\": \"bad fan\"}}"
wait_for 120 "the node is drained" drained ScheduledEvent
node_reason $node | grep -q 'instance-retirement at .* UTC: bad fan' || fail "the reason: $(node_reason $node)"
control "{\"event\": {\"instance\": \"$first\"}}"
wait_for 120 "the drain is taken back" well

step "a reboot was asked for, and the check fails"
on_head scontrol reboot $node
node_is $node '.*REBOOT.*' || fail "the node is $(node_state $node)"
status 600
looks
node_is $node '.*DRAIN.*' && fail "the node is $(node_state $node)"

step "slurmd has started anew, and the check lags"
old=$(slurmd_start)
inside $node systemctl restart slurmd
started_anew() { [ "$(slurmd_start)" != "$old" ]; }
wait_for 120 "slurmd has started anew" started_anew
on_head scontrol cancel_reboot $node
wait_for 120 "no reboot is asked for" well
looks
well || fail "the node is $(node_state $node): $(node_reason $node)"

step "the check fails another time"
status 0
wait_for 120 "the node is drained" drained HealthCheck
job_is "$job" RUNNING || fail "the job is $(job_state "$job")"
expect "$first" "$(cloud id)" "the machine"
as_alice touch stop
wait_for 120 "the job ends by itself" job_is "$job" COMPLETED
replaced() { instance_count_is 1 && [ "$(cloud id)" != "$first" ] && node_short_is $node idle; }
wait_for 300 "the node is up on another machine" replaced
on_head slurm-ec2 events --type node-down | grep -q 'drained' || fail "events: $(on_head slurm-ec2 events)"
