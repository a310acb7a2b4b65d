# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Somebody terminates the instance under a running job: the job is requeued, and the node works again with another machine.

up <<<"$(quickstart)"
job=$(submit $'#!/bin/bash\necho $SLURM_RESTART_COUNT; [ -n "$SLURM_RESTART_COUNT" ] || sleep 600' --requeue --output=again.out)
wait_for 120 "the job runs" job_is "$job" RUNNING
old=$(cloud id)
ec2 terminate-instances --instance-ids "$old" >/dev/null
wait_for 240 "the job ran again to its end" job_is "$job" COMPLETED
expect 1 "$(as_alice tail -n 1 again.out)" "restarts"
[ "$(cloud id)" != "$old" ] || fail "the machine that was ended came back"
expect queue1-dy-t2micro-1 "$(as_alice srun --nodelist=queue1-dy-t2micro-1 hostname)" "host name"
