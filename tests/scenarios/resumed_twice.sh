# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One node resumed by three processes at once: one machine.

up <<<"$(quickstart)"
control '{"api_delay_ms": {"RunInstances": 1500}}'
on_head scontrol update nodename=queue1-dy-t2micro-1 state=power_up
program=$(on_head scontrol show config | sed -n 's/^ResumeProgram *= *//p')
for _ in 1 2; do
	on_head setpriv --reuid slurm --regid slurm --clear-groups env -i SLURM_CONF=/etc/slurm/slurm.conf "$program" queue1-dy-t2micro-1 &
	pids+=("$!")
done
wait "${pids[@]}"
wait_for 120 "the node is up" node_short_is queue1-dy-t2micro-1 idle
expect 1 "$(cloud id pending,running,shutting-down,terminated | wc -l)" "machines ever made"
