# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# B02, B01: a machine does not become a node within ResumeTimeout. Its node does not stay down~: the machine is ended, one failed boot is
# counted, the address goes, and the node is idle~ again. A node that is left powered down and not responding is freed too.

EC2LOCAL_ARGS="--boot=none"
LOOP_TIME=5
more_head_files() { echo 'OrphanGrace: 30' >>"$RUN/head/root/etc/slurm-ec2/settings.yaml"; }
node=queue1-dy-t2micro-1
failures() { on_head slurm-ec2 events --type boot-failed | grep -c "$node" || true; }

up <<<"$(quickstart; printf 'DevSettings:\n  Timeouts:\n    ComputeNodeBootstrapTimeout: 20\n')"
job=$(submit $'#!/bin/bash\nhostname' --nodelist=$node --output=/dev/null)
wait_for 120 "a machine is launched" instance_count_is 1
id=$(cloud id)
as_alice scancel "$job"

step "slurmctld gives it up"
wait_for 180 "the machine is ended" instance_count_is 0
wait_for 120 "the node is back" node_short_is $node 'idle~'
node_is $node 'IDLE\+CLOUD\+POWERED_DOWN' || fail "the node is $(node_state $node)"
expect 203.0.113.1 "$(node_address $node)" "its address"
on_head grep -q 'ResumeTimeout' /var/log/slurm/slurmctld.log || fail "slurmctld never gave it up"
expect 1 "$(failures)" "failed boots that were counted"
on_head slurm-ec2 events --type boot-failed | grep -q "$id" || fail "the event does not name the machine"

step "powered down and not responding: seen for OrphanGrace, then freed"
on_head scontrol update nodename=$node state=noresp
node_is $node '.*NOT_RESPONDING.*' || fail "the node is $(node_state $node)"
freed() { node_is $node 'IDLE\+CLOUD\+POWERED_DOWN'; }
wait_for 180 "it is freed" freed
on_head grep -q 'stuck-idle' /var/log/slurm-ec2/clustermgtd.log || fail "the log does not say so"
