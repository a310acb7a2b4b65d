# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# clustermgtd is killed: jobs still get nodes; the next clustermgtd repairs what happened meanwhile.

up <<<"$(quickstart)"
wait_for 120 "clustermgtd has looked once" on_head test -s /var/log/slurm-ec2/clustermgtd.log
on_head systemctl stop slurm-ec2-clustermgtd
expect queue1-dy-t2micro-1 "$(as_alice srun hostname)" "host name without clustermgtd"
old=$(cloud id)
control "{\"terminate\": [\"$old\"]}"
wait_for 120 "the machine is gone" instance_count_is 0

step "it starts again"
on_head systemctl start slurm-ec2-clustermgtd
wait_for 120 "the node without a machine is powered down" node_short_is queue1-dy-t2micro-1 'idle~'
expect queue1-dy-t2micro-1 "$(as_alice srun hostname)" "host name afterwards"

step "it is killed in the middle and comes back by its unit"
on_head systemctl kill slurm-ec2-clustermgtd
wait_for 120 "it runs again" on_head pgrep -x clustermgtd
