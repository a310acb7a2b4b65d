# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# EC2 has no machine for eight jobs. The resource is disabled and nobody asks again; when its time is over the nodes come back by themselves, one
# probe goes, and at its success all others, twice as many with each answer.

LOOP_TIME=5
EC2LOCAL_ARGS="--boot=none"
eval "plain_$(declare -f write_settings)"
write_settings() {
	plain_write_settings
	printf '%s: 30\n' CapacityRetry CapacityRetryLimit
}
no_node_is_free() { ! on_head sinfo --noheader --Node --format=%t | grep -v '^down'; }
all_are() { [ "$(on_head sinfo --noheader --format=%t | sort -u)" = "$1" ]; }

up <<<"$(quickstart)"
control '{"capacity": {"type": "t2.micro", "left": 0}}'
step "eight jobs of one node, no machine"
on_head scontrol update partitionname=queue1 state=down
jobs=$(submit $'#!/bin/bash\nsleep 600' --array=1-8 --output=/dev/null)
on_head scontrol update partitionname=queue1 state=up
wait_for 120 "no node is left to be tried" no_node_is_free
short=$(launches | wc -l)
expect 10 "$(on_head sinfo --noheader --Node --format=%E | grep -cF '(Code:InsufficientInstanceCapacity)')" "nodes that say why"
on_head slurm-ec2 status >"$RUN/status.txt"
grep -A1 '^  t2.micro in ap-northeast-1a, on-demand: InsufficientInstanceCapacity$' "$RUN/status.txt" |
	grep -qE '^    refused [0-9]+ s ago, asked again in [0-9]+ s; 2 nodes disabled$' ||
	fail "status does not show the shortage: $(<"$RUN/status.txt")"
step "nobody asks while it is closed"
looked=$(calls DescribeInstances)
looks() { [ "$(calls DescribeInstances)" -ge $((looked + 2)) ]; }
wait_for 120 "the daemon looks round twice" looks
expect "$short" "$(launches | wc -l)" "launches"

step "EC2 has machines again: one probe, then all"
control '{"capacity": {"type": "t2.micro", "left": 20}}'
wait_for 120 "the nodes are back" all_are 'idle~'
expect "$short" "$(launches | wc -l)" "launches while no job could ask"
on_head scontrol update jobid="$jobs" starttime=now
wait_for 120 "all jobs have a machine" with_machine_is 8
expect "1,1 1,2 1,4 1,1" "$(launches | tail -n +$((short + 1)) | paste -sd' ')" "launches (least, most)"
expect 8 "$(cloud id pending,running,shutting-down,terminated | wc -l)" "machines ever made"
expect "" "$(on_head sinfo --noheader --list-reasons --format=%N)" "nodes with a reason"
