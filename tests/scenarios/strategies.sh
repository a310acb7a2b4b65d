# shellcheck shell=bash disable=SC2016,SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# Three jobs of 3, 2 and 2 nodes in one resume while EC2 has 4 machines: what each scaling strategy asks for, who is served, what is returned.

LOOP_TIME=60
EC2LOCAL_ARGS="--boot=none"
# A queue for each strategy, with a type of its own, so that no shortage is known beforehand.
cluster() {
	local queue
	quickstart "s/Scheduler: slurm/&\n  ScalingStrategy: $1/" '/^  - Name: queue1/,$d'
	for queue in all:t2.micro greedy:t3.micro best:c5.large; do
		printf '  - {Name: %s, ComputeResources: [{Name: r, InstanceType: %s, MaxCount: 7}], Networking: {SubnetIds: [subnet-0fedcba9876543210]}}\n' \
			"${queue%:*}" "${queue#*:}"
	done
}
of_nodes() { on_head sinfo --noheader --Node --nodes="$queue-dy-r-[1-7]" --format="%N %E" | sort -u; }
bound() { with_machine --nodes="$queue-dy-r-[1-7]" | paste -sd' '; }
failed() { of_nodes | grep -c '(Code:' || true; }
failed_is() { [ "$(failed)" = "$1" ]; }
reasons() { of_nodes | grep -o '(Code:[A-Za-z]*)' | sort | uniq -c | awk '{ printf "%s%s %s", sep, $1, $2; sep = ", " }'; }

# try STRATEGY QUEUE FAILED: the three jobs start in one pass of the scheduler, so that one resume gets the nodes of all.
try() {
	local before nodes
	queue=$2
	step "$1"
	cluster "$1" | apply_cluster
	on_head systemctl restart slurm-ec2-clustermgtd
	control '{"reset": true, "capacity": {"type": "*", "left": 4}}'
	before=$(launches | wc -l)
	on_head scontrol update partitionname="$queue" state=down
	for nodes in 3 2 2; do
		submit $'#!/bin/bash\nsleep 600' --partition="$queue" --nodes="$nodes" --exclusive --output=/dev/null
	done
	on_head scontrol update partitionname="$queue" state=up
	wait_for 120 "who is not served says why" failed_is "$3"
	asked=$(launches | tail -n +$((before + 1)) | tr '\n' ' ')
}
made() { ec2 describe-instances --filters "Name=instance-type,Values=$1" --query 'length(Reservations[].Instances[])'; }
kept() { ec2 describe-instances --filters "Name=instance-type,Values=$1" 'Name=instance-state-name,Values=pending,running' --query 'length(Reservations[].Instances[])'; }
kept_is() { [ "$(kept "$1")" = "$2" ]; }

head_up
try all-or-nothing all 4
expect "7,7 3,3 2,2 " "$asked" "launches (least, most)"
expect "all-dy-r-1 all-dy-r-2 all-dy-r-3" "$(bound)" "nodes with a machine"
expect "4 (Code:InsufficientInstanceCapacity)" "$(reasons)" "reasons"
expect "3 3" "$(made t2.micro) $(kept t2.micro)" "machines made and kept"

try greedy-all-or-nothing greedy 4
expect "1,7 " "$asked" "launches (least, most)"
expect "greedy-dy-r-1 greedy-dy-r-2 greedy-dy-r-3" "$(bound)" "nodes with a machine"
expect "3 (Code:InsufficientInstanceCapacity), 1 (Code:LimitedInstanceCapacity)" "$(reasons)" "reasons"
expect 4 "$(made t3.micro)" "machines made"
wait_for 120 "the one that serves no job is returned" kept_is t3.micro 3

try best-effort best 3
expect "1,7 " "$asked" "launches (least, most)"
expect "best-dy-r-1 best-dy-r-2 best-dy-r-3 best-dy-r-4" "$(bound)" "nodes with a machine"
expect "3 (Code:InsufficientInstanceCapacity)" "$(reasons)" "reasons"
expect "4 4" "$(made c5.large) $(kept c5.large)" "machines made and kept"
