# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# B77, B76: a capacity block that is not active yet: a reservation in Slurm holds its nodes and nothing is launched. When it becomes active the
# reservation goes and the job runs. Reservations of people stay as they are.

# shellcheck disable=SC2034 # the settings read it
LOOP_TIME=5
block=cr-0123456789abcdef0
hold=slurm-ec2-$block
cluster() {
	quickstart 's/MinCount: 0/MinCount: 2/' 's/MaxCount: 10/MaxCount: 2/' '/^  - Name: queue1/a\    CapacityType: CAPACITY_BLOCK' \
		"/MaxCount/a\\      CapacityReservationTarget:\\n        CapacityReservationId: $block"
}
set_block() {
	control "{\"reservation\": {\"$block\": {\"type\": \"t2.micro\", \"zone\": \"ap-northeast-1a\", \"total\": 2, \"kind\": \"capacity-block\",
		\"state\": \"$1\"}}}"
}
reserved() { on_head scontrol show reservation "$1" --oneliner 2>/dev/null | sed -n 's/.* Nodes=\([^ ]*\).*/\1/p'; }
is_reserved() { [ "$(reserved "$1")" = "$2" ]; }
reserve() { on_head scontrol create "reservation=$1" starttime=now duration=infinite user=alice flags=maint,ignore_jobs "nodes=$2"; }

head_up
set_block scheduled
cluster | apply_cluster
reserve maint queue1-st-t2micro-1
reserve slurm-ec2-cr-0fff queue1-st-t2micro-1
on_head systemctl start slurm-ec2-clustermgtd

step "scheduled: its nodes are held"
wait_for 120 "both nodes are reserved" is_reserved "$hold" 'queue1-st-t2micro-[1-2]'
on_head scontrol show reservation "$hold" --oneliner | grep -q 'Flags=.*MAINT' || fail "no maintenance reservation"
job=$(submit $'#!/bin/bash\nhostname' --output=block.out)
wait_for 120 "a reservation of a block that is not used goes" is_reserved slurm-ec2-cr-0fff ""
looked=$(calls DescribeInstances) asked=$(calls RunInstances) # apply asked whether EC2 would
looks() { [ "$(calls DescribeInstances)" -ge $((looked + 3)) ]; }
wait_for 120 "the daemon looks round three times" looks
expect "$asked" "$(calls RunInstances)" "launches"
expect PENDING "$(job_state "$job")" "the job"
expect 'queue1-st-t2micro-[1-2]' "$(reserved "$hold")" "held nodes"

step "active: the nodes are free, and the job runs"
on_head scontrol delete reservation=maint
reserve maint queue1-st-t2micro-2
set_block active
wait_for 120 "the reservation goes" is_reserved "$hold" ""
wait_for 120 "both nodes have a machine" instance_count_is 2
wait_for 120 "the job is through" job_is "$job" COMPLETED
expect queue1-st-t2micro-2 "$(reserved maint)" "a person's reservation"

step "expired while a job runs: held again, the job may end"
on_head scontrol delete reservation=maint
job=$(submit $'#!/bin/bash\nsleep 300' --output=late.out)
wait_for 120 "a job runs" job_is "$job" RUNNING
set_block expired
on_head systemctl restart slurm-ec2-clustermgtd
wait_for 120 "both nodes are reserved again" is_reserved "$hold" 'queue1-st-t2micro-[1-2]'
expect RUNNING "$(job_state "$job")" "the job"
