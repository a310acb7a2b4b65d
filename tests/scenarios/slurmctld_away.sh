# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurmctld is down for several loops under a running job, and comes back: no machine is ended, the job ends well, and both ends of the trouble are
# events. Right after its start slurmctld may not tell where its nodes are; nothing is concluded from that.

up <<<"$(quickstart)"
job=$(submit $'#!/bin/bash\nwhile [ ! -e go ]; do sleep 0.2; done; hostname' --output=away.out)
wait_for 120 "the job runs" job_is "$job" RUNNING
old=$(cloud id)
on_head systemctl stop slurmctld
event() { on_head slurm-ec2 events | grep -q "$1"; }
wait_for 120 "clustermgtd says so" event 'source-failed.*slurm: '
before=$(calls DescribeInstances)
looked() { [ "$(calls DescribeInstances)" -gt $((before + 2)) ]; }
wait_for 120 "it goes on looking" looked
expect "$old" "$(cloud id)" "the machine"

step "slurmctld is back"
on_head systemctl start slurmctld
wait_for 120 "slurmctld answers" on_head scontrol ping
wait_for 120 "clustermgtd says so" event 'source-recovered.*slurm: well again'
before=$(calls DescribeInstances)
wait_for 120 "it has looked again" looked
expect "$old" "$(cloud id)" "the machine"
as_alice touch go
wait_for 120 "the job is over" job_is "$job" COMPLETED
expect queue1-dy-t2micro-1 "$(as_alice cat away.out)" "where it ran"
expect 0 "$(on_head scontrol show job "$job" --oneliner | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p')" "its requeues"
