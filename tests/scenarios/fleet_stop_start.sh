# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# fleet stop lets a job finish, powers the other nodes down, and holds over restarts of slurmctld and clustermgtd and over a person who opens the
# partition; what is queued meanwhile runs after fleet start. A person's maintenance reservation stays what it is.

LOOP_TIME=5
partition_is() { [ "$(on_head scontrol show partition "$1" --oneliner | sed -n 's/.* State=\([A-Z]*\).*/\1/p')" = "$2" ]; }
fleet_is() { [ "$(on_head slurm-ec2 fleet status --json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["status"])')" = "$1" ]; }

up <<<"$(quickstart 's/MinCount: 0/MinCount: 1/')"
static=queue1-st-t2micro-1 dynamic=queue1-dy-t2micro-1
wait_for 120 "the static node is up" node_short_is $static idle
expect "fleet RUNNING" "$(on_head slurm-ec2 fleet status | head -n 1)" "first line of the status"
job=$(submit $'#!/bin/bash\nuntil [ -e go ]; do sleep 0.2; done; hostname' --nodelist=$dynamic --output=first.out)
wait_for 120 "the job runs" job_is "$job" RUNNING

step "stop: the static node goes, the job goes on"
on_head slurm-ec2 fleet stop
wait_for 120 "the partition is closed" partition_is queue1 DOWN
wait_for 120 "the static node is powered down" node_short_is $static 'idle~'
fleet_is STOPPING || fail "the fleet is $(on_head slurm-ec2 fleet status)"
expect RUNNING "$(job_state "$job")" "the job"
second=$(submit $'#!/bin/bash\nhostname' --output=second.out)
expect PENDING "$(job_state "$second")" "a job that is queued meanwhile"

step "over a restart of slurmctld"
on_head systemctl restart slurmctld
wait_for 120 "slurmctld answers" on_head scontrol ping
wait_for 120 "the partition is closed" partition_is queue1 DOWN
job_is "$job" RUNNING || fail "the job is $(job_state "$job")"

step "the job ends: the fleet is stopped"
as_alice touch go
on_head slurm-ec2 fleet stop --wait >"$RUN/stop.txt" || fail "fleet stop --wait: $(<"$RUN/stop.txt")"
grep -q '^STOPPED: 0 nodes with jobs, 0 reserved, 0 on their way down, 10 off$' "$RUN/stop.txt" || fail "it said: $(<"$RUN/stop.txt")"
expect $dynamic "$(as_alice cat first.out)" "the job's output"
expect 0 "$(instance_count)" "instances"
expect 'idle~' "$(on_head sinfo --noheader --format=%t | sort -u)" "nodes"
expect PENDING "$(job_state "$second")" "the queued job"

step "a person opens the partition, and both daemons are restarted"
on_head scontrol update partitionname=queue1 state=up
wait_for 120 "it is closed again" partition_is queue1 DOWN
on_head grep -q 'but somebody opened this partition' /var/log/slurm-ec2/clustermgtd.log || fail "the log does not say it"
on_head systemctl restart slurm-ec2-clustermgtd
on_head systemctl restart slurmctld
wait_for 120 "slurmctld answers" on_head scontrol ping
wait_for 120 "the partition is closed" partition_is queue1 DOWN
fleet_is STOPPED || fail "the fleet is $(on_head slurm-ec2 fleet status)"
expect 0 "$(instance_count)" "instances"

step "start"
on_head slurm-ec2 fleet start --wait >"$RUN/start.txt" || fail "fleet start --wait: $(<"$RUN/start.txt")"
tail -n 1 "$RUN/start.txt" | grep -qx 'RUNNING: 1 of 1 static nodes are up' || fail "it said: $(<"$RUN/start.txt")"
partition_is queue1 UP || fail "the partition is not open"
wait_for 240 "the queued job is over" job_is "$second" COMPLETED
on_head slurm-ec2 events --type fleet --last 0 >"$RUN/events.txt"
for change in 'STOP_REQUESTED -> STOPPING' 'STOPPING -> STOPPED' 'START_REQUESTED -> STARTING' 'STARTING -> RUNNING'; do
	grep -q "$change" "$RUN/events.txt" || fail "no event tells $change"
done

step "a node in a person's maintenance is waited for, and the waiting ends with the cause"
on_head scontrol create reservation reservationname=look starttime=now duration=infinite flags=maint,ignore_jobs users=root nodes=$static
wait_for 120 "the node is reserved" node_is $static '.*MAINT.*'
on_head slurm-ec2 fleet stop
one_is_left() { [ "$(with_machine)" = $static ]; }
wait_for 240 "the other machines are gone" one_is_left
status=0
on_head slurm-ec2 fleet stop --wait >"$RUN/reserved.txt" 2>&1 || status=$?
expect 1 "$status" "exit status while a node is reserved"
grep -q 'maintenance reservation' "$RUN/reserved.txt" || fail "it said: $(<"$RUN/reserved.txt")"
on_head slurm-ec2 fleet stop --now --wait || fail "fleet stop --now --wait"
expect 0 "$(instance_count)" "instances"
on_head scontrol show reservation look | grep -q "Nodes=$static" || fail "the reservation was touched"
