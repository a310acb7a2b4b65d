# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# Three types in two zones. The cheapest has no machine left, the next two, the third one in the first zone: the job runs on what there is, nothing is disabled,
# and a person can see what was short.

EC2LOCAL_ARGS="--subnet subnet-0aaaaaaaaaaaaaaa1:ap-northeast-1c"
several() {
	quickstart 's/^      InstanceType: t2.micro/      Instances: [{InstanceType: t3.medium}, {InstanceType: c5.large}, {InstanceType: m5.large}]/' \
		's/t2micro/mix/' 's/- subnet-0fedcba9876543210/&\n      - subnet-0aaaaaaaaaaaaaaa1/'
}
places() { paste -d' ' <(cloud type) <(cloud zone) | sort | uniq -c | awk '{ printf "%s%s %s %s", sep, $1, $2, $3; sep = ", " }'; }

up <<<"$(several)"
control '{"capacity": [{"type": "t3.medium", "left": 0}, {"type": "c5.large", "zone": "*c", "left": 0}, {"type": "c5.large", "left": 2},
	{"type": "m5.large", "zone": "*a", "left": 1}]}'
step "a job of four nodes"
job=$(submit $'#!/bin/bash\nsrun hostname' --nodes=4 --output=four.out)
wait_for 120 "the job is over" job_is "$job" COMPLETED
expect "$(printf 'queue1-dy-mix-%d ' 1 2 3 4)" "$(on_head sort /home/alice/four.out | tr '\n' ' ')" "hosts"
expect "2 c5.large ap-northeast-1a, 1 m5.large ap-northeast-1a, 1 m5.large ap-northeast-1c" "$(places)" "machines"
expect "1,4" "$(launches | head -n 1)" "first launch (least, most)"
expect "" "$(on_head sinfo --noheader --states=down,drain --format=%N)" "nodes down or drained"
expect 0 "$(on_head sinfo --noheader --list-reasons --format=%E | grep -c Code || true)" "reasons"

step "what a person sees"
on_head slurm-ec2 status >"$RUN/status.txt"
for zone in ap-northeast-1a ap-northeast-1c; do
	grep -qxF "  t3.medium in $zone, on-demand: InsufficientInstanceCapacity" "$RUN/status.txt" || fail "status does not show the shortage: $(<"$RUN/status.txt")"
done
on_head slurm-ec2 events >"$RUN/events.txt"
grep -q 't3.medium .*InsufficientInstanceCapacity: We currently do not have sufficient t3.medium capacity' "$RUN/events.txt" || fail "events do not show EC2's words: $(<"$RUN/events.txt")"
on_head slurm-ec2 plan resume 'queue1-dy-mix-[1-6]' >"$RUN/plan.txt"
grep -q 'm5.large in ap-northeast-1c' "$RUN/plan.txt" || fail "the plan is $(<"$RUN/plan.txt")"
! grep -q '^ *from.*t3.medium' "$RUN/plan.txt" || fail "it would ask for what is short: $(<"$RUN/plan.txt")"
