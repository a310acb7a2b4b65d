# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A machine that cannot become a node (SlurmUser has another uid in its image) says so on its console and ends itself.

up <<<"$(quickstart)"
sed -i 's/^slurm:x:[0-9]*:/slurm:x:999:/' "$RUN/image/root/etc/passwd"
on_head scontrol update nodename=queue1-dy-t2micro-1 state=power_up
wait_for 120 "a machine is launched" instance_count_is 1
id=$(cloud id)
wait_for 120 "it ends itself" instance_count_is 0
reason=$(ec2 describe-instances --instance-ids "$id" --query 'Reservations[0].Instances[0].StateReason.Code' --output text)
expect Client.InstanceInitiatedShutdown "$reason" "why it ended"
ec2 get-console-output --instance-id "$id" --query Output --output text >"$RUN/console"
grep -q 'slurm-ec2-bootstrap: FAILED: no node name.*uid 999 in this image' "$RUN/console" || fail "the console: $(<"$RUN/console")"

step "with a sound image the node works again"
sed -i "s/^slurm:x:999:/slurm:x:$(id -u slurm):/" "$RUN/image/root/etc/passwd"
wait_for 120 "the node is powered down" node_short_is queue1-dy-t2micro-1 'idle~'
expect queue1-dy-t2micro-1 "$(as_alice srun --nodelist=queue1-dy-t2micro-1 hostname)" "host name"
