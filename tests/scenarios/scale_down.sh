# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Idle nodes go back to nothing, leave no address behind, and come back for the next job.

up <<<"$(quickstart)"
as_alice srun --nodes=2 true
first=$(cloud id)
expect 2 "$(instance_count)" "instances"

step "idle"
wait_for 150 "no instance is left" instance_count_is 0
wait_for 120 "the nodes are powered down" node_short_is 'queue1-dy-t2micro-[1-10]' 'idle~'
for n in 1 2; do
	expect 203.0.113.1 "$(node_address queue1-dy-t2micro-$n)" "address of node $n"
	expect "" "$(on_head scontrol show node queue1-dy-t2micro-$n | sed -n 's/.*Extra=//p')" "extra of node $n"
done

step "the next job"
expect queue1-dy-t2micro-1 "$(as_alice srun hostname)" "host name"
second=$(cloud id)
expect 1 "$(instance_count)" "instances"
! grep -qx "$second" <<<"$first" || fail "an old machine came back"
