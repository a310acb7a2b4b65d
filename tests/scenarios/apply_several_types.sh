# shellcheck shell=bash disable=SC2016
# SPDX-License-Identifier: GPL-2.0-or-later
# slurm-ec2 apply with several types, zones and markets, reservations, a fallback, a queue of another region, overrides: what is applied, and
# what is refused with its place.

EC2LOCAL_ARGS="--boot=none --subnet subnet-0aaaaaaaaaaaaaaa1:ap-northeast-1c"

settings() { { write_settings && cat; } | on_head sh -c 'cat >/etc/slurm-ec2/settings.yaml'; }
# several [SED...]: the example with subnets of two zones.
several() {
	local words=(-e 's/Region: us-east-1/Region: ap-northeast-1/' -e 's/t3.medium/t2.micro/' -e 's/0fedcba9876543211/0aaaaaaaaaaaaaaa1/') word
	for word in "$@"; do words+=(-e "$word"); done
	sed "${words[@]}" "$TOP/examples/several-types.yaml"
}
applied() { on_head sh -c 'cat /var/lib/slurm-ec2/applied/current/generation.json' | /usr/bin/python3 -c "import json,sys; g = json.load(sys.stdin); print($1)"; }
# refused WORD: the cluster on stdin is refused for it.
refused() {
	if apply_cluster >"$RUN/out" 2>&1; then fail "not refused: $(<"$RUN/out")"; fi
	grep -qF -- "$1" "$RUN/out" || fail "\"$1\" is not in: $(<"$RUN/out")"
}

head_up

step "three types in two zones: no type, subnet or market in the template"
several | apply_cluster
expect False "$(applied 'g["resources"][0]["single"]')" "single"
expect "price-capacity-optimized 3 2" \
	"$(applied 'g["resources"][0]["allocation_strategy"], len(g["resources"][0]["stages"][0]["instance_types"]), len(g["resources"][0]["stages"][0]["zones"])')" "stage"
expect "ap-northeast-1a ap-northeast-1c 0.09" "$(applied '*g["resources"][0]["stages"][0]["zones"], g["resources"][0]["stages"][0]["max_price"]')" "zones and price"
expect "CPUs=2 RealMemory=3891 Feature=dynamic,two-cpus" \
	"$(on_head sed -n 's/^NodeName=spot-dy-two-cpus.* \(CPUs=[0-9]*\) \(RealMemory=[0-9]*\) .* \(Feature=[^ ]*\) .*/\1 \2 \3/p' /etc/slurm/slurm-ec2.conf)" "the node line"
template=$(ec2 describe-launch-template-versions --launch-template-name demo/spot/two-cpus --query 'LaunchTemplateVersions[0].LaunchTemplateData')
for word in '"InstanceType"' SubnetId InstanceMarketOptions; do
	if grep -q "$word" <<<"$template"; then fail "$word is in the template: $template"; fi
done
grep -q '"InstanceMetadataTags": "enabled"' <<<"$template" || fail "no tags in the metadata: $template"

step "B29: two subnets of one zone are refused, with both ids"
several 's/0aaaaaaaaaaaaaaa1/0123456789abcdef0/' | refused \
	'queue spot: subnets subnet-0fedcba9876543210 and subnet-0123456789abcdef0 are both in zone ap-northeast-1a; give one subnet a zone'
grep -q '^/root/cluster.yaml:[0-9]*:[0-9]*: error: ' "$RUN/out" || fail "no place: $(<"$RUN/out")"

step "types that do not agree are refused with their place"
several 's/m5.large/m5.xlarge/' | refused 'c5.large has 2 CPUs but m5.xlarge has 4'

step "a fallback becomes further stages; its types count for the node, its faults have places in settings.yaml"
settings <<'END'
Fallback:
- {Queue: spot, ComputeResource: two-cpus, TimeLimit: 20s, Then: [{CapacityType: ONDEMAND, InstanceTypes: [t3.micro], SubnetIds: [subnet-0fedcba9876543210]}]}
END
several | apply_cluster
expect "SPOT 20 ONDEMAND t3.micro ap-northeast-1a" \
	"$(applied '*[x for s in g["resources"][0]["stages"] for x in ([s["capacity"], s["time_limit_s"]] if s["time_limit_s"] else [s["capacity"], s["instance_types"][0], s["zones"][0]])]')" "stages"
expect 972 "$(applied 'g["resources"][0]["real_memory_mib"]')" "RealMemory of the smallest type"
settings <<'END'
Fallback:
- {Queue: spot, ComputeResource: two-cpus, Then: [{SubnetIds: [subnet-0bbbbbbbbbbbbbbb1]}]}
- {Queue: spot, ComputeResource: three-cpus, Then: [{CapacityType: ONDEMAND}]}
END
several | refused 'queue spot: EC2 has no subnet subnet-0bbbbbbbbbbbbbbb1 in ap-northeast-1'
grep -qF '/etc/slurm-ec2/settings.yaml:8:51: error: ' "$RUN/out" || fail "no place: $(<"$RUN/out")"
grep -qF '/etc/slurm-ec2/settings.yaml:9:3: error: Fallback: queue spot of /root/cluster.yaml has no compute resource three-cpus' "$RUN/out" ||
	fail "$(<"$RUN/out")"
if on_head slurm-ec2 check /root/cluster.yaml >"$RUN/out"; then fail "check does not see it: $(<"$RUN/out")"; fi
grep -qF 'no compute resource three-cpus' "$RUN/out" || fail "$(<"$RUN/out")"

step "the type of a reservation; its market and id are in the generation"
settings </dev/null
control '{"reservation": {"cr-0aaaaaaaaaaaaaaa1": {"type": "c5.large", "zone": "ap-northeast-1a", "total": 5}}}' >/dev/null
reserved='s/InstanceType: t2.micro$/CapacityReservationTarget: {CapacityReservationId: cr-0aaaaaaaaaaaaaaa1}/'
quickstart "/ComputeResources/,\$$reserved" | apply_cluster
expect "True c5.large reserved:cr-0aaaaaaaaaaaaaaa1 cr-0aaaaaaaaaaaaaaa1" \
	"$(applied 'g["resources"][0]["single"], g["resources"][0]["instance_types"][0], g["resources"][0]["reserved"], g["resources"][0]["reservation_id"]')" "the reservation"
on_head slurm-ec2 render /root/cluster.yaml --out /root/rendered
on_head grep -q '^NodeName=queue1-dy-t2micro.*CPUs=2 .*,c5.large,' /root/rendered/slurm-ec2.conf || fail "render does not ask for it"
quickstart "/ComputeResources/,\$$reserved" 's/aaaaaaaa1}/aaaaaaaa2}/' | refused 'EC2 has no capacity reservation cr-0aaaaaaaaaaaaaaa2'

step "overrides: members of ours replaced, faults named with file and way"
printf '{"queue1": {"t2micro": {"Monitoring": {"Enabled": true}}}}' | on_head sh -c 'cat >/etc/slurm-ec2/run.json'
settings <<<'RunInstancesOverrides: /etc/slurm-ec2/run.json'
quickstart | apply_cluster
expect "Monitoring.Enabled true" "$(applied '*list(g["resources"][0]["overrides"].items())[0]')" "overrides"
printf '{"queue1": {"t2micro": {"MaxCount": 1, "Foo": 2}}, "queue7": {"a": {}}}' | on_head sh -c 'cat >/etc/slurm-ec2/run.json'
quickstart | refused '/etc/slurm-ec2/run.json: error: queue1.t2micro: RunInstances.MaxCount cannot be overridden'
grep -qF '/etc/slurm-ec2/run.json: error: queue1.t2micro: RunInstances.Foo' "$RUN/out" || fail "not every fault: $(<"$RUN/out")"
if on_head slurm-ec2 check /root/cluster.yaml >"$RUN/out"; then fail "check does not see it: $(<"$RUN/out")"; fi
grep -qF '/etc/slurm-ec2/run.json: error: queue1.t2micro: RunInstances.Foo' "$RUN/out" || fail "$(<"$RUN/out")"
grep -qF '/etc/slurm-ec2/run.json: warning: queue7.a: ' "$RUN/out" || fail "$(<"$RUN/out")"
on_head rm /etc/slurm-ec2/run.json
quickstart | refused '/etc/slurm-ec2/run.json'

step "a queue of another region has a connection, subnets, images, templates and placement groups of its own"
on_head setsid sh -c "exec $LIBEXEC/ec2local --boot=none --listen 127.0.0.1:8001 --region eu-west-1 --key $ACCESS_KEY:$SECRET_KEY \
	--subnet subnet-0eeeeeeeeeeeeeee1:eu-west-1b --image ami-0eeeeeeeeeeeeeee1:$(slurmctld -V | sed 's/.* //')" </dev/null >"$RUN/far.log" 2>&1 &
wait_for 120 "the other region answers" on_head curl -sS -o /dev/null http://127.0.0.1:8001/
write_settings | sed '/ImageId/d' | on_head sh -c 'cat >/etc/slurm-ec2/settings.yaml'
on_head sh -c 'cat >>/etc/slurm-ec2/settings.yaml' <<<'Queues: [{Name: queue1, Region: eu-west-1, Ec2Endpoint: "http://127.0.0.1:8001"}]'
quickstart 's/subnet-0fedcba9876543210/subnet-0eeeeeeeeeeeeeee1/' '$a\      PlacementGroup: {Enabled: true}' 's/t2.micro$/c5.large/' | apply_cluster
expect "1 eu-west-1 eu-west-1b" "$(applied 'g["resources"][0]["cloud"], g["clouds"][0]["region"], g["resources"][0]["stages"][0]["zones"][0]')" "the cloud"
expect 0 "$(ec2 describe-launch-templates --query 'length(LaunchTemplates)')" "templates of the cluster's region"
far() { REGION=eu-west-1 ec2 "$@" --endpoint-url http://127.0.0.1:8001; }
expect 1 "$(far describe-launch-templates --query 'length(LaunchTemplates)')" "templates of the other"
expect ami-0eeeeeeeeeeeeeee1 "$(far describe-launch-template-versions --launch-template-name demo/queue1/t2micro \
	--query 'LaunchTemplateVersions[0].LaunchTemplateData.ImageId' --output text)" "its image"
expect 1 "$(far describe-placement-groups --query 'length(PlacementGroups)')" "placement groups of the other"

step "machines there keep their region in the cluster"
machine=$(far run-instances --launch-template LaunchTemplateName=demo/queue1/t2micro --count 1 --query 'Instances[0].InstanceId' --output text)
settings </dev/null
quickstart | refused '1 machine of this cluster lives in eu-west-1, where no queue would be any more'
far terminate-instances --instance-ids "$machine" >/dev/null
far wait instance-terminated --instance-ids "$machine"

step "back home: what was made there goes, though a placement group of the same name is in use here"
quickstart '$a\      PlacementGroup: {Enabled: true}' 's/t2.micro$/c5.large/' | apply_cluster
expect 1 "$(ec2 describe-placement-groups --query 'length(PlacementGroups)')" "placement groups of the cluster's region"
expect 1 "$(ec2 describe-launch-templates --query 'length(LaunchTemplates)')" "templates of the cluster's region"
expect 0 "$(far describe-launch-templates --query 'length(LaunchTemplates)')" "templates of the other"
expect 0 "$(far describe-placement-groups --query 'length(PlacementGroups)')" "placement groups of the other"

step "uninstall looks into every region"
on_head sh -c 'cat >>/etc/slurm-ec2/settings.yaml' <<<'Queues: [{Name: queue1, Region: eu-west-1, Ec2Endpoint: "http://127.0.0.1:8001"}]'
on_head sed -i '/^ImageId/d' /etc/slurm-ec2/settings.yaml
quickstart 's/subnet-0fedcba9876543210/subnet-0eeeeeeeeeeeeeee1/' | apply_cluster
expect 1 "$(far describe-launch-templates --query 'length(LaunchTemplates)')" "templates of the other"
on_head slurm-ec2 uninstall --yes
expect 0 "$(far describe-launch-templates --query 'length(LaunchTemplates)')" "templates of the other"
