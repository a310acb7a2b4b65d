# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# B17, B18, B24: EC2 has no more machines of the first of two compute resources. Its powered-down nodes are disabled, so that the second try of the
# job lands on the other resource; its static node and what runs there stay as they are. When the shortage is over the nodes come back by themselves.

# shellcheck disable=SC2034 # the settings read it
LOOP_TIME=30
reason='(Code:InsufficientInstanceCapacity)Temporarily disabling node due to insufficient capacity'
eval "plain_$(declare -f write_settings)"
write_settings() {
	plain_write_settings
	echo "CapacityRetry: 40"
	echo "CapacityRetryLimit: 40"
}
short_states() { on_head sinfo --noheader --Node --nodes="$1" --format="%N $2" | sort -u; }
# all_are NODES SHORT_STATE
all_are() { [ "$(on_head sinfo --noheader --nodes="$1" --format=%t | sort -u)" = "$2" ]; }

head_up
control '{"capacity": {"type": "t2.micro", "left": 1}}'
quickstart 's/MinCount: 0/MinCount: 1/' 's/MaxCount: 10/MaxCount: 6/' '/MaxCount/a\    - Name: other\n      InstanceType: t3.micro\n      MaxCount: 4' | apply_cluster
on_head systemctl start slurm-ec2-clustermgtd
wait_for 120 "the static node is up" node_short_is queue1-st-t2micro-1 idle

step "a job for all of the static node, then one that needs another node"
first=$(submit $'#!/bin/bash\nsleep 600' --exclusive --output=first.out)
wait_for 120 "the static node works" node_short_is queue1-st-t2micro-1 alloc
second=$(submit $'#!/bin/bash\nhostname' --output=second.out)
wait_for 120 "the nodes of the short resource are disabled" all_are 'queue1-dy-t2micro-[2-5]' 'down~'
for node in 2 3 4 5; do
	[[ $(node_reason queue1-dy-t2micro-$node) == "$reason"* ]] || fail "the reason is \"$(node_reason queue1-dy-t2micro-$node)\""
done
expect "$(printf 'queue1-st-t2micro-1 alloc')" "$(short_states queue1-st-t2micro-1 %t)" "the static node"
all_are 'queue1-dy-other-[1-4]' 'idle~' || all_are 'queue1-dy-other-[2-4]' 'idle~' || fail "the other resource is disabled too"
on_head slurm-ec2 status >"$RUN/status.txt"
grep -A1 '^  t2.micro in ap-northeast-1a, on-demand: InsufficientInstanceCapacity$' "$RUN/status.txt" |
	grep -qE '^    refused [0-9]+ s ago, asked again in [0-9]+ s; 4 nodes disabled$' ||
	fail "status does not show the shortage: $(<"$RUN/status.txt")"

step "the second try lands on the other resource"
wait_for 240 "the second job is tried again" job_is "$second" "CONFIGURING RUNNING"
{ all_are 'queue1-dy-t2micro-[2-5]' 'down~' && node_is queue1-dy-t2micro-1 'DOWN.*'; } ||
	fail "the short resource is back too early: $(short_states 'queue1-dy-t2micro-[1-5]' %t)"
wait_for 240 "the second job is through" job_is "$second" COMPLETED
expect 1 "$(on_head scontrol show job "$second" --oneliner | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p')" "requeues"
expect queue1-dy-other-1 "$(on_head cat /home/alice/second.out)" "host of the second job"
expect RUNNING "$(job_state "$first")" "the job on the static node"

step "the shortage heals: all come back, and serve"
control '{"capacity": {"type": "t2.micro", "left": 10}}'
wait_for 150 "the nodes are back" all_are 'queue1-dy-t2micro-[1-5]' 'idle~'
third=$(submit $'#!/bin/bash\nhostname' --nodelist=queue1-dy-t2micro-3 --output=third.out)
wait_for 150 "a job on one of them is through" job_is "$third" COMPLETED
