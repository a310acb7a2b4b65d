# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurmctld is restarted while a node is coming up: the job runs all the same, on one machine.

up <<<"$(quickstart)"
control '{"delay_running_ms": 5000}'
job=$(submit $'#!/bin/bash\nhostname' --output=restart.out)
wait_for 120 "the job waits for its node" job_is "$job" CONFIGURING
wait_for 120 "a machine is launched" instance_count_is 1
on_head systemctl restart slurmctld
wait_for 120 "slurmctld answers" on_head scontrol ping
wait_for 120 "the job is over" job_is "$job" COMPLETED
expect queue1-dy-t2micro-1 "$(as_alice cat restart.out)" "the job's output"
expect 1 "$(instance_count)" "instances"
