# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Machines of a CreateFleet get no user data of their launch: they learn it from their tags. And the policy that `slurm-ec2 policy` prints is
# enough for that, and no wider.

daemons=AKIDDAEMONS person=AKIDPERSON
for key in $daemons $person; do
	EC2LOCAL_ARGS+=" --key $key:$SECRET_KEY --policy $key=/etc/$key.json"
done
EC2LOCAL_ARGS+=" --subnet subnet-0aaaaaaaaaaaaaaa1:ap-northeast-1c"
write_credentials() { printf '[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n' "$daemons" "$SECRET_KEY"; }
eval "usual_$(declare -f write_ec2local_unit)"
write_ec2local_unit() {
	local program=$STAGE/opt/slurm-ec2/bin/slurm-ec2 etc=$RUN/head/root/etc
	"$program" policy --cluster-name demo --for daemons >"$etc/$daemons.json"
	"$program" policy --cluster-name demo --for apply >"$etc/$person.json"
	usual_write_ec2local_unit
}
as_key() { on_head env "AWS_ACCESS_KEY_ID=$1" "AWS_SECRET_ACCESS_KEY=$SECRET_KEY" "${@:2}"; }
ec2_as() { as_key "$1" AWS_DEFAULT_REGION=ap-northeast-1 AWS_PAGER= /usr/bin/aws --endpoint-url http://127.0.0.1:8000 ec2 "${@:2}"; }
fleet_of() { printf '[{"LaunchTemplateSpecification": {"LaunchTemplateId": "%s", "Version": "1"}, "Overrides": [{"InstanceType": "t2.micro", "SubnetId": "subnet-0fedcba9876543210"}]}]' "$1"; }

head_up
quickstart 's/^      InstanceType: t2.micro/      Instances: [{InstanceType: t2.micro}]/' \
	's/- subnet-0fedcba9876543210/&\n      - subnet-0aaaaaaaaaaaaaaa1/' >"$RUN/cluster.yaml"
put "$RUN/cluster.yaml" /root/cluster.yaml
as_key $person slurm-ec2 apply /root/cluster.yaml
on_head systemctl start slurm-ec2-clustermgtd

step "a job of three nodes: each machine finds its own name"
as_alice srun --nodes=3 hostname | sort >"$RUN/names"
expect "$(printf 'queue1-dy-t2micro-%d\n' 1 2 3)" "$(<"$RUN/names")" "host names"
expect 3 "$(instance_count)" "instances"
expect 1 "$(on_head grep '^Action=CreateFleet&' /var/log/ec2-requests.log | grep -vc DryRun)" "fleets"
! on_head grep -r UnauthorizedOperation /var/log/slurm-ec2 || fail "a program asked for more than the policy allows"

step "a fleet from a template that is not ours is refused"
foreign=$(ec2_as "$ACCESS_KEY" create-launch-template --launch-template-name mine --launch-template-data "ImageId=$IMAGE_ID" \
	--query LaunchTemplate.LaunchTemplateId --output text)
if ec2_as $daemons create-fleet --type instant --launch-template-configs "$(fleet_of "$foreign")" \
	--target-capacity-specification TotalTargetCapacity=1,DefaultTargetCapacityType=on-demand >"$RUN/out" 2>&1; then
	fail "it is allowed: $(<"$RUN/out")"
fi
grep -q UnauthorizedOperation "$RUN/out" || fail "$(<"$RUN/out")"
