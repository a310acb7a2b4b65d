# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole path: an ordinary user's batch job wakes a node that does not exist; the output is in his file.

up <<<"$(quickstart)"
expect "idle~ 10" "$(on_head sinfo --noheader --format='%t %D')" "before"

step "submit"
put "$TOP/examples/hellojob.sh" /home/alice/hellojob.sh
job=$(as_alice sbatch --parsable hellojob.sh)
wait_for 120 "the job waits for its node" job_is "$job" CONFIGURING
wait_for 120 "the job is over" job_is "$job" COMPLETED
expect "Hello World from queue1-dy-t2micro-1" "$(as_alice cat hellojob.out)" "the job's output"
expect alice "$(on_head stat -c %U /home/alice/hellojob.out)" "its owner"
expect 1 "$(instance_count)" "instances"

step "the instance carries the tags by which it is found"
tags=$(ec2 describe-instances --filters Name=instance-state-name,Values=running Name=tag-key,Values=slurm-ec2:cluster \
	--query 'Reservations[].Instances[].Tags[].[Key,Value]' --output text)
for tag in slurm-ec2:launch parallelcluster:cluster-name parallelcluster:queue-name parallelcluster:compute-resource-name; do
	grep -q "^${tag}[[:space:]]" <<<"$tags" || fail "no tag $tag among: $tags"
done

step "the boot script, run once more, harms nothing"
again='T=$(curl -sf -X PUT -H "X-aws-ec2-metadata-token-ttl-seconds: 60" http://169.254.169.254/latest/api/token) &&
	curl -sf -H "X-aws-ec2-metadata-token: $T" http://169.254.169.254/latest/user-data >/root/again && timeout 15 sh /root/again'
inside queue1-dy-t2micro-1 sh -c "$again" >&2 || fail "it did not end well"
expect 1 "$(instance_count)" "instances after the boot script ran again"

step "status is for everybody, but for what lies in SlurmUser's files"
! as_alice slurm-ec2 status >"$RUN/out" || fail "all sources answered alice"
grep -qE '^queue1/t2micro .* 10 +9 ' "$RUN/out" || fail "no nodes: $(<"$RUN/out")"
grep -q '^EC2 *CANNOT BE ASKED: this part needs root or SlurmUser (slurm)' "$RUN/out" || fail "no word about EC2: $(<"$RUN/out")"
grep -q '^our state *CANNOT BE READ: you may not read the state file' "$RUN/out" || fail "no word about the state: $(<"$RUN/out")"
on_head slurm-ec2 status >"$RUN/out" || fail "root: $(<"$RUN/out")"

step "clustermgtd is alone, and says so to who starts another"
! on_head clustermgtd >"$RUN/out" 2>&1 || fail "a second clustermgtd runs"
grep -q '^clustermgtd: .*process [0-9]' "$RUN/out" || fail "the second one says: $(<"$RUN/out")"
on_head clustermgtd --dry-run >"$RUN/out" 2>&1 || fail "dry run: $(<"$RUN/out")"
control '{"api_delay_ms": {"DescribeInstances": 60000}}'
! on_head timeout 40 clustermgtd --dry-run >"$RUN/out" 2>&1 || fail "a dry run that cannot read EC2 is a success"
head -n1 "$RUN/out" | grep -q '^EC2 was not read: .*; nothing that needs it was decided$' || fail "the dry run says: $(<"$RUN/out")"
