# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# B19: two jobs of 1500 nodes under a bucket of instances that holds 1000, and fleets that are answered with RequestLimitExceeded for each choice.
# All nodes get their machines; none fails, none is disabled.

LOOP_TIME=10
EC2LOCAL_ARGS="--boot=none --subnet subnet-0aaaaaaaaaaaaaaa1:ap-northeast-1c"
eval "plain_$(declare -f write_settings)"
# Our own limits lifted, so that EC2 is what says no.
write_settings() {
	plain_write_settings
	printf '%s: none\n' LaunchRate LaunchInstancesRate
}
cluster() {
	quickstart 's/MaxCount: 10/MaxCount: 3000/'
	cat <<-'END'
		  - Name: fleet
		    ComputeResources: [{Name: two, Instances: [{InstanceType: c5.large}, {InstanceType: m5.large}], MaxCount: 10}]
		    Networking: {SubnetIds: [subnet-0fedcba9876543210, subnet-0aaaaaaaaaaaaaaa1]}
	END
}
unhurt() {
	expect "" "$(on_head sinfo --noheader --states=down,drain --format=%N)" "nodes down or drained"
	expect "" "$(on_head sinfo --noheader --list-reasons --format=%N)" "nodes with a reason"
}

up <<<"$(cluster)"
step "two jobs of 1500 nodes"
control '{"rate": {"RunInstances": {"bucket": 1000, "refill": 100, "instances": true}}}'
on_head scontrol update partitionname=queue1 state=down
for _ in 1 2; do submit $'#!/bin/bash\nsleep 600' --partition=queue1 --nodes=1500 --output=/dev/null >>"$RUN/jobs"; done
on_head scontrol update partitionname=queue1 state=up
wait_for 120 "3000 nodes have a machine" with_machine_is 3000 --partition=queue1
expect 3000 "$(cloud id pending,running,shutting-down,terminated | wc -l)" "machines ever made"
unhurt
[ "$(launches | wc -l)" -gt 6 ] || fail "EC2 refused nothing: $(launches)"

step "a fleet that EC2 throttles choice by choice"
control '{"reset": true, "fleet_error": {"code": "RequestLimitExceeded", "count": 2}}'
job=$(submit $'#!/bin/bash\nsleep 600' --partition=fleet --nodes=4 --output=/dev/null)
wait_for 120 "four nodes have a machine" with_machine_is 4 --partition=fleet
expect 3 "$(launches Action | grep -c CreateFleet)" "fleets asked"
unhurt
expect 3004 "$(instance_count)" "instances"
for job in "$job" $(<"$RUN/jobs"); do expect 0 "$(on_head scontrol show job "$job" --oneliner | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p')" "requeues of job $job"; done
