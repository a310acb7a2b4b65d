# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# B35: EC2 does not tell the addresses of twenty new machines for many answers. No machine is ended, none is launched twice, no node fails; when the
# addresses come each node gets its own.

LOOP_TIME=5
EC2LOCAL_ARGS="--boot=none"
up <<<"$(quickstart 's/MaxCount: 10/MaxCount: 20/')"
control '{"hide_ip": 100000}'
submit $'#!/bin/bash\nsleep 600' --nodes=20 --output=/dev/null >/dev/null
wait_for 120 "twenty machines are launched" instance_count_is 20
wait_for 120 "resume has given up to wait" on_head grep -q 'done after' /var/log/slurm-ec2/resume.log
before=$(calls DescribeInstances)
looked() { [ "$(calls DescribeInstances)" -gt $((before + 4)) ]; }
wait_for 120 "clustermgtd has looked several times" looked
expect 0 "$(with_machine | wc -l)" "nodes with an address"
expect 20 "$(instance_count)" "machines"

step "the addresses come"
control '{"hide_ip": 0}'
wait_for 120 "each node has the address of a machine" with_machine_is 20
expect "$(cloud ip | sort)" "$(on_head sinfo --noheader --Node --format=%o | sort -u)" "addresses of nodes and machines"
expect 20 "$(cloud id pending,running,shutting-down,terminated | wc -l)" "machines ever made"
expect "20,20" "$(launches)" "launches (least, most)"
expect "" "$(on_head sinfo --noheader --states=down,drain --format=%N)" "nodes down or drained"
