# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# B83, B10: a status check that fails while a job runs drains the node, and the machine is replaced when the job has ended; a trouble that EC2 takes
# back ends the drain; while scontrol reboot is under way, and after slurmd has started anew, a check that still fails counts for nothing.

LOOP_TIME=5
more_head_files() { echo 'HealthCheckGrace: 5' >>"$RUN/head/root/etc/slurm-ec2/settings.yaml"; }
node=queue1-st-t2micro-1
up <<<"$(quickstart 's/MinCount: 0/MinCount: 1/')"
wait_for 240 "the static node is up" node_short_is $node idle
first=$(cloud id)
drained() { node_is $node '.*DRAIN.*' && [[ $(node_reason $node) == "(Code:$1)"* ]]; }
well() { ! node_is $node '.*(DRAIN|DOWN|POWER).*'; }

step "an event that EC2 takes back"
job=$(submit $'#!/bin/bash\nwhile [ ! -e stop ]; do sleep 1; done' --nodelist=$node)
wait_for 120 "the job runs" job_is "$job" RUNNING
control "{\"event\": {\"instance\": \"$first\", \"code\": \"instance-retirement\", \"in_s\": 3600, \"description\": \"bad fan\"}}"
wait_for 120 "the node is drained" drained ScheduledEvent
node_reason $node | grep -q 'instance-retirement at .* UTC: bad fan' || fail "the reason: $(node_reason $node)"
control "{\"event\": {\"instance\": \"$first\"}}"
wait_for 120 "the drain is taken back" well
job_is "$job" RUNNING || fail "the job is $(job_state "$job")"

step "a check that fails before slurmd starts, and lags"
as_alice touch stop
wait_for 120 "the job is over" job_is "$job" COMPLETED
as_alice rm stop
old=$(on_head scontrol show node $node --oneliner | sed -n 's/.*SlurmdStartTime=\([^ ]*\).*/\1/p')
started_anew() { [ "$(on_head scontrol show node $node --oneliner | sed -n 's/.*SlurmdStartTime=\([^ ]*\).*/\1/p')" != "$old" ]; }
control "{\"status\": {\"instance\": \"$first\", \"system_status\": \"impaired\", \"since_s\": 0}}"
inside $node systemctl restart slurmd || inside $node sh -c 'systemctl restart slurm-ec2-slurmd'
wait_for 120 "slurmd has started anew" started_anew
