# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# A random series of faults on a real slurmctld with the local cloud: EC2's, a person's, and programs killed at any moment. After they
# stop, all must come back: every living machine has one node, every job is done, no node is stuck, and no job that ran was ended by us.
#
#   ./check sim_real                   a dozen seeds at once, each with a queue, jobs and faults of its own on one timeline
#   SEED=7 ./check sim_real            one of them alone;  SIM_SEEDS='13 14 15' ./check sim_real  these
#   make check-sim-real N=100          a hundred, a dozen at a time
#
# A seed draws everything from $RANDOM, so it plays the same series again. What it drew is in the log, and each event when it happens.

read -ra seeds <<<"${SEED:-${SIM_SEEDS:-1 2 3 4 5 6 7 8 9 10 11 12}}"
FAULTS_S=35 # so long the trouble goes on
WELL_S=150  # and so long everything may take to be well: OrphanGrace, ResumeTimeout, loops of 5 s, and a machine's boot
LOOP_TIME=5
more_head_files() {
	printf '%s\n' 'OrphanGrace: 30' 'HealthCheckGrace: 5' 'ProtectedFailureCount: 0' 'CapacityRetry: 10' 'CapacityRetryLimit: 20' \
		>>"$RUN/head/root/etc/slurm-ec2/settings.yaml"
}

# Every fifth seed keeps a static node.
is_static() { [ $(($1 % 5)) = 0 ]; }
site() {
	local seed min
	quickstart '/SlurmQueues:/q'
	for seed in "${seeds[@]}"; do
		min=0
		! is_static "$seed" || min=1
		printf '  - Name: s%d\n    ComputeResources:\n    - {Name: a, InstanceType: t2.micro, MinCount: %d, MaxCount: %d}\n' "$seed" "$min" $((min + 2))
		printf '    Networking: {SubnetIds: [subnet-0fedcba9876543210]}\n'
	done
	echo 'DevSettings: {Timeouts: {ComputeNodeBootstrapTimeout: 60}}'
}

# ---- a seed's series: lines "SECOND SEED WHAT ..."

# Faults that may end a job by themselves, or by a person's wish, and those after which each job runs but once.
hurting=(terminate stop impaired event drain down power_down)
harmless=(short lost throttle hide_ip late kill_loop kill_resume kill_suspend restart_ctld lose_state power_up)

series() {
	local seed=$1 i n kinds=("${harmless[@]}")
	RANDOM=$seed
	((RANDOM)) || true # neighbours begin alike
	! ((RANDOM % 2)) || kinds+=("${hurting[@]}")
	for ((i = 0; i <= RANDOM % 2; i++)); do
		echo "$((RANDOM % 12)) $seed job $((1 + RANDOM % 4 / 3)) $((3 + RANDOM % 25))"
	done
	for ((n = 1 + RANDOM % 3; n > 0; n--)); do
		# not before there can be a machine
		echo "$((8 + RANDOM % (FAULTS_S - 8))) $seed ${kinds[RANDOM % ${#kinds[@]}]}"
	done
}

# ---- what happens

jobs=()
node() { echo "s$1-dy-a-1"; }
machine() { instance_of "$(node "$1")"; }
hit() {
	local id
	id=$(machine "$1")
	[ -z "$id" ] || control "${2//ID/$id}" >/dev/null
}
person() { on_head scontrol update "nodename=$(node "$1")" "state=$2" ${3:+"reason=$3"}; }
begin_job() {
	local name=s$1-${#jobs[@]} script
	printf -v script '#!/bin/bash\necho began >>%s.began\nsleep %d\n' "$name" "$3"
	jobs+=("$(submit "$script" --partition="s$1" --nodes="$2" --job-name="$name" --output=/dev/null)")
}
happen() {
	local seed=$1 what=$2
	case $what in
	job) begin_job "$seed" "$3" "$4" ;;
	terminate) hit "$seed" '{"terminate": "ID"}' ;;
	stop) hit "$seed" '{"stop": "ID"}' ;;
	impaired) hit "$seed" '{"status": {"instance": "ID", "instance_status": "impaired"}}' ;;
	event) hit "$seed" '{"event": {"instance": "ID", "code": "instance-retirement", "in_s": 600}}' ;;
	drain | down) person "$seed" "$what" "admin: looking at it" ;;
	power_down | power_up) person "$seed" "$what" ;;
	short) control '{"error": {"action": "RunInstances", "code": "InsufficientInstanceCapacity", "status": 500, "count": 1}}' ;;
	lost) control '{"lost_answer": 1}' ;;
	throttle) control '{"throttle": {"RunInstances": 2, "DescribeInstances": 2, "TerminateInstances": 2}}' ;;
	hide_ip) control '{"hide_ip": 3}' ;;
	late) control '{"eventual_consistency_ms": 6000}' ;;
	kill_loop) on_head pkill -KILL -x clustermgtd ;;
	kill_resume) on_head pkill -KILL -x resume ;;
	kill_suspend) on_head pkill -KILL -x suspend ;;
	restart_ctld) on_head systemctl restart slurmctld ;;
	lose_state) on_head sh -c 'rm -f /var/lib/slurm-ec2/state.db*' ;;
	*) fail "no such fault: $what" ;;
	esac
}

passed() { [ "$(($(date +%s) - $1))" -ge "$2" ]; }
# What a person or a program is refused (a node that is not there, nobody to kill) is part of the play; a job must be taken.
play() {
	local start at seed what rest
	start=$(date +%s)
	while read -r at seed what rest; do
		wait_for 120 "second $at" passed "$start" "$at"
		step "seed $seed: $what $rest"
		# shellcheck disable=SC2086 # words on purpose
		if [ "$what" = job ]; then
			wait_for 120 "slurmctld answers" on_head scontrol ping
			happen "$seed" "$what" $rest
		else
			happen "$seed" "$what" $rest >/dev/null 2>&1 || true
		fi
	done <"$RUN/series"
}

# ---- the faults stop

all_nodes() { on_head scontrol show nodes --oneliner; }
calm() {
	local name
	on_head scontrol ping >/dev/null || wait_for 120 "slurmctld answers" on_head scontrol ping
	control '{"reset": true, "eventual_consistency_ms": 0}' >/dev/null
	for name in $(all_nodes | grep 'Reason=admin: ' | grep -E 'State=(DOWN|[A-Z+]*DRAIN)' | sed 's/NodeName=\([^ ]*\).*/\1/'); do
		on_head scontrol update "nodename=$name" state=resume || true
	done
	for name in $(cloud id); do
		control "{\"status\": {\"instance\": \"$name\"}, \"event\": {\"instance\": \"$name\"}}" >/dev/null 2>&1 || true
	done
}

# slurmctld lets a job that was put back rest for two minutes; a person need not.
hurry() {
	local job
	for job in $(on_head squeue --noheader --states=PENDING --format=%A); do
		on_head scontrol update "jobid=$job" StartTime=now >/dev/null 2>&1 || true
	done
}
# What is not well, one a line; nothing if all is.
unwell() {
	local job
	for job in "${jobs[@]}"; do
		job_is "$job" COMPLETED || echo "job $job ($(on_head squeue --noheader --job="$job" --format='%j %T %r %N' 2>/dev/null))"
	done
	all_nodes >"$RUN/nodes"
	cloud ip pending,running,stopping,stopped >"$RUN/ips"
	/usr/bin/python3 - "$RUN/nodes" "$RUN/ips" <<'PY'
import re, sys
nodes = [dict(re.findall(r'(\w+)=(\S+)', line)) for line in open(sys.argv[1])]
ips = open(sys.argv[2]).read().split()
for ip in ips:
    has = [n['NodeName'] for n in nodes if n.get('NodeAddr') == ip]
    if len(has) != 1:
        print(f'machine {ip}: nodes {has}')
for n in nodes:
    state, static = n['State'], '-st-' in n['NodeName']
    up = state in ('IDLE+CLOUD', 'MIXED+CLOUD', 'ALLOCATED+CLOUD') and n.get('NodeAddr') in ips
    if not up and (static or state != 'IDLE+CLOUD+POWERED_DOWN'):
        print(f"{n['NodeName']}: {state} at {n.get('NodeAddr')}")
PY
}
is_well() {
	hurry
	[ -z "$(unwell)" ]
}
again() { echo "SEED=N ./check sim_real plays one alone; these were: ${seeds[*]}"; }

# Of seeds whose series has no fault that may end a job each began once.
unhurt() {
	local seed began job
	for seed in "${seeds[@]}"; do
		if grep -qE "^[0-9]+ $seed ($(IFS='|' && echo "${hurting[*]}"))" "$RUN/series"; then continue; fi
		for began in $(as_alice sh -c "ls s$seed-*.began 2>/dev/null" || true); do
			expect 1 "$(as_alice grep -c . "$began")" "seed $seed: how often the job of $began began"
		done
	done
}

up <<<"$(site)"
for seed in "${seeds[@]}"; do series "$seed"; done | sort -n -k1,1 -s >"$RUN/series"
step "the series: $(tr '\n' ';' <"$RUN/series")"
play
step "the faults stop"
calm
wait_for "$WELL_S" "all is well" is_well || { unwell >&2; fail "seeds ${seeds[*]}: not well. $(again)"; }
unhurt
step "all is well; nobody needs a node"
idle() { all_nodes | grep -E 'State=(IDLE|MIXED)\+CLOUD ' | sed 's/NodeName=\([^ ]*\).*/\1/' | grep -e '-dy-'; }
for name in $(idle); do on_head scontrol update "nodename=$name" state=power_down; done
statics=$(for seed in "${seeds[@]}"; do ! is_static "$seed" || echo "$seed"; done | grep -c . || true)
wait_for 120 "only the machines of static nodes are left" instance_count_is "$statics" || fail "$(cloud ip). $(again)"
back() { ! idle && is_well; }
wait_for 120 "all nodes are idle~ again" back || { unwell >&2; fail "seeds ${seeds[*]}: not well in the end. $(again)"; }
