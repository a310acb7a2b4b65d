# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# A queue at home and one in another region under another profile: one resume serves both, each with its region's API and keys; machines are ended
# where they live.

LOOP_TIME=5
EC2LOCAL_ARGS="--boot=none"
far_key=AKIDFAR
eval "plain_$(declare -f write_settings)"
write_settings() {
	plain_write_settings | sed '/ImageId/d'
	echo 'Queues: [{Name: far, Region: eu-west-1, Profile: far, Ec2Endpoint: "http://127.0.0.1:8001"}]'
}
eval "plain_$(declare -f write_credentials)"
write_credentials() {
	plain_write_credentials
	printf '[far]\naws_access_key_id = %s\naws_secret_access_key = %s\n' "$far_key" "$SECRET_KEY"
}
cluster() {
	quickstart
	cat <<-'END'
		  - Name: far
		    ComputeResources: [{Name: t2micro, InstanceType: t2.micro, MaxCount: 10}]
		    Networking: {SubnetIds: [subnet-0eeeeeeeeeeeeeee1]}
	END
}
far_count() {
	on_head curl -sSf http://127.0.0.1:8001/_control/instances | /usr/bin/python3 -c '
import json, sys
print(sum(i["state"] in ("pending", "running") for i in json.load(sys.stdin) if not i["head"]))'
}
counts_are() { [ "$(instance_count) $(far_count)" = "$1" ]; }
all_are() { [ "$(on_head sinfo --noheader --format=%t | sort -u)" = "$1" ]; }

head_up
on_head setsid sh -c "exec $LIBEXEC/ec2local --boot=none --listen 127.0.0.1:8001 --region eu-west-1 --network 10.77.128.0/17 \
	--key $far_key:$SECRET_KEY --subnet subnet-0eeeeeeeeeeeeeee1:eu-west-1b --image ami-0eeeeeeeeeeeeeee1:$(slurmctld -V | sed 's/.* //')" \
	</dev/null >"$RUN/far.log" 2>&1 &
wait_for 120 "the other region answers" on_head curl -sS -o /dev/null http://127.0.0.1:8001/
cluster | apply_cluster
on_head systemctl start slurm-ec2-clustermgtd

step "nodes of both queues"
on_head scontrol update nodename='queue1-dy-t2micro-[1-2],far-dy-t2micro-[1-3]' state=power_up
wait_for 120 "five nodes have a machine" with_machine_is 5
counts_are "2 3" || fail "machines: $(instance_count) here, $(far_count) there"
expect 3 "$(with_machine --partition=far | wc -l)" "nodes of the other region with a machine"
on_head grep -q 'far/t2micro: 3 t2.micro eu-west-1b' /var/log/slurm-ec2/resume.log || fail "the launch is not on record"

step "the machines end where they live"
on_head scontrol update nodename='queue1-dy-t2micro-1,far-dy-t2micro-[1-2]' state=power_down_force
wait_for 120 "one is left in each" counts_are "1 1"
on_head scontrol update nodename='queue1-dy-t2micro-2,far-dy-t2micro-3' state=power_down_force
wait_for 120 "none is left" counts_are "0 0"
wait_for 120 "all nodes are powered down" all_are 'idle~'
