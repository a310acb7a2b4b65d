# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# EC2 has no machine of the type: the node says why, the job goes back to the queue, nothing is left running.

up <<<"$(quickstart)"
control '{"capacity": {"type": "t2.micro", "left": 0}}'
job=$(submit $'#!/bin/bash\nhostname' --output=late.out)
has_reason() { on_head sinfo --noheader --list-reasons --format=%E | grep -qF '(Code:InsufficientInstanceCapacity)'; }
wait_for 120 "a node says why" has_reason
waits() { job_is "$job" "PENDING CONFIGURING"; }
wait_for 120 "the job is back in the queue" waits
expect 0 "$(instance_count)" "instances"

step "the error is on record"
on_head cat /var/log/slurm-ec2/resume.log >"$RUN/resume.log"
grep -q InsufficientInstanceCapacity "$RUN/resume.log" || fail "resume did not log EC2's answer"
