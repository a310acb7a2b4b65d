# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# `slurm-ec2 status` of a cluster where much goes on at once: nodes that work, that power up (with their age), that are down; a shortage, a launch under
# way, a machine without a node, a machine that EC2 holds for unwell, a source that is away. No line is longer than 80, and --json has all of it.

LOOP_TIME=5
long_queue=a-queue-with-a-long-name1 long_resource=resource-with-a-long-name
# see STATUS ARGUMENT...: its words go to $RUN/out; no line is longer than a terminal
see() {
	local want=$1 got=0
	shift
	on_head slurm-ec2 status "$@" >"$RUN/out" 2>&1 || got=$?
	expect "$want" "$got" "exit status of status $*: $(<"$RUN/out")"
	[[ $* == *--json* ]] || expect "" "$(awk 'length > 80' "$RUN/out")" "lines that are too long"
}
says() { grep -qE -- "$1" "$RUN/out" || fail "no line like \"$1\" in: $(<"$RUN/out")"; }
says_not() { ! grep -qE -- "$1" "$RUN/out" || fail "a line like \"$1\" in: $(<"$RUN/out")"; }
# json EXPRESSION: of the last output, as d
json() { /usr/bin/python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$RUN/out" "$1"; }

cluster() {
	quickstart
	for n in $(seq 2 24); do
		printf '  - Name: %s\n    Networking:\n      SubnetIds: [subnet-0fedcba9876543210]\n    ComputeResources:\n' \
			"$([ "$n" = 2 ] && echo $long_queue || echo "queue$n")"
		printf '    - Name: %s\n      InstanceType: %s\n      MaxCount: 4\n' "$([ "$n" = 2 ] && echo $long_resource || echo r)" \
			"$([ "$n" = 3 ] && echo c5.large || echo t2.micro)"
	done
}

head_up
cluster | apply_cluster
step "before the daemon"
see 0
says '^clustermgtd  DOES NOT RUN, '
says '^our state    CANNOT BE READ: there is no state file'
says '^24 more resources, 102 nodes, all off$'

step "a node works, another powers up and will not get far, one has no machine"
on_head systemctl start slurm-ec2-clustermgtd
job=$(submit $'#!/bin/bash\nsleep 900')
wait_for 120 "the job runs" job_is "$job" RUNNING
working() { node_short_is queue1-dy-t2micro-1 alloc || node_short_is queue1-dy-t2micro-1 mix; }
wait_for 120 "its node works" working
control '{"capacity": {"type": "c5.large", "left": 0}, "delay_running_ms": 600000}' >/dev/null
on_head scontrol update nodename=$long_queue-dy-$long_resource-1 state=power_up
wait_for 120 "a second machine" instance_count_is 2
on_head scontrol update nodename=queue3-dy-r-1 state=power_up
on_head scontrol update nodename=queue4-dy-r-1 state=down reason="look at me"
is_short() { on_head slurm-ec2 status | grep -q '^SHORT IN EC2'; }
wait_for 120 "a resource is short" is_short

step "a machine that nobody asked for, one that is not well, a launch that EC2 does not answer"
orphan=$(ec2 run-instances --launch-template LaunchTemplateName=demo/queue1/t2micro --count 1 --query 'Instances[0].InstanceId' --output text)
control "{\"status\": {\"instance\": \"$(instance_of queue1-dy-t2micro-1)\", \"system_status\": \"impaired\", \"since_s\": 60}, \"api_delay_ms\": {\"RunInstances\": 90000}}" >/dev/null
on_head scontrol update nodename=queue5-dy-r-1 state=power_up
asks() { see 0 && grep -q ' asking EC2' "$RUN/out"; }
wait_for 120 "the launch is under way" asks
says '^fleet        RUNNING$'
says '^clustermgtd  runs \(process [0-9]+\), loop ended [0-9]+ s ago$'
says '^queue1/t2micro +10 +9 +0 +0 +1 +0 +0 +2 +0$'
says '^a-q[^ ]*[.][.][^ ]*/res[^ ]*[.][.][^ ]* +4 +3 +1 +0 +0 +0 +0 +1 +0$'
says '^queue4/r +4 +3 +0 +0 +0 +1 +0 +0 +0$'
says '^queue5/r +4 +3 +1 +0 +0 +0 +0 +[01] +1$'
says '^(19|20) more resources, [0-9]+ nodes, all off$'
says '^all +102 '
says '^ +[0-9]+ s +1  machine boots$'
says "^ +$long_queue-dy-$long_resource-1\$"
says '^ +[0-9]+ s +1  asking EC2 +queue5-dy-r-1$'
says '^  queue5/r: 1 node, EC2 was asked [0-9]+ s ago \(l-[0-9a-f]+\)$'
says '^  c5.large in ap-northeast-1a, on-demand: InsufficientInstanceCapacity$'
says '^    refused [0-9]+ s ago, asked again in [0-9]+ s; [34] nodes disabled$'
says "^  $orphan running, [0-9]+ s old: ended in [0-9]+ s unless a node takes it\$|^  $orphan pending, [0-9]+ s old: ended in [0-9]+ s unless a node takes it\$"
says '^  i-[0-9a-f]+ \(queue1-dy-t2micro-1\): system status check fails for [0-9]+ s$'
says_not '^MACHINES$'

step "with machines, with all, as JSON"
see 0 --machines
says '^i-[0-9a-f]+ running +t2.micro +queue1-dy-t2micro-1$'
says "^$orphan [a-z]+ +t2.micro +no node\$"
see 0 --all
says_not 'more resources'
says '^queue24/r +4 +4 '
see 0 --json
expect "24 RUNNING True [('$orphan', 'young')] True" "$(json '"%d %s %s %s %s" % (len(d["resources"]), d["fleet"]["status"], d["clustermgtd"]["runs"], [(o["id"], o["next"]) for o in d["orphans"]], all(w["age_s"] < 600 and not w["late"] for w in d["powering_up"]))')" "status as JSON"
expect "True 60" "$(json '"%s %d" % next((m["health"]["system_impaired"], (d["now_ms"] - m["health"]["impaired_since_ms"]) // 60000 * 60) for m in d["machines"] if "health" in m)')" "health as JSON"
see 2 --jsom
see 2 x

step "the machine that nobody asked for is ended"
gone() { ! cloud id | grep -q "$orphan"; }
wait_for 240 "it is gone" gone
