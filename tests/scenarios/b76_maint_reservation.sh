# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# B76: a user's own maintenance reservation holds a static node, and the node goes DOWN. It gets one new machine, which has its time to come up,
# and the reservation stays as it is.

LOOP_TIME=5
more_head_files() { echo 'OrphanGrace: 30' >>"$RUN/head/root/etc/slurm-ec2/settings.yaml"; }
node=queue1-st-t2micro-1
up <<<"$(quickstart 's/MinCount: 0/MinCount: 1/')"
wait_for 240 "the static node is up" node_short_is $node idle
first=$(cloud id)
on_head scontrol create reservation=mine starttime=now duration=infinite user=alice flags=maint,ignore_jobs nodes=$node
in_maintenance() { node_is $node '.*MAINTENANCE.*'; }
wait_for 120 "it is in maintenance" in_maintenance
launched=$(calls RunInstances)

step "its slurmd is gone"
inside $node systemctl stop slurmd
on_head scontrol update nodename=$node state=down reason="Not responding"
replaced() { instance_count_is 1 && [ "$(cloud id)" != "$first" ]; }
wait_for 240 "it has another machine" replaced
up_again() { node_is $node 'IDLE(\+[A-Z_]+)*' && ! node_is $node '.*(POWER|NOT_RESP|DRAIN).*'; }
wait_for 240 "the node is up again" up_again

step "the reservation and the new machine stay"
second=$(cloud id)
looked=$(calls DescribeInstances)
looks() { [ "$(calls DescribeInstances)" -ge $((looked + 5)) ]; }
wait_for 240 "the daemon looks round five times" looks
expect "$second" "$(cloud id)" "the machine"
expect $((launched + 1)) "$(calls RunInstances)" "launches"
in_maintenance || fail "the node is $(node_state $node)"
on_head scontrol show reservation mine --oneliner | grep -q "Nodes=$node.*Flags=MAINT" || fail "the reservation: $(on_head scontrol show reservation)"
expect $node "$(as_alice srun --reservation=mine hostname)" "a job of the reservation"
