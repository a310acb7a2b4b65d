# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# B43: 1000 machines are ended in five calls. EC2 throttles two of them: they are asked again. EC2 refuses two of them for good: uninstall says so
# and keeps what it knows of the cluster, so that a second run finds the machines by their tag and ends them. After that there is nothing left.

EC2LOCAL_ARGS="--boot=none"
LOOP_TIME=60
left() { ec2 describe-launch-templates --query 'length(LaunchTemplates)'; }
thousand() {
	on_head systemctl start slurm-ec2-clustermgtd
	on_head scontrol update nodename='queue1-dy-t2micro-[1-1000]' state=power_up
	wait_for 120 "a thousand nodes have a machine" with_machine_is 1000
	on_head systemctl stop slurm-ec2-clustermgtd
	control '{"reset_calls": true}'
}

head_up
quickstart 's/MaxCount: 10/MaxCount: 1000/' | apply_cluster

step "two of five calls are refused for good: what is left is known, and said"
thousand
control '{"error": {"action": "TerminateInstances", "code": "UnauthorizedOperation", "status": 403, "count": 2}}'
if on_head slurm-ec2 uninstall --yes --terminate >"$RUN/out" 2>&1; then fail "it says that all went well: $(tail -n 3 "$RUN/out")"; fi
expect 5 "$(calls TerminateInstances)" "calls of TerminateInstances"
grep -q UnauthorizedOperation "$RUN/out" || fail "not said why: $(tail -n 3 "$RUN/out")"
expect 400 "$(instance_count)" "machines left"
expect 1 "$(left)" "launch templates left"

step "run again: machines found by their tag; two of the calls throttled"
control '{"reset": true, "throttle": {"TerminateInstances": 2}}'
on_head slurm-ec2 uninstall --yes --terminate >"$RUN/out" 2>&1 || fail "the second run: $(tail -n 3 "$RUN/out")"
grep -q '400 machines\|machine i-' "$RUN/out" || fail "the machines are not listed: $(<"$RUN/out")"
expect 0 "$(instance_count)" "machines left"
expect 9 "$(calls TerminateInstances)" "calls of TerminateInstances"
expect 0 "$(left)" "launch templates left"

step "and again, after the record is gone"
if on_head slurm-ec2 uninstall --yes --terminate >"$RUN/out" 2>&1; then fail "it removed something: $(<"$RUN/out")"; fi
expect 9 "$(calls TerminateInstances)" "calls of TerminateInstances"
expect 0 "$(instance_count)" "machines left"
