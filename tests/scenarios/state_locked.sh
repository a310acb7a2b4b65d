# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Somebody holds the state file in a transaction that does not end: running jobs and machines stay, the loop goes on and says so once; when the
# file is free the loop goes on as before.

up <<<"$(quickstart)"
job=$(submit $'#!/bin/bash\nwhile [ ! -e go ]; do sleep 0.2; done; hostname' --output=locked.out)
wait_for 120 "the job runs" job_is "$job" RUNNING
old=$(cloud id)

step "the file is held"
on_head setpriv --reuid slurm --regid slurm --clear-groups /usr/bin/python3 -c '
import os, sqlite3, time
c = sqlite3.connect("/var/lib/slurm-ec2/state.db", isolation_level=None, timeout=30)
c.execute("BEGIN IMMEDIATE")
open("/tmp/held", "w").close()
while not os.path.exists("/tmp/free"):
    time.sleep(0.1)
c.execute("ROLLBACK")
' &
holder=$!
wait_for 120 "it is held" on_head test -e /tmp/held
says() { on_head grep -c 'error: state: the state file .* stays busy' /var/log/slurm-ec2/clustermgtd.log; }
wait_for 120 "clustermgtd says so" says
before=$(calls DescribeInstances)
looked() { [ "$(calls DescribeInstances)" -gt $((before + 2)) ]; }
wait_for 120 "it goes on looking" looked
expect 1 "$(says)" "lines that say it"
expect RUNNING "$(job_state "$job")" "the job"
expect "$old" "$(cloud id)" "the machine"

step "the file is free"
on_head touch /tmp/free
wait "$holder"
well() { on_head slurm-ec2 events | grep -q 'source-recovered.*state: well again'; }
wait_for 120 "an event tells the end" well
as_alice touch go
wait_for 120 "the job is over" job_is "$job" COMPLETED
expect queue1-dy-t2micro-1 "$(as_alice cat locked.out)" "where it ran"
expect queue1-dy-t2micro-2 "$(as_alice srun --nodelist=queue1-dy-t2micro-2 hostname)" "a job that is launched"
