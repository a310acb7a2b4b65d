# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# B61: EC2 takes long to answer a launch. While resume waits, `scontrol reconfigure` and every other command returns; the job gets its node all the
# same.

up <<<"$(quickstart)"
control '{"api_delay_ms": {"RunInstances": 15000}}'
job=$(submit $'#!/bin/bash\nhostname' --output=slow.out)
wait_for 120 "the launch is sent" on_head grep -q Action=RunInstances /var/log/ec2-requests.log
at_work() { on_head pgrep -x resume; }
wait_for 120 "resume is at work" at_work
on_head scontrol reconfigure
on_head sinfo >/dev/null
as_alice squeue >/dev/null
at_work >/dev/null || fail "resume had ended: this did not show that it holds nobody up"
wait_for 120 "the job is over" job_is "$job" COMPLETED
expect queue1-dy-t2micro-1 "$(as_alice cat slow.out)" "where it ran"
expect 1 "$(cloud id pending,running,shutting-down,terminated | wc -l)" "machines ever made"
