# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Nodes powered up and down by hand, without a job; resume and suspend run by hand under an empty environment, twice each, do no harm.

node=queue1-dy-t2micro-1
up <<<"$(quickstart)"
# program NAME [ARGUMENT]: a power program as slurmctld starts it, as SlurmUser with an empty environment.
program() { on_head setpriv --reuid slurm --regid slurm --clear-groups /usr/bin/env -i "$LIBEXEC/$1" "${@:2}"; }
ever() { cloud id pending,running,shutting-down,terminated | wc -l; }

step "power_up"
on_head scontrol update nodename=$node state=power_up
wait_for 120 "the node is up" node_short_is $node idle
machine=$(cloud id)
expect 1 "$(ever)" "machines ever made"

step "resume twice for a node that is up"
program resume $node
program resume $node
expect 1 "$(ever)" "machines ever made"
expect "$machine" "$(instance_of $node)" "its machine"
expect idle "$(node_short $node)" "its state"
expect $node "$(as_alice srun --nodelist=$node hostname)" "host name"

step "power_down"
on_head scontrol update nodename=$node state=power_down
wait_for 120 "its machine is gone" instance_count_is 0
wait_for 120 "the node is powered down" node_short_is $node 'idle~'
expect 203.0.113.1 "$(node_address $node)" "its address"

step "suspend twice for a node that is down, and for one that never was up"
before=$(calls TerminateInstances)
program suspend $node
program suspend queue1-dy-t2micro-'[1-2]'
expect "$before" "$(calls TerminateInstances)" "calls of TerminateInstances"
expect 'idle~' "$(node_short 'queue1-dy-t2micro-[1-10]')" "states"

step "suspend twice for a node that is up: it is left alone"
on_head scontrol update nodename=$node state=power_up
wait_for 120 "the node is up" node_short_is $node idle
before=$(calls TerminateInstances)
machine=$(cloud id)
program suspend $node
program suspend $node
expect "$before" "$(calls TerminateInstances)" "calls of TerminateInstances"
expect "$machine" "$(instance_of $node)" "its machine"
expect $node "$(as_alice srun --nodelist=$node hostname)" "host name"
on_head scontrol update nodename=$node state=power_down
wait_for 120 "its machine is gone" instance_count_is 0
wait_for 120 "the node is powered down" node_short_is $node 'idle~'
expect $node "$(as_alice srun --nodelist=$node hostname)" "host name"
expect 3 "$(ever)" "machines ever made"

step "a name that is not ours, and none at all"
program suspend physical7
if program resume >/dev/null 2>&1; then fail "resume without an argument"; fi
expect 1 "$(instance_count)" "instances"
