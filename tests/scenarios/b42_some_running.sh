# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# B42: slurmctld asks to resume four nodes of which two already run, with a job on them, as releases before 22.05.5 did. Only the other two get a
# machine, and the job goes on.

up <<<"$(quickstart)"
pair=$'#!/bin/bash\nsrun hostname\nwhile [ ! -e go ]; do sleep 0.2; done\nsrun hostname'
job=$(submit "$pair" --nodes=2 --nodelist='queue1-dy-t2micro-[1-2]' --output=pair.out)
wait_for 120 "the job runs" job_is "$job" RUNNING
old=$(cloud id | sort)

step "what would be launched"
on_head slurm-ec2 plan resume 'queue1-dy-t2micro-[1-4]' >"$RUN/plan.txt"
grep -qE '^call 1 +RunInstances for queue1/t2micro: 2 machines' "$RUN/plan.txt" || fail "the plan is $(<"$RUN/plan.txt")"
grep -q '^left alone .*: queue1-dy-t2micro-\[1-2\]$' "$RUN/plan.txt" || fail "the plan is $(<"$RUN/plan.txt")"

step "a job for two more, and a slurmctld that names all four"
printf '#!/bin/sh\nexec %s "queue1-dy-t2micro-[1-4]"\n' "$LIBEXEC/resume" | on_head sh -c 'cat >/usr/local/sbin/resume-all && chmod 755 /usr/local/sbin/resume-all'
on_head sed -i 's|^ResumeProgram=.*|ResumeProgram=/usr/local/sbin/resume-all|' /etc/slurm/slurm-ec2.conf
on_head scontrol reconfigure
expect /usr/local/sbin/resume-all "$(on_head scontrol show config | sed -n 's/^ResumeProgram *= *//p')" "ResumeProgram"
later=$(submit $'#!/bin/bash\nsrun hostname' --nodes=2 --nodelist='queue1-dy-t2micro-[3-4]' --output=later.out)
wait_for 120 "the second job is over" job_is "$later" COMPLETED
on_head grep -q 'resume queue1-dy-t2micro-\[1-4\]' /var/log/slurm-ec2/resume.log || fail "resume was not called for all four"
on_head grep -q 'queue1-dy-t2micro-1: it has machine' /var/log/slurm-ec2/resume.log || fail "resume does not say which nodes it left alone"
expect "2,2 2,2" "$(launches | paste -sd' ')" "launches (least, most)"
expect 4 "$(cloud id pending,running,shutting-down,terminated | wc -l)" "machines ever made"
expect "$old" "$(comm -12 <(cloud id | sort) <(echo "$old"))" "the machines of the first job"

step "the first job went on"
expect RUNNING "$(job_state "$job")" "the first job"
as_alice touch go
wait_for 120 "the first job is over" job_is "$job" COMPLETED
expect 0 "$(on_head scontrol show job "$job" --oneliner | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p')" "requeues"
expect "queue1-dy-t2micro-1 queue1-dy-t2micro-2" "$(on_head sort -u /home/alice/pair.out | paste -sd' ')" "its hosts"
