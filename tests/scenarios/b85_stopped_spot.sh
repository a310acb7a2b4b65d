# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# B85: EC2 stops a spot machine instead of ending it. Its node is DOWN at once, the job is requeued and runs on another machine, the stopped one
# is ended.

LOOP_TIME=5
up <<<"$(quickstart)"
job=$(submit $'#!/bin/bash\nsleep 20\necho $SLURM_RESTART_COUNT' --output=job.out --requeue)
wait_for 240 "the job runs" job_is "$job" RUNNING
id=$(cloud id)
control "{\"interrupt\": {\"instance\": \"$id\", \"in_s\": 0, \"action\": \"stop\"}}"
ended() { ! cloud id pending,running,stopping,stopped | grep -q "$id"; }
wait_for 120 "the stopped machine is ended" ended
on_head slurm-ec2 events | grep -q 'machine-stopped.*SpotInstanceShutdown' || fail "events: $(on_head slurm-ec2 events)"
wait_for 400 "the job runs again and ends" job_is "$job" COMPLETED
expect 1 "$(as_alice cat job.out)" "its restarts"
