# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# B52: the site has a node and partitions of its own, one of them with our nodes. A stop touches neither; a job that comes by that partition while the
# fleet is stopped is refused once, and runs after the start.

LOOP_TIME=5
site_slurm_conf() {
	cat <<-END
		NodeName=phys1 NodeAddr=10.77.0.1 NodeHostname=head CPUs=1 RealMemory=100
		PartitionName=local Nodes=phys1 MaxTime=INFINITE
	END
}
partition_is() { [ "$(on_head scontrol show partition "$1" --oneliner | sed -n 's/.* State=\([A-Z]*\).*/\1/p')" = "$2" ]; }
fleet_is() { [ "$(on_head slurm-ec2 fleet status --json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["status"])')" = "$1" ]; }

up <<<"$(quickstart)"
on_head sh -c 'setsid slurmd -D -N phys1 </dev/null >/var/log/slurmd-phys1.log 2>&1 &'
wait_for 120 "the physical node is up" node_short_is phys1 idle
on_head scontrol create partitionname=big nodes='queue1-dy-t2micro-[1-4]' state=inactive
local_job=$(submit $'#!/bin/bash\nsleep 600' --partition=local --output=/dev/null)
job=$(submit $'#!/bin/bash\nsleep 600' --partition=queue1 --requeue --output=/dev/null)
wait_for 120 "a job runs on a cloud node" job_is "$job" RUNNING

step "stop"
on_head slurm-ec2 fleet stop --now --wait || fail "the fleet does not stop"
partition_is queue1 DOWN || fail "our partition is open"
partition_is local UP || fail "the site's partition was touched"
partition_is big INACTIVE || fail "the site's partition with our nodes was touched"
expect RUNNING "$(job_state "$local_job")" "the job on the physical node"
expect 0 "$(instance_count)" "instances"

step "the site opens its partition and sends a job: refused once"
on_head scontrol update partitionname=big state=up
other=$(submit $'#!/bin/bash\nhostname' --partition=big --nodelist=queue1-dy-t2micro-2 --requeue --output=big.out)
refused() { [[ "$(node_reason queue1-dy-t2micro-2)" == "(Code:FleetStopped)"*"slurm-ec2 fleet start"* ]]; }
wait_for 120 "its node is DOWN with a reason" refused
looked=$(calls DescribeInstances)
looks() { [ "$(calls DescribeInstances)" -ge $((looked + 6)) ]; }
wait_for 120 "clustermgtd looks round" looks
refused || fail "the node is $(node_state queue1-dy-t2micro-2), $(node_reason queue1-dy-t2micro-2)"
expect 0 "$(instance_count)" "instances"
partition_is big UP || fail "the site's partition was closed"
fleet_is STOPPED || fail "the fleet is $(on_head slurm-ec2 fleet status)"

step "start"
on_head slurm-ec2 fleet start --wait || fail "the fleet does not start"
wait_for 120 "the refused node is back" node_short_is queue1-dy-t2micro-2 'idle~'
on_head scontrol update jobid="$other" starttime=now
wait_for 240 "its job is over" job_is "$other" COMPLETED
expect queue1-dy-t2micro-2 "$(as_alice cat big.out)" "the job's output"
expect RUNNING "$(job_state "$local_job")" "the job on the physical node"
