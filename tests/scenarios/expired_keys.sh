# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The daemons work under a role that the site's keys may take on. The role's keys end in the middle of the work, twice: once while clustermgtd
# idles, once under a launch. Each time one program fetches new ones for all, and no node is lost. No secret reaches a log.

ROLE=arn:aws:iam::111122223333:role/launcher
# shellcheck disable=SC2034 # the machine's unit reads it
EC2LOCAL_ARGS="--assumable $ROLE"
eval "plain_$(declare -f write_settings)"
write_settings() {
	plain_write_settings
	echo "Profile: cluster"
	echo "ConfigFile: /etc/slurm-ec2/config"
}
more_head_files() {
	printf '[profile cluster]\nrole_arn = %s\nsource_profile = default\n' "$ROLE" >"$RUN/head/root/etc/slurm-ec2/config"
}
shared=/var/lib/slurm-ec2/aws
# member NAME: of the keys that the programs share.
member() {
	on_head sh -c "cat $shared/role-????????????????????????????????" |
		/usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}
key_is_not() { [ "$(member AccessKeyId)" != "$1" ]; }

up <<<"$(quickstart)"
expect "slurm 700" "$(on_head stat -c '%U %a' $shared)" "owner and mode of the folder"
expect "slurm 600" "$(on_head sh -c "stat -c '%U %a' $shared/role-????????????????????????????????")" "owner and mode of the keys"
roles=$(calls AssumeRole)
first=$(member AccessKeyId)
secrets=$(member SecretAccessKey)

step "the keys end while nothing is launched"
control "{\"expire_key\": \"$first\"}"
wait_for 120 "clustermgtd has new keys" key_is_not "$first"
second=$(member AccessKeyId)
secrets+=" $(member SecretAccessKey)"
expect $((roles + 1)) "$(calls AssumeRole)" "calls of AssumeRole"

step "the keys end while a launch is in the air"
control '{"api_delay_ms": {"RunInstances": 3000}}'
job=$(submit $'#!/bin/bash\nsrun hostname' --nodes=3 --output=job.out)
wait_for 120 "the launch is sent" on_head grep -q Action=RunInstances /var/log/ec2-requests.log
control "{\"expire_key\": \"$second\"}"
wait_for 120 "the job is over" job_is "$job" COMPLETED
expect 3 "$(on_head sort -u /home/alice/job.out | grep -c queue1-dy-t2micro)" "nodes of the job"
expect 3 "$(instance_count)" "instances"
expect "" "$(on_head sinfo --noheader --states=down,drain --format=%N)" "nodes down or drained"
wait_for 120 "there are new keys" key_is_not "$second"
expect $((roles + 2)) "$(calls AssumeRole)" "calls of AssumeRole"

step "no secret in a log"
secrets+=" $(member SecretAccessKey)"
for secret in $secrets; do
	! on_head grep -rqF "$secret" /var/log/slurm-ec2 /var/log/slurm /var/lib/slurm-ec2/current 2>/dev/null || fail "a secret is in a log"
done
