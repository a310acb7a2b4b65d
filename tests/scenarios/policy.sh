# shellcheck shell=bash disable=SC2016
# SPDX-License-Identifier: GPL-2.0-or-later
# With no more than what `slurm-ec2 policy` prints: apply, a launch, a termination and uninstall work; and nothing of others can be touched.

DAEMON_KEY=AKIDDAEMONS0000000000 DAEMON_SECRET=daemonsecretdaemonsecretdaemonsecretdaem
ROOT_KEY=AKIDAPPLY00000000000 ROOT_SECRET=applysecretapplysecretapplysecretapplyse
EC2LOCAL_ARGS="--boot=none --key $DAEMON_KEY:$DAEMON_SECRET --key $ROOT_KEY:$ROOT_SECRET"
EC2LOCAL_ARGS+=" --policy $DAEMON_KEY=/etc/slurm-ec2/daemons.json --policy $ROOT_KEY=/etc/slurm-ec2/apply.json"

slurm_ec2=$STAGE/opt/slurm-ec2/bin/slurm-ec2
keys() { printf '[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n' "$1" "$2"; }
# The programs that slurmctld starts have the daemons' key; root has one for apply in its own environment.
write_credentials() {
	keys "$DAEMON_KEY" "$DAEMON_SECRET"
	"$slurm_ec2" policy --for daemons --cluster-name demo >"$RUN/head/root/etc/slurm-ec2/daemons.json"
	"$slurm_ec2" policy --for apply --cluster-name demo >"$RUN/head/root/etc/slurm-ec2/apply.json"
}
as_root() { on_head env "AWS_ACCESS_KEY_ID=$ROOT_KEY" "AWS_SECRET_ACCESS_KEY=$ROOT_SECRET" "$@"; }
# Whoever made this account may do all.
aws_all() { on_head env "AWS_ACCESS_KEY_ID=$ACCESS_KEY" "AWS_SECRET_ACCESS_KEY=$SECRET_KEY" AWS_DEFAULT_REGION=ap-northeast-1 AWS_PAGER= \
	/usr/bin/aws --endpoint-url http://127.0.0.1:8000 ec2 "$@"; }
aws_daemon() { on_head env "AWS_ACCESS_KEY_ID=$DAEMON_KEY" "AWS_SECRET_ACCESS_KEY=$DAEMON_SECRET" AWS_DEFAULT_REGION=ap-northeast-1 AWS_PAGER= \
	/usr/bin/aws --endpoint-url http://127.0.0.1:8000 ec2 "$@"; }

head_up
quickstart >"$RUN/cluster.yaml"
put "$RUN/cluster.yaml" /root/cluster.yaml

step "apply with apply's policy, launches with the daemons'"
as_root slurm-ec2 apply /root/cluster.yaml
on_head systemctl start slurm-ec2-clustermgtd
wait_for 20 "clustermgtd has looked round" sh -c "nsenter --target $HEAD_PID --all /opt/slurm-ec2/bin/slurm-ec2 status | grep -q 'loop .* s ago'"
on_head scontrol update nodename=queue1-dy-t2micro-1 state=power_up
ours() { aws_all describe-instances --filters Name=tag:slurm-ec2:cluster,Values='*' Name=instance-state-name,Values=pending,running \
	--query 'length(Reservations[].Instances[])' --output text; }
ours_are() { [ "$(ours)" = "$1" ]; }
wait_for 30 "a machine" ours_are 1

step "the daemons cannot touch what is not theirs, nor launch without our tags"
id=$(aws_all run-instances --image-id "$IMAGE_ID" --instance-type t2.micro --subnet-id subnet-0fedcba9876543210 \
	--query 'Instances[0].InstanceId' --output text)
if aws_daemon terminate-instances --instance-ids "$id" >"$RUN/out" 2>&1; then fail "a foreign machine was terminated"; fi
grep -q UnauthorizedOperation "$RUN/out" || fail "another refusal: $(<"$RUN/out")"
if aws_daemon run-instances --image-id "$IMAGE_ID" --instance-type t2.micro --subnet-id subnet-0fedcba9876543210 >"$RUN/out" 2>&1; then
	fail "a machine without our tags was launched"
fi
grep -q UnauthorizedOperation "$RUN/out" || fail "another refusal: $(<"$RUN/out")"

step "the daemons' policy cannot make templates, so apply with it is refused and says where to look"
quickstart 's/Name: queue1/Name: queue2/' >"$RUN/cluster.yaml"
put "$RUN/cluster.yaml" /root/other.yaml
if on_head slurm-ec2 apply /root/other.yaml >"$RUN/out" 2>&1; then fail "applied with the daemons' policy"; fi
grep -q UnauthorizedOperation "$RUN/out" && grep -q 'slurm-ec2 policy' "$RUN/out" || fail "another refusal: $(<"$RUN/out")"

step "power down, uninstall"
on_head scontrol update nodename=queue1-dy-t2micro-1 state=power_down_force
wait_for 30 "no machine" ours_are 0
on_head systemctl stop slurm-ec2-clustermgtd
as_root slurm-ec2 uninstall --yes
