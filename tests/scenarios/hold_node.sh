# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A drained node named in SuspendExcNodes keeps its machine and its drain past the idle time, beside static nodes, which we name there too;
# the way README's "Day to day" tells it.

up <<<"$(quickstart 's/MinCount: 0/MinCount: 1/' 's/ScaledownIdletime: .*/ScaledownIdletime: 1/')"
held=queue1-dy-t2micro-1 free=queue1-dy-t2micro-2
expect 2 "$(as_alice srun --nodes=2 --nodelist=$held,$free hostname | wc -l)" "tasks"
machine=$(instance_of $held)

step "drain it and name it"
on_head scontrol update nodename=$held state=drain reason="look at me"
on_head sed -i "1i SuspendExcNodes=$held" /etc/slurm/slurm.conf
on_head sh -c 'slurm-ec2 apply /root/cluster.yaml && scontrol reconfigure'
on_head scontrol show config | grep -q "^SuspendExcNodes *= *$held,queue1-st-t2micro-\[1-1\]" || fail "SuspendExcNodes: $(on_head scontrol show config | grep SuspendExc)"

step "past the idle time"
wait_for 150 "the other node is powered down" node_short_is $free 'idle~'
node_is $held 'IDLE\+CLOUD\+DRAIN.*' || fail "the held node is $(node_state $held)"
expect "$machine" "$(instance_of $held)" "its machine"

step "let it go"
on_head sed -i "/^SuspendExcNodes=/d; s/^SuspendExcNodes=$held,/SuspendExcNodes=/" /etc/slurm/slurm.conf
on_head sh -c 'slurm-ec2 apply /root/cluster.yaml && scontrol reconfigure'
on_head scontrol update nodename=$held state=resume
wait_for 150 "it is powered down" node_short_is $held 'idle~'
