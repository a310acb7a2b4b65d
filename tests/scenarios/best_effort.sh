# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# EC2 has fewer machines than jobs want. best-effort: who can run, runs; all-or-nothing: a job that cannot have all gets none and leaves none.

strategy() { quickstart "s/Scheduler: slurm/&\n  ScalingStrategy: $1/"; }
sleeper=$'#!/bin/bash\nwhile [ ! -e go ]; do sleep 0.2; done'
has_reason() { on_head sinfo --noheader --list-reasons --format=%E | grep -qF '(Code:InsufficientInstanceCapacity)'; }
reason_of_6() { [[ $(node_reason queue1-dy-t2micro-6) == "(Code:InsufficientInstanceCapacity)"* ]]; }
states() { { job_state "$one"; job_state "$two"; } | sort | tr '\n' ' '; }
one_runs() { [[ $(states) =~ ^(CONFIGURING|PENDING)\ RUNNING\ $ ]]; }
comment() { on_head scontrol show job "$1" --oneliner | sed -n 's/.* AdminComment=\(.*\)/\1/p' | sed 's/ [A-Z][A-Za-z]*=.*//; s/ *$//'; }
made() { cloud id pending,running,shutting-down,terminated | wc -l; }

up <<<"$(strategy best-effort)"

step "best-effort: one machine for two jobs"
control '{"capacity": {"type": "t2.micro", "left": 1}}'
jobs=$(submit "$sleeper" --array=1-2 --output=/dev/null)
one=${jobs}_1 two=${jobs}_2
wait_for 120 "a node says why" has_reason
wait_for 120 "one job runs, the other waits" one_runs
expect 1 "$(made)" "machines ever made"
winner=$one loser=$two
if [ "$(job_state "$two")" = RUNNING ]; then winner=$two loser=$one; fi
expect "slurm-ec2: InsufficientInstanceCapacity" "$(comment "$loser")" "administrator's comment on the job that waits"
expect "" "$(comment "$winner")" "administrator's comment on the job that runs"
as_alice touch go
wait_for 120 "one job is over" job_is "$winner" COMPLETED

step "the other one runs as soon as there is a node; slurmctld itself would wait two minutes after a requeue"
on_head scontrol update jobid="$loser" starttime=now
wait_for 120 "the other is over" job_is "$loser" COMPLETED
expect 1 "$(made)" "machines ever made"

step "all-or-nothing: two machines for a job of three nodes"
as_alice rm go
strategy all-or-nothing | apply_cluster
control '{"capacity": {"type": "t2.micro", "left": 2}}'
before=$(instance_count)
job=$(submit "$sleeper" --nodes=3 --nodelist=queue1-dy-t2micro-[4-6] --output=/dev/null)
wait_for 120 "the last node says why" reason_of_6
wait_for 120 "the job is back in the queue" job_is "$job" PENDING
expect "$before" "$(instance_count)" "instances"
expect 1 "$(made)" "machines ever made"
