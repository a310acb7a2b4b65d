# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# Machines of one compute resource hang while they boot. Slurm gives each up after ResumeTimeout, as DOWN+CLOUD+POWERED_DOWN; after two of
# them the resource is protected: its powered-down nodes are DOWN with a reason, no further machine is launched, and the queue's other
# resource goes on. What a machine printed last is kept.

LOOP_TIME=5
more_head_files() { echo 'ProtectedFailureCount: 2' >>"$RUN/head/root/etc/slurm-ec2/settings.yaml"; }
bad=queue1-dy-bad good=queue1-dy-t2micro
# shellcheck disable=SC2016 # the image's shell expands it
hang='[ "$(fetch -H "X-aws-ec2-metadata-token: $token" "$metadata/meta-data/instance-type")" != c5.large ] || { say "mount of /shared FAILED"; exec sleep infinity; }'

up <<<"$(quickstart 's/^    Networking:/    - {Name: bad, InstanceType: c5.large, MinCount: 0, MaxCount: 5}\n    Networking:/' \
	'$aDevSettings: {Timeouts: {ComputeNodeBootstrapTimeout: 60}}')"
boot=$RUN/image/local/sbin/ec2local-boot
line=$(grep -n '^token=' "$boot" | cut -d: -f1)
sed -i "${line}r /dev/stdin" "$boot" <<<"$hang"

step "two machines hang, beside one that works"
submit $'#!/bin/bash\nhostname' --nodelist="$bad-[1-2]" --nodes=2 >"$RUN/job"
wait_for 120 "their machines are launched" instance_count_is 2
bad_ids=$(cloud id | sort)
job=$(submit $'#!/bin/bash\nhostname' --nodelist="$good-1" --output=good.out)
wait_for 240 "the job on the other resource is over" job_is "$job" COMPLETED
expect "$good-1" "$(as_alice cat good.out)" "its output"

step "the resource is protected"
protected() { [[ $(node_reason "$1") == "(Code:BootFailures)Machines of this compute resource do not come up"* ]] && node_short_is "$1" 'down~'; }
all_protected() {
	local i
	for i in 1 2 3 4 5; do protected "$bad-$i" || return; done
}
wait_for 300 "all nodes of the resource are DOWN with the reason" all_protected
expect "$bad_ids" "$(on_head curl -sSf http://127.0.0.1:8000/_control/instances | /usr/bin/python3 -c '
import json, sys
print("\n".join(sorted(i["id"] for i in json.load(sys.stdin) if not i["head"] and i["type"] == "c5.large")))')" "machines that were launched for it"
wait_for 120 "they are ended" [ -z "$(cloud type | grep -x c5.large)" ]
expect PENDING "$(job_state "$(<"$RUN/job")")" "its job"

step "the queue's other resource goes on"
job=$(submit $'#!/bin/bash\nhostname' --output=again.out)
wait_for 300 "a job of the queue runs on it" job_is "$job" COMPLETED
as_alice cat again.out | grep -q "^$good-" || fail "it ran on $(as_alice cat again.out)"

step "what is to be seen of it"
on_head slurm-ec2 events --type boot-failed >"$RUN/events.txt"
for id in $bad_ids; do grep -q "$id" "$RUN/events.txt" || fail "no event of $id: $(<"$RUN/events.txt")"; done
on_head slurm-ec2 status >"$RUN/status.txt"
grep -qi 'protected' "$RUN/status.txt" || fail "status: $(<"$RUN/status.txt")"
on_head sh -c 'cd /var/log/slurm-ec2/console && ls -l && tail -n 3 *' >"$RUN/console.txt"
grep -q "^-rw-r----- .*slurm .*$bad-[12]\.i-[0-9a-f]*\.log\$" "$RUN/console.txt" || fail "the console's file: $(<"$RUN/console.txt")"
grep -q 'mount of /shared FAILED' "$RUN/console.txt" || fail "the console's file: $(<"$RUN/console.txt")"
on_head slurm-ec2 events --type boot-console | grep -q '/var/log/slurm-ec2/console/.*: .*mount of /shared FAILED' ||
	fail "no event names the file and the step that failed"

step "nodes that were protected meanwhile are not launched by a job that names one"
job=$(submit $'#!/bin/bash\nhostname' --nodelist="$bad-4")
expect PENDING "$(job_state "$job")" "the job"
