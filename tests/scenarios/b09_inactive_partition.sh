# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# B09: a person sets our partition INACTIVE. Its idle node still goes to sleep: the machine is ended and the address cleared; a running job goes on
# (W9). A stop ends the rest, and the start leaves the partition as that person wanted it.

LOOP_TIME=5
partition_is() { [ "$(on_head scontrol show partition "$1" --oneliner | sed -n 's/.* State=\([A-Z]*\).*/\1/p')" = "$2" ]; }

up <<<"$(quickstart)"
works=queue1-dy-t2micro-1 idle=queue1-dy-t2micro-2
job=$(submit $'#!/bin/bash\nuntil [ -e go ]; do sleep 0.2; done' --nodelist=$works --output=/dev/null)
expect $idle "$(as_alice srun --nodelist=$idle hostname)" "host name"
wait_for 120 "the job runs" job_is "$job" RUNNING
on_head scontrol update partitionname=queue1 state=inactive

step "power down in the inactive partition"
machine=$(instance_of $idle)
on_head scontrol update nodename=$idle state=power_down
wait_for 120 "the node is powered down" node_short_is $idle 'idle~'
! cloud id | grep -q "$machine" || fail "its machine lives"
no_address() { ! with_machine | grep -q $idle; }
wait_for 120 "its address is cleared" no_address
expect RUNNING "$(job_state "$job")" "the job"
expect 1 "$(instance_count)" "instances"

step "stop: the job goes on, then its node goes too"
on_head slurm-ec2 fleet stop
fleet_is() { [ "$(on_head slurm-ec2 fleet status --json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["status"])')" = "$1" ]; }
wait_for 120 "the stop is under way" fleet_is STOPPING
expect RUNNING "$(job_state "$job")" "the job"
as_alice touch go
on_head slurm-ec2 fleet stop --wait || fail "the fleet does not stop"
expect COMPLETED "$(job_state "$job")" "the job"
expect 0 "$(instance_count)" "instances"
on_head slurm-ec2 fleet start --wait || fail "the fleet does not start"
partition_is queue1 INACTIVE || fail "the partition was opened"
