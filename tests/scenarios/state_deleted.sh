# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The state file is deleted under a running job: the job ends well, its node stays, and all is cleaned up in the end.

up <<<"$(quickstart)"
job=$(submit $'#!/bin/bash\nwhile [ ! -e go ]; do sleep 0.2; done; hostname' --output=state.out)
wait_for 120 "the job runs" job_is "$job" RUNNING
old=$(cloud id)
on_head sh -c 'rm -f /var/lib/slurm-ec2/*.db /var/lib/slurm-ec2/*.db-wal /var/lib/slurm-ec2/*.db-shm /var/lib/slurm-ec2/*.sqlite*'
on_head systemctl restart slurm-ec2-clustermgtd
looked() { [ "$(calls DescribeInstances)" -gt $((before + 2)) ]; }
before=$(calls DescribeInstances)
wait_for 120 "clustermgtd has looked twice" looked
expect RUNNING "$(job_state "$job")" "the job"
expect "$old" "$(cloud id)" "the machine"
as_alice touch go
wait_for 120 "the job is over" job_is "$job" COMPLETED
expect queue1-dy-t2micro-1 "$(as_alice cat state.out)" "the job's output"
wait_for 150 "no instance is left" instance_count_is 0
