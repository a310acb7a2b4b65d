# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# EC2's list is short of all machines of 20 nodes that are coming up. The first look ends none of them; when the list is whole again nothing has
# happened. When it stays short, a person confirms, and they are ended.

LOOP_TIME=5
EC2LOCAL_ARGS="--boot=none"
eval "plain_$(declare -f write_settings)"
write_settings() {
	plain_write_settings
	echo 'OrphanGrace: 30'
}
up <<<"$(quickstart 's/MaxCount: 10/MaxCount: 20/')"
job=$(submit $'#!/bin/bash\nsleep 600' --nodes=20 --requeue --output=/dev/null)
wait_for 120 "all nodes have a machine" with_machine_is 20
held() { on_head slurm-ec2 events --type brake --last 0 | grep -c 'would be ended' | grep -qx "$1"; }

step "the list is short"
control '{"hide_instances": 1000000}'
wait_for 120 "the brake holds" held 1
on_head slurm-ec2 events --type brake | grep -q '20 of 20 machines in use would be ended, more than 10 %' || fail "it says $(on_head slurm-ec2 events --type brake)"
expect 0 "$(calls TerminateInstances)" "calls that end machines"
expect 'alloc#' "$(on_head sinfo --noheader --format=%t | sort -u)" "nodes"

step "it is whole again: nothing has happened"
control '{"reset": true}'
wait_for 120 "the brake is off" on_head grep -q 'the brake is off' /var/log/slurm-ec2/clustermgtd.log
expect 0 "$(calls TerminateInstances)" "calls that end machines"
expect 20 "$(instance_count)" "machines"
expect 'alloc#' "$(on_head sinfo --noheader --format=%t | sort -u)" "nodes"

step "it is short again, and a person knows why"
control '{"hide_instances": 1000000}'
wait_for 120 "the brake holds" held 2
expect 0 "$(calls TerminateInstances)" "calls that end machines"
on_head slurm-ec2 fleet confirm | grep -q '20 of 20 machines' || fail "confirm does not show what it is about"
wait_for 120 "the machines are ended" instance_count_is 0
wait_for 120 "the nodes are set DOWN or powered down" on_head sh -c '! sinfo --noheader --format=%t | grep -q "alloc#"'
