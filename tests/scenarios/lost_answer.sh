# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# EC2 launches a machine and the answer is lost: the same call is made again with the same token, and there is one machine.

up <<<"$(quickstart)"
control '{"lost_answer": 1}'
expect queue1-dy-t2micro-1 "$(as_alice srun hostname)" "host name"
expect 1 "$(instance_count)" "instances"
[ "$(calls RunInstances)" -ge 2 ] || fail "the lost answer was not asked for again"
expect 1 "$(cloud id pending,running,shutting-down,terminated | wc -l)" "machines ever made"
