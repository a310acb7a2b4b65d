# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# The longest argument that a program can be given (128 KiB less one byte for its end): thousands of scattered nodes, each named in full. Each gets
# a machine of its own, no other node does, and all are ended again by the same words to suspend. So does a list that is all brackets.

LOOP_TIME=3600
EC2LOCAL_ARGS="--boot=none --delay-running 0"
eval "plain_$(declare -f write_settings)"
write_settings() {
	plain_write_settings
	printf '%s: none\n' LaunchRate LaunchInstancesRate TerminateRate TerminateInstancesRate
}
as_slurmctld() { on_head setpriv --reuid slurm --regid slurm --init-groups env -i SLURM_CONF=/etc/slurm/slurm.conf "$@"; }
# Nodes with an address that is a machine's, one a line.
addressed() { on_head scontrol -o show nodes | sed -n 's/^NodeName=\([^ ]*\) .* NodeAddr=\(10\.[^ ]*\) .*/\1 \2/p'; }

head_up </dev/null
quickstart 's/MaxCount: 10/MaxCount: 12000/' | apply_cluster
on_head clustermgtd --once # resume launches only where it has run; going on, it would end machines of nodes that slurmctld did not power up
awk 'BEGIN { for (n = 1; (size += length(name = "queue1-dy-t2micro-" n) + 1) <= 131072; n += 2) print name }' >"$RUN/scattered"
count=$(wc -l <"$RUN/scattered") list=$(paste -sd, "$RUN/scattered")
[ "${#list}" -gt 131000 ] || fail "the list has only ${#list} bytes"

step "resume of $count nodes, ${#list} bytes"
as_slurmctld "$LIBEXEC/resume" "$list"
expect "$(sort "$RUN/scattered")" "$(addressed | cut -d' ' -f1 | sort)" "nodes with an address"
expect "$count" "$(addressed | cut -d' ' -f2 | sort -u | wc -l)" "different addresses"
expect "$count" "$(instance_count)" "instances"
expect $(((count + 499) / 500)) "$(launches | wc -l)" "calls"

step "suspend of the same"
as_slurmctld "$LIBEXEC/suspend" "$list"
expect 0 "$(instance_count)" "instances"
expect 0 "$(addressed | wc -l)" "nodes with an address"

step "resume of 6000 nodes in brackets"
as_slurmctld "$LIBEXEC/resume" "queue1-dy-t2micro-[$(seq -s, 2 2 12000)]"
expect 6000 "$(instance_count)" "instances"
expect "$(seq -f 'queue1-dy-t2micro-%.0f' 2 2 12000 | sort)" "$(addressed | cut -d' ' -f1 | sort)" "nodes with an address"
