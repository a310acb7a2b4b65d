# shellcheck shell=bash disable=SC2016
# SPDX-License-Identifier: GPL-2.0-or-later
# slurm-ec2 apply beside a site's own nodes: what it refuses, that a refusal changes nothing, and that a failed restart is undone.

EC2LOCAL_ARGS="--boot=none --group sg-0ec2000000000002b:shut:closed --image ami-0fffffffffffffff0:23.02.1"
EC2LOCAL_ARGS+=" --image ami-0eeeeeeeeeeeeeee0:22.05.8:arm64 --image ami-0ddddddddddddddd0"

# A file of the site that only root may read must not stop apply.
site_slurm_conf() {
	install -m 600 /dev/null "$RUN/head/root/etc/slurm/slurmdbd.conf"
	cat <<'END'
SlurmctldParameters=enable_configless # ours
PrivateData=jobs
NodeName=phys1 NodeAddr=10.77.9.9 CPUs=4 RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=phys1 Default=YES State=UP
END
}

# The copies for a person (*.slurm-ec2-old) are of the last change that was tried, so they count for nothing here.
sums() { on_head sh -c 'cd /etc/slurm && sha256sum $(ls | grep -v slurm-ec2-old); cat /var/lib/slurm-ec2/applied/current/generation.json 2>/dev/null; true'; }
settings() { write_settings | sed -e "${1-}" | on_head sh -c 'cat >/etc/slurm-ec2/settings.yaml'; }
# refused WORD [SED...]: apply must fail, name WORD, and change nothing.
refused() {
	local word=$1 before
	shift
	before=$(sums)
	if quickstart "$@" | apply_cluster >"$RUN/out" 2>&1; then fail "not refused: $(<"$RUN/out")"; fi
	grep -qF -- "$word" "$RUN/out" || fail "\"$word\" is not in: $(<"$RUN/out")"
	expect "$before" "$(sums)" "Slurm's folder and the generation"
	on_head scontrol ping >/dev/null || fail "slurmctld is gone"
}

head_up
site=$(on_head cat /etc/slurm/slurm.conf)

step "groups, images, subnets, names"
settings 's/sg-0ec2000000000001a/sg-0ec2000000000002b/'
refused 'authorize-security-group-ingress'
settings "s/$IMAGE_ID/ami-0fffffffffffffff0/"
refused 'has Slurm 23.02.1, slurmctld is 22.05'
settings "s/$IMAGE_ID/ami-0ddddddddddddddd0/"
refused 'AcceptUntaggedImage'
settings "s/$IMAGE_ID/ami-0eeeeeeeeeeeeeee0/"
refused 'arm64'
settings "s/$IMAGE_ID/ami-0ccccccccccccccc0/"
refused 'no image ami-0ccccccccccccccc0'
settings
refused 'no subnet subnet-0fedcba9876543211' 's/subnet-0fedcba9876543210/subnet-0fedcba9876543211/'
refused 'main is also made from queue main' 's/Name: queue1/Name: main/'
refused 'queue queue1, compute resource t2micro: EC2 has no instance type x9.huge in ap-northeast-1' \
	'/Name: t2micro/,$s/InstanceType: t2.micro/InstanceType: x9.huge/'
grep -q '^/root/cluster.yaml:1[0-9]*:[0-9]*: error: ' "$RUN/out" || fail "no place is named: $(<"$RUN/out")"

step "a slurm.conf that Slurm's own library refuses"
on_head sed -i '1i NodeNam=phys7' /etc/slurm/slurm.conf
before=$(sums)
if quickstart | apply_cluster >"$RUN/out" 2>&1; then fail "not refused: $(<"$RUN/out")"; fi
grep -q "^slurm-ec2 apply: nothing was changed: Slurm's own library refuses /etc/slurm/slurm.conf" "$RUN/out" || fail "$(<"$RUN/out")"
expect "$before" "$(sums)" "Slurm's folder and the generation"
on_head sed -i 1d /etc/slurm/slurm.conf

step "a SlurmUser that slurm-ec2 was not built for"
on_head sh -c 'mkdir /root/other && sed s/^SlurmUser=slurm$/SlurmUser=daemon/ /etc/slurm/slurm.conf >/root/other/slurm.conf'
settings '$a SlurmConf: /root/other/slurm.conf'
refused '--with-slurm-user=daemon'
expect slurm "$(on_head stat -c %U /var/lib/slurm-ec2)" "owner of the state folder"
settings

step "credentials that only root can read"
on_head chown root /etc/slurm-ec2/credentials
refused 'user slurm, as whom slurmctld starts our programs'
on_head chown slurm /etc/slurm-ec2/credentials

step "machines of another cluster by this name"
id=$(ec2 run-instances --image-id "$IMAGE_ID" --instance-type t2.micro --subnet-id subnet-0fedcba9876543210 \
	--tag-specifications 'ResourceType=instance,Tags=[{Key=parallelcluster:cluster-name,Value=demo}]' \
	--query 'Instances[0].InstanceId' --output text)
refused "$id"
ec2 terminate-instances --instance-ids "$id" >/dev/null

step "a file that cannot be replaced: what was written before it is taken back"
on_head mount --bind /etc/slurm/slurm.conf /etc/slurm/slurm.conf
refused 'cannot replace /etc/slurm/slurm.conf'
grep -q 'the old files are back and slurmctld runs with them' "$RUN/out" || fail "not said: $(<"$RUN/out")"
on_head umount /etc/slurm/slurm.conf
expect "" "$(on_head sh -c 'cd /etc/slurm && ls | grep -E "slurm-ec2|tmp" || true')" "files of ours"

step "a restart that fails is undone"
settings '$a SlurmctldRestart: [/bin/false]'
refused 'SlurmctldRestart'
expect "$site" "$(on_head cat /etc/slurm/slurm.conf)" "slurm.conf"
expect 0 "$(ec2 describe-launch-templates --query 'length(LaunchTemplates)')" "launch templates of a first apply that failed"

step "without ImageId the newest tagged image of the architecture is taken"
settings '/ImageId/d'
quickstart | apply_cluster >"$RUN/out" 2>&1 || fail "$(<"$RUN/out")"
grep -q "images .*$IMAGE_ID" "$RUN/out" || fail "another image: $(<"$RUN/out")"
if grep -q credentials "$RUN/out"; then fail "a warning about a good credentials file: $(<"$RUN/out")"; fi

step "once more: nothing to change, no new generation; keys that others can read are warned of"
before=$(sums)
on_head chmod 644 /etc/slurm-ec2/credentials
quickstart | apply_cluster >"$RUN/out" 2>&1 || fail "$(<"$RUN/out")"
grep -q 'nothing to change, generation 1 stays' "$RUN/out" || fail "not said: $(<"$RUN/out")"
grep -q '/etc/slurm-ec2/credentials has mode 0644.*chmod 600' "$RUN/out" || fail "no warning: $(<"$RUN/out")"
on_head chmod 600 /etc/slurm-ec2/credentials
expect "$before" "$(sums)" "Slurm's folder and the generation"
expect 1 "$(on_head readlink /var/lib/slurm-ec2/applied/current)" "the generation"

step "marks that are not whole: the lines behind them are the site's"
on_head cp -p /etc/slurm/slurm.conf /root/slurm.conf
on_head sh -c 'sed -i "/^# END slurm-ec2/d" /etc/slurm/slurm.conf && echo "NodeName=phys8 CPUs=1" >>/etc/slurm/slurm.conf'
refused 'no line "# END slurm-ec2" follows this one'
grep -q "^/etc/slurm/slurm.conf:[0-9]*: error: " "$RUN/out" || fail "no place is named: $(<"$RUN/out")"
before=$(sums)
if on_head slurm-ec2 uninstall --yes >"$RUN/out" 2>&1; then fail "uninstall went on: $(<"$RUN/out")"; fi
grep -q "^/etc/slurm/slurm.conf:[0-9]*: error: " "$RUN/out" || fail "no place is named: $(<"$RUN/out")"
expect "$before" "$(sums)" "Slurm's folder and the generation"
on_head cp -p /root/slurm.conf /etc/slurm/slurm.conf
on_head sed -i '/^Include slurm-ec2.conf/a NodeName=phys8 CPUs=1' /etc/slurm/slurm.conf
refused '"NodeName=phys8 CPUs=1" stands between the marks'
on_head cp -p /root/slurm.conf /etc/slurm/slurm.conf

step "a later apply that fails takes back what it made"
settings '$a SlurmctldRestart: [/bin/false]'
refused 'SlurmctldRestart' "s/.*MaxCount.*/&\n    - {Name: more, InstanceType: t2.micro, MaxCount: 2}/"
expect demo/queue1/t2micro "$(ec2 describe-launch-templates --query 'LaunchTemplates[].LaunchTemplateName' --output text)" "launch templates"
settings

step "the site's own lines and nodes are as they were, with ours merged"
on_head grep -q '^SlurmctldParameters=enable_configless,idle_on_node_suspend,.* # ours$' /etc/slurm/slurm.conf || fail "SlurmctldParameters"
on_head grep -q '^PrivateData=jobs,cloud$' /etc/slurm/slurm.conf || fail "PrivateData"
expect main "$(on_head sinfo --noheader --format=%P --partition=main | tr -d '*')" "the site's partition"
expect "main*" "$(on_head sinfo --noheader --format=%P --partition=main)" "the default partition"
expect INFINITE "$(on_head scontrol show config | sed -n 's/^SuspendTime *= *//p')" "the global SuspendTime"

step "uninstall leaves the site as it was"
on_head slurm-ec2 uninstall --yes
expect "$site" "$(on_head cat /etc/slurm/slurm.conf)" "slurm.conf"
expect phys1 "$(on_head sinfo --noheader --Node --format=%N)" "nodes"

step "each request was one that EC2's own model knows"
on_head cat /var/log/ec2-requests.log >"$RUN/requests"
status=0
/usr/bin/python3 "$TOP/tests/oracle/check_request.py" "$RUN/requests" || status=$?
[ "$status" = 0 ] || [ "$status" = 77 ] || fail "requests that EC2 would not understand"
