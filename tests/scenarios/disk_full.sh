# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The disk of the state file is full: nothing is launched, for its intent could not be written, and the node says why; the running job goes on, the
# loop goes on watching and ends machines; with room again everything goes on by itself. Said once, and an event tells how long it was.

EC2LOCAL_ARGS=
head_up
on_head sh -c 'mount -t tmpfs -o size=8m,mode=755 state /var/lib/slurm-ec2 && chown slurm:slurm /var/lib/slurm-ec2'
apply_cluster <<<"$(quickstart)"
on_head systemctl start slurm-ec2-clustermgtd
job=$(submit $'#!/bin/bash\nwhile [ ! -e go ]; do sleep 0.2; done; hostname' --output=full.out)
wait_for 120 "the job runs" job_is "$job" RUNNING
other=$(submit $'#!/bin/bash\nwhile [ ! -e go2 ]; do sleep 0.2; done' --nodes=1 --exclusive --output=/dev/null)
wait_for 120 "the other job runs" job_is "$other" RUNNING
gone=$(instance_of queue1-dy-t2micro-2)

step "the disk is full"
on_head sh -c 'dd if=/dev/zero of=/var/lib/slurm-ec2/fill bs=4096 2>/dev/null; test -s /var/lib/slurm-ec2/fill'
says() { on_head grep -c "error: state: no space is left for the state file .*make room in its folder; meanwhile nothing can be launched" /var/log/slurm-ec2/clustermgtd.log; }
wait_for 120 "clustermgtd says so" says
asked=$(launches | wc -l)
submit $'#!/bin/bash\nhostname' --nodelist=queue1-dy-t2micro-5 --output=/dev/null >/dev/null
on_head slurm-ec2 status >"$RUN/out" || true
grep -q '^DEGRADED .*no space is left in /var/lib/slurm-ec2' "$RUN/out" || fail "status does not say it: $(<"$RUN/out")"
refused() { on_head grep -q 'no space is left for the state file' /var/log/slurm-ec2/resume.log; }
wait_for 120 "resume says why" refused
down() { [[ "$(node_reason queue1-dy-t2micro-5)" == "(Code:"* ]]; }
wait_for 120 "the node says that it failed" down
expect "$asked" "$(launches | wc -l)" "launches asked of EC2"

step "it watches all the same"
control "{\"terminate\": [\"$gone\"]}"
wait_for 120 "the node whose machine went is seen" node_is queue1-dy-t2micro-2 '(DOWN|IDLE)\+CLOUD.*POWER.*'
expect RUNNING "$(job_state "$job")" "the job"
expect 1 "$(says)" "lines that say it"

step "there is room"
on_head rm /var/lib/slurm-ec2/fill
well() { on_head slurm-ec2 events | grep -q 'source-recovered.*state: well again'; }
wait_for 120 "an event tells the end" well
expect queue1-dy-t2micro-8 "$(as_alice srun --nodelist=queue1-dy-t2micro-8 hostname)" "a job that is launched again"
as_alice touch go
wait_for 120 "the job is over" job_is "$job" COMPLETED
expect queue1-dy-t2micro-1 "$(as_alice cat full.out)" "where it ran"
