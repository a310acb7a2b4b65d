# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A job of four nodes: one launch, every machine finds its own name, tasks reach each other's nodes.

up <<<"$(quickstart)"
as_alice srun --nodes=4 hostname | sort >"$RUN/names"
expect "$(printf 'queue1-dy-t2micro-%d\n' 1 2 3 4)" "$(<"$RUN/names")" "host names"
expect 4 "$(instance_count)" "instances"
expect 4 "$(as_alice srun --nodes=4 printenv SLURMD_NODENAME | sort -u | wc -l)" "names in the tasks"

step "srun inside a batch job, between the nodes"
job=$(submit $'#!/bin/bash\nsrun hostname' --nodes=4 --output=batch.out)
wait_for 120 "the job is over" job_is "$job" COMPLETED
expect 4 "$(as_alice sort -u batch.out | wc -l)" "lines of the job"
