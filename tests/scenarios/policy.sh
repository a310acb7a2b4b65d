# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The policy that `slurm-ec2 policy` prints is enough for the whole path and no wider; without RunInstances node and apply say what is missing.

daemons=AKIDDAEMONS barred=AKIDBARRED person=AKIDPERSON
daemon_key=$daemons
for key in $daemons $barred $person; do
	EC2LOCAL_ARGS+=" --key $key:$SECRET_KEY --policy $key=/etc/$key.json"
done
# The daemons' key is in the file that settings.yaml names; the person has his own in the environment.
write_credentials() { printf '[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n' "$daemon_key" "$SECRET_KEY"; }
eval "usual_$(declare -f write_ec2local_unit)"
write_ec2local_unit() {
	local program=$STAGE/opt/slurm-ec2/bin/slurm-ec2 etc=$RUN/head/root/etc
	"$program" policy --cluster-name demo --for daemons >"$etc/$daemons.json"
	"$program" policy --cluster-name demo --for apply >"$etc/$person.json"
	/usr/bin/python3 -c '
import json, sys
policy = json.load(sys.stdin)
policy["Statement"] = [s for s in policy["Statement"] if "ec2:RunInstances" not in s["Action"]]
json.dump(policy, sys.stdout)' <"$etc/$daemons.json" >"$etc/$barred.json"
	usual_write_ec2local_unit
}
as_key() { on_head env "AWS_ACCESS_KEY_ID=$1" "AWS_SECRET_ACCESS_KEY=$SECRET_KEY" "${@:2}"; }
# ec2_as KEY WORDS...: the aws command line with that key.
ec2_as() { as_key "$1" AWS_DEFAULT_REGION=ap-northeast-1 AWS_PAGER= /usr/bin/aws --endpoint-url http://127.0.0.1:8000 ec2 "${@:2}"; }
denied() {
	if ec2_as "$@" >"$RUN/out" 2>&1; then fail "$* is allowed"; fi
	grep -q UnauthorizedOperation "$RUN/out" || fail "$*: $(<"$RUN/out")"
}
apply_as() {
	quickstart >"$RUN/cluster.yaml"
	put "$RUN/cluster.yaml" /root/cluster.yaml
	as_key "$1" slurm-ec2 apply /root/cluster.yaml
}

head_up

step "who may not make templates learns what is missing, and where to find it"
if apply_as $daemons >"$RUN/out" 2>&1; then fail "the daemons' key may apply"; fi
grep -q UnauthorizedOperation "$RUN/out" || fail "no code: $(<"$RUN/out")"
grep -q 'ec2:Describe[A-Za-z]*' "$RUN/out" || fail "no permission named: $(<"$RUN/out")"
grep -q 'slurm-ec2 policy' "$RUN/out" || fail "no remedy named: $(<"$RUN/out")"

step "the whole path with exactly those policies"
apply_as $person
on_head systemctl start slurm-ec2-clustermgtd
expect queue1-dy-t2micro-1 "$(as_alice srun hostname)" "host name"
as_key $person slurm-ec2 status >/dev/null
on_head scontrol update nodename=queue1-dy-t2micro-1 state=power_down
wait_for 120 "no instance is left" instance_count_is 0
wait_for 120 "the node is powered down" node_short_is queue1-dy-t2micro-1 'idle~'
! on_head grep -r UnauthorizedOperation /var/log/slurm-ec2 || fail "a program asked for more than the policy allows"

step "they allow no more: a machine, a template that are not ours"
foreign=$(ec2_as "$ACCESS_KEY" run-instances --image-id "$IMAGE_ID" --instance-type t2.micro --subnet-id subnet-0fedcba9876543210 \
	--query 'Instances[0].InstanceId' --output text)
denied $daemons terminate-instances --instance-ids "$foreign"
denied $daemons run-instances --image-id "$IMAGE_ID" --instance-type t2.micro --subnet-id subnet-0fedcba9876543210
denied $daemons create-launch-template --launch-template-name mine --launch-template-data InstanceType=t2.micro
denied $person create-launch-template --launch-template-name mine --launch-template-data InstanceType=t2.micro
denied $person run-instances --image-id "$IMAGE_ID" --instance-type t2.micro --subnet-id subnet-0fedcba9876543210
denied $person terminate-instances --instance-ids "$foreign"
ec2_as "$ACCESS_KEY" terminate-instances --instance-ids "$foreign" >/dev/null

step "without RunInstances the node says so"
daemon_key=$barred
write_credentials | on_head sh -c 'cat >/etc/slurm-ec2/credentials'
job=$(submit $'#!/bin/bash\nhostname' --output=/dev/null)
has_reason() { on_head sinfo --noheader --list-reasons --format=%E | grep -qF '(Code:UnauthorizedOperation)'; }
wait_for 120 "a node says why" has_reason
expect 0 "$(instance_count)" "instances"
as_alice scancel "$job"

step "and apply names the permission and the command that prints it"
if apply_as $person >"$RUN/out" 2>&1; then fail "applied, though nothing can be launched"; fi
grep -q 'RunInstances' "$RUN/out" || fail "no permission named: $(<"$RUN/out")"
grep -q 'slurm-ec2 policy' "$RUN/out" || fail "no remedy named: $(<"$RUN/out")"

step "uninstall with the person's policy"
on_head systemctl stop slurm-ec2-clustermgtd
as_key $person slurm-ec2 uninstall --yes
expect 0 "$(ec2_as "$ACCESS_KEY" describe-launch-templates --query 'length(LaunchTemplates)')" "launch templates"
