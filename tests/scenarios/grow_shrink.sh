# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# MaxCount grows and shrinks under a running job: slurmctld and the job survive both.

up <<<"$(quickstart)"
job=$(submit $'#!/bin/bash\nwhile [ ! -e go ]; do sleep 0.2; done; hostname' --output=grow.out)
wait_for 120 "the job runs" job_is "$job" RUNNING
machine=$(cloud id)

step "grow"
apply_cluster <<<"$(quickstart 's/MaxCount: 10/MaxCount: 14/')"
expect 14 "$(node_count)" "nodes"
expect RUNNING "$(job_state "$job")" "the job"
expect queue1-dy-t2micro-14 "$(as_alice srun --nodelist=queue1-dy-t2micro-14 hostname)" "host name of a new node"

step "shrink"
apply_cluster <<<"$(quickstart 's/MaxCount: 10/MaxCount: 4/')" || true
wait_for 150 "node 14 is powered down" node_short_is queue1-dy-t2micro-14 'idle~'
apply_cluster <<<"$(quickstart 's/MaxCount: 10/MaxCount: 4/')"
expect 4 "$(node_count)" "nodes"
expect RUNNING "$(job_state "$job")" "the job"
expect "$machine" "$(cloud id)" "the job's machine"
as_alice touch go
wait_for 120 "the job is over" job_is "$job" COMPLETED
expect queue1-dy-t2micro-1 "$(as_alice cat grow.out)" "the job's output"
