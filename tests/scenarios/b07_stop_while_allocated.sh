# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# B07: the fleet is stopped while a node is alloc# (its machine is still coming). Slurm ignores a plain power down of it, so it is set DOWN first; the
# job is queued again, the node is idle~ and takes the job at once after the start.

LOOP_TIME=5
up <<<"$(quickstart)"
control '{"delay_running_ms": 600000}'
job=$(submit $'#!/bin/bash\nhostname' --requeue --output=late.out)
wait_for 120 "the job waits for its node" node_short_is queue1-dy-t2micro-1 'alloc#'
wait_for 120 "a machine is launched" instance_count_is 1

step "stop now"
on_head slurm-ec2 fleet stop --now --wait || fail "the fleet does not stop"
expect PENDING "$(job_state "$job")" "the job"
expect 'idle~' "$(node_short queue1-dy-t2micro-1)" "the node"
expect 0 "$(instance_count)" "instances"

step "start: the node works at once"
control '{"delay_running_ms": 1000}'
on_head slurm-ec2 fleet start --wait || fail "the fleet does not start"
expect 'idle~' "$(node_short queue1-dy-t2micro-1)" "the node after the start"
wait_for 120 "the node is idle~" node_is queue1-dy-t2micro-1 'IDLE\+CLOUD\+POWERED_DOWN'
on_head scontrol update jobid="$job" starttime=now
wait_for 240 "the job is over" job_is "$job" COMPLETED
expect queue1-dy-t2micro-1 "$(as_alice cat late.out)" "the job's output"
