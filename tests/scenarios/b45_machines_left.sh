# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# B45: forty machines run on while slurmctld calls their nodes powered down, because SuspendProgram did nothing. One loop of clustermgtd ends all.

EC2LOCAL_ARGS="--boot=none"
up <<<"$(quickstart 's/MaxCount: 10/MaxCount: 40/')"
job=$(submit $'#!/bin/bash\nsleep 600' --nodes=40 --output=/dev/null)
wait_for 120 "forty nodes have a machine" with_machine_is 40
on_head systemctl stop slurm-ec2-clustermgtd
on_head mount --bind /bin/true $LIBEXEC/suspend
as_alice scancel "$job"
on_head scontrol update nodename='queue1-dy-t2micro-[1-40]' state=power_down_force
all_off() { [ "$(on_head sinfo --noheader --Node --format=%t | sort -u)" = 'idle~' ]; }
wait_for 120 "slurmctld calls all of them powered down" all_off
expect 40 "$(instance_count)" "machines that run on"
expect 0 "$(calls TerminateInstances)" "calls that end machines"
on_head systemctl start slurm-ec2-clustermgtd
wait_for 120 "no instance is left" instance_count_is 0
expect 1 "$(calls TerminateInstances)" "calls that end machines"
expect "idle~" "$(on_head sinfo --noheader --Node --format=%t | sort -u)" "the nodes"
