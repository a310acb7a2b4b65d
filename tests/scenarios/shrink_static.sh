# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# MinCount shrinks: refused while the static node is up, with the way to go; that way is then gone word by word.

up <<<"$(quickstart 's/MinCount: 0/MinCount: 3/')"
wait_for 120 "static nodes are up" node_short_is 'queue1-st-t2micro-[1-3]' idle

step "refused, with the advice"
if apply_cluster <<<"$(quickstart 's/MinCount: 0/MinCount: 1/')" >"$RUN/out" 2>&1; then fail "not refused: $(<"$RUN/out")"; fi
grep -qF '2 nodes would vanish while in use: queue1-st-t2micro-[2-3]. ' "$RUN/out" || fail "$(<"$RUN/out")"
grep -qF 'free them first (systemctl stop slurm-ec2-clustermgtd, which' "$RUN/out" || fail "$(<"$RUN/out")"
advice=$(grep -o 'scontrol update [^)]*' "$RUN/out")
echo "advice: $advice"

step "the advice is followed"
on_head systemctl stop slurm-ec2-clustermgtd
# shellcheck disable=SC2086 # words of a command
on_head $advice
wait_for 120 "they are powered down" node_short_is 'queue1-st-t2micro-[2-3]' 'idle~'
apply_cluster <<<"$(quickstart 's/MinCount: 0/MinCount: 1/')" || fail "still refused"
on_head systemctl start slurm-ec2-clustermgtd
expect 10 "$(node_count)" "nodes"
expect idle "$(node_short queue1-st-t2micro-1)" "the static node that stays"
wait_for 120 "one machine is left" instance_count_is 1
