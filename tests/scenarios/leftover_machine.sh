# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A node is powered down, but SuspendProgram does nothing and clustermgtd is away. The next job on that node gets a new machine at once: slurmctld takes none that booted before the power-up, and the job would wait for ResumeTimeout.

node=queue1-dy-t2micro-1
old_enough() { [ "$(date +%s)" -gt "$((began + 65))" ]; }
ended() { ! cloud id | grep -qx "$old"; }

up <<<"$(quickstart '$aDevSettings: {Timeouts: {ComputeNodeBootstrapTimeout: 60}}')"
expect $node "$(as_alice srun hostname)" "host name"
began=$(date +%s)
old=$(cloud id)

step "its machine stays"
on_head systemctl stop slurm-ec2-clustermgtd
on_head sed -i 's|^SuspendProgram=.*|SuspendProgram=/bin/true|' /etc/slurm/slurm-ec2.conf
on_head scontrol reconfigure
on_head scontrol update nodename=$node state=power_down_force
wait_for 150 "the node is powered down" node_short_is $node 'idle~'
wait_for 120 "its machine is older than ResumeTimeout" old_enough
expect "$old" "$(cloud id)" "the machine"

step "the next job"
expect $node "$(as_alice srun --nodelist=$node hostname)" "host name"
on_head grep -q "$node: its machine $old is older than its power-up" /var/log/slurm-ec2/resume.log || fail "resume did not see it"
wait_for 120 "the old machine is ended" ended
expect 1 "$(instance_count)" "instances"
