# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# While everything is frozen nothing is launched, ended or changed, and the log says what would be done; all of it is caught up afterwards.

LOOP_TIME=5
up <<<"$(quickstart)"
idle=queue1-dy-t2micro-1 gone=queue1-dy-t2micro-2
as_alice srun --nodes=2 --nodelist=$idle,$gone hostname >/dev/null
expect "not frozen" "$(on_head slurm-ec2 freeze)" "at first"

step "freeze: a machine goes, a node powers down, a job wants another node"
on_head slurm-ec2 freeze --for 2h
on_head slurm-ec2 freeze | grep -qE '^frozen until [0-2][0-9]:[0-5][0-9] UTC \(for 7[0-9]{3} s more\)$' || fail "it says $(on_head slurm-ec2 freeze)"
machine=$(instance_of $idle)
ended=$(calls TerminateInstances) launched=$(launches | wc -l)
control "{\"terminate\": [\"$(instance_of $gone)\"]}"
on_head scontrol update nodename=$idle state=power_down
job=$(submit $'#!/bin/bash\nhostname' --nodelist=queue1-dy-t2micro-3 --requeue --output=frozen.out)
refused() { [[ "$(node_reason queue1-dy-t2micro-3)" == "(Code:Frozen)"*" UTC"* ]]; }
wait_for 120 "the job's node is refused" refused
on_head slurm-ec2 events --type resume-refused | grep -q queue1-dy-t2micro-3 || fail "no event tells of the refusal"
wait_for 120 "suspend leaves the machine" on_head grep -q 'frozen until .* left to clustermgtd' /var/log/slurm-ec2/suspend.log
wait_for 120 "clustermgtd tells what it would do" on_head grep -q "frozen, not done: terminate .* instance=$machine" /var/log/slurm-ec2/clustermgtd.log
on_head slurm-ec2 plan resume queue1-dy-t2micro-4 >"$RUN/out"
grep -q '^resume would refuse all of it now (Frozen): ' "$RUN/out" || fail "plan does not tell it: $(<"$RUN/out")"
looked=$(calls DescribeInstances)
looks() { [ "$(calls DescribeInstances)" -ge $((looked + 3)) ]; }
wait_for 120 "clustermgtd goes on looking" looks
expect "$ended" "$(calls TerminateInstances)" "calls that end machines"
expect "$launched" "$(launches | wc -l)" "launches"
cloud id | grep -q "$machine" || fail "the machine of the node that powers down was ended"
refused || fail "the refused node is $(node_state queue1-dy-t2micro-3)"
status=0
on_head slurm-ec2 fleet stop --wait >"$RUN/stop.txt" 2>&1 || status=$?
expect 1 "$status" "exit status of waiting while frozen"
grep -q 'frozen until' "$RUN/stop.txt" || fail "it said: $(<"$RUN/stop.txt")"
on_head slurm-ec2 fleet start >/dev/null

step "it ends: all is caught up"
on_head slurm-ec2 freeze --end
expect "not frozen" "$(on_head slurm-ec2 freeze)" "at the end"
wait_for 120 "the machine that was left is ended" instance_count_is 0
wait_for 240 "all nodes are back" on_head sh -c '[ "$(sinfo --noheader --format=%t | sort -u)" = "idle~" ]'
on_head scontrol update jobid="$job" starttime=now
wait_for 240 "the job is over" job_is "$job" COMPLETED
