# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The state file is overwritten with rubbish under a running job and under one whose node is coming up: it is moved aside and said, both jobs end
# well on the machines they had.

up <<<"$(quickstart)"
job=$(submit $'#!/bin/bash\nwhile [ ! -e go ]; do sleep 0.2; done; hostname' --output=damaged.out)
wait_for 120 "the job runs" job_is "$job" RUNNING
control '{"delay_running_ms": 8000}'
late=$(submit $'#!/bin/bash\nhostname' --exclusive --output=late.out)
wait_for 120 "the second node has the address of a machine" with_machine_is 2
old=$(cloud id | sort)

step "rubbish"
on_head sh -c 'systemctl stop slurm-ec2-clustermgtd; rm -f /var/lib/slurm-ec2/state.db-wal /var/lib/slurm-ec2/state.db-shm
	dd if=/dev/urandom of=/var/lib/slurm-ec2/state.db bs=4096 count=20 conv=notrunc 2>/dev/null; systemctl start slurm-ec2-clustermgtd'
aside() { on_head sh -c 'ls /var/lib/slurm-ec2/state.db.damaged-*'; }
wait_for 120 "the file is moved aside" aside
on_head grep -q 'warning: the state file .*was damaged.*is kept as' /var/log/slurm-ec2/clustermgtd.log || fail "the log does not say so"
adopted() { on_head grep -q "bind .*(adopt)" /var/log/slurm-ec2/clustermgtd.log; }
wait_for 120 "the machines are taken in again" adopted
expect "$old" "$(cloud id | sort)" "the machines"
wait_for 120 "the second job is over" job_is "$late" COMPLETED
as_alice touch go
wait_for 120 "the first job is over" job_is "$job" COMPLETED
expect queue1-dy-t2micro-1 "$(as_alice cat damaged.out)" "where the first job ran"
expect queue1-dy-t2micro-2 "$(as_alice cat late.out)" "where the second job ran"
expect "$old" "$(cloud id pending,running,shutting-down,terminated | sort)" "machines ever made"
