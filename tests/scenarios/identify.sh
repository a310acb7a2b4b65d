# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# computemgtd --identify against a real slurmctld: the right name, by the index and without; never a node of another life; SlurmUser's uid.

site_slurm_conf() {
	cat <<-END
		PrivateData=cloud
		ResumeProgram=/bin/true
		SuspendProgram=/bin/true
		SuspendTime=600
		ResumeTimeout=600
		SlurmctldParameters=idle_on_node_suspend,power_save_interval=1,power_save_min_interval=1
		NodeName=q-dy-a-[1-3] CPUs=1 RealMemory=500 State=CLOUD
		PartitionName=q Nodes=ALL Default=YES
	END
}
write_ec2local_unit() { printf '[Service]\nExecStart=/usr/bin/python3 -m http.server --bind 127.0.0.1 8000\n'; }
head_up

printf 'ClusterName=any\nSlurmctldHost=10.77.0.1\nMessageTimeout=3\n' >"$RUN/client.conf"
put "$RUN/client.conf" /root/client.conf
identify() {
	on_head computemgtd --identify --conf /root/client.conf --timeout 3 "$@" 2>"$RUN/identify.log"
}
refused() {
	local wanted=$1 status=0
	shift
	identify "$@" || status=$?
	expect 1 "$status" "exit status of identify $*"
	grep -q -- "$wanted" "$RUN/identify.log" || fail "no word of \"$wanted\": $(<"$RUN/identify.log")"
}
powering_up() { node_is "$1" '.*POWERING_UP.*'; }

step "two nodes are launched"
on_head scontrol update nodename=q-dy-a-1,q-dy-a-2 state=power_up
wait_for 120 "q-dy-a-1 is powering up" powering_up q-dy-a-1
wait_for 120 "q-dy-a-2 is powering up" powering_up q-dy-a-2
on_head scontrol update nodename=q-dy-a-1,q-dy-a-2 nodeaddr=10.77.0.11,10.77.0.12 'extra={"slurm-ec2":"l-new"}'

step "the name, by the index, round the list, and from the table"
expect q-dy-a-2 "$(identify --address 10.77.0.12 --launch l-new --nodes 'q-dy-a-[1-2]' --index 1)" "index is right"
expect q-dy-a-2 "$(identify --address 10.77.0.12 --launch l-new --nodes 'q-dy-a-[1-2]' --index 0)" "index is wrong"
expect q-dy-a-1 "$(identify --address 10.77.0.11 --launch l-new --nodes 'q-dy-a-[1-2]' --index 77)" "index is beyond the list"
expect q-dy-a-1 "$(identify --address 10.77.0.11 --launch l-new)" "no list"

step "another launch, another address, a node that is down"
refused 'launch l-old' --address 10.77.0.11 --launch l-old --nodes 'q-dy-a-[1-2]' --index 0
refused '10.77.0.1 ' --address 10.77.0.1 --launch l-new
on_head scontrol update nodename=q-dy-a-3 nodeaddr=10.77.0.13 'extra={"slurm-ec2":"l-new"}'
refused 'no node that is powering up' --address 10.77.0.13 --launch l-new --nodes q-dy-a-3 --index 0

step "an answer that comes late"
(
	wait_for 120 "identify has asked once" grep -q 'again in' "$RUN/late.log"
	on_head scontrol update nodename=q-dy-a-3 state=power_up
) &
name=$(on_head computemgtd --identify --conf /root/client.conf --timeout 30 \
	--address 10.77.0.13 --launch l-new --nodes q-dy-a-3 --index 0 2>"$RUN/late.log")
expect q-dy-a-3 "$name" "late answer"
wait "$!"

step "slurmctld is away for a while"
on_head systemctl stop slurmctld
(
	wait_for 120 "identify has found nobody" grep -q 'again in' "$RUN/away.log"
	on_head systemctl start slurmctld
) &
name=$(on_head computemgtd --identify --conf /root/client.conf --timeout 60 \
	--address 10.77.0.11 --launch l-new --nodes q-dy-a-1 --index 0 2>"$RUN/away.log")
expect q-dy-a-1 "$name" "after slurmctld came back"
wait "$!"

step "SlurmUser has another uid here"
on_head sed -i 's/^slurm:x:[0-9]*:/slurm:x:999:/' /etc/passwd
refused 'uid 999 in this image' --address 10.77.0.11 --launch l-new
on_head sed -i '/^slurm:/d' /etc/passwd
refused 'no user slurm' --address 10.77.0.11 --launch l-new
