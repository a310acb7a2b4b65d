# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A cluster with a physical node: power saving and clustermgtd never touch it, its jobs and ours run side by side.

site_slurm_conf() {
	cat <<-END
		NodeName=phys1 NodeAddr=10.77.0.1 NodeHostname=head CPUs=1 RealMemory=100
		PartitionName=local Nodes=phys1 MaxTime=INFINITE
	END
}
up <<<"$(quickstart)"
on_head sh -c 'setsid slurmd -D -N phys1 </dev/null >/var/log/slurmd-phys1.log 2>&1 &'
wait_for 120 "the physical node is up" node_short_is phys1 idle
expect head "$(as_alice srun --partition=local hostname)" "host name of the physical node"
expect queue1-dy-t2micro-1 "$(as_alice srun --partition=queue1 hostname)" "host name of a cloud node"

step "the cloud node goes to sleep, the physical one does not"
wait_for 150 "the cloud node is powered down" node_short_is queue1-dy-t2micro-1 'idle~'
expect IDLE "$(node_state phys1)" "state of the physical node"
! grep -q phys1 <(on_head cat /var/log/slurm-ec2/suspend.log) || fail "suspend was asked for the physical node"
expect head "$(as_alice srun --partition=local hostname)" "host name of the physical node"
