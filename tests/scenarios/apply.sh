# shellcheck shell=bash disable=SC2016
# SPDX-License-Identifier: GPL-2.0-or-later
# slurm-ec2 apply on a site of its own: the first time, again, grown, shrunk, refused, and taken out again.

EC2LOCAL_ARGS=--boot=none

nodes() { on_head sinfo --noheader --Node --format='%N' | sort -u | wc -l; }
number() { on_head readlink /var/lib/slurm-ec2/applied/current; }
# All that apply could touch: names, modes, owners, and of files times. (Who reads a SQLite file makes and removes one beside it.
# The token buckets for calls to EC2 are not apply's.)
traces() {
	on_head find /etc /tmp /var/lib /var/log/slurm-ec2 /run/slurm -xdev -path /var/lib/slurm-ec2/aws -prune -o \( -type f -printf '%p %M %u %T@ %s\n' -o -printf '%p %M %u\n' \)
}
sums() { on_head sh -c 'cd /etc/slurm && ls && sha256sum *'; }

head_up

step "a dry run changes nothing, folders that are not there yet included"
on_head rm -rf /var/lib/slurm-ec2
before=$(traces)
quickstart >"$RUN/cluster.yaml"
put "$RUN/cluster.yaml" /root/cluster.yaml
on_head slurm-ec2 apply /root/cluster.yaml --dry-run
expect "$before" "$(traces)" "files"
expect 0 "$(ec2 describe-launch-templates --query 'length(LaunchTemplates)')" "launch templates"

step "interrupted during the trial: nothing is left, no slurmctld either"
before=$(sums)
on_head slurm-ec2 apply /root/cluster.yaml >"$RUN/out" 2>&1 &
apply=$!
wait_for 120 "the trial runs" on_head sh -c 'ls /tmp/slurm-ec2-try-*/output.log'
on_head pkill -INT -x slurm-ec2
if wait "$apply"; then fail "it went on: $(<"$RUN/out")"; fi
grep -q 'interrupted' "$RUN/out" || fail "not said: $(<"$RUN/out")"
expect "$before" "$(sums)" "Slurm's folder"
if on_head pgrep -x slurmctld; then fail "a slurmctld was left"; fi
expect "" "$(on_head sh -c 'ls -d /tmp/slurm-ec2-try-* 2>/dev/null || true')" "folders in /tmp"
expect 0 "$(ec2 describe-launch-templates --query 'length(LaunchTemplates)')" "launch templates"

step "the first apply, of a root with a strict umask, starts slurmctld with ten nodes that do not exist"
on_head sh -c "umask 077 && slurm-ec2 apply /root/cluster.yaml"
as_alice test -r /var/lib/slurm-ec2/applied/current/generation.json || fail "users cannot read what is applied"
expect "idle~ 10" "$(on_head sinfo --noheader --format='%t %D')" "sinfo"
expect 1 "$(number)" "generation"
expect 1 "$(ec2 describe-launch-templates --query 'length(LaunchTemplates)')" "launch templates"
uuid=$(on_head sed -n 's/.*"uuid": *"\([^"]*\)".*/\1/p' /var/lib/slurm-ec2/applied/current/generation.json)
expect "$uuid" "$(ec2 describe-launch-templates --query 'LaunchTemplates[0].Tags[?Key==`slurm-ec2:cluster`].Value' --output text)" "the template's tag"

step "applied again: no change, no restart, no new version"
pid=$(on_head pgrep -x slurmctld)
on_head slurm-ec2 apply /root/cluster.yaml
expect "$pid" "$(on_head pgrep -x slurmctld)" "slurmctld's process"
expect 1 "$(ec2 describe-launch-templates --query 'LaunchTemplates[0].LatestVersionNumber')" "template version"

step "new files, but slurmctld was not restarted with them: an apply that was killed is finished by the next"
on_head cp -p /etc/slurm/slurm-ec2.conf /root/new.conf
on_head sed -i 's/\[1-10\]/[1-9]/' /etc/slurm/slurm-ec2.conf
on_head systemctl restart slurmctld
wait_for 120 "slurmctld answers" on_head scontrol ping
on_head cp -p /root/new.conf /etc/slurm/slurm-ec2.conf
on_head slurm-ec2 apply /root/cluster.yaml
expect 10 "$(nodes)" "nodes"
pid=$(on_head pgrep -x slurmctld)

step "a partition's figure only: slurmctld reconfigures"
quickstart 's/ScaledownIdletime: 1/ScaledownIdletime: 2/' | apply_cluster
expect "$pid" "$(on_head pgrep -x slurmctld)" "slurmctld's process"
expect 120 "$(on_head scontrol show partition queue1 --oneliner | sed -n 's/.*SuspendTime=\([^ ]*\).*/\1/p')" "SuspendTime"

step "grown and shrunk"
quickstart 's/MaxCount: 10/MaxCount: 12/' | apply_cluster
expect 12 "$(nodes)" "nodes"
quickstart 's/MaxCount: 10/MaxCount: 3/' | apply_cluster
expect 3 "$(nodes)" "nodes"
expect 1 "$(ec2 describe-launch-templates --query 'LaunchTemplates[0].LatestVersionNumber')" "template version"

step "a node in use does not vanish"
on_head systemctl start slurm-ec2-clustermgtd
wait_for 120 "clustermgtd has looked round" on_head sh -c 'slurm-ec2 status | grep -q "loop .* s ago"'
on_head scontrol update nodename=queue1-dy-t2micro-3 state=power_up
wait_for 120 "node 3 has a machine" instance_count_is 1
if quickstart 's/MaxCount: 10/MaxCount: 2/' | apply_cluster >"$RUN/out" 2>&1; then fail "a node in use was removed"; fi
grep -q 'queue1-dy-t2micro-3' "$RUN/out" || fail "the refusal does not name the node: $(<"$RUN/out")"
expect 3 "$(nodes)" "nodes"

step "files slurmctld cannot start with are not installed"
before=$(sums)
generation=$(number)
if quickstart 's/MaxCount: 10/MaxCount: 3\n      CustomSlurmSettings: {NoSuchKey: 1}/' | apply_cluster >"$RUN/out" 2>&1; then
	fail "a broken file was installed"
fi
grep -q 'NoSuchKey' "$RUN/out" || fail "slurmctld's own words are missing: $(<"$RUN/out")"
expect "$before" "$(sums)" "Slurm's folder"
expect "$generation" "$(number)" "generation"
on_head scontrol ping

step "status says who is away, and shows the rest"
on_head slurm-ec2 status | grep -q '^queue1/t2micro .* 1 *0$' || fail "status: $(on_head slurm-ec2 status)"
on_head systemctl stop slurmctld
if on_head slurm-ec2 status --machines >"$RUN/out"; then fail "status is content without slurmctld"; fi
grep -q '^slurmctld *CANNOT BE ASKED: ' "$RUN/out" && grep -q '^i-.* running ' "$RUN/out" || fail "status: $(<"$RUN/out")"
on_head systemctl start slurmctld
wait_for 120 "slurmctld answers" on_head scontrol ping
on_head sed -i 's/:8000/:8001/' /etc/slurm-ec2/settings.yaml
if on_head slurm-ec2 status >"$RUN/out"; then fail "status is content without EC2"; fi
grep -q '^EC2 *CANNOT BE ASKED: ' "$RUN/out" && grep -qE '^queue1/t2micro .* 3 +2 +1 .*\?' "$RUN/out" || fail "status: $(<"$RUN/out")"
if on_head slurm-ec2 status --json >"$RUN/out"; then fail "status is content without EC2"; fi
python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); assert d["ec2_away"] and d["resources"][0]["off"] == 2 and d["region"] == "ap-northeast-1" and d["slurm_version"], d' "$RUN/out"
on_head sed -i 's/:8001/:8000/' /etc/slurm-ec2/settings.yaml

step "a dry run beside a state file changes nothing either"
on_head systemctl stop slurm-ec2-clustermgtd
before=$(traces)
on_head slurm-ec2 apply /root/cluster.yaml --dry-run
diff <(echo "$before") <(traces) || fail "files were touched"

step "uninstall refuses while a machine lives, then takes all out"
if on_head slurm-ec2 uninstall --yes; then fail "it went over a machine"; fi
on_head slurm-ec2 uninstall --yes --terminate
expect 0 "$(instance_count)" "machines"
expect 0 "$(ec2 describe-launch-templates --query 'length(LaunchTemplates)')" "launch templates"
on_head sh -c '! grep -rq slurm-ec2 /etc/slurm/slurm.conf && test ! -e /etc/slurm/slurm-ec2.conf'
