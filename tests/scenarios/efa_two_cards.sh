# shellcheck shell=bash disable=SC2016,SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# EFA on a type with two network cards: an ordinary primary interface, efa-only on both cards. The scenario's requests are held against
# botocore's model afterwards, as in each scenario.

EC2LOCAL_ARGS="--boot=none"
interfaces() {
	ec2 describe-launch-template-versions --launch-template-name "demo/queue1/$1" --query \
		'LaunchTemplateVersions[0].LaunchTemplateData.NetworkInterfaces[].[NetworkCardIndex, DeviceIndex, InterfaceType, SubnetId, Groups[0]]' --output text
}

head_up
quickstart 's/t2.micro$/hpc7a.96xlarge/' 's/t2micro/two/' '$a\      PlacementGroup: {Enabled: true}' \
	's/^      MaxCount: 10/&\n      Efa: {Enabled: true}/' | apply_cluster

step "the interfaces of the launch template"
interfaces two | tr '\t' ' ' >"$RUN/interfaces"
expect "0 0 None
0 1 efa-only
1 0 efa-only" "$(cut -d' ' -f1-3 "$RUN/interfaces" | sed 's/interface$/None/')" "card, device and kind of each interface"
expect "subnet-0fedcba9876543210 sg-0ec2000000000001a" "$(cut -d' ' -f4- "$RUN/interfaces" | sort -u)" "subnets and security groups"
expect None "$(ec2 describe-launch-template-versions --launch-template-name demo/queue1/two \
	--query 'LaunchTemplateVersions[0].LaunchTemplateData.SecurityGroupIds' --output text)" "security groups beside the interfaces"

step "a launch from it"
on_head systemctl start slurm-ec2-clustermgtd
on_head scontrol update nodename=queue1-dy-two-1 state=power_up
wait_for 120 "a machine is there" instance_count_is 1
expect "1,1" "$(launches)" "launches (least, most)"
expect 3 "$(ec2 describe-instances --filters Name=instance-type,Values=hpc7a.96xlarge \
	--query 'length(Reservations[0].Instances[0].NetworkInterfaces)')" "interfaces of the machine"
[ "$(cloud placement_group)" != None ] || fail "it is in no placement group"
