# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# What an administrator sees. B27: a vCPU quota below MaxCount is told before a job meets it, beside addresses, reservations and the launch rate; what
# may not be read is said. `plan resume` shows what a resume would ask of EC2 and why; `events` keeps EC2's own words. Machines are records here.

open=AKIDOPEN barred=AKIDBARRED
EC2LOCAL_ARGS="--boot=none --subnet subnet-0aaaaaaaaaaaaaaa1:ap-northeast-1c --subnet subnet-0bbbbbbbbbbbbbbb1:ap-northeast-1a:10.77.200.0/28"
for key in $open $barred; do
	EC2LOCAL_ARGS+=" --key $key:$SECRET_KEY --policy $key=/etc/$key.json"
done
LOOP_TIME=5
eval "usual_settings_$(declare -f write_settings)"
write_settings() {
	usual_settings_write_settings
	cat <<-'END'
		CapacityRetry: 60
		CapacityRetryLimit: 60
		Fallback:
		  - Queue: queue2
		    ComputeResource: more
		    Then:
		      - {CapacityType: ONDEMAND, InstanceTypes: [m5.large]}
	END
}
eval "usual_unit_$(declare -f write_ec2local_unit)"
write_ec2local_unit() {
	local program=$STAGE/opt/slurm-ec2/bin/slurm-ec2 etc=$RUN/head/root/etc
	"$program" policy --cluster-name demo --for apply >"$etc/$open.json"
	/usr/bin/python3 -c '
import json, sys
policy = json.load(sys.stdin)
gone = ("servicequotas:ListServiceQuotas", "ec2:DescribeSubnets")
for s in policy["Statement"]:
    s["Action"] = [a for a in s["Action"] if a not in gone]
policy["Statement"] = [s for s in policy["Statement"] if s["Action"]]
json.dump(policy, sys.stdout)' <"$etc/$open.json" >"$etc/$barred.json"
	usual_unit_write_ec2local_unit
}
as_key() { on_head env "AWS_ACCESS_KEY_ID=$1" "AWS_SECRET_ACCESS_KEY=$SECRET_KEY" "${@:2}"; }
# says WORDS...: the last output holds this line or part of a line; says_not: no line does.
says() { grep -qF -- "$*" "$RUN/out" || fail "no \"$*\" in: $(<"$RUN/out")"; }
says_not() { ! grep -qF -- "$*" "$RUN/out" || fail "\"$*\" in: $(<"$RUN/out")"; }
# row WORDS...: a line of just these words
row() { awk '{ $1 = $1 } 1' "$RUN/out" | grep -qxF -- "$*" || fail "no line \"$*\" in: $(<"$RUN/out")"; }
# see STATUS COMMAND...: output to $RUN/out
see() {
	local want=$1 got=0
	shift
	"$@" >"$RUN/out" 2>&1 || got=$?
	expect "$want" "$got" "exit status of $*: $(<"$RUN/out")"
}
# json EXPRESSION: of the last output, as d
json() { /usr/bin/python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$RUN/out" "$1"; }
ours() { on_head slurm-ec2 "$@"; }

head_up

step "before anything is applied each says so"
see 1 ours limits
says "slurm-ec2 apply"
see 1 ours plan resume queue1-dy-t2micro-1
says "slurm-ec2 apply"
see 1 ours events
says "there is no state file"

cluster() {
	quickstart
	cat <<-'END'
		  - Name: queue2
		    Networking:
		      SubnetIds: [subnet-0fedcba9876543210, subnet-0aaaaaaaaaaaaaaa1]
		    ComputeResources:
		    - Name: more
		      Instances: [{InstanceType: c5.large}, {InstanceType: c6i.large}]
		      MaxCount: 1100
		  - Name: queue3
		    CapacityType: SPOT
		    Networking:
		      SubnetIds: [subnet-0fedcba9876543210]
		    ComputeResources:
		    - Name: big
		      InstanceType: p4d.24xlarge
		      MaxCount: 4
		  - Name: queue4
		    Networking:
		      SubnetIds: [subnet-0bbbbbbbbbbbbbbb1]
		    ComputeResources:
		    - Name: held
		      InstanceType: c5.xlarge
		      MaxCount: 3
		      CapacityReservationTarget:
		        CapacityReservationId: cr-0123456789abcdef0
		    - Name: small
		      InstanceType: c5.large
		      MaxCount: 12
	END
}
# reservation STATE TOTAL
reservation() {
	control "{\"reservation\": {\"cr-0123456789abcdef0\": {\"type\": \"c5.xlarge\", \"zone\": \"ap-northeast-1a\", \"total\": $2, \"state\": \"$1\"}}}"
}
reservation active 3 >/dev/null
cluster | apply_cluster

step "limits: a subnet and EC2's launch rate are below MaxCount from the start"
see 0 ours limits
row queue1 t2micro t2.micro on-demand 10 10 1000000 14 0 65531 - at once 0 of 1
row queue2 more 2 types on-demand 1100 2200 1000000 14 0 131062 - 50 s 0 of 4
row else m5.large on-demand 1100 2200 1000000 14 0 131062 - 50 s 0 of 2
row queue3 big p4d.24xlarge spot 4 384 1000000 0 0 65531 - at once 0 of 1
row queue4 held c5.xlarge reserved 3 12 - - 0 11 3 of 3 at once 0 of 1
says "queue4/small: subnet-0bbbbbbbbbbbbbbb1 has room for 11 machines of this cluster (11 free addresses), MaxCount is 12; name another subnet"
says "all 2 compute resources that have subnet subnet-0bbbbbbbbbbbbbbb1 alone have 15 machines at MaxCount"
says "ap-northeast-1: all 1129 machines at once take about 65 s to launch: EC2 takes 1000 at once, then 2 a second"
says_not "vCPU quota L-"
says_not "cr-0123456789abcdef0 has"

step "B27: quotas below MaxCount are told, also one that only all together meet; machines of others and unused reservations count"
control '{"quota": {"on-demand": 2217, "spot": 100}}' >/dev/null
reservation active 2 >/dev/null
see 0 ours limits
row queue2 more 2 types on-demand 1100 2200 2217 10 0 131062 - 50 s 0 of 4
says "queue3/big: the vCPU quota L-7212CCBC (All P4, P3 and P2 Spot Instance Requests) in ap-northeast-1 is 100, with 0 in use by others: room for 1 machine, MaxCount is 4; ask AWS"
says "all 3 compute resources of the vCPU quota L-1216C47A (Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances) in ap-northeast-1 together need 2234 vCPUs at MaxCount; the quota is 2217, with 10 in use by others; ask AWS"
says_not "queue2/more: the vCPU quota"
says "queue4/held: capacity reservation cr-0123456789abcdef0 has 2 machines (2 free), MaxCount is 3"
control '{"quota": {"on-demand": 17}}' >/dev/null
reservation scheduled 2 >/dev/null
see 0 ours limits --json
expect "[15, 7, 7, 1, None, 7] [] scheduled" "$(json '[r.get("quota_machines") for r in d["resources"]], d["away"], d["resources"][4]["reservation_state"]' |
	sed "s/[()']//g; s/\], /] /g")" "machines the quotas have room for"
expect 1 "$(json 'sum("cr-0123456789abcdef0 is scheduled, so it gives no machine" in w for w in d["warnings"])')" "sentence on the reservation"

step "what may not be read is said with what it needs; the rest is shown"
see 1 as_key $barred slurm-ec2 limits
row 'queue1 t2micro t2.micro on-demand 10 10 ? 2 0 ? - at once 0 of 1'
says "subnets in ap-northeast-1: not allowed; ec2:DescribeSubnets is needed, see slurm-ec2 policy --for apply: "
says "vCPU quotas in ap-northeast-1: not allowed; servicequotas:ListServiceQuotas is needed, see slurm-ec2 policy --for apply: "
says_not "subnet-0bbbbbbbbbbbbbbb1"
see 1 as_key $barred slurm-ec2 limits --json
expect "[('subnets', True), ('quotas', True)]" "$(json '[(a["source"], a["denied"]) for a in d["away"]]')" "sources not allowed"
see 0 as_key $open slurm-ec2 limits # slurm-ec2 policy's own list is enough
see 1 as_alice slurm-ec2 limits
row 'queue4 held c5.xlarge reserved 3 ? - - ? ? ? at once 0 of 1'
says "running instances in ap-northeast-1: not known: DescribeInstances: NoCredentials: "
see 2 ours limits x
see 2 ours limits --jsom

step "a refused launch: events keep EC2's own words"
control '{"quota": {"on-demand": -1, "spot": -1}, "capacity": [{"type": "c5.large", "zone": "ap-northeast-1a", "left": 0}, {"type": "t2.micro", "left": 1}]}' >/dev/null
reservation active 3 >/dev/null
on_head systemctl start slurm-ec2-clustermgtd
no_events() { ours events | grep -qx "no events"; }
wait_for 120 "the daemon has made the state file" no_events
first=$(submit $'#!/bin/bash\nhostname' --nodes=2 --partition=queue1)
second=$(submit $'#!/bin/bash\nhostname' --partition=queue2)
has_event() { ours events --type "$1" --node "$2" | grep -q "$1"; }
wait_for 120 "the first job's nodes fail" has_event nodes-failed queue1-dy-t2micro-1
wait_for 120 "the second job's node has a machine" has_event bind queue2-dy-more-1
on_head scancel "$first"
see 0 ours events --type launch-refused --node queue1-dy-t2micro-2
grep -qE "^[0-9T:-]+Z  launch-refused  queue1-dy-t2micro-\[1-2\]: launch l-[0-9a-f]+, stage 0, jobs $first: 2 machines for queue1/t2micro: InsufficientInstanceCapacity: We currently do not have sufficient t2.micro capacity in the Availability Zone you requested \(ap-northeast-1a\)\. \(request [0-9a-f-]+\)$" \
	"$RUN/out" || fail "$(<"$RUN/out")"
expect 1 "$(wc -l <"$RUN/out")" "events of that type and node"
see 0 ours events --instance "$(cloud id)"
grep -qE "^[0-9T:-]+Z  bind  queue2-dy-more-1 i-[0-9a-f]+: launch l-[0-9a-f]+, c5.large ap-northeast-1c$" "$RUN/out" || fail "$(<"$RUN/out")"
see 0 ours events --node queue2-dy-more-1 --json
expect "['bind', 'launch', 'launch-refused'] queue2-dy-more-1" "$(json 'sorted(v["type"] for v in d), d[0]["node"]' | sed "s/^(//; s/)$//; s/\], '\(.*\)'/] \1/")" "events of the second job's node"
see 0 ours events -n 1
expect 1 "$(wc -l <"$RUN/out")" "newest event"
see 0 ours events --since 1h
says "launch-refused"
see 0 ours events --since 9223372036854775807
says "launch-refused"
see 0 ours events --since 2100-01-01
says "no events"
see 0 ours events --node queue1-dy-t2micro-99
says "no events"
see 2 ours events --since yesterday
says "--since yesterday: 90s, 2h, 2026-11-30 or 2026-11-30T16:50:00Z is expected"
see 2 ours events -n -1
see 2 ours events x
see 1 as_alice slurm-ec2 events
says "you may not read the state file /var/lib/slurm-ec2/state.db: run this as root or as SlurmUser (slurm)"

step "plan: what is closed, what would be asked instead, what is left alone, what would fail"
see 0 ours limits
row queue1 t2micro t2.micro on-demand 10 10 1000000 14 0 65530 - at once 1 of 1
grep -qE "^queue2/more: EC2 gave no c5.large in ap-northeast-1a \(InsufficientInstanceCapacity\), asked again in [0-9]+ s$" "$RUN/out" || fail "$(<"$RUN/out")"
see 1 ours plan resume 'queue1-dy-t2micro-1,queue9-dy-x-1'
says 'slurm-ec2 plan: queue9-dy-x-1: not in the applied cluster; `slurm-ec2 status` shows its queues and resources'
see 1 ours plan resume ''
see 0 ours plan resume 'queue1-dy-t2micro-[1-3],queue2-dy-more-[1-3]'
says_not 'resume would refuse'
grep -qE "^short   t2.micro in ap-northeast-1a, on-demand \(InsufficientInstanceCapacity\): not asked again for [0-9]+ s$" "$RUN/out" || fail "$(<"$RUN/out")"
row "call 1 CreateFleet for queue2/more: 2 machines, at least 1"
row "nodes queue2-dy-more-[2-3]"
row "from on-demand: c5.large in ap-northeast-1c (subnet-0aaaaaaaaaaaaaaa1), c6i.large in ap-northeast-1a (subnet-0fedcba9876543210), c6i.large in ap-northeast-1c (subnet-0aaaaaaaaaaaaaaa1)"
row "else on-demand: m5.large in subnet-0fedcba9876543210, subnet-0aaaaaaaaaaaaaaa1"
row "left alone (machine or launch under way): queue2-dy-more-1"
row "would fail (InsufficientInstanceCapacity): queue1-dy-t2micro-[1-3]"
says_not "call 2"
see 0 ours plan resume queue3-dy-big-1
row "from spot: p4d.24xlarge in ap-northeast-1a (subnet-0fedcba9876543210)"
says_not "short "
see 0 ours plan resume --json 'queue2-dy-more-1,queue1-dy-t2micro-1'
expect "[] ['queue2-dy-more-1'] [('queue1-dy-t2micro-1', 'InsufficientInstanceCapacity')] ['closed', 'closed']" "$(json \
	'"%s %s %s %s" % (d["calls"], d["left_alone"], [(f["node"], f["code"]) for f in d["failed"]], [s["state"] for s in d["short"]])')" "plan as JSON"
see 1 ours plan resume 'queue2-dy-more-['
says 'slurm-ec2 plan: node list of the argument: host list part "queue2-dy-more-[": "[" without "]"'
see 1 ours plan resume queue2-dy-more-1 --resume-file /root/absent
says "/root/absent"
see 2 ours plan resume
see 2 ours plan suspend queue2-dy-more-1

step "plan: two jobs of a resume file, and after the time one probe, for the smaller"
cat >"$RUN/jobs.json" <<-'END'
	{"all_nodes": "queue1-dy-t2micro-[4-6]", "jobs": [{"job_id": 101, "nodes": "queue1-dy-t2micro-[4-5]"}, {"job_id": 102, "nodes": "queue1-dy-t2micro-6"}]}
END
put "$RUN/jobs.json" /root/jobs.json
plan_jobs() { ours plan resume --resume-file /root/jobs.json 'queue1-dy-t2micro-[4-6]' 2>"$RUN/err"; }
probes() { plan_jobs | grep -q 'a probe is due'; }
launches=$(calls RunInstances)
wait_for 120 "a probe is due" probes
plan_jobs >"$RUN/out"
row "call 1 RunInstances for queue1/t2micro: 1 machine, at least 1, a probe: EC2 was short there"
grep -A2 '^call 1 ' "$RUN/out" >"$RUN/first"
mv "$RUN/first" "$RUN/out"
row "nodes queue1-dy-t2micro-6"
row "jobs 102"
grep -q "priorities of the jobs are not known" "$RUN/err" || fail "nothing said on priorities: $(<"$RUN/err")"
expect "$launches" "$(calls RunInstances)" "launches by plan"
