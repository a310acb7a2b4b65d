# shellcheck shell=bash disable=SC2016,SC2034,SC2317
# SPDX-License-Identifier: GPL-2.0-or-later
# Two clusters of one name in one EC2 account, each with its own slurmctld: neither ever touches what is the other's.

# The second head node is a machine beside the instances of the first.
EC2LOCAL_ARGS="--listen 0.0.0.0:8000 --head ip=10.77.0.2,id=i-0ec20000000000002,subnet=subnet-0123456789abcdef0"
more_head_files() {
	HEAD_NAME=head2 HEAD_ADDRESS=10.77.0.2 EC2_ENDPOINT=http://10.77.0.1:8000 make_head "$RUN/head2" /opt/slurm-ec2
	mv "$RUN/head2" "$RUN/head/root/srv/head2"
}
up <<<"$(quickstart)"
on_head setsid "$LIBEXEC/ec2local-machine" --stay --hostname head2 --bridge br0 --wire head2 --address 10.77.0.2/16 --gateway 10.77.0.1 \
	--image /srv/head2 --pid-file /run/head2.pid -- /bin/true </dev/null >"$RUN/head2.log" 2>&1 &

# second CMD...: any of these words, said to the second head node.
eval "$(declare -f on_head | sed '1s/on_head/on_first/')"
second() (
	on_head() {
		on_first sh -c 'exec nsenter --target "$(cat /run/head2.pid)" --all --wdns=/root "$@"' sh "$@"
	}
	"$@"
)
# Its process 1 begins in the first one's root, which has the same programs but also this folder.
wait_for 120 "the second head node is there" second on_head sh -c 'test -x /usr/local/sbin/ec2local-boot && test ! -e /srv/head2'
second on_head setpriv --reuid munge --regid munge --clear-groups munged --origin=10.77.0.2

step "the second cluster, of the same name"
second apply_cluster <<<"$(quickstart 's/queue1/queue2/')"
second on_head systemctl start slurm-ec2-clustermgtd
expect "$(on_head scontrol show config | grep ^ClusterName)" "$(second on_head scontrol show config | grep ^ClusterName)" "the name"

step "a job in each"
job1=$(submit $'#!/bin/bash\nwhile [ ! -e go ]; do sleep 0.2; done; hostname' --output=one.out)
job2=$(second submit $'#!/bin/bash\nwhile [ ! -e go ]; do sleep 0.2; done; hostname' --output=two.out)
wait_for 120 "the first job runs" job_is "$job1" RUNNING
wait_for 120 "the second job runs" second job_is "$job2" RUNNING
expect 2 "$(instance_count)" "instances"
machines=$(cloud id | sort)

step "each cluster's daemon has looked, also one without its memory"
second on_head sh -c 'rm -f /var/lib/slurm-ec2/state.db*'
second on_head systemctl restart slurm-ec2-clustermgtd
before=$(calls DescribeInstances)
looked() { [ "$(calls DescribeInstances)" -gt $((before + 6)) ]; }
wait_for 120 "both have looked" looked
expect "$machines" "$(cloud id | sort)" "the machines"
expect RUNNING "$(job_state "$job1")" "the first job"
expect RUNNING "$(second job_state "$job2")" "the second job"

step "the second cluster is removed, the first one does not notice"
second on_head systemctl stop slurm-ec2-clustermgtd
second on_head scancel "$job2"
second on_head slurm-ec2 uninstall --yes --terminate
expect 1 "$(instance_count)" "instances"
expect RUNNING "$(job_state "$job1")" "the first job"
as_alice touch go
wait_for 120 "the first job is over" job_is "$job1" COMPLETED
expect queue1-dy-t2micro-2 "$(as_alice srun --nodelist=queue1-dy-t2micro-2 hostname)" "a new node of the first cluster"
