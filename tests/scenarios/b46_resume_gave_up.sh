# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# B46: slurmctld gives up a node at ResumeTimeout while its machine is still pending, and no ResumeFailProgram does anything. clustermgtd ends the
# machine and the node comes back.

EC2LOCAL_ARGS="--boot=none"
up <<<"$(quickstart; printf 'DevSettings:\n  Timeouts:\n    ComputeNodeBootstrapTimeout: 20\n')"
on_head mount --bind /bin/true $LIBEXEC/suspend
control '{"delay_running_ms": 3600000}'
job=$(submit $'#!/bin/bash\nhostname' --output=/dev/null)
wait_for 120 "a machine is launched" instance_count_is 1
as_alice scancel "$job"
gave_up() { on_head grep -q 'ResumeTimeout reached\|not resumed by ResumeTimeout' /var/log/slurm/slurmctld.log; }
wait_for 180 "slurmctld gives the node up" gave_up
expect 0 "$(on_head sh -c 'cat /var/log/slurm-ec2/suspend.log 2>/dev/null | wc -l')" "lines of suspend's log"
wait_for 120 "the machine is ended" instance_count_is 0
wait_for 120 "the node is back" node_short_is queue1-dy-t2micro-1 'idle~'
