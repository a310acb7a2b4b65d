# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurm-ec2 uninstall after some use: it lists and removes what carries our UUID, and a site with nodes of its own is as before, byte for byte.

site_slurm_conf() {
	cat <<-'END'
		# The site's own words, with a comment at the end	and a tab.
		SlurmctldParameters=enable_configless   # ours
		NodeName=phys1 NodeAddr=10.77.0.1 NodeHostname=head CPUs=1 RealMemory=100 \
		    Weight=5
		PartitionName=local Nodes=phys1 Default=YES
	END
	printf '# no newline at the end'
}
folder() { on_head sh -c 'cd /etc/slurm && stat -c "%n %a %U %G" * && sha256sum *'; }
grouped() { quickstart 's/t2.micro$/c6i.large/' 's/t2micro/c6i/' "\$a\\      PlacementGroup: {Enabled: true}"; }
left() {
	ec2 describe-launch-templates --query 'LaunchTemplates[].[LaunchTemplateName]' --output text
	ec2 describe-placement-groups --query 'PlacementGroups[].[GroupName]' --output text
}

head_up
on_head sh -c 'setsid slurmd -D -N phys1 </dev/null >/var/log/slurmd-phys1.log 2>&1 &'
before=$(folder)
ec2 create-launch-template --launch-template-name theirs --launch-template-data InstanceType=t2.micro >/dev/null
ec2 create-placement-group --group-name theirs-too --strategy cluster >/dev/null
others=$(left)

step "apply, and a job"
grouped | apply_cluster
on_head systemctl start slurm-ec2-clustermgtd
on_head chmod 644 /etc/slurm-ec2/credentials
expect queue1-dy-c6i-1 "$(as_alice srun --partition=queue1 hostname)" "host name"
expect 1 "$(on_head grep -c 'credentials has mode 0644' /var/log/slurm-ec2/resume.log)" "warnings about keys that others can read"
on_head chmod 600 /etc/slurm-ec2/credentials
machine=$(cloud id)
expect 4 "$(left | wc -l)" "templates and groups: $(left)"

step "refused while clustermgtd runs, which would launch again; the job whose machine would end is named"
job=$(submit $'#!/bin/bash\nsleep 1000' --partition=queue1 --nodelist=queue1-dy-c6i-1)
wait_for 120 "the job runs" job_is "$job" RUNNING
during=$(folder)
if on_head slurm-ec2 uninstall --yes --terminate >"$RUN/out" 2>&1; then fail "it went on: $(<"$RUN/out")"; fi
grep -q 'stop it first: systemctl stop slurm-ec2-clustermgtd' "$RUN/out" || fail "not said why: $(<"$RUN/out")"
grep -q "job $job on queue1-dy-c6i-1 ends with its machines" "$RUN/out" || fail "the job is not named: $(<"$RUN/out")"
expect "$during" "$(folder)" "Slurm's folder"
as_alice scancel "$job"

step "refused while a machine lives; nothing is changed"
on_head systemctl stop slurm-ec2-clustermgtd
if on_head slurm-ec2 uninstall --yes >"$RUN/out" 2>&1; then fail "it went over a machine: $(<"$RUN/out")"; fi
grep -q "machine $machine" "$RUN/out" || fail "the machine is not listed: $(<"$RUN/out")"
expect "$during" "$(folder)" "Slurm's folder"
expect 4 "$(left | wc -l)" "templates and groups: $(left)"

step "nobody to ask, no --yes: nothing is changed"
on_head scontrol update nodename=queue1-dy-c6i-1 state=power_down_force
wait_for 120 "no instance is left" instance_count_is 0
if on_head slurm-ec2 uninstall </dev/null >"$RUN/out" 2>&1; then fail "it did not ask: $(<"$RUN/out")"; fi
expect "$during" "$(folder)" "Slurm's folder"

step "slurmctld does not come back without our lines: they are put back, nothing is removed"
on_head sh -c 'cp -p /etc/slurm-ec2/settings.yaml /root/settings && echo "SlurmctldRestart: [/bin/false]" >>/etc/slurm-ec2/settings.yaml'
if on_head slurm-ec2 uninstall --yes >"$RUN/out" 2>&1; then fail "it went on: $(<"$RUN/out")"; fi
grep -q 'SlurmctldRestart' "$RUN/out" || fail "not said why: $(<"$RUN/out")"
expect "$(grep -v slurm-ec2-old <<<"$during")" "$(folder | grep -v slurm-ec2-old)" "Slurm's folder"
expect 4 "$(left | wc -l)" "templates and groups: $(left)"
on_head cp -p /root/settings /etc/slurm-ec2/settings.yaml

step "interrupted while slurmctld restarts: files and slurmctld go together, the rest waits for the next run"
on_head sh -c 'printf "#!/bin/sh\\ntouch /root/began; until [ -e /root/go ]; do sleep 0.1; done; systemctl restart slurmctld\\n" >/root/slow &&
	chmod 755 /root/slow && cp -p /etc/slurm /root/slurm.before -r && echo "SlurmctldRestart: [/root/slow]" >>/etc/slurm-ec2/settings.yaml'
on_head slurm-ec2 uninstall --yes >"$RUN/out" 2>&1 &
uninstall=$!
wait_for 120 "slurmctld is about to be restarted" on_head test -e /root/began
on_head pkill -INT -x slurm-ec2
on_head touch /root/go
if wait "$uninstall"; then fail "it went on: $(<"$RUN/out")"; fi
expect phys1 "$(on_head sinfo --noheader --Node --format=%N)" "nodes"
expect 4 "$(left | wc -l)" "templates and groups: $(left)"
on_head sh -c 'cp -p /root/slurm.before/* /etc/slurm/ && cp -p /root/settings /etc/slurm-ec2/settings.yaml && systemctl restart slurmctld'
wait_for 120 "slurmctld answers" on_head scontrol ping

step "with --yes: listed, then gone"
on_head slurm-ec2 uninstall --yes >"$RUN/out"
for word in 'take our lines out of /etc/slurm/slurm.conf' 'remove /etc/slurm/slurm-ec2.conf' 'launch template demo/queue1/c6i' 'placement group '; do
	grep -q "$word" "$RUN/out" || fail "\"$word\" is not listed: $(<"$RUN/out")"
done
expect "$others" "$(left)" "templates and groups"
expect "$before" "$(folder)" "Slurm's folder"

step "slurmctld runs on with the site's own node"
expect phys1 "$(on_head sinfo --noheader --Node --format=%N)" "nodes"
wait_for 120 "the physical node is up" node_short_is phys1 idle
expect head "$(as_alice srun hostname)" "host name of the physical node"

step "a second time there is nothing to remove, and a new apply is a new cluster"
if on_head slurm-ec2 uninstall --yes >"$RUN/out" 2>&1; then fail "removed what is not there: $(<"$RUN/out")"; fi
grep -q apply "$RUN/out" || fail "not said that nothing is applied: $(<"$RUN/out")"
grouped | apply_cluster
expect 'idle~ 10' "$(on_head sinfo --noheader --partition=queue1 --format='%t %D')" "nodes"
