# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurmctld is killed, and restarted by an apply, while jobs of several nodes run or wait for them: srun in them reaches all nodes.

# A job that runs srun on its nodes, at once and again when the file "go" is there; $1 = name, then sbatch's options.
srun_job() {
	local name=$1
	shift
	submit $'#!/bin/bash\nset -eo pipefail\nsrun hostname | sort\nuntil [ -e go ]; do sleep 0.2; done\nsrun hostname | sort' \
		--job-name="$name" --output="$name.out" "$@"
}
# How often a name of these nodes ($2, a regular expression of numbers) is a line of the job's output.
count_lines() { as_alice grep -cxE "queue1-dy-t2micro-($2)" "$1.out" 2>/dev/null || true; }
lines_are() { [ "$(count_lines "$1" "$2")" = "$3" ]; }
known() { [[ $(node_address "$1") == 10.77.* ]]; }
# slurmctld saves its state some seconds after a change. $1 = its file, $2 = a text that must be in it, $3 = how often at least.
is_saved() { [ "$(on_head grep -aoF -- "$2" "/var/lib/slurm/slurmctld/$1" | wc -l)" -ge "$3" ]; }

up <<<"$(quickstart)"
control '{"delay_running_ms": 8000}'
running=$(srun_job running -N2 -w 'queue1-dy-t2micro-[1-2]')
wait_for 120 "the first job's first srun" lines_are running "1|2" 2
# One of salloc cannot be helped, but apply says so before.
outside=$(as_alice salloc --no-shell -N2 -w 'queue1-dy-t2micro-[6-7]' 2>&1 | sed -n 's/.*Granted job allocation \([0-9]*\)$/\1/p')

step "slurmctld is killed while a job waits for its nodes"
killed=$(srun_job killed -N3 -w 'queue1-dy-t2micro-[3-5]')
wait_for 120 "it waits for them" job_is "$killed" CONFIGURING
wait_for 120 "machines are launched" instance_count_is 7
wait_for 120 "their addresses are known" known queue1-dy-t2micro-5
wait_for 120 "they are saved" is_saved node_state "$(node_address queue1-dy-t2micro-5)" 1
wait_for 120 "the allocation is saved" is_saved job_state 'queue1-dy-t2micro-[3-5]' 2 # asked for, and given
job_is "$killed" CONFIGURING || fail "the job started before slurmctld was killed"
on_head systemctl kill slurmctld
on_head systemctl start slurmctld
wait_for 120 "slurmctld answers" on_head scontrol ping

step "an apply restarts slurmctld while another waits"
applied=$(srun_job applied -N3 -w 'queue1-dy-t2micro-[8-10]')
wait_for 120 "it waits for them" job_is "$applied" CONFIGURING
quickstart 's/MaxCount: 10/MaxCount: 12/' | apply_cluster 2>&1 | tee "$RUN/apply.log"
grep -q "1 job of salloc or srun with several nodes ($outside)" "$RUN/apply.log" || fail "apply does not warn of job $outside"

step "jobs that slurmctld took over run srun"
wait_for 120 "the killed one's srun" lines_are killed "3|4|5" 3
wait_for 120 "the applied one's srun" lines_are applied "8|9|10" 3
as_alice touch go
for job in "$running" "$killed" "$applied"; do
	wait_for 120 "job $job is over" job_is "$job" "COMPLETED FAILED"
	expect COMPLETED "$(job_state "$job")" "job $job"
done
expect 4 "$(count_lines running '1|2')" "nodes in the output of the running job"
expect 6 "$(count_lines killed '3|4|5')" "nodes in the output of the killed one"
expect 6 "$(count_lines applied '8|9|10')" "nodes in the output of the applied one"
expect 10 "$(instance_count)" "instances"
