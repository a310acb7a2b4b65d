# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# B21: EC2 answers a fleet with neither instances nor errors. That is a failure with a code: the node says why, the job goes back to the queue and
# runs at its next try.

eval "plain_$(declare -f write_settings)"
write_settings() {
	plain_write_settings
	printf '%s: 5\n' CapacityRetry CapacityRetryLimit
}
LOOP_TIME=5
has_reason() { on_head sinfo --noheader --list-reasons --format=%E | grep -qF '(Code:InsufficientInstanceCapacity)'; }
no_reason() { ! has_reason; }

up <<<"$(quickstart 's/^      InstanceType: t2.micro/      Instances: [{InstanceType: c5.large}, {InstanceType: m5.large}]/')"
control '{"fleet_empty": 100}'
job=$(submit $'#!/bin/bash\nsrun hostname' --nodes=2 --output=two.out)
wait_for 120 "the nodes say why" has_reason
wait_for 120 "the job is back in the queue" job_is "$job" PENDING
expect 0 "$(cloud id pending,running,shutting-down,terminated | wc -l)" "machines ever made"

step "EC2 answers as it should: the nodes come back by themselves, the job runs"
control '{"fleet_empty": 0}'
wait_for 120 "the nodes are back" no_reason
on_head scontrol update jobid="$job" starttime=now
wait_for 120 "the job is over" job_is "$job" COMPLETED
expect 2 "$(on_head sort -u /home/alice/two.out | wc -l)" "hosts"
expect 2 "$(cloud id pending,running,shutting-down,terminated | wc -l)" "machines ever made"
