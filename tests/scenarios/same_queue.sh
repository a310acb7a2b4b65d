# shellcheck shell=bash disable=SC2016,SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# Two clusters of one name with one and the same cluster.yaml in one account: what they make in EC2 is told apart by UUID alone, apply refuses
# while the other's machines live, and uninstall of one leaves the other's machines, templates and placement groups. Machines are records here.
#
# Cluster b lives on the head beside cluster a: in a mount namespace with folders of its own where ours are, its slurmctld on another port.
# `side=b node_state ...` asks b; without it all words mean a.

EC2LOCAL_ARGS=--boot=none
LOOP_TIME=5
folders="/etc/slurm /etc/slurm-ec2 /var/lib/slurm /var/lib/slurm-ec2 /var/log/slurm /var/log/slurm-ec2 /run/slurm /run/systemctl"
side=a
eval "on_machine() $(declare -f on_head | tail -n +2)"
on_head() {
	case $side in
	a) on_machine "$@" ;;
	b) on_machine nsenter --mount="/proc/$b_pid/ns/mnt" --wdns=/root "$@" ;;
	esac
}
make_side_b() {
	on_machine sh -c 'mkdir -p $0 && for f in $0; do mkdir -p /srv/b$f && cp -a $f/. /srv/b$f/; done' "$folders"
	on_machine sh -c 'rm -f /srv/b/run/systemctl/* && echo SlurmctldPort=6827 >>/srv/b/etc/slurm/slurm.conf'
	on_machine sh -c 'setsid unshare --mount sh -c "for f in $0; do mount --bind /srv/b\$f \$f || exit; done
		echo \$\$ >/run/b.pid; exec sleep infinity" </dev/null >/run/b.log 2>&1 &' "$folders"
	wait_for 120 "side b is there" on_machine test -s /run/b.pid
	b_pid=$(on_machine cat /run/b.pid)
}

cluster() { quickstart 's/t2.micro$/c6i.large/' 's/t2micro/c6i/' 's/MaxCount: 10/MaxCount: 4/' '$a\      PlacementGroup: {Enabled: true}' "$@"; }
uuid() { on_head sed -n 's/.*"uuid" *: *"\([^"]*\)".*/\1/p' /var/lib/slurm-ec2/applied/current/generation.json; }
# owned UUID: what EC2 has of that cluster, one a line; machines only while they live.
owned() {
	local live
	live=$(cloud id)
	ec2 describe-tags --filters Name=key,Values=slurm-ec2:cluster "Name=value,Values=$1" Name=resource-type,Values=instance,launch-template,placement-group \
		--query 'Tags[].[ResourceType,ResourceId]' --output text | awk -v live="$live" '$1 != "instance" || index(live, $2)' | sort
}
# How often the clustermgtd of that cluster has looked at EC2; and wait for two looks more of both.
looks() { on_head grep -c "Action=DescribeInstances.*$1" /var/log/ec2-requests.log; }
looked() { [ "$(looks "$a")" -ge $((looks_a + 2)) ] && [ "$(looks "$b")" -ge $((looks_b + 2)) ]; }
let_them_look() {
	looks_a=$(looks "$a") looks_b=$(looks "$b")
	wait_for 120 "both daemons look round twice" looked
}

head_up
make_side_b

step "both are applied before either has a machine: the second's templates get another name"
cluster | apply_cluster
cluster | side=b apply_cluster
a=$(uuid) b=$(side=b uuid)
[[ ${#a} = 36 && ${#b} = 36 && $a != "$b" ]] || fail "UUIDs \"$a\" and \"$b\""
for side in a b; do
	expect "demo 4 idle~" "$(on_head scontrol show config | sed -n 's/^ClusterName *= *//p') $(on_head sinfo --noheader --format='%D %t')" "cluster $side"
	on_head systemctl start slurm-ec2-clustermgtd
done
side=a

step "each wakes the node of the same name"
on_head scontrol update nodename=queue1-dy-c6i-1 state=power_up
side=b on_head scontrol update nodename=queue1-dy-c6i-1 state=power_up
wait_for 120 "both have a machine" instance_count_is 2
of_a=$(owned "$a") of_b=$(owned "$b")
expect "instance launch-template placement-group" "$(cut -f1 <<<"$of_a" | paste -sd' ')" "things of a: $of_a"
expect "instance launch-template placement-group" "$(cut -f1 <<<"$of_b" | paste -sd' ')" "things of b: $of_b"
machine_b=$(awk '$1 == "instance" { print $2 }' <<<"$of_b")

step "the daemons look round and round, also with a state file that was lost"
let_them_look
on_head systemctl stop slurm-ec2-clustermgtd
on_head sh -c 'rm /var/lib/slurm-ec2/*.db && rm -f /var/lib/slurm-ec2/*.db-*'
on_head systemctl start slurm-ec2-clustermgtd
let_them_look
expect "$of_a" "$(owned "$a")" "things of a"
expect "$of_b" "$(owned "$b")" "things of b"

step "apply refuses while machines of the other cluster carry our name"
if cluster 's/MaxCount: 4/MaxCount: 3/' | apply_cluster >"$RUN/out" 2>&1; then fail "not refused: $(<"$RUN/out")"; fi
grep -q "belongs to another cluster ($machine_b)" "$RUN/out" || fail "the machine of b is not named: $(<"$RUN/out")"
grep -q "nothing was changed" "$RUN/out" || fail "not said that nothing was changed: $(<"$RUN/out")"
expect 4 "$(on_head sinfo --noheader --format=%D)" "nodes of a"

step "a is taken out; b does not notice"
on_head systemctl stop slurm-ec2-clustermgtd
on_head slurm-ec2 uninstall --terminate --yes >"$RUN/out"
! grep -q "$machine_b" "$RUN/out" || fail "the machine of b is listed: $(<"$RUN/out")"
expect "" "$(owned "$a")" "things of a"
expect "$of_b" "$(owned "$b")" "things of b"
expect "$machine_b" "$(cloud id)" "machines"
side=b on_head scontrol update nodename=queue1-dy-c6i-1 state=power_down_force
side=b wait_for 120 "b can still end its own" instance_count_is 0
