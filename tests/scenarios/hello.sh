# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole path: an ordinary user's batch job wakes a node that does not exist; the output is in his file.

up <<<"$(quickstart)"
expect "idle~ 10" "$(on_head sinfo --noheader --format='%t %D')" "before"

step "submit"
put "$TOP/examples/hellojob.sh" /home/alice/hellojob.sh
job=$(as_alice sbatch --parsable hellojob.sh)
wait_for 20 "the job waits for its node" job_is "$job" CONFIGURING
wait_for 90 "the job is over" job_is "$job" COMPLETED
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
