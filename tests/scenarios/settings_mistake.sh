# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A slip of the hand in settings.yaml: machines are still ended, clustermgtd starts again and says what is wrong, and what the file
# said when it was last right holds. Mended, it is read without a restart.

settings() { on_head grep -c "$1" /etc/slurm-ec2/settings.yaml; }
told() { on_head grep -q 'LoopTme.*going on with what this file said' "/var/log/slurm-ec2/$1.log"; }
read_again() { on_head grep -q 'now working with the changed .*settings.yaml' /var/log/slurm-ec2/clustermgtd.log; }

up <<<"$(quickstart)"
as_alice srun --nodes=2 true
expect 2 "$(instance_count)" "instances"

step "an unknown key"
on_head sh -c 'echo "LoopTme: 5" >>/etc/slurm-ec2/settings.yaml'
expect 1 "$(settings LoopTme)" "keys that are wrong"
on_head systemctl restart slurm-ec2-clustermgtd
wait_for 120 "clustermgtd says so" told clustermgtd
on_head slurm-ec2 events --type settings-refused --json | grep -q LoopTme || fail "no event"
on_head scontrol update nodename='queue1-dy-t2micro-[1-2]' state=power_down_force
wait_for 150 "no instance is left" instance_count_is 0
wait_for 120 "suspend says so" told suspend
if on_head slurm-ec2 apply /root/cluster.yaml >"$RUN/out" 2>&1; then fail "apply works with it: $(<"$RUN/out")"; fi
wait_for 120 "the nodes are powered down" node_short_is 'queue1-dy-t2micro-[1-10]' 'idle~'

step "what only looks says so and looks"
on_head slurm-ec2 status >"$RUN/out" 2>"$RUN/err" || fail "status: $(cat "$RUN/out" "$RUN/err")"
grep -q '^queue1/t2micro ' "$RUN/out" || fail "no table: $(<"$RUN/out")"
grep -q 'LoopTme' "$RUN/err" && grep -q 'when it was last right' "$RUN/err" || fail "not told: $(<"$RUN/err")"

step "jobs run meanwhile"
expect queue1-dy-t2micro-1 "$(as_alice srun hostname)" "host name"

step "mended"
on_head sed -i /LoopTme/d /etc/slurm-ec2/settings.yaml
wait_for 150 "clustermgtd reads it" read_again
