# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Spot first, on demand if spot has none: one resource, in order, by settings.yaml. When spot has machines again they are spot ones.

eval "plain_$(declare -f write_settings)"
write_settings() {
	plain_write_settings
	cat <<-'END'
		CapacityRetry: 5
		CapacityRetryLimit: 5
		Fallback:
		  - Queue: queue1
		    ComputeResource: t2micro
		    Then: [{CapacityType: ONDEMAND}]
	END
}
# lifecycles: of the machines that live, as a client of EC2 sees them.
lifecycles() {
	ec2 describe-instances --filters Name=instance-state-name,Values=pending,running Name=tag:slurm-ec2:cluster,Values='*' \
		--query 'Reservations[].Instances[].[InstanceLifecycle]' --output text | sort | uniq -c | awk '{ printf "%s%s %s", sep, $1, $2; sep = ", " }'
}

up <<<"$(quickstart '/^  - Name: queue1/a\    CapacityType: SPOT')"
control '{"capacity": {"type": "*", "market": "spot", "left": 1}}'

step "a job of three nodes while spot has one"
job=$(submit $'#!/bin/bash\nsrun hostname' --nodes=3 --nodelist='queue1-dy-t2micro-[1-3]' --output=three.out)
wait_for 120 "the job is over" job_is "$job" COMPLETED
expect 3 "$(on_head sort -u /home/alice/three.out | wc -l)" "hosts"
expect "2 None, 1 spot" "$(lifecycles)" "lifecycles"
expect "" "$(on_head sinfo --noheader --states=down,drain --format=%N)" "nodes down or drained"
on_head slurm-ec2 status >"$RUN/status.txt"
grep -q '^  t2.micro in ap-northeast-1a, spot: ' "$RUN/status.txt" || fail "status does not show the shortage: $(<"$RUN/status.txt")"

step "spot has machines again: the next job gets them"
control '{"reset": true}'
job=$(submit $'#!/bin/bash\nsrun hostname' --nodes=2 --nodelist='queue1-dy-t2micro-[4-5]' --output=two.out)
wait_for 120 "the job is over" job_is "$job" COMPLETED
expect "2 None, 3 spot" "$(lifecycles)" "lifecycles"
