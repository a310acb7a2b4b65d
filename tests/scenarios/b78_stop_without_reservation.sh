# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# B78: the capacity reservation of a queue is gone, and so is cluster.yaml. The fleet can be stopped and started all the same, also while EC2 is away.

LOOP_TIME=5
block=cr-0123456789abcdef0
partition_is() { [ "$(on_head scontrol show partition "$1" --oneliner | sed -n 's/.* State=\([A-Z]*\).*/\1/p')" = "$2" ]; }
fleet_is() { [ "$(on_head slurm-ec2 fleet status --json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["status"])')" = "$1" ]; }

head_up
control "{\"reservation\": {\"$block\": {\"type\": \"t2.micro\", \"zone\": \"ap-northeast-1a\", \"total\": 2, \"kind\": \"capacity-block\", \"state\": \"active\"}}}"
quickstart 's/MinCount: 0/MinCount: 2/' 's/MaxCount: 10/MaxCount: 2/' '/^  - Name: queue1/a\    CapacityType: CAPACITY_BLOCK' \
	"/MaxCount/a\\      CapacityReservationTarget:\\n        CapacityReservationId: $block" | apply_cluster
on_head systemctl start slurm-ec2-clustermgtd
wait_for 240 "static nodes are up" node_short_is 'queue1-st-t2micro-[1-2]' idle
on_head rm /root/cluster.yaml

step "EC2 is away: the partition is closed at once, the status waits for what EC2 says"
on_head systemctl stop ec2local
on_head slurm-ec2 fleet stop
wait_for 120 "the partition is closed" partition_is queue1 DOWN
wait_for 120 "the stop is under way" fleet_is STOPPING

step "EC2 is back and knows neither reservation nor machines"
on_head systemctl start ec2local
wait_for 240 "the fleet is stopped" fleet_is STOPPED
on_head slurm-ec2 fleet start
wait_for 120 "the fleet runs" fleet_is RUNNING
partition_is queue1 UP || fail "the partition is not open"
