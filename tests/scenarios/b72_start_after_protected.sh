# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# `slurm-ec2 fleet start` ends protection: failures are forgotten, the nodes come back clean, and the cluster does not fall back at once. The
# image is mended meanwhile: the job that waited runs, and its success is remembered.

LOOP_TIME=5
more_head_files() { echo 'ProtectedFailureCount: 1' >>"$RUN/head/root/etc/slurm-ec2/settings.yaml"; }
node=queue1-dy-t2micro-1

up <<<"$(quickstart 's/MaxCount: 10/MaxCount: 3/')"
sed -i 's/^slurm:x:[0-9]*:/slurm:x:999:/' "$RUN/image/root/etc/passwd"

step "a machine that cannot become a node ends itself: the resource is protected"
job=$(submit $'#!/bin/bash\nhostname' --nodelist=$node --output=job.out)
protected() { [[ $(node_reason "$1") == "(Code:BootFailures)Machines of this compute resource do not come up"* ]] && node_short_is "$1" 'down~'; }
all_protected() { protected queue1-dy-t2micro-1 && protected queue1-dy-t2micro-2 && protected queue1-dy-t2micro-3; }
wait_for 300 "all its nodes are DOWN with the reason" all_protected
expect 203.0.113.1 "$(node_address $node)" "address of the node that failed"
expect 0 "$(instance_count)" "machines"
launched=$(calls RunInstances)
job_is "$job" PENDING || fail "the job is $(job_state "$job")"

step "it holds over a restart of clustermgtd"
on_head systemctl restart slurm-ec2-clustermgtd
looked() { [ "$(on_head grep -c 'start' /var/log/slurm-ec2/clustermgtd.log)" -ge 2 ]; }
wait_for 120 "it runs again" looked
all_protected || fail "nodes: $(on_head sinfo -N --format='%N %t %E')"

step "the image is mended, and the fleet is started"
sed -i "s/^slurm:x:999:/slurm:x:$(id -u slurm):/" "$RUN/image/root/etc/passwd"
on_head slurm-ec2 fleet start
none_protected() { ! on_head sinfo --noheader --format=%E | grep -q BootFailures; }
wait_for 120 "no node is protected" none_protected
wait_for 400 "the job runs" job_is "$job" COMPLETED
expect $node "$(as_alice cat job.out)" "its output"
expect $((launched + 1)) "$(calls RunInstances)" "launches"
none_protected || fail "nodes: $(on_head sinfo -N --format='%N %t %E')"
