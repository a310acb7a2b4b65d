# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# B79: who waits for a fleet whose static nodes never come up is told why, and does not wait for ever.

LOOP_TIME=5
more_head_files() { echo 'ProtectedFailureCount: 1' >>"$RUN/head/root/etc/slurm-ec2/settings.yaml"; }
# ends STATUS PATTERN COMMAND...: the command ends with that status and says so.
ends() {
	local status=0
	on_head timeout 500 "${@:3}" >"$RUN/said.txt" 2>&1 || status=$?
	expect "$1" "$status" "exit status of ${*:3}"
	grep -q "$2" "$RUN/said.txt" || fail "${*:3} said: $(<"$RUN/said.txt")"
}

up <<<"$(quickstart 's/MinCount: 0/MinCount: 1/')"
wait_for 120 "the static node is up" node_short_is queue1-st-t2micro-1 idle
ends 0 'STOPPED' slurm-ec2 fleet stop --wait

step "EC2 refuses the launch"
control '{"capacity": {"type": "t2.micro", "left": 0}}'
ends 1 'queue1-st-t2micro-1 got no machine: (Code:InsufficientInstanceCapacity)' slurm-ec2 fleet start --wait
ends 0 'STOPPED' slurm-ec2 fleet stop --wait

step "the machine cannot become a node"
control '{"reset": true}'
sed -i 's/^slurm:x:[0-9]*:/slurm:x:999:/' "$RUN/image/root/etc/passwd"
ends 1 'PROTECTED: machines of queue1/t2micro do not come up' slurm-ec2 fleet start --wait
expect "fleet PROTECTED" "$(on_head slurm-ec2 fleet status | head -n 1 | cut -d' ' -f1-2)" "status"

step "clustermgtd does not run"
on_head systemctl stop slurm-ec2-clustermgtd
ends 1 'clustermgtd does not run' slurm-ec2 fleet stop --wait
