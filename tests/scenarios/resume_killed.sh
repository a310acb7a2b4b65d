# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# resume is killed between EC2's launch and the binding: the machine is bound or ended by the next to look, never forgotten.

up <<<"$(quickstart)"
control '{"api_delay_ms": {"RunInstances": 4000}}'
job=$(submit $'#!/bin/bash\nhostname' --output=killed.out)
launching() { [ "$(calls RunInstances)" -gt "$before" ]; }
before=$(calls RunInstances)
wait_for 120 "resume has called RunInstances" on_head pgrep -x resume
wait_for 120 "EC2 has heard the call" launching
on_head pkill -KILL -x resume
control '{"api_delay_ms": {"RunInstances": 0}}'

step "what becomes of it"
wait_for 180 "the job is over" job_is "$job" COMPLETED
expect 1 "$(instance_count)" "instances"

step "nothing is left when nobody needs a node"
wait_for 150 "no instance is left" instance_count_is 0
